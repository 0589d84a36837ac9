package keeper_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func withName(name string) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.Name = name }
}

// byName are the messages that change a timer, which name it by an id, by a name, or by both.
func byName(actor sdk.AccAddress, id, name string) map[string]sdk.Msg {
	sender := actor.String()
	return map[string]sdk.Msg{
		"update": &types.MsgUpdateTimer{Sender: sender, Id: id, Name: name, Spec: types.TimerSpec{GasLimit: gas + 1}, Fields: []string{"gas_limit"}},
		"extend": &types.MsgExtendTimer{Sender: sender, Id: id, Name: name, ExpiresAt: 900},
		"skip":   &types.MsgSkipTimer{Sender: sender, Id: id, Name: name, Count: 1},
		"run":    &types.MsgRunTimer{Sender: sender, Id: id, Name: name},
		"pause":  &types.MsgPauseTimer{Sender: sender, Id: id, Name: name},
		"resume": &types.MsgResumeTimer{Sender: sender, Id: id, Name: name},
		"cancel": &types.MsgCancelTimer{Sender: sender, Id: id, Name: name},
	}
}

// TestNames_EachMessageTakesAnIDOrAName: with both, the name must be that of the id.
//
// Rule: 3-by-name, 1.2-name
func TestNames_EachMessageTakesAnIDOrAName(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	id := f.schedule(robot, 40, f.noop(), withName("rent"), every(10, 0))
	other := f.schedule(robot, 40, f.noop(), withName("salary"), every(10, 0))
	for _, verb := range []string{"update", "extend", "skip", "run", "pause", "resume", "cancel"} {
		f.refused(types.ErrTimerNotFound, byName(robot, "", "rant")[verb])
		f.refused(types.ErrTimerNotFound, byName(alice, "", "rent")[verb])
		f.refused(types.ErrInvalidTimerID, byName(robot, "", "")[verb])
		f.refused(types.ErrInvalidTimerID, byName(robot, "rent", "rent")[verb])
		f.refused(types.ErrInvalidTimerID, byName(robot, "rent", "")[verb])
		f.refused(types.ErrChanged, byName(robot, other, "rent")[verb])
		f.refused(types.ErrTimerNotFound, byName(robot, "", id)[verb])
		if verb == "cancel" {
			f.run(byName(robot, id, "rent")[verb])
			f.run(byName(robot, "", "salary")[verb])
			continue
		}
		f.run(byName(robot, "", "rent")[verb])
		if verb != "run" {
			f.run(byName(robot, other, "salary")[verb])
		}
	}
	require.Zero(t, f.total(robot))
}

// TestNames_AreOfOneLiveTimer: a name is taken until its timer has left or can fire no more, however it left.
//
// Rule: 1.2-name-taken
func TestNames_AreOfOneLiveTimer(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	taken := func(id string) {
		t.Helper()
		_, _, err := f.Tx(scheduleMsg(robot, f.Height()+9, f.noop(), withName("rent")))
		require.ErrorIs(t, err, types.ErrNameTaken)
		require.ErrorContains(t, err, id)
	}
	free := func() string {
		t.Helper()
		return f.schedule(robot, f.Height()+3, f.noop(), withName("rent"))
	}
	first := free()
	taken(first)
	f.schedule(alice, f.Height()+3, f.pays(alice, bob, 1), withName("rent"))
	other := f.schedule(robot, f.Height()+90, f.noop(), withName("Rent"))

	// It fires.
	f.blocksUntil(f.Height() + 2)
	taken(first)
	f.blocksUntil(f.Height() + 1)
	second := free()
	// It is cancelled.
	f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: second})
	third := free()
	taken(third)
	// It is paused, and expires.
	f.run(&types.MsgExtendTimer{Sender: robot.String(), Id: third, ExpiresAt: f.Height() + 3}, pause(robot, third))
	taken(third)
	f.blocksUntil(f.Height() + 4)
	fourth := free()
	// It gets another name, and another one gets its.
	rename := func(id, name string) *types.MsgUpdateTimer {
		return &types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Name: name}, Fields: []string{"name"}}
	}
	f.refused(types.ErrNameTaken, rename(other, "rent"))
	seq := f.timer(robot, fourth).Status.Seq
	f.run(rename(fourth, "rent"))
	require.Equal(t, seq, f.timer(robot, fourth).Status.Seq, "what is stated as it stands changes nothing")
	f.run(rename(fourth, "old rent"), rename(other, "rent"))
	taken(other)
	f.run(rename(other, ""))
	free()
}

// TestNames_OneThatExpiresIsFreeBeforeItIsRemoved: what waits to be removed stands in nobody's way, and takes nothing with it.
//
// Rule: 1.2-name-taken
func TestNames_OneThatExpiresIsFreeBeforeItIsRemoved(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(func(c *types.TimerConfig) { c.GcCyclesPerBlock = 2_700 }))
	old := f.schedule(robot, 20, f.noop(), withName("rent"), expiring(20))
	f.run(pause(robot, old))
	for i := range 20 {
		f.schedule(robot, 20, f.noop(), expiring(20), withName(fmt.Sprint("other ", i)))
	}
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
	f.blocksUntil(21)
	_, err := f.query().Timer(f.Ctx(), &types.QueryTimerRequest{Actor: robot.String(), Id: old})
	require.NoError(t, err, "it is to be removed")
	id := f.schedule(robot, f.Height()+90, f.noop(), withName("rent"))
	f.refused(types.ErrNameTaken, scheduleMsg(robot, f.Height()+90, f.noop(), withName("rent")))
	f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: old})
	f.refused(types.ErrNameTaken, scheduleMsg(robot, f.Height()+90, f.noop(), withName("rent")))
	found, err := f.query().Timer(f.Ctx(), &types.QueryTimerRequest{Actor: robot.String(), Name: "rent"})
	require.NoError(t, err)
	require.Equal(t, id, found.Timer.Id)
	f.blocksUntil(f.Height() + 30)
}

// TestNames_GoThroughGenesis: those that are taken, and one that has expired beside the one that has its name.
//
// Rule: 1.2-name-taken
func TestNames_GoThroughGenesis(t *testing.T) {
	f := newFixture(t, withConfig(plain), withConfig(func(c *types.TimerConfig) { c.GcCyclesPerBlock = 2_700 }))
	old := f.schedule(robot, 20, f.noop(), withName("rent"), expiring(20))
	for i := range 20 {
		f.schedule(robot, 20, f.noop(), expiring(20), withName(fmt.Sprint("other ", i)))
	}
	f.run(pause(robot, old))
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = true })
	f.blocksUntil(21)
	id := f.schedule(robot, f.Height()+90, f.noop(), withName("rent"))
	_, err := f.query().Timer(f.Ctx(), &types.QueryTimerRequest{Actor: robot.String(), Id: old})
	require.NoError(t, err, "it is to be removed")

	exported := f.export()
	require.NoError(t, f.Timers.ValidateGenesis(exported))
	next := newFixture(t, func(opts *lab.ChainOptions) { opts.Genesis, opts.Height = exported, int64(f.Height()) })
	require.NoError(t, next.Check())
	require.Equal(t, exported, next.export())
	next.refused(types.ErrNameTaken, scheduleMsg(robot, next.Height()+90, next.noop(), withName("rent")))
	found, err := next.query().Timer(next.Ctx(), &types.QueryTimerRequest{Actor: robot.String(), Name: "rent"})
	require.NoError(t, err)
	require.Equal(t, id, found.Timer.Id)
	next.run(byName(robot, "", "rent")["cancel"])
	next.schedule(robot, next.Height()+90, next.noop(), withName("rent"))
}

// TestNames_AHandlerSchedulesTheNextOfItsName: what fires for the last time leaves its name to what its handler schedules; if the
// fire fails it has it still.
//
// Rule: 1.2-name-taken
func TestNames_AHandlerSchedulesTheNextOfItsName(t *testing.T) {
	for _, fails := range []bool{false, true} {
		f := newFixture(t, withConfig(plain))
		var next string
		var payload []byte
		payload = f.script(func(ctx sdk.Context, d types.Delivery) error {
			timer, err := f.Timers.Schedule(ctx, keeper.ScheduleRequest{Actor: robot, Spec: types.TimerSpec{
				Name: "tick", Trigger: types.Trigger{Height: f.Height() + 5}, GasLimit: gas, Call: types.TimerCall{Handler: string(payload)},
			}})
			next = timer.IDHex()
			if err == nil && fails {
				return types.ErrInvalidPayload
			}
			return err
		})
		id := f.schedule(robot, 3, payload, withName("tick"), func(msg *types.MsgScheduleTimer) {
			msg.Spec.Retry = &types.Retry{Max: 1, After: 4}
			msg.Spec.GasLimit = 250_000
		})
		f.blocksUntil(3)
		require.NotEmpty(t, next)
		want := next
		if fails {
			want = id
		}
		found, err := f.query().Timer(f.Ctx(), &types.QueryTimerRequest{Actor: robot.String(), Name: "tick"})
		require.NoError(t, err)
		require.Equal(t, want, found.Timer.Id)
	}
}

// TestNames_AHubCantBeLedToAStrangersTimer: a contract that runs timers of its callers under names of theirs, such as CALLER:NAME,
// passes on what they say. A name that is the id of another's is the name of none.
//
// Rule: 3-by-name
func TestNames_AHubCantBeLedToAStrangersTimer(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	of := func(caller, name string) string { return caller + ":" + name }
	victim := f.schedule(robot, 40, f.noop(), withName(of("carol", "rent")))
	mine := f.schedule(robot, 40, f.noop(), withName(of("mallory", "rent")))
	for _, said := range []string{victim, victim[:8], "rent\x00", "../carol:rent", ""} {
		f.refused(types.ErrTimerNotFound, byName(robot, "", of("mallory", said))["cancel"])
	}
	// A caller's name that is passed on alone is no id either.
	for _, said := range []string{victim, victim[:63], "0x" + victim} {
		f.refused(types.ErrTimerNotFound, byName(robot, "", said)["cancel"])
	}
	// A hub that keeps ids, and checks the name that goes with one.
	f.refused(types.ErrChanged, byName(robot, victim, of("mallory", "rent"))["cancel"])
	f.refused(types.ErrInvalidName, scheduleMsg(robot, 50, f.noop(), withName(victim)))
	f.run(byName(robot, mine, of("mallory", "rent"))["cancel"])
	require.Equal(t, victim, f.timer(robot, victim).Id)
}

// TestNames_TheAuthoritysMessagesTakeWholeIDs: during a vote a name can change hands.
//
// Rule: 3-by-name
func TestNames_TheAuthoritysMessagesTakeWholeIDs(t *testing.T) {
	for _, msg := range []any{&types.MsgSysCancelTimer{}, &types.MsgSysExtendTimer{}, &types.MsgSysReleaseTimer{}} {
		_, named := msg.(interface{ GetName() string })
		require.False(t, named, "%T", msg)
	}
}

// TestNames_QueriesFindThem: by the actor's own name, or by that of its scheduler.
//
// Rule: 3-by-name
func TestNames_QueriesFindThem(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	id := f.schedule(robot, 40, f.noop(), withName("rent"))
	ask := func(req types.QueryTimerRequest) error {
		req.Actor = robot.String()
		found, err := f.query().Timer(f.Ctx(), &req)
		if err == nil {
			require.Equal(t, id, found.Timer.Id)
		}
		return err
	}
	require.NoError(t, ask(types.QueryTimerRequest{Name: "rent"}))
	require.NoError(t, ask(types.QueryTimerRequest{Name: "rent", Scheduler: robot.String()}))
	require.ErrorContains(t, ask(types.QueryTimerRequest{Name: "rent", Scheduler: alice.String()}), "no live timer with the name \"rent\"")
	require.ErrorContains(t, ask(types.QueryTimerRequest{Name: "rent", Id: id}), "are stated: state one")
	require.ErrorContains(t, ask(types.QueryTimerRequest{Name: "rent", Scheduler: "nobody"}), "scheduler \"nobody\" is no address")
	require.ErrorContains(t, ask(types.QueryTimerRequest{Id: "rent"}), "want hexadecimal digits")
}

// TestNames_AgreeWithAMap: schedules, renames, fires, ends and cancellations of few names, against a map of who has which.
func TestNames_AgreeWithAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(rt, withConfig(plain))
		owner := map[string]string{} // name → id
		names := []string{"", "a.", "b.", "c."}
		drop := func(id string) {
			for name, has := range owner {
				if has == id {
					delete(owner, name)
				}
			}
		}
		var ids []string
		for range rapid.IntRange(5, 30).Draw(rt, "steps") {
			name := rapid.SampledFrom(names).Draw(rt, "name")
			height := f.Height() + uint64(rapid.IntRange(1, 6).Draw(rt, "due"))
			has := owner[name] != "" && name != ""
			switch rapid.IntRange(0, 3).Draw(rt, "do") {
			case 0:
				msg := scheduleMsg(robot, height, f.failing(rapid.IntRange(0, 1).Draw(rt, "fails")), withName(name), expiring(height))
				results, _, err := f.Tx(msg)
				if has {
					require.ErrorIs(rt, err, types.ErrNameTaken)
					break
				}
				require.NoError(rt, err)
				var response types.MsgScheduleTimerResponse
				require.NoError(rt, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
				ids = append(ids, response.Id)
				if name != "" {
					owner[name] = response.Id
				}
			case 1:
				if len(ids) == 0 {
					break
				}
				id := rapid.SampledFrom(ids).Draw(rt, "id")
				_, _, err := f.Tx(&types.MsgUpdateTimer{Sender: robot.String(), Id: id, Spec: types.TimerSpec{Name: name}, Fields: []string{"name"}})
				switch {
				case f.gone(id):
					require.Error(rt, err)
				case has && owner[name] != id:
					require.ErrorIs(rt, err, types.ErrNameTaken)
				default:
					require.NoError(rt, err)
					drop(id)
					if name != "" {
						owner[name] = id
					}
				}
			case 2:
				if has {
					f.run(byName(robot, "", name)["cancel"])
					delete(owner, name)
				} else {
					_, _, err := f.Tx(byName(robot, "", name)["cancel"])
					require.Error(rt, err)
				}
			case 3:
				f.NextBlock()
				for _, id := range ids {
					if f.gone(id) {
						drop(id)
					}
				}
			}
			for _, name := range names[1:] {
				found, err := f.query().Timer(f.Ctx(), &types.QueryTimerRequest{Actor: robot.String(), Name: name})
				if owner[name] == "" {
					require.Error(rt, err)
					continue
				}
				require.NoError(rt, err)
				require.Equal(rt, owner[name], found.Timer.Id)
			}
		}
	})
}

// gone reports whether a timer of the robot's has left.
func (f *fixture) gone(id string) bool {
	_, err := f.query().Timer(f.Ctx(), &types.QueryTimerRequest{Actor: robot.String(), Id: id})
	return err != nil
}
