package actors_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func someQuote() types.AgentQuote {
	return types.AgentQuote{
		MaxFeePerCycle: math.LegacyNewDec(3), MaxPriorityFeePerCycle: math.LegacyNewDec(1), MaxFeePerCell: math.LegacyNewDecWithPrec(5, 1),
	}
}

func TestAnAgentsAnswerIsReadStrictly(t *testing.T) {
	const good = `{"max_fee_per_cycle":"3","max_priority_fee_per_cycle":"1.000000000000000000","max_fee_per_cell":"0.5"}`
	quote, err := actors.ParseQuote([]byte(good))
	require.NoError(t, err)
	require.Equal(t, someQuote(), quote)
	quote, err = actors.ParseQuote([]byte("\n{ \"max_fee_per_cell\" : \"0.5\", \"max_priority_fee_per_cycle\":\"1\",\n\"max_fee_per_cycle\":\"3\" } \t"))
	require.NoError(t, err)
	require.Equal(t, someQuote(), quote)
	with := func(price string) string { return strings.Replace(good, `"3"`, price, 1) }
	for name, answer := range map[string]string{
		"nothing":                    "",
		"null":                       "null",
		"a list":                     "[]",
		"a string":                   `"3"`,
		"no member":                  "{}",
		"a member is missing":        `{"max_fee_per_cycle":"3","max_priority_fee_per_cycle":"1"}`,
		"a member twice":             strings.Replace(good, "max_fee_per_cell", "max_fee_per_cycle", 1),
		"a member more":              strings.Replace(good, "}", `,"note":"x"}`, 1),
		"a member too many, at once": strings.Replace(good, "}", `,"max_fee_per_cell":"0.5"}`, 1),
		"another case":               strings.Replace(good, "max_fee_per_cell", "Max_Fee_Per_Cell", 1),
		"behind it":                  good + good,
		"behind it garbage":          good + "]",
		"cut":                        good[:len(good)-1],
		"not UTF-8":                  with("\"\xff\""),
		"a number":                   with("3"),
		"null for a price":           with("null"),
		"a list for a price":         with(`["3"]`),
		"negative":                   with(`"-3"`),
		"signed":                     with(`"+3"`),
		"an exponent":                with(`"3e0"`),
		"infinite":                   with(`"Inf"`),
		"empty":                      with(`""`),
		"spaces":                     with(`" 3"`),
		"hexadecimal":                with(`"0x3"`),
		"no whole part":              with(`".5"`),
		"no places":                  with(`"3."`),
		"19 places":                  with(`"3.0000000000000000000"`),
		"above the bound":            with(`"1000000000000000000.000000000000000001"`),
		"far above it":               with(`"99999999999999999999"`),
		"without an end":             with(`"` + strings.Repeat("9", 3_000) + `"`),
		"longer than it may be":      good + strings.Repeat(" ", actors.MaxQuoteBytes),
	} {
		quote, err := actors.ParseQuote([]byte(answer))
		require.ErrorIs(t, err, types.ErrInvalidQuote, name)
		require.Less(t, len(err.Error()), 600, "%s: the error repeats what was sent", name)
		_ = quote
	}
	most, err := actors.ParseQuote([]byte(with(`"1000000000000000000"`)))
	require.NoError(t, err)
	require.NoError(t, most.Validate())
}

// FuzzParseQuote: whatever a contract answers, it is refused or a quote whose prices are within their bounds, and which is
// read again as it is.
func FuzzParseQuote(f *testing.F) {
	f.Add([]byte(`{"max_fee_per_cycle":"3","max_priority_fee_per_cycle":"1","max_fee_per_cell":"0.5"}`))
	f.Add([]byte(`{"max_fee_per_cycle":"1000000000000000000","max_priority_fee_per_cycle":"0.000000000000000001","max_fee_per_cell":"00"}`))
	f.Add([]byte(`{"max_fee_per_cycle":"-1","max_fee_per_cycle":"1"}`))
	f.Fuzz(checkParsedQuote[*testing.T])
}

func TestParseQuoteProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{
			`{`, `}`, `"max_fee_per_cycle"`, `"max_priority_fee_per_cycle"`, `"max_fee_per_cell"`, `:`, `,`, `"0.5"`, `"3"`, `"-1"`, `3`, ` `, `[`, `"`, `\u0030`,
		})
		checkParsedQuote(t, []byte(strings.Join(rapid.SliceOfN(part, 0, 16).Draw(t, "parts"), "")))
	})
}

func checkParsedQuote[T require.TestingT](t T, answer []byte) {
	quote, err := actors.ParseQuote(answer)
	if err != nil {
		require.ErrorIs(t, err, types.ErrInvalidQuote)
		return
	}
	require.NoError(t, quote.Validate())
	require.False(t, quote.CellPricedOut)
	again, err := actors.ParseQuote([]byte(`{"max_fee_per_cycle":"` + quote.MaxFeePerCycle.String() + `","max_priority_fee_per_cycle":"` +
		quote.MaxPriorityFeePerCycle.String() + `","max_fee_per_cell":"` + quote.MaxFeePerCell.String() + `"}`))
	require.NoError(t, err)
	require.True(t, quote.Equal(again))
}
