package policies

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// ParseMaxCharge reads a max_charge, in fee denom: nil for an empty text, which states none.
func ParseMaxCharge(text string) (math.Int, error) {
	if text == "" {
		return math.Int{}, nil
	}
	amount, ok := types.ParseAmount(text)
	if !ok {
		return amount, types.ErrInvalidBid.Wrapf("max_charge %.80q is no amount of the fee denom", text)
	}
	return amount, CheckMaxCharge(amount)
}

// CheckMaxCharge refuses an amount that is no max_charge; nil and 0 stand for none.
func CheckMaxCharge(amount math.Int) error {
	if !amount.IsNil() && (amount.IsNegative() || amount.BigIntMut().BitLen() > types.MaxBidBits) {
		return types.ErrInvalidBid.Wrapf("max_charge %s, want 0 to 2^%d - 1", amount, types.MaxBidBits)
	}
	return nil
}

// SpendCapOf is what a timer's max_charge leaves above the chain's prices of the block.
func (b *Block) SpendCapOf(t *types.Timer) market.SpendCap {
	if t.MaxCharge == "" {
		return market.SpendCap{}
	}
	amount, _ := types.ParseAmount(t.MaxCharge)
	return market.SpendCapOf(amount, b.Prices, t.GasLimit, t.CellLimit)
}

// HoldPricedOut takes timers out of the queue that can't fire at the prices of the block, so that a crowd of them does
// not fill the windows of later blocks. They were read in this block, and handlers may have changed them since.
func (w *Window) HoldPricedOut(ctx sdk.Context, timers []types.Timer) error {
	for i := range timers {
		t, found, err := w.Parts.Records.InQueue(ctx, state.KeyOf(timers[i].Due, timers[i].Seq))
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if _, willing := w.Price(&t); willing {
			continue
		}
		w.PricedOut++
		if w.Hands.PutOnHold(ctx, &t, types.PricedOut); t.HoldReason != types.NotOnHold {
			w.Left++
		}
	}
	return nil
}
