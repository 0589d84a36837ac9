package logmap

import (
	"bytes"
	"context"
	"slices"
)

const (
	// mergeSteps is how many chunks Maintain moves down from the levels of one range.
	mergeSteps = 6
	// stepTargets is how many chunks of the level below one step rewrites at most.
	stepTargets = 16
	// queueScan is how many times Merges ranges Maintain chooses from.
	queueScan = 8
	// unbounded is a number of steps that never ends a merge.
	unbounded = 1 << 30
)

// MaintainChunks bounds how many values one call of Maintain reads, and how many it writes or deletes: for each range
// the log, level 1 and the steps below it, with heads and directories.
func (o Options) MaintainChunks() int {
	withDefaults := New(nil, o).opts
	levelOne := withDefaults.LevelChunks + 2*withDefaults.MergeLogs
	return 1 + withDefaults.Merges*(queueScan+8+2*withDefaults.MergeLogs+2*levelOne+mergeSteps*(4+2*stepTargets))
}

// Maintain merges ranges whose logs are full, at most Options.Merges of them. It is called once a block. idle reports
// that none waits any more. If more ranges wait than it merges, the height decides which are first, so that all have
// their turn.
func (m *Map) Maintain(ctx context.Context, height uint64) (idle bool, err error) {
	ranges, err := m.queued(ctx, queueScan*m.opts.Merges)
	if err != nil {
		return false, err
	}
	waiting := uint64(len(ranges))
	for i := range min(waiting, uint64(m.opts.Merges)) {
		r := ranges[(height%waiting*uint64(m.opts.Merges)+i)%waiting]
		h, err := m.head(ctx, r)
		if err != nil {
			return false, err
		}
		if h, err = m.mergeRange(ctx, r, h, mergeSteps); err != nil {
			return false, err
		}
		if err := m.setHead(ctx, r, h); err != nil {
			return false, err
		}
	}
	return waiting == 0, nil
}

// queued returns the first ranges that wait for Maintain, at most limit.
func (m *Map) queued(ctx context.Context, limit int) (ranges []uint64, err error) {
	var malformed error
	err = m.store.Scan(ctx, []byte{queuePrefix}, func(key, _ []byte) bool {
		r, err := rangeOf(key)
		if malformed = err; err == nil {
			ranges = append(ranges, r)
		}
		return err == nil && len(ranges) < limit
	})
	if err == nil {
		err = malformed
	}
	return ranges, err
}

// mergeRange merges the full chunks of a log into level 1, and moves at most so many chunks from levels that hold too
// many to the level below. It returns the head, which the caller writes.
func (m *Map) mergeRange(ctx context.Context, r uint64, h head, steps int) (head, error) {
	h, err := m.mergeLog(ctx, r, h)
	if err != nil {
		return h, err
	}
	limit := m.opts.LevelChunks
	more := false
	for level := 1; level <= h.levels; level++ {
		for {
			dir, err := m.directory(ctx, r, level)
			if err != nil {
				return h, err
			}
			if more = len(dir.chunks) > limit; !more || steps == 0 {
				break
			}
			if err := m.step(ctx, r, &h, level, dir); err != nil {
				return h, err
			}
			steps--
		}
		if more {
			break
		}
		limit *= m.opts.Ratio
	}
	if more == h.queued {
		return h, nil
	}
	if h.queued = more; more {
		return h, m.store.Set(ctx, queueKey(r), present)
	}
	return h, m.store.Delete(ctx, queueKey(r))
}

// mergeLog merges the full chunks of a log into level 1.
func (m *Map) mergeLog(ctx context.Context, r uint64, h head) (head, error) {
	if h.full() == 0 {
		return h, nil
	}
	sealed := h
	sealed.last--
	log, err := m.log(ctx, r, sealed)
	if err != nil {
		return h, err
	}
	for ; h.first < h.last; h.first++ {
		if err := m.store.Delete(ctx, logKey(r, h.first)); err != nil {
			return h, err
		}
	}
	dir, err := m.directory(ctx, r, 1)
	if err != nil {
		return h, err
	}
	_, err = m.apply(ctx, r, &h, 1, dir, sortLog(log), unbounded)
	return h, err
}

// step moves a chunk from a level to the one below; if its messages belong into too many chunks there, the first of
// them.
func (m *Map) step(ctx context.Context, r uint64, h *head, level int, dir directory) error {
	if dir.turn >= len(dir.chunks) {
		dir.turn = 0
	}
	ref := dir.chunks[dir.turn]
	messages, err := m.chunk(ctx, r, level, ref)
	if err != nil {
		return err
	}
	below, err := m.directory(ctx, r, level+1)
	if err != nil {
		return err
	}
	moved, err := m.apply(ctx, r, h, level+1, below, messages, stepTargets)
	if err != nil {
		return err
	}
	if rest := messages[moved:]; len(rest) > 0 {
		dir.chunks[dir.turn].net = netOf(rest)
		if err := m.store.Set(ctx, chunkKey(r, level, ref.number), encodeChunk(rest)); err != nil {
			return err
		}
	} else {
		dir.chunks = slices.Delete(dir.chunks, dir.turn, dir.turn+1)
		if err := m.store.Delete(ctx, chunkKey(r, level, ref.number)); err != nil {
			return err
		}
	}
	return m.setDirectory(ctx, r, level, dir)
}

// apply merges sorted messages into a level, as far as they belong into at most so many of its chunks, and returns how
// many that are. Chunks next to each other are divided anew.
func (m *Map) apply(
	ctx context.Context, r uint64, h *head, level int, dir directory, messages []message, targets int,
) (applied int, err error) {
	w := writer{m: m, r: r, level: level, dir: dir, bottom: level >= h.levels}
	for applied < len(messages) && targets > 0 {
		n, chunks, err := w.applyRun(ctx, messages[applied:], targets)
		if err != nil {
			return applied, err
		}
		applied += n
		targets -= chunks
	}
	if err := m.setDirectory(ctx, r, level, w.dir); err != nil {
		return applied, err
	}
	h.levels = max(h.levels, level)
	if level == h.levels && len(w.dir.chunks) == 0 {
		h.levels--
	}
	return applied, nil
}

// writer rewrites chunks of one level.
type writer struct {
	m     *Map
	r     uint64
	level int
	dir   directory
	// bottom: no level below holds anything.
	bottom bool
}

// applyRun merges the first messages into the chunks, next to each other, in which they belong. It returns how many
// messages and how many chunks these were.
func (w *writer) applyRun(ctx context.Context, messages []message, targets int) (n, chunks int, err error) {
	if len(w.dir.chunks) == 0 {
		return len(messages), 1, w.rewrite(ctx, 0, 0, nil, messages)
	}
	begin := w.dir.find(messages[0].key)
	end := begin
	for end < len(w.dir.chunks) && end-begin < targets && n < len(messages) {
		upTo := w.countBelow(messages[n:], end)
		if upTo == 0 {
			break
		}
		n += upTo
		end++
	}
	old, size, err := w.read(ctx, begin, end)
	if err != nil {
		return 0, 0, err
	}
	chunks = end - begin
	// A chunk that becomes small takes in its neighbour.
	if size < w.m.opts.ChunkBytes/4 && len(w.dir.chunks) > chunks {
		if begin > 0 {
			begin--
			before, _, err := w.read(ctx, begin, begin+1)
			if err != nil {
				return 0, 0, err
			}
			old = append(before, old...)
		} else {
			after, _, err := w.read(ctx, end, end+1)
			if err != nil {
				return 0, 0, err
			}
			end++
			old = append(old, after...)
		}
		chunks++
	}
	return n, chunks, w.rewrite(ctx, begin, end, old, messages[:n])
}

// countBelow counts the first messages that belong into the chunk or before it.
func (w *writer) countBelow(messages []message, chunk int) int {
	if chunk+1 == len(w.dir.chunks) {
		return len(messages)
	}
	next := w.dir.chunks[chunk+1].first
	n, _ := slices.BinarySearchFunc(messages, next, func(m message, key []byte) int { return bytes.Compare(m.key, key) })
	return n
}

// read reads the messages of adjacent chunks, and the bytes that they take.
func (w *writer) read(ctx context.Context, begin, end int) (messages []message, size int, err error) {
	for _, ref := range w.dir.chunks[begin:end] {
		bz, err := w.m.store.Get(ctx, chunkKey(w.r, w.level, ref.number))
		if err != nil {
			return nil, 0, err
		}
		size += len(bz)
		chunk, err := decodeChunk(bz)
		if err != nil {
			return nil, 0, err
		}
		messages = append(messages, chunk...)
	}
	return messages, size, nil
}

// rewrite replaces adjacent chunks by what they and the messages come to.
func (w *writer) rewrite(ctx context.Context, begin, end int, old, messages []message) error {
	merged := mergeSorted(old, messages)
	if w.bottom {
		merged = atBottom(merged)
	}
	replaced := w.dir.chunks[begin:end]
	packed := pack(merged, w.m.opts.ChunkBytes)
	refs := make([]chunkRef, len(packed))
	for i, part := range packed {
		ref := chunkRef{net: netOf(part)}
		// A chunk keeps its place in the store, so that it is written next to its neighbours.
		if i < len(replaced) {
			ref.number = replaced[i].number
		} else {
			ref.number = w.dir.next
			w.dir.next++
		}
		switch {
		case i > 0:
			ref.first = separator(packed[i-1][len(packed[i-1])-1].key, part[0].key)
		case begin > 0:
			ref.first = replaced[0].first
		}
		if err := w.m.store.Set(ctx, chunkKey(w.r, w.level, ref.number), encodeChunk(part)); err != nil {
			return err
		}
		refs[i] = ref
	}
	for _, ref := range replaced[min(len(packed), len(replaced)):] {
		if err := w.m.store.Delete(ctx, chunkKey(w.r, w.level, ref.number)); err != nil {
			return err
		}
	}
	w.dir.chunks = slices.Replace(w.dir.chunks, begin, end, refs...)
	return nil
}

// separator is the shortest key above last, and at most first.
func separator(last, first []byte) []byte {
	return first[:sharedPrefix(last, first)+1]
}
