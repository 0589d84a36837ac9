package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cosmos/gogoproto/jsonpb"
	"github.com/cosmos/gogoproto/proto"

	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/policies/score"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// ConfigChange holds new values of fields of a TimerConfig.
type ConfigChange []fieldChange

// fieldChange is the new value of one field that holds no message itself.
type fieldChange struct {
	// path in the file, for errors.
	path string
	// policy are parameters of the policy whose field it is; nil for a field of the config.
	policy types.PolicyParams
	// parents are the Go names of the fields that lead from the config, or from the parameters, to the message with the field; none
	// for their own.
	parents []string
	// json is a proto JSON object of one member: the field.
	json []byte
}

var configSchema = schemaOfConfig(&agents.Params{}, &auction.Params{}, &score.Params{}, &tip.Params{})

// readConfigChange reads fields of a TimerConfig. Whether the values make a valid config is checked when they are
// applied.
func readConfigChange(v value) ConfigChange { return readChange(v, configSchema, constants) }

// Apply makes the change. Fields that it does not name keep their values, in nested messages too.
func (c ConfigChange) Apply(config *types.TimerConfig) error { return c.apply(config) }

func (c ConfigChange) apply(message proto.Message) error {
	for _, field := range c {
		if err := field.apply(message); err != nil {
			return fmt.Errorf("%s: %w", field.path, err)
		}
	}
	return nil
}

func (f fieldChange) apply(message proto.Message) error {
	config, _ := message.(*types.TimerConfig)
	if f.policy != nil {
		params := config.CopyParams(f.policy)
		own := f
		own.policy = nil
		if err := own.apply(params); err != nil {
			return err
		}
		config.SetParams(params)
		return nil
	}
	for _, name := range f.parents {
		inner := reflect.ValueOf(message).Elem().FieldByName(name)
		switch {
		case inner.Kind() != reflect.Pointer:
			inner = inner.Addr()
		case inner.IsNil():
			inner.Set(reflect.New(inner.Type().Elem()))
		}
		nested, ok := inner.Interface().(proto.Message)
		if !ok {
			return errors.New("not a message")
		}
		message = nested
	}
	return jsonpb.Unmarshal(bytes.NewReader(f.json), message)
}

// changeReader reads the fields of a message and of its nested messages one by one, so that an error can name the
// field.
type changeReader struct {
	root   *schema
	change ConfigChange
	// stated: a field's full name → its path in the file.
	stated map[string]string
	// constants are members that are no fields any more, with the value that they may state.
	constants map[string]uint64
}

func readChange(v value, s *schema, constants map[string]uint64) ConfigChange {
	r := changeReader{root: s, stated: map[string]string{}, constants: constants}
	r.message(v, s, nil)
	if v.r.err != nil {
		return nil
	}
	return r.change
}

// message reads the fields of a message; parents are the names of the fields that lead to it.
func (r *changeReader) message(v value, s *schema, parents []string) {
	o := v.object()
	for name := range s.fields {
		o.get(name)
	}
	elsewhere := map[string]place{}
	if len(parents) == 0 {
		elsewhere = r.shorthands(o)
	}
	left := slices.DeleteFunc(slices.Clone(o.names), func(name string) bool {
		value, constant := r.constants[name]
		if constant = constant && len(parents) == 0; constant {
			o.get(name).constant(value)
		}
		return constant
	})
	o.end()
	for _, name := range left {
		member := o.get(name)
		if v.r.err != nil {
			return
		}
		if at, short := elsewhere[name]; short {
			r.field(member, s.fields[at.holder].nested, []string{at.holder}, at.name)
		} else {
			r.field(member, s, parents, name)
		}
	}
}

// place is a field of a nested message.
type place struct{ holder, name string }

// shorthands returns, for each member of the config that is no field of it, the field of a nested message that it stands
// for: `"fast": "3"` and `"priority_tiers_fast": "3"` both stand for `"priority_tiers": {"fast": "3"}`. The second form is
// that of names which began with what is the message's name now. A name that several nested messages have is an error; one
// that none has is left to the caller, as an unknown field.
func (r *changeReader) shorthands(o *object) map[string]place {
	places := map[string]place{}
	for _, name := range o.names {
		if _, own := r.root.fields[name]; own {
			continue
		}
		switch found := r.root.places(name); len(found) {
		case 0:
		case 1:
			o.get(name)
			places[name] = found[0]
		default:
			holders := make([]string, len(found))
			for i := range found {
				holders[i] = found[i].holder
			}
			o.r.fail(memberPath(o.path, name), "ambiguous: a field of %s; state it in one of them", strings.Join(holders, ", "))
		}
	}
	return places
}

// field reads one field of a message.
func (r *changeReader) field(v value, s *schema, parents []string, name string) {
	if v.kind() == "null" {
		v.r.fail(v.path, "want a value, not null")
		return
	}
	full := append(slices.Clone(parents), name)
	field := s.fields[name]
	if field.nested != nil {
		r.message(v, field.nested, full)
		return
	}
	key := strings.Join(full, ".")
	if first, twice := r.stated[key]; twice {
		v.r.fail(v.path, "stated twice, first as %s", first)
		return
	}
	r.stated[key] = v.path
	raw := v.raw
	if field.enum != "" {
		raw = readEnum(v, field.enum)
	}
	policy, names := r.goNames(parents)
	change := fieldChange{path: v.path, policy: policy, parents: names, json: fmt.Appendf(nil, "{%q:%s}", name, raw)}
	if v.r.err != nil {
		return
	}
	fresh, ok := reflect.New(r.root.message).Interface().(proto.Message)
	if !ok {
		v.r.fail(v.path, "not a field of a message")
		return
	}
	if err := change.apply(fresh); err != nil {
		v.r.fail(v.path, "%v", err)
		return
	}
	r.change = append(r.change, change)
}

// goNames returns the Go names of nested fields, and the parameters of a policy that they are in.
func (r *changeReader) goNames(fields []string) (policy types.PolicyParams, names []string) {
	s := r.root
	for _, field := range fields {
		if of := s.fields[field].policy; of != nil {
			policy = of
		} else {
			names = append(names, s.fields[field].goName)
		}
		s = s.fields[field].nested
	}
	return policy, names
}
