package state

import (
	"context"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"cosmossdk.io/collections"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// place is a height and the position in its block.
type place = collections.Pair[uint64, uint64]

var receiptKey = collections.PairKeyCodec(collections.Uint64Key, collections.Uint64Key)

// ReceiptsPerSegment receipts at most share one value, those of the positions from a multiple of it on: so many fires share the
// cost of one entry of the tree.
const ReceiptsPerSegment = 64

// Receipts holds the result of each delivery, for RECEIPT_RETENTION_BLOCKS.
type Receipts struct {
	// segments: (height, position of the first) → a segment of the receipts of a block, a types.HeightReceipts. Sequential;
	// pruned from the front, so many a block.
	segments collections.Map[place, []byte]
	lane     *Lane
}

var _ Component = (*Receipts)(nil)

// NewReceipts adds the component's collection to the schema.
func NewReceipts(sb *collections.SchemaBuilder, lane *Lane) *Receipts {
	return &Receipts{collections.NewMap(sb, types.PrefixReceipts, "receipts", receiptKey, collections.BytesValue), lane}
}

// Put writes the receipts of a block, a segment at a time, and returns how many those are. Where one ends the next begins.
func (r *Receipts) Put(ctx context.Context, height uint64, receipts []types.Receipt) (segments int, err error) {
	var value []byte
	var n int
	for first := 0; first < len(receipts) && err == nil; first, segments = first+n, segments+1 {
		if value, n, err = encodeReceipts(height, receipts[first:min(len(receipts), first+ReceiptsPerSegment-first%ReceiptsPerSegment)]); err == nil {
			err = r.segments.Set(ctx, collections.Join(height, uint64(first)), value)
		}
	}
	return segments, err
}

// WalkSegments passes segments of receipts to fn, each with the place of its first receipt, until fn has enough.
func (r *Receipts) WalkSegments(
	ctx context.Context, span collections.Ranger[place], fn func(first place, receipts []types.Receipt) (enough bool),
) error {
	return r.segments.Walk(ctx, span, func(first place, value []byte) (bool, error) {
		var segment types.HeightReceipts
		if err := segment.Unmarshal(value); err != nil || segment.Height != first.K1() {
			return true, types.ErrInternal.Wrapf("receipts at %d, position %d: no segment of it, but of height %d", first.K1(), first.K2(), segment.Height)
		}
		return fn(first, segment.Receipts), nil
	})
}

// Prune removes receipts of the heights from `from` to `last`: segments while the overhead lasts, and in any case twice as
// many as the block has added, so that it never falls behind for long. It returns the height at which to continue.
//
// There is nothing to remove where from is above last: the retention was made longer.
func (r *Receipts) Prune(ctx context.Context, from, last uint64, meter *market.Overhead, added int) (uint64, error) {
	if from > last {
		return from, nil
	}
	limit := meter.Left(market.Prune) + 2*added
	old := make([]place, 0, 8)
	ranger := new(collections.Range[place]).
		StartInclusive(collections.Join(from, uint64(0))).
		EndExclusive(collections.Join(last+1, uint64(0)))
	err := r.segments.Walk(ctx, ranger, func(at place, _ []byte) (bool, error) {
		old = append(old, at)
		return len(old) >= limit, nil
	})
	if err != nil {
		return from, err
	}
	meter.Consume(market.Prune, len(old))
	for _, at := range old {
		if err := r.segments.Remove(ctx, at); err != nil {
			return from, err
		}
		from = at.K1()
	}
	return from, nil
}

// InitGenesis implements state.Component.
func (r *Receipts) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	for _, segment := range genesis.Receipts {
		if _, err := r.Put(ctx, segment.Height, segment.Receipts); err != nil {
			return err
		}
	}
	return nil
}

// ExportGenesis implements state.Component: the receipts by height.
func (r *Receipts) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	return r.WalkSegments(ctx, nil, func(at place, receipts []types.Receipt) bool {
		if n := len(genesis.Receipts); n > 0 && genesis.Receipts[n-1].Height == at.K1() {
			genesis.Receipts[n-1].Receipts = append(genesis.Receipts[n-1].Receipts, receipts...)
			return false
		}
		genesis.Receipts = append(genesis.Receipts, types.HeightReceipts{Height: at.K1(), Receipts: receipts})
		return false
	})
}

// CheckInvariants implements state.Component: the segments of a height follow one another, each has at most as many as fit,
// and none is of a height that was pruned.
func (r *Receipts) CheckInvariants(ctx context.Context) error {
	lane, err := r.lane.Get(ctx)
	if err != nil {
		return err
	}
	height, next, broken := lane.ReceiptsFrom, uint64(0), error(nil)
	err = r.WalkSegments(ctx, nil, func(at place, receipts []types.Receipt) bool {
		n := uint64(len(receipts))
		pruned := at.K1() == lane.ReceiptsFrom && next == 0 // What was before the first.
		follows := at.K2() == 0 || pruned || at.K1() == height && at.K2() == next
		if !follows || at.K1() < lane.ReceiptsFrom || n == 0 || n > ReceiptsPerSegment-at.K2()%ReceiptsPerSegment {
			broken = types.ErrInternal.Wrapf("receipts at %d, position %d: %d", at.K1(), at.K2(), n)
		}
		height, next = at.K1(), at.K2()+n
		return broken != nil
	})
	return errors.Join(err, broken)
}

// MaxSegmentBytes bounds a segment, and MatchedBytes the watched keys of one receipt, so that a segment holds any receipt
// and a proof of it, as text, takes at most 32 KiB. Most segments of PerSegment receipts are below it.
const (
	MaxReceiptSegmentBytes = 16 << 10
	MatchedBytes           = 12 << 10
)

// encodeReceipts writes a segment of the first receipts, as many as fit and at least one, as protobuf does. It returns how many.
func encodeReceipts(height uint64, receipts []types.Receipt) (segment []byte, n int, err error) {
	if segment, err = (&types.HeightReceipts{Height: height}).Marshal(); err != nil {
		return nil, 0, err
	}
	for i := range receipts {
		one, err := encodeReceipt(&receipts[i])
		if err != nil {
			return nil, 0, err
		}
		if i > 0 && len(segment)+len(one)+4 > MaxReceiptSegmentBytes {
			return segment, i, nil
		}
		segment = protowire.AppendBytes(protowire.AppendTag(segment, 2, protowire.BytesType), one)
	}
	return segment, len(receipts), nil
}

// encodeReceipt encodes a receipt with as many of its matched keys as take MatchedBytes, and counts the others.
func encodeReceipt(r *types.Receipt) ([]byte, error) {
	size := 0
	for i := range r.Matched {
		if size += r.Matched[i].Size() + 5; size > MatchedBytes {
			bounded := *r
			bounded.Matched, bounded.MatchedOmitted = r.Matched[:i], r.MatchedOmitted+uint32(len(r.Matched)-i)
			return bounded.Marshal()
		}
	}
	return r.Marshal()
}
