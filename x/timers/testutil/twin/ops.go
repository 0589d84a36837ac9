package twin

// usable: the timer is there, and has not expired: expired is still expired (§6).
func (w *World) usable() error {
	if w.Status.Gone || w.Status.gone {
		return ErrGone
	}
	if w.Spec.endNow(w.Status, w.block()) > w.Status.End {
		return ErrExpired
	}
	return nil
}

// requeue: what is overdue and changed competes again in the next block, late since its due (§6).
func (w *World) requeue(s Spec, st Status) Status {
	if st.entered || !st.fresh && st.due <= s.now(Block{Height: w.prevHeight, Time: w.prevTime}) {
		st.notBefore = max(st.notBefore, w.Height+1)
	}
	return st
}

// commit takes a changed status.
func (w *World) commit(st Status, events ...Event) {
	w.Status = show(w.Spec, st, w.block())
	w.tell(events...)
}

// Skip is MsgSkipTimer (§3, §8a).
func (w *World) Skip(count uint64, from *uint64) error {
	if err := w.usable(); err != nil {
		return err
	}
	s, b := w.Spec, w.block()
	if !s.byClock() {
		return ErrUnsupported
	}
	if count == 0 || count > 1000 {
		return ErrInvalid
	}
	if w.Status.inHandler {
		return w.skipInHandler(count, from)
	}
	st := w.Status
	if s.lastOne(st) {
		return ErrNoneLeft
	}
	var events []Event
	if s.nominal() && s.Missed == Latest && !st.pinned && st.due <= s.now(b) {
		// One in hand is the first; older ones that came pass as `later`.
		came := append([]uint64{st.Occurrence}, s.came(st, b, max(st.Occurrence, st.done))...)
		if n := len(came) - 1; n > 0 {
			events, st.done = passed(came[:n], ForLater, st.done)
			st = set(s, st, b, came[n])
		}
	}
	if from != nil && *from != st.Occurrence {
		return ErrNotNext
	}
	st, more, ok := skip(s, st, b, count)
	if !ok {
		return ErrNoneLeft
	}
	w.commit(w.requeue(s, st), append(events, more...)...)
	return nil
}

// skipInHandler counts for what comes next, which is decided after the handler (§8a).
func (w *World) skipInHandler(count uint64, from *uint64) error {
	s, st, b := w.Spec, w.Status, w.block()
	if s.lastOne(st) {
		return ErrNoneLeft
	}
	st.done = max(st.done, st.Occurrence)
	st, _, ok := advance(s, st, b)
	if ok && st.skipNext > 0 {
		st, _, ok = skip(s, st, b, st.skipNext)
	}
	if !ok {
		return ErrNoneLeft
	}
	if from != nil && *from != st.Occurrence {
		return ErrNotNext
	}
	if _, _, ok = skip(s, st, b, count); !ok {
		return ErrNoneLeft
	}
	w.Status.skipNext += count
	return nil
}

// Run is MsgRunTimer (§3, §8a): the next occurrence, or the one in hand, is due in the next block, without jitter and window.
func (w *World) Run() error {
	if err := w.usable(); err != nil {
		return err
	}
	st, s, b := w.Status, w.Spec, w.block()
	switch {
	case !s.byClock(), st.inHandler:
		return ErrUnsupported
	case st.Hold != None:
		return ErrOnHold
	case st.due <= s.now(b), !s.seconds() && st.due <= b.Height+1:
		return ErrAlreadyDue
	}
	if s.Kind == IntervalFire && !st.tried {
		st.Occurrence = b.Height + 1 // its occurrence is the height at which it is due
	}
	st.pinned = !st.tried
	w.commit(nextBlock(s, st, b))
	return nil
}

// nextBlock: due in the next block, with no window for it and its retries; its lateness counts from that block.
func nextBlock(s Spec, st Status, b Block) Status {
	st.taken, st.entered, st.released = true, false, false
	st.Due, st.notBefore = b.Height+1, b.Height+1
	st.due, st.fresh = b.Height+1, false
	if s.seconds() {
		st.due, st.fresh = b.Time, true
	}
	st.lateFrom = st.due
	return st
}

// Pause is MsgPauseTimer (§8a): paused, whatever it was on hold for.
func (w *World) Pause() error {
	if err := w.usable(); err != nil {
		return err
	}
	switch w.Status.Hold {
	case Quarantined:
		return ErrQuarantined
	case Paused:
		return nil
	case None, Suspended, Unfunded, PricedOut, Unrunnable:
	}
	w.hold(Paused)
	return nil
}

// Resume is MsgResumeTimer (§3, §8a), `at: next` or `now`.
func (w *World) Resume(next bool) error {
	if err := w.usable(); err != nil {
		return err
	}
	switch w.Status.Hold {
	case None:
		return ErrNothing
	case Unrunnable:
		return ErrOnHold
	case Quarantined:
		return ErrQuarantined
	case Paused, Suspended, Unfunded, PricedOut:
	}
	if w.Status.inHandler {
		return ErrUnsupported
	}
	if next {
		return w.resumeNext()
	}
	w.resumeNow()
	return nil
}

// Release is governance's, of what is quarantined: as resume `now` (§8a).
func (w *World) Release() error {
	if err := w.usable(); err != nil {
		return err
	}
	if w.Status.Hold != Quarantined {
		return ErrNothing
	}
	w.resumeNow()
	return nil
}

// free is a status off its hold, its row of skips begun anew (§8a).
func (w *World) free() Status {
	st := w.Status
	st.Hold, st.Skips, st.Lapses, st.lacking = None, 0, 0, false
	return st
}

func (w *World) resumeNow() {
	s, b, st := w.Spec, w.block(), w.free()
	switch {
	case s.Kind == Watch:
		w.resumeWatch(st)
	case !inHand(s, st, b): // none came: it waits
		w.commit(st)
	case st.tried: // tried again at once; under `latest` the latest that came follows it
		all := s.pending(st, b)
		var events []Event
		if n := len(all); s.Missed == Latest && n > 1 {
			st.seen, st.openNext = all[n-1], all[n-1]
			events, st.done = passed(all[1:n-1], ForPause, st.done)
		}
		w.commit(nextBlock(s, st, b), events...)
	default:
		all := s.pending(st, b)
		var events []Event
		if n := len(all); s.Missed == Latest && n > 1 {
			events, st.done = passed(all[:n-1], ForPause, st.done)
			st = set(s, st, b, all[n-1])
		}
		if st.due > s.now(b) { // delayed by jitter: at its due
			st.taken = true
			w.commit(st, events...)
			return
		}
		w.commit(nextBlock(s, st, b), events...)
	}
}

// resumeWatch: one that has noticed, or was suspended after a failed fire, fires in the next block; one that waits goes back to watching,
// and is looked at in the next block (§3, §8, §8a).
func (w *World) resumeWatch(st Status) {
	b := w.block()
	if !st.caught && !st.refire {
		w.commit(watching(w.Spec, st, b))
		return
	}
	if st.refire {
		st.Occurrence, st.delayed = b.Height+1, b.Height+1
	}
	st.caught, st.refire = true, false
	w.commit(nextBlock(w.Spec, st, b))
}

// resumeNext gives up what is in hand and what came, and waits for the next one (§3): refused if none is left, and for one-shots.
func (w *World) resumeNext() error {
	s, b, st := w.Spec, w.block(), w.free()
	if s.oneShot() {
		return ErrUnsupported
	}
	if s.lastOne(st) {
		return ErrNoneLeft
	}
	if s.Kind == Watch {
		var events []Event
		if st.caught {
			events, _ = passed([]uint64{st.Occurrence}, ForPause, 0)
		}
		w.commit(watching(s, st, b), events...)
		return nil
	}
	if s.Kind == IntervalFire { // of `from: fire`: now + every
		var events []Event
		if inHand(s, st, b) {
			events, st.done = passed([]uint64{st.Occurrence}, ForPause, st.done)
		}
		next := max(b.Height+s.Every, st.done+1)
		if next > st.End {
			return ErrNoneLeft
		}
		w.commit(set(s, st, b, next), events...)
		return nil
	}
	all := s.pending(st, b)
	if len(all) == 0 {
		w.commit(st)
		return nil
	}
	events, done := passed(all, ForPause, st.done)
	st.done, st.openNext = done, 0
	next, ok := s.follow(st, done)
	if !ok || next > st.End {
		return ErrNoneLeft
	}
	w.commit(set(s, st, b, next), events...)
	return nil
}

// Extend is MsgExtendTimer (§3): states the end anew, and with it the life that renewals give; clamped to its maximum.
func (w *World) Extend(end uint64) error {
	st, err := w.extended(end)
	if err != nil {
		return err
	}
	b := w.block()
	st.Life = st.End - w.Spec.endNow(st, b)
	w.Spec.End = st.End
	w.commit(st)
	return nil
}

// SysExtend moves the end in the status alone, and gives no life (§3).
func (w *World) SysExtend(end uint64) error {
	st, err := w.extended(end)
	if err != nil {
		return err
	}
	w.commit(st)
	return nil
}

func (w *World) extended(end uint64) (Status, error) {
	if err := w.usable(); err != nil {
		return Status{}, err
	}
	s, st, b := w.Spec, w.Status, w.block()
	end = min(end, s.mostEnd(w.Limits, b, st.endByTime))
	var err error
	if st.inHandler { // what comes next is not decided yet
		if end <= s.endNow(st, b) {
			err = ErrExpiresTooSoon
		}
	} else {
		err = s.checkEnd(st, b, end)
	}
	if err != nil {
		return Status{}, err
	}
	st.End, st.cut = end, false
	return st, nil
}

// Quarantine is what the module does after an unexpected error of its own (§4).
func (w *World) Quarantine() {
	if !w.Status.Gone {
		w.hold(Quarantined)
	}
}

// Unrunnable says whether config or policy lets it run; it counts at its turn (§8a).
func (w *World) Unrunnable(yes bool) { w.unrunnable = yes }

// Cancel is MsgCancelTimer (§3): of one that is gone refused; in its own handler no error where it leaves anyway (§8a).
func (w *World) Cancel() error {
	if w.Status.Gone || w.Status.gone {
		return ErrGone
	}
	if w.Status.inHandler {
		w.Status.gone = true
		return nil
	}
	w.leave(Cancelled)
	return nil
}
