package policies

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/state/index"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// MaxIndexReads bounds the entries of the ready index that a block reads beyond the heads of its lists. With usual bids
// few are read for each fire; the bound is against bids chosen to make many reads necessary.
const MaxIndexReads = 4_096

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
// block does not read all ready timers. It admits ADMISSIONS_PER_BLOCK of them to the index, and takes the best from
// there. Work is bounded, every timer is admitted in the end, and among the admitted the order is exact.
type Storm struct {
	Window
	Indexer Indexer

	ranking Ranking
	// indexed is how many timers were in the index when the step began, reindexed how many of them it gave another
	// placement because they were in lists that are not those of the block.
	indexed   uint64
	reindexed uint32
	// returned are timers that were met before their turn and put back, and isReturned has their seqs. It is looked up,
	// never ranged over.
	returned   []calendar.Key
	isReturned map[uint64]bool
	// passedOver counts timers that did not fit.
	passedOver int
	// read holds the live timers before reached, in queue order, if the block read them to find that there is a storm.
	read    []types.Timer
	reached calendar.Key
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
	if s.indexed > uint64(s.Config.CandidateWindow) {
		if err := s.sweepAdmitted(ctx); err != nil {
			return err
		}
		return s.collectStorm(ctx)
	}
	live, reached, complete, err := s.ReadLive(ctx, s.Parts.Records, s.Config.CandidateWindow)
	if err != nil {
		return err
	}
	if !complete {
		s.read, s.reached = live, reached
		return s.collectStorm(ctx)
	}
	s.Compete(live)
	return s.SweepQueue(ctx, s.Parts.Records, reached, complete)
}

// collectStorm admits newcomers, and the oldest timers that are not admitted.
func (s *Storm) collectStorm(ctx sdk.Context) error {
	s.Storm, s.Overfull = true, true
	admitted, err := s.admitFresh(ctx)
	if err != nil {
		return err
	}
	return s.admitOldest(ctx, s.Config.AdmissionsPerBlock-admitted-s.reindexed)
}

// reindexStale moves admitted timers that are indexed under another policy, or under other weights, to their placement
// under the policy in force: up to half of what a block admits. Until then they don't compete, like those not yet
// admitted.
func (s *Storm) reindexStale(ctx sdk.Context) (err error) {
	if s.indexed, err = s.Parts.Index.Admitted(ctx); err != nil || s.indexed == 0 {
		return err
	}
	entries, err := s.Indexer.Stale(ctx, int(s.Config.AdmissionsPerBlock+1)/2)
	if err != nil {
		return err
	}
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
		s.reindexed++
	}
	return nil
}

// admitFresh admits timers that became due in this block while older ones still wait for admission, up to half of what
// a block admits. Otherwise newcomers could not compete until the whole backlog is admitted. Those that are priced out are
// passed over, so that they take no admission from those that can pay; they are admitted when they are the oldest.
func (s *Storm) admitFresh(ctx sdk.Context) (uint32, error) {
	from := calendar.Key{Due: s.Height}
	if state.CalendarKey(s.State.AdmitCursor).Compare(from) >= 0 {
		return 0, nil
	}
	left, reads := s.Config.AdmissionsPerBlock/2, 2*s.Config.AdmissionsPerBlock
	found, _, err := s.scan(ctx, from, func(t *types.Timer) calendar.Verdict {
		if left == 0 || reads == 0 {
			return calendar.Stop
		}
		reads--
		if _, willing := s.Price(t); !willing {
			return calendar.Pass
		}
		left--
		return calendar.Take
	})
	if err != nil {
		return 0, err
	}
	return s.admit(ctx, found)
}

// admitOldest admits the oldest timers that are not admitted.
func (s *Storm) admitOldest(ctx sdk.Context, limit uint32) error {
	from := state.CalendarKey(s.State.AdmitCursor)
	if live := state.CalendarKey(s.State.LiveCursor); from.Compare(live) < 0 {
		from = live
	}
	// Timers that admitFresh admitted are passed over, once each. So are expired ones, which the cleanup removes.
	left, reads := limit, 2*s.Config.AdmissionsPerBlock
	// Each conversion to the interface copies the context, which is large.
	goCtx := context.Context(ctx)
	found, next, err := s.scan(ctx, from, func(t *types.Timer) calendar.Verdict {
		if left == 0 || reads == 0 {
			return calendar.Stop
		}
		reads--
		switch {
		case t.ExpiredAt(s.Height):
			return calendar.Take
		case s.Parts.Index.IsAdmitted(goCtx, t):
			return calendar.Pass
		default:
			left--
			return calendar.Take
		}
	})
	if err != nil {
		return err
	}
	s.State.AdmitCursor = state.QueueKey(next)
	_, err = s.admit(ctx, found)
	return err
}

// scan passes ready timers from a place on to fn, in queue order, and returns those that it takes and where it stopped. What
// the block has read is not read again: of that, fn is passed the live timers only.
func (s *Storm) scan(
	ctx sdk.Context, from calendar.Key, fn func(*types.Timer) calendar.Verdict,
) (taken []*types.Timer, next calendar.Key, err error) {
	for i := range s.read {
		t := &s.read[i]
		key := state.KeyOf(t.Due, t.Seq)
		if key.Compare(from) < 0 || t.SetAside != types.NotSetAside {
			continue
		}
		switch fn(t) {
		case calendar.Stop:
			return taken, key, nil
		case calendar.Take:
			taken = append(taken, t)
		case calendar.Pass:
		}
	}
	if from.Compare(s.reached) < 0 {
		from = s.reached
	}
	found, next, _, err := s.Parts.Records.Page(ctx, from, s.Height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		return fn(&e.Value)
	})
	for i := range found {
		taken = append(taken, &found[i].Value)
	}
	return taken, next, err
}

// admit indexes timers under the weights of their actors, and returns how many. A timer that the config can't run is set
// aside; an expired one is left to the cleanup.
func (s *Storm) admit(ctx sdk.Context, found []*types.Timer) (admitted uint32, err error) {
	goCtx := context.Context(ctx)
	for _, t := range found {
		switch {
		case t.ExpiredAt(s.Height):
			s.GC.Meet(*t)
			continue
		case !s.Hands.Runnable(t):
			s.Hands.SetAside(ctx, t, types.Unrunnable)
			continue
		case s.Parts.Index.IsAdmitted(goCtx, t):
			continue
		}
		at, err := s.Indexer.Quoted(ctx, t)
		if err != nil {
			return admitted, err
		}
		if err := s.Parts.Index.Admit(goCtx, t, at); err != nil {
			return admitted, err
		}
		admitted++
	}
	return admitted, nil
}

// sweepAdmitted examines SWEEP_PER_BLOCK of the admitted timers, in rounds over all of them. It removes expired ones,
// brings the others where they belong, and calls their agents again. Under overload it is what moves the live cursor.
func (s *Storm) sweepAdmitted(ctx sdk.Context) error {
	from, end := state.CalendarKey(s.State.SweepCursor), state.CalendarKey(s.State.AdmitCursor)
	first := from.Compare(state.CalendarKey(s.State.LiveCursor)) <= 0
	if first {
		from = state.CalendarKey(s.State.LiveCursor)
	}
	left, reachedEnd := s.Config.SweepPerBlock, false
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
	s.State.SweepCursor = state.QueueKey(next)
	if complete || reachedEnd {
		s.State.SweepCursor = types.QueueKey{}
	}
	for i := range found {
		t := &found[i].Value
		if t.ExpiredAt(s.Height) {
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

// renew brings an admitted timer's placement up to date.
func (s *Storm) renew(ctx sdk.Context, t *types.Timer) error {
	s.Parts.Index.Recall(ctx, t)
	if t.AdmittedWeight == 0 {
		return nil
	}
	at, err := s.Indexer.Quoted(ctx, t)
	if err != nil || !misplaced(t, at) && at.Quote.Equal(t.Quote) {
		return err
	}
	return s.Parts.Index.Reindex(ctx, t, at)
}

// OpenRanking opens the index at the prices of the block. A round's Rank calls it under overload.
func (s *Storm) OpenRanking(ctx sdk.Context) (err error) {
	s.ranking, err = s.Indexer.Ranking(ctx)
	return err
}

// Next implements Round: it tries the admitted in order while the lane lasts.
func (s *Storm) Next(ctx sdk.Context) (Turn, bool, error) {
	if !s.Storm {
		return s.Window.Next(ctx)
	}
	goCtx := context.Context(ctx)
	for s.passedOver < MaxPassedOver && s.PricedOut < s.Config.CandidateWindow && s.HasRoom() {
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

// check reports whether a timer that the ranking returned can be tried. Otherwise it puts the timer back where it belongs,
// or removes it.
func (s *Storm) check(ctx sdk.Context, t *types.Timer) (bool, error) {
	if at := s.Indexer.Placement(ctx, t); !s.isReturned[t.Seq] && misplaced(t, at) {
		return false, s.putBack(t, at)
	}
	if at, blocked := s.Indexer.Blocked(t); blocked {
		return false, s.Parts.Index.Reindex(ctx, t, at)
	}
	switch {
	case t.ExpiredAt(s.Height):
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
// and have not fired, as many as a block admits at most. So whoever makes many timers of the index outdated at once makes no
// block write them all. The others are put back again when they are met.
func (s *Storm) Close(ctx sdk.Context) (math.Int, error) {
	left := s.Config.AdmissionsPerBlock
	for i := 0; i < len(s.returned) && left > 0; i++ {
		t, found, err := s.Parts.Index.InQueue(ctx, s.returned[i])
		if err != nil {
			return math.Int{}, err
		}
		if !found || t.AdmittedWeight == 0 {
			continue // It fired, was cancelled or left the index.
		}
		if at := s.Indexer.Placement(ctx, &t); misplaced(&t, at) {
			left--
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

// expireOnSight removes an expired timer that the sweep has not reached. If the budget of the GC lane is used up, it
// removes the timer from the index only, so that it is not read again before live ones.
func (s *Storm) expireOnSight(ctx sdk.Context, t *types.Timer) {
	if s.GC.TakeFor(t) {
		s.Hands.Expire(ctx, t)
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
