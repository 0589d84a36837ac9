package keeper_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

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
		c.CandidateWindow = 24
		lab.SetRemovals(c, 5)
		lab.SetOverhead(c, market.Admit, 16)
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
			_, err := f.Timers.Extend(ctx, d.Actor, d.TimerID, keeper.End{Height: d.Height + 70})
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
		msg.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1 + h.rng.Uint64N(40), First: due}}
		msg.Spec.Repeat = &types.Repeat{Remaining: h.rng.Uint64N(4)}
	case 1:
		msg.Spec.Retry = &types.Retry{Max: 2, After: 1 + h.rng.Uint64N(9)}
	case 2:
		msg.Spec.OnUnfunded = types.OnUnfundedSuspend
	case 3:
		msg.Spec.ExpiresAt = due + h.rng.Uint64N(6)
	case 4:
		msg.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{
			Keys: []types.WatchKey{{Store: "bank", Prefix: append([]byte{2, 20}, carol...)}},
		}}
		msg.Spec.Repeat = &types.Repeat{Remaining: h.rng.Uint64N(3)}
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
			h.send(&types.MsgUpdateTimer{Sender: actor, Id: id, Spec: types.TimerSpec{GasLimit: 50_000 + h.rng.Uint64N(10_000)}, Fields: []string{"gas_limit"}})
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

var historyPolicies = lab.Policies()

// TestGenesis_KeepsTheTimersOfAHistory: what a random history left exports twice the same, and once more where it was imported.
func TestGenesis_KeepsTheTimersOfAHistory(t *testing.T) {
	blocks := sized(16, 120)
	for i, policy := range historyPolicies {
		t.Run(policy.String(), func(t *testing.T) {
			seed := uint64(i)
			h := newHistory(t, seed, policy)
			for range blocks / 2 {
				h.block()
			}
			genesis, err := h.Timers.ExportGenesis(h.Ctx())
			require.NoError(t, err)
			again, err := h.Timers.ExportGenesis(h.Ctx())
			require.NoError(t, err)
			require.Equal(t, genesis, again)
			continued := newFixture(t, func(opts *lab.ChainOptions) {
				opts.Genesis, opts.Height = genesis, int64(h.Height())-1
			})
			exported, err := continued.Timers.ExportGenesis(continued.Ctx())
			require.NoError(t, err)
			require.Equal(t, genesis.Timers, exported.Timers)
			require.NoError(t, continued.Check())
		})
	}
}
