package storecount_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"
	"cosmossdk.io/collections/colltest"

	"github.com/cosmos-timers/timers/testutil/storecount"
)

func TestCountsEveryKindOfOperation(t *testing.T) {
	service, ctx := colltest.MockStore()
	wrapped, counts := storecount.Wrap(service)
	items := collections.NewMap(collections.NewSchemaBuilder(wrapped), collections.NewPrefix(1), "items", collections.Uint64Key, collections.Uint64Value)
	for i := range uint64(3) {
		require.NoError(t, items.Set(ctx, i, i))
	}
	require.Equal(t, storecount.Counts{Sets: 3}, *counts)

	before := *counts
	_, err := items.Get(ctx, 1)
	require.NoError(t, err)
	has, err := items.Has(ctx, 9)
	require.NoError(t, err)
	require.False(t, has)
	require.NoError(t, items.Remove(ctx, 2))
	require.Equal(t, storecount.Counts{Gets: 1, Has: 1, Deletes: 1}, counts.Since(before))

	before = *counts
	walk(ctx, t, items, nil)
	walk(ctx, t, items, new(collections.Range[uint64]).Descending())
	walked := counts.Since(before)
	require.Equal(t, storecount.Counts{Iterators: 2, Nexts: 4}, walked)
	require.Equal(t, 4, walked.Reads())
	require.Equal(t, 6, walked.Total())
}

func walk(ctx context.Context, t *testing.T, items collections.Map[uint64, uint64], ranger collections.Ranger[uint64]) {
	t.Helper()
	var seen []uint64
	require.NoError(t, items.Walk(ctx, ranger, func(key, _ uint64) (bool, error) {
		seen = append(seen, key)
		return false, nil
	}))
	require.ElementsMatch(t, []uint64{0, 1}, seen)
}
