package outlook

import (
	"context"
	"fmt"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// fewFires is for how many fires the funds of a payer should last at least.
const fewFires = 3

// RunDry says of timers that repeat whose payers' balances cover fewer than 3 fires: "RUNS DRY in 2", by their places in
// the list. A fire counts at the most that it can cost at today's prices without a tip, and with what its messages move of the
// fee denom; leaves says what that is. Of timers that another account
// pays for nothing is said, since an allowance bounds them, nor of one on hold, which spends nothing, nor of what a node does not tell.
func (o *Outlook) RunDry(timers []types.TimerInfo, leaves func(t *types.TimerInfo) sdk.Coins, balance func(address string) (math.Int, bool)) map[int]string {
	cell, err := plain.ParsePrice(o.Prices.CellBasefee)
	if err != nil {
		return nil
	}
	chain, err := plain.ParsePrice(o.Prices.CycleBasefee)
	if err != nil {
		return nil
	}
	laneFee := math.LegacyZeroDec()
	if o.bidRule().MaxFee == bids.MaxFeeCoversLane {
		if laneFee, err = o.laneFee(); err != nil {
			return nil
		}
	}
	said, balances := map[int]string{}, map[string]math.Int{}
	for i := range timers {
		t := &timers[i]
		held := t.Status.HoldReason != types.NotOnHold && t.Status.HoldReason != types.Timed
		if held || t.Spec.Trigger.Interval == nil && t.Spec.Trigger.Calendar == nil || t.Status.FeePayer != principal(t) {
			continue
		}
		has, asked := balances[t.Status.FeePayer]
		if !asked {
			var known bool
			if has, known = balance(t.Status.FeePayer); !known {
				return said
			}
			balances[t.Status.FeePayer] = has
		}
		cost := chain.Add(laneFee).MulInt(math.NewIntFromUint64(t.Status.GasLimit)).Add(cell.MulInt(math.NewIntFromUint64(t.Status.CellLimit))).Ceil().TruncateInt()
		if t.Status.FeePayer == t.Actor {
			cost = cost.Add(leaves(t).AmountOf(o.Config.FeeDenom))
		}
		left := t.Status.Left
		if !cost.IsPositive() {
			continue
		}
		if fires := has.Quo(cost); fires.LT(math.NewInt(fewFires)) && (left == 0 || fires.LT(math.NewIntFromUint64(left))) {
			said[i] = fmt.Sprintf("RUNS DRY in %s", fires)
		}
	}
	return said
}

// Balance asks a node for what an account can spend of the fee denom; false where it does not tell, since a chain may keep
// its balances to itself.
func (o *Outlook) Balance(ctx context.Context, bank banktypes.QueryClient, address string) (math.Int, bool) {
	answer, err := bank.SpendableBalanceByDenom(ctx, &banktypes.QuerySpendableBalanceByDenomRequest{Address: address, Denom: o.Config.FeeDenom})
	if err != nil || answer.Balance == nil {
		return math.Int{}, false
	}
	return answer.Balance.Amount, true
}

// principal is who scheduled a timer.
func principal(t *types.TimerInfo) string {
	if t.Scheduler != "" {
		return t.Scheduler
	}
	return t.Actor
}
