// Package strict reads untrusted JSON into structs: unknown members, members that are stated twice, null and trailing
// text are errors, and every error names the path in the file.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Error says what is wrong, and where.
type Error struct {
	// Path such as agents[2].rate; empty for the file as a whole.
	Path, Reason string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// ExitCode is the exit status of a command that was given such input.
func (*Error) ExitCode() int { return 2 }

// Failf returns an Error.
func Failf(path, format string, args ...any) error {
	return &Error{path, fmt.Sprintf(format, args...)}
}

var rawType = reflect.TypeFor[json.RawMessage]()

// Decode reads a JSON value into what target points to. Members are named as the json tags of the fields; a field of
// type json.RawMessage takes any value.
func Decode(data []byte, target any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return Failf("", "not JSON: %v", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Failf("", "text after the end")
	}
	return decode("", raw, reflect.ValueOf(target).Elem())
}

func decode(path string, raw json.RawMessage, into reflect.Value) error {
	if string(raw) == "null" {
		return Failf(path, "want a value, not null")
	}
	switch {
	case into.Type() == rawType:
		into.SetBytes(bytes.Clone(raw))
		return nil
	case into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return decode(path, raw, into.Elem())
	case into.Kind() == reflect.Struct:
		return object(path, raw, func(name, path string, raw json.RawMessage) error {
			field, names := fieldOf(into, name)
			if !field.IsValid() {
				return Failf(path, "unknown field; known: %s", strings.Join(names, ", "))
			}
			return decode(path, raw, field)
		})
	case into.Kind() == reflect.Map:
		into.Set(reflect.MakeMap(into.Type()))
		return object(path, raw, func(name, path string, raw json.RawMessage) error {
			value := reflect.New(into.Type().Elem()).Elem()
			if err := decode(path, raw, value); err != nil {
				return err
			}
			into.SetMapIndex(reflect.ValueOf(name), value)
			return nil
		})
	case into.Kind() == reflect.Slice:
		return list(path, raw, into)
	}
	if err := json.Unmarshal(raw, into.Addr().Interface()); err != nil {
		return Failf(path, "want %s, not %.40s", wanted(into.Kind()), raw)
	}
	return nil
}

func wanted(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Uint64:
		return "a whole number of 0 or more"
	case reflect.Int:
		return "a whole number"
	default:
		return "a number"
	}
}

func fieldOf(of reflect.Value, name string) (reflect.Value, []string) {
	var names []string
	for i := range of.NumField() {
		tag := of.Type().Field(i).Tag.Get("json")
		if tag == name && tag != "" && tag != "-" {
			return of.Field(i), nil
		}
		if tag != "" && tag != "-" {
			names = append(names, tag)
		}
	}
	slices.Sort(names)
	return reflect.Value{}, names
}

// object calls fn for each member.
func object(path string, raw json.RawMessage, fn func(name, path string, raw json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return Failf(path, "want an object, not %.40s", raw)
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return Failf(path, "want a member's name")
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if seen[name] {
			return Failf(at, "stated twice")
		}
		seen[name] = true
		var member json.RawMessage
		if err := dec.Decode(&member); err != nil {
			return Failf(at, "%v", err)
		}
		if err := fn(name, at, member); err != nil {
			return err
		}
	}
	return nil
}

func list(path string, raw json.RawMessage, into reflect.Value) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return Failf(path, "want a list, not %.40s", raw)
	}
	into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
	for i, item := range items {
		if err := decode(fmt.Sprintf("%s[%d]", path, i), item, into.Index(i)); err != nil {
			return err
		}
	}
	return nil
}
