package wait_test

import (
	"fmt"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/tip"
)

// chain fires timers by the rules of a policy. All payers have funds; window is the fairness window.
type chain struct {
	rules  market.Rules
	prices market.Prices
	lane   market.Budget
	window uint64
	// weights are those of tip, by actor; 1 for others.
	weights map[string]uint32
	// x is the timer that waits, ready are all that have not fired.
	x      *timer
	ready  []*timer
	recent []fire
	seq    uint64
	// spent is what fires have paid for the lane and in tips, the timer x excepted.
	spent math.LegacyDec
}

type timer struct {
	market.Candidate
	// uses of its size, and how often it repeats, in blocks; 0 for once.
	uses, every uint64
}

type fire struct {
	height uint64
	unit   string
}

// start is the height at which x becomes due.
const start = 100

func newChain(rules market.Rules, capacity uint64) *chain {
	full := market.Capacity{Cycles: capacity, Cells: capacity}
	one := math.LegacyOneDec()
	return &chain{
		rules: rules, lane: market.Budget{Capacity: full}, window: 10, spent: math.LegacyZeroDec(),
		prices: market.Prices{Height: start, Capacity: full, Cycle: one, Cell: one, Lane: one, P50: math.LegacyZeroDec()},
	}
}

// wait adds x, whose actor is a.
func (c *chain) wait(size uint64) *timer {
	c.x = c.add("a", start, size)
	return c.x
}

// add schedules a timer of an actor that is due at a height, and uses all that it reserves.
func (c *chain) add(actor string, due, size uint64) *timer {
	c.seq++
	t := &timer{Candidate: market.Candidate{
		ID: fmt.Sprint(c.seq), Due: due, Seq: c.seq, Size: size, Actor: actor, Unit: actor, Ask: tips(0),
		Locked: math.ZeroInt(),
	}, uses: size}
	c.ready = append(c.ready, t)
	return t
}

// tips is an ask that no basefee prices out.
func tips(tip int64) market.Ask {
	return market.StatedAsk(math.LegacyNewDec(1_000_000_000_000), math.LegacyNewDec(tip))
}

// fired notes fires of a unit in a block before the start.
func (c *chain) fired(unit string, fires int, height uint64) {
	for range fires {
		c.recent = append(c.recent, fire{height, unit})
	}
}

// waits runs blocks until x fires, and returns for how many it waited: at most limit + 1. Each block begins with what
// the adversary does.
func (c *chain) waits(limit uint64, adversary func(*chain)) uint64 {
	for blocks := uint64(0); blocks <= limit; blocks++ {
		adversary(c)
		if c.block() {
			return blocks
		}
		c.prices.Height++
	}
	return limit + 1
}

// block fires what fits, and reports whether x is among it.
func (c *chain) block() (fires bool) {
	height := c.prices.Height
	c.weigh()
	var due []*timer
	var candidates []market.Candidate
	for _, t := range c.ready {
		if t.Due <= height {
			due, candidates = append(due, t), append(candidates, t.Candidate)
		}
	}
	budget := c.lane
	order := c.rules.Order(c.prices, candidates)
	if _, sliced := c.rules.(tip.Rules); sliced {
		order = c.inSlices(due, candidates, order, &budget)
	}
	for _, i := range order {
		if budget.Fits(due[i].Size) {
			c.fire(due[i], &budget)
		}
	}
	c.prices.Lane = c.rules.LaneBasefee(c.prices.Cycle,
		market.Last{Basefee: c.prices.Lane, Use: market.Use{Size: budget.UsedSize, Fires: budget.Fires}})
	return !slices.Contains(c.ready, c.x)
}

// inSlices is the first pass of policy tip. It returns what the second one tries.
func (c *chain) inSlices(
	due []*timer, candidates []market.Candidate, order []int, budget *market.Budget,
) (rest []int) {
	parts := market.NewSlices(budget.Cycles, candidates, order)
	for _, i := range order {
		if t := due[i]; parts.Admits(t.Actor, t.Size) && budget.Fits(t.Size) {
			c.fire(t, budget)
			parts.Spend(t.Actor, t.uses)
			continue
		}
		rest = append(rest, i)
	}
	return rest
}

// fire pays, and removes the timer or makes it due again.
func (c *chain) fire(t *timer, budget *market.Budget) {
	budget.Spend(t.uses, 0)
	c.recent = append(c.recent, fire{c.prices.Height, t.Unit})
	if t != c.x {
		price, _ := c.rules.Price(c.prices, t.Candidate)
		size := math.NewIntFromUint64(t.uses)
		c.spent = c.spent.Add(price.Lane.Add(price.Priority).MulInt(size))
		if !price.LumpSum.IsNil() {
			c.spent = c.spent.Add(math.LegacyNewDecFromInt(price.LumpSum))
		}
		if t.every > 0 {
			t.Due = c.prices.Height + t.every
			return
		}
	}
	c.ready = slices.DeleteFunc(c.ready, func(o *timer) bool { return o == t })
}

// weigh gives all timers the weights and recent fires of their actors in this block.
func (c *chain) weigh() {
	c.recent = slices.DeleteFunc(c.recent, func(f fire) bool { return f.height+c.window < c.prices.Height })
	counts := map[string]uint64{}
	for _, f := range c.recent {
		counts[f.unit]++
	}
	var all []uint64
	for _, n := range counts {
		all = append(all, n)
	}
	slices.Sort(all)
	median := math.LegacyZeroDec()
	if len(all) > 0 {
		median = math.LegacyNewDecFromInt(math.NewIntFromUint64(all[(len(all)-1)/2]))
	}
	bounds := market.WeightBounds{Min: market.OneWeight, Max: 2 * market.OneWeight}
	for _, t := range c.ready {
		t.Recent = counts[t.Unit]
		if t.Weight = bounds.Weight(t.Recent, median); c.weights != nil {
			t.Weight = c.weights[t.Actor]
		}
	}
}
