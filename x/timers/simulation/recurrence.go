package simulation

import (
	"context"
	"fmt"
	"time"

	"github.com/cosmos/cosmos-sdk/testutil/simsx"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// drawRecurrence makes some of the timers repeat, retry and wait for their owners.
func drawRecurrence(data *simsx.ChainDataSource, config *types.TimerConfig, now int64, msg *types.MsgScheduleTimer) {
	r := data.Rand()
	if r.Intn(3) == 0 {
		msg.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{
			Every: r.Uint64InRange(1, maxDistance), First: msg.Spec.Trigger.Height,
		}}
		msg.Spec.Repeat = &types.Repeat{Remaining: r.Uint64InRange(0, 5), OnFailure: types.OnFailure(r.Intn(3))}
	}
	if msg.Spec.Trigger.Height > 0 && r.Intn(4) == 0 {
		msg.Spec.Trigger = types.Trigger{After: r.Uint64InRange(1, maxDistance)}
		msg.Spec.Repeat = nil
	}
	if r.Intn(4) == 0 {
		msg.Spec.Trigger, msg.Spec.Repeat = byTime(data, now)
	}
	if r.Intn(4) == 0 {
		msg.Spec.Name = fmt.Sprintf("simulated %d", r.Intn(1<<30))
	}
	if r.Intn(3) == 0 {
		msg.Spec.Retry = &types.Retry{Max: r.Uint32InRange(1, market.MaxRetries+1), After: r.Uint64InRange(1, maxDistance)}
	}
	msg.Spec.OnUnfunded = types.OnUnfunded(r.Intn(3))
	if msg.Spec.Trigger.Calendar != nil && r.Bool() {
		msg.Spec.OnUnfunded = types.OnUnfundedSkip
	}
}

// byTime is a time, or a calendar of all kinds of terms: blocks of a simulation are seconds to minutes apart.
func byTime(data *simsx.ChainDataSource, now int64) (types.Trigger, *types.Repeat) {
	r := data.Rand()
	if r.Intn(3) == 0 {
		at := time.Unix(now+int64(r.IntInRange(600, 6_000)), 0).UTC()
		return types.Trigger{Time: &at}, nil
	}
	calendar := &types.CalendarTrigger{Every: &types.EveryRule{Seconds: r.Uint64InRange(60, 2_000)}}
	repeat := &types.Repeat{Remaining: r.Uint64InRange(0, 5), OnFailure: types.OnFailure(r.Intn(4))}
	if r.Bool() {
		repeat.Missed, repeat.Window, repeat.Jitter = types.Missed(r.Intn(3)), r.Uint64InRange(0, 300), r.Uint64InRange(0, 90)
	}
	return types.Trigger{Calendar: calendar}, repeat
}

func (f factory) skip(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgSkipTimer) {
	owner, timer := f.timerThat(ctx, data, reporter, func(t *types.Timer) bool {
		// Of one whose life has room for many more, and that is not being retried.
		return t.Retries == 0 && !t.OnHold() && t.Spec.Trigger.Calendar != nil && t.ExpiresTime-types.MomentOf(ctx).Time > 1_000_000
	})
	if timer == nil {
		return nil, nil
	}
	id, name := which(data, timer)
	return []simsx.SimAccount{owner}, &types.MsgSkipTimer{Sender: owner.AddressBech32, Id: id, Name: name, Count: data.Rand().Uint32InRange(1, 4)}
}

func (f factory) run(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgRunTimer) {
	owner, timer := f.timerThat(ctx, data, reporter, func(t *types.Timer) bool {
		return t.HoldReason == types.Timed && t.Retries == 0 && t.Spec.Trigger.Calendar != nil && t.ExpiresTime-types.MomentOf(ctx).Time > 1_000_000
	})
	if timer == nil {
		return nil, nil
	}
	id, name := which(data, timer)
	return []simsx.SimAccount{owner}, &types.MsgRunTimer{Sender: owner.AddressBech32, Id: id, Name: name}
}

func (f factory) pause(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgPauseTimer) {
	owner, timer := f.timerThat(ctx, data, reporter, func(t *types.Timer) bool { return t.HoldReason == types.NotOnHold })
	if timer == nil {
		return nil, nil
	}
	id, name := which(data, timer)
	return []simsx.SimAccount{owner}, &types.MsgPauseTimer{Sender: owner.AddressBech32, Id: id, Name: name}
}

func (f factory) resume(
	ctx context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgResumeTimer) {
	owner, timer := f.timerThat(ctx, data, reporter, func(t *types.Timer) bool {
		return t.HoldReason == types.Paused || t.HoldReason == types.Suspended || t.HoldReason == types.Unfunded
	})
	if timer == nil {
		return nil, nil
	}
	id, name := which(data, timer)
	return []simsx.SimAccount{owner}, &types.MsgResumeTimer{Sender: owner.AddressBech32, Id: id, Name: name}
}
