package types

// FirstCustomPolicy is the first id for policies that a chain adds. The ids below it are the module's.
const FirstCustomPolicy = 1_000

// policyParams are the parameters of one policy of the module.
type policyParams interface {
	policy() Policy
	// Validate checks the parameters by themselves, whether their policy is selected or not.
	Validate() error
	// validateSelected checks what must hold of c if it selects the policy: otherwise timers would be accepted that no
	// block can run.
	validateSelected(c *TimerConfig) error
}

// policies returns the parameters of every policy of the module. This function and the next one are the only places of the
// package that name them all.
func (c *TimerConfig) policies() []policyParams {
	return []policyParams{fifoParams{}, &c.Eip1559, &c.Auction, &c.Score, &c.Tip}
}

// setPolicyDefaults sets the parameters of every policy of the module.
func (c *TimerConfig) setPolicyDefaults() {
	c.Eip1559, c.Auction = DefaultEip1559Params(), DefaultAuctionParams()
	c.Score, c.Tip = DefaultScoreParams(), DefaultTipParams()
}
