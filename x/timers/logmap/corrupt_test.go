package logmap_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// corruptMap is a map of all kinds of values, and its keys.
func corruptMap(t *rapid.T) (store *treeStore, open func() *logmap.Map, inserted [][]byte) {
	opts := drawOptions(t)
	opts.Queue = rapid.Bool().Draw(t, "queue")
	store = newStore()
	open = func() *logmap.Map { return logmap.New(store, opts) }
	for number := range uint64(rapid.IntRange(1, 150).Draw(t, "entries")) {
		key := queueKey(10+number%7, number)
		require.NoError(t, open().Insert(ctx, key, make([]byte, number%9)))
		inserted = append(inserted, key)
		if number%8 == 0 {
			_, err := open().Maintain(ctx, number)
			require.NoError(t, err)
		}
	}
	return store, open, inserted
}

// anyBytesAreRead: whatever a value becomes, what is done to the map returns, and does not panic.
func anyBytesAreRead(t *rapid.T) {
	store, open, inserted := corruptMap(t)
	victim := store.tree.Keys()[rapid.IntRange(0, store.tree.Len()-1).Draw(t, "victim")]
	value, _ := store.tree.Get(victim)
	switch bad := append([]byte{}, value...); rapid.IntRange(0, 3).Draw(t, "how") {
	case 0:
		store.tree.Set(victim, rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "bytes"))
	case 1:
		bad[rapid.IntRange(0, len(bad)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		store.tree.Set(victim, bad)
	case 2:
		store.tree.Set(victim, bad[:rapid.IntRange(1, len(bad)).Draw(t, "cut")])
	default:
		store.tree.Delete(victim)
	}
	for i, operation := range rapid.SliceOfN(rapid.IntRange(0, 6), 1, 12).Draw(t, "operations") {
		m, key := open(), inserted[i%len(inserted)]
		switch operation {
		case 0:
			_, _, _ = m.Get(ctx, key)
		case 1:
			_, _ = m.Page(ctx, key, nil, 200)
		case 2:
			_, _ = m.Count(ctx, key, nil)
		case 3:
			_, _ = m.Maintain(ctx, uint64(i))
		case 4:
			_, _ = m.Consume(ctx, key)
		case 5:
			_ = m.Check(ctx)
		default:
			for number := range uint64(9) {
				_ = m.Insert(ctx, queueKey(20, 1_000+uint64(i)*9+number), key)
			}
		}
	}
}

func TestMap_ReadsAnyBytes(t *testing.T) { rapid.Check(t, anyBytesAreRead) }

func FuzzAnyBytesAreRead(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anyBytesAreRead)) }

// TestMap_ReportsAMissingValue: of the chunks of the log that are full, of chunks and of pages none can be missing, nor the directory
// of the lowest level.
func TestMap_ReportsAMissingValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, open, _ := corruptMap(t)
		keys := store.tree.Keys()
		victim := keys[rapid.IntRange(0, len(keys)-1).Draw(t, "victim")]
		prefix := victim[:2+int(victim[1])]
		switch directory := victim[0] == 2 && len(victim) == len(prefix)+1; {
		case victim[0] == 0 || victim[0] == 4:
			return // A head, or that it waits.
		case victim[0] == 1 && !hasAfter(keys, prefix, victim), directory && (hasAfter(keys, prefix, victim+"\xff") || victim[len(prefix)] == 0):
			return // The end of the log, or a level that may have nothing.
		}
		store.tree.Delete(victim)
		_, err := open().Page(ctx, nil, nil, 1<<30)
		require.ErrorIs(t, err, logmap.ErrCorrupt, "%x", victim)
		require.Error(t, open().Check(ctx))
	})
}

// hasAfter reports whether a key with a prefix is behind another one.
func hasAfter(keys []string, prefix, of string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, prefix) && key > of })
}
