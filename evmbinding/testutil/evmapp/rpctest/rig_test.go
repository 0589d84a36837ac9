// Package rpctest has the tests of evmrpc that need a chain: its Go module is that of the chain.
package rpctest

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	rpcclient "github.com/cometbft/cometbft/rpc/client"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"

	"github.com/cosmos-timers/timers/evmbinding/evmrpc"
	"github.com/cosmos-timers/timers/evmbinding/testutil/evmapp"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// firedEvent is the event of x/timers for each fire.
var firedEvent = proto.MessageName(&timerstypes.TimerFired{})

var (
	alice   = evmapp.AccountOf("alice")
	bob     = evmapp.AccountOf("bob")
	chainID = new(big.Int).SetUint64(evmapp.EVMChainID)
	// shared is one chain for all tests: x/vm allows one in a process.
	shared *evmapp.Chain
)

func chain(tb testing.TB) *evmapp.Chain {
	tb.Helper()
	if shared == nil {
		shared = evmapp.Start(tb, "alice", "bob")
	}
	return shared.For(tb)
}

// alarm is a new contract with an ether.
func alarm(c *evmapp.Chain) *evmapp.Deployed {
	d := c.Deploy(alice, "Alarm", nil)
	c.Block(c.Sign(bob, 0, &d.Address, evmapp.Ether, 100_000, nil))
	return d
}

// recorded is a client of CometBFT that knows blocks which a chain in memory has run, and indexes them.
type recorded struct {
	rpcclient.Client
	blocks  map[int64]*coretypes.ResultBlock
	results map[int64]*coretypes.ResultBlockResults
	// searches counts searches; they fail if unindexed is set, as on a node without an index.
	searches  int
	unindexed bool
}

func newRecorded() *recorded {
	return &recorded{blocks: map[int64]*coretypes.ResultBlock{}, results: map[int64]*coretypes.ResultBlockResults{}}
}

// add records the last block of a chain.
func (r *recorded) add(c *evmapp.Chain, response *abci.ResponseFinalizeBlock, txs ...[]byte) int64 {
	height := c.LastBlockHeight()
	block := &cmttypes.Block{Header: cmttypes.Header{Height: height, Time: time.Unix(int64(c.Now()), 0).UTC()}}
	for _, tx := range txs {
		block.Txs = append(block.Txs, tx)
	}
	hash := common.BigToHash(big.NewInt(height + 1_000))
	r.blocks[height] = &coretypes.ResultBlock{BlockID: cmttypes.BlockID{Hash: hash.Bytes()}, Block: block}
	r.results[height] = &coretypes.ResultBlockResults{
		Height: height, TxsResults: response.TxResults, FinalizeBlockEvents: response.Events,
	}
	return height
}

func (r *recorded) Block(_ context.Context, height *int64) (*coretypes.ResultBlock, error) {
	if block, ok := r.blocks[*height]; ok {
		return block, nil
	}
	return nil, errors.New("no such block")
}

func (r *recorded) BlockByHash(_ context.Context, hash []byte) (*coretypes.ResultBlock, error) {
	for _, block := range r.blocks {
		if string(block.BlockID.Hash) == string(hash) {
			return block, nil
		}
	}
	return &coretypes.ResultBlock{}, nil
}

func (r *recorded) BlockResults(_ context.Context, height *int64) (*coretypes.ResultBlockResults, error) {
	if results, ok := r.results[*height]; ok {
		return results, nil
	}
	return nil, errors.New("no such results")
}

func (r *recorded) TxSearch(context.Context, string, bool, *int, *int, string) (*coretypes.ResultTxSearch, error) {
	r.searches++
	return &coretypes.ResultTxSearch{}, nil
}

// BlockSearch finds what CometBFT's index would: type.key='value'.
func (r *recorded) BlockSearch(_ context.Context, query string, _, _ *int, _ string) (*coretypes.ResultBlockSearch, error) {
	r.searches++
	if r.unindexed {
		return nil, errors.New("block indexing is disabled")
	}
	found := &coretypes.ResultBlockSearch{}
	for height, results := range r.results {
		for _, event := range results.FinalizeBlockEvents {
			for _, a := range event.Attributes {
				if fmt.Sprintf("%s.%s='%s'", event.Type, a.Key, a.Value) == query {
					found.Blocks = append(found.Blocks, r.blocks[height])
				}
			}
		}
	}
	found.TotalCount = len(found.Blocks)
	return found, nil
}

func newTestClient(tb testing.TB, c *evmapp.Chain, inner rpcclient.Client) *evmrpc.Client {
	tb.Helper()
	client, err := evmrpc.NewClient(inner, c.ClientContext().TxConfig, chainID, log.NewTestLogger(tb))
	require.NoError(tb, err)
	return client
}

// mixed runs a block with two Ethereum transactions, of which the second reverts, and three fires behind them: one of
// Alarm with a log, one that reverts, and one with a log again.
func mixed(tb testing.TB, c *evmapp.Chain) (d *evmapp.Deployed, response *abci.ResponseFinalizeBlock, txs [][]byte) {
	tb.Helper()
	d = alarm(c)
	setup := c.Block(
		d.Tx(alice, 0, "start", uint64(1), uint64(200_000), []byte{}), d.Tx(alice, 1, "start", uint64(1), uint64(200_000), []byte("r")),
		d.Tx(alice, 2, "start", uint64(1), uint64(200_000), []byte("again")))
	for _, result := range setup.TxResults {
		require.Empty(tb, c.Result(result).VmError)
	}
	txs = [][]byte{
		d.Tx(alice, 0, "start", uint64(1_000), uint64(200_000), []byte{}), d.Tx(alice, 1, "startAndRevert", uint64(1), uint64(200_000)),
	}
	response = c.Block(txs...)
	require.Empty(tb, c.Result(response.TxResults[0]).VmError)
	require.NotEmpty(tb, c.Result(response.TxResults[1]).VmError)
	id := d.View("last")[0].([32]byte)
	d.Call(alice, "cancel", id)
	return d, response, txs
}

// event is the first of a type in a block, and its place.
func event(tb testing.TB, events []abci.Event, kind string) (abci.Event, int) {
	tb.Helper()
	for i, e := range events {
		if e.Type == kind {
			return e, i
		}
	}
	require.Fail(tb, "no event "+kind)
	return abci.Event{}, 0
}

// edited is a copy of events in which the attribute of one has another value.
func edited(events []abci.Event, at int, key string, edit func(string) string) []abci.Event {
	all := append([]abci.Event(nil), events...)
	all[at].Attributes = append([]abci.EventAttribute(nil), all[at].Attributes...)
	for i, a := range all[at].Attributes {
		if a.Key == key {
			all[at].Attributes[i].Value = edit(a.Value)
		}
	}
	return all
}

func replaced(from, to string) func(string) string {
	return func(text string) string { return strings.Replace(text, from, to, 1) }
}
