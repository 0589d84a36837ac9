package evmrpc

import (
	"context"
	"fmt"
	"testing"

	"github.com/cometbft/cometbft/crypto/ed25519"
	rpcclient "github.com/cometbft/cometbft/rpc/client"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/stretchr/testify/require"
)

// validators is a client of CometBFT that knows so many validators, and answers a page at a time.
type validators struct {
	rpcclient.Client
	all []*cmttypes.Validator
}

func (v validators) Validators(
	_ context.Context, height *int64, page, perPage *int,
) (*coretypes.ResultValidators, error) {
	from := (*page - 1) * *perPage
	if from >= len(v.all) {
		return nil, fmt.Errorf("page %d of block %d is out of range", *page, *height)
	}
	return &coretypes.ResultValidators{Validators: v.all[from:min(from+*perPage, len(v.all))]}, nil
}

// TestClient_CommitOfHasThePowerOfEachValidator, of all pages, and whether they signed. A commit of other validators
// than the node knows is refused.
func TestClient_CommitOfHasThePowerOfEachValidator(t *testing.T) {
	inner := validators{}
	block := &cmttypes.Block{Header: cmttypes.Header{Height: 9}, LastCommit: &cmttypes.Commit{Round: 3}}
	client := &Client{Client: &inner}
	commit, err := client.commitOf(t.Context(), block)
	require.NoError(t, err)
	require.Empty(t, commit.Votes)
	for i := range 201 {
		inner.all = append(inner.all, cmttypes.NewValidator(ed25519.GenPrivKey().PubKey(), int64(300-i)))
		flag := []cmttypes.BlockIDFlag{cmttypes.BlockIDFlagCommit, cmttypes.BlockIDFlagAbsent}[i%2]
		block.LastCommit.Signatures = append(block.LastCommit.Signatures, cmttypes.CommitSig{BlockIDFlag: flag})
	}
	commit, err = client.commitOf(t.Context(), block)
	require.NoError(t, err)
	require.EqualValues(t, 3, commit.Round)
	require.Len(t, commit.Votes, 201)
	for i, vote := range commit.Votes {
		require.EqualValues(t, 300-i, vote.Validator.Power)
		require.EqualValues(t, inner.all[i].Address, vote.Validator.Address)
		require.EqualValues(t, block.LastCommit.Signatures[i].BlockIDFlag, vote.BlockIdFlag)
	}
	known := inner.all
	inner.all = known[:150]
	_, err = client.commitOf(t.Context(), block)
	require.EqualError(t, err, "the validators of block 8: page 3 of block 8 is out of range")
	inner.all = append(known, known[0])
	_, err = client.commitOf(t.Context(), block)
	require.EqualError(t, err, "block 8 has 202 validators: want 201, as its commit has")
	inner.all = nil
	_, err = client.commitOf(t.Context(), block)
	require.Error(t, err)
}
