package keeper

import (
	"cmp"
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/math"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/contest"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/engine"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/triggers"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// CompareGas is charged for each timer that a query takes from the order of the next block, in addition to
// engine.RankGas. Contracts and modules pay it.
const CompareGas = 500

// Ready implements types.QueryServer. If the queue is already in the order of the policy, the list is read from the
// queue. Otherwise it is the order at the next block's prices, and lists at most the timers that compete.
func (s *server) Ready(goCtx context.Context, req *types.QueryReadyRequest) (*types.QueryReadyResponse, error) {
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	ctx, next, err := s.engine.Preview(sdk.UnwrapSDKContext(goCtx))
	if err != nil {
		return nil, err
	}
	if next.Traits.QueueOrder {
		return s.readyInQueueOrder(goCtx, req.GetPagination())
	}
	if err := inOrder(req.GetPagination()); err != nil {
		return nil, err
	}
	limit, first, err := pageStart(req.GetPagination())
	if err != nil {
		return nil, err
	}
	response := &types.QueryReadyResponse{Pagination: &sdkquery.PageResponse{}}
	left, position := newRoom(limit), uint64(0)
	for {
		timer, verdict, found, err := next.Next(ctx)
		ctx.GasMeter().ConsumeGas(CompareGas, "compare timers")
		if err != nil || !found {
			return response, err
		}
		if timer.Due >= next.Height {
			continue // Not ready yet: it becomes due in the next block.
		}
		if position < first {
			position++
			continue
		}
		info, err := s.listed(sdk.UnwrapSDKContext(goCtx), &next.Config, timer)
		if err != nil {
			return nil, err
		}
		info.Status.Verdict = verdict
		if !left.take(ctx, &info) {
			response.Pagination.NextKey = positionKey(position)
			return response, nil
		}
		position++
		response.Timers = append(response.Timers, info)
	}
}

// Lane implements types.QueryServer.
func (s *server) Lane(goCtx context.Context, _ *types.QueryLaneRequest) (*types.QueryLaneResponse, error) {
	beginQuery(goCtx)
	ctx := sdk.UnwrapSDKContext(goCtx)
	lane, err := s.engine.Lane.Get(ctx)
	if err != nil {
		return nil, err
	}
	branch, err := s.engine.ActivatedBranch(ctx)
	if err != nil {
		return nil, err
	}
	config, err := s.engine.Configs.Get(branch)
	if err != nil {
		return nil, err
	}
	next, basefees := s.engine.Policies.Prices(branch, &config, &lane)
	basefee := next.Lane
	if lane.LaneBasefee != nil {
		basefee = *lane.LaneBasefee
	}
	admitted, err := s.engine.Index.Admitted(ctx)
	if err != nil {
		return nil, err
	}
	inForce := s.engine.Policies.At(&config, next.Height)
	response := &types.QueryLaneResponse{
		Height: types.HeightOf(ctx), Policy: inForce.ID(), Paused: config.LanePaused,
		CycleBasefee: next.Cycle.String(), CellBasefee: next.Cell.String(),
		LaneBasefee: basefee.String(), NextLaneBasefee: next.Lane.String(), P50: lane.P50.String(),
		UsedSize: lane.UsedSize, Cycles: lane.Cycles, LaneTimerCycles: config.LaneTimerCycles,
		Cells: lane.Cells, LaneTimerCells: config.LaneTimerCells, GcCyclesPerBlock: config.GcCyclesPerBlock,
		Burned: lane.Burned.String(), LaneBurned: lane.LaneBurned.String(), Tips: lane.Tips.String(), FeeDenom: config.FeeDenom,
		Admitted: admitted, MaxCyclesPerFire: inForce.Traits(&config).GasCap,
	}
	s.engine.Agents.Describe(&lane, response)
	if basefees.Failure != nil {
		response.BasefeeCodespace, response.BasefeeCode = types.CodeOf(basefees.Failure)
	}
	if response.OfPolicy, err = packed(inForce.Describe(ctx, &config, &lane, nil)); err != nil {
		return nil, err
	}
	charge(ctx, response)
	return response, nil
}

// packed is what a policy shows, as a field of a response; nil for nothing.
func packed(standing types.PolicyStanding, err error) (*codectypes.Any, error) {
	if err != nil || standing == nil {
		return nil, err
	}
	return codectypes.NewAnyWithValue(standing)
}

// Fairness implements types.QueryServer.
func (s *server) Fairness(ctx context.Context, req *types.QueryFairnessRequest) (*types.QueryFairnessResponse, error) {
	beginQuery(ctx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	actor, err := s.engine.Addresses.Parse("actor", req.GetActor())
	if err != nil {
		return nil, invalidArgument(err)
	}
	config, err := s.engine.Configs.Get(ctx)
	if err != nil {
		return nil, err
	}
	lane, err := s.engine.Lane.Get(ctx)
	if err != nil {
		return nil, err
	}
	unit := s.engine.Fairness.UnitOf(sdk.UnwrapSDKContext(ctx), &config, actor)
	recent, err := s.engine.Fairness.Recent(ctx, unit)
	if err != nil {
		return nil, err
	}
	window := lane.Fairness
	weight := config.WeightBounds().Weight(recent, window.Smoothed)
	response := &types.QueryFairnessResponse{
		Weight: policies.WeightDec(weight).String(), Unit: s.text(unit), Recent: uint32(recent),
		Median: window.Median, Smoothed: window.Smoothed.String(), Units: window.Units, WindowBlocks: config.FairnessWindowBlocks,
	}
	inForce := s.engine.Policies.At(&config, types.HeightOf(ctx)+1)
	if response.OfPolicy, err = packed(inForce.Describe(ctx, &config, &lane, actor)); err != nil {
		return nil, err
	}
	charge(ctx, response)
	return response, nil
}

// Estimate implements types.QueryServer. It runs the next block's steps on a branch, reads what a block reads, and charges
// for that, so that contracts may ask it.
func (s *server) Estimate(goCtx context.Context, req *types.QueryEstimateRequest) (*types.QueryEstimateResponse, error) {
	beginQuery(goCtx)
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	ask, err := askOf(req)
	if err == nil {
		_, err = parseMaxCharge(req.GetMaxCharge())
	}
	if err != nil {
		return nil, invalidArgument(err)
	}
	ctx, next, err := s.engine.Preview(sdk.UnwrapSDKContext(goCtx))
	if err != nil {
		return nil, err
	}
	limits, err := s.limitsOf(next, req)
	if err != nil {
		return nil, invalidArgument(err)
	}
	candidate, weight, err := s.estimated(ctx, next, req, ask)
	if err != nil {
		return nil, invalidArgument(err)
	}
	candidate.Size = next.Prices.Capacity.Size(limits.gas, limits.cells)
	candidate.Ask.SpendCap = next.Contest.SpendCapOf(&types.Timer{GasLimit: limits.gas, CellLimit: limits.cells, Spec: types.TimerSpec{MaxCharge: req.GetMaxCharge()}})
	price, willing := next.Rules.Price(next.Prices, candidate)
	response := &types.QueryEstimateResponse{
		Height: next.Height, FeeDenom: next.Config.FeeDenom, Policy: next.Policy.ID(),
		GasLimit: limits.gas, CellLimit: limits.cells, ReservedSize: candidate.Size,
		CycleBasefee: next.Prices.Cycle.String(), LaneFee: price.Lane.String(),
		Priority: price.Priority.String(), CellBasefee: price.Cell.String(),
		PreCharge:    price.Cost(limits.gas, limits.cells).String(),
		CostOfCycles: price.Cost(limits.gas, 0).String(),
		Weight:       weight.String(),

		IntrinsicCycles: limits.intrinsic,
	}
	defer func() { charge(ctx, response) }()
	if !price.LumpSum.IsNil() && !price.LumpSum.IsZero() {
		response.ScoreBid = price.LumpSum.String()
	}
	switch {
	case next.Config.LanePaused:
		response.Basis = types.BasisPaused
		return response, nil
	case !willing:
		response.Basis = types.BasisPricedOut
		response.WaitBlocks, err = affordable(ctx, next, candidate)
		return response, err
	}
	if locker, locks := next.Policy.(policies.Locker); locks {
		locker.Quote(next.Block, candidate, next.Contest.RunnerUp(ctx, candidate), response)
	}
	return response, estimateWait(ctx, next, candidate, response)
}

// limits of a fire, in cycles and in cells. Intrinsic are the cycles that it counts before its handler runs.
type limits struct{ gas, cells, intrinsic uint64 }

// limitsOf are those of a request; what it does not state has its default.
func (s *server) limitsOf(next *engine.Preview, req *types.QueryEstimateRequest) (limits, error) {
	asked := limits{
		gas:   cmp.Or(req.GetGasLimit(), s.engine.Policies.DefaultGasLimit(&next.Config, next.Height)),
		cells: cmp.Or(req.GetCellLimit(), next.Config.CellLimit()),
	}
	config := &next.Config
	if err := s.engine.Policies.CheckLimits(config, next.Height, asked.gas, asked.cells); err != nil {
		return asked, err
	}
	payload, messages := req.GetPayloadBytes(), req.GetMessageBytes()
	if payload > config.MaxPayloadBytes {
		return asked, types.ErrPayloadTooLong.Wrapf("payload_bytes is %d, want at most %d", payload, config.MaxPayloadBytes)
	}
	if most := types.FieldBytes * market.MaxMessagesBytes; messages > most {
		return asked, types.ErrPayloadTooLong.Wrapf("message_bytes is %d, want at most %d", messages, most)
	}
	asked.intrinsic = market.FireWork{PayloadBytes: payload, MessageBytes: messages}.Cycles()
	if asked.gas <= asked.intrinsic {
		return asked, types.ErrGasLimitOutOfBounds.Wrapf("%d cycles leave nothing to the handler: want at least %d", asked.gas, asked.intrinsic+1)
	}
	return asked, nil
}

// estimated is the timer that an estimate is asked for, as the next block would see it.
func (s *server) estimated(
	ctx sdk.Context, next *engine.Preview, req *types.QueryEstimateRequest, ask market.Ask,
) (c market.Candidate, weight math.LegacyDec, err error) {
	c = market.Candidate{Due: next.Height, Seq: ^uint64(0), Ask: ask, Locked: math.ZeroInt()}
	if bid := req.GetBid(); bid != "" {
		if ask.Kind != market.Estimated {
			return c, weight, types.ErrInvalidBid.Wrapf("bid %.80q is stated in addition to a tier or prices: state one", bid)
		}
		if _, err = (&types.Bid{Price: bid}).Kept(); err != nil {
			return c, weight, err
		}
		if _, locks := next.Policy.(policies.Locker); locks {
			c.Locked = (&types.Bid{Price: bid}).Stated()
		}
	}
	var actor sdk.AccAddress
	if req.GetActor() != "" {
		if actor, err = s.engine.Addresses.Parse("actor", req.Actor); err != nil {
			return c, weight, err
		}
		c.Actor = string(actor)
	}
	if weigher, weighs := next.Rules.(contest.Weigher); weighs {
		weigher.Weigh(ctx, actor, &c)
	}
	if unit := next.Traits.WeightUnit; unit > 0 {
		return c, math.LegacyNewDec(int64(c.Weight)).QuoInt64(unit), nil
	}
	// Under a policy without weights of its own, the actor's fairness weight is shown.
	return c, policies.WeightDec(policies.NewWeights(next.Block, s.engine.Parts).Of(ctx, actor)), nil
}

// MaxFollowed is for how many blocks an estimate follows the lane basefee. By default it falls by an eighth a block, from any
// price to its floor; a max_change of a millionth would take millions.
const MaxFollowed = 1_000

// affordable is the number of idle blocks after which a candidate that is priced out now is willing to pay, as the lane basefee falls
// to its floor; or, with an error that says why that can't be predicted, the number of blocks that were looked at. Each is paid for.
func affordable(ctx sdk.Context, next *engine.Preview, c market.Candidate) (blocks uint64, err error) {
	prices := next.Prices
	for falls := true; falls; {
		if blocks == MaxFollowed {
			return blocks, status.Errorf(codes.OutOfRange, "such a timer waits for more than %d blocks: the lane basefee is %s then", blocks, prices.Lane)
		}
		ctx.GasMeter().ConsumeGas(CompareGas, "follow the basefee")
		before := prices.Lane
		prices.Lane = next.Rules.LaneBasefee(prices.Cycle, market.Last{Basefee: before})
		falls = prices.Lane.LT(before)
		blocks++
		if _, willing := next.Rules.Price(prices, c); willing {
			return blocks, nil
		}
	}
	if !c.Ask.SpendCap.Unbounded() {
		return blocks, status.Errorf(codes.InvalidArgument, "max_charge is below the pre-charge, or below that and the bid, even for a lane basefee of %s: "+
			"such a timer waits until the chain's prices fall", prices.Lane)
	}
	if c.Ask.Stated.MaxFee.LT(prices.Cycle) && prices.Lane.Equal(prices.Cycle) {
		return blocks, status.Errorf(codes.InvalidArgument, "max_fee %s is below the chain's cycle basefee %s: such a timer waits until that falls",
			c.Ask.Stated.MaxFee, prices.Cycle)
	}
	return blocks, status.Errorf(codes.InvalidArgument, "max_fee %s is too low even for a lane basefee of %s: such a timer can't fire",
		c.Ask.Stated.MaxFee, prices.Lane)
}

// estimateWait counts the timers ahead of the candidate. Those that return in every block take their room in each block
// of the wait, as much as they used last.
func estimateWait(ctx sdk.Context, next *engine.Preview, candidate market.Candidate, response *types.QueryEstimateResponse) error {
	// once is the size of what is ahead and will be gone, always that of what returns.
	once, always := uint64(0), uint64(0)
	for {
		entrant, found, err := next.Contest.Next(ctx)
		ctx.GasMeter().ConsumeGas(CompareGas, "compare timers")
		if err != nil {
			return err
		}
		if !found {
			break
		}
		t, c := entrant.Timer, next.Contest.Candidate(ctx, entrant.Timer)
		if order := next.Rules.Order(next.Prices, []market.Candidate{candidate, c}); order[0] == 0 {
			break
		}
		response.Ahead++
		response.AheadSize += c.Size
		if returns(t, next.Height) {
			response.Returning++
			always += next.Prices.Capacity.Size(t.LastOutcome.Cycles, t.CellLimit)
		} else {
			once += c.Size
		}
	}
	response.Basis = types.BasisAllReady
	room := next.Config.LaneTimerCycles
	switch {
	case always+candidate.Size > room:
		response.Basis = types.BasisCrowded
	case next.Contest.Overloaded:
		response.Basis = types.BasisStorm
		room -= always
	default:
		room -= always
	}
	response.WaitBlocks = (once + candidate.Size - 1) / room
	return nil
}

// returns reports whether a timer is due in every block: it fired in the latest block and is due again in the one after.
// That is the block at the height, or within a transaction the one before, which has not ended.
func returns(t *types.Timer, height uint64) bool {
	return t.Spec.Trigger.InEveryBlock() && t.Due+1 >= height && t.LastOutcome != nil && t.LastOutcome.Height+1 == t.Due
}

// askOf reads the bid of a request.
func askOf(req *types.QueryEstimateRequest) (market.Ask, error) {
	bid := &types.Bid{Tier: req.GetTier(), Price: req.GetBid()}
	if req.GetMaxFee() != "" || req.GetMaxPriority() != "" {
		bid.Static = &types.StaticBid{}
		for _, price := range []struct {
			name, text string
			value      *decimal.Dec
		}{
			{"max_fee", req.MaxFee, &bid.Static.MaxFeePerCycle},
			{"max_priority", req.MaxPriority, &bid.Static.MaxPriorityFeePerCycle},
		} {
			var err error
			if *price.value, err = decimal.Parse(cmp.Or(price.text, "0")); err != nil {
				return market.Ask{}, types.ErrInvalidBid.Wrapf("%s: %s", price.name, err)
			}
		}
	}
	if err := bid.Validate(); err != nil {
		return market.Ask{}, err
	}
	return bid.Ask(), nil
}

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
	response := &types.QueryOccurrencesResponse{ByTime: timer.Spec.Trigger.ByTime()}
	response.Occurrences, response.More = recurrence.Upcoming(&timer, types.MomentOf(ctx), limit)
	charge(ctx, response)
	return response, nil
}

// stated is the live timer that a request names, or the one that its spec makes if it is scheduled now.
func (s *server) stated(ctx context.Context, config *types.TimerConfig, req *types.QueryOccurrencesRequest) (types.Timer, error) {
	if (req.Spec == nil) == (req.Actor == "" && req.Id == "") {
		return types.Timer{}, status.Error(codes.InvalidArgument, "state an actor and the id of a timer of it, or a spec")
	}
	if req.Spec == nil {
		looking, err := state.Lookups(ctx)
		if err != nil {
			return types.Timer{}, err
		}
		return s.named(looking, req.Actor, req.Id)
	}
	now := types.MomentOf(ctx)
	timer := types.Timer{Spec: *req.Spec, ExpiresAt: req.Spec.ExpiresAt, ExpiresTime: req.Spec.ExpiresTime}
	if err := s.engine.Triggers.Prepare(config, &timer, now); err != nil {
		return timer, invalidArgument(err)
	}
	if err := triggers.CheckLife(config, &timer, now); err != nil {
		return timer, invalidArgument(err)
	}
	return timer, nil
}
