package scenario

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"

	"github.com/cosmos/gogoproto/proto"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// schema lists the fields of a proto message by their names in the proto file. Fields that later versions add are in it
// without a change here.
type schema struct {
	message reflect.Type
	fields  map[string]schemaField
}

type schemaField struct {
	// goName is the field's name in the Go struct.
	goName string
	// enum is the full name of the field's enum; empty if it is no enum.
	enum string
	// nested is the schema of the message in the field; nil if it holds none.
	nested *schema
	// policy are parameters of the policy that has this name; nil for a field.
	policy types.PolicyParams
}

var protoMessage = reflect.TypeFor[proto.Message]()

func schemaOf(message reflect.Type) *schema {
	s := &schema{message: message, fields: map[string]schemaField{}}
	for _, property := range proto.GetProperties(message).Prop {
		if property.OrigName == "" {
			continue
		}
		field := schemaField{goName: property.Name, enum: property.Enum}
		if goField, ok := message.FieldByName(property.Name); ok {
			held := goField.Type
			if held.Kind() == reflect.Pointer {
				held = held.Elem()
			}
			if held.Kind() == reflect.Struct && reflect.PointerTo(held).Implements(protoMessage) {
				field.nested = schemaOf(held)
			}
		}
		s.fields[property.OrigName] = field
	}
	return s
}

// schemaOfConfig is that of a config, in which the parameters of policies are fields by the names of their policies.
func schemaOfConfig(policies ...types.PolicyParams) *schema {
	s := schemaOf(reflect.TypeFor[types.TimerConfig]())
	delete(s.fields, "policy_params")
	for _, params := range policies {
		s.fields[types.PolicyName("/"+proto.MessageName(params))] = schemaField{policy: params, nested: schemaOf(reflect.TypeOf(params).Elem())}
	}
	return s
}

// places returns the fields of nested messages that have this name, or this name without that of their message, by the name
// of the message.
func (s *schema) places(name string) (places []place) {
	for _, holder := range sortedNames(s.fields) {
		nested := s.fields[holder].nested
		if nested == nil {
			continue
		}
		for _, inner := range []string{name, strings.TrimPrefix(name, holder+"_")} {
			if _, has := nested.fields[inner]; has {
				places = append(places, place{holder, inner})
				break
			}
		}
	}
	return places
}

var wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// readEnum reads an enum's value by its short lower-case name, such as fifo for POLICY_FIFO. Zero is a value like any other,
// such as flat, unless its name says that nothing is stated.
func readEnum(v value, enum string) json.RawMessage {
	text := v.text("a name", maxNameBytes)
	name := enum[strings.LastIndexByte(enum, '.')+1:]
	prefix := strings.ToUpper(wordStart.ReplaceAllString(name, "${1}_${2}")) + "_"
	numbers := proto.EnumValueMap(enum)
	full := prefix + strings.ToUpper(text)
	if _, known := numbers[full]; known && full != prefix+"UNSPECIFIED" && text == strings.ToLower(text) {
		return json.RawMessage(`"` + full + `"`)
	}
	var short []string
	for _, full := range sortedNames(numbers) {
		if full != prefix+"UNSPECIFIED" {
			short = append(short, strings.ToLower(strings.TrimPrefix(full, prefix)))
		}
	}
	v.r.fail(v.path, "want one of %s, not %.80q", strings.Join(short, ", "), text)
	return nil
}
