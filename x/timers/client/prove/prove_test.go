package prove_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"testing"
	"time"

	cmtcrypto "github.com/cometbft/cometbft/proto/tendermint/crypto"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/client/proof"
	"github.com/cosmos-timers/timers/x/timers/client/prove"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/testutil/clienttest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// rig is a chain of the lab, whose node proves what its stores hold.
type rig struct {
	*clienttest.Rig
	ctx context.Context
}

func newRig(t *testing.T) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return &rig{clienttest.New(t), ctx}
}

// fires schedules so many timers of alice's that fire together, lets them, and returns their ids and the height.
func (r *rig) fires(n int) (ids [][]byte, height uint64) {
	r.T.Helper()
	height = r.Chain.Height() + uint64(n) + 1
	for range n {
		id, err := hex.DecodeString(r.Schedule(height, 1))
		require.NoError(r.T, err)
		ids = append(ids, id)
	}
	r.Blocks(2)
	return ids, height
}

// header is the one of a height, of the chain itself.
func (r *rig) header(height uint64) proof.Header {
	r.T.Helper()
	hash, err := r.Chain.AppHashOf(int64(height) - 1)
	require.NoError(r.T, err)
	return proof.Header{ChainID: "lab", Height: height, AppHash: hash}
}

// verified verifies a proof under the header that it names.
func (r *rig) verified(text []byte) *proof.Fact {
	r.T.Helper()
	file, err := proof.Parse(text)
	require.NoError(r.T, err)
	fact, err := proof.Verify(r.header(uint64(file.HeaderHeight)), text)
	require.NoError(r.T, err)
	return fact
}

// truth are the receipts that the chain stores of a height.
func (r *rig) truth(height uint64) (receipts [][]byte) {
	r.Chain.WalkState(func(store string, key, value []byte) {
		if own := proof.ReceiptsKey(height, 0); store == types.StoreKey && len(key) == len(own) && bytes.HasPrefix(key, own[:9]) {
			_, segment, err := proof.Segment(value)
			require.NoError(r.T, err)
			receipts = append(receipts, segment...)
		}
	})
	return receipts
}

// Every delivery of a block can be proved, wherever its receipt is; and of every other timer that it was not delivered.
//
// Rule: 1.12-receipts-provable, 1.12-absence-provable
func TestDelivery_EachOfABlock(t *testing.T) {
	r := newRig(t)
	ids, height := r.fires(40)
	r.Blocks(3)
	truth := r.truth(height)
	require.Equal(t, 40, len(truth))
	seen := map[uint64]bool{}
	for _, id := range ids {
		text, err := prove.Delivery(r.ctx, r.Node, id, height)
		require.NoError(t, err)
		require.LessOrEqual(t, len(text), proof.MaxDeliveryBytes)
		fact := r.verified(text)
		require.False(t, fact.Absent)
		require.Equal(t, height, fact.Height)
		require.Equal(t, r.Chain.Height(), fact.HeaderHeight, "the latest header, so that the proof is as fresh as can be")
		require.Equal(t, truth[fact.Position], fact.Receipt)
		var receipt types.Receipt
		require.NoError(t, receipt.Unmarshal(fact.Receipt))
		require.Equal(t, id, receipt.TimerId)
		require.True(t, receipt.Success)
		seen[fact.Position] = true

		_, err = prove.Absence(r.ctx, r.Node, id, height)
		require.ErrorIs(t, err, prove.ErrDelivered)
		_, err = prove.Delivery(r.ctx, r.Node, id, height+1)
		require.ErrorIs(t, err, prove.ErrNotDelivered)
	}
	require.Len(t, seen, 40)
	for _, at := range []uint64{height - 1, height + 1, height} {
		other := bytes.Repeat([]byte{7}, 32)
		if at != height {
			other = ids[0]
		}
		text, err := prove.Absence(r.ctx, r.Node, other, at)
		require.NoError(t, err)
		fact := r.verified(text)
		require.True(t, fact.Absent)
		require.Equal(t, at, fact.Height)
		require.Nil(t, fact.Receipt)
		t.Logf("absence at a height of %d receipts: %d bytes", len(r.truth(at)), len(text))
	}
}

// The receipts of the latest block are under the next header: the proof waits for it.
func TestDelivery_WaitsForTheNextHeader(t *testing.T) {
	r := newRig(t)
	height := r.Chain.Height() + 2
	id, err := hex.DecodeString(r.Schedule(height, 1))
	require.NoError(t, err)
	r.Blocks(1)
	require.Equal(t, height, r.Chain.Height())

	short, cancel := context.WithTimeout(r.ctx, 300*time.Millisecond)
	defer cancel()
	_, err = prove.Delivery(short, r.Node, id, height)
	require.ErrorContains(t, err, "under the header of the next block")
	require.ErrorIs(t, err, context.DeadlineExceeded)

	looks := 0
	r.Node.OnLook = func() {
		if looks++; looks == 3 {
			r.Blocks(1)
		}
	}
	text, err := prove.Delivery(r.ctx, r.Node, id, height)
	require.NoError(t, err)
	require.Equal(t, height+1, r.verified(text).HeaderHeight)
	require.Equal(t, 3, looks)
}

// What was pruned can't be proved, neither a delivery nor absence, and the error says from where on it can; what is left of
// the height at the watermark can.
//
// Rule: 1.12-absence-provable
func TestAbsence_NotOfPrunedHeights(t *testing.T) {
	r := newRig(t)
	r.Configure(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 5 })
	ids, height := r.fires(3)
	other := bytes.Repeat([]byte{7}, 32)
	for range 3 {
		_, err := prove.Absence(r.ctx, r.Node, other, height)
		require.NoError(t, err)
		r.Blocks(1)
	}
	r.Blocks(5)
	for _, write := range []func() ([]byte, error){
		func() ([]byte, error) { return prove.Absence(r.ctx, r.Node, other, height) },
		func() ([]byte, error) { return prove.Absence(r.ctx, r.Node, ids[0], height) },
		func() ([]byte, error) { return prove.Delivery(r.ctx, r.Node, ids[0], height) },
	} {
		_, err := write()
		require.ErrorIs(t, err, prove.ErrNotKept)
		require.ErrorContains(t, err, "all are kept of heights above")
	}
	_, err := prove.Absence(r.ctx, r.Node, ids[0], r.Chain.Height()-2)
	require.NoError(t, err)

	// While the retention is 0, nothing is kept, which no later state forgets.
	r.Configure(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 0 })
	ids, height = r.fires(2)
	r.Configure(func(c *types.TimerConfig) { c.ReceiptRetentionBlocks = 1000 })
	r.Blocks(2)
	_, err = prove.Absence(r.ctx, r.Node, ids[0], height)
	require.ErrorIs(t, err, prove.ErrNotKept)
	_, err = prove.Absence(r.ctx, r.Node, ids[0], r.Chain.Height()-1)
	require.NoError(t, err)
}

// put makes a block without fires, and stores receipts as if it had some.
func (r *rig) put(block []types.Receipt) (height uint64) {
	r.T.Helper()
	require.NoError(r.T, r.Chain.BeginBlock())
	_, err := r.Chain.Timers.Engine().Receipts.Put(r.Chain.Ctx(), r.Chain.Height(), block)
	require.NoError(r.T, err)
	require.NoError(r.T, r.End())
	return r.Chain.Height()
}

// largest is a receipt of the most bytes: each number, amount and text as long as it gets, and as many watched keys as a
// delivery can name, of a length each.
func largest(n byte, keyBytes int) types.Receipt {
	most := ^uint64(0)
	amount := math.NewIntFromUint64(most).MulRaw(1 << 31)
	receipt := types.Receipt{
		TimerId: bytes.Repeat([]byte{n}, 32), DeliverId: make([]byte, 32), Actor: make([]byte, 255), FireSeq: 1<<32 - 1,
		Codespace: string(bytes.Repeat([]byte{'c'}, 64)), Code: 1<<32 - 1, Cycles: most, Cells: most, Paid: amount, Tip: amount,
		Bid: amount.String(), BidPaid: amount.String(), ScoreBid: &amount, Late: most, Occurrence: most, Index: most,
	}
	for range market.MaxMatchedKeys {
		receipt.Matched = append(receipt.Matched, types.WatchedKey{Store: "bank", Key: make([]byte, keyBytes)})
	}
	return receipt
}

// A proof of a delivery takes at most 32 KiB, whatever the block's receipts hold.
//
// Rule: 1.12-receipts-provable
func TestDelivery_AtMost32KiB(t *testing.T) {
	r := newRig(t)
	longest, longestValue := 0, 0
	for _, keyBytes := range []int{0, 1, 4, 20, 255, 1000, 12_000, 1 << 17} {
		var block []types.Receipt
		for n := range 130 {
			block = append(block, largest(byte(n), keyBytes))
		}
		height := r.put(block)
		r.Blocks(2)
		require.Equal(t, len(block), len(r.truth(height)))
		r.Chain.WalkState(func(_ string, key, value []byte) {
			if bytes.HasPrefix(key, proof.ReceiptsKey(height, 0)[:9]) {
				longestValue = max(longestValue, len(value))
			}
		})
		for n := range block {
			text, err := prove.Delivery(r.ctx, r.Node, block[n].TimerId, height)
			require.NoError(t, err)
			require.Equal(t, uint64(n), r.verified(text).Position)
			longest = max(longest, len(text))
		}
	}
	// What is missing: the value may be full, and a tree of 2^40 entries is at most 58 deep, where this one is more than 4:
	// each step more takes at most 60 bytes.
	full := longest + (state.MaxReceiptSegmentBytes-longestValue+54*60)*4/3
	t.Logf("the longest proof of a delivery: %d bytes for a value of %d; of a full one in a store of 2^40 entries at most %d", longest, longestValue, full)
	require.Greater(t, longestValue, state.MaxReceiptSegmentBytes*9/10)
	require.LessOrEqual(t, full, proof.MaxDeliveryBytes)
}

// The receipts that are left of a block whose first ones are pruned can still be proved.
func TestDelivery_AtTheFrontier(t *testing.T) {
	r := newRig(t)
	var block []types.Receipt
	for n := range 130 {
		block = append(block, largest(byte(n), 1))
	}
	height := r.put(block)
	require.NoError(t, r.Chain.BeginBlock())
	engine := r.Chain.Timers.Engine()
	from, err := engine.Receipts.Prune(r.Chain.Ctx(), 0, height, &market.Overhead{}, 1)
	require.NoError(t, err)
	require.Equal(t, height, from)
	lane, err := engine.Lane.Get(r.Chain.Ctx())
	require.NoError(t, err)
	lane.ReceiptsFrom = from
	require.NoError(t, engine.Lane.Set(r.Chain.Ctx(), lane))
	require.NoError(t, r.End())
	r.Blocks(1)

	require.Less(t, len(r.truth(height)), 130)
	text, err := prove.Delivery(r.ctx, r.Node, block[129].TimerId, height)
	require.NoError(t, err)
	require.Equal(t, uint64(129), r.verified(text).Position)
	_, err = prove.Delivery(r.ctx, r.Node, block[0].TimerId, height)
	require.ErrorIs(t, err, prove.ErrNotKept)
	_, err = prove.Absence(r.ctx, r.Node, bytes.Repeat([]byte{200}, 32), height)
	require.ErrorIs(t, err, prove.ErrNotKept)
}

// A node that answers with something else is found out, and what is asked amiss is refused.
func TestDelivery_Refusals(t *testing.T) {
	r := newRig(t)
	ids, height := r.fires(1)
	r.Blocks(1)
	for name, c := range map[string]struct {
		id     []byte
		height uint64
		forge  func(*cmtcrypto.ProofOps)
		want   string
	}{
		"a short id":        {ids[0][:31], height, nil, "the timer's id has 31 bytes, want 32"},
		"height 0":          {ids[0], 0, nil, "height 0 is that of no block"},
		"the future":        {ids[0], r.Chain.Height() + 1, nil, "is in the future: the latest is"},
		"no proof":          {ids[0], height, func(ops *cmtcrypto.ProofOps) { ops.Ops = nil }, "without a proof of a store"},
		"a proof of IAVL":   {ids[0], height, func(ops *cmtcrypto.ProofOps) { ops.Ops = ops.Ops[:1] }, "without a proof of a store"},
		"other operations":  {ids[0], height, func(ops *cmtcrypto.ProofOps) { ops.Ops[0].Type = "x" }, "without a proof of a store"},
		"a forged receipt":  {ids[0], height, func(ops *cmtcrypto.ProofOps) { ops.Ops[0].Data[30] ^= 1 }, "does not hold under its own header"},
		"a forged store":    {ids[0], height, func(ops *cmtcrypto.ProofOps) { ops.Ops[1].Data[30] ^= 1 }, "does not hold under its own header"},
		"garbage for proof": {ids[0], height, func(ops *cmtcrypto.ProofOps) { ops.Ops[0].Data = []byte("garbage") }, "does not hold under its own header"},
	} {
		t.Run(name, func(t *testing.T) {
			r.Node.Forge = c.forge
			defer func() { r.Node.Forge = nil }()
			_, err := prove.Delivery(r.ctx, r.Node, c.id, c.height)
			require.ErrorContains(t, err, c.want)
		})
	}
	r.Node.Down = true
	_, err := prove.Delivery(r.ctx, r.Node, ids[0], height)
	require.ErrorContains(t, err, "ask the node for its height: connection refused")
}
