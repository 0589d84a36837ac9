package scenario

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

// ConfigChange holds fields of a TimerConfig, each as a proto JSON object of one member, so that an error can name it.
type ConfigChange []configField

type configField struct {
	path string
	json []byte
}

// configFields are the fields of a TimerConfig by their names in the proto file. Fields that later versions add come by
// themselves.
var configFields = func() map[string]*proto.Properties {
	fields := map[string]*proto.Properties{}
	for _, property := range proto.GetProperties(reflect.TypeOf(types.TimerConfig{})).Prop {
		if property.OrigName != "" {
			fields[property.OrigName] = property
		}
	}
	return fields
}()

// readConfigChange reads fields of a TimerConfig. Whether the values make a config is for the module to say.
func readConfigChange(v value) (change ConfigChange) {
	o := v.object()
	for name := range configFields {
		o.get(name)
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
		raw := member.raw
		if enum := configFields[name].Enum; enum != "" {
			raw = readEnum(member, enum)
		}
		field := configField{path: member.path, json: fmt.Appendf(nil, "{%q:%s}", name, raw)}
		if v.r.err == nil {
			if err := field.apply(&types.TimerConfig{}); err != nil {
				member.r.fail(member.path, "%v", err)
			}
		}
		change = append(change, field)
	}
	return change
}

// Apply makes the change. Fields that it does not name keep their values.
func (c ConfigChange) Apply(config *types.TimerConfig) error {
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
