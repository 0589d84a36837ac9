package life

// resolved is what a moment makes of a timer's occurrences (resolveFrom of the model).
type resolved struct {
	// open: fire may fire now, until until.
	open        bool
	fire, until int64
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
	if r.until = end; window > 0 {
		r.until = min(end, r.fire+window)
	}
	if latest && r.more {
		r.until = min(r.until, r.next-1)
	}
	return r
}

func (t *Timer) resolve(now now) resolved {
	if t.Forced == 0 {
		return t.resolveFrom(t.After, t.clock(now), t.Latest, t.Window)
	}
	later := t.resolveFrom(t.Forced, t.clock(now), t.Latest, t.Window)
	r := resolved{open: true, fire: t.Forced, until: t.end(), passed: t.After, more: later.open || later.more,
		next: later.next}
	if later.open {
		r.next = later.fire
	}
	return r
}

// isOver: nothing of the timer may fire now.
func (t *Timer) isOver(now now) bool {
	r := t.resolve(now)
	return !r.open || t.Retries > 0 && r.fire != t.Trying
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

// endRetries: the occurrence that is tried again counts as delivered. It reports whether the timer has more
// repetitions.
func (t *Timer) endRetries() bool {
	if t.Retries == 0 {
		return true
	}
	stays := t.Remaining != 1
	t.Retries, t.After, t.Lapses, t.Forced, t.Trying = 0, t.Trying, 0, 0, 0
	t.Deliveries++
	t.countDown()
	return stays
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

// roll is what becomes of a timer that fired: it stays or leaves.
func (t *Timer) roll(now now, ok, guarded bool) (stays bool) {
	r := resolved{until: never}
	if t.recurs() {
		r = t.resolve(now)
	}
	soon := t.RetryAfter
	soonNow := now
	soonNow.height += soon
	if !ok && !guarded && t.Retries < t.RetryMax && soonNow.height <= t.lastHeight() && t.clock(soonNow) <= r.until {
		t.Due, t.Place = soonNow.height, Queued
		t.Retries++
		t.FireSeq++
		if t.recurs() {
			t.Trying = r.fire
		}
		if r.count > 0 {
			t.After = r.passed
		}
		return true
	}
	uncounted := guarded && t.Retries == 0
	if t.Kind == Once || t.Kind == AtTime || t.Remaining == 1 && !uncounted {
		return false
	}
	again := now.height + max(1, t.Cooldown)
	if t.Kind == OnChange && again > t.lastHeight() {
		return false
	}
	if t.Kind != OnChange && !ok && !guarded && t.Stops {
		return false
	}
	if !uncounted {
		t.countDown()
		if t.recurs() {
			t.Deliveries++
		}
	}
	t.FireSeq++
	t.Retries, t.After, t.Lapses, t.Forced, t.Trying = 0, r.fire, 0, 0, 0
	switch {
	case t.Kind == OnChange:
		t.Place, t.Due, t.hit = Watching, again, false
	case t.recurs():
		t.dueAt(r.next, now)
		return r.more
	default:
		t.Place, t.Due = Queued, now.height+t.Every
		return t.Due <= t.lastHeight()
	}
	return true
}

// pass is what becomes of a timer whose turn came when its occurrence might not fire any more.
func (t *Timer) pass(now now, suspendsAfter int64) (stays bool) {
	retried := t.Retries > 0
	stays = t.endRetries()
	r := t.resolve(now)
	if !retried && r.count > 0 {
		t.Lapses++
		t.After = r.passed
	}
	if r.open {
		t.dueAt(r.fire, now)
	} else {
		t.dueAt(r.next, now)
	}
	if !stays || !r.open && !r.more || retried && t.Stops {
		return false
	}
	if !retried && t.Lapses >= suspendsAfter {
		t.Lapses, t.Place = 0, Held
	}
	return true
}

// release returns a timer that was held, at a height.
func (t *Timer) release(height, time int64) {
	switch {
	case t.Kind == OnChange && !t.hit:
		t.Place = Watching
	case t.byTime() && t.Retries == 0 && t.At > time:
		t.Place = Waiting
	default:
		t.Place = Queued
	}
	t.Due = max(t.Due, height)
}

// resume has the latest of the occurrences that came meanwhile fire, or waits for the next.
func (t *Timer) resume(now now) bool {
	if !t.recurs() || t.Retries > 0 {
		return true
	}
	r := t.resolveFrom(t.After, t.clock(now), true, 0)
	if !r.open {
		return t.toNext(now)
	}
	t.Forced, t.After = r.fire, r.passed
	t.dueAt(r.fire, now)
	return true
}

// skip passes over so many occurrences, and reports whether one is left.
func (t *Timer) skip(count int64, now now) bool {
	if t.Kind == Interval {
		left := t.Due <= t.lastHeight() && (t.lastHeight()-t.Due)/t.Every >= count
		t.Due, t.Retries = max(t.Due+t.Every*count, now.height+1), 0
		return left
	}
	if !t.recurs() {
		return false
	}
	place := t.Place
	stays := t.endRetries()
	r := t.resolve(now)
	from := r.next
	if r.open {
		from = r.fire
	}
	last := from + t.Every*(count-1)
	t.After, t.Forced = last, 0
	rest := t.toNext(now)
	if place == Held {
		t.Place = Held
	}
	return stays && (r.open || r.more) && last <= t.end() && rest
}
