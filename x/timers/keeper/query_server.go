package keeper

import (
	"context"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/engine"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// server answers queries. Those at a height answer as of the end of that block.
type server struct {
	engine    *engine.Engine
	authority string
}

// Module is what queries need of the module; *keeper.Keeper is one.
type Module interface {
	Engine() *engine.Engine
	Authority() string
}

// NewQueryServer returns the module's query server. It keeps nothing, and answers queries side by side.
func NewQueryServer(m Module) types.QueryServer { return &server{m.Engine(), m.Authority()} }

var _ types.QueryServer = (*server)(nil)

// text is the bech32 form of an address.
func (s *server) text(addr sdk.AccAddress) string { return s.engine.Addresses.Text(addr) }

// Params implements types.QueryServer.
func (s *server) Params(ctx context.Context, req *types.QueryParamsRequest) (*types.QueryParamsResponse, error) {
	beginQuery(ctx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return nil, err
	}
	response := &types.QueryParamsResponse{
		Config: s.engine.Policies.Complete(config),
		Opcodes: types.Opcodes{
			SysCancelTimer:       types.OpcodeSysCancelTimer,
			SysUpdateTimerConfig: types.OpcodeSysUpdateTimerConfig,
			SysExtendTimer:       types.OpcodeSysExtendTimer,
		},
		Authority: s.authority,
	}
	next, found, err := s.engine.Configs.Next(ctx)
	if err != nil {
		return nil, err
	}
	latest := &response.Config
	if found {
		next = s.engine.Policies.Complete(next)
		response.NextConfig, latest = &next, &next
	}
	if response.Expected, err = latest.Hash(req.GetFields()); err != nil {
		return nil, invalidArgument(err)
	}
	charge(ctx, response)
	return response, nil
}

// Timer implements types.QueryServer.
func (s *server) Timer(ctx context.Context, req *types.QueryTimerRequest) (*types.QueryTimerResponse, error) {
	beginQuery(ctx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	looking, err := state.Lookups(ctx)
	if err != nil {
		return nil, err
	}
	timer, err := s.named(looking, req.GetActor(), req.GetId())
	if err != nil {
		return nil, err
	}
	info, err := s.whole(looking, &timer, req.Verdict)
	return &types.QueryTimerResponse{Timer: info}, err
}

// named is the timer of an actor whose id begins with a prefix that no other of them has.
func (s *server) named(ctx context.Context, actorText, id string) (types.Timer, error) {
	actor, err := s.engine.Addresses.Parse("actor", actorText)
	if err != nil {
		return types.Timer{}, invalidArgument(err)
	}
	prefix, err := types.ParseIDPrefix(id)
	if err != nil {
		return types.Timer{}, invalidArgument(err)
	}
	entries, err := s.engine.Owners.Named(ctx, actor, prefix)
	if err != nil {
		return types.Timer{}, err
	}
	var found []types.Timer
	for _, entry := range entries {
		timer, err := s.engine.Records.Load(ctx, entry)
		if err != nil {
			return types.Timer{}, err
		}
		if strings.HasPrefix(timer.IDHex(), prefix) && timer.Owner().Equals(actor) {
			found = append(found, timer)
		}
	}
	switch len(found) {
	case 0:
		return types.Timer{}, status.Error(codes.NotFound, types.ErrTimerNotFound.Wrapf("%s has no live timer %s", actorText, prefix).Error())
	case 1:
		return found[0], nil
	default:
		return types.Timer{}, invalidArgument(types.ErrAmbiguousTimerID.Wrapf(
			"%s fits %d timers of %s, %s and %s among them; state more digits",
			prefix, len(found), actorText, found[0].IDHex(), found[1].IDHex()))
	}
}

// TimersByActor implements types.QueryServer. The config bounds an actor's timers, so its entries are read whole and
// paged in memory; records are read for the page alone.
func (s *server) TimersByActor(
	ctx context.Context, req *types.QueryTimersByActorRequest,
) (*types.QueryTimersByActorResponse, error) {
	beginQuery(ctx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	looking, err := state.Lookups(ctx)
	if err != nil {
		return nil, err
	}
	ctx = looking
	actor, err := s.engine.Addresses.Parse("actor", req.GetActor())
	if err != nil {
		return nil, invalidArgument(err)
	}
	entries, err := s.engine.Owners.Of(ctx, actor)
	if err != nil {
		return nil, err
	}
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return nil, err
	}
	timers, page, err := pageOf(ctx, entries, req.Pagination, func(entry state.Entry) (types.TimerInfo, error) {
		timer, err := s.engine.Records.Load(ctx, entry)
		if err != nil {
			return types.TimerInfo{}, err
		}
		return s.listed(ctx, &config, &timer)
	})
	if err == nil {
		err = s.judge(ctx, timers, req.Verdict)
	}
	return &types.QueryTimersByActorResponse{Timers: timers, Pagination: page, Total: uint32(len(entries))}, err
}

// Due implements types.QueryServer.
func (s *server) Due(ctx context.Context, req *types.QueryDueRequest) (*types.QueryDueResponse, error) {
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	if req.GetTime() != 0 {
		return s.dueByTime(ctx, req)
	}
	if req.GetHeight() == 0 || req.GetHeight() == ^uint64(0) {
		return nil, status.Errorf(codes.InvalidArgument, "height is %d, want 1 to %d, or a time", req.GetHeight(), ^uint64(0)-1)
	}
	from := schedule.Key{Due: req.Height}
	if req.Until {
		from = schedule.Key{}
	}
	timers, page, err := s.queuePage(ctx, from, req.Height, req.Pagination, req.Verdict, func(*types.Timer) bool { return true })
	return &types.QueryDueResponse{Timers: timers, Pagination: page}, err
}

// dueByTime lists timers that wait for a time. The page's key is the time and the seq at which the next page starts.
func (s *server) dueByTime(ctx context.Context, req *types.QueryDueRequest) (*types.QueryDueResponse, error) {
	if req.Time < 0 || req.Time > types.MaxTime || req.Height != 0 {
		return nil, status.Errorf(codes.InvalidArgument, "time is %d and height %d, want a time from 1 to %d and no height",
			req.Time, req.Height, types.MaxTime)
	}
	from := schedule.Key{Due: uint64(req.Time)}
	if req.Until {
		from = schedule.Key{}
	}
	from, err := firstOfPage(from, req.Pagination)
	if err != nil {
		return nil, err
	}
	if from.Due > uint64(req.Time) {
		return &types.QueryDueResponse{Pagination: &sdkquery.PageResponse{}}, nil
	}
	timers, next, err := s.walkedPage(ctx, req.Pagination, func(t *types.Timer) []byte {
		return pageKey(schedule.Key{Due: uint64(t.DueTime), Seq: t.Seq})
	}, func(fn func(*types.Timer) (bool, error)) error {
		return s.engine.Records.WalkTimed(ctx, int64(from.Due), from.Seq, req.Time, fn)
	})
	return &types.QueryDueResponse{Timers: timers, Pagination: next}, err
}

// readyInQueueOrder lists the ready timers in the order of the queue.
func (s *server) readyInQueueOrder(ctx context.Context, page *sdkquery.PageRequest) (*types.QueryReadyResponse, error) {
	lane, err := s.engine.Lane.Get(ctx)
	if err != nil {
		return nil, err
	}
	now := types.MomentOf(ctx)
	canFire := func(t *types.Timer) bool { return !t.ExpiredAt(now.Next()) }
	timers, next, err := s.queuePage(ctx, state.CalendarKey(lane.LiveCursor), now.Height, page, true, canFire)
	return &types.QueryReadyResponse{Timers: timers, Pagination: next}, err
}

// OnHold implements types.QueryServer.
func (s *server) OnHold(
	ctx context.Context, req *types.QueryOnHoldRequest,
) (_ *types.QueryOnHoldResponse, err error) {
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	from := uint64(0)
	if key := req.GetPagination().GetKey(); len(key) > 0 {
		if from, err = parsePosition(key); err != nil {
			return nil, err
		}
	}
	timers, next, err := s.walkedPage(ctx, req.GetPagination(), func(t *types.Timer) []byte { return positionKey(t.Seq) },
		func(fn func(*types.Timer) (bool, error)) error { return s.engine.Records.WalkOnHold(ctx, from, fn) })
	return &types.QueryOnHoldResponse{Timers: timers, Pagination: next}, err
}

// checkTexts checks the lengths of all that a request states, before anything reads it.
func checkTexts(req any) error {
	if err := types.CheckText(sdkerrors.ErrInvalidRequest, req); err != nil {
		return invalidArgument(err)
	}
	return nil
}

func invalidArgument(err error) error { return status.Error(codes.InvalidArgument, err.Error()) }

// Agent implements types.QueryServer.
func (s *server) Agent(ctx context.Context, req *types.QueryAgentRequest) (*types.QueryAgentResponse, error) {
	beginQuery(ctx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	actor, err := s.engine.Addresses.Parse("actor", req.GetActor())
	if err != nil {
		return nil, invalidArgument(err)
	}
	agent, err := s.engine.Agents.Of(ctx, actor)
	response := &types.QueryAgentResponse{}
	if len(agent) > 0 {
		response.Agent = s.text(agent)
	}
	charge(ctx, response)
	return response, err
}
