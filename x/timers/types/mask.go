package types

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/cosmos/gogoproto/proto"
	gogoany "github.com/cosmos/gogoproto/types/any"
	"google.golang.org/protobuf/encoding/protowire"
)

// MaskSchema are the fields of a message, and of the messages in it, that hold no message themselves.
type MaskSchema struct {
	message reflect.Type
	// paths and places are those of each field, in the order of the proto file.
	paths  []string
	places [][]int
	// numbers of the fields and of the messages, with those of what they are in.
	numbers []string
	// holders are the paths of messages, by their numbers.
	holders []holder
}

// holder is a message in a message.
type holder struct{ path, number string }

// MaskSchemaOf returns the schema of a message. All messages in it must be there always: they are no pointers. Lists of messages of any type
// are left out: the fields of such a message have a schema of their own.
func MaskSchemaOf(message proto.Message) *MaskSchema {
	s := &MaskSchema{message: reflect.TypeOf(message).Elem()}
	s.add(s.message, holder{}, nil)
	return s
}

var protoMessage = reflect.TypeFor[proto.Message]()

func (s *MaskSchema) add(message reflect.Type, within holder, place []int) {
	for i := range message.NumField() {
		field := message.Field(i)
		name, number := tagOf(field.Tag.Get("protobuf"))
		if name == "" || field.Type == reflect.TypeFor[[]*gogoany.Any]() {
			continue
		}
		at, named := append(slices.Clone(place), i), holder{within.path + name, within.number + number}
		if reflect.PointerTo(field.Type).Implements(protoMessage) {
			s.holders = append(s.holders, named)
			s.add(field.Type, holder{named.path + ".", named.number + "."}, at)
			continue
		}
		s.paths, s.numbers, s.places = append(s.paths, named.path), append(s.numbers, named.number), append(s.places, at)
	}
}

// tagOf is the name in the proto file and the number that a tag states: bytes,47,opt,name=eip1559,proto3.
func tagOf(tag string) (name, number string) {
	parts := strings.Split(tag, ",")
	for _, part := range parts {
		if stated, found := strings.CutPrefix(part, "name="); found {
			return stated, parts[1]
		}
	}
	return "", ""
}

// Paths are those of all fields, in the order of the proto file.
func (s *MaskSchema) Paths() []string { return slices.Clone(s.paths) }

// Mask is a set of fields.
type Mask struct {
	schema *MaskSchema
	named  []bool
}

// Parse reads a mask: paths of fields, none twice. What an error repeats of the paths is short.
func (s *MaskSchema) Parse(paths []string) (Mask, error) {
	m := Mask{schema: s, named: make([]bool, len(s.paths))}
	if len(paths) > len(s.paths) {
		return m, fmt.Errorf("%d paths, want at most %d", len(paths), len(s.paths))
	}
	for _, path := range paths {
		i := slices.Index(s.paths, path)
		switch {
		case i < 0 && slices.ContainsFunc(s.holders, func(h holder) bool { return h.path == path }):
			return m, fmt.Errorf("%s holds fields: name those, such as %s", path, s.within(path))
		case i < 0:
			return m, fmt.Errorf("there is no %.80q", path)
		case m.named[i]:
			return m, fmt.Errorf("%s is stated twice", path)
		}
		m.named[i] = true
	}
	return m, nil
}

func (s *MaskSchema) within(holder string) string {
	return s.paths[slices.IndexFunc(s.paths, func(path string) bool { return strings.HasPrefix(path, holder+".") })]
}

// All is the mask of all fields.
func (s *MaskSchema) All() Mask {
	m := Mask{schema: s, named: make([]bool, len(s.paths))}
	for i := range m.named {
		m.named[i] = true
	}
	return m
}

func at(message proto.Message, place []int) reflect.Value {
	return reflect.ValueOf(message).Elem().FieldByIndex(place)
}

// Copy gives the fields of the mask the values that they have in another message.
func (m Mask) Copy(to, from proto.Message) {
	for i, place := range m.schema.places {
		if m.named[i] {
			at(to, place).Set(at(from, place))
		}
	}
}

// Beyond is the path of a field that has a value and is not of the mask; empty if there is none. Zero is no value: some numbers
// are encoded as zero where they are absent.
func (m Mask) Beyond(message proto.Message) string {
	for i, place := range m.schema.places {
		if !m.named[i] && !empty(at(message, place)) {
			return m.schema.paths[i]
		}
	}
	return ""
}

func empty(value reflect.Value) bool {
	if value.Kind() == reflect.Slice {
		return value.Len() == 0
	}
	number, ok := value.Interface().(interface {
		IsNil() bool
		IsZero() bool
	})
	return value.IsZero() || ok && (number.IsNil() || number.IsZero())
}

// Encode is the encoding of the fields of the mask alone, in the order of their numbers and without those that are empty.
func (m Mask) Encode(message interface{ Marshal() ([]byte, error) }) ([]byte, error) {
	whole, err := message.Marshal()
	if err != nil {
		return nil, err
	}
	return m.keep(whole, "")
}

func (m Mask) keep(encoded []byte, within string) (kept []byte, err error) {
	for len(encoded) > 0 {
		number, kind, size := protowire.ConsumeField(encoded)
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		field, at := encoded[:size], within+strconv.Itoa(int(number))
		encoded = encoded[size:]
		var value []byte
		if kind == protowire.BytesType {
			_, _, head := protowire.ConsumeTag(field)
			value, _ = protowire.ConsumeBytes(field[head:])
		}
		i := slices.Index(m.schema.numbers, at)
		switch {
		case slices.ContainsFunc(m.schema.holders, func(h holder) bool { return h.number == at }):
			inner, err := m.keep(value, at+".")
			if err != nil {
				return nil, err
			}
			if len(inner) > 0 {
				kept = protowire.AppendBytes(protowire.AppendTag(kept, number, kind), inner)
			}
		case i >= 0 && m.named[i] && (kind != protowire.BytesType || len(value) > 0):
			kept = append(kept, field...)
		}
	}
	return kept, nil
}
