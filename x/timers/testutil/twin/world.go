package twin

import "slices"

// World is one timer in a chain of blocks.
type World struct {
	Limits Limits
	Spec   Spec
	Status Status
	// Height and Time are those of the present block, whose transactions run until EndBlock.
	Height, Time uint64

	prevHeight, prevTime uint64
	unrunnable           bool
	jitter               func(uint64) [32]byte
	told                 []Event
	log                  []logged
	once                 bool // it was scheduled to fire once
}

// logged is what a lapse needs to know of a block gone by: whether the lane was paused.
type logged struct {
	height, time uint64
	paused       bool
}

// block is the present block, for operations.
func (w *World) block() Block { return Block{Height: w.Height, Time: w.Time, Jitter: w.jitter} }

// New schedules a timer in a block (§3).
func New(l Limits, s Spec, now Block) (*World, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	w := &World{Limits: l, Spec: s, Height: now.Height, Time: now.Time, jitter: now.Jitter, once: s.oneShot()}
	w.prevHeight, w.prevTime = now.Height, now.Time
	origin := s.resolve(now)
	if err := s.checkPast(l, now, origin, false); err != nil {
		return nil, err
	}
	st := Status{origin: origin, floor: s.now(now), RemainingLeft: s.Remaining, endByTime: s.EndByTime}
	st, err := stateEnd(l, s, st, now)
	if err != nil {
		return nil, err
	}
	st, err = begin(s, st, now)
	if err != nil {
		return nil, err
	}
	w.Status = show(s, st, now)
	return w, nil
}

// stateEnd takes the stated end, or the default, and with it the life that renewals give (§2 end, renew).
func stateEnd(l Limits, s Spec, st Status, b Block) (Status, error) {
	st.endByTime = s.EndByTime
	most := s.mostEnd(l, b, s.EndByTime)
	end := s.End
	switch {
	case end == 0:
		end = most
	case end > most:
		return st, ErrTTLTooLong
	}
	if end <= s.endNow(st, b) {
		return st, ErrExpiresTooSoon
	}
	st.End, st.Life, st.cut = end, end-s.endNow(st, b), false
	return st, nil
}

// begin sets the first occurrence of a trigger just stated, with nothing in hand.
func begin(s Spec, st Status, b Block) (Status, error) {
	if s.Kind == Watch {
		// §8 watch: it watches from the next block on; a condition is looked at in that block.
		return watching(s, st, b), nil
	}
	var first uint64
	ok := true
	switch {
	case s.oneShot():
		first = st.origin
	case s.Kind == IntervalFire:
		first = fireAfterUpdate(s, st, b)
	default:
		first, ok = s.follow(st, st.done)
	}
	if !ok {
		return st, ErrNoneLeft
	}
	if first > st.End {
		return st, ErrExpiresTooSoon
	}
	return set(s, st, b, first), nil
}

// watching: back to watching from the next block on.
func watching(s Spec, st Status, b Block) Status {
	st = set(s, st, b, 0)
	st.caught, st.refire = false, false
	st.watchFrom, st.look, st.lookAt = b.Height, s.When, b.Height+1
	return st
}

// Begin begins the next block: operations of its transactions follow, then EndBlock.
func (w *World) Begin(height, time uint64) {
	w.prevHeight, w.prevTime = w.Height, w.Time
	w.Height, w.Time = height, time
	if !w.Status.Gone {
		w.Status = show(w.Spec, w.Status, w.block())
	}
}

// EndBlock is the end of a block (§4): collect, clean up, then the timer's turn. It tells what operations of the block told, too.
func (w *World) EndBlock(b Block) []Event {
	if b.Height != w.Height || b.Time != w.Time {
		w.Begin(b.Height, b.Time)
	}
	w.jitter = b.Jitter
	w.log = append(w.log, logged{b.Height, b.Time, b.LanePaused})
	if !w.Status.Gone {
		w.collect(b)
		switch {
		case w.Spec.endNow(w.Status, b) > w.Status.End:
			w.leave(Expired)
		case !b.LanePaused: // §4: LANE_PAUSED stops firing; expiry goes on
			w.turn(b)
		}
	}
	if !w.Status.Gone {
		w.Status = show(w.Spec, w.Status, b)
	}
	out := w.told
	w.told = nil
	return out
}

// collect: what became due at this height, and what a watched key changed, enters the ready set (§4.2).
func (w *World) collect(b Block) {
	st := &w.Status
	if w.Spec.Kind == Watch {
		w.notice(b)
	}
	if st.Hold != None || !w.competes(b) || st.entered {
		return
	}
	w.enter(b)
}

// competes: it is due, and no operation put it off to a later block.
func (w *World) competes(b Block) bool {
	st := w.Status
	if w.Spec.Kind == Watch && !st.caught {
		return false
	}
	return st.due <= w.Spec.now(b) && st.notBefore <= b.Height
}

// enter: with this height as `due`, where its clock is block time (§8).
func (w *World) enter(b Block) {
	st := &w.Status
	st.entered = true
	if w.Spec.seconds() {
		st.Due = b.Height
	}
	if st.fresh {
		st.fresh, st.lateFrom = false, w.Spec.now(b)
	}
}

// notice: a watch is due in the block whose transactions changed a key, provided it existed before the block; with a condition when the
// value at this collection makes true what that at the previous one did not, or at a look. A change within the cooldown, or while one is
// in hand, is forgotten (§8 watch); one on hold does not watch.
func (w *World) notice(b Block) {
	st, s := &w.Status, w.Spec
	edge := b.Holds && !st.held
	st.held = b.Holds
	if st.Hold != None || st.caught || b.Height <= st.watchFrom {
		return
	}
	hit := edge
	if !s.When {
		hit = slices.ContainsFunc(b.Changed, func(k int) bool { return slices.Contains(s.Keys, k) })
	}
	if b.Height < s.earliest(*st) {
		return
	}
	if st.look && b.Height >= st.lookAt {
		st.look = false
		hit = hit || s.When && b.Holds
	}
	if hit {
		w.catch(b.Height)
	}
}

// catch: a watch has noticed; lateness counts from the change.
func (w *World) catch(due uint64) {
	st := &w.Status
	st.caught, st.refire, st.look = true, false, false
	st.Occurrence, st.due, st.delayed, st.lateFrom = due, due, due, due
	st.notBefore, st.Retries, st.tried, st.counted, st.entered = 0, 0, false, false, false
}

// leave: it leaves at once.
func (w *World) leave(why Reason) {
	w.Status.Left = why
	w.tell(farewell(w.Spec, w.Status)...)
	w.Status = show(w.Spec, w.Status, w.block())
}

// Told are the events since they were last asked for. EndBlock asks too.
func (w *World) Told() []Event {
	told := w.told
	w.told = nil
	return told
}

func (w *World) tell(events ...Event) { w.told = append(w.told, events...) }

// hold puts it on hold, with an event.
func (w *World) hold(why Hold) {
	w.Status.Hold, w.Status.released = why, false
	w.tell(Event{Kind: HeldEvent, Reason: string(why)})
}

// after lets After decide.
func (w *World) after(o Over, b Block) {
	st, events := After(w.Limits, w.Spec, w.Status, o, b)
	w.Status = st
	w.tell(events...)
}

// turn is the timer's turn at the end of a block, if it has one.
func (w *World) turn(b Block) {
	st := &w.Status
	switch st.Hold {
	case None:
	case Paused, Suspended, Quarantined:
		return
	case Unfunded, PricedOut, Unrunnable:
		if !w.back(b) {
			return
		}
	}
	if !w.competes(b) {
		return
	}
	if !st.entered {
		w.enter(b)
	}
	if w.unrunnable { // §8a config, policy: at its turn
		w.hold(Unrunnable)
		return
	}
	older, target, found := w.resolve(b)
	if !found {
		return
	}
	switch {
	case b.PricedOut: // §5, §6: waits, and is not tried
		w.hold(PricedOut)
	case b.NoRoom: // §6: passed over, and stays ready
	case b.Funds != CanPay:
		w.unfunded(Over{How: Passed, Through: target, Count: uint64(len(older)) + 1, Reason: ForFunds, Counts: true}, b)
	default:
		w.pass(older, target, b)
		w.fire(b)
	}
}

// back: funds or price are back, or it may run again: it competes in this block (§6, §8a), late since its due.
func (w *World) back(b Block) bool {
	switch w.Status.Hold {
	case Unfunded:
		if b.Funds != CanPay && b.FundsWait {
			return false
		}
	case PricedOut:
		if b.PricedOut {
			return false
		}
	case Unrunnable:
		if w.unrunnable {
			return false
		}
	case None, Paused, Suspended, Quarantined:
		return false
	}
	w.Status.Hold = None
	w.Status.released = w.competes(b)
	return true
}

// resolve finds what is to be tried in this block, and which older ones pass by it. What can't be tried any more is settled at once: who was
// tried has failed, free, and where no window is open what came has lapsed (§8a). What a later one passes is settled at the fire (§8).
func (w *World) resolve(b Block) (older []uint64, target uint64, found bool) {
	for w.Spec.nominal() {
		st := &w.Status
		released, since := st.released, st.lateFrom
		switch {
		case !st.tried:
			older, target, found = w.plan(b)
			if found && released { // after a hold it has passed when it is released
				w.pass(older, target, b)
				older = nil
			}
			if found {
				w.Status.released = false
				return older, target, true
			}
			if !w.lapse(older, b) {
				return nil, 0, false
			}
		case w.stale(b):
			since = st.delayed
			w.after(Over{How: Dropped, Lacking: st.lacking}, b)
			if !released {
				return nil, 0, false // It has had its turn.
			}
		default:
			st.released = false
			return nil, st.Occurrence, true
		}
		if w.Status.Gone || w.Status.Hold != None || !w.competes(b) {
			return nil, 0, false
		}
		w.enter(b)
		if released {
			w.Status.lateFrom = since
		}
	}
	w.Status.released = false
	return nil, w.Status.Occurrence, true
}

// stale: the occurrence between its retries may not be tried any more: its window is over, or under `latest` a later one came.
func (w *World) stale(b Block) bool {
	s, st := w.Spec, w.Status
	if !st.taken && s.over(b, st.delayed) {
		return true
	}
	return s.Missed == Latest && len(s.came(st, b, max(st.Occurrence, st.done, st.seen))) > 0
}

// plan: under `latest` the latest that came is tried, if its window is open; under `each` the one in hand, if its is. If nothing is found
// `older` are those whose windows are over.
func (w *World) plan(b Block) (older []uint64, target uint64, found bool) {
	s, st := w.Spec, w.Status
	came := append([]uint64{st.Occurrence}, s.came(st, b, max(st.Occurrence, st.done))...)
	if st.pinned { // run: it does not pass because a later one comes
		came = came[:1]
	}
	open := func(o uint64) bool {
		if o == st.Occurrence {
			return st.taken || !s.over(b, st.delayed)
		}
		return !s.over(b, s.delay(st, b, o))
	}
	if last := len(came) - 1; s.Missed == Latest {
		if open(came[last]) {
			return came[:last], came[last], true
		}
		return came, 0, false
	}
	switch first := slices.IndexFunc(came, open); first {
	case 0:
		return nil, st.Occurrence, true
	case -1:
		return came, 0, false
	default:
		return came[:first], 0, false
	}
}

// pass makes a later occurrence, that came too, the one in hand: after a hold it is late since the first's due (§8a).
func (w *World) pass(older []uint64, target uint64, b Block) {
	if len(older) == 0 {
		return
	}
	st := &w.Status
	released, since, due := st.released, st.lateFrom, st.Due
	events, done := passed(older, ForLater, st.done)
	w.tell(events...)
	st.done = done
	*st = set(w.Spec, *st, b, target)
	w.enter(b)
	if released {
		st.lateFrom = since
		if w.Spec.seconds() {
			st.Due = due
		}
	}
}

// lapse: the windows of these are over. It costs the payer LAPSE_CYCLES if it was ready; it is free, and not counted, after a hold, and
// where the window ended in a block in which the lane was paused; who can't pay is treated as unfunded, and has had its turn (§8, §8a).
func (w *World) lapse(came []uint64, b Block) bool {
	o := Over{How: Passed, Through: came[len(came)-1], Count: uint64(len(came)), Reason: ForWindow}
	free := w.Status.released || w.endedPaused(came, b)
	if !free && b.Funds == CanPayNothing {
		o.Counts, o.Reason = true, ForFunds
		w.unfunded(o, b)
		return false
	}
	o.Counts, o.Charged = !free, !free
	w.after(o, b)
	return true
}

// endedPaused: the window that counts (under `latest` the latest's, under `each` every one's) ended while the lane was paused.
func (w *World) endedPaused(came []uint64, b Block) bool {
	if w.Spec.Missed == Latest {
		came = came[len(came)-1:]
	}
	for _, o := range came {
		delayed := w.Spec.delay(w.Status, b, o)
		if o == w.Status.Occurrence {
			delayed = w.Status.delayed
		}
		for _, block := range w.log {
			if w.Spec.now(Block{Height: block.height, Time: block.time}) > delayed+w.Spec.Window {
				if !block.paused {
					return false
				}
				break
			}
		}
	}
	return true
}

// unfunded: the payer can't cover it (§5, §8 on_unfunded).
func (w *World) unfunded(o Over, b Block) {
	switch {
	case b.FundsWait:
		w.hold(Unfunded)
	case w.Spec.OnUnfunded == UnfundedSkip:
		w.after(o, b)
	case w.Spec.OnUnfunded == UnfundedSuspend:
		w.hold(Suspended)
	default:
		w.leave(UnfundedEnd)
	}
}

// fire is one try (§5): a delivery, then what comes next.
func (w *World) fire(b Block) {
	s, st := w.Spec, &w.Status
	out, lacking := w.outcome(b)
	st.FireSeq++
	st.lastTry = b.Height
	st.Lapses = 0
	if !lacking { // each paid fire restores the skips; this one does not (§5)
		st.Skips = 0
	}
	st.LastOutcome = &out
	index := st.Deliveries
	if !st.counted {
		index++
	}
	if out.Kind != Guarded && !st.counted {
		st.counted = true
		st.Deliveries++
		if s.Remaining > 0 && st.RemainingLeft > 0 {
			st.RemainingLeft--
		}
	}
	st.tried = true
	late := uint64(0)
	if now := s.now(b); now > st.lateFrom {
		late = now - st.lateFrom
	}
	w.tell(Event{Kind: DeliveredEvent, Occurrence: st.Occurrence, Index: index, Late: late, Outcome: out})
	w.handle(b)
	w.after(Over{How: Delivered, Outcome: out, Lacking: lacking, Below: b.Result.Kind == Below}, b)
	if w.Status.gone && !w.Status.Gone {
		w.leave(Cancelled)
	}
}

// outcome of the handler's answer: what is idle, or whose condition does not hold, is guarded (§8, §9).
func (w *World) outcome(b Block) (Outcome, bool) {
	switch b.Result.Kind {
	case Succeeds:
		return Outcome{Kind: Success}, false
	case Fails:
		return Outcome{Kind: Failure, Code: b.Result.Code}, false
	case Idle, Below:
		return Outcome{Kind: Guarded}, false
	case Guard:
		if !w.Spec.OnlyIf {
			return Outcome{Kind: Success}, false
		}
		return Outcome{Kind: Guarded}, false
	case Insufficient:
		// `destroy` speaks of the fee alone.
		return Outcome{Kind: Failure, Code: Code{"sdk", 5}}, w.Spec.OnUnfunded != UnfundedDestroy
	}
	return Outcome{}, false
}

// handle: its own handler acts on it, while this occurrence is over and what comes next is not decided (§8a). A handler that fails leaves
// nothing, and one whose condition does not hold does not run.
func (w *World) handle(b Block) {
	if b.Handler == nil || b.Result.Kind != Succeeds && b.Result.Kind != Idle {
		return
	}
	w.Status.inHandler = true
	b.Handler(w)
	w.Status.inHandler = false
}
