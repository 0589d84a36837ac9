package twin

import (
	"errors"
	"testing"
)

// The paragraphs below the table of §8a, and the rules of §2, §5 and §8 that it refers to.

func TestFailsForGood_EndsAsTheLastDeliveryDoes(t *testing.T) {
	s := tens.with(func(s *Spec) { s.Remaining, s.OnFailure = 1, Stop })
	play(t, 5, s).until(20, fail).is("10: failure 10 #1 left completed")
	s.OnFailure, s.MaxFailures = Suspend, 1
	play(t, 5, s).until(20, fail).is("10: failure 10 #1 left completed")
}

func TestReasons_InTheirOrder(t *testing.T) {
	s := tens.with(func(s *Spec) { s.OnFailure = Stop })
	play(t, 5, s).until(20, fail).is("10: failure 10 #1 left failed")
	s.End = 15 // `end_of_life` before `failed`
	play(t, 5, s).until(20, fail).is("10: failure 10 #1 left end_of_life")
	s.Remaining = 1 // `completed` before both
	play(t, 5, s).until(20, fail).is("10: failure 10 #1 left completed")
	z := Spec{Kind: Every, Every: 60, Renew: true, ZoneEnd: start + 70, OnFailure: Stop, End: start + 65}
	play(t, 20, z).until(5, fail).is("4: failure 60 #1 left zone_ended")
	z.End = z.ZoneEnd // it ends there already, and a renewal is cut there
	play(t, 20, z).until(5, fail).is("4: failure 60 #1 left zone_ended")
	z.Renew = false
	play(t, 20, z).until(5, fail).is("4: failure 60 #1 left end_of_life")
}

func TestGuarded_AfterAFailedTry(t *testing.T) {
	// It ends the occurrence, as delivered and as no failure.
	s := retrying.with(func(s *Spec) { s.OnlyIf, s.Remaining = true, 1 })
	play(t, 5, s).until(15, fail).until(16, guard).is("10: failure 10 #1", "15: guarded 10 #1 left completed")
	s.Remaining = 0
	g := play(t, 5, s).until(15, fail).until(16, guard)
	g.field("Failures", 0).field("Deliveries", 1).field("FireSeq", 2).next(20, 20)

	// Alone it counts in fire_seq, leaves `remaining` and failures, renews, and no retry follows.
	s.Remaining, s.Renew, s.End = 3, true, 100
	g = play(t, 5, s).until(11, guard)
	g.field("RemainingLeft", 3).field("Deliveries", 0).field("FireSeq", 1).field("End", 109).next(20, 20)
	g.until(21, ok).is("10: guarded 10 #1", "20: success 20 #1")

	g = play(t, 5, Spec{Kind: Height, At: 10, OnlyIf: true, Retry: &Retry{Max: 1, After: 1}}).until(12, guard)
	g.is("10: guarded 10 #1 left guarded")
	// Below an amount's min a one-shot is retried, and is not counted.
	below := Block{Result: Result{Kind: Below}}
	g = play(t, 5, Spec{Kind: Height, At: 10, Retry: &Retry{Max: 1, After: 3}}).until(12, below).field("Deliveries", 0)
	g.until(14, ok).is("10: guarded 10 #1", "13: success 10 #1 left fired")
	g = play(t, 5, Spec{Kind: Height, At: 10, Retry: &Retry{Max: 1, After: 3}}).until(14, below)
	g.is("10: guarded 10 #1", "13: guarded 10 #1 left guarded")
	play(t, 5, retrying).until(18, below).is("10: guarded 10 #1")

	g = play(t, 5, tens).until(11, Block{Result: Result{Kind: Idle}})
	g.is("10: guarded 10 #1")
}

func TestFailuresInARow_SuspendAndGoOn(t *testing.T) {
	s := tens.with(func(s *Spec) { s.OnFailure, s.MaxFailures = Suspend, 2 })
	g := play(t, 5, s).until(20, fail).until(21, ok).until(45, fail).held(Suspended)
	g.is("10: failure 10 #1", "20: success 20 #2", "30: failure 30 #3", "40: failure 40 #4 held suspended").next(50, 50)

	// Its retries count as one.
	s.Retry = &Retry{Max: 2, After: 2}
	g = play(t, 5, s).until(30, fail).held(Suspended).field("Failures", 2).field("FireSeq", 6)
	g.field("Deliveries", 2)
}

func TestSkipsInARow_SuspendAndBeginAnew(t *testing.T) {
	s := Spec{Kind: IntervalSchedule, Every: 2, First: 2, OnUnfunded: UnfundedSkip}
	g := play(t, 5, s).until(17, broke).held(Suspended).field("Skips", 8).next(18, 18)
	g.do(g.w.Resume(false), nil).field("Skips", 0).until(19, broke).field("Skips", 1).held(None)
	g.update(nil, Spec{Other: 1}, "other").field("Skips", 1).until(21, ok).field("Skips", 0)
}

func TestUnfunded_PassesWhatHasComeAndNoMore(t *testing.T) {
	s := tens.with(func(s *Spec) { s.OnUnfunded = UnfundedSkip })
	g := play(t, 5, s).until(32, noRoom).until(33, broke)
	g.is("32: skip 10-30 x3 unfunded").field("Skips", 1).next(40, 40)
	g = play(t, 5, each(s)).until(32, noRoom).until(34, broke)
	g.is("32: skip 10-10 x1 unfunded", "33: skip 20-20 x1 unfunded").next(30, 30)
}

func TestLackingCoins_OnUnfundedDecides(t *testing.T) {
	rent := tens.with(func(s *Spec) { s.OnUnfunded, s.OnFailure = UnfundedSkip, Stop })
	// Charged, counted as the failed delivery that it is, given up as `unfunded`; `failures` stays.
	g := play(t, 5, rent).until(11, lacks)
	g.is("10: failure 10 #1 skip 10-10 x1 unfunded").field("Failures", 0).field("Skips", 1).field("Deliveries", 1).next(20, 20)

	// After its retries.
	r := rent.with(func(s *Spec) { s.Retry = &Retry{Max: 1, After: 3} })
	g = play(t, 5, r).until(14, lacks)
	g.is("10: failure 10 #1", "13: failure 10 #1 skip 10-10 x1 unfunded").field("Skips", 1)

	// Eight in a row, none of which restores skips.
	g = play(t, 5, rent).until(85, lacks).held(Suspended).field("Skips", 8).field("FireSeq", 8)

	// The last, given up.
	last := rent.with(func(s *Spec) { s.Remaining = 1 })
	play(t, 5, last).until(11, lacks).is("10: failure 10 #1 skip 10-10 x1 unfunded left completed")

	// `suspend` keeps it in hand: resume now tries it again, next gives it up.
	keeps := tens.with(func(s *Spec) { s.OnUnfunded = UnfundedSuspend })
	g = play(t, 5, keeps).until(12, lacks).held(Suspended).field("InHand", true).next(10, 10)
	g.do(g.w.Resume(false), nil).until(14, ok).is("10: failure 10 #1 held suspended", "13: success 10 #1").field("Deliveries", 1)
	g = play(t, 5, keeps).until(12, lacks)
	g.do(g.w.Resume(true), nil).next(20, 20).field("Failures", 0)
	g = play(t, 5, Spec{Kind: Height, At: 10, OnUnfunded: UnfundedSuspend}).until(12, lacks).held(Suspended)

	// `destroy` speaks of the fee alone: a failure like any other.
	g = play(t, 5, tens.with(func(s *Spec) { s.OnFailure = Stop })).until(12, lacks)
	g.is("10: failure 10 #1 left failed")
}

func TestOneShot_InHandFromItsDue(t *testing.T) {
	s := Spec{Kind: Height, At: 10, Retry: &Retry{Max: 2, After: 3, Backoff: 2}}
	g := play(t, 5, s).until(9, ok).field("InHand", false).until(10, ok).field("InHand", true)
	g.do(g.w.Skip(1, nil), ErrUnsupported).do(g.w.Run(), ErrUnsupported)
	g.until(20, fail).is("10: failure 10 #1", "13: failure 10 #1", "19: failure 10 #1 left failed")

	g = play(t, 5, s).until(12, noRoom)
	g.do(g.w.Pause(), nil).until(20, ok).do(g.w.Resume(true), ErrUnsupported).do(g.w.Resume(false), nil).until(22, ok)
	g.is("12: held paused", "21: success 10 #1 left fired")

	// A retry that would be due after the end is dropped; one due at the end is made.
	s.End = 12
	play(t, 5, s).until(15, fail).is("10: failure 10 #1 left failed")
	s.End = 13
	play(t, 5, s).until(15, fail).is("10: failure 10 #1", "13: failure 10 #1 left failed")

	// Only codes that are stated.
	s.End, s.Retry = 0, &Retry{Max: 2, After: 3, On: []Code{{"bank", 4}}}
	play(t, 5, s).until(15, fail).is("10: failure 10 #1 left failed")
	bank := Block{Result: Result{Kind: Fails, Code: Code{"bank", 4}}}
	play(t, 5, s).until(15, bank).is("10: failure 10 #1", "13: failure 10 #1")

	// A time: due in the first block at or after it; its retry is in seconds.
	g = play(t, 7, Spec{Kind: Time, At: start + 20, Retry: &Retry{Max: 1, After: 8}}).until(7, fail)
	g.is("4: failure 20 #1 late 1", "6: failure 20 #1 late 6 left failed")

	// Unfunded it leaves; `skip` is not for it.
	play(t, 5, Spec{Kind: Height, At: 10}).until(12, broke).is("10: left unfunded")
	if _, err := New(limits, Spec{Kind: Height, At: 10, OnUnfunded: UnfundedSkip}, Block{Height: 1, Time: start}); err == nil {
		t.Fatal("a one-shot that skips")
	}
}

func TestOneShot_BecomesWhatRepeats(t *testing.T) {
	g := play(t, 5, Spec{Kind: Height, At: 10, Retry: &Retry{Max: 2, After: 5}}).until(12, fail)
	g.update(nil, Spec{Kind: IntervalSchedule, Every: 10, First: 10, Remaining: 2}, "trigger", "remaining")
	g.field("RemainingLeft", 1).next(10, 15).until(30, ok)
	g.is("10: failure 10 #1", "15: success 10 #1", "20: success 20 #2 left completed")
}

func TestWatch_NoticesAndForgets(t *testing.T) {
	change := Block{Changed: []int{1}}
	s := Spec{Kind: Watch, Keys: []int{1, 2}, Remaining: 2, Cooldown: 3}
	// One fire a block; a change within the cooldown is forgotten; the last time completes it.
	g := play(t, 5, s).until(5, ok).until(8, change).field("InHand", false).until(20, change)
	g.is("5: success 5 #1", "8: success 8 #2 left completed")
	g.do(g.w.Skip(1, nil), ErrGone)

	// In hand from the change to its last retry; one while it is in hand is forgotten.
	s = Spec{Kind: Watch, Keys: []int{1}, Repeats: true, Retry: &Retry{Max: 1, After: 3}}
	g = play(t, 5, s).until(5, ok)
	b := change
	b.Result.Kind = Fails
	g.block(b)
	g.field("InHand", true).do(g.w.Skip(1, nil), ErrUnsupported).do(g.w.Run(), ErrUnsupported)
	g.until(7, b).until(12, fail)
	g.is("5: failure 5 #1", "8: failure 5 #1").field("InHand", false).field("Failures", 1)

	// Provided that it existed before the block; another key is none of its own.
	w, err := New(limits, s, Block{Height: 1, Time: start})
	if err != nil {
		t.Fatal(err)
	}
	if told := w.EndBlock(Block{Height: 1, Time: start, Changed: []int{1}}); len(told) != 0 {
		t.Fatal(told)
	}
	if told := w.EndBlock(Block{Height: 2, Time: start, Changed: []int{2}}); len(told) != 0 {
		t.Fatal(told)
	}

	// Guarded it goes back to watching, a one-shot too.
	g = play(t, 5, Spec{Kind: Watch, Keys: []int{1}, OnlyIf: true})
	change.Result.Kind = Guard
	g.block(change)
	g.is("2: guarded 2 #1").field("Gone", false).field("InHand", false)
}

func TestWatch_SuspendedFiresAgain(t *testing.T) {
	b := Block{Changed: []int{1}, Result: Result{Kind: Fails}}
	s := Spec{Kind: Watch, Keys: []int{1}, Repeats: true, OnFailure: Suspend, MaxFailures: 1}
	g := play(t, 5, s).until(3, b).held(Suspended).field("InHand", false).until(6, b)
	g.do(g.w.Resume(false), nil).until(8, ok).is("2: failure 2 #1 held suspended", "7: success 7 #2")

	g = play(t, 5, s).until(6, b)
	g.do(g.w.Resume(true), nil).until(9, ok).is("2: failure 2 #1 held suspended")
}

func TestWatch_ConditionEdgesAndLooks(t *testing.T) {
	holds := Block{Holds: true}
	s := Spec{Kind: Watch, Keys: []int{1}, When: true, Repeats: true}
	g := play(t, 5, s).until(4, ok).until(8, holds).until(10, ok).until(12, holds)
	g.is("4: success 4 #1", "10: success 10 #2")

	// After a resume it is looked at in the next block.
	g.do(g.w.Pause(), nil).do(g.w.Resume(false), nil).until(16, holds)
	g.is("4: success 4 #1", "10: success 10 #2", "12: held paused", "13: success 13 #3")

	// Updated to another condition, too, and not in the block of the update; the same keeps what it noticed.
	g = play(t, 5, s).until(4, ok).until(6, holds)
	s.Condition = 1
	g.update(nil, s, "trigger").until(8, holds)
	g.is("4: success 4 #1", "7: success 7 #2")

	// With `level` it is due while the condition holds, each time the cooldown ends.
	s.Level, s.Cooldown = true, 3
	g = play(t, 5, s).until(4, ok).until(12, holds)
	g.is("4: success 4 #1", "7: success 7 #2", "10: success 10 #3").until(20, ok)
	if len(g.told) != 3 {
		t.Fatal(g.told)
	}

	// Ended by time nothing is judged beforehand: it expires.
	g = play(t, 5, Spec{Kind: Watch, Keys: []int{1}, EndByTime: true, End: start + 12, Retry: &Retry{Max: 1, After: 5}})
	g.block(Block{Changed: []int{1}, Result: Result{Kind: Fails}})
	g.until(6, fail).is("2: failure 2 #1", "4: left expired")
}

func TestJitter_LeavesRoomForTheNextAndTheEnd(t *testing.T) {
	s := Spec{Kind: IntervalSchedule, Every: 10, First: 10, Jitter: 50}
	b := Block{Jitter: func(uint64) [32]byte { return hashOf(9) }}
	g := playWith(t, 5, limits, s, b).next(10, 19) // 9 mod (min(50, 10 − 1, 991) + 1)
	g.until(12, b).field("InHand", true)
	s.End = 25
	g = playWith(t, 5, limits, s, b).until(20, b)
	g.is("19: success 10 #1").next(20, 23) // 9 mod (min(50, 9, 25 − 20) + 1)

	// Under `latest` an occurrence is open until the next one comes, at its delayed due.
	s = jittered
	g = playWith(t, 5, limits, s, hashed).until(21, Block{NoRoom: true, Jitter: hashed.Jitter}).until(22, hashed)
	g.is("21: success 10 #1 late 9")
	g = playWith(t, 5, limits, s, hashed).until(22, Block{NoRoom: true, Jitter: hashed.Jitter}).until(23, hashed)
	g.is("22: skip 10-10 x1 later success 20 #1")
}

func TestRetry_UnderEachLaterOnesWait(t *testing.T) {
	s := each(tens.with(func(s *Spec) { s.Retry = &Retry{Max: 1, After: 15} }))
	g := play(t, 5, s).until(26, fail).until(28, ok)
	g.is("10: failure 10 #1", "25: failure 10 #1", "26: success 20 #2 late 6")
	// Of `from: fire` the rhythm counts from the last try.
	f := fires.with(func(s *Spec) { s.Retry = &Retry{Max: 1, After: 15} })
	g = play(t, 5, f).until(40, fail)
	g.is("10: failure 10 #1", "25: failure 10 #1", "35: failure 35 #2")
}

func TestOutage_ByMissed(t *testing.T) {
	outage := func(s Spec) *game { return play(t, 5, s).until(35, paused).until(42, ok) }
	outage(tens).is("35: skip 10-20 x2 later success 30 #1 late 5", "40: success 40 #2")
	outage(each(tens)).is("35: success 10 #1 late 25", "36: success 20 #2 late 16", "37: success 30 #3 late 7", "40: success 40 #4")
	outage(fires).is("35: success 10 #1 late 25")
	outage(tens.with(func(s *Spec) { s.Window = 2 })).is("35: skip 10-30 x3 window", "40: success 40 #1")
	outage(each(tens.with(func(s *Spec) { s.Window = 6 }))).is("35: skip 10-20 x2 window success 30 #1 late 5", "40: success 40 #2")
}

func TestScheduling_Refusals(t *testing.T) {
	now := Block{Height: 5, Time: start}
	for _, c := range []struct {
		want error
		s    Spec
	}{
		{ErrPast, Spec{Kind: Height, At: 5}},
		{ErrTTLTooLong, Spec{Kind: Height, At: 1006}},
		{ErrTTLTooLong, Spec{Kind: AfterBlocks, At: 1001}},
		{ErrPast, Spec{Kind: Time, At: start}},
		{ErrTTLTooLong, Spec{Kind: Time, At: start + 100_001}},
		{ErrExpiresTooSoon, Spec{Kind: Height, At: 9, End: 8}},
		{ErrTTLTooLong, Spec{Kind: Height, At: 9, End: 1006}},
		{ErrPast, Spec{Kind: IntervalSchedule, Every: 5, First: 5}},
		{ErrWrongClock, Spec{Kind: Height, At: 9, EndByTime: true}},
		{ErrNoneLeft, Spec{Kind: Listed, Listed: []uint64{start}}},
		{ErrInvalid, Spec{Kind: Every, Every: 59}},
		{ErrInvalid, Spec{Kind: Watch}},
		{ErrInvalid, Spec{Kind: Watch, Keys: []int{1}, When: true, Level: true}},
		{ErrUnsupported, Spec{Kind: Watch, Keys: []int{1}, OnUnfunded: UnfundedSkip}},
		{ErrUnsupported, Spec{Kind: Height, At: 9, Renew: true}},
		{ErrInvalid, Spec{Kind: IntervalFire, Every: 5, MaxFailures: 2}},
		{ErrInvalid, Spec{Kind: Height, At: 9, Retry: &Retry{Max: 11, After: 1}}},
	} {
		if _, err := New(limits, c.s, now); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.s, err, c.want)
		}
	}
}
