package types

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// AgentBaseCycles are counted for every call of an agent, in addition to what it uses itself. Finding it, encoding the
// request and decoding the answer are work too.
const AgentBaseCycles = 5_000

// Quoter is a Runtime whose actors can be bidding agents. Both methods read state through ctx only and are
// metered by its gas meter; what Quote writes is dropped, and that it tried is a failure.
type Quoter interface {
	// Quotes reports whether the actor may be named as an agent.
	Quotes(ctx context.Context, agent sdk.AccAddress) bool
	// Quote asks the agent. After an error, a panic or an invalid answer the default bid is used.
	Quote(ctx context.Context, agent sdk.AccAddress, about BidContext) (AgentQuote, error)
}

// BidContext is the request to an agent: the timer that it prices, and the block.
type BidContext struct {
	TimerID []byte
	// Actor owns the timer; Balance is what it has, in units of the fee denom.
	Actor   sdk.AccAddress
	Balance math.Int
	// Due is the height at which the timer became due this time, Height the present one.
	Due, Height uint64
	// Prices of this block, in fee denom per cycle and per cell.
	Prices market.Prices
	// LastCycles is what the lane used in the block before.
	LastCycles uint64
}

// Validate checks that the answer's prices are there and within the bounds of prices.
func (q *AgentQuote) Validate() error {
	for _, price := range []struct {
		name  string
		value math.LegacyDec
	}{
		{"max_fee_per_cycle", q.MaxFeePerCycle},
		{"max_priority_fee_per_cycle", q.MaxPriorityFeePerCycle},
		{"max_fee_per_cell", q.MaxFeePerCell},
	} {
		if err := ValidatePrice(ErrInvalidQuote, price.name, price.value); err != nil {
			return err
		}
	}
	return nil
}

// Ask is what the answer asks of the lane, as it was filed.
func (q *AgentQuote) Ask() market.Ask {
	if q.CellPricedOut {
		return market.Ask{Kind: market.CellPricedOut}
	}
	return market.StatedAsk(q.MaxFeePerCycle, q.MaxPriorityFeePerCycle)
}

// At is the answer at a price of a cell, priced out if that is more than it allows.
func (q *AgentQuote) At(cell math.LegacyDec) *AgentQuote {
	if q == nil {
		return nil
	}
	at := *q
	at.CellPricedOut = cell.GT(q.MaxFeePerCell)
	return &at
}
