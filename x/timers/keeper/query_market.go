package keeper

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/fairness"
	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What the market's queries answer is said of the next block: they run its steps up to the selection, on a branch of state
// that is dropped, so that what they show is what the block will do if nothing else happens.

// maxIdleBlocks bounds the reckoning of how long a basefee takes to fall: by then it fell by far more than any price can
// differ.
const maxIdleBlocks = 10_000

// nextBlock is the next block as it would be without transactions, up to its selection.
func (k *Keeper) nextBlock(goCtx context.Context) (sdk.Context, *block, error) {
	ctx, _ := sdk.UnwrapSDKContext(goCtx).CacheContext()
	ctx = ctx.WithBlockHeight(ctx.BlockHeight() + 1)
	if err := k.adoptConfig(ctx); err != nil {
		return ctx, nil, err
	}
	b, err := k.newBlock(ctx)
	if err != nil {
		return ctx, nil, err
	}
	ctx = withBlock(ctx, b)
	for _, do := range []func(sdk.Context, *block) error{k.collect, k.cleanUp, k.setBasefee, k.selectOrder} {
		if err := do(ctx, b); err != nil {
			return ctx, nil, err
		}
	}
	return ctx, b, nil
}

// contestants hands out the timers of a block in the order in which they are tried, until fn says that it has enough.
func (k *Keeper) contestants(ctx sdk.Context, b *block, fn func(t *types.Timer, c policy.Candidate) (more bool)) error {
	if !b.storm {
		for _, i := range b.order {
			if t := &b.ready[i]; !fn(t, k.candidateOf(ctx, b, t)) {
				return nil
			}
		}
		return nil
	}
	for {
		entry, found, err := b.contest.Next(ctx)
		if err != nil || !found {
			return err
		}
		t, found, err := k.calendar.Get(ctx, keyOf(entry.Due, entry.Seq))
		if err != nil {
			return err
		}
		weight := k.filedUnder(ctx, b, t.Actor)
		switch {
		case !found || t.ExpiredAt(b.height) || b.withheld(&t):
		case weight != entry.List.Weight():
			b.contest.Return(entry, weight)
		case !fn(&t, k.candidateOf(ctx, b, &t)):
			return nil
		}
	}
}

// Ready implements types.QueryServer. Under policy fifo the queue's order is that in which timers are tried, and the list is
// the queue's. Under others it is the order at the next block's prices; in a storm at most CANDIDATE_WINDOW are listed.
func (q queryServer) Ready(goCtx context.Context, req *types.QueryReadyRequest) (*types.QueryReadyResponse, error) {
	ctx, b, err := q.nextBlock(goCtx)
	if err != nil {
		return nil, err
	}
	if b.config.PolicyAt(b.height) == types.PolicyFIFO {
		return q.readyInQueueOrder(goCtx, req.GetPagination())
	}
	limit, first, err := pageStart(req.GetPagination())
	if err != nil {
		return nil, err
	}
	response := &types.QueryReadyResponse{Pagination: &query.PageResponse{}}
	position := uint64(0)
	var failure error
	err = q.contestants(ctx, b, func(t *types.Timer, _ policy.Candidate) bool {
		if t.Due >= b.height {
			return true // Not ready yet: it becomes due in the next block.
		}
		if position >= first+limit {
			response.Pagination.NextKey = positionKey(position)
			return false
		}
		if position++; position <= first {
			return true
		}
		info, err := q.info(sdk.UnwrapSDKContext(goCtx), t)
		response.Timers = append(response.Timers, info)
		failure = err
		return err == nil
	})
	if err == nil {
		err = failure
	}
	return response, err
}

// Lane implements types.QueryServer.
func (q queryServer) Lane(ctx context.Context, _ *types.QueryLaneRequest) (*types.QueryLaneResponse, error) {
	lane, err := q.state.lane.Get(ctx)
	if err != nil {
		return nil, err
	}
	branch, _ := sdk.UnwrapSDKContext(ctx).CacheContext()
	branch = branch.WithBlockHeight(branch.BlockHeight() + 1)
	if err := q.adoptConfig(branch); err != nil {
		return nil, err
	}
	config, err := q.Config(branch)
	if err != nil {
		return nil, err
	}
	next, err := q.pricesOf(branch, &config, &lane)
	if err != nil {
		return nil, err
	}
	basefee := next.Lane
	if lane.LaneBasefee != nil {
		basefee = *lane.LaneBasefee
	}
	admitted, _, err := findItem(ctx, q.state.admitted)
	if err != nil {
		return nil, err
	}
	response := &types.QueryLaneResponse{
		Height: heightOf(ctx), Policy: config.PolicyAt(heightOf(branch)), Paused: config.LanePaused,
		CycleBasefee: next.Cycle.String(), CellBasefee: next.Cell.String(),
		LaneBasefee: basefee.String(), NextLaneBasefee: next.Lane.String(), P50: lane.P50.String(),
		Cycles: lane.Cycles, LaneTimerCycles: config.LaneTimerCycles,
		Cells: lane.Cells, LaneTimerCells: config.LaneTimerCells, GcCyclesPerBlock: config.GcCyclesPerBlock,
		Burned: lane.Burned.String(), Tips: lane.Tips.String(), FeeDenom: config.FeeDenom,
		Admitted: admitted, MaxCyclesPerFire: config.MaxGasLimit(heightOf(branch)),
	}
	auctionInfo(response, policyAt(&config, heightOf(branch), &lane), lane.Auction)
	return response, nil
}

// Fairness implements types.QueryServer.
func (q queryServer) Fairness(ctx context.Context, req *types.QueryFairnessRequest) (*types.QueryFairnessResponse, error) {
	actor, err := q.parseAddress("actor", req.GetActor())
	if err != nil {
		return nil, invalidArgument(err)
	}
	config, err := q.Config(ctx)
	if err != nil {
		return nil, err
	}
	lane, err := q.state.lane.Get(ctx)
	if err != nil {
		return nil, err
	}
	unit := q.unitOf(ctx, &config, actor)
	page, err := q.actorPage(ctx, unit, 0)
	if err != nil {
		return nil, err
	}
	state := lane.Fairness
	weight := config.WeightBounds().Weight(uint64(page.Recent), state.Smoothed)
	tip, err := q.tipStanding(ctx, &config, &lane, actor)
	if err != nil {
		return nil, err
	}
	return &types.QueryFairnessResponse{
		Weight: weightDec(weight).String(), Unit: q.bech32(unit), Recent: page.Recent,
		Median: state.Median, Smoothed: state.Smoothed.String(), Units: state.Units, WindowBlocks: config.FairnessWindowBlocks,
		Tip: tip,
	}, nil
}

// Estimate implements types.QueryServer.
func (q queryServer) Estimate(goCtx context.Context, req *types.QueryEstimateRequest) (*types.QueryEstimateResponse, error) {
	ask, err := askOf(req)
	if err != nil {
		return nil, invalidArgument(err)
	}
	ctx, b, err := q.nextBlock(goCtx)
	if err != nil {
		return nil, err
	}
	candidate := policy.Candidate{Due: b.height, Seq: ^uint64(0), GasLimit: req.GetGasLimit(), Ask: ask}
	if candidate.Locked, err = b.bidOf(req.GetBid(), ask); err != nil {
		return nil, invalidArgument(err)
	}
	if candidate.GasLimit == 0 {
		candidate.GasLimit = b.config.MaxGasLimit(b.height)
	}
	if err := checkGasLimit(&b.config, b.height, candidate.GasLimit); err != nil {
		return nil, invalidArgument(err)
	}
	if err := scoreBidFits(b, req.GetBid()); err != nil {
		return nil, invalidArgument(err)
	}
	var actor sdk.AccAddress
	if req.GetActor() != "" {
		if actor, err = q.parseAddress("actor", req.Actor); err != nil {
			return nil, invalidArgument(err)
		}
		candidate.Actor = string(actor)
		q.setTurn(ctx, b, actor, &candidate)
	}
	var weight math.LegacyDec
	candidate.Weight, weight = q.estimateWeight(ctx, b, actor)
	price, willing := b.policy.Price(b.prices, candidate)
	response := &types.QueryEstimateResponse{
		Height: b.height, GasLimit: candidate.GasLimit, FeeDenom: b.config.FeeDenom, Policy: b.config.PolicyAt(b.height),
		CycleBasefee: b.prices.Cycle.String(), LaneFee: price.Basefee.Sub(b.prices.Cycle).String(),
		Priority: price.Priority.String(), CellBasefee: price.Cell.String(),
		PreCharge:    price.Cost(candidate.GasLimit, b.config.MaxCellsPerFire).String(),
		CostOfCycles: price.Cost(candidate.GasLimit, 0).String(),
		Weight:       weight.String(),
	}
	if bid := bidPaid(price); bid != nil {
		response.ScoreBid = bid.String()
	}
	switch {
	case b.config.LanePaused:
		response.Basis = types.BasisPaused
		return response, nil
	case !willing:
		response.Basis = types.BasisPricedOut
		response.WaitBlocks, err = idleBlocksUntil(b, candidate)
		return response, err
	}
	if err := q.estimateBid(ctx, b, candidate, response); err != nil {
		return nil, err
	}
	return response, q.estimateWait(ctx, b, candidate, response)
}

// estimateWait counts who is ahead of the candidate.
func (q queryServer) estimateWait(
	ctx sdk.Context, b *block, candidate policy.Candidate, response *types.QueryEstimateResponse,
) error {
	response.Basis = types.BasisAllReady
	if b.storm || b.state.Clean != (types.QueueKey{}) {
		response.Basis = types.BasisStorm
	}
	err := q.contestants(ctx, b, func(_ *types.Timer, c policy.Candidate) bool {
		if order := b.policy.Order(b.prices, []policy.Candidate{candidate, c}); order[0] == 0 {
			return false
		}
		response.Ahead++
		response.AheadCycles += c.GasLimit
		return true
	})
	response.WaitBlocks = (response.AheadCycles + candidate.GasLimit - 1) / b.config.LaneTimerCycles
	return err
}

// idleBlocksUntil is how many blocks of an idle lane it takes for the basefee to fall to what the candidate is willing to
// pay.
func idleBlocksUntil(b *block, candidate policy.Candidate) (uint64, error) {
	if b.tip != nil {
		return 0, status.Errorf(codes.InvalidArgument, "max_fee %s is below the chain's cycle basefee %s: such a timer waits until that falls",
			candidate.Ask.Stated.MaxFee, b.prices.Cycle)
	}
	prices := b.prices
	for blocks := uint64(1); blocks <= maxIdleBlocks; blocks++ {
		prices.Lane = b.policy.LaneBasefee(prices.Cycle, policy.Last{Basefee: prices.Lane})
		if _, willing := b.policy.Price(prices, candidate); willing {
			return blocks, nil
		}
	}
	return 0, status.Errorf(codes.InvalidArgument, "max_fee %s is below min_lane_basefee %s: such a timer can't fire",
		candidate.Ask.Stated.MaxFee, b.config.MinLaneBasefee)
}

// askOf reads the bid of a request.
func askOf(req *types.QueryEstimateRequest) (policy.Ask, error) {
	bid := &types.Bid{Tier: req.GetTier(), Price: req.GetBid()}
	if req.GetMaxFee() != "" || req.GetMaxPriority() != "" {
		bid.Static = &types.StaticBid{}
		for _, price := range []struct {
			name, text string
			value      *math.LegacyDec
		}{
			{"max_fee", req.MaxFee, &bid.Static.MaxFeePerCycle},
			{"max_priority", req.MaxPriority, &bid.Static.MaxPriorityFeePerCycle},
		} {
			if price.text == "" {
				price.text = "0"
			}
			value, err := math.LegacyNewDecFromStr(price.text)
			if err != nil {
				return policy.Ask{}, types.ErrInvalidBid.Wrapf("%s %.80q is not a decimal number", price.name, price.text)
			}
			*price.value = value
		}
	}
	return bid.Ask(), bid.Validate()
}

func weightDec(sixteenths uint32) math.LegacyDec {
	return math.LegacyNewDec(int64(sixteenths)).QuoInt64(fairness.One)
}
