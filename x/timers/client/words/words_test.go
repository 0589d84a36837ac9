package words_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	distrtypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/client/words"
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
		"send  to BOB, then MsgDelegate": {Handler: types.DefaultHandler, Payload: raw, PayloadBytes: uint64(len(raw))},
		"tick":                           {Handler: "tick", Payload: raw, PayloadBytes: uint64(len(raw))},
		"handle_timer, 5,000 bytes":      {Handler: types.DefaultHandler, PayloadBytes: 5000},
		"handle_timer":                   {Handler: types.DefaultHandler, Payload: []byte(`{"a":1}`), PayloadBytes: 7},
	} {
		require.Equal(t, want, writer().Timer(&timer))
	}
	require.Equal(t, "set aside: paused", words.Status(&types.TimerInfo{Status: types.TimerStatusSetAside, SetAside: types.Paused}))
	require.Equal(t, "watching", words.Status(&types.TimerInfo{Status: types.TimerStatusWatching, SetAside: types.Watching}))
	for want, trigger := range map[string]types.Trigger{
		"-": {Height: 5}, "1 block": {Interval: &types.IntervalTrigger{Every: 1}}, "20 blocks, 3 left": {Interval: &types.IntervalTrigger{Every: 20, Remaining: 3}},
		"each change": {Watch: &types.WatchTrigger{}}, "each change, 2 left": {Watch: &types.WatchTrigger{Remaining: 2}},
	} {
		require.Equal(t, want, words.Repeats(&trigger))
	}
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
