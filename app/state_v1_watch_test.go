package app_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// The first format kept watches by (store, prefix, seq), and one round for all of a prefix. This file converts them, as a
// migration has to: the owner is a part of the key, and an unfinished round starts again. Who has been notified by it is
// not made due a second time, since its changes no longer count for that timer.

// watchPairFromV1 converts a pair of the store.
func watchPairFromV1(t *testing.T, p pair) pair {
	t.Helper()
	switch {
	case bytes.HasPrefix(p.key, types.PrefixWatches.Bytes()):
		old := collections.TripleKeyCodec(collections.StringKey, collections.BytesKey, collections.Uint64Key)
		_, at, err := old.Decode(p.key[len(types.PrefixWatches.Bytes()):])
		require.NoError(t, err)
		key, err := collections.EncodeKeyWithPrefix(types.PrefixWatches.Bytes(),
			collections.QuadKeyCodec(collections.StringKey, collections.BytesKey, collections.BytesKey, collections.Uint64Key),
			collections.Join4(at.K1(), at.K2(), p.value, at.K3()))
		require.NoError(t, err)
		return pair{key, []byte{}}
	case bytes.HasPrefix(p.key, types.PrefixWatchPending.Bytes()):
		var pending types.WatchPending
		require.NoError(t, pending.Unmarshal(p.value))
		pendingFromV1(&pending)
		value, err := pending.Marshal()
		require.NoError(t, err)
		return pair{p.key, value}
	default:
		return p
	}
}

func pendingFromV1(pending *types.WatchPending) {
	for _, round := range []*types.WatchRound{&pending.Round, pending.Next} {
		if round == nil {
			continue
		}
		round.From, round.Since = 0, round.Height
		for _, change := range round.Changes {
			round.Since = min(round.Since, change.Height)
		}
	}
}
