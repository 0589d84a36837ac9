package fees

import (
	"context"

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
// fails: while the fee market gives none, its last good prices hold, so that fires go on and are not free. The asking is
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
