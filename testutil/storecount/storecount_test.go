package storecount_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/testutil"

	"github.com/cosmos-timers/timers/testutil/storecount"
)

func TestEveryOperationIsCounted(t *testing.T) {
	key := storetypes.NewKVStoreKey("counted")
	service, counts := storecount.Wrap(runtime.NewKVStoreService(key))
	ctx := testutil.DefaultContext(key, storetypes.NewTransientStoreKey("transient"))
	store := service.OpenKVStore(ctx)

	for _, k := range []string{"a", "b", "c"} {
		require.NoError(t, store.Set([]byte(k), []byte{1}))
	}
	require.NoError(t, store.Delete([]byte("c")))
	require.Equal(t, storecount.Counts{Sets: 3, Deletes: 1}, *counts)
	require.Equal(t, 4, counts.Writes())
	require.Equal(t, 0, counts.Reads())

	counts.Reset()
	value, err := store.Get([]byte("a"))
	require.NoError(t, err)
	require.Equal(t, []byte{1}, value)
	has, err := store.Has([]byte("c"))
	require.NoError(t, err)
	require.False(t, has)
	require.Equal(t, storecount.Counts{Gets: 2}, counts.Take())

	for _, open := range []func(start, end []byte) (storetypes.Iterator, error){store.Iterator, store.ReverseIterator} {
		iterator, err := open(nil, nil)
		require.NoError(t, err)
		for ; iterator.Valid(); iterator.Next() {
			require.NotEmpty(t, iterator.Key())
		}
		require.NoError(t, iterator.Close())
		require.Equal(t, storecount.Counts{Iterators: 1, Nexts: 2}, *counts)
		require.Equal(t, 3, counts.Reads())
		counts.Reset()
	}
	empty, err := store.Iterator([]byte("x"), []byte("y"))
	require.NoError(t, err)
	require.NoError(t, empty.Close())
	require.Equal(t, storecount.Counts{Iterators: 1}, counts.Take())
}
