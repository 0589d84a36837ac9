package decimal

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"

	"cosmossdk.io/math"
)

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
