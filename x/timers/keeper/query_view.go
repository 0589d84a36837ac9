package keeper

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxPageEntries bounds a page of a query, whatever the request asks for.
const maxPageEntries = 1_000

// info is a timer as queries show it.
func (k *Keeper) info(ctx context.Context, t *types.Timer) (types.TimerInfo, error) {
	payload, err := k.payloadOf(ctx, t)
	if err != nil {
		return types.TimerInfo{}, err
	}
	info := types.TimerInfo{
		Id: t.IDHex(), Actor: k.bech32(t.Actor), FeePayer: k.bech32(t.Payer()),
		Status: statusOf(t, heightOf(ctx)), Tier: tierOf(t.Due, heightOf(ctx)),
		Due: t.Due, ExpiresAt: t.ExpiresAt, GasLimit: t.GasLimit, Trigger: t.Trigger,
		Handler: t.HandlerName(), Payload: payload, Bid: t.Bid,
		ScheduleHeight: t.ScheduleHeight, Seq: t.Seq, FireSeq: t.FireSeq, SetAside: t.SetAside,
	}
	lifeInfo(&info, t)
	info.UnfundedSince = t.UnfundedSince
	info.BidLocked = t.BidLocked
	if info.Matched, err = k.matchedSoFar(ctx, t); err != nil {
		return types.TimerInfo{}, err
	}
	// Only an account's payload decodes; another actor's is shown as bytes alone.
	var messages types.AccountPayload
	if k.cdc.Unmarshal(payload, &messages) == nil {
		info.Messages = messages.Messages
	}
	return info, nil
}

// statusOf tells where a timer stands at the end of block now: one that was due and did not fire waits for the next.
func statusOf(t *types.Timer, now uint64) types.TimerStatus {
	switch {
	case t.ExpiredAt(now + 1):
		return types.TimerStatusExpired
	case t.SetAside == types.Watching:
		return types.TimerStatusWatching
	case t.SetAside != types.NotSetAside:
		return types.TimerStatusSetAside
	case t.Due <= now:
		return types.TimerStatusReady
	default:
		return types.TimerStatusPending
	}
}

func tierOf(due, now uint64) types.TimerTier {
	switch calendar.TierOf(due, now) {
	case calendar.Near:
		return types.TimerTierNear
	case calendar.Epoch:
		return types.TimerTierEpoch
	default:
		return types.TimerTierFar
	}
}

func (k *Keeper) receiptInfo(r *types.Receipt) types.ReceiptInfo {
	return types.ReceiptInfo{
		TimerId: hex.EncodeToString(r.TimerId), DeliverId: hex.EncodeToString(r.DeliverId), Actor: k.bech32(r.Actor),
		FireSeq: r.FireSeq, Success: r.Success, Codespace: r.Codespace, Code: r.Code,
		Cycles: r.Cycles, Cells: r.Cells, Paid: r.Paid.String(), Tip: r.Tip.String(),
		Bid: r.Bid, BidPaid: r.BidPaid, Matched: r.Matched, ScoreBid: bidText(r),
	}
}

// entryMayMatch compares the part of the id that the actor's record keeps with a hexadecimal prefix.
func entryMayMatch(idPrefix uint64, prefix string) bool {
	known := fmt.Sprintf("%016x", idPrefix)
	return strings.HasPrefix(known, prefix) || strings.HasPrefix(prefix, known)
}

// queuePage reads one page of the queue from a key to a height. The page's key is the queue key to go on from.
func (k *Keeper) queuePage(
	ctx context.Context, from calendar.Key, height uint64, page *query.PageRequest, keep func(*types.Timer) bool,
) ([]types.TimerInfo, *query.PageResponse, error) {
	limit, offset, err := pageBounds(page)
	if err != nil {
		return nil, nil, err
	}
	if len(page.GetKey()) > 0 {
		key, err := parsePageKey(page.Key)
		if err != nil {
			return nil, nil, err
		}
		if key.Compare(from) > 0 {
			from = key
		}
	}
	found, next, complete, err := k.calendar.Page(ctx, from, height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		switch {
		case !keep(&e.Value):
			return calendar.Pass
		case offset > 0:
			offset--
			return calendar.Pass
		case limit == 0:
			return calendar.Stop
		default:
			limit--
			return calendar.Take
		}
	})
	if err != nil {
		return nil, nil, err
	}
	infos := make([]types.TimerInfo, len(found))
	for i := range found {
		if infos[i], err = k.info(ctx, &found[i].Value); err != nil {
			return nil, nil, err
		}
	}
	response := &query.PageResponse{}
	if !complete {
		response.NextKey = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, next.Due), next.Seq)
	}
	return infos, response, nil
}

func parsePageKey(key []byte) (calendar.Key, error) {
	if len(key) != 16 {
		return calendar.Key{}, status.Errorf(codes.InvalidArgument, "page key has %d bytes, want the 16 of a next_key", len(key))
	}
	return calendar.Key{Due: binary.BigEndian.Uint64(key), Seq: binary.BigEndian.Uint64(key[8:])}, nil
}

// pageBounds reads limit and offset; the limit has the SDK's default and a bound of its own.
func pageBounds(page *query.PageRequest) (limit, offset uint64, err error) {
	if page.GetReverse() {
		return 0, 0, status.Error(codes.InvalidArgument, "this list has one order only: reverse is not supported")
	}
	limit = page.GetLimit()
	if limit == 0 {
		limit = query.DefaultLimit
	}
	if len(page.GetKey()) > 0 && page.GetOffset() > 0 {
		return 0, 0, status.Error(codes.InvalidArgument, "state a page key or an offset, not both")
	}
	return min(limit, maxPageEntries), page.GetOffset(), nil
}

// boundedPage is the same for lists that the SDK pages: it knows no bound, and no code for what it refuses.
func boundedPage(page *query.PageRequest) (*query.PageRequest, error) {
	if len(page.GetKey()) > 0 && page.GetOffset() > 0 {
		return nil, status.Error(codes.InvalidArgument, "state a page key or an offset, not both")
	}
	if page.GetLimit() <= maxPageEntries {
		return page, nil
	}
	bounded := *page
	bounded.Limit = maxPageEntries
	return &bounded, nil
}

// pageOf cuts a page out of a list in memory. The page's key is the position to go on from.
func pageOf[T any](all []T, page *query.PageRequest) ([]T, *query.PageResponse, error) {
	limit, first, err := pageStart(page)
	if err != nil {
		return nil, nil, err
	}
	total := uint64(len(all))
	start := min(first, total)
	end := min(start+limit, total)
	response := &query.PageResponse{Total: total}
	if end < total {
		response.NextKey = positionKey(end)
	}
	return all[start:end], response, nil
}

// pageStart reads the limit of a page and the position that it begins at, for lists whose key is a position.
func pageStart(page *query.PageRequest) (limit, first uint64, err error) {
	limit, first, err = pageBounds(page)
	if err != nil {
		return 0, 0, err
	}
	if key := page.GetKey(); len(key) > 0 {
		if len(key) != 8 {
			return 0, 0, status.Errorf(codes.InvalidArgument, "page key has %d bytes, want the 8 of a next_key", len(key))
		}
		first = binary.BigEndian.Uint64(key)
	}
	// A position beyond every list, from which a page's end can still be reckoned.
	return limit, min(first, 1<<62), nil
}

func positionKey(position uint64) []byte { return binary.BigEndian.AppendUint64(nil, position) }
