package logmap_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

func queueKey(due, number uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, due), number)
}

// queueIsASortedMap consumes a queue whose entries come, change, leave before they are due, and wait when they are.
func queueIsASortedMap(t *rapid.T) {
	opts := drawOptions(t)
	opts.Queue = true
	store := newStore()
	m, want := logmap.New(store, opts), model{}
	number := uint64(0)
	draw := func(what string, most int) int { return rapid.IntRange(0, most).Draw(t, what) }
	any := func() (string, bool) {
		if len(want) == 0 {
			return "", false
		}
		return string(want.page(nil, nil, 1<<30)[draw("which", len(want)-1)].Key), true
	}
	for height := uint64(1); height < 40; height++ {
		for range draw("new", 6) {
			number++
			key := queueKey(height+uint64(draw("ahead", []int{2, 9, 40}[draw("far", 2)])), number)
			value := make([]byte, 1+draw("length", 30))
			value[0] = byte(number)
			require.NoError(t, m.Insert(ctx, key, value))
			want[string(key)] = string(value)
		}
		for range draw("changed", 2) {
			key, found := any()
			if !found {
				break
			}
			if rapid.Bool().Draw(t, "removed") {
				require.NoError(t, m.Delete(ctx, []byte(key)))
				delete(want, key)
			} else {
				require.NoError(t, m.Apply(ctx, logmap.Replaced([]byte(key), []byte{1, byte(height)})))
				want[key] = string([]byte{1, byte(height)})
			}
		}
		end := queueKey(height+1, 0)
		due, err := m.Page(ctx, nil, end, 1<<30)
		require.NoError(t, err)
		same(t, want.page(nil, end, 1<<30), due)
		idle, err := m.Idle(ctx, end)
		require.NoError(t, err)
		require.False(t, idle && len(due) > 0)
		fired := len(due)
		if draw("overload", 2) == 0 {
			fired = draw("fired", len(due))
		}
		for i := range fired {
			require.NoError(t, m.Delete(ctx, due[i].Key))
			delete(want, string(due[i].Key))
		}
		if key, found := any(); found {
			value, found, err := m.Get(ctx, []byte(key))
			require.NoError(t, err)
			require.True(t, found)
			require.Equal(t, want[key], string(value))
		}
		_, found, err := m.Get(ctx, queueKey(height, number+1))
		require.NoError(t, err)
		require.False(t, found)
		if !idle {
			empty, err := m.Consume(ctx, end)
			require.NoError(t, err)
			require.Equal(t, len(want) == 0, empty)
			if empty && rapid.Bool().Draw(t, "cleared") {
				require.NoError(t, m.Clear(ctx))
				require.Empty(t, store.values())
			}
		}
		_, err = m.Maintain(ctx, height)
		require.NoError(t, err)
		require.NoError(t, m.Check(ctx))
		n, err := m.Count(ctx, nil, nil)
		require.NoError(t, err)
		require.Equal(t, uint64(len(want)), n)
	}
	all, err := m.Page(ctx, nil, nil, 1<<30)
	require.NoError(t, err)
	same(t, want.page(nil, nil, 1<<30), all)
}

func TestQueue_IsASortedMap(t *testing.T) { rapid.Check(t, queueIsASortedMap) }

func FuzzQueue_IsASortedMap(f *testing.F) { f.Fuzz(rapid.MakeFuzz(queueIsASortedMap)) }

// TestQueue_RefusesWhatIsConsumed: an entry below what was consumed would be lost.
func TestQueue_RefusesWhatIsConsumed(t *testing.T) {
	consume := func(m *logmap.Map) {
		_, err := m.Consume(ctx, queueKey(8, 0))
		require.NoError(t, err)
	}
	m := logmap.New(newStore(), logmap.Options{Queue: true})
	require.NoError(t, m.Insert(ctx, queueKey(5, 1), []byte{1}))
	consume(m)
	require.NoError(t, m.Insert(ctx, queueKey(5, 2), []byte{1}), "one is left at that height")
	require.NoError(t, m.Delete(ctx, queueKey(5, 1)))
	require.NoError(t, m.Delete(ctx, queueKey(5, 2)))
	consume(m)
	require.ErrorIs(t, m.Insert(ctx, queueKey(7, 3), []byte{1}), logmap.ErrConsumed)
	require.NoError(t, m.Insert(ctx, queueKey(8, 4), []byte{1}))
}

// TestQueue_QuietBlocksReadTheHead: where nothing is due, one value is read, whatever is pending. A look-up reads a few.
//
// Rule: 2.4-first-key, 2.4-zones
func TestQueue_QuietBlocksReadTheHead(t *testing.T) {
	store := newStore()
	m := logmap.New(store, logmap.Options{Queue: true})
	for number := range uint64(20_000) {
		require.NoError(t, m.Insert(ctx, queueKey(1_000+number%777, number), make([]byte, 100)))
		_, err := m.Maintain(ctx, number)
		require.NoError(t, err)
	}
	store.reads = 0
	page, err := m.Page(ctx, nil, queueKey(1_000, 0), 10)
	require.NoError(t, err)
	require.Empty(t, page)
	require.Equal(t, 1, store.reads)

	store.reads = 0
	for number := uint64(0); number < 20_000; number += 500 {
		_, found, err := m.Get(ctx, queueKey(1_000+number%777, number))
		require.NoError(t, err)
		require.True(t, found)
	}
	require.LessOrEqual(t, store.reads/40, 16, "of a look-up")
}

// TestQueue_LeavesNothingBehind: what lies below what was consumed is dropped, a bounded part in each block.
//
// Rule: 2.4-consumed
func TestQueue_LeavesNothingBehind(t *testing.T) {
	store := newStore()
	m := logmap.New(store, logmap.Options{Queue: true})
	number := uint64(0)
	var keys [][]byte
	for height := uint64(1); height < 600; height++ {
		for range 50 {
			number++
			key := queueKey(height+1+number%97, number)
			keys = append(keys, key)
			require.NoError(t, m.Insert(ctx, key, make([]byte, 100)))
		}
		end := queueKey(height+1, 0)
		keys = slices.DeleteFunc(keys, func(key []byte) bool {
			due := string(key) < string(end)
			if due {
				require.NoError(t, m.Delete(ctx, key))
			}
			return due
		})
		store.writes = 0
		_, err := m.Consume(ctx, end)
		require.NoError(t, err)
		require.LessOrEqual(t, store.writes, 64+10)
		_, err = m.Maintain(ctx, height)
		require.NoError(t, err)
	}
	held := 0
	for _, value := range store.values() {
		held += len(value)
	}
	require.Less(t, held, 4*len(keys)*120, "bytes for %d entries", len(keys))
}
