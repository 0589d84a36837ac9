package policies

import (
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

// Indexer is a policy whose order is kept in the ready index.
type Indexer interface {
	// Weight of the lists that a timer belongs into in this block.
	Weight(ctx sdk.Context, t *types.Timer) uint32
	// Entries of a timer in the lists of a weight, at the prices of the block. The first stands for all of them.
	Entries(t *types.Timer, weight uint32) []market.ListEntry
	// Lists are those that the block ranks: from one on, and before another.
	Lists() (from, to market.List)
	// Ranking opens the index at the prices of the block.
	Ranking(ctx sdk.Context) (Ranking, error)
}

// Ranking returns indexed timers, best first, by one of their entries.
type Ranking interface {
	Next(ctx context.Context) (market.ListEntry, bool, error)
	// Return puts back a timer that was returned under an outdated placement, with the entry that it has now.
	Return(entry market.ListEntry)
}

// Storm is a Window that uses the ready index under overload, when more timers are ready than the window holds. Then a
// block does not read all ready timers. It admits some of them to the index while its overhead lasts, and takes the best from
// there. A timer that is priced out, or whose payer can't cover it, is passed over for the price of a read; a scan behind the
// admission looks at it again. Work is bounded, every timer is admitted in the end, and among the admitted the order is exact.
type Storm struct {
	Window
	Indexer Indexer

	ranking Ranking
	// met are the places of the timers that were handed out. Those that were met before their turn and put back are
	// returned, under the entries by which they were met, and isReturned has their seqs. It is looked up, never ranged over.
	met        []schedule.Key
	returned   []market.ListEntry
	isReturned map[uint64]bool
	// passedOver counts timers that did not fit.
	passedOver int
}

var _ Round = (*Storm)(nil)

// Collect implements Round: it reads the window, or under overload what the index needs.
func (s *Storm) Collect(ctx sdk.Context) error {
	if err := s.refileOthers(ctx); err != nil {
		return err
	}
	if err := s.ReadLeftovers(ctx, s.Parts.Records); err != nil {
		return err
	}
	if s.Index.Size() <= uint64(s.Config.CandidateWindow) {
		live, reached, complete, err := s.ReadLive(ctx, s.Parts.Records, s.Config.CandidateWindow)
		if err != nil {
			return err
		}
		if complete {
			s.Compete(live)
			return s.SweepQueue(ctx, s.Parts.Records, reached, complete)
		}
	}
	s.Storm, s.Overloaded = true, true
	passed := state.CalendarKey(s.State.AdmitCursor)
	if err := s.admitNewlyDue(ctx); err != nil {
		return err
	}
	if err := s.admitOldest(ctx); err != nil {
		return err
	}
	return s.scanPassed(ctx, passed)
}

// refileOthers files timers again that lie in lists of another policy, or of other weights of this one, with half of the overhead
// for the contest. Until then they don't compete, like those not yet admitted.
func (s *Storm) refileOthers(ctx sdk.Context) error {
	if s.Index.Size() == 0 {
		return nil
	}
	from, to := s.Indexer.Lists()
	entries, err := s.Index.Outside(from, to, (s.Overhead.Left(market.Refile)+1)/2)
	if err != nil {
		return err
	}
	s.Overhead.Consume(market.Refile, len(entries))
	for _, entry := range entries {
		key := state.KeyOf(entry.Due, entry.Seq)
		first, filed, err := s.Index.At(key)
		if err != nil {
			return err
		}
		// The second entry of a timer was removed with the first.
		if !filed || first.List.Weight() != entry.List.Weight() {
			continue
		}
		t, found, err := s.Parts.Records.InQueue(ctx, key)
		switch {
		case err != nil:
		case found:
			err = s.file(&t, s.Indexer.Weight(ctx, &t))
		default:
			err = s.Index.Remove(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file files a timer under a weight.
func (s *Storm) file(t *types.Timer, weight uint32) error {
	return s.Index.File(s.Indexer.Entries(t, weight)[0])
}

// ranks reports whether the block ranks a list.
func (s *Storm) ranks(list market.List) bool {
	from, to := s.Indexer.Lists()
	return from <= list && list < to
}

// admitNewlyDue admits timers that became due in this block while older ones still wait for admission. Otherwise they could not
// compete until the whole backlog is admitted.
func (s *Storm) admitNewlyDue(ctx sdk.Context) error {
	from := schedule.Key{Due: s.Height}
	if state.CalendarKey(s.State.AdmitCursor).Compare(from) >= 0 {
		return nil
	}
	_, err := s.admitFrom(ctx, from, market.ReadNewlyDue, market.AdmitNewlyDue)
	return err
}

// admitOldest admits the oldest timers that the admission has not reached.
func (s *Storm) admitOldest(ctx sdk.Context) error {
	from := state.CalendarKey(s.State.AdmitCursor)
	if live := state.CalendarKey(s.State.LiveCursor); from.Compare(live) < 0 {
		from = live
	}
	next, err := s.admitFrom(ctx, from, market.ReadReady, market.Admit)
	s.State.AdmitCursor = state.QueueKey(next)
	return err
}

// admitFrom reads ready timers in queue order while the overhead lasts, and admits those that can pay. It returns where it
// stopped.
func (s *Storm) admitFrom(ctx sdk.Context, from schedule.Key, read, admit market.Work) (next schedule.Key, err error) {
	var failed error
	found, next, _, err := s.Parts.Records.Page(ctx, from, s.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		t := &e.Value
		switch {
		case !s.Overhead.TryConsume(read):
			return schedule.Stop
		case t.ExpiredAt(s.Now()) || !s.Hands.Runnable(t):
			return schedule.Take
		}
		var filed bool
		if _, filed, failed = s.Index.At(e.Key); failed != nil {
			return schedule.Stop
		} else if filed {
			return schedule.Pass
		}
		price, willing := s.Price(t)
		if !willing {
			return schedule.Pass
		}
		switch s.Hands.Look(ctx, t, price) {
		case Enough:
			if s.Overhead.TryConsume(admit) {
				return schedule.Take
			}
			return schedule.Stop
		case NotLooked:
			return schedule.Stop
		default:
			return schedule.Pass
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return next, err
	}
	for i := range found {
		if err := s.admit(ctx, &found[i].Value); err != nil {
			return next, err
		}
	}
	return next, nil
}

// admit indexes a timer under the weight of its actor. A timer that the config can't run is put on hold; an expired one is left
// to the cleanup.
func (s *Storm) admit(ctx sdk.Context, t *types.Timer) error {
	switch {
	case t.ExpiredAt(s.Now()):
		s.GC.Meet(*t)
		return nil
	case !s.Hands.Runnable(t):
		s.Hands.PutOnHold(ctx, t, types.Unrunnable)
		return nil
	}
	s.Agents.Note(t)
	return s.file(t, s.Indexer.Weight(ctx, t))
}

// scanPassed examines ScanLimit of the timers that the admission has passed in earlier blocks, in rounds over all of them. It
// removes expired ones, admits those that were passed over or puts them on hold, brings the others where they belong, and calls
// their agents again. Under overload it is what moves the live cursor.
func (s *Storm) scanPassed(ctx sdk.Context, end schedule.Key) error {
	from := state.CalendarKey(s.State.SweepCursor)
	first := from.Compare(state.CalendarKey(s.State.LiveCursor)) <= 0
	if first {
		from = state.CalendarKey(s.State.LiveCursor)
	}
	left, reachedEnd := s.ScanLimit(market.Renew), false
	found, next, complete, err := s.Parts.Records.Page(ctx, from, s.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
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
	s.Overhead.Consume(market.Renew, len(found))
	read := make([]schedule.Key, len(found))
	for i := range found {
		read[i] = found[i].Key
	}
	if first {
		from = schedule.Key{}
	}
	if err := s.dropStale(from, next, read); err != nil {
		return err
	}
	s.State.SweepCursor = state.QueueKey(next)
	if complete || reachedEnd {
		s.State.SweepCursor = types.QueueKey{}
	}
	for i := range found {
		t := &found[i].Value
		if t.ExpiredAt(s.Now()) {
			s.GC.Meet(*t)
			continue
		}
		if first {
			s.State.LiveCursor, first = state.QueueKey(found[i].Key), false
		}
		if err := s.renew(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// renew brings a timer that the admission has passed to where it belongs. One whose weight has fallen stays where it is until it
// is met: most are met much later, when their weights have risen again.
func (s *Storm) renew(ctx sdk.Context, t *types.Timer) error {
	first, filed, err := s.Index.At(state.KeyOf(t.Due, t.Seq))
	if err != nil {
		return err
	}
	if !filed {
		return s.lookAgain(ctx, t)
	}
	s.Agents.Note(t)
	weight := s.Indexer.Weight(ctx, t)
	if s.ranks(first.List) {
		weight = max(weight, first.List.Weight())
	}
	if s.Indexer.Entries(t, weight)[0].Same(first) || !s.Overhead.TryConsume(market.Refile) {
		return nil
	}
	return s.file(t, weight)
}

// lookAgain admits a timer that was passed over, or puts it on hold, if its payer still can't cover it.
func (s *Storm) lookAgain(ctx sdk.Context, t *types.Timer) error {
	if price, willing := s.Price(t); willing && s.Hands.Runnable(t) {
		switch s.Hands.Look(ctx, t, price) {
		case Enough:
		case TooLittle:
			s.Hands.LacksFunds(ctx, t, price)
			return nil
		default:
			return nil
		}
	}
	if !s.Overhead.TryConsume(market.Admit) {
		return nil
	}
	return s.admit(ctx, t)
}

// OpenRanking opens the index at the prices of the block. A round's Rank calls it under overload.
func (s *Storm) OpenRanking(ctx sdk.Context) (err error) {
	s.ranking, err = s.Indexer.Ranking(ctx)
	return err
}

// IndexReads is how many entries of the index the block may read beyond the heads of its lists. They are consumed at once. A
// query pays for what it reads.
func (s *Storm) IndexReads() int {
	if s.Preview {
		return maxListed
	}
	n := min(MaxIndexReads, max(minIndexReads, s.Overhead.Left(market.ReadEntry)/3))
	s.Overhead.Consume(market.ReadEntry, n)
	return n
}

// Next implements Round: it tries the admitted in order while the lane lasts.
func (s *Storm) Next(ctx sdk.Context) (Turn, bool, error) {
	if !s.Storm {
		turn, found, err := s.Window.Next(ctx)
		if found && s.Index.Size() > 0 {
			s.met = append(s.met, state.KeyOf(turn.Timer.Due, turn.Timer.Seq))
		}
		return turn, found, err
	}
	goCtx := context.Context(ctx)
	for s.passedOver < MaxPassedOver && s.HasRoom() && s.mayRead() {
		entry, found, err := s.ranking.Next(goCtx)
		if err != nil || !found {
			return Turn{}, false, err
		}
		key := state.KeyOf(entry.Due, entry.Seq)
		t, found, err := s.Parts.Records.InQueue(goCtx, key)
		if err != nil {
			return Turn{}, false, err
		}
		if !found {
			if err := s.dropMet(key); err != nil {
				return Turn{}, false, err
			}
			continue
		}
		s.met = append(s.met, key)
		ready, err := s.check(ctx, &t, entry)
		if err != nil {
			return Turn{}, false, err
		}
		if ready {
			return Turn{Timer: &t, Fresh: true}, true, nil
		}
	}
	return Turn{}, false, nil
}

// mayRead reports whether the block reads another timer of the ranking. A query pays for what it reads.
func (s *Storm) mayRead() bool {
	return s.Preview || s.Overhead.TryConsume(market.ReadRanked)
}

// dropMet drops an entry that the ranking returned and whose timer has left the queue, while the overhead lasts.
func (s *Storm) dropMet(key schedule.Key) error {
	if !s.Overhead.TryConsume(market.DropMet) {
		return nil
	}
	return s.Index.Remove(key)
}

// check reports whether a timer that the ranking returned by an entry can be tried. Otherwise it puts the timer back where it
// belongs, or removes it. One that is met under a weight that has risen stays where it is: its turn has come.
func (s *Storm) check(ctx sdk.Context, t *types.Timer, entry market.ListEntry) (bool, error) {
	if !s.isReturned[t.Seq] {
		entries := s.Indexer.Entries(t, min(s.Indexer.Weight(ctx, t), entry.List.Weight()))
		if !slices.ContainsFunc(entries, entry.Same) {
			s.putBack(entry, entries[0])
			return false, nil
		}
	}
	switch {
	case t.ExpiredAt(s.Now()):
		return false, s.expireOnSight(ctx, t)
	case !s.Hands.Runnable(t):
		s.Hands.PutOnHold(ctx, t, types.Unrunnable)
	default:
		if _, willing := s.Price(t); willing {
			return true, nil
		}
		// The index of a policy whose order does not depend on prices returns also those that are priced out.
		s.PricedOut++
		s.Hands.PutOnHold(ctx, t, types.PricedOut)
	}
	return false, nil
}

// putBack returns a timer to the ranking where it belongs. Close files it there, unless the timer fires.
func (s *Storm) putBack(met, first market.ListEntry) {
	if s.isReturned == nil {
		s.isReturned = map[uint64]bool{}
	}
	s.isReturned[first.Seq] = true
	s.returned = append(s.returned, met)
	s.ranking.Return(first)
}

// Close implements Round: it drops what was admitted or met and has left the queue since, and files timers again that were put
// back and have not fired, while the overhead lasts. So whoever makes many timers of the index outdated at once makes no block
// file them all. The others are put back again when they are met.
func (s *Storm) Close(ctx sdk.Context) (math.Int, error) {
	for _, key := range slices.Concat(s.Index.Filed(), s.met) {
		left, err := s.left(ctx, key)
		if err == nil && left {
			err = s.Index.Remove(key)
		}
		if err != nil {
			return math.Int{}, err
		}
	}
	for _, met := range s.returned {
		t, found, err := s.Parts.Records.InQueue(ctx, state.KeyOf(met.Due, met.Seq))
		if err != nil {
			return math.Int{}, err
		}
		if !found {
			continue
		}
		if !s.Overhead.TryConsume(market.Refile) {
			break
		}
		if err := s.file(&t, min(s.Indexer.Weight(ctx, &t), met.List.Weight())); err != nil {
			return math.Int{}, err
		}
	}
	return s.Window.Close(ctx)
}

// left reports whether a timer that the block has read has left its place in the queue.
func (s *Storm) left(ctx sdk.Context, key schedule.Key) (bool, error) {
	queue := s.Parts.Records.Queue()
	if !queue.MayDiffer(ctx, key) {
		return false, nil
	}
	has, err := queue.Has(ctx, key)
	return !has, err
}

// expireOnSight removes an expired timer that the scan has not reached. If the budget of the GC lane is used up, it removes the
// timer from the index only, while the overhead lasts, so that it is not read again before live ones.
func (s *Storm) expireOnSight(ctx sdk.Context, t *types.Timer) error {
	if s.GC.TakeFor(t) {
		s.Hands.Expire(ctx, t)
		return nil
	}
	return s.dropMet(state.KeyOf(t.Due, t.Seq))
}

// Skipped implements Round.
func (s *Storm) Skipped(_ sdk.Context, _ *types.Timer, why Skip) error {
	if why.NoRoom {
		s.passedOver++
	}
	return nil
}
