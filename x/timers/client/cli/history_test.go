package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtconfig "github.com/cometbft/cometbft/config"
	"github.com/cometbft/cometbft/libs/pubsub/query"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	blockindex "github.com/cometbft/cometbft/state/indexer/block/kv"
	txindex "github.com/cometbft/cometbft/state/txindex/kv"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// eventIndex is the event index of a node: CometBFT's own, and what its stores keep beside it.
type eventIndex struct {
	blocks *blockindex.BlockerIndexer
	txs    *txindex.TxIndex
	// results of the ends of blocks, ofTxs those of their transactions.
	results, ofTxs map[int64][]abci.Event
	// off is what a node without an index answers.
	off error
	// pruned blocks have no results any more.
	pruned int64
}

func newEventIndex() *eventIndex {
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
	return &eventIndex{blocks: blockindex.New(blocks), txs: txindex.NewTxIndex(txs), results: map[int64][]abci.Event{}, ofTxs: map[int64][]abci.Event{}}
}

// end ends the open block and indexes its events as a node does: those of its transactions, of which it makes one, and
// those of its end, which baseapp marks.
func (r *rig) end() error {
	ofTxs := len(r.chain.Ctx().EventManager().Events())
	height := int64(r.chain.Height())
	events, err := r.chain.EndBlock()
	if err != nil || r.node == nil {
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
	index := r.node.index
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

func (n *node) BlockSearch(ctx context.Context, text string, page, perPage *int, order string) (*coretypes.ResultBlockSearch, error) {
	if n.index.off != nil {
		return nil, n.index.off
	}
	q, err := query.New(text)
	require.NoError(n.rig.t, err, text)
	heights, err := n.index.blocks.Search(ctx, q)
	require.NoError(n.rig.t, err, text)
	require.Equal(n.rig.t, "desc", order)
	found := &coretypes.ResultBlockSearch{TotalCount: len(heights)}
	for i, j := 0, len(heights)-1; i < j; i, j = i+1, j-1 {
		heights[i], heights[j] = heights[j], heights[i]
	}
	for _, height := range pageOf(heights, page, perPage) {
		found.Blocks = append(found.Blocks, &coretypes.ResultBlock{Block: &cmttypes.Block{Header: cmttypes.Header{Height: height}}})
	}
	return found, n.ask()
}

func (n *node) TxSearch(
	ctx context.Context, text string, _ bool, page, perPage *int, order string,
) (*coretypes.ResultTxSearch, error) {
	q, err := query.New(text)
	require.NoError(n.rig.t, err, text)
	results, err := n.index.txs.Search(ctx, q)
	require.NoError(n.rig.t, err, text)
	require.Equal(n.rig.t, "desc", order)
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

func (n *node) BlockResults(_ context.Context, height *int64) (*coretypes.ResultBlockResults, error) {
	if *height <= n.index.pruned || *height < n.resultsFrom {
		return nil, fmt.Errorf("RPC error -32603 - Internal error: could not find results for height #%d", *height)
	}
	return &coretypes.ResultBlockResults{
		Height: *height, FinalizeBlockEvents: n.index.results[*height],
		TxsResults: []*abci.ExecTxResult{{Events: n.index.ofTxs[*height]}},
	}, n.ask()
}

// tell runs messages as a transaction in a block of their own.
func (r *rig) tell(msgs ...sdk.Msg) []*sdk.Result {
	r.t.Helper()
	require.NoError(r.t, r.chain.BeginBlock())
	results, _, err := r.chain.Tx(msgs...)
	require.NoError(r.t, err)
	require.NoError(r.t, r.end())
	return results
}

// repeating schedules a timer of alice's that repeats, and returns its id.
func (r *rig) repeating(every uint64) string {
	r.t.Helper()
	msg := &types.MsgScheduleTimer{
		Sender: r.alice, Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: every}},
		Payload: r.payload(r.send(r.alice, r.bob, 1)), GasLimit: 100_000,
	}
	response, ok := r.tell(msg)[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
	require.True(r.t, ok)
	return response.Id
}

// historyLines is the table that history prints, without its head, each line as its fields.
func (r *rig) historyLines(line ...string) (rows [][]string, notes string) {
	r.t.Helper()
	out, notes, err := r.run(append([]string{"query", "timers", "history"}, line...)...)
	require.NoError(r.t, err)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) > 1 {
		require.Equal(r.t, []string{"HEIGHT", "TIMER", "WHAT", "RESULT", "PAID", "NEXT", "DUE", "MORE"}, strings.Fields(lines[0]))
	}
	for _, text := range lines[1:] {
		rows = append(rows, strings.Fields(text))
	}
	return rows, notes
}

func TestHistoryOfOneTimerAndOfAnActor(t *testing.T) {
	r := newRig(t)
	id := r.repeating(3)                                                   // scheduled at 11: due at 14, 17, ...
	other := r.repeating(100)                                              // at 12
	r.blocks(6)                                                            // 13 to 18
	r.tell(&types.MsgPauseTimer{Sender: r.alice, Id: id})                  // 19
	r.tell(&types.MsgResumeTimer{Sender: r.alice, Id: id})                 // 20
	r.blocks(1)                                                            // 21
	r.tell(&types.MsgExtendTimer{Sender: r.alice, Id: id, ExpiresAt: 900}) // 22
	r.tell(&types.MsgCancelTimer{Sender: r.alice, Id: id})                 // 23

	rows, notes := r.historyLines("alice/" + id[:8])
	var got []string
	for _, row := range rows {
		require.Equal(t, id[:12], row[1])
		got = append(got, row[0]+" "+row[2])
	}
	require.Equal(t, []string{"23 cancelled", "22 extended", "21 fired", "20 released", "19 set", "17 fired", "14 fired", "11 scheduled"}, got)
	require.NotContains(t, notes, "older")
	require.Equal(t, []string{"17", id[:12], "fired", "ok", "75", "20"}, rows[5][:6])

	rows, _ = r.historyLines(r.alice)
	require.Len(t, rows, 9)
	require.Equal(t, []string{"12", other[:12], "scheduled"}, rows[7][:3])
	rows, _ = r.historyLines("alice/" + other)
	require.Len(t, rows, 1)
}

func TestHistoryIsPaged(t *testing.T) {
	r := newRig(t)
	id := r.repeating(1) // at 11; fires from 12 on
	r.blocks(30)         // to 41
	var heights []string
	before := ""
	for range 10 {
		line := []string{r.alice + "/" + id, "--limit", "7"}
		if before != "" {
			line = append(line, "--before", before)
		}
		rows, notes := r.historyLines(line...)
		for _, row := range rows {
			heights = append(heights, row[0]+" "+row[2])
		}
		_, after, more := strings.Cut(strings.TrimSpace(notes), "older: --before ")
		if !more {
			break
		}
		before = after
	}
	var want []string
	for height := 41; height > 11; height-- {
		want = append(want, fmt.Sprintf("%d fired", height))
	}
	require.Equal(t, append(want, "11 scheduled"), heights, "nothing twice, nothing left out")
}

func TestHistoryAsJSON(t *testing.T) {
	r := newRig(t)
	id := r.repeating(3)
	r.blocks(3)
	out, _, err := r.run("query", "timers", "history", r.alice, "--output", "json")
	require.NoError(t, err)
	var printed struct {
		Events []struct {
			Height int64
			Timer  string
			Type   string
			Event  map[string]any
		}
		NextBefore int64 `json:"next_before"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &printed), out)
	require.Len(t, printed.Events, 2)
	require.Equal(t, "TimerFired", printed.Events[0].Type)
	require.Equal(t, id, printed.Events[0].Timer)
	require.Equal(t, true, printed.Events[0].Event["success"])
	require.Zero(t, printed.NextBefore)

	out, notes, err := r.run("query", "timers", "history", r.bob)
	require.NoError(t, err)
	require.Empty(t, out)
	require.Contains(t, notes, "nothing is found")
}

func TestHistorySaysWhatTheNodeLacks(t *testing.T) {
	r := newRig(t)
	r.repeating(2)
	r.blocks(5)
	r.node.index.pruned = 14
	_, _, err := r.run("query", "timers", "history", "alice")
	require.ErrorContains(t, err, "the events of block 13")
	require.ErrorContains(t, err, "it may have pruned them")
	for _, answer := range []string{
		"block indexing is disabled", "transaction indexing is disabled", "block search is not supported via the postgres event sink",
	} {
		r.node.index.off = fmt.Errorf("error in json rpc client: %s", answer)
		_, _, err = r.run("query", "timers", "history", "alice")
		require.ErrorContains(t, err, "this node keeps no event index that can be searched")
		require.ErrorContains(t, err, "--node")
	}
	r.node.index.off = fmt.Errorf("timed out")
	_, _, err = r.run("query", "timers", "history", "alice")
	require.ErrorContains(t, err, "search the node's event index: timed out")
	for name, line := range map[string][]string{
		`"carol" is neither an address`:          {"carol"},
		"want ACTOR or ACTOR/ID-PREFIX":          {"alice/xyz"},
		"--limit 0 is out of bounds":             {"alice", "--limit", "0"},
		"--limit 101 is out of bounds":           {"alice", "--limit", "101"},
		"invalid argument \"-1\" for \"--before": {"alice", "--before", "-1"},
	} {
		_, _, err := r.run(append([]string{"query", "timers", "history"}, line...)...)
		require.ErrorContains(t, err, name)
	}
}
