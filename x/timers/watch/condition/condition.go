package condition

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Op is how a condition compares the value of a key with its own. The numbers are those of timers.v1.ConditionOp.
type Op int32

// The ops. Exists and Absent compare with nothing.
const (
	Exists Op = 1 + iota
	Absent
	Equal
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
)

const (
	// MaxValueBytes bounds the value that a condition compares with: the text of a number, or bytes.
	MaxValueBytes = 64
	// KeptBytes is how much of a value is compared, one byte more than a condition can have: the order of a longer value
	// and a condition's shows by then.
	KeptBytes = MaxValueBytes + 1
	// hexMark begins a value that is written in hexadecimal.
	hexMark = "0x"
)

// symbols are the ops as people write them.
var symbols = []struct {
	text string
	op   Op
}{
	{"exists", Exists},
	{"absent", Absent},
	{"==", Equal},
	{"<=", LessOrEqual},
	{">=", GreaterOrEqual},
	{"<", Less},
	{">", Greater},
}

// String is the op as people write it: exists, absent, ==, <, <=, > and >=.
func (o Op) String() string {
	for _, s := range symbols {
		if s.op == o {
			return s.text
		}
	}
	return fmt.Sprintf("op %d", int32(o))
}

// ParseText reads a condition as people write it, such as "< 1000000" or "exists".
func ParseText(text string) (op Op, value string, err error) {
	text = strings.TrimSpace(text)
	for _, s := range symbols {
		rest, found := strings.CutPrefix(text, s.text)
		if !found {
			continue
		}
		value = strings.TrimSpace(rest)
		_, err = Parse(s.op, value)
		return s.op, value, err
	}
	return 0, "", fmt.Errorf("%.80q: want exists, absent, or one of ==, <, <=, > and >= with a value", text)
}

// Domain is what a condition compares.
type Domain byte

// A condition asks whether the key is there, or compares a number, or bytes.
const (
	Presence Domain = iota
	Numbers
	Bytes
)

// The lists of conditions. The list of a place is its first byte.
const (
	listExists = 1 + iota
	listAbsent
	listNumberEqual
	listNumberBelow
	listNumberAbove
	listBytesEqual
	listBytesBelow
	listBytesAbove

	// Lists is the number of the last list.
	Lists = listBytesAbove
)

// cut says where a condition cuts the order of values.
const (
	cutBelow = 0
	cutAbove = 1
)

// Parse returns the place of a condition. The value is a number as JSON writes it, without an exponent. Anything else is
// bytes: text, or hexadecimal digits after 0x. Text that is no number has no order: bytes are ordered when they are
// written in hexadecimal.
func Parse(op Op, value string) (place []byte, err error) {
	if op == Exists || op == Absent {
		if value != "" {
			return nil, fmt.Errorf("%s compares with nothing, and value is %.80q", op, value)
		}
		return []byte{listExists + byte(op-Exists)}, nil
	}
	if op < Exists || op > GreaterOrEqual {
		return nil, fmt.Errorf("unknown op %d", int32(op))
	}
	if number, is := Number(value); is {
		if len(value) > MaxValueBytes {
			return nil, tooLong(len(value))
		}
		return placeOf(op, listNumberEqual, numberPlace(number)), nil
	}
	digits, isHex := strings.CutPrefix(value, hexMark)
	compared := []byte(value)
	switch {
	case value == "":
		return nil, fmt.Errorf("%s compares with a value, which is empty", op)
	case isHex && len(digits) <= 2*MaxValueBytes:
		if compared, err = hex.DecodeString(digits); err != nil {
			return nil, fmt.Errorf("value %.80q: %w", value, err)
		}
	case op != Equal:
		return nil, fmt.Errorf("%s orders numbers, and %.80q is none (write bytes as 0x and hexadecimal digits)", op, value)
	}
	if len(compared) > MaxValueBytes {
		return nil, tooLong(len(compared))
	}
	return placeOf(op, listBytesEqual, bytesPlace(compared)), nil
}

func tooLong(length int) error {
	return fmt.Errorf("a value of %d bytes, want at most %d", length, MaxValueBytes)
}

// placeOf is the place of a condition that compares with an encoded value; equal is the first list of its domain.
func placeOf(op Op, equal byte, value []byte) []byte {
	switch op {
	case Less:
		return placed(equal+1, value, cutBelow)
	case LessOrEqual:
		return placed(equal+1, value, cutAbove)
	case Greater:
		return placed(equal+2, value, cutAbove)
	case GreaterOrEqual:
		return placed(equal+2, value, cutBelow)
	default:
		return placed(equal, value)
	}
}

func placed(list byte, value []byte, cut ...byte) []byte {
	return slices.Concat([]byte{list}, value, cut)
}

// ListOf is the list of a place, from 1 to Lists.
func ListOf(place []byte) int { return int(place[0]) }

// DomainOf is what the condition of a place compares.
func DomainOf(place []byte) Domain {
	switch list := place[0]; {
	case list <= listAbsent:
		return Presence
	case list <= listNumberAbove:
		return Numbers
	default:
		return Bytes
	}
}

// Value is the value of a key as conditions read it.
type Value struct {
	// Exists reports whether the key is there.
	Exists bool
	// Number is the value as a number in its shortest form, empty if it is none.
	Number string
	// Bytes are the first KeptBytes of the value.
	Bytes []byte
}

// in is the encoded value in the domain of a list of comparisons; false if it is not in that domain.
func (v Value) in(equal byte) (encoded []byte, is bool) {
	switch {
	case equal == listNumberEqual && v.Number != "":
		return numberPlace(v.Number), true
	case equal == listBytesEqual && v.Exists:
		return bytesPlace(v.Bytes[:min(len(v.Bytes), KeptBytes)]), true
	default:
		return nil, false
	}
}

// Holds reports whether the condition of a place is true of a value. A condition on numbers is false of a value that is
// no number, and one on bytes of a key that is not there.
func Holds(place []byte, v Value) bool {
	list := place[0]
	switch list {
	case listExists:
		return v.Exists
	case listAbsent:
		return !v.Exists
	}
	equal := byte(listNumberEqual)
	if list >= listBytesEqual {
		equal = listBytesEqual
	}
	encoded, is := v.in(equal)
	if !is {
		return false
	}
	switch list - equal {
	case 0:
		return bytes.Equal(place, placed(list, encoded))
	case 1:
		return bytes.Compare(place, placed(list, encoded, cutAbove)) >= 0
	default:
		return bytes.Compare(place, placed(list, encoded, cutAbove)) < 0
	}
}

// Range is a range of places of one list: From is the first, To is after the last.
type Range struct{ From, To []byte }

// Crossed returns the conditions that are true of the value after a change and were not before it: at most one range of
// each list, in the order of the lists.
func Crossed(before, after Value) (ranges []Range) {
	whole := func(list byte) { ranges = append(ranges, Range{[]byte{list}, []byte{list + 1}}) }
	switch {
	case after.Exists && !before.Exists:
		whole(listExists)
	case before.Exists && !after.Exists:
		whole(listAbsent)
	}
	for _, equal := range []byte{listNumberEqual, listBytesEqual} {
		ranges = append(ranges, crossed(before, after, equal)...)
	}
	return ranges
}

// crossed is Crossed for the three lists of a domain.
func crossed(before, after Value, equal byte) []Range {
	below, above := equal+1, equal+2
	to, is := after.in(equal)
	if !is {
		return nil
	}
	same := Range{placed(equal, to), append(placed(equal, to), 0xff)}
	from, was := before.in(equal)
	switch {
	case !was:
		return []Range{
			same,
			{placed(below, to, cutAbove), []byte{below + 1}},
			{[]byte{above}, placed(above, to, cutAbove)},
		}
	case bytes.Equal(from, to):
		return nil
	case bytes.Compare(to, from) < 0:
		return []Range{same, {placed(below, to, cutAbove), placed(below, from, cutAbove)}}
	default:
		return []Range{same, {placed(above, from, cutAbove), placed(above, to, cutAbove)}}
	}
}

const (
	// MaxDigits bounds the digits of a number, those after the point included: 78 are those of 2^256.
	MaxDigits = 78
	// MaxJSONBytes bounds a value that is read as a JSON number.
	MaxJSONBytes = 256
)

// Number reads a decimal number as JSON writes it, without an exponent and with at most MaxDigits digits, and returns its
// shortest form: 1.50 is 1.5, and -0 is 0.
func Number(text string) (number string, ok bool) {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	switch {
	case !isDigits(whole), point && !isDigits(fraction), len(whole)+len(fraction) > MaxDigits:
		return "", false
	case len(whole) > 1 && whole[0] == '0':
		return "", false
	}
	number = whole
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		number += "." + fraction
	}
	if negative && number != "0" {
		number = "-" + number
	}
	return number, true
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// JSONNumber reads a value that is a JSON number, or a string that holds one, as contracts store them, and returns its
// shortest form. A value of more than MaxJSONBytes is none.
func JSONNumber(value []byte) (number string, ok bool) {
	if len(value) > MaxJSONBytes {
		return "", false
	}
	text := string(value)
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	return Number(text)
}

const (
	signNegative = 0
	signZero     = 1
	signPositive = 2
	// endOfDigits is less than every digit.
	endOfDigits = 0
)

// numberPlace encodes a number in its shortest form, so that bytes are in the order of the numbers: its sign, how many
// digits are before the point, the digits, and an end that is less than a digit. All but the sign is inverted if it is
// negative.
func numberPlace(number string) []byte {
	if number == "0" {
		return []byte{signZero}
	}
	digits, negative := strings.CutPrefix(number, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	place := make([]byte, 0, 3+len(digits))
	place = append(place, signPositive, byte(len(whole)))
	place = append(append(append(place, whole...), fraction...), endOfDigits)
	if negative {
		place[0] = signNegative
		for i := range place[1:] {
			place[1+i] ^= 0xff
		}
	}
	return place
}

// bytesPlace encodes bytes in their order: a zero byte is followed by 255, and two zero bytes are the end.
func bytesPlace(value []byte) []byte {
	escaped := bytes.ReplaceAll(value, []byte{0}, []byte{0, 0xff})
	return append(slices.Clip(escaped), 0, 0)
}
