package logmap

import (
	"bytes"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/logmap/wire"
)

// Last returns what the last of some changes makes of a key: its value, and whether it is there. Changed is false if none of
// them changes it.
func Last(changes []Change, key []byte) (value []byte, found, changed bool) {
	for _, change := range slices.Backward(changes) {
		if m := change.message; bytes.Equal(m.Key, key) {
			return m.Value, m.Kind != wire.Remove, true
		}
	}
	return nil, false, false
}

// Overlay returns the entries of an interval as they are after changes that are not yet made. It writes nothing, so that
// those who read under a branch that is dropped leave the changes to whoever made them. The entries are those that are
// stored with keys from from on and below to, in order; a nil to has no end.
func Overlay(entries []Entry, changes []Change, from, to []byte) []Entry {
	within, last := wire.Span{From: from, To: to}, make([]Change, 0, len(changes))
	for _, change := range slices.Backward(changes) {
		if within.Contains(change.message.Key) {
			last = append(last, change)
		}
	}
	if len(last) == 0 {
		return entries
	}
	// The sort is stable, and the last change of a key comes first.
	slices.SortStableFunc(last, func(a, b Change) int { return bytes.Compare(a.message.Key, b.message.Key) })
	last = slices.CompactFunc(last, func(a, b Change) bool { return bytes.Equal(a.message.Key, b.message.Key) })
	current := make([]Entry, 0, len(entries)+len(last))
	for _, change := range last {
		key := change.message.Key
		for len(entries) > 0 && bytes.Compare(entries[0].Key, key) < 0 {
			current, entries = append(current, entries[0]), entries[1:]
		}
		if len(entries) > 0 && bytes.Equal(entries[0].Key, key) {
			entries = entries[1:]
		}
		if change.message.Kind != wire.Remove {
			current = append(current, Entry{key, change.message.Value})
		}
	}
	return append(current, entries...)
}
