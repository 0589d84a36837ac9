package clienttest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtbytes "github.com/cometbft/cometbft/libs/bytes"
	cmtcrypto "github.com/cometbft/cometbft/proto/tendermint/crypto"
	rpcclient "github.com/cometbft/cometbft/rpc/client"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosmos/cosmos-sdk/client"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
)

// Node answers the RPC of a chain of the lab: the network is left out, and all behind it is real.
type Node struct {
	client.CometRPC
	rig *Rig
	// BlockTime is how far apart its headers say that blocks are.
	BlockTime time.Duration
	Earliest  int64
	Catching  bool
	// Asked counts the requests of any kind.
	Asked int
	// Down makes every request fail.
	Down bool
	// Refuse makes the node refuse every transaction, with a log if one is stated.
	Refuse bool
	Log    string

	// ResultsFrom is the first height whose results are kept.
	ResultsFrom int64
	// NoQueries: the module is not part of the chain.
	NoQueries bool
	// OnLook is called when the node is asked for its height.
	OnLook func()

	Sent  map[string]cmttypes.Tx
	Polls int
	// Forge changes the proofs that it gives.
	Forge func(*cmtcrypto.ProofOps)
	// NoIndex: it has no index of transactions, and is asked for its blocks.
	NoIndex bool
	// KeepFrom is the first block that it keeps.
	KeepFrom int64
	// NoAnswer is how a broadcast ends that the node takes, and Full how one does that it does not.
	NoAnswer, Full error
	// Once: a transaction that is included is not run again when it is asked for.
	Once bool
	// Away is how many of the next requests after a broadcast fail.
	Away int
	// included are the transactions in blocks.
	included map[string]*coretypes.ResultTx
	Index    *EventIndex
}

func (n *Node) ask() error {
	n.Asked++
	if n.Down || n.gone() {
		return n.away()
	}
	return nil
}

func (n *Node) away() error {
	return errors.New("connection refused")
}

// gone counts a request of those that fail after a broadcast.
func (n *Node) gone() bool {
	if len(n.Sent) == 0 || n.Away == 0 {
		return false
	}
	n.Away--
	return true
}

func (n *Node) timeOf(height int64) time.Time {
	return time.Unix(1_700_000_000, 0).UTC().Add(time.Duration(height) * n.BlockTime)
}

// Status implements client.CometRPC.
func (n *Node) Status(context.Context) (*coretypes.ResultStatus, error) {
	height := int64(n.rig.Chain.Height())
	return &coretypes.ResultStatus{SyncInfo: coretypes.SyncInfo{
		LatestBlockHeight: height, LatestBlockTime: n.timeOf(height), EarliestBlockHeight: n.Earliest, CatchingUp: n.Catching,
	}}, n.ask()
}

// ABCIInfo implements client.CometRPC.
func (n *Node) ABCIInfo(context.Context) (*coretypes.ResultABCIInfo, error) {
	if n.OnLook != nil {
		n.OnLook()
	}
	if n.NoIndex {
		for hash := range n.Sent {
			if n.Polls++; n.Polls > 1 && n.included[hash] == nil {
				if _, err := n.include([]byte(hash)); err != nil {
					return nil, err
				}
			}
		}
	}
	return &coretypes.ResultABCIInfo{Response: abci.ResponseInfo{LastBlockHeight: int64(n.rig.Chain.Height())}}, n.ask()
}

// BlockchainInfo implements client.CometRPC.
func (n *Node) BlockchainInfo(_ context.Context, from, to int64) (*coretypes.ResultBlockchainInfo, error) {
	var metas []*cmttypes.BlockMeta
	// A node answers 20 at a time, from the top.
	for height := to; height >= max(from, to-19); height-- {
		metas = append(metas, &cmttypes.BlockMeta{Header: cmttypes.Header{Height: height, Time: n.timeOf(height)}})
	}
	return &coretypes.ResultBlockchainInfo{LastHeight: int64(n.rig.Chain.Height()), BlockMetas: metas}, n.ask()
}

// ABCIQueryWithOptions implements client.CometRPC.
func (n *Node) ABCIQueryWithOptions(
	_ context.Context, path string, data cmtbytes.HexBytes, opts rpcclient.ABCIQueryOptions,
) (*coretypes.ResultABCIQuery, error) {
	if err := n.ask(); err != nil {
		return nil, err
	}
	if name, ok := strings.CutPrefix(path, "/store"); ok {
		answer, err := n.rig.Chain.Prove(name, data, opts.Height)
		if err != nil {
			return &coretypes.ResultABCIQuery{Response: *sdkerrors.QueryResult(err, false)}, nil
		}
		if n.Forge != nil {
			n.Forge(answer.ProofOps)
		}
		return &coretypes.ResultABCIQuery{Response: abci.ResponseQuery(*answer)}, nil
	}
	handler := n.rig.queries.Route(path)
	if handler == nil || n.NoQueries {
		return nil, fmt.Errorf("unknown query path %s", path)
	}
	response, err := handler(n.rig.Chain.Ctx(), &abci.RequestQuery{Path: path, Data: data})
	if err != nil {
		// As baseapp turns an answer of gRPC into one of ABCI.
		kind := sdkerrors.ErrUnknownRequest
		switch status.Code(err) {
		case codes.NotFound:
			kind = sdkerrors.ErrKeyNotFound
		case codes.InvalidArgument:
			kind = sdkerrors.ErrInvalidRequest
		default: // the rest stays unknown
		}
		response = sdkerrors.QueryResult(kind.Wrap(err.Error()), false)
	}
	return &coretypes.ResultABCIQuery{Response: *response}, nil
}

// BroadcastTxSync implements client.CometRPC.
func (n *Node) BroadcastTxSync(_ context.Context, tx cmttypes.Tx) (*coretypes.ResultBroadcastTx, error) {
	hash := sha256.Sum256(tx)
	if n.Refuse {
		return &coretypes.ResultBroadcastTx{Hash: hash[:], Code: 13, Codespace: "sdk", Log: cmp.Or(n.Log, "insufficient fee")}, n.ask()
	}
	if n.Full != nil {
		return nil, n.Full
	}
	err := n.ask()
	n.Sent[string(hash[:])] = tx
	if n.NoAnswer != nil {
		return nil, n.NoAnswer
	}
	return &coretypes.ResultBroadcastTx{Hash: hash[:]}, err
}

// Tx includes the transaction in a block when it is asked for a second time.
func (n *Node) Tx(_ context.Context, hash []byte, _ bool) (*coretypes.ResultTx, error) {
	if n.NoIndex {
		return nil, fmt.Errorf("RPC error -32603 - Internal error: transaction indexing is disabled")
	}
	if n.gone() {
		return nil, n.away()
	}
	if result, known := n.included[string(hash)]; known && n.Once {
		return result, nil
	}
	n.Polls++
	if n.Polls == 1 {
		return nil, fmt.Errorf("tx (%X) not found", hash)
	}
	return n.include(hash)
}

// include runs a transaction in a block of its own.
func (n *Node) include(hash []byte) (*coretypes.ResultTx, error) {
	decoded, err := n.rig.Ctx.TxConfig.TxDecoder()(n.Sent[string(hash)])
	require.NoError(n.rig.T, err)
	require.NoError(n.rig.T, n.rig.Chain.BeginBlock())
	result := &coretypes.ResultTx{Hash: hash, Height: int64(n.rig.Chain.Height())}
	results, _, err := n.rig.Chain.Tx(decoded.GetMsgs()...)
	if err != nil {
		result.TxResult.Codespace, result.TxResult.Code, result.TxResult.Log = abciInfo(err)
	}
	for _, one := range results {
		result.TxResult.Events = append(result.TxResult.Events, one.Events...)
	}
	if n.included == nil {
		n.included = map[string]*coretypes.ResultTx{}
	}
	n.included[string(hash)] = result
	return result, n.rig.End()
}

// Commit implements client.CometRPC. The header of a block has the application hash after the block before.
func (n *Node) Commit(_ context.Context, height *int64) (*coretypes.ResultCommit, error) {
	hash, err := n.rig.Chain.AppHashOf(*height - 1)
	header := &cmttypes.Header{ChainID: "lab", Height: *height, Time: n.timeOf(*height), AppHash: hash}
	return &coretypes.ResultCommit{SignedHeader: cmttypes.SignedHeader{Header: header}}, cmp.Or(err, n.ask())
}

// Block implements client.CometRPC.
func (n *Node) Block(_ context.Context, height *int64) (*coretypes.ResultBlock, error) {
	if *height < n.KeepFrom {
		return nil, fmt.Errorf("RPC error -32603 - Internal error: height %d is not available, lowest height is %d", *height, n.KeepFrom)
	}
	block := &cmttypes.Block{}
	for hash, result := range n.included {
		if result.Height == *height {
			block.Txs = append(block.Txs, n.Sent[hash])
		}
	}
	return &coretypes.ResultBlock{Block: block}, n.ask()
}

func abciInfo(err error) (string, uint32, string) {
	info := sdkerrors.ResponseExecTxResultWithEvents(err, 0, 0, nil, false)
	return info.Codespace, info.Code, info.Log
}
