package keeper_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// x/feegrant 0.2.0 deletes a renewed allowance at the end of the one before it (docs/extend/upstream/feegrant.md): revoking removes
// the wrong entry of its queue. A timer that it pays for is then without a payer. If this fails on another version the fault
// is mended, and the warnings to sponsors can go.
// Rule: 1.11-feegrant-renewal, 1.11-feegrant-unpaid
func TestFeegrant020_DeletesARenewedAllowanceAtTheOldEnd(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	require.Contains(t, string(mod), "cosmossdk.io/x/feegrant v0.2.0", "look whether this version has the fault")

	f := newFixture(t)
	grant := func(end time.Time) {
		allowance, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{Expiration: &end}, []string{sdk.MsgTypeURL(&types.MsgScheduleTimer{})})
		require.NoError(t, err)
		require.NoError(t, f.Feegrant.GrantAllowance(f.Ctx(), bob, robot, allowance))
	}
	start := f.Ctx().BlockTime()
	soon, late := start.Add(time.Hour), start.Add(24*time.Hour)
	grant(soon)
	f.schedule(robot, f.Height()+5, f.noop(), paidBy(bob))
	f.run(&feegrant.MsgRevokeAllowance{Granter: bob.String(), Grantee: robot.String()})
	grant(late)
	has := func() bool {
		_, err := f.Feegrant.GetAllowance(f.Ctx(), bob, robot)
		return err == nil
	}
	require.NoError(t, f.Feegrant.RemoveExpiredAllowances(f.Ctx().WithBlockTime(soon.Add(-time.Second)), 200))
	require.True(t, has())
	require.NoError(t, f.Feegrant.RemoveExpiredAllowances(f.Ctx().WithBlockTime(soon.Add(time.Second)), 200))
	require.False(t, has(), "it was granted until %s, and is gone at %s", late, soon)
	gone := only[*types.TimerCancelledInsufficientFunds](f, f.blocksUntil(f.Height()+5))
	require.True(t, gone.AllowanceRefused)
}

// Who grants again only after the old end keeps the allowance.
func TestFeegrant020_KeepsAnAllowanceThatIsRenewedAfterTheOldEnd(t *testing.T) {
	f := newFixture(t)
	end := f.Ctx().BlockTime().Add(time.Hour)
	require.NoError(t, f.Feegrant.GrantAllowance(f.Ctx(), bob, robot, &feegrant.BasicAllowance{Expiration: &end}))
	require.NoError(t, f.Feegrant.RemoveExpiredAllowances(f.Ctx().WithBlockTime(end.Add(time.Second)), 200))
	later := end.Add(24 * time.Hour)
	require.NoError(t, f.Feegrant.GrantAllowance(f.Ctx(), bob, robot, &feegrant.BasicAllowance{Expiration: &later}))
	require.NoError(t, f.Feegrant.RemoveExpiredAllowances(f.Ctx().WithBlockTime(end.Add(2*time.Second)), 200))
	_, err := f.Feegrant.GetAllowance(f.Ctx(), bob, robot)
	require.NoError(t, err)
}
