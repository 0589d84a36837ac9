package life

// resolved is what a moment makes of a timer's occurrences (resolveFrom of the model).
type resolved struct {
	// open: fire may fire now.
	open bool
	fire int64
	// passed is the last of count that may fire no more; next comes after what fires or has passed, within life if more.
	passed, count, next int64
	more                bool
}

// next is the first occurrence after a moment.
func (t *Timer) next(after int64) int64 {
	if after < t.First {
		return t.First
	}
	return t.First + ((after-t.First)/t.Every+1)*t.Every
}

// resolveFrom divides the occurrences after one into those that have passed, that which may fire, and the next.
func (t *Timer) resolveFrom(after, clock int64, latest bool, window int64) resolved {
	end := t.end()
	low, last := t.next(after), min(clock, end)
	r := resolved{passed: after, fire: end + 1}
	if low <= last {
		high := t.next(last) - t.Every
		first := low
		if window > 0 && clock-window > first {
			first = t.next(clock - window - 1)
		}
		if latest {
			first = max(first, high)
		}
		if clock > end {
			first = high + t.Every
		}
		r.open = first <= high
		if r.count = (first - low) / t.Every; r.count > 0 {
			r.passed = first - t.Every
		}
		if r.open {
			r.fire = first
		}
	}
	of := r.passed
	if r.open {
		of = r.fire
	}
	r.next = t.next(of)
	r.more = r.next <= end
	return r
}

// resolveIn is resolve with another window.
func (t *Timer) resolveIn(now now, window int64) resolved {
	if t.Forced == 0 {
		return t.resolveFrom(t.After, t.clock(now), t.Latest, window)
	}
	later := t.resolveFrom(t.Forced, t.clock(now), t.Latest, window)
	r := resolved{open: true, fire: t.Forced, passed: t.After, more: later.open || later.more, next: later.next}
	if later.open {
		r.next = later.fire
	}
	return r
}

func (t *Timer) resolve(now now) resolved { return t.resolveIn(now, t.Window) }

// came is the latest occurrence after one that has come; 0 if there is none.
func (t *Timer) came(after int64, now now) int64 {
	if r := t.resolveFrom(after, min(t.clock(now), t.end()), true, 0); r.open {
		return r.fire
	}
	return 0
}

// until is the last moment of its clock at which an occurrence may be tried.
func (t *Timer) until(at int64) int64 {
	until := t.end()
	if t.Window > 0 && t.Forced == 0 {
		until = min(until, at+t.Window)
	}
	if t.Latest && at+t.Every <= t.end() {
		until = min(until, at+t.Every-1)
	}
	return until
}

// mayTry: what was tried may be tried again at a moment. If its owner has resumed it and another waits behind it, it has one try.
func (t *Timer) mayTry(at, moment int64, now now) bool {
	if t.Forced != 0 && t.Forced != at {
		return moment <= t.clock(now)
	}
	return moment <= t.until(at)
}

// occurrence is what a timer whose turn it is would deliver: over if it was tried and may not be tried again.
func (t *Timer) occurrence(now now) (r resolved, over bool) {
	switch {
	case t.Kind == AtTime:
		return resolved{open: true, fire: t.First}, false
	case !t.recurs():
		return resolved{open: true}, false
	case t.Tried:
		open := t.mayTry(t.Trying, t.clock(now), now)
		return resolved{open: open, fire: t.Trying}, !open
	}
	return t.resolve(now), false
}

// since is the height at which it became due this time, from which it is late.
func (t *Timer) since() int64 {
	if t.Since > 0 {
		return t.Since
	}
	return t.Due
}

// placeAt gives a timer that is due a later place in the queue.
func (t *Timer) placeAt(height int64) {
	if height > t.Due {
		t.Since, t.Due = t.since(), height
	}
}

func (t *Timer) byTime() bool { return t.Kind == AtTime || t.Kind == Calendar }

// recurs: its occurrences are known in advance.
func (t *Terms) recurs() bool { return t.Kind == Calendar || t.Kind == Rhythm }

func (t *Timer) clock(now now) int64 {
	if t.Kind == Calendar {
		return now.time
	}
	return now.height
}

func (t *Timer) end() int64 {
	if t.Kind == Calendar {
		return t.Ends
	}
	return t.lastHeight()
}

func (t *Timer) lastHeight() int64 {
	if t.Expires == 0 {
		return never
	}
	return t.Expires
}

func (t *Timer) expired(now now) bool {
	return t.Expires > 0 && now.height > t.Expires || t.Ends > 0 && now.time > t.Ends
}

// collect: a timer whose time has come is due at the height of the block.
func (t *Timer) collect(now now) {
	if t.Place == Waiting && t.At <= now.time {
		t.Place, t.Due = Queued, now.height
	}
}

// dueAt makes it due at an occurrence: in the next block where that has come.
func (t *Timer) dueAt(occurrence int64, now now) {
	t.Place = Queued
	if t.Kind == Rhythm {
		t.Due = max(occurrence, now.height+1)
		return
	}
	if occurrence > now.time {
		t.Place = Waiting
	}
	t.At, t.Due = occurrence, now.height+1
}

func (t *Timer) countDown() {
	if t.Remaining > 0 {
		t.Remaining--
	}
}

// toNext makes it due at its first occurrence that has not passed, and reports whether it has one.
func (t *Timer) toNext(now now) bool {
	r := t.resolve(now)
	if r.open {
		t.dueAt(r.fire, now)
	} else {
		t.dueAt(r.next, now)
	}
	return r.open || r.more
}

// What became of a timer.
type outcome int

const (
	succeeded outcome = iota
	failed
	guarded
	// lapsed, and for nothing.
	lapsed
	lapsedFree
)

// roll is what becomes of a timer whose turn came: it stays or leaves.
func (t *Timer) roll(what outcome, now now, suspendsAfter int64) (stays bool) {
	r, over := t.occurrence(now)
	fired, fails, tried := what <= guarded, what == failed, t.Tried
	t.Since = 0
	if fired {
		t.FireSeq++
		t.Lapses, t.lastFire = 0, now.height
	}
	if (fails || what == succeeded) && !tried {
		t.Deliveries++
		tried = true
	}
	if fails && t.retry(r, now) {
		return true
	}
	through := t.After
	switch {
	case fired:
		through = r.fire
	case over:
		through = t.Trying
	case r.count > 0:
		through = r.passed
	}
	t.Tried, t.Retries, t.Trying = false, 0, 0
	if t.recurs() {
		t.After = through
	}
	if t.Forced <= t.After {
		t.Forced = 0
	}
	fails = fails || what == lapsed && over
	switch {
	case fails:
		t.Failures++
	case what == succeeded:
		t.Failures = 0
	}
	if t.Kind == Once || t.Kind == AtTime || tried && t.Remaining == 1 {
		return false
	}
	if tried {
		t.countDown()
	}
	if !t.advance(now) || fails && t.Stops && t.Kind != OnChange {
		return false
	}
	if what == lapsed && !over {
		if t.Lapses++; t.Lapses >= suspendsAfter {
			t.Lapses = 0
			t.holdFor("SUSPENDED")
		}
	}
	return true
}

// retry makes it due again after a fire that failed, in the clock of its trigger, and reports whether that may be.
func (t *Timer) retry(r resolved, now now) bool {
	at, last := now.height+t.RetryAfter, t.lastHeight()
	if t.byTime() {
		at, last = now.time+t.RetryAfter, t.Ends
	}
	if t.Retries >= t.RetryMax || at > last || t.recurs() && !t.mayTry(r.fire, at, now) {
		return false
	}
	t.Tried = true
	t.Retries++
	if t.recurs() {
		t.Trying = r.fire
	}
	if r.count > 0 {
		t.After = r.passed
	}
	if t.Place, t.Due = Queued, at; t.byTime() {
		t.Place, t.At, t.Due = Waiting, at, now.height+1
	}
	return true
}

// advance makes it due at what comes next, and reports whether there is something.
func (t *Timer) advance(now now) bool {
	switch {
	case t.Kind == OnChange:
		t.Place, t.Due, t.hit = Watching, now.height+max(1, t.Cooldown), false
		return t.Due <= t.lastHeight()
	case !t.recurs():
		t.Place, t.Due = Queued, now.height+t.Every
		return t.Due <= t.lastHeight()
	}
	if r := t.resolve(now); r.count > 0 && (!r.open || !t.Latest) {
		t.After = r.passed // It was never ready.
	}
	return t.toNext(now)
}

func (t *Timer) holdFor(reason string) { t.Place, t.reason = Held, reason }

// release returns a timer that was held, at a height.
func (t *Timer) release(height, time int64) {
	t.reason = ""
	switch {
	case t.Kind == OnChange && !t.hit:
		t.Place, t.Due = Watching, max(t.Due, height)
	case t.byTime() && t.At > time:
		t.Place, t.Due = Waiting, max(t.Due, height)
	default:
		t.Place = Queued
		t.placeAt(height)
	}
}

// atOnce makes it due in the next block.
func (t *Timer) atOnce(now now) {
	t.Place, t.Due, t.Since, t.At = Queued, now.height+1, 0, min(t.At, now.time)
}

// resume has what was tried be tried again at once, and the latest of the occurrences that came meanwhile, or each; or waits for
// the next. It reports whether there is one.
func (t *Timer) resume(now now) bool {
	overdue := t.Due <= now.height
	if t.byTime() {
		overdue = t.At <= now.time
	}
	if !t.recurs() {
		if t.Tried || overdue {
			t.atOnce(now)
		}
		return true
	}
	after := t.After
	if t.Tried {
		after = t.Trying
	}
	came := t.came(after, now)
	if t.Forced > after {
		came = max(came, t.Forced)
	}
	t.Since = 0
	switch {
	case t.Tried:
		if t.Forced = came; !t.Latest || came == 0 {
			t.Forced = t.Trying
		}
		t.atOnce(now)
		return true
	case came == 0:
		return t.toNext(now)
	}
	if first := t.next(after); !t.Latest || first == came {
		came = first
	} else {
		t.After = came - t.Every
	}
	t.Forced = came
	t.dueAt(came, now)
	return true
}

// skip passes over so many occurrences, and reports whether one is left.
func (t *Timer) skip(count int64, now now) bool {
	if t.Kind != Interval && !t.recurs() || t.Tried && t.Remaining == 1 {
		return false
	}
	place, tried, from := t.Place, t.Tried, t.since()
	if tried {
		from = t.lastFire
		t.countDown()
		t.Tried, t.Retries = false, 0
		if t.recurs() {
			if t.Forced == t.Trying {
				t.Forced = 0
			}
			t.After, t.Trying = t.Trying, 0
		}
	}
	var due int64
	left := true
	if t.Kind == Interval {
		due = from + t.Every*count
		t.Place, t.Due = Queued, max(due, now.height+1)
		left = t.Due <= t.lastHeight()
	} else {
		r, rest := t.resolveIn(now, 0), count
		if tried {
			rest--
		}
		if rest > 0 {
			first := r.next
			if r.open {
				first = r.fire
			}
			t.After = first + t.Every*(rest-1)
			left = (r.open || r.more) && t.After <= t.end()
		}
		t.Forced = 0
		left = t.toNext(now) && left
		due = t.After + t.Every
	}
	if t.Since = 0; due == now.height && t.Kind == Rhythm {
		t.Due = due // It comes in this very block.
	}
	if place == Held {
		t.Place = Held
	}
	return left
}
