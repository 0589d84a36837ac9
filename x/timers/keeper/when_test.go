package keeper_test

import (
	"bytes"
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// atTime is the trigger of a time.
func atTime(seconds int64) types.Trigger {
	stated := time.Unix(seconds, 0).UTC()
	return types.Trigger{Time: &stated}
}

// everySeconds is a calendar of equal distances.
func everySeconds(seconds uint64, change ...func(*types.CalendarTrigger)) types.Trigger {
	calendar := &types.CalendarTrigger{Every: &types.EveryRule{Seconds: seconds}}
	for _, fn := range change {
		fn(calendar)
	}
	return types.Trigger{Calendar: calendar}
}

func triggered(trigger types.Trigger, repeat ...types.Repeat) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) {
		if msg.Spec.Trigger = trigger; len(repeat) > 0 {
			msg.Spec.Repeat = &repeat[0]
		}
	}
}

// pass runs blocks of so many seconds each until the open one's time is at or after a time, and returns their events.
func (f *fixture) pass(until, seconds int64) (events sdk.Events) {
	f.t.Helper()
	f.BlockSeconds = seconds
	for f.Now() < until {
		events = append(events, f.NextBlock()...)
	}
	return events
}

// TestTime_FiresInTheFirstBlockAtOrAfterIt: the time of the header counts, in whole seconds; the delivery names it.
//
// Rule: 1.4-time
func TestTime_FiresInTheFirstBlockAtOrAfterIt(t *testing.T) {
	f := newFixture(t)
	var got types.Delivery
	start := f.Now()
	id := f.schedule(robot, 0, f.script(func(_ sdk.Context, d types.Delivery) error {
		got = d
		return nil
	}), triggered(atTime(start+100)))
	info := f.timer(robot, id)
	require.Equal(t, types.PhasePending, info.Status.Phase)
	require.Equal(t, start+100, info.Status.DueTime)
	require.Equal(t, start+int64(f.config().MaxTtlSeconds), info.Status.ExpiresTime)
	require.Zero(t, info.Status.ExpiresAt)

	require.Empty(t, f.firedIDs(f.pass(start+93, 7)))
	require.Equal(t, start+98, f.Now())
	events := f.NextBlock() // of second 98
	require.Empty(t, f.firedIDs(events))
	require.Equal(t, start+105, f.Now())
	fired := only[*types.TimerFired](f, f.NextBlock())
	require.Equal(t, id, fired.Id)
	require.Equal(t, uint64(5), fired.LateSeconds)
	require.Zero(t, fired.Late)
	require.Equal(t, uint64(start+100), got.Occurrence)
	require.Equal(t, uint64(1), got.Index)
	require.Equal(t, "time", got.Trigger)
	require.Zero(t, f.total(robot))
}

// TestTime_RefusesWhatCanNotComeTrue: what is not after the block, has a fraction of a second, or lies beyond a timer's life.
//
// Rule: 1.4-time, 1.4-time-off, 1.4-calendar-refused
func TestTime_RefusesWhatCanNotComeTrue(t *testing.T) {
	f := newFixture(t)
	now, ttl := f.Now(), int64(f.config().MaxTtlSeconds)
	fraction := time.Unix(now+10, 1).UTC()
	for name, row := range map[string]struct {
		want   error
		change func(*types.MsgScheduleTimer)
	}{
		"now":             {types.ErrInvalidTime, triggered(atTime(now))},
		"past":            {types.ErrInvalidTime, triggered(atTime(1))},
		"fraction":        {types.ErrInvalidTime, triggered(types.Trigger{Time: &fraction})},
		"beyond its life": {types.ErrTTLTooLong, triggered(atTime(now + ttl + 1))},
		"two triggers":    {types.ErrUnsupportedTimerType, triggered(types.Trigger{Height: 50, Calendar: everySeconds(60).Calendar})},
		"two rules": {types.ErrInvalidCalendar, triggered(everySeconds(60, func(c *types.CalendarTrigger) {
			c.Cron = &types.CronRule{Minutes: 1, Hours: 1, Days: 2, Months: 2, Weekdays: 127}
		}))},
		"too often":     {types.ErrInvalidCalendar, triggered(everySeconds(59))},
		"never":         {types.ErrInvalidCalendar, triggered(everySeconds(uint64(ttl) + 1))},
		"31st of April": {types.ErrInvalidCalendar, triggered(types.Trigger{Calendar: &types.CalendarTrigger{Cron: &types.CronRule{Minutes: 1, Hours: 1, Days: 1 << 31, Months: 1 << 4, Weekdays: 127}}})},
		"ends before": {types.ErrExpiresTooSoon, func(m *types.MsgScheduleTimer) {
			m.Spec.Trigger, m.Spec.ExpiresTime = atTime(now+10), now+9
		}},
		"ended":            {types.ErrExpiresTooSoon, func(m *types.MsgScheduleTimer) { m.Spec.Trigger, m.Spec.ExpiresTime = atTime(now+10), now }},
		"ends at a height": {types.ErrInvalidEnd, func(m *types.MsgScheduleTimer) { m.Spec.Trigger, m.Spec.ExpiresAt = atTime(now+10), 50 }},
		"ends too late": {types.ErrTTLTooLong, func(m *types.MsgScheduleTimer) {
			m.Spec.Trigger, m.Spec.ExpiresTime = atTime(now+10), now+ttl+1
		}},
	} {
		t.Run(name, func(t *testing.T) { f.refused(row.want, scheduleMsg(robot, 0, f.noop(), row.change)) })
	}
	f.setConfig(func(c *types.TimerConfig) { c.TimeTriggers = false })
	f.NextBlock()
	f.refused(types.ErrUnsupportedTimerType, scheduleMsg(robot, 0, f.noop(), triggered(atTime(f.Now()+10))))
	f.refused(types.ErrUnsupportedTimerType, scheduleMsg(robot, 0, f.noop(), triggered(everySeconds(60))))
}

// TestCalendar_KeepsItsRhythm: late fires do not delay the next, whatever the distance of blocks, and each delivery names its
// occurrence and its number.
//
// Rule: 1.4-occurrences
func TestCalendar_KeepsItsRhythm(t *testing.T) {
	f := newFixture(t)
	start := f.Now()
	var got []types.Delivery
	id := f.schedule(robot, 0, f.script(func(_ sdk.Context, d types.Delivery) error {
		got = append(got, d)
		return nil
	}), triggered(everySeconds(60), types.Repeat{Remaining: 5}))
	for i := range int64(5) {
		f.pass(start+60*(i+1), 1+i*7)
		fired := only[*types.TimerFired](f, f.NextBlock())
		require.Equal(t, id, fired.Id)
		if i < 4 {
			require.Equal(t, start+60*(i+2), fired.NextTime)
		} else {
			require.Equal(t, types.EndCompleted, fired.Ended)
		}
	}
	for i, d := range got {
		require.Equal(t, uint64(start)+60*uint64(i+1), d.Occurrence)
		require.Equal(t, uint64(i+1), d.Index)
		require.Equal(t, "calendar", d.Trigger)
	}
	require.Len(t, got, 5)
}

// TestOccurrences_OfAnOutage: after a week without blocks the latest fires once, or each in a block of its own, oldest first; a
// window lets those pass that are too late. What has passed is told once.
//
// Rule: 1.4-missed
func TestOccurrences_OfAnOutage(t *testing.T) {
	const hour, day = 3_600, 86_400
	for name, row := range map[string]struct {
		terms    types.Repeat
		fires    int
		first    int64
		skipped  uint64
		reason   types.SkipReason
		onlyOnce bool
	}{
		"latest": {types.Repeat{}, 1, 7 * 24, 167, types.SkipLater, true},
		"each":   {types.Repeat{Missed: types.MissedEach}, 168, 1, 0, 0, true},
		"each within a day": {
			types.Repeat{Missed: types.MissedEach, Window: day}, 25, 7*24 - 24, 167 - 24, types.SkipWindow, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			start := f.Now()
			f.schedule(robot, 0, f.noop(), triggered(everySeconds(hour), row.terms))
			f.BlockSeconds = 7 * day
			f.NextBlock()
			f.BlockSeconds = 1
			var fired []*types.TimerFired
			var skipped []*types.TimerOccurrencesSkipped
			for range row.fires + 5 {
				events := f.NextBlock()
				inBlock := eventsOf[*types.TimerFired](f, events)
				require.LessOrEqual(t, len(inBlock), 1, "at most one in a block")
				fired = append(fired, inBlock...)
				skipped = append(skipped, eventsOf[*types.TimerOccurrencesSkipped](f, events)...)
			}
			require.Len(t, fired, row.fires)
			for i, event := range fired {
				require.Equal(t, uint64(start+(row.first+int64(i))*hour), event.Occurrence)
				require.Equal(t, uint64(i+1), event.Index)
			}
			if row.skipped == 0 {
				require.Empty(t, skipped)
				return
			}
			require.Len(t, skipped, 1)
			require.Equal(t, row.skipped, skipped[0].Count)
			require.Equal(t, row.reason, skipped[0].Reason)
			require.Equal(t, uint64(start+hour), skipped[0].First)
			require.Equal(t, uint64(start+(row.first-1)*hour), skipped[0].Last)
		})
	}
}

// TestOccurrences_LapseAtAPrice: an occurrence whose window ended before its turn came costs LAPSE_CYCLES, and the timer waits for
// the next; after MAX_UNFUNDED_SKIPS in a row it is suspended.
//
// Rule: 1.4-lapse
func TestOccurrences_LapseAtAPrice(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MaxUnfundedSkips = 3 }))
	start := f.Now()
	id := f.schedule(robot, 0, f.noop(), triggered(everySeconds(600), types.Repeat{Window: 10}))
	before := f.balance(robot)
	for i := range int64(3) {
		f.pass(start+600*(i+1)-300, 5)
		f.BlockSeconds = 311 // one second too late
		f.NextBlock()
		events := f.NextBlock()
		skipped := only[*types.TimerOccurrencesSkipped](f, events)
		require.Empty(t, f.firedIDs(events))
		require.Equal(t, types.SkipWindow, skipped.Reason)
		require.Equal(t, "6", skipped.Paid, "6,000 cycles at 0.001")
		require.Equal(t, before-6*(i+1), f.balance(robot))
		if i < 2 {
			require.Equal(t, types.PhasePending, f.timer(robot, id).Status.Phase)
			continue
		}
		require.Equal(t, types.Suspended, f.timer(robot, id).Status.HoldReason)
	}
	f.run(&types.MsgResumeTimer{Sender: robot.String(), Id: id})
	require.Equal(t, types.PhasePending, f.timer(robot, id).Status.Phase)
	f.pass(f.timer(robot, id).Status.DueTime, 1)
	require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
}

// TestResume_PaysForTheSkipsItRestores: scheduling prepays the repetitions that may pass without funds, and whoever lets them pass
// again pays for as many.
//
// Rule: 3.4-resume-pays
func TestResume_PaysForTheSkipsItRestores(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { lab.SetRemovals(c, 20) }))
	poor := sdk.AccAddress("robot_poor__________")
	f.fund(poor, 1)
	id := f.schedule(poor, 0, f.noop(), triggered(types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}), func(msg *types.MsgScheduleTimer) {
		msg.Spec.OnUnfunded = types.OnUnfundedSkip
	})
	resume := &types.MsgResumeTimer{Sender: poor.String(), Id: id}
	suspended := func() {
		for range 30 {
			f.NextBlock()
		}
		require.Equal(t, types.Suspended, f.timer(poor, id).Status.HoldReason)
	}
	suspended()
	config := f.config()
	require.Equal(t, config.MaxUnfundedSkips, f.timer(poor, id).Status.Skips)
	first := f.run(resume)
	require.Zero(t, f.timer(poor, id).Status.Skips)
	f.run(&types.MsgPauseTimer{Sender: poor.String(), Id: id})
	again := f.run(resume)
	require.InDelta(t, market.LapseCycles*uint64(config.MaxUnfundedSkips), first-again, 100, "nothing was skipped in between")
	suspended()
}

// TestTimes_ACrowdAtOneSecond: a block makes as many due as its overhead has room for, oldest first, and all fire in order. One
// whose time comes later does not wait for those that are left.
//
// Rule: 1.4-times-in-order
func TestTimes_ACrowdAtOneSecond(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) {
		lab.SetOverhead(c, market.MoveTimed, 5)
		c.MaxFiresPerBlock = 50
	}))
	start := f.Now()
	var ids []string
	for range 40 {
		ids = append(ids, f.schedule(robot, 0, f.noop(), triggered(atTime(start+100))))
	}
	later := f.schedule(robot2, 0, f.noop(), triggered(atTime(start+101)))
	f.pass(start+100, 1)
	fired := f.firedIDs(f.NextBlock())
	require.NotEmpty(t, fired)
	require.Less(t, len(fired), 40)
	require.NotZero(t, f.lane().TimesBehind)
	next := f.firedIDs(f.NextBlock())
	require.Contains(t, next, later, "its time came in this block")
	for len(fired) < 40 {
		for _, id := range next {
			if id != later {
				fired = append(fired, id)
			}
		}
		next = f.firedIDs(f.NextBlock())
	}
	require.Equal(t, ids, fired)
	f.NextBlock()
	require.Zero(t, f.lane().TimesBehind)
}

// timesAtOnce is how many timers wait for one second.
var timesAtOnce = flag.Int("keeper.times", 4_000, "how many timers wait for one second; at least 2,000")

// TestTimes_AHundredThousandAtOneSecond: each block makes as many due as its overhead has room for, oldest first, all fire once,
// under fifo in their order, and one who bids above them, at a later second, waits two blocks at most.
//
// Rule: 1.4-times-in-order
func TestTimes_AHundredThousandAtOneSecond(t *testing.T) {
	for name, policy := range map[string]types.Policy{"fifo": types.PolicyFIFO, "eip1559": types.PolicyEIP1559} {
		t.Run(name, func(t *testing.T) {
			const second, start = 1_000, int64(1_700_000_000)
			many := *timesAtOnce
			f := crowded(t, many, func(timer *types.Timer) {
				at := time.Unix(start+second, 0).UTC()
				timer.Spec.Trigger, timer.HoldReason, timer.Due = types.Trigger{Time: &at}, types.Timed, 2
				timer.DueTime, timer.ExpiresTime, timer.ExpiresAt = start+second, start+100_000, 0
			}, withConfig(func(c *types.TimerConfig) {
				c.Policy, c.LaneTimerCycles, c.LaneTimerCells = policy, 1<<36, 1<<36
				c.Eip1559.MinLaneBasefee, c.Eip1559.LaneFeeMultiplier = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec())
			}), func(o *lab.ChainOptions) { o.StartTime = start })
			f.BlockSeconds = 10
			for f.Now() < start+second-5 {
				require.Empty(t, f.firedIDs(f.endBlock()))
			}
			fast := f.schedule(robot, 0, f.noop(), triggered(atTime(start+second+15)), func(m *types.MsgScheduleTimer) {
				m.Spec.Bid = &types.Bid{Tier: types.TierUrgent}
			})
			f.BlockSeconds = 5
			last, fires, blocks, came, waited := uint64(0), 0, 0, 0, 0
			order := map[string]uint64{}
			genesis, err := f.Timers.Engine().Records.All(f.Ctx())
			require.NoError(t, err)
			for i := range genesis {
				order[genesis[i].IDHex()] = genesis[i].Seq
			}
			budget := f.config().OverheadCyclesPerBlock
			for fires < many+1 {
				if f.Now() >= start+second+15 && came == 0 {
					came = blocks + 1
				}
				events := f.endBlock()
				blocks++
				require.Less(t, blocks, 2_000, "%d of %d have fired", fires, many)
				for _, id := range f.firedIDs(events) {
					fires++
					if id == fast {
						waited = blocks - came
						continue
					}
					require.NotZero(t, order[id], "each once")
					if policy == types.PolicyFIFO { // Under others the weight of its actor counts first.
						require.Greater(t, order[id], last, "in the order in which they were scheduled")
					}
					last = order[id]
					delete(order, id)
				}
				require.LessOrEqual(t, only[*types.TimerLaneSummary](f, events).OverheadCycles, budget)
			}
			require.Greater(t, blocks, 10, "no block moves all of them")
			require.LessOrEqual(t, waited, 2)
			t.Logf("%d blocks, the newcomer waited %d", blocks, waited)
			f.check()
			require.Zero(t, f.lane().TimesBehind)
		})
	}
}

// TestCalendar_OfMonthsInAZone: the first of each month at nine in Berlin, over both changes of the clock, for a year.
//
// Rule: 1.4-calendar
func TestCalendar_OfMonthsInAZone(t *testing.T) {
	f := newFixture(t)
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	summer := time.Date(2024, 3, 31, 1, 0, 0, 0, time.UTC).Unix()
	winter := time.Date(2024, 10, 27, 1, 0, 0, 0, time.UTC).Unix()
	f.schedule(robot, 0, f.noop(), triggered(types.Trigger{Calendar: &types.CalendarTrigger{
		Cron:          &types.CronRule{Minutes: 1, Hours: 1 << 9, Days: 1 << 1, Months: 1<<13 - 2, Weekdays: 127},
		OffsetMinutes: 60,
		Transitions:   []types.OffsetTransition{{From: summer, OffsetMinutes: 120}, {From: winter, OffsetMinutes: 60}},
	}}, types.Repeat{Remaining: 12}))
	start := f.Now()
	fired := eventsOf[*types.TimerFired](f, f.pass(start+380*86_400, 6*3_600))
	require.Len(t, fired, 12)
	for _, event := range fired {
		local := time.Unix(int64(event.Occurrence), 0).In(berlin)
		require.Equal(t, []int{1, 9, 0, 0}, []int{local.Day(), local.Hour(), local.Minute(), local.Second()}, "%s", local)
		require.Less(t, event.LateSeconds, uint64(6*3_600))
	}
	require.Equal(t, types.EndCompleted, fired[11].Ended)
}

// TestInterval_FromItsSchedule: a late fire does not delay the next, and the deliveries name heights.
//
// Rule: 1.4-interval-schedule
func TestInterval_FromItsSchedule(t *testing.T) {
	f := newFixture(t)
	start := f.Height()
	f.schedule(robot, 0, f.noop(), triggered(types.Trigger{Interval: &types.IntervalTrigger{Every: 10, From: types.FromSchedule}}, types.Repeat{Remaining: 4}))
	f.blocksUntil(start + 5)
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
	f.blocksUntil(start + 24)
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	var fired []*types.TimerFired
	var heights []uint64
	for f.Height() < start+60 {
		height := f.Height()
		for _, event := range eventsOf[*types.TimerFired](f, f.NextBlock()) {
			fired, heights = append(fired, event), append(heights, height-start)
		}
	}
	require.Equal(t, []uint64{26, 30, 40, 50}, heights[:4])
	for i, want := range []uint64{20, 30, 40, 50} {
		require.Equal(t, start+want, fired[i].Occurrence)
	}
}

// TestRecurrence_SurvivesABadMoment: with skip a repetition passes that the payer can't cover, and after MAX_UNFUNDED_SKIPS in a row
// the timer is suspended; a paid fire starts the count again.
//
// Rule: 1.5-unfunded-skip
func TestRecurrence_SurvivesABadMoment(t *testing.T) {
	for name, trigger := range map[string]types.Trigger{
		"calendar": everySeconds(60), "interval": {Interval: &types.IntervalTrigger{Every: 60}},
		"from its schedule": {Interval: &types.IntervalTrigger{Every: 60, From: types.FromSchedule}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MaxUnfundedSkips = 3 }))
			poor := sdk.AccAddress("robot_poor__________")
			f.fund(poor, 1)
			id := f.schedule(poor, 0, f.noop(), triggered(trigger), func(m *types.MsgScheduleTimer) { m.Spec.OnUnfunded = types.OnUnfundedSkip })
			events := f.pass(f.Now()+125, 1)
			require.Len(t, eventsOf[*types.TimerOccurrencesSkipped](f, events), 2)
			require.Equal(t, types.SkipUnfunded, eventsOf[*types.TimerOccurrencesSkipped](f, events)[0].Reason)
			require.Equal(t, uint32(2), f.timer(poor, id).Status.Skips)
			f.fund(poor, 1_000_000)
			require.Equal(t, []string{id}, f.firedIDs(f.pass(f.Now()+60, 1)))
			require.Zero(t, f.timer(poor, id).Status.Skips)
			f.run(f.send(poor, alice, f.balance(poor)))
			events = f.pass(f.Now()+60*3, 1)
			require.Len(t, eventsOf[*types.TimerOccurrencesSkipped](f, events), 3)
			require.Equal(t, types.Suspended, f.timer(poor, id).Status.HoldReason)
			f.fund(poor, 1_000_000)
			f.run(&types.MsgResumeTimer{Sender: poor.String(), Id: id, At: types.ResumeNext})
			require.Equal(t, []string{id}, f.firedIDs(f.pass(f.Now()+62, 1)))
		})
	}
	f := newFixture(t)
	f.refused(types.ErrInvalidOnUnfunded, scheduleMsg(robot, 50, f.noop(), func(m *types.MsgScheduleTimer) { m.Spec.OnUnfunded = types.OnUnfundedSkip }))
}

// TestRecurrence_IsSuspendedAfterFailures: so many repetitions in a row whose retries have failed too; a success starts the count again.
//
// Rule: 1.4-suspend-after-failures, 1.4-retry-backoff, 1.4-retry-on
func TestRecurrence_IsSuspendedAfterFailures(t *testing.T) {
	f := newFixture(t)
	var failure error
	tries := 0
	id := f.schedule(robot, 0, f.script(func(sdk.Context, types.Delivery) error {
		tries++
		return failure
	}), func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 20, From: types.FromSchedule}}
		m.Spec.Repeat = &types.Repeat{OnFailure: types.OnFailureSuspend, MaxFailures: 2}
		m.Spec.Retry = &types.Retry{Max: 2, After: 2, Backoff: 3, On: []types.ErrorCode{{Codespace: types.ModuleName, Code: types.ErrInvalidPayload.ABCICode()}}}
	})
	start := f.Height()
	failure = types.ErrInvalidPayload
	var heights []uint64
	for f.Height() <= start+29 {
		height := f.Height()
		if len(f.firedIDs(f.NextBlock())) > 0 {
			heights = append(heights, height-start)
		}
	}
	require.Equal(t, []uint64{20, 22, 28}, heights, "the second retry is 2 × 3 blocks after the first")
	require.Equal(t, uint32(1), f.timer(robot, id).Status.Failures)
	failure = nil
	f.blocksUntil(start + 41)
	require.Zero(t, f.timer(robot, id).Status.Failures)
	failure, tries = types.ErrUnknownActor, 0
	f.blocksUntil(start + 79)
	require.Equal(t, 1, tries, "another error is not retried")
	events := f.blocksUntil(start + 81)
	onHold := only[*types.TimerHeld](f, events)
	require.Equal(t, types.Suspended, onHold.Reason)
	require.Equal(t, types.ErrUnknownActor.ABCICode(), onHold.Code)
	require.Equal(t, 2, tries)
	failure = nil
	f.run(&types.MsgResumeTimer{Sender: robot.String(), Id: id})
	require.Equal(t, []string{id}, f.firedIDs(f.blocksUntil(start+101)))
}

// TestRenew_GivesTheSameLifeAgain: each fire does, within today's maxima, and an extension gives another one; a calendar lives no
// longer than its last transition covers.
//
// Rule: 1.2-renew
func TestRenew_GivesTheSameLifeAgain(t *testing.T) {
	f := newFixture(t)
	start := f.Now()
	renewing := func(m *types.MsgScheduleTimer) { m.Spec.Repeat = &types.Repeat{Renew: true} }
	id := f.schedule(robot, 0, f.noop(), triggered(everySeconds(600)), renewing, func(m *types.MsgScheduleTimer) { m.Spec.ExpiresTime = start + 1_500 })
	blocks := f.schedule(robot, 0, f.noop(), renewing, expiring(f.Height()+25), every(10, 0))
	zoned := f.schedule(robot, 0, f.noop(), renewing, triggered(types.Trigger{Calendar: &types.CalendarTrigger{
		Cron:        &types.CronRule{Minutes: 1, Hours: 1<<24 - 1, Days: 1<<32 - 2, Months: 1<<13 - 2, Weekdays: 127},
		Transitions: []types.OffsetTransition{{From: (start/3_600 + 5) * 3_600, OffsetMinutes: 60}},
	}}), func(m *types.MsgScheduleTimer) { m.Spec.ExpiresTime = start + 7_200 })
	f.refused(types.ErrInvalidRepeat, scheduleMsg(robot, 50, f.noop(), renewing))
	events := f.pass(start+6*3_600, 60)
	count := map[string]int{}
	for _, fired := range eventsOf[*types.TimerFired](f, events) {
		count[fired.Id]++
		if fired.Id == zoned && fired.Ended != types.EndUnspecified {
			require.Equal(t, types.EndZone, fired.Ended)
		}
	}
	require.GreaterOrEqual(t, count[id], 35)
	require.GreaterOrEqual(t, count[blocks], 30)
	require.LessOrEqual(t, count[zoned], 5)
	require.GreaterOrEqual(t, count[zoned], 4)
	require.Equal(t, uint32(2), f.total(robot))
	info := f.timer(robot, id)
	require.InDelta(t, f.Now()+1_500, info.Status.ExpiresTime, 660)
	f.run(&types.MsgExtendTimer{Sender: robot.String(), Id: id, ExpiresTime: f.Now() + 900})
	require.Equal(t, uint64(900), f.timer(robot, id).Status.Renewal.Seconds)
}

// TestSkipAndRun_MoveTheNextOccurrence: what is skipped is told, what is run is consumed.
//
// Rule: 3.4-skip, 3.4-run, 3.4-resume-at
func TestSkipAndRun_MoveTheNextOccurrence(t *testing.T) {
	f := newFixture(t)
	start := f.Now()
	sender := robot.String()
	var got []types.Delivery
	id := f.schedule(robot, 0, f.script(func(_ sdk.Context, d types.Delivery) error {
		got = append(got, d)
		return nil
	}), triggered(everySeconds(600), types.Repeat{Remaining: 4}))
	f.run(&types.MsgSkipTimer{Sender: sender, Id: id, Count: 2})
	require.Equal(t, start+1_800, f.timer(robot, id).Status.DueTime)
	f.run(&types.MsgRunTimer{Sender: sender, Id: id})
	f.refused(types.ErrAlreadyDue, &types.MsgRunTimer{Sender: sender, Id: id})
	f.NextBlock()
	fired := only[*types.TimerFired](f, f.NextBlock())
	require.Equal(t, uint64(start+1_800), fired.Occurrence)
	require.Equal(t, start+2_400, fired.NextTime)
	require.Zero(t, fired.LateSeconds)

	f.run(&types.MsgPauseTimer{Sender: sender, Id: id})
	f.refused(types.ErrAlreadyOnHold, &types.MsgRunTimer{Sender: sender, Id: id})
	f.pass(start+3_700, 60)
	f.run(&types.MsgResumeTimer{Sender: sender, Id: id})
	f.NextBlock()
	fired = only[*types.TimerFired](f, f.NextBlock())
	require.Equal(t, uint64(start+3_600), fired.Occurrence, "the latest that came meanwhile")
	f.run(&types.MsgPauseTimer{Sender: sender, Id: id})
	f.pass(start+4_900, 60)
	f.run(&types.MsgResumeTimer{Sender: sender, Id: id, At: types.ResumeNext})
	require.Equal(t, start+5_400, f.timer(robot, id).Status.DueTime)

	for _, count := range []uint32{0, 1_001} {
		f.refused(types.ErrInvalidSkip, &types.MsgSkipTimer{Sender: sender, Id: id, Count: count})
	}
	once := f.schedule(robot, 0, f.noop(), triggered(atTime(f.Now()+1_000)))
	f.refused(types.ErrUnsupportedTimerType, &types.MsgSkipTimer{Sender: sender, Id: once, Count: 1})
	f.refused(types.ErrUnsupportedTimerType, &types.MsgRunTimer{Sender: sender, Id: once})
	short := f.schedule(robot, 0, f.noop(), triggered(everySeconds(600)), func(m *types.MsgScheduleTimer) { m.Spec.ExpiresTime = f.Now() + 1_300 })
	f.refused(types.ErrExpiresTooSoon, &types.MsgSkipTimer{Sender: sender, Id: short, Count: 2})
	require.Len(t, got, 2)
}

// TestCalendar_WaitsOnAChainWhoseClockIsEarlier: what was ready on the chain that exported it waits for its time again, at no price,
// and delivers what it would have delivered there.
//
// Rule: 1.4-once
func TestCalendar_WaitsOnAChainWhoseClockIsEarlier(t *testing.T) {
	const now = 1_700_000_000
	f := newFixture(t, func(opts *lab.ChainOptions) {
		opts.Genesis.NextSeq, opts.StartTime = 2, now
		payload := []byte("script 0")
		opts.Genesis.Timers = []types.Timer{{
			Id: types.TimerID(robot, 1, payload, 1), Actor: robot, GasLimit: gas, CellLimit: 1_000, Seq: 1, Due: 1,
			ScheduleHeight: 1,
			DueTime:        now + 120, ExpiresTime: now + 10_000, Recurrence: &types.Recurrence{After: now + 60}, Deliveries: 11, FireSeq: 11,
			Spec: types.TimerSpec{
				Call:    types.TimerCall{Payload: payload},
				Trigger: everySeconds(60, func(c *types.CalendarTrigger) { c.Every.Anchor = now - 600 }),
				Repeat:  &types.Repeat{Missed: types.MissedEach},
			},
		}}
	})
	f.script(func(sdk.Context, types.Delivery) error { return nil })
	before := f.balance(robot)
	events := f.pass(now+119, 1)
	require.Empty(t, f.firedIDs(events))
	require.Empty(t, eventsOf[*types.TimerOccurrencesSkipped](f, events))
	require.Equal(t, before, f.balance(robot))
	fired := eventsOf[*types.TimerFired](f, f.pass(now+182, 1))
	require.Len(t, fired, 2)
	require.Equal(t, []uint64{now + 120, 12, now + 180, 13}, []uint64{fired[0].Occurrence, fired[0].Index, fired[1].Occurrence, fired[1].Index})
}

// TestUnfundedSkip_OfARetry: it ends the retries of what was tried, and leaves the next occurrence.
//
// Rule: 1.5-unfunded-skip
func TestUnfundedSkip_OfARetry(t *testing.T) {
	f := newFixture(t)
	poor := sdk.AccAddress("robot_poor__________")
	f.fund(poor, 16_710)
	start := f.Now()
	id := f.schedule(poor, 0, f.script(func(sdk.Context, types.Delivery) error { return types.ErrInvalidPayload }), triggered(everySeconds(60)),
		func(m *types.MsgScheduleTimer) {
			m.Spec.OnUnfunded, m.Spec.GasLimit, m.Spec.Retry = types.OnUnfundedSkip, 200_000, &types.Retry{Max: 5, After: 3}
		})
	required := int64(200 + 600)
	f.run(f.send(poor, alice, f.balance(poor)-required))
	events := f.pass(start+65, 1)
	require.Len(t, f.firedIDs(events), 1)
	skipped := only[*types.TimerOccurrencesSkipped](f, events)
	require.Equal(t, []uint64{uint64(start + 60), uint64(start + 60), 1}, []uint64{skipped.First, skipped.Last, skipped.Count})
	require.Equal(t, start+120, f.timer(poor, id).Status.DueTime)
}

// TestDue_ListsWhatWaitsForATime: by (time, seq), at one second or up to it, in pages of any size. What has become due is in the
// queue, and listed there.
func TestDue_ListsWhatWaitsForATime(t *testing.T) {
	f := newFixture(t)
	start := f.Now()
	var want []string
	for _, after := range []int64{300, 100, 200, 100} {
		want = append(want, f.schedule(robot, 0, f.noop(), triggered(atTime(start+after))))
	}
	f.schedule(robot, 50, f.noop())
	ordered := []string{want[1], want[3], want[2], want[0]}
	due := func(limit uint64, at int64, until bool) []string {
		return pages(t, limit, func(page *sdkquery.PageRequest) ([]types.TimerInfo, *sdkquery.PageResponse, error) {
			r, err := f.query().Due(f.Ctx(), &types.QueryDueRequest{Time: at, Until: until, Pagination: page})
			return r.GetTimers(), r.GetPagination(), err
		})
	}
	for limit := uint64(1); limit < 6; limit++ {
		require.Equal(t, ordered, due(limit, start+300, true))
		require.Equal(t, ordered[:2], due(limit, start+199, true))
		require.Equal(t, ordered[:2], due(limit, start+100, false))
		require.Empty(t, due(limit, start+99, true))
		require.Empty(t, due(limit, start+101, false))
	}
	for _, bad := range []*types.QueryDueRequest{
		{Time: -1},
		{Time: types.MaxTime + 1},
		{Time: start, Height: 3},
		{},
		{Time: start, Pagination: &sdkquery.PageRequest{Key: []byte{1}}},
		{Time: start, Pagination: &sdkquery.PageRequest{Reverse: true}},
	} {
		_, err := f.query().Due(f.Ctx(), bad)
		require.Equal(t, codes.InvalidArgument, status.Code(err), bad)
	}
	beyond, err := f.query().Due(f.Ctx(), &types.QueryDueRequest{
		Time: start + 300, Until: true, Pagination: &sdkquery.PageRequest{Key: bytes.Repeat([]byte{0xff}, 16)},
	})
	require.NoError(t, err)
	require.Empty(t, beyond.Timers)
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
	f.pass(start+250, 50)
	f.NextBlock()
	require.Equal(t, ordered[3:], due(9, types.MaxTime, true))
	queued, err := f.query().Due(f.Ctx(), &types.QueryDueRequest{Height: f.Height(), Until: true})
	require.NoError(t, err)
	require.Len(t, queued.Timers, 3)
}
