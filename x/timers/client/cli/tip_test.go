package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestScheduleUnderTip: a max fee covers the chain's basefee, and who can't pay waits.
func TestScheduleUnderTip(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	r.Configure(func(c *types.TimerConfig) { c.Policy = types.PolicyTip })
	line := []string{"--msgs", path, "--at", "500", "--generate-only", "--gas-limit", "100000"}

	_, notes := r.scheduleTx(append(line, "--max-fee", "0.003", "--max-priority", "0.01")...)
	require.Equal(t, r.willSend()+"--max-fee 0.003 leaves 0.002 beside the chain's cycle basefee: the chain lowers --max-priority 0.01 to that\n"+
		"pre-charges at most 900stake at the fire, and gives back what is not used\n"+
		"pays 0.003stake a cycle now (chain 0.001, lane 0, tip 0.002), 300stake if it uses all of them\n"+
		"if it were due now: no ready timer ahead; wait: none\n"+never("9000"), notes)
	err := r.Refused(append([]string{"schedule"}, append(line, "--max-fee", "0.0009", "--max-priority", "0.001")...)...)
	require.ErrorContains(t, err, "--max-fee 0.0009 is below 0.001, the chain's cycle basefee now: the chain would refuse it. "+
		"Want that at least; 0.003, twice that and the tip")

	r.Sends(r.Alice, r.Bob, 9_999_500)
	_, notes = r.scheduleTx(append(line, "--force")...)
	require.Contains(t, notes, "less than the 700stake pre-charged: without more by then, the timer waits for it until it expires")
}

func TestEstimateAndFairnessUnderTip(t *testing.T) {
	r := newRig(t)
	r.Configure(func(c *types.TimerConfig) { c.Policy = types.PolicyTip })
	out := r.estimate()
	require.Equal(t, "0.5", column(t, out, "weight"), "nothing is known of nobody in particular")
	require.Equal(t, "0", column(t, out, "lane"))
	require.Contains(t, column(t, out, "block"), "policy tip")
	_, _, err := r.Run("query", "timers", "estimate", "--max-fee", "0.0005", "--max-priority", "0")
	require.ErrorContains(t, err, "is below the chain's cycle basefee 0.001000000000000000: such a timer waits until that falls")

	r.Crowd(2)
	r.Blocks(2)
	require.NotEqual(t, "0.5", r.standing("alice")["next"])
	require.EqualValues(t, "2", r.standing("alice")["fires"])
	require.Equal(t, "0.500000000000000000", r.standing("bob")["next"])
}

// standing is an actor's weight under tip, as the query prints it.
func (r *rig) standing(actor string) map[string]any {
	r.T.Helper()
	out, _, err := r.Run("query", "timers", "fairness", actor, "--output", "json")
	require.NoError(r.T, err)
	var fairness struct {
		OfPolicy struct{ Value map[string]any } `json:"of_policy"`
	}
	require.NoError(r.T, json.Unmarshal([]byte(out), &fairness), out)
	return fairness.OfPolicy.Value
}
