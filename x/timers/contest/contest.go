// Package contest reads the queue at the end of a block and yields the timers that compete, one after the other, in the order of
// the rules of the policy in force (x/timers/README.md, "5. End Block").
//
// It belongs to the engine, and nothing else reads the queue in a block. Of a policy it knows the rules, the traits, and what more
// these rules offer: weights (Weigher), and an order that can be kept in the ready index (Indexer). The work of a block is
// proportional to what it fires, not to the timers that wait.
package contest

import (
	"slices"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// MaxPassedOver bounds the timers that do not fit and are passed over for smaller ones, where a block reads as it
// fires. A nearly full lane must not read the whole backlog for one that fits.
const MaxPassedOver = 32

// Weigher are rules by which the weight of an actor counts.
type Weigher interface {
	// Weigh adds to a candidate what the order depends on of its actor. A nil actor is one that has not fired yet.
	Weigh(ctx sdk.Context, actor sdk.AccAddress, c *market.Candidate)
}

// Terms are those of one block.
type Terms struct {
	Now    types.Moment
	Config *types.TimerConfig
	// State is the lane's state after the block: the cursors in it are the contest's.
	State  *types.LaneState
	Prices market.Prices
	Rules  market.Rules
	Traits market.Traits

	// Lane is the budget for fires, Overhead that for other work.
	Lane     *market.Budget
	Overhead *market.Overhead

	Records *state.Records
	Owners  *state.Owners
	// Index is the ready index as the block's steps see and change it.
	Index *state.IndexView
	Calls types.AgentCalls
	Funds *fees.Shortfalls

	// Preview: the block is only looked at, on a branch of state that is dropped.
	Preview bool
	// TakeOut takes a timer out of the queue: one that has expired leaves, and others are put on hold. One that is Unfunded at a
	// price may leave. The overhead, or the GC lane, has been charged.
	TakeOut func(ctx sdk.Context, t *types.Timer, why types.HoldReason, price *market.Price)
}

// Contest is that of one block. It exists only during the block.
type Contest struct {
	Terms
	// GC is the budget for removals, and what it is for.
	GC GC

	// Ready are the timers that compete, in queue order, but for those in the ready index.
	Ready []types.Timer
	// Competing is how many timers were read to compete, Left how many of those are no longer ready. Under overload
	// the index holds the number of those that compete.
	Competing, Left uint32
	// Indexed: more timers are ready than the window holds, and those in the ready index compete. Overloaded: more are
	// ready than compete.
	Indexed, Overloaded bool
	// PricedOut is how many timers the block took out of the queue because they were priced out. Unpaid counts the tries that no
	// one is billed for, Quarantined those of them that failed.
	PricedOut, Unpaid, Quarantined uint32
	// PassedOver counts timers that did not fit.
	PassedOver int
	// Waiting: a timer that is willing to pay and no larger than the default waits for room in this block's lane. It is set
	// from the start under policies whose tips decide nothing.
	Waiting bool
	// Wanted: though the lane is full, it is asked who else does not fit.
	Wanted bool

	weigher Weigher
	indexer Indexer
	// order in which Ready are tried, as indices; at is the position of the next one.
	order []int
	at    int
	// positions in Ready by the timers' seq, once withdraw has looked for one. They are looked up, never ranged over.
	positions map[uint64]int
	// usual are the prices of asks that state nothing, by their kind: those of most timers.
	usual [market.CellPricedOut + 1]usual
	// slices are the actors' parts of the lane. What its slice does not admit is put off, and tried again in the same order.
	slices  market.Slices
	putOff  []int
	retried bool
	// pledged is what the timers will need that the block admits, by payer. It is looked up, never ranged over.
	pledged map[string]math.Int
	// had are the keys in the queue of the timers that were handed out. The map is looked up, never ranged over.
	had map[schedule.Key]bool
	// over: the rules' order has had its share. Newcomers are those that are tried after it.
	over      bool
	newcomers []types.Timer

	pages pages
	index index
}

// usual is what Price returns, once it is known.
type usual struct {
	price          market.Price
	willing, known bool
}

// New begins the contest of a block.
func New(terms Terms) *Contest {
	c := &Contest{
		Terms: terms, Waiting: !terms.Traits.AsksAgents, pledged: map[string]math.Int{}, had: map[schedule.Key]bool{},
		GC: GC{Cleanup: market.Cleanup{MaxCycles: terms.Config.GcCyclesPerBlock, PerRemoval: market.RemovalCycles}},
	}
	c.weigher, _ = terms.Rules.(Weigher)
	c.indexer, _ = terms.Rules.(Indexer)
	return c
}

// Entrant is a timer that is tried.
type Entrant struct {
	Timer *types.Timer
	// Fresh: it was read after the last fire. Otherwise it is read again before it fires, since a handler may have changed it.
	Fresh bool
	// Reserved: it comes before all others, as a timer of RESERVED_ACTORS.
	Reserved bool
}

// SizeOf is the size of the lane that a timer's limits reserve, in cycles.
func (c *Contest) SizeOf(t *types.Timer) uint64 { return c.Lane.Size(t.GasLimit, t.CellLimit) }

// runnable reports whether a timer can fire within its limits.
func (c *Contest) runnable(t *types.Timer) bool {
	return c.Traits.Runs(t.GasLimit, t.CellLimit, c.Config.MaxCellsPerFire)
}

// hold puts a timer on hold for a reason that ends by itself, while the overhead lasts.
func (c *Contest) hold(ctx sdk.Context, t *types.Timer, why types.HoldReason) {
	if c.Overhead.TryConsume(market.PutOnHold) {
		c.TakeOut(ctx, t, why, nil)
	}
}

// compete adds timers to those that compete. The slice is the contest's from then on.
func (c *Contest) compete(timers []types.Timer) {
	if len(c.Ready) == 0 {
		c.Ready = timers
	} else {
		c.Ready = append(c.Ready, timers...)
	}
	c.Competing = uint32(len(c.Ready))
}

// Keep lets those of Ready compete that are to be kept.
func (c *Contest) Keep(keep func(*types.Timer) bool) {
	kept := c.Ready[:0]
	for i := range c.Ready {
		if keep(&c.Ready[i]) {
			kept = append(kept, c.Ready[i])
		}
	}
	c.Ready, c.Competing = kept, uint32(len(kept))
}

// Prepare calls the agents of the timers that compete. What the config can't run is put on hold before, while the overhead lasts,
// and does not compete.
func (c *Contest) Prepare(ctx sdk.Context) error {
	if c.Indexed {
		return c.askAdmitted(ctx)
	}
	c.Keep(func(t *types.Timer) bool {
		runs := c.runnable(t)
		if !runs {
			c.hold(ctx, t, types.Unrunnable)
		}
		return runs
	})
	if !c.Traits.AsksAgents {
		return nil
	}
	asked := make([]*types.Timer, len(c.Ready))
	for i := range c.Ready {
		asked[i] = &c.Ready[i]
	}
	return c.Calls.AskAll(ctx, asked)
}

// Rank puts the timers that compete into the order in which they are tried.
func (c *Contest) Rank(ctx sdk.Context) (err error) {
	if c.Indexed {
		return c.openRanking(ctx)
	}
	if c.Traits.DefersUnfunded && c.Overloaded {
		c.holdUnfunded(ctx)
	}
	candidates := make([]market.Candidate, len(c.Ready))
	for i := range c.Ready {
		candidates[i] = c.Candidate(ctx, &c.Ready[i])
	}
	c.order, c.at = c.Rules.Order(c.Prices, candidates), 0
	if c.Traits.SlicesLane {
		c.slices = market.NewSlices(c.Lane.Cycles, candidates, c.order)
	}
	if c.Traits.QueueOrder {
		if err := c.beginPages(ctx); err != nil {
			return err
		}
	}
	return c.dropPricedOut(ctx)
}

// holdUnfunded puts the unfunded timers of the window on hold, if more are ready than it holds. So they don't fill it. They
// return when their payers can cover them.
func (c *Contest) holdUnfunded(ctx sdk.Context) {
	c.Keep(func(t *types.Timer) bool {
		funded := t.UnfundedSince == 0
		if !funded {
			held := *t
			held.UnfundedSince = 0
			c.hold(ctx, &held, types.Unfunded)
		}
		return funded
	})
}

// dropPricedOut puts on hold the timers that can't fire at the prices of the block, if more timers are ready than the
// window holds. Otherwise they would fill it, and keep out those behind them. They are not in the order.
func (c *Contest) dropPricedOut(ctx sdk.Context) error {
	if !c.Overloaded {
		return nil
	}
	var priced []types.Timer
	for i := range c.Ready {
		if _, willing := c.Price(&c.Ready[i]); !willing {
			priced = append(priced, c.Ready[i])
		}
	}
	return c.holdPricedOut(ctx, priced)
}

// holdPricedOut takes timers out of the queue that can't fire at the prices of the block, so that a crowd of them does
// not fill the windows of later blocks. They were read in this block, and handlers may have changed them since.
func (c *Contest) holdPricedOut(ctx sdk.Context, timers []types.Timer) error {
	for i := range timers {
		t, found, err := c.Records.InQueue(ctx, state.KeyOf(timers[i].Due, timers[i].Seq))
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if _, willing := c.Price(&t); willing {
			continue
		}
		c.PricedOut++
		if c.hold(ctx, &t, types.PricedOut); t.HoldReason != types.NotOnHold {
			c.Left++
		}
	}
	return nil
}

// Next returns the timer that is tried next; false if there is none, or the lane has no room for any. Between two calls fires may
// change state. A timer is handed out once in a block, and is ready then, whatever order the rules return.
//
// A crowd that no one is billed for has its share of a block: timers without funds, of former admins, quarantined or priced out.
// Timers are handed out in order until one of them was tried, and then while the overhead has room for another. Where any was,
// quarantined ones apart, or was put on hold as priced out, and more timers are ready than were looked at, what remains of the lane
// is for newcomers, the timers that became due in this block, in queue order.
func (c *Contest) Next(ctx sdk.Context) (Entrant, bool, error) {
	if !c.over {
		if c.Unpaid == 0 || c.Overhead.Left(market.Try) > 0 {
			entrant, found, err := c.inOrder(ctx)
			if err != nil {
				return entrant, false, err
			}
			if found {
				if !c.claim(entrant.Timer) {
					return entrant, false, types.ErrInternal.Wrapf("the policy's order has timer %s twice", entrant.Timer.IDHex())
				}
				return entrant, true, nil
			}
		}
		c.over = true
		if err := c.readNewcomers(ctx); err != nil {
			return Entrant{}, false, err
		}
	}
	entrant, found := c.newcomer()
	return entrant, found, nil
}

func (c *Contest) inOrder(ctx sdk.Context) (Entrant, bool, error) {
	switch {
	case c.Indexed:
		return c.nextIndexed(ctx)
	case c.Traits.QueueOrder:
		return c.nextOfPages(ctx)
	}
	entrant, found := c.nextReady()
	if found && c.indexer != nil && c.Index.Size() > 0 {
		c.index.met = append(c.index.met, state.KeyOf(entrant.Timer.Due, entrant.Timer.Seq))
	}
	return entrant, found, nil
}

// hasRoom reports whether the lane has room for any fire. Until a timer is known to wait for room, more are handed out.
func (c *Contest) hasRoom() bool { return c.fitsAny() || !c.Waiting }

// fitsAny reports whether the lane has room for the smallest fire.
func (c *Contest) fitsAny() bool { return c.Lane.Fits(market.FireBaseCycles) }

// nextReady returns the next of Ready in order: first those that fit their actors' slices of the lane, then those that were put off.
func (c *Contest) nextReady() (Entrant, bool) {
	for c.hasRoom() || c.Wanted {
		if c.at == len(c.order) {
			if c.retried || len(c.putOff) == 0 {
				break
			}
			c.order, c.at, c.retried = c.putOff, 0, true
			continue
		}
		i := c.order[c.at]
		t := &c.Ready[i]
		c.at++
		if c.slices != nil && !c.retried && !c.slices.Admits(string(t.Actor), c.SizeOf(t)) {
			c.putOff = append(c.putOff, i)
			continue
		}
		return Entrant{Timer: t}, true
	}
	return Entrant{}, false
}

// Spent tells what a fire of an actor has used of the lane.
func (c *Contest) Spent(actor sdk.AccAddress, cycles uint64) {
	if c.slices != nil && !c.retried {
		c.slices.Spend(string(actor), cycles)
	}
}

// claim notes that a timer is handed out, and reports whether it was not before.
func (c *Contest) claim(t *types.Timer) bool {
	key := state.KeyOf(t.Due, t.Seq)
	if c.had[key] {
		return false
	}
	c.had[key] = true
	return true
}

// readNewcomers reads the oldest timers that became due in this block and are still in the queue.
func (c *Contest) readNewcomers(ctx sdk.Context) (err error) {
	if c.Unpaid-c.Quarantined+c.PricedOut == 0 || !c.Overloaded || !c.fitsAny() {
		return nil
	}
	first, end := schedule.Key{Due: c.Now.Height}, schedule.Key{Due: c.Now.Height + 1}
	c.newcomers, _, err = c.readMore(ctx, first, end, c.Config.CandidateWindow, market.AdmitNewlyDue)
	return err
}

// newcomer is the next newcomer that was not handed out. It competes now, if it was not read before.
func (c *Contest) newcomer() (Entrant, bool) {
	for len(c.newcomers) > 0 && c.fitsAny() {
		t := &c.newcomers[0]
		c.newcomers = c.newcomers[1:]
		if c.runnable(t) && c.claim(t) {
			c.withdraw(t)
			return Entrant{Timer: t}, true
		}
	}
	return Entrant{}, false
}

// withdraw takes a timer out of the order, because it is tried apart from it. It competes now, if it was not read before.
func (c *Contest) withdraw(t *types.Timer) {
	if len(c.positions) != len(c.Ready) {
		c.positions = make(map[uint64]int, len(c.Ready))
		for i := range c.Ready {
			c.positions[c.Ready[i].Seq] = i
		}
	}
	if at, found := c.positions[t.Seq]; found {
		c.order = slices.DeleteFunc(c.order, func(i int) bool { return i == at })
		return
	}
	c.Competing++
}

// maxReserved bounds the timers of reserved actors that a block reads: more than a share of the default lane can fire.
const maxReserved = 64

// Reserved are the ready timers of reserved actors that can fire, the oldest of them, in the order of the rules.
func (c *Contest) Reserved(ctx sdk.Context, actors []sdk.AccAddress) ([]*types.Timer, error) {
	if c.Competing == 0 && !c.Indexed {
		return nil, nil
	}
	var due []state.Entry
	for _, actor := range actors {
		entries, err := c.Owners.Of(ctx, actor)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if entry.IsQueued() && entry.Due <= c.Now.Height {
				due = append(due, entry)
			}
		}
	}
	slices.SortFunc(due, func(a, b state.Entry) int {
		return state.KeyOf(a.Due, a.Seq).Compare(state.KeyOf(b.Due, b.Seq))
	})
	var ready []*types.Timer
	var candidates []market.Candidate
	for _, entry := range due[:min(len(due), maxReserved)] {
		t, found, err := c.Records.InQueue(ctx, state.KeyOf(entry.Due, entry.Seq))
		if err != nil {
			return nil, err
		}
		if found && !t.ExpiredAt(c.Now) && c.runnable(&t) {
			ready, candidates = append(ready, &t), append(candidates, c.Candidate(ctx, &t))
		}
	}
	ordered := make([]*types.Timer, 0, len(ready))
	for _, i := range c.Rules.Order(c.Prices, candidates) {
		ordered = append(ordered, ready[i])
	}
	return ordered, nil
}

// Enter makes a reserved timer an entrant.
func (c *Contest) Enter(t *types.Timer) Entrant {
	c.withdraw(t)
	return Entrant{Timer: t, Reserved: true}
}

// Current is an entrant's timer as it is now, nil if it left meanwhile. Earlier handlers may have cancelled or changed it, so that its
// record is read again.
func (c *Contest) Current(ctx sdk.Context, entrant Entrant) (*types.Timer, error) {
	key := state.KeyOf(entrant.Timer.Due, entrant.Timer.Seq)
	if entrant.Fresh || !c.Records.MayDiffer(ctx, key) {
		return entrant.Timer, nil
	}
	current, found, err := c.Records.InQueue(ctx, key)
	if err != nil || !found {
		return nil, err
	}
	return &current, nil
}

// Candidate is the timer as the rules see it.
func (c *Contest) Candidate(ctx sdk.Context, t *types.Timer) market.Candidate {
	candidate := c.offer(t)
	candidate.Due, candidate.Seq, candidate.Size, candidate.Actor, candidate.ID = t.DueSince(), t.Seq, c.SizeOf(t), string(t.Actor), string(t.Id)
	candidate.Unfunded = t.UnfundedSince > 0
	if c.weigher != nil {
		c.weigher.Weigh(ctx, t.Actor, &candidate)
	}
	return candidate
}

// offer is what a timer pays for its fire: as much of the candidate as its price follows from.
func (c *Contest) offer(t *types.Timer) market.Candidate {
	candidate := market.Candidate{Ask: c.ask(t, c.Indexed)}
	if t.BidLocked != "" {
		candidate.Locked = t.Locked()
	}
	return candidate
}

// ask is what a timer asks for at the prices of the block. What another account pays for is bounded: its owner could
// agree with a proposer to turn the payer's allowance into tips (x/timers/README.md, "1.11 Fee payer"). Indexed: its entry in the
// ready index is what it asks for, and what its agent answered last.
func (c *Contest) ask(t *types.Timer, indexed bool) market.Ask {
	ask := c.Calls.Ask(t, indexed)
	if t.Sponsored() { // TIER_TIP_CAP × the lane basefee per unit of size.
		ask = ask.WithTipAtMost(c.Prices.Lane.MulTruncate(c.Config.TierTipCap.LegacyDec))
	}
	ask.SpendCap = c.SpendCapOf(t)
	return ask
}

// SpendCapOf is what a timer's max_charge leaves above the chain's prices of the block.
func (c *Contest) SpendCapOf(t *types.Timer) market.SpendCap {
	if t.Spec.MaxCharge == "" {
		return market.SpendCap{}
	}
	amount, _ := types.ParseAmount(t.Spec.MaxCharge)
	return market.SpendCapOf(amount, c.Prices, t.GasLimit, t.CellLimit)
}

// Price is what the rules say that a fire of a timer pays at the prices of the block. It is false if its owner is not willing to.
func (c *Contest) Price(t *types.Timer) (price market.Price, willing bool) {
	offer := c.offer(t)
	if offer.Ask.States() || !offer.Locked.IsNil() {
		return c.Rules.Price(c.Prices, offer)
	}
	usual := &c.usual[offer.Ask.Kind]
	if !usual.known {
		usual.price, usual.willing = c.Rules.Price(c.Prices, offer)
		usual.known = true
	}
	return usual.price, usual.willing
}

// RunnerUp is the first of the timers that compete which a candidate would have to pass to fire, if all fires use their gas limits;
// nil if there is none. Room for the candidate is kept free: the first that does not fit in addition to it is the one to pass.
func (c *Contest) RunnerUp(ctx sdk.Context, candidate market.Candidate) *market.Candidate {
	lane := *c.Lane
	for _, i := range c.order {
		next, with := c.Candidate(ctx, &c.Ready[i]), lane
		with.Spend(candidate.Size, 0)
		if !with.Fits(next.Size) {
			return &next
		}
		lane.Spend(next.Size, 0)
	}
	return nil
}
