package keeper

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// MaxOccurrences bounds the occurrences of one answer.
	MaxOccurrences = 100
	// GasPerOccurrence is charged before each is computed.
	GasPerOccurrence = 2_000
	// defaultOccurrences is how many there are where none are stated.
	defaultOccurrences = 5
)

// Occurrences implements types.QueryServer.
func (s *server) Occurrences(
	ctx context.Context, req *types.QueryOccurrencesRequest,
) (*types.QueryOccurrencesResponse, error) {
	beginQuery(ctx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	limit := int(req.GetLimit())
	switch {
	case limit > MaxOccurrences:
		return nil, status.Errorf(codes.InvalidArgument, "limit is %d, want at most %d", limit, MaxOccurrences)
	case limit == 0:
		limit = defaultOccurrences
	}
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return nil, err
	}
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(GasPerOccurrence*uint64(limit+1), "occurrences")
	timer, err := s.stated(ctx, &config, req)
	if err != nil {
		return nil, err
	}
	response := &types.QueryOccurrencesResponse{ByTime: timer.Trigger.ByTime()}
	response.Occurrences, response.More = s.engine.Triggers.Upcoming(&timer, types.MomentOf(ctx), limit)
	charge(ctx, response)
	return response, nil
}

// stated is the live timer that a request names, or the one that its trigger makes if it is scheduled now.
func (s *server) stated(ctx context.Context, config *types.TimerConfig, req *types.QueryOccurrencesRequest) (types.Timer, error) {
	if (req.Trigger == nil) == (req.Actor == "" && req.Id == "") {
		return types.Timer{}, status.Error(codes.InvalidArgument, "state an actor and the id of a timer of it, or a trigger")
	}
	if req.Trigger == nil {
		looking, err := state.Lookups(ctx)
		if err != nil {
			return types.Timer{}, err
		}
		return s.named(looking, req.Actor, req.Id)
	}
	now := types.MomentOf(ctx)
	timer := types.Timer{Trigger: *req.Trigger, ExpiresAt: req.ExpiresAt, ExpiresTime: req.ExpiresTime}
	if err := s.engine.Triggers.Prepare(config, &timer, now); err != nil {
		return timer, invalidArgument(err)
	}
	if err := triggers.CheckLife(config, &timer, now); err != nil {
		return timer, invalidArgument(err)
	}
	return timer, nil
}
