package keeper

import (
	"context"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// receiptsPerSegment is how many receipts share one value: what the tree costs by the entry is shared by so many fires, and
// a value stays small enough to be hashed and read at once.
const receiptsPerSegment = 64

// receiptPlace is (height, position of the segment's first receipt in its block).
type receiptPlace = collections.Pair[uint64, uint64]

// putReceipts writes what a block's fires came to, a segment at a time.
func (k *Keeper) putReceipts(ctx context.Context, height uint64, receipts []types.Receipt) error {
	for first := 0; first < len(receipts); first += receiptsPerSegment {
		segment := types.HeightReceipts{Height: height, Receipts: receipts[first:min(first+receiptsPerSegment, len(receipts))]}
		if err := k.state.receipts.Set(ctx, collections.Join(height, uint64(first)), segment); err != nil {
			return err
		}
	}
	return nil
}

// receiptsOf reads at most so many receipts of a height from a position on, and one more, if there is one, for the caller
// to know.
func (k *Keeper) receiptsOf(ctx context.Context, height, from, limit uint64) (found []types.Receipt, err error) {
	skip := from % receiptsPerSegment
	ranger := new(collections.Range[receiptPlace]).
		StartInclusive(collections.Join(height, from-skip)).
		EndExclusive(collections.Join(height, ^uint64(0)))
	err = k.state.receipts.Walk(ctx, ranger, func(_ receiptPlace, segment types.HeightReceipts) (bool, error) {
		found = append(found, segment.Receipts[min(skip, uint64(len(segment.Receipts))):]...)
		skip = 0
		return uint64(len(found)) > limit, nil
	})
	return found[:min(uint64(len(found)), limit+1)], err
}

// Receipts implements types.QueryServer. A page's key is the position to go on from.
func (q queryServer) Receipts(
	ctx context.Context, req *types.QueryReceiptsRequest,
) (*types.QueryReceiptsResponse, error) {
	limit, from, err := pageStart(req.GetPagination())
	if err != nil {
		return nil, err
	}
	found, err := q.receiptsOf(ctx, req.GetHeight(), from, limit)
	if err != nil {
		return nil, err
	}
	response := &types.QueryReceiptsResponse{Pagination: &query.PageResponse{}}
	if uint64(len(found)) > limit {
		response.Pagination.NextKey, found = positionKey(from+limit), found[:limit]
	}
	for i := range found {
		response.Receipts = append(response.Receipts, q.receiptInfo(&found[i]))
	}
	return response, nil
}

// pruneReceipts removes receipts older than RECEIPT_RETENTION_BLOCKS: SWEEP_PER_BLOCK segments and twice what this block
// added, so that it never falls behind for long.
func (k *Keeper) pruneReceipts(ctx sdk.Context, b *block) error {
	if b.height <= b.config.ReceiptRetentionBlocks {
		return nil
	}
	keepFrom := b.height - b.config.ReceiptRetentionBlocks
	limit := int(b.config.SweepPerBlock) + 2*((len(b.receipts)+receiptsPerSegment-1)/receiptsPerSegment)
	old := make([]receiptPlace, 0, 8)
	ranger := new(collections.Range[receiptPlace]).
		StartInclusive(collections.Join(b.state.ReceiptsFrom, uint64(0))).
		EndExclusive(collections.Join(keepFrom+1, uint64(0)))
	err := k.state.receipts.Walk(ctx, ranger, func(place receiptPlace, _ types.HeightReceipts) (bool, error) {
		old = append(old, place)
		return len(old) >= limit, nil
	})
	if err != nil {
		return err
	}
	for _, place := range old {
		if err := k.state.receipts.Remove(ctx, place); err != nil {
			return err
		}
	}
	if len(old) > 0 {
		b.state.ReceiptsFrom = old[len(old)-1].K1()
	}
	return nil
}

// allReceipts are the receipts that are kept, by height.
func (k *Keeper) allReceipts(ctx context.Context) ([]types.HeightReceipts, error) {
	var heights []types.HeightReceipts
	err := k.state.receipts.Walk(ctx, nil, func(place receiptPlace, segment types.HeightReceipts) (bool, error) {
		if n := len(heights); n > 0 && heights[n-1].Height == place.K1() {
			heights[n-1].Receipts = append(heights[n-1].Receipts, segment.Receipts...)
			return false, nil
		}
		heights = append(heights, segment)
		return false, nil
	})
	return heights, err
}
