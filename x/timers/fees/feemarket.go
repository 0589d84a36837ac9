package fees

import (
	"context"
	"errors"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// ErrNoPrice is why a fee market that answered has no price: then its last good prices hold.
var ErrNoPrice = errors.New("the fee market has no price of gas in the fee denom")

// MinGasPrices is a fee market that has a least price of gas in a denom. The keeper of skip-mev's x/feemarket is one.
type MinGasPrices interface {
	GetMinGasPrice(ctx sdk.Context, denom string) (sdk.DecCoin, error)
}

// FromMinGasPrices adapts a fee market with prices in denoms. It is asked for that in the fee denom, so that a fee market
// with another denom of its own needs a resolver that knows both.
func FromMinGasPrices(market MinGasPrices) types.BasefeeSource { return minGasPrices{market} }

type minGasPrices struct{ market MinGasPrices }

// Basefees implements types.BasefeeSource.
func (m minGasPrices) Basefees(ctx context.Context, config *types.TimerConfig) (cycle, cell math.LegacyDec, err error) {
	price, err := m.market.GetMinGasPrice(sdk.UnwrapSDKContext(ctx), config.FeeDenom)
	if err != nil {
		return math.LegacyDec{}, math.LegacyDec{}, err
	}
	if price.Denom != config.FeeDenom || price.Amount.IsNil() {
		return math.LegacyDec{}, math.LegacyDec{}, ErrNoPrice
	}
	return price.Amount, ofCell(price.Amount), nil
}

// BaseFee is a fee market with one price of gas. The keeper of cosmos/evm's x/feemarket is one.
type BaseFee interface {
	// GetBaseFee returns the price of gas, or a nil decimal while the chain has none.
	GetBaseFee(ctx sdk.Context) math.LegacyDec
}

// FromBaseFee adapts a fee market with one price of gas, which is in the fee denom of timers: the denom of the EVM. While
// the chain has turned the base fee off, the config's prices hold.
func FromBaseFee(market BaseFee) types.BasefeeSource { return baseFee{market} }

type baseFee struct{ market BaseFee }

// Basefees implements types.BasefeeSource.
func (m baseFee) Basefees(ctx context.Context, config *types.TimerConfig) (cycle, cell math.LegacyDec, err error) {
	price := m.market.GetBaseFee(sdk.UnwrapSDKContext(ctx))
	if price.IsNil() {
		return config.CycleBasefee.LegacyDec, config.CellBasefee.LegacyDec, nil
	}
	return price, ofCell(price), nil
}

// ofCell is the price of a cell, given that of gas.
func ofCell(gas math.LegacyDec) math.LegacyDec {
	return gas.MulInt64(int64(storetypes.KVGasConfig().WriteCostPerByte))
}
