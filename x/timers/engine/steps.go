package engine

import (
	"errors"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// step is one of the ten steps of the end of a block.
type step struct {
	// name is that of the step in metrics.
	name string
	do   func(*Engine, sdk.Context, *block) error
}

// selecting steps determine which timers are tried, and in which order. Queries run them too, on a branch that is
// dropped.
var selecting = []step{
	{"collect", (*Engine).collect},  // 1. read what is due
	{"clean_up", (*Engine).cleanUp}, // 2. remove what has expired
	{"price", (*Engine).price},      // 3. apply the prices that were fixed when the block was opened
	{"rank", (*Engine).rank},        // 4 and 5. what each candidate is willing to pay, and the order in which they are tried
}

// firing steps fire, and write the state for the next block.
var firing = []step{
	{"execute", (*Engine).execute},     // 6. settle and fire while the lane lasts
	{"defer", (*Engine).deferRest},     // 7. the rest stays ready
	{"fairness", (*Engine).countFires}, // 8. fairness
	{"record", (*Engine).record},       // 9. state for the next block, receipts, summary
	{"maintain", (*Engine).maintain},   // 10. write what the steps have changed, and merge a bounded part of it
}

// step is the end of a block.
func (e *Engine) step(ctx sdk.Context) error {
	watch, operations := e.Reporter.Start(), &report.Operations{}
	ctx = ctx.WithGasMeter(operations.Meter(ctx.GasMeter()))
	b, err := e.open(ctx)
	if err != nil {
		return err
	}
	b.watch = watch
	ctx, b.session = state.WithSession(state.WithRemovals(ctx, b.Overhead))
	if err := e.run(ctx, b, selecting); err != nil {
		return err
	}
	if err := e.run(ctx, b, firing); err != nil {
		return err
	}
	watch.Stop()
	e.Reporter.CountOperations(operations)
	e.report(ctx, b)
	return nil
}

func (e *Engine) run(ctx sdk.Context, b *block, steps []step) error {
	for _, step := range steps {
		if err := step.do(e, ctx, b); err != nil {
			return err
		}
		b.watch.Lap(step.name)
	}
	return nil
}

// Preview is the next block without transactions, up to its selection.
type Preview struct {
	*policies.Block
	Policy policies.Policy
	Rules  market.Rules
	Round  policies.Round

	engine *Engine
	block  *block
	// spent is what the fires so far may cost each payer. It is looked up, never ranged over.
	spent map[string]math.Int
}

// RankGas is what a preview charges for each timer that competes or is admitted, before it ranks them: ranking takes time that
// the reading does not pay for.
const RankGas = 1_000

// Preview runs the next block's own steps up to its selection, on a branch of state that is dropped. So queries show
// what the block will do if no transaction changes it, and if the agents answer what they answered last: none is called.
func (e *Engine) Preview(ctx sdk.Context) (sdk.Context, *Preview, error) {
	ctx, err := e.ActivatedBranch(ctx)
	if err != nil {
		return ctx, nil, err
	}
	b, err := e.open(ctx)
	if err != nil {
		return ctx, nil, err
	}
	b.Block.Preview = true
	ctx, b.session = state.WithSession(ctx)
	last := len(selecting) - 1
	if err := e.run(ctx, b, selecting[:last]); err != nil {
		return ctx, nil, err
	}
	ctx.GasMeter().ConsumeGas(RankGas*(uint64(b.Competing)+uint64(len(b.Index.Filed()))), "rank timers")
	return ctx, &Preview{b.Block, b.policy, b.rules, b.round, e, b, map[string]math.Int{}}, e.run(ctx, b, selecting[last:])
}

// ActivatedBranch is the beginning of the next block, on a branch of state that is dropped.
func (e *Engine) ActivatedBranch(ctx sdk.Context) (sdk.Context, error) {
	if err := state.Write(ctx); err != nil {
		return ctx, err
	}
	branch, _ := ctx.CacheContext()
	branch = branch.WithBlockHeight(ctx.BlockHeight() + 1)
	return branch, e.activateConfig(branch)
}

func (e *Engine) activateConfig(ctx sdk.Context) error {
	return e.Configs.Activate(ctx, func(before, after *types.TimerConfig) error {
		for _, p := range e.Policies.All() {
			if err := p.Activate(ctx, before, after); err != nil {
				return err
			}
		}
		return nil
	})
}

// maintain writes what the steps have changed, and lets the maps of state merge a bounded part of what they hold.
func (e *Engine) maintain(ctx sdk.Context, b *block) error {
	if err := e.Watches.KeepChanges(ctx, b.Height+1, &b.Config, b.Overhead); err != nil {
		return err
	}
	if err := b.session.Flush(ctx); err != nil {
		return err
	}
	return e.Records.Close(ctx)
}

// collect reads what is due.
func (e *Engine) collect(ctx sdk.Context, b *block) error {
	if err := e.collectTimes(ctx, b); err != nil {
		return err
	}
	b.Overhead.Lend(market.Times)
	expired, err := e.Watches.Collect(ctx, &b.Config, b.Overhead, func(ctx sdk.Context, t *types.Timer, fn func(sdk.Context) error) bool {
		b.watchHits++
		return e.guard(ctx, b, t, fn)
	})
	if err != nil {
		return err
	}
	b.GC.Meet(expired...)
	b.Overhead.Lend(market.Watches)
	b.clampCursors()
	// Who can fire again competes in this block: returned a block later, whoever fills every second block would starve it.
	leaving, err := e.scanOnHold(ctx, b)
	if err != nil {
		return err
	}
	b.Overhead.Lend(market.Held)
	if err := b.round.Collect(ctx); err != nil {
		return err
	}
	b.GC.Meet(leaving...)
	return nil
}

// price fails if the prices are missing. They were fixed when the block was opened.
func (e *Engine) price(_ sdk.Context, b *block) error {
	if b.Prices.Lane.IsNil() || b.Prices.Cycle.IsNil() || b.Prices.Cell.IsNil() {
		return errors.New("the block has no prices")
	}
	return nil
}

// rank asks the policy for the order.
func (e *Engine) rank(ctx sdk.Context, b *block) error {
	err := b.round.Rank(ctx)
	b.Overhead.Lend(market.Contest)
	return err
}
