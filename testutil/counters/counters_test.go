package counters_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/runtime"

	"github.com/cosmos-timers/timers/testutil/counters"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestACounterCounts(t *testing.T) {
	key := storetypes.NewKVStoreKey(counters.StoreKey)
	clicks := counters.New(runtime.NewKVStoreService(key))
	counter := counters.Address("visitors")
	chain, err := lab.NewChain(lab.ChainOptions{
		Stores: []*storetypes.KVStoreKey{key}, Runtimes: []types.Runtime{clicks},
		Balances: []lab.Balance{{Address: counter, Amount: math.NewInt(1_000_000)}},
	})
	require.NoError(t, err)
	require.NoError(t, chain.BeginBlock())
	add := func(n uint64) keeper.ScheduleRequest {
		return keeper.ScheduleRequest{
			Actor: counter, Spec: types.TimerSpec{
				GasLimit: 100_000, Call: types.TimerCall{Payload: binary.BigEndian.AppendUint64(nil, n)},
				Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 2}}, Repeat: &types.Repeat{Remaining: 3},
			},
		}
	}
	require.NoError(t, clicks.Create(chain.Ctx(), "visitors"))
	_, err = chain.Timers.Schedule(chain.Ctx(), add(5))
	require.NoError(t, err)
	bad := add(5)
	bad.Spec.Call.Payload = []byte("five")
	_, err = chain.Timers.Schedule(chain.Ctx(), bad)
	require.ErrorIs(t, err, types.ErrInvalidPayload)
	bad = add(5)
	bad.Spec.Call.Handler = "subtract"
	_, err = chain.Timers.Schedule(chain.Ctx(), bad)
	require.ErrorIs(t, err, types.ErrInvalidHandler)
	bad = add(5)
	bad.Actor = counters.Address("nobody made it")
	_, err = chain.Timers.Schedule(chain.Ctx(), bad)
	require.ErrorIs(t, err, types.ErrUnknownActor)

	var stands []uint64
	for range 9 {
		_, err := chain.EndBlock()
		require.NoError(t, err)
		require.NoError(t, chain.Check())
		count, _, err := clicks.Count(chain.Ctx(), counter)
		require.NoError(t, err)
		stands = append(stands, count)
		require.NoError(t, chain.BeginBlock())
	}
	require.Equal(t, []uint64{0, 0, 5, 5, 10, 10, 15, 15, 15}, stands)
}
