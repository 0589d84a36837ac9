package twin

import "testing"

// Small histories that went wrong once, one a test, with the right values.

func TestUpdateBetweenRetries_KeepsTheRetry(t *testing.T) {
	// A one-shot, due 2, fails; its retry is due in 6. An update of other options in 3 leaves it.
	g := play(t, 5, Spec{Kind: Height, At: 2, Retry: &Retry{Max: 1, After: 4}})
	g.until(3, fail).update(nil, Spec{OnUnfunded: UnfundedSuspend}, "on_unfunded")
	g.eq("last outcome", g.w.Status.LastOutcome.Kind, Failure).until(8, fail)
	g.is("2: failure 2 #1", "6: failure 2 #1 left failed")
}

func TestUpdateBetweenRetries_UsedOnesStayUsed(t *testing.T) {
	g := play(t, 20, Spec{Kind: IntervalFire, Every: 20, First: 2, Retry: &Retry{Max: 2, After: 3}})
	g.until(3, fail).update(nil, Spec{OnUnfunded: UnfundedSuspend}, "on_unfunded").until(10, fail)
	g.is("2: failure 2 #1", "5: failure 2 #1", "8: failure 2 #1")
}

func TestWatchUpdate_KeepsWhatItNoticed(t *testing.T) {
	g := play(t, 5, Spec{Kind: Watch, Keys: []int{1}})
	g.until(3, paused).block(Block{LanePaused: true, Changed: []int{1}})
	g.update(nil, Spec{Kind: Watch, Keys: []int{1}, Remaining: 3}, "trigger", "remaining")
	g.until(6, paused).until(9, ok)
	g.is("6: success 3 #1 late 3")
	g.field("RemainingLeft", 2)
}

func TestLapseUnpaid_PassesWhatHasCome(t *testing.T) {
	// Blocks at 0, 50, 100, 120, 180: 60 lapses in 3 and can't be paid; 120 fires in 4.
	w, err := New(limits, Spec{Kind: Every, Every: 60, Window: 9, OnUnfunded: UnfundedSkip}, Block{Height: 1, Time: start})
	if err != nil {
		t.Fatal(err)
	}
	g := &game{T: t, w: w}
	for i, at := range []uint64{0, 50, 100, 120, 180} {
		b := Block{Height: uint64(i) + 1, Time: start + at}
		if at < 120 {
			b.Funds = CanPayNothing
		}
		g.note(w.EndBlock(b))
	}
	g.is("3: skip 60-60 x1 unfunded", "4: success 120 #1", "5: success 180 #2")
}

func TestForcedRetry_IsJudgedByWhatFollows(t *testing.T) {
	// Run early as occurrence 4 it fails in 3: its retry in 7 would be at the next occurrence.
	g := play(t, 5, Spec{Kind: IntervalSchedule, Every: 3, First: 4, Retry: &Retry{Max: 2, After: 4}})
	g.do(g.w.Run(), nil).until(12, fail)
	g.is("3: failure 4 #1", "7: failure 7 #2", "10: failure 10 #3")
}

func TestRenewal_ComesBeforeTheRetry(t *testing.T) {
	g := play(t, 5, Spec{
		Kind: IntervalFire, Every: 8, First: 5, End: 7, Renew: true, Retry: &Retry{Max: 2, After: 4},
	})
	g.until(6, fail).field("End", 11)
	g.until(10, fail).field("End", 15)
	g.until(14, fail)
	g.is("5: failure 5 #1", "9: failure 5 #1", "13: failure 5 #1 left end_of_life")
}

func TestPricedOut_IsLateSinceItsDue(t *testing.T) {
	g := play(t, 5, Spec{Kind: Height, At: 5})
	g.until(5, ok).block(dear)
	g.field("Hold", PricedOut).block(ok)
	g.is("5: held priced_out", "6: success 5 #1 late 1 left fired")
}

func TestLastSkipForWantOfFunds_SaysEndOfLife(t *testing.T) {
	g := play(t, 20, Spec{Kind: IntervalFire, Every: 3, First: 3, OnUnfunded: UnfundedSkip, End: 5})
	g.until(6, broke).is("3: skip 3-3 x1 unfunded left end_of_life")

	g = play(t, 20, Spec{Kind: Every, Every: 60, OnUnfunded: UnfundedSkip, End: start + 100})
	g.until(6, broke).is("4: skip 60-60 x1 unfunded left end_of_life")

	// The end comes before the suspension, where the last skip is the one too many.
	l := limits
	l.MaxUnfundedSkips = 1
	g = playWith(t, 20, l, Spec{Kind: IntervalFire, Every: 3, First: 3, OnUnfunded: UnfundedSkip, End: 5}, broke)
	g.until(6, broke).is("3: skip 3-3 x1 unfunded left end_of_life")
}

func TestDroppedRetryOfTheLast_IsCompleted(t *testing.T) {
	// Blocks of 30 s: 60 fails in 3; a retry after 90 s would be after 120.
	s := Spec{Kind: Every, Every: 60, Remaining: 1, Retry: &Retry{Max: 1, After: 90}}
	g := play(t, 30, s)
	g.until(8, fail).is("3: failure 60 #1 left completed")

	s.Retry = nil
	g = play(t, 30, s)
	g.until(8, fail).is("3: failure 60 #1 left completed")

	s.OnFailure = Stop // `completed` comes before `failed`
	g = play(t, 30, s)
	g.until(8, fail).is("3: failure 60 #1 left completed")
}

func TestRetryAfterTheWindow_IsDroppedAtTheFailure(t *testing.T) {
	g := play(t, 20, Spec{Kind: Every, Every: 60, Window: 30, Retry: &Retry{Max: 1, After: 80}})
	g.until(11, fail).is("4: failure 60 #1", "7: failure 120 #2", "10: failure 180 #3")
}

func TestFailures_GoOnThroughAnUpdate(t *testing.T) {
	g := play(t, 20, Spec{Kind: IntervalSchedule, Every: 2, First: 2})
	g.until(5, fail)
	g.update(nil, Spec{Kind: IntervalSchedule, Every: 2, First: 6, OnFailure: Suspend, MaxFailures: 3},
		"trigger", "on_failure", "max_failures")
	g.until(11, fail).is("2: failure 2 #1", "4: failure 4 #2", "6: failure 6 #3 held suspended")
}

func TestPrepaidTries_BothFire(t *testing.T) {
	// One that is paused and resumed, and one that is updated after its skip in 3, both fire in 6.
	s := Spec{Kind: IntervalFire, Every: 3, First: 3, OnUnfunded: UnfundedSkip}
	g := play(t, 20, s)
	g.until(4, broke).do(g.w.Pause(), nil).block(broke)
	g.do(g.w.Resume(false), nil).field("Skips", 0).until(7, ok)
	g.is("3: skip 3-3 x1 unfunded", "4: held paused", "6: success 6 #1")

	g = play(t, 20, s)
	g.until(4, broke).update(nil, Spec{Other: 1}, "other").field("Skips", 1).until(7, ok)
	g.is("3: skip 3-3 x1 unfunded", "6: success 6 #1")
}

func TestLapseWhileTheLaneIsPaused_IsFree(t *testing.T) {
	g := play(t, 20, Spec{Kind: IntervalSchedule, Every: 5, First: 3, Window: 1})
	g.until(7, paused).eq("told", len(g.told), 0).until(9, ok)
	g.is("7: skip 3-3 x1 window", "8: success 8 #1")
	g.field("Lapses", 0)
}

func TestUpdatedWhileReady_StaysLateSinceItsDue(t *testing.T) {
	g := play(t, 20, Spec{Kind: Height, At: 2})
	g.until(4, paused).update(nil, Spec{Other: 70}, "other").block(paused)
	g.block(ok)
	g.is("5: success 2 #1 late 3 left fired")
}

func TestRetryAfterTheNext_FailsThereAndThen(t *testing.T) {
	g := play(t, 60, Spec{Kind: Every, Every: 60, OnFailure: Stop, Retry: &Retry{Max: 3, After: 120}})
	g.until(4, fail).is("2: failure 60 #1 left failed")
}

func TestTheSameAgain_ChangesNothing(t *testing.T) {
	g := play(t, 20, Spec{Kind: Height, At: 3})
	before := g.w.Status
	g.update(nil, Spec{Kind: Height, At: 3}, "other", "trigger", "retry", "end")
	g.eq("changed", g.w.Status != before, false)
}

func TestWatch_IsLookedAtInTheBlockAfter(t *testing.T) {
	holds := Block{Holds: true}
	for _, repeats := range []bool{false, true} {
		w, err := New(limits, Spec{Kind: Watch, Keys: []int{1}, When: true, Repeats: repeats}, Block{Height: 1, Time: start})
		if err != nil {
			t.Fatal(err)
		}
		g := &game{T: t, w: w, step: 20}
		g.until(6, holds) // neither an edge nor a look in the block that scheduled it, and none after the fire
		if repeats {
			g.is("2: success 2 #1")
		} else {
			g.is("2: success 2 #1 left fired")
		}
	}
}
