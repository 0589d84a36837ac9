package life

import (
	"context"
	"errors"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// answers of a node that may be wrong.
type answers struct {
	txs     int
	results []*abci.ExecTxResult
	err     error
}

func (a answers) Block(_ context.Context, height *int64) (*coretypes.ResultBlock, error) {
	b := &cmttypes.Block{Header: cmttypes.Header{Height: *height}, Data: cmttypes.Data{Txs: make(cmttypes.Txs, a.txs)}}
	return &coretypes.ResultBlock{Block: b}, a.err
}

func (a answers) BlockResults(context.Context, *int64) (*coretypes.ResultBlockResults, error) {
	return &coretypes.ResultBlockResults{TxsResults: a.results}, a.err
}

func scheduling(index string) *abci.ExecTxResult {
	return &abci.ExecTxResult{Events: []abci.Event{{Type: "timers.v1.TimerScheduled", Attributes: []abci.EventAttribute{
		{Key: "id", Value: `"aa"`}, {Key: "msg_index", Value: index},
	}}}}
}

// TestRecord_RefusesWhatItCantRead: wrong answers of a node, and transactions that it can't decode.
func TestRecord_RefusesWhatItCantRead(t *testing.T) {
	broken := errors.New("broken")
	decode := func([]byte) (sdk.Tx, error) { return nil, broken }
	one := []*abci.ExecTxResult{scheduling("0")}
	for want, a := range map[string]answers{
		"broken": {err: broken},
		"block 7 has 2 transactions and 1 results": {txs: 2, results: one},
		"block 7, transaction 0: broken":           {txs: 1, results: one},
	} {
		r := Recorder{Node: a, Decode: decode, Lane: market.Capacity{Cycles: 1, Cells: 1}}
		_, err := r.Record(context.Background(), 7)
		require.ErrorContains(t, err, want)
	}
}

func TestScheduled_RefusesOtherMessages(t *testing.T) {
	msgs := []sdk.Msg{&types.MsgScheduleTimer{}, &banktypes.MsgSend{}}
	_, err := scheduled(msgs, "0")
	require.NoError(t, err)
	for index, want := range map[string]string{
		"1": "by a *types.MsgSend", "2": `message "2" of 2`, "-1": `"-1"`, "": `""`, "x": `"x"`,
	} {
		_, err := scheduled(msgs, index)
		require.ErrorContains(t, err, want)
	}
}

// TestTerms_AreThoseOfTheModel: what the model does not know is refused by name.
func TestTerms_AreThoseOfTheModel(t *testing.T) {
	r := Recorder{Lane: market.Capacity{Cycles: 1_000, Cells: 100}}
	rhythm := func(r types.Repeat) *types.MsgScheduleTimer {
		return &types.MsgScheduleTimer{Spec: types.TimerSpec{
			Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 2, From: types.FromSchedule}}, Repeat: &r,
		}}
	}
	for want, msg := range map[string]*types.MsgScheduleTimer{
		"renews itself":     {Spec: types.TimerSpec{Repeat: &types.Repeat{Renew: true}}},
		"growing distances": {Spec: types.TimerSpec{Retry: &types.Retry{Max: 1, Backoff: 2}}},
		"equal distances":   {Spec: types.TimerSpec{Trigger: types.Trigger{Calendar: &types.CalendarTrigger{Cron: &types.CronRule{}}}}},
		"jitter":            rhythm(types.Repeat{Jitter: 1}),
		"by failures":       rhythm(types.Repeat{OnFailure: types.OnFailureSuspend}),
	} {
		_, err := r.terms(msg, nil)
		require.ErrorContains(t, err, want)
	}
	got, err := r.terms(rhythm(types.Repeat{Remaining: 3, OnFailure: types.OnFailureStop}),
		map[string]string{"due": "9", "expires_at": "90", "gas_limit": "50", "cell_limit": "10"})
	require.NoError(t, err)
	require.Equal(t, &Terms{
		Kind: Rhythm, Due: 9, Expires: 90, Every: 2, Remaining: 3, Stops: true, Latest: true,
		Size: 100,
	}, got)
}
