package fees_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// market answers as both kinds of fee market do.
type market struct {
	price math.LegacyDec
	denom string
	err   error
}

func (m market) GetMinGasPrice(_ sdk.Context, denom string) (sdk.DecCoin, error) {
	if m.denom != "" {
		denom = m.denom
	}
	return sdk.DecCoin{Denom: denom, Amount: m.price}, m.err
}

func (m market) GetBaseFee(sdk.Context) math.LegacyDec { return m.price }

func TestACellCostsWhatItsBytesDo(t *testing.T) {
	config := types.DefaultTimerConfig("uatom")
	for name, source := range map[string]types.BasefeeSource{
		"min gas prices": fees.FromMinGasPrices(market{price: math.LegacyNewDecWithPrec(25, 4)}),
		"base fee":       fees.FromBaseFee(market{price: math.LegacyNewDecWithPrec(25, 4)}),
	} {
		cycle, cell, err := source.Basefees(sdk.Context{}, &config)
		require.NoError(t, err, name)
		require.Equal(t, "0.002500000000000000", cycle.String(), name)
		require.Equal(t, "0.075000000000000000", cell.String(), name)
		require.NoError(t, fees.CheckBasefees(cycle, cell), name)
	}
}

func TestAMarketWithoutAPrice(t *testing.T) {
	config := types.DefaultTimerConfig("uatom")
	broken := errors.New("no resolver")
	_, _, err := fees.FromMinGasPrices(market{err: broken}).Basefees(sdk.Context{}, &config)
	require.ErrorIs(t, err, broken)
	for _, m := range []market{{}, {price: math.LegacyOneDec(), denom: "other"}} {
		_, _, err = fees.FromMinGasPrices(m).Basefees(sdk.Context{}, &config)
		require.ErrorIs(t, err, fees.ErrNoPrice)
	}
	cycle, cell, err := fees.FromBaseFee(market{}).Basefees(sdk.Context{}, &config)
	require.NoError(t, err)
	require.Equal(t, config.CycleBasefee.LegacyDec, cycle)
	require.Equal(t, config.CellBasefee.LegacyDec, cell)
}
