package state

import (
	"context"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// ChargeWrite charges for writing a key and its value of so many bytes, as the store does. This and what follows is for records
// that are not stored one by one: so the same operation costs the same gas on all nodes, whatever it does to runs and chunks,
// before and after a merge, an export and an import.
func ChargeWrite(ctx context.Context, bytes int) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.WriteCostFlat, storetypes.GasWriteCostFlatDesc)
	ChargeWriteBytes(ctx, bytes)
}

// ChargeWriteBytes charges for bytes of a value that is written, and charged for, without them.
func ChargeWriteBytes(ctx context.Context, bytes int) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.WriteCostPerByte*uint64(bytes), storetypes.GasWritePerByteDesc)
}

// ChargeRead charges for reading a key and its value of so many bytes.
func ChargeRead(ctx context.Context, bytes int) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.ReadCostFlat, storetypes.GasReadCostFlatDesc)
	ChargeReadBytes(ctx, bytes)
}

// ChargeReadBytes charges for bytes of a value that is read, and charged for, without them.
func ChargeReadBytes(ctx context.Context, bytes int) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.ReadCostPerByte*uint64(bytes), storetypes.GasReadPerByteDesc)
}

// ChargeHas charges for asking whether a key is there.
func ChargeHas(ctx context.Context) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.HasCost, storetypes.GasHasDesc)
}

// ChargeRemove charges for removing a key.
func ChargeRemove(ctx context.Context) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.DeleteCost, storetypes.GasDeleteDesc)
}

// ChargeStep charges for an entry of a scan, whose key and value are of so many bytes.
func ChargeStep(ctx context.Context, bytes int) {
	prices, meter := gas(ctx)
	meter.ConsumeGas(prices.ReadCostPerByte*uint64(bytes), storetypes.GasValuePerByteDesc)
	meter.ConsumeGas(prices.IterNextCostFlat, storetypes.GasIterNextCostFlatDesc)
}

func gas(ctx context.Context) (storetypes.GasConfig, storetypes.GasMeter) {
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	return sdkCtx.KVGasConfig(), sdkCtx.GasMeter()
}
