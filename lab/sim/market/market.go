// Package market runs a workload block by block on the module's own rules: prices, order and payments of the policies,
// the lane's budget and basefee, fairness weights and the usual tip are computed by the pure packages of x/timers that
// the chain calls. What is written here is only what the keeper does around them: which timers compete, and whose turn
// it is. Handlers do not run: a fire uses what its job says.
package market

import (
	"cmp"
	"context"
	"slices"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/lab/sim/workload"
	"github.com/cosmos-timers/timers/x/timers/market"
)

// Outcome is what became of a job.
type Outcome struct {
	// Fired is the height of its fire, 0 if it did not fire.
	Fired uint64
	// Paid for the fire and for its place, in fee denom; Tip is the part that went to the proposer, Back what of it came
	// back to the group, which proposed the block.
	Paid, Tip, Back float64
}

// Point is the state of the market in one block.
type Point struct {
	Height  uint64
	Basefee float64
	P50     float64
	// Used is the size of the block's fires, Fires their number, Ready the timers that stay ready.
	Used  uint64
	Fires int
	Ready int
	// Wait is the mean of the blocks from when the block's fires were due first to now; 0 without fires.
	Wait float64
}

// Result of a run. Outcomes are in the order of the workload's jobs.
type Result struct {
	Outcomes []Outcome
	Series   []Point
}

// Runner runs a workload for so many blocks, or until the context ends.
type Runner interface {
	Run(ctx context.Context, w *workload.Workload, blocks uint64) *Result
}

// Log notes what a market does, for comparisons with the chain. Each function may be nil.
type Log struct {
	// Scheduled is called when a job is offered to the chain with an ask, at a height.
	Scheduled func(height uint64, t *Timer)
	// Fired is called for each fire when its block ends, with what it paid in all and what of that is tips.
	Fired func(height uint64, t *Timer, charged, tip math.Int)
	// Priced is called with the prices of each block.
	Priced func(height uint64, prices market.Prices)
}

// Timer is a job on the chain.
type Timer struct {
	*workload.Job
	Due, Seq uint64
	Ask      market.Ask
	// Locked is the bid under auction. MaxCharge is the most that a fire may cost; both are nil if not stated.
	Locked, MaxCharge math.Int
	// Requoted asks are computed again in each block, as by a bidding agent.
	Requoted bool
	admitted bool
	// unfunded timers leave at the end of the block.
	unfunded bool
}

// Module runs the policy that a config selects.
type Module struct {
	Config Config
	Log    Log
	// Address of an actor, by which policy score breaks ties; nil takes its name.
	Address func(actor string) string
}

// chain is a run of a Module.
type chain struct {
	*Module
	work       *workload.Workload
	discipline discipline
	result     *Result
	// waiting jobs were not accepted yet, in the order of their due heights; pending timers are accepted and not due.
	waiting []*workload.Job
	next    int
	pending []*Timer
	ready   []*Timer
	seq     uint64
	spent   []float64

	prices  market.Prices
	basefee math.LegacyDec
	last    market.Use
	p50     math.LegacyDec
	// usualLump is the median lump sum per unit of size of the last block with fires, which bidders of policies auction
	// and score can see on the chain.
	usualLump float64
}

// block is the execution of one block.
type block struct {
	height  uint64
	budget  market.Budget
	tips    []market.Tipped
	waiting bool
	fired   []*Timer
}

// wait is the mean wait of the block's fires.
func (b *block) wait() float64 {
	sum := uint64(0)
	for _, t := range b.fired {
		sum += b.height - t.Job.Due
	}
	return float64(sum) / float64(max(1, len(b.fired)))
}

// Run implements Runner.
func (m *Module) Run(ctx context.Context, w *workload.Workload, blocks uint64) *Result {
	c := &chain{
		Module: m, work: w, result: &Result{Outcomes: make([]Outcome, len(w.Jobs))}, spent: make([]float64, len(w.Agents)),
		basefee: m.Config.CycleBasefee, p50: math.LegacyZeroDec(),
	}
	c.discipline = newDiscipline(c)
	for height := uint64(1); height <= blocks && ctx.Err() == nil; height++ {
		c.block(height)
	}
	return c.result
}

// block runs one block: its transactions, and the end of the block.
func (c *chain) block(height uint64) {
	rules := c.discipline.open(height)
	c.prices = market.Prices{
		Height: height, Capacity: c.Config.Lane, Cycle: c.Config.CycleBasefee, Cell: c.Config.CellBasefee, P50: c.p50,
		Lane: rules.LaneBasefee(c.Config.CycleBasefee, market.Last{Basefee: c.basefee, Use: c.last}),
	}
	if c.Log.Priced != nil {
		c.Log.Priced(height, c.prices)
	}
	c.schedule(height, rules)
	c.collect(height)

	b := &block{height: height, budget: market.Budget{Capacity: c.prices.Capacity, MaxFires: c.Config.MaxFires}}
	b.waiting = !c.discipline.usesTips()
	competing := c.competing(height, rules)
	c.requote(height, competing)
	candidates := make([]market.Candidate, len(competing))
	for i, t := range competing {
		candidates[i] = c.candidate(t)
	}
	c.discipline.fill(b, rules, competing, candidates)
	c.close(b)
}

// candidate is a timer as the rules see it.
func (c *chain) candidate(t *Timer) market.Candidate {
	candidate := market.Candidate{
		Due: t.Due, Seq: t.Seq, Size: c.prices.Capacity.Size(t.GasLimit, t.CellLimit), Actor: c.address(t.Actor), Ask: t.Ask, Locked: t.Locked,
	}
	if !t.MaxCharge.IsNil() {
		candidate.Ask.SpendCap = market.SpendCapOf(t.MaxCharge, c.prices, t.GasLimit, t.CellLimit)
		if candidate.Ask.SpendCap.Exhausted() && candidate.Ask.Kind != market.Stated {
			candidate.Ask.Kind = market.CellPricedOut
		}
	}
	c.discipline.weigh(t, &candidate)
	return candidate
}

func (c *chain) address(actor string) string {
	if c.Address == nil {
		return actor
	}
	return c.Address(actor)
}

// schedule offers the chain the jobs that are due in the next block, and again those that it refused before. An owner
// schedules a block ahead: a timer can't be due in the block of its transaction.
func (c *chain) schedule(height uint64, rules market.Rules) {
	for c.next < len(c.work.Jobs) && c.work.Jobs[c.next].Due <= height+1 {
		c.waiting = append(c.waiting, &c.work.Jobs[c.next])
		c.next++
	}
	refused := c.waiting[:0]
	for _, job := range c.waiting {
		if job.Expires <= height {
			continue
		}
		t := &Timer{Job: job, Due: height + 1}
		if !c.bid(t) {
			refused = append(refused, job)
			continue
		}
		if c.Log.Scheduled != nil {
			c.Log.Scheduled(height, t)
		}
		if !c.discipline.accept(rules, t) {
			refused = append(refused, job)
			continue
		}
		c.seq++
		t.Seq = c.seq
		c.pending = append(c.pending, t)
	}
	c.waiting = refused
}

// collect moves what is due into the ready timers, and drops what has expired.
func (c *chain) collect(height uint64) {
	later := c.pending[:0]
	for _, t := range c.pending {
		if t.Due > height {
			later = append(later, t)
			continue
		}
		c.ready = append(c.ready, t)
	}
	c.pending = later
	c.ready = slices.DeleteFunc(c.ready, func(t *Timer) bool { return t.Expires < height })
}

// competing are the timers that compete: all that are ready while the window holds them, and under overload those that
// were admitted.
func (c *chain) competing(height uint64, rules market.Rules) []*Timer {
	window := int(c.Config.CandidateWindow)
	if len(c.ready) <= window {
		return c.ready
	}
	if !c.discipline.indexed() {
		return c.ready[:window]
	}
	// The meter of a block that has no other work. Looks at payers are left out: an agent has a handful of actors.
	meter := c.Config.overhead()
	meter.Lend(market.Times)
	meter.Lend(market.Watches)
	meter.Lend(market.Held)
	admit := func(t *Timer, read, admit market.Work) {
		if t.admitted || !meter.TryConsume(read) {
			return
		}
		price, willing := rules.Price(c.prices, c.candidate(t))
		if !willing {
			return
		}
		t.unfunded = !c.affords(t, price.Cost(t.GasLimit, t.CellLimit))
		t.admitted = !t.unfunded && meter.TryConsume(admit)
	}
	for _, t := range c.ready {
		if t.Due == height {
			admit(t, market.ReadNewlyDue, market.AdmitNewlyDue)
		}
	}
	var admitted []*Timer
	for _, t := range c.ready {
		if admit(t, market.ReadReady, market.Admit); t.admitted {
			admitted = append(admitted, t)
		}
	}
	return admitted
}

// try fires a timer if it fits the lane. It reports whether it found no room.
func (c *chain) try(b *block, rules market.Rules, t *Timer, candidate market.Candidate) (noRoom bool) {
	price, willing := rules.Price(c.prices, candidate)
	if !b.budget.Fits(candidate.Size) {
		if willing && candidate.Size <= c.defaultSize() {
			b.waiting = true
		}
		return true
	}
	if !willing {
		return false
	}
	preCharge := price.Cost(t.GasLimit, t.CellLimit)
	if t.unfunded = !c.affords(t, preCharge); t.unfunded {
		return false
	}
	settled := price.Settle(preCharge, t.Cycles, t.Cells)
	b.budget.Spend(t.Cycles, t.Cells)
	size := c.prices.Capacity.Size(t.Cycles, t.Cells)
	b.tips = append(b.tips, market.Tipped{Priority: price.Priority, Size: size})
	b.fired = append(b.fired, t)
	c.result.Outcomes[t.Index] = Outcome{Fired: b.height, Paid: toFloat(settled.Charged), Tip: toFloat(settled.Tip)}
	c.spent[t.Agent] += toFloat(settled.Charged)
	c.discipline.fired(b, t, candidate, price)
	return false
}

// affords reports whether a timer's agent has so much of its budget left.
func (c *chain) affords(t *Timer, amount math.Int) bool {
	budget := c.work.Groups[t.Group].Budget
	return budget == 0 || c.spent[t.Agent]+toFloat(amount) <= budget
}

// payLump books what a fire pays for its place in addition to its price, to the proposer.
func (c *chain) payLump(t *Timer, amount math.Int) {
	paid := toFloat(amount)
	out := &c.result.Outcomes[t.Index]
	out.Paid, out.Tip = out.Paid+paid, out.Tip+paid
	c.spent[t.Agent] += paid
}

// defaultSize is the size that a timer reserves which states no limits.
func (c *chain) defaultSize() uint64 {
	limit := c.Config.MaxCycles
	if c.Config.Policy == EIP1559 {
		limit = c.Config.MaxCyclesAuction
	}
	return c.prices.Capacity.Size(limit, c.Config.CellLimit)
}

// close ends the block: what it leaves to the next one.
func (c *chain) close(b *block) {
	fired := make(map[*Timer]bool, len(b.fired))
	for _, t := range b.fired {
		fired[t] = true
	}
	c.ready = slices.DeleteFunc(c.ready, func(t *Timer) bool { return fired[t] || t.unfunded })
	c.discipline.close(b)
	for _, t := range b.fired {
		if out := &c.result.Outcomes[t.Index]; c.work.Proposer(b.height) == t.Group {
			out.Back = out.Tip
			c.spent[t.Agent] -= out.Back
		}
	}
	if c.Log.Fired != nil {
		for _, t := range b.fired {
			out := c.result.Outcomes[t.Index]
			c.Log.Fired(b.height, t, math.NewInt(int64(out.Paid)), math.NewInt(int64(out.Tip)))
		}
	}
	if len(b.fired) > 0 {
		c.usualLump = c.medianLump(b)
	}
	c.result.Series = append(c.result.Series, Point{
		Height: b.height, Basefee: decFloat(c.prices.Lane), P50: decFloat(c.p50), Used: b.budget.UsedSize,
		Fires: len(b.fired), Ready: len(c.ready), Wait: b.wait(),
	})
	c.basefee, c.last = c.prices.Lane, market.Use{Size: b.budget.UsedSize, Fires: b.budget.Fires}
	c.p50 = market.NextP50(c.p50, b.tips, b.waiting)
}

// medianLump is the median over the block's fires of what they paid to the proposer per unit of size.
func (c *chain) medianLump(b *block) float64 {
	all := make([]float64, len(b.fired))
	for i, t := range b.fired {
		all[i] = c.result.Outcomes[t.Index].Tip / float64(c.prices.Capacity.Size(t.Cycles, t.Cells))
	}
	slices.SortFunc(all, cmp.Compare[float64])
	return all[len(all)/2]
}

func toFloat(amount math.Int) float64 {
	if amount.IsNil() {
		return 0
	}
	if amount.IsInt64() {
		return float64(amount.Int64())
	}
	f, _ := amount.BigInt().Float64()
	return f
}

func decFloat(d math.LegacyDec) float64 {
	f, err := d.Float64()
	if err != nil {
		return 0
	}
	return f
}
