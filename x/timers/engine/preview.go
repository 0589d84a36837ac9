package engine

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/contest"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Preview is the next block without transactions, up to its selection.
type Preview struct {
	*policies.Block
	Contest *contest.Contest
	Policy  policies.Policy
	Traits  market.Traits

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
	b, err := e.open(ctx, true)
	if err != nil {
		return ctx, nil, err
	}
	ctx, b.session = state.WithSession(ctx, nil)
	last := len(selecting) - 1
	if err := e.run(ctx, b, selecting[:last]); err != nil {
		return ctx, nil, err
	}
	ctx.GasMeter().ConsumeGas(RankGas*(uint64(b.contest.Competing)+uint64(len(b.contest.Index.Filed()))), "rank timers")
	preview := &Preview{Block: b.Block, Contest: b.contest, Policy: b.policy, Traits: b.traits, engine: e, block: b, spent: map[string]math.Int{}}
	return ctx, preview, e.run(ctx, b, selecting[last:])
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

// Next returns the timer that the block tries next, and what the block makes of it. Where it fires, the most that it may use, and that
// its payer may be charged, is taken as used.
func (p *Preview) Next(ctx sdk.Context) (t *types.Timer, verdict types.Verdict, found bool, err error) {
	entrant, found, err := p.Contest.Next(ctx)
	if err != nil || !found {
		return nil, 0, found, err
	}
	verdict, err = p.verdict(ctx, entrant)
	return entrant.Timer, verdict, true, err
}

func (p *Preview) verdict(ctx sdk.Context, entrant contest.Entrant) (types.Verdict, error) {
	c, err := p.engine.consider(ctx, p.block, &p.block.lane, entrant)
	if err != nil || c.verdict != types.VerdictFires {
		return c.verdict, err
	}
	t := c.timer
	if spent, some := p.spent[string(t.Payer())]; some {
		c.required = c.required.Add(spent)
	}
	if !p.block.funds.Covers(ctx, t, c.required) {
		return types.VerdictNoFunds, nil
	}
	p.spent[string(t.Payer())] = c.required
	p.block.lane.Spend(t.GasLimit, t.CellLimit)
	p.block.totals.firesOf[string(t.Actor)]++
	if len(t.Spec.OnlyIf) == 0 {
		return types.VerdictFires, nil
	}
	r := p.engine.begin(ctx, t, market.FireBaseCycles)
	ctx.GasMeter().ConsumeGas(r.meter.GasConsumed(), "read conditions")
	if r.guarded {
		return types.VerdictGuarded, nil
	}
	return types.VerdictFires, nil
}

// Missed is the verdict on a ready timer that the block does not try: why it would not fire in an empty lane, or that it is not
// reached.
func (p *Preview) Missed(ctx sdk.Context, t *types.Timer) (types.Verdict, error) {
	empty := market.Budget{Capacity: p.block.lane.Capacity}
	c, err := p.engine.consider(ctx, p.block, &empty, contest.Entrant{Timer: t})
	switch {
	case err != nil || c.verdict != types.VerdictFires:
		return c.verdict, err
	case !p.block.funds.Covers(ctx, t, c.required):
		return types.VerdictNoFunds, nil
	case !p.block.lane.Fits(p.Contest.SizeOf(t)):
		return types.VerdictNoRoom, nil // The contest stops reading when the lane is full.
	default:
		return types.VerdictNotRead, nil
	}
}
