package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What people mistype is explained by the flag that they typed.
func TestMistakesNameTheirFlag(t *testing.T) {
	r := newRig(t)
	for want, line := range map[string][]string{
		"--retries 100 is out of bounds: want 1 to 10":                           {"--in", "9", "--retries", "100", "--retry-after", "5"},
		`--max-fee "0.005utmr": fires are paid in stake, and not in utmr`:        {"--in", "9", "--max-fee", "0.005utmr", "--max-priority", "0.001stake"},
		`--bid: "5000utmr": the chain has no coin utmr; fires are paid in stake`: {"--in", "9", "--bid", "5000utmr"},
		`--max-fee "1e3" is no decimal such as 0.002`:                            {"--in", "9", "--max-fee", "1e3", "--max-priority", "1"},
		`--in: "99999999999999999999999" is too large a number of blocks`:        {"--in", "99999999999999999999999"},
		"--expires-in 5 ends at height 15, below the due height 30":              {"--in", "20", "--expires-in", "5"},
		`--fee-payer: ` + r.Bob + " has granted " + r.Alice + " no fee allow":    {"--in", "20", "--fee-payer", "bob"},
	} {
		err := r.Refused(append([]string{"schedule", "send", "bob", "5stake"}, line...)...)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), ".go:")
	}
	msg, _ := r.scheduleTx("send", "bob", "5stake", "--in", "9", "--bid", "5000stake", "--max-charge", "900stake", "--generate-only", "--force")
	require.Equal(t, &types.Bid{Price: "5000"}, msg.Spec.Bid)
	require.Equal(t, "900", msg.Spec.MaxCharge)
	msg, _ = r.scheduleTx("send", "bob", "5stake", "--in", "9", "--max-fee", "0.005stake", "--max-priority", "0.001stake", "--generate-only")
	require.Equal(t, "0.005000000000000000", msg.Spec.Bid.Static.MaxFeePerCycle.String())
	_, _, err := r.Run(append([]string{"tx", "timers", "schedule", "send", "bob", "5stake", "--at", "99", "--bid", "5stake", "--from", r.Alice}, offline...)...)
	require.ErrorContains(t, err, `no node says what the fee denom is: want a number alone`)
}

// allow makes bob grant alice a fee allowance.
func (r *rig) allow(allowance feegrant.FeeAllowanceI) {
	r.T.Helper()
	msg, err := feegrant.NewMsgGrantAllowance(allowance, r.address(r.Bob), r.address(r.Alice))
	require.NoError(r.T, err)
	r.send(msg)
}

// send runs a message in a block of its own.
func (r *rig) send(msg sdk.Msg) {
	r.T.Helper()
	require.NoError(r.T, r.Chain.BeginBlock())
	_, _, err := r.Chain.Tx(msg)
	require.NoError(r.T, err)
	require.NoError(r.T, r.End())
}

// scheduling is an allowance that names the scheduling of timers.
func scheduling(t *testing.T) feegrant.FeeAllowanceI {
	t.Helper()
	named, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{sdk.MsgTypeURL(&types.MsgScheduleTimer{})})
	require.NoError(t, err)
	return named
}

// A payer must have granted an allowance that names the scheduling of timers.
func TestAPayerIsCheckedBeforeItIsSigned(t *testing.T) {
	r := newRig(t)
	line := []string{"schedule", "send", "bob", "5stake", "--in", "20", "--fee-payer", "bob"}
	require.ErrorContains(t, r.Refused(line...), "no fee allowance: it would have to send tx feegrant grant")
	r.allow(&feegrant.BasicAllowance{})
	require.ErrorContains(t, r.Refused(line...), "does not name /timers.v1.MsgScheduleTimer")
	revoke := feegrant.NewMsgRevokeAllowance(r.address(r.Bob), r.address(r.Alice))
	r.send(&revoke)
	r.allow(scheduling(t))
	msg, _ := r.Printed(line...)
	schedule, ok := msg.(*types.MsgScheduleTimer)
	require.True(t, ok)
	require.Equal(t, r.Bob, schedule.Spec.FeePayer)
}

// What could not be is said once, in the words of who typed it. What was said before is beside it.
func TestMistakes_AreToldOnceWithWhatIsRight(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	for _, c := range []struct {
		line []string
		want string
	}{
		// height 8640010 (...) is too far
		{[]string{"schedule", "send", "bob", "5stake", "--at", "400", "--expires-in", "8640000"}, "--expires-in 8640000: height 8640011 ("},
		{[]string{"schedule", "send", "bob", "5stake", "--at", "400", "--expires-in", "400d"}, "--expires-in 400d: height 34560011 (2024-12-18 22:13:31 +00:00) is too far: a timer lives 2592000 blocks at most"},
		{[]string{"schedule", "send", "bob", "5stake", "--at", "400", "--for", "2y"}, "--for 2y: height 63158411 (2025-11-14 22:13:31 +00:00) is too far: a timer lives 2592000 blocks at most"},
		{[]string{"schedule", "send", "bob", "5stake", "--at", "2030-01-31 09:00"}, "--at 2030-01-31 09:00: 2030-01-31 09:00:00 +00:00 is too far"},
		// --every: every is 31536000, want at most 2592000, the longest that a timer lives: invalid interval
		{[]string{"schedule", "send", "bob", "5stake", "--every", "500d"}, "--every 500d is too long: a timer lives at most 396d0h"},
		// "day" is no duration
		{[]string{"schedule", "send", "bob", "5stake", "--every", "day"}, `--every: "day" has no time: did you mean day@09:00, or 24h?`},
		{[]string{"schedule", "send", "bob", "5stake", "--every", "weekly"}, "did you mean mon@09:00?"},
		{[]string{"schedule", "send", "bob", "5stake", "--every", "friday"}, "did you mean friday@09:00?"},
		{[]string{"schedule", "send", "bob", "5stake", "--every", "month"}, "did you mean month@1 09:00?"},
		// each hour, at minute 0
		{[]string{"schedule", "send", "bob", "5stake", "--every", "*/90 * * * *"}, "or 90m for every 90 minutes"},
		// "...": want bank:...: invalid watch, with the text twice
		{[]string{"schedule", "send", "bob", "5stake", "--watch", "bank:balanc:bob:stake"}, `--watch: "bank:balanc:bob:stake": did you mean balance or balances? want bank:balances:ADDRESS`},
		// store "gov"; watchable: bank: not watchable; want one of ...
		{[]string{"schedule", "send", "bob", "5stake", "--watch", "gov:proposals:1"}, `--watch: "gov:proposals:1": gov can't be watched on this chain: want bank`},
		// hrp does not match bech32 prefix: expected 'cosmos' got 'timer': internal logic error
		{
			[]string{"schedule", "send", "timer1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5rf3rrw", "5stake", "--at", "400"},
			"is an address of another chain (timer1...): want one that begins with cosmos1, or the name of a key",
		},
		// unknown flag: --amount, before an update took what schedule does
		{[]string{"update", id, "--amount", "5stake"}, `--amount "5stake" is what a call of a contract sends along: want exec CONTRACT JSON beside it; a transfer is send RECIPIENT 5stake`},
	} {
		err := r.Refused(append(c.line, "--gas-limit", "100000")...)
		require.ErrorContains(t, err, c.want, "%v", c.line)
		for _, noise := range []string{"internal logic error", "key not found", "invalid watch", "invalid interval", ".go:"} {
			require.NotContains(t, err.Error(), noise)
		}
	}
	// accepts at most 1 arg(s), received 2
	_, _, err := r.Run("query", "timers", "list", "alice", "bob")
	require.EqualError(t, err, `chaind query timers list takes one account at a time, and "bob" is one more`)
	require.Equal(t, "the account cosmos1abc has never received coins", plain.NoPaths("account cosmos1abc not found: key not found"))
}

// Before: out of gas in location: WritePerByte; gasWanted: 50000, gasUsed: 51012: out of gas
func TestMistakes_TooLittleGas(t *testing.T) {
	r := newRig(t)
	r.Node.Log = "out of gas in location: WritePerByte; gasWanted: 50000, gasUsed: 51012: out of gas"
	r.Node.Refuse = true
	_, _, err := r.Run("tx", "timers", "schedule", "send", "bob", "5stake", "--from", "alice", "--at", "400", "--gas-limit", "100000", "-y")
	require.ErrorContains(t, err, "it ran out of gas: --gas 50000 is too little, 51012 are not enough to end it; --gas auto finds how much it needs")
}
