package conformance

import (
	"slices"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// roundTrip imports into a new chain what this one exports, by way of JSON, and holds that both continue alike for some blocks.
// The open block has no transactions yet.
func (h *history) roundTrip(blocks int) {
	h.t.Helper()
	genesis := h.export()
	var read types.GenesisState
	h.Codec.MustUnmarshalJSON(h.Codec.MustMarshalJSON(genesis), &read)
	require.NoError(h.t, h.Timers.ValidateGenesis(&read))
	opts := h.opts()
	opts.Genesis, opts.Height = &read, int64(h.Height())-1
	accounts := slices.Clone(opts.Balances)
	for i, account := range accounts {
		opts.Balances[i].Amount = h.balance(account.Address)
	}
	g := start(h.t, opts)
	g.refuse(h.refused)
	before, after := h.config(), g.config()
	require.True(h.t, before.Equal(&after), "a config that waits is in force in both: %v, %v", before, after)
	for range blocks {
		height := h.Height()
		want, got := h.block(), g.next()
		require.Equal(h.t, withoutParent(eventsOf[*types.TimerFired](h.t, want)), withoutParent(eventsOf[*types.TimerFired](h.t, got)))
		sameEvents[*types.TimerExpired](h, want, got)
		sameEvents[*types.TimerHeld](h, want, got)
		sameEvents[*types.TimerReleased](h, want, got)
		sameEvents[*types.TimerLaneSummary](h, want, got)
		for _, account := range accounts {
			require.Equal(h.t, h.balance(account.Address), g.balance(account.Address), "%s at height %d", account.Address, height)
		}
		require.Equal(h.t, h.stateWithoutParent(), g.stateWithoutParent(), "height %d", height)
	}
}

func sameEvents[T proto.Message](h *history, want, got sdk.Events) {
	h.t.Helper()
	require.Equal(h.t, eventsOf[T](h.t, want), eventsOf[T](h.t, got))
}

// withoutParent drops what names the parent block, whose hash differs between chains.
func withoutParent(fired []*types.TimerFired) []*types.TimerFired {
	for _, event := range fired {
		event.DeliverId = ""
	}
	return fired
}

// stateWithoutParent is the module's whole state, without what names the parent block.
func (c *chain) stateWithoutParent() string {
	genesis := c.export()
	for i := range genesis.Receipts {
		for j := range genesis.Receipts[i].Receipts {
			genesis.Receipts[i].Receipts[j].DeliverId = nil
		}
	}
	return string(c.Codec.MustMarshalJSON(genesis))
}
