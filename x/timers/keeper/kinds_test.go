package keeper_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What becomes of a timer of each kind when the ground moves: docs/operate/lifecycle.md tells it in a table, of which this is the test.

// pauper owns the timers that can't be paid.
var pauper = sdk.AccAddress("robot_pauper________")

// kind is a state in which a timer may be when the ground moves.
type kind struct {
	name string
	// begin brings it there by block 4, and returns its owner and id.
	begin func(f *fixture) (sdk.AccAddress, string)
	// stands is what queries say of it then, and after.
	stands types.TimerPhase
	onHold types.HoldReason
	// end makes it fire, if time alone does not.
	end func(f *fixture, id string)
	// runs: it is due in the time that the change lasts, so that a cap below its gas limit puts it on hold.
	runs bool
}

func kinds() []kind {
	return []kind{
		{name: "height, pending", stands: types.PhasePending, begin: func(f *fixture) (sdk.AccAddress, string) {
			return robot, f.schedule(robot, 40, []byte("noop"))
		}},
		{name: "height, ready", stands: types.PhaseReady, runs: true, begin: func(f *fixture) (sdk.AccAddress, string) {
			return robot, f.schedule(robot, 3, []byte("noop"))
		}},
		{name: "interval", stands: types.PhasePending, begin: func(f *fixture) (sdk.AccAddress, string) {
			return robot, f.schedule(robot, 0, []byte("noop"), trigger(types.Trigger{Interval: &types.IntervalTrigger{Every: 5, First: 40}}))
		}},
		{name: "retry, waiting", stands: types.PhasePending, begin: func(f *fixture) (sdk.AccAddress, string) {
			fails := true
			f.robots.scripts["fails once"] = func(sdk.Context, types.Delivery) error {
				if fails {
					fails = false
					return types.ErrInvalidPayload
				}
				return nil
			}
			return robot, f.schedule(robot, 3, []byte("fails once"), retried(1, 37))
		}},
		{
			name: "watch, waiting", stands: types.PhaseWatching, onHold: types.Watching,
			begin: func(f *fixture) (sdk.AccAddress, string) {
				return robot, f.schedule(robot, 0, []byte("noop"), watching(f.balanceOf(carol)))
			},
			end: func(f *fixture, _ string) { f.run(f.send(bob, carol, 7)) },
		},
		{name: "watch, triggered", stands: types.PhaseReady, runs: true, begin: func(f *fixture) (sdk.AccAddress, string) {
			id := f.schedule(robot, 0, []byte("noop"), watching(f.balanceOf(carol)))
			f.NextBlock()
			f.run(f.send(bob, carol, 7))
			return robot, id
		}},
		{
			name: "condition, waiting", stands: types.PhaseWatching, onHold: types.Watching,
			begin: func(f *fixture) (sdk.AccAddress, string) {
				return robot, f.schedule(robot, 0, []byte("noop"), watching(f.when(f.balanceOf(watched), "> 100")))
			},
			end: func(f *fixture, _ string) { f.setWatched(101) },
		},
		{name: "condition, triggered", stands: types.PhaseReady, runs: true, begin: func(f *fixture) (sdk.AccAddress, string) {
			id := f.schedule(robot, 0, []byte("noop"), watching(f.when(f.balanceOf(watched), "> 100")))
			f.NextBlock()
			f.setWatched(101)
			return robot, id
		}},
		{
			name: "watch, cooling down", stands: types.PhaseWatching, onHold: types.Watching,
			begin: func(f *fixture) (sdk.AccAddress, string) {
				id := f.schedule(robot, 0, []byte("noop"), watching(f.balanceOf(watched)), times(2), cooling(4))
				f.NextBlock()
				f.setWatched(1)
				require.Equal(f.t, []string{id}, f.firedIDs(f.blocksUntil(4)))
				// Changes before the cooldown ends make it due neither now nor then.
				f.setWatched(2)
				return robot, id
			},
			end: func(f *fixture, _ string) { f.setWatched(3) },
		},
		{
			name: "paused", stands: types.PhaseOnHold, onHold: types.Paused,
			begin: func(f *fixture) (sdk.AccAddress, string) {
				id := f.schedule(robot, 3, []byte("noop"))
				f.run(&types.MsgPauseTimer{Sender: robot.String(), Id: id})
				return robot, id
			},
			end: func(f *fixture, id string) { f.run(&types.MsgResumeTimer{Sender: robot.String(), Id: id}) },
		},
		{
			name: "suspended", stands: types.PhaseOnHold, onHold: types.Suspended,
			begin: func(f *fixture) (sdk.AccAddress, string) {
				return pauper, f.schedule(pauper, 3, []byte("noop"), func(msg *types.MsgScheduleTimer) { msg.Spec.OnUnfunded = types.OnUnfundedSuspend })
			},
			end: func(f *fixture, id string) {
				f.fund(pauper, rich)
				f.run(&types.MsgResumeTimer{Sender: pauper.String(), Id: id})
			},
		},
		{
			name: "quarantined", stands: types.PhaseOnHold, onHold: types.Quarantined,
			begin: func(f *fixture) (sdk.AccAddress, string) {
				f.quarantine()
				id := f.schedule(robot, 3, []byte("noop"))
				f.blocksUntil(3)
				f.Bank.ClearSendRestriction()
				return robot, id
			},
			end: func(f *fixture, id string) {
				f.run(&types.MsgSysReleaseTimer{Authority: f.Authority, Actor: robot.String(), Id: id})
			},
		},
	}
}

// movement is a way in which the ground moves, from block 5 to block 20.
type movement struct {
	name string
	move func(f *fixture) *fixture
	// cap is set: what is due meanwhile is put on hold, since its gas limit is above it.
	cap bool
}

func movements() []movement {
	change := func(from, to func(*types.TimerConfig)) func(*fixture) *fixture {
		return func(f *fixture) *fixture {
			f.setConfig(from)
			f.blocksUntil(18)
			f.setConfig(to)
			return f
		}
	}
	policy := func(policy types.Policy) func(*types.TimerConfig) {
		return func(c *types.TimerConfig) { c.Policy = policy }
	}
	return []movement{
		// Up to and including block 10 fifo is in force.
		{name: "activation", move: func(f *fixture) *fixture { return f }},
		{name: "policy", move: change(policy(types.PolicyFIFO), policy(types.PolicyEIP1559))},
		{
			name: "config", cap: true,
			move: change(func(c *types.TimerConfig) { c.Eip1559.MaxCyclesPerFireAuction, c.MaxCyclesPerFire = 50_000, 50_000 },
				func(c *types.TimerConfig) { c.Eip1559.MaxCyclesPerFireAuction, c.MaxCyclesPerFire = 250_000, 250_000 }),
		},
		// That of the whole application, by x/upgrade, is TestAnUpgradeChangesNoTimer of package app.
		{name: "upgrade", move: func(f *fixture) *fixture {
			f.blocksUntil(6)
			again := newFixture(f.t, func(opts *lab.ChainOptions) { opts.DB, opts.Height = copied(f.t, f.db), int64(f.Height())-1 })
			again.robots.scripts = f.robots.scripts
			return again
		}},
		{name: "export and import", move: func(f *fixture) *fixture {
			f.blocksUntil(6)
			genesis := f.export()
			again := newFixture(f.t, func(opts *lab.ChainOptions) {
				opts.Genesis, opts.Height = genesis, int64(f.Height())-1
				opts.Balances = append(opts.Balances, lab.Balance{Address: pauper, Amount: math.OneInt()})
			})
			again.robots.scripts = f.robots.scripts
			require.Equal(f.t, genesis, again.export())
			return again
		}},
	}
}

// copied is another database with the same data, for a process that takes over.
func copied(t testingT, db dbm.DB) dbm.DB {
	t.Helper()
	other := dbm.NewMemDB()
	entries, err := db.Iterator(nil, nil)
	require.NoError(t, err)
	for ; entries.Valid(); entries.Next() {
		require.NoError(t, other.Set(entries.Key(), entries.Value()))
	}
	require.NoError(t, entries.Close())
	return other
}

// TestWhatBecomesOfEachKind: for every kind and every movement, the timer is where it was, fires once, and not before it may.
//
// Rule: 1.7-policy-change-loses-nothing
func TestWhatBecomesOfEachKind(t *testing.T) {
	for _, m := range movements() {
		for _, k := range kinds() {
			t.Run(m.name+"/"+k.name, func(t *testing.T) {
				f := newFixture(t, withConfig(func(c *types.TimerConfig) {
					expensive(c)
					// Nothing fires before block 19, so that what is ready stays so.
					c.LanePaused = k.stands == types.PhaseReady
					c.MaxCyclesPerFire = 250_000
					if m.name == "activation" {
						c.Eip1559.AuctionActivationHeight = 10
					}
				}), func(opts *lab.ChainOptions) {
					opts.Balances = append(opts.Balances, lab.Balance{Address: pauper, Amount: math.OneInt()})
				})
				f.robots.scripts["noop"] = func(sdk.Context, types.Delivery) error { return nil }
				owner, id := k.begin(f)
				f.blocksUntil(4)
				before := f.timer(owner, id)
				require.Equal(t, k.stands, before.Status.Phase)
				require.Equal(t, k.onHold, before.Status.HoldReason)
				f = m.move(f)
				if m.cap && k.runs {
					require.Equal(t, types.Unrunnable, f.timer(owner, id).Status.HoldReason, "above the cap")
				} else {
					after := f.timer(owner, id)
					require.Equal(t, before, after, "it is as it was")
				}
				f.NextBlock() // A change is in force from the next block on.
				if f.config().LanePaused {
					f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
				}
				if k.end != nil {
					f.NextBlock()
					k.end(f, id)
				}
				fires := 0
				for _, fired := range f.firedIDs(f.blocksUntil(44)) {
					require.Equal(t, id, fired)
					fires++
				}
				require.Equal(t, 1, fires)
			})
		}
	}
}

// TestTheTableOfKindsIsWhole: the documentation has a row for each kind and a column for each movement.
func TestTheTableOfKindsIsWhole(t *testing.T) {
	raw, err := os.ReadFile("../docs/operate/lifecycle.md")
	require.NoError(t, err)
	header := "| kind |"
	for _, m := range movements() {
		header += fmt.Sprintf(" %s |", m.name)
	}
	require.Contains(t, string(raw), header)
	for _, k := range kinds() {
		require.Equal(t, 1, strings.Count(string(raw), "\n| "+k.name+" |"), k.name)
	}
}
