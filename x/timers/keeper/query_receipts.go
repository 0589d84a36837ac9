package keeper

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// MaxDeliverySegments bounds the segments of receipts that a page of Deliveries reads, each the fires of one block, 64 at
// most.
const MaxDeliverySegments = 256

// GasPerReceipt is charged for each receipt that Deliveries looks at, in addition to what is read: it pays for decoding it.
const GasPerReceipt = 200

// place is that of a receipt: its height, and its position among those of the height.
type place = collections.Pair[uint64, uint64]

// walkReceipts passes the receipts of a range of segments to fn one by one, from a place on or, in reverse, back from it,
// until fn has enough or so many segments were read. It returns the place at which to continue, nil if there are no more.
func (s *server) walkReceipts(
	ctx context.Context, span collections.Ranger[place], from place, reverse bool, segments int,
	fn func(at place, r *types.Receipt) (enough bool),
) (next *place, err error) {
	err = s.engine.Receipts.WalkSegments(ctx, span, func(first place, receipts []types.Receipt) bool {
		for i := range receipts {
			if reverse {
				i = len(receipts) - 1 - i
			}
			at := collections.Join(first.K1(), first.K2()+uint64(i))
			if at.K1() == from.K1() && (at.K2() < from.K2() && !reverse || at.K2() > from.K2() && reverse) {
				continue
			}
			if segments == 0 || fn(at, &receipts[i]) {
				next = &at
				return true
			}
		}
		segments--
		return false
	})
	return next, err
}

// spanOf is the range of the segments from that of a place on or, in reverse, from there back.
func spanOf(from place, reverse bool) *collections.Range[place] {
	if reverse {
		return new(collections.Range[place]).EndInclusive(from).Descending()
	}
	return new(collections.Range[place]).StartInclusive(collections.Join(from.K1(), from.K2()-from.K2()%state.ReceiptsPerSegment))
}

// Receipts implements types.QueryServer. A page's key is the position at which the next page starts.
func (s *server) Receipts(
	ctx context.Context, req *types.QueryReceiptsRequest,
) (*types.QueryReceiptsResponse, error) {
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	page := req.GetPagination()
	limit, offset, err := pageBounds(page)
	if err != nil {
		return nil, err
	}
	if page.GetCountTotal() {
		return nil, errCount
	}
	if now := types.HeightOf(ctx); req.GetHeight() > now {
		return nil, status.Errorf(codes.OutOfRange, "height %d is in the future: the latest is %d", req.GetHeight(), now)
	}
	first, reverse := uint64(0), page.GetReverse()
	if reverse {
		first = ^uint64(0)
	}
	if len(page.GetKey()) > 0 {
		if first, err = parsePosition(page.Key); err != nil {
			return nil, err
		}
	}
	from := collections.Join(req.GetHeight(), first)
	span := spanOf(from, reverse)
	if reverse {
		span.StartInclusive(collections.Join(req.GetHeight(), uint64(0)))
	} else {
		span.EndExclusive(collections.Join(req.GetHeight(), ^uint64(0)))
	}
	response := &types.QueryReceiptsResponse{Pagination: &sdkquery.PageResponse{}}
	left := newRoom(limit)
	next, err := s.walkReceipts(ctx, span, from, reverse, -1, func(_ place, r *types.Receipt) bool {
		if offset > 0 {
			offset--
			return false
		}
		info := s.receiptInfo(r)
		if !left.take(ctx, &info) {
			return true
		}
		response.Receipts = append(response.Receipts, info)
		return false
	})
	if next != nil {
		response.Pagination.NextKey = positionKey(next.K2())
	}
	return response, err
}

// Deliveries implements types.QueryServer. A page's key is the height and the position of the receipt at which the next
// page starts.
func (s *server) Deliveries(
	ctx context.Context, req *types.QueryDeliveriesRequest,
) (*types.QueryDeliveriesResponse, error) {
	beginQuery(ctx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	wanted, err := s.parseDeliveries(req)
	if err != nil {
		return nil, err
	}
	from, reverse, limit, err := deliveriesPage(req.GetPagination())
	if err != nil {
		return nil, err
	}
	response := &types.QueryDeliveriesResponse{Pagination: &sdkquery.PageResponse{}}
	if response.KeptFrom, err = s.receiptsKeptFrom(ctx); err != nil {
		return nil, err
	}
	left := newRoom(limit)
	// The order of the list is against that of the receipts.
	next, err := s.walkReceipts(ctx, spanOf(from, !reverse), from, !reverse, MaxDeliverySegments, func(at place, r *types.Receipt) bool {
		sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(GasPerReceipt, "receipt")
		if !wanted(r) {
			return false
		}
		info := types.DeliveryInfo{Height: at.K1(), Receipt: s.receiptInfo(r)}
		if !left.take(ctx, &info) {
			return true
		}
		response.Deliveries = append(response.Deliveries, info)
		return false
	})
	if next != nil {
		response.Pagination.NextKey = binary.BigEndian.AppendUint64(positionKey(next.K1()), next.K2())
	}
	return response, err
}

// parseDeliveries returns what tells the receipts that a request asks for.
func (s *server) parseDeliveries(req *types.QueryDeliveriesRequest) (func(*types.Receipt) bool, error) {
	actor, err := s.engine.Addresses.Parse("actor", req.GetActor())
	if err != nil {
		return nil, invalidArgument(err)
	}
	prefix := ""
	if req.Id != "" {
		if prefix, err = types.ParseIDPrefix(req.Id); err != nil {
			return nil, invalidArgument(err)
		}
	}
	return func(r *types.Receipt) bool {
		return actor.Equals(sdk.AccAddress(r.Actor)) && strings.HasPrefix(hex.EncodeToString(r.TimerId), prefix)
	}, nil
}

// deliveriesPage reads where a page of deliveries starts: after all receipts or, in reverse, before them.
func deliveriesPage(page *sdkquery.PageRequest) (from place, reverse bool, limit uint64, err error) {
	reverse = page.GetReverse()
	if page.GetOffset() > 0 {
		return from, reverse, 0, status.Error(codes.InvalidArgument, "an offset is not supported: take the next_key of the page before")
	}
	if page.GetCountTotal() {
		return from, reverse, 0, errCount
	}
	limit = pageLimit(page)
	switch key := page.GetKey(); {
	case len(key) > 0:
		at, err := parsePageKey(key)
		return collections.Join(at.Due, at.Seq), reverse, limit, err
	case reverse:
		return collections.Join(uint64(0), uint64(0)), reverse, limit, nil
	default:
		return collections.Join(^uint64(0), ^uint64(0)), reverse, limit, nil
	}
}

// receiptsKeptFrom is the height from which on no receipts were pruned.
func (s *server) receiptsKeptFrom(ctx context.Context) (uint64, error) {
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return 0, err
	}
	lane, err := s.engine.Lane.Get(ctx)
	if err != nil {
		return 0, err
	}
	kept := max(lane.ReceiptsFrom, lane.ReceiptsUnkept)
	if now := types.HeightOf(ctx); now >= config.ReceiptRetentionBlocks {
		kept = max(kept, now-config.ReceiptRetentionBlocks)
	}
	return kept + 1, nil
}
