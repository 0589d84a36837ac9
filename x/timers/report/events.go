package report

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

const (
	// usualBytes hold the values of nearly every event.
	usualBytes = 512
	// usualFields are as many as nearly every event has at most.
	usualFields = 32
)

// Emit emits a typed event.
func Emit(ctx context.Context, event proto.Message) error {
	typed, err := TypedEvent(event)
	if err != nil {
		return err
	}
	sdk.UnwrapSDKContext(ctx).EventManager().EmitEvent(typed)
	return nil
}

// TypedEvent is sdk.TypedEventToEvent, byte for byte. The SDK's writes JSON, and reads it back into a map to sort it, which is
// half of what a timer's exit takes. Here the layout of each message is looked at once. An event with a field
// that a layout does not know goes the SDK's way.
func TypedEvent(event proto.Message) (sdk.Event, error) {
	layout, value := layoutOf(event)
	if layout == nil {
		return sdk.TypedEventToEvent(event)
	}
	// One text holds all values.
	text, ends := make([]byte, 0, usualBytes), make([]int, 0, usualFields)
	for _, f := range layout.sorted {
		text = f.write(text, value.Field(f.index))
		ends = append(ends, len(text))
	}
	values, attributes, start := string(text), make([]abci.EventAttribute, len(ends)), 0
	for i, end := range ends {
		attributes[i] = abci.EventAttribute{Key: layout.sorted[i].key, Value: values[start:end]}
		start = end
	}
	return sdk.Event{Type: layout.name, Attributes: attributes}, nil
}

// JSONString is a text as JSON.
func JSONString(s string) string { return string(appendString(nil, s)) }

// appendString can't fail: every string has a JSON form. Addresses, ids and amounts are their own.
func appendString(out []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(out, '"'), s...), '"')
	}
	bz, err := json.Marshal(s)
	if err != nil {
		return append(out, `""`...)
	}
	return append(out, bz...)
}

// plain are the bytes that JSON writes as they are.
var plain = func() (plain [256]bool) {
	for c := byte(' '); c <= '~'; c++ {
		plain[c] = !strings.ContainsRune(`"\<>&`, rune(c))
	}
	return plain
}()

// isPlain reports whether JSON writes a string as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if !plain[s[i]] {
			return false
		}
	}
	return true
}

// layout is how a message is written as protobuf's JSON.
type layout struct {
	// name of the message.
	name string
	// fields are in the order of their declaration, sorted by key in that of an event.
	fields, sorted []field
}

type field struct {
	key   string
	index int
	// write appends the JSON of the field's value.
	write writer
}

type writer func([]byte, reflect.Value) []byte

// layouts are those of all messages that were looked at, by type; nil for one with a field of another kind.
var layouts sync.Map

// layoutOf is the layout of a message, and its struct.
func layoutOf(message proto.Message) (*layout, reflect.Value) {
	value := reflect.ValueOf(message)
	if value.Kind() != reflect.Pointer || value.IsNil() {
		return nil, reflect.Value{}
	}
	value = value.Elem()
	if known, found := layouts.Load(value.Type()); found {
		l, _ := known.(*layout)
		return l, value
	}
	made := newLayout(value.Type())
	if made != nil {
		made.name = proto.MessageName(message)
	}
	layouts.Store(value.Type(), made)
	return made, value
}

func newLayout(message reflect.Type) *layout {
	if message.Kind() != reflect.Struct {
		return nil
	}
	l := &layout{}
	for i, properties := range proto.GetProperties(message).Prop {
		write := writerOf(message.Field(i).Type, properties)
		if write == nil {
			return nil
		}
		l.fields = append(l.fields, field{key: properties.OrigName, index: i, write: write})
	}
	l.sorted = slices.Clone(l.fields)
	slices.SortFunc(l.sorted, func(a, b field) int { return strings.Compare(a.key, b.key) })
	return l
}

// writerOf is how a field is written, nil if it is of a kind that no event of the module has.
func writerOf(t reflect.Type, properties *proto.Properties) writer {
	switch {
	case properties == nil || properties.OrigName == "" || properties.CustomType != "":
		return nil
	case properties.Enum != "":
		return enumWriter(t)
	}
	switch t.Kind() {
	case reflect.String:
		return func(out []byte, v reflect.Value) []byte { return appendString(out, v.String()) }
	case reflect.Bool:
		return func(out []byte, v reflect.Value) []byte { return strconv.AppendBool(out, v.Bool()) }
	case reflect.Uint32:
		return func(out []byte, v reflect.Value) []byte { return strconv.AppendUint(out, v.Uint(), 10) }
	case reflect.Uint64:
		return func(out []byte, v reflect.Value) []byte {
			return append(strconv.AppendUint(append(out, '"'), v.Uint(), 10), '"')
		}
	case reflect.Int64:
		return func(out []byte, v reflect.Value) []byte {
			return append(strconv.AppendInt(append(out, '"'), v.Int(), 10), '"')
		}
	case reflect.Slice:
		return sliceWriter(t.Elem())
	default:
		return nil
	}
}

// enumWriter writes an enum by its name, and a number without a name as it is.
func enumWriter(t reflect.Type) writer {
	if t.Kind() != reflect.Int32 || !t.Implements(reflect.TypeFor[fmt.Stringer]()) {
		return nil
	}
	return func(out []byte, v reflect.Value) []byte {
		number := strconv.FormatInt(v.Int(), 10)
		if named, ok := v.Interface().(fmt.Stringer); ok && named.String() != number {
			return append(append(append(out, '"'), named.String()...), '"')
		}
		return append(out, number...)
	}
}

// sliceWriter writes bytes, and repeated messages that are not nullable.
func sliceWriter(elem reflect.Type) writer {
	if elem.Kind() == reflect.Uint8 {
		return func(out []byte, v reflect.Value) []byte {
			return append(base64.StdEncoding.AppendEncode(append(out, '"'), v.Bytes()), '"')
		}
	}
	message := newLayout(elem)
	if message == nil {
		return nil
	}
	return func(out []byte, v reflect.Value) []byte {
		out = append(out, '[')
		for i := range v.Len() {
			if i > 0 {
				out = append(out, ',')
			}
			out = message.append(out, v.Index(i))
		}
		return append(out, ']')
	}
}

func (l *layout) append(out []byte, message reflect.Value) []byte {
	out = append(out, '{')
	for i, f := range l.fields {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), f.key...), '"', ':')
		out = f.write(out, message.Field(f.index))
	}
	return append(out, '}')
}
