package draft

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// drawSpec is a spec with a trigger of each kind and any of the other fields.
func drawSpec(t *rapid.T) types.TimerSpec {
	number := func(name string) uint64 { return rapid.Uint64().Draw(t, name) }
	at := time.Unix(rapid.Int64Range(1, types.MaxTime).Draw(t, "at"), 0).UTC()
	key := types.WatchKey{Store: "bank", Prefix: []byte{2, 0, 255}, When: &types.WatchCondition{Op: types.ConditionLess, Value: "0"}}
	s := types.TimerSpec{
		Name: rapid.SampledFrom([]string{"", "rent", "0", "yes: # no", "- ~", "'\"", " 1e3"}).Draw(t, "name"),
		Trigger: rapid.SampledFrom([]types.Trigger{
			{Height: number("height")},
			{After: number("after")},
			{Time: &at},
			{Watch: &types.WatchTrigger{Keys: []types.WatchKey{key}, Cooldown: number("cooldown")}},
			{Interval: &types.IntervalTrigger{Every: number("every"), First: number("first"), From: types.FromSchedule}},
			{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{}}},
			{Calendar: &types.CalendarTrigger{
				Cron: &types.CronRule{Minutes: number("minutes"), LastDay: true}, OffsetMinutes: -60,
				Transitions: []types.OffsetTransition{{}, {From: 5, OffsetMinutes: 120}}, OffsetFinal: true,
			}},
		}).Draw(t, "trigger"),
		GasLimit: number("gas"), CellLimit: number("cells"), ExpiresAt: number("end"), ExpiresTime: rapid.Int64().Draw(t, "last"),
		MaxCharge: rapid.SampledFrom([]string{"", "0", "900"}).Draw(t, "charge"), OnUnfunded: rapid.SampledFrom([]types.OnUnfunded{0, 2, 3}).Draw(t, "unfunded"),
	}
	if rapid.Bool().Draw(t, "repeats") {
		s.Repeat = &types.Repeat{Remaining: number("remaining"), Missed: types.MissedEach, Renew: true, OnFailure: types.OnFailureSuspend, MaxFailures: 3}
	}
	if rapid.Bool().Draw(t, "retries") {
		s.Retry = &types.Retry{Max: 3, After: number("after a failure"), On: []types.ErrorCode{{Codespace: "sdk", Code: 5}}}
	}
	price := decimal.Dec{LegacyDec: math.LegacyMustNewDecFromStr("0.000000000000000001")}
	s.Bid = rapid.SampledFrom([]*types.Bid{nil, {Tier: types.TierFast}, {Price: "7"}, {Static: &types.StaticBid{MaxFeePerCycle: price, MaxPriorityFeePerCycle: price}}}).Draw(t, "bid")
	if rapid.Bool().Draw(t, "guarded") {
		s.OnlyIf = []types.WatchKey{key}
	}
	if s.Call.Handler = "tick"; rapid.Bool().Draw(t, "messages") {
		send := banktypes.NewMsgSend(sdk.AccAddress("alice"), sdk.AccAddress("bob"), sdk.NewCoins(sdk.NewInt64Coin("stake", 7)))
		packed, err := codectypes.NewAnyWithValue(send)
		require.NoError(t, err)
		s.Call = types.TimerCall{Messages: []*codectypes.Any{packed}}
	} else {
		s.Call.Payload = rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "payload")
	}
	return s
}

// TestSpec_AsAFileIsTheSame: what is printed of a spec is read as that spec, of each kind of trigger.
func TestSpec_AsAFileIsTheSame(t *testing.T) {
	cdc := encoding().Codec
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		text, err := SpecYAML(&spec)
		require.NoError(t, err)
		again, err := ParseSpec(cdc, text)
		require.NoError(t, err, "%s", text)
		want, err := spec.Marshal()
		require.NoError(t, err)
		got, err := again.Marshal()
		require.NoError(t, err)
		require.Equal(t, want, got, "%s", text)
	})
}

// TestSpec_AsAFileIsRefusedWithWhatIsWrong: what no spec states is refused, and named.
func TestSpec_AsAFileIsRefusedWithWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "it states nothing",
		"- 1":                                    "it is no YAML of a spec",
		"trigger: {height: 5}\ntrigger: {}":      "already",
		"trigger: {height: 5}\nstatus: {seq: 1}": "it states a status, which is the chain's",
		"timer: {id: 5}":                         "it states a status, which is the chain's",
		"trigger: {heigth: 5}":                   `unknown field "heigth"`,
		"trigger: {height: -5}":                  "it is no spec",
		"label: rent":                            `unknown field "label"`,
	} {
		_, err := ParseSpec(encoding().Codec, []byte(text))
		require.ErrorContains(t, err, want, text)
	}
}
