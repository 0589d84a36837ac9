package storecount_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/testutil"

	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
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

	for _, open := range []func(start, end []byte) (corestore.Iterator, error){store.Iterator, store.ReverseIterator} {
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

func TestEveryStoreAndBranchIsCountedOnce(t *testing.T) {
	keys := storetypes.NewKVStoreKeys("one", "two")
	base := testutil.DefaultContextWithKeys(keys, nil, nil)
	base.KVStore(keys["one"]).Set([]byte("k"), []byte{1})

	var read []string
	multi, counts := storecount.WrapMulti(base.MultiStore(), func(store string, key []byte) { read = append(read, store+"/"+string(key)) })
	ctx := base.WithMultiStore(multi)
	outer, keep := ctx.CacheContext()
	inner, keepInner := outer.CacheContext()
	require.Equal(t, []byte{1}, inner.KVStore(keys["one"]).Get([]byte("k")))
	inner.KVStore(keys["two"]).Set([]byte("a"), []byte{2})
	inner.KVStore(keys["two"]).Set([]byte("b"), []byte{2})
	keepInner()
	require.True(t, outer.KVStore(keys["two"]).Has([]byte("a")))
	outer.KVStore(keys["two"]).Delete([]byte("a"))
	keep()
	require.Equal(t, storecount.Counts{Gets: 1}, counts.Store("one"), "what branches read from below counts nothing")
	require.Equal(t, storecount.Counts{Gets: 1, Sets: 2, Deletes: 1}, counts.Store("two"))
	require.Equal(t, storecount.Counts{}, counts.Store("three"))
	require.False(t, base.KVStore(keys["two"]).Has([]byte("a")))
	require.True(t, base.KVStore(keys["two"]).Has([]byte("b")), "what is kept arrives below")

	for _, open := range []func(start, end []byte) storetypes.Iterator{
		ctx.KVStore(keys["two"]).Iterator, ctx.KVStore(keys["two"]).ReverseIterator,
	} {
		iterator := open([]byte("a"), []byte("z"))
		for ; iterator.Valid(); iterator.Next() {
			require.Equal(t, []byte("b"), iterator.Key())
		}
		require.NoError(t, iterator.Close())
	}
	require.Equal(t, storecount.Counts{Gets: 2, Sets: 2, Deletes: 1, Iterators: 2, Nexts: 2}, counts.All())
	require.Equal(t, []string{"one/k", "two/a", "two/b", "two/b"}, read)
}
