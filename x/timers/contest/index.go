package contest

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// MaxIndexReads bounds the entries of the ready index that a block reads beyond the heads of its lists. With usual bids
// few are read for each fire; the bound is against bids chosen to make many reads necessary.
const MaxIndexReads = 4_096

// minIndexReads are read in any case: with fewer the best of the index may not be found.
const minIndexReads = 64

// maxListed is the same for a query that shows the order of the next block.
const maxListed = 1 << 16

// Indexer are rules whose order can be kept in the ready index. Under overload, when more timers are ready than the window holds, a
// block does not read all of them. It admits some to the index while its overhead lasts, and takes the best from there. A timer that
// is priced out, or whose payer can't cover it, is passed over for the price of a read; a scan behind the admission looks at it
// again. Work is bounded, every timer is admitted in the end, and among the admitted the order is exact.
type Indexer interface {
	// Lists are those that the block ranks: from one on, and before another.
	Lists() (from, to market.List)
	// Weight of the lists that the timers of an actor belong into in this block.
	Weight(ctx sdk.Context, actor sdk.AccAddress) uint32
	// Entries of a timer in the lists of a weight, by what it asks for. The first stands for all of them.
	Entries(t *types.Timer, ask market.Ask, weight uint32) []market.ListEntry
	// Ranking opens an index at the prices of the block. So many entries may be read. Of a timer that can fire, look returns the
	// candidate.
	Ranking(
		ctx sdk.Context, store market.ListSummary, reads int, look func(context.Context, market.ListEntry) (c market.Candidate, can bool, err error),
	) (market.Ranking, error)
}

// index is what the contest does with the ready index.
type index struct {
	ranking market.Ranking
	// noted are the timers that were admitted or scanned, in order to call their agents when all are known.
	noted []*types.Timer
	// met are the keys of the timers that were handed out. Those that were met too early and put back are
	// returned, under the entries by which they were met, and isReturned has their seqs. It is looked up, never ranged over.
	met        []schedule.Key
	returned   []market.ListEntry
	isReturned map[uint64]bool
}

// collectIndexed reads the window, or under overload what the index needs.
func (c *Contest) collectIndexed(ctx sdk.Context) error {
	if err := c.refileOthers(ctx); err != nil {
		return err
	}
	if err := c.readLeftovers(ctx); err != nil {
		return err
	}
	if c.Index.Size() <= uint64(c.Config.CandidateWindow) {
		live, reached, complete, err := c.readLive(ctx, c.Config.CandidateWindow)
		if err != nil {
			return err
		}
		if complete {
			c.compete(live)
			return c.sweep(ctx, reached, complete)
		}
	}
	c.Indexed, c.Overloaded = true, true
	passed := state.CalendarKey(c.State.AdmitCursor)
	if err := c.admitNewlyDue(ctx); err != nil {
		return err
	}
	if err := c.admitOldest(ctx); err != nil {
		return err
	}
	return c.scanPassed(ctx, passed)
}

// refileOthers files timers again that lie in lists of another policy, or of other weights of this one, with half of the overhead
// for the contest. Until then they don't compete, like those not yet admitted.
func (c *Contest) refileOthers(ctx sdk.Context) error {
	if c.Index.Size() == 0 {
		return nil
	}
	from, to := c.indexer.Lists()
	entries, err := c.Index.Outside(from, to, (c.Overhead.Left(market.Refile)+1)/2)
	if err != nil {
		return err
	}
	c.Overhead.Consume(market.Refile, len(entries))
	for _, entry := range entries {
		key := state.KeyOf(entry.Due, entry.Seq)
		first, filed, err := c.Index.At(key)
		if err != nil {
			return err
		}
		// The second entry of a timer was removed with the first.
		if !filed || first.List.Weight() != entry.List.Weight() {
			continue
		}
		t, found, err := c.Records.InQueue(ctx, key)
		switch {
		case err != nil:
		case found:
			err = c.file(&t, c.indexer.Weight(ctx, t.Actor))
		default:
			err = c.Index.Remove(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entries of a timer under a weight.
func (c *Contest) entries(t *types.Timer, weight uint32) []market.ListEntry {
	return c.indexer.Entries(t, c.ask(t, true), weight)
}

// file files a timer under a weight.
func (c *Contest) file(t *types.Timer, weight uint32) error {
	return c.Index.File(c.entries(t, weight)[0])
}

// ranks reports whether the block ranks a list.
func (c *Contest) ranks(list market.List) bool {
	from, to := c.indexer.Lists()
	return from <= list && list < to
}

// admitNewlyDue admits timers that became due in this block while older ones still wait for admission. Otherwise they could not
// compete until the whole backlog is admitted.
func (c *Contest) admitNewlyDue(ctx sdk.Context) error {
	from := schedule.Key{Due: c.Now.Height}
	if state.CalendarKey(c.State.AdmitCursor).Compare(from) >= 0 {
		return nil
	}
	_, err := c.admitFrom(ctx, from, market.ReadNewlyDue, market.AdmitNewlyDue)
	return err
}

// admitOldest admits the oldest timers that the admission has not reached.
func (c *Contest) admitOldest(ctx sdk.Context) error {
	from := state.CalendarKey(c.State.AdmitCursor)
	if live := state.CalendarKey(c.State.LiveCursor); from.Compare(live) < 0 {
		from = live
	}
	next, err := c.admitFrom(ctx, from, market.ReadReady, market.Admit)
	c.State.AdmitCursor = state.QueueKey(next)
	return err
}

// admitFrom reads ready timers in queue order while the overhead lasts, and admits those that can pay. It returns where it
// stopped.
func (c *Contest) admitFrom(ctx sdk.Context, from schedule.Key, read, admit market.Work) (next schedule.Key, err error) {
	var failed error
	found, next, _, err := c.Records.Page(ctx, from, c.Now.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		t := &e.Value
		switch {
		case !c.Overhead.TryConsume(read):
			return schedule.Stop
		case t.ExpiredAt(c.Now) || !c.runnable(t):
			return schedule.Take
		}
		var filed bool
		if _, filed, failed = c.Index.At(e.Key); failed != nil {
			return schedule.Stop
		} else if filed {
			return schedule.Pass
		}
		price, willing := c.Price(t)
		if !willing {
			return schedule.Pass
		}
		switch c.look(ctx, t, price) {
		case enough:
			if c.Overhead.TryConsume(admit) {
				return schedule.Take
			}
			return schedule.Stop
		case notLooked:
			return schedule.Stop
		default:
			return schedule.Pass
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return next, err
	}
	for i := range found {
		if err := c.admit(ctx, &found[i].Value); err != nil {
			return next, err
		}
	}
	return next, nil
}

// admit indexes a timer under the weight of its actor. A timer that the config can't run is put on hold; an expired one is left
// to the cleanup.
func (c *Contest) admit(ctx sdk.Context, t *types.Timer) error {
	switch {
	case t.ExpiredAt(c.Now):
		c.GC.Meet(*t)
		return nil
	case !c.runnable(t):
		c.hold(ctx, t, types.Unrunnable)
		return nil
	}
	c.note(t)
	return c.file(t, c.indexer.Weight(ctx, t.Actor))
}

// note notes a timer whose agent is to be called.
func (c *Contest) note(t *types.Timer) {
	if c.Traits.AsksAgents {
		c.index.noted = append(c.index.noted, t)
	}
}

// funds is what a look at a payer finds.
type funds int

const (
	// notLooked: the block's overhead has no room for a look.
	notLooked funds = iota
	// enough: the payer can cover the timer, in addition to its others that the block has admitted.
	enough
	// promised: it could, were it not for those.
	promised
	// tooLittle: it can't.
	tooLittle
)

// look looks at the payer of a timer that is to be admitted: once a block, or once for each timer that an allowance pays for. A
// paused lane needs no funds.
func (c *Contest) look(ctx sdk.Context, t *types.Timer, price market.Price) funds {
	if c.Config.LanePaused {
		return enough
	}
	payer, needed := string(t.Payer()), price.Cost(t.GasLimit, t.CellLimit)
	pledged, looked := c.pledged[payer]
	switch {
	case looked && !t.Sponsored():
	case !c.Overhead.TryConsume(market.LookAtPayer):
		return notLooked
	case !looked:
		pledged = math.ZeroInt()
		c.pledged[payer] = pledged
	}
	has, sum := c.Funds.Spendable(ctx, t.Payer()), pledged.Add(needed)
	switch {
	case has.LT(needed), t.Sponsored() && !c.Funds.Covers(ctx, t, needed):
		return tooLittle
	case has.LT(sum):
		return promised
	default:
		c.pledged[payer] = sum
		return enough
	}
}

// scanPassed examines scanLimit of the timers that the admission has passed in earlier blocks, from where the block before ended. It
// removes expired ones, admits those that were passed over or puts them on hold, brings the others where they belong, and calls
// their agents again. Under overload it is what moves the live cursor.
func (c *Contest) scanPassed(ctx sdk.Context, end schedule.Key) error {
	from := state.CalendarKey(c.State.SweepCursor)
	first := from.Compare(state.CalendarKey(c.State.LiveCursor)) <= 0
	if first {
		from = state.CalendarKey(c.State.LiveCursor)
	}
	left, reachedEnd := c.scanLimit(market.Renew), false
	found, next, complete, err := c.Records.Page(ctx, from, c.Now.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		reachedEnd = e.Key.Compare(end) >= 0
		if left == 0 || reachedEnd {
			return schedule.Stop
		}
		left--
		return schedule.Take
	})
	if err != nil {
		return err
	}
	c.Overhead.Consume(market.Renew, len(found))
	read := make([]schedule.Key, len(found))
	for i := range found {
		read[i] = found[i].Key
	}
	if first {
		from = schedule.Key{}
	}
	if err := c.dropStale(from, next, read); err != nil {
		return err
	}
	c.State.SweepCursor = state.QueueKey(next)
	if complete || reachedEnd {
		c.State.SweepCursor = types.QueueKey{}
	}
	for i := range found {
		t := &found[i].Value
		if t.ExpiredAt(c.Now) {
			c.GC.Meet(*t)
			continue
		}
		if first {
			c.State.LiveCursor, first = state.QueueKey(found[i].Key), false
		}
		if err := c.renew(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// renew brings a timer that the admission has passed to where it belongs. One whose weight has fallen stays where it is until it
// is met: most are met much later, when their weights have risen again.
func (c *Contest) renew(ctx sdk.Context, t *types.Timer) error {
	first, filed, err := c.Index.At(state.KeyOf(t.Due, t.Seq))
	if err != nil {
		return err
	}
	if !filed {
		return c.lookAgain(ctx, t)
	}
	c.note(t)
	weight := c.indexer.Weight(ctx, t.Actor)
	if c.ranks(first.List) {
		weight = max(weight, first.List.Weight())
	}
	if c.entries(t, weight)[0].Same(first) || !c.Overhead.TryConsume(market.Refile) {
		return nil
	}
	return c.file(t, weight)
}

// lookAgain admits a timer that was passed over, or takes it out, if its payer still can't cover it.
func (c *Contest) lookAgain(ctx sdk.Context, t *types.Timer) error {
	if price, willing := c.Price(t); willing && c.runnable(t) {
		switch c.look(ctx, t, price) {
		case enough:
		case tooLittle:
			if c.Overhead.TryConsume(market.PutOnHold) {
				c.TakeOut(ctx, t, types.Unfunded, &price)
			}
			return nil
		default:
			return nil
		}
	}
	if !c.Overhead.TryConsume(market.Admit) {
		return nil
	}
	return c.admit(ctx, t)
}

// askAdmitted calls the agents of timers that this block admitted or scanned, and indexes them under the answers.
func (c *Contest) askAdmitted(ctx sdk.Context) error {
	noted := c.index.noted
	if len(noted) == 0 {
		return nil
	}
	slices.SortFunc(noted, func(a, b *types.Timer) int { return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq)) })
	if err := c.Calls.AskAll(ctx, noted); err != nil {
		return err
	}
	for _, t := range noted {
		if c.Calls.Of(t) == nil {
			continue
		}
		first, filed, err := c.Index.At(state.KeyOf(t.Due, t.Seq))
		if err != nil {
			return err
		}
		if !filed || !c.ranks(first.List) {
			continue
		}
		if answered := c.entries(t, first.List.Weight())[0]; !answered.Same(first) {
			if err := c.Index.File(answered); err != nil {
				return err
			}
		}
	}
	return nil
}

// openRanking opens the index at the prices of the block.
func (c *Contest) openRanking(ctx sdk.Context) (err error) {
	c.index.ranking, err = c.indexer.Ranking(ctx, c.Index, c.indexReads(), c.lookAt)
	return err
}

// lookAt is the candidate of an entry; false if its timer can't fire, or is gone.
func (c *Contest) lookAt(goCtx context.Context, entry market.ListEntry) (market.Candidate, bool, error) {
	t, found, err := c.Records.InQueue(goCtx, state.KeyOf(entry.Due, entry.Seq))
	if err != nil || !found || t.ExpiredAt(c.Now) || !c.runnable(&t) {
		return market.Candidate{}, false, err
	}
	return c.Candidate(sdk.UnwrapSDKContext(goCtx), &t), true, nil
}

// indexReads is how many entries of the index the block may read beyond the heads of its lists. They are consumed at once. A
// query pays for what it reads.
func (c *Contest) indexReads() int {
	if c.Preview {
		return maxListed
	}
	n := min(MaxIndexReads, max(minIndexReads, c.Overhead.Left(market.ReadEntry)/3))
	c.Overhead.Consume(market.ReadEntry, n)
	return n
}

// nextIndexed returns the admitted in order while the lane lasts.
func (c *Contest) nextIndexed(ctx sdk.Context) (Entrant, bool, error) {
	goCtx := context.Context(ctx)
	for c.PassedOver < MaxPassedOver && c.hasRoom() && c.mayRead() {
		entry, found, err := c.index.ranking.Next(goCtx)
		if err != nil || !found {
			return Entrant{}, false, err
		}
		key := state.KeyOf(entry.Due, entry.Seq)
		t, found, err := c.Records.InQueue(goCtx, key)
		if err != nil {
			return Entrant{}, false, err
		}
		if !found {
			if err := c.dropMet(key); err != nil {
				return Entrant{}, false, err
			}
			continue
		}
		c.index.met = append(c.index.met, key)
		ready, err := c.check(ctx, &t, entry)
		if err != nil {
			return Entrant{}, false, err
		}
		if ready {
			return Entrant{Timer: &t, Fresh: true}, true, nil
		}
	}
	return Entrant{}, false, nil
}

// mayRead reports whether the block reads another timer of the ranking. A query pays for what it reads.
func (c *Contest) mayRead() bool {
	return c.Preview || c.Overhead.TryConsume(market.ReadRanked)
}

// dropMet drops an entry that the ranking returned and whose timer has left the queue, while the overhead lasts.
func (c *Contest) dropMet(key schedule.Key) error {
	if !c.Overhead.TryConsume(market.DropMet) {
		return nil
	}
	return c.Index.Remove(key)
}

// check reports whether a timer that the ranking returned by an entry can be tried. Otherwise it puts the timer back where it
// belongs, or takes it out. One that is met under a weight that has risen stays where it is: it is tried now.
func (c *Contest) check(ctx sdk.Context, t *types.Timer, entry market.ListEntry) (bool, error) {
	if !c.index.isReturned[t.Seq] {
		entries := c.entries(t, min(c.indexer.Weight(ctx, t.Actor), entry.List.Weight()))
		if !slices.ContainsFunc(entries, entry.Same) {
			c.putBack(entry, entries[0])
			return false, nil
		}
	}
	switch {
	case t.ExpiredAt(c.Now):
		return false, c.expireOnSight(ctx, t)
	case !c.runnable(t):
		c.hold(ctx, t, types.Unrunnable)
	default:
		if _, willing := c.Price(t); willing {
			return true, nil
		}
		// The index of a policy whose order does not depend on prices returns also those that are priced out.
		c.PricedOut++
		c.hold(ctx, t, types.PricedOut)
	}
	return false, nil
}

// putBack returns a timer to the ranking where it belongs. Close files it there, unless the timer fires.
func (c *Contest) putBack(met, first market.ListEntry) {
	if c.index.isReturned == nil {
		c.index.isReturned = map[uint64]bool{}
	}
	c.index.isReturned[first.Seq] = true
	c.index.returned = append(c.index.returned, met)
	c.index.ranking.Return(first)
}

// Close ends the contest when the fires of the block are over. It drops from the ready index what was admitted or met and has left the
// queue since, and files timers again that were put back and have not fired, while the overhead lasts. So whoever makes many timers of
// the index outdated at once makes no block file them all. The others are put back again when they are met.
func (c *Contest) Close(ctx sdk.Context) error {
	if c.indexer == nil {
		return nil
	}
	for _, key := range slices.Concat(c.Index.Filed(), c.index.met) {
		left, err := c.left(ctx, key)
		if err == nil && left {
			err = c.Index.Remove(key)
		}
		if err != nil {
			return err
		}
	}
	for _, met := range c.index.returned {
		t, found, err := c.Records.InQueue(ctx, state.KeyOf(met.Due, met.Seq))
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if !c.Overhead.TryConsume(market.Refile) {
			break
		}
		if err := c.file(&t, min(c.indexer.Weight(ctx, t.Actor), met.List.Weight())); err != nil {
			return err
		}
	}
	return nil
}

// left reports whether a timer that the block has read has left the queue, or moved there.
func (c *Contest) left(ctx sdk.Context, key schedule.Key) (bool, error) {
	return c.Records.HasLeft(ctx, key)
}

// expireOnSight removes an expired timer that the scan has not reached. If the budget of the GC lane is used up, it removes the
// timer from the index only, while the overhead lasts, so that it is not read again before live ones.
func (c *Contest) expireOnSight(ctx sdk.Context, t *types.Timer) error {
	if c.GC.TakeFor(t) {
		c.TakeOut(ctx, t, types.NotOnHold, nil)
		return nil
	}
	return c.dropMet(state.KeyOf(t.Due, t.Seq))
}
