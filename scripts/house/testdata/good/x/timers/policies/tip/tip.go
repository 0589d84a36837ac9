// Package tip binds the policy to state. It may ask whether it is in force.
package tip

import "example.test/chain/x/timers/types"

// InForce reports whether the policy is the chain's.
func InForce(config types.TimerConfig) bool { return config.Policy == types.PolicyTip }
