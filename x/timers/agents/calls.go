package agents

import (
	"context"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Calls are those of one block. Each timer's agent is called at most once a block, in the order of the queue, while
// AGENT_CYCLES_PER_BLOCK has room for another call. The other timers compete with the default bid, and are first in the
// next block. Under overload, agents are called when their timers are admitted, and again by the sweep; their timers
// are indexed under the answer.
//
// A fire pays for the call that was made for it in its block: its cycles are added to those of the fire, up to the gas
// limit, and so never exceed the pre-charge. Calls whose timers do not fire in their block are not billed;
// AGENT_CYCLES_PER_BLOCK bounds them.
type Calls struct {
	// Cycles of all calls. Invariant: at most AGENT_CYCLES_PER_BLOCK.
	Cycles uint64
	// Unasked counts the timers for whose call the budget did not suffice.
	Unasked uint32

	registry *Registry
	config   *types.TimerConfig
	before   *types.LaneState
	prices   policy.Prices
	pages    *state.FirstPages
	// asks: the policy in force asks agents.
	asks bool
	// answers of this block, by the timers' seq. Looked up, never ranged over.
	answers map[uint64]answer
}

// answer is the result of one call.
type answer struct {
	// quote is nil if the agent failed: then the bid is the default one.
	quote  *types.AgentQuote
	cycles uint64
}

// Terms are the facts about a block that its agents receive.
type Terms struct {
	Config *types.TimerConfig
	// Before is the lane's state after the previous block.
	Before *types.LaneState
	Prices policy.Prices
	Pages  *state.FirstPages
	// Asked: the policy in force lets agents price timers.
	Asked bool
}

// Open returns the calls of a block, at first without any.
func (r *Registry) Open(terms Terms) *Calls {
	return &Calls{
		registry: r, config: terms.Config, before: terms.Before, prices: terms.Prices, pages: terms.Pages,
		asks: terms.Asked && terms.Config.AgentCyclesPerBlock > 0, answers: map[uint64]answer{},
	}
}

// Ask is what a timer asks for in this block: what its agent answered, or what its owner stated. Under overload the
// answer is in the record.
func (c *Calls) Ask(t *types.Timer, storm bool) policy.Ask {
	if !c.asks {
		return t.Bid.Ask()
	}
	quote := t.Quote
	if !storm {
		quote = c.answers[t.Seq].quote
	}
	if quote == nil {
		return t.Bid.Ask()
	}
	return quote.At(c.prices.Cell).Ask()
}

// CyclesFor is what the call for a timer took in this block.
func (c *Calls) CyclesFor(t *types.Timer) uint64 { return c.answers[t.Seq].cycles }

// AskAll calls the agents of the timers of the window, starting with the timer whose turn it is. It returns the timer
// to start with in the next block.
func (c *Calls) AskAll(ctx sdk.Context, timers []types.Timer) (turn types.QueueKey, err error) {
	if !c.asks || c.config.LanePaused {
		return types.QueueKey{}, nil
	}
	first := 0
	for first < len(timers) && timers[first].IsBefore(c.before.AgentTurn) {
		first++
	}
	for i := range timers {
		t := &timers[(first+i)%len(timers)]
		if asked, err := c.ask(ctx, t); err != nil {
			return turn, err
		} else if !asked && turn == (types.QueueKey{}) {
			turn = t.Key()
		}
	}
	return turn, nil
}

// Quote calls the agent of a timer that is admitted or swept under overload, and returns the quote under which the
// timer is to be indexed. If the agent can't be called in this block, that is the quote under which it is indexed now.
func (c *Calls) Quote(ctx sdk.Context, t *types.Timer) (*types.AgentQuote, error) {
	if !c.asks || c.config.LanePaused {
		return t.Quote, nil
	}
	asked, err := c.ask(ctx, t)
	if err != nil {
		return nil, err
	}
	quote := t.Quote
	if asked {
		quote = c.answers[t.Seq].quote
	}
	return quote.At(c.prices.Cell), nil
}

// ask calls the timer's agent, if it has one that was not called for it in this block. It returns false if the block
// has no cycles left for the call.
func (c *Calls) ask(ctx sdk.Context, t *types.Timer) (bool, error) {
	agent, err := c.agentOf(ctx, t)
	if err != nil || len(agent) == 0 {
		return true, err
	}
	if _, asked := c.answers[t.Seq]; asked {
		return true, nil
	}
	// An agent may itself query the order of the next block. That query calls no agents, so that calls do not nest.
	if sandbox.IsWithinFire(ctx) || c.Cycles+c.config.AgentCyclesPerCall > c.config.AgentCyclesPerBlock {
		c.Unasked++
		return false, nil
	}
	quote, cycles, failure := c.call(ctx, t, agent)
	c.Cycles += cycles
	c.answers[t.Seq] = answer{quote, cycles}
	// The meter of the end of a block has no limit; a query pays for the calls that it makes.
	ctx.GasMeter().ConsumeGas(cycles, "bidding agent")
	if failure == nil {
		return true, nil
	}
	event := &types.TimerAgentFailed{
		Id: t.IDHex(), Actor: c.registry.addresses.Text(t.Actor), Agent: c.registry.addresses.Text(agent),
	}
	event.Codespace, event.Code = types.CodeOf(failure)
	return true, types.Emit(ctx, event)
}

// agentOf is the agent that prices the timer: the one of its bid, or the actor's if it states no bid.
func (c *Calls) agentOf(ctx context.Context, t *types.Timer) (sdk.AccAddress, error) {
	if t.Bid != nil {
		if t.Bid.Agent == "" {
			return nil, nil
		}
		return c.registry.addresses.Parse("bid.agent", t.Bid.Agent)
	}
	page, err := c.pages.Get(ctx, t.Actor)
	return page.Agent, err
}

// call runs an agent on a branch of state that is dropped, with a meter of its own. It returns the agent's answer or
// error, and the cycles used.
func (c *Calls) call(
	ctx sdk.Context, t *types.Timer, agent sdk.AccAddress,
) (quote *types.AgentQuote, cycles uint64, failure error) {
	meter := sandbox.NewReadMeter(c.config.AgentCyclesPerCall-types.AgentBaseCycles, types.ErrAgentWrote)
	failure = sandbox.Probe(quoteContext(ctx), func(ctx sdk.Context) error {
		about := types.BidContext{
			TimerID: t.Id, Actor: t.Actor, Balance: c.balance(ctx, t.Actor),
			Due: t.Due, Height: types.HeightOf(ctx), Prices: c.prices, LastCycles: c.before.Cycles,
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
	return c.registry.bank.GetBalance(ctx, actor, c.config.FeeDenom).Amount
}

// quoteContext is a fresh context, like that of a handler: it has gas of its own, and timers can't be run in it.
func quoteContext(ctx sdk.Context) sdk.Context {
	infinite := storetypes.NewInfiniteGasMeter
	return sandbox.WithinFire(ctx).WithGasMeter(infinite()).WithBlockGasMeter(infinite()).WithTxBytes(nil)
}
