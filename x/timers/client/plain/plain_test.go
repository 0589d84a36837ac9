package plain_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"0.001000000000000000": "0.001", "2.000000000000000000": "2", "0.000000000000000000": "0", "100": "100", "": "",
	} {
		require.Equal(t, want, plain.Dec(text), text)
	}
	for n, want := range map[uint64]string{0: "0", 999: "999", 1_000: "1,000", 1_234_567: "1,234,567", 100_000: "100,000"} {
		require.Equal(t, want, plain.Thousands(n))
	}
	require.Equal(t, "1 block", plain.Count(1, "block"))
	require.Equal(t, "0 blocks", plain.Count(0, "block"))
	require.Equal(t, "2,000 blocks", plain.Count(2_000, "block"))
}

func TestForeignTextIsFitForATerminal(t *testing.T) {
	require.Equal(t, "?[31mred?", plain.Clean("\x1b[31mred\n"))
	require.Equal(t, "h?llo", plain.Clean("h\u00e9llo"))
	require.Equal(t, "plain ~", plain.Clean("plain ~"))
	require.Equal(t, "ab", plain.Clip("abc", 2))
	require.Equal(t, "\u00e9\u00e9", plain.Clip("\u00e9\u00e9\u00e9", 2))
	require.Empty(t, plain.Clip("abc", -1))
	require.Equal(t, "cosmo..dk09r", plain.Elide("cosmos1zrx0nnt256dcqhjm5jkvrqsm79k3zn7ysdk09r", 12))
	require.Equal(t, "short", plain.Elide("short", 12))
}

func TestNothingIsWiderThanItsWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~]{0,60}`).Draw(t, "text")
		width := rapid.IntRange(0, 70).Draw(t, "width")
		for _, cut := range []string{plain.Clip(text, width), plain.Elide(text, width)} {
			if len(cut) > width || len(text) <= width && cut != text {
				t.Fatalf("%q at width %d is %q", text, width, cut)
			}
		}
	})
}

func TestBids(t *testing.T) {
	static := &types.StaticBid{MaxFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(3, 3)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(1, 3))}
	for want, bid := range map[string]*types.Bid{
		"0.003+0.001": {Static: static}, "urgent": {Tier: types.TierUrgent}, "agent": {Agent: "cosmos1x"}, "5000": {Price: "5000"},
	} {
		require.Equal(t, want, plain.Bid(bid))
	}
	require.Equal(t, "default", plain.Bid(nil))
	require.Equal(t, "default", plain.Bid(&types.Bid{}))
	for want, timer := range map[string]types.TimerInfo{
		"700/900": {Spec: types.TimerSpec{Bid: &types.Bid{Price: "900"}}, Status: types.TimerStatus{BidLocked: "700"}},
		"900":     {Spec: types.TimerSpec{Bid: &types.Bid{Price: "900"}}, Status: types.TimerStatus{BidLocked: "900"}},
		"0/900":   {Spec: types.TimerSpec{Bid: &types.Bid{Price: "900"}}},
		"fast":    {Spec: types.TimerSpec{Bid: &types.Bid{Tier: types.TierFast}}},
		"default": {},
	} {
		require.Equal(t, want, plain.TimerBid(&timer))
	}
	require.Equal(t, "eip1559", plain.PolicyName(types.PolicyEIP1559))
}

func TestPricesOfANodeAreBounded(t *testing.T) {
	sum, err := plain.AddPrices("0.001", "0.002", "1")
	require.NoError(t, err)
	require.Equal(t, "1.003000000000000000", sum.String())
	for text, want := range map[string]string{
		"": "is no decimal", "x": "is no decimal", "-0.1": "is out of bounds", "1000000000000000000.1": "is out of bounds: want 0 to 1000000000000000000",
	} {
		_, err := plain.ParsePrice(text)
		require.ErrorContains(t, err, want, "%q", text)
		_, err = plain.AddPrices("1", text)
		require.ErrorContains(t, err, want, "%q", text)
	}
	_, err = plain.ParsePrice("1000000000000000000")
	require.NoError(t, err)
}

func TestServersAreQuotedWithoutTheirTransport(t *testing.T) {
	require.Equal(t, "want an address", plain.ServerSays(
		status.Error(codes.Unknown, "rpc error: code = InvalidArgument desc = want an address: invalid request")))
	require.Equal(t, "connection refused", plain.ServerSays(errors.New("connection refused")))
	require.Equal(t, "a?[2J", plain.ServerSays(errors.New("a\x1b[2J")))
	require.Equal(t, "timer 3fa9 is due at 2030-01-31 09:00:00 +00:00, not 2030-01-31", plain.ServerSays(
		errors.New("timer 3fa9 is due at 2030-01-31T09:00:00Z, not 2030-01-31")))
	require.Equal(t, "2100stake is smaller: insufficient funds", plain.ServerSays(errors.New("2100stake is smaller: insufficient funds: insufficient funds")))
}

func TestTextIsWrapped(t *testing.T) {
	require.Equal(t, []string{"a bc", "defgh", "i"}, plain.Wrap("a bc defghi", 5))
	require.Equal(t, []string{""}, plain.Wrap("", 5))
	rapid.Check(t, func(t *rapid.T) {
		text, width := rapid.StringMatching(`[a-z ]{0,60}`).Draw(t, "text"), rapid.IntRange(0, 30).Draw(t, "width")
		lines := plain.Wrap(text, width)
		for _, line := range lines {
			require.LessOrEqual(t, len(line), max(width, 1))
		}
		require.Equal(t, strings.ReplaceAll(text, " ", ""), strings.ReplaceAll(strings.Join(lines, ""), " ", ""), "nothing is lost")
	})
}

func TestRegisteredErrors(t *testing.T) {
	require.Equal(t, "insufficient funds", plain.Registered("sdk", 5))
	require.Empty(t, plain.Registered("sdk", 99_999))
	require.Empty(t, plain.Registered("nowhere", 5))
}
