package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

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
	require.Equal(t, &types.Bid{Price: "5000"}, msg.Bid)
	require.Equal(t, "900", msg.MaxCharge)
	msg, _ = r.scheduleTx("send", "bob", "5stake", "--in", "9", "--max-fee", "0.005stake", "--max-priority", "0.001stake", "--generate-only")
	require.Equal(t, "0.005000000000000000", msg.Bid.Static.MaxFeePerCycle.String())
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
	require.Equal(t, r.Bob, schedule.FeePayer)
}
