//go:build !noguests

package history_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestHistory_TellsWhatBecameOfABid(t *testing.T) {
	r := newRig(t)
	r.Configure(func(c *types.TimerConfig) {
		c.Policy = types.PolicyAuction
		types.ChangeParams(c, func(p *auction.Params) { p.PaymentRule = auction.PaymentFirstPrice })
	})
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	_, _, err := r.Run("tx", "timers", "schedule", "--from", "alice", "--msgs", path, "--in", "3", "-y", "--wait", "--bid", "700")
	require.NoError(t, err)
	for range 6 {
		require.NoError(t, r.Chain.BeginBlock())
		require.NoError(t, r.End())
	}
	out, _, err := r.Run("query", "timers", "history", "alice")
	require.NoError(t, err)
	require.Regexp(t, `bid settled +- +700 +- +of a bid of 700: 0 back, 0 locked now`, out)
	require.Regexp(t, `bid locked +- +- +- +700 more, 700 in all`, out)
}
