package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
)

// itself is a multistore that hands out itself where it is asked for a branch.
type itself struct{ storetypes.MultiStore }

func (m itself) CacheMultiStore() storetypes.CacheMultiStore {
	return m.MultiStore.(storetypes.CacheMultiStore)
}

// TestOf_IsABranchOfAMultistoreThatHasNone: what is written to it is not in the multistore until it is written back, and what
// it has read stays as it was read.
func TestOf_IsABranchOfAMultistoreThatHasNone(t *testing.T) {
	keys := keys()
	parent := itself{newRoot(keys).CacheMultiStore()}
	own := sandbox.BranchOf(parent)
	require.Equal(t, []byte{100, 2}, own.GetKVStore(keys[0]).Get([]byte{2}))
	own.GetKVStore(keys[0]).Set([]byte{4}, []byte("new"))
	parent.GetKVStore(keys[0]).Set([]byte{2}, []byte("later"))
	require.Equal(t, []byte{100, 2}, own.GetKVStore(keys[0]).Get([]byte{2}))
	require.Equal(t, []byte{100, 4}, parent.GetKVStore(keys[0]).Get([]byte{4}))

	within := own.CacheMultiStore()
	within.GetKVStore(keys[0]).Delete([]byte{4})
	require.Equal(t, []byte("new"), own.GetKVStore(keys[0]).Get([]byte{4}))

	own.Write()
	require.Equal(t, []byte("new"), parent.GetKVStore(keys[0]).Get([]byte{4}))
	require.Equal(t, []byte("later"), parent.GetKVStore(keys[0]).Get([]byte{2}))
}
