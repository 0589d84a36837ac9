package logmap_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

func queueKey(due, number uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, due), number)
}

// classKey is a key of a class.
func classKey(class byte, due, number uint64) []byte {
	return append([]byte{class}, queueKey(due, number)...)
}

// queueIsASortedMap consumes a queue whose entries come, change, leave before they are due, and wait when they are. They are of
// some classes, of which the least is consumed.
func queueIsASortedMap(t *rapid.T) {
	opts := drawOptions(t)
	opts.Queue = true
	store := newStore()
	m, want := logmap.New(store, opts), model{}
	number := uint64(0)
	classes := rapid.SampledFrom([]int{0, 1, 3, 255}).Draw(t, "classes")
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
			class, ahead := byte(draw("class", classes)), uint64(draw("ahead", []int{2, 9, 40}[draw("far", 2)]))
			if class == 255 {
				ahead *= uint64(draw("is far", 1))
			}
			key := classKey(class, height+ahead, number)
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
		end := classKey(0, height+1, 0)
		reached := [][]byte{end}
		for class := range classes {
			reached = append(reached, classKey(byte(class+1), height+1, 0))
		}
		due, err := m.Page(ctx, nil, end, 1<<30)
		require.NoError(t, err)
		same(t, want.page(nil, end, 1<<30), due)
		from, to := classKey(byte(draw("from", classes)), height, 0), classKey(byte(draw("to", classes)), height+5, 0)
		within, err := m.Page(ctx, from, to, 1<<30)
		require.NoError(t, err)
		same(t, want.page(from, to, 1<<30), within)
		idle, err := m.Idle(ctx, reached...)
		require.NoError(t, err)
		for _, key := range reached {
			require.False(t, idle && len(want.page([]byte{key[0]}, key, 1)) > 0)
		}
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
		_, found, err := m.Get(ctx, classKey(byte(draw("of none", classes)), height, number+1))
		require.NoError(t, err)
		require.False(t, found)
		if !idle {
			empty, err := m.Consume(ctx, end, reached...)
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
	left := all(t, m)
	same(t, want.page(nil, nil, 1<<30), left)

	// An import makes the same map in its own way.
	fresh := logmap.New(newStore(), opts)
	for _, e := range left {
		require.NoError(t, fresh.Insert(ctx, e.Key, e.Value))
	}
	settle(t, fresh)
	same(t, left, all(t, fresh))
	require.NoError(t, fresh.Check(ctx))
}

// settle merges all that waits to be merged.
func settle(t require.TestingT, m *logmap.Map) {
	for height := uint64(0); ; height++ {
		idle, err := m.Maintain(ctx, height)
		require.NoError(t, err)
		if idle {
			return
		}
	}
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

// tinyQueue has a million records' levels, pages and pages of pages with a hundred thousand.
var tinyQueue = logmap.Options{Queue: true, LogBytes: 256, MergeLogs: 8, ChunkBytes: 256, PageRefs: 32}

// flow is a steady one: as many records become due in a block as come, most of them soon, some in the far future.
type flow struct {
	m              *logmap.Map
	rng            *rand.Rand
	height, number uint64
	perBlock       int
}

func newFlow(store *treeStore, opts logmap.Options, perBlock int) *flow {
	return &flow{m: logmap.New(store, opts), rng: rand.New(rand.NewPCG(1, 2)), height: 1, perBlock: perBlock}
}

func (f *flow) come(t *testing.T) {
	changes := make([]logmap.Change, f.perBlock)
	for i := range changes {
		f.number++
		ahead := []uint64{20, 400, 100_000}[f.rng.IntN(3)]
		changes[i] = logmap.Inserted(queueKey(f.height+1+f.rng.Uint64N(ahead), f.number), []byte{1, 2, 3, 4})
	}
	require.NoError(t, f.m.Apply(ctx, changes...))
}

// fire removes what is due, in a session as a block does.
func (f *flow) fire(t *testing.T) (end []byte) {
	end = queueKey(f.height+1, 0)
	due, err := f.m.Page(ctx, nil, end, 1<<30)
	require.NoError(t, err)
	var changes []logmap.Change
	for _, e := range due {
		changes = append(changes, logmap.Deleted(e.Key))
	}
	require.NoError(t, f.m.Apply(ctx, changes...))
	return end
}

func (f *flow) block(t *testing.T) {
	f.come(t)
	_, err := f.m.Consume(ctx, f.fire(t))
	require.NoError(t, err)
	_, err = f.m.Maintain(ctx, f.height)
	require.NoError(t, err)
	f.height++
}

// TestQueue_NoValueGrows: with ten times the records no value is longer. Directories have more pages, and more levels of them.
//
// Rule: 2-no-growing-values, 2.3-values, 2.3-pages
func TestQueue_NoValueGrows(t *testing.T) {
	var before map[byte]int
	for _, n := range []int{20_000, 200_000} {
		store := newStore()
		f := newFlow(store, tinyQueue, 100)
		longest, pages := map[byte]int{}, 0
		for f.number < uint64(n) {
			f.come(t)
			_, err := f.m.Maintain(ctx, f.height)
			require.NoError(t, err)
			if f.number%10_000 > 0 {
				continue
			}
			pages = 0
			store.tree.Scan(func(key string, value []byte) bool {
				longest[key[0]] = max(longest[key[0]], len(value))
				if key[0] == 2 && len(key) > 4 {
					pages++
				}
				return true
			})
		}
		require.NoError(t, f.m.Check(ctx))
		t.Logf("%d records: longest values %v, %d pages", n, longest, pages)
		// A ref of such a key takes some 15 bytes; a run of the level itself some 40.
		require.LessOrEqual(t, longest[2], 2*15*32+16*40)
		require.LessOrEqual(t, longest[3], 256+32)
		if before != nil {
			require.Greater(t, pages, 32*8, "pages of pages")
			for kind, length := range before {
				require.LessOrEqual(t, longest[kind], length+length/4, "values that begin with %d", kind)
			}
		}
		before = longest
	}
}

// TestQueue_ConsumeWritesTheHead: and removes what is consumed. It writes no directory, however many there are.
//
// Rule: 2.4-consumed
func TestQueue_ConsumeWritesTheHead(t *testing.T) {
	store := newStore()
	f := newFlow(store, tinyQueue, 100)
	for f.height < 600 {
		f.block(t)
	}
	removed := 0
	for range 300 {
		end := f.fire(t)
		store.writes, store.removes = 0, 0
		_, err := f.m.Consume(ctx, end)
		require.NoError(t, err)
		require.Equal(t, 1, store.writes-store.removes)
		require.LessOrEqual(t, store.removes, 64+20)
		require.NoError(t, f.m.Check(ctx))
		removed += store.removes
		f.height++
	}
	require.Greater(t, removed, 100)
}

// TestQueue_WorkIsSteady: no block of a steady flow writes much more than the median one, whatever merges.
//
// Rule: 2.4-steady
func TestQueue_WorkIsSteady(t *testing.T) {
	for perBlock, blocks := range map[int]uint64{100: 600, 500: 200} {
		store := newStore()
		f := newFlow(store, tinyQueue, perBlock)
		var writes, bytes []int
		for f.height < 2*blocks {
			store.writes, store.bytes_ = 0, 0
			f.block(t)
			if f.height > blocks {
				writes, bytes = append(writes, store.writes), append(bytes, store.bytes_)
			}
		}
		require.NoError(t, f.m.Check(ctx))
		slices.Sort(writes)
		slices.Sort(bytes)
		middle, last := len(writes)/2, len(writes)-1
		t.Logf("%d a block: median %d writes of %d bytes, most %d of %d", perBlock, writes[middle], bytes[middle], writes[last], bytes[last])
		require.LessOrEqual(t, writes[last], 2*writes[middle])
		require.LessOrEqual(t, bytes[last], 2*bytes[middle])
	}
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
