package keeper

import (
	"context"
	"encoding/binary"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// MaxPageEntries bounds a page of a query, whatever the request asks for.
	MaxPageEntries = 1_000
	// MaxPageBytes bounds the entries of a page in bytes, as protobuf encodes them. A page that it cuts short has a
	// next_key. An entry is always shorter.
	MaxPageBytes = 1 << 20
	// MaxPageOffset bounds the entries that a page may skip, since skipping reads them. A next_key skips nothing.
	MaxPageOffset = 10_000
	// GasPerByte is charged for each byte of an answer, in addition to what is read for it: it pays for encoding it, as a
	// rule in JSON.
	GasPerByte = 50
	// QueryGas is charged for each query that contracts and modules may make, before it reads anything, whatever comes of
	// it: it pays for the request, the look-up and the answer's frame.
	QueryGas = 10_000
	// DecodeGasPerByte is charged for each byte of messages that the query Timer decodes, before it does.
	DecodeGasPerByte = 100
)

// sized is a message whose encoded length is known.
type sized interface{ Size() int }

// beginQuery charges a query as such.
func beginQuery(ctx context.Context) {
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(QueryGas, "query")
}

// charge consumes gas for what an answer holds. Contracts and modules pay it; a node may limit it for queries from outside
// (query-gas-limit).
func charge(ctx context.Context, part sized) {
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(GasPerByte*uint64(part.Size()), "bytes of an answer")
}

// room is what is left of a page.
type room struct{ entries, bytes uint64 }

func newRoom(entries uint64) *room { return &room{entries, MaxPageBytes} }

// take reports whether an entry fits the page, and charges it. The first one always does, so that every page goes on.
func (r *room) take(ctx context.Context, entry sized) bool {
	size := uint64(entry.Size())
	if r.entries == 0 || size > r.bytes && r.bytes < MaxPageBytes {
		return false
	}
	charge(ctx, entry)
	r.entries--
	r.bytes -= min(size, r.bytes)
	return true
}

// queuePage reads one page of the queue from a key to a height. The page's key is the queue key at which the next page
// starts.
func (s *server) queuePage(
	ctx context.Context, from schedule.Key, height uint64, page *sdkquery.PageRequest, verdict bool, keep func(*types.Timer) bool,
) ([]types.TimerInfo, *sdkquery.PageResponse, error) {
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return nil, nil, err
	}
	limit, offset, err := walkBounds(page)
	if err != nil {
		return nil, nil, err
	}
	from, err = firstOfPage(from, page)
	if err != nil {
		return nil, nil, err
	}
	var infos []types.TimerInfo
	var failure error
	left := newRoom(limit)
	_, next, complete, err := s.engine.Records.Page(ctx, from, height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		switch {
		case !keep(&e.Value):
			return schedule.Pass
		case offset > 0:
			offset--
			return schedule.Pass
		}
		info, err := s.listed(ctx, &config, &e.Value)
		if failure = err; err != nil || !left.take(ctx, &info) {
			return schedule.Stop
		}
		infos = append(infos, info)
		return schedule.Pass
	})
	if err == nil {
		err = failure
	}
	if err != nil {
		return nil, nil, err
	}
	response := &sdkquery.PageResponse{}
	if !complete {
		response.NextKey = pageKey(next)
	}
	return infos, response, s.judge(ctx, infos, verdict)
}

// walkedPage reads one page of the timers that walk passes; keyOf names the one with which the next page starts.
func (s *server) walkedPage(
	ctx context.Context, page *sdkquery.PageRequest, keyOf func(*types.Timer) []byte,
	walk func(fn func(*types.Timer) (enough bool, err error)) error,
) (infos []types.TimerInfo, next *sdkquery.PageResponse, err error) {
	limit, offset, err := walkBounds(page)
	if err != nil {
		return nil, nil, err
	}
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return nil, nil, err
	}
	next = &sdkquery.PageResponse{}
	left := newRoom(limit)
	err = walk(func(t *types.Timer) (bool, error) {
		if offset > 0 {
			offset--
			return false, nil
		}
		info, err := s.listed(ctx, &config, t)
		if err != nil {
			return true, err
		}
		if !left.take(ctx, &info) {
			next.NextKey = keyOf(t)
			return true, nil
		}
		infos = append(infos, info)
		return false, nil
	})
	return infos, next, err
}

// firstOfPage is the first key that a page may hold: from, or that of the page if it comes later.
func firstOfPage(from schedule.Key, page *sdkquery.PageRequest) (schedule.Key, error) {
	if len(page.GetKey()) == 0 {
		return from, nil
	}
	first, err := parsePageKey(page.Key)
	if err == nil && first.Compare(from) < 0 {
		first = from
	}
	return first, err
}

func parsePageKey(key []byte) (schedule.Key, error) {
	if len(key) != 16 {
		return schedule.Key{}, status.Errorf(codes.InvalidArgument, "page key has %d bytes, want the 16 of a next_key", len(key))
	}
	return schedule.Key{Due: binary.BigEndian.Uint64(key), Seq: binary.BigEndian.Uint64(key[8:])}, nil
}

func pageKey(key schedule.Key) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, key.Due), key.Seq)
}

// errReverse refuses to list from the end.
var errReverse = status.Error(codes.InvalidArgument, "reverse is not supported: this list has one order only")

// errCount refuses to count a list that is not counted otherwise.
var errCount = status.Error(codes.InvalidArgument, "count_total is not supported: to count this list is to read all of it")

// pageLimit is the limit of a page, with the SDK's default and a bound of its own.
func pageLimit(page *sdkquery.PageRequest) uint64 {
	limit := page.GetLimit()
	if limit == 0 {
		limit = sdkquery.DefaultLimit
	}
	return min(limit, MaxPageEntries)
}

// pageBounds reads limit and offset.
func pageBounds(page *sdkquery.PageRequest) (limit, offset uint64, err error) {
	if len(page.GetKey()) > 0 && page.GetOffset() > 0 {
		return 0, 0, status.Error(codes.InvalidArgument, "state a page key or an offset, not both")
	}
	return pageLimit(page), page.GetOffset(), nil
}

// inOrder refuses what a list that is walked in its own order can't do.
func inOrder(page *sdkquery.PageRequest) error {
	switch {
	case page.GetReverse():
		return errReverse
	case page.GetCountTotal():
		return errCount
	default:
		return nil
	}
}

// walkBounds is pageBounds for lists that are walked, in their own order, to reach an offset.
func walkBounds(page *sdkquery.PageRequest) (limit, offset uint64, err error) {
	if err := inOrder(page); err != nil {
		return 0, 0, err
	}
	limit, offset, err = pageBounds(page)
	if err == nil && offset > MaxPageOffset {
		err = status.Errorf(codes.InvalidArgument, "offset is %d, want at most %d; a next_key goes further", offset, MaxPageOffset)
	}
	return limit, offset, err
}

// pageOf takes a page of a list in memory, whose entries are made as they are taken. The page's key is the position at
// which the next page starts; in reverse, that from the end.
func pageOf[T, E any, P interface {
	*E
	sized
}](ctx context.Context, all []T, page *sdkquery.PageRequest, entry func(T) (E, error)) ([]E, *sdkquery.PageResponse, error) {
	limit, first, err := pageStart(page)
	if err != nil {
		return nil, nil, err
	}
	total := uint64(len(all))
	response := &sdkquery.PageResponse{Total: total}
	var taken []E
	left := newRoom(limit)
	for position := first; position < total; position++ {
		at := position
		if page.GetReverse() {
			at = total - 1 - position
		}
		e, err := entry(all[at])
		if err != nil {
			return nil, nil, err
		}
		if !left.take(ctx, P(&e)) {
			response.NextKey = positionKey(position)
			break
		}
		taken = append(taken, e)
	}
	return taken, response, nil
}

// pageStart reads the limit of a page and the position that it begins at, for lists whose key is a position.
func pageStart(page *sdkquery.PageRequest) (limit, first uint64, err error) {
	limit, first, err = pageBounds(page)
	if err != nil {
		return 0, 0, err
	}
	if key := page.GetKey(); len(key) > 0 {
		if first, err = parsePosition(key); err != nil {
			return 0, 0, err
		}
	}
	// A position beyond every list, small enough that the end of a page can be computed without overflow.
	return limit, min(first, 1<<62), nil
}

func positionKey(position uint64) []byte { return binary.BigEndian.AppendUint64(nil, position) }

func parsePosition(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, status.Errorf(codes.InvalidArgument, "page key has %d bytes, want the 8 of a next_key", len(key))
	}
	return binary.BigEndian.Uint64(key), nil
}
