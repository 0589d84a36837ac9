package state

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/collections"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/testutil"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// newStore returns an empty component with a lane whose watermark is as stated.
func newStore(t require.TestingT, from uint64) (*Receipts, context.Context) {
	key := storetypes.NewKVStoreKey(types.StoreKey)
	ctx := testutil.DefaultContext(key, storetypes.NewTransientStoreKey("transient"))
	sb := collections.NewSchemaBuilder(runtime.NewKVStoreService(key))
	lane := NewLane(codec.NewProtoCodec(codectypes.NewInterfaceRegistry()), sb)
	r := NewReceipts(sb, lane)
	_, err := sb.Build()
	require.NoError(t, err)
	require.NoError(t, lane.Set(ctx, types.LaneState{ReceiptsFrom: from, P50: math.LegacyZeroDec()}))
	return r, ctx
}

// some are n receipts whose deliveries are named by their position, each with watched keys of so many bytes.
func some(n, watched int) []types.Receipt {
	all := make([]types.Receipt, n)
	for i := range all {
		all[i] = types.Receipt{DeliverId: []byte(fmt.Sprint(i)), Paid: math.ZeroInt(), Tip: math.ZeroInt()}
		if watched > 0 {
			all[i].Matched = []types.WatchedKey{{Store: "bank", Key: make([]byte, watched)}}
		}
	}
	return all
}

// The positions of a height continue from segment to segment, and begin one at each multiple of PerSegment, whatever the
// receipts weigh. Who imports an export has the same segments.
//
// Rule: 2-receipts-segments
func TestPut_PositionsWithoutGaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, ctx := newStore(t, 0)
		var put []types.Receipt
		for range rapid.IntRange(0, 5).Draw(t, "runs") {
			put = append(put, some(rapid.IntRange(1, 70).Draw(t, "n"), rapid.SampledFrom([]int{0, 300, 5000}).Draw(t, "watched"))...)
		}
		segments, err := r.Put(ctx, 7, put)
		require.NoError(t, err)
		next, counted := uint64(0), 0
		var starts []uint64
		require.NoError(t, r.WalkSegments(ctx, nil, func(at place, receipts []types.Receipt) bool {
			require.Equal(t, next, at.K2())
			require.LessOrEqual(t, at.K2()%ReceiptsPerSegment+uint64(len(receipts)), uint64(ReceiptsPerSegment))
			for i := range receipts {
				require.Equal(t, put[int(next)+i].DeliverId, receipts[i].DeliverId)
			}
			starts, next, counted = append(starts, next), next+uint64(len(receipts)), counted+1
			return false
		}))
		require.Equal(t, uint64(len(put)), next)
		require.Equal(t, counted, segments)
		for multiple := uint64(0); multiple < next; multiple += ReceiptsPerSegment {
			require.Contains(t, starts, multiple)
		}
		require.NoError(t, r.CheckInvariants(ctx))

		genesis := &types.GenesisState{}
		require.NoError(t, r.ExportGenesis(ctx, genesis))
		other, otherCtx := newStore(t, 0)
		require.NoError(t, other.InitGenesis(otherCtx, genesis))
		var again []uint64
		require.NoError(t, other.WalkSegments(otherCtx, nil, func(at place, _ []types.Receipt) bool {
			again = append(again, at.K2())
			return false
		}))
		require.Equal(t, starts, again)
	})
}

// What is pruned leaves from the front: no height above the watermark has lost any, and at the watermark what is left follows
// without a gap.
func TestPrune_FromTheFront(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, ctx := newStore(t, 0)
		put := map[uint64]uint64{}
		for height := uint64(1); height < 9; height++ {
			put[height] = uint64(rapid.SampledFrom([]int{0, 1, 64, 65, 200}).Draw(t, "n"))
			_, err := r.Put(ctx, height, some(int(put[height]), rapid.SampledFrom([]int{0, 1000}).Draw(t, "watched")))
			require.NoError(t, err)
		}
		from := uint64(0)
		for range 5 {
			last, added := rapid.Uint64Range(0, 8).Draw(t, "last"), rapid.IntRange(0, 3).Draw(t, "added")
			before := from
			var err error
			from, err = r.Prune(ctx, from, last, &market.Overhead{}, added)
			require.NoError(t, err)
			require.GreaterOrEqual(t, from, before)
			require.LessOrEqual(t, from, max(last, before))
			lane, err := r.lane.Get(ctx)
			require.NoError(t, err)
			lane.ReceiptsFrom = from
			require.NoError(t, r.lane.Set(ctx, lane))
			require.NoError(t, r.CheckInvariants(ctx))
			left := map[uint64]uint64{}
			require.NoError(t, r.WalkSegments(ctx, nil, func(at place, receipts []types.Receipt) bool {
				left[at.K1()] += uint64(len(receipts))
				return false
			}))
			for height, n := range put {
				switch {
				case height < from:
					require.Zero(t, left[height])
				case height > from:
					require.Equal(t, n, left[height], "height %d, the watermark at %d", height, from)
				}
			}
		}
	})
}

func TestCheckInvariants_BrokenSegments(t *testing.T) {
	for name, breakIt := range map[string]func(r *Receipts, ctx context.Context) error{
		"a gap": func(r *Receipts, ctx context.Context) error {
			return r.segments.Remove(ctx, collections.Join(uint64(9), uint64(64)))
		},
		"a missing front": func(r *Receipts, ctx context.Context) error {
			return r.segments.Remove(ctx, collections.Join(uint64(9), uint64(0)))
		},
		"before the watermark": func(r *Receipts, ctx context.Context) error { _, err := r.Put(ctx, 4, some(1, 0)); return err },
		"none": func(r *Receipts, ctx context.Context) error {
			return r.put(ctx, 10, 0, types.HeightReceipts{Height: 10})
		},
		"of another height": func(r *Receipts, ctx context.Context) error {
			return r.put(ctx, 10, 0, types.HeightReceipts{Height: 11})
		},
		"no receipts at all": func(r *Receipts, ctx context.Context) error {
			return r.segments.Set(ctx, collections.Join(uint64(10), uint64(0)), []byte("x"))
		},
		"too many": func(r *Receipts, ctx context.Context) error {
			return r.put(ctx, 10, 0, types.HeightReceipts{Height: 10, Receipts: some(ReceiptsPerSegment+1, 0)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, ctx := newStore(t, 5)
			for height := uint64(5); height <= 9; height += 4 {
				_, err := r.Put(ctx, height, some(150, 0))
				require.NoError(t, err)
			}
			// The front of the watermark's own height may be pruned already.
			require.NoError(t, r.segments.Remove(ctx, collections.Join(uint64(5), uint64(0))))
			require.NoError(t, r.CheckInvariants(ctx))
			require.NoError(t, breakIt(r, ctx))
			require.ErrorIs(t, r.CheckInvariants(ctx), types.ErrInternal)
		})
	}
}

// put stores any segment.
func (r *Receipts) put(ctx context.Context, height, first uint64, segment types.HeightReceipts) error {
	value, err := segment.Marshal()
	if err != nil {
		return err
	}
	return r.segments.Set(ctx, collections.Join(height, first), value)
}
