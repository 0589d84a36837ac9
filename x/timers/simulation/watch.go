package simulation

import (
	"context"
	"strconv"

	"github.com/cosmos/cosmos-sdk/testutil/simsx"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// drawWatch makes some of the timers wait for changes of balances instead, every other one with a condition near what the
// balance is, so that it comes true now and then. A chain whose balances can't be watched has none.
func (f factory) drawWatch(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter, config *types.TimerConfig, msg *types.MsgScheduleTimer,
) {
	r := data.Rand()
	if r.Intn(4) != 0 {
		return
	}
	if msg.Spec.OnUnfunded == types.OnUnfundedSkip {
		msg.Spec.OnUnfunded = types.OnUnfundedSuspend // A watch has no next repetition.
	}
	remaining := r.Uint64InRange(0, 4)
	watch := &types.WatchTrigger{Cooldown: r.Uint64InRange(0, 5)}
	watched := map[string]bool{}
	for range r.Uint32InRange(1, 4) {
		key, found := f.balance(data, reporter)
		if !found {
			return
		}
		if watched[string(key.Prefix)] {
			continue
		}
		watched[string(key.Prefix)] = true
		if r.Bool() {
			key.When = nil
		}
		watch.Keys = append(watch.Keys, key)
	}
	msg.Spec.Trigger, msg.Spec.Repeat = types.Trigger{Watch: watch}, &types.Repeat{Remaining: remaining}
}

// drawOnlyIf makes some of the timers do nothing while a balance is not what they want.
func (f factory) drawOnlyIf(data *simsx.ChainDataSource, reporter simsx.SimulationReporter, msg *types.MsgScheduleTimer) {
	if data.Rand().Intn(4) != 0 {
		return
	}
	if key, found := f.balance(data, reporter); found {
		msg.Spec.OnlyIf = []types.WatchKey{key}
	}
}

// balance is that of an account, with a condition near what it is; false where balances can't be watched.
func (f factory) balance(data *simsx.ChainDataSource, reporter simsx.SimulationReporter) (types.WatchKey, bool) {
	r, account := data.Rand(), data.AnyAccount(reporter)
	key, err := f.keeper.Engine().Watches.Watcher().Parse("bank:balance:" + account.AddressBech32 + ":" + sdk.DefaultBondDenom)
	if err != nil {
		return key, false
	}
	key.When = &types.WatchCondition{Op: types.ConditionOp(r.IntInRange(int(types.ConditionExists), int(types.ConditionGreaterOrEqual)+1))}
	if key.When.Op > types.ConditionAbsent {
		has := account.LiquidBalance().AmountOf(sdk.DefaultBondDenom).Int64()
		key.When.Value = strconv.FormatInt(has+int64(r.IntInRange(-1_000_000, 1_000_000)), 10)
	}
	return key, true
}
