package evmbinding

import (
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/testutil"
)

// TestCounted_KeepsNothingOfADroppedBranch: the stores that it has opened show what was written to them and what branches wrote
// that were kept, and nothing of one that was dropped. What was dropped is no cell.
func TestCounted_KeepsNothingOfADroppedBranch(t *testing.T) {
	key, cells := storetypes.NewKVStoreKey("some"), uint64(0)
	c := newCounted(testutil.DefaultContext(key, storetypes.NewTransientStoreKey("other")).MultiStore(), &cells)
	opened := c.GetKVStore(key)
	opened.Set([]byte("a"), []byte("1"))
	require.Equal(t, uint64(2), cells)
	for _, keep := range []bool{false, true} {
		branch := c.CacheMultiStore()
		branch.GetKVStore(key).Set([]byte("a"), []byte("23"))
		branch.GetKVStore(key).Set([]byte("b"), []byte("4"))
		want, written := "1", uint64(2)
		if keep {
			branch.Write()
			want, written = "23", 2+3+2
		}
		for _, reader := range []storetypes.KVStore{opened, c.GetKVStore(key), c.CacheMultiStore().GetKVStore(key)} {
			require.Equal(t, want, string(reader.Get([]byte("a"))), "kept: %t", keep)
			require.Equal(t, keep, reader.Has([]byte("b")))
		}
		require.Equal(t, written, cells)
	}
}
