package keeper

import (
	"context"
	"encoding/binary"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Watchable implements types.QueryServer.
func (s *server) Watchable(
	context.Context, *types.QueryWatchableRequest,
) (*types.QueryWatchableResponse, error) {
	return &types.QueryWatchableResponse{Stores: s.engine.Watches.Watcher().Watchable()}, nil
}

// WatchKey implements types.QueryServer.
func (s *server) WatchKey(
	ctx context.Context, req *types.QueryWatchKeyRequest,
) (*types.QueryWatchKeyResponse, error) {
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	watcher := s.engine.Watches.Watcher()
	key, err := watcher.Parse(req.GetText())
	if err != nil {
		return nil, invalidArgument(err)
	}
	response := &types.QueryWatchKeyResponse{Key: key}
	if response.Key.When = req.GetWhen(); response.Key.When == nil {
		return response, nil
	}
	if err := watcher.Check(response.Key); err != nil {
		return nil, invalidArgument(err)
	}
	response.Holds, err = watcher.Holds(ctx, response.Key)
	return response, err
}

// Watches implements types.QueryServer.
func (s *server) Watches(
	ctx context.Context, req *types.QueryWatchesRequest,
) (*types.QueryWatchesResponse, error) {
	looking, err := state.Lookups(ctx)
	if err != nil {
		return nil, err
	}
	ctx = looking
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	switch {
	case (req.GetStore() == "") == (req.GetActor() == ""):
		return nil, status.Error(codes.InvalidArgument, "state a store or an actor: one of them")
	case req.Actor != "" && len(req.Prefix) > 0:
		return nil, status.Error(codes.InvalidArgument, "a prefix needs its store")
	case req.Actor != "":
		return s.watchesOf(ctx, req)
	case len(req.Prefix) > 0:
		key := types.WatchKey{Store: req.Store, Prefix: req.Prefix}
		if err := key.Validate(); err != nil {
			return nil, invalidArgument(err)
		}
		from := collections.Join4(req.Store, req.Prefix, []byte{}, uint64(0))
		return s.watchesFrom(ctx, req, from, func(at triggers.WatchPlace) bool { return slices.Equal(at.K2(), req.Prefix) })
	default:
		if err := (types.WatchKey{Store: req.Store, Prefix: []byte{0}}).Validate(); err != nil {
			return nil, invalidArgument(err)
		}
		from := collections.Join4(req.Store, []byte{}, []byte{}, uint64(0))
		return s.watchesFrom(ctx, req, from, func(triggers.WatchPlace) bool { return true })
	}
}

// watchesFrom lists the watches of a store from a position on, while wanted: those without a condition, then those with
// one. The page's key is the position at which the next page starts.
func (s *server) watchesFrom(
	ctx context.Context, req *types.QueryWatchesRequest, from triggers.WatchPlace, wanted func(triggers.WatchPlace) bool,
) (*types.QueryWatchesResponse, error) {
	limit, offset, err := walkBounds(req.Pagination)
	if err != nil {
		return nil, err
	}
	first, conditional := from, false
	if key := req.Pagination.GetKey(); len(key) > 0 {
		if from, conditional, err = placeOfPage(req.Store, key); err != nil {
			return nil, err
		}
	}
	response := &types.QueryWatchesResponse{Pagination: &sdkquery.PageResponse{}}
	left, full, passedOver := newRoom(limit), false, uint64(0)
	list := func(conditional bool) func(triggers.WatchPlace) (bool, error) {
		return func(at triggers.WatchPlace) (bool, error) {
			if at.K1() != req.Store || !wanted(at) {
				return true, nil
			}
			gone, err := s.engine.Watches.Tombstones().Has(ctx, at.K4())
			switch {
			case err != nil:
				return true, err
			case gone:
				// The timer is not live, and a page passes over no more than it lists.
				if passedOver++; passedOver > limit {
					full, response.Pagination.NextKey = true, pageOfPlace(at, conditional)
				}
				return full, nil
			case offset > 0:
				offset--
				return false, nil
			}
			key := types.WatchKey{Store: req.Store, Prefix: slices.Clone(at.K2())}
			info, err := s.watchInfo(ctx, key, slices.Clone(at.K3()), at.K4())
			if err != nil {
				return true, err
			}
			if full = !left.take(ctx, &info); full {
				response.Pagination.NextKey = pageOfPlace(at, conditional)
				return true, nil
			}
			response.Watches = append(response.Watches, info)
			return false, nil
		}
	}
	if !conditional {
		if err := s.engine.Watches.WalkFrom(ctx, from, list(false)); err != nil || full {
			return response, err
		}
		from = first
	}
	return response, s.engine.Watches.Conditions().WalkFrom(ctx, from, list(true))
}

// pageOfPlace is the page key of a watch: seq ‖ length of owner ‖ owner ‖ prefix, and 0, or 1 for a watch with a condition.
func pageOfPlace(at triggers.WatchPlace, conditional bool) []byte {
	key := append(binary.BigEndian.AppendUint64(nil, at.K4()), byte(len(at.K3())))
	key = append(append(key, at.K3()...), at.K2()...)
	if conditional {
		return append(key, 1)
	}
	return append(key, 0)
}

// placeOfPage reads a page key.
func placeOfPage(store string, key []byte) (at triggers.WatchPlace, conditional bool, err error) {
	if len(key) <= 10 || len(key) <= 10+int(key[8]) || len(key) > 10+int(key[8])+types.MaxWatchKeyBytes || key[len(key)-1] > 1 {
		return at, false, status.Errorf(codes.InvalidArgument, "page key has %d bytes, want those of a next_key", len(key))
	}
	last := len(key) - 1
	owner, prefix := key[9:9+int(key[8])], key[9+int(key[8]):last]
	return collections.Join4(store, prefix, owner, binary.BigEndian.Uint64(key)), key[last] == 1, nil
}

// watchInfo finds the timer of a watch in its owner's record.
func (s *server) watchInfo(ctx context.Context, key types.WatchKey, owner sdk.AccAddress, seq uint64) (types.WatchInfo, error) {
	entries, err := s.engine.Owners.Of(ctx, owner)
	if err != nil {
		return types.WatchInfo{}, err
	}
	for _, entry := range entries {
		if entry.Seq != seq {
			continue
		}
		timer, err := s.engine.Records.Load(ctx, entry)
		for _, stated := range timer.WatchKeys() {
			if stated.Compare(key) == 0 {
				key.When = stated.When
			}
		}
		return s.watchOf(ctx, key, &timer), err
	}
	return types.WatchInfo{}, types.ErrInternal.Wrapf("watch of seq %d has no timer", seq)
}

func (s *server) watchOf(ctx context.Context, key types.WatchKey, t *types.Timer) types.WatchInfo {
	info := types.WatchInfo{
		Key: key, Actor: s.text(t.Actor), TimerId: t.IDHex(), Phase: t.PhaseAt(types.MomentOf(ctx)), ExpiresAt: t.ExpiresAt,
	}
	if t.Spec.Trigger.Watch != nil {
		info.Remaining = t.Left()
	}
	return info
}

// watchesOf lists the watches of an actor. The config bounds them, so they are read whole and paged in memory.
func (s *server) watchesOf(ctx context.Context, req *types.QueryWatchesRequest) (*types.QueryWatchesResponse, error) {
	actor, err := s.engine.Addresses.Parse("actor", req.Actor)
	if err != nil {
		return nil, invalidArgument(err)
	}
	timers, err := s.engine.Records.Of(ctx, actor)
	if err != nil {
		return nil, err
	}
	var all []types.WatchInfo
	for i := range timers {
		for _, key := range timers[i].WatchKeys() {
			all = append(all, s.watchOf(ctx, key, &timers[i]))
		}
	}
	page, pagination, err := pageOf(ctx, all, req.Pagination, func(w types.WatchInfo) (types.WatchInfo, error) { return w, nil })
	return &types.QueryWatchesResponse{Watches: page, Pagination: pagination}, err
}
