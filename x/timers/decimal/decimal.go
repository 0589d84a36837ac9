// Package decimal holds the decimals of messages, events and the config. On every interface they are plain text, such as
// 0.0107: in protobuf, in JSON and in what wallets sign. The SDK's own decimal is an integer of 18 more digits in
// protobuf, which no other client expects of a string.
package decimal

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"cosmossdk.io/math"
)

// maxBytes bounds the text: more digits than any decimal has.
const maxBytes = 100

// maxJSONBytes bounds the text in JSON, each character of which may be written with six.
const maxJSONBytes = 2 + 6*maxBytes

// Dec is a decimal with at most 18 places that is plain text wherever it is encoded. The zero value is absent.
type Dec struct{ math.LegacyDec }

// Of is a decimal of the SDK as one of messages.
func Of(value math.LegacyDec) Dec { return Dec{value} }

// Parse reads the text form: digits, and at most 18 more after a point; no sign and no exponent. The error quotes what is
// no decimal.
func Parse(text string) (Dec, error) {
	if len(text) > maxBytes {
		return Dec{}, notPlain(text)
	}
	whole, fraction, point := strings.Cut(text, ".")
	if !digits(whole) || (point && !digits(fraction)) || len(fraction) > math.LegacyPrecision {
		return Dec{}, notPlain(text)
	}
	// Most decimals fit, and every read of the config reads thirty.
	if len(whole) <= math.LegacyPrecision {
		units := new(big.Int).SetUint64(number(whole))
		units.Mul(units, one).Add(units, new(big.Int).SetUint64(number(fraction+zeros[len(fraction):])))
		return Dec{math.LegacyNewDecFromBigIntWithPrec(units, math.LegacyPrecision)}, nil
	}
	value, err := math.LegacyNewDecFromStr(text)
	if err != nil {
		return Dec{}, notPlain(text)
	}
	return Dec{value}, nil
}

func notPlain(text string) error {
	return fmt.Errorf("%.80q is no plain decimal: want digits such as 0.0107, with at most %d after the point", text, math.LegacyPrecision)
}

// zeros are those that a fraction lacks.
const zeros = "000000000000000000"

// one is the decimal 1 in units of the last place.
var one = big.NewInt(1_000_000_000_000_000_000)

// digits reports whether a text has digits, and nothing else.
func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// number is the value of at most 18 digits.
func number(digits string) (n uint64) {
	for i := range len(digits) {
		n = 10*n + uint64(digits[i]-'0')
	}
	return n
}

// Text is the shortest text form, without zeros at its end; empty for an absent one.
func (d Dec) Text() string {
	if d.IsNil() {
		return ""
	}
	return strings.TrimSuffix(strings.TrimRight(d.String(), "0"), ".")
}

// Equal reports whether two are the same number, or both absent.
func (d Dec) Equal(other Dec) bool {
	if d.IsNil() || other.IsNil() {
		return d.IsNil() == other.IsNil()
	}
	return d.LegacyDec.Equal(other.LegacyDec)
}

// Marshal implements the gogoproto custom type.
func (d Dec) Marshal() ([]byte, error) { return []byte(d.Text()), nil }

// MarshalTo implements the gogoproto custom type.
func (d *Dec) MarshalTo(data []byte) (int, error) { return copy(data, d.Text()), nil }

// Unmarshal implements the gogoproto custom type. No text is an absent decimal.
func (d *Dec) Unmarshal(data []byte) (err error) {
	*d = Dec{}
	if len(data) > 0 {
		*d, err = Parse(string(data[:min(len(data), maxBytes+1)]))
	}
	return err
}

// Size implements the gogoproto custom type.
func (d *Dec) Size() int { return len(d.Text()) }

// MarshalJSON implements json.Marshaler.
func (d Dec) MarshalJSON() ([]byte, error) { return json.Marshal(d.Text()) }

// UnmarshalJSON implements json.Unmarshaler. It takes text alone: a number of JSON may have lost digits on its way.
func (d *Dec) UnmarshalJSON(data []byte) error {
	var text string
	if len(data) > maxJSONBytes {
		return notPlain(string(data[:maxJSONBytes]))
	}
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%.80q is no plain decimal: want it as a string", data)
	}
	return d.Unmarshal([]byte(text))
}

// AppendInt appends an integer as it is written everywhere: in decimal digits, as its Marshal and its String do. Amounts of
// 64 bits, which nearly all are, take no arithmetic on long numbers. An absent one is 0.
func AppendInt(out []byte, n math.Int) []byte {
	switch {
	case n.IsNil():
		return append(out, '0')
	case n.IsUint64():
		return strconv.AppendUint(out, n.Uint64(), 10)
	default:
		return n.BigIntMut().Append(out, 10)
	}
}

// maxDigits bounds an integer: 78 digits are those of 2^256.
const maxDigits = 78

// Int is a non-negative integer of at most 78 digits, written as the SDK's is. That one reads a text of any length when it is
// decoded, in time that grows with its square, before anything can refuse it. The zero value is absent.
type Int struct{ math.Int }

// IntOf is an integer of the SDK as one of messages.
func IntOf(value math.Int) Int { return Int{value} }

// ParseInt reads the text form: at most 78 digits, no sign, below 2^256. The error quotes what is no such integer.
func ParseInt(text string) (Int, error) {
	if len(text) > maxDigits || !digits(text) {
		return Int{}, notWhole(text)
	}
	// The SDK's own reader takes a zero in front for the mark of octal digits.
	value, ok := new(big.Int).SetString(text, 10)
	if !ok || value.BitLen() > math.MaxBitLen {
		return Int{}, notWhole(text)
	}
	return Int{math.NewIntFromBigInt(value)}, nil
}

func notWhole(text string) error {
	return fmt.Errorf("%.80q is no plain integer: want at most %d digits, of a number below 2^256", text, maxDigits)
}

// Equal reports whether two are the same number, or both absent.
func (i Int) Equal(other Int) bool {
	if i.IsNil() || other.IsNil() {
		return i.IsNil() == other.IsNil()
	}
	return i.Int.Equal(other.Int)
}

// Unmarshal implements the gogoproto custom type. No text is an absent integer.
func (i *Int) Unmarshal(data []byte) (err error) {
	*i = Int{}
	if len(data) > 0 {
		*i, err = ParseInt(string(data[:min(len(data), maxDigits+1)]))
	}
	return err
}

// UnmarshalJSON implements json.Unmarshaler. It takes text alone, as the SDK's integer does.
func (i *Int) UnmarshalJSON(data []byte) error {
	var text string
	if len(data) > maxJSONBytes {
		return notWhole(string(data[:maxJSONBytes]))
	}
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%.80q is no plain integer: want it as a string", data)
	}
	return i.Unmarshal([]byte(text))
}
