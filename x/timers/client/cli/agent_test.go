package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestAnAgentIsSetAndCleared(t *testing.T) {
	r := newRig(t)
	msg, _ := r.Printed("set-agent", r.Bob)
	require.Equal(t, &types.MsgSetAgent{Sender: r.Alice, Agent: r.Bob}, msg)
	msg, _ = r.Printed("set-agent", "bob")
	require.Equal(t, &types.MsgSetAgent{Sender: r.Alice, Agent: r.Bob}, msg)
	msg, _ = r.Printed("set-agent", "--clear")
	require.Equal(t, &types.MsgSetAgent{Sender: r.Alice}, msg)
	require.ErrorContains(t, r.Refused("set-agent"), "want the address of a contract, or --clear")
	require.ErrorContains(t, r.Refused("set-agent", r.Bob, "--clear"), "want one of them")
	require.ErrorContains(t, r.Refused("set-agent", "nobody"), `"nobody" is neither an address`)
}

func TestATimerNamesItsAgent(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	msg, notes := r.Printed("update", id, "--agent", r.Bob)
	require.Equal(t, &types.MsgUpdateTimer{Sender: r.Alice, Id: id, Spec: types.TimerSpec{Bid: &types.Bid{Agent: r.Bob}}, Fields: []string{"bid"}}, msg)
	require.Contains(t, notes, "the agent "+r.Bob+" says at each fire what the timer bids")
	for _, other := range [][]string{{"--tier", "fast"}, {"--max-fee", "1", "--max-priority", "1"}, {"--bid", "5"}} {
		require.ErrorContains(t, r.Refused(append([]string{"update", id, "--agent", r.Bob}, other...)...), "want an agent or a bid")
	}
	require.ErrorContains(t, r.Refused("update", id, "--agent", r.Bob, "--default-bid"), "want one of them")
	require.ErrorContains(t, r.Refused("update", id, "--agent", "nobody"), "--agent")
}
