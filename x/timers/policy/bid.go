package policy

import "cosmossdk.io/math"

// Ask is what a timer's owner asked for, before the prices of the block are known (SPEC §7).
type Ask struct {
	Kind Kind
	// Static is the stated bid of kind Stated, and zero otherwise. Invariant: neither price is negative.
	Static Bid
	// Price is the integer bid, nil if there is none: a lump sum for a fire. Invariant: it is not negative.
	Price math.Int
}

// Kind tells how an ask becomes a bid.
type Kind uint8

const (
	// Estimated leaves the bid to the default estimator.
	Estimated Kind = iota
	// Economy, Standard, Fast and Urgent are the tiers.
	Economy
	Standard
	Fast
	Urgent
	// Stated has prices of its own.
	Stated
	// Withheld never fires: a cell costs more than its owner's agent allows.
	Withheld
)

// Bid is what a timer is willing to pay per cycle, in fee denom.
type Bid struct {
	// MaxFee is the most that the lane's fee and the tip together may be, MaxPriority the most that the tip may be.
	MaxFee, MaxPriority math.LegacyDec
}

// StatedAsk is an ask with prices of its own. A tip above the whole fee is as good as one of the whole fee.
func StatedAsk(maxFee, maxPriority math.LegacyDec) Ask {
	return Ask{Kind: Stated, Static: Bid{MaxFee: maxFee, MaxPriority: math.LegacyMinDec(maxFee, maxPriority)}}
}

// Tiers are PRIORITY_TIERS: the multiples of p50 that the tiers stand for.
type Tiers struct{ Economy, Standard, Fast, Urgent math.LegacyDec }

// maxTierTip bounds a tier's tip to so many times the lane basefee. Tiers multiply what others paid: were most fires of a
// few blocks urgent, their tips would grow without end, to the ruin of those who left the price to the estimator. The
// default bid has a bound already: its fee.
const maxTierTip = 1_000

// estimate is the default estimator with a tip of multiplier × p50; the fee has headroom for about five blocks of a rising
// basefee, and for the tip of a tier.
func estimate(prices Prices, kind Kind, tiers Tiers) Bid {
	headroom := prices.Lane.MulInt64(2)
	var multiplier math.LegacyDec
	switch kind {
	case Economy:
		multiplier = tiers.Economy
	case Standard:
		multiplier = tiers.Standard
	case Fast:
		multiplier = tiers.Fast
	case Urgent:
		multiplier = tiers.Urgent
	default:
		return Bid{MaxFee: headroom, MaxPriority: prices.P50}
	}
	tip := math.LegacyMinDec(prices.P50.MulTruncate(multiplier), prices.Lane.MulInt64(maxTierTip))
	return Bid{MaxFee: headroom.Add(tip), MaxPriority: tip}
}
