package history_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	cmtlog "github.com/cometbft/cometbft/libs/log"
	rpchttp "github.com/cometbft/cometbft/rpc/client/http"
	"github.com/cometbft/cometbft/rpc/core"
	rpcserver "github.com/cometbft/cometbft/rpc/jsonrpc/server"
	blocknull "github.com/cometbft/cometbft/state/indexer/block/null"
	txnull "github.com/cometbft/cometbft/state/txindex/null"
	"github.com/stretchr/testify/require"
)

// TestHistoryOfANodeWithoutAnIndex asks CometBFT's own RPC, over HTTP, with the indexer of `indexer = "null"`.
//
// Rule: 9.1-history
func TestHistoryOfANodeWithoutAnIndex(t *testing.T) {
	environment := &core.Environment{BlockIndexer: &blocknull.BlockerIndexer{}, TxIndexer: &txnull.TxIndex{}}
	routes := environment.GetRoutes()
	mux := http.NewServeMux()
	rpcserver.RegisterRPCFuncs(mux, map[string]*rpcserver.RPCFunc{
		"block_search": routes["block_search"], "tx_search": routes["tx_search"],
	}, cmtlog.NewNopLogger())
	server := httptest.NewServer(mux)
	defer server.Close()
	client, err := rpchttp.New(server.URL, "/websocket")
	require.NoError(t, err)

	r := newRig(t)
	r.repeating(2)
	page := 1
	_, ofBlocks := client.BlockSearch(context.Background(), "a.b='c'", &page, &page, "desc")
	_, ofTxs := client.TxSearch(context.Background(), "a.b='c'", false, &page, &page, "desc")
	for _, answer := range []error{ofBlocks, ofTxs} {
		require.Error(t, answer)
		r.Node.Index.Off = answer
		out, _, err := r.Run("query", "timers", "history", "alice")
		require.Empty(t, out)
		require.ErrorContains(t, err, `this node keeps no event index that can be searched (indexer in the section tx_index of its config.toml is not "kv"): `+
			"ask another with --node: ")
	}
}
