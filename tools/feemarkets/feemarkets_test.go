// Package feemarkets_test runs the adapters of x/timers/fees on the fee markets themselves. It is a Go module of its own,
// so that no one inherits them.
package feemarkets_test

import (
	"testing"

	evmfeemarket "github.com/cosmos/evm/x/feemarket/keeper"
	evmtypes "github.com/cosmos/evm/x/feemarket/types"
	skipfeemarket "github.com/skip-mev/feemarket/x/feemarket/keeper"
	skiptypes "github.com/skip-mev/feemarket/x/feemarket/types"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/testutil"
	sdk "github.com/cosmos/cosmos-sdk/types"
	moduletestutil "github.com/cosmos/cosmos-sdk/types/module/testutil"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const denom = "uatom"

var authority = authtypes.NewModuleAddress("gov")

// prices asks a source as the module does.
func prices(t *testing.T, source types.BasefeeSource, ctx sdk.Context) (cycle, cell math.LegacyDec) {
	t.Helper()
	config := types.DefaultTimerConfig(denom)
	cycle, cell, err := source.Basefees(ctx, &config)
	require.NoError(t, err)
	require.NoError(t, fees.CheckBasefees(cycle, cell))
	require.Equal(t, cycle.MulInt64(30), cell)
	return cycle, cell
}

// TestSkip: the price follows the use of blocks, from the end of the block before.
func TestSkip(t *testing.T) {
	key, transient := storetypes.NewKVStoreKey(skiptypes.StoreKey), storetypes.NewTransientStoreKey("t")
	ctx := testutil.DefaultContext(key, transient)
	k := skipfeemarket.NewKeeper(moduletestutil.MakeTestEncodingConfig().Codec, key, nil, nil, authority.String())
	params, state := skiptypes.DefaultParams(), skiptypes.DefaultState()
	params.FeeDenom, params.Enabled = denom, true
	require.NoError(t, k.SetParams(ctx, params))
	require.NoError(t, k.SetState(ctx, state))

	source := fees.FromMinGasPrices(k)
	before, _ := prices(t, source, ctx)
	require.Equal(t, state.BaseGasPrice, before)
	require.NoError(t, state.Update(params.MaxBlockUtilization, params))
	require.NoError(t, k.SetState(ctx, state))
	same, _ := prices(t, source, ctx)
	require.Equal(t, before, same, "before its end blocker")
	require.NoError(t, k.UpdateFeeMarket(ctx))
	after, _ := prices(t, source, ctx)
	require.True(t, after.GT(before), "after it: %s, before %s", after, before)

	params.FeeDenom = "other"
	require.NoError(t, k.SetParams(ctx, params))
	config := types.DefaultTimerConfig(denom)
	_, _, err := source.Basefees(ctx, &config)
	require.ErrorIs(t, err, skiptypes.ErrResolverNotSet)
}

// TestEVM: the price is that of the block, from its beginning to its end, and the config's while there is none.
func TestEVM(t *testing.T) {
	key, transient := storetypes.NewKVStoreKey(evmtypes.StoreKey), storetypes.NewTransientStoreKey(evmtypes.TransientKey)
	ctx := testutil.DefaultContext(key, transient).WithBlockHeight(1).WithBlockGasMeter(storetypes.NewGasMeter(10_000_000))
	k := evmfeemarket.NewKeeper(moduletestutil.MakeTestEncodingConfig().Codec, authority, key, transient)
	require.NoError(t, k.SetParams(ctx, evmtypes.DefaultParams()))

	source := fees.FromBaseFee(k)
	before, _ := prices(t, source, ctx)
	require.Equal(t, evmtypes.DefaultParams().BaseFee, before)
	ctx.BlockGasMeter().ConsumeGas(9_000_000, "transactions")
	require.NoError(t, k.EndBlock(ctx))
	same, _ := prices(t, source, ctx)
	require.Equal(t, before, same, "before and after its end blocker")

	off := evmtypes.DefaultParams()
	off.NoBaseFee = true
	require.NoError(t, k.SetParams(ctx, off))
	config := types.DefaultTimerConfig(denom)
	cycle, _ := prices(t, source, ctx)
	require.Equal(t, config.CycleBasefee.LegacyDec, cycle)
}
