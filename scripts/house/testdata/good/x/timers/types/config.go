// Package types has the config.
package types

// DefaultTimerConfig returns the config of a new chain.
func DefaultTimerConfig() TimerConfig {
	return TimerConfig{Policy: PolicyTip}
}
