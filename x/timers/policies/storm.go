package policies

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/overhead"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/state/index"
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
	// Placement of a timer that is met in this block, with its agent's answer from the record.
	Placement(ctx sdk.Context, t *types.Timer) index.Placement
	// Quoted is the same for a timer that is admitted or swept. If the policy calls agents, the timer's is called when all
	// are known.
	Quoted(ctx sdk.Context, t *types.Timer) (index.Placement, error)
	// Stale reads at most n entries of lists that are not those of this block.
	Stale(ctx context.Context, n int) ([]merge.Entry, error)
	// Ranking opens the index at the prices of the block.
	Ranking(ctx sdk.Context) (Ranking, error)
	// Blocked reports whether an indexed timer can't fire at the prices of the block although its index entry says that
	// it can. It returns the placement under which the timer waits then.
	Blocked(t *types.Timer) (index.Placement, bool)
}

// Ranking returns indexed timers, best first, by one of their entries.
type Ranking interface {
	Next(ctx context.Context) (merge.Entry, bool, error)
	// Return puts back a timer that was returned under an outdated placement, with the entry that it has now.
	Return(entry merge.Entry)
}

// Storm is a Window that uses the ready index under overload, when more timers are ready than the window holds. Then a
// block does not read all ready timers. It admits some of them to the index while its overhead lasts, and takes the best from
// there. A timer that is priced out, or whose payer can't cover it, is passed over for the price of a read; a scan behind the
// admission looks at it again. Work is bounded, every timer is admitted in the end, and among the admitted the order is exact.
type Storm struct {
	Window
	Indexer Indexer

	ranking Ranking
	// indexed is how many timers were in the index when the step began.
	indexed uint64
	// returned are timers that were met before their turn and put back, and isReturned has their seqs. It is looked up,
	// never ranged over.
	returned   []calendar.Key
	isReturned map[uint64]bool
	// passedOver counts timers that did not fit.
	passedOver int
}

var _ Round = (*Storm)(nil)

// Collect implements Round: it reads the window, or under overload what the index needs.
func (s *Storm) Collect(ctx sdk.Context) error {
	if err := s.reindexStale(ctx); err != nil {
		return err
	}
	if err := s.ReadLeftovers(ctx, s.Parts.Records); err != nil {
		return err
	}
	if s.indexed <= uint64(s.Config.CandidateWindow) {
		live, reached, complete, err := s.ReadLive(ctx, s.Parts.Records, s.Config.CandidateWindow)
		if err != nil {
			return err
		}
		if complete {
			s.Compete(live)
			return s.SweepQueue(ctx, s.Parts.Records, reached, complete)
		}
	}
	s.Storm, s.Overfull = true, true
	passed := state.CalendarKey(s.State.AdmitCursor)
	if err := s.admitNewlyDue(ctx); err != nil {
		return err
	}
	if err := s.admitOldest(ctx); err != nil {
		return err
	}
	return s.scanPassed(ctx, passed)
}

// reindexStale moves admitted timers that are indexed under another policy, or under other weights, to their placement
// under the policy in force, with half of the overhead for the contest. Until then they don't compete, like those not yet
// admitted.
func (s *Storm) reindexStale(ctx sdk.Context) (err error) {
	if s.indexed, err = s.Parts.Index.Admitted(ctx); err != nil || s.indexed == 0 {
		return err
	}
	entries, err := s.Indexer.Stale(ctx, (s.Overhead.Left(overhead.Refile)+1)/2)
	if err != nil {
		return err
	}
	s.Overhead.Consume(overhead.Refile, len(entries))
	for _, entry := range entries {
		t, found, err := s.Parts.Index.InQueue(ctx, state.KeyOf(entry.Due, entry.Seq))
		if err != nil {
			return err
		}
		// The second entry of a timer was removed with the first.
		if !found || t.AdmittedWeight != entry.List.Weight() {
			continue
		}
		if err := s.Parts.Index.Reindex(ctx, &t, s.Indexer.Placement(ctx, &t)); err != nil {
			return err
		}
	}
	return nil
}

// admitNewlyDue admits timers that became due in this block while older ones still wait for admission. Otherwise they could not
// compete until the whole backlog is admitted.
func (s *Storm) admitNewlyDue(ctx sdk.Context) error {
	from := calendar.Key{Due: s.Height}
	if state.CalendarKey(s.State.AdmitCursor).Compare(from) >= 0 {
		return nil
	}
	_, err := s.admitFrom(ctx, from, overhead.ReadNewlyDue, overhead.AdmitNewlyDue)
	return err
}

// admitOldest admits the oldest timers that the admission has not reached.
func (s *Storm) admitOldest(ctx sdk.Context) error {
	from := state.CalendarKey(s.State.AdmitCursor)
	if live := state.CalendarKey(s.State.LiveCursor); from.Compare(live) < 0 {
		from = live
	}
	next, err := s.admitFrom(ctx, from, overhead.ReadReady, overhead.Admit)
	s.State.AdmitCursor = state.QueueKey(next)
	return err
}

// admitFrom reads ready timers in queue order while the overhead lasts, and admits those that can pay. It returns where it
// stopped.
func (s *Storm) admitFrom(ctx sdk.Context, from calendar.Key, read, admit overhead.Work) (next calendar.Key, err error) {
	found, next, _, err := s.Parts.Records.Page(ctx, from, s.Height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		t := &e.Value
		switch {
		case !s.Overhead.TryConsume(read):
			return calendar.Stop
		case t.ExpiredAt(s.Now()) || !s.Hands.Runnable(t):
			return calendar.Take
		case s.Parts.Index.IsAdmitted(ctx, t):
			return calendar.Pass
		}
		price, willing := s.Price(t)
		if !willing {
			return calendar.Pass
		}
		switch s.Hands.Look(ctx, t, price) {
		case Enough:
			if s.Overhead.TryConsume(admit) {
				return calendar.Take
			}
			return calendar.Stop
		case NotLooked:
			return calendar.Stop
		default:
			return calendar.Pass
		}
	})
	if err != nil {
		return next, err
	}
	for i := range found {
		if err := s.admit(ctx, &found[i].Value); err != nil {
			return next, err
		}
	}
	return next, nil
}

// admit indexes a timer under the weight of its actor. A timer that the config can't run is set aside; an expired one is left to
// the cleanup.
func (s *Storm) admit(ctx sdk.Context, t *types.Timer) error {
	switch {
	case t.ExpiredAt(s.Now()):
		s.GC.Meet(*t)
		return nil
	case !s.Hands.Runnable(t):
		s.Hands.SetAside(ctx, t, types.Unrunnable)
		return nil
	}
	at, err := s.Indexer.Quoted(ctx, t)
	if err != nil {
		return err
	}
	return s.Parts.Index.Admit(ctx, t, at)
}

// scanPassed examines ScanLimit of the timers that the admission has passed in earlier blocks, in rounds over all of them. It
// removes expired ones, admits those that were passed over or puts them on hold, brings the others where they belong, and calls
// their agents again. Under overload it is what moves the live cursor.
func (s *Storm) scanPassed(ctx sdk.Context, end calendar.Key) error {
	from := state.CalendarKey(s.State.SweepCursor)
	first := from.Compare(state.CalendarKey(s.State.LiveCursor)) <= 0
	if first {
		from = state.CalendarKey(s.State.LiveCursor)
	}
	left, reachedEnd := s.ScanLimit(overhead.Renew), false
	found, next, complete, err := s.Parts.Records.Page(ctx, from, s.Height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		reachedEnd = e.Key.Compare(end) >= 0
		if left == 0 || reachedEnd {
			return calendar.Stop
		}
		left--
		return calendar.Take
	})
	if err != nil {
		return err
	}
	s.Overhead.Consume(overhead.Renew, len(found))
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

// renew brings a timer that the admission has passed to where it belongs.
func (s *Storm) renew(ctx sdk.Context, t *types.Timer) error {
	s.Parts.Index.Recall(ctx, t)
	if t.AdmittedWeight == 0 {
		return s.lookAgain(ctx, t)
	}
	at, err := s.Indexer.Quoted(ctx, t)
	if err != nil || !misplaced(t, at) && at.Quote.Equal(t.Quote) {
		return err
	}
	if !s.Overhead.TryConsume(overhead.Refile) {
		return nil
	}
	return s.Parts.Index.Reindex(ctx, t, at)
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
	if !s.Overhead.TryConsume(overhead.Admit) {
		return nil
	}
	return s.admit(ctx, t)
}

// OpenRanking opens the index at the prices of the block. A round's Rank calls it under overload.
func (s *Storm) OpenRanking(ctx sdk.Context) (err error) {
	s.ranking, err = s.Indexer.Ranking(ctx)
	return err
}

// IndexReads is how many entries of the index the block may read beyond the heads of its lists. They are consumed at once. A query
// pays for what it reads.
func (s *Storm) IndexReads() int {
	if s.Agents.IsPreview() {
		return maxListed
	}
	n := min(MaxIndexReads, max(minIndexReads, s.Overhead.Left(overhead.ReadEntry)/3))
	s.Overhead.Consume(overhead.ReadEntry, n)
	return n
}

// Next implements Round: it tries the admitted in order while the lane lasts.
func (s *Storm) Next(ctx sdk.Context) (Turn, bool, error) {
	if !s.Storm {
		return s.Window.Next(ctx)
	}
	goCtx := context.Context(ctx)
	for s.passedOver < MaxPassedOver && s.HasRoom() && s.mayRead() {
		entry, found, err := s.ranking.Next(goCtx)
		if err != nil || !found {
			return Turn{}, false, err
		}
		t, found, err := s.Parts.Index.InQueue(goCtx, state.KeyOf(entry.Due, entry.Seq))
		if err != nil {
			return Turn{}, false, err
		}
		if !found || t.AdmittedWeight == 0 {
			continue // A handler of this block cancelled or moved it.
		}
		ready, err := s.check(ctx, &t)
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
	return s.Agents.IsPreview() || s.Overhead.TryConsume(overhead.ReadRanked)
}

// check reports whether a timer that the ranking returned can be tried. Otherwise it puts the timer back where it belongs,
// or removes it.
func (s *Storm) check(ctx sdk.Context, t *types.Timer) (bool, error) {
	if at := s.Indexer.Placement(ctx, t); !s.isReturned[t.Seq] && misplaced(t, at) {
		return false, s.putBack(t, at)
	}
	if at, blocked := s.Indexer.Blocked(t); blocked {
		if !s.Overhead.TryConsume(overhead.Refile) {
			return false, nil
		}
		return false, s.Parts.Index.Reindex(ctx, t, at)
	}
	switch {
	case t.ExpiredAt(s.Now()):
		s.expireOnSight(ctx, t)
	case !s.Hands.Runnable(t):
		s.Hands.SetAside(ctx, t, types.Unrunnable)
	default:
		if _, willing := s.Price(t); willing {
			return true, nil
		}
		// The index of a policy whose order does not depend on prices returns also those that are priced out.
		s.PricedOut++
		s.Hands.SetAside(ctx, t, types.PricedOut)
	}
	return false, nil
}

// misplaced reports whether a timer is in the index under another weight or ceiling.
func misplaced(t *types.Timer, at index.Placement) bool {
	return t.AdmittedWeight != at.Weight || !at.HasCeiling(t.AdmittedCeiling)
}

// putBack returns a timer to the ranking where it belongs. Close writes the placement, unless the timer fires.
func (s *Storm) putBack(t *types.Timer, at index.Placement) error {
	entries, err := s.Parts.Index.EntriesAt(t, at)
	if err != nil {
		return err
	}
	if s.isReturned == nil {
		s.isReturned = map[uint64]bool{}
	}
	s.isReturned[t.Seq] = true
	s.returned = append(s.returned, state.KeyOf(t.Due, t.Seq))
	s.ranking.Return(entries[0])
	return nil
}

// Close implements Round: it writes what was admitted and is still ready, and the placements of timers that were put back
// and have not fired, while the overhead lasts. So whoever makes many timers of the index outdated at once makes no block write
// them all. The others are put back again when they are met.
func (s *Storm) Close(ctx sdk.Context) (math.Int, error) {
	for i := range s.returned {
		t, found, err := s.Parts.Index.InQueue(ctx, s.returned[i])
		if err != nil {
			return math.Int{}, err
		}
		if !found || t.AdmittedWeight == 0 {
			continue // It fired, was cancelled or left the index.
		}
		if at := s.Indexer.Placement(ctx, &t); misplaced(&t, at) {
			if !s.Overhead.TryConsume(overhead.Refile) {
				break
			}
			if err := s.Parts.Index.Reindex(ctx, &t, at); err != nil {
				return math.Int{}, err
			}
		}
	}
	if err := s.Parts.Index.WriteAdmissions(ctx); err != nil {
		return math.Int{}, err
	}
	return s.Window.Close(ctx)
}

// expireOnSight removes an expired timer that the scan has not reached. If the budget of the GC lane is used up, it removes the
// timer from the index only, while the overhead lasts, so that it is not read again before live ones.
func (s *Storm) expireOnSight(ctx sdk.Context, t *types.Timer) {
	if s.GC.TakeFor(t) {
		s.Hands.Expire(ctx, t)
		return
	}
	if !s.Overhead.TryConsume(overhead.Refile) {
		return
	}
	s.Hands.Guard(ctx, t, func(ctx sdk.Context) error {
		if err := s.Parts.Index.Deindex(ctx, t); err != nil {
			return err
		}
		return s.Parts.Records.Put(ctx, t)
	})
}

// Skipped implements Round.
func (s *Storm) Skipped(_ sdk.Context, _ *types.Timer, why Skip) error {
	if why.NoRoom {
		s.passedOver++
	}
	return nil
}
