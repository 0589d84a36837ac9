package logmap_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// hashed makes keys as the owner index has them: a hash, a number, and how many were made before.
type hashed struct {
	rng *rand.Rand
	n   uint32
	// begin, if set, is how all keys begin.
	begin []byte
}

func (h *hashed) key() []byte {
	h.n++
	key := binary.BigEndian.AppendUint64(nil, h.rng.Uint64())
	copy(key, h.begin)
	return binary.BigEndian.AppendUint32(key, h.n)
}

func newKeys(begin ...byte) *hashed { return &hashed{rng: rand.New(rand.NewPCG(1, 2)), begin: begin} }

func sixtyFour(key []byte) uint64 {
	if len(key) == 0 {
		return 0
	}
	return uint64(key[0] >> 2)
}

func insert(t *testing.T, m *logmap.Map, keys *hashed, n int) (inserted [][]byte) {
	t.Helper()
	for range n {
		key := keys.key()
		require.NoError(t, m.Insert(ctx, key, []byte("value")))
		inserted = append(inserted, key)
	}
	return inserted
}

// count counts the entries below a prefix of eight bytes.
func count(t *testing.T, m *logmap.Map, key []byte) uint64 {
	t.Helper()
	n, err := m.Count(ctx, key[:8], append(key[:8:8], 255, 255, 255, 255, 255))
	require.NoError(t, err)
	return n
}

// TestMaintainIsBounded: whatever the block before changed, and however much is there.
//
// Rule: 2.3-merge-bounded
func TestMaintainIsBounded(t *testing.T) {
	for name, keys := range map[string]*hashed{"spread": newKeys(), "in one range": newKeys(7), "close to each other": newKeys(7, 7, 7)} {
		t.Run(name, func(t *testing.T) {
			store := newStore()
			opts := logmap.Options{Range: sixtyFour}
			m := logmap.New(store, opts)
			var live [][]byte
			for height := range uint64(150) {
				live = append(live, insert(t, m, keys, 300)...)
				for range 200 {
					at := keys.rng.IntN(len(live))
					require.NoError(t, m.Delete(ctx, live[at]))
					live[at] = live[len(live)-1]
					live = live[:len(live)-1]
				}
				store.reads, store.writes = 0, 0
				_, err := m.Maintain(ctx, height)
				require.NoError(t, err)
				require.LessOrEqual(t, store.reads, opts.MaintainChunks(3))
				require.LessOrEqual(t, store.writes, opts.MaintainChunks(3))
			}
			require.NoError(t, m.Check(ctx))
			require.Len(t, all(t, m), len(live))
		})
	}
}

// TestReadsStayBoundedInAStorm: twenty thousand changes of one block, spread or all in one range, and no Maintain.
//
// Rule: 2.3-full-log-merges
func TestReadsStayBoundedInAStorm(t *testing.T) {
	for name, keys := range map[string]*hashed{"spread": newKeys(), "in one range": newKeys(7), "close to each other": newKeys(7, 7, 7)} {
		t.Run(name, func(t *testing.T) {
			store := newStore()
			m := logmap.New(store, logmap.Options{Range: sixtyFour})
			inserted := insert(t, m, keys, 20_000)
			// The merges that changes made themselves cost each of them little.
			require.LessOrEqual(t, store.reads, 20_000*5)
			require.LessOrEqual(t, store.writes, 20_000*2)
			for _, key := range inserted[19_900:] {
				store.reads = 0
				require.Equal(t, uint64(1), count(t, m, key))
				require.LessOrEqual(t, store.reads, 40)
			}
		})
	}
}

// TestPage_DecodesTheIntervalAlone: one entry is found among twenty thousand, some of which are in runs that are not merged
// yet, without putting its neighbours into memory: they would take 150,000 bytes.
//
// Rule: 2.3-narrow-reads
func TestPage_DecodesTheIntervalAlone(t *testing.T) {
	m := logmap.New(newStore(), logmap.Options{Range: sixtyFour})
	keys := insert(t, m, newKeys(), 20_000)[:1_000]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, key := range keys {
		found, err := m.Page(ctx, key, append(slices.Clip(key), 0), 10)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, key, found[0].Key)
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / uint64(len(keys))
	require.Less(t, each, uint64(15_000), "bytes for a page")
}

// TestCountReadsDirectories: a thousand entries of one owner are counted by reading the ends.
//
// Rule: 2.3-no-count-stored
func TestCountReadsDirectories(t *testing.T) {
	store := newStore()
	m := logmap.New(store, logmap.Options{Range: sixtyFour})
	insert(t, m, newKeys(), 50_000)
	crowded := newKeys(1, 2, 3, 4, 5, 6, 7, 8)
	insert(t, m, crowded, 2_048)
	for height := range uint64(1_000) {
		if idle, err := m.Maintain(ctx, height); idle {
			require.NoError(t, err)
			break
		}
	}
	store.reads = 0
	require.Equal(t, uint64(2_048), count(t, m, []byte{1, 2, 3, 4, 5, 6, 7, 8}))
	require.LessOrEqual(t, store.reads, 40)
}

// TestAnIdleMapReadsOnce: a block in which nothing waits costs one scan.
func TestAnIdleMapReadsOnce(t *testing.T) {
	store := newStore()
	m := logmap.New(store, logmap.Options{Range: sixtyFour})
	insert(t, m, newKeys(), 100)
	store.reads, store.writes = 0, 0
	idle, err := m.Maintain(ctx, 9)
	require.NoError(t, err)
	require.True(t, idle)
	require.Equal(t, 1, store.reads)
	require.Zero(t, store.writes)
}

// TestWhatAnEntryCosts: the values that are written for an entry that comes and goes, a block at a time, and their bytes.
// With a hundred thousand entries it is less than one value for each third entry, where a tree of single entries writes
// two values, and as many nodes for each as it is deep.
func TestWhatAnEntryCosts(t *testing.T) {
	store := newStore()
	m := logmap.New(store, logmap.Options{Range: sixtyFour})
	keys := newKeys()
	live := insert(t, m, keys, 100_000)
	for height := uint64(0); ; height++ {
		if idle, err := m.Maintain(ctx, height); idle {
			require.NoError(t, err)
			break
		}
	}
	const blocks, changes = 100, 500
	written, bytes := 0, 0
	for height := range uint64(blocks) {
		before := store.tree.Copy()
		live = append(live, insert(t, m, keys, changes)...)
		for range changes {
			at := keys.rng.IntN(len(live))
			require.NoError(t, m.Delete(ctx, live[at]))
			live[at] = live[len(live)-1]
			live = live[:len(live)-1]
		}
		_, err := m.Maintain(ctx, height)
		require.NoError(t, err)
		store.tree.Scan(func(key string, value []byte) bool {
			if old, same := before.Get(key); !same || string(old) != string(value) {
				written++
				bytes += len(key) + len(value)
			}
			return true
		})
	}
	t.Logf("%.2f values and %.0f bytes for each entry", float64(written)/(blocks*changes), float64(bytes)/(blocks*changes))
	require.LessOrEqual(t, written*3, blocks*changes)
	require.LessOrEqual(t, bytes, 500*blocks*changes)
}

// TestCorruptValuesAreErrors: what the map did not write is an error, and no panic.
func TestCorruptValuesAreErrors(t *testing.T) {
	for _, bad := range [][]byte{{0xff}, {0x01}, {0x05, 0x05}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}} {
		failed := 0
		for victim := 0; ; victim++ {
			store := newStore()
			m := logmap.New(store, logmap.Options{LogBytes: 32, MergeLogs: 2, ChunkBytes: 64, Runs: 2, Ratio: 1})
			inserted := insert(t, m, newKeys(), 60)
			keys := store.tree.Keys()
			if victim == len(keys) {
				break
			}
			store.tree.Set(keys[victim], bad)
			_, err := m.Page(ctx, nil, nil, 100)
			_, _, getErr := m.Get(ctx, inserted[0])
			if err != nil || getErr != nil || m.Check(ctx) != nil {
				failed++
			}
			_, _ = m.Maintain(ctx, 1)
		}
		require.Positive(t, failed)
	}
}
