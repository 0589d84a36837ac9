package logmap

import (
	"bytes"
	"cmp"
	"context"
	"slices"
)

const (
	// stepRanges is how many ranges one step writes to at most.
	stepRanges = 16
	// queueScan is how many times Merges ranges Maintain chooses from.
	queueScan = 8
)

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
	if !m.opts.Queue {
		if err := m.work(r, &h, m.opts.Steps); err != nil {
			return err
		}
	}
	if h.full() >= m.opts.MergeLogs {
		l, err := m.level(front, 1)
		if err != nil {
			return err
		}
		// If there is no room, changes continue until one of them makes it.
		if m.opts.Queue || len(l.runs)+1 < 2*m.opts.Runs {
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

// waits reports whether the log has to be merged, or runs of some level are moving or have to. Those of a queue wait for its log.
func (m *opened) waits(r uint64, h head) (bool, error) {
	if h.full() >= m.opts.MergeLogs || m.opts.Queue {
		return h.full() >= m.opts.MergeLogs, nil
	}
	for number := range h.levels {
		l, err := m.level(r, number+1)
		if err != nil || l.moving > 0 || len(l.runs) >= m.opts.Runs {
			return true, err
		}
	}
	return false, nil
}

// work moves runs down in the levels in which enough wait, so many steps in all, in a queue in each. Where twice as many do, so
// that reads would take long, all that is moving is moved. The caller writes the head.
func (m *opened) work(r uint64, h *head, steps int) error {
	left := steps
	// The oldest runs first, so that a level has room when that above it moves.
	for number := h.levels; number > 0; number-- {
		l, err := m.level(r, number)
		if err != nil {
			return err
		}
		whole, err := m.whole(r, number, l)
		if err != nil {
			return err
		}
		all := len(l.runs) >= 2*m.opts.Runs
		more := l.moving > 0 || whole >= m.opts.Runs
		if m.opts.Queue {
			left = steps
		}
		for ; more && (all || left > 0); left-- {
			moved, err := m.step(r, h, number, l, all)
			if err != nil {
				return err
			}
			more = moved && l.moving > 0
		}
	}
	return nil
}

// mergeLog makes the log a run of level 1. Nothing is left of it.
func (m *opened) mergeLog(h *head) error {
	log, err := m.log(*h, span{})
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
	if err := m.addRun(front, 1, l, m.alive(h, sortLog(log))); err != nil {
		return err
	}
	steps := 0
	if m.opts.Queue {
		// What is moved is in proportion to what comes in.
		steps = 1
	}
	if err := m.work(front, h, steps); err != nil {
		return err
	}
	return m.dropEmpty(front, h)
}

// whole is how many of the oldest runs of a level are whole: to the newest what moves there may still be added.
func (m *opened) whole(r uint64, number int, l *level) (int, error) {
	if number > 1 {
		if above, err := m.level(r, number-1); err != nil || above.moving > 0 && above.started && !above.out {
			return len(l.runs) - 1, err
		}
	}
	return len(l.runs), nil
}

// quotaOf is how many chunks of the moving runs of a queue's level move when its log becomes a run. Until as many runs come to
// the level as begin to move, so many logs are merged as a level has runs, to the power of its number.
func (m *opened) quotaOf(number, chunks int) int {
	logs := 1
	for range number {
		logs = min(logs*m.opts.Runs, 1<<30)
	}
	return (chunks + logs - 1) / logs
}

// addRun writes sorted messages as the newest run of a level.
func (m *opened) addRun(r uint64, number int, l *level, messages []message) error {
	if err := m.lengthen(r, number, l, true, messages); err != nil || len(messages) == 0 {
		return err
	}
	if err := m.close(r, number, l); err != nil {
		return err
	}
	return m.setLevel(r, number, l)
}

// lengthen adds sorted messages to the newest run of a level, whose keys are below theirs, or begins another.
func (m *opened) lengthen(r uint64, number int, l *level, begin bool, messages []message) error {
	written, err := m.write(r, number, l, messages)
	if err != nil || len(written) == 0 {
		return err
	}
	if begin {
		l.runs = append(l.runs, run{zone: noZone})
	}
	to := l.newest()
	written[0].first = to.end
	to.end = justAbove(messages[len(messages)-1].Key)
	for i := range messages {
		n := numberOf(messages[i].Key)
		to.zone = zone{min(to.zone.from, n), max(to.zone.to, n)}
	}
	return m.extend(r, number, l, to, written)
}

// begin chooses the runs of a level that move down, and where they go.
func (m *opened) begin(r uint64, h *head, number int, l *level) (err error) {
	if l.moving, err = m.whole(r, number, l); err != nil {
		return err
	}
	l.low, l.started, l.out, l.quota = nil, false, false, l.moving
	chunks := l.chunks(l.moving)
	switch {
	case m.opts.Queue:
		l.quota = m.quotaOf(number, chunks)
	case number < h.levels:
	case r == front:
		l.out = chunks >= m.opts.Split
	default:
		bottom, err := m.level(r, 0)
		if err != nil {
			return err
		}
		in := bottom.chunks(len(bottom.runs))
		if l.out = in <= m.opts.Ratio*chunks; l.out {
			bottom.moving, bottom.low = len(bottom.runs), nil
			l.quota += (l.moving*in + chunks - 1) / chunks
			return m.setLevel(r, 0, bottom)
		}
	}
	return nil
}

// part is what a step moves: sorted messages, of which no others are below the key end. more: some are above. The chunks of the
// runs that move that end below the key from are removed.
type part struct {
	messages  []message
	from, end []byte
	more      bool
}

// step moves a part of a level's runs down: the messages from the key low on, of as many bytes as the chunks of the level's quota
// have. moved is false if a range cannot receive more. It can if it is forced to: then it merges first.
func (m *opened) step(r uint64, h *head, number int, l *level, force bool) (moved bool, err error) {
	if l.moving == 0 {
		if err := m.begin(r, h, number, l); err != nil {
			return false, err
		}
	}
	p := part{}
	if l.out && r == front {
		if p, err = m.slice(r, h, l, origin{number, l}); err == nil {
			moved, err = m.split(&p, force)
		}
		if err != nil || !moved {
			return false, err
		}
	} else if p, err = m.lower(r, h, number, l); err != nil {
		return false, err
	}
	if err := m.dropMoved(r, number, l, p); err != nil {
		return false, err
	}
	return true, m.dropEmpty(r, h)
}

// lower adds a part of a level's runs to the run of the next level that they become, or to a new bottom, with a part of the old
// one.
func (m *opened) lower(r uint64, h *head, number int, above *level) (p part, err error) {
	next := number + 1
	if above.out {
		next = 0
	}
	l, err := m.level(r, next)
	if err == nil && above.started && len(l.runs) == 0 {
		err = ErrCorrupt
	}
	if err != nil {
		return p, err
	}
	from := []origin{{number, above}}
	if h.levels = max(h.levels, next); above.out {
		from = []origin{{0, l}, {number, above}}
	}
	if p, err = m.slice(r, h, above, from...); err == nil {
		if above.out {
			p.messages = atBottom(p.messages)
		}
		err = m.lengthen(r, next, l, !above.started, p.messages)
	}
	if above.started = above.started || len(p.messages) > 0; err == nil && above.started && !p.more {
		if newest := l.newest(); !newest.has([]byte(h.gone)) {
			// What is before its last chunk is removed.
			newest.refs = newest.refs[len(newest.refs)-1:]
		}
		err = m.close(r, next, l)
	}
	switch {
	case err != nil:
		return p, err
	case above.out:
		return p, m.dropMoved(r, 0, l, p)
	}
	return p, m.setLevel(r, next, l)
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

// split adds a part to the ranges in which it belongs, to some of them, and shortens it to that. moved is false if the first of
// them takes no more.
func (m *opened) split(p *part, force bool) (moved bool, err error) {
	applied := 0
	for ranges := 0; applied < len(p.messages) && ranges < stepRanges; ranges++ {
		r, n := m.rangeOf(p.messages[applied].Key), applied+1
		for n < len(p.messages) && m.rangeOf(p.messages[n].Key) == r {
			n++
		}
		// The rest of the last range may come with the next part.
		if p.more && n == len(p.messages) && ranges > 0 {
			break
		}
		received, err := m.receive(r, p.messages[applied:n], force)
		if err != nil {
			return false, err
		}
		if !received {
			break
		}
		applied = n
	}
	if applied == len(p.messages) {
		return true, nil
	}
	p.end, p.more = p.messages[applied].Key, true
	return applied > 0, nil
}

// receive adds messages of the front to a range. It merges them into the bottom if that is small and nothing lies between.
// A range with too many runs takes no more, unless it is forced to: then it merges first.
func (m *opened) receive(r uint64, messages []message, force bool) (received bool, err error) {
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
		if bottom.chunks(len(bottom.runs)) <= m.opts.Ratio*len(pack(messages, m.opts.ChunkBytes)) {
			if err := m.newBottom(r, bottom, messages); err != nil {
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
		if err := m.work(r, &h, 0); err != nil {
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
	if h.equal(before) && h.stored {
		return nil
	}
	return m.setHead(r, h)
}

// newBottom merges messages with all of the bottom.
func (m *opened) newBottom(r uint64, bottom *level, messages []message) error {
	bottom.moving, bottom.low = len(bottom.runs), nil
	for i := range bottom.runs {
		old := &source{m: m, r: r, rest: bottom.runs[i].refs}
		all, err := old.all()
		if err != nil {
			return err
		}
		messages = mergeSorted(all, messages)
	}
	if err := m.addRun(r, 0, bottom, atBottom(messages)); err != nil {
		return err
	}
	return m.dropMoved(r, 0, bottom, part{})
}

// origin is a level from which a part is taken.
type origin struct {
	number int
	*level
}

// passing is a run of which a part is taken: the messages that were read, and what was not read.
type passing struct {
	from     origin
	of       *run
	rest     refs
	messages []message
}

// end is where the next chunk ends.
func (p *passing) end() []byte {
	if fence, ok := p.rest.fence(0); ok {
		return fence
	}
	return p.of.end
}

// read reads the next chunk.
func (p *passing) read(m *opened, r uint64, within span) ([]message, error) {
	read, err := m.chunkWithin(r, p.from.number, p.rest[0], within)
	p.messages = append(p.messages, read...)
	return read, err
}

// passings are the moving runs of some levels that have a key from that one on.
func (m *opened) passings(r uint64, key []byte, levels []origin) (runs []*passing, err error) {
	for _, from := range levels {
		for i := range from.runs[:from.moving] {
			of := &from.runs[i]
			if !of.has(key) {
				continue
			}
			rest, err := m.seek(r, from.number, of.refs, key)
			if err != nil {
				return nil, err
			}
			runs = append(runs, &passing{from: from, of: of, rest: rest})
		}
	}
	return runs, nil
}

// endsFirst is the run whose next chunk ends first; nil if none is left.
func endsFirst(runs []*passing) (first *passing) {
	for _, at := range runs {
		if len(at.rest) > 0 && (first == nil || bytes.Compare(at.end(), first.end()) < 0) {
			first = at
		}
	}
	return first
}

// slice reads the part of the moving runs of some levels, the oldest first, that is to move with those of a level.
func (m *opened) slice(r uint64, h *head, l *level, levels ...origin) (p part, err error) {
	within := span{From: h.notBelow(l.low)}
	p.from = l.removed(0, *h)
	runs, err := m.passings(r, within.From, levels)
	if err != nil {
		return p, err
	}
	// Chunks are read in the order of their ends, until they have enough.
	limit, size := l.quota*m.opts.ChunkBytes, 0
	first := endsFirst(runs)
	for ; first != nil && (size < limit || p.end == nil); first = endsFirst(runs) {
		p.end = first.end()
		read, err := first.read(m, r, within)
		if err != nil {
			return p, err
		}
		size += sizeOf(read)
		if first.rest, err = m.seek(r, first.from.number, first.rest[1:], nil); err != nil {
			return p, err
		}
	}
	p.more, within.To = first != nil, p.end
	for _, at := range runs {
		if len(at.rest) > 0 && !within.EndsBefore(at.rest[0].first) {
			if _, err := at.read(m, r, within); err != nil {
				return p, err
			}
		}
		p.messages = mergeSorted(p.messages, at.messages)
	}
	if n := fit(p.messages, limit); n < len(p.messages) {
		p.messages, p.end, p.more = p.messages[:n], p.messages[n].Key, true
	}
	if p.more && bytes.Compare(p.end, within.From) <= 0 {
		err = ErrCorrupt
	}
	return p, err
}

// dropMoved removes what of a level's moving runs has moved with a part, and writes the level.
func (m *opened) dropMoved(r uint64, number int, l *level, p part) (err error) {
	var to []byte
	if l.low = p.end; p.more {
		to = justAbove(p.end)
	}
	for i := range l.runs[:l.moving] {
		of := &l.runs[i]
		_, failed := m.ended(r, number, of.refs, of.end, p.from, to, func(at ref, _ []byte) bool {
			err = m.store.Delete(valueKey(r, number, at))
			return err == nil
		})
		if err := cmp.Or(failed, err); err != nil {
			return err
		}
		of.refs = of.refs[of.refs.find(l.low):]
	}
	if !p.more {
		l.runs, l.moving = slices.Delete(l.runs, 0, l.moving), 0
	}
	return m.setLevel(r, number, l)
}
