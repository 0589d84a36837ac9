// Package engine fires timers at the end of each block: the steps, one execute loop, the settlement of a fire, and what
// makes a timer due again (x/timers/README.md, "End Block").
//
// steps.go is the list of the steps. The engine knows of a policy the interfaces of package policies alone, of a trigger
// those of package triggers, and of an actor the runtime that serves it.
package engine

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/policies/registry"
	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Engine fires timers. It keeps nothing between blocks or during one: a block may be run twice, and queries run beside it.
type Engine struct {
	*policies.Parts
	Policies *registry.Registry
	Triggers triggers.Kinds
	Watches  *triggers.Watches
	Receipts *state.Receipts
	Router   types.Router
}

// block is what the end of one block needs to know. It dies with the block.
type block struct {
	*policies.Block
	// policy in force, its rules and its round.
	policy policies.Policy
	rules  policy.Rules
	round  policies.Round
	// followers attend the fires: those of other policies, and the round.
	followers []policies.Follower
	books
}

// open begins the end of a block. The prices are fixed here: they follow from what the last block left.
func (e *Engine) open(ctx sdk.Context) (*block, error) {
	config, err := e.Configs.Get(ctx)
	if err != nil {
		return nil, err
	}
	before, err := e.Lane.Get(ctx)
	if err != nil {
		return nil, err
	}
	height := types.HeightOf(ctx)
	prices, err := e.Policies.Prices(ctx, &config, &before)
	if err != nil {
		return nil, err
	}
	inForce := e.Policies.At(&config, height)
	b := &block{books: newBooks(), policy: inForce, rules: inForce.Rules(&config, &before)}
	b.Block = &policies.Block{
		Height: height, Config: config, Before: before, State: before, Prices: prices,
		Lane: lane.Budget{
			MaxCycles: config.LaneTimerCycles, MaxCells: config.LaneTimerCells,
			CellsPerFire: config.MaxCellsPerFire, MaxFires: config.MaxFiresPerBlock,
		},
		GC:      policies.GC{Cleanup: lane.Cleanup{MaxCycles: config.GcCyclesPerBlock, PerRemoval: config.GcCyclesPerRemoval}},
		Pages:   e.Actors.FirstPages(),
		Changes: &state.Changes{},
		Hands:   hands{e, b},
	}
	b.Agents = e.Agents.Open(agentTerms(b))
	if b.round, err = b.policy.Open(ctx, b.Block); err != nil {
		return nil, err
	}
	b.followers = append(e.Policies.Follow(ctx, b.Block, b.policy), b.round)
	return b, nil
}

// hands do for the block's policy what only the engine may.
type hands struct {
	*Engine
	b *block
}

var _ policies.Hands = hands{}

// Guard implements policies.Hands.
func (h hands) Guard(ctx sdk.Context, t *types.Timer, fn func(sdk.Context) error) bool {
	return h.guard(ctx, h.b, t, fn)
}

// SetUnrunnableAside implements policies.Hands.
func (h hands) SetUnrunnableAside(ctx sdk.Context, t *types.Timer) {
	h.guard(ctx, h.b, t, func(ctx sdk.Context) error { return h.setAside(ctx, h.b, t, types.Unrunnable, nil) })
}

// Expire implements policies.Hands.
func (h hands) Expire(ctx sdk.Context, t *types.Timer) { h.expire(ctx, h.b, t) }

// Runnable implements policies.Hands.
func (h hands) Runnable(gasLimit uint64) bool {
	return h.Policies.Runnable(&h.b.Config, h.b.Height, gasLimit)
}

// BeginBlock puts a config accepted in an earlier block in force, so that one config holds throughout a block. It never fails:
// a chain must not halt over its timers.
func (e *Engine) BeginBlock(ctx sdk.Context) {
	if err := sandbox.Run(ctx, e.adoptConfig); err != nil {
		e.laneFailed(ctx, err)
	}
}

func (e *Engine) adoptConfig(ctx sdk.Context) error {
	return e.Configs.Adopt(ctx, func(before, after *types.TimerConfig) error {
		for _, p := range e.Policies.All() {
			if err := p.Adopt(ctx, before, after); err != nil {
				return err
			}
		}
		return nil
	})
}

// EndBlock fires the timers that are due and fit. It never fails: if the step fails as a whole, its writes are dropped,
// TimerLaneFailed is emitted, and the chain goes on with every timer where it was.
func (e *Engine) EndBlock(ctx sdk.Context) {
	if err := sandbox.Run(ctx, e.step); err != nil {
		e.laneFailed(ctx, err)
		e.saveChanges(ctx)
	}
}

// laneFailed reports a step that left no trace.
func (e *Engine) laneFailed(ctx sdk.Context, cause error) {
	ctx.Logger().Error("the timer lane failed and left no trace", "module", types.ModuleName, "height", ctx.BlockHeight(), "err", cause)
	codespace, code := types.CodeOf(cause)
	event := &types.TimerLaneFailed{Height: types.HeightOf(ctx), Codespace: codespace, Code: code}
	if err := types.Emit(ctx, event); err != nil {
		ctx.Logger().Error("can't emit TimerLaneFailed", "module", types.ModuleName, "err", err)
	}
	countLaneFailed()
}

// saveChanges keeps what a block changed whose end failed as a whole, so that no watch misses it.
func (e *Engine) saveChanges(ctx sdk.Context) {
	err := sandbox.Run(ctx, func(ctx sdk.Context) error {
		config, err := e.Configs.Get(ctx)
		if err != nil {
			return err
		}
		return e.Watches.KeepChanges(ctx, types.HeightOf(ctx), &config)
	})
	if err != nil {
		ctx.Logger().Error("changes of watched state are lost", "module", types.ModuleName, "height", ctx.BlockHeight(), "err", err)
	}
}

// CountTimers counts the live timers at the end of a block, and those of them that are due and wait for the lane. It reads
// every actor's first page and the whole backlog: tests and the lab call it between blocks; no block does.
func (e *Engine) CountTimers(ctx context.Context) (live, ready uint64, err error) {
	err = e.Actors.Walk(ctx, func(_ sdk.AccAddress, _ uint16, page types.ActorPage) error {
		live += uint64(page.Timers)
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	now := types.HeightOf(ctx)
	err = e.Records.WalkQueue(ctx, func(t *types.Timer) bool {
		if t.StatusAt(now) == types.TimerStatusReady {
			ready++
		}
		return t.Due > now
	})
	return live, ready, err
}
