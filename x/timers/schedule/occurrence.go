package schedule

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Missed says which of the occurrences that have come may still fire.
type Missed uint8

const (
	// Latest: the last one; those before it pass.
	Latest Missed = iota
	// Each: all of them, oldest first.
	Each
)

// Terms are what a timer states about its occurrences. Instants and distances are at most math.MaxInt64. A negative Window or
// Jitter counts as 0.
type Terms[T Instant] struct {
	Missed Missed
	// Window is how long after its due an occurrence may fire, at most. 0 is no bound: then an occurrence is open until
	// the next is due (Latest), or until the end (Each).
	Window T
	// Jitter is by how much an occurrence may be due later than its instant. 0 is none.
	Jitter T
	// Hash is that of an occurrence, by which its delay is drawn. It is called only if there is a jitter; nil is none.
	Hash func(occurrence T) [32]byte
	// End is the last instant at which the timer may fire.
	End T
}

// Occurrence is one of a series.
type Occurrence[T Instant] struct {
	// At is its instant, by which it is known, and Due the one from which on it may fire: At and its delay.
	At, Due T
}

// Passed are occurrences that may fire no more: all from First to Last.
type Passed[T Instant] struct {
	First, Last T
	// Count is 0 if there are none. It is a lower bound unless it is Exact.
	Count uint64
	Exact bool
}

// Resolution is what an instant makes of a timer's occurrences.
type Resolution[T Instant] struct {
	// Open tells whether an occurrence may fire: that is Fire, up to the instant Until. A retry that comes later is too late.
	Open  bool
	Fire  Occurrence[T]
	Until T
	// Passed lie before Fire, and before Next.
	Passed Passed[T]
	// More tells whether a further occurrence comes until the end: that is Next, the one after Fire. Where Each lets
	// several fire, it is due already.
	More bool
	Next Occurrence[T]
}

// Resolve tells which occurrence may fire now, which have passed, and which comes next. The instant after is that of the
// last occurrence that has fired or passed; before the first it is that of the scheduling. An occurrence has come once it
// is due. After the end, all that have come pass. The caller keeps Fire.At once it has fired, or else Passed.Last, as the
// next after: until then the result tells the same again.
//
// It asks the series for a constant number of occurrences and one count.
func Resolve[T Instant](series Series[T], terms Terms[T], after, now T) Resolution[T] {
	var r Resolution[T]
	// Delays keep the order, so three occurrences tell all: the last that has come, the last that has passed, and the one
	// that fires. The first two are the instant after if there is none.
	come := terms.come(series, after, min(now, terms.End))
	passed := after
	switch {
	case now > terms.End:
		passed = come
	case terms.Window > 0 && now > terms.Window:
		// What was due before the window began.
		passed = terms.come(series, after, now-terms.Window-1)
	}
	last := passed
	if r.Open = come != passed; r.Open {
		if terms.Missed == Each {
			last, _ = series.Next(passed, come)
		} else {
			last = come
			if before, ok := series.Latest(passed, come-1); ok {
				passed = before
			}
		}
		r.Fire = Occurrence[T]{last, terms.Due(series, last)}
	}
	if first, ok := series.Next(after, passed); ok {
		r.Passed = Passed[T]{First: first, Last: passed}
		r.Passed.Count, r.Passed.Exact = series.Count(after, passed)
	}
	if next, ok := series.Next(last, terms.End); ok {
		if delay := terms.delay(series, next); delay <= terms.End-next {
			r.More, r.Next = true, Occurrence[T]{next, next + delay}
		}
	}
	if r.Open {
		r.Until = terms.until(r)
	}
	return r
}

// come is the last occurrence after an instant that is due at another; the former if there is none.
func (t Terms[T]) come(series Series[T], after, now T) T {
	last, ok := series.Latest(after, now)
	if ok && t.delay(series, last) > now-last {
		// A delay is less than the gap, so the one before is due.
		last, ok = series.Latest(after, last-1)
	}
	if !ok {
		return after
	}
	return last
}

// until is the last instant at which the open occurrence may fire.
func (t Terms[T]) until(r Resolution[T]) T {
	until := t.End
	// The difference does not overflow, as the sum might.
	if t.Window > 0 && t.Window < until-r.Fire.Due {
		until = r.Fire.Due + t.Window
	}
	if t.Missed == Latest && r.More {
		until = min(until, r.Next.Due-1)
	}
	return until
}

// Due is when an occurrence of a series is due: at its instant, and its delay.
func (t Terms[T]) Due(series Series[T], occurrence T) T {
	return occurrence + t.delay(series, occurrence)
}

// delay is that of an occurrence. It does not depend on how long the timer lives.
func (t Terms[T]) delay(series Series[T], occurrence T) T {
	if t.Jitter <= 0 || t.Hash == nil {
		return 0
	}
	// A gap counts if it is not longer than the jitter.
	horizon := occurrence + min(t.Jitter, math.MaxInt64-occurrence)
	gap := uint64(math.MaxUint64)
	if next, ok := series.Next(occurrence, horizon); ok {
		gap = uint64(next - occurrence)
	}
	return T(Delay(t.Hash(occurrence), uint64(t.Jitter), gap))
}

// Delay is hash mod (min(jitter, gap − 1) + 1), the hash being a number of 32 bytes, highest first. It spreads
// occurrences that many timers share, and keeps them in order: it is less than the gap to the next, which is at least 1.
func Delay(hash [32]byte, jitter, gap uint64) uint64 {
	if gap == 0 {
		return 0
	}
	// This does not overflow, since gap − 1 is less than the largest number.
	divisor := min(jitter, gap-1) + 1
	// Long division, a digit of 64 bits at a time.
	rest := uint64(0)
	for word := hash[:]; len(word) > 0; word = word[8:] {
		_, rest = bits.Div64(rest, binary.BigEndian.Uint64(word), divisor)
	}
	return rest
}
