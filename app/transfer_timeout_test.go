package app_test

import (
	"testing"
	"time"

	transfertypes "github.com/cosmos/ibc-go/v10/modules/apps/transfer/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/authz"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
)

// When a transfer over IBC gives up is found, however deep it is within other messages: a timer that is due later would send
// coins that come back.
func TestTransfersTellWhenTheyGiveUp(t *testing.T) {
	cdc := app.Describe().AppCodec()
	soon, late := time.Unix(1_800_000_000, 5), time.Unix(1_900_000_000, 0)
	transfer := func(at time.Time) sdk.Msg {
		return &transfertypes.MsgTransfer{SourcePort: "transfer", SourceChannel: "channel-0", TimeoutTimestamp: uint64(at.UnixNano())}
	}
	exec := authz.NewMsgExec(sdk.AccAddress("grantee_____________"), []sdk.Msg{transfer(late), transfer(soon)})
	within := authz.NewMsgExec(sdk.AccAddress("grantee_____________"), []sdk.Msg{&exec})
	for name, tc := range map[string]struct {
		msgs []sdk.Msg
		want time.Time
	}{
		"alone":          {[]sdk.Msg{transfer(late)}, late},
		"the first":      {[]sdk.Msg{transfer(late), transfer(soon)}, soon},
		"within another": {[]sdk.Msg{&banktypes.MsgSend{}, &within}, soon},
	} {
		at, found := outlook.TimeoutOf(cdc, tc.msgs)
		require.True(t, found, name)
		require.True(t, tc.want.Equal(at), "%s: %s", name, at)
	}
	for name, msgs := range map[string][]sdk.Msg{
		"none": nil, "another": {&banktypes.MsgSend{}}, "by height alone": {&transfertypes.MsgTransfer{}},
	} {
		_, found := outlook.TimeoutOf(cdc, msgs)
		require.False(t, found, name)
	}
}
