package genesis

import (
	"bytes"
	"cmp"

	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// maxPlaceBytes bounds the place of a condition with the seq of its timer: a list, 64 bytes that are escaped and end in
// two, a cut and the seq.
const maxPlaceBytes = 1 + 2*condition.MaxValueBytes + 2 + 1 + 8

func nameOf(key types.WatchKey) string { return key.Store + "\x00" + string(key.Prefix) }

// valuesOf are the names of the keys in watch_values.
func valuesOf(g *types.GenesisState) map[string]struct{} {
	names := make(map[string]struct{}, len(g.WatchValues))
	for i := range g.WatchValues {
		names[nameOf(g.WatchValues[i].Key)] = struct{}{}
	}
	return names
}

// checkKey checks the key of a record that is about conditions: it states none itself.
func checkKey(list string, i int, key types.WatchKey) error {
	if key.When != nil {
		return types.ErrInvalidGenesis.Wrapf("%s %d: the key states a condition", list, i)
	}
	if err := key.Validate(); err != nil {
		return types.ErrInvalidGenesis.Wrapf("%s %d: %s", list, i, err)
	}
	return nil
}

// validateConditions checks what genesis has of conditions in addition to their timers.
func validateConditions(g *types.GenesisState) error {
	if err := validateValues(g.WatchValues); err != nil {
		return err
	}
	for i := range g.WatchChanged {
		if err := checkKey("watch_changed", i, g.WatchChanged[i]); err != nil {
			return err
		}
		if i > 0 && g.WatchChanged[i-1].Compare(g.WatchChanged[i]) >= 0 {
			return types.ErrInvalidGenesis.Wrapf("watch_changed %d: keys must ascend", i)
		}
	}
	if turn := g.WatchCursors.Condition; turn.Store != "" || len(turn.Prefix) != 0 {
		if err := checkKey("watch_cursors.condition", 0, turn); err != nil {
			return err
		}
	}
	return validateSegments(g.WatchSegments)
}

// validateValues checks the last values of keys with conditions.
func validateValues(values []types.KeyWatchValue) error {
	for i := range values {
		if err := checkKey("watch_values", i, values[i].Key); err != nil {
			return err
		}
		if i > 0 && values[i-1].Key.Compare(values[i].Key) >= 0 {
			return types.ErrInvalidGenesis.Wrapf("watch_values %d: keys must ascend", i)
		}
		v := &values[i].Value
		number, is := condition.Number(v.Number)
		switch {
		case v.Number != "" && (!is || number != v.Number):
			return types.ErrInvalidGenesis.Wrapf("watch_values %d: number %.100q, want a decimal number in its shortest form", i, v.Number)
		case len(v.Bytes) > condition.KeptBytes || !v.Exists && len(v.Bytes) > 0:
			return types.ErrInvalidGenesis.Wrapf("watch_values %d: %d bytes, want at most %d, and none of a key that is not there", i, len(v.Bytes), condition.KeptBytes)
		case len(v.Conditions) > 0:
			return types.ErrInvalidGenesis.Wrapf("watch_values %d: conditions are counted anew and must be empty", i)
		}
	}
	return nil
}

// validateSegments checks the conditions that are to be visited: ranges of places of one list.
func validateSegments(segments []types.KeyWatchSegment) error {
	for i := range segments {
		s := &segments[i]
		if err := checkKey("watch_segments", i, s.Key); err != nil {
			return err
		}
		from, to := s.Segment.From, s.Segment.To
		inList := len(from) > 0 && from[0] > 0 && int(from[0]) <= condition.Lists && len(to) > 0 &&
			(to[0] == from[0] || bytes.Equal(to, []byte{from[0] + 1}))
		if !inList || bytes.Compare(from, to) >= 0 || len(from) > maxPlaceBytes || len(to) > maxPlaceBytes || s.Height == 0 {
			return types.ErrInvalidGenesis.Wrapf("watch_segments %d: from %x to %x at height %d is no range of conditions", i, from, to, s.Height)
		}
		if i == 0 {
			continue
		}
		before := &segments[i-1]
		if cmp.Or(before.Key.Compare(s.Key), cmp.Compare(before.Height, s.Height), cmp.Compare(before.Segment.From[0], from[0])) >= 0 {
			return types.ErrInvalidGenesis.Wrapf("watch_segments %d: not above the one before by key, height and list", i)
		}
	}
	return nil
}
