package market

import (
	stdmath "math"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/lab/sim/workload"
	"github.com/cosmos-timers/timers/x/timers/market"
)

// The strategies.
const (
	// Truthful states what the fire is worth, as max fee and as tip, or as its bid. With a shade below 1 it offers that
	// part of it as a tip or a bid, and still accepts a lane fee up to the worth.
	Truthful = "truthful"
	// Estimator leaves the bid to the chain's estimator, and bounds what the fire may cost by what it is worth. Where
	// there is no estimator, it bids what the median fire of the last block paid for its place.
	Estimator = "estimator"
	// Tier is the same with a tier's multiple of the usual tip.
	Tier = "tier"
	// Patient accepts little more than the floor at first and raises that with its wait, up to the worth at the end of
	// its patience, and tips nothing before. It needs a bid that changes with time, as a bidding agent's does.
	Patient = "patient"
	// Minimal never tips and bids nothing, and accepts a lane fee up to the worth.
	Minimal = "minimal"
	// Overbid offers ten times what the fire is worth, as one does who wants to keep others out.
	Overbid = "overbid"
	// SelfTip tips ten times what the fire is worth in the blocks that its group proposes, where tips come back to it, and
	// bids as the truthful with its shade in others. It needs a bid that changes with time. Where a bid can't, it raises
	// the bid by what comes back on average.
	SelfTip = "selftip"
	// Best bids as the truthful with the shade that earns its group the most, which is sought before the runs.
	Best = "best"
)

// Strategies are the names of the strategies.
var Strategies = []string{Truthful, Estimator, Tier, Patient, Minimal, Overbid, SelfTip, Best}

// Tiers are the names of the tiers.
var Tiers = map[string]market.Kind{
	"economy": market.Economy, "standard": market.Standard, "fast": market.Fast, "urgent": market.Urgent,
}

// bid sets what a timer asks. It is false if the owner does not want the fire at today's least price.
func (c *chain) bid(t *Timer) bool {
	wait := c.prices.Height + 1 - t.Job.Due
	worth := t.WorthAfter(wait)
	if worth <= 0 {
		return false
	}
	size := float64(c.prices.Capacity.Size(t.Cycles, t.Cells))
	switch c.Config.Policy {
	case FIFO:
		t.Ask = market.Ask{}
	case Auction, Score:
		lump := math.NewInt(int64(min(stdmath.Floor(c.lumpRate(t.Group, worth)*size), stdmath.MaxInt64/2)))
		t.Ask = market.Ask{}
		if c.Config.Policy == Auction {
			t.Locked = lump
		} else {
			t.Ask.Price = lump
		}
	default:
		c.bidPrices(t, c.prices.Height+1, worth)
	}
	return true
}

// bidPrices sets an ask with prices per unit of size, for the block of a height.
func (c *chain) bidPrices(t *Timer, height uint64, worth float64) {
	s, wait := &c.work.Groups[t.Group].Strategy, height-t.Job.Due
	maxFee, tip := worth, worth*shade(s)
	switch s.Kind {
	case Estimator, Tier:
		t.Ask = market.Ask{Kind: Tiers[s.Tier]}
		if s.Kind == Estimator {
			t.Ask.Kind = market.Estimated
		}
		t.MaxCharge = c.worthOfLimits(t, worth)
		return
	case Minimal:
		tip = 0
	case Overbid:
		maxFee, tip = 10*worth, 10*worth
	case Patient:
		t.Requoted = true
		part := min(1, float64(wait+1)/float64(max(1, t.Expires-t.Job.Due)))
		maxFee = worth * part * part
		tip = maxFee * part
	case SelfTip:
		t.Requoted = true
		// What the lane burns does not come back, so that its fee is paid up to the worth alone.
		if fee := decFloat(c.prices.Lane); c.work.Proposer(height) == t.Group && fee <= worth {
			maxFee, tip = fee+10*worth, 10*worth
		}
	}
	if c.Config.Policy == Tip {
		maxFee += decFloat(c.prices.Cycle) // There the max fee bounds the chain's cycle basefee too.
	}
	t.Ask = market.StatedAsk(price(maxFee), price(tip))
}

// lumpRate is what an agent bids for its place, per unit of size.
func (c *chain) lumpRate(group int, worth float64) float64 {
	g := &c.work.Groups[group]
	switch s := &g.Strategy; s.Kind {
	case Estimator:
		return min(worth, c.usualLump)
	case Tier:
		return min(worth, c.usualLump*map[string]float64{"economy": 0.8, "standard": 1, "fast": 1.5, "urgent": 2.5}[s.Tier])
	case Minimal, Patient:
		return 0
	case Overbid:
		return 10 * worth
	case SelfTip:
		return worth * shade(s) / max(0.1, 1-g.Stake)
	default:
		return worth * shade(s)
	}
}

// worthOfLimits is the max_charge of a fire that is worth so much per unit of size above the chain's prices, if it used
// all of its limits.
func (c *chain) worthOfLimits(t *Timer, worth float64) math.Int {
	size := float64(c.prices.Capacity.Size(t.GasLimit, t.CellLimit))
	chain := float64(t.GasLimit)*decFloat(c.prices.Cycle) + float64(t.CellLimit)*decFloat(c.prices.Cell)
	return math.NewInt(int64(min(stdmath.Ceil(chain+worth*size), stdmath.MaxInt64/2)))
}

// requote asks the agents of timers again.
func (c *chain) requote(height uint64, timers []*Timer) {
	for _, t := range timers {
		if t.Requoted {
			c.bidPrices(t, height, t.WorthAfter(height-t.Job.Due))
		}
	}
}

func shade(s *workload.Strategy) float64 {
	if s.Shade == 0 {
		return 1
	}
	return s.Shade
}

// price is a price with nine places, rounded down.
func price(f float64) math.LegacyDec {
	return math.LegacyNewDecWithPrec(int64(min(max(f, 0), 1e9)*1e9), 9)
}
