package fees

import (
	"context"
	"errors"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// BasefeeSourceGas is the most gas that the chain's fee market may use for an answer. At the end of a block no one pays
// for it, so that it is small: a fee market reads a few values.
const BasefeeSourceGas = 200_000

// Basefees are the chain's prices of a cycle and of a cell, in fee denom.
type Basefees struct {
	Cycle, Cell math.LegacyDec
	// FromConfig: they are the config's. The chain has no fee market, or that has never given prices.
	FromConfig bool
	// Failure is why the fee market gave none; nil if it did. Then the prices are its last good ones, or the config's.
	Failure error
}

// AskBasefees asks the chain's fee market for its prices, given the lane's state after the previous block. It never
// fails: while the fee market gives none, its last good prices hold, so that fires continue and are not free. The asking is
// charged as gas of ctx.
func (f *Fees) AskBasefees(ctx context.Context, config *types.TimerConfig, last *types.LaneState) Basefees {
	fallback := Basefees{Cycle: config.CycleBasefee.LegacyDec, Cell: config.CellBasefee.LegacyDec, FromConfig: true}
	if f.Basefees == nil {
		return fallback
	}
	cycle, cell, failure := f.askSource(sdk.UnwrapSDKContext(ctx), config)
	if failure == nil {
		return Basefees{Cycle: cycle, Cell: cell}
	}
	if last.CycleBasefee != nil && last.CellBasefee != nil {
		fallback = Basefees{Cycle: *last.CycleBasefee, Cell: *last.CellBasefee}
	}
	fallback.Failure = failure
	return fallback
}

// askSource runs the fee market read-only: on a branch of state that is dropped, with a meter of its own.
func (f *Fees) askSource(ctx sdk.Context, config *types.TimerConfig) (cycle, cell math.LegacyDec, failure error) {
	meter := sandbox.NewReadMeter(min(BasefeeSourceGas, ctx.GasMeter().GasRemaining()), types.ErrInvalidBasefee)
	own := sandbox.WithinFire(ctx).WithGasMeter(meter).WithBlockGasMeter(storetypes.NewInfiniteGasMeter())
	failure = sandbox.Probe(own, func(ctx sdk.Context) (err error) {
		if cycle, cell, err = f.Basefees.Basefees(ctx, config); err != nil {
			return err
		}
		return CheckBasefees(cycle, cell)
	})
	if meter.Exceeded() != nil {
		failure = meter.Exceeded()
	}
	// If the gas of ctx did not suffice, this is where its owner runs out of it.
	ctx.GasMeter().ConsumeGas(meter.GasConsumed(), "basefee source")
	return cycle, cell, failure
}

// Keep puts the prices into the lane's state as the last good ones, unless the fee market failed. A chain without one
// keeps none.
func (b Basefees) Keep(lane *types.LaneState) {
	switch {
	case b.Failure != nil:
	case b.FromConfig:
		lane.CycleBasefee, lane.CellBasefee = nil, nil
	default:
		lane.CycleBasefee, lane.CellBasefee = &b.Cycle, &b.Cell
	}
}

// CheckBasefees returns types.ErrInvalidBasefee unless the prices of a fee market are within the bounds of the config's.
// Beyond them fires would be free, or no one could pay for one.
func CheckBasefees(cycle, cell math.LegacyDec) error {
	if err := types.ValidatePrice(types.ErrInvalidBasefee, "the price of a cycle", cycle); err != nil {
		return err
	}
	return types.ValidatePrice(types.ErrInvalidBasefee, "the price of a cell", cell)
}

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
