package keeper

import (
	"context"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// queryServer answers what SPEC §11 lists. Queries at a height answer as of the end of that block.
type queryServer struct{ *Keeper }

// NewQueryServer returns the module's query server.
func NewQueryServer(k *Keeper) types.QueryServer { return queryServer{k} }

var _ types.QueryServer = queryServer{}

// Params implements types.QueryServer.
func (q queryServer) Params(ctx context.Context, _ *types.QueryParamsRequest) (*types.QueryParamsResponse, error) {
	config, err := q.Config(ctx)
	if err != nil {
		return nil, err
	}
	response := &types.QueryParamsResponse{
		Config: config,
		Opcodes: types.Opcodes{
			SysCancelTimer:       types.OpcodeSysCancelTimer,
			SysUpdateTimerConfig: types.OpcodeSysUpdateTimerConfig,
			SysExtendTimer:       types.OpcodeSysExtendTimer,
		},
		Authority: q.authority,
	}
	next, found, err := findItem(ctx, q.state.nextConfig)
	if found {
		response.NextConfig = &next
	}
	return response, err
}

// Timer implements types.QueryServer.
func (q queryServer) Timer(ctx context.Context, req *types.QueryTimerRequest) (*types.QueryTimerResponse, error) {
	actor, err := q.parseAddress("actor", req.GetActor())
	if err != nil {
		return nil, invalidArgument(err)
	}
	prefix, err := types.ParseTimerIDPrefix(req.GetId())
	if err != nil {
		return nil, invalidArgument(err)
	}
	entries, err := q.entries(ctx, actor)
	if err != nil {
		return nil, err
	}
	var found []types.Timer
	for _, entry := range entries {
		if !entryMayMatch(entry.IdPrefix, prefix) {
			continue
		}
		timer, err := q.load(ctx, entry)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(timer.IDHex(), prefix) {
			found = append(found, timer)
		}
	}
	switch len(found) {
	case 0:
		return nil, status.Error(codes.NotFound, types.ErrTimerNotFound.Wrapf("%s has no live timer %s", req.Actor, prefix).Error())
	case 1:
		info, err := q.info(ctx, &found[0])
		return &types.QueryTimerResponse{Timer: info}, err
	default:
		return nil, invalidArgument(types.ErrAmbiguousTimerID.Wrapf(
			"%s fits %d timers of %s, %s and %s among them; state more digits",
			prefix, len(found), req.Actor, found[0].IDHex(), found[1].IDHex()))
	}
}

// TimersByActor implements types.QueryServer. The config bounds an actor's timers, so its entries are read whole and
// paged in memory; records are read for the page alone.
func (q queryServer) TimersByActor(
	ctx context.Context, req *types.QueryTimersByActorRequest,
) (*types.QueryTimersByActorResponse, error) {
	actor, err := q.parseAddress("actor", req.GetActor())
	if err != nil {
		return nil, invalidArgument(err)
	}
	entries, err := q.entries(ctx, actor)
	if err != nil {
		return nil, err
	}
	entries, page, err := pageOf(entries, req.Pagination)
	if err != nil {
		return nil, err
	}
	response := &types.QueryTimersByActorResponse{Pagination: page}
	for _, entry := range entries {
		timer, err := q.load(ctx, entry)
		if err != nil {
			return nil, err
		}
		info, err := q.info(ctx, &timer)
		if err != nil {
			return nil, err
		}
		response.Timers = append(response.Timers, info)
	}
	first, err := q.actorPage(ctx, actor, 0)
	response.Total = first.Timers
	return response, err
}

// Due implements types.QueryServer.
func (q queryServer) Due(ctx context.Context, req *types.QueryDueRequest) (*types.QueryDueResponse, error) {
	if req.GetHeight() == 0 || req.GetHeight() == ^uint64(0) {
		return nil, status.Errorf(codes.InvalidArgument, "height is %d, want 1 to %d", req.GetHeight(), ^uint64(0)-1)
	}
	from := calendar.Key{Due: req.Height}
	if req.Until {
		from = calendar.Key{}
	}
	timers, page, err := q.queuePage(ctx, from, req.Height, req.Pagination, func(*types.Timer) bool { return true })
	return &types.QueryDueResponse{Timers: timers, Pagination: page}, err
}

// readyInQueueOrder lists what is ready as it lies in the queue.
func (q queryServer) readyInQueueOrder(ctx context.Context, page *query.PageRequest) (*types.QueryReadyResponse, error) {
	lane, err := q.state.lane.Get(ctx)
	if err != nil {
		return nil, err
	}
	now := heightOf(ctx)
	canFire := func(t *types.Timer) bool { return !t.ExpiredAt(now + 1) }
	timers, next, err := q.queuePage(ctx, calendarKey(lane.Live), now, page, canFire)
	return &types.QueryReadyResponse{Timers: timers, Pagination: next}, err
}

// SetAside implements types.QueryServer.
func (q queryServer) SetAside(
	ctx context.Context, req *types.QuerySetAsideRequest,
) (*types.QuerySetAsideResponse, error) {
	bounded, err := boundedPage(req.GetPagination())
	if err != nil {
		return nil, err
	}
	timers, page, err := query.CollectionPaginate(ctx, q.state.setAside, bounded,
		func(_ uint64, t types.Timer) (types.TimerInfo, error) { return q.info(ctx, &t) })
	return &types.QuerySetAsideResponse{Timers: timers, Pagination: page}, err
}

func invalidArgument(err error) error { return status.Error(codes.InvalidArgument, err.Error()) }
