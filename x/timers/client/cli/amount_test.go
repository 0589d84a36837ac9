package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// names gives a coin a unit of six digits.
func (r *rig) names(base, display string) {
	r.Chain.Bank.SetDenomMetaData(r.Chain.Ctx(), banktypes.Metadata{
		Base: base, Display: display, DenomUnits: []*banktypes.DenomUnit{{Denom: base}, {Denom: display, Exponent: 6, Aliases: []string{"big" + display}}},
	})
}

// An amount is what was written, or it is refused: nothing is cut off.
// Rule: 9.1-amounts, 9.1-amounts-units, 9.1-amounts-refused
func TestAmountsAreExactOrRefused(t *testing.T) {
	r := newRig(t)
	r.names("stake", "bigstake")
	schedule := func(line ...string) []string {
		return append(line, "--at", "500", "--gas-limit", "100000", "--force")
	}
	for text, want := range map[string]string{
		"5stake": "5stake", "5.0stake": "5stake", "2bigstake": "2000000stake", "0.000001bigstake": "1stake", "1.5bigbigstake": "1500000stake",
	} {
		msg, notes := r.Printed(append([]string{"schedule"}, schedule("send", "bob", text)...)...)
		coins, err := sdk.ParseCoinsNormalized(want)
		require.NoError(t, err)
		require.Equal(t, r.Messages(&banktypes.MsgSend{FromAddress: r.Alice, ToAddress: r.Bob, Amount: coins}), scheduled(t, msg).Spec.Call.Messages, text)
		if strings.HasSuffix(text, "bigstake") {
			require.Contains(t, notes, text+" is "+want+"\n")
		}
		msg, _ = r.Printed(append([]string{"schedule"}, schedule("delegate", "bob", text)...)...)
		require.Equal(t, r.Messages(&stakingtypes.MsgDelegate{DelegatorAddress: r.Alice, ValidatorAddress: r.valoper(), Amount: coins[0]}), scheduled(t, msg).Spec.Call.Messages, text)
	}
	for text, want := range map[string]string{
		"1.5stake":            `"1.5stake" is a part of stake, the smallest unit: want a whole number of them`,
		"0.0000015bigstake":   `"0.0000015bigstake" is a part of stake, the smallest unit: want at most 6 digits behind the point`,
		"0stake":              `"0stake" is nothing: want more than 0`,
		"0.00stake":           `"0.00stake" is nothing: want more than 0`,
		"-5stake":             `"-5stake" is below 0: want more than 0`,
		"5uatom":              `"5uatom": the chain has no coin uatom`,
		"5STAKE":              `"5STAKE": the chain has no coin STAKE: did you mean stake?`,
		"5BigStake":           `"5BigStake": the chain has no coin BigStake: did you mean bigstake?`,
		"1e6stake":            `"1e6stake": the chain has no coin e6stake: write a number with all its digits`,
		"5":                   `"5" is no amount: want a number and its denom`,
		"stake":               `"stake" is no amount`,
		"5 stake":             `"5 stake" is no amount`,
		".5stake":             `".5stake" is no amount`,
		"1" + zeros + "stake": `is too large: want less than 2^256`,
	} {
		for _, line := range [][]string{{"send", "bob", text}, {"delegate", "bob", text}} {
			require.ErrorContains(t, r.Refused(append([]string{"schedule"}, schedule(line...)...)...), want)
		}
	}
	for want, line := range map[string][]string{
		`--amount: "1.5stake" is a part of stake`:                         {"exec", "bob", "{}", "--amount", "1.5stake"},
		`--amount: "-5stake" is negative: want more than 0`:               {"exec", "bob", "{}", "--amount", "-5stake"},
		`--fees: "1.5stake" is a part of stake`:                           {"send", "bob", "5stake", "--fees", "1.5stake"},
		`--fees: "5uatom": the chain has no coin uatom`:                   {"send", "bob", "5stake", "--fees", "5uatom"},
		`--gas-prices "many" is no price of gas`:                          {"send", "bob", "5stake", "--gas-prices", "many"},
		`--max-charge: "1.5stake" is a part of stake`:                     {"send", "bob", "5stake", "--max-charge", "1.5stake"},
		`"5stake,6stake" states stake twice`:                              {"send", "bob", "5stake,6stake"},
		`"6other": the chain has no coin other`:                           {"send", "bob", "5stake,6other"},
		`unknown flag: --aftr: did you mean --after`:                      {"send", "bob", "5stake", "--aftr", "1m"},
		`unknown flag: --colour; "chaind tx timers schedule send --help"`: {"send", "bob", "5stake", "--colour", "1m"},
	} {
		require.ErrorContains(t, r.Refused(append([]string{"schedule"}, schedule(line...)...)...), want)
	}
	msg, _ := r.Printed(append([]string{"schedule"}, schedule("send", "bob", "5stake", "--max-charge", "0.002bigstake", "--bid", "0.005bigstake")...)...)
	require.Equal(t, "2000", scheduled(t, msg).Spec.MaxCharge)
	require.Equal(t, "5000", scheduled(t, msg).Spec.Bid.Price)

	// Everybody may name units on some chains. The fee denom's come first; another's is taken if no third has the same.
	r.names("zaa", "bigstake")
	msg, _ = r.Printed(append([]string{"schedule"}, schedule("send", "bob", "2bigstake")...)...)
	require.Equal(t, r.Messages(r.Send(r.Alice, r.Bob, 2_000_000)), scheduled(t, msg).Spec.Call.Messages)
	r.names("zbb", "gold")
	_, notes := r.Printed(append([]string{"schedule"}, schedule("send", "bob", "0.5gold")...)...)
	require.Contains(t, notes, "0.5gold is 500000zbb\n")
	r.names("zcc", "gold")
	require.ErrorContains(t, r.Refused(append([]string{"schedule"}, schedule("send", "bob", "0.5gold")...)...), "more than one coin may call a unit gold, zbb among them")
}

// The fee of a transaction is exact as well, and the environment's gas prices give way to one that is stated.
func TestStatedFeesComeBeforeGasPricesOfTheEnvironment(t *testing.T) {
	r := newRig(t)
	r.names("stake", "bigstake")
	t.Setenv("CHAIND_GAS_PRICES", "0.001stake")
	line := []string{"tx", "timers", "schedule", "send", "bob", "5stake", "--at", "500", "--gas-limit", "100000", "--from", r.Alice, "--generate-only", "--gas-prices", "0.001stake"}
	out, notes, err := r.Run(append(line, "--fees", "0.0005bigstake")...)
	require.NoError(t, err)
	require.Contains(t, out, `"amount":[{"denom":"stake","amount":"500"}]`)
	require.Contains(t, notes, "--fees 0.0005bigstake counts, and not the gas prices of CHAIND_GAS_PRICES\n")
	out, _, err = r.Run(append(line, "--fees", "0stake")...)
	require.NoError(t, err)
	require.Contains(t, out, `"fee":{"amount":[]`)
}

const zeros = "000000000000000000000000000000000000000000000000000000000000000000000000000000"

// scheduled is a message that schedules a timer.
func scheduled(t *testing.T, msg sdk.Msg) *types.MsgScheduleTimer {
	t.Helper()
	schedule, ok := msg.(*types.MsgScheduleTimer)
	require.True(t, ok)
	return schedule
}
