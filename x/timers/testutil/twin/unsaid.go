package twin

import "slices"

// Unsaid is where the text ends: what it leaves open is not compared. Each has a name, so that a test can count them. Some name what the
// text does say, and the module is known to do in another way.
type Unsaid string

// UnsaidBlock is what the text does not say of the end of this block; nothing if it says all.
func (w *World) UnsaidBlock(b Block) Unsaid {
	s, st := w.Spec, w.Status
	if st.Gone {
		return ""
	}
	waits := b.NoRoom || b.PricedOut || b.Funds != CanPay
	switch {
	case w.comesBack() && (!w.competes(b) || w.unrunnable || st.Hold == Unrunnable && w.closed(b)):
		return "when what is held for two reasons, or is not due, comes back"
	case (w.comesBack() || st.released) && b.Funds != CanPay && w.closed(b):
		return "whether a window that ended during a hold for funds is told while there are none"
	case w.overtaken(b):
		return "whether what was resumed passes when a later one comes"
	case w.later(b) && (st.Hold != None || st.released) && waits:
		return "when it is told that older ones passed by a hold, if there is no room then"
	case w.closedBehind(b):
		return "what is charged for windows of each that ended before an open one"
	case st.tried && s.nominal() && w.stale(b) && (st.released || w.comesBack()):
		return "in which block the next one competes after a retry was dropped by a hold"
	case st.tried && s.nominal() && w.stale(b) && st.lacking:
		return "what decides when a retry is dropped after a failure for want of coins"
	case st.tried && s.nominal() && w.stale(b) && (b.NoRoom || b.PricedOut):
		return "whether a retry that is dropped is told in a block without room"
	case s.Kind == IntervalFire && s.OnUnfunded == UnfundedSkip && b.Funds != CanPay && st.due < b.Height && w.competes(b):
		return "from when an interval from its fires counts on that passed late for want of funds"
	case s.nominal() && (st.taken || st.tried) && len(s.came(st, b, max(st.Occurrence, st.done, st.seen))) > 1:
		return "when it is told what passes behind one that is tried"
	case w.closed(b) && (b.NoRoom || b.PricedOut):
		return "whether a window that ended is told in a block without room"
	case w.foreign() && (w.later(b) || s.Window > 0):
		return "the module differs: whether what stays of another rhythm passes when a later one comes, or its window ends"
	case w.closed(b) && w.pauses() > 1:
		return "whether a window costs nothing that ended in a pause before the last"
	case st.released && w.closed(b):
		return "whether a window that ended during a hold costs nothing when an update has ended that"
	}
	return ""
}

// comesBack: what holds it is not its owner.
func (w *World) comesBack() bool {
	hold := w.Status.Hold
	return hold == Unfunded || hold == PricedOut || hold == Unrunnable
}

// closed: the window of what is in hand is over.
func (w *World) closed(b Block) bool {
	st := w.Status
	return inHand(w.Spec, st, b) && !st.taken && w.Spec.over(b, st.delayed)
}

// closedBehind: of each, the window of what is in hand or of another that came is over.
func (w *World) closedBehind(b Block) bool {
	s, st := w.Spec, w.Status
	if s.Missed != Each || !s.nominal() {
		return false
	}
	return w.closed(b) || slices.ContainsFunc(s.came(st, b, max(st.Occurrence, st.done)), func(o uint64) bool { return s.over(b, s.delay(st, b, o)) })
}

// pauses is how often the lane was paused.
func (w *World) pauses() (n int) {
	for i, block := range w.log {
		if block.paused && (i == 0 || !w.log[i-1].paused) {
			n++
		}
	}
	return n
}

// foreign: what is in hand stays of another trigger.
func (w *World) foreign() bool {
	st := w.Status
	return w.Spec.nominal() && st.InHand && slices.Contains(kept(st), st.Occurrence)
}

// later: another one has come behind the one in hand.
func (w *World) later(b Block) bool {
	s, st := w.Spec, w.Status
	return s.nominal() && len(s.came(st, b, max(st.Occurrence, st.done, st.seen))) > 0
}

// overtaken: a later one came than what was resumed.
func (w *World) overtaken(b Block) bool {
	st := w.Status
	return w.Spec.Missed == Latest && st.taken && (!st.pinned || st.tried) && w.later(b)
}

// cameNow: the latest that came did so in this block.
func (w *World) cameNow(b Block) bool {
	st := w.Status
	came := w.Spec.came(st, b, max(st.Occurrence, st.done, st.seen))
	return len(came) > 0 && came[len(came)-1] > w.Spec.now(Block{Height: w.prevHeight, Time: w.prevTime})
}

// hasBefore: it has one after x, and by now.
func (s Spec) hasBefore(origin, x, now uint64) bool {
	at, ok := s.first(origin, x)
	return ok && at <= now
}

// UnsaidResume is what the text does not say of resuming.
func (w *World) UnsaidResume() Unsaid {
	if w.Spec.Kind == IntervalFire && w.Status.taken && !w.Status.tried {
		return "whether an interval from its fires that is run has its occurrence in hand"
	}
	if w.Spec.Kind == IntervalFire && w.Status.done >= w.Height {
		return "whether an interval from its fires is due at heights that were skipped before"
	}
	if w.foreign() {
		return "which occurrences are those of a trigger whose timer still has one in hand of the trigger before"
	}
	return ""
}

// UnsaidSkip is what the text does not say of a skip.
func (w *World) UnsaidSkip(from bool) Unsaid {
	switch b := w.block(); {
	case w.overtaken(b):
		return "whether what was resumed passes when a later one comes"
	case w.closedBehind(b):
		return "what is charged for windows of each that ended before an open one"
	case w.foreign() && w.later(b):
		return "the module differs: whether what stays of another rhythm passes when a later one comes, or its window ends"
	case w.Status.pinned && w.later(b):
		return "when it is told what passes behind one that is tried"
	case from && w.Spec.Kind == IntervalFire:
		return "by which height an interval from its fires names what is in hand"
	case w.Status.tried && len(w.Spec.came(w.Status, b, max(w.Status.Occurrence, w.Status.done))) > 0:
		return "which is the first that a skip passes of one between its retries and those that came since"
	}
	return ""
}

// UnsaidUpdate is what the text does not say of an update.
func (w *World) UnsaidUpdate(n Spec, fields []string) Unsaid {
	s, st, b := w.Spec, w.Status, w.block()
	if st.Hold == None && (st.notBefore == w.Height || !st.entered && !st.fresh && s.Kind != Watch && st.due <= s.now(Block{Height: w.prevHeight, Time: w.prevTime})) {
		return "whether what has its place in this very block is put off"
	}
	if prev := s.now(Block{Height: w.prevHeight, Time: w.prevTime}); w.comesBack() && st.due > prev && st.due <= s.now(b) {
		return "whether what has its place in this very block is put off"
	}
	if slices.Contains(fields, "renew") && n.Renew && !s.Renew && w.once {
		return "the module differs: what is scheduled to fire once notes no life, so that renew gives it what it had left when it began to repeat"
	}
	if len(fields) > 0 && s.endNow(st, w.block()) == st.End {
		return "whether a trigger and its repetitions can be stated in the last block of a life"
	}
	if slices.Contains(fields, "trigger") && s.oneShot() && (st.taken || st.InHand && n.oneShot()) {
		return "with which height a trigger that fires once is compared when it is in hand"
	}
	if slices.Contains(fields, "trigger") && !triggerOf(n, s) {
		switch {
		case n.First != s.First && n.resolve(b) == st.origin:
			return "whether a beginning that was left open is stated anew by the height or time that it had"
		case s.Kind == IntervalFire && st.due == b.Height+s.Every && st.lastTry != b.Height:
			return "when an interval from its fires was last tried that was skipped in the block in which it was due"
		case s.seconds() && n.seconds() && s.nominal() && n.nominal() && w.sameUntilEnd(n, n.resolve(b)):
			return "the module differs: whether calendars of other rules with the same occurrences until the end are the same"
		case w.foreign():
			return "which occurrences are those of a trigger whose timer still has one in hand of the trigger before"
		case w.closed(b):
			return "whether what is in hand stays when its window is over"
		case s.Kind == IntervalFire && st.done >= b.Height, n.Kind == IntervalFire && s.Kind == IntervalSchedule && st.done >= b.Height:
			return "whether an interval from its fires is due at heights that were skipped before"
		case st.tried && len(s.came(st, b, max(st.Occurrence, st.done))) > 0:
			return "which is in hand of one between its retries and those that came since"
		case w.later(b) && (s.Missed == Each || st.pinned):
			return "the module differs: what becomes of several that came under another trigger"
		case w.later(b) && w.cameNow(b):
			return "whether what has its place in this very block is put off"
		case n.nominal() && inHand(s, st, b) && s.seconds() == n.seconds() && n.hasBefore(n.resolve(b), st.Occurrence, n.now(b)):
			return "whether another trigger has occurrences between what is in hand and the block that states it"
		case st.tried && st.taken:
			return "whether what is tried at its owner's word stays under another trigger"
		case st.tried && (s.oneShot() || s.Kind == IntervalFire && (n.First != s.First || n.Kind != s.Kind)):
			return "which occurrence of a trigger is that of a retry of one that fired once"
		case st.tried && s.Remaining == n.Remaining && s.lastOne(st):
			return "the module differs: it refuses an update that would end the last one that was tried, and with it the timer"
		case s.Kind == IntervalFire && st.taken && !st.tried:
			return "whether an interval from its fires that is run has its occurrence in hand"
		}
	}
	return ""
}
