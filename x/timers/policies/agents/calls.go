package agents

import (
	"context"
	"errors"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Calls are those of one block. Each timer's agent is called at most once a block, while AGENT_CYCLES_PER_BLOCK has room
// for another call. The payers of the timers alternate (order.go). The other timers compete with an earlier answer if
// their record has one, or else with the default bid. Under overload, agents are called for the timers that the block
// admitted or scanned; these are indexed under the answer.
//
// The payer is charged for the largest call before the call, and gets back what it did not use: a timer whose payer
// can't cover that is not asked. If the timer fires in the block, the call's cycles are added to those of the fire, up
// to the gas limit, and what was charged for the call counts toward the pre-charge. Those beyond are burned out of what
// was taken. Otherwise the charge stands, is burned, and an event reports it.
type Calls struct {
	registry *Registry
	block    *policies.Block
	params   *Params
	// before is what the calls of earlier blocks left, nil if there were none.
	before *State
	// asks: the policy in force asks agents.
	asks bool
	// cycles of all calls. Invariant: at most AGENT_CYCLES_PER_BLOCK.
	cycles uint64
	// unaskedTimers counts the timers with an agent that was not called for them.
	unaskedTimers uint32
	// defaults are the default agents of actors, as they were when first looked up. Looked up, never ranged over.
	defaults map[string]sdk.AccAddress
	// noDefaults: no actor has a default agent; nil until that was looked up.
	noDefaults *bool
	// answers of this block, by the timers' seq. Looked up, never ranged over.
	answers map[uint64]*answer
	// order is that of the calls.
	order []*answer
	// nextPayer comes first in the next block, and nextTimer is the timer to start with.
	nextPayer sdk.AccAddress
	nextTimer types.QueueKey
	// unasked are the timers, by their seq, whose agent the block had no room to call. Looked up, never ranged over.
	unasked map[uint64]bool
	// refused are payers that could not cover a call. Looked up, never ranged over.
	refused map[string]bool
}

// answer is the result of one call.
type answer struct {
	timer types.Timer
	agent sdk.AccAddress
	// quote is nil if the agent failed: then the bid is the default one.
	quote *types.AgentQuote
	types.AgentCall
}

// Open implements policies.Agents.
func (r *Registry) Open(b *policies.Block, asked bool) types.AgentCalls {
	params := types.ParamsOf[Params](&b.Config)
	return &Calls{
		registry: r, block: b, params: params, before: types.MessageOf[State](b.Before.Policies),
		asks:     asked && params.CyclesPerBlock > 0 && !b.Config.LanePaused,
		defaults: map[string]sdk.AccAddress{}, answers: map[uint64]*answer{}, unasked: map[uint64]bool{}, refused: map[string]bool{},
	}
}

// Ask implements types.AgentCalls.
func (c *Calls) Ask(t *types.Timer, indexed bool) market.Ask {
	if !c.asks {
		return t.Ask()
	}
	var quote *types.AgentQuote
	if answer, asked := c.answers[t.Seq]; asked {
		quote = answer.quote
	} else if indexed || c.unasked[t.Seq] {
		quote = t.LastAnswer
	}
	if quote == nil {
		return t.Ask()
	}
	return quote.At(c.block.Prices.Cell).Ask()
}

// Of implements types.AgentCalls.
func (c *Calls) Of(t *types.Timer) *types.AgentCall {
	if answer, asked := c.answers[t.Seq]; asked {
		return &answer.AgentCall
	}
	return nil
}

// Close implements types.AgentCalls.
func (c *Calls) Close(ctx sdk.Context) (types.AgentTotals, error) {
	totals := types.AgentTotals{Asked: uint64(len(c.order)), Cycles: c.cycles, Unasked: c.unaskedTimers, Billed: math.ZeroInt()}
	for _, answer := range c.order {
		if err := c.keep(ctx, answer); err != nil {
			return totals, err
		}
		if answer.quote == nil {
			totals.Failed++
		}
		if answer.Followed {
			continue
		}
		totals.Billed = totals.Billed.Add(answer.Charged)
		t, text := &answer.timer, c.registry.parts.Addresses.Text
		if err := report.Emit(ctx, &types.TimerAgentBilled{
			Id: t.IDHex(), Actor: text(t.Actor), Agent: text(answer.agent), Payer: text(t.Payer()),
			Cycles: answer.Cycles, Paid: answer.Charged.String(),
		}); err != nil {
			return totals, err
		}
	}
	c.carry(totals.Billed)
	return totals, nil
}

// carry sets what the lane's state carries of the calls to the next block.
func (c *Calls) carry(billed math.Int) {
	if c.before == nil && c.cycles == 0 && c.unaskedTimers == 0 {
		return
	}
	next := &State{Cycles: c.cycles, Unasked: c.unaskedTimers, Billed: billed, Payer: c.nextPayer, Turn: c.nextTimer}
	if c.before != nil {
		next.Billed = next.Billed.Add(c.before.Billed)
	}
	if !next.Equal(c.before) {
		c.block.State.SetPolicy(next)
	}
}

// keep writes an answer to the record of its timer, if the timer is still there, was not given another bid since, and last
// heard something else.
func (c *Calls) keep(ctx sdk.Context, a *answer) error {
	if a.quote.Equal(a.timer.LastAnswer) {
		return nil
	}
	records := c.registry.parts.Records
	t, err := records.Lookup(ctx, a.timer.Actor, a.timer.Id)
	if errors.Is(err, types.ErrTimerNotFound) {
		return nil
	}
	if err != nil || t.Seq != a.timer.Seq {
		return err
	}
	t.LastAnswer = a.quote
	return records.Put(ctx, &t)
}

// agentOf is the agent that prices the timer: the one of its bid, or that of who scheduled it if it states no bid.
func (c *Calls) agentOf(ctx sdk.Context, t *types.Timer) (sdk.AccAddress, error) {
	if t.Spec.Bid != nil {
		if t.Spec.Bid.Agent == "" {
			return nil, nil
		}
		return c.registry.parts.Addresses.Parse("bid.agent", t.Spec.Bid.Agent)
	}
	if none, err := c.hasNoDefaults(ctx); none || err != nil {
		return nil, err
	}
	principal := t.Principal()
	if agent, known := c.defaults[string(principal)]; known {
		return agent, nil
	}
	agent, err := c.registry.Of(ctx, principal)
	if err == nil {
		c.defaults[string(principal)] = agent
	}
	return agent, err
}

func (c *Calls) hasNoDefaults(ctx sdk.Context) (bool, error) {
	if c.noDefaults == nil {
		none, err := c.registry.None(ctx)
		if err != nil {
			return false, err
		}
		c.noDefaults = &none
	}
	return *c.noDefaults, nil
}

// ask calls the agent of a timer and charges the payer. It returns false if the payer can't cover the largest call.
func (c *Calls) ask(ctx sdk.Context, t *types.Timer, agent sdk.AccAddress) (bool, error) {
	most, balance := c.cost(c.params.CyclesPerCall), c.balance(ctx, t.Principal())
	// What the payer's records take is counted by the fire.
	covered := sandbox.Run(ctx, func(ctx sdk.Context) error {
		_, err := c.registry.parts.Fees.PreCharge(ctx, &c.block.Config, t, most)
		return err
	}) == nil
	if !covered {
		return false, nil
	}
	answer := &answer{timer: *t, agent: agent}
	var failure error
	answer.quote, answer.Cycles, failure = c.call(ctx, t, agent, balance)
	c.cycles += answer.Cycles
	c.answers[t.Seq], c.order = answer, append(c.order, answer)
	// The meter of the end of a block has no limit, and nothing else makes calls.
	ctx.GasMeter().ConsumeGas(answer.Cycles, "bidding agent")
	answer.Charged = c.cost(answer.Cycles)
	rest := most.Sub(answer.Charged)
	err := sandbox.Run(ctx, func(ctx sdk.Context) error { return c.registry.parts.Fees.Refund(ctx, &c.block.Config, t, most, rest) })
	if err != nil {
		// A payer that takes no refund is charged for the largest call, so that the module's account holds nothing.
		answer.Charged = most
		ctx.Logger().Error("the refund of an agent's call failed", "module", types.ModuleName, "id", t.IDHex(), "err", err)
	}
	if failure == nil {
		return true, nil
	}
	event := &types.TimerAgentFailed{
		Id: t.IDHex(), Actor: c.registry.parts.Addresses.Text(t.Actor), Agent: c.registry.parts.Addresses.Text(agent),
	}
	event.Codespace, event.Code = types.CodeOf(failure)
	return true, report.Emit(ctx, event)
}

// cost of cycles at the chain's basefee, rounded up.
func (c *Calls) cost(cycles uint64) math.Int {
	return c.block.Prices.Cycle.MulInt(math.NewIntFromUint64(cycles)).Ceil().TruncateInt()
}

// call runs an agent on a branch of state that is dropped, with a meter of its own. It returns the agent's answer or
// error, and the cycles used.
func (c *Calls) call(
	ctx sdk.Context, t *types.Timer, agent sdk.AccAddress, balance math.Int,
) (quote *types.AgentQuote, cycles uint64, failure error) {
	meter := sandbox.NewReadMeter(c.params.CyclesPerCall-types.AgentBaseCycles, types.ErrAgentWrote)
	failure = sandbox.Probe(quoteContext(ctx), func(ctx sdk.Context) error {
		about := types.BidContext{
			TimerID: t.Id, Actor: t.Actor, Balance: balance,
			Due: t.DueSince(), Height: types.HeightOf(ctx), Prices: c.block.Prices, LastCycles: c.block.Before.Cycles,
		}
		ctx = ctx.WithGasMeter(meter)
		quoter, err := c.registry.quoterOf(ctx, agent)
		if err != nil {
			return err
		}
		answer, err := quoter.Quote(ctx, agent, about)
		if err != nil {
			return err
		}
		answer.CellPricedOut = false
		quote = &answer
		return answer.Validate()
	})
	if meter.Exceeded() != nil {
		failure = meter.Exceeded()
	}
	if failure != nil {
		quote = nil
	}
	return quote, types.AgentBaseCycles + meter.GasConsumedToLimit(), failure
}

func (c *Calls) balance(ctx context.Context, actor sdk.AccAddress) math.Int {
	return c.registry.parts.Fees.Bank.GetBalance(ctx, actor, c.block.Config.FeeDenom).Amount
}

// quoteContext is a fresh context, like that of a handler: it has gas of its own, and timers can't be run in it.
func quoteContext(ctx sdk.Context) sdk.Context {
	infinite := storetypes.NewInfiniteGasMeter
	return sandbox.WithinFire(ctx).WithGasMeter(infinite()).WithBlockGasMeter(infinite()).WithTxBytes(nil)
}
