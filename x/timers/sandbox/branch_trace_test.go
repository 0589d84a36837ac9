package sandbox_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/store/cachemulti"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
)

// TestATracedBranchTracesAsTheSDKs: the same operations, in the same order but for the order of stores that a write back
// of the SDK's takes at random.
func TestATracedBranchTracesAsTheSDKs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, traces := newMachine(), [2]*bytes.Buffer{{}, {}}
		first := m.pairs[1]
		first.sdk = first.sdk.SetTracer(traces[0]).SetTracingContext(storetypes.TraceContext{"height": 7})
		first.own = first.own.SetTracer(traces[1]).SetTracingContext(storetypes.TraceContext{"height": 7})
		actions := m.actions()
		delete(actions, "open a scan")
		delete(actions, "go on scanning")
		// Of one store, so that the order is determined.
		m.keys = m.keys[:1]
		first.sdk.CacheMultiStore().GetKVStore(m.keys[0]).Get([]byte{2})
		first.own.CacheMultiStore().GetKVStore(m.keys[0]).Get([]byte{2})
		require.NotEmpty(t, traces[0].String())
		t.Repeat(actions)
		require.Equal(t, traces[0].String(), traces[1].String())
		m.finish(t)
	})
}

func TestAMultistoreThatTracesBranchesByItself(t *testing.T) {
	sdk := newRoot(keys()).CacheMultiStore()
	require.IsType(t, cachemulti.Store{}, sandbox.NewBranch(sdk.SetTracer(&bytes.Buffer{})))
}
