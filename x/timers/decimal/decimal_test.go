package decimal_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
)

// Rule: 1.1-price-decimals, 1.1-decimal-text, 1.1-decimal-refused
func TestTextForm(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "0.0107": "0.0107", "00.50": "0.5", "1.000": "1", "100": "100", "0.000000000000000001": "0.000000000000000001",
		"999999999999999999.999999999999999999": "999999999999999999.999999999999999999",
		"1000000000000000000":                   "1000000000000000000", "123456789012345678901234567890.5": "123456789012345678901234567890.5",
	} {
		value, err := decimal.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, value.Text())
		sdk, err := math.LegacyNewDecFromStr(text)
		require.NoError(t, err)
		require.True(t, sdk.Equal(value.LegacyDec), text)
	}
	for name, text := range map[string]string{
		"nothing": "", "a sign": "-1", "a plus": "+1", "an exponent": "1e3", "no digit before": ".5", "no digit after": "1.", "two points": "1.2.3",
		"19 places": "0.0000000000000000001", "a space": " 1", "a comma": "1,5", "hexadecimal": "0x1", "a word": "NaN", "digits elsewhere": "\u0661",
		"beyond its range": strings.Repeat("9", 99), "very long": strings.Repeat("0", 100_000), "an underscore": "1_0",
	} {
		_, err := decimal.Parse(text)
		require.ErrorContains(t, err, "no plain decimal", name)
		require.Less(t, len(err.Error()), 600, name)
		if text != "" {
			var read decimal.Dec
			require.Error(t, read.Unmarshal([]byte(text)), name)
		}
	}
}

// TestEveryEncodingIsTheText: protobuf and JSON hold the same text, which leads back to the same number.
//
// Rule: 1.1-decimal-text
func TestEveryEncodingIsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9]{1,30}(\.[0-9]{1,18})?`).Draw(t, "text")
		value, err := decimal.Parse(text)
		require.NoError(t, err)
		sdk, err := math.LegacyNewDecFromStr(text)
		require.NoError(t, err)
		require.True(t, sdk.Equal(value.LegacyDec))

		wire, err := value.Marshal()
		require.NoError(t, err)
		require.Equal(t, value.Text(), string(wire))
		require.Len(t, wire, value.Size())
		to := make([]byte, value.Size())
		n, err := value.MarshalTo(to)
		require.NoError(t, err)
		require.Equal(t, wire, to[:n])
		var again decimal.Dec
		require.NoError(t, again.Unmarshal(wire))
		require.True(t, value.Equal(again))

		encoded, err := json.Marshal(value)
		require.NoError(t, err)
		require.Equal(t, `"`+value.Text()+`"`, string(encoded))
		var fromJSON decimal.Dec
		require.NoError(t, json.Unmarshal(encoded, &fromJSON))
		require.True(t, value.Equal(fromJSON))
	})
}

func TestAbsent(t *testing.T) {
	var absent, read decimal.Dec
	require.Empty(t, absent.Text())
	require.Zero(t, absent.Size())
	require.NoError(t, read.Unmarshal(nil))
	require.True(t, read.IsNil())
	require.True(t, absent.Equal(read))
	zero := decimal.Of(math.LegacyZeroDec())
	require.False(t, absent.Equal(zero))
	require.False(t, zero.Equal(absent))
	for _, text := range []string{`1`, `0.5`, `{}`, `"-1"`, `[]`} {
		require.Error(t, json.Unmarshal([]byte(text), &read), text)
	}
}
