package logmap_test

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/btree"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

var ctx = context.Background()

// treeStore is the store of a map over a B-tree in memory. It counts what is done to it.
type treeStore struct {
	tree                  *btree.Map[string, []byte]
	reads, writes, bytes_ int
	// removes are those of the writes that remove a value.
	removes int
	// fail, if set, is what every call returns.
	fail error
}

var (
	_ logmap.Opener = (*treeStore)(nil)
	_ logmap.Store  = (*treeStore)(nil)
)

func newStore() *treeStore { return &treeStore{tree: new(btree.Map[string, []byte])} }

// branch is a copy that can be dropped.
func (s *treeStore) branch() *treeStore { return &treeStore{tree: s.tree.Copy()} }

func (s *treeStore) Open(context.Context) logmap.Store { return s }

func (s *treeStore) Get(key []byte) ([]byte, error) {
	s.reads++
	value, _ := s.tree.Get(string(key))
	return value, s.fail
}

func (s *treeStore) Set(key, value []byte) error {
	s.writes++
	s.bytes_ += len(key) + len(value)
	if len(value) == 0 || len(key) > 15 {
		panic("an empty value, or a long key")
	}
	s.tree.Set(string(key), value)
	return s.fail
}

func (s *treeStore) Delete(key []byte) error {
	s.writes++
	s.removes++
	s.tree.Delete(string(key))
	return s.fail
}

func (s *treeStore) Scan(from []byte, fn func(key, value []byte) bool) error {
	s.reads++
	s.tree.Ascend(string(from), func(key string, value []byte) bool {
		s.reads++
		return fn([]byte(key), value)
	})
	return s.fail
}

// values are what is stored.
func (s *treeStore) values() map[string]string {
	all := map[string]string{}
	s.tree.Scan(func(key string, value []byte) bool {
		all[key] = string(value)
		return true
	})
	return all
}

// model is a map as Go has it, searched from end to end.
type model map[string]string

func (m model) page(from, to []byte, n int) (entries []logmap.Entry) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key >= string(from) && (to == nil || key < string(to)) && len(entries) < n {
			entries = append(entries, logmap.Entry{Key: []byte(key), Value: []byte(m[key])})
		}
	}
	return entries
}

func same(t require.TestingT, want, got []logmap.Entry) {
	require.Equal(t, len(want), len(got))
	for i := range want {
		require.True(t, bytes.Equal(want[i].Key, got[i].Key) && bytes.Equal(want[i].Value, got[i].Value), "%d: %q, want %q", i, got[i], want[i])
	}
}

// firstByte divides keys by their first byte.
func firstByte(key []byte) uint64 {
	if len(key) == 0 {
		return 0
	}
	return uint64(key[0])
}

func drawOptions(t *rapid.T) logmap.Options {
	opts := logmap.Options{
		LogBytes: rapid.IntRange(1, 40).Draw(t, "log bytes"), MergeLogs: rapid.IntRange(1, 4).Draw(t, "merge logs"),
		ChunkBytes: rapid.IntRange(1, 60).Draw(t, "chunk bytes"), PageRefs: rapid.IntRange(4, 8).Draw(t, "page refs"), Runs: rapid.IntRange(1, 4).Draw(t, "runs"),
		Split: rapid.IntRange(1, 6).Draw(t, "split"), Ratio: rapid.IntRange(1, 4).Draw(t, "ratio"), Merges: rapid.IntRange(1, 3).Draw(t, "merges"), Steps: rapid.IntRange(1, 3).Draw(t, "steps"),
	}
	if rapid.Bool().Draw(t, "ranges") {
		opts.Range = firstByte
	}
	return opts
}

// drawKey draws from few keys that often share their beginnings.
func drawKey(t *rapid.T, label string) []byte {
	return []byte(rapid.StringMatching(`[a-c]{0,4}`).Draw(t, label))
}

// mapProperty holds the map to the model over any sequence of changes, blocks, and branches that are dropped.
func mapProperty(t *rapid.T) {
	opts := drawOptions(t)
	base, kept := newStore(), model{}
	store, entries := base, kept
	m := logmap.New(store, opts)
	change := func(t *rapid.T) {
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			key, value := drawKey(t, "key"), rapid.StringMatching(`[x-z]{0,6}`).Draw(t, "value")
			_, exists := entries[string(key)]
			switch {
			case !exists:
				require.NoError(t, m.Insert(ctx, key, []byte(value)))
				entries[string(key)] = value
			case rapid.Bool().Draw(t, "delete"):
				require.NoError(t, m.Delete(ctx, key))
				delete(entries, string(key))
			default:
				require.NoError(t, m.Apply(ctx, logmap.Replaced(key, []byte(value))))
				entries[string(key)] = value
			}
		}
	}
	// Changes made together leave the store as they do one after the other.
	changeTogether := func(t *rapid.T) {
		var changes []logmap.Change
		apart := store.branch()
		one := logmap.New(apart, opts)
		for range rapid.IntRange(0, 30).Draw(t, "changes") {
			key, value := drawKey(t, "key"), rapid.StringMatching(`[x-z]{0,6}`).Draw(t, "value")
			_, exists := entries[string(key)]
			switch {
			case !exists:
				changes = append(changes, logmap.Inserted(key, []byte(value)))
				entries[string(key)] = value
			case rapid.Bool().Draw(t, "delete"):
				changes = append(changes, logmap.Deleted(key))
				delete(entries, string(key))
			default:
				changes = append(changes, logmap.Replaced(key, []byte(value)))
				entries[string(key)] = value
			}
			require.NoError(t, one.Apply(ctx, changes[len(changes)-1]))
		}
		apply, reader := func(changes ...logmap.Change) error { return m.Apply(ctx, changes...) }, m.Reader(ctx)
		if by := rapid.IntRange(0, 2).Draw(t, "beside a reader, by it or at once"); by < 2 {
			// What it has read changes.
			_, _, err := reader.Get(drawKey(t, "read before"))
			require.NoError(t, err)
			_, err = reader.Page(drawKey(t, "page before"), nil, 10)
			require.NoError(t, err)
			apply = reader.Apply
			if by == 0 {
				apply = func(changes ...logmap.Change) error {
					logAlone, err := m.Append(ctx, changes...)
					if reader.ForgetLog(); !logAlone {
						reader = m.Reader(ctx)
					}
					return err
				}
			}
		}
		require.NoError(t, apply(changes...))
		require.Equal(t, apart.values(), store.values())
		key := drawKey(t, "read after")
		value, _, err := reader.Get(key)
		require.NoError(t, err)
		require.Equal(t, entries[string(key)], string(value))
		for range rapid.IntRange(0, 4).Draw(t, "pages after") {
			from, to, n := drawKey(t, "from"), drawKey(t, "to"), rapid.IntRange(1, 9).Draw(t, "n")
			page, err := reader.Page(from, to, n)
			require.NoError(t, err)
			same(t, entries.page(from, to, n), page)
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"change": change, "change together": changeTogether,
		"maintain": func(t *rapid.T) {
			store.reads, store.writes = 0, 0
			_, err := m.Maintain(ctx, rapid.Uint64Max(100).Draw(t, "height"))
			require.NoError(t, err)
		},
		"failed transaction": func(t *rapid.T) {
			store, entries = base.branch(), maps.Clone(kept)
			m = logmap.New(store, opts)
			change(t)
			require.NoError(t, m.Check(ctx))
			same(t, entries.page(nil, nil, 1<<30), all(t, m))
			store, entries = base, kept
			m = logmap.New(store, opts)
		},
		"export": func(t *rapid.T) {
			fresh := logmap.New(newStore(), opts)
			for _, e := range all(t, m) {
				require.NoError(t, fresh.Insert(ctx, e.Key, e.Value))
			}
			same(t, all(t, m), all(t, fresh))
		},
		"clear": func(t *rapid.T) {
			// It is for a map that has no entries any more.
			if len(entries) == 0 {
				require.NoError(t, m.Clear(ctx))
				require.Zero(t, store.tree.Len())
			}
		},
		"read": func(t *rapid.T) {
			key := drawKey(t, "key")
			value, found, err := m.Get(ctx, key)
			want, exists := entries[string(key)]
			require.NoError(t, err)
			require.Equal(t, exists, found)
			require.Equal(t, want, string(value))
			reader := m.Reader(ctx)
			// What is looked at often is decoded.
			for range 12 {
				key := drawKey(t, "another key")
				value, found, err := reader.Get(key)
				want, exists := entries[string(key)]
				require.NoError(t, err)
				require.Equal(t, exists, found)
				require.Equal(t, want, string(value))
			}
			from, to := drawKey(t, "from"), drawKey(t, "to")
			if rapid.Bool().Draw(t, "open") {
				to = nil
			}
			n := rapid.IntRange(0, 20).Draw(t, "n")
			got, err := m.Page(ctx, from, to, n)
			require.NoError(t, err)
			same(t, entries.page(from, to, n), got)
			count, err := m.Count(ctx, from, to)
			require.NoError(t, err)
			require.Len(t, entries.page(from, to, 1<<30), int(count))
		},
		"": func(t *rapid.T) {
			require.NoError(t, m.Check(ctx))
		},
	})
	same(t, entries.page(nil, nil, 1<<30), all(t, m))
}

func all(t require.TestingT, m *logmap.Map) []logmap.Entry {
	entries, err := m.Page(ctx, nil, nil, 1<<30)
	require.NoError(t, err)
	return entries
}

func TestMapFollowsAModel(t *testing.T) { rapid.Check(t, mapProperty) }

func FuzzMap(f *testing.F) { f.Fuzz(rapid.MakeFuzz(mapProperty)) }

// TestAReaderReadsEachValueOnce: looking up every entry of a map twice reads no more than the map has.
func TestAReaderReadsEachValueOnce(t *testing.T) {
	store := newStore()
	m, keys := logmap.New(store, logmap.Options{}), newKeys()
	inserted := insert(t, m, keys, 2_000)
	for height := uint64(1); ; height++ {
		if idle, err := m.Maintain(ctx, height); idle {
			require.NoError(t, err)
			break
		}
	}
	reader := m.Reader(ctx)
	store.reads = 0
	for range 2 {
		for _, key := range inserted {
			_, found, err := reader.Get(key)
			require.NoError(t, err)
			require.True(t, found)
		}
	}
	require.LessOrEqual(t, store.reads, store.tree.Len())
}
