package logmap

import (
	"context"
)

// Sets reports whether the entry is there after the change.
func (c Change) Sets() bool { return c.message.Kind != kindRemove }

// Shape is how many chunks of the log are full, and how many runs each level has, the bottom first: of the front, which is
// 0, or of a range.
func (m *Map) Shape(ctx context.Context, r uint64) (full int, runs []int, err error) {
	o := m.open(ctx)
	h, err := o.head(r)
	if err != nil || h.isNew() {
		return 0, nil, err
	}
	for number := range h.levels + 1 {
		l, err := o.level(r, number)
		if err != nil {
			return 0, nil, err
		}
		runs = append(runs, len(l.runs))
	}
	return h.full(), runs, nil
}

// MaintainChunks bounds how many values one call of Maintain of a map in ranges reads, and how many it writes or deletes, with
// so many levels in the front and in a range: the log, and for the front and each range the steps of each level. A run that
// moves is one of at most 2·Runs: those that begin to, and those that arrived before.
func (o Options) MaintainChunks(levels int) int {
	with := New(nil, o).opts
	log := 2*with.MergeLogs + 4 + 2*with.MergeLogs*with.LogBytes/with.ChunkBytes
	// A step reads as many chunks as it moves, and the rest of one of each run.
	step := (2 + with.Ratio) * 2 * with.Runs
	return 1 + log + queueScan*with.Merges + (1+with.Merges)*(6+levels*with.Steps*(step+8*stepRanges))
}

// Insert adds an entry. The caller knows that there is none with the key.
func (m *Map) Insert(ctx context.Context, key, value []byte) error {
	return m.Apply(ctx, Inserted(key, value))
}

// Delete removes an entry. The caller knows that it exists.
func (m *Map) Delete(ctx context.Context, key []byte) error { return m.Apply(ctx, Deleted(key)) }
