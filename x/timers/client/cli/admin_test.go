package cli_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/clienttest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// contract is a runtime of one actor, which has an admin.
type contract struct{ address, admin sdk.AccAddress }

func (c *contract) Serves(_ context.Context, actor sdk.AccAddress) bool {
	return actor.Equals(c.address)
}

func (*contract) Validate(context.Context, *types.TimerConfig, types.Call) error { return nil }

func (*contract) Deliver(context.Context, *types.TimerConfig, types.Delivery) error { return nil }

func (*contract) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }

func (c *contract) Admin(context.Context, sdk.AccAddress) sdk.AccAddress { return c.admin }

// TestAnAdminNamesTheTimersOfAContract: as CONTRACT/ID-PREFIX, in every command that changes a timer, and finds them again.
func TestAnAdminNamesTheTimersOfAContract(t *testing.T) {
	served := &contract{address: bytes.Repeat([]byte{7}, 32)}
	r := &rig{clienttest.New(t, served)}
	actor := served.address.String()
	schedule := func(admin string, height uint64) string {
		t.Helper()
		var err error
		served.admin, err = sdk.AccAddressFromBech32(admin)
		require.NoError(t, err)
		require.NoError(t, r.Chain.BeginBlock())
		results, _, err := r.Chain.Tx(&types.MsgScheduleTimer{Sender: admin, Actor: actor, Spec: types.TimerSpec{Trigger: types.Trigger{Height: height}, Call: types.TimerCall{Payload: []byte("{}")}}})
		require.NoError(t, err)
		require.NoError(t, r.End())
		return results[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse).Id
	}
	first, second, bobs := schedule(r.Alice, 500), schedule(r.Alice, 501), schedule(r.Bob, 502)
	name := actor + "/" + first[:10]

	msg, notes := r.Printed("cancel", name)
	require.Equal(t, &types.MsgCancelTimer{Sender: r.Alice, Id: first, Actor: actor}, msg)
	require.Contains(t, notes, "timer "+actor+"/"+first)
	msg, _ = r.Printed("extend", name, "--until", "900", "--shorten")
	require.Equal(t, &types.MsgExtendTimer{Sender: r.Alice, Id: first, ExpiresAt: 900, Actor: actor}, msg)
	msg, notes = r.Printed("update", name, "--gas-limit", "90000")
	require.Equal(t, &types.MsgUpdateTimer{Sender: r.Alice, Id: first, Actor: actor, Spec: types.TimerSpec{GasLimit: 90_000}, Fields: []string{"gas_limit"}}, msg)
	require.NotContains(t, notes, "no estimate")
	msg, _ = r.Printed("pause", name)
	require.Equal(t, &types.MsgPauseTimer{Sender: r.Alice, Id: first, Actor: actor}, msg)
	require.ErrorContains(t, r.Refused("resume", name), "is not on hold")

	for _, other := range []string{bobs, bobs[:10]} {
		require.ErrorContains(t, r.Refused("cancel", actor+"/"+other), "only its owner may change it, or the admin who scheduled it")
	}
	require.ErrorContains(t, r.Refused("cancel", r.Bob+"/"+first), "has no live timer")
	out, _, err := r.Run(append([]string{"tx", "timers", "cancel", actor + "/" + bobs, "--from", r.Alice}, offline...)...)
	require.NoError(t, err, "without a node no one knows better")
	require.Equal(t, []sdk.Msg{&types.MsgCancelTimer{Sender: r.Alice, Id: bobs, Actor: actor}}, r.Tx(out))

	out, notes, err = r.Run("tx", "timers", "cancel", "--all", "--actor", actor, "--from", r.Alice, "--generate-only")
	require.NoError(t, err)
	require.ElementsMatch(t, []sdk.Msg{
		&types.MsgCancelTimer{Sender: r.Alice, Id: first, Actor: actor}, &types.MsgCancelTimer{Sender: r.Alice, Id: second, Actor: actor},
	}, r.Tx(out))
	require.Contains(t, notes, "cancels all your timers of "+actor+": 2\n")
	require.ErrorContains(t, r.Refused("cancel", "--all"), "you have no live timers")
	require.ErrorContains(t, r.Refused("cancel", first, "--actor", actor), "--actor goes with --all")
	require.ErrorContains(t, r.Refused("cancel", "--all", "--actor", r.Bob), "you have no live timers of")

	out, notes, err = r.Run("query", "timers", "list", actor, "--scheduler", "bob")
	require.NoError(t, err)
	require.Contains(t, out, bobs[:8])
	require.NotContains(t, out, first[:8])
	require.Contains(t, notes, "2 of another scheduler or status on this page")
	_, _, err = r.Run("query", "timers", "list", actor, "--scheduler", "nobody")
	require.ErrorContains(t, err, "--scheduler: ")
}

// A dry run is a transaction of the signer's: what runs as a contract is not tried, and that is said.
func TestSchedule_TriesNothingForAnotherActor(t *testing.T) {
	served := &contract{address: bytes.Repeat([]byte{7}, 32)}
	r := &rig{clienttest.New(t, served)}
	var err error
	served.admin, err = sdk.AccAddressFromBech32(r.Alice)
	require.NoError(t, err)
	r.Simulates(45_000)
	line := []string{"schedule", "send", "bob", "5stake", "--at", "500", "--actor", served.address.String()}
	_, notes := r.Printed(append(line, "--gas-limit", "100000")...)
	require.Contains(t, notes, "its messages are not tried: they run as cosmos1..s79d55s, for which alice can't sign\n")
	require.NotContains(t, notes, "if it ran now")
	require.ErrorContains(t, r.Refused(append(line, "--gas-limit", "auto")...), "no node has tried the messages: state a number of cycles")
}
