package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cosmossdk.io/math"
)

// This file reads untrusted JSON strictly. encoding/json alone is too lenient: it ignores the case of names, accepts a
// member that is stated twice, and skips unknown members.

// maxNumberBytes bounds the digits of a number.
const maxNumberBytes = 128

// InputError says what is wrong with a scenario, and where.
type InputError struct {
	// Path in the file, such as ops[3].gas_limit; empty for the file as a whole.
	Path   string
	Reason string
}

func (e *InputError) Error() string {
	if e.Path == "" {
		return "scenario: " + e.Reason
	}
	return e.Path + ": " + e.Reason
}

// ExitCode is the exit status of a command that was given such input.
func (*InputError) ExitCode() int { return 2 }

// reader keeps the first error. After an error every value reads as zero, so that callers check once, at the end.
type reader struct {
	err error
	// notes are for who wrote the file, and change nothing.
	notes []string
}

func (r *reader) fail(path, format string, args ...any) {
	if r.err == nil {
		r.err = &InputError{Path: path, Reason: fmt.Sprintf(format, args...)}
	}
}

// value is a well-formed piece of JSON and its path in the file. An absent value has no raw.
type value struct {
	r    *reader
	path string
	raw  json.RawMessage
}

func (v value) present() bool { return v.raw != nil }

// kind is what the value is, in words.
func (v value) kind() string {
	if !v.present() {
		return "nothing"
	}
	switch v.raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// want fails unless the value is of the kind.
func (v value) want(kind, wanted string) bool {
	if v.r.err == nil && v.kind() != kind {
		v.r.fail(v.path, "want %s, not %s", wanted, v.kind())
	}
	return v.r.err == nil
}

// boolean reads true or false; an absent value is false.
func (v value) boolean() bool {
	return v.present() && v.want("a boolean", "true or false") && v.raw[0] == 't'
}

// text reads a string of 1 to maxBytes bytes.
func (v value) text(wanted string, maxBytes int) (text string) {
	if !v.want("a string", wanted) {
		return ""
	}
	if err := json.Unmarshal(v.raw, &text); err != nil {
		v.r.fail(v.path, "want %s: %v", wanted, err)
	}
	if len(text) == 0 || len(text) > maxBytes {
		v.r.fail(v.path, "want %s of 1 to %d bytes, not of %d", wanted, maxBytes, len(text))
	}
	return text
}

// number returns the digits of a number, which may be stated as a JSON number or as a string.
func (v value) number(wanted string) string {
	if v.r.err != nil {
		return ""
	}
	if v.present() && v.raw[0] == '"' {
		return v.text(wanted, maxNumberBytes)
	}
	if !v.want("a number", wanted) {
		return ""
	}
	if len(v.raw) > maxNumberBytes {
		v.r.fail(v.path, "want %s of at most %d digits", wanted, maxNumberBytes)
	}
	return string(v.raw)
}

// uint64 reads an integer from 0 to limit; an absent value is 0.
func (v value) uint64(limit uint64) uint64 {
	if !v.present() {
		return 0
	}
	wanted := fmt.Sprintf("an integer from 0 to %d", limit)
	text := v.number(wanted)
	number, err := strconv.ParseUint(text, 10, 64)
	if v.r.err == nil && (err != nil || number > limit) {
		v.r.fail(v.path, "want %s, not %.80q", wanted, text)
	}
	return number
}

var integerText = regexp.MustCompile(`^-?[0-9]{1,100}$`)

// integer reads an integer of any sign and up to 256 bits.
func (v value) integer() math.Int {
	text := v.number("an integer")
	// Base 10 even with leading zeros: 0700 is 700.
	number, ok := new(big.Int), integerText.MatchString(text)
	if ok {
		number, ok = number.SetString(text, 10)
	}
	if v.r.err == nil && (!ok || number.BitLen() > math.MaxBitLen) {
		v.r.fail(v.path, "want an integer, not %.80q", text)
	}
	if v.r.err != nil {
		return math.ZeroInt()
	}
	return math.NewIntFromBigInt(number)
}

var decimalText = regexp.MustCompile(`^-?[0-9]{1,100}(\.[0-9]{1,18})?$`)

// decimal reads a decimal of any sign with up to 18 places.
func (v value) decimal() math.LegacyDec {
	const wanted = `a decimal such as "0.5" with up to 18 places`
	text := v.number(wanted)
	if v.r.err == nil && decimalText.MatchString(text) {
		if number, err := math.LegacyNewDecFromStr(text); err == nil {
			return number
		}
	}
	v.r.fail(v.path, "want %s, not %.80q", wanted, text)
	return math.LegacyZeroDec()
}

// list reads a list of at most limit values; an absent value is an empty list.
func (v value) list(limit int) (items []value) {
	if !v.present() || !v.want("a list", "a list") {
		return nil
	}
	dec := v.open()
	for dec.More() {
		item := value{r: v.r, path: fmt.Sprintf("%s[%d]", v.path, len(items)), raw: v.next(dec)}
		if len(items) == limit {
			v.r.fail(v.path, "more than %d entries", limit)
		}
		if v.r.err != nil {
			return nil
		}
		items = append(items, item)
	}
	return items
}

// open returns a decoder positioned after the opening bracket of an object or a list.
func (v value) open() *json.Decoder {
	dec := json.NewDecoder(bytes.NewReader(v.raw))
	if _, err := dec.Token(); err != nil {
		v.r.fail(v.path, "%v", err)
	}
	return dec
}

// next returns the raw form of the next value.
func (v value) next(dec *json.Decoder) (raw json.RawMessage) {
	if err := dec.Decode(&raw); err != nil {
		v.r.fail(v.path, "%v", err)
		return nil
	}
	return raw
}

// object is a JSON object. A member that is never asked for is an error, see end.
type object struct {
	value
	// names in the order of the file.
	names  []string
	values map[string]value
	asked  map[string]bool
}

// object reads an object; an absent one has no members.
func (v value) object() *object {
	o := &object{value: v, values: map[string]value{}, asked: map[string]bool{}}
	if !v.present() || !v.want("an object", "an object") {
		return o
	}
	dec := v.open()
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			v.r.fail(v.path, "want a member's name")
			return o
		}
		path := memberPath(v.path, name)
		if _, twice := o.values[name]; twice {
			v.r.fail(path, "stated twice")
		}
		o.values[name] = value{r: v.r, path: path, raw: v.next(dec)}
		if v.r.err != nil {
			return o
		}
		o.names = append(o.names, name)
	}
	return o
}

// get asks for a member that may be absent.
func (o *object) get(name string) value {
	o.asked[name] = true
	if member, ok := o.values[name]; ok && o.r.err == nil {
		return member
	}
	return value{r: o.r, path: memberPath(o.path, name)}
}

// need asks for a member that must be present.
func (o *object) need(name string) value {
	member := o.get(name)
	if !member.present() {
		o.r.fail(member.path, "missing")
	}
	return member
}

// end fails on the first member that was not asked for.
func (o *object) end() {
	for _, name := range o.names {
		if !o.asked[name] {
			o.r.fail(memberPath(o.path, name), "unknown field; known: %s", strings.Join(sortedNames(o.asked), ", "))
		}
	}
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// memberPath is the path of an object's member.
func memberPath(path, name string) string {
	switch {
	case !plainName.MatchString(name):
		return fmt.Sprintf("%s[%.80q]", path, name)
	case path == "":
		return name
	default:
		return path + "." + name
	}
}

func sortedNames[V any](names map[string]V) []string { return slices.Sorted(maps.Keys(names)) }
