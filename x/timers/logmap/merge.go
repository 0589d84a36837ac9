package logmap

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/logmap/wire"
)

const (
	// sliceChunks is how many chunks of each moving run one step reads.
	sliceChunks = 2
	// stepTargets is how many chunks of the bottom, or how many ranges, one step writes to at most.
	stepTargets = 16
	// queueScan is how many times Merges ranges Maintain chooses from.
	queueScan = 8
	// unbounded is a number of steps that never ends a merge.
	unbounded = 1 << 30
)

// MaintainChunks bounds how many values one call of Maintain reads, and how many it writes or deletes, heads and
// directories included: the log, and for the front and each range the steps below it. A run that moves is one of at most
// 2·Runs: Runs that begin to, and those that arrived before.
func (o Options) MaintainChunks() int {
	with := New(nil, o).opts
	log := 2*with.MergeLogs + 4 + 2*with.MergeLogs*with.LogBytes/with.ChunkBytes
	moved := 2 * with.Runs * sliceChunks
	// What arrives in ranges may be merged into their bottoms at once.
	arrive := stepTargets*8 + (with.Ratio+2)*(moved+stepTargets)
	sink := 4 + 2*stepTargets
	return 1 + log + queueScan*with.Merges + (1+with.Merges)*(6+with.Steps*(2*moved+max(arrive, sink)))
}

// Maintain merges the log if it is full, and moves runs down where there are many, in the front and in at most
// Options.Merges ranges. It is called once a block, best after its changes: then a long log is never stored. idle reports
// that nothing waits any more. If more ranges wait than it merges, the height decides which are first, so that all have
// their turn.
func (m *Map) Maintain(ctx context.Context, height uint64) (idle bool, err error) {
	o := m.open(ctx)
	waiting, err := o.queued(1 + queueScan*m.opts.Merges)
	if err != nil || len(waiting) == 0 {
		return err == nil, err
	}
	if waiting[0] == front {
		if err := o.maintain(front); err != nil {
			return false, err
		}
		waiting = waiting[1:]
	}
	n := uint64(len(waiting))
	for i := range min(n, uint64(m.opts.Merges)) {
		if err := o.maintain(waiting[(height%n*uint64(m.opts.Merges)+i)%n]); err != nil {
			return false, err
		}
	}
	return false, nil
}

// queued returns the first ranges that wait for Maintain, at most limit, the front before them.
func (m *opened) queued(limit int) (ranges []uint64, err error) {
	var malformed error
	err = m.store.Scan([]byte{queuePrefix}, func(key, _ []byte) bool {
		r, err := parseRange(key)
		if malformed = err; err == nil {
			ranges = append(ranges, r)
		}
		return err == nil && len(ranges) < limit
	})
	return ranges, cmp.Or(err, malformed)
}

// maintain takes the steps of one call of Maintain in the front or a range.
func (m *opened) maintain(r uint64) error {
	h, err := m.head(r)
	if err != nil {
		return err
	}
	// The oldest runs first, so that a level has room when that above it moves, and at last the log.
	steps := m.opts.Steps
	for number := h.levels; number > 0; number-- {
		if steps, err = m.moveLevel(r, &h, number, steps); err != nil {
			return err
		}
	}
	if h.full() >= m.opts.MergeLogs {
		l, err := m.level(front, 1)
		if err != nil {
			return err
		}
		// If there is no room, changes go on until one of them makes it.
		if len(l.runs)+1 < 2*m.opts.Runs {
			if err := m.mergeLog(&h); err != nil {
				return err
			}
		}
	}
	if h.queued, err = m.waits(r, h); err != nil {
		return err
	}
	if !h.queued {
		if err := m.store.Delete(queueKey(r)); err != nil {
			return err
		}
	}
	return m.setHead(r, h)
}

// waits reports whether the log has to be merged, or runs of some level are moving or have to.
func (m *opened) waits(r uint64, h head) (bool, error) {
	if h.full() >= m.opts.MergeLogs {
		return true, nil
	}
	for number := range h.levels {
		l, err := m.level(r, number+1)
		if err != nil || l.moving > 0 || len(l.runs) >= m.opts.Runs {
			return true, err
		}
	}
	return false, nil
}

// moveLevel moves runs of a level down as long as there are too many and steps are left, and returns how many are. None is
// left for the levels above if those below take no more.
func (m *opened) moveLevel(r uint64, h *head, number, steps int) (left int, err error) {
	if number > 1 {
		above, err := m.level(r, number-1)
		if err != nil || above.moving > 0 {
			return steps, err // The level receives what moves there.
		}
	}
	for ; steps > 0; steps-- {
		l, err := m.level(r, number)
		if err != nil || l.moving == 0 && len(l.runs) < m.opts.Runs {
			return steps, err
		}
		if moved, err := m.step(r, h, number, l, false); err != nil || !moved {
			return 0, err
		}
	}
	return 0, nil
}

// relieve moves runs down wherever there are twice as many as begin to move, or more, so that reads stay bounded if changes
// arrive faster than Maintain merges. The caller writes the head.
func (m *opened) relieve(r uint64, h *head) error {
	for number := 1; number <= h.levels; number++ {
		l, err := m.level(r, number)
		if err != nil {
			return err
		}
		for excess := len(l.runs) >= 2*m.opts.Runs; excess; excess = l.moving > 0 {
			if _, err := m.step(r, h, number, l, true); err != nil {
				return err
			}
			if l, err = m.level(r, number); err != nil {
				return err
			}
		}
		if l.moving > 0 {
			return nil // What lies below receives them.
		}
	}
	return nil
}

// mergeLog makes the log a run of level 1. Nothing is left of it.
func (m *opened) mergeLog(h *head) error {
	log, err := m.log(*h, wire.Span{})
	if err != nil {
		return err
	}
	for number := range h.last + 1 {
		if err := m.store.Delete(logKey(number)); err != nil {
			return err
		}
	}
	h.last, h.levels, h.queued = 0, max(h.levels, 1), true
	l, err := m.level(front, 1)
	if err != nil {
		return err
	}
	if err := m.addRun(front, 1, l, m.alive(h, wire.SortLog(log))); err != nil {
		return err
	}
	return m.dropEmpty(front, h)
}

// addRun writes sorted messages as the newest run of a level.
func (m *opened) addRun(r uint64, number int, l *level, messages []wire.Message) error {
	written, _, err := m.write(r, number, l, messages, nil)
	if err != nil || len(written) == 0 {
		return err
	}
	l.runs = append(l.runs, written)
	if m.opts.Queue {
		l.zones = append(l.zones, zoneOf(messages))
	}
	return m.setLevel(r, number, l)
}

// begin chooses the runs of a level that move down, and where they go.
func (m *opened) begin(r uint64, h *head, number int, l *level) error {
	l.moving, l.low, l.started, l.out = len(l.runs), nil, false, false
	if number < h.levels {
		return nil
	}
	chunks := l.chunks(l.moving)
	if r == front {
		l.out = chunks >= m.opts.Split && !m.opts.Queue
		return nil
	}
	bottom, err := m.level(r, 0)
	if err != nil {
		return err
	}
	l.out = bottom.chunks(len(bottom.runs)) <= m.opts.Ratio*chunks
	return nil
}

// step moves a slice of the keys of a level's runs down: the messages from the key low on, to where the second chunk of
// one of the runs ends. moved is false if a range cannot receive more. It can if it is forced to: then it merges first.
func (m *opened) step(r uint64, h *head, number int, l *level, force bool) (moved bool, err error) {
	if l.moving == 0 {
		if err := m.begin(r, h, number, l); err != nil {
			return false, err
		}
	}
	messages, end, more, err := m.slice(r, number, l)
	if err != nil {
		return false, err
	}
	switch {
	case !l.out:
		err = m.lower(r, h, number+1, l, messages)
	case r == front:
		end, more, moved, err = m.split(messages, end, more, force)
		if err == nil && !moved {
			return false, nil
		}
	default:
		end, more, err = m.toBottom(r, l, messages, end, more)
	}
	if err != nil {
		return false, err
	}
	l.low = end
	if err := m.dropMoved(r, number, l, more); err != nil {
		return false, err
	}
	return true, m.dropEmpty(r, h)
}

// dropEmpty takes levels without a run from the lower end.
func (m *opened) dropEmpty(r uint64, h *head) error {
	for h.levels > 0 {
		lowest, err := m.level(r, h.levels)
		if err != nil || len(lowest.runs) > 0 {
			return err
		}
		h.levels--
	}
	return nil
}

// toBottom merges a slice of messages into the bottom, as far as it is one step, and returns where it ended.
func (m *opened) toBottom(r uint64, l *level, messages []wire.Message, end []byte, more bool) ([]byte, bool, error) {
	bottom, err := m.level(r, 0)
	if err != nil {
		return nil, false, err
	}
	messages, end, more = align(bottom, messages, l.low, end, more)
	applied, err := m.sink(r, bottom, messages, stepTargets)
	if err == nil && applied < len(messages) {
		end, more = messages[applied].Key, true
	}
	return end, more, err
}

// split adds a slice of messages to the ranges in which they belong, to some of them, and returns where it ended. moved is
// false if the first of them takes no more.
func (m *opened) split(messages []wire.Message, end []byte, more, force bool) (newEnd []byte, newMore, moved bool, err error) {
	applied := 0
	for ranges := 0; applied < len(messages) && ranges < stepTargets; ranges++ {
		r, n := m.rangeOf(messages[applied].Key), applied+1
		for n < len(messages) && m.rangeOf(messages[n].Key) == r {
			n++
		}
		// The rest of the last range may come with the next slice.
		if more && n == len(messages) && ranges > 0 {
			break
		}
		received, err := m.receive(r, messages[applied:n], force)
		if err != nil {
			return nil, false, false, err
		}
		if !received {
			break
		}
		applied = n
	}
	if applied == len(messages) {
		return end, more, true, nil
	}
	return messages[applied].Key, true, applied > 0, nil
}

// receive adds messages of the front to a range. It merges them into the bottom if that is small and nothing lies between.
// A range with too many runs takes no more, unless it is forced to: then it merges first.
func (m *opened) receive(r uint64, messages []wire.Message, force bool) (received bool, err error) {
	h, err := m.head(r)
	if err != nil {
		return false, err
	}
	before := h
	if h.levels == 0 {
		bottom, err := m.level(r, 0)
		if err != nil {
			return false, err
		}
		if bottom.chunks(len(bottom.runs)) <= m.opts.Ratio*len(wire.Pack(messages, m.opts.ChunkBytes)) {
			if _, err := m.sink(r, bottom, messages, unbounded); err != nil {
				return false, err
			}
			return true, m.setChanged(r, before, h)
		}
	}
	l, err := m.level(r, 1)
	if err != nil {
		return false, err
	}
	if len(l.runs) >= 2*m.opts.Runs {
		if !force {
			return false, nil
		}
		if err := m.relieve(r, &h); err != nil {
			return false, err
		}
		if l, err = m.level(r, 1); err != nil {
			return false, err
		}
	}
	h.levels = max(h.levels, 1)
	if err := m.addRun(r, 1, l, messages); err != nil {
		return false, err
	}
	h.queued = h.queued || len(l.runs) >= m.opts.Runs
	return true, m.setChanged(r, before, h)
}

// setChanged writes the head of a range if it changed, and queues the range if it has to wait.
func (m *opened) setChanged(r uint64, before, h head) error {
	if h.queued && !before.queued {
		if err := m.store.Set(queueKey(r), present); err != nil {
			return err
		}
	}
	if h == before && h.stored {
		return nil
	}
	return m.setHead(r, h)
}

// slice reads the messages of the moving runs from the key low on, up to the key end. more is false if none are left
// behind them.
func (m *opened) slice(r uint64, number int, l *level) (messages []wire.Message, end []byte, more bool, err error) {
	for _, chunks := range l.runs[:l.moving] {
		last := chunks.find(l.low) + sliceChunks - 1
		if fence, ok := chunks.fence(last); ok && (!more || bytes.Compare(fence, end) < 0) {
			end, more = fence, true
		}
	}
	within := wire.Span{From: l.low}
	if m.opts.Queue {
		f, err := m.head(front)
		if err != nil {
			return nil, nil, false, err
		}
		within.From = f.notBelow(within.From)
	}
	if more {
		within.To = end
	}
	for _, chunks := range l.runs[:l.moving] {
		var all []wire.Message
		for i := chunks.find(l.low); i < len(chunks) && !within.EndsBefore(chunks[i].first); i++ {
			chunk, err := m.chunk(r, number, chunks[i])
			if err != nil {
				return nil, nil, false, err
			}
			all = append(all, chunk...)
		}
		messages = wire.MergeSorted(messages, wire.Only(all, within))
	}
	return messages, end, more, nil
}

// align ends a slice where a chunk of the bottom does, so that the next slice need not rewrite it.
func align(bottom *level, messages []wire.Message, low, end []byte, more bool) ([]wire.Message, []byte, bool) {
	if !more || len(bottom.runs) == 0 {
		return messages, end, more
	}
	chunks := bottom.runs[0]
	fence := chunks[chunks.find(end)].first
	if bytes.Compare(fence, low) <= 0 {
		return messages, end, more
	}
	at, _ := wire.Search(messages, fence)
	return messages[:at], fence, true
}

// lower adds messages to the run of a level that the moving runs of the level above become.
func (m *opened) lower(r uint64, h *head, number int, above *level, messages []wire.Message) error {
	l, err := m.level(r, number)
	if err != nil {
		return err
	}
	h.levels = max(h.levels, number)
	if !above.started {
		above.started = len(messages) > 0
		return m.addRun(r, number, l, messages)
	}
	written, _, err := m.write(r, number, l, messages, nil)
	if err != nil || len(written) == 0 {
		return err
	}
	newest := len(l.runs) - 1
	// All that was moved before is below the key low.
	written[0].first = above.low
	l.runs[newest] = append(l.runs[newest], written...)
	if m.opts.Queue {
		l.zones[newest] = l.zones[newest].join(zoneOf(messages))
	}
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
		if m.opts.Queue {
			l.zones = slices.Delete(l.zones, 0, l.moving)
		}
		l.runs, l.moving = slices.Delete(l.runs, 0, l.moving), 0
	}
	return m.setLevel(r, number, l)
}

// sink merges sorted messages into the bottom, as far as they belong into at most so many of its chunks, and returns how
// many that are. Chunks next to each other are divided anew.
func (m *opened) sink(r uint64, bottom *level, messages []wire.Message, targets int) (applied int, err error) {
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
func (m *opened) sinkRun(r uint64, bottom *level, messages []wire.Message, targets int) (n, chunks int, err error) {
	if len(bottom.runs) == 0 {
		bottom.runs = []run{nil}
	}
	all := bottom.runs[0]
	if len(all) == 0 {
		return len(messages), 1, m.rewrite(r, bottom, 0, 0, messages)
	}
	begin := all.find(messages[0].Key)
	end := begin
	for end < len(all) && end-begin < targets && n < len(messages) {
		upTo := len(messages) - n
		if fence, ok := all.fence(end); ok {
			upTo, _ = wire.Search(messages[n:], fence)
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
func (m *opened) rewrite(r uint64, bottom *level, begin, end int, messages []wire.Message) error {
	all := bottom.runs[0]
	old, err := m.read(r, all[begin:end])
	if err != nil {
		return err
	}
	merged := wire.AtBottom(wire.MergeSorted(old, messages))
	if small := len(wire.Pack(merged, m.opts.ChunkBytes/4)) < 2; small && end < len(all) {
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
func (m *opened) read(r uint64, refs run) (messages []wire.Message, err error) {
	for _, ref := range refs {
		chunk, err := m.chunk(r, 0, ref)
		if err != nil {
			return nil, err
		}
		messages = append(messages, chunk...)
	}
	return messages, nil
}
