package tiered_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/btree"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/calendar/tiered"
)

type (
	entry = calendar.Entry[int]
	pair  struct{ key, value string }
)

// nearStore and byteStore are the two stores over B-trees in memory. They count operations, and fail if told to.
type nearStore struct {
	tree *btree.BTreeG[entry]
	*counts
}

type byteStore struct {
	tree *btree.BTreeG[pair]
	*counts
}

// counts of reads and writes, of both stores together.
type counts struct {
	reads, writes int
	// bytes written.
	bytes int
	fail  error
	// deleted keys of byteStore since reset, and how many of them scans passed over: a store that is written at the end of the
	// block has them until then.
	deleted map[string]bool
	passed  int
	// scanning: an iterator is open, and the store must not be used.
	scanning bool
}

func (c *counts) read() error {
	if c.scanning {
		panic("the store is used while an iterator over it is open")
	}
	c.reads++
	return c.fail
}

// scan walks, and meanwhile the store must not be used.
func (c *counts) scan(walk func()) error {
	if err := c.read(); err != nil {
		return err
	}
	c.scanning = true
	walk()
	c.scanning = false
	return nil
}

func (c *counts) write(bytes int) error {
	if c.scanning {
		panic("the store is written while an iterator over it is open")
	}
	c.writes++
	c.bytes += bytes
	return c.fail
}

func (c *counts) noteDeleted(key string) {
	if c.deleted == nil {
		c.deleted = map[string]bool{}
	}
	c.deleted[key] = true
}

// passOver counts the deleted keys that a scan passes over before the first that is there.
func (c *counts) passOver(from, first string) {
	for key := range c.deleted {
		if from <= key && key < first {
			c.passed++
		}
	}
}

func (s nearStore) Set(_ context.Context, key calendar.Key, value int) error {
	s.tree.Set(entry{Key: key, Value: value})
	return s.write(24)
}

func (s nearStore) Get(_ context.Context, key calendar.Key) (int, bool, error) {
	found, ok := s.tree.Get(entry{Key: key})
	return found.Value, ok, s.read()
}

func (s nearStore) Remove(_ context.Context, key calendar.Key) error {
	s.tree.Delete(entry{Key: key})
	return s.write(0)
}

func (s nearStore) Scan(_ context.Context, from calendar.Key, fn func(entry) bool) error {
	return s.scan(func() { s.tree.Ascend(entry{Key: from}, fn) })
}

func (s byteStore) Get(_ context.Context, key []byte) ([]byte, error) {
	found, ok := s.tree.Get(pair{key: string(key)})
	if !ok {
		return nil, s.read()
	}
	return []byte(found.value), s.read()
}

func (s byteStore) Set(_ context.Context, key, value []byte) error {
	s.tree.Set(pair{string(key), string(value)})
	return s.write(len(key) + len(value))
}

func (s byteStore) Delete(_ context.Context, key []byte) error {
	s.tree.Delete(pair{key: string(key)})
	s.noteDeleted(string(key))
	return s.write(0)
}

func (s byteStore) Scan(_ context.Context, from, to []byte, fn func(key, value []byte) bool) error {
	first := string(to)
	s.tree.Ascend(pair{key: string(from)}, func(p pair) bool {
		first = min(first, p.key)
		return false
	})
	s.passOver(string(from), first)
	return s.scan(func() {
		s.tree.Ascend(pair{key: string(from)}, func(p pair) bool {
			return p.key < string(to) && fn([]byte(p.key), []byte(p.value))
		})
	})
}

func (s byteStore) Last(_ context.Context, from, to []byte) (key, value []byte, err error) {
	s.tree.Descend(pair{key: string(to)}, func(p pair) bool {
		if p.key == string(to) {
			return true
		}
		if p.key >= string(from) {
			key, value = []byte(p.key), []byte(p.value)
		}
		return false
	})
	return key, value, s.read()
}

type codec struct{}

func (codec) Encode(_ calendar.Key, value int) ([]byte, error) {
	return binary.BigEndian.AppendUint64(nil, uint64(value)), nil
}

func (codec) Decode(_ calendar.Key, bz []byte) (int, error) {
	return int(binary.BigEndian.Uint64(bz)), nil
}

// chain is a calendar with its stores.
type chain struct {
	*tiered.Tiered[int]
	near  nearStore
	bytes byteStore
	*counts
}

func newChain(small bool) chain {
	c := &counts{}
	near := nearStore{btree.NewBTreeGOptions(func(a, b entry) bool { return a.Key.Compare(b.Key) < 0 }, btree.Options{NoLocks: true}), c}
	bytes := byteStore{btree.NewBTreeGOptions(func(a, b pair) bool { return a.key < b.key }, btree.Options{NoLocks: true}), c}
	t := tiered.New[int](near, bytes, codec{})
	if small {
		t.Small()
	}
	return chain{t, near, bytes, c}
}

// branch returns a copy that can be dropped, as the branch of a transaction is.
func (c chain) branch(small bool) chain {
	near, bytes := nearStore{c.near.tree.Copy(), c.counts}, byteStore{c.bytes.tree.Copy(), c.counts}
	t := tiered.New[int](near, bytes, codec{})
	if small {
		t.Small()
	}
	return chain{t, near, bytes, c.counts}
}

// machine holds a tiered calendar and a flat one to a slice.
type machine struct {
	chain
	flat   calendar.Flat[int]
	model  []entry
	height uint64
	seq    uint64
	// gone are keys that were live once.
	gone []calendar.Key
}

var ctx = context.Background()

func (m *machine) insert(t *rapid.T, key calendar.Key) {
	value := rapid.IntRange(0, 1_000).Draw(t, "value")
	m.model = append(m.model, entry{Key: key, Value: value})
	require.NoError(t, m.flat.Insert(ctx, key, value))
	require.NoError(t, m.Insert(ctx, key, value))
}

func (m *machine) drop(t *rapid.T, key calendar.Key) {
	m.model = slices.DeleteFunc(m.model, func(e entry) bool { return e.Key == key })
	require.NoError(t, m.flat.Remove(ctx, key))
	require.NoError(t, m.Remove(ctx, key))
}

func (m *machine) live(key calendar.Key) bool {
	return slices.ContainsFunc(m.model, func(e entry) bool { return e.Key == key })
}

// some draws a live key, if there is one.
func (m *machine) some(t *rapid.T) (calendar.Key, bool) {
	if len(m.model) == 0 {
		return calendar.Key{}, false
	}
	return rapid.SampledFrom(m.model).Draw(t, "live").Key, true
}

// ahead draws a due height: mostly near, sometimes far, and often one that others are due at.
func (m *machine) ahead(t *rapid.T) uint64 {
	distance := rapid.OneOf(rapid.Uint64Max(3), rapid.Uint64Max(12), rapid.Uint64Max(1<<40), rapid.Just(uint64(5))).Draw(t, "distance")
	return m.height + 1 + distance
}

// equal holds the whole calendar, and its structure, to the model.
func (m *machine) equal(t *rapid.T) {
	slices.SortFunc(m.model, func(a, b entry) int { return a.Key.Compare(b.Key) })
	var all []entry
	require.NoError(t, m.Walk(ctx, func(e entry) bool {
		all = append(all, e)
		return true
	}))
	require.Equal(t, append([]entry{}, m.model...), append([]entry{}, all...))
	require.NoError(t, m.Check(ctx))
}

func (m *machine) page(t *rapid.T) {
	from := calendar.Key{Due: rapid.Uint64Max(m.height+4).Draw(t, "from"), Seq: rapid.Uint64Max(m.seq).Draw(t, "from seq")}
	height := rapid.OneOf(rapid.Just(m.height), rapid.Uint64Max(m.height+20), rapid.Uint64()).Draw(t, "until")
	verdicts := rapid.SliceOfN(rapid.SampledFrom([]calendar.Verdict{calendar.Take, calendar.Take, calendar.Pass, calendar.Stop}), 0, 30).
		Draw(t, "verdicts")
	each := func() func(entry) calendar.Verdict {
		left := verdicts
		return func(entry) calendar.Verdict {
			if len(left) == 0 {
				return calendar.Stop
			}
			first := left[0]
			left = left[1:]
			return first
		}
	}
	want, wantNext, wantComplete, err := m.flat.Page(ctx, from, height, each())
	require.NoError(t, err)
	taken, next, complete, err := m.Page(ctx, from, height, each())
	require.NoError(t, err)
	require.Equal(t, want, taken)
	require.Equal(t, wantNext, next)
	require.Equal(t, wantComplete, complete)
}

// property: whatever is done to it, in blocks of any kind, the calendar is what a slice is.
func property(t *rapid.T) {
	m := &machine{chain: newChain(true), seq: 1}
	m.flat = calendar.NewFlat[int](newChain(true).near)
	for range rapid.IntRange(0, 6).Draw(t, "from a flat calendar") {
		key := calendar.Key{Due: m.ahead(t), Seq: m.seq}
		m.seq++
		m.model = append(m.model, entry{Key: key, Value: 7})
		require.NoError(t, m.near.Set(ctx, key, 7))
		require.NoError(t, m.flat.Insert(ctx, key, 7))
	}
	require.NoError(t, m.Begin(ctx))
	t.Repeat(map[string]func(*rapid.T){
		"": m.equal,
		"insert": func(t *rapid.T) {
			for range rapid.IntRange(1, 6).Draw(t, "n") {
				m.insert(t, calendar.Key{Due: m.ahead(t), Seq: m.seq})
				m.seq++
			}
		},
		"crowd": func(t *rapid.T) {
			due := m.ahead(t)
			for range rapid.IntRange(3, 20).Draw(t, "n") {
				m.insert(t, calendar.Key{Due: due, Seq: m.seq})
				m.seq++
			}
		},
		"return": func(t *rapid.T) { // An interval that rolls, or a timer that is paused and resumed: an old seq.
			key, found := m.some(t)
			if !found {
				return
			}
			m.drop(t, key)
			m.gone = append(m.gone, key)
			if rapid.Bool().Draw(t, "at another height") {
				key.Due = m.ahead(t)
			}
			if key.Due > m.height && !m.live(key) {
				m.insert(t, key)
			}
		},
		"return later": func(t *rapid.T) {
			if len(m.gone) == 0 {
				return
			}
			key := rapid.SampledFrom(m.gone).Draw(t, "gone")
			if !m.live(key) {
				m.insert(t, key)
			}
		},
		"replace": func(t *rapid.T) {
			key, found := m.some(t)
			if !found {
				return
			}
			value := rapid.Int().Draw(t, "value")
			at := slices.IndexFunc(m.model, func(e entry) bool { return e.Key == key })
			m.model[at].Value = value
			require.NoError(t, m.flat.Replace(ctx, key, value))
			require.NoError(t, m.Replace(ctx, key, value))
		},
		"remove": func(t *rapid.T) {
			if key, found := m.some(t); found {
				m.drop(t, key)
				m.gone = append(m.gone, key)
			}
		},
		"remove what is not there": func(t *rapid.T) {
			key := calendar.Key{Due: m.ahead(t), Seq: rapid.Uint64Max(m.seq+2).Draw(t, "seq")}
			m.drop(t, key)
		},
		"get": func(t *rapid.T) {
			key, found := m.some(t)
			if !found || rapid.Bool().Draw(t, "any") {
				key = calendar.Key{Due: m.ahead(t), Seq: rapid.Uint64Max(m.seq).Draw(t, "seq")}
			}
			want, wantFound, err := m.flat.Get(ctx, key)
			require.NoError(t, err)
			value, found, err := m.Get(ctx, key)
			require.NoError(t, err)
			require.Equal(t, wantFound, found)
			require.Equal(t, want, value)
		},
		"page": m.page,
		"failed transaction": func(t *rapid.T) {
			branch := m.branch(true)
			for range 5 {
				require.NoError(t, branch.Insert(ctx, calendar.Key{Due: m.ahead(t), Seq: m.seq + 100}, 1))
			}
			if key, found := m.some(t); found {
				require.NoError(t, branch.Remove(ctx, key))
			}
		},
		"block": func(t *rapid.T) {
			for range rapid.OneOf(rapid.Just(1), rapid.IntRange(1, 4)).Draw(t, "blocks") {
				m.endBlock(t)
			}
		},
		"height jumps": func(t *rapid.T) { m.height += rapid.Uint64Max(40).Draw(t, "by") },
		"export and import": func(t *rapid.T) {
			imported := newChain(true)
			require.NoError(t, imported.Begin(ctx))
			require.NoError(t, m.Walk(ctx, func(e entry) bool {
				require.NoError(t, imported.Insert(ctx, e.Key, e.Value))
				return true
			}))
			require.NoError(t, imported.Close(ctx))
			m.chain = imported
		},
	})
}

// endBlock maintains with a budget that may be too small, fires some of what is due, and closes.
func (m *machine) endBlock(t *rapid.T) {
	m.height++
	work := tiered.Work{
		Migrations:  rapid.SampledFrom([]int{0, 1, 2, 8, 100}).Draw(t, "migrations"),
		AheadBlocks: rapid.Uint64Max(10).Draw(t, "ahead"),
	}
	m.writes = 0
	require.NoError(t, m.Maintain(ctx, m.height, work))
	fire := rapid.IntRange(0, 30).Draw(t, "fires")
	due, _, _, err := m.Page(ctx, calendar.Key{}, m.height, func(entry) calendar.Verdict {
		if fire--; fire < 0 {
			return calendar.Stop
		}
		return calendar.Take
	})
	require.NoError(t, err)
	for _, e := range due {
		m.drop(t, e.Key)
	}
	require.NoError(t, m.Close(ctx))
}

func TestTieredIsWhatASliceIs(t *testing.T) { rapid.Check(t, property) }

func FuzzTieredIsWhatASliceIs(f *testing.F) { f.Fuzz(rapid.MakeFuzz(property)) }

// TestStoreErrorsAreReturned: an error below must not pass for an empty calendar.
func TestStoreErrorsAreReturned(t *testing.T) {
	broken := errors.New("broken")
	c := newChain(false)
	require.NoError(t, c.Begin(ctx))
	require.NoError(t, c.Insert(ctx, calendar.Key{Due: 9, Seq: 1}, 1))
	require.NoError(t, c.Close(ctx))
	c.fail = broken
	key := calendar.Key{Due: 9, Seq: 1}
	require.ErrorIs(t, c.Insert(ctx, key, 1), broken)
	require.ErrorIs(t, c.Replace(ctx, key, 1), broken)
	require.ErrorIs(t, c.Remove(ctx, key), broken)
	require.ErrorIs(t, c.Maintain(ctx, 9, tiered.Work{Migrations: 5}), broken)
	require.ErrorIs(t, c.Close(ctx), broken)
	_, _, err := c.Get(ctx, key)
	require.ErrorIs(t, err, broken)
	_, _, _, err = c.Page(ctx, calendar.Key{}, 9, func(entry) calendar.Verdict { return calendar.Take })
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, c.Walk(ctx, func(entry) bool { return true }), broken)
}

// FuzzDecodersRefuse: no bytes make the decoders panic or allocate more than they hold.
func FuzzDecodersRefuse(f *testing.F) {
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{2, 1, 1, 1, 0, 1, 1, 7, 8})
	f.Fuzz(func(_ *testing.T, bz []byte) { _, _ = tiered.Decode(bz) })
}
