// Package receipts stores the results of deliveries (x/timers/README.md, "2. State").
package receipts

import (
	"context"

	"cosmossdk.io/collections"

	"github.com/cosmos/cosmos-sdk/codec"

	"github.com/cosmos-timers/timers/x/timers/overhead"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// place is a height and the position in its block.
type place = collections.Pair[uint64, uint64]

var placeKey = collections.PairKeyCodec(collections.Uint64Key, collections.Uint64Key)

// PerSegment is how many receipts share one value: so many fires share the cost of one entry of the tree, and a
// value stays small enough to be hashed and read at once.
const PerSegment = 64

// Receipts holds the result of each delivery, for RECEIPT_RETENTION_BLOCKS.
type Receipts struct {
	// segments: (height, position of the first) → a segment of the receipts of a block. Sequential; pruned by a bounded
	// sweep.
	segments collections.Map[place, types.HeightReceipts]
	lane     *state.Lane
}

var _ state.Component = (*Receipts)(nil)

// New adds the component's collection to the schema.
func New(cdc codec.BinaryCodec, sb *collections.SchemaBuilder, lane *state.Lane) *Receipts {
	segment := segmentCodec{codec.CollValue[types.HeightReceipts](cdc)}
	return &Receipts{collections.NewMap(sb, types.PrefixReceipts, "receipts", placeKey, segment), lane}
}

// Put writes the receipts of a block, a segment at a time.
func (r *Receipts) Put(ctx context.Context, height uint64, receipts []types.Receipt) error {
	for first := 0; first < len(receipts); first += PerSegment {
		segment := types.HeightReceipts{Height: height, Receipts: receipts[first:min(first+PerSegment, len(receipts))]}
		if err := r.segments.Set(ctx, collections.Join(height, uint64(first)), segment); err != nil {
			return err
		}
	}
	return nil
}

// WalkSegments passes segments of receipts to fn, each with its height and the position of its first receipt, until fn
// reports that it has enough.
func (r *Receipts) WalkSegments(
	ctx context.Context, span collections.Ranger[place], fn func(first place, receipts []types.Receipt) (enough bool),
) error {
	return r.segments.Walk(ctx, span, func(first place, segment types.HeightReceipts) (bool, error) {
		return fn(first, segment.Receipts), nil
	})
}

// Prune removes receipts of the heights from `from` to `last`: segments while the overhead lasts, and in any case twice as
// many as `added` receipts fill, so that it never falls behind for long. It returns the height at which to continue.
//
// There is nothing to remove where from is above last: the retention was made longer.
func (r *Receipts) Prune(ctx context.Context, from, last uint64, meter *overhead.Meter, added int) (uint64, error) {
	if from > last {
		return from, nil
	}
	limit := meter.Left(overhead.Prune) + 2*((added+PerSegment-1)/PerSegment)
	old := make([]place, 0, 8)
	ranger := new(collections.Range[place]).
		StartInclusive(collections.Join(from, uint64(0))).
		EndExclusive(collections.Join(last+1, uint64(0)))
	err := r.segments.Walk(ctx, ranger, func(at place, _ types.HeightReceipts) (bool, error) {
		old = append(old, at)
		return len(old) >= limit, nil
	})
	if err != nil {
		return from, err
	}
	meter.Consume(overhead.Prune, len(old))
	for _, at := range old {
		if err := r.segments.Remove(ctx, at); err != nil {
			return from, err
		}
	}
	if len(old) > 0 {
		from = old[len(old)-1].K1()
	}
	return from, nil
}

// InitGenesis implements state.Component.
func (r *Receipts) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	for _, segment := range genesis.Receipts {
		if err := r.Put(ctx, segment.Height, segment.Receipts); err != nil {
			return err
		}
	}
	return nil
}

// ExportGenesis implements state.Component: the receipts by height.
func (r *Receipts) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	var heights []types.HeightReceipts
	err := r.segments.Walk(ctx, nil, func(at place, segment types.HeightReceipts) (bool, error) {
		if n := len(heights); n > 0 && heights[n-1].Height == at.K1() {
			heights[n-1].Receipts = append(heights[n-1].Receipts, segment.Receipts...)
			return false, nil
		}
		heights = append(heights, segment)
		return false, nil
	})
	genesis.Receipts = heights
	return err
}

// CheckInvariants implements state.Component: segments hold receipts of their height, at most as many as fit, and none is of a
// height that the sweep has passed.
func (r *Receipts) CheckInvariants(ctx context.Context) error {
	lane, err := r.lane.Get(ctx)
	if err != nil {
		return err
	}
	return r.segments.Walk(ctx, nil, func(at place, segment types.HeightReceipts) (bool, error) {
		n := len(segment.Receipts)
		if segment.Height != at.K1() || at.K2()%PerSegment != 0 || n == 0 || n > PerSegment || segment.Height < lane.ReceiptsFrom {
			return true, types.ErrInternal.Wrapf("receipts at %d, position %d: %d of height %d", at.K1(), at.K2(), n, segment.Height)
		}
		return false, nil
	})
}
