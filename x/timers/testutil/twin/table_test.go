package twin

import "testing"

// The table of SPEC §8a, a test a cell, named by row and column. Unless a test says otherwise its timer is due at 10, 20, 30, …

var (
	tens     = Spec{Kind: IntervalSchedule, Every: 10, First: 10}
	fires    = Spec{Kind: IntervalFire, Every: 10, First: 10}
	retrying = Spec{Kind: IntervalSchedule, Every: 10, First: 10, Retry: &Retry{Max: 2, After: 5}}
	// jittered comes 2 later: the hash is 7, and 7 mod (4 + 1) = 2.
	jittered = Spec{Kind: IntervalSchedule, Every: 10, First: 10, Jitter: 4}
	hashed   = Block{Jitter: func(uint64) [32]byte { return hashOf(7) }}
	waiting  = Block{Funds: CanPayNothing, FundsWait: true}
)

func (s Spec) with(change func(*Spec)) Spec {
	change(&s)
	return s
}

func (g *game) held(want Hold) *game {
	g.Helper()
	return g.field("Hold", want)
}

func (g *game) next(occurrence, due uint64) *game {
	g.Helper()
	return g.field("Occurrence", occurrence).field("Due", due)
}

func TestWorld_DoesWhatTheTableSays(t *testing.T) {
	for _, row := range []struct {
		name                  string
		waits, inHand, onHold func(*testing.T)
	}{
		{"update, trigger as it stands", updateWaits, updateInHand, updateOnHold},
		{"update to another trigger", triggerWaits, triggerInHand, triggerOnHold},
		{"skip", skipWaits, skipInHand, skipOnHold},
		{"run", runWaits, runInHand, runOnHold},
		{"pause", pauseWaits, pauseInHand, pauseOnHold},
		{"resume now", resumeNowWaits, resumeNowInHand, resumeNowOnHold},
		{"resume next", resumeNextWaits, resumeNextInHand, resumeNextOnHold},
		{"release", releaseWaits, releaseInHand, releaseRefused},
		{"funds or price come back", backWaits, backInHand, backOnHold},
		{"extend", extendWaits, extendInHand, extendOnHold},
		{"its end passes", endWaits, endInHand, endOnHold},
		{"its window ends", windowWaits, windowInHand, windowOnHold},
		{"config, policy", configWaits, configInHand, configOnHold},
		{"its own handler", handlerUpdates, handlerSkips, handlerPauses},
	} {
		t.Run(row.name+"/waits", row.waits)
		t.Run(row.name+"/in hand", row.inHand)
		t.Run(row.name+"/on hold", row.onHold)
	}
}

func updateWaits(t *testing.T) {
	// It applies from what comes next: a window of 3 for the one due in 10, which is over in 14.
	g := play(t, 5, tens).until(5, ok).update(nil, Spec{Window: 3}, "window").next(10, 10)
	g.until(20, noRoom).is("14: skip 10-10 x1 window paid")

	// A change of `jitter` counts: 10 comes in 12, and as it was when it goes.
	g = playWith(t, 5, limits, tens, hashed).until(5, hashed)
	g.update(nil, Spec{Jitter: 4}, "jitter").next(10, 12).update(nil, Spec{}, "jitter").next(10, 10)

	// `remaining` counts from the update that changed it on: two after the one in 10.
	g = play(t, 5, tens.with(func(s *Spec) { s.Remaining = 5 })).until(12, ok).update(nil, Spec{Remaining: 2}, "remaining")
	g.until(40, ok).is("10: success 10 #1", "20: success 20 #2", "30: success 30 #3 left completed")

	// The end is stated, and with it the life; before the next due it is refused.
	g = play(t, 5, tens).until(5, ok).update(ErrExpiresTooSoon, Spec{End: 9}, "end").update(nil, Spec{End: 15}, "end")
	g.field("End", 15).field("Life", 10).update(ErrTTLTooLong, Spec{End: 1006}, "end")
}

func updateInHand(t *testing.T) {
	// Ready since 10: due and lateness stay; it competes again in the next block.
	g := play(t, 5, tens).until(12, noRoom).update(nil, Spec{Other: 1}, "other").next(10, 10).block(ok)
	if g != "" {
		t.Fatal("fired in the block of the update:", g)
	}
	h := play(t, 5, tens).until(12, noRoom).update(nil, Spec{Other: 1}, "other").until(14, ok)
	h.is("13: success 10 #1 late 3")

	// What became due in this very block is not overdue, and is not put off.
	h = play(t, 5, tens).until(10, ok).update(nil, Spec{Other: 1}, "other").until(11, ok)
	h.is("10: success 10 #1")

	// Delayed by jitter until 12: the delay stays, and an end before it is refused.
	h = playWith(t, 5, limits, jittered, hashed).until(10, hashed).update(nil, Spec{}, "jitter").next(10, 12)
	h.update(ErrExpiresTooSoon, Spec{End: 11}, "end").update(nil, Spec{End: 12}, "end").until(13, hashed)
	h.is("12: success 10 #1 left end_of_life")

	// Between retries: used ones stay used, the one that is due stays due.
	h = play(t, 5, retrying.with(func(s *Spec) { s.Retry = &Retry{Max: 2, After: 4} })).until(12, fail)
	h.update(nil, Spec{Retry: &Retry{Max: 1, After: 1}}, "retry").next(10, 14).field("Retries", 1)
	h.until(20, fail).is("10: failure 10 #1", "14: failure 10 #1").field("Failures", 1)

	// One in hand that was tried is included in `remaining`.
	h = play(t, 5, retrying).until(12, fail).update(nil, Spec{Remaining: 1}, "remaining").field("RemainingLeft", 0)
}

func updateOnHold(t *testing.T) {
	g := play(t, 5, tens).until(12, noRoom)
	g.do(g.w.Pause(), nil).update(nil, Spec{Other: 1}, "other").held(Paused).until(15, ok).next(10, 10)

	g = play(t, 5, tens).until(12, waiting).held(Unfunded).update(nil, Spec{Other: 1}, "other").held(None)
	g.until(14, ok).is("10: held unfunded", "13: success 10 #1 late 3")

	g = play(t, 5, tens).until(12, dear).held(PricedOut).update(nil, Spec{Other: 1}, "other").held(None)
	g.until(14, ok).is("10: held priced_out", "13: success 10 #1 late 3")

	g = play(t, 5, tens)
	g.w.Unrunnable(true)
	g.until(12, ok).held(Unrunnable).update(nil, Spec{Other: 1}, "other").held(None)
	g.w.Unrunnable(false)
	g.until(14, ok).is("10: held unrunnable", "13: success 10 #1 late 3")

	// What changes nothing leaves it on hold.
	play(t, 5, tens).until(12, waiting).update(nil, Spec{}, "window").held(Unfunded)
}

func triggerWaits(t *testing.T) {
	// 3, 7, 11: the first after this block is 7, though `first` has passed.
	g := play(t, 5, tens).until(5, ok).update(nil, Spec{Kind: IntervalSchedule, Every: 4, First: 3}, "trigger").next(7, 7)

	// `from: fire`, `first` passed, never tried: in the next block; tried in 10: in 15.
	g = play(t, 5, tens).until(5, ok).update(nil, Spec{Kind: IntervalFire, Every: 5, First: 3}, "trigger").next(6, 6)
	g = play(t, 5, tens).until(12, ok).update(nil, Spec{Kind: IntervalFire, Every: 5, First: 3}, "trigger").next(15, 15)

	// What repeats stays repeating, in its clock; a first due after the end is refused.
	g = play(t, 5, tens).until(5, ok).update(ErrUnsupported, Spec{Kind: Height, At: 9}, "trigger")
	g.update(ErrWrongClock, Spec{Kind: Every, Every: 60}, "trigger").next(10, 10)
	g.update(ErrExpiresTooSoon, Spec{Kind: IntervalSchedule, Every: 4, First: 2000}, "trigger")

	// After the last that was skipped, too: 10 and 20 were, so 12, 17 and 20 are not its own.
	g = play(t, 5, tens).until(5, ok)
	g.do(g.w.Skip(2, nil), nil).update(nil, Spec{Kind: IntervalSchedule, Every: 5, First: 5}, "trigger").next(25, 25)

	// A relative one stated again postpones; the same height does not.
	g = play(t, 5, Spec{Kind: AfterBlocks, At: 5}).next(6, 6).until(4, ok).update(nil, Spec{Kind: AfterBlocks, At: 2}, "trigger")
	g.next(6, 6).update(nil, Spec{Kind: AfterBlocks, At: 5}, "trigger").next(9, 9)

	// A one-shot may become anything: by another clock it states its retry, and has that clock's default end.
	g = play(t, 5, Spec{Kind: Height, At: 50, End: 60, Retry: &Retry{Max: 1, After: 1}})
	g.update(ErrWrongClock, Spec{Kind: Every, Every: 60}, "trigger").update(nil, Spec{Kind: Every, Every: 60}, "trigger", "retry")
	g.field("End", start+5+100_000).field("DueTime", start+5+60)

	// The same occurrences until the end are no other trigger.
	g = play(t, 5, Spec{Kind: Listed, Listed: []uint64{start + 20, start + 40}, End: start + 90})
	g.update(nil, Spec{Kind: Listed, Listed: []uint64{start + 20, start + 40, start + 99}}, "trigger").until(10, ok)
	g.is("5: success 20 #1", "9: success 40 #2 left end_of_life")
}

func triggerInHand(t *testing.T) {
	to := func(every, first uint64) Spec { return Spec{Kind: IntervalSchedule, Every: every, First: first} }
	// The new trigger has 10 too: it stays, late since its due.
	g := play(t, 5, tens).until(12, noRoom).update(nil, to(5, 5), "trigger").next(10, 10).until(16, ok)
	g.is("13: success 10 #1 late 3", "15: success 15 #2")

	// 3, 7, 11, 15: it does not have 10.
	g = play(t, 5, tens).until(12, noRoom).update(nil, to(4, 3), "trigger").next(15, 15).until(16, ok)
	g.is("12: skip 10-10 x1 updated", "15: success 15 #1")

	// Under `latest` the latest that came is in hand: 30; the older have passed.
	g = play(t, 5, tens).until(32, noRoom).update(nil, to(10, 5), "trigger")
	g.block(ok)
	g.is("32: skip 10-20 x2 later skip 30-30 x1 updated").next(35, 35)

	// Under `each` all that came: 20 and 30 stay, 10 has passed, and 40 is the first after this block.
	g = play(t, 5, each(tens)).until(32, noRoom).update(nil, to(10, 20), "trigger").until(41, ok)
	g.is("32: skip 10-10 x1 updated", "33: success 20 #1 late 13", "34: success 30 #2 late 4", "40: success 40 #3")
	list := func(at ...uint64) Spec {
		s := Spec{Kind: Listed, Missed: Each}
		for _, x := range at {
			s.Listed = append(s.Listed, start+x)
		}
		return s
	}
	g = play(t, 10, list(10, 20, 30, 90)).until(5, noRoom).update(nil, list(10, 25, 30, 70), "trigger").until(12, ok)
	g.is("5: skip 20-20 x1 updated", "6: success 10 #1 late 40", "7: success 30 #2 late 30", "8: success 70 #3 left end_of_life")

	// Where `every` alone changes, all stay: 10, 20, 30, then 10 + 4 × 7.
	g = play(t, 5, each(tens)).until(32, noRoom).update(nil, to(7, 10), "trigger").until(39, ok)
	g.is("33: success 10 #1 late 23", "34: success 20 #2 late 14", "35: success 30 #3 late 5", "38: success 38 #4")

	// What came between under the new trigger alone is not its own: not 15, nor 25.
	g = play(t, 5, each(tens)).until(32, noRoom).update(nil, to(5, 5), "trigger").until(35, ok)
	g.is("33: success 10 #1 late 23", "34: success 20 #2 late 14").next(30, 30)

	// Between its retries: it stays with them, or has passed, counted, and no failure.
	g = play(t, 5, retrying).until(12, fail).update(nil, to(5, 5), "trigger").field("Due", 15)
	g = play(t, 5, retrying).until(12, fail).update(nil, to(4, 3), "trigger").next(15, 15)
	g.field("Deliveries", 1).field("Failures", 0)

	// The last one, tried: any end of it but a refusal is `completed`.
	g = play(t, 5, retrying.with(func(s *Spec) { s.Remaining = 1 })).until(12, fail).update(nil, to(4, 3), "trigger")
	g.block(ok)
	g.is("10: failure 10 #1", "12: skip 10-10 x1 updated left completed")
}

func triggerOnHold(t *testing.T) {
	g := play(t, 5, tens).until(12, noRoom)
	g.do(g.w.Pause(), nil).update(nil, Spec{Kind: IntervalSchedule, Every: 4, First: 3}, "trigger").held(Paused).next(15, 15)
	g.until(17, ok).do(g.w.Resume(false), nil).until(19, ok)
	g.is("12: held paused skip 10-10 x1 updated", "18: success 15 #1")

	g = play(t, 5, tens).until(12, waiting).update(nil, Spec{Kind: IntervalSchedule, Every: 5, First: 5}, "trigger").held(None)
	g.until(14, ok).is("10: held unfunded", "13: success 10 #1 late 3")

	// Suspended it stays so.
	g = play(t, 5, tens.with(func(s *Spec) { s.OnUnfunded = UnfundedSuspend })).until(12, broke).held(Suspended)
	g.update(nil, Spec{Kind: IntervalSchedule, Every: 5, First: 5}, "trigger").held(Suspended).next(10, 10)
}

func skipWaits(t *testing.T) {
	g := play(t, 5, tens.with(func(s *Spec) { s.Remaining = 3 })).until(5, ok)
	g.do(g.w.Skip(1, from(20)), ErrNotNext).do(g.w.Skip(2, from(10)), nil).next(30, 30).field("RemainingLeft", 3)
	g.block(ok)
	g.is("5: skip 10-20 x2 requested")

	// Of `from: fire` due 2 × 10 later than its due.
	g = play(t, 5, fires).until(5, ok)
	g.do(g.w.Skip(2, nil), nil).next(30, 30)

	// None would be left; and it is no more than 1,000.
	g = play(t, 5, tens.with(func(s *Spec) { s.End = 25 })).until(5, ok)
	g.do(g.w.Skip(2, nil), ErrNoneLeft).do(g.w.Skip(1, nil), nil).next(20, 20)
	g.do(g.w.Skip(0, nil), ErrInvalid).do(g.w.Skip(1001, nil), ErrInvalid)

	// By a clock of times.
	g = play(t, 5, Spec{Kind: Every, Every: 60})
	g.do(g.w.Skip(3, nil), nil).field("DueTime", start+240)
}

func skipInHand(t *testing.T) {
	// Under `latest` 30 is in hand; the older pass as `later`.
	g := play(t, 5, tens).until(32, noRoom)
	g.do(g.w.Skip(1, from(10)), ErrNotNext).do(g.w.Skip(1, from(30)), nil).next(40, 40)
	g.block(ok)
	g.is("32: skip 10-20 x2 later skip 30-30 x1 requested")

	// Under `each` 10 is the first of them, 30 competes in the next block.
	g = play(t, 5, each(tens)).until(32, noRoom)
	g.do(g.w.Skip(2, from(10)), nil).next(30, 30).until(34, ok)
	g.is("32: skip 10-20 x2 requested", "33: success 30 #1 late 3")

	// Between its retries it counts as no failure, and stays counted.
	g = play(t, 5, retrying).until(12, fail)
	g.do(g.w.Skip(1, nil), nil).next(20, 20).field("Failures", 0).field("Deliveries", 1)

	// Of `from: fire`: 10 later than its last try.
	g = play(t, 5, fires.with(func(s *Spec) { s.Retry = &Retry{Max: 2, After: 5} })).until(17, fail)
	g.do(g.w.Skip(1, nil), nil).next(25, 25)

	// The last one, tried: refused.
	g = play(t, 5, retrying.with(func(s *Spec) { s.Remaining = 1 })).until(12, fail)
	g.do(g.w.Skip(1, nil), ErrNoneLeft).next(10, 15)

	// Delayed by jitter.
	g = playWith(t, 5, limits, jittered, hashed).until(11, hashed)
	g.do(g.w.Skip(1, from(10)), nil).next(20, 22)
}

func skipOnHold(t *testing.T) {
	g := play(t, 5, tens).until(5, ok)
	g.do(g.w.Pause(), nil).do(g.w.Skip(1, nil), nil).held(Paused).next(20, 20)
	g.do(g.w.Resume(false), nil).until(21, ok)
	g.is("5: held paused skip 10-10 x1 requested", "20: success 20 #1")

	g = play(t, 5, tens).until(32, waiting)
	g.do(g.w.Skip(1, from(30)), nil).next(40, 40).until(41, ok)
	g.is("10: held unfunded", "32: skip 10-20 x2 later skip 30-30 x1 requested", "40: success 40 #1")
}

func runWaits(t *testing.T) {
	// The next occurrence is due in the next block, and consumed by it.
	g := play(t, 5, tens).until(5, ok)
	g.do(g.w.Run(), nil).next(10, 6).field("InHand", true).until(21, ok)
	g.is("6: success 10 #1", "20: success 20 #2")

	// Without jitter; a later one does not make it pass, and then comes itself.
	g = playWith(t, 5, limits, jittered, hashed).until(5, hashed)
	g.do(g.w.Run(), nil).until(26, Block{NoRoom: true, Jitter: hashed.Jitter}).until(28, hashed)
	g.is("26: success 10 #1 late 20", "27: success 20 #2 late 5")

	// Without window.
	g = play(t, 5, tens.with(func(s *Spec) { s.Window = 2 })).until(5, ok)
	g.do(g.w.Run(), nil).until(15, noRoom).until(16, ok).is("15: success 10 #1 late 9")

	// Tried, it passes for a later one.
	g = play(t, 5, retrying).until(5, ok)
	g.do(g.w.Run(), nil).until(7, fail).next(10, 11).until(21, noRoom).until(22, ok)
	g.is("6: failure 10 #1", "20: skip 10-10 x1 retry", "21: success 20 #2 late 1")

	// Due in the next block, or before: refused.
	g = play(t, 5, tens).until(9, ok)
	g.do(g.w.Run(), ErrAlreadyDue).until(10, ok).do(g.w.Run(), ErrAlreadyDue)

	// Of `from: fire` the rhythm goes on from there.
	g = play(t, 5, fires).until(5, ok)
	g.do(g.w.Run(), nil).until(17, ok).is("6: success 6 #1", "16: success 16 #2")
}

func runInHand(t *testing.T) {
	g := play(t, 5, retrying).until(12, fail)
	g.do(g.w.Run(), nil).next(10, 13).until(14, ok).is("10: failure 10 #1", "13: success 10 #1")

	g = playWith(t, 5, limits, jittered, hashed).until(10, hashed)
	g.do(g.w.Run(), nil).next(10, 11).until(12, hashed).is("11: success 10 #1")

	g = play(t, 5, tens).until(12, noRoom)
	g.do(g.w.Run(), ErrAlreadyDue)

	// A retry that is due in the next block.
	g = play(t, 5, retrying).until(14, fail)
	g.do(g.w.Run(), ErrAlreadyDue)

	// An overdue one that was updated is due in the next block.
	g = play(t, 5, tens).until(12, noRoom).update(nil, Spec{Other: 1}, "other")
	g.do(g.w.Run(), ErrAlreadyDue)
}

func runOnHold(t *testing.T) {
	g := play(t, 5, tens)
	g.do(g.w.Pause(), nil).do(g.w.Run(), ErrOnHold)
	for _, b := range []Block{waiting, dear} {
		g = play(t, 5, tens).until(12, b)
		g.do(g.w.Run(), ErrOnHold)
	}
	g = play(t, 5, tens)
	g.w.Quarantine()
	g.do(g.w.Run(), ErrOnHold)
}

func pauseWaits(t *testing.T) {
	g := play(t, 5, tens).until(5, ok)
	g.do(g.w.Pause(), nil).held(Paused).until(25, ok).next(10, 10).is("5: held paused")
}

func pauseInHand(t *testing.T) {
	g := play(t, 5, tens).until(12, noRoom)
	g.do(g.w.Pause(), nil).held(Paused).until(25, ok).next(10, 10).is("12: held paused")

	g = play(t, 5, retrying).until(12, fail)
	g.do(g.w.Pause(), nil).held(Paused).until(18, ok).is("10: failure 10 #1", "12: held paused").field("Retries", 1)

	g = playWith(t, 5, limits, jittered, hashed).until(11, hashed)
	g.do(g.w.Pause(), nil).until(18, hashed).next(10, 12).held(Paused)
}

func pauseOnHold(t *testing.T) {
	// Paused, whatever it was on hold for: funds that come back do not bring it back.
	for _, b := range []Block{waiting, dear} {
		g := play(t, 5, tens).until(12, b)
		g.do(g.w.Pause(), nil).held(Paused).until(15, ok).held(Paused)
	}
	g := play(t, 5, tens)
	g.do(g.w.Pause(), nil)
	before := g.w.Status
	g.do(g.w.Pause(), nil).eq("changed", g.w.Status != before, false)
	g.w.Quarantine()
	g.do(g.w.Pause(), ErrQuarantined).held(Quarantined)
}

func resumeNowWaits(t *testing.T) {
	g := play(t, 5, tens).until(5, ok)
	g.do(g.w.Pause(), nil).until(7, ok).do(g.w.Resume(false), nil).held(None).next(10, 10).until(11, ok)
	g.is("5: held paused", "10: success 10 #1")
	g.do(g.w.Resume(false), ErrNothing)
}

func resumeNowInHand(t *testing.T) {
	pausedUntil := func(s Spec, b Block, since, until uint64) *game {
		g := playWith(t, 5, limits, s, b).until(since, b)
		g.do(g.w.Pause(), nil).until(until, b).do(g.w.Resume(false), nil)
		g.told = nil
		return g
	}
	// Under `latest` 30 in the next block, its window not applied.
	g := pausedUntil(tens.with(func(s *Spec) { s.Window = 1 }), ok, 5, 32).until(41, ok)
	g.is("32: skip 10-20 x2 paused", "33: success 30 #1", "40: success 40 #2")

	// Under `each` all, the oldest first, without a window for the first: those of 20 and 30 are over.
	g = pausedUntil(each(tens), ok, 5, 32).until(36, ok)
	g.is("33: success 10 #1", "34: success 20 #2 late 14", "35: success 30 #3 late 5")
	g = pausedUntil(each(tens.with(func(s *Spec) { s.Window = 1 })), ok, 5, 32).until(41, ok)
	g.is("33: success 10 #1 skip 20-30 x2 window", "40: success 40 #2")

	// One that was tried is tried again at once, and what follows is the latest that came, after it, its window not applied.
	g = pausedUntil(retrying, fail, 12, 13).until(20, fail)
	g.is("14: failure 10 #1", "19: failure 10 #1")
	g = pausedUntil(retrying.with(func(s *Spec) { s.Window = 1 }), fail, 11, 32).until(35, fail)
	g.is("32: skip 20-20 x1 paused", "33: failure 30 #2")
	g = pausedUntil(retrying, fail, 12, 32).until(35, ok)
	g.is("32: skip 20-20 x1 paused", "33: success 10 #1", "34: success 30 #2 late 4")

	// Delayed by jitter: at its due.
	g = pausedUntil(jittered, hashed, 5, 10).next(10, 12).until(13, hashed)
	g.is("12: success 10 #1")

	// By its own time 20 has come, and is delayed until 22.
	g = pausedUntil(jittered, hashed, 5, 21).next(20, 22).until(23, hashed)
	g.is("21: skip 10-10 x1 paused", "22: success 20 #1")

	// Of `from: fire`.
	g = pausedUntil(fires, ok, 5, 32).until(44, ok)
	g.is("33: success 10 #1", "43: success 43 #2")
}

func resumeNowOnHold(t *testing.T) {
	for _, b := range []Block{waiting, dear} {
		g := play(t, 5, tens).until(12, b)
		g.do(g.w.Resume(false), nil).held(None).next(10, 13).until(14, ok).field("Deliveries", 1)
	}
	g := play(t, 5, tens.with(func(s *Spec) { s.OnUnfunded = UnfundedSuspend })).until(12, broke).held(Suspended)
	g.do(g.w.Resume(false), nil).until(14, ok).is("10: held suspended", "13: success 10 #1")

	g = play(t, 5, tens)
	g.w.Unrunnable(true)
	g.until(12, ok).held(Unrunnable).do(g.w.Resume(false), ErrOnHold).do(g.w.Resume(true), ErrOnHold)
	g.w.Quarantine()
	g.do(g.w.Resume(false), ErrQuarantined).do(g.w.Resume(true), ErrQuarantined)
}

func resumeNextWaits(t *testing.T) {
	g := play(t, 5, tens).until(5, ok)
	g.do(g.w.Pause(), nil).until(7, ok).do(g.w.Resume(true), nil).held(None).next(10, 10)

	// Of `from: fire` now + every.
	g = play(t, 5, fires).until(5, ok)
	g.do(g.w.Pause(), nil).until(7, ok).do(g.w.Resume(true), nil).held(None).next(17, 17)
}

func resumeNextInHand(t *testing.T) {
	for _, s := range []Spec{tens, each(tens)} {
		g := play(t, 5, s).until(12, noRoom)
		g.do(g.w.Pause(), nil).until(32, ok).do(g.w.Resume(true), nil).next(40, 40)
		g.block(ok)
	}
	g := play(t, 5, tens).until(12, noRoom)
	g.do(g.w.Pause(), nil).until(32, ok).do(g.w.Resume(true), nil).until(34, ok)
	g.is("12: held paused", "32: skip 10-30 x3 paused")

	g = play(t, 5, fires).until(12, noRoom)
	g.do(g.w.Pause(), nil).until(32, ok).do(g.w.Resume(true), nil).next(42, 42)

	// None is left.
	g = play(t, 5, tens.with(func(s *Spec) { s.End = 35 })).until(12, noRoom)
	g.do(g.w.Pause(), nil).until(32, ok).do(g.w.Resume(true), ErrNoneLeft).held(Paused)

	// The last one, tried.
	g = play(t, 5, retrying.with(func(s *Spec) { s.Remaining = 1 })).until(12, fail)
	g.do(g.w.Pause(), nil).do(g.w.Resume(true), ErrNoneLeft).do(g.w.Resume(false), nil).until(14, ok)
	g.is("10: failure 10 #1", "12: held paused", "13: success 10 #1 left completed")

	// Taken early by run, and given up.
	g = play(t, 5, tens).until(5, ok)
	g.do(g.w.Run(), nil).do(g.w.Pause(), nil).do(g.w.Resume(true), nil).next(20, 20)
}

func resumeNextOnHold(t *testing.T) {
	for _, b := range []Block{waiting, dear} {
		g := play(t, 5, tens).until(12, b)
		g.do(g.w.Resume(true), nil).held(None).next(20, 20)
	}
	g := play(t, 5, Spec{Kind: Height, At: 10}).until(12, waiting)
	g.do(g.w.Resume(true), ErrUnsupported).held(Unfunded)
}

func releaseWaits(t *testing.T) {
	g := play(t, 5, tens).until(5, ok)
	g.w.Quarantine()
	g.until(7, ok).do(g.w.Release(), nil).held(None).next(10, 10)
}

func releaseInHand(t *testing.T) {
	g := play(t, 5, tens).until(12, noRoom)
	g.w.Quarantine()
	g.until(32, ok).held(Quarantined).do(g.w.Release(), nil).until(34, ok)
	g.is("12: held quarantined", "32: skip 10-20 x2 paused", "33: success 30 #1")
}

func releaseRefused(t *testing.T) {
	g := play(t, 5, tens)
	g.do(g.w.Release(), ErrNothing).do(g.w.Pause(), nil).do(g.w.Release(), ErrNothing).held(Paused)
}

func backWaits(t *testing.T) {
	// On hold for funds with its occurrence skipped, it waits for the next when they are back.
	g := play(t, 5, tens).until(12, waiting)
	g.do(g.w.Skip(1, nil), nil).until(14, ok).held(None).next(20, 20).until(21, ok)
	g.is("10: held unfunded", "12: skip 10-10 x1 requested", "20: success 20 #1")
}

func backInHand(t *testing.T) {
	// It competes in that block, late since its due.
	for _, b := range []Block{waiting, dear} {
		g := play(t, 5, tens).until(15, b).until(16, ok)
		g.eq("told", g.told[1], "15: success 10 #1 late 5")
	}
	g := play(t, 5, tens).until(15, waiting)
	g.until(16, noRoom).held(None).until(17, ok).is("10: held unfunded", "16: success 10 #1 late 6")
}

func backOnHold(t *testing.T) {
	// Under `latest` a later one came: 10 has passed, and 20 competes, late since the first's due.
	g := play(t, 5, tens).until(25, waiting).until(26, ok)
	g.is("10: held unfunded", "25: skip 10-10 x1 later success 20 #1 late 15")

	// Its window is over: it has passed, free.
	s := tens.with(func(s *Spec) { s.Window = 3 })
	g = play(t, 5, s).until(25, dear).until(31, ok)
	g.is("10: held priced_out", "25: skip 10-20 x2 window", "30: success 30 #1").field("Lapses", 0)
	g = play(t, 5, s).until(22, dear).until(23, ok)
	g.is("10: held priced_out", "22: skip 10-10 x1 later success 20 #1 late 12")
	g = play(t, 5, each(s)).until(22, dear).until(23, ok)
	g.is("10: held priced_out", "22: skip 10-10 x1 window success 20 #1 late 12")

	// One that was tried has failed instead.
	g = play(t, 5, retrying).until(11, fail).until(18, dear).until(19, ok)
	g.is("10: failure 10 #1", "15: held priced_out", "18: success 10 #1 late 3")
	g = play(t, 5, retrying).until(11, fail).until(21, dear).until(22, ok)
	g.is("10: failure 10 #1", "15: held priced_out", "21: skip 10-10 x1 retry success 20 #2 late 11")
}

func extendWaits(t *testing.T) {
	g := play(t, 5, tens.with(func(s *Spec) { s.End = 50 })).until(5, ok)
	g.do(g.w.Extend(9), ErrExpiresTooSoon).do(g.w.Extend(10), nil).field("End", 10).field("Life", 5)
	g.do(g.w.Extend(5000), nil).field("End", 1005).field("Life", 1000).next(10, 10)

	// SYS_EXTEND gives no life, and a renewal never brings an end forward: 10 + 49 is less than 100.
	g = play(t, 5, tens.with(func(s *Spec) { s.End, s.Renew = 50, true })).until(5, ok)
	g.do(g.w.SysExtend(100), nil).field("Life", 49).until(11, ok).field("End", 100)
	g.until(61, ok).field("End", 109)
}

func extendInHand(t *testing.T) {
	g := playWith(t, 5, limits, jittered, hashed).until(10, hashed)
	g.do(g.w.Extend(11), ErrExpiresTooSoon).do(g.w.SysExtend(11), ErrExpiresTooSoon).do(g.w.Extend(12), nil).next(10, 12)

	g = play(t, 5, retrying).until(12, fail)
	g.do(g.w.Extend(14), ErrExpiresTooSoon).do(g.w.Extend(15), nil).until(16, ok)
	g.is("10: failure 10 #1", "15: success 10 #1 left end_of_life")

	// Ready: any end that is later than now. It competes in this block.
	g = play(t, 5, tens).until(12, noRoom)
	g.do(g.w.Extend(12), ErrExpiresTooSoon).do(g.w.Extend(13), nil).until(13, ok).is("12: success 10 #1 late 2 left end_of_life")
}

func extendOnHold(t *testing.T) {
	g := play(t, 5, tens).until(5, ok)
	g.do(g.w.Pause(), nil).do(g.w.Extend(9), ErrExpiresTooSoon).until(12, ok).do(g.w.Extend(13), nil).held(Paused)
	g.until(15, ok).is("5: held paused", "14: left expired")
}

func endWaits(t *testing.T) {
	// It can't: with its last fire it has no further occurrence, and says so.
	g := play(t, 5, tens.with(func(s *Spec) { s.End, s.Remaining = 25, 5 })).until(30, ok)
	g.is("10: success 10 #1", "20: success 20 #2 left end_of_life missing 3")

	// Where a renewal was cut at a zone's last transition.
	g = play(t, 10, Spec{Kind: Every, Every: 60, Renew: true, ZoneEnd: start + 150, End: start + 100}).until(20, ok)
	g.is("7: success 60 #1", "13: success 120 #2 left zone_ended")
}

func endInHand(t *testing.T) {
	s := tens.with(func(s *Spec) { s.End = 12 })
	play(t, 5, s).until(20, noRoom).is("13: left expired")
	play(t, 5, s).until(20, paused).is("13: left expired")
	play(t, 5, s).until(12, noRoom).until(13, ok).is("12: success 10 #1 late 2 left end_of_life")
}

func endOnHold(t *testing.T) {
	s := tens.with(func(s *Spec) { s.End = 12 })
	g := play(t, 5, s)
	g.do(g.w.Pause(), nil).until(20, ok).is("2: held paused", "13: left expired")
	play(t, 5, s).until(20, waiting).is("10: held unfunded", "13: left expired")
}

func windowWaits(t *testing.T) {
	// One that waits has no window yet; what came and went while nobody looked is told in one event.
	s := Spec{Kind: Every, Every: 60, Window: 9}
	g := play(t, 5, s)
	b := Block{Height: 3, Time: start + 200}
	g.w.Begin(2, start+5)
	g.note(g.w.EndBlock(Block{Height: 2, Time: start + 5}))
	g.note(g.w.EndBlock(b))
	g.is("3: skip 60-180 x3 window paid")
}

func windowInHand(t *testing.T) {
	s := tens.with(func(s *Spec) { s.Window = 3 })
	play(t, 5, s).until(13, noRoom).until(14, ok).is("13: success 10 #1 late 3")
	h := play(t, 5, s).until(15, noRoom)
	h.is("14: skip 10-10 x1 window paid").field("Lapses", 1)

	// Free, and not counted, if it ended in a block in which the lane was paused.
	h = play(t, 5, s).until(15, paused).until(16, ok)
	h.is("15: skip 10-10 x1 window").field("Lapses", 0)
	h = play(t, 5, s).until(14, paused).until(15, ok)
	h.is("14: skip 10-10 x1 window paid")

	// One that was tried has failed instead: its retry is dropped, free.
	h = play(t, 5, retrying.with(func(s *Spec) { s.Window = 6 })).until(11, fail).until(18, noRoom)
	h.is("10: failure 10 #1", "17: skip 10-10 x1 retry").field("Failures", 1).field("Lapses", 0)

	// Eight in a row suspend it, and the next fire begins the row anew.
	h = play(t, 5, s).until(95, noRoom).held(Suspended).field("Lapses", 8)
	h.do(h.w.Resume(false), nil).field("Lapses", 0).next(90, 96)

	// Who can't pay it is treated as unfunded.
	play(t, 5, s).until(15, broke).is("10: left unfunded")
	lapse := func(o OnUnfunded) *game {
		s := s
		s.OnUnfunded = o
		return play(t, 5, s).until(14, noRoom).until(15, broke)
	}
	lapse(UnfundedDestroy).is("14: left unfunded")
	lapse(UnfundedSuspend).is("14: held suspended").next(10, 10)
	lapse(UnfundedSkip).is("14: skip 10-10 x1 unfunded")
	h = play(t, 5, s).until(14, noRoom).until(15, Block{Funds: CanPayLapse})
	h.is("14: skip 10-10 x1 window paid")
}

func windowOnHold(t *testing.T) {
	// It has passed when it is released.
	s := tens.with(func(s *Spec) { s.Window = 3 })
	g := play(t, 5, s).until(16, waiting).next(10, 10).until(17, ok)
	g.is("10: held unfunded", "16: skip 10-10 x1 window")
}

func configWaits(t *testing.T) {
	g := play(t, 5, tens)
	g.w.Unrunnable(true)
	g.until(8, ok).held(None)
	g.w.Unrunnable(false)
	g.until(11, ok).is("10: success 10 #1")
}

func configInHand(t *testing.T) {
	g := play(t, 5, tens)
	g.w.Unrunnable(true)
	g.until(15, ok).held(Unrunnable)
	g.w.Unrunnable(false)
	g.until(16, ok).is("10: held unrunnable", "15: success 10 #1 late 5")
}

func configOnHold(t *testing.T) {
	g := play(t, 5, tens).until(5, ok)
	g.w.Unrunnable(true)
	g.do(g.w.Pause(), nil).until(12, ok).held(Paused).do(g.w.Resume(false), nil).until(14, ok).held(Unrunnable)
	g.is("5: held paused", "13: held unrunnable")
}

func acts(f func(*World)) Block { return Block{Handler: f} }

func handlerUpdates(t *testing.T) {
	// Extend and update count for what comes next, which is decided after the handler.
	g := play(t, 5, tens.with(func(s *Spec) { s.End = 15 })).until(10, ok)
	g.block(acts(func(w *World) { g.do(w.Extend(25), nil) }))
	g.next(20, 20).until(21, ok).is("10: success 10 #1", "20: success 20 #2 left end_of_life")

	g = play(t, 5, tens.with(func(s *Spec) { s.Remaining = 1 })).until(10, ok)
	g.block(acts(func(w *World) { g.do(w.Update(Spec{Remaining: 2}, []string{"remaining"}), nil) }))
	g.until(40, ok).is("10: success 10 #1", "20: success 20 #2", "30: success 30 #3 left completed")

	g = play(t, 5, tens).until(10, ok)
	g.block(acts(func(w *World) {
		g.do(w.Update(Spec{Kind: IntervalSchedule, Every: 4, First: 3}, []string{"trigger"}), nil)
	}))
	g.next(11, 11)
}

func handlerSkips(t *testing.T) {
	g := play(t, 5, tens).until(10, ok)
	g.block(acts(func(w *World) { g.do(w.Skip(1, from(10)), ErrNotNext).do(w.Skip(1, from(20)), nil) }))
	g.next(30, 30).is("10: success 10 #1 skip 20-20 x1 requested")

	// A cancel leaves after it; of one that leaves anyway it is no error.
	g = play(t, 5, tens).until(10, ok)
	g.block(acts(func(w *World) { g.do(w.Cancel(), nil).do(w.Cancel(), ErrGone) }))
	g.is("10: success 10 #1 left cancelled")
	g = play(t, 5, Spec{Kind: Height, At: 10}).until(10, ok)
	g.block(acts(func(w *World) { g.do(w.Cancel(), nil) }))
	g.is("10: success 10 #1 left fired")
}

func handlerPauses(t *testing.T) {
	g := play(t, 5, tens).until(10, ok)
	g.block(acts(func(w *World) { g.do(w.Pause(), nil) }))
	g.held(Paused).next(20, 20).until(22, ok).do(g.w.Resume(false), nil).until(24, ok)
	g.is("10: success 10 #1 held paused", "23: success 20 #2")

	// What a failing handler did is undone.
	g = play(t, 5, tens).until(10, ok)
	g.block(Block{Result: Result{Kind: Fails}, Handler: func(*World) { t.Fatal("ran") }})
}
