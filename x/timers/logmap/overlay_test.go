package logmap

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestOverlay_IsTheMapAfterTheChanges compares with a plain map to which the changes are made.
func TestOverlay_IsTheMapAfterTheChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.ByteRange('a', 'd'), 1, 2).Draw(t, "key")) })
		model := rapid.MapOfN(key, rapid.StringN(0, 2, 3), 0, 8).Draw(t, "stored")
		within := func(k string, from, to []byte) bool {
			return k >= string(from) && (to == nil || k < string(to))
		}
		from := []byte(rapid.StringOfN(rapid.RuneFrom([]rune("abcd")), 0, 2, -1).Draw(t, "from"))
		var to []byte
		if rapid.Bool().Draw(t, "has an end") {
			to = []byte(key.Draw(t, "to"))
		}
		entriesOf := func() (all []Entry) {
			for _, k := range slices.Sorted(maps.Keys(model)) {
				if within(k, from, to) {
					all = append(all, Entry{[]byte(k), []byte(model[k])})
				}
			}
			return all
		}
		stored := entriesOf()
		var changes []Change
		for range rapid.IntRange(0, 8).Draw(t, "changes") {
			k, v := key.Draw(t, "changed"), rapid.StringN(0, 2, 3).Draw(t, "value")
			_, there := model[k]
			switch {
			case there && rapid.Bool().Draw(t, "removes"):
				changes = append(changes, Deleted([]byte(k)))
				delete(model, k)
				continue
			case there:
				changes = append(changes, Replaced([]byte(k), []byte(v)))
			default:
				changes = append(changes, Inserted([]byte(k), []byte(v)))
			}
			model[k] = v
		}
		want, got := entriesOf(), Overlay(stored, changes, from, to)
		require.True(t, slices.EqualFunc(want, got, func(a, b Entry) bool {
			return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
		}), "%v %v", want, got)

		k := key.Draw(t, "looked up")
		value, found, changed := Last(changes, []byte(k))
		want2, there := model[k]
		if changed {
			require.Equal(t, there, found)
			if found {
				require.Equal(t, want2, string(value))
			}
		} else {
			require.False(t, slices.ContainsFunc(changes, func(c Change) bool { return string(c.message.Key) == k }))
		}
	})
}
