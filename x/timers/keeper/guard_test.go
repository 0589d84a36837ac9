package keeper_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// onlyIf states the conditions that must hold when a timer fires.
func onlyIf(conditions ...types.WatchKey) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.OnlyIf = conditions }
}

// lowBalance holds while the balance of watched is below 100.
func (f *fixture) lowBalance() types.WatchKey { return f.when(f.balanceOf(watched), "< 100") }

// counted is a payload whose runs are counted.
func (f *fixture) counted(runs *int) []byte {
	return f.script(func(sdk.Context, types.Delivery) error {
		*runs++
		return nil
	})
}

// TestOnlyIf_RunsTheHandlerWhileAllHold: each row is the balance at a fire, for every kind of trigger that is due once. One that
// is guarded leaves like one that fired.
//
// Rule: 1.14-all-hold, 1.14-one-shot-leaves, 1.14-charge
func TestOnlyIf_RunsTheHandlerWhileAllHold(t *testing.T) {
	for name, c := range map[string]struct {
		balance int64
		also    string
		runs    int
	}{
		"holds":              {99, "", 1},
		"does not hold":      {100, "", 0},
		"both hold":          {50, ">= 50", 1},
		"only the first one": {49, ">= 50", 0},
		"only the second":    {100, ">= 50", 0},
	} {
		for kind, due := range map[string]func(f *fixture) types.Trigger{
			"height": func(f *fixture) types.Trigger { return types.Trigger{Height: f.Height() + 1} },
			"after":  func(*fixture) types.Trigger { return types.Trigger{After: 1} },
			"time":   func(f *fixture) types.Trigger { return atTime(f.Now() + 1) },
		} {
			t.Run(name+" at "+kind, func(t *testing.T) {
				f, runs := newFixture(t), 0
				f.setWatched(c.balance)
				conditions := []types.WatchKey{f.lowBalance()}
				if c.also != "" {
					conditions = append(conditions, f.when(f.balanceOf(watched), c.also))
				}
				id := f.schedule(robot, 0, f.counted(&runs), triggered(due(f)), onlyIf(conditions...))
				require.Equal(t, conditions, f.timer(robot, id).Spec.OnlyIf)
				f.BlockSeconds = 1
				events := append(f.NextBlock(), f.NextBlock()...)
				fired := only[*types.TimerFired](f, events)
				require.Equal(t, c.runs, runs)
				require.Equal(t, c.runs == 1, fired.Success)
				require.Equal(t, c.runs == 0, fired.Guarded)
				require.Empty(t, fired.Codespace)
				require.Zero(t, f.total(robot), "it leaves")
				summary := eventsOf[*types.TimerLaneSummary](f, events)
				last := summary[len(summary)-1]
				require.Equal(t, []uint32{1, 0, uint32(1 - c.runs)}, []uint32{last.Fired, last.Failed, last.Guarded})
				require.Less(t, fired.Cycles, market.FireBaseCycles+10_000, "its intrinsic cycles and its reads")
				require.Greater(t, fired.Cycles, market.FireBaseCycles+900, "its reads")
				if c.runs == 0 {
					require.Zero(t, fired.Cells)
				}
			})
		}
	}
}

// TestOnlyIf_LeavesWhatIsCounted: a guarded fire is no delivery: the number of repetitions that are left and the index stay, and
// so does the count of failures. It counts in fire_seq, and the next one comes in the same rhythm.
//
// Rule: 1.14-neither, 1.14-remaining
func TestOnlyIf_LeavesWhatIsCounted(t *testing.T) {
	for name, trigger := range map[string]types.Trigger{
		"interval":          {Interval: &types.IntervalTrigger{Every: 1}},
		"from its schedule": {Interval: &types.IntervalTrigger{Every: 1, From: types.FromSchedule}},
		"calendar":          everySeconds(60),
	} {
		t.Run(name, func(t *testing.T) {
			f, runs := newFixture(t), []types.Delivery{}
			f.BlockSeconds = 60
			f.setWatched(0)
			id := f.schedule(robot, 0, f.script(func(_ sdk.Context, d types.Delivery) error {
				runs = append(runs, d)
				if len(runs) == 1 {
					return errors.New("the first one fails")
				}
				return nil
			}), triggered(trigger, types.Repeat{Remaining: 2, OnFailure: types.OnFailureSuspend, MaxFailures: 2}), onlyIf(f.lowBalance()))
			f.NextBlock()
			require.False(t, only[*types.TimerFired](f, f.NextBlock()).Success)
			info := f.timer(robot, id)
			require.Equal(t, uint32(1), info.Status.Failures)
			require.Equal(t, uint64(1), info.Status.Left)
			f.setWatched(100)
			for i := range 3 {
				fired := only[*types.TimerFired](f, f.NextBlock())
				require.True(t, fired.Guarded)
				require.Zero(t, fired.Index)
				require.Equal(t, uint32(i+1), fired.FireSeq)
				info := f.timer(robot, id)
				require.Equal(t, uint32(1), info.Status.Failures, "neither a success nor a failure")
				require.Equal(t, uint64(1), info.Status.Left, "no delivery")
				require.True(t, info.Status.LastOutcome.Guarded)
				require.False(t, info.Status.LastOutcome.Success)
			}
			f.setWatched(0)
			fired := only[*types.TimerFired](f, f.NextBlock())
			require.True(t, fired.Success)
			require.Equal(t, types.EndCompleted, fired.Ended)
			require.Len(t, runs, 2)
			if trigger.HasOccurrences() {
				require.Equal(t, []uint64{1, 2}, []uint64{runs[0].Index, runs[1].Index})
			}
		})
	}
}

// TestOnlyIf_AWatchWaitsOn: a watch whose fire is guarded goes back to watching, whatever number of fires it has left.
//
// Rule: 1.14-remaining
func TestOnlyIf_AWatchWaitsOn(t *testing.T) {
	f, runs := newFixture(t), 0
	id := f.schedule(robot, 0, f.counted(&runs), watching(f.balanceOf(bob)), times(1), onlyIf(f.lowBalance()))
	f.setWatched(100)
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	require.True(t, only[*types.TimerFired](f, f.NextBlock()).Guarded)
	require.Equal(t, types.PhaseWatching, f.timer(robot, id).Status.Phase)
	f.setWatched(0)
	f.run(f.send(alice, bob, 1))
	require.True(t, only[*types.TimerFired](f, f.NextBlock()).Success)
	require.Equal(t, 1, runs)
	require.Zero(t, f.total(robot))
}

// TestOnlyIf_IsReadAtEachRetry: no retry follows a guarded fire, and the repetition that had failed counts as delivered.
//
// Rule: 1.14-retry
func TestOnlyIf_IsReadAtEachRetry(t *testing.T) {
	for name, trigger := range map[string]types.Trigger{
		"once":     {After: 1},
		"calendar": everySeconds(600),
		"interval": {Interval: &types.IntervalTrigger{Every: 20}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.BlockSeconds = 60
			f.setWatched(0)
			id := f.schedule(robot, 0, f.script(func(sdk.Context, types.Delivery) error { return errors.New("no") }),
				triggered(trigger), onlyIf(f.lowBalance()), func(m *types.MsgScheduleTimer) {
					m.Spec.Retry = &types.Retry{Max: 3, After: 1}
					if m.Spec.Recurs() {
						m.Spec.Repeat = &types.Repeat{Remaining: 2}
					}
				})
			var fired *types.TimerFired
			for fired == nil {
				for _, one := range eventsOf[*types.TimerFired](f, f.NextBlock()) {
					fired = one
				}
			}
			require.Equal(t, uint32(1), fired.Retries)
			f.setWatched(100)
			fired = only[*types.TimerFired](f, f.NextBlock())
			require.True(t, fired.Guarded)
			require.Zero(t, fired.Retries)
			if name == "once" {
				require.Zero(t, f.total(robot))
				return
			}
			info := f.timer(robot, id)
			require.Equal(t, uint64(1), info.Status.Left)
			require.Zero(t, info.Status.Retries)
			if info.Status.Recurrence != nil {
				require.Equal(t, uint64(1), fired.Index)
				require.Equal(t, uint64(1), info.Status.Deliveries)
			}
		})
	}
}

// TestOnlyIf_SeesTheStateBeforeItsOwnCharge: the payer's balance is what it is before the pre-charge of this fire, and what
// earlier fires of the block did counts.
//
// Rule: 1.14-before-its-charge
func TestOnlyIf_SeesTheStateBeforeItsOwnCharge(t *testing.T) {
	f, runs := newFixture(t), 0
	has := f.balance(robot)
	whole := f.when(f.balanceOf(robot), ">= "+sdk.NewInt64Coin("stake", has).Amount.String())
	f.schedule(robot, 0, f.counted(&runs), triggered(types.Trigger{After: 1}), onlyIf(whole))
	f.schedule(robot, 0, f.counted(&runs), triggered(types.Trigger{After: 1}), onlyIf(whole))
	fired := eventsOf[*types.TimerFired](f, append(f.NextBlock(), f.NextBlock()...))
	require.Len(t, fired, 2)
	require.True(t, fired[0].Success, "its own charge does not count")
	require.True(t, fired[1].Guarded, "that of the first one does")
	require.Equal(t, 1, runs)
}

// TestOnlyIf_FailsWhatCanNotBeRead: conditions whose reading takes more than the gas limit, or whose store is not watchable any
// more, are a failed fire.
//
// Rule: 1.14-unreadable
func TestOnlyIf_FailsWhatCanNotBeRead(t *testing.T) {
	f, runs := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MinGasLimit = 20_100 })), 0
	f.setWatched(0)
	f.schedule(robot, 0, f.counted(&runs), triggered(types.Trigger{After: 1}), onlyIf(f.lowBalance()), limited(20_100))
	fired := only[*types.TimerFired](f, append(f.NextBlock(), f.NextBlock()...))
	require.Equal(t, types.ErrOutOfCycles.ABCICode(), fired.Code)
	require.Equal(t, uint64(20_100), fired.Cycles)
	require.False(t, fired.Guarded)

	key := f.lowBalance()
	id := f.schedule(robot, 0, f.counted(&runs), triggered(types.Trigger{After: 5}), onlyIf(key))
	f.NextBlock()
	genesis := f.export()
	for i := range genesis.Timers {
		if genesis.Timers[i].IDHex() == id {
			genesis.Timers[i].Spec.OnlyIf[0].Store = "gone"
		}
	}
	g := imported(t, f, genesis)
	var last *types.TimerFired
	for range 8 {
		for _, one := range eventsOf[*types.TimerFired](g, g.NextBlock()) {
			last = one
		}
	}
	require.NotNil(t, last)
	require.Equal(t, id, last.Id)
	require.Equal(t, types.ErrNotWatchable.ABCICode(), last.Code)
	require.Zero(t, runs)
}

// TestOnlyIf_RefusesWhatSaysNothing: a key without a condition, a part of a store, a store that can't be watched, too many.
//
// Rule: 1.14-refused
func TestOnlyIf_RefusesWhatSaysNothing(t *testing.T) {
	f := newFixture(t)
	poor := f.lowBalance()
	part := f.key("bank:balances:" + watched.String())
	part.When = poor.When
	unknown := poor
	unknown.Store = "nothing"
	text := poor
	text.When = &types.WatchCondition{Op: types.ConditionEqual, Value: "poor"}
	for name, row := range map[string]struct {
		want       error
		conditions []types.WatchKey
	}{
		"without a condition": {types.ErrInvalidOnlyIf, []types.WatchKey{f.balanceOf(watched)}},
		"too many":            {types.ErrInvalidOnlyIf, []types.WatchKey{poor, poor, poor}},
		"part of a store":     {types.ErrInvalidWatch, []types.WatchKey{part}},
		"unknown store":       {types.ErrNotWatchable, []types.WatchKey{unknown}},
		"no number":           {types.ErrInvalidWatch, []types.WatchKey{text}},
		"an empty key":        {types.ErrInvalidWatch, []types.WatchKey{{Store: "bank", When: poor.When}}},
	} {
		t.Run(name, func(t *testing.T) {
			f.refused(row.want, scheduleMsg(robot, 0, f.noop(), triggered(types.Trigger{After: 1}), onlyIf(row.conditions...)))
		})
	}
}

// TestOnlyIf_CountsLikeAFire: guarded fires use up max_fires_per_actor, count for fairness, renew the life of a timer, and change
// nothing else.
//
// Rule: 1.14-counts
func TestOnlyIf_CountsLikeAFire(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.Policy, c.MaxFiresPerActor = types.PolicyEIP1559, 2 }))
	f.setWatched(100)
	id := f.schedule(robot, 0, f.noop(), triggered(types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}), onlyIf(f.lowBalance()),
		expiring(f.Height()+50), func(m *types.MsgScheduleTimer) { m.Spec.Repeat = &types.Repeat{Renew: true} })
	for range 3 {
		f.schedule(robot, 0, f.noop(), triggered(types.Trigger{After: 1}), onlyIf(f.lowBalance()))
	}
	before := f.timer(robot, id)
	f.NextBlock()
	require.Len(t, f.firedIDs(f.NextBlock()), 2)
	fairness, err := f.query().Fairness(f.Ctx(), &types.QueryFairnessRequest{Actor: robot.String()})
	require.NoError(t, err)
	require.Equal(t, uint32(2), fairness.Recent)
	require.Greater(t, f.timer(robot, id).Status.ExpiresAt, before.Status.ExpiresAt)
	receipts, err := f.query().Receipts(f.Ctx(), &types.QueryReceiptsRequest{Height: f.Height() - 1})
	require.NoError(t, err)
	require.Len(t, receipts.Receipts, 2)
	require.True(t, receipts.Receipts[0].Guarded)
}

// TestOnlyIf_ChargesWhatItReads: the condition that does not hold comes last, or can't be read, and all before it have been paid
// for; a fire that is guarded counts what one counts that is not, but for its handler.
//
// Rule: 1.14-charge
func TestOnlyIf_ChargesWhatItReads(t *testing.T) {
	cycles := func(conditions ...func(*fixture) types.WatchKey) *types.TimerFired {
		f, runs := newFixture(t), 0
		f.setWatched(0)
		keys := make([]types.WatchKey, len(conditions))
		for i, condition := range conditions {
			keys[i] = condition(f)
		}
		f.schedule(robot, 0, f.counted(&runs), triggered(types.Trigger{After: 1}), onlyIf(keys...))
		return only[*types.TimerFired](f, append(f.NextBlock(), f.NextBlock()...))
	}
	holds := (*fixture).lowBalance
	fails := func(f *fixture) types.WatchKey { return f.when(f.balanceOf(watched), "> 100") }
	none, one, both, last := cycles(), cycles(holds), cycles(holds, holds), cycles(holds, fails)
	first := cycles(fails, holds)
	each := one.Cycles - none.Cycles
	require.Greater(t, each, uint64(1_000))
	require.Equal(t, none.Cycles+2*each, both.Cycles)
	require.True(t, last.Guarded)
	require.Equal(t, both.Cycles, last.Cycles, "the last does not hold")
	require.True(t, first.Guarded)
	require.Equal(t, one.Cycles, first.Cycles, "none is read behind it")
}
