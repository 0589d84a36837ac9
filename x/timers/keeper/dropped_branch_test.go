package keeper_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// curious is an agent that looks its own paused timer up, as a contract does by a query, and bids nothing.
func (f *fixture) curious(name string, actor sdk.AccAddress, id *string, asked *int) sdk.AccAddress {
	return f.agent(name, func(ctx sdk.Context, _ types.BidContext) (types.AgentQuote, error) {
		branch, _ := ctx.CacheContext()
		_, err := f.query().Timer(branch, &types.QueryTimerRequest{Actor: actor.String(), Id: *id})
		require.NoError(f.t, err)
		*asked++
		return types.AgentQuote{}, errors.New("no bid")
	})
}

// TestAgent_LooksItsPausedTimerUp: it repeated strangers' payments. The look-up wrote what the block had changed of the timers
// on hold to the agent's branch, which is dropped. A timer that had returned to the queue was on hold too, and fired in
// each block.
func TestAgent_LooksItsPausedTimerUp(t *testing.T) {
	for _, policy := range lab.Policies(types.PolicyEIP1559, types.PolicyTip) {
		t.Run(policy.String(), func(t *testing.T) {
			f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.Policy = policy }))
			var paused string
			var asked int
			agent := f.curious("curious", robot2, &paused, &asked)
			paused = f.schedule(robot2, 1_000, f.noop())
			f.run(&types.MsgPauseTimer{Sender: robot2.String(), Id: paused})
			// A config under which alice's payment can't run holds it up until another one returns it.
			payment := f.schedule(alice, 4, f.pays(alice, bob, 1_000_000), limited(gas))
			f.setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = 100_000, 100_000 })
			f.blocksUntil(6)
			require.Equal(t, types.Unrunnable, f.timer(alice, payment).Status.HoldReason)
			before := f.balance(bob)
			f.setConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire, c.Eip1559.MaxCyclesPerFireAuction = 550_000, 250_000 })
			for range 30 {
				f.schedule(robot, f.Height()+1, f.noop(), byAgent(agent), limited(90_000))
				f.NextBlock()
			}
			require.Greater(t, asked, 20, "the agent is asked in each block")
			require.Equal(t, before+1_000_000, f.balance(bob), "the payment is made once")
			require.Zero(t, f.total(alice))
		})
	}
}
