package logmap

import (
	"bytes"
	"cmp"
	"context"
	"slices"
)

const (
	// sliceChunks is how many chunks of each moving run one step reads.
	sliceChunks = 2
	// stepTargets is how many chunks of the bottom one step rewrites at most.
	stepTargets = 16
	// queueScan is how many times Merges ranges Maintain chooses from.
	queueScan = 8
	// unbounded is a number of steps that never ends a merge.
	unbounded = 1 << 30
)

// MaintainChunks bounds how many values one call of Maintain reads, and how many it writes or deletes, heads and
// directories included: for each range the log, and the steps below it. A run that moves is one of at most 3·Runs: Runs
// that begin to, and those that arrived before.
func (o Options) MaintainChunks() int {
	with := New(nil, o).opts
	log := 2*with.MergeLogs + 4 + 2*with.MergeLogs*with.LogBytes/with.ChunkBytes + 2*stepTargets
	step := 4 + 3*with.Runs*sliceChunks + 2*stepTargets + 3*with.Runs*sliceChunks
	return 1 + with.Merges*(queueScan+6+log+with.Steps*step)
}

// Maintain merges ranges whose logs are full, at most Options.Merges of them. It is called once a block. idle reports
// that none waits any more. If more ranges wait than it merges, the height decides which are first, so that all have
// their turn.
func (m *Map) Maintain(ctx context.Context, height uint64) (idle bool, err error) {
	o := m.open(ctx)
	ranges, err := o.queued(queueScan * m.opts.Merges)
	if err != nil {
		return false, err
	}
	waiting := uint64(len(ranges))
	for i := range min(waiting, uint64(m.opts.Merges)) {
		r := ranges[(height%waiting*uint64(m.opts.Merges)+i)%waiting]
		h, err := o.head(r)
		if err != nil {
			return false, err
		}
		if h, err = o.mergeRange(r, h, m.opts.Steps); err != nil {
			return false, err
		}
		if err := o.setHead(r, h); err != nil {
			return false, err
		}
	}
	return waiting == 0, nil
}

// queued returns the first ranges that wait for Maintain, at most limit.
func (m *opened) queued(limit int) (ranges []uint64, err error) {
	var malformed error
	err = m.store.Scan([]byte{queuePrefix}, func(key, _ []byte) bool {
		r, err := rangeOf(key)
		if malformed = err; err == nil {
			ranges = append(ranges, r)
		}
		return err == nil && len(ranges) < limit
	})
	return ranges, cmp.Or(err, malformed)
}

// mergeRange merges the full chunks of a log if there are enough, and takes at most so many steps in levels that have
// too many runs. It returns the head, which the caller writes.
func (m *opened) mergeRange(r uint64, h head, steps int) (head, error) {
	if h.full() >= m.opts.MergeLogs {
		merged, err := m.mergeLog(r, h)
		if err != nil {
			return h, err
		}
		h = merged
	}
	waits := false
	for number := 1; number <= h.levels && !waits; number++ {
		for {
			moves, err := m.moves(r, h, number)
			if err != nil {
				return h, err
			}
			if waits = moves != nil; !waits || steps == 0 {
				break
			}
			if err := m.step(r, &h, number, moves); err != nil {
				return h, err
			}
			steps--
		}
	}
	if waits == h.queued {
		return h, nil
	}
	if h.queued = waits; waits {
		return h, m.store.Set(queueKey(r), present)
	}
	return h, m.store.Delete(queueKey(r))
}

// mergeLog makes the full chunks of a log a run of level 1, or merges them into the bottom, if that is small and nothing
// lies between.
func (m *opened) mergeLog(r uint64, h head) (head, error) {
	sealed := h
	sealed.last--
	log, err := m.log(r, sealed)
	if err != nil {
		return h, err
	}
	size := (h.full()*m.opts.LogBytes + m.opts.ChunkBytes - 1) / m.opts.ChunkBytes
	for ; h.first < h.last; h.first++ {
		if err := m.store.Delete(logKey(r, h.first)); err != nil {
			return h, err
		}
	}
	messages := sortLog(log)
	if h.levels == 0 {
		bottom, err := m.level(r, 0)
		if err != nil {
			return h, err
		}
		if bottom.chunks(len(bottom.runs)) <= m.opts.Ratio*size {
			_, err := m.sink(r, bottom, messages, unbounded)
			return h, err
		}
	}
	l, err := m.level(r, 1)
	if err != nil {
		return h, err
	}
	written, _, err := m.write(r, 1, l, messages, nil)
	if err != nil || len(written) == 0 {
		return h, err
	}
	l.runs = append(l.runs, written)
	h.levels = max(h.levels, 1)
	return h, m.setLevel(r, 1, l)
}

// moves returns a level whose runs are moving down, or have to begin to because there are so many. It is nil otherwise.
func (m *opened) moves(r uint64, h head, number int) (*level, error) {
	l, err := m.level(r, number)
	if err != nil {
		return nil, err
	}
	if l.moving > 0 {
		return l, nil
	}
	if len(l.runs) < m.opts.Runs {
		return nil, nil
	}
	bottom, err := m.level(r, 0)
	if err != nil {
		return nil, err
	}
	l.moving, l.low, l.started = len(l.runs), nil, false
	l.toBottom = number == h.levels && bottom.chunks(len(bottom.runs)) <= m.opts.Ratio*l.chunks(l.moving)
	return l, nil
}

// step moves a slice of the keys of the moving runs of a level down: the messages from the key low on, to where the
// second chunk of one of the runs ends.
func (m *opened) step(r uint64, h *head, number int, l *level) error {
	messages, end, more, err := m.slice(r, number, l)
	if err != nil {
		return err
	}
	if l.toBottom {
		bottom, err := m.level(r, 0)
		if err != nil {
			return err
		}
		messages, end, more = align(bottom, messages, l.low, end, more)
		applied, err := m.sink(r, bottom, messages, stepTargets)
		if err != nil {
			return err
		}
		if applied < len(messages) {
			end, more = messages[applied].key, true
		}
	} else if err := m.lower(r, h, number+1, l, messages); err != nil {
		return err
	}
	l.low = end
	if err := m.dropMoved(r, number, l, more); err != nil {
		return err
	}
	for h.levels > 0 {
		last, err := m.level(r, h.levels)
		if err != nil || len(last.runs) > 0 {
			return err
		}
		h.levels--
	}
	return nil
}

// slice reads the messages of the moving runs from the key low on, up to the key end. more is false if none are left
// behind them.
func (m *opened) slice(r uint64, number int, l *level) (messages []message, end []byte, more bool, err error) {
	for _, chunks := range l.runs[:l.moving] {
		last := chunks.find(l.low) + sliceChunks - 1
		if fence, ok := chunks.fence(last); ok && (!more || bytes.Compare(fence, end) < 0) {
			end, more = fence, true
		}
	}
	within := interval{from: l.low}
	if more {
		within.to = end
	}
	for _, chunks := range l.runs[:l.moving] {
		var all []message
		for i := chunks.find(l.low); i < len(chunks) && !within.endsBefore(chunks[i].first); i++ {
			chunk, err := m.chunk(r, number, chunks[i])
			if err != nil {
				return nil, nil, false, err
			}
			all = append(all, chunk...)
		}
		messages = mergeSorted(messages, only(all, within))
	}
	return messages, end, more, nil
}

// align ends a slice where a chunk of the bottom does, so that the next slice need not rewrite it.
func align(bottom *level, messages []message, low, end []byte, more bool) ([]message, []byte, bool) {
	if !more || len(bottom.runs) == 0 {
		return messages, end, more
	}
	chunks := bottom.runs[0]
	fence := chunks[chunks.find(end)].first
	if bytes.Compare(fence, low) <= 0 {
		return messages, end, more
	}
	at, _ := search(messages, fence)
	return messages[:at], fence, true
}

// lower adds messages to the run of a level that the moving runs of the level above become.
func (m *opened) lower(r uint64, h *head, number int, above *level, messages []message) error {
	l, err := m.level(r, number)
	if err != nil {
		return err
	}
	written, _, err := m.write(r, number, l, messages, nil)
	if err != nil || len(written) == 0 {
		return err
	}
	if above.started {
		newest := len(l.runs) - 1
		// All that was moved before is below the key low.
		written[0].first = above.low
		l.runs[newest] = append(l.runs[newest], written...)
	} else {
		l.runs = append(l.runs, written)
	}
	above.started = true
	h.levels = max(h.levels, number)
	return m.setLevel(r, number, l)
}

// dropMoved removes the chunks of the moving runs that lie below the key low, or all if there are no more.
func (m *opened) dropMoved(r uint64, number int, l *level, more bool) error {
	for i, chunks := range l.runs[:l.moving] {
		keep := len(chunks)
		if more {
			keep = chunks.find(l.low)
		}
		for _, ref := range chunks[:keep] {
			if err := m.store.Delete(chunkKey(r, number, ref.number)); err != nil {
				return err
			}
		}
		l.runs[i] = chunks[keep:]
	}
	if !more {
		l.runs, l.moving = slices.Delete(l.runs, 0, l.moving), 0
	}
	return m.setLevel(r, number, l)
}

// sink merges sorted messages into the bottom, as far as they belong into at most so many of its chunks, and returns how
// many that are. Chunks next to each other are divided anew.
func (m *opened) sink(r uint64, bottom *level, messages []message, targets int) (applied int, err error) {
	for applied < len(messages) && targets > 0 {
		n, chunks, err := m.sinkRun(r, bottom, messages[applied:], targets)
		if err != nil {
			return applied, err
		}
		applied += n
		targets -= chunks
	}
	return applied, m.setLevel(r, 0, bottom)
}

// sinkRun merges the first messages into the chunks, next to each other, in which they belong. It returns how many
// messages and how many chunks these were.
func (m *opened) sinkRun(r uint64, bottom *level, messages []message, targets int) (n, chunks int, err error) {
	if len(bottom.runs) == 0 {
		bottom.runs = []run{nil}
	}
	all := bottom.runs[0]
	if len(all) == 0 {
		return len(messages), 1, m.rewrite(r, bottom, 0, 0, messages)
	}
	begin := all.find(messages[0].key)
	end := begin
	for end < len(all) && end-begin < targets && n < len(messages) {
		upTo := len(messages) - n
		if fence, ok := all.fence(end); ok {
			upTo, _ = search(messages[n:], fence)
		}
		if upTo == 0 {
			break
		}
		n += upTo
		end++
	}
	return n, end - begin, m.rewrite(r, bottom, begin, end, messages[:n])
}

// rewrite replaces adjacent chunks of the bottom by what they and the messages come to. If that is little, it takes in a
// neighbour.
func (m *opened) rewrite(r uint64, bottom *level, begin, end int, messages []message) error {
	all := bottom.runs[0]
	old, err := m.read(r, all[begin:end])
	if err != nil {
		return err
	}
	merged := atBottom(mergeSorted(old, messages))
	if small := len(pack(merged, m.opts.ChunkBytes/4)) < 2; small && end < len(all) {
		next, err := m.read(r, all[end:end+1])
		if err != nil {
			return err
		}
		merged = append(merged, next...)
		end++
	} else if small && begin > 0 {
		before, err := m.read(r, all[begin-1:begin])
		if err != nil {
			return err
		}
		merged = append(before, merged...)
		begin--
	}
	var numbers []uint32
	for _, ref := range all[begin:end] {
		numbers = append(numbers, ref.number)
	}
	written, unused, err := m.write(r, 0, bottom, merged, numbers)
	if err != nil {
		return err
	}
	for _, number := range unused {
		if err := m.store.Delete(chunkKey(r, 0, number)); err != nil {
			return err
		}
	}
	if len(written) > 0 && begin < len(all) {
		written[0].first = all[begin].first
	}
	bottom.runs[0] = slices.Replace(all, begin, end, written...)
	return nil
}

// read reads the messages of adjacent chunks of the bottom.
func (m *opened) read(r uint64, refs run) (messages []message, err error) {
	for _, ref := range refs {
		chunk, err := m.chunk(r, 0, ref)
		if err != nil {
			return nil, err
		}
		messages = append(messages, chunk...)
	}
	return messages, nil
}
