package tiered

import (
	"context"
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/calendar"
)

// Check returns the first broken invariant of the far tier: its runs hold what the directory says, in order, at or after
// the frontier, and there are no other chunks. It reads everything.
func (t *Tiered[V]) Check(ctx context.Context) error {
	d, err := t.far.directory(ctx)
	if err != nil {
		return err
	}
	frontier, _, err := t.far.frontier(ctx)
	if err != nil {
		return err
	}
	chunks := 0
	for _, r := range d.runs {
		n, err := t.far.checkRun(ctx, r, frontier)
		if err != nil {
			return fmt.Errorf("run %d of level %d: %w", r.id, r.level, err)
		}
		chunks += n
	}
	stored := 0
	err = t.far.store.Scan(ctx, []byte{chunkRegion}, regionEnd(chunkRegion), func([]byte, []byte) bool {
		stored++
		return true
	})
	if err == nil && stored != chunks {
		err = fmt.Errorf("%d chunks are stored, and %d belong to runs", stored, chunks)
	}
	return err
}

// checkRun checks one run and returns the number of its chunks.
func (f far) checkRun(ctx context.Context, r *run, frontier calendar.Key) (chunks int, err error) {
	var remaining uint64
	last := calendar.Key{}
	scanErr := f.store.Scan(ctx, chunkKey(r.id, calendar.Key{}), runEnd(r.id), func(key, value []byte) bool {
		chunks++
		var entries []entry
		if entries, err = decodeChunk(value); err != nil {
			return false
		}
		if at, _ := parseKey(key); len(entries) == 0 || at != entries[0].key {
			err = fmt.Errorf("the chunk at %v begins elsewhere", at)
			return false
		}
		left := from(entries, r.first)
		if len(left) == 0 {
			err = fmt.Errorf("the chunk at %v is consumed", entries[0].key)
			return false
		}
		for _, e := range left {
			if remaining > 0 && last.Compare(e.key) >= 0 || e.key.Compare(frontier) < 0 || e.key.Seq < r.minSeq || e.key.Seq > r.maxSeq {
				err = fmt.Errorf("%v is behind %v, before the frontier %v, or outside of seq %d to %d", e.key, last, frontier, r.minSeq, r.maxSeq)
				return false
			}
			last = e.key
			remaining++
		}
		return true
	})
	if scanErr != nil {
		return chunks, scanErr
	}
	if err == nil && remaining != r.remaining {
		err = fmt.Errorf("%d entries are left, and the directory says %d", remaining, r.remaining)
	}
	return chunks, err
}
