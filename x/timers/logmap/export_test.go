package logmap

import (
	"context"

	"github.com/cosmos-timers/timers/x/timers/logmap/wire"
)

// Sets reports whether the entry is there after the change.
func (c Change) Sets() bool { return c.message.Kind != wire.Remove }

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
