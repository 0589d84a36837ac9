package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/authz"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestShortOfCoins_SkipsTheMonth: rent that its payer can't send passes as unfunded, charged and recorded as the failure that it is;
// after as many in a row as may pass it is suspended, and goes on when it is resumed.
//
// Rule: 1.5-short-of-coins
func TestShortOfCoins_SkipsTheMonth(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MaxUnfundedSkips = 2 }))
	tenant := sdk.AccAddress("tenant______________")
	f.fund(tenant, 100_000)
	id := f.schedule(tenant, 0, f.pays(tenant, bob, 2_000_000), every(3, 0), func(m *types.MsgScheduleTimer) { m.Spec.OnUnfunded = types.OnUnfundedSkip })
	for month := range 2 {
		events := f.blocksUntil(f.timer(tenant, id).Status.Due)
		fired := only[*types.TimerFired](f, events)
		require.Equal(t, []any{"sdk", uint32(5), false}, []any{fired.Codespace, fired.Code, fired.Success})
		require.NotEqual(t, "0", fired.Paid)
		require.Equal(t, types.SkipUnfunded, only[*types.TimerOccurrencesSkipped](f, events).Reason)
		info := f.timer(tenant, id)
		require.Equal(t, []uint64{uint64(month) + 1, uint64(month) + 1, 0}, []uint64{info.Status.Deliveries, uint64(info.Status.Skips), uint64(info.Status.Failures)})
	}
	require.Equal(t, types.Suspended, f.timer(tenant, id).Status.HoldReason)
	f.fund(tenant, 5_000_000)
	f.run(&types.MsgResumeTimer{Sender: tenant.String(), Id: id})
	require.True(t, only[*types.TimerFired](f, f.blocksUntil(f.timer(tenant, id).Status.Due)).Success)
	require.Zero(t, f.timer(tenant, id).Status.Skips)
}

// TestShortOfCoins_SuspendsWhatIsInHand: it is tried again when resumed, under its number.
//
// Rule: 1.5-short-of-coins
func TestShortOfCoins_SuspendsWhatIsInHand(t *testing.T) {
	f := newFixture(t)
	tenant := sdk.AccAddress("tenant______________")
	f.fund(tenant, 100_000)
	id := f.schedule(tenant, 0, f.pays(tenant, bob, 2_000_000), triggered(everySeconds(60)), func(m *types.MsgScheduleTimer) {
		m.Spec.OnUnfunded = types.OnUnfundedSuspend
	})
	f.BlockSeconds = 60
	f.NextBlock()
	events := f.NextBlock()
	first := only[*types.TimerFired](f, events)
	require.False(t, first.Success)
	require.Equal(t, types.Suspended, only[*types.TimerHeld](f, events).Reason)
	require.True(t, f.timer(tenant, id).Status.Tried)
	f.fund(tenant, 5_000_000)
	f.run(&types.MsgResumeTimer{Sender: tenant.String(), Id: id})
	f.NextBlock()
	again := only[*types.TimerFired](f, f.NextBlock())
	require.True(t, again.Success)
	require.Equal(t, []uint64{first.Occurrence, first.Index}, []uint64{again.Occurrence, again.Index})
}

// TestShortOfCoins_IsTheActorsOwnAlone: what somebody else lacks, whose coins a message of the actor's moves, is a plain failure; and so
// is it where the actor has what it states.
//
// Rule: 1.5-short-of-coins
func TestShortOfCoins_IsTheActorsOwnAlone(t *testing.T) {
	f := newFixture(t)
	poor := sdk.AccAddress("poor________________")
	f.fund(poor, 1)
	inner := banktypes.NewMsgSend(poor, bob, f.coins(1_000))
	grant, err := authz.NewMsgGrant(poor, alice, authz.NewGenericAuthorization(sdk.MsgTypeURL(inner)), nil)
	require.NoError(t, err)
	f.run(grant)
	exec := authz.NewMsgExec(alice, []sdk.Msg{inner})
	id := f.schedule(alice, 0, f.payload(&exec), every(3, 0), func(m *types.MsgScheduleTimer) { m.Spec.OnUnfunded = types.OnUnfundedSkip })
	events := f.blocksUntil(f.timer(alice, id).Status.Due)
	require.False(t, only[*types.TimerFired](f, events).Success)
	require.Empty(t, eventsOf[*types.TimerOccurrencesSkipped](f, events))
	require.Equal(t, uint32(1), f.timer(alice, id).Status.Failures)
}
