package logmap

import (
	"bytes"
	"cmp"
	"context"
	"slices"
)

// IsNew reports whether nothing was ever written, or nothing since Clear. It reads one value.
func (m *Map) IsNew(ctx context.Context) (bool, error) {
	h, err := m.open(ctx).head(front)
	return err == nil && h.isNew(), err
}

// Get returns the value of a key.
func (m *Map) Get(ctx context.Context, key []byte) (value []byte, found bool, err error) {
	return m.open(ctx).get(key)
}

func (m *opened) get(key []byte) (value []byte, found bool, err error) {
	h, err := m.head(front)
	if err != nil || h.isNew() || m.opts.Queue && h.hasNone(span{From: key, To: justAbove(key)}) {
		return nil, false, err
	}
	newest, err := m.getLogged(h, key)
	if err == nil && newest.Kind == 0 {
		newest, err = m.getSorted(front, h, key)
	}
	if err == nil && newest.Kind == 0 && !m.opts.Queue {
		r := m.rangeOf(key)
		if h, err = m.head(r); err != nil || h.isNew() {
			return nil, false, err
		}
		newest, err = m.getSorted(r, h, key)
	}
	return newest.Value, newest.Kind != 0 && newest.Kind != kindRemove, err
}

// getLogged returns the newest message about a key in the log; none has kind 0.
func (m *opened) getLogged(h head, key []byte) (newest message, err error) {
	if m.memory.decodesLog() {
		log, err := m.sortedLog(h, span{})
		return messageOf(log, key), err
	}
	for number := int(h.last); number >= 0; number-- {
		bz, err := m.logged(h, uint32(number))
		if err != nil {
			return newest, err
		}
		if last, found, err := lastOf(bz, key); found || err != nil {
			return last, err
		}
	}
	return newest, nil
}

// messageOf returns the message about a key; none has kind 0.
func messageOf(sorted []message, key []byte) (found message) {
	if at, is := searchIn(sorted, key); is {
		found = sorted[at]
	}
	return found
}

// getSorted returns the newest message about a key in the runs of the front or a range; none has kind 0.
func (m *opened) getSorted(r uint64, h head, key []byte) (newest message, err error) {
	err = m.runsOf(r, h, span{From: key}, numberOf(key), func(number int, chunks refs, within span) (more bool, err error) {
		if bytes.Compare(key, within.From) < 0 {
			return true, nil
		}
		ref, err := m.locate(r, number, chunks, key)
		if err != nil {
			return false, err
		}
		if m.memory.decodes(r, number, ref) {
			chunk, err := m.chunk(r, number, ref)
			newest = messageOf(chunk, key)
			return newest.Kind == 0, err
		}
		bz, err := m.sorted(r, number, ref)
		if err != nil {
			return false, err
		}
		only := span{From: key, To: append(slices.Clip(key), 0)}
		err = eachSorted(bz, only, func(at message) { newest.Value, newest.Kind = at.Value, at.Kind })
		return newest.Kind == 0, err
	})
	return newest, err
}

// anyNumber is that of no key.
const anyNumber = ^uint64(0)

// runsOf passes the runs of the front or a range to fn, the newest first, each with the part of the interval in which it counts,
// but for those that can't have a key in it, or in a queue one with a number.
func (m *opened) runsOf(
	r uint64, h head, within span, of uint64, fn func(number int, chunks refs, within span) (more bool, err error),
) error {
	levels := h.levels + 1
	if r == front {
		levels = h.levels // It has no bottom.
	}
	for i := range levels {
		// The bottom is the last.
		number := (i + 1) % (h.levels + 1)
		l, err := m.level(r, number)
		if err == nil && number > 0 && number == h.levels && len(l.runs) == 0 {
			err = ErrCorrupt
		}
		if err != nil {
			return err
		}
		for at := len(l.runs) - 1; at >= 0; at-- {
			within := l.visible(at, within)
			if m.opts.Queue && of != anyNumber && !l.runs[at].zone.has(of) || !l.runs[at].has(within.From) {
				continue
			}
			if more, err := fn(number, l.runs[at].refs, within); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// Page returns the first n entries whose keys are at least from and below to, by key. A nil to has no end.
func (m *Map) Page(ctx context.Context, from, to []byte, n int) ([]Entry, error) {
	return m.open(ctx).page(span{From: from, To: to}, n)
}

func (m *opened) page(within span, n int) (entries []Entry, err error) {
	if within.IsEmpty() {
		return nil, nil
	}
	h, err := m.head(front)
	if err != nil || h.isNew() {
		return nil, err
	}
	if m.opts.Queue {
		if h.hasNone(within) {
			return nil, nil
		}
		if within.From = h.notBelow(within.From); within.IsEmpty() {
			return nil, nil
		}
	}
	return m.entries(within, n)
}

// entries is page, whatever the head says of first keys.
func (m *opened) entries(within span, n int) (entries []Entry, err error) {
	newer, err := m.frontSources(within)
	if err != nil {
		return nil, err
	}
	sources, r, more := newer, m.rangeOf(within.From), !m.opts.Queue
	for len(entries) < n {
		for more && exhausted(sources[len(newer):]) {
			var h head
			if r, h, more, err = m.rangeFrom(r, within); err != nil {
				return nil, err
			}
			sources = newer
			if more {
				if sources, err = m.addSources(slices.Clip(newer), r, h, within); err != nil {
					return nil, err
				}
				r++
			}
		}
		newest, err := least(sources)
		if err != nil {
			return nil, err
		}
		if newest.Kind == 0 {
			break
		}
		if newest.Kind != kindRemove {
			entries = append(entries, Entry{newest.Key, newest.Value})
		}
	}
	return entries, nil
}

// Count returns how many entries have keys that are at least from and below to. A nil to has no end. Chunks that lie
// within are counted by their directory.
func (m *Map) Count(ctx context.Context, from, to []byte) (n uint64, err error) {
	within, o := span{From: from, To: to}, m.open(ctx)
	if within.IsEmpty() {
		return 0, nil
	}
	if m.opts.Queue {
		h, err := o.head(front)
		if err != nil {
			return 0, err
		}
		within.From = h.notBelow(within.From)
	}
	net, err := o.frontNet(within)
	if err != nil || m.opts.Queue {
		return uint64(max(net, 0)), err
	}
	for r := o.rangeOf(from); ; r++ {
		found, h, more, err := o.rangeFrom(r, within)
		if err != nil || !more {
			return uint64(max(net, 0)), err
		}
		in, err := o.net(found, h, within)
		if err != nil {
			return 0, err
		}
		r, net = found, net+in
	}
}

// rangeFrom returns the first range from r on that holds something, and may do so in the interval.
func (m *opened) rangeFrom(r uint64, within span) (found uint64, h head, more bool, err error) {
	beyond := func(r uint64) bool { return within.To != nil && r > m.rangeOf(within.To) }
	if beyond(r) {
		return 0, h, false, nil
	}
	if h, err = m.head(r); err != nil || h.stored {
		return r, h, err == nil, err
	}
	if beyond(r + 1) {
		return 0, h, false, nil
	}
	var malformed error
	err = m.store.Scan(headKey(r+1), func(key, bz []byte) bool {
		if key[0] == headPrefix {
			if found, malformed = parseRange(key); malformed == nil {
				h, malformed = decodeHead(bz)
			}
			more = !beyond(found)
		}
		return false
	})
	return found, h, more, cmp.Or(err, malformed)
}

// frontNet is the number of entries that the front adds in the interval.
func (m *opened) frontNet(within span) (net int64, err error) {
	h, err := m.head(front)
	if err != nil || h.isNew() {
		return 0, err
	}
	log, err := m.log(h, within)
	if err != nil {
		return 0, err
	}
	net, err = m.net(front, h, within)
	return net + netOf(log), err
}

// net is the number of entries that the runs of the front or a range add in the interval.
func (m *opened) net(r uint64, h head, within span) (net int64, err error) {
	err = m.runsOf(r, h, within, anyNumber, func(number int, chunks refs, within span) (bool, error) {
		in, err := m.netOf(r, number, chunks, nil, within)
		net += in
		return true, err
	})
	return net, err
}

// netOf is what the messages of a run, or of a page that ends at a key, add to the number of entries in the interval. It reads
// what lies at both ends.
func (m *opened) netOf(r uint64, number int, list refs, end []byte, within span) (net int64, err error) {
	for i := list.find(within.From); i < len(list) && !within.EndsBefore(list[i].first); i++ {
		fence, ok := list.fence(i)
		if !ok {
			fence, ok = end, len(end) > 0
		}
		in := list[i].net
		switch ends := within.To == nil || ok && bytes.Compare(fence, within.To) <= 0; {
		case ends && within.Contains(list[i].first):
		case list[i].height > 0:
			page, err := m.refsOf(r, number, list[i])
			if err != nil {
				return 0, err
			}
			if in, err = m.netOf(r, number, page, fence, within); err != nil {
				return 0, err
			}
		default:
			bz, err := m.sorted(r, number, list[i])
			if err != nil {
				return 0, err
			}
			in = 0
			if err := eachSorted(bz, within, func(at message) { in += at.Kind.Net() }); err != nil {
				return 0, err
			}
		}
		net += in
	}
	return net, nil
}

// frontSources are the log and the runs of the front, the newest first.
func (m *opened) frontSources(within span) ([]*source, error) {
	h, err := m.head(front)
	if err != nil || h.isNew() {
		return nil, err
	}
	log, err := m.sortedLog(h, within)
	if err != nil {
		return nil, err
	}
	return m.addSources([]*source{{ready: log}}, front, h, within)
}

// sortedLog returns the messages of the log in an interval, by key. A Reader that has looked there often reads all of it once.
func (m *opened) sortedLog(h head, within span) ([]message, error) {
	if !m.memory.decodesLog() {
		log, err := m.log(h, within)
		return sortLog(log), err
	}
	if !m.memory.logRead {
		log, err := m.log(h, span{})
		if err != nil {
			return nil, err
		}
		m.memory.log, m.memory.logRead = sortLog(log), true
	}
	return only(m.memory.log, within), nil
}

// addSources adds the runs of the front or a range, the newest first.
func (m *opened) addSources(sources []*source, r uint64, h head, within span) ([]*source, error) {
	err := m.runsOf(r, h, within, anyNumber, func(number int, chunks refs, within span) (bool, error) {
		rest, err := m.seek(r, number, chunks, within.From)
		if err != nil {
			return false, err
		}
		s := &source{m: m, r: r, level: number, rest: rest, within: within}
		sources = append(sources, s)
		return true, s.fill()
	})
	return sources, err
}

// exhausted reports whether no source has a message left.
func exhausted(sources []*source) bool {
	return !slices.ContainsFunc(sources, func(s *source) bool { return len(s.ready) > 0 })
}

// least takes the least key from the sources, the newest of which is first, and returns the newest message about it.
func least(sources []*source) (newest message, err error) {
	for _, s := range sources {
		if len(s.ready) > 0 && (newest.Kind == 0 || bytes.Compare(s.ready[0].Key, newest.Key) < 0) {
			newest = s.ready[0]
		}
	}
	for _, s := range sources {
		if len(s.ready) > 0 && bytes.Equal(s.ready[0].Key, newest.Key) {
			s.ready = s.ready[1:]
			if err := s.fill(); err != nil {
				return newest, err
			}
		}
	}
	return newest, nil
}

// source yields the messages of a log, or of a level, by key.
type source struct {
	ready []message

	m      *opened
	r      uint64
	level  int
	rest   refs
	within span
}

// fill reads chunks until a message is ready or none is left.
func (s *source) fill() error {
	for len(s.ready) == 0 && len(s.rest) > 0 && !s.within.EndsBefore(s.rest[0].first) {
		var err error
		if s.rest, err = s.m.seek(s.r, s.level, s.rest, nil); err != nil {
			return err
		}
		ready, err := s.m.chunkWithin(s.r, s.level, s.rest[0], s.within)
		if err != nil {
			return err
		}
		s.ready, s.rest = ready, s.rest[1:]
	}
	return nil
}

// all are the messages of a source that has not been read.
func (s *source) all() (messages []message, err error) {
	for err = s.fill(); err == nil && len(s.ready) > 0; err = s.fill() {
		messages, s.ready = append(messages, s.ready...), nil
	}
	return messages, err
}

// Reader looks up many keys and pages of a map that no one else changes meanwhile. It reads each value of the store once, and
// decodes it once: a map with few entries has most of them in a few chunks.
type Reader struct {
	opened *opened
	store  *remembering
}

// Reader opens the map for lookups.
func (m *Map) Reader(ctx context.Context) *Reader {
	store := &remembering{opener: m.stores, ctx: ctx, values: map[string][]byte{}}
	return &Reader{&opened{store: store, opts: &m.opts, memory: newMemory()}, store}
}

// under makes the reader read the store as another context sees it, where that has what it has read already.
func (r *Reader) under(ctx context.Context) { r.store.ctx, r.store.beneath = ctx, nil }

// Get returns the value of a key.
func (r *Reader) Get(key []byte) (value []byte, found bool, err error) { return r.opened.get(key) }

// Page returns the first n entries whose keys are at least from and below to, by key. A nil to has no end.
func (r *Reader) Page(from, to []byte, n int) ([]Entry, error) {
	return r.opened.page(span{From: from, To: to}, n)
}

// ForgetLog makes the reader read the log again, which others have changed alone.
func (r *Reader) ForgetLog() {
	known := r.opened.memory
	known.log, known.logRead, known.logLookups = nil, false, 0
	delete(r.store.values, string(headKey(front)))
	for number := range 2 * r.opened.opts.MergeLogs {
		delete(r.store.values, string(logKey(uint32(number))))
	}
}

// Apply is that of the map.
func (r *Reader) Apply(changes ...Change) error {
	// Merges change the directories that they read.
	r.opened.memory = newMemory()
	writer := opened{store: r.store, opts: r.opened.opts}
	return writer.apply(changes)
}

// remembering is a store that is opened when it is first needed, and read once for each key.
type remembering struct {
	opener Opener
	ctx    context.Context
	// beneath is nil until it is needed.
	beneath Store
	// values are looked up, never ranged over.
	values map[string][]byte
}

func (s *remembering) open() Store {
	if s.beneath == nil {
		s.beneath = s.opener.Open(s.ctx)
	}
	return s.beneath
}

// Get implements Store.
func (s *remembering) Get(key []byte) ([]byte, error) {
	if value, known := s.values[string(key)]; known {
		return value, nil
	}
	value, err := s.open().Get(key)
	if err == nil {
		s.values[string(key)] = value
	}
	return value, err
}

// Scan implements Store.
func (s *remembering) Scan(from []byte, fn func(key, value []byte) (more bool)) error {
	return s.open().Scan(from, fn)
}

// Set implements Store.
func (s *remembering) Set(key, value []byte) error {
	delete(s.values, string(key))
	return s.open().Set(key, value)
}

// Delete implements Store.
func (s *remembering) Delete(key []byte) error {
	delete(s.values, string(key))
	return s.open().Delete(key)
}

// memory is what a Reader has decoded. It is looked up, never ranged over. A nil one is empty.
type memory struct {
	levels map[levelOf]*level
	chunks map[chunkOf][]message
	pages  map[chunkOf]refs
	// log is all of it, by key, if it was read.
	log     []message
	logRead bool
	// lookups count those of keys in the log, and in each chunk.
	logLookups int
	lookups    map[chunkOf]int
}

// To find one key in a chunk, or in the log, takes a fraction of the time that it takes to decode it, so that only what was
// looked at so often before is decoded.
const (
	lookupsOfChunk = 3
	lookupsOfLog   = 8
)

// decodesLog notes that a key is looked for in the log, and reports whether the log is to be decoded for it.
func (m *memory) decodesLog() bool {
	if m == nil {
		return false
	}
	m.logLookups++
	return m.logRead || m.logLookups > lookupsOfLog
}

// decodes is the same of a chunk.
func (m *memory) decodes(r uint64, number int, ref ref) bool {
	if m == nil {
		return false
	}
	at := chunkOf{levelOf{r, number}, ref.number}
	m.lookups[at]++
	return m.chunks[at] != nil || m.lookups[at] > lookupsOfChunk
}

// levelOf is a level of a range.
type levelOf struct {
	r      uint64
	number int
}

// chunkOf is a sorted chunk of a level, or a page.
type chunkOf struct {
	levelOf
	number uint32
}

func newMemory() *memory {
	return &memory{
		levels: map[levelOf]*level{}, chunks: map[chunkOf][]message{}, pages: map[chunkOf]refs{}, lookups: map[chunkOf]int{},
	}
}
