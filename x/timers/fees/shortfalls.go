package fees

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Shortfalls remembers payers that were found unable to cover a timer. So a crowd of timers of one payer costs one look
// at its account. Invariant: what is remembered is what the bank and x/feegrant would answer now; whoever changes
// balances or allowances forgets. The maps are looked up, never ranged over.
type Shortfalls struct {
	fees   *Fees
	config *types.TimerConfig
	// spendable amounts of payers, and the refused amounts of allowances.
	spendable map[string]math.Int
	refused   map[refusal]bool
}

// refusal is an amount that a payer's allowance to an actor does not cover.
type refusal struct{ payer, actor, amount string }

// Shortfalls returns an empty memory, which may last as long as the config.
func (f *Fees) Shortfalls(config *types.TimerConfig) *Shortfalls {
	return &Shortfalls{fees: f, config: config, spendable: map[string]math.Int{}, refused: map[refusal]bool{}}
}

// Forget forgets all: balances or allowances may have changed.
func (s *Shortfalls) Forget() {
	if len(s.spendable) > 0 {
		s.spendable = map[string]math.Int{}
	}
	if len(s.refused) > 0 {
		s.refused = map[refusal]bool{}
	}
}

// ForgetPayer forgets an account that may have received something.
func (s *Shortfalls) ForgetPayer(payer sdk.AccAddress) { delete(s.spendable, string(payer)) }

// Known reports whether it is remembered that the payer can't cover the amount.
func (s *Shortfalls) Known(t *types.Timer, amount math.Int) bool {
	if has, known := s.spendable[string(t.Payer())]; known && has.LT(amount) {
		return true
	}
	return len(s.refused) > 0 && s.refused[refusalOf(t, amount)]
}

// PreCharge is that of Fees, and returns the payer for the refund. It remembers if the payer can't cover the amount.
func (s *Shortfalls) PreCharge(ctx context.Context, t *types.Timer, amount math.Int) (Payer, error) {
	payer, covers := s.look(ctx, t, amount)
	if !covers {
		return payer, types.ErrInsufficientFunds
	}
	return payer, s.fees.debit(ctx, s.config, t, &payer, amount)
}

// Covers reports whether the payer can be debited for the amount, and remembers if it can't.
func (s *Shortfalls) Covers(ctx sdk.Context, t *types.Timer, amount math.Int) bool {
	if s.Known(t, amount) {
		return false
	}
	_, covers := s.look(ctx, t, amount)
	return covers
}

// look looks at the payer, and remembers what it found if that does not cover the amount.
func (s *Shortfalls) look(ctx context.Context, t *types.Timer, amount math.Int) (Payer, bool) {
	payer, covers := s.fees.covers(ctx, s.config, t, amount)
	if covers {
		return payer, true
	}
	has := math.ZeroInt()
	if !payer.spendable.IsNil() {
		has = math.MaxInt(has, payer.spendable)
	}
	if s.spendable[string(t.Payer())] = has; has.GTE(amount) {
		s.refused[refusalOf(t, amount)] = true
	}
	return payer, false
}

// Spendable is what an account can spend of the fee denom. It is remembered.
func (s *Shortfalls) Spendable(ctx sdk.Context, payer sdk.AccAddress) math.Int {
	has, known := s.spendable[string(payer)]
	if !known {
		has = s.fees.Spendable(ctx, s.config, payer)
		s.spendable[string(payer)] = has
	}
	return has
}

func refusalOf(t *types.Timer, amount math.Int) refusal {
	return refusal{string(t.Payer()), string(t.Principal()), amount.String()}
}
