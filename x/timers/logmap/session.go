package logmap

import (
	"bytes"
	"context"

	"github.com/tidwall/btree"
)

// Session is what the steps of one block change of some maps. Reads see its writes. Nothing is written before Flush, and then
// in one batch for each map. What was changed since a mark can be undone, together with the branch of the store on which it
// was done.
//
// Changes are written one after the other, as they were made. So it does not show in the store when they were flushed, and
// whoever only looks at a map changes nothing there.
//
// While a session has changes that are not written, its maps are read and changed through it alone. Who changes a map without
// it, after Flush, calls Invalidate.
//
// A session is not safe for several goroutines.
type Session struct {
	// views are those of the maps that were used, in the order of their first use.
	views   []*view
	journal []undo
	// generation counts what others may have changed, and what was flushed: of neither does the session know the keys.
	generation uint64
}

// view is one map as the session sees it.
type view struct {
	m *Map
	// unwritten changes in their order, and what they make of each key.
	unwritten []Change
	over      *btree.Map[string, change]
	reader    *Reader
}

// change is the newest state of a key: a nil value is that of a key that is removed. stored: the map beneath has the key.
type change struct {
	value  []byte
	stored bool
}

// undo is how one step is undone: the key is as it was before, unknown if the session had not changed it. If over is set, the
// changes that were flushed are no longer written; if read is, what lies beneath has changed.
type undo struct {
	of        *view
	key       string
	before    change
	known     bool
	unwritten []Change
	over      *btree.Map[string, change]
	read      bool
}

// NewSession returns a session without changes.
func NewSession() *Session { return &Session{} }

func (s *Session) of(m *Map) *view {
	for _, v := range s.views {
		if v.m == m {
			return v
		}
	}
	v := &view{m: m, over: new(btree.Map[string, change])}
	s.views = append(s.views, v)
	return v
}

// beneath reads the map without the session's changes. What it has read before it does not read again.
func (v *view) beneath(ctx context.Context) *Reader {
	if v.reader == nil {
		v.reader = v.m.Reader(ctx)
	}
	v.reader.under(ctx)
	return v.reader
}

// Idle is that of a queue that has no changes that are not written.
func (s *Session) Idle(ctx context.Context, m *Map, keys ...[]byte) (bool, error) {
	return s.of(m).beneath(ctx).Idle(keys...)
}

// Get returns the value of a key.
func (s *Session) Get(ctx context.Context, m *Map, key []byte) (value []byte, found bool, err error) {
	v := s.of(m)
	if c, known := v.over.Get(string(key)); known {
		return c.value, c.value != nil, nil
	}
	return v.beneath(ctx).Get(key)
}

// Page returns the first n entries whose keys are at least from and below to, by key. A nil to has no end.
func (s *Session) Page(ctx context.Context, m *Map, from, to []byte, n int) (page []Entry, err error) {
	v := s.of(m)
	reader := v.beneath(ctx)
	for {
		stored, err := reader.Page(from, to, n)
		if err != nil || v.over.Len() == 0 {
			return stored, err
		}
		// As far as was read, or to the end.
		end, more := to, len(stored) == n
		if more {
			end = append(bytes.Clone(stored[n-1].Key), 0)
		}
		page = append(page, v.overlay(stored, from, end)...)
		if len(page) >= n || !more {
			return page[:min(n, len(page))], nil
		}
		from = end
	}
}

// overlay puts the session's changes of an interval over what is stored there.
func (v *view) overlay(stored []Entry, from, to []byte) []Entry {
	current := make([]Entry, 0, len(stored))
	v.over.Ascend(string(from), func(key string, c change) bool {
		if to != nil && key >= string(to) {
			return false
		}
		for len(stored) > 0 && string(stored[0].Key) < key {
			current, stored = append(current, stored[0]), stored[1:]
		}
		if len(stored) > 0 && string(stored[0].Key) == key {
			stored = stored[1:]
		}
		if c.value != nil {
			current = append(current, Entry{[]byte(key), c.value})
		}
		return true
	})
	return append(current, stored...)
}

// Count returns how many entries have keys that are at least from and below to. A nil to has no end.
func (s *Session) Count(ctx context.Context, m *Map, from, to []byte) (uint64, error) {
	n, err := m.Count(ctx, from, to)
	s.of(m).over.Ascend(string(from), func(key string, c change) bool {
		if to != nil && key >= string(to) {
			return false
		}
		switch {
		case c.value != nil && !c.stored:
			n++
		case c.value == nil && c.stored:
			n--
		}
		return true
	})
	return n, err
}

// Apply notes changes.
func (s *Session) Apply(m *Map, changes ...Change) {
	v := s.of(m)
	for i := range changes {
		message := &changes[i].message
		key := string(message.Key)
		before, known := v.over.Get(key)
		s.journal = append(s.journal, undo{of: v, key: key, before: before, known: known})
		after := change{stored: before.stored}
		if !known {
			after.stored = message.Kind != kindInsert
		}
		if message.Kind != kindRemove {
			// A value of no bytes is not a removed one.
			after.value = append([]byte{}, message.Value...)
		}
		v.over.Set(key, after)
		v.unwritten = append(v.unwritten, changes[i])
	}
}

// Net is what the session's changes of a map come to: one for each key that it leaves other than it is stored.
func (s *Session) Net(m *Map) (changes []Change) {
	s.of(m).over.Scan(func(key string, c change) bool {
		switch {
		case c.value != nil && c.stored:
			changes = append(changes, Replaced([]byte(key), c.value))
		case c.value != nil:
			changes = append(changes, Inserted([]byte(key), c.value))
		case c.stored:
			changes = append(changes, Deleted([]byte(key)))
		}
		return true
	})
	return changes
}

// Has reports whether the session has a change of a key that is not written.
func (s *Session) Has(m *Map, key []byte) bool {
	_, has := s.of(m).over.Get(string(key))
	return has
}

// Invalidate forgets what was read of a map, which others may have changed. It is called after Flush.
func (s *Session) Invalidate(m *Map) {
	v := s.of(m)
	s.journal = append(s.journal, undo{of: v, read: true})
	v.reader = nil
	s.generation++
}

// Advance begins a generation: others may have changed what belongs to the entries of the maps, but none of the maps.
func (s *Session) Advance() { s.generation++ }

// Generation returns the number of the generation. Invalidate and Advance begin one, and a Flush does for each map that it
// writes. While it is the same, only keys that the session Has may have other values.
func (s *Session) Generation() uint64 { return s.generation }

// Mark returns where Undo returns to.
func (s *Session) Mark() int { return len(s.journal) }

// Undo undoes what was done since a mark, whether it was flushed meanwhile or not. What was flushed must be undone in the store
// too.
func (s *Session) Undo(mark int) {
	for i := len(s.journal) - 1; i >= mark; i-- {
		switch u := &s.journal[i]; {
		case u.read:
			u.of.reader = nil
		case u.over != nil:
			u.of.unwritten, u.of.over, u.of.reader = u.unwritten, u.over, nil
		default:
			u.of.unwritten = u.of.unwritten[:len(u.of.unwritten)-1]
			if u.known {
				u.of.over.Set(u.key, u.before)
			} else {
				u.of.over.Delete(u.key)
			}
		}
	}
	clear(s.journal[mark:])
	s.journal = s.journal[:mark]
}

// Flush writes what has changed, in the order in which it was.
func (s *Session) Flush(ctx context.Context) error {
	for _, v := range s.views {
		if len(v.unwritten) == 0 {
			continue
		}
		logAlone, err := v.m.Append(ctx, v.unwritten...)
		if err != nil {
			return err
		}
		s.journal = append(s.journal, undo{of: v, unwritten: v.unwritten, over: v.over})
		v.unwritten, v.over = nil, new(btree.Map[string, change])
		s.generation++
		switch {
		case v.reader == nil:
		case logAlone:
			v.reader.ForgetLog()
		default:
			v.reader = nil
		}
	}
	return nil
}
