package tiered

import (
	"context"
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/calendar"
)

// Small makes the far tier so small that few entries make many runs, chunks, merges and crowds.
func (t *Tiered[V]) Small() {
	t.far.shape = &shape{chunkEntries: 3, fanIn: 2, levelEntries: 2, crowdEntries: 3, mergesPerBlock: 1, mergesPerInsert: 4}
}

// Decode exposes the decoders for fuzzing.
func Decode(bz []byte) (chunk, directory error) {
	_, chunk = decodeChunk(bz)
	_, directory = decodeDirectory(bz)
	return chunk, directory
}

// Stats describes the far tier.
type Stats struct {
	Runs, Returned, Merges, DirectoryBytes int
	Frontier                               calendar.Key
}

// Stats reads the far tier and checks the invariants of its structure: runs hold what the directory says, in order, at
// or after the frontier, and nothing else is stored.
func (t *Tiered[V]) Stats(ctx context.Context) (s Stats, err error) {
	d, err := t.far.directory(ctx)
	if err != nil {
		return s, err
	}
	if s.Frontier, _, err = t.far.frontier(ctx); err != nil {
		return s, err
	}
	s.Merges, s.DirectoryBytes = len(d.merges), len(d.encode())
	chunks := 0
	for _, r := range d.runs {
		s.Runs++
		if r.returned {
			s.Returned++
		}
		n, err := t.checkRun(ctx, r, s.Frontier)
		if err != nil {
			return s, fmt.Errorf("run %d of level %d: %w", r.id, r.level, err)
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
	return s, err
}

func (t *Tiered[V]) checkRun(ctx context.Context, r *run, frontier calendar.Key) (chunks int, err error) {
	var entries []entry
	err = t.far.store.Scan(ctx, chunkKey(r.id, calendar.Key{}), runEnd(r.id), func(key, value []byte) bool {
		chunks++
		var chunk []entry
		if chunk, err = decodeChunk(value); err != nil {
			return false
		}
		if at, _ := parseKey(key); len(chunk) == 0 || at != chunk[0].key {
			err = fmt.Errorf("chunk at %v holds %d entries that begin elsewhere", at, len(chunk))
			return false
		}
		left := from(chunk, r.first)
		if len(left) == 0 {
			err = fmt.Errorf("chunk at %v is consumed", chunk[0].key)
			return false
		}
		entries = append(entries, left...)
		return true
	})
	if err != nil {
		return 0, err
	}
	if uint64(len(entries)) != r.remaining {
		return 0, fmt.Errorf("%d entries are left, the directory says %d", len(entries), r.remaining)
	}
	for i, e := range entries {
		switch {
		case i > 0 && entries[i-1].key.Compare(e.key) >= 0:
			return 0, fmt.Errorf("%v comes after %v", e.key, entries[i-1].key)
		case e.key.Compare(frontier) < 0:
			return 0, fmt.Errorf("%v is before the frontier %v", e.key, frontier)
		case e.key.Seq < r.minSeq || e.key.Seq > r.maxSeq:
			return 0, fmt.Errorf("seq %d is outside of %d to %d", e.key.Seq, r.minSeq, r.maxSeq)
		}
	}
	return chunks, nil
}
