package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// The first format kept a page for each actor, with its timers, its recent fires and its default agent. This file keeps
// the agent. What else was there is derived, as a migration has to.

const (
	// pagesV1 is the region of the pages: (actor, number) → page.
	pagesV1 = 6
	// agentV1 is the field of a page that names the agent.
	agentV1 = 4
)

// actorPairFromV1 converts a pair of the store, if it is an actor's page. It is dropped if it names no agent.
func actorPairFromV1(t *testing.T, p pair) (converted pair, stays bool) {
	t.Helper()
	if p.key[0] != pagesV1 {
		return p, true
	}
	_, at, err := collections.PairKeyCodec(sdk.AccAddressKey, collections.Uint16Key).Decode(p.key[1:])
	require.NoError(t, err)
	for rest := p.value; len(rest) > 0; {
		number, kind, n := protowire.ConsumeField(rest)
		require.Positive(t, n)
		if number == agentV1 {
			require.Equal(t, protowire.BytesType, kind)
			_, _, tag := protowire.ConsumeTag(rest)
			agent, _ := protowire.ConsumeBytes(rest[tag:])
			return pair{append(types.PrefixAgents.Bytes(), at.K1()...), agent}, true
		}
		rest = rest[n:]
	}
	return pair{}, false
}
