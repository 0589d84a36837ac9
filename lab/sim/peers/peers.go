// Package peers holds small models of how other chains choose among scheduled calls when a block can't run them all. They
// run on the same workloads, lane and prices as the module's policies, so that only the rule differs. Each model is
// written from its system's own code, whose name is given, and leaves out everything but the rule.
package peers

import (
	"cmp"
	"context"
	"slices"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/workload"
)

// Models are the models by name, and what they are.
var Models = map[string]string{
	"substrate":  "FIFO carry-over: agendas by due height, an incomplete one is finished first (Substrate, pallet-scheduler)",
	"provenance": "FIFO carry-over of at most 5 calls a block (Provenance, x/trigger)",
	"neutron":    "by name: what is due runs in the order of names (Neutron, x/cron)",
	"flow":       "class pools: High, Medium, Low at 10, 5, 2 times the fee; Low gives way (Flow, FlowTransactionScheduler)",
	"massa":      "booking: a slot's price rises with what is booked (Massa, deferred calls)",
	"archway":    "a fixed number of calls a block, refused at booking when full (Archway, x/callback)",
}

// Model is one of Models on a config's lane and prices.
type Model struct {
	Name   string
	Config market.Config
}

// call is a job that was accepted.
type call struct {
	*workload.Job
	size, used uint64
	// slot is the block that a booking is for.
	slot  uint64
	class int
	// extra is what it pays per unit of size in addition to the chain's own prices.
	extra float64
}

// run of a model.
type run struct {
	*Model
	lane   uint64
	result *market.Result
	// ready calls of models without bookings, and slots of those with.
	ready []*call
	slots map[uint64]*slot
	// offered jobs that found no place yet.
	offered []*workload.Job
	price   float64
	last    float64
}

// slot is what is booked for one block.
type slot struct {
	calls []*call
	// booked size, in all and by class; count of the calls.
	booked  uint64
	byClass [3]uint64
}

// Run implements market.Runner.
func (m *Model) Run(ctx context.Context, w *workload.Workload, blocks uint64) *market.Result {
	r := &run{
		Model: m, lane: m.Config.Lane.Cycles, slots: map[uint64]*slot{}, price: m.chainPrice(),
		result: &market.Result{Outcomes: make([]market.Outcome, len(w.Jobs))},
	}
	next := 0
	for height := uint64(1); height <= blocks && ctx.Err() == nil; height++ {
		for next < len(w.Jobs) && w.Jobs[next].Due <= height+1 {
			r.offered = append(r.offered, &w.Jobs[next])
			next++
		}
		r.accept(height)
		r.block(height)
	}
	return r.result
}

// chainPrice is the chain's price of a cycle, which the models' fees are multiples of.
func (m *Model) chainPrice() float64 {
	price, err := m.Config.CycleBasefee.Float64()
	if err != nil {
		return 0
	}
	return price
}

// booking reports whether calls are accepted for a block, and not queued.
func (r *run) booking() bool { return r.Name == "flow" || r.Name == "massa" || r.Name == "archway" }

// accept takes the offered jobs, those that were due first first. Owners schedule a block ahead.
func (r *run) accept(height uint64) {
	capacity := r.Config.Lane
	refused := r.offered[:0]
	for _, job := range r.offered {
		c := &call{Job: job, size: capacity.Size(job.GasLimit, job.CellLimit), used: capacity.Size(job.Cycles, job.Cells)}
		switch {
		case job.Expires <= height || c.size > r.lane:
		case !r.booking():
			r.ready = append(r.ready, c)
		case !r.book(c, height):
			refused = append(refused, job)
		}
	}
	r.offered = refused
}

func (r *run) slot(height uint64) *slot {
	s := r.slots[height]
	if s == nil {
		s = &slot{}
		r.slots[height] = s
	}
	return s
}

// book finds a block for a call. It is false if there is none today.
func (r *run) book(c *call, height uint64) bool {
	from := max(c.Due, height+1)
	switch r.Name {
	case "archway":
		// As many as hold whatever their limits: the largest allowed.
		limit := int(r.lane / r.Config.MaxCyclesAuction)
		for at := from; at <= c.Expires; at++ {
			if s := r.slot(at); len(s.calls) < limit {
				r.put(c, at)
				return true
			}
		}
		return false
	case "massa":
		return r.bookCheapest(c, from)
	default:
		return r.bookClass(c, from)
	}
}

func (r *run) put(c *call, at uint64) {
	s := r.slot(at)
	c.slot = at
	s.calls = append(s.calls, c)
	s.booked += c.size
	s.byClass[c.class] += c.size
}

// bookCheapest books the block with the best worth less price, if that is positive.
func (r *run) bookCheapest(c *call, from uint64) bool {
	best, surplus := uint64(0), 0.0
	for at := from; at <= c.Expires; at++ {
		s := r.slot(at)
		if s.booked+c.size > r.lane {
			continue
		}
		if gain := c.WorthAfter(at-c.Due) - r.quote(s, c.size); gain > surplus {
			best, surplus = at, gain
		}
	}
	if best == 0 {
		return false
	}
	c.extra = r.quote(r.slot(best), c.size)
	r.put(c, best)
	return true
}

// quote is the price per unit of a booking: a base price that follows bookings as a basefee does, and above half of the
// slot a part that grows with what is booked beyond it, up to eight times the base price for the last unit.
func (r *run) quote(s *slot, size uint64) float64 {
	half := float64(r.lane) / 2
	over := max(0, float64(s.booked+size)-half) / half
	return r.price * (1 + 7*over)
}

// classes of package flow: the multiple of the fee, and the shares of the lane that a class may use at most.
var classes = [3]struct{ multiple, limit float64 }{{10, 15_000.0 / 17_500}, {5, 7_500.0 / 17_500}, {2, 2_500.0 / 17_500}}

// shared of the lane is for High and Medium together, after their own reserves.
const (
	reserveHigh, reserveMedium = 10_000.0 / 17_500, 2_500.0 / 17_500
	shared                     = 5_000.0 / 17_500
)

// bookClass books with the dearest class that the job's worth covers. High is for the very block or refused; then the
// next class is tried. The others go to the first block with room.
func (r *run) bookClass(c *call, from uint64) bool {
	for class, of := range classes {
		c.class, c.extra = class, (of.multiple-1)*r.price
		if c.WorthAfter(from-c.Due) < c.extra && class < 2 {
			continue
		}
		if c.WorthAfter(from-c.Due) < c.extra {
			return false
		}
		last := c.Expires
		if class == 0 {
			last = from
		}
		for at := from; at <= last; at++ {
			if r.fits(r.slot(at), c) {
				r.evict(at, c)
				r.put(c, at)
				return true
			}
		}
	}
	return false
}

// fits reports whether a slot has room for a call of its class, if calls of class Low give way to others.
func (r *run) fits(s *slot, c *call) bool {
	part := func(share float64) float64 { return share * float64(r.lane) }
	size, of := float64(c.size), s.byClass
	if float64(of[c.class])+size > part(classes[c.class].limit) {
		return false
	}
	of[c.class] += c.size
	if c.class == 2 {
		return s.booked+c.size <= r.lane
	}
	beyond := max(0, float64(of[0])-part(reserveHigh)) + max(0, float64(of[1])-part(reserveMedium))
	return beyond <= part(shared)
}

// evict moves calls of class Low to later blocks until the slot holds the call.
func (r *run) evict(at uint64, c *call) {
	s := r.slot(at)
	for i := len(s.calls) - 1; i >= 0 && s.booked+c.size > r.lane; i-- {
		low := s.calls[i]
		if low.class != 2 {
			continue
		}
		s.calls = slices.Delete(s.calls, i, i+1)
		s.booked -= low.size
		s.byClass[2] -= low.size
		for later := at + 1; ; later++ {
			if r.fits(r.slot(later), low) {
				r.put(low, later)
				break
			}
		}
	}
}

// block runs what the rule selects.
func (r *run) block(height uint64) {
	var selected []*call
	if r.booking() {
		if s := r.slots[height]; s != nil {
			selected = s.calls
			r.last = float64(s.booked)
			delete(r.slots, height)
		} else {
			r.last = 0
		}
	} else {
		selected = r.selectReady(height)
	}
	used, waited, fires := uint64(0), uint64(0), 0
	for _, c := range selected {
		if c.Expires < height {
			continue
		}
		used += c.used
		waited += height - c.Due
		fires++
		chain := float64(c.Cycles)*r.chainPrice() + float64(c.Cells)*r.cellPrice()
		extra := c.extra * float64(c.used)
		r.result.Outcomes[c.Index] = market.Outcome{Fired: height, Paid: chain + extra}
	}
	r.result.Series = append(r.result.Series, market.Point{
		Height: height, Basefee: r.price, Used: used, Fires: fires, Ready: len(r.ready),
		Wait: float64(waited) / float64(max(1, fires)),
	})
	if r.Name == "massa" {
		deviation := (r.last - float64(r.lane)/2) / (float64(r.lane) / 2)
		r.price = max(r.chainPrice(), r.price*(1+deviation/8))
	}
}

func (r *run) cellPrice() float64 {
	price, err := r.Config.CellBasefee.Float64()
	if err != nil {
		return 0
	}
	return price
}

// selectReady takes from the queue what the block runs.
func (r *run) selectReady(height uint64) (selected []*call) {
	r.ready = slices.DeleteFunc(r.ready, func(c *call) bool { return c.Expires < height })
	if r.Name == "neutron" {
		slices.SortStableFunc(r.ready, func(a, b *call) int { return cmp.Compare(a.Actor, b.Actor) })
	}
	limit := len(r.ready)
	if r.Name == "provenance" {
		limit = 5
	}
	used, stopped := uint64(0), uint64(0)
	rest := make([]*call, 0, len(r.ready))
	for _, c := range r.ready {
		fits := c.Due <= height && used+c.size <= r.lane && len(selected) < limit
		// An agenda that is left incomplete ends the block; others of the same agenda are still tried.
		if r.Name == "substrate" && stopped > 0 && c.Due > stopped || r.Name == "provenance" && stopped > 0 {
			fits = false
		}
		if !fits {
			if c.Due <= height && stopped == 0 {
				stopped = c.Due
			}
			rest = append(rest, c)
			continue
		}
		used += c.used
		selected = append(selected, c)
	}
	r.ready = rest
	return selected
}
