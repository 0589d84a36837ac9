package genesis

import (
	"cmp"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rebase returns the state for a chain whose first block has the height first. If that is above the height of the export,
// the chain continues, and the state stays as it is; so it does if the export states no height.
//
// Otherwise the chain has gone back, as far as this returns in addition. Every height moves as far, so that what was due in
// 20 blocks is due in 20 blocks. What would fall before the first block is
//   - due in the first block: timers that were due already, in the order of their seqs;
//   - dropped: receipts, and fires of the fairness window, for there are no such blocks;
//   - unknown: since when a policy is in force, which starts again; an actor's last fire counts for the first block.
//
// Times stay: what is due at a time is due at that time.
//
// What competed for the lane competes again: the ready index and the cursors of bounded work begin again.
func (s Source) Rebase(first uint64) (rebased Source, back uint64) {
	if s.Head.Height == 0 || first > s.Head.Height {
		return s, 0
	}
	r := rebase{s.Head.Height + 1 - first}
	return Source{Head: r.head(s.Head, first), Timers: func(fn func(int, *types.Timer) error) error {
		return s.Timers(func(i int, t *types.Timer) error {
			timer := *t
			r.timer(&timer)
			return fn(i, &timer)
		})
	}}, r.back
}

// rebase moves heights back.
type rebase struct{ back uint64 }

// past is where a height of an event lies, 0 if that is before the first block.
func (r rebase) past(height uint64) uint64 { return height - min(height, r.back) }

// due is where a height lies at which something is to happen: in the first block if it is overdue.
func (r rebase) due(height uint64) uint64 { return max(1, r.past(height)) }

func (r rebase) head(before *types.GenesisState, first uint64) *types.GenesisState {
	g := *before
	g.Height = first - 1
	g.Config.MoveBack(r.back)
	if g.NextConfig != nil {
		next := *g.NextConfig
		next.MoveBack(r.back)
		g.NextConfig = &next
	}
	r.lane(&g.Lane)
	g.Receipts = nil
	for _, segment := range before.Receipts {
		if segment.Height = r.past(segment.Height); segment.Height > 0 {
			g.Receipts = append(g.Receipts, segment)
		}
	}
	g.Fairness = nil
	for _, fires := range before.Fairness {
		if fires.Height = r.past(fires.Height); fires.Height > 0 {
			g.Fairness = append(g.Fairness, fires)
		}
	}
	g.MovePolicies(before.Height, first)
	g.Ready = nil
	r.watches(&g)
	return &g
}

// lane: the cursors are lower bounds of the queue, whose order changes where timers were overdue.
func (r rebase) lane(l *types.LaneState) {
	none := types.QueueKey{}
	l.HeadCursor, l.LiveCursor, l.SweepCursor, l.AdmitCursor, l.HoldCursor = none, none, none, none, none
	l.ReceiptsFrom, l.ReceiptsUnkept, l.MarketSince = r.past(l.ReceiptsFrom), r.past(l.ReceiptsUnkept), r.past(l.MarketSince)
	l.Fairness.From = r.past(l.Fairness.From)
	if l.Pause != nil {
		pause := *l.Pause
		pause.AfterHeight, pause.LastHeight = r.past(pause.AfterHeight), r.past(pause.LastHeight)
		l.Pause = &pause
	}
}

func (r rebase) timer(t *types.Timer) {
	t.Due, t.Since, t.ScheduleHeight = r.due(t.Due), r.past(t.Since), r.past(t.ScheduleHeight)
	if t.ExpiresAt > 0 {
		if t.ExpiresAt = r.past(t.ExpiresAt); t.ExpiresAt == 0 {
			// It ended before the first block, where no height lies; so it ends by time.
			t.ExpiresTime = 1
		}
	}
	if t.Recurrence != nil && !t.Spec.Trigger.ByTime() {
		recurrence := *t.Recurrence
		recurrence.After, recurrence.Trying, recurrence.Forced = r.past(recurrence.After), r.past(recurrence.Trying), r.past(recurrence.Forced)
		t.Recurrence = &recurrence
	}
	t.UnfundedSince = 0
	t.MoveBack(r.back)
	if t.Spec.ExpiresAt > 0 {
		t.Spec.ExpiresAt = max(1, r.past(t.Spec.ExpiresAt))
	}
	if t.LastOutcome != nil {
		outcome := *t.LastOutcome
		outcome.Height = r.past(outcome.Height)
		t.LastOutcome = &outcome
	}
}

// watches moves the changes that are still to be delivered.
func (r rebase) watches(g *types.GenesisState) {
	g.WatchHits = slices.Clone(g.WatchHits)
	for i := range g.WatchHits {
		hit := &g.WatchHits[i].Hit
		hit.Since = r.due(hit.Since)
		if hit.Changed > 0 {
			hit.Changed = r.due(hit.Changed)
		}
	}
	g.WatchPending, g.WatchRounds = slices.Clone(g.WatchPending), slices.Clone(g.WatchRounds)
	for _, list := range [][]types.KeyWatchPending{g.WatchPending, g.WatchRounds} {
		for i := range list {
			p := &list[i].Pending
			r.round(&p.Round)
			if p.Next != nil {
				next := *p.Next
				r.round(&next)
				p.Next = &next
			}
		}
	}
	r.notes(g)
	g.WatchTombstones = slices.Clone(g.WatchTombstones)
	for i := range g.WatchTombstones {
		g.WatchTombstones[i].Since = r.due(g.WatchTombstones[i].Since)
	}
	r.conditions(g)
}

// notes moves what was noted. Places that would differ by heights before the first block alone become one.
func (r rebase) notes(g *types.GenesisState) {
	g.WatchCounts, g.WatchNotes = slices.Clone(g.WatchCounts), slices.Clone(g.WatchNotes)
	for i := range g.WatchCounts {
		g.WatchCounts[i].Served = r.due(g.WatchCounts[i].Served)
	}
	for i := range g.WatchNotes {
		noted := &g.WatchNotes[i]
		noted.Served, noted.Note.Since, noted.Note.Height = r.due(noted.Served), r.due(noted.Note.Since), r.due(noted.Note.Height)
		if noted.Note.Itself > 0 {
			noted.Note.Itself = r.due(noted.Note.Itself)
		}
		noted.Changes = r.changes(noted.Changes)
	}
	slices.SortStableFunc(g.WatchNotes, compareNotes)
}

// conditions moves what changes have passed. Segments of a key are told apart by their heights: of those that would all
// be before the first block, the oldest remains.
func (r rebase) conditions(g *types.GenesisState) {
	g.WatchSegments = slices.Clone(g.WatchSegments)
	for i := range g.WatchSegments {
		g.WatchSegments[i].Height = r.due(g.WatchSegments[i].Height)
	}
	order := func(a, b types.KeyWatchSegment) int {
		return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Height, b.Height), cmp.Compare(placesOf(a), placesOf(b)))
	}
	slices.SortStableFunc(g.WatchSegments, order)
	g.WatchSegments = slices.CompactFunc(g.WatchSegments, func(a, b types.KeyWatchSegment) bool { return order(a, b) == 0 })
}

func (r rebase) round(round *types.WatchRound) {
	round.Height, round.Since = r.due(round.Height), r.due(round.Since)
	round.Changes = r.changes(round.Changes)
}

func (r rebase) changes(before []types.WatchChange) []types.WatchChange {
	changes := slices.Clone(before)
	for i := range changes {
		changes[i].Height = r.due(changes[i].Height)
	}
	return changes
}

// placesOf is the list that a segment lies in: the first byte of its places.
func placesOf(segment types.KeyWatchSegment) string {
	return string(segment.Segment.From[:min(1, len(segment.Segment.From))])
}
