package bids

// The flags of what a fire may use and what it is willing to pay.
const (
	FlagGasLimit    = "gas-limit"
	FlagCellLimit   = "cell-limit"
	FlagMaxCharge   = "max-charge"
	FlagMaxFee      = "max-fee"
	FlagMaxPriority = "max-priority"
	FlagTier        = "tier"
	// FlagBid states a sum for one fire.
	FlagBid   = "bid"
	FlagAgent = "agent"
)

// What --max-charge says in place of an amount: no bound, and the one that scheduling has unless told otherwise.
const (
	NoMaxCharge      = "none"
	DefaultMaxCharge = "default"
)
