package types_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func someQuote() *types.AgentQuote {
	return &types.AgentQuote{
		MaxFeePerCycle: math.LegacyNewDec(3), MaxPriorityFeePerCycle: math.LegacyNewDec(1), MaxFeePerCell: math.LegacyNewDecWithPrec(5, 1),
	}
}

func TestAQuoteIsPricedOutWhileACellCostsMore(t *testing.T) {
	quote := someQuote()
	require.Equal(t, market.StatedAsk(quote.MaxFeePerCycle, quote.MaxPriorityFeePerCycle), quote.At(quote.MaxFeePerCell).Ask())
	pricier := quote.At(quote.MaxFeePerCell.Add(math.LegacySmallestDec()))
	require.Equal(t, market.Ask{Kind: market.CellPricedOut}, pricier.Ask())
	require.Equal(t, quote, pricier.At(quote.MaxFeePerCell), "it is not priced out for ever")
	require.Nil(t, (*types.AgentQuote)(nil).At(math.LegacyOneDec()))
}
