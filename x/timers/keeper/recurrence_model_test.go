package keeper_test

import (
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// modelRecurrence is the model's record of a timer's recurrence (x/timers/README.md, "1.4 Trigger" and "1.5
// Lifecycle"), as naive as modelTimer.
type modelRecurrence struct {
	every, remaining uint64
	stops, suspends  bool
	retryMax         uint32
	retryAfter       uint64
	retries, fireSeq uint32
	reason           types.HoldReason
	outcome          modelOutcome
}

type modelOutcome struct {
	success      bool
	height, used uint64
	paid         int64
}

// modelNext is what an event says of what comes after a fire.
type modelNext struct {
	due              uint64
	fireSeq, retries uint32
}

// recurrenceOf reads the same from a record.
func recurrenceOf(t *types.Timer) modelRecurrence {
	recurrence := modelRecurrence{
		suspends: t.Spec.OnUnfunded == types.OnUnfundedSuspend, retries: t.Retries, fireSeq: t.FireSeq, reason: t.HoldReason,
	}
	if i := t.Spec.Trigger.Interval; i != nil {
		recurrence.every, recurrence.remaining, recurrence.stops = i.Every, t.Left(), t.Spec.Repeat.GetOnFailure() == types.OnFailureStop
	}
	if t.Spec.Retry != nil {
		recurrence.retryMax, recurrence.retryAfter = t.Spec.Retry.Max, t.Spec.Retry.After
	}
	if o := t.LastOutcome; o != nil {
		recurrence.outcome = modelOutcome{o.Success, o.Height, o.Cycles, o.Paid.Int64()}
	}
	return recurrence
}

func (m *model) putOnHold(t *modelTimer, reason types.HoldReason) {
	t.onHold, t.reason = true, reason
}

func (m *model) release(t *modelTimer, height uint64) {
	t.onHold, t.reason = false, types.NotOnHold
	t.placeAt(height)
}

func (m *model) starve(t *modelTimer, b *modelBlock) {
	if t.suspends {
		m.putOnHold(t, types.Suspended)
		b.onHold = append(b.onHold, t.id)
		return
	}
	m.remove(t)
	b.unfunded = append(b.unfunded, t.id)
}

// rollOrRetry is what becomes of a timer that fired.
func (m *model) rollOrRetry(t *modelTimer, outcome modelOutcome) modelNext {
	next := modelNext{fireSeq: t.fireSeq}
	switch {
	case !outcome.success && t.retries < t.retryMax && m.height+t.retryAfter <= t.last:
		t.retries++
		t.due, t.since = m.height+t.retryAfter, 0
	case t.every == 0, t.remaining == 1, m.height+t.every > t.last, !outcome.success && t.stops:
		m.remove(t)
		return next
	default:
		t.due, t.since, t.retries = m.height+t.every, 0, 0
		if t.remaining > 0 {
			t.remaining--
		}
	}
	t.fireSeq++
	t.outcome = outcome
	if outcome.success {
		switch t.payload {
		case "cancels itself":
			m.remove(t)
			return next
		case "pauses itself":
			m.putOnHold(t, types.Paused)
		case "updates itself":
			if t.gas != 40_000 {
				t.gas, t.seq = 40_000, m.nextSeq
				m.nextSeq++
			}
		}
	}
	next.due, next.retries = t.due, t.retries
	return next
}

func (m *model) pause(actor sdk.AccAddress, id string) error {
	timer, err := m.live(actor, id)
	switch {
	case err != nil:
		return err
	case timer.reason == types.Quarantined:
		return types.ErrQuarantined
	}
	m.putOnHold(timer, types.Paused)
	return nil
}

func (m *model) resume(actor sdk.AccAddress, id string) error {
	timer, err := m.live(actor, id)
	switch {
	case err != nil:
		return err
	case !timer.onHold:
		return types.ErrNotOnHold
	case timer.reason == types.Unrunnable:
		return types.ErrUnrunnable
	}
	timer.onHold, timer.reason = false, types.NotOnHold
	if timer.retries > 0 {
		timer.due = m.height + 1
	}
	if timer.due <= m.height {
		timer.due = m.height + 1
	}
	timer.since = 0
	return nil
}

// actOnItself does what a handler of that name does to its own timer, on a meter of its own. A timer that is gone, as
// one that does not repeat is, stays so.
func (m *machine) actOnItself(ctx sdk.Context, d types.Delivery, payload string) {
	ctx = ctx.WithGasMeter(storetypes.NewInfiniteGasMeter())
	var err error
	switch payload {
	case "cancels itself", "cancels itself and fails":
		err = m.Timers.Cancel(ctx, d.Actor, d.TimerID)
	case "pauses itself", "pauses itself and fails":
		err = m.Timers.Pause(ctx, d.Actor, d.TimerID)
	case "updates itself", "updates itself and fails":
		_, err = m.Timers.Update(ctx, keeper.UpdateRequest{Actor: d.Actor, ID: d.TimerID, Spec: types.TimerSpec{GasLimit: 40_000}, Fields: []string{"gas_limit"}})
	}
	if err != nil {
		require.ErrorIs(m.t, err, types.ErrTimerNotFound)
	}
}

// repeatOp schedules a timer that may live on.
func (m *machine) repeatOp(t *rapid.T, actor sdk.AccAddress) {
	payload := rapid.SampledFrom([]string{
		"idle", "works", "fails", "fails", "respawns", "cancels itself", "pauses itself", "updates itself",
		"cancels itself and fails", "pauses itself and fails", "updates itself and fails",
	}).Draw(t, "payload")
	trigger := types.Trigger{Height: m.Height() + rapid.Uint64Range(1, 3).Draw(t, "in")}
	var recurrence modelRecurrence
	var repeat *types.Repeat
	due := trigger.Height
	if rapid.IntRange(0, 3).Draw(t, "repeats") > 0 {
		recurrence.every = rapid.SampledFrom([]uint64{0, 1, 1, 2, 3, 5, 12, 13, largest}).Draw(t, "every")
		recurrence.remaining = rapid.SampledFrom([]uint64{0, 0, 1, 2, 3, largest}).Draw(t, "remaining")
		recurrence.stops = rapid.Bool().Draw(t, "stops")
		first := rapid.SampledFrom([]uint64{0, 0, m.Height(), m.Height() + 1, m.Height() + 2, m.Height() + 14}).Draw(t, "first")
		interval := &types.IntervalTrigger{Every: recurrence.every, First: first}
		repeat = &types.Repeat{Remaining: recurrence.remaining}
		if recurrence.stops {
			repeat.OnFailure = types.OnFailureStop
		}
		trigger, due = types.Trigger{Interval: interval}, first
		if first == 0 {
			due = m.Height() + recurrence.every
		}
	} else if after := rapid.SampledFrom([]uint64{0, 0, 1, 2, 13}).Draw(t, "after"); after > 0 {
		trigger, due = types.Trigger{After: after}, m.Height()+after
	}
	var retry *types.Retry
	if rapid.Bool().Draw(t, "retries") {
		recurrence.retryMax = rapid.SampledFrom([]uint32{0, 1, 2, 3, 10, 11}).Draw(t, "max")
		recurrence.retryAfter = rapid.SampledFrom([]uint64{0, 1, 1, 2, 4, 12, largest}).Draw(t, "after")
		retry = &types.Retry{Max: recurrence.retryMax, After: recurrence.retryAfter}
	}
	unfunded := rapid.SampledFrom([]types.OnUnfunded{0, 1, 2, 2, 4}).Draw(t, "unfunded")
	recurrence.suspends = unfunded == types.OnUnfundedSuspend
	last, gasLimit := m.anyLast(t), m.anyGas(t)

	var timer *modelTimer
	var want error
	switch {
	case trigger.After > m.model.config.MaxTtlBlocks:
		want = types.ErrTTLTooLong
	case trigger.Interval != nil && (recurrence.every == 0 || recurrence.every > m.model.config.MaxTtlBlocks):
		want = types.ErrInvalidInterval
	case retry != nil && (recurrence.retryMax == 0 || recurrence.retryMax > 10 || recurrence.retryAfter == 0 || recurrence.retryAfter > m.model.config.MaxTtlBlocks):
		want = types.ErrInvalidRetry
	case unfunded > 2:
		want = types.ErrInvalidOnUnfunded
	default:
		timer, want = m.model.schedule(actor, payload, due, last, gasLimit)
	}
	results, _, err := m.Tx(scheduleMsg(actor, 0, []byte(payload), limited(gasLimit), expiring(last), func(msg *types.MsgScheduleTimer) {
		msg.Spec.Trigger, msg.Spec.Repeat, msg.Spec.Retry, msg.Spec.OnUnfunded = trigger, repeat, retry, unfunded
	}))
	if want != nil {
		require.ErrorIs(m.t, err, want)
		return
	}
	require.NoError(m.t, err)
	var response types.MsgScheduleTimerResponse
	require.NoError(m.t, m.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	timer.id, timer.modelRecurrence = response.Id, recurrence
	m.ids = append(m.ids, response.Id)
}
