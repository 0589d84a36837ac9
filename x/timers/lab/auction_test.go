package lab_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/lab"
)

// TestIntegersAreDecimal whatever they begin with: a bid of 0700 is not one of 448.
func TestIntegersAreDecimal(t *testing.T) {
	scenario, err := lab.Parse([]byte(`{"accounts": {"alice": "0700"}, "blocks": 1, "ops": [
		{"at": 1, "op": "schedule", "as": "t", "actor": "alice", "height": 2, "bid": "089"}]}`))
	require.NoError(t, err)
	require.Equal(t, "700", scenario.Accounts[0].Balance.String())
	require.Equal(t, "89", scenario.Ops[0].Bid.Price)
	for _, text := range []string{"0x10", "1_000", "0b1", "0o7", "+1"} {
		_, err := lab.Parse([]byte(`{"accounts": {"alice": "` + text + `"}, "blocks": 1}`))
		require.ErrorContains(t, err, "want an integer", text)
	}
}

// checkBids: nobody pays more than its bid, and the tips are what the fires tipped and paid of their bids.
func checkBids(t require.TestingT, lines []lab.Line) {
	tips := math.ZeroInt()
	for _, line := range lines {
		for _, fired := range line.Fired {
			tips = tips.Add(amount(t, fired.Tip)).Add(amount(t, fired.BidPaid))
			require.True(t, amount(t, fired.BidPaid).LTE(amount(t, fired.Bid)), "%v", fired)
		}
		require.Equal(t, tips.String(), line.Tips)
	}
}

// amount is an amount of a line; nothing is none.
func amount(t require.TestingT, text string) math.Int {
	if text == "" {
		return math.ZeroInt()
	}
	value, ok := math.NewIntFromString(text)
	require.True(t, ok, text)
	return value
}
