package types

import (
	"math/big"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
)

// maxBid is the largest integer bid that counts.
var maxBid = math.NewIntFromBigInt(new(big.Int).Lsh(big.NewInt(1), MaxBidBits)).SubRaw(1)

// Validate checks the form of a bid.
func (b *Bid) Validate() error {
	if b == nil {
		return nil
	}
	stated := 0
	for _, set := range []bool{b.Static != nil, b.Tier != TierUnspecified, b.Agent != "", b.Price != ""} {
		if set {
			stated++
		}
	}
	if stated > 1 {
		return ErrInvalidBid.Wrap("state one of static, tier, agent and price")
	}
	switch {
	case b.Static != nil:
		return b.Static.validate()
	case b.Agent != "":
		if len(b.Agent) > MaxTextBytes {
			return ErrInvalidBid.Wrapf("agent is %d bytes long, want at most %d", len(b.Agent), MaxTextBytes)
		}
		return nil
	case b.Price != "":
		if !integer.MatchString(b.Price) {
			return ErrInvalidBid.Wrapf("price %.80q is not a non-negative integer", b.Price)
		}
		return nil
	}
	if _, known := PriorityTier_name[int32(b.Tier)]; !known {
		return ErrInvalidBid.Wrapf("tier %d is unknown", int32(b.Tier))
	}
	return nil
}

func (b *StaticBid) validate() error {
	if err := ValidatePrice(ErrInvalidBid, "max_fee_per_cycle", b.MaxFeePerCycle.LegacyDec); err != nil {
		return err
	}
	return ValidatePrice(ErrInvalidBid, "max_priority_fee_per_cycle", b.MaxPriorityFeePerCycle.LegacyDec)
}

// Ask is what the bid asks of the lane; none asks for the default estimator.
func (b *Bid) Ask() market.Ask {
	switch {
	case b == nil:
		return market.Ask{}
	case b.Price != "":
		return b.priceAsk()
	case b.Static != nil:
		return market.StatedAsk(b.Static.MaxFeePerCycle.LegacyDec, b.Static.MaxPriorityFeePerCycle.LegacyDec)
	}
	switch b.Tier {
	case TierEconomy:
		return market.Ask{Kind: market.Economy}
	case TierStandard:
		return market.Ask{Kind: market.Standard}
	case TierFast:
		return market.Ask{Kind: market.Fast}
	case TierUrgent:
		return market.Ask{Kind: market.Urgent}
	default:
		return market.Ask{}
	}
}

// price is the integer bid of a text that Validate accepts, and whether it is within what policy score counts.
func (b *Bid) price() (math.Int, bool) {
	price, ok := ParseAmount(b.Price)
	return price, ok && price.LTE(maxBid)
}

// priceAsk asks for what the integer bid says. One that was kept under another policy and is too large counts as the
// largest.
func (b *Bid) priceAsk() market.Ask {
	price, ok := b.price()
	if !ok {
		price = maxBid
	}
	return market.Ask{Price: price}
}

// Stated is the bid's price in fee denom; 0 if it states none.
func (b *Bid) Stated() math.Int {
	if b == nil || b.Price == "" {
		return math.ZeroInt()
	}
	price, _ := ParseAmount(b.Price)
	return price
}

// ParseAmount reads a non-negative integer in decimal of at most 78 digits, leading zeros included. It is 0 and false if the
// text is no such number below 2^256. To read more digits would take time in the square of their number.
func ParseAmount(text string) (math.Int, bool) {
	amount, err := decimal.ParseInt(text)
	if err != nil {
		return math.ZeroInt(), false
	}
	return amount.Int, true
}

// Kept is the bid as policies auction and score keep it: a price that is no larger than can be passed, in canonical
// form; nil for no price.
func (b *Bid) Kept() (*Bid, error) {
	price, ok := b.price()
	if !ok {
		return nil, ErrInvalidBid.Wrapf("price %.80q, want 0 to 2^%d - 1", b.Price, MaxBidBits)
	}
	if price.IsZero() {
		return nil, nil
	}
	return &Bid{Price: price.String()}, nil
}
