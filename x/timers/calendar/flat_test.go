package calendar_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/btree"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/calendar"
)

type entry = calendar.Entry[int]

// treeStore is the calendar's store over a B-tree in memory. fail, if set, is what every call returns.
type treeStore struct {
	tree *btree.BTreeG[entry]
	fail error
}

var _ calendar.Store[int] = (*treeStore)(nil)

func newTreeStore() *treeStore {
	return &treeStore{tree: btree.NewBTreeG(func(a, b entry) bool { return a.Key.Compare(b.Key) < 0 })}
}

func (s *treeStore) Set(_ context.Context, key calendar.Key, value int) error {
	s.tree.Set(entry{key, value})
	return s.fail
}

func (s *treeStore) Get(_ context.Context, key calendar.Key) (int, bool, error) {
	found, ok := s.tree.Get(entry{Key: key})
	return found.Value, ok, s.fail
}

func (s *treeStore) Remove(_ context.Context, key calendar.Key) error {
	s.tree.Delete(entry{Key: key})
	return s.fail
}

func (s *treeStore) Scan(_ context.Context, from calendar.Key, fn func(entry) bool) error {
	s.tree.Ascend(entry{Key: from}, fn)
	return s.fail
}

// model is the calendar as a slice without order, searched from end to end.
type model []entry

func (m *model) insert(key calendar.Key, value int) {
	m.remove(key)
	*m = append(*m, entry{key, value})
}

func (m *model) remove(key calendar.Key) {
	*m = slices.DeleteFunc(*m, func(e entry) bool { return e.Key == key })
}

func (m *model) get(key calendar.Key) (int, bool) {
	for _, e := range *m {
		if e.Key == key {
			return e.Value, true
		}
	}
	return 0, false
}

// page asks for verdicts in order and follows the documentation of Flat.Page to the letter.
func (m *model) page(from calendar.Key, height uint64, verdicts func() calendar.Verdict) (taken []entry, next calendar.Key, complete bool) {
	var due []entry
	for _, e := range *m {
		notBefore := e.Key.Due > from.Due || e.Key.Due == from.Due && e.Key.Seq >= from.Seq
		if notBefore && e.Key.Due <= height {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b entry) int {
		if a.Key.Due < b.Key.Due || a.Key.Due == b.Key.Due && a.Key.Seq < b.Key.Seq {
			return -1
		}
		return 1
	})
	for _, e := range due {
		switch verdicts() {
		case calendar.Take:
			taken = append(taken, e)
		case calendar.Stop:
			return taken, e.Key, false
		case calendar.Pass:
		}
	}
	return taken, calendar.Key{Due: height + 1}, true
}

// drawKey draws from a space so small that keys meet, and sometimes from all of it.
func drawKey(t *rapid.T) calendar.Key {
	return calendar.Key{
		Due: rapid.OneOf(rapid.Uint64Max(6), rapid.Uint64()).Draw(t, "due"),
		Seq: rapid.OneOf(rapid.Uint64Max(6), rapid.Uint64()).Draw(t, "seq"),
	}
}

// each returns the verdicts one after the other, and Stop when they are used up.
func each(verdicts []calendar.Verdict) func() calendar.Verdict {
	return func() calendar.Verdict {
		if len(verdicts) == 0 {
			return calendar.Stop
		}
		first := verdicts[0]
		verdicts = verdicts[1:]
		return first
	}
}

// flatProperty holds the calendar to the model over any sequence of operations.
func flatProperty(t *rapid.T) {
	ctx := context.Background()
	flat, m := calendar.NewFlat[int](newTreeStore()), &model{}
	verdict := rapid.SampledFrom([]calendar.Verdict{calendar.Take, calendar.Take, calendar.Pass, calendar.Stop})
	t.Repeat(map[string]func(*rapid.T){
		"insert": func(t *rapid.T) {
			key, value := drawKey(t), rapid.Int().Draw(t, "value")
			m.insert(key, value)
			require.NoError(t, flat.Insert(ctx, key, value))
		},
		"replace": func(t *rapid.T) {
			if len(*m) > 0 {
				key, value := rapid.SampledFrom(*m).Draw(t, "entry").Key, rapid.Int().Draw(t, "value")
				m.insert(key, value)
				require.NoError(t, flat.Replace(ctx, key, value))
			}
		},
		"remove": func(t *rapid.T) {
			key := drawKey(t)
			m.remove(key)
			require.NoError(t, flat.Remove(ctx, key))
		},
		"get": func(t *rapid.T) {
			key := drawKey(t)
			want, wantFound := m.get(key)
			value, found, err := flat.Get(ctx, key)
			require.NoError(t, err)
			require.Equal(t, wantFound, found)
			require.Equal(t, want, value)
		},
		"page": func(t *rapid.T) {
			from, height := drawKey(t), rapid.OneOf(rapid.Uint64Max(7), rapid.Uint64()).Draw(t, "height")
			verdicts := rapid.SliceOfN(verdict, 0, 20).Draw(t, "verdicts")
			want, wantNext, wantComplete := m.page(from, height, each(verdicts))
			say := each(verdicts)
			taken, next, complete, err := flat.Page(ctx, from, height, func(entry) calendar.Verdict { return say() })
			require.NoError(t, err)
			require.Equal(t, want, taken)
			require.Equal(t, wantNext, next)
			require.Equal(t, wantComplete, complete)
		},
	})
}

// Rule: 2.4-flat
func TestFlatMatchesASlice(t *testing.T) { rapid.Check(t, flatProperty) }

func FuzzFlatIsWhatASliceIs(f *testing.F) { f.Fuzz(rapid.MakeFuzz(flatProperty)) }

// pagesProperty: pages that follow each other's next, of whatever sizes, hand out what is due once each and in order.
func pagesProperty(t *rapid.T) {
	ctx := context.Background()
	flat, m := calendar.NewFlat[int](newTreeStore()), &model{}
	for i := range rapid.IntRange(0, 40).Draw(t, "entries") {
		key := drawKey(t)
		m.insert(key, i)
		require.NoError(t, flat.Insert(ctx, key, i))
	}
	height := rapid.Uint64Max(8).Draw(t, "height")
	want, _, _ := m.page(calendar.Key{}, height, func() calendar.Verdict { return calendar.Take })
	var all []entry
	from, complete := calendar.Key{}, false
	for !complete {
		left := rapid.IntRange(1, 5).Draw(t, "size of the page")
		taken, next, done, err := flat.Page(ctx, from, height, func(entry) calendar.Verdict {
			if left == 0 {
				return calendar.Stop
			}
			left--
			return calendar.Take
		})
		require.NoError(t, err)
		require.Positive(t, next.Compare(from), "a page must get on")
		all, from, complete = append(all, taken...), next, done
	}
	require.Equal(t, want, all)
}

func TestPagesReturnEachDueTimerOnce(t *testing.T) { rapid.Check(t, pagesProperty) }

func FuzzPagesHandOutAllThatIsDueOnce(f *testing.F) { f.Fuzz(rapid.MakeFuzz(pagesProperty)) }

// TestFlatReadsOneEntryBeyondThePage: a page reads one entry more than it keeps, however many follow.
func TestFlatReadsOneEntryBeyondThePage(t *testing.T) {
	ctx := context.Background()
	flat := calendar.NewFlat[int](newTreeStore())
	for seq := range uint64(1_000) {
		require.NoError(t, flat.Insert(ctx, calendar.Key{Due: 10, Seq: seq}, 0))
	}
	asked := 0
	taken, next, complete, err := flat.Page(ctx, calendar.Key{}, 10, func(entry) calendar.Verdict {
		if asked++; asked > 3 {
			return calendar.Stop
		}
		return calendar.Take
	})
	require.NoError(t, err)
	require.Len(t, taken, 3)
	require.Equal(t, 4, asked)
	require.Equal(t, calendar.Key{Due: 10, Seq: 3}, next)
	require.False(t, complete)

	asked = 0
	_, _, complete, err = flat.Page(ctx, calendar.Key{}, 9, func(entry) calendar.Verdict { asked++; return calendar.Take })
	require.NoError(t, err)
	require.Zero(t, asked, "what is not due yet was shown")
	require.True(t, complete)
}

// TestFlatPropagatesStoreErrors: an error below must not pass for an empty calendar.
func TestFlatPropagatesStoreErrors(t *testing.T) {
	ctx, broken := context.Background(), errors.New("broken")
	store := newTreeStore()
	flat := calendar.NewFlat[int](store)
	store.fail = broken
	require.ErrorIs(t, flat.Insert(ctx, calendar.Key{}, 1), broken)
	require.ErrorIs(t, flat.Remove(ctx, calendar.Key{}), broken)
	_, _, err := flat.Get(ctx, calendar.Key{})
	require.ErrorIs(t, err, broken)
	_, _, _, err = flat.Page(ctx, calendar.Key{}, 1, func(entry) calendar.Verdict { return calendar.Take })
	require.ErrorIs(t, err, broken)
}

// BenchmarkFlatPage reads a window of 64 from calendars of very different sizes.
func BenchmarkFlatPage(b *testing.B) {
	ctx := context.Background()
	for name, pending := range map[string]uint64{"pending=1k": 1_000, "pending=100k": 100_000} {
		flat := calendar.NewFlat[int](newTreeStore())
		for seq := range pending {
			require.NoError(b, flat.Insert(ctx, calendar.Key{Due: seq / 10, Seq: seq}, 0))
		}
		b.Run(name, func(b *testing.B) {
			for range b.N {
				left := 64
				_, _, _, err := flat.Page(ctx, calendar.Key{}, pending, func(entry) calendar.Verdict {
					if left--; left < 0 {
						return calendar.Stop
					}
					return calendar.Take
				})
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkFlatInsertRemove(b *testing.B) {
	ctx := context.Background()
	flat := calendar.NewFlat[int](newTreeStore())
	for seq := range uint64(100_000) {
		require.NoError(b, flat.Insert(ctx, calendar.Key{Due: seq / 10, Seq: seq}, 0))
	}
	key := calendar.Key{Due: 5_000, Seq: 1 << 40}
	b.ResetTimer()
	for range b.N {
		_ = flat.Insert(ctx, key, 0)
		_ = flat.Remove(ctx, key)
	}
}
