package fairness

import "context"

// Counts is the store beneath a median: for every number of fires, how many units had as many. Entries of zero units are
// absent.
type Counts interface {
	Get(ctx context.Context, fires uint64) (units uint64, err error)
	// Set with zero units removes the entry.
	Set(ctx context.Context, fires, units uint64) error
	// Next and Prev find the nearest entry above and below.
	Next(ctx context.Context, fires uint64) (above uint64, err error)
	Prev(ctx context.Context, fires uint64) (below uint64, err error)
}

// Median is the median of the fires of all units that have any, kept exact while they change one by one: the lower of the
// two middle values if their number is even, 0 if there are none. A change costs a few operations on Counts, however many
// units there are.
type Median struct {
	// Units with at least one fire.
	Units uint64
	// Value is the median after Settle.
	Value uint64
	// Below is how many units have fewer fires than Value.
	Below uint64
}

// Move takes note that the fires of one unit changed.
func (m *Median) Move(ctx context.Context, counts Counts, from, to uint64) error {
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

// Settle finds the median again after any number of moves. Each step passes at least one unit, so that there are no more
// steps than there were moves.
func (m *Median) Settle(ctx context.Context, counts Counts) error {
	if m.Units == 0 {
		*m = Median{}
		return nil
	}
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
