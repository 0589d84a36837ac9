package lab

import (
	"context"
	"crypto/sha256"
	"fmt"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// anyCellPrice is the largest price of a cell that there can be.
const anyCellPrice = 1_000_000_000_000_000_000

// agent is a scripted bidding agent: it spends cycles and answers with prices that the module may refuse.
type agent struct {
	cycles uint64
	answer types.AgentQuote
}

// address follows from what the agent does, so that a handler which is read back from a payload finds it.
func (a agent) address() sdk.AccAddress {
	sum := sha256.Sum256(fmt.Appendf(nil, "timers/scenario/agent/%d/%s/%s/%s",
		a.cycles, a.answer.MaxFeePerCycle, a.answer.MaxPriorityFeePerCycle, a.answer.MaxFeePerCell))
	return sum[:20]
}

// agent reads a bidding agent and makes it one of the scenario's. Without max_fee_per_cell it takes cells at any price.
func (p *parser) agent(v value) sdk.AccAddress {
	o := v.object()
	static := p.staticBid(o)
	a := agent{cycles: o.get("cycles").uint64(maxCycles), answer: types.AgentQuote{
		MaxFeePerCycle: static.MaxFeePerCycle, MaxPriorityFeePerCycle: static.MaxPriorityFeePerCycle,
		MaxFeePerCell: math.LegacyNewDec(anyCellPrice),
	}}
	if cell := o.get("max_fee_per_cell"); cell.present() {
		a.answer.MaxFeePerCell = cell.decimal()
	}
	o.end()
	address := a.address()
	p.scenario.agents[string(address)] = a
	return address
}

var _ types.Quoter = (*script)(nil)

// Quotes implements types.Quoter.
func (s *script) Quotes(_ context.Context, actor sdk.AccAddress) bool {
	_, known := s.agents[string(actor)]
	return known
}

// Quote implements types.Quoter.
func (s *script) Quote(ctx context.Context, actor sdk.AccAddress, _ types.BidContext) (types.AgentQuote, error) {
	a := s.agents[string(actor)]
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(a.cycles, "scenario")
	return a.answer, nil
}
