package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// column reads the value of a row of the estimate's table.
func column(t *testing.T, table, name string) string {
	t.Helper()
	for _, line := range strings.Split(table, "\n") {
		if key, value, found := strings.Cut(strings.TrimLeft(line, " "), "  "); found && key == name {
			return strings.TrimSpace(value)
		}
	}
	require.Fail(t, "no row "+name, table)
	return ""
}

func (r *rig) estimate(line ...string) string {
	r.T.Helper()
	out, notes, err := r.Run(append([]string{"query", "timers", "estimate"}, line...)...)
	require.NoError(r.T, err)
	require.Empty(r.T, notes)
	for _, line := range strings.Split(out, "\n") {
		require.LessOrEqual(r.T, len(line), 80, line)
	}
	return out
}

func TestEstimateReadsAsATable(t *testing.T) {
	r := newRig(t)
	require.Equal(t, `block            11, the next; policy eip1559
price per cycle  0.002stake
  chain          0.001
  lane           0.001
  tip            0
price per cell   0.03stake for a byte written
gas limit        250,000 cycles
cell limit       20,000 cells
size             250,000 of the lane
pre-charge       1100stake, which the payer must have at the fire
cost of cycles   500stake if it uses all of them and writes nothing
weight           2
ahead            no ready timer
wait             none
basis            every ready timer was ranked; newcomers are not foreseen
`, r.estimate())

	out, _, err := r.Run("query", "timers", "estimate", "--gas-limit", "100000", "--max-fee", "0.003", "--max-priority", "0.0005", "--output", "json")
	require.NoError(t, err)
	var answer types.QueryEstimateResponse
	require.NoError(t, r.Chain.Codec.UnmarshalJSON([]byte(out), &answer), out)
	require.EqualValues(t, 100_000, answer.GasLimit)
	require.Equal(t, "0.000500000000000000", answer.Priority)
	require.Equal(t, "850", answer.PreCharge)
	require.Equal(t, types.BasisAllReady, answer.Basis)
}

func TestEstimateTellsWhoIsAheadAndHowLong(t *testing.T) {
	r := newRig(t)
	r.Crowd(20)
	// The next block tries the 20 in their order; one who bids nothing is behind them, at the same tip and weight.
	out := r.estimate()
	require.Equal(t, "20 ready timers (5,000,000 cycles)", column(t, out, "ahead"))
	require.Equal(t, "2 blocks, about 2s at 1s a block", column(t, out, "wait"))
	out = r.estimate("--max-fee", "0.01", "--max-priority", "0.001", "--actor", "alice")
	require.Equal(t, "no ready timer", column(t, out, "ahead"))
	require.Equal(t, "none", column(t, out, "wait"))
	require.Equal(t, "0.001", column(t, out, "tip"))

	// Without a block time the wait is told in blocks.
	r.Node.Catching = true
	require.Equal(t, "2 blocks", column(t, r.estimate(), "wait"))
}

func TestEstimateOfWhatDoesNotFire(t *testing.T) {
	r := newRig(t)
	r.Configure(func(c *types.TimerConfig) { c.Eip1559.MinLaneBasefee = decimal.Of(math.LegacyNewDecWithPrec(5, 4)) })
	// The lane's basefee falls from 0.001 to its floor, 0.0005, as long as nothing fires.
	out := r.estimate("--max-fee", "0.0006", "--max-priority", "0")
	require.Contains(t, column(t, out, "basis"), "priced out; the wait is for")
	require.Regexp(t, `^\d blocks?, about \ds`, column(t, out, "wait"))
	require.Equal(t, "not computed", column(t, out, "ahead"))

	r.Configure(func(c *types.TimerConfig) { c.LanePaused = true })
	out = r.estimate()
	require.Equal(t, "the lane is paused", column(t, out, "basis"))
	require.Equal(t, "until governance lets the lane go on", column(t, out, "wait"))
}

func TestEstimateRefusesWithAReason(t *testing.T) {
	r := newRig(t)
	for name, tc := range map[string]struct {
		line []string
		want string
	}{
		"tier":            {[]string{"--tier", "warp"}, `--tier "warp" is unknown: want one of economy, standard, fast, urgent`},
		"tier and prices": {[]string{"--tier", "fast", "--max-fee", "1"}, "want a tier or prices"},
		"half a bid":      {[]string{"--max-fee", "1"}, "--max-fee and --max-priority go together"},
		"below the floor": {[]string{"--max-fee", "0.0009", "--max-priority", "0"}, "--max-fee 0.0009 is below 0.001, the least that the lane ever charges per cycle"},
		"gas limit, low":  {[]string{"--gas-limit", "39999"}, "--gas-limit 39999 is out of bounds: want 40000 to 250000 cycles (policy eip1559)"},
		"gas limit, high": {[]string{"--gas-limit", "250001"}, "want 40000 to 250000"},
		"actor":           {[]string{"--actor", "carol"}, `--actor: "carol" is neither an address of this chain`},
	} {
		out, _, err := r.Run(append([]string{"query", "timers", "estimate"}, tc.line...)...)
		require.ErrorContains(t, err, tc.want, name)
		require.NotContains(t, err.Error(), "rpc error", name)
		require.Empty(t, out, name)
	}
	r.Node.Down = true
	_, _, err := r.Run("query", "timers", "estimate")
	require.ErrorContains(t, err, "connection refused")
}

func TestScheduleShowsAnEstimateUnderEveryPolicy(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	line := []string{"--msgs", path, "--at", "500", "--generate-only"}

	_, notes := r.scheduleTx(append(line, "--max-fee", "0.003", "--max-priority", "0.01", "--gas-limit", "100000")...)
	require.Equal(t, r.willSend()+"--max-fee 0.003 leaves 0.002 beside the lane's fee: the chain lowers --max-priority 0.01 to that\n"+
		"pre-charges at most 1000stake at the fire, and gives back what is not used\n"+
		"pays 0.004stake a cycle now (chain 0.001, lane 0.001, tip 0.002), 400stake if it uses all of them\n"+
		"if it were due now: no ready timer ahead; wait: none\n"+never("10000"), notes)

	r.Configure(func(c *types.TimerConfig) { c.Policy = types.PolicyFIFO })
	_, notes = r.scheduleTx(append(line, "--tier", "fast", "--gas-limit", "550000")...)
	require.Equal(t, r.willSend()+"the chain fires in order of height (policy fifo): the bid is kept, and not used as long as that is so\n"+
		"pre-charges at most 1150stake at the fire, and gives back what is not used\n"+
		"pays 0.001stake a cycle now (chain 0.001, lane 0, tip 0), 550stake if it uses all of them\n"+
		"if it were due now: no ready timer ahead; wait: none\n"+never("11500"), notes)
	_, notes = r.scheduleTx(append(line, "--max-fee", "0", "--max-priority", "0")...)
	require.Contains(t, notes, "the bid is kept, and not used", "a chain that uses no bids refuses none")
}

func TestAStaticBidBelowTheLaneFeeIsRefusedWithOneThatWouldDo(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	r.Configure(func(c *types.TimerConfig) { c.Eip1559.MinLaneBasefee = decimal.Of(math.LegacyNewDecWithPrec(4, 3)) })
	schedule := []string{"schedule", "--msgs", path, "--at", "500"}
	err := r.Refused(append(schedule, "--max-fee", "0.0039", "--max-priority", "0.001")...)
	require.ErrorContains(t, err, "--max-fee 0.0039 is below 0.004, what the lane charges per cycle now")
	require.ErrorContains(t, err, "Want that at least; 0.009, twice that and the tip")

	// What is said to do does, on the chain too.
	for _, enough := range []string{"0.004", "0.009"} {
		out, _, err := r.Run("tx", "timers", "schedule", "--from", "alice", "--msgs", path, "--at", "500", "-y", "--wait",
			"--max-fee", enough, "--max-priority", "0.001")
		require.NoError(t, err, enough)
		var printed struct{ Name string }
		require.NoError(t, json.Unmarshal([]byte(out), &printed))
		_, id, _ := strings.Cut(printed.Name, "/")
		require.ErrorContains(t, r.Refused("update", id, "--max-fee", "0.0039", "--max-priority", "0"), "--max-fee 0.0039 is below 0.004")
		r.Node.Polls = 0
	}
}

func TestAPayerWhoHasTooLittleIsWarned(t *testing.T) {
	r := newRig(t)
	path := r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]")
	id := r.Schedule(400, 5)
	r.Sends(r.Alice, r.Bob, 9_999_500)
	const poor = "alice can spend 500stake now, less than the 1100stake pre-charged: without more by then, the fire is lost for lack of funds"
	require.EqualError(t, r.Refused("schedule", "--msgs", path, "--at", "500", "-y"), poor+". Nothing was sent; --force sends it all the same")
	msg, notes := r.scheduleTx("--msgs", path, "--at", "500", "--generate-only", "--force")
	require.EqualValues(t, 500, msg.Spec.Trigger.Height)
	require.Contains(t, notes, "warning: "+poor+"\n")
	_, notes = r.scheduleTx("--msgs", path, "--at", "500", "--on-unfunded", "suspend", "--generate-only", "--force")
	require.Contains(t, notes, "without more by then, the timer is suspended until its owner resumes it or it expires\n")
	require.ErrorContains(t, r.Refused("update", id[:8], "--gas-limit", "100000"), "less than the 800stake pre-charged")
	r.allow(scheduling(t))
	_, notes = r.scheduleTx("--msgs", path, "--at", "500", "--fee-payer", "bob", "--generate-only")
	require.NotContains(t, notes, "warning", "who pays is asked")
}

func TestUpdateEstimatesWithWhatStays(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	_, notes := r.Printed("update", id, "--max-fee", "0.01", "--max-priority", "0.001")
	require.Contains(t, notes, "pre-charges at most 1350stake", "the gas limit stays at its 250,000")
	_, notes = r.Printed("update", id, "--msgs", r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 9))+"]"))
	require.Contains(t, notes, "pre-charges at most 1100stake", "as before")
	_, notes = r.Printed("update", strings.Repeat("ab", 32), "--gas-limit", "50000")
	require.Contains(t, notes, "no estimate: "+r.Alice+" has no live timer whose id begins with abab")
}
