package keeper_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// level makes a watch due while its condition holds.
func level(on bool) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Trigger.Watch.Level = on }
}

// lookAtAll goes on until no watch waits for a look.
func (f *fixture) lookAtAll() {
	for slices.ContainsFunc(f.export().Timers, func(t types.Timer) bool { return t.Look }) {
		f.NextBlock()
	}
}

// fires are the heights at which a timer fires in the next blocks.
func (f *fixture) fires(id string, blocks int) (heights []uint64) {
	for range blocks {
		at := f.Height()
		if slices.Contains(f.firedIDs(f.NextBlock()), id) {
			heights = append(heights, at)
		}
	}
	return heights
}

// TestLevel_TopsUpEachTime: an account is kept above 100 by a timer that tops up to 1,000, each time that its owner empties it, also
// when one fire failed, and when one was guarded.
//
// Rule: 1.10-level
func TestLevel_TopsUpEachTime(t *testing.T) {
	f := newFixture(t)
	fails := 0
	topUp := f.script(func(ctx sdk.Context, _ types.Delivery) error {
		missing := 1_000 - f.Bank.GetBalance(ctx, watched, f.FeeDenom).Amount.Int64()
		if err := f.Bank.SendCoins(ctx, robot, watched, f.coins(missing)); err != nil || fails == 0 {
			return err
		}
		fails--
		return types.ErrInvalidPayload
	})
	f.setWatched(500)
	other := sdk.AccAddress("other_______________")
	guard := f.when(f.balanceOf(other), "< 10")
	id := f.schedule(robot, 0, topUp, watching(f.when(f.balanceOf(watched), "<= 100")), times(0), cooling(3), level(true), onlyIf(guard))
	require.Empty(t, f.fires(id, 5))
	for range 2 {
		f.setWatched(0)
		now := f.Height()
		require.Equal(t, []uint64{now}, f.fires(id, 5))
		require.EqualValues(t, 1_000, f.balance(watched))
	}
	f.setWatched(50)
	fails = 2
	now := f.Height()
	require.Equal(t, []uint64{now, now + 3, now + 6}, f.fires(id, 11), "a failure is followed by the next look")
	require.EqualValues(t, 1_000, f.balance(watched))
	f.run(f.send(alice, other, 10))
	f.setWatched(7)
	now = f.Height()
	require.Equal(t, []uint64{now, now + 3}, f.fires(id, 5), "and so is a guarded try")
	f.run(f.send(other, alice, 10))
	require.Equal(t, []uint64{now + 6}, f.fires(id, 5))
	require.EqualValues(t, 1_000, f.balance(watched))
}

// TestWithoutLevel_WaitsForTheNextEdge after a fire that changed nothing; a change within the cooldown is forgotten.
//
// Rule: 1.10-edge-triggered
func TestWithoutLevel_WaitsForTheNextEdge(t *testing.T) {
	f := newFixture(t)
	f.setWatched(50)
	id := f.schedule(robot, 0, f.noop(), watching(f.when(f.balanceOf(watched), "< 100")), times(0), cooling(4))
	require.Equal(t, []uint64{2}, f.fires(id, 2))
	f.setWatched(150)
	require.Empty(t, f.fires(id, 1))
	f.setWatched(50)
	require.Empty(t, f.fires(id, 8), "within the cooldown")
	f.setWatched(150)
	require.Empty(t, f.fires(id, 1))
	f.setWatched(50)
	require.Equal(t, []uint64{f.Height()}, f.fires(id, 2))
}

// TestLevel_WaitsForRetries: the cooldown begins with the delivery, which retries are part of.
func TestLevel_WaitsForRetries(t *testing.T) {
	f := newFixture(t)
	f.setWatched(50)
	retry := func(msg *types.MsgScheduleTimer) { msg.Spec.Retry = &types.Retry{Max: 2, After: 3} }
	id := f.schedule(robot, 0, f.failing(4), watching(f.when(f.balanceOf(watched), "< 100")), times(0), cooling(4), level(true), retry)
	require.Equal(t, []uint64{2, 5, 8, 12, 15, 19}, f.fires(id, 20))
}

// TestLevel_Refused: without a condition, and without a cooldown.
func TestLevel_Refused(t *testing.T) {
	f := newFixture(t)
	plain, low := f.balanceOf(watched), f.when(f.balanceOf(watched), "< 100")
	f.refused(types.ErrInvalidWatch, scheduleMsg(robot, 0, f.noop(), watching(plain), cooling(1), level(true)))
	f.refused(types.ErrInvalidWatch, scheduleMsg(robot, 0, f.noop(), watching(low), level(true)))
	f.schedule(robot, 0, f.noop(), watching(low), cooling(1), level(true))
}

// TestLooks_ArePaidFor by whoever schedules, resumes or updates to it, and with level by the fire before it.
//
// Rule: 1.10-look-paid
func TestLooks_ArePaidFor(t *testing.T) {
	f := newFixture(t)
	low := f.when(f.balanceOf(watched), "< 100")
	look := market.LookCycles
	const resumed = 4_000 // What a resumed timer's record takes more or less where it goes.
	plainID := f.schedule(robot, 0, f.noop(), watching(f.balanceOf(watched)), times(0), cooling(1))
	id := f.schedule(robot, 0, f.noop(), watching(low), times(0), cooling(1))
	f.NextBlock()
	plain := f.run(pause(robot, plainID)) + f.run(resume(robot, plainID))
	require.GreaterOrEqual(t, f.run(pause(robot, id))+f.run(resume(robot, id))+resumed, plain+look)
	trigger := f.timer(robot, id).Spec.Trigger
	same := f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{GasLimit: gas - 1}, Fields: []string{"gas_limit"}})
	f.NextBlock()
	trigger.Watch.Level = true
	require.Greater(t, f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Trigger: trigger}, Fields: []string{"trigger"}}), same+look)
	cycles := map[bool]uint64{}
	for _, on := range []bool{false, true} {
		f := newFixture(t)
		f.schedule(robot, 0, f.noop(), watching(low), times(0), cooling(1), level(on))
		f.NextBlock()
		cycles[on] = only[*types.TimerFired](f, f.NextBlock()).Cycles
	}
	require.Equal(t, cycles[false]+look, cycles[true])
}

// TestALook_MissesNoOtherChange: of keys that are watched beside conditions, changes count while the timer waits for its look, but
// those within the cooldown.
func TestALook_MissesNoOtherChange(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { notifies(c, 1) }))
	f.setWatched(500)
	keys := []types.WatchKey{f.when(f.balanceOf(watched), "< 100"), f.balanceOf(bob)}
	var ids []string
	for range 8 {
		ids = append(ids, f.schedule(robot, 0, f.noop(), watching(keys...), times(1)))
	}
	f.NextBlock()
	f.run(f.send(alice, bob, 1))
	fired := map[string]bool{}
	for range 60 {
		for _, event := range eventsOf[*types.TimerFired](f, f.NextBlock()) {
			require.Equal(t, []types.WatchedKey{matched(f.balanceOf(bob))}, event.Matched)
			fired[event.Id] = true
		}
	}
	require.Len(t, fired, len(ids))

	g := newFixture(t)
	g.setWatched(500)
	id := g.schedule(robot, 0, g.noop(), watching(keys...), times(0), cooling(4), level(true))
	g.NextBlock()
	g.run(g.send(alice, bob, 1))
	require.Equal(t, []uint64{2}, g.fires(id, 2))
	g.run(g.send(alice, bob, 1))
	require.Empty(t, g.fires(id, 8), "within the cooldown")
	require.Equal(t, types.Watching, g.timer(robot, id).Status.HoldReason)
	g.run(pause(robot, id), g.send(alice, bob, 1))
	g.NextBlock()
	g.run(resume(robot, id))
	require.Empty(t, g.fires(id, 1))
	g.run(pause(robot, id), resume(robot, id), pause(robot, id))
	g.NextBlock()
	g.run(resume(robot, id))
	require.Empty(t, g.fires(id, 3))
}

// TestALook_InEveryState holds x/timers/README.md, "1.10 Watch", to each operation on a watch that waits for its look: for its first
// one, and for that after the cooldown of a fire. Its condition holds all the time. Each row says when it fires after the operation
// in block H, where it would be looked at in block L; 0 is never.
//
// Rule: 1.10-look, 1.10-level
func TestALook_InEveryState(t *testing.T) {
	never := func(_, _ uint64) uint64 { return 0 }
	asBefore := func(_, l uint64) uint64 { return l }
	afterBoth := func(h, l uint64) uint64 { return max(h+1, l) }
	update := func(f *fixture, id string, change func(*types.TimerSpec), fields ...string) {
		spec := f.timer(robot, id).Spec
		watch := *spec.Trigger.Watch
		watch.Keys = slices.Clone(watch.Keys)
		spec.Trigger.Watch = &watch
		change(&spec)
		stated := types.TimerSpec{GasLimit: spec.GasLimit}
		if fields[0] == "trigger" {
			stated = types.TimerSpec{Trigger: spec.Trigger}
		}
		f.run(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: stated, Fields: fields})
	}
	setConfig := func(change func(*types.TimerConfig)) func(*fixture, string) {
		return func(f *fixture, _ string) { f.setConfig(change) }
	}
	for name, c := range map[string]struct {
		do func(f *fixture, id string)
		// later is done three blocks after the look would have been.
		later func(f *fixture, id string)
		fires func(h, l uint64) uint64
	}{
		"nothing": {do: func(*fixture, string) {}, fires: asBefore},
		"update of something else": {do: func(f *fixture, id string) {
			update(f, id, func(s *types.TimerSpec) { s.GasLimit-- }, "gas_limit")
		}, fires: asBefore},
		"update to the same": {do: func(f *fixture, id string) { update(f, id, func(*types.TimerSpec) {}, "trigger") }, fires: asBefore},
		"update to level, or from it": {do: func(f *fixture, id string) {
			update(f, id, func(s *types.TimerSpec) { s.Trigger.Watch.Level = !s.Trigger.Watch.Level }, "trigger")
		}, fires: afterBoth},
		"update to another condition": {do: func(f *fixture, id string) {
			update(f, id, func(s *types.TimerSpec) { s.Trigger.Watch.Keys[0] = f.when(f.balanceOf(watched), "< 200") }, "trigger")
		}, fires: afterBoth},
		"update to another key": {do: func(f *fixture, id string) {
			update(f, id, func(s *types.TimerSpec) { s.Trigger.Watch.Keys[0] = f.when(f.balanceOf(carol), "exists") }, "trigger")
		}, fires: afterBoth},
		"update to a condition that does not hold": {do: func(f *fixture, id string) {
			update(f, id, func(s *types.TimerSpec) { s.Trigger.Watch.Keys[0] = f.when(f.balanceOf(watched), "> 200") }, "trigger")
		}, fires: never},
		"update to any change": {do: func(f *fixture, id string) {
			update(f, id, func(s *types.TimerSpec) {
				s.Trigger.Watch.Keys[0], s.Trigger.Watch.Level = f.balanceOf(watched), false
			}, "trigger")
		}, fires: never},
		"skip": {do: func(f *fixture, id string) {
			f.refused(types.ErrUnsupportedTimerType, &types.MsgSkipTimer{Sender: robot.String(), Id: id, Count: 1})
		}, fires: asBefore},
		"run": {do: func(f *fixture, id string) {
			f.refused(types.ErrAlreadyOnHold, &types.MsgRunTimer{Sender: robot.String(), Id: id})
		}, fires: asBefore},
		"pause": {do: func(f *fixture, id string) { f.run(pause(robot, id)) }, fires: never},
		"resume": {do: func(f *fixture, id string) {
			f.refused(types.ErrNotOnHold, resume(robot, id))
		}, fires: asBefore},
		"pause and resume": {do: func(f *fixture, id string) { f.run(pause(robot, id), resume(robot, id)) }, fires: afterBoth},
		"pause, and resume with the next": {do: func(f *fixture, id string) {
			f.run(pause(robot, id), &types.MsgResumeTimer{Sender: robot.String(), Id: id, At: types.ResumeNext})
		}, fires: afterBoth},
		"pause, and resume later": {
			do:    func(f *fixture, id string) { f.run(pause(robot, id)) },
			later: func(f *fixture, id string) { f.run(resume(robot, id)) }, fires: func(_, l uint64) uint64 { return l + 4 },
		},
		"pause, and update to level or from it, and resume later": {
			do: func(f *fixture, id string) {
				f.run(pause(robot, id))
				update(f, id, func(s *types.TimerSpec) { s.Trigger.Watch.Level = !s.Trigger.Watch.Level }, "trigger")
			},
			later: func(f *fixture, id string) { f.run(resume(robot, id)) }, fires: func(_, l uint64) uint64 { return l + 4 },
		},
		"extend": {do: func(f *fixture, id string) {
			f.run(&types.MsgExtendTimer{Sender: robot.String(), Id: id, ExpiresAt: f.Height() + 400})
		}, fires: asBefore},
		"extend by the authority": {do: func(f *fixture, id string) {
			f.run(&types.MsgSysExtendTimer{Authority: f.Authority, Actor: robot.String(), Id: id, ExpiresAt: f.Height() + 400})
		}, fires: asBefore},
		"cancel": {do: func(f *fixture, id string) { f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: id}) }, fires: never},
		"cancel by the authority": {do: func(f *fixture, id string) {
			f.run(&types.MsgSysCancelTimer{Authority: f.Authority, Actor: robot.String(), Id: id})
		}, fires: never},
		"the lane is paused, and goes on later": {
			do:    setConfig(func(c *types.TimerConfig) { c.LanePaused = true }),
			later: setConfig(func(c *types.TimerConfig) { c.LanePaused = false }), fires: func(_, l uint64) uint64 { return l + 4 },
		},
		"the config denies it, and later does not": {
			do:    setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire = gas - 2 }),
			later: setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire = gas }), fires: func(_, l uint64) uint64 { return l + 4 },
		},
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, after a fire %t", name, again), func(t *testing.T) {
				f := newFixture(t, withConfig(plain))
				f.setWatched(50)
				id := f.schedule(robot, 0, f.noop(), watching(f.when(f.balanceOf(watched), "< 100")), times(0), cooling(5), level(again))
				look := f.Height() + 1
				if again {
					require.Equal(t, []uint64{look}, f.fires(id, 3))
					look += 5
				}
				h := f.Height()
				c.do(f, id)
				want := c.fires(h, look)
				// A config changes with the next block.
				_, err := f.EndBlock()
				require.NoError(t, err)
				g := imported(t, f, f.export())
				require.NoError(t, f.BeginBlock())
				require.Equal(t, f.Height(), g.Height())
				for _, chain := range []*fixture{f, g} {
					for {
						at := chain.Height()
						if c.later != nil && at == look+3 {
							c.later(chain, id)
						}
						events := chain.NextBlock()
						if at > look+5 {
							require.Zero(t, want)
							break
						}
						if slices.Contains(chain.firedIDs(events), id) {
							require.Equal(t, want, at)
							break
						}
					}
				}
			})
		}
	}
}

// TestALook_ExpiresByTime: of a watch that ends by time nothing is judged before: its look comes after its end, and it expires.
func TestALook_ExpiresByTime(t *testing.T) {
	f := newFixture(t)
	f.BlockSeconds = 10
	f.setWatched(50)
	end := func(msg *types.MsgScheduleTimer) { msg.Spec.ExpiresTime = f.Now() + 25 }
	id := f.schedule(robot, 0, f.noop(), watching(f.when(f.balanceOf(watched), "< 100")), times(0), cooling(5), level(true), end)
	require.Equal(t, []uint64{2}, f.fires(id, 2))
	var expired []*types.TimerExpired
	for range 6 {
		expired = append(expired, eventsOf[*types.TimerExpired](f, f.NextBlock())...)
	}
	require.Len(t, expired, 1)
	require.Zero(t, f.total(robot))
}

// TestALook_HasItsBound: a crowd of looks takes three quarters of the overhead for watches at most, and those of this very block do not
// wait for it.
//
// Rule: 1.10-look-bound
func TestALook_HasItsBound(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { notifies(c, 8) }))
	f.setWatched(500)
	low := f.when(f.balanceOf(watched), "< 100")
	for range 20 {
		f.schedule(robot, 0, f.noop(), watching(low))
	}
	require.Equal(t, 16, f.timersNotLookedAt(2), "half")
	id := f.schedule(robot2, 0, f.noop(), watching(f.when(f.balanceOf(watched), "> 100")))
	require.Equal(t, 13, f.timersNotLookedAt(1), "what it takes to compare keys is taken from the same")
	require.Equal(t, []uint64{f.Height()}, f.fires(id, 1))
	require.Zero(t, f.timersNotLookedAt(20))
}

// timersNotLookedAt is how many watches wait for a look after so many blocks.
func (f *fixture) timersNotLookedAt(blocks int) (n int) {
	for range blocks {
		f.NextBlock()
	}
	for _, timer := range f.export().Timers {
		if timer.Look {
			n++
		}
	}
	return n
}
