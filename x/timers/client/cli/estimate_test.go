package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

func TestEstimateForPeople(t *testing.T) {
	r := newRig(t)
	r.blocks(5)
	out, _, err := r.run("query", "timers", "estimate", "--gas-limit", "100000", "--max-fee", "0.01", "--max-priority", "0.0005", "--actor", r.alice)
	require.NoError(t, err)
	for _, row := range []string{
		"gas limit         100000      cycles",
		"price of a cycle  0.0025      stake",
		"  chain           0.001       burned",
		"  lane            0.001       burned",
		"  tip             0.0005      to the proposer",
		// 100,000 × 0.0025 and 550,000 × 0.03.
		"pre-charge        16750stake  what the payer must have",
		"all cycles cost   250stake    the most",
		"weight            2           of the actor's tips",
		"ahead of it       0 timers    with limits",
		"likely wait       0 blocks    all ready timers were ranked",
	} {
		require.Contains(t, out, row)
	}
}

func TestEstimateForPrograms(t *testing.T) {
	r := newRig(t)
	out, _, err := r.run("query", "timers", "estimate", "--tier", "fast", "--output", "json")
	require.NoError(t, err)
	var estimate map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &estimate))
	require.Equal(t, "250000", estimate["gas_limit"])
	require.Equal(t, "ESTIMATE_BASIS_ALL_READY", estimate["basis"])
	require.Equal(t, "POLICY_EIP1559", estimate["policy"])
}

func TestEstimateOfAPricedOutBid(t *testing.T) {
	r := newRig(t)
	_, _, err := r.run("query", "timers", "estimate", "--max-fee", "0.0005", "--max-priority", "0")
	require.EqualError(t, err, "max_fee 0.000500000000000000 is below min_lane_basefee 0.001000000000000000: such a timer can't fire: invalid request")
}

func TestEstimateRefusesWhatMakesNoSense(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]struct {
		line []string
		want string
	}{
		"tier":           {[]string{"--tier", "fastest"}, `--tier "fastest" is unknown: want one of economy, standard, fast, urgent`},
		"tier and price": {[]string{"--tier", "fast", "--max-fee", "1"}, "want a tier or prices"},
		"half a bid":     {[]string{"--max-fee", "1"}, "want both or neither"},
		"limit":          {[]string{"--gas-limit", "1"}, "1 cycles, want 40000 to 250000"},
		"actor":          {[]string{"--actor", "nobody"}, "--actor: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := r.run(append([]string{"query", "timers", "estimate"}, c.line...)...)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestScheduleShowsTheEstimateBeforeSigning(t *testing.T) {
	r := newRig(t)
	path := r.file("msgs.json", "["+r.json(r.send(r.alice, r.bob, 5))+"]")
	line := []string{"--msgs", path, "--in", "20", "--gas-limit", "100000", "--generate-only"}

	_, notes := r.scheduleTx(append(line, "--max-fee", "0.01", "--max-priority", "0.0005")...)
	require.Contains(t, notes, "pre-charges at most 16750stake at the fire, and gives back what is not used\n"+
		"at today's prices: 0.0025stake a cycle, 0.0005 of it tip; 0 timers ahead, a wait of about 0 blocks (all ready timers were ranked)\n")
	require.NotContains(t, notes, "warning")

	_, _, err := r.run(append([]string{"tx", "timers", "schedule", "--from", r.alice, "--max-fee", "0.0005", "--max-priority", "0"}, line...)...)
	require.ErrorContains(t, err, "max_fee 0.000500000000000000 is below min_lane_basefee 0.001000000000000000")
}

func TestScheduleWarnsOfAPoorPayer(t *testing.T) {
	r := newRig(t)
	stranger := sdk.AccAddress("a stranger__________").String()
	path := r.file("msgs.json", "["+r.json(r.send(r.alice, r.bob, 5))+"]")
	_, notes := r.scheduleTx("--msgs", path, "--in", "20", "--gas-limit", "100000", "--fee-payer", stranger, "--generate-only")
	require.Contains(t, notes, "warning: "+stranger+" can spend 0stake, less than the pre-charge")
}
