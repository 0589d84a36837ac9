package types

import (
	"math/big"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/fairness"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/policy/score"
)

// This file holds what policy score makes of the config and of a timer's bid (SPEC §6).

// bidBits bounds the integer bid: far more than a chain has of its fee denom, and little enough for a score to lie in 24
// bytes.
const bidBits = 96

// maxScoreWeight bounds W_AGE, W_BID and W_FIFO.
const maxScoreWeight = 1_000_000

// maxAdmittedWeight is the last that names a list of the ready index.
const maxAdmittedWeight = 1<<16 - 1

// maxBid is the largest integer bid that counts.
var maxBid = math.NewIntFromBigInt(new(big.Int).Lsh(big.NewInt(1), bidBits)).SubRaw(1)

// Score is the policy of that name with the parameters of c.
func (c *TimerConfig) Score() score.Rules {
	return score.Rules{Age: c.WAge, Bid: c.WBid, Rank: c.WFifo}
}

// SameScore tells whether other weighs as c does. A config of a binary that knew no weights has none.
func (c *TimerConfig) SameScore(other *TimerConfig) bool {
	same := func(a, b math.LegacyDec) bool { return a.IsNil() == b.IsNil() && (a.IsNil() || a.Equal(b)) }
	return same(c.WAge, other.WAge) && same(c.WBid, other.WBid) && same(c.WFifo, other.WFifo)
}

// validAdmission checks where in the ready index a record says that it lies: under a fairness weight, or with a score in a
// list of policy score.
func (t *Timer) validAdmission() error {
	most := uint32(maxWeight * fairness.One)
	switch scored := merge.ListOfWeight(t.AdmittedWeight).Wide(); {
	case t.AdmittedWeight > 0 && t.SetAside != NotSetAside, t.AdmittedWeight > most && !scored, t.AdmittedWeight > maxAdmittedWeight:
		return ErrInvalidGenesis.Wrapf("admitted_weight is %d, want 0 to %d or a list of policy score, and 0 if set aside", t.AdmittedWeight, most)
	case scored && len(t.AdmittedScore) != score.KeyBytes, !scored && len(t.AdmittedScore) != 0:
		return ErrInvalidGenesis.Wrapf("admitted_score has %d bytes, want %d in a list of policy score and none elsewhere",
			len(t.AdmittedScore), score.KeyBytes)
	}
	return nil
}

// defaultScore fills in the weights of policy score: only their ratios matter. A block of waiting is worth a bid of 100 units,
// about what the cycles of a usual fire cost at the default basefee: whoever bids as much again as the fire costs is a block
// ahead, and nobody is ahead for long for little. Rank is off: with it hardly two scores are equal, whoever schedules a
// thousand timers first fires them all first, and turns never come.
func defaultScore(c *TimerConfig) {
	c.WAge, c.WBid, c.WFifo = math.LegacyOneDec(), math.LegacyNewDecWithPrec(1, 2), math.LegacyZeroDec()
}

// validateScore checks the weights.
func (c *TimerConfig) validateScore() error {
	most := math.LegacyNewDec(maxScoreWeight)
	for _, weight := range []struct {
		name  string
		value math.LegacyDec
	}{{"w_age", c.WAge}, {"w_bid", c.WBid}, {"w_fifo", c.WFifo}} {
		switch {
		case weight.value.IsNil():
			return ErrInvalidConfig.Wrapf("%s is missing", weight.name)
		case weight.value.IsNegative() || weight.value.GT(most):
			return ErrInvalidConfig.Wrapf("%s is %s, want %s to %s", weight.name, weight.value, math.LegacyZeroDec(), most)
		}
	}
	return nil
}

// price is the integer bid of a text that Validate accepts, and whether it is within what policy score counts.
func (b *Bid) price() (math.Int, bool) {
	price, ok := math.NewIntFromString(b.Price)
	return price, ok && price.LTE(maxBid)
}

// priceAsk asks for what the integer bid says. One that was kept under another policy and is too large counts as the
// largest.
func (b *Bid) priceAsk() policy.Ask {
	price, ok := b.price()
	if !ok {
		price = maxBid
	}
	return policy.Ask{Price: price}
}

// ScoreBid is an integer bid as policy score keeps it; nil if it bids nothing.
func (b *Bid) ScoreBid() (*Bid, error) {
	price, ok := b.price()
	switch {
	case !ok:
		return nil, ErrInvalidBid.Wrapf("price %.80q is too large, want at most %s", b.Price, maxBid)
	case price.IsZero():
		return nil, nil
	default:
		return &Bid{Price: price.String()}, nil
	}
}
