package state

import (
	"context"

	"cosmossdk.io/collections"

	"github.com/cosmos/cosmos-sdk/codec"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// ReceiptsPerSegment is how many receipts share one value: so many fires share the cost of one entry of the tree, and a
// value stays small enough to be hashed and read at once.
const ReceiptsPerSegment = 64

// Receipts holds the result of each delivery, for RECEIPT_RETENTION_BLOCKS.
type Receipts struct {
	// segments: (height, position of the first) → a segment of the receipts of a block. Sequential; pruned by a bounded
	// sweep.
	segments collections.Map[heightSeq, types.HeightReceipts]
	lane     *Lane
}

var _ Component = (*Receipts)(nil)

// NewReceipts adds the component's collection to the schema.
func NewReceipts(cdc codec.BinaryCodec, sb *collections.SchemaBuilder, lane *Lane) *Receipts {
	return &Receipts{collections.NewMap(sb, types.PrefixReceipts, "receipts", heightSeqKey, codec.CollValue[types.HeightReceipts](cdc)), lane}
}

// Put writes the receipts of a block, a segment at a time.
func (r *Receipts) Put(ctx context.Context, height uint64, receipts []types.Receipt) error {
	for first := 0; first < len(receipts); first += ReceiptsPerSegment {
		segment := types.HeightReceipts{Height: height, Receipts: receipts[first:min(first+ReceiptsPerSegment, len(receipts))]}
		if err := r.segments.Set(ctx, collections.Join(height, uint64(first)), segment); err != nil {
			return err
		}
	}
	return nil
}

// WalkSegments passes segments of receipts to fn, each with its height and the position of its first receipt, until fn
// reports that it has enough.
func (r *Receipts) WalkSegments(
	ctx context.Context, span collections.Ranger[heightSeq], fn func(first heightSeq, receipts []types.Receipt) (enough bool),
) error {
	return r.segments.Walk(ctx, span, func(first heightSeq, segment types.HeightReceipts) (bool, error) {
		return fn(first, segment.Receipts), nil
	})
}

// Prune removes receipts of the heights from `from` to `last`: sweep segments, and twice as many as `added` receipts
// fill, so that it never falls behind for long. It returns the height at which to continue.
//
// There is nothing to remove where from is above last: the retention was made longer.
func (r *Receipts) Prune(ctx context.Context, from, last uint64, sweep uint32, added int) (uint64, error) {
	if from > last {
		return from, nil
	}
	limit := int(sweep) + 2*((added+ReceiptsPerSegment-1)/ReceiptsPerSegment)
	old := make([]heightSeq, 0, 8)
	ranger := new(collections.Range[heightSeq]).
		StartInclusive(collections.Join(from, uint64(0))).
		EndExclusive(collections.Join(last+1, uint64(0)))
	err := r.segments.Walk(ctx, ranger, func(place heightSeq, _ types.HeightReceipts) (bool, error) {
		old = append(old, place)
		return len(old) >= limit, nil
	})
	if err != nil {
		return from, err
	}
	for _, place := range old {
		if err := r.segments.Remove(ctx, place); err != nil {
			return from, err
		}
	}
	if len(old) > 0 {
		from = old[len(old)-1].K1()
	}
	return from, nil
}

// InitGenesis implements Component.
func (r *Receipts) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	for _, segment := range genesis.Receipts {
		if err := r.Put(ctx, segment.Height, segment.Receipts); err != nil {
			return err
		}
	}
	return nil
}

// ExportGenesis implements Component: the receipts by height.
func (r *Receipts) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	var heights []types.HeightReceipts
	err := r.segments.Walk(ctx, nil, func(place heightSeq, segment types.HeightReceipts) (bool, error) {
		if n := len(heights); n > 0 && heights[n-1].Height == place.K1() {
			heights[n-1].Receipts = append(heights[n-1].Receipts, segment.Receipts...)
			return false, nil
		}
		heights = append(heights, segment)
		return false, nil
	})
	genesis.Receipts = heights
	return err
}

// CheckInvariants implements Component: segments hold receipts of their height, at most as many as fit, and none is of a
// height that the sweep has passed.
func (r *Receipts) CheckInvariants(ctx context.Context) error {
	lane, err := r.lane.Get(ctx)
	if err != nil {
		return err
	}
	return r.segments.Walk(ctx, nil, func(place heightSeq, segment types.HeightReceipts) (bool, error) {
		n := len(segment.Receipts)
		if segment.Height != place.K1() || place.K2()%ReceiptsPerSegment != 0 || n == 0 || n > ReceiptsPerSegment || segment.Height < lane.ReceiptsFrom {
			return true, types.ErrInternal.Wrapf("receipts at %d, position %d: %d of height %d", place.K1(), place.K2(), n, segment.Height)
		}
		return false, nil
	})
}
