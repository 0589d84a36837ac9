package app

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// TestProposalFromV1: a price in a proposal takes the form of today, and a proposal without one is left alone.
//
// Rule: 2.5-proposals
func TestProposalFromV1(t *testing.T) {
	text := func(number protowire.Number, value string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), value)
	}
	bid := text(8, string(text(1, string(text(1, "10700000000000000"))))) // 0.0107
	cancel := &codectypes.Any{TypeUrl: sdk.MsgTypeURL(&timerstypes.MsgCancelTimer{}), Value: text(1, "gov")}
	schedule := &codectypes.Any{TypeUrl: sdk.MsgTypeURL(&timerstypes.MsgScheduleTimer{}), Value: append(text(1, "gov"), bid...)}

	old := govv1.Proposal{Id: 7, Title: "timers", Messages: []*codectypes.Any{cancel}}
	stored, err := old.Marshal()
	require.NoError(t, err)
	value, changed, err := proposalFromV1(stored)
	require.NoError(t, err)
	require.False(t, changed)
	require.Nil(t, value)

	old.Messages = []*codectypes.Any{schedule, cancel}
	stored, err = old.Marshal()
	require.NoError(t, err)
	value, changed, err = proposalFromV1(stored)
	require.NoError(t, err)
	require.True(t, changed)
	var now govv1.Proposal
	require.NoError(t, now.Unmarshal(value))
	require.Equal(t, "timers", now.Title)
	require.Equal(t, cancel.Value, now.Messages[1].Value)
	var msg timerstypes.MsgScheduleTimer
	require.NoError(t, msg.Unmarshal(now.Messages[0].Value))
	require.Equal(t, "0.010700000000000000", msg.Bid.Static.MaxFeePerCycle.String())

	_, _, err = proposalFromV1([]byte{0xff})
	require.Error(t, err)
}
