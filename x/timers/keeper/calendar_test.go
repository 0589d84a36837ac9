package keeper_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func inTiers(c *types.TimerConfig) { c.Calendar = types.CalendarTiered }

// history is one random history of a chain. Two of one seed differ in what their options say alone.
type history struct {
	*fixture
	rng *rand.Rand
	ids []string
	// gas of every message, and all its events and those of the blocks.
	log []string
}

var historians = []sdk.AccAddress{robot, robot2, sdk.AccAddress("robot3______________")}

// newHistory has a lane of ten fires, so that storms last, and a GC lane of five removals.
func newHistory(t *testing.T, seed uint64, policy types.Policy, changes ...func(*lab.ChainOptions)) *history {
	t.Helper()
	changes = append([]func(*lab.ChainOptions){withConfig(func(c *types.TimerConfig) {
		c.Policy, c.LaneTimerCycles, c.MaxCyclesPerFire = policy, 600_000, 60_000
		c.Eip1559.MaxCyclesPerFireAuction = 60_000
		c.GcCyclesPerBlock = 5 * c.GcCyclesPerRemoval
		c.CandidateWindow, c.AdmissionsPerBlock, c.MigrationsPerBlock = 24, 16, 7
	})}, changes...)
	f := newFixture(t, changes...)
	f.fund(historians[2], 2_000_000)
	h := &history{fixture: f, rng: rand.New(rand.NewPCG(seed, 1))}
	for name, fails := range map[string]bool{"idle": false, "fails": true} {
		f.robots.scripts[name] = func(ctx sdk.Context, d types.Delivery) error {
			ctx.GasMeter().ConsumeGas(uint64(len(d.Payload))*100, "work")
			if fails {
				return types.ErrInvalidPayload
			}
			return nil
		}
	}
	f.robots.scripts["changes itself"] = func(ctx sdk.Context, d types.Delivery) error {
		switch d.FireSeq % 3 {
		case 0:
			_, err := f.Timers.Extend(ctx, d.Actor, d.TimerID, d.Height+70)
			return err
		case 1:
			return f.Timers.Pause(ctx, d.Actor, d.TimerID)
		default:
			return f.Timers.Cancel(ctx, d.Actor, d.TimerID)
		}
	}
	return h
}

func (h *history) say(what string, args ...any) { h.log = append(h.log, fmt.Sprintf(what, args...)) }

func (h *history) send(msg sdk.Msg) {
	results, gas, err := h.Tx(msg)
	h.say("height %d: %T uses %d: %v", h.Height(), msg, gas, err)
	for _, result := range results {
		for _, event := range result.Events {
			h.say("%s %v", event.Type, event.Attributes)
		}
		if len(result.MsgResponses) > 0 {
			if r, scheduled := result.MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse); scheduled {
				h.ids = append(h.ids, r.Id)
			}
		}
	}
}

func (h *history) scheduleOne(due uint64) {
	msg := scheduleMsg(historians[h.rng.IntN(3)], due, []byte([]string{"idle", "idle", "fails", "changes itself"}[h.rng.IntN(4)]),
		limited(50_000+h.rng.Uint64N(10_000)))
	switch h.rng.IntN(6) {
	case 0:
		msg.Trigger = types.Trigger{Interval: &types.IntervalTrigger{
			Every: 1 + h.rng.Uint64N(40), First: due, Remaining: h.rng.Uint64N(4),
		}}
	case 1:
		msg.Retry = &types.Retry{Max: 2, After: 1 + h.rng.Uint64N(9)}
	case 2:
		msg.OnUnfunded = types.OnUnfundedSuspend
	case 3:
		msg.ExpiresAt = due + h.rng.Uint64N(6)
	case 4:
		msg.Trigger = types.Trigger{Watch: &types.WatchTrigger{
			Keys:      []types.WatchKey{{Store: "bank", Prefix: append([]byte{2, 20}, carol...)}},
			Remaining: h.rng.Uint64N(3),
		}}
	}
	h.send(msg)
}

func (h *history) block() {
	for range h.rng.IntN(12) {
		id, actor := "", historians[h.rng.IntN(3)].String()
		if len(h.ids) > 0 {
			id = h.ids[h.rng.IntN(len(h.ids))]
		}
		distance := []uint64{3, 30, 300}[h.rng.IntN(3)]
		switch op := h.rng.IntN(16); {
		case op < 8:
			h.scheduleOne(h.Height() + 1 + h.rng.Uint64N(distance))
		case op == 8: // A storm that is scheduled ahead.
			due := h.Height() + 5 + h.rng.Uint64N(20)
			for range 10 + h.rng.IntN(30) {
				h.scheduleOne(due)
			}
		case op == 9:
			h.send(&types.MsgPauseTimer{Sender: actor, Id: id})
		case op == 10:
			h.send(&types.MsgResumeTimer{Sender: actor, Id: id})
		case op == 11:
			h.send(&types.MsgUpdateTimer{Sender: actor, Id: id, GasLimit: 50_000 + h.rng.Uint64N(10_000)})
		case op == 12:
			h.send(&types.MsgExtendTimer{Sender: actor, Id: id, ExpiresAt: h.Height() + h.rng.Uint64N(400)})
		case op == 13:
			h.send(&types.MsgSysCancelTimer{Authority: h.Authority, Actor: actor, Id: id})
		case op == 14:
			h.fund(carol, 1)
		default:
			h.send(&types.MsgCancelTimer{Sender: actor, Id: id})
		}
	}
	for _, event := range h.NextBlock() {
		// It is made of the hash of the state, which differs.
		event.Attributes = slices.DeleteFunc(event.Attributes, func(a abci.EventAttribute) bool { return a.Key == "deliver_id" })
		h.say("block: %s %v", event.Type, event.Attributes)
	}
	for _, actor := range historians {
		timers, err := h.Timers.TimersOf(h.Ctx(), actor)
		require.NoError(h.t, err)
		h.say("%v has %d timers and %d", actor, len(timers), h.balance(actor))
	}
}

var historyPolicies = []types.Policy{
	types.PolicyFIFO, types.PolicyEIP1559, types.PolicyAuction, types.PolicyScore, types.PolicyTip,
}

// TestTheCalendarShowsNowhere: the same random history under the flat calendar, under the tiered one, on a chain that
// changes from one to the other on the way, and on one that is exported and imported on the way, gives the same results,
// gas and events, and the same fires block by block.
//
// Rule: 2.4-shows-nowhere, 2.4-same-gas, 2.4-upgrade
func TestTheCalendarShowsNowhere(t *testing.T) {
	blocks := sized(16, 120)
	for i, policy := range historyPolicies {
		t.Run(policy.String(), func(t *testing.T) {
			seed := uint64(i)
			run := func(midway func(*history), changes ...func(*lab.ChainOptions)) []string {
				h := newHistory(t, seed, policy, changes...)
				for b := range blocks {
					if b == blocks/2 {
						midway(h)
					}
					h.block()
				}
				return h.log
			}
			nothing := func(*history) {}
			flat := run(nothing)
			require.Greater(t, len(slices.DeleteFunc(slices.Clone(flat), func(line string) bool {
				return len(line) < 30 || line[:24] != "block: timers.v1.TimerFi"
			})), sized(12, 300), "fires")
			for name, other := range map[string][]string{
				"tiered": run(nothing, withConfig(inTiers)),
				"migrated": run(func(h *history) {
					require.NoError(t, h.Timers.MigrateCalendar(h.Ctx()))
					require.NoError(t, h.Timers.MigrateCalendar(h.Ctx()), "a second time")
				}),
				"migrations late": run(nothing, withConfig(inTiers), withConfig(func(c *types.TimerConfig) { c.MigrationsPerBlock = 1 })),
			} {
				for at := range flat {
					require.Equal(t, flat[at], other[at], "%s: line %d", name, at)
				}
				require.Len(t, other, len(flat), name)
			}
		})
	}
}

// TestATieredChainSurvivesExportAndImport: the same timers fire at the same heights, and gas is the same.
func TestATieredChainSurvivesExportAndImport(t *testing.T) {
	h := newHistory(t, 7, types.PolicyEIP1559, withConfig(inTiers))
	for range 60 {
		h.block()
	}
	genesis, err := h.Timers.ExportGenesis(h.Ctx())
	require.NoError(t, err)
	require.Equal(t, types.CalendarTiered, genesis.Config.Calendar)
	again, err := h.Timers.ExportGenesis(h.Ctx())
	require.NoError(t, err)
	require.Equal(t, genesis, again)
	continued := newFixture(t, func(opts *lab.ChainOptions) {
		opts.Genesis, opts.Height = genesis, int64(h.Height())-1
	})
	exported, err := continued.Timers.ExportGenesis(continued.Ctx())
	require.NoError(t, err)
	require.Equal(t, genesis.Timers, exported.Timers)
}

// TestACrowdIsMovedBeforeItIsDue: many timers of one height, scheduled far ahead, are moved over many blocks before that
// height, a bounded number in each; at that height no more is left than one block moves.
//
// Rule: 2.4-migration, 2.4-crowd-ahead, 5.1-maintain
func TestACrowdIsMovedBeforeItIsDue(t *testing.T) {
	const n, due, migrations = 6_000, 150, 400
	var counts *storecount.Counts
	f := crowded(t, n, func(timer *types.Timer) { timer.Due = due }, counted(&counts), withConfig(inTiers),
		withConfig(func(c *types.TimerConfig) {
			c.MigrationsPerBlock, c.RingSize, c.LaneTimerCycles, c.CandidateWindow = migrations, 100, 2_000_000, 128
		}))
	moving := 0
	for f.Height() < due {
		counts.Reset()
		f.endBlock()
		if counts.Sets > migrations/8 {
			moving++
		}
		require.LessOrEqual(t, counts.Sets, migrations/4+50, "at height %d", f.Height()-1)
	}
	require.GreaterOrEqual(t, moving, (n-migrations)/(migrations/4))
	counts.Reset()
	fired := f.firedIDs(f.endBlock())
	require.Len(t, fired, 99)
	require.LessOrEqual(t, counts.Sets, 6*len(fired)+50)
	require.NoError(t, f.Check())
}

// TestALateMigrationFiresOnTime: a crowd that can't be moved in time competes from where it is, in the same order.
//
// Rule: 2.4-late-competes
func TestALateMigrationFiresOnTime(t *testing.T) {
	fires := func(change func(*types.TimerConfig)) (ids [][]string) {
		f := crowded(t, 900, func(timer *types.Timer) { timer.Due = 5 }, withConfig(func(c *types.TimerConfig) {
			c.LaneTimerCycles = 2_000_000
		}), withConfig(change))
		for f.Height() <= 16 {
			ids = append(ids, f.firedIDs(f.NextBlock()))
		}
		return ids
	}
	flat := fires(func(*types.TimerConfig) {})
	require.Len(t, slices.Concat(flat...), 900)
	require.Equal(t, flat, fires(func(c *types.TimerConfig) {
		inTiers(c)
		c.MigrationsPerBlock, c.RingSize = 1, 1
	}))
}

// TestTheCalendarIsFixed: governance can't change it, only an upgrade can, also while another config waits.
//
// Rule: 2.4-chosen-at-genesis, 2.4-upgrade, 2.4-no-way-back
func TestTheCalendarIsFixed(t *testing.T) {
	f := newFixture(t)
	config := f.config()
	inTiers(&config)
	f.refused(types.ErrInvalidConfig, f.replaces(config))
	f.setConfig(func(c *types.TimerConfig) { c.RingSize = 17 })
	waiting := f.config()
	waiting.RingSize = 18
	f.run(f.replaces(waiting))
	require.NoError(t, f.Timers.MigrateCalendar(f.Ctx()))
	require.Equal(t, types.CalendarTiered, f.config().Calendar)
	f.NextBlock()
	require.Equal(t, types.CalendarTiered, f.config().Calendar)
	require.EqualValues(t, 18, f.config().RingSize)

	config = f.config()
	config.Calendar = types.CalendarFlat
	f.refused(types.ErrInvalidConfig, f.replaces(config))
	require.NoError(t, f.Timers.MigrateCalendar(f.Ctx()))
	require.Equal(t, types.CalendarTiered, f.config().Calendar, "there is no way back")
}
