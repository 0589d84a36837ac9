package keeper

import (
	"context"
	"fmt"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Bidding agents are asked at the end of a block what the timers that they price bid in it (SPEC §7): each timer's at most
// once a block, in the order of the queue, while AGENT_CYCLES_PER_BLOCK has room for another call. The rest compete with the
// default bid, and in the next block it is their turn first. In a storm, agents are asked when their timers are admitted, and
// by the sweep again; their timers lie in the ready index under the answer.
//
// A fire pays for the call that was made for it in its block, as cycles on top of its own, as far as its gas limit has room:
// never more than its pre-charge. Calls whose timers do not fire in their block are paid by nobody; AGENT_CYCLES_PER_BLOCK
// bounds them.

// agentCalls is what a block knows of bidding agents. Maps are looked up, never ranged over.
type agentCalls struct {
	// ofActor are the default agents that were looked up.
	ofActor map[string]sdk.AccAddress
	// answers of this block, by the timers' seq.
	answers map[uint64]agentAnswer
	// cycles of all calls. Invariant: at most AGENT_CYCLES_PER_BLOCK.
	cycles uint64
	// unasked counts timers for whose call nothing was left.
	unasked uint32
}

// agentAnswer is what came of one call.
type agentAnswer struct {
	// quote is nil if the agent failed: then the bid is the default one.
	quote  *types.AgentQuote
	cycles uint64
}

func newAgentCalls() agentCalls {
	return agentCalls{ofActor: map[string]sdk.AccAddress{}, answers: map[uint64]agentAnswer{}}
}

// read keeps what an actor's first page says of its agent, once that was read for its weight.
func (a *agentCalls) read(actor, unit sdk.AccAddress, page types.ActorPage) {
	if actor.Equals(unit) {
		a.ofActor[string(actor)] = page.Agent
	}
}

// askOf is what a timer asks for in this block: what its agent answered, or what its owner stated.
func (b *block) askOf(t *types.Timer) policy.Ask {
	if !b.config.AgentsAt(b.height) {
		return t.Bid.Ask()
	}
	quote := t.Quote
	if !b.storm {
		quote = b.agents.answers[t.Seq].quote
	}
	if quote == nil {
		return t.Bid.Ask()
	}
	return quote.At(b.prices.Cell).Ask()
}

// billedCycles is what a fire is billed for its handler's cycles: the intrinsic ones and those of its agent's call come on
// top, up to its gas limit, for which it was pre-charged.
func (b *block) billedCycles(t *types.Timer, handler uint64) uint64 {
	return min(handler+b.config.FireBaseCycles+b.agents.answers[t.Seq].cycles, t.GasLimit)
}

// askReady asks the agents of the timers in the window.
func (k *Keeper) askReady(ctx sdk.Context, b *block) error {
	b.state.AgentTurn = types.QueueKey{}
	if !b.config.AgentsAt(b.height) || b.config.LanePaused {
		return nil
	}
	first := 0
	for first < len(b.ready) && b.ready[first].IsBefore(b.before.AgentTurn) {
		first++
	}
	for i := range b.ready {
		t := &b.ready[(first+i)%len(b.ready)]
		if asked, err := k.ask(ctx, b, t); err != nil {
			return err
		} else if !asked && b.state.AgentTurn == (types.QueueKey{}) {
			b.state.AgentTurn = t.Key()
		}
	}
	return nil
}

// stormQuote asks the agent of a timer that is admitted or swept, and returns the quote with which it is to lie in the ready
// index. If the agent can't be asked in this block, that is the one with which it lies there.
func (k *Keeper) stormQuote(ctx sdk.Context, b *block, t *types.Timer) (*types.AgentQuote, error) {
	if !b.config.AgentsAt(b.height) || b.config.LanePaused {
		return t.Quote, nil
	}
	if b.prices.Lane.IsNil() {
		// The block's prices are fixed after collecting, from what was known before it.
		if err := k.setBasefee(ctx, b); err != nil {
			return nil, err
		}
	}
	asked, err := k.ask(ctx, b, t)
	if err != nil {
		return nil, err
	}
	quote := t.Quote
	if asked {
		quote = b.agents.answers[t.Seq].quote
	}
	return quote.At(b.prices.Cell), nil
}

// renew brings an admitted timer's weight and its agent's quote up to date.
func (k *Keeper) renew(ctx sdk.Context, b *block, t *types.Timer) error {
	if t.AdmittedWeight == 0 {
		return nil
	}
	at, err := k.quotedFiling(ctx, b, t)
	if err != nil || t.AdmittedWeight == at.weight && at.quote.Equal(t.Quote) {
		return err
	}
	return k.refile(ctx, t, at)
}

// withheld tells whether a cell costs more than the quote allows with which the timer lies in the ready index.
func (b *block) withheld(t *types.Timer) bool { return b.askOf(t).Kind == policy.Withheld }

// withhold files a timer anew for which cells have become too dear since it was filed, so that it does not stand in the way
// of those that fire.
func (k *Keeper) withhold(ctx sdk.Context, b *block, t *types.Timer) (bool, error) {
	if !b.withheld(t) {
		return false, nil
	}
	at := filingOf(t)
	at.quote = t.Quote.At(b.prices.Cell)
	return true, k.refile(ctx, t, at)
}

// ask asks the timer's agent, if it has one and was not asked in this block. False if the block has no cycles left for the
// call.
func (k *Keeper) ask(ctx sdk.Context, b *block, t *types.Timer) (bool, error) {
	agent, err := k.agentOf(ctx, b, t)
	if err != nil || len(agent) == 0 {
		return true, err
	}
	if _, asked := b.agents.answers[t.Seq]; asked {
		return true, nil
	}
	// An agent that asks for the order of the next block is not asked in turn.
	if isWithinFire(ctx) || b.agents.cycles+b.config.AgentCyclesPerCall > b.config.AgentCyclesPerBlock {
		b.agents.unasked++
		return false, nil
	}
	quote, cycles, failure := k.call(ctx, b, t, agent)
	b.agents.cycles += cycles
	b.agents.answers[t.Seq] = agentAnswer{quote, cycles}
	// At the end of a block nobody counts this; a query pays for the calls that it makes.
	ctx.GasMeter().ConsumeGas(cycles, "bidding agent")
	if failure == nil {
		return true, nil
	}
	event := &types.TimerAgentFailed{Id: t.IDHex(), Actor: k.bech32(t.Actor), Agent: k.bech32(agent)}
	event.Codespace, event.Code = codeOf(failure)
	return true, k.emit(ctx, event)
}

// agentOf is the agent that prices the timer: the one of its bid, or the actor's if it states no bid.
func (k *Keeper) agentOf(ctx context.Context, b *block, t *types.Timer) (sdk.AccAddress, error) {
	if t.Bid != nil {
		if t.Bid.Agent == "" {
			return nil, nil
		}
		return k.parseAddress("bid.agent", t.Bid.Agent)
	}
	if _, known := b.agents.ofActor[string(t.Actor)]; !known && b.weighs() {
		// As a rule it is read with the weight, which is needed too.
		k.weightOf(ctx, b, t.Actor)
	}
	if agent, known := b.agents.ofActor[string(t.Actor)]; known {
		return agent, nil
	}
	agent, err := k.AgentOf(ctx, t.Actor)
	b.agents.ofActor[string(t.Actor)] = agent
	return agent, err
}

// call asks an agent on a branch of state that is dropped, with a meter of its own, and returns its answer or why there is
// none, and the cycles that this took.
func (k *Keeper) call(
	ctx sdk.Context, b *block, t *types.Timer, agent sdk.AccAddress,
) (quote *types.AgentQuote, cycles uint64, failure error) {
	meter := newQuoteMeter(b.config.AgentCyclesPerCall - types.AgentBaseCycles)
	failure = probe(quoteContext(ctx), func(ctx sdk.Context) error {
		about := types.BidContext{
			TimerID: t.Id, Actor: t.Actor, Balance: k.bank.GetBalance(ctx, t.Actor, b.config.FeeDenom).Amount,
			Due: t.Due, Height: b.height, Prices: b.prices, LastCycles: b.before.Cycles,
		}
		ctx = ctx.WithGasMeter(meter)
		quoter, err := k.quoterOf(ctx, agent)
		if err != nil {
			return err
		}
		answer, err := quoter.Quote(ctx, agent, about)
		if err != nil {
			return err
		}
		answer.Withheld = false
		quote = &answer
		return answer.Validate()
	})
	if meter.exceeded != nil {
		failure = meter.exceeded
	}
	if failure != nil {
		quote = nil
	}
	return quote, types.AgentBaseCycles + meter.GasConsumedToLimit(), failure
}

// quoteContext is a fresh context, as a handler's is: nothing of anybody else's gas, and timers can't be run in it.
func quoteContext(ctx sdk.Context) sdk.Context {
	infinite := storetypes.NewInfiniteGasMeter
	return withinFire(ctx).WithGasMeter(infinite()).WithBlockGasMeter(infinite()).WithTxBytes(nil)
}

// quoteMeter meters the call of an agent, and refuses what the store charges for writing: an agent that tries has failed.
type quoteMeter struct {
	storetypes.GasMeter
	// exceeded is sticky: an agent that catches the panic of its meter fails all the same.
	exceeded error
}

func newQuoteMeter(limit uint64) *quoteMeter {
	return &quoteMeter{GasMeter: storetypes.NewGasMeter(limit)}
}

// ConsumeGas panics, as gas meters do, when the limit is passed, and at the first write.
func (m *quoteMeter) ConsumeGas(amount storetypes.Gas, descriptor string) {
	switch descriptor {
	case storetypes.GasWriteCostFlatDesc, storetypes.GasWritePerByteDesc, storetypes.GasDeleteDesc:
		m.exceeded = types.ErrAgentWrote
		panic(storetypes.ErrorOutOfGas{Descriptor: descriptor})
	}
	if m.exceeded == nil && amount > m.GasRemaining() {
		m.exceeded = types.ErrOutOfCycles
	}
	m.GasMeter.ConsumeGas(amount, descriptor)
}

func (m *quoteMeter) String() string {
	return fmt.Sprintf("quoteMeter: cycles %d of %d", m.GasConsumedToLimit(), m.Limit())
}
