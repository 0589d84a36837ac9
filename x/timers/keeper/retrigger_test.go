package keeper_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// retrigger gives a timer another trigger, and returns the answer.
func (f *fixture) retrigger(id string, trigger types.Trigger, repeat ...types.Repeat) types.MsgUpdateTimerResponse {
	f.t.Helper()
	msg := &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Trigger: trigger}, Fields: []string{"trigger"}}
	for i := range repeat {
		msg.Spec.Repeat, msg.Fields = &repeat[i], append(msg.Fields, repeatFields...)
	}
	results, _, err := f.Tx(msg)
	require.NoError(f.t, err)
	var response types.MsgUpdateTimerResponse
	require.NoError(f.t, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	return response
}

// repeatFields are those of repeat.
var repeatFields = slices.DeleteFunc(types.SpecFields(), func(field string) bool { return !strings.HasPrefix(field, "repeat.") })

// daily is a calendar of a minute of each day.
func daily(hour int, change ...func(*types.CalendarTrigger)) types.Trigger {
	calendar := &types.CalendarTrigger{Cron: &types.CronRule{Minutes: 1, Hours: 1 << hour, Days: 1<<32 - 2, Months: 1<<13 - 2, Weekdays: 127}}
	for _, fn := range change {
		fn(calendar)
	}
	return types.Trigger{Calendar: calendar}
}

// TestUpdate_GivesAOneShotAnyTrigger: the id stays, the timer is due by the new trigger alone, and its life has the end that the
// trigger needs.
//
// Rule: 3.2-trigger
func TestUpdate_GivesAOneShotAnyTrigger(t *testing.T) {
	for name, trigger := range map[string]types.Trigger{
		"height":   {Height: 9},
		"after":    {After: 7},
		"time":     atTime(time.Now().Unix()),
		"interval": {Interval: &types.IntervalTrigger{Every: 6}},
		"calendar": everySeconds(200),
		"watch":    {Watch: &types.WatchTrigger{}},
	} {
		t.Run(name, func(t *testing.T) {
			f, runs := newFixture(t), 0
			f.BlockSeconds = 30
			id := f.schedule(robot, 4, f.counted(&runs))
			switch {
			case trigger.Time != nil:
				trigger = atTime(f.Now() + 200)
			case trigger.Watch != nil:
				trigger.Watch.Keys = []types.WatchKey{f.balanceOf(bob), f.when(f.balanceOf(watched), "< 100")}
			}
			f.setWatched(100)
			times := 1
			repeat := types.Repeat{}
			if spec := (types.TimerSpec{Trigger: trigger}); spec.Recurs() {
				times, repeat.Remaining = 2, 2
			}
			response := f.retrigger(id, trigger, repeat)
			info := f.timer(robot, id)
			require.Equal(t, []any{response.Seq, response.Due}, []any{info.Status.Seq, info.Status.Due})
			if trigger.ByTime() {
				require.Equal(t, response.DueTime, info.Status.DueTime)
				require.Equal(t, f.Now()+int64(f.config().MaxTtlSeconds), info.Status.ExpiresTime)
			}
			f.blocksUntil(5)
			require.Zero(t, runs, "it is not due where it was")
			if trigger.Watch != nil {
				f.run(f.send(alice, bob, 1))
				f.NextBlock()
				f.setWatched(5)
			}
			for range 20 {
				f.NextBlock()
			}
			require.Equal(t, times, runs)
			require.Zero(t, f.total(robot))
		})
	}
}

// TestUpdate_ARepeatingTimerCountsOn: its occurrences lie after the last that was delivered, and their numbers continue; one
// whose kind is another is refused.
//
// Rule: 3.2-trigger, 3.2-trigger-repeats
func TestUpdate_ARepeatingTimerCountsOn(t *testing.T) {
	f := newFixture(t)
	f.BlockSeconds = 600
	var got []types.Delivery
	id := f.schedule(robot, 0, f.script(func(_ sdk.Context, d types.Delivery) error {
		got = append(got, d)
		if len(got) == 3 {
			return errors.New("once")
		}
		return nil
	}), triggered(everySeconds(3_600)), func(m *types.MsgScheduleTimer) { m.Spec.Retry = &types.Retry{Max: 1, After: 3} })
	for len(got) < 2 {
		f.NextBlock()
	}
	// Its next occurrence is delivered before its time.
	f.run(&types.MsgRunTimer{Sender: robot.String(), Id: id})
	f.NextBlock()
	f.NextBlock()
	require.Len(t, got, 3)
	early := got[2].Occurrence
	require.Greater(t, early, uint64(f.Now()))
	require.Equal(t, uint32(1), f.timer(robot, id).Status.Retries, "it failed, and is retried")

	response := f.retrigger(id, everySeconds(60))
	require.Less(t, uint64(response.DueTime), early, "the new trigger has it too: its retry comes")
	for len(got) < 5 {
		f.NextBlock()
	}
	require.Equal(t, []uint64{early, 3}, []uint64{got[3].Occurrence, got[3].Index}, "the retry")
	for i, d := range slices.Delete(got, 3, 4) {
		require.Equal(t, uint64(i+1), d.Index)
		if i > 0 {
			require.Greater(t, d.Occurrence, got[i-1].Occurrence)
		}
	}
	for name, other := range map[string]types.Trigger{
		"height":   {After: 5},
		"time":     atTime(f.Now() + 500),
		"interval": {Interval: &types.IntervalTrigger{Every: 5, From: types.FromSchedule}},
		"watch":    {Watch: &types.WatchTrigger{Keys: []types.WatchKey{f.balanceOf(bob)}}},
	} {
		t.Run(name, func(t *testing.T) {
			f.refused(types.ErrUnsupportedTimerType, &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Trigger: other}, Fields: []string{"trigger"}})
		})
	}
	f.refused(types.ErrInvalidCalendar, &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Trigger: types.Trigger{Calendar: &types.CalendarTrigger{}}}, Fields: []string{"trigger"}})
	fromFire := f.schedule(robot, 0, f.noop(), triggered(types.Trigger{Interval: &types.IntervalTrigger{Every: 50}}))
	due := f.timer(robot, fromFire).Status.Due
	f.retrigger(fromFire, types.Trigger{Interval: &types.IntervalTrigger{Every: 2}})
	require.Equal(t, due, f.timer(robot, fromFire).Status.Due, "its first occurrence stays")
	f.retrigger(fromFire, types.Trigger{Interval: &types.IntervalTrigger{Every: 2, First: f.Height() + 3}})
	require.Equal(t, f.Height()+3, f.timer(robot, fromFire).Status.Due)
	f.retrigger(fromFire, types.Trigger{Interval: &types.IntervalTrigger{Every: 5, From: types.FromSchedule, First: f.Height() - 1}})
	require.Equal(t, f.Height()+4, f.timer(robot, fromFire).Status.Due, "in its clock, from either")
}

// TestUpdate_AWatchWatchesSomethingElse: what it had noticed of the old keys is gone, and nothing of them stays in state.
//
// Rule: 3.2-trigger-watch
func TestUpdate_AWatchWatchesSomethingElse(t *testing.T) {
	f, runs := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MaxFiresPerBlock = 1 })), 0
	blocker := f.schedule(robot, 0, f.noop(), triggered(types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}))
	id := f.schedule(robot, 0, f.counted(&runs), watching(f.balanceOf(bob), f.when(f.balanceOf(watched), "> 5")), times(3))
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	f.NextBlock()
	require.Equal(t, types.PhaseReady, f.timer(robot, id).Status.Phase, "it is due, and waits for the lane")
	same := types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{f.balanceOf(bob), f.when(f.balanceOf(watched), "> 5")}}}
	f.retrigger(id, same)
	require.Equal(t, types.NotOnHold, f.timer(robot, id).Status.HoldReason, "what it has noticed stays")

	f.retrigger(id, types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{f.when(f.balanceOf(watched), "> 50")}}})
	require.Equal(t, types.PhaseWatching, f.timer(robot, id).Status.Phase)
	f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: blocker})
	f.run(f.send(alice, bob, 1))
	f.setWatched(10)
	for range 3 {
		require.Empty(t, f.firedIDs(f.NextBlock()))
	}
	f.setWatched(51)
	require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
	require.Equal(t, 1, runs)
	watches, err := f.query().Watches(f.Ctx(), &types.QueryWatchesRequest{Store: "bank"})
	require.NoError(t, err)
	require.Len(t, watches.Watches, 1)
	f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: id})
	f.NextBlock()
	genesis := f.export()
	require.Empty(t, genesis.WatchValues)
	require.Empty(t, genesis.WatchHits)
}

// TestUpdate_OnHoldStaysOnHold: an owner's pause stays, and what is resumed is due by the new trigger.
//
// Rule: 3.2-trigger-hold
func TestUpdate_OnHoldStaysOnHold(t *testing.T) {
	f, runs := newFixture(t), 0
	f.BlockSeconds = 60
	id := f.schedule(robot, 0, f.counted(&runs), triggered(everySeconds(3_600)))
	f.run(&types.MsgPauseTimer{Sender: robot.String(), Id: id})
	f.retrigger(id, daily(3))
	require.Equal(t, types.Paused, f.timer(robot, id).Status.HoldReason)
	f.pass(f.Now()+86_400, 3_600)
	require.Zero(t, runs)
	f.run(&types.MsgResumeTimer{Sender: robot.String(), Id: id, At: types.ResumeNext})
	info := f.timer(robot, id)
	require.Equal(t, 3, time.Unix(info.Status.DueTime, 0).UTC().Hour())
	f.pass(info.Status.DueTime, 3_600)
	f.NextBlock()
	require.Equal(t, 1, runs)
}

// TestUpdate_ARetryStaysWhenItsOptionsGo: a timer that fires once, failed and waits for its retry keeps the outcome and the
// height of the retry, whatever an update states of retries. The state is exported and imported.
func TestUpdate_ARetryStaysWhenItsOptionsGo(t *testing.T) {
	for name, options := range map[string]types.TimerSpec{
		"no retries":          {},
		"another on_unfunded": {OnUnfunded: types.OnUnfundedSuspend},
		"fewer":               {Retry: &types.Retry{Max: 1, After: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			tries := 0
			payload := f.script(func(sdk.Context, types.Delivery) error {
				tries++
				return errors.New("not yet")
			})
			id := f.schedule(robot, f.Height()+1, payload, func(msg *types.MsgScheduleTimer) { msg.Spec.Retry = &types.Retry{Max: 8, After: 10} })
			f.NextBlock()
			f.NextBlock()
			require.Equal(t, 1, tries)
			due := f.timer(robot, id).Status.Due
			f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: options, Fields: []string{"retry", "on_unfunded"}})
			info := f.timer(robot, id)
			require.Equal(t, due, info.Status.Due)
			require.NotNil(t, info.Status.LastOutcome)
			f.NextBlock()
			exported := f.export()
			require.NoError(t, f.Timers.ValidateGenesis(exported))
			require.NotNil(t, imported(t, f, exported).timer(robot, id).Status.LastOutcome)
			require.NoError(t, f.BeginBlock())
			f.blocksUntil(due + 1)
			require.Equal(t, 2, tries)
		})
	}
}

// TestUpdate_AWatchKeepsWhatItNoticed: a watch that is due, and is to watch the same as before, fires for what it noticed. As often
// as it now states.
func TestUpdate_AWatchKeepsWhatItNoticed(t *testing.T) {
	f := newFixture(t)
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
	f.NextBlock()
	id := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(bob)), times(1))
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	f.NextBlock()
	f.run(&types.MsgUpdateTimer{
		Sender: robot.String(), Id: id, Spec: types.TimerSpec{Trigger: types.Trigger{Watch: &types.WatchTrigger{
			Keys: []types.WatchKey{f.balanceOf(bob)},
		}}, Repeat: &types.Repeat{Remaining: 3}}, Fields: []string{"trigger", "repeat.remaining"},
	})
	require.NoError(t, f.Check())
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	f.NextBlock()
	fired := only[*types.TimerFired](f, f.NextBlock())
	require.Equal(t, []types.WatchedKey{matched(f.balanceOf(bob))}, fired.Matched)
	require.Equal(t, uint64(2), f.timer(robot, id).Status.Left)
}

// TestUpdate_OptionsAreReplacedTogether: retry, on_unfunded, renew and only_if, checked against the trigger that the timer has
// then.
//
// Rule: 3.2-options
func TestUpdate_OptionsAreReplacedTogether(t *testing.T) {
	f := newFixture(t)
	update := func(id string, options types.TimerSpec) *types.MsgUpdateTimer {
		return &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: options, Fields: []string{"retry", "on_unfunded", "repeat.renew", "only_if"}}
	}
	id := f.schedule(robot, 0, f.noop(), triggered(types.Trigger{Interval: &types.IntervalTrigger{Every: 5}}), expiring(f.Height()+100))
	all := types.TimerSpec{
		Retry: &types.Retry{Max: 2, After: 1}, OnUnfunded: types.OnUnfundedSkip, Repeat: &types.Repeat{Renew: true}, OnlyIf: []types.WatchKey{f.lowBalance()},
	}
	f.run(update(id, all))
	info := f.timer(robot, id)
	require.Equal(t, all, types.TimerSpec{Retry: info.Spec.Retry, OnUnfunded: info.Spec.OnUnfunded, Repeat: info.Spec.Repeat, OnlyIf: info.Spec.OnlyIf})
	require.Equal(t, types.Renewal{Blocks: 100}, *info.Status.Renewal)
	f.run(update(id, types.TimerSpec{}))
	info = f.timer(robot, id)
	require.Equal(t, types.OnUnfundedUnspecified, info.Spec.OnUnfunded)
	require.Nil(t, info.Spec.Retry)
	require.False(t, info.Spec.Repeat.GetRenew())
	require.Empty(t, info.Spec.OnlyIf)

	once := f.schedule(robot, 50, f.noop())
	f.refused(types.ErrInvalidRepeat, update(once, types.TimerSpec{Repeat: &types.Repeat{Renew: true}}))
	f.refused(types.ErrInvalidOnUnfunded, update(once, types.TimerSpec{OnUnfunded: types.OnUnfundedSkip}))
	f.refused(types.ErrInvalidRetry, update(id, types.TimerSpec{Retry: &types.Retry{}}))
	f.refused(types.ErrInvalidOnlyIf, update(id, types.TimerSpec{OnlyIf: []types.WatchKey{f.balanceOf(bob)}}))
	f.run(&types.MsgUpdateTimer{
		Sender: robot.String(), Id: once, Spec: types.TimerSpec{Trigger: types.Trigger{After: 3}, Retry: &types.Retry{Max: 1, After: 1}}, Fields: []string{"trigger", "retry"},
	})
	require.Equal(t, f.Height()+3, f.timer(robot, once).Status.Due)
	f.refused(types.ErrExpiresTooSoon, &types.MsgUpdateTimer{
		Sender: robot.String(), Id: id, Spec: types.TimerSpec{Trigger: types.Trigger{
			Interval: &types.IntervalTrigger{Every: 200, First: f.Height() + 200},
		}}, Fields: []string{"trigger"},
	})
}

// TestUpdate_ARetryThatIsDroppedIsTriedOnce: what failed and waited for a retry is tried once more, by its number.
//
// Rule: 3.2-options-retry
func TestUpdate_ARetryThatIsDroppedIsTriedOnce(t *testing.T) {
	f, runs := newFixture(t), []types.Delivery{}
	f.BlockSeconds = 60
	id := f.schedule(robot, 0, f.script(func(_ sdk.Context, d types.Delivery) error {
		runs = append(runs, d)
		return errors.New("no")
	}), triggered(everySeconds(3_600)), func(m *types.MsgScheduleTimer) { m.Spec.Retry = &types.Retry{Max: 5, After: 2} })
	for len(runs) < 1 {
		f.NextBlock()
	}
	f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Fields: []string{"retry"}})
	for range 30 {
		f.NextBlock()
	}
	require.Len(t, runs, 2)
	require.Equal(t, runs[0].Occurrence, runs[1].Occurrence)
	require.Equal(t, uint64(1), runs[1].Index)
	genesis := f.export()
	require.NoError(t, genesis.Timers[0].ValidateRecurrence())
}

// TestOccurrences_SayWhenATimerIsDue: of a timer and of a trigger, at most as many as it has, and whether there are more.
//
// Rule: 9.2-occurrences
func TestOccurrences_SayWhenATimerIsDue(t *testing.T) {
	f := newFixture(t)
	f.BlockSeconds = 1
	now := uint64(f.Now())
	ask := func(req types.QueryOccurrencesRequest) string {
		t.Helper()
		answer, err := f.query().Occurrences(f.Ctx(), &req)
		require.NoError(t, err)
		text := ""
		for _, o := range answer.Occurrences {
			at, due := o.At, o.Due
			if answer.ByTime {
				at, due = at-now, due-now
			}
			text += fmt.Sprint(at)
			if due != at {
				text += fmt.Sprintf("+%d", due-at)
			}
			text += " "
		}
		if answer.More {
			text += "more"
		}
		return text
	}
	of := func(trigger types.Trigger, limit uint32, repeat ...types.Repeat) string {
		spec := types.TimerSpec{Trigger: trigger}
		if len(repeat) > 0 {
			spec.Repeat = &repeat[0]
		}
		return ask(types.QueryOccurrencesRequest{Spec: &spec, Limit: limit})
	}
	height := f.Height()
	at := func(blocks ...uint64) (text string) {
		for _, b := range blocks {
			text += fmt.Sprintf("%d ", height+b)
		}
		return text
	}
	require.Equal(t, at(9), of(types.Trigger{After: 9}, 0))
	require.Equal(t, "77 ", of(atTime(int64(now)+77), 0))
	require.Equal(t, "60 120 180 240 300 more", of(everySeconds(60), 0))
	require.Equal(t, "60 120 ", of(everySeconds(60), 0, types.Repeat{Remaining: 2}))
	require.Equal(t, "60 120 more", of(everySeconds(60), 2, types.Repeat{Remaining: 3, Jitter: 50}), "jitter follows from an id")
	require.Equal(t, at(5, 10, 15)+"more", of(types.Trigger{Interval: &types.IntervalTrigger{Every: 5}}, 3))
	require.Equal(t, at(5, 10, 15)+"more", of(types.Trigger{Interval: &types.IntervalTrigger{Every: 5, From: types.FromSchedule}}, 3))
	require.Equal(t, at(5, 10), ask(types.QueryOccurrencesRequest{
		Spec: &types.TimerSpec{Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 5}}, ExpiresAt: height + 14},
	}))
	require.Empty(t, of(types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{f.balanceOf(bob)}}}, 0))

	id := f.schedule(robot, 0, f.noop(), triggered(everySeconds(60), types.Repeat{Remaining: 4, Jitter: 30}))
	named := types.QueryOccurrencesRequest{Actor: robot.String(), Id: id[:8], Limit: 10}
	first, err := f.query().Occurrences(f.Ctx(), &named)
	require.NoError(t, err)
	require.Len(t, first.Occurrences, 4)
	// It is due where it was said.
	for i, o := range first.Occurrences {
		require.Equal(t, now+60*uint64(i+1), o.At)
		f.pass(int64(o.Due), 1)
		fired := only[*types.TimerFired](f, f.NextBlock())
		require.Equal(t, o.At, fired.Occurrence)
		require.Equal(t, o.Due, o.At+fired.LateSeconds)
	}

	for name, bad := range map[string]types.QueryOccurrencesRequest{
		"nothing":     {},
		"both":        {Actor: robot.String(), Id: id, Spec: &types.TimerSpec{Trigger: types.Trigger{After: 1}}},
		"too many":    {Spec: &types.TimerSpec{Trigger: types.Trigger{After: 1}}, Limit: 101},
		"gone":        {Actor: robot.String(), Id: id},
		"what is not": {Spec: &types.TimerSpec{}},
		"too long":    {Spec: &types.TimerSpec{Trigger: types.Trigger{After: 5}, ExpiresAt: 1 << 60}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.query().Occurrences(f.Ctx(), &bad)
			require.Error(t, err)
		})
	}
}
