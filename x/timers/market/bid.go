package market

import "cosmossdk.io/math"

// Ask is what a timer's owner asked for. It is kept as asked, and becomes a bid only at the prices of a block.
type Ask struct {
	Kind Kind
	// Stated is the stated bid of kind Stated, and zero otherwise. Invariant: neither price is negative.
	Stated Bid
	// Price is the integer bid, a lump sum for a fire; nil if there is none. Invariant: it is not negative.
	Price math.Int
	// SpendCap bounds what a fire pays, whatever is asked.
	SpendCap SpendCap
}

// States reports whether the ask states anything but its kind.
func (a Ask) States() bool { return a.Kind == Stated || !a.Price.IsNil() || !a.SpendCap.Unbounded() }

// Kind determines how an ask becomes a bid. The values of the kinds below Stated name lists of the index of admitted
// timers, so that they are part of the state and must not change.
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
	// CellPricedOut does not fire in this block: a cell costs more than its agent allows, or the chain's prices alone exceed
	// its max_charge.
	CellPricedOut
)

// Bid is what a timer is willing to pay per unit of size, in fee denom.
type Bid struct {
	// MaxFee is the most that the lane's fee and the tip together may be, MaxPriority the most that the tip may be.
	MaxFee, MaxPriority math.LegacyDec
}

// StatedAsk is an ask with prices of its own. A tip above the whole fee has the same effect as one of the whole
// fee.
func StatedAsk(maxFee, maxPriority math.LegacyDec) Ask {
	return Ask{Kind: Stated, Stated: Bid{MaxFee: maxFee, MaxPriority: math.LegacyMinDec(maxFee, maxPriority)}}
}

// WithTipAtMost is the ask with a tip of at most so much per unit of size, and without a lump sum. The other kinds need no
// bound: their tips follow from the lane basefee.
func (a Ask) WithTipAtMost(tip math.LegacyDec) Ask {
	a.Price = math.Int{}
	if a.Kind == Stated {
		a.Stated.MaxPriority = math.LegacyMinDec(a.Stated.MaxPriority, tip)
	}
	return a
}

// Tiers are what a tier stands for.
type Tiers struct {
	// Economy, Standard, Fast and Urgent are multiples of p50: PRIORITY_TIERS.
	Economy, Standard, Fast, Urgent math.LegacyDec
	// TipCap bounds a tier's tip to this multiple of the lane basefee: TIER_TIP_CAP. Tiers multiply what others paid: if
	// most fires of a few blocks were urgent, their tips would grow without end, at the cost of those who left the price
	// to the estimator. The default bid needs no such bound, since its fee bounds it.
	TipCap math.LegacyDec
}

// Estimate is the default estimator: the bid of an ask without prices of its own. The tip is p50, or the tier's
// multiple of it, rounded down in favour of the payer. The fee is twice the lane's, which leaves headroom for about
// five blocks of a rising basefee; a tier's fee leaves room for its tip in addition.
func Estimate(prices Prices, kind Kind, tiers Tiers) Bid {
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
	tip := math.LegacyMinDec(prices.P50.MulTruncate(multiplier), prices.Lane.MulTruncate(tiers.TipCap))
	return Bid{MaxFee: headroom.Add(tip), MaxPriority: tip}
}
