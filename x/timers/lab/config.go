package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/cosmos/gogoproto/jsonpb"
	"github.com/cosmos/gogoproto/proto"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// configChange holds fields of a TimerConfig, each as a proto JSON object of one member, so that an error can name it.
type configChange []configField

type configField struct {
	path string
	json []byte
}

// readConfigChange reads fields of a TimerConfig. Whether the values make a config is for the module to say.
func readConfigChange(v value) configChange {
	return readConfigFields(v, reflect.TypeFor[types.TimerConfig](), func(field []byte) []byte { return field })
}

// readConfigFields reads fields of a message of the config; within makes an object of the config of one of the message.
// Fields that later versions add come by themselves.
func readConfigFields(v value, message reflect.Type, within func([]byte) []byte) (change configChange) {
	o := v.object()
	fields := map[string]*proto.Properties{}
	for _, property := range proto.GetProperties(message).Prop {
		if property.OrigName != "" {
			fields[property.OrigName] = property
			o.get(property.OrigName)
		}
	}
	o.end()
	for _, name := range o.names {
		member := o.get(name)
		if v.r.err != nil {
			return nil
		}
		if member.kind() == "null" {
			member.r.fail(member.path, "want a value, not null")
			return nil
		}
		wrap := func(value []byte) []byte { return within(fmt.Appendf(nil, "{%q:%s}", name, value)) }
		if params, nested := paramsOf(message, fields[name]); nested {
			change = append(change, readConfigFields(member, params, wrap)...)
			continue
		}
		raw := member.raw
		if enum := fields[name].Enum; enum != "" {
			raw = readEnum(member, enum)
		}
		field := configField{path: member.path, json: wrap(raw)}
		if v.r.err == nil {
			if err := field.apply(&types.TimerConfig{}); err != nil {
				member.r.fail(member.path, "%v", err)
			}
		}
		change = append(change, field)
	}
	return change
}

// paramsOf returns the message that a field of another holds, such as the parameters of a policy.
func paramsOf(message reflect.Type, property *proto.Properties) (reflect.Type, bool) {
	field, _ := message.FieldByName(property.Name)
	_, is := reflect.New(field.Type).Interface().(proto.Message)
	return field.Type, is
}

// apply makes the change.
func (c configChange) apply(config *types.TimerConfig) error {
	for _, field := range c {
		if err := field.apply(config); err != nil {
			return fmt.Errorf("%s: %w", field.path, err)
		}
	}
	return nil
}

func (f configField) apply(config *types.TimerConfig) error {
	return jsonpb.Unmarshal(bytes.NewReader(f.json), config)
}

var wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// readEnum reads an enum's value by its short lower-case name, such as fifo for POLICY_FIFO.
func readEnum(v value, enum string) json.RawMessage {
	text := v.text("a name", maxNameBytes)
	name := enum[strings.LastIndexByte(enum, '.')+1:]
	prefix := strings.ToUpper(wordStart.ReplaceAllString(name, "${1}_${2}")) + "_"
	numbers := proto.EnumValueMap(enum)
	full := prefix + strings.ToUpper(text)
	if number, known := numbers[full]; known && number != 0 && text == strings.ToLower(text) {
		return json.RawMessage(`"` + full + `"`)
	}
	var short []string
	for _, full := range sortedNames(numbers) {
		if numbers[full] != 0 {
			short = append(short, strings.ToLower(strings.TrimPrefix(full, prefix)))
		}
	}
	v.r.fail(v.path, "want one of %s, not %.80q", strings.Join(short, ", "), text)
	return nil
}
