package engine

import (
	"errors"
	"slices"
	"sync"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/contest"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
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
	b, err := e.open(ctx, false)
	if err != nil {
		return err
	}
	b.watch = watch
	ctx, b.session = state.WithSession(ctx, b.Overhead)
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

func (e *Engine) activateConfig(ctx sdk.Context) error {
	return e.Configs.Activate(ctx, func(before, after *types.TimerConfig) error {
		for _, p := range e.Policies.All() {
			if err := p.Activate(ctx, before, after); err != nil {
				return err
			}
		}
		height := types.HeightOf(ctx)
		if e.Policies.At(before, height).Traits(before).SharesWindow == e.Policies.At(after, height).Traits(after).SharesWindow {
			return nil
		}
		// How far an index was filled says nothing of how far a shared window has come, nor the other way round.
		lane, err := e.Lane.Get(ctx)
		if err != nil {
			return err
		}
		lane.AdmitCursor = types.QueueKey{}
		return e.Lane.Set(ctx, lane)
	})
}

// maintain writes what the steps have changed, and lets the maps of state merge a bounded part of what they hold.
func (e *Engine) maintain(ctx sdk.Context, b *block) error {
	if err := e.Watches.Settle(ctx); err != nil {
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
		done := e.guard(ctx, b, t, fn)
		if t.HoldReason == types.NotOnHold {
			b.totals.watchHits++
		}
		return done
	})
	if err != nil {
		return err
	}
	b.contest.GC.Meet(expired...)
	b.Overhead.Lend(market.Watches)
	b.contest.ClampCursors()
	// Who can fire again competes in this block: returned a block later, whoever fills every second block would starve it.
	leaving, err := e.scanOnHold(ctx, b)
	if err != nil {
		return err
	}
	b.Overhead.Lend(market.Held)
	if err := b.contest.Collect(ctx); err != nil {
		return err
	}
	b.contest.GC.Meet(leaving...)
	return nil
}

// price fails if the prices are missing. They were fixed when the block was opened.
func (e *Engine) price(_ sdk.Context, b *block) error {
	if b.Prices.Lane.IsNil() || b.Prices.Cycle.IsNil() || b.Prices.Cell.IsNil() {
		return errors.New("the block has no prices")
	}
	return nil
}

// rank calls agents, and puts the candidates in order. Before, it looks whether those that wait for their payers can be covered.
func (e *Engine) rank(ctx sdk.Context, b *block) error {
	if err := b.contest.Prepare(ctx); err != nil {
		return err
	}
	if b.traits.DefersUnfunded {
		e.checkFunds(ctx, b)
	}
	err := b.contest.Rank(ctx)
	b.Overhead.Lend(market.Contest)
	return err
}

// BeginBlock adopts a config accepted in an earlier block, so that one config is in force throughout a block. It never
// fails: timers must not halt the chain.
func (e *Engine) BeginBlock(ctx sdk.Context) {
	if err := sandbox.Run(ctx, e.activateConfig); err != nil {
		e.laneFailed(ctx, err)
	}
}

// EndBlock fires the timers that are due and fit. It never fails: if the step fails as a whole, its writes are dropped,
// TimerLaneFailed is emitted, and no timer has changed. Changes of watched state stay noted for the next block.
func (e *Engine) EndBlock(ctx sdk.Context) {
	if err := sandbox.Run(ctx, e.step); err != nil {
		e.laneFailed(ctx, err)
	}
}

// laneFailed reports a step that failed and was rolled back.
func (e *Engine) laneFailed(ctx sdk.Context, cause error) {
	ctx.Logger().Error("the timer lane failed and was rolled back", "module", types.ModuleName, "height", ctx.BlockHeight(), "err", cause)
	codespace, code := types.CodeOf(cause)
	event := &types.TimerLaneFailed{Height: types.HeightOf(ctx), Codespace: codespace, Code: code}
	if err := report.Emit(ctx, event); err != nil {
		ctx.Logger().Error("can't emit TimerLaneFailed", "module", types.ModuleName, "err", err)
	}
	e.Reporter.Failed(report.KindLane)
}

// open begins the end of a block, or a preview of it. It fixes the prices, which depend on the previous block only.
func (e *Engine) open(ctx sdk.Context, preview bool) (*block, error) {
	config, err := e.Configs.Get(ctx)
	if err != nil {
		return nil, err
	}
	before, err := e.Lane.Get(ctx)
	if err != nil {
		return nil, err
	}
	now := types.MomentOf(ctx)
	prices, basefees := e.Policies.Prices(ctx, &config, &before)
	inForce := e.Policies.At(&config, now.Height)
	b := &block{
		Block: &policies.Block{
			Height: now.Height, Config: config, Before: before, State: before, Prices: prices, Rules: inForce.Rules(&config, &before),
			Overhead: config.Overhead(), Recents: e.Fairness.Recents(ctx), Preview: preview,
		},
		policy: inForce, traits: inForce.Traits(&config), basefees: basefees, watch: report.Untimed{},
		lane:   market.Budget{Capacity: config.LaneCapacity(), MaxFires: config.MaxFiresPerBlock},
		totals: totals{firesOf: map[string]uint32{}},
	}
	if b.Rules, err = inForce.Open(ctx, b.Block); err != nil {
		return nil, err
	}
	if follower, follows := b.Rules.(policies.Follower); follows {
		b.followers = []policies.Follower{follower}
	}
	b.funds = funds{
		Shortfalls: e.Fees.Shortfalls(&b.Config), promised: map[string]math.Int{},
		least: sync.OnceValue(func() market.Price { return market.Least(b.Rules, prices) }),
	}
	index, err := e.Index.Open(ctx)
	if err != nil {
		return nil, err
	}
	b.calls = e.Agents.Open(b.Block, b.traits.AsksAgents)
	b.contest = contest.New(contest.Terms{
		Now: now, Config: &b.Config, State: &b.State, Prices: prices, Rules: b.Rules, Traits: b.traits, Lane: &b.lane, Overhead: b.Overhead,
		Records: e.Records, Owners: e.Owners, Index: index, Calls: b.calls, Funds: b.funds.Shortfalls, Preview: preview,
		TakeOut: func(ctx sdk.Context, t *types.Timer, why types.HoldReason, price *market.Price) {
			e.takeOut(ctx, b, t, why, price)
		},
	})
	return b, nil
}

// cleanUp removes expired timers in queue order while the GC lane lasts, and after them those that were on hold for lack
// of funds, or since their scheduler is the admin no more. The others are removed in later blocks; meanwhile they can't fire.
func (e *Engine) cleanUp(ctx sdk.Context, b *block) error {
	gc, now := &b.contest.GC, b.contest.Now
	for len(gc.Expired) > 0 && gc.TakeFor(&gc.Expired[0]) {
		timer := gc.Expired[0]
		gc.Expired = gc.Expired[1:]
		if !timer.ExpiredAt(now) && timer.HoldReason == types.Unfunded {
			e.removeUnfunded(ctx, b, &timer)
			continue
		}
		if !timer.ExpiredAt(now) && timer.HoldReason == types.NotAdmin {
			e.removeNotAdmins(ctx, b, &timer)
			continue
		}
		if !e.expire(ctx, b, &timer) && timer.HoldReason == types.NotOnHold && gc.Unswept == nil {
			// It could not even be put on hold, and stays in the queue. So the head of the queue stays before it.
			key := state.KeyOf(timer.Due, timer.Seq)
			gc.Unswept = &key
		}
	}
	b.contest.MoveHead()
	return nil
}

// scanOnHold examines timers that are on hold while the overhead lasts: first those whose life has ended, by their ends, a quarter
// of it at most; then, from where the block before ended, those that may return by themselves. It returns those to the
// queue that the config can run again, whose payers can cover them, or that can fire at the prices of the block. It hands out
// those that are to be removed, by their ends: what has ended among what can't pay.
func (e *Engine) scanOnHold(ctx sdk.Context, b *block) (leaving []types.Timer, err error) {
	limit := b.Overhead.Left(market.VisitHeld)
	if leaving, err = e.Records.Ended(ctx, b.contest.Now, max(1, limit/4), state.ClassHeld, state.ClassReturning); err != nil {
		return nil, err
	}
	timers, next, err := e.Records.Returning(ctx, state.CalendarKey(b.State.HoldCursor), max(1, limit-len(leaving)))
	if err != nil {
		return nil, err
	}
	b.State.HoldCursor = state.QueueKey(next)
	b.Overhead.Consume(market.VisitHeld, len(leaving)+len(timers))
	for i := range timers {
		t := &timers[i]
		switch {
		case t.ExpiredAt(b.contest.Now): // It is met by its end.
		case t.HoldReason == types.NotAdmin:
			leaving = append(leaving, *t)
		case t.HoldReason == types.Unrunnable && b.traits.Runs(t.GasLimit, t.CellLimit, b.Config.MaxCellsPerFire):
			e.release(ctx, b, t)
		case t.HoldReason == types.Unfunded && !b.Config.LanePaused:
			if e.sweepUnfunded(ctx, b, t) {
				leaving = append(leaving, *t)
			}
		case t.HoldReason == types.PricedOut && !b.Config.LanePaused:
			e.sweepPricedOut(ctx, b, t)
		}
	}
	slices.SortFunc(leaving, func(a, c types.Timer) int { return state.RecordKey(&a).Compare(state.RecordKey(&c)) })
	return leaving, nil
}
