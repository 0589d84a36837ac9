package keeper

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/types/module/testutil"

	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// newSchemaKeeper wires a keeper for the sake of its schema.
func newSchemaKeeper(t *testing.T) *Keeper {
	t.Helper()
	cdc := testutil.MakeTestEncodingConfig().Codec
	service := runtime.NewKVStoreService(storetypes.NewKVStoreKey(types.StoreKey))
	k := &Keeper{}
	k.wire(cdc, collections.NewSchemaBuilder(service), &fees.Fees{}, nil, schemaGuests())
	return k
}

// Rule: 1.7-activation, 1.7-gas-limit-cap
func TestFifoIsInForceUntilEIP1559Starts(t *testing.T) {
	policies := newSchemaKeeper(t).engine.Policies
	c := types.DefaultTimerConfig("stake")
	c.Eip1559.AuctionActivationHeight = 10
	require.Equal(t, types.PolicyFIFO, policies.At(&c, 10).ID(), "up to and including the height")
	require.Equal(t, types.PolicyEIP1559, policies.At(&c, 11).ID())
	require.Equal(t, c.MaxCyclesPerFire, policies.GasCap(&c, 10))
	require.Equal(t, c.Eip1559.MaxCyclesPerFireAuction, policies.GasCap(&c, 11))
	for _, selected := range policies.All() {
		if c.Policy = selected.ID(); c.Policy == types.PolicyEIP1559 {
			continue
		}
		require.Equal(t, c.Policy, policies.At(&c, 1).ID(), "it is eip1559's activation")
		require.Equal(t, c.MaxCyclesPerFire, policies.GasCap(&c, 1))
	}
}

// Rule: 1.2-gas-limit
func TestRunnableNeedsACycleOverTheIntrinsicOnes(t *testing.T) {
	policies := newSchemaKeeper(t).engine.Policies
	c := types.DefaultTimerConfig("stake")
	c.Eip1559.AuctionActivationHeight = 1
	runs := func(height, gasLimit uint64) bool {
		return policies.At(&c, height).Traits(&c).Runs(gasLimit, 0, c.MaxCellsPerFire)
	}
	for gasLimit, want := range map[uint64]bool{
		0: false, 19_999: false, 20_000: false, 20_001: true, 550_000: true, 550_001: false, 1<<64 - 1: false,
	} {
		require.Equal(t, want, runs(1, gasLimit), "%d", gasLimit)
	}
	require.Equal(t, uint64(250_000), policies.DefaultGasLimit(&c, 1), "fifo is in force, and eip1559 will be")
	require.True(t, runs(2, 250_000))
	require.False(t, runs(2, 250_001))
}

func TestAPolicyThatNoBinaryKnowsIsRefused(t *testing.T) {
	policies := newSchemaKeeper(t).engine.Policies
	c := types.DefaultTimerConfig("stake")
	require.NoError(t, policies.Validate(&c))
	c.Policy = types.FirstCustomPolicy
	require.NoError(t, c.Validate(), "its form is that of a policy which a chain brings along")
	require.ErrorIs(t, policies.Validate(&c), types.ErrInvalidConfig)
	require.Equal(t, types.PolicyFIFO, policies.At(&c, 1).ID(), "a state that names it still runs")
}
