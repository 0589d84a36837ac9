package keeper

import (
	"context"
	"encoding/binary"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Watchable implements types.QueryServer.
func (q queryServer) Watchable(
	context.Context, *types.QueryWatchableRequest,
) (*types.QueryWatchableResponse, error) {
	return &types.QueryWatchableResponse{Stores: q.watcher.Watchable()}, nil
}

// WatchKey implements types.QueryServer.
func (q queryServer) WatchKey(
	_ context.Context, req *types.QueryWatchKeyRequest,
) (*types.QueryWatchKeyResponse, error) {
	key, err := q.watcher.Parse(req.GetText())
	if err != nil {
		return nil, invalidArgument(err)
	}
	return &types.QueryWatchKeyResponse{Key: key}, nil
}

// Watches implements types.QueryServer.
func (q queryServer) Watches(
	ctx context.Context, req *types.QueryWatchesRequest,
) (*types.QueryWatchesResponse, error) {
	switch {
	case (req.GetStore() == "") == (req.GetActor() == ""):
		return nil, status.Error(codes.InvalidArgument, "state a store or an actor: one of them")
	case req.Actor != "" && len(req.Prefix) > 0:
		return nil, status.Error(codes.InvalidArgument, "a prefix needs its store")
	case req.Actor != "":
		return q.watchesOf(ctx, req)
	case len(req.Prefix) > 0:
		key := types.WatchKey{Store: req.Store, Prefix: req.Prefix}
		if err := key.Validate(); err != nil {
			return nil, invalidArgument(err)
		}
		from := collections.Join3(req.Store, req.Prefix, uint64(0))
		return q.watchesFrom(ctx, req, from, func(at watchPlace) bool { return slices.Equal(at.K2(), req.Prefix) })
	default:
		if err := (types.WatchKey{Store: req.Store, Prefix: []byte{0}}).Validate(); err != nil {
			return nil, invalidArgument(err)
		}
		from := collections.Join3(req.Store, []byte{}, uint64(0))
		return q.watchesFrom(ctx, req, from, func(watchPlace) bool { return true })
	}
}

type watchPlace = collections.Triple[string, []byte, uint64]

// watchesFrom lists the watches of a store from a place on, while wanted. The page's key is the place to go on from:
// seq ‖ prefix.
func (q queryServer) watchesFrom(
	ctx context.Context, req *types.QueryWatchesRequest, from watchPlace, wanted func(watchPlace) bool,
) (*types.QueryWatchesResponse, error) {
	limit, offset, err := pageBounds(req.Pagination)
	if err != nil {
		return nil, err
	}
	if key := req.Pagination.GetKey(); len(key) > 0 {
		if len(key) <= 8 || len(key) > 8+types.MaxWatchKeyBytes {
			return nil, status.Errorf(codes.InvalidArgument, "page key has %d bytes, want those of a next_key", len(key))
		}
		from = collections.Join3(req.Store, key[8:], binary.BigEndian.Uint64(key))
	}
	response := &types.QueryWatchesResponse{Pagination: &query.PageResponse{}}
	ranger := new(collections.Range[watchPlace]).StartInclusive(from)
	err = q.state.watches.Walk(ctx, ranger, func(at watchPlace, owner []byte) (bool, error) {
		switch {
		case at.K1() != req.Store || !wanted(at):
			return true, nil
		case offset > 0:
			offset--
			return false, nil
		case uint64(len(response.Watches)) == limit:
			response.Pagination.NextKey = append(binary.BigEndian.AppendUint64(nil, at.K3()), at.K2()...)
			return true, nil
		}
		key := types.WatchKey{Store: req.Store, Prefix: slices.Clone(at.K2())}
		info, err := q.watchInfo(ctx, key, owner, at.K3())
		response.Watches = append(response.Watches, info)
		return false, err
	})
	return response, err
}

// watchInfo finds the timer of a watch by its owner's record.
func (k *Keeper) watchInfo(ctx context.Context, key types.WatchKey, owner sdk.AccAddress, seq uint64) (types.WatchInfo, error) {
	entries, err := k.entries(ctx, owner)
	if err != nil {
		return types.WatchInfo{}, err
	}
	for _, entry := range entries {
		if entry.Seq != seq {
			continue
		}
		timer, err := k.load(ctx, entry)
		return k.watchOf(ctx, key, &timer), err
	}
	return types.WatchInfo{}, types.ErrInternal.Wrapf("watch of seq %d has no timer", seq)
}

func (k *Keeper) watchOf(ctx context.Context, key types.WatchKey, t *types.Timer) types.WatchInfo {
	info := types.WatchInfo{
		Key: key, Actor: k.bech32(t.Actor), TimerId: t.IDHex(), Status: statusOf(t, heightOf(ctx)), ExpiresAt: t.ExpiresAt,
	}
	if t.Trigger.Watch != nil {
		info.Remaining = t.Trigger.Watch.Remaining
	}
	return info
}

// watchesOf lists the watches of an actor. The config bounds them, so they are read whole and paged in memory.
func (q queryServer) watchesOf(ctx context.Context, req *types.QueryWatchesRequest) (*types.QueryWatchesResponse, error) {
	actor, err := q.parseAddress("actor", req.Actor)
	if err != nil {
		return nil, invalidArgument(err)
	}
	timers, err := q.TimersOf(ctx, actor)
	if err != nil {
		return nil, err
	}
	var all []types.WatchInfo
	for i := range timers {
		for _, key := range timers[i].WatchKeys() {
			all = append(all, q.watchOf(ctx, key, &timers[i]))
		}
	}
	page, pagination, err := pageOf(all, req.Pagination)
	return &types.QueryWatchesResponse{Watches: page, Pagination: pagination}, err
}
