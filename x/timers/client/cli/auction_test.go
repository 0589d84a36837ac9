package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestABidUnderPolicyAuction(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	line := []string{"--msgs", path, "--at", "500", "--generate-only"}
	_, notes := r.scheduleTx(append(line, "--bid", "5000", "--force")...)
	require.Contains(t, notes, "--bid has no use under policy eip1559: the chain ignores it, or refuses it once the time for that is over")
	require.NotContains(t, notes, "locks 5000")

	r.Configure(func(c *types.TimerConfig) { c.Policy = types.PolicyAuction })
	msg, notes := r.scheduleTx(append(line, "--bid", "5000")...)
	require.Equal(t, &types.Bid{Price: "5000"}, msg.Spec.Bid)
	require.Contains(t, notes, "locks 5000stake of yours at once; what the fire does not pay of it comes back\n"+
		"a bid of 0stake would make it fire in the next block\n")
	_, notes = r.scheduleTx(append(line, "--tier", "fast")...)
	require.Contains(t, notes, "gives places by --bid (policy auction): prices and tiers are kept, and not used")
	require.NotContains(t, notes, "locks")
	for text, want := range map[string]string{
		"-5": "is no whole amount", "1.5": "is no whole amount", "007": "is no whole amount", "x": "is no whole amount",
		"79228162514264337593543950336": "want 0 to 2^96 - 1",
	} {
		require.ErrorContains(t, r.Refused(append([]string{"schedule"}, append(line, "--bid="+text)...)...), want)
	}
	require.ErrorContains(t, r.Refused(append([]string{"schedule"}, append(line, "--bid", "5", "--tier", "fast")...)...), "--bid \"5\" is stated beside --tier")

	out, _, err := r.Run("tx", "timers", "schedule", "--from", "alice", "--msgs", path, "--at", "500", "-y", "--wait", "--bid", "700")
	require.NoError(t, err)
	var printed struct{ Name string }
	require.NoError(t, json.Unmarshal([]byte(out), &printed))
	_, id, _ := strings.Cut(printed.Name, "/")
	out, _, err = r.Run("query", "timers", "timer", printed.Name, "--output", "json")
	require.NoError(t, err)
	require.Contains(t, out, `"bid_locked":"700"`)
	update, _ := r.Printed("update", id, "--bid", "900")
	require.Equal(t, &types.MsgUpdateTimer{Sender: r.Alice, Id: id, Spec: types.TimerSpec{Bid: &types.Bid{Price: "900"}}, Fields: []string{"bid"}}, update)
}

func TestAnEstimateUnderPolicyAuctionSaysWhatToBid(t *testing.T) {
	r := newRig(t)
	r.Configure(func(c *types.TimerConfig) { c.Policy, c.MaxCyclesPerFire = types.PolicyAuction, 250_000 })
	out := r.estimate("--bid", "70")
	require.Equal(t, "0stake, to fire in the next block", column(t, out, "least bid"))
	require.Equal(t, "0stake beside its fees", column(t, out, "pays of its bid"))
	r.Crowd(20)
	// Eight of 250,000 cycles fit: seven beside it, so that it must pass the eighth. They have waited for 1 block: e^0.05.
	out = r.estimate()
	require.Equal(t, "20 ready timers (5,000,000 cycles)", column(t, out, "ahead"))
	require.Equal(t, "1stake, to fire in the next block", column(t, out, "least bid"))
	require.Equal(t, "nothing now: it would wait", column(t, out, "pays of its bid"))
	require.Equal(t, "1stake beside its fees", column(t, r.estimate("--bid", "70"), "pays of its bid"))
}
