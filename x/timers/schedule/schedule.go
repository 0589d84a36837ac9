// Package schedule computes when a timer that repeats is due: the occurrences of a calendar, whose clock is block time, and
// of an interval, whose clock is the height (x/timers/README.md, "1.4 Trigger").
//
// It is pure. It knows no time zones: tables of zones differ between builds of a node, and a client compiles a zone to the
// transitions of its offset (package client/when). All steps are bounded by constants, whatever the input, and no input
// makes a function panic. Results are those of this package's documentation for what Validate accepts; for anything else
// they are some value.
//
// # Due timers
//
// A Key is the position of a timer in the queue. ReadDue reads what is due in pages (x/timers/README.md, "5.4
// Candidates"), so that no reader holds an iterator open while state changes.
//
// A key is (due, seq). Seq is the order of insertion, so that of two entries due at one height the earlier one is
// first. The order is total and does not depend on the current height. So an entry that is due and not taken keeps its
// place: deferring it to the next block writes nothing.
//
// TierOf computes the distance of an entry in three steps. It is not stored.
package schedule

import (
	"fmt"
	"math"
)

// Instant is a point of a clock. Block time is counted in seconds since 1970-01-01T00:00:00Z, heights in blocks. Neither
// exceeds math.MaxInt64.
type Instant interface{ int64 | uint64 }

// Series is an ascending series of occurrences. Their instants are known in advance and do not depend on what fires.
type Series[T Instant] interface {
	// Next is the first occurrence after an instant, if it is not after the horizon.
	Next(after, horizon T) (occurrence T, ok bool)
	// Latest is the last occurrence that is not after now, if it is after the other instant.
	Latest(after, now T) (occurrence T, ok bool)
	// Count is the number of occurrences after one instant and not after another. If exact is false it is a lower bound.
	Count(after, to T) (n uint64, exact bool)
}

// Interval is a series of heights: First, and each Every blocks after it, whatever becomes of the ones before. All of its
// functions divide: their cost does not depend on how far they look.
type Interval struct {
	// First is at least 1, and Every too. Neither exceeds math.MaxInt64.
	First, Every uint64
}

var _ Series[uint64] = Interval{}

// Validate returns an error that names the value that is out of bounds, and its bounds.
func (i Interval) Validate() error {
	if err := within("first", i.First, 1, math.MaxInt64); err != nil {
		return err
	}
	return within("every", i.Every, 1, math.MaxInt64)
}

// Next implements Series.
func (i Interval) Next(after, horizon uint64) (uint64, bool) {
	return i.progression().next(after, horizon)
}

// Latest implements Series.
func (i Interval) Latest(after, now uint64) (uint64, bool) { return i.progression().latest(after, now) }

// Count implements Series. It is always exact.
func (i Interval) Count(after, to uint64) (uint64, bool) {
	return i.progression().count(after, to), true
}

func (i Interval) progression() progression[uint64] { return progression[uint64]{i.First, i.Every} }

// progression is the arithmetic one: first + k × step, for k from 0 on. Terms above math.MaxInt64 are left out. A step below
// 1, which Validate refuses, leads nowhere.
type progression[T Instant] struct{ first, step T }

// next is the first term after an instant, if it is not after the horizon.
func (p progression[T]) next(after, horizon T) (T, bool) {
	horizon = min(horizon, math.MaxInt64)
	if after < p.first {
		return found(p.first, p.first <= horizon)
	}
	last, ok := p.floor(after)
	// The differences do not overflow, as the sum might.
	if !ok || last > horizon || p.step > horizon-last {
		return 0, false
	}
	return last + p.step, true
}

// latest is the last term that is not after now, if it is after the other instant.
func (p progression[T]) latest(after, now T) (T, bool) {
	last, ok := p.floor(now)
	return found(last, ok && last > after)
}

// floor is the last term that is not after an instant.
func (p progression[T]) floor(at T) (T, bool) {
	at = min(at, math.MaxInt64)
	if p.step < 1 || at < p.first {
		return 0, false
	}
	return at - (at-p.first)%p.step, true
}

// count is the number of terms after one instant and not after another.
func (p progression[T]) count(after, to T) uint64 {
	if to <= after {
		return 0
	}
	return p.countTo(to) - p.countTo(after)
}

// countTo is the number of terms that are not after an instant.
func (p progression[T]) countTo(at T) uint64 {
	last, ok := p.floor(at)
	if !ok {
		return 0
	}
	return uint64((last-p.first)/p.step) + 1
}

// found is a result that is 0 where there is none.
func found[T Instant](occurrence T, ok bool) (T, bool) {
	if !ok {
		return 0, false
	}
	return occurrence, true
}

// within refuses a value outside bounds.
func within[T Instant](name string, value, lowest, highest T) error {
	if value < lowest || value > highest {
		return fmt.Errorf("%s is %d: want %d to %d", name, value, lowest, highest)
	}
	return nil
}
