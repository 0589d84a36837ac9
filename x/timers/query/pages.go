package query

import (
	"context"
	"encoding/binary"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// MaxPageEntries bounds a page of a query, whatever the request asks for.
const MaxPageEntries = 1_000

// queuePage reads one page of the queue from a key to a height. The page's key is the queue key at which the next page
// starts.
func (s *server) queuePage(
	ctx context.Context, from calendar.Key, height uint64, page *sdkquery.PageRequest, keep func(*types.Timer) bool,
) ([]types.TimerInfo, *sdkquery.PageResponse, error) {
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
	found, next, complete, err := s.engine.Records.Page(ctx, from, height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
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
		if infos[i], err = s.info(ctx, &found[i].Value); err != nil {
			return nil, nil, err
		}
	}
	response := &sdkquery.PageResponse{}
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
func pageBounds(page *sdkquery.PageRequest) (limit, offset uint64, err error) {
	if page.GetReverse() {
		return 0, 0, status.Error(codes.InvalidArgument, "reverse is not supported: this list has one order only")
	}
	limit = page.GetLimit()
	if limit == 0 {
		limit = sdkquery.DefaultLimit
	}
	if len(page.GetKey()) > 0 && page.GetOffset() > 0 {
		return 0, 0, status.Error(codes.InvalidArgument, "state a page key or an offset, not both")
	}
	return min(limit, MaxPageEntries), page.GetOffset(), nil
}

// boundedPage is the same for lists that the SDK paginates. The SDK has no bound on the limit, and no gRPC code for
// what it refuses.
func boundedPage(page *sdkquery.PageRequest) (*sdkquery.PageRequest, error) {
	if len(page.GetKey()) > 0 && page.GetOffset() > 0 {
		return nil, status.Error(codes.InvalidArgument, "state a page key or an offset, not both")
	}
	if page.GetLimit() <= MaxPageEntries {
		return page, nil
	}
	bounded := *page
	bounded.Limit = MaxPageEntries
	return &bounded, nil
}

// pageOf takes a page of a list in memory. The page's key is the position at which the next page starts.
func pageOf[T any](all []T, page *sdkquery.PageRequest) ([]T, *sdkquery.PageResponse, error) {
	limit, first, err := pageStart(page)
	if err != nil {
		return nil, nil, err
	}
	total := uint64(len(all))
	start := min(first, total)
	end := min(start+limit, total)
	response := &sdkquery.PageResponse{Total: total}
	if end < total {
		response.NextKey = positionKey(end)
	}
	return all[start:end], response, nil
}

// pageStart reads the limit of a page and the position that it begins at, for lists whose key is a position.
func pageStart(page *sdkquery.PageRequest) (limit, first uint64, err error) {
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
	// A position beyond every list, small enough that the end of a page can be computed without overflow.
	return limit, min(first, 1<<62), nil
}

func positionKey(position uint64) []byte { return binary.BigEndian.AppendUint64(nil, position) }
