package clienttest

import (
	"context"
	"fmt"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtconfig "github.com/cometbft/cometbft/config"
	"github.com/cometbft/cometbft/libs/pubsub/query"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	blockindex "github.com/cometbft/cometbft/state/indexer/block/kv"
	txindex "github.com/cometbft/cometbft/state/txindex/kv"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/stretchr/testify/require"
)

// EventIndex is the event index of a node: CometBFT's own, and what its stores keep in addition.
type EventIndex struct {
	blocks *blockindex.BlockerIndexer
	txs    *txindex.TxIndex
	// results of the ends of blocks, ofTxs those of their transactions.
	results, ofTxs map[int64][]abci.Event
	// Off is what a node without an index answers.
	Off error
	// Pruned is the last height whose results are gone.
	Pruned int64
}

func newEventIndex() *EventIndex {
	config := cmtconfig.TestConfig()
	config.DBBackend = "memdb"
	blocks, err := cmtconfig.DefaultDBProvider(&cmtconfig.DBContext{ID: "blocks", Config: config})
	if err != nil {
		panic(err)
	}
	txs, err := cmtconfig.DefaultDBProvider(&cmtconfig.DBContext{ID: "txs", Config: config})
	if err != nil {
		panic(err)
	}
	return &EventIndex{blocks: blockindex.New(blocks), txs: txindex.NewTxIndex(txs), results: map[int64][]abci.Event{}, ofTxs: map[int64][]abci.Event{}}
}

// End ends the open block and indexes its events as a node does: those of its transactions, of which it makes one, and
// those of its end, which baseapp marks.
func (r *Rig) End() error {
	ofTxs := len(r.Chain.Ctx().EventManager().Events())
	height := int64(r.Chain.Height())
	events, err := r.Chain.EndBlock()
	if err != nil || r.Node == nil {
		return err
	}
	all := events.ToABCIEvents()
	for i := range all {
		for j := range all[i].Attributes {
			all[i].Attributes[j].Index = true
		}
		if i >= ofTxs {
			all[i].Attributes = append(all[i].Attributes, abci.EventAttribute{Key: "mode", Value: "EndBlock", Index: true})
		} else {
			all[i].Attributes = append(all[i].Attributes, abci.EventAttribute{Key: "msg_index", Value: "0", Index: true})
		}
	}
	index := r.Node.Index
	if ofTxs > 0 {
		tx := &abci.TxResult{Height: height, Tx: fmt.Append(nil, height), Result: abci.ExecTxResult{Events: all[:ofTxs]}}
		if err := index.txs.Index(tx); err != nil {
			return err
		}
	}
	index.results[height], index.ofTxs[height] = all[ofTxs:], all[:ofTxs]
	return index.blocks.Index(cmttypes.EventDataNewBlockEvents{Height: height, Events: all[ofTxs:]})
}

func pageOf[T any](all []T, page, perPage *int) []T {
	from := min((*page-1)**perPage, len(all))
	return all[from:min(from+*perPage, len(all))]
}

// BlockSearch implements client.CometRPC.
func (n *Node) BlockSearch(ctx context.Context, text string, page, perPage *int, order string) (*coretypes.ResultBlockSearch, error) {
	if n.Index.Off != nil {
		return nil, n.Index.Off
	}
	q, err := query.New(text)
	require.NoError(n.rig.T, err, text)
	heights, err := n.Index.blocks.Search(ctx, q)
	require.NoError(n.rig.T, err, text)
	require.Equal(n.rig.T, "desc", order)
	found := &coretypes.ResultBlockSearch{TotalCount: len(heights)}
	for i, j := 0, len(heights)-1; i < j; i, j = i+1, j-1 {
		heights[i], heights[j] = heights[j], heights[i]
	}
	for _, height := range pageOf(heights, page, perPage) {
		found.Blocks = append(found.Blocks, &coretypes.ResultBlock{Block: &cmttypes.Block{Header: cmttypes.Header{Height: height}}})
	}
	return found, n.ask()
}

// TxSearch implements client.CometRPC.
func (n *Node) TxSearch(
	ctx context.Context, text string, _ bool, page, perPage *int, order string,
) (*coretypes.ResultTxSearch, error) {
	q, err := query.New(text)
	require.NoError(n.rig.T, err, text)
	results, err := n.Index.txs.Search(ctx, q)
	require.NoError(n.rig.T, err, text)
	require.Equal(n.rig.T, "desc", order)
	found := &coretypes.ResultTxSearch{TotalCount: len(results)}
	for i := range results {
		result := results[len(results)-1-i]
		found.Txs = append(found.Txs, &coretypes.ResultTx{
			Hash: cmttypes.Tx(result.Tx).Hash(), Height: result.Height, TxResult: result.Result,
		})
	}
	found.Txs = pageOf(found.Txs, page, perPage)
	return found, n.ask()
}

// BlockResults implements client.CometRPC.
func (n *Node) BlockResults(_ context.Context, height *int64) (*coretypes.ResultBlockResults, error) {
	if *height <= n.Index.Pruned || *height < n.ResultsFrom {
		return nil, fmt.Errorf("RPC error -32603 - Internal error: could not find results for height #%d", *height)
	}
	of := &abci.ExecTxResult{Events: n.Index.ofTxs[*height]}
	for _, result := range n.included {
		if result.Height == *height {
			of = &result.TxResult
		}
	}
	return &coretypes.ResultBlockResults{
		Height: *height, FinalizeBlockEvents: n.Index.results[*height], TxsResults: []*abci.ExecTxResult{of},
	}, n.ask()
}
