package types

import (
	"math/big"
	"strings"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policy/auction"
)

// This file holds what policy auction needs of config, timers and the lane's state (SPEC §6).

// maxBidBits bounds a bid under policy auction, so that waiting can pass any.
const maxBidBits = 96

// Auction is the policy of that name with the parameters of c, after what the block before left; absent means none.
func (c *TimerConfig) Auction(state *AuctionState) auction.Rules {
	rules := auction.Rules{
		Lambda: c.LambdaStart, FirstPrice: c.PaymentRule == PaymentFirstPrice, Reserve: c.ReservePrice,
		Loop: auction.LambdaLoop{Min: c.LambdaMin, Max: c.LambdaMax, Step: c.LambdaStep, Window: c.AuctionWindowBlocks},
	}
	if state != nil {
		// The bounds may have been changed since.
		rules.Lambda = math.LegacyMinDec(math.LegacyMaxDec(state.Lambda, c.LambdaMin), c.LambdaMax)
	}
	return rules
}

// After is the state that a block leaves, from what the block before left, if anything.
func (s *AuctionState) After(rules auction.Rules, seen auction.Observation) *AuctionState {
	before := auction.LambdaState{Lambda: rules.Lambda, ValueDecay: math.LegacyZeroDec(), Deferral: math.LegacyZeroDec()}
	if s != nil {
		before.ValueDecay, before.Deferral, before.Blocks = s.ValueDecay, s.Deferral, s.Blocks
	}
	after := rules.Loop.Next(before, seen)
	return &AuctionState{Lambda: after.Lambda, ValueDecay: after.ValueDecay, Deferral: after.Deferral, Blocks: after.Blocks}
}

// Stated is the bid's price in fee denom; 0 if it states none.
func (b *Bid) Stated() math.Int {
	if b == nil || b.Price == "" {
		return math.ZeroInt()
	}
	price, _ := parseAmount(b.Price)
	return price
}

// parseAmount reads an integer in decimal, leading zeros or not; false, and 0, if it is none below 2^256.
func parseAmount(text string) (math.Int, bool) {
	amount, ok := new(big.Int).SetString(text, 10)
	if !ok || amount.BitLen() > math.MaxBitLen {
		return math.ZeroInt(), false
	}
	return math.NewIntFromBigInt(amount), true
}

// ForAuction is the bid as it is kept under policy auction: a price that is no larger than can be passed, in canonical
// form; nil for no price.
func (b *Bid) ForAuction() (*Bid, error) {
	// The form is checked; what is too long for an integer is too large besides.
	price, ok := parseAmount(b.Price)
	if !ok || price.BigIntMut().BitLen() > maxBidBits {
		return nil, ErrInvalidBid.Wrapf("price %.80q, want 0 to 2^%d - 1", b.Price, maxBidBits)
	}
	if price.IsZero() {
		return nil, nil
	}
	return &Bid{Price: price.String()}, nil
}

// Locked is how much of its bid is held for the timer, in fee denom.
func (t *Timer) Locked() math.Int {
	if t.BidLocked == "" {
		return math.ZeroInt()
	}
	locked, _ := parseAmount(t.BidLocked)
	return locked
}

// SetLocked says how much of its bid is held for the timer.
func (t *Timer) SetLocked(amount math.Int) {
	t.BidLocked = ""
	if amount.IsPositive() {
		t.BidLocked = amount.String()
	}
}

// validateLock checks that what is locked is an amount above 0 in canonical form, that waiting can pass.
func (t *Timer) validateLock() error {
	if t.BidLocked == "" {
		return nil
	}
	if !integer.MatchString(t.BidLocked) || strings.HasPrefix(t.BidLocked, "0") || t.Locked().BigIntMut().BitLen() > maxBidBits {
		return ErrInvalidBid.Wrapf("bid_locked %.80q, want 1 to 2^%d - 1, or nothing", t.BidLocked, maxBidBits)
	}
	return nil
}

// validateBid checks that a receipt's amounts are such, and that no more was paid than was bid.
func (r *Receipt) validateBid() error {
	for _, text := range []string{r.Bid, r.BidPaid} {
		if text != "" && !integer.MatchString(text) {
			return ErrInvalidBid.Wrapf("%.80q is no amount", text)
		}
	}
	bid, _ := parseAmount(r.Bid)
	if paid, ok := parseAmount(r.BidPaid); ok && paid.GT(bid) {
		return ErrInvalidBid.Wrapf("%s paid of a bid of %s", paid, bid)
	}
	return nil
}

// validate checks the state of the auction; absent is valid.
func (s *AuctionState) validate() error {
	if s == nil {
		return nil
	}
	for _, value := range []struct {
		name  string
		value math.LegacyDec
		most  math.LegacyDec
	}{
		{"lambda", s.Lambda, maxLambda},
		{"value_decay", s.ValueDecay, auction.Exp(math.LegacyNewDec(auction.MaxExponent))},
		{"deferral", s.Deferral, maxPrice},
	} {
		if value.value.IsNil() || value.value.IsNegative() || value.value.GT(value.most) {
			return ErrInvalidGenesis.Wrapf("lane.auction.%s is %s, want 0 to %s", value.name, value.value, value.most)
		}
	}
	if s.Blocks > maxBlocks {
		return ErrInvalidGenesis.Wrapf("lane.auction.blocks is %d, want at most %d", s.Blocks, maxBlocks)
	}
	return nil
}

// minLambda and maxLambda bound the bounds of λ: below, hardly any timer would live to see its bias count; above, one block
// of waiting would pass any bid that is honestly made.
var minLambda, maxLambda = math.LegacyNewDecWithPrec(1, 4), math.LegacyNewDec(10)

// validateAuction checks the parameters of policy auction.
func (c *TimerConfig) validateAuction(bool) error {
	for _, b := range []decimalBounds{
		{"lambda_min", c.LambdaMin, minLambda, maxLambda},
		{"lambda_max", c.LambdaMax, minLambda, maxLambda},
		{"lambda_start", c.LambdaStart, minLambda, maxLambda},
		{"lambda_step", c.LambdaStep, math.LegacyZeroDec(), math.LegacyNewDecWithPrec(5, 1)},
	} {
		if err := b.validate(); err != nil {
			return err
		}
	}
	if c.LambdaMin.GT(c.LambdaStart) || c.LambdaStart.GT(c.LambdaMax) {
		return ErrInvalidConfig.Wrapf("lambda_start (%s) must lie from lambda_min (%s) to lambda_max (%s)", c.LambdaStart, c.LambdaMin, c.LambdaMax)
	}
	if c.PaymentRule != PaymentVCG && c.PaymentRule != PaymentFirstPrice {
		return ErrInvalidConfig.Wrapf("payment_rule %d is unknown; want %s or %s", int32(c.PaymentRule), PaymentVCG, PaymentFirstPrice)
	}
	if c.ReservePrice.IsNil() || c.ReservePrice.IsNegative() || c.ReservePrice.BigIntMut().BitLen() > maxBidBits {
		return ErrInvalidConfig.Wrapf("reserve_price is %s, want 0 to 2^%d - 1", c.ReservePrice, maxBidBits)
	}
	return nil
}

// defaultAuction sets the parameters of policy auction.
func (c *TimerConfig) defaultAuction() {
	c.PaymentRule = PaymentVCG
	// Any floor makes it better to bid nothing than to bid what the fire is worth where nobody competes, and the fees
	// cover what a fire costs the chain.
	c.ReservePrice = math.ZeroInt()
	// A bid of a million units is passed after 330 blocks at the start, 1,650 at the minimum and 33 at the maximum, by
	// timers of a gas limit up to 14 times as large.
	c.LambdaStart = math.LegacyNewDecWithPrec(5, 2)
	c.LambdaMin = math.LegacyNewDecWithPrec(1, 2)
	c.LambdaMax = math.LegacyNewDecWithPrec(5, 1)
	// From the start to either bound in some 200 blocks of bidding, so that λ follows the bidders and not one of them.
	c.LambdaStep = math.LegacyNewDecWithPrec(1, 2)
	c.AuctionWindowBlocks = 100
}
