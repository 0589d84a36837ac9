package types

// DefaultTipParams returns the parameters of policy tip on a new chain. The file bears the policy's name: it is its own.
func DefaultTipParams() *TipParams { return &TipParams{Weight: 1} }
