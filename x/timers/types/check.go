package types

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"

	"cosmossdk.io/errors"
	"cosmossdk.io/math"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
)

// Check keeps the first number that is wrong.
type Check struct {
	kind *errors.Error
	err  error
}

// CheckFor returns a check whose error is of the kind.
func CheckFor(kind *errors.Error) *Check { return &Check{kind: kind} }

// Err is the error of the first number that was wrong, nil if none was.
func (c *Check) Err() error { return c.err }

// Uint checks an integer: least and most are right too. The name is its whole path.
func (c *Check) Uint(name string, value, least, most uint64) {
	if c.err == nil && (value < least || value > most) {
		c.err = c.kind.Wrapf("%s is %d, want %d to %d", name, value, least, most)
	}
}

// Dec checks a fraction or a factor: least and most are right too. The name is its whole path.
func (c *Check) Dec(name string, value, least, most math.LegacyDec) {
	switch {
	case c.err != nil:
	case value.IsNil():
		c.err = c.kind.Wrapf("%s is missing", name)
	case value.LT(least) || value.GT(most):
		c.err = c.kind.Wrapf("%s is %s, want %s to %s", name, value, least, most)
	}
}

// Ascend checks that the first of two integers does not exceed the second.
func (c *Check) Ascend(small, large string, less, more uint64) {
	if c.err == nil && less > more {
		c.err = c.kind.Wrapf("%s (%d) must not exceed %s (%d)", small, less, large, more)
	}
}

const (
	// MaxTextBytes bounds every text and every string of bytes that comes from outside, whatever it is of: far above each
	// address, id, decimal, name and key that there is. What is longer is refused by its length, before anything reads it.
	MaxTextBytes = 1 << 10
	// MaxDataBytes bounds those that may be longer: a timer's payload, a message packed in an Any, and a key of another store
	// that a watch reports, in records alone. It is twice the most that a config can allow of the first two, so that what
	// the config refuses is refused by its own errors.
	MaxDataBytes = 2 << 20
)

var anyType = reflect.TypeFor[codectypes.Any]()

// isData reports whether a field of a message is one that MaxDataBytes bounds.
func isData(message reflect.Type, field string) bool {
	switch field {
	case "Payload":
		return true
	case "Value":
		return message == anyType
	case "Key":
		return message.Name() == "WatchedKey" || message.Name() == "WatchChange"
	default:
		return false
	}
}

// CheckText checks the length of each text and each string of bytes in a message, and in what it holds: fields that are added
// later are checked too. The error names the first field that is too long, as messages in JSON do, and repeats nothing of it.
// The check takes no memory, and time in proportion to the number of fields and elements, not to their length.
func CheckText(kind *errors.Error, msg any) error {
	path, size, most := longest(reflect.ValueOf(msg))
	if size == 0 {
		return nil
	}
	return kind.Wrapf("%s is %d bytes long, want at most %d", strings.TrimPrefix(path, "."), size, most)
}

// longest returns the path, the length and the bound of the first text that is longer than its bound; 0 bytes if there is
// none.
func longest(v reflect.Value) (path string, size, most int) {
	switch v.Kind() {
	case reflect.String:
		return tooLong(v.Len(), MaxTextBytes)
	case reflect.Pointer:
		return longest(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return tooLong(v.Len(), MaxTextBytes)
		}
		for i := range v.Len() {
			if path, size, most = longest(v.Index(i)); size > 0 {
				return "[" + strconv.Itoa(i) + "]" + path, size, most
			}
		}
	case reflect.Struct:
		return longestField(v)
	default:
		// Numbers, and what no message holds but as Go's own, such as the message that an Any was decoded to.
	}
	return "", 0, 0
}

func longestField(v reflect.Value) (path string, size, most int) {
	for i := range v.NumField() {
		field := v.Field(i)
		// What is not exported is no field of the message. Decimals and integers have bounds where they are decoded.
		if !field.CanInterface() {
			continue
		}
		if path, size, most = longest(field); size == 0 {
			continue
		}
		name := v.Type().Field(i).Name
		if field.Kind() == reflect.Slice && isData(v.Type(), name) {
			if _, size, most = tooLong(size, MaxDataBytes); size == 0 {
				continue
			}
		}
		return "." + nameOf(v.Type().Field(i)) + path, size, most
	}
	return "", 0, 0
}

// nameOf is the name of a field in JSON, as protobuf has it; that of Go if it has none.
func nameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return cmp.Or(name, field.Name)
}

func tooLong(size, most int) (string, int, int) {
	if size <= most {
		return "", 0, 0
	}
	return "", size, most
}
