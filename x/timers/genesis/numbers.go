package genesis

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// numberNames are the names of the fields that are decoded as the SDK's integers and decimals: in time that grows with the
// square of their length, whatever that is.
var numberNames = namesOfNumbers(reflect.TypeFor[types.GenesisState](), map[string]struct{}{}, map[reflect.Type]struct{}{})

// namesOfNumbers adds the names in JSON of the numbers of a message and of those within it.
func namesOfNumbers(t reflect.Type, names map[string]struct{}, seen map[reflect.Type]struct{}) map[string]struct{} {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if _, again := seen[t]; again || t.Kind() != reflect.Struct {
		return names
	}
	seen[t] = struct{}{}
	for i := range t.NumField() {
		field := t.Field(i)
		kind := field.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if kind != reflect.TypeFor[math.Int]() && kind != reflect.TypeFor[math.LegacyDec]() {
			namesOfNumbers(field.Type, names, seen)
			continue
		}
		// protobuf:"bytes,8,opt,name=lane_burned,json=laneBurned,proto3": both are names of it.
		for _, part := range strings.Split(field.Tag.Get("protobuf"), ",") {
			if key, name, found := strings.Cut(part, "="); found && (key == "name" || key == "json") {
				names[name] = struct{}{}
			}
		}
	}
	return names
}

// namesIn are numberNames, and those of the messages of policies that a codec knows.
func namesIn(cdc codec.JSONCodec) map[string]struct{} {
	known, ok := cdc.(interface {
		InterfaceRegistry() codectypes.InterfaceRegistry
	})
	if !ok {
		return numberNames
	}
	names, registry := maps.Clone(numberNames), known.InterfaceRegistry()
	for _, url := range registry.ListImplementations(types.PolicyStateName) {
		if message, err := registry.Resolve(url); err == nil {
			namesOfNumbers(reflect.TypeOf(message), names, map[reflect.Type]struct{}{})
		}
	}
	return names
}

// checkNumbers refuses numbers that are too long to be decoded. It passes over raw, which is valid JSON, once, and copies
// nothing.
func checkNumbers(raw []byte, names map[string]struct{}) error {
	isNumber := false
	for at := 0; at < len(raw); at++ {
		if raw[at] != '"' {
			continue
		}
		end := stringEnd(raw, at)
		after := skipSpace(raw, end+1)
		switch {
		case after < len(raw) && raw[after] == ':':
			isNumber = isNumberName(raw[at:end+1], names)
		case isNumber && end-at > types.MaxTextBytes:
			return types.ErrInvalidGenesis.Wrapf("the number %.80s… is %d bytes long, want at most %d", raw[at+1:end], end-at-1, types.MaxTextBytes)
		}
		at = end
	}
	return nil
}

// isNumberName reports whether a quoted name is one of names.
func isNumberName(quoted []byte, names map[string]struct{}) bool {
	name := string(quoted[1 : len(quoted)-1])
	if bytes.IndexByte(quoted, '\\') >= 0 && json.Unmarshal(quoted, &name) != nil {
		return false
	}
	_, is := names[name]
	return is
}
