package types

// FirstCustomPolicy is where the ids begin of policies that a chain brings along. Those below it are the module's.
const FirstCustomPolicy Policy = 1_000

// policyParams are the parameters of the module's policies: their defaults, and what is checked of them; selected tells that
// the policy is the config's. It is the one place of this package that names them all.
var policyParams = []struct {
	policy   Policy
	defaults func(*TimerConfig)
	validate func(c *TimerConfig, selected bool) error
}{
	{PolicyFIFO, func(*TimerConfig) {}, func(*TimerConfig, bool) error { return nil }},
	{PolicyEIP1559, func(*TimerConfig) {}, (*TimerConfig).validateEIP1559},
	{PolicyAuction, (*TimerConfig).defaultAuction, (*TimerConfig).validateAuction},
	{PolicyScore, defaultScore, (*TimerConfig).validateScore},
	{PolicyTip, (*TimerConfig).defaultTip, (*TimerConfig).validateTip},
}
