package policies

import (
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// MaxPassedOver bounds the timers that do not fit and are passed over for smaller ones, where a block reads as it
// fires. A nearly full lane must not read the whole backlog for one that fits.
const MaxPassedOver = 32

// Window is a round over at most CANDIDATE_WINDOW timers, the oldest that are ready. They are read and ranked in
// memory, and nothing is written for those that stay. A policy's round embeds it and overrides the methods in which it
// differs.
type Window struct {
	*Block
	Parts *Parts
	// Rules in force.
	Rules market.Rules
	// Ready are the timers that compete, in queue order.
	Ready []types.Timer
	// Order in which they are tried, as indices; Turn is the position of the next one.
	Order []int
	Turn  int

	// places of Ready by the timers' seq, once Withdraw has looked for one. They are looked up, never ranged over.
	places map[uint64]int
	// usual are the prices of asks that state nothing, by their kind: those of most timers.
	usual [market.CellPricedOut + 1]priced
}

// priced is what Price returns, once it is known.
type priced struct {
	price          market.Price
	willing, known bool
}

var _ Round = (*Window)(nil)

// Collect implements Round: it reads the window.
func (w *Window) Collect(ctx sdk.Context) error {
	if err := w.ReadLeftovers(ctx, w.Parts.Records); err != nil {
		return err
	}
	live, reached, complete, err := w.ReadLive(ctx, w.Parts.Records, w.Config.CandidateWindow)
	if err != nil {
		return err
	}
	w.Compete(live)
	w.Overloaded = !complete
	return w.SweepQueue(ctx, w.Parts.Records, reached, complete)
}

// Compete adds timers to those that compete. The slice is the window's from then on.
func (w *Window) Compete(timers []types.Timer) {
	if len(w.Ready) == 0 {
		w.Ready = timers
	} else {
		w.Ready = append(w.Ready, timers...)
	}
	w.Competing = uint32(len(w.Ready))
}

// Rank implements Round.
func (w *Window) Rank(ctx sdk.Context) error {
	w.DropUnrunnable(ctx)
	w.Sort(ctx, w.Candidate)
	return w.DropPricedOut(ctx)
}

// DropUnrunnable puts on hold what the config can't run, while the overhead lasts. The rest does not compete either.
func (w *Window) DropUnrunnable(ctx sdk.Context) {
	runnable := w.Ready[:0]
	for i := range w.Ready {
		if w.Hands.Runnable(&w.Ready[i]) {
			runnable = append(runnable, w.Ready[i])
			continue
		}
		w.Hands.PutOnHold(ctx, &w.Ready[i], types.Unrunnable)
	}
	w.Ready, w.Competing = runnable, uint32(len(runnable))
}

// Sort puts the timers into the order of the rules, and returns them as candidates.
func (w *Window) Sort(ctx sdk.Context, candidateOf func(sdk.Context, *types.Timer) market.Candidate) []market.Candidate {
	candidates := make([]market.Candidate, len(w.Ready))
	for i := range w.Ready {
		candidates[i] = candidateOf(ctx, &w.Ready[i])
	}
	w.Order, w.Turn = w.Rules.Order(w.Prices, candidates), 0
	return candidates
}

// DropPricedOut puts on hold the timers that can't fire at the prices of the block, if more timers are ready than the
// window holds. Otherwise they would fill it, and keep out those behind them. They are not in the order.
func (w *Window) DropPricedOut(ctx sdk.Context) error {
	if !w.Overloaded {
		return nil
	}
	var priced []types.Timer
	for i := range w.Ready {
		if _, willing := w.Price(&w.Ready[i]); !willing {
			priced = append(priced, w.Ready[i])
		}
	}
	return w.HoldPricedOut(ctx, priced)
}

// HasRoom reports whether the lane has room for any fire. Until a timer is known to wait for room, more are handed out.
func (w *Window) HasRoom() bool { return w.Lane.Fits(market.FireBaseCycles) || !w.Waiting }

// Next implements Round.
func (w *Window) Next(sdk.Context) (Turn, bool, error) {
	if !w.HasRoom() {
		return Turn{}, false, nil
	}
	turn, found := w.Take()
	return turn, found, nil
}

// Take returns the next timer in order.
func (w *Window) Take() (Turn, bool) {
	if w.Turn >= len(w.Order) {
		return Turn{}, false
	}
	w.Turn++
	return Turn{Timer: &w.Ready[w.Order[w.Turn-1]]}, true
}

// Withdraw implements Round.
func (w *Window) Withdraw(t *types.Timer) bool {
	if len(w.places) != len(w.Ready) {
		w.places = make(map[uint64]int, len(w.Ready))
		for i := range w.Ready {
			w.places[w.Ready[i].Seq] = i
		}
	}
	at, found := w.places[t.Seq]
	if found {
		w.Order = slices.DeleteFunc(w.Order, func(i int) bool { return i == at })
	}
	return found
}

// Candidate implements Round.
func (w *Window) Candidate(_ sdk.Context, t *types.Timer) market.Candidate {
	candidate := w.offer(t)
	candidate.Due, candidate.Seq, candidate.Size, candidate.Actor, candidate.ID = t.DueSince(), t.Seq, w.SizeOf(t), string(t.Actor), string(t.Id)
	return candidate
}

// offer is what a timer pays for its place: as much of the candidate as its price follows from.
func (w *Window) offer(t *types.Timer) market.Candidate {
	candidate := market.Candidate{Ask: w.AskOf(t)}
	if t.BidLocked != "" {
		candidate.Locked = t.Locked()
	}
	return candidate
}

// Price implements Round. A round whose Candidate changes the ask or the locked bid overrides it too.
func (w *Window) Price(t *types.Timer) (price market.Price, willing bool) {
	offer := w.offer(t)
	if offer.Ask.States() || !offer.Locked.IsNil() {
		return w.Rules.Price(w.Prices, offer)
	}
	usual := &w.usual[offer.Ask.Kind]
	if !usual.known {
		usual.price, usual.willing = w.Rules.Price(w.Prices, offer)
		usual.known = true
	}
	return usual.price, usual.willing
}

// Skipped implements Round.
func (w *Window) Skipped(sdk.Context, *types.Timer, Skip) error { return nil }

// Unfunded implements Round.
func (w *Window) Unfunded(sdk.Context, *types.Timer, math.Int) Disposition { return Leaves }

// Fired implements Round.
func (w *Window) Fired(sdk.Context, Fire) {}

// Close implements Round.
func (w *Window) Close(sdk.Context) (math.Int, error) { return math.ZeroInt(), nil }

// Weigh implements Estimator: under a policy without weights of its own, the actor's fairness weight is shown.
func (w *Window) Weigh(ctx sdk.Context, actor sdk.AccAddress, c *market.Candidate) math.LegacyDec {
	weights := NewWeights(w.Block, w.Parts)
	c.Weight = w.Config.WeightBounds().Max
	if actor != nil {
		c.Weight = weights.Of(ctx, actor)
	}
	return WeightDec(c.Weight)
}

// LockedBid implements Estimator: under a policy that locks no bids, a bid may be stated and has no effect.
func (w *Window) LockedBid(string) (math.Int, error) { return math.ZeroInt(), nil }

// Bidding implements Estimator.
func (w *Window) Bidding(sdk.Context, market.Candidate, *types.QueryEstimateResponse) error {
	return nil
}

// MaxFollowed is for how many blocks Affordable follows the lane basefee. By default it falls by an eighth a block, from any
// price to its floor; a max_change of a millionth would take millions.
const MaxFollowed = 1_000

// Affordable implements Estimator: it follows the lane basefee as it falls to its floor.
func (w *Window) Affordable(c market.Candidate, step func()) (blocks uint64, err error) {
	prices := w.Prices
	for falls := true; falls; {
		if blocks == MaxFollowed {
			return blocks, status.Errorf(codes.OutOfRange, "such a timer waits for more than %d blocks: the lane basefee is %s then", blocks, prices.Lane)
		}
		step()
		before := prices.Lane
		prices.Lane = w.Rules.LaneBasefee(prices.Cycle, market.Last{Basefee: before})
		falls = prices.Lane.LT(before)
		blocks++
		if _, willing := w.Rules.Price(prices, c); willing {
			return blocks, nil
		}
	}
	if !c.Ask.SpendCap.Unbounded() {
		return blocks, TooLowCharge(prices)
	}
	return blocks, status.Errorf(codes.InvalidArgument, "max_fee %s is too low even for a lane basefee of %s: such a timer can't fire",
		c.Ask.Stated.MaxFee, prices.Lane)
}

// TooLowCharge says that a max_charge is below what a fire costs, however low the lane's fee is.
func TooLowCharge(prices market.Prices) error {
	return status.Errorf(codes.InvalidArgument, "max_charge is below the pre-charge, or below that and the bid, even for a lane basefee of %s: "+
		"such a timer waits until the chain's prices fall", prices.Lane)
}

// Weights are the fairness weights of a block, in sixteenths. They are looked up once for each actor.
type Weights struct {
	block  *Block
	parts  *Parts
	bounds market.WeightBounds
	known  map[string]uint32
}

// NewWeights returns an empty memory of weights.
func NewWeights(b *Block, parts *Parts) *Weights {
	return &Weights{b, parts, b.Config.WeightBounds(), map[string]uint32{}}
}

// Of is the actor's weight. A record that can't be read weighs least: its timers can't fire, and others must not suffer
// for it.
func (w *Weights) Of(ctx sdk.Context, actor sdk.AccAddress) uint32 {
	if weight, known := w.known[string(actor)]; known {
		return weight
	}
	weight := w.bounds.Min
	unit := w.parts.Fairness.UnitOf(ctx, &w.block.Config, actor)
	if recent, err := w.block.Recents.Of(ctx, unit); err == nil {
		weight = w.bounds.Weight(recent, w.block.Before.Fairness.Smoothed)
	}
	w.known[string(actor)] = weight
	return weight
}

// WeightDec is a fairness weight as people read it.
func WeightDec(sixteenths uint32) math.LegacyDec {
	return math.LegacyNewDec(int64(sixteenths)).QuoInt64(market.OneWeight)
}
