// Package prove makes proofs of receipts (x/timers/docs/use/proofs.md), and holds the commands proof and verify.
//
// The node needs nothing for it: a proof consists of answers of its store. A query of the module could not make one, since it
// sees the state of a block, and not the tree that the state is stored in; only the query of a store comes with a proof, and
// that is answered without the module. So what a proof needs is put together here.
package prove

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtbytes "github.com/cometbft/cometbft/libs/bytes"
	rpcclient "github.com/cometbft/cometbft/rpc/client"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	ics23 "github.com/cosmos/ics23/go"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos-timers/timers/x/timers/client/proof"
)

const (
	// pollEvery is how often a node is asked for a block that is not there yet.
	pollEvery = 200 * time.Millisecond
	// tries is how often a proof is begun again at a later state, after the node has pruned the one that it was begun at.
	tries = 3
	// leastState is the first height whose state a node proves anything of.
	leastState = 2
	// storePath is that of queries of the module's store.
	storePath = "/store/" + proof.StoreName + "/key"
)

// Node is what is asked of a node: client.Context.GetNode returns one.
type Node interface {
	ABCIInfo(ctx context.Context) (*coretypes.ResultABCIInfo, error)
	ABCIQueryWithOptions(
		ctx context.Context, path string, data cmtbytes.HexBytes, opts rpcclient.ABCIQueryOptions,
	) (*coretypes.ResultABCIQuery, error)
	Commit(ctx context.Context, height *int64) (*coretypes.ResultCommit, error)
}

var (
	// ErrNotDelivered is within the error of a proof of a delivery that is not there: its absence can be proved.
	ErrNotDelivered = errors.New("the timer was not delivered")
	// ErrDelivered is within the error of a proof of absence where there is a delivery.
	ErrDelivered = errors.New("the timer was delivered")
	// ErrNotKept is within the error of a height whose receipts are pruned, or were not kept.
	ErrNotKept = errors.New("not all its receipts are kept")
)

// errState is within the error of a state that the node does not have.
var errState = errors.New("the node does not prove the state")

// Delivery returns the file of a proof that a timer was delivered in the block of a height. It proves the state of the block
// before the latest, or of that height if that is the latest: then it waits for the next block, whose header the proof is for.
//
// The proof has been verified under the header that the node gives. Who does not trust the node verifies it under another.
func Delivery(ctx context.Context, node Node, timerID []byte, height uint64) ([]byte, error) {
	return begin(ctx, node, &proof.File{Proves: proof.Delivery, TimerID: timerID, Height: proof.Number(height)})
}

// Absence returns the file of a proof that a timer was not delivered in the block of a height. All else is as with Delivery.
func Absence(ctx context.Context, node Node, timerID []byte, height uint64) ([]byte, error) {
	return begin(ctx, node, &proof.File{Proves: proof.Absence, TimerID: timerID, Height: proof.Number(height)})
}

func begin(ctx context.Context, node Node, file *proof.File) (text []byte, err error) {
	if len(file.TimerID) != proof.IDBytes {
		return nil, fmt.Errorf("the timer's id has %d bytes, want %d", len(file.TimerID), proof.IDBytes)
	}
	if file.Height == 0 {
		return nil, errors.New("height 0 is that of no block")
	}
	for range tries {
		m := &maker{ctx: ctx, node: node, file: *file}
		if text, err = m.run(); !errors.Is(err, errState) {
			break
		}
	}
	return text, err
}

// maker puts one proof together.
type maker struct {
	ctx  context.Context
	node Node
	file proof.File
	// at is the height whose state is proved, the one before that of the header.
	at uint64
}

func (m *maker) run() ([]byte, error) {
	m.file.Version = proof.Version
	header, err := m.header()
	if err != nil {
		return nil, err
	}
	m.file.ChainID, m.file.HeaderHeight, m.at = header.ChainID, proof.Number(header.Height), header.Height-1
	if err := m.receipts(); err != nil {
		return nil, err
	}
	text, err := m.file.Text()
	if err != nil {
		return nil, err
	}
	if _, err := proof.Verify(header, text); err != nil {
		return nil, fmt.Errorf("what the node answered does not hold under its own header of height %d: %w", header.Height, err)
	}
	return text, nil
}

// header waits for the header to prove under, and returns it.
func (m *maker) header() (proof.Header, error) {
	height := uint64(m.file.Height)
	for first := true; ; first = false {
		info, err := m.node.ABCIInfo(m.ctx)
		if err != nil {
			return proof.Header{}, fmt.Errorf("ask the node for its height: %w", err)
		}
		latest := uint64(info.Response.LastBlockHeight)
		if first && height > latest {
			return proof.Header{}, fmt.Errorf("height %d is in the future: the latest is %d", height, latest)
		}
		if latest > height && latest > leastState {
			return m.headerAt(latest)
		}
		select {
		case <-m.ctx.Done():
			return proof.Header{}, fmt.Errorf("the receipts of height %d are under the header of the next block, and height %d is the latest: %w",
				height, latest, m.ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}

func (m *maker) headerAt(height uint64) (proof.Header, error) {
	at := int64(height)
	commit, err := m.node.Commit(m.ctx, &at)
	if err != nil {
		return proof.Header{}, fmt.Errorf("ask the node for the header of height %d: %w", height, err)
	}
	if commit == nil || commit.Header == nil || commit.Height != at {
		return proof.Header{}, fmt.Errorf("the node answered without the header of height %d", height)
	}
	return proof.Header{ChainID: commit.ChainID, Height: height, AppHash: commit.AppHash}, nil
}

// receipts enters the values that the proof needs, reading those of the block from the first on.
func (m *maker) receipts() error {
	height, next := uint64(m.file.Height), uint64(0)
	for {
		answer, err := m.ask(proof.ReceiptsKey(height, next))
		if err != nil {
			return err
		}
		if len(answer.value) == 0 {
			if after, ok := answer.following(height); ok && next == 0 {
				// The first values are pruned, and others are left.
				next = after
				continue
			}
			m.file.End = answer.proof
			return m.end()
		}
		_, receipts, err := proof.Segment(answer.value)
		if err != nil || len(receipts) == 0 {
			return fmt.Errorf("the node answered with a value that holds no receipts, at height %d, position %d: %w", height, next, err)
		}
		position, found := next, false
		for _, receipt := range receipts {
			id, err := proof.TimerOf(receipt)
			if err != nil {
				return fmt.Errorf("height %d, position %d: %w", height, position, err)
			}
			if found = bytes.Equal(id, m.file.TimerID); found {
				break
			}
			position++
		}
		switch {
		case found && m.file.Proves == proof.Absence:
			return fmt.Errorf("%w at height %d, position %d: that can be proved", ErrDelivered, height, position)
		case found:
			at := proof.Number(position)
			m.file.Position, m.file.Receipts = &at, [][]byte{answer.proof}
			return nil
		case m.file.Proves == proof.Absence:
			m.file.Receipts = append(m.file.Receipts, answer.proof)
		}
		next += uint64(len(receipts))
	}
}

// end enters the state of the lane, after all receipts were read and none was the timer's.
func (m *maker) end() error {
	lane, err := m.ask(proof.LaneKey())
	if err != nil {
		return err
	}
	from, unkept, err := proof.Watermark(lane.value)
	if err != nil {
		return fmt.Errorf("the node answered with no state of the lane: %w", err)
	}
	if from = max(from, unkept); from >= uint64(m.file.Height) {
		return fmt.Errorf("height %d: %w: all are kept of heights above %d only", m.file.Height, ErrNotKept, from)
	}
	if m.file.Proves == proof.Delivery {
		return fmt.Errorf("%w at height %d: that can be proved", ErrNotDelivered, m.file.Height)
	}
	m.file.Lane = lane.proof
	if m.file.Receipts == nil {
		m.file.Receipts = [][]byte{}
	}
	return nil
}

// answer is what the store has at a key, nothing if it has not, and the proof of that.
type answer struct{ value, proof []byte }

// following is the position of the next value of receipts of a height, where the answer is that a key is missing.
func (a answer) following(height uint64) (position uint64, ok bool) {
	parsed := &ics23.CommitmentProof{}
	if parsed.Unmarshal(a.proof) != nil || parsed.GetNonexist().GetRight() == nil {
		return 0, false
	}
	key := parsed.GetNonexist().Right.Key
	if own := proof.ReceiptsKey(height, 0); len(key) != len(own) || !bytes.HasPrefix(key, own[:len(own)-8]) {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[len(key)-8:]), true
}

// ask queries the store for a key, with proof. The proof of the store itself is the same with each answer.
func (m *maker) ask(key []byte) (answer, error) {
	result, err := m.node.ABCIQueryWithOptions(m.ctx, storePath, key, rpcclient.ABCIQueryOptions{Height: int64(m.at), Prove: true})
	if err != nil {
		return answer{}, fmt.Errorf("ask the node for its state of height %d: %w", m.at, err)
	}
	response := result.Response
	if response.Code != abci.CodeTypeOK {
		err := fmt.Errorf("the node refuses its state of height %d: %s (%s, code %d)", m.at, strings.TrimSpace(response.Log), response.Codespace, response.Code)
		if strings.Contains(response.Log, "pruned") || strings.Contains(response.Log, "version does not exist") {
			err = errors.Join(errState, err)
		}
		return answer{}, err
	}
	ops := response.ProofOps
	if response.Height != int64(m.at) || ops == nil || len(ops.Ops) != 2 ||
		ops.Ops[0].Type != storetypes.ProofOpIAVLCommitment || ops.Ops[1].Type != storetypes.ProofOpSimpleMerkleCommitment {
		return answer{}, fmt.Errorf("the node answered for height %d without a proof of a store, want one for %d", response.Height, m.at)
	}
	m.file.Store = ops.Ops[1].Data
	return answer{response.Value, ops.Ops[0].Data}, nil
}
