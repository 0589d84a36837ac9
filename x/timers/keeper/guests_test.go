package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestGuests_AreRefusedWhereNoneIsRegistered: timers fire under the module's own policies, governance can select either, and a
// config that selects a guest is refused with the policies that the chain has.
//
// Rule: 1.7-guests
func TestGuests_AreRefusedWhereNoneIsRegistered(t *testing.T) {
	f := newFixture(t, func(opts *lab.ChainOptions) { opts.NoGuests = true })
	for _, policy := range []types.Policy{types.PolicyFIFO, types.PolicyEIP1559} {
		f.setConfig(func(c *types.TimerConfig) { c.Policy = policy })
		f.NextBlock()
		id := f.schedule(robot, f.Height()+1, f.noop())
		require.Empty(t, f.firedIDs(f.NextBlock()))
		require.Equal(t, []string{id}, f.firedIDs(f.NextBlock()))
	}
	for _, guest := range []types.Policy{types.PolicyAuction, types.PolicyScore, types.PolicyTip} {
		config := f.config()
		config.Policy = guest
		_, _, err := f.Tx(f.replaces(config))
		require.ErrorIs(t, err, types.ErrInvalidConfig)
		require.ErrorContains(t, err, "policy "+guest.String()+" is unknown to this chain; available: [POLICY_FIFO POLICY_EIP1559]")
	}
	require.NoError(t, f.Check())
}
