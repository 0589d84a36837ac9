package decimal

import (
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
