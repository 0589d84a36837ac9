package logmap_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// worlds are two maps below a session, and what they must hold. A snapshot is what a branch of the store begins with.
type worlds struct {
	store [2]*treeStore
	maps  [2]*logmap.Map
	want  [2]model
}

// sessionFollowsAModel changes two maps through one session, which is undone together with the store, flushed, and looked past.
func sessionFollowsAModel(t *rapid.T) {
	w := &worlds{}
	for i := range w.maps {
		opts := drawOptions(t)
		w.store[i], w.want[i] = newStore(), model{}
		w.maps[i] = logmap.New(w.store[i], opts)
	}
	s := logmap.NewSession()
	type mark struct {
		at    int
		store [2]treeStore
		want  [2]model
	}
	var marks []mark
	for range rapid.IntRange(1, 60).Draw(t, "operations") {
		i := rapid.IntRange(0, 1).Draw(t, "map")
		m, want := w.maps[i], w.want[i]
		key := drawKey(t, "key")
		switch _, is := want[string(key)]; rapid.IntRange(0, 9).Draw(t, "operation") {
		case 0, 1, 2, 3:
			value := rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "value")
			if is {
				s.Apply(m, logmap.Replaced(key, value))
			} else {
				s.Apply(m, logmap.Inserted(key, value))
			}
			want[string(key)] = string(value)
		case 4, 5:
			if is {
				s.Apply(m, logmap.Deleted(key))
				delete(want, string(key))
			}
		case 6:
			marks = append(marks, mark{
				s.Mark(), [2]treeStore{*w.store[0].branch(), *w.store[1].branch()}, [2]model{maps.Clone(w.want[0]), maps.Clone(w.want[1])},
			})
		case 7:
			if len(marks) > 0 {
				at := rapid.IntRange(0, len(marks)-1).Draw(t, "mark")
				s.Undo(marks[at].at)
				for i := range w.store {
					w.store[i].tree = marks[at].store[i].tree
				}
				w.want, marks = marks[at].want, marks[:at]
			}
		case 8:
			require.NoError(t, s.Flush(ctx))
		case 9:
			// Somebody else changes a map, after what the session has changed is written.
			require.NoError(t, s.Flush(ctx))
			if is {
				require.NoError(t, m.Delete(ctx, key))
				delete(want, string(key))
			} else {
				require.NoError(t, m.Insert(ctx, key, []byte("other")))
				want[string(key)] = "other"
			}
			s.Invalidate(m)
		}
		holds(t, s, w, drawKey(t, "looked up"), drawKey(t, "from"), rapid.IntRange(1, 9).Draw(t, "entries"))
	}
	require.NoError(t, s.Flush(ctx))
	for i, m := range w.maps {
		require.NoError(t, m.Check(ctx))
		all, err := m.Page(ctx, nil, nil, 1<<30)
		require.NoError(t, err)
		same(t, w.want[i].page(nil, nil, 1<<30), all)
	}
}

func holds(t *rapid.T, s *logmap.Session, w *worlds, key, from []byte, n int) {
	for i, m := range w.maps {
		value, found, err := s.Get(ctx, m, key)
		require.NoError(t, err)
		want, is := w.want[i][string(key)]
		require.Equal(t, is, found)
		require.Equal(t, want, string(value))
		for _, to := range [][]byte{nil, append(from, 200)} {
			page, err := s.Page(ctx, m, from, to, n)
			require.NoError(t, err)
			same(t, w.want[i].page(from, to, n), page)
			count, err := s.Count(ctx, m, from, to)
			require.NoError(t, err)
			require.Len(t, w.want[i].page(from, to, 1<<30), int(count))
		}
	}
}

func TestSession_FollowsAModel(t *testing.T) { rapid.Check(t, sessionFollowsAModel) }

func FuzzSession_FollowsAModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(sessionFollowsAModel)) }

// TestSession_WritesTogether: what a session changes is one write of the log.
func TestSession_WritesTogether(t *testing.T) {
	store := newStore()
	m, s := logmap.New(store, logmap.Options{}), logmap.NewSession()
	for i := range byte(50) {
		s.Apply(m, logmap.Inserted([]byte{i}, []byte("value")))
		if i%2 == 0 {
			s.Apply(m, logmap.Deleted([]byte{i}))
		}
	}
	require.Zero(t, store.writes)
	require.NoError(t, s.Flush(ctx))
	require.Equal(t, 2, store.writes, "the head and a chunk of the log")
	page, err := m.Page(ctx, nil, nil, 100)
	require.NoError(t, err)
	require.Len(t, page, 25)
	require.NoError(t, s.Flush(ctx))
	require.Equal(t, 2, store.writes)
}

// TestSession_LeavesWhatItWouldHaveLeft: it does not show in the store when a session was flushed.
//
// Rule: 2.3-written-once
func TestSession_LeavesWhatItWouldHaveLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := drawOptions(t)
		stores := [2]*treeStore{newStore(), newStore()}
		maps := [2]*logmap.Map{logmap.New(stores[0], opts), logmap.New(stores[1], opts)}
		sessions := [2]*logmap.Session{logmap.NewSession(), logmap.NewSession()}
		entries := model{}
		for range rapid.IntRange(1, 40).Draw(t, "changes") {
			key, value := drawKey(t, "key"), rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "value")
			change := logmap.Inserted(key, value)
			if _, is := entries[string(key)]; is {
				change = logmap.Replaced(key, value)
				if rapid.Bool().Draw(t, "removed") {
					change = logmap.Deleted(key)
				}
			}
			if delete(entries, string(key)); change.Sets() {
				entries[string(key)] = string(value)
			}
			for i := range sessions {
				sessions[i].Apply(maps[i], change)
			}
			if rapid.Bool().Draw(t, "flushed") {
				require.NoError(t, sessions[0].Flush(ctx))
			}
		}
		for i := range sessions {
			require.NoError(t, sessions[i].Flush(ctx))
		}
		require.Equal(t, stores[0].values(), stores[1].values())
	})
}

// TestSession_ReadsOnce: what was read is not read again, whatever the session writes meanwhile.
func TestSession_ReadsOnce(t *testing.T) {
	store := newStore()
	m, s := logmap.New(store, logmap.Options{}), logmap.NewSession()
	for i := range byte(50) {
		require.NoError(t, m.Insert(ctx, []byte{i}, make([]byte, 200)))
		_, err := m.Maintain(ctx, uint64(i))
		require.NoError(t, err)
	}
	look := func() {
		for i := range byte(50) {
			_, found, err := s.Get(ctx, m, []byte{i})
			require.NoError(t, err)
			require.True(t, found)
		}
	}
	look()
	store.reads = 0
	look()
	require.Zero(t, store.reads)
	s.Apply(m, logmap.Replaced([]byte{7}, []byte("x")))
	look()
	require.Zero(t, store.reads)
}
