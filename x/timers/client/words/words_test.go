package words_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	distrtypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func writer() words.Writer {
	registry := codectypes.NewInterfaceRegistry()
	banktypes.RegisterInterfaces(registry)
	return words.Writer{Codec: codec.NewProtoCodec(registry), Who: strings.ToUpper}
}

func TestMessagesInWords(t *testing.T) {
	coin := sdk.NewInt64Coin("utmr", 5)
	for want, msg := range map[string]sdk.Msg{
		"send 5utmr to BOB":       &banktypes.MsgSend{FromAddress: "alice", ToAddress: "bob", Amount: sdk.NewCoins(coin)},
		"delegate 5utmr to VAL":   &stakingtypes.MsgDelegate{ValidatorAddress: "val", Amount: coin},
		"undelegate 5utmr from V": &stakingtypes.MsgUndelegate{ValidatorAddress: "v", Amount: coin},
		"withdraw rewards from V": &distrtypes.MsgWithdrawDelegatorReward{ValidatorAddress: "v"},
		"vote yes on proposal 7":  &govv1.MsgVote{ProposalId: 7, Option: govv1.OptionYes},
		"MsgMultiSend":            &banktypes.MsgMultiSend{},
	} {
		require.Equal(t, want, writer().Message(msg))
	}
	send := &banktypes.MsgSend{ToAddress: "b\x1b[2Job", Amount: sdk.NewCoins(coin)}
	require.Equal(t, "send 5utmr to B?[2JOB, then MsgMultiSend", writer().Messages([]sdk.Msg{send, &banktypes.MsgMultiSend{}}),
		"a terminal gets no escape sequences")
}

func TestTimersInWords(t *testing.T) {
	payload, err := types.NewAccountPayload(&banktypes.MsgSend{ToAddress: "bob"}, &stakingtypes.MsgDelegate{})
	require.NoError(t, err)
	raw, err := payload.Marshal()
	require.NoError(t, err)
	for want, timer := range map[string]types.TimerInfo{
		"send  to BOB, then MsgDelegate": {Spec: types.TimerSpec{Call: types.TimerCall{Payload: raw}}, Status: types.TimerStatus{PayloadBytes: uint64(len(raw))}},
		"tick":                           {Spec: types.TimerSpec{Call: types.TimerCall{Handler: "tick", Payload: raw}}, Status: types.TimerStatus{PayloadBytes: uint64(len(raw))}},
		"handle_timer, 5,000 bytes":      {Status: types.TimerStatus{PayloadBytes: 5000}},
		"handle_timer":                   {Spec: types.TimerSpec{Call: types.TimerCall{Payload: []byte(`{"a":1}`)}}, Status: types.TimerStatus{PayloadBytes: 7}},
	} {
		require.Equal(t, want, writer().Timer(&timer))
	}
	require.Equal(t, "on hold: paused", words.Status(&types.TimerInfo{Status: types.TimerStatus{Phase: types.PhaseOnHold, HoldReason: types.Paused}}))
	require.Equal(t, "ready: no room", words.Status(&types.TimerInfo{Status: types.TimerStatus{Phase: types.PhaseReady, Verdict: types.VerdictNoRoom}}))
	require.Equal(t, "ready", words.Status(&types.TimerInfo{Status: types.TimerStatus{Phase: types.PhaseReady, Verdict: types.VerdictFires}}))
	for verdict := types.VerdictLanePaused; verdict <= types.VerdictGuarded; verdict++ {
		require.NotEqual(t, "the lane", words.Verdict(verdict), verdict)
	}
	require.Equal(t, "watching", words.Status(&types.TimerInfo{Status: types.TimerStatus{Phase: types.PhaseWatching, HoldReason: types.Watching}}))
	for want, c := range map[string]struct {
		trigger types.Trigger
		left    uint64
	}{
		"-": {types.Trigger{Height: 5}, 1}, "1 block": {types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}, 0},
		"20 blocks, 3 left": {types.Trigger{Interval: &types.IntervalTrigger{Every: 20}}, 3},
		"hour, 3 left":      {types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3600, Anchor: 1}}}, 3},
		"on the last day of each month at 18:00 +01:00": {
			types.Trigger{Calendar: lastOfMonth(60, types.OffsetTransition{From: 1_000, OffsetMinutes: 120})}, 0,
		},
		"each change":         {types.Trigger{Watch: &types.WatchTrigger{}}, 0},
		"each change, 2 left": {types.Trigger{Watch: &types.WatchTrigger{}}, 2},
	} {
		require.Equal(t, want, words.Repeats(&types.TimerInfo{Spec: types.TimerSpec{Trigger: c.trigger}, Status: types.TimerStatus{DueTime: 999, Left: c.left}}))
	}
	later := types.TimerInfo{Spec: types.TimerSpec{Trigger: types.Trigger{Calendar: lastOfMonth(60, types.OffsetTransition{From: 1_000, OffsetMinutes: 120})}}, Status: types.TimerStatus{DueTime: 1_000}}
	require.Equal(t, "on the last day of each month at 18:00 +02:00", words.Repeats(&later), "the offset is that of its due time")
}

func lastOfMonth(offset int32, transitions ...types.OffsetTransition) *types.CalendarTrigger {
	return &types.CalendarTrigger{
		Cron:          &types.CronRule{Minutes: 1, Hours: 1 << 18, LastDay: true, Months: uint32(schedule.AllMonths), Weekdays: uint32(schedule.AllWeekdays)},
		OffsetMinutes: offset, Transitions: transitions,
	}
}

// Timers that wait for a time are among those that are due at heights, and before those that are on hold.
func TestSoonest_OrdersHeightsAndTimes(t *testing.T) {
	c := timespan.Clock{Height: 100, Time: time.Unix(1_000, 0), Pace: timespan.Pace{Blocks: 1, Time: time.Second}}
	timers := []types.TimerInfo{
		{Id: "paused", Status: types.TimerStatus{HoldReason: types.Paused, Due: 1}},
		{Id: "at 1050", Status: types.TimerStatus{HoldReason: types.Timed, DueTime: 1_050, Due: 2}},
		{Id: "height 160", Status: types.TimerStatus{Due: 160}},
		{Id: "height 140", Status: types.TimerStatus{Due: 140}},
		{Id: "at 1070", Status: types.TimerStatus{HoldReason: types.Timed, DueTime: 1_070, Due: 3}},
	}
	slices.SortFunc(timers, func(a, b types.TimerInfo) int { return words.Soonest(&a, &b, c) })
	var order []string
	for _, timer := range timers {
		order = append(order, timer.Id)
	}
	require.Equal(t, []string{"height 140", "at 1050", "height 160", "at 1070", "paused"}, order)
	require.Equal(t, "at 1970-01-01 00:17:50 +00:00", words.Due(&timers[3], time.UTC))
	require.Equal(t, "at height 140", words.Due(&timers[0], time.UTC))
	require.Equal(t, "pending", words.Status(&types.TimerInfo{Status: types.TimerStatus{Phase: types.PhasePending, HoldReason: types.Timed}}))
}

func TestWatchedSaysHowConditionsComeTrue(t *testing.T) {
	for op := range types.ConditionOp_name {
		if op == 0 {
			continue
		}
		key := types.WatchKey{Store: "bank", Prefix: []byte{2}, When: &types.WatchCondition{Op: types.ConditionOp(op), Value: "5"}}
		want := map[types.ConditionOp]string{
			types.ConditionExists: "comes to exist", types.ConditionAbsent: "is deleted", types.ConditionEqual: "becomes 5",
			types.ConditionLess: "falls below 5", types.ConditionLessOrEqual: "falls to 5 or below",
			types.ConditionGreater: "rises above 5", types.ConditionGreaterOrEqual: "rises to 5 or above",
		}[types.ConditionOp(op)]
		require.NotEmpty(t, want)
		require.Equal(t, "bank:balance:bob:utmr "+want, words.Watched([]types.WatchKey{key}, []string{"bank:balance:bob:utmr"}))
	}
	plain := types.WatchKey{Store: "wasm", Prefix: []byte{3, 0xff}}
	require.Equal(t, "a:b? changes or wasm:03ff changes", words.Watched([]types.WatchKey{plain, plain}, []string{"a:b\x1b"}))
}

// TestTroubles_CountSinceItWasDue: what was placed at a later height is as overdue as it was.
func TestTroubles_CountSinceItWasDue(t *testing.T) {
	overdue := &types.TimerInfo{Status: types.TimerStatus{Phase: types.PhaseReady, Due: 101, Since: 90}}
	require.Equal(t, []string{words.Overdue}, words.Troubles(overdue, 101))
	overdue.Status.Since = 0
	require.Empty(t, words.Troubles(overdue, 101))
}
