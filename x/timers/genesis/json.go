package genesis

import (
	"encoding/json"
	"io"

	"github.com/cosmos/gogoproto/proto"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// timersField is the list that is never in memory as a whole.
const timersField = "timers"

// FromJSON reads a genesis state in protobuf's JSON. The timers are decoded when they are passed, from raw, which must not
// change meanwhile. Errors are types.ErrInvalidGenesis and say which record can't be decoded.
func FromJSON(cdc codec.JSONCodec, raw json.RawMessage) (Source, error) {
	fields, err := Fields(raw)
	if err != nil {
		return Source{}, types.ErrInvalidGenesis.Wrapf("%.300s", err)
	}
	if err := checkNumbers(raw, namesIn(cdc)); err != nil {
		return Source{}, err
	}
	head := &types.GenesisState{}
	lists := listsOf(cdc, head)
	elements := make([]json.RawMessage, len(lists))
	for i := range lists {
		elements[i] = takeArray(fields, lists[i].name, lists[i].jsonName)
	}
	timers := takeArray(fields, timersField, timersField)
	rest, err := json.Marshal(fields)
	if err != nil {
		return Source{}, types.ErrInvalidGenesis.Wrapf("%.300s", err)
	}
	if err := cdc.UnmarshalJSON(rest, head); err != nil {
		return Source{}, types.ErrInvalidGenesis.Wrapf("%.300s", err)
	}
	for i := range lists {
		if err := eachElement(elements[i], lists[i].add); err != nil {
			return Source{}, err
		}
	}
	return Source{Head: head, Timers: func(fn func(int, *types.Timer) error) error {
		return eachElement(timers, func(i int, element []byte) error {
			var timer types.Timer
			if err := cdc.UnmarshalJSON(element, &timer); err != nil {
				return notDecoded(timersField, i, err)
			}
			return fn(i, &timer)
		})
	}}, nil
}

func notDecoded(list string, i int, err error) error {
	return types.ErrInvalidGenesis.Wrapf("%s %d: %.300s", list, i, err)
}

// takeArray removes an array from the members of an object, under either of its names: the second counts if both are
// there, as in protobuf's JSON. What is no array stays for the codec to refuse.
func takeArray(fields map[string]json.RawMessage, name, jsonName string) json.RawMessage {
	value := fields[name]
	if other, found := fields[jsonName]; found {
		value = other
	}
	if len(value) == 0 || value[0] != '[' {
		return nil
	}
	delete(fields, name)
	delete(fields, jsonName)
	return value
}

// Write writes a genesis state in protobuf's JSON, byte for byte what the codec makes of the whole. It has one record of
// a list encoded at a time.
func Write(w io.Writer, cdc codec.JSONCodec, s Source) error {
	frame := *s.Head
	for _, l := range listsOf(cdc, &frame) {
		l.clear()
	}
	raw, err := cdc.MarshalJSON(&frame)
	if err != nil {
		return err
	}
	lists := listsOf(cdc, s.Head)
	done := 0
	err = eachField(raw, func(name string, start, end int) error {
		each := eachIn(s, lists, name)
		if each == nil {
			return nil
		}
		if _, err := w.Write(raw[done:start]); err != nil {
			return err
		}
		done = end
		return writeArray(w, cdc, each)
	})
	if err != nil {
		return err
	}
	_, err = w.Write(raw[done:])
	return err
}

// eachIn passes the records of the named list, nil if there is no list of that name.
func eachIn(s Source, lists []list, name string) func(func(int, proto.Message) error) error {
	if name == timersField {
		return func(fn func(int, proto.Message) error) error {
			return s.Timers(func(i int, t *types.Timer) error { return fn(i, t) })
		}
	}
	for i := range lists {
		if lists[i].name == name {
			return lists[i].each
		}
	}
	return nil
}

func writeArray(w io.Writer, cdc codec.JSONCodec, each func(func(int, proto.Message) error) error) error {
	if _, err := io.WriteString(w, "["); err != nil {
		return err
	}
	err := each(func(i int, record proto.Message) error {
		if i > 0 {
			if _, err := io.WriteString(w, ","); err != nil {
				return err
			}
		}
		raw, err := encode(cdc, record)
		if err != nil {
			return err
		}
		_, err = w.Write(raw)
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "]")
	return err
}

func encode(cdc codec.JSONCodec, record proto.Message) ([]byte, error) {
	if packed, ok := record.(*codectypes.Any); ok {
		state, known := packed.GetCachedValue().(types.PolicyState)
		if !known {
			return nil, types.ErrInternal.Wrapf("%s is of no policy of this chain", packed.TypeUrl)
		}
		return cdc.MarshalInterfaceJSON(state)
	}
	return cdc.MarshalJSON(record)
}

// list is a repeated field of the state, decoded and encoded record by record: the codec needs five times the memory of
// what it decodes at once.
type list struct {
	name, jsonName string
	add            func(i int, element []byte) error
	each           func(fn func(i int, record proto.Message) error) error
	clear          func()
}

// listsOf are the repeated fields of a state but for the timers.
func listsOf(cdc codec.JSONCodec, g *types.GenesisState) []list {
	return []list{
		listOf(cdc, "receipts", "receipts", &g.Receipts),
		listOf(cdc, "fairness", "fairness", &g.Fairness),
		listOf(cdc, "watch_hits", "watchHits", &g.WatchHits),
		listOf(cdc, "watch_pending", "watchPending", &g.WatchPending),
		listOf(cdc, "watch_rounds", "watchRounds", &g.WatchRounds),
		listOf(cdc, "watch_values", "watchValues", &g.WatchValues),
		listOf(cdc, "watch_segments", "watchSegments", &g.WatchSegments),
		listOf(cdc, "watch_changed", "watchChanged", &g.WatchChanged),
		listOf(cdc, "watch_tombstones", "watchTombstones", &g.WatchTombstones),
		listOf(cdc, "watch_counts", "watchCounts", &g.WatchCounts),
		listOf(cdc, "watch_notes", "watchNotes", &g.WatchNotes),
		listOf(cdc, "ready", "ready", &g.Ready),
		policiesOf(cdc, &g.Policies),
	}
}

// policiesOf is the list of what policies keep, whose records are messages of types of their own.
func policiesOf(cdc codec.JSONCodec, records *[]*codectypes.Any) list {
	const name = "policies"
	return list{
		name: name, jsonName: name,
		add: func(i int, element []byte) error {
			var state types.PolicyState
			if err := cdc.UnmarshalInterfaceJSON(element, &state); err != nil {
				return notDecoded(name, i, err)
			}
			packed, err := codectypes.NewAnyWithValue(state)
			*records = append(*records, packed)
			return err
		},
		each: func(fn func(int, proto.Message) error) error {
			for i, packed := range *records {
				if err := fn(i, packed); err != nil {
					return err
				}
			}
			return nil
		},
		clear: func() { *records = nil },
	}
}

func listOf[T any, P interface {
	*T
	proto.Message
}](cdc codec.JSONCodec, name, jsonName string, records *[]T) list {
	return list{
		name: name, jsonName: jsonName,
		add: func(i int, element []byte) error {
			var record T
			if err := cdc.UnmarshalJSON(element, P(&record)); err != nil {
				return notDecoded(name, i, err)
			}
			*records = append(*records, record)
			return nil
		},
		each: func(fn func(int, proto.Message) error) error {
			for i := range *records {
				if err := fn(i, P(&(*records)[i])); err != nil {
					return err
				}
			}
			return nil
		},
		clear: func() { *records = nil },
	}
}
