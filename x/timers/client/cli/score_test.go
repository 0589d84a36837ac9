package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func inScore(c *types.TimerConfig) { c.Policy = types.PolicyScore }

func TestScheduleStatesAnIntegerBid(t *testing.T) {
	r := newRig(t)
	r.Configure(inScore)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	line := []string{"--msgs", path, "--at", "500", "--gas-limit", "100000", "--generate-only"}

	msg, notes := r.scheduleTx(append(line, "--bid", "250")...)
	require.Equal(t, &types.Bid{Price: "250"}, msg.Spec.Bid)
	require.Equal(t, r.willSend()+"pre-charges at most 950stake at the fire, and gives back what is not used\n"+
		"pays 0.001stake a cycle now (chain 0.001, lane 0, tip 0), 350stake if it uses all of them\n"+
		"pays its bid of 250stake at the fire, within these sums\n"+
		"if it were due now: no ready timer ahead; wait: none\n"+never("9500"), notes)

	_, notes = r.scheduleTx(append(line, "--tier", "fast")...)
	require.Contains(t, notes, "the chain gives places by --bid (policy score): prices and tiers are kept, and not used as long as that is so\n")
	_, notes = r.scheduleTx(line...)
	require.NotContains(t, notes, "bid")

	id := r.Schedule(500, 5)
	_, notes = r.Printed("update", id, "--bid", "7")
	require.Contains(t, notes, "pays its bid of 7stake at the fire, within these sums\n")

	r.Configure(func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO })
	require.ErrorContains(t, r.Refused(append([]string{"schedule"}, append(line, "--bid", "250")...)...), "--bid has no use under policy fifo")
	_, notes = r.scheduleTx(append(line, "--bid", "250", "--force")...)
	require.Contains(t, notes, "--bid has no use under policy fifo: the chain ignores it\n")
	r.Configure(func(c *types.TimerConfig) { c.Policy = types.PolicyEIP1559 })
	_, notes = r.scheduleTx(append(line, "--bid", "250", "--force")...)
	require.Contains(t, notes, "--bid has no use under policy eip1559: the chain ignores it, or refuses it once the time for that is over; "+
		"want --max-fee and --max-priority, or --tier\n")
}

func TestEstimateOfAnIntegerBid(t *testing.T) {
	r := newRig(t)
	r.Configure(inScore)
	out := r.estimate("--bid", "250", "--gas-limit", "100000")
	require.Equal(t, "250stake at each fire, within what follows", column(t, out, "bid"))
	require.Equal(t, "950stake, which the payer must have at the fire", column(t, out, "pre-charge"))
	require.NotContains(t, r.estimate("--bid", "0"), "\nbid")
}

func TestIntegerBidsAreRefusedWithAReason(t *testing.T) {
	r := newRig(t)
	r.Configure(inScore)
	for _, bad := range []string{"", "-1", "1.5", "1e3", "x"} {
		_, _, err := r.Run("query", "timers", "estimate", "--bid="+bad)
		require.ErrorContains(t, err, "is no whole amount such as 5000", bad)
	}
	for _, other := range [][]string{{"--tier", "fast"}, {"--max-fee", "1", "--max-priority", "1"}, {"--max-fee", "1"}} {
		_, _, err := r.Run(append([]string{"query", "timers", "estimate", "--bid", "7"}, other...)...)
		require.ErrorContains(t, err, `--bid "7" is stated beside --`+strings.TrimPrefix(other[0], "--")+`: want one kind of bid`)
	}
	_, _, err := r.Run("query", "timers", "estimate", "--bid", "79228162514264337593543950336")
	require.ErrorContains(t, err, "want 0 to 2^96 - 1")
}
