package market

import "context"

// MedianCounts is the store beneath a median. It is a histogram: for each number of fires, the number of units with so many
// fires. Its size is the number of different counts, not of units. Entries of zero units are absent.
type MedianCounts interface {
	// Get returns 0, and no error, for a number of fires that no unit has.
	Get(ctx context.Context, fires uint64) (units uint64, err error)
	// Set with zero units removes the entry.
	Set(ctx context.Context, fires, units uint64) error
	// Next and Prev return the nearest entry above and below. It is an error if there is none: Settle moves only in a
	// direction in which there are units.
	Next(ctx context.Context, fires uint64) (above uint64, err error)
	Prev(ctx context.Context, fires uint64) (below uint64, err error)
}

// Median is the median of the fires of all units with at least one. If their number is even, it is the lower of the two
// middle values. It is 0 if there are no such units.
//
// It stays exact while the counts change one by one. It holds a position in the histogram and the number of units below
// that position. A change of a count updates both; Settle then moves the position to the middle. A change costs a
// constant number of operations on Counts, however many units there are.
//
// Invariant: Below is the number of units with fewer fires than Value. After Settle, also Below ≤ (Units − 1) ÷ 2 <
// Below + the units with exactly Value fires, which defines the median.
type Median struct {
	// Units with at least one fire in the window.
	Units uint64
	// Value is the median after Settle. Between Move and Settle it is the old median, even if no unit is left at it.
	Value uint64
	// Below is how many units have fewer fires than Value.
	Below uint64
}

// Move records that the fires of one unit changed from one number to another; 0 means none. It keeps Below and Units,
// and leaves Value to Settle, so that a block with many fires searches for the median once.
func (m *Median) Move(ctx context.Context, counts MedianCounts, from, to uint64) error {
	if from > 0 {
		units, err := counts.Get(ctx, from)
		if err != nil {
			return err
		}
		if err := counts.Set(ctx, from, units-1); err != nil {
			return err
		}
		m.Units--
		if from < m.Value {
			m.Below--
		}
	}
	if to == 0 {
		return nil
	}
	units, err := counts.Get(ctx, to)
	if err != nil {
		return err
	}
	m.Units++
	if to < m.Value {
		m.Below++
	}
	return counts.Set(ctx, to, units+1)
}

// Settle restores the median after any number of moves. Each step passes at least one unit, and each move puts at most
// one unit on the wrong side. So there are at most as many steps as moves, and one more if no unit is left at Value.
func (m *Median) Settle(ctx context.Context, counts MedianCounts) error {
	if m.Units == 0 {
		*m = Median{}
		return nil
	}
	// The number of units below the lower of the two middle ones.
	middle := (m.Units - 1) / 2
	for m.Below > middle {
		value, err := counts.Prev(ctx, m.Value)
		if err != nil {
			return err
		}
		units, err := counts.Get(ctx, value)
		if err != nil {
			return err
		}
		m.Value, m.Below = value, m.Below-units
	}
	// No unit need be left at Value: then the first step moves on to the next number of fires that some unit has.
	for {
		units, err := counts.Get(ctx, m.Value)
		if err != nil {
			return err
		}
		if m.Below+units > middle {
			return nil
		}
		m.Below += units
		if m.Value, err = counts.Next(ctx, m.Value); err != nil {
			return err
		}
	}
}
