package evmrpc

import (
	"testing"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/stretchr/testify/require"
)

// TestTrace_OfTheFirstBlockIsRefused: no state comes before it, and that of another height is not taken for it.
func TestTrace_OfTheFirstBlockIsRefused(t *testing.T) {
	c := chain(t)
	replay := replayer{c.App, c.EVM}
	c.Block()
	proposer := c.Ctx().BlockHeader().ProposerAddress
	block := func(height int64) *coretypes.ResultBlock {
		return &coretypes.ResultBlock{Block: &cmttypes.Block{
			Header: cmttypes.Header{Height: height, ProposerAddress: proposer},
		}}
	}
	_, err := replay.before(block(1), nil, nil)
	require.ErrorContains(t, err, "block 1 has no state before it")
	_, err = replay.before(block(2), nil, nil)
	require.NoError(t, err)
	_, err = replay.before(block(c.LastBlockHeight()+2), nil, nil)
	require.ErrorContains(t, err, "the state before block")
}
