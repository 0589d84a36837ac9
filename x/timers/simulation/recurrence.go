package simulation

import (
	"context"

	"github.com/cosmos/cosmos-sdk/testutil/simsx"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// drawRecurrence makes some of the timers repeat, retry and wait for their owners.
func drawRecurrence(data *simsx.ChainDataSource, config *types.TimerConfig, msg *types.MsgScheduleTimer) {
	r := data.Rand()
	if r.Intn(3) == 0 {
		msg.Trigger = types.Trigger{Interval: &types.IntervalTrigger{
			Every: r.Uint64InRange(1, maxDistance), First: msg.Trigger.Height, Remaining: r.Uint64InRange(0, 5),
			OnFailure: types.OnFailure(r.Intn(3)),
		}}
	}
	if msg.Trigger.Height > 0 && r.Intn(4) == 0 {
		msg.Trigger = types.Trigger{After: r.Uint64InRange(1, maxDistance)}
	}
	if r.Intn(4) == 0 {
		msg.Label = "simulated"
	}
	if r.Intn(3) == 0 && config.MaxRetries > 0 {
		msg.Retry = &types.Retry{Max: r.Uint32InRange(1, config.MaxRetries+1), After: r.Uint64InRange(1, maxDistance)}
	}
	msg.OnUnfunded = types.OnUnfunded(r.Intn(3))
}

func (f factory) pause(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgPauseTimer) {
	owner, timer := f.timerThat(ctx, data, reporter, func(t *types.Timer) bool { return t.SetAside == types.NotSetAside })
	if timer == nil {
		return nil, nil
	}
	return []simsx.SimAccount{owner}, &types.MsgPauseTimer{Sender: owner.AddressBech32, Id: timer.IDHex()}
}

func (f factory) resume(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgResumeTimer) {
	owner, timer := f.timerThat(ctx, data, reporter, func(t *types.Timer) bool {
		return t.SetAside == types.Paused || t.SetAside == types.Suspended || t.SetAside == types.Unfunded
	})
	if timer == nil {
		return nil, nil
	}
	return []simsx.SimAccount{owner}, &types.MsgResumeTimer{Sender: owner.AddressBech32, Id: timer.IDHex()}
}
