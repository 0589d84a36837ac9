package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestAnAgentIsSetAndCleared(t *testing.T) {
	r := newRig(t)
	msg, _ := r.printed("set-agent", r.bob)
	require.Equal(t, &types.MsgSetAgent{Sender: r.alice, Agent: r.bob}, msg)
	msg, _ = r.printed("set-agent", "bob")
	require.Equal(t, &types.MsgSetAgent{Sender: r.alice, Agent: r.bob}, msg)
	msg, _ = r.printed("set-agent", "--clear")
	require.Equal(t, &types.MsgSetAgent{Sender: r.alice}, msg)
	require.ErrorContains(t, r.refused("set-agent"), "want the address of a contract, or --clear")
	require.ErrorContains(t, r.refused("set-agent", r.bob, "--clear"), "want one of them")
	require.ErrorContains(t, r.refused("set-agent", "nobody"), `"nobody" is neither an address`)
}

func TestATimerNamesItsAgent(t *testing.T) {
	r := newRig(t)
	id := r.schedule(500, 5)
	msg, notes := r.printed("update", id, "--agent", r.bob)
	require.Equal(t, &types.MsgUpdateTimer{Sender: r.alice, Id: id, Bid: &types.Bid{Agent: r.bob}}, msg)
	require.Contains(t, notes, "the agent "+r.bob+" says at each fire what the timer bids")
	for _, other := range [][]string{{"--tier", "fast"}, {"--max-fee", "1", "--max-priority", "1"}} {
		require.ErrorContains(t, r.refused(append([]string{"update", id, "--agent", r.bob}, other...)...), "want an agent or a bid")
	}
	require.ErrorContains(t, r.refused("update", id, "--agent", r.bob, "--default-bid"), "want one of them")
	require.ErrorContains(t, r.refused("update", id, "--agent", "nobody"), "--agent")
}
