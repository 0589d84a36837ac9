package logmap

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/packed"
)

// Get returns the value of a key.
func (m *Map) Get(ctx context.Context, key []byte) (value []byte, found bool, err error) {
	return m.open(ctx).get(key)
}

func (m *opened) get(key []byte) (value []byte, found bool, err error) {
	r := m.opts.Range(key)
	h, err := m.head(r)
	if err != nil {
		return nil, false, err
	}
	for number := h.last; ; number-- {
		bz, err := m.store.Get(logKey(r, number))
		if err != nil {
			return nil, false, err
		}
		if last, found, err := lastOf(bz, key); found || err != nil {
			return last.value, found && last.kind != remove, err
		}
		if number == h.first {
			break
		}
	}
	err = m.runs(r, h, interval{from: key}, func(number int, chunks run, within interval) (more bool, err error) {
		if bytes.Compare(key, within.from) < 0 {
			return true, nil
		}
		chunk, err := m.chunk(r, number, chunks[chunks.find(key)])
		if err != nil {
			return false, err
		}
		at, known := search(chunk, key)
		if known {
			value, found = chunk[at].value, chunk[at].kind != remove
		}
		return !known, nil
	})
	return value, found, err
}

// runs passes the runs of a range to fn, the newest first, each with the part of the interval in which it counts.
func (m *opened) runs(
	r uint64, h head, within interval, fn func(number int, chunks run, within interval) (more bool, err error),
) error {
	for i := range h.levels + 1 {
		// The bottom is the last.
		number := (i + 1) % (h.levels + 1)
		l, err := m.level(r, number)
		if err != nil {
			return err
		}
		for at := len(l.runs) - 1; at >= 0; at-- {
			if more, err := fn(number, l.runs[at], l.visible(at, within)); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// lastOf returns the last message about a key in a chunk of a log.
func lastOf(bz, key []byte) (last message, found bool, err error) {
	d := decoder{packed.NewReader(bz)}
	for d.More() {
		if m := d.message(); bytes.Equal(m.key, key) {
			last, found = m, true
		}
	}
	return last, found, d.err()
}

// search returns the place of the first message whose key is not below.
func search(messages []message, key []byte) (at int, found bool) {
	return slices.BinarySearchFunc(messages, key, func(m message, key []byte) int { return bytes.Compare(m.key, key) })
}

// interval is the keys from From to below To. A nil To has no end.
type interval struct{ from, to []byte }

func (i interval) contains(key []byte) bool {
	return bytes.Compare(key, i.from) >= 0 && !i.endsBefore(key)
}

// endsBefore reports whether the key and all above it lie behind the interval.
func (i interval) endsBefore(key []byte) bool { return i.to != nil && bytes.Compare(key, i.to) >= 0 }

// Page returns the first n entries whose keys are at least from and below to, by key. A nil to has no end.
func (m *Map) Page(ctx context.Context, from, to []byte, n int) (entries []Entry, err error) {
	within, o := interval{from, to}, m.open(ctx)
	err = o.ranges(within, func(r uint64, h head) (more bool, err error) {
		found, err := o.page(r, h, within, n-len(entries))
		entries = append(entries, found...)
		return len(entries) < n, err
	})
	return entries, err
}

// Count returns how many entries have keys that are at least from and below to. A nil to has no end. Chunks that lie
// within are counted by their directory.
func (m *Map) Count(ctx context.Context, from, to []byte) (n uint64, err error) {
	within, o := interval{from, to}, m.open(ctx)
	net := int64(0)
	err = o.ranges(within, func(r uint64, h head) (more bool, err error) {
		in, err := o.net(r, h, within)
		net += in
		return true, err
	})
	return uint64(max(net, 0)), err
}

// ranges passes the ranges with keys in the interval to fn.
func (m *opened) ranges(within interval, fn func(r uint64, h head) (more bool, err error)) error {
	if within.to != nil && bytes.Compare(within.from, within.to) >= 0 {
		return nil
	}
	for r, last := m.opts.Range(within.from), false; !last; {
		h, err := m.head(r)
		if err != nil {
			return err
		}
		if h.stored {
			if more, err := fn(r, h); err != nil || !more {
				return err
			}
		}
		if within.to != nil && m.opts.Range(within.to) == r {
			return nil
		}
		if r, last, err = m.rangeAfter(r); err != nil {
			return err
		}
		last = last || within.to != nil && m.opts.Range(within.to) < r
	}
	return nil
}

// rangeAfter returns the next range that has a head; none if that was the last.
func (m *opened) rangeAfter(r uint64) (next uint64, none bool, err error) {
	none = true
	var malformed error
	err = m.store.Scan(append(headKey(r), 0), func(key, _ []byte) bool {
		if key[0] == headPrefix {
			next, malformed = rangeOf(key)
			none = false
		}
		return false
	})
	return next, none, cmp.Or(err, malformed)
}

// net is the number of entries of a range in the interval.
func (m *opened) net(r uint64, h head, within interval) (net int64, err error) {
	log, err := m.log(r, h)
	if err != nil {
		return 0, err
	}
	net = netOf(only(log, within))
	err = m.runs(r, h, within, func(number int, chunks run, within interval) (bool, error) {
		in, err := m.netOfRun(r, number, chunks, within)
		net += in
		return true, err
	})
	return net, err
}

// netOfRun is what the messages of a run in the interval add to the number of entries. It reads the chunks at both ends.
func (m *opened) netOfRun(r uint64, number int, chunks run, within interval) (net int64, err error) {
	for i := chunks.find(within.from); i < len(chunks) && !within.endsBefore(chunks[i].first); i++ {
		fence, ok := chunks.fence(i)
		ends := within.to == nil || ok && bytes.Compare(fence, within.to) <= 0
		if within.contains(chunks[i].first) && ends {
			net += chunks[i].net
			continue
		}
		chunk, err := m.chunk(r, number, chunks[i])
		if err != nil {
			return 0, err
		}
		net += netOf(only(chunk, within))
	}
	return net, nil
}

// only keeps the messages in the interval.
func only(messages []message, within interval) []message {
	return slices.DeleteFunc(messages, func(m message) bool { return !within.contains(m.key) })
}

// page returns the first n entries of a range in the interval.
func (m *opened) page(r uint64, h head, within interval, n int) (entries []Entry, err error) {
	log, err := m.log(r, h)
	if err != nil {
		return nil, err
	}
	sources := []*source{{ready: sortLog(only(log, within))}}
	err = m.runs(r, h, within, func(number int, chunks run, within interval) (bool, error) {
		s := &source{m: m, r: r, level: number, rest: chunks[chunks.find(within.from):], within: within}
		sources = append(sources, s)
		return true, s.fill()
	})
	if err != nil {
		return nil, err
	}
	for len(entries) < n {
		newest, err := least(sources)
		if err != nil {
			return nil, err
		}
		if newest.kind == 0 {
			break
		}
		if newest.kind != remove {
			entries = append(entries, Entry{newest.key, newest.value})
		}
	}
	return entries, nil
}

// least takes the least key from the sources, the newest of which is first, and returns the newest message about it.
func least(sources []*source) (newest message, err error) {
	for _, s := range sources {
		if len(s.ready) > 0 && (newest.kind == 0 || bytes.Compare(s.ready[0].key, newest.key) < 0) {
			newest = s.ready[0]
		}
	}
	for _, s := range sources {
		if len(s.ready) > 0 && bytes.Equal(s.ready[0].key, newest.key) {
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
	rest   []chunkRef
	within interval
}

// fill reads chunks until a message is ready or none is left.
func (s *source) fill() error {
	for len(s.ready) == 0 && len(s.rest) > 0 && !s.within.endsBefore(s.rest[0].first) {
		chunk, err := s.m.chunk(s.r, s.level, s.rest[0])
		if err != nil {
			return err
		}
		s.ready, s.rest = only(chunk, s.within), s.rest[1:]
	}
	return nil
}
