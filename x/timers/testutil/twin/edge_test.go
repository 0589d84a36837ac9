package twin

import (
	"errors"
	"testing"
)

// What lies exactly at a bound.

func TestEdge_TheEndItself(t *testing.T) {
	// An occurrence at the end comes, and a skip may lead to it.
	s := tens.with(func(s *Spec) { s.End = 20 })
	play(t, 5, s).until(30, ok).is("10: success 10 #1", "20: success 20 #2 left end_of_life")
	g := play(t, 5, s)
	g.do(g.w.Skip(1, nil), nil).next(20, 20).do(g.w.Skip(1, nil), ErrNoneLeft)
	f := fires.with(func(s *Spec) { s.End = 20 })
	play(t, 5, f).until(30, ok).is("10: success 10 #1", "20: success 20 #2 left end_of_life")
	g = play(t, 5, f)
	g.do(g.w.Skip(1, nil), nil).next(20, 20).do(g.w.Skip(1, nil), ErrNoneLeft)
	g = play(t, 5, f)
	g.do(g.w.Pause(), nil).until(10, ok).do(g.w.Resume(true), nil).next(20, 20)
	play(t, 5, tens.with(func(s *Spec) { s.End = 10 })).until(12, ok).is("10: success 10 #1 left end_of_life")

	// The latest end that may be stated, and the earliest.
	play(t, 5, tens.with(func(s *Spec) { s.End = 1001 })).field("Life", 1000)
	for _, end := range []uint64{1, 1002} {
		s := Spec{Kind: Watch, Keys: []int{1}, End: end}
		if _, err := New(limits, s, Block{Height: 1, Time: start}); err == nil {
			t.Fatal("an end in", end)
		}
	}
	play(t, 5, Spec{Kind: Height, At: 5}).update(ErrExpiresTooSoon, Spec{End: 4}, "end").update(nil, Spec{End: 5}, "end")
	if _, err := New(limits, tens.with(func(s *Spec) { s.End = 9 }), Block{Height: 1}); !errors.Is(err, ErrExpiresTooSoon) {
		t.Fatal(err)
	}
}

func TestEdge_Windows(t *testing.T) {
	// A retry at the end of its window is made; one block later it would be dropped.
	s := tens.with(func(s *Spec) { s.Window, s.Retry = 5, &Retry{Max: 1, After: 5} })
	play(t, 5, s).until(16, fail).is("10: failure 10 #1", "15: failure 10 #1")
	s.Window = 4
	play(t, 5, s).until(16, fail).is("10: failure 10 #1")

	// A retry at the next occurrence is dropped; one before is made.
	s.Window, s.Retry = 0, &Retry{Max: 1, After: 10}
	play(t, 5, s).until(20, fail).is("10: failure 10 #1")
	s.Retry = &Retry{Max: 1, After: 9}
	play(t, 5, s).until(20, fail).is("10: failure 10 #1", "19: failure 10 #1")

	// What follows one that was tried and resumed has no window either: 20 comes in 29, though its window ended in 26.
	s = tens.with(func(s *Spec) { s.Window, s.Retry, s.Missed = 6, &Retry{Max: 1, After: 5}, Latest })
	g := play(t, 5, s).until(12, fail)
	g.do(g.w.Pause(), nil).until(27, ok).do(g.w.Resume(false), nil).until(30, ok)
	g.is("10: failure 10 #1", "12: held paused", "28: success 10 #1", "29: success 20 #2 late 9")
}

func TestEdge_IntervalsFromFire(t *testing.T) {
	g := play(t, 5, fires).until(30, noRoom)
	g.do(g.w.Skip(1, nil), nil).next(31, 31).until(32, ok).is("30: skip 10-10 x1 requested", "31: success 31 #1")
	g = play(t, 5, fires)
	g.do(g.w.Skip(2, nil), nil).block(ok)
	g.is("2: skip 10-20 x2 requested")

	// `first` is this very block: it has passed; never tried, it is due in the next block, however long `every` is.
	g = play(t, 5, fires).until(5, ok).update(nil, Spec{Kind: IntervalFire, Every: 50, First: 5}, "trigger").next(6, 6)
	g = play(t, 5, fires).until(5, ok).update(nil, Spec{Kind: IntervalFire, Every: 50, First: 6}, "trigger").next(6, 6)
	g.until(8, ok).update(nil, Spec{Kind: IntervalFire, Every: 50, First: 5}, "trigger").next(56, 56)
	// After its last try, which is long ago: in the next block.
	g.update(nil, Spec{Kind: IntervalFire, Every: 1, First: 5}, "trigger").next(9, 9)
}

func TestEdge_WatchesThatEnd(t *testing.T) {
	fails := Block{Changed: []int{1}, Result: Result{Kind: Fails}}
	// By height: a retry after the end is dropped, and one at the end is made.
	s := Spec{Kind: Watch, Keys: []int{1}, End: 6, Retry: &Retry{Max: 1, After: 5}}
	play(t, 5, s).until(9, fails).is("2: failure 2 #1 left failed")
	s.Retry = &Retry{Max: 1, After: 4}
	play(t, 5, s).until(9, fails).is("2: failure 2 #1", "6: failure 2 #1 left failed")

	// One that can't be due again by its end leaves with its fire.
	change := Block{Changed: []int{1}}
	s = Spec{Kind: Watch, Keys: []int{1}, Repeats: true, Cooldown: 4, End: 6}
	play(t, 5, s).until(9, change).is("2: success 2 #1", "6: success 6 #2 left end_of_life")
	s.End = 5
	play(t, 5, s).until(9, change).is("2: success 2 #1 left end_of_life")

	// In a row: two failures suspend.
	s = Spec{Kind: Watch, Keys: []int{1}, Repeats: true, OnFailure: Suspend, MaxFailures: 2}
	g := play(t, 5, s).until(3, fails).field("Hold", None)
	g.until(6, fails).is("2: failure 2 #1", "3: failure 3 #2 held suspended")
	s = Spec{Kind: Watch, Keys: []int{1}, Remaining: 5, OnFailure: Stop}
	play(t, 5, s).until(6, fails).is("2: failure 2 #1 left failed")
}

func TestEdge_DueAndLatenessByTime(t *testing.T) {
	// Blocks of 20 s: 50 is due in 4, at 60.
	s := Spec{Kind: Every, Every: 100, First: start + 50}
	g := play(t, 20, s).field("Due", 0).field("DueTime", start+50).until(4, noRoom).field("InHand", true).field("Due", 0)
	g.until(6, noRoom).field("Due", 4).update(nil, Spec{Other: 1}, "other").field("Due", 4).until(8, ok)
	g.is("7: success 50 #1 late 70").field("Due", 0).field("DueTime", start+150)

	// Run: due in the next block, and late since that.
	g = play(t, 20, s)
	g.do(g.w.Run(), nil).field("Due", 3).until(5, noRoom).until(6, ok).is("5: success 50 #1 late 40")
}

func TestEdge_OwnHandler(t *testing.T) {
	// A one-shot that states another trigger from within its fire goes on by it.
	g := play(t, 5, Spec{Kind: Height, At: 5}).until(5, ok)
	g.block(acts(func(w *World) { g.do(w.Update(Spec{Kind: Height, At: 9}, []string{"trigger"}), nil) }))
	g.next(9, 9).until(10, ok).is("5: success 5 #1", "9: success 9 #2 left fired")

	g = play(t, 5, Spec{Kind: Height, At: 5}).until(5, ok)
	g.block(acts(func(w *World) { g.do(w.Update(Spec{Other: 1}, []string{"other"}), nil) }))
	g.is("5: success 5 #1 left fired")

	g = play(t, 5, Spec{Kind: Height, At: 5}).until(5, ok)
	g.block(acts(func(w *World) {
		g.do(w.Update(Spec{Kind: Watch, Keys: []int{1}}, []string{"trigger"}), nil)
	}))
	g.block(Block{Changed: []int{1}})
	g.is("5: success 5 #1", "6: success 6 #2 left fired")

	// It neither runs nor resumes what comes next.
	g = play(t, 5, tens).until(10, ok)
	g.block(acts(func(w *World) { g.do(w.Run(), ErrUnsupported).do(w.Resume(false), ErrNothing) }))
	g.next(20, 20)
}

func TestEdge_Missing(t *testing.T) {
	s := tens.with(func(s *Spec) { s.Remaining, s.OnFailure = 5, Stop })
	play(t, 5, s).until(12, fail).is("10: failure 10 #1 left failed")
}

func TestEdge_ExpiredAndOverdue(t *testing.T) {
	// In the last block of its life it may be acted on; in the next it has expired, and a cancel alone is no error.
	s := tens.with(func(s *Spec) { s.End = 12 })
	g := play(t, 5, s).until(12, noRoom)
	g.do(g.w.Pause(), nil).block(ok)
	g.do(g.w.Resume(false), ErrExpired).do(g.w.Extend(50), ErrExpired).do(g.w.Cancel(), nil).do(g.w.Cancel(), ErrGone)
	g.block(ok)
	g.is("12: held paused", "13: left cancelled")

	// Under `each` 30 is overdue after the skip, for it was due in the block before: it competes in the next.
	g = play(t, 5, each(tens)).until(31, noRoom)
	g.do(g.w.Skip(2, nil), nil).until(33, ok).is("31: skip 10-20 x2 requested", "32: success 30 #1 late 2")
	g = play(t, 5, each(tens)).until(30, noRoom)
	g.do(g.w.Skip(2, nil), nil).until(31, ok).is("30: skip 10-20 x2 requested success 30 #1")

	// A thousand may pass at once.
	l := limits
	l.MaxTTLBlocks = 10_000
	g = playWith(t, 5, l, Spec{Kind: IntervalSchedule, Every: 2, First: 2}, Block{})
	g.do(g.w.Skip(1000, nil), nil).next(2002, 2002)

	// Due in this very second.
	g = play(t, 20, Spec{Kind: Every, Every: 60}).until(4, ok)
	g.do(g.w.Run(), ErrAlreadyDue)
}

func TestEdge_LapseUnpaidIsOneTurn(t *testing.T) {
	// 10's window ends in 26, when 20's is open: who can't pay has 10 given up, counted among its eight, and 20 in the next block.
	s := each(tens.with(func(s *Spec) { s.Window, s.OnUnfunded = 15, UnfundedSkip }))
	g := play(t, 5, s).until(26, noRoom).until(27, broke).field("Skips", 1).field("Lapses", 0)
	g.until(28, broke).field("Skips", 2).is("26: skip 10-10 x1 unfunded", "27: skip 20-20 x1 unfunded")

	// Who can pays it, and 20 is tried in the same block.
	g = play(t, 5, s).until(26, noRoom).until(27, ok)
	g.is("26: skip 10-10 x1 window paid success 20 #1 late 6")
}

func TestEdge_TheSameOccurrencesUntilTheEnd(t *testing.T) {
	list := func(at ...uint64) Spec {
		s := Spec{Kind: Listed, End: start + 90}
		for _, x := range at {
			s.Listed = append(s.Listed, start+x)
		}
		return s
	}
	for _, c := range []struct {
		same bool
		to   Spec
	}{
		{true, list(20, 40, 80, 95)}, // a longer table, beyond the end
		{true, list(5, 20, 40, 80)},  // what is over is over
		{false, list(20, 40)},
		{false, list(20, 40, 80, 90)},
		{false, list(20, 41, 80)},
		{false, list(21, 40, 80)},
		{false, Spec{Kind: Every, Every: 60, First: start + 20}},
	} {
		// Ready since 20, in block 7: another trigger puts it off to the next block, or lets it pass; the same one does neither.
		g := play(t, 5, list(20, 40, 80)).until(7, noRoom).update(nil, c.to, "trigger")
		told := g.block(ok)
		if c.same != (told == "success 20 #1 late 10") {
			t.Errorf("%v: %q", c.to.Listed, told)
		}
	}
	// Two rules of equal distances.
	g := play(t, 20, Spec{Kind: Every, Every: 60, First: start + 60}).until(5, noRoom)
	g.update(nil, Spec{Kind: Every, Every: 60, First: start}, "trigger").until(6, ok).is("5: success 60 #1 late 20")
	g = play(t, 20, Spec{Kind: Every, Every: 60, First: start + 60}).until(5, noRoom)
	g.update(nil, Spec{Kind: Every, Every: 120, First: start + 60}, "trigger").until(6, ok).is()
}

func TestEdge_WatchUpdates(t *testing.T) {
	change := Block{Changed: []int{1}, Result: Result{Kind: Fails}}
	// Other keys drop what was noticed, and a change in the block of the update is none of theirs.
	s := Spec{Kind: Watch, Keys: []int{1}, Repeats: true}
	late := change
	late.NoRoom = true
	g := play(t, 5, s).until(3, late).field("InHand", true)
	s.Keys = []int{2}
	g.update(nil, s, "trigger").field("InHand", false).block(Block{Changed: []int{2}})
	g.until(5, Block{Changed: []int{2}}).is("4: success 4 #1")

	// The last one, tried: `completed`.
	s = Spec{Kind: Watch, Keys: []int{1}, Remaining: 1, Retry: &Retry{Max: 1, After: 5}}
	g = play(t, 5, s).until(4, change).field("InHand", true)
	s.Keys = []int{2}
	g.update(nil, s, "trigger").block(ok)
	g.is("2: failure 2 #1", "4: left completed")

	// `level` on the same condition is looked at, and keeps what was noticed.
	holds := Block{Holds: true}
	s = Spec{Kind: Watch, Keys: []int{1}, When: true, Repeats: true, Cooldown: 2}
	g = play(t, 5, s).until(6, holds)
	s.Level = true
	g.update(nil, s, "trigger").until(10, holds).is("2: success 2 #1", "7: success 7 #2", "9: success 9 #3")
	// A longer cooldown moves the look: 9 + 4.
	s.Cooldown = 4
	g.update(nil, s, "trigger").until(14, holds)
	g.is("2: success 2 #1", "7: success 7 #2", "9: success 9 #3", "13: success 13 #4")
}
