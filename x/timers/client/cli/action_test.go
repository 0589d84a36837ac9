package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	distrtypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// willSend is what is said of a timer that sends 5stake to bob at height 500.
func (r *rig) willSend() string { return "will send 5stake to bob (" + r.Bob + "), at height 500\n" }

// valoper is the address of bob as a validator's operator.
func (r *rig) valoper() string { return sdk.ValAddress(r.address(r.Bob)).String() }

func (r *rig) address(text string) sdk.AccAddress {
	addr, err := sdk.AccAddressFromBech32(text)
	require.NoError(r.T, err)
	return addr
}

// Rule: 9.1-commands
func TestEverydayMessagesNeedNoFile(t *testing.T) {
	r := newRig(t)
	for _, to := range []string{"bob", r.Bob} {
		msg, notes := r.scheduleTx("send", to, "5stake", "--in", "20", "--gas-limit", "100000", "--generate-only")
		require.Equal(t, r.Messages(r.Send(r.Alice, r.Bob, 5)), msg.Spec.Call.Messages)
		require.EqualValues(t, 30, msg.Spec.Trigger.Height)
		require.Contains(t, notes, "will send 5stake to bob ("+r.Bob+"), at height 30\n")
		require.Contains(t, notes, "pre-charges at most 800stake at the fire")
	}
	stake := sdk.NewCoin("stake", math.NewInt(7))
	line := []string{"--at", "500", "--gas-limit", "100000"}
	for _, validator := range []string{"bob", r.Bob, r.valoper()} {
		msg, _ := r.scheduleTx(append(append([]string{"delegate", validator, "7stake"}, line...), offline...)...)
		require.Equal(t, r.Messages(&stakingtypes.MsgDelegate{DelegatorAddress: r.Alice, ValidatorAddress: r.valoper(), Amount: stake}), msg.Spec.Call.Messages)
		msg, _ = r.scheduleTx(append(append([]string{"withdraw-rewards", validator}, line...), offline...)...)
		require.Equal(t, r.Messages(&distrtypes.MsgWithdrawDelegatorReward{DelegatorAddress: r.Alice, ValidatorAddress: r.valoper()}), msg.Spec.Call.Messages)
	}
	for want, words := range map[string][]string{
		`recipient: "carol" is neither an address`:                 {"send", "carol", "5stake"},
		`"5" is no amount: want a number and its denom`:            {"send", "bob", "5"},
		`"0stake" is nothing`:                                      {"send", "bob", "0stake"},
		`"carol" is neither a validator's address`:                 {"delegate", "carol", "5stake"},
		"want one coin":                                            {"delegate", "bob", "5stake,6other"},
		"accepts 2 arg(s), received 1":                             {"send", "bob"},
		"unknown flag: --msgs":                                     {"send", "bob", "5stake", "--msgs", "x.json"},
		"is no JSON: want the contract's message":                  {"exec", "bob", "claim"},
		"this chain has no contracts of x/wasm":                    {"exec", "bob", `{"claim":{}}`},
		`--amount: "many" is no amount`:                            {"exec", "bob", `{"claim":{}}`, "--amount", "many"},
		"when the timer is due is missing: want one of --at, --in": {"send", "bob", "5stake"},
	} {
		if !strings.Contains(want, "is missing") {
			words = append(words, "--in", "20")
		}
		require.ErrorContains(t, r.Refused(append([]string{"schedule"}, words...)...), want)
	}
}

func TestWhenIsStatedByTheClock(t *testing.T) {
	r := newRig(t)
	r.Blocks(100)
	// The latest block, 110, is of 22:15:10 UTC on 14 November 2023.
	line := []string{"send", "bob", "5stake", "--gas-limit", "100000", "--generate-only"}
	for at, seconds := range map[string]int64{
		"2023-11-14T22:20:00Z": 400, "2023-11-14 22:20Z": 400, "22:20Z": 400, "23:15:11+01:00": 112,
	} {
		msg, notes := r.scheduleTx(append(line, "--at", at)...)
		due := time.Unix(1_700_000_000+seconds, 0).UTC()
		require.Equal(t, types.Trigger{Time: &due}, msg.Spec.Trigger, at)
		require.Contains(t, notes, ", at "+due.Format("2006-01-02 15:04:05 -07:00")+"\n", at)
	}
	msg, _ := r.scheduleTx(append(line, "--at", "500")...)
	require.Equal(t, types.Trigger{Height: 500}, msg.Spec.Trigger)
	msg, _ = r.scheduleTx(append(line, "--in", "5", "--expires-at", "2023-11-15T22:15:10Z")...)
	require.Zero(t, msg.Spec.ExpiresTime)
	require.EqualValues(t, 110+86_400, msg.Spec.ExpiresAt, "what counts heights ends at one")

	_, notes := r.scheduleTx(append(line, "--at", "500", "--retries", "3", "--retry-after", "2")...)
	require.Contains(t, notes, "at height 500; if it fails, again after 2 blocks, up to 3 times\n")
	_, notes = r.scheduleTx(append(line, "--at", "500", "--retries", "1", "--retry-after", "1")...)
	require.Contains(t, notes, "at height 500; if it fails, again after 1 block, once\n")

	for want, words := range map[string][]string{
		`--at: "2023-11-14T22:15:10Z" has passed`:                                                   {"--at", "2023-11-14T22:15:10Z"},
		`--at: "2023-11-14" is no date and time: it has no time of day: want one such as`:           {"--at", "2023-11-14"},
		`--at: "noon" is no date, no time of day and no height: want a date`:                        {"--at", "noon"},
		"--expires-at 22:20Z ends at 2023-11-14 22:20:00 +00:00, before it is due at 2023-11-14 22": {"--at", "22:25Z", "--expires-at", "22:20Z"},
		"--every states by the clock when the timer is due first, and so does":                      {"--every", "day@09:00", "--at", "500"},
		"is stated without --every or --watch: it is for a timer that repeats":                      {"--at", "500", "--count", "3"},
	} {
		require.ErrorContains(t, r.Refused(append([]string{"schedule", "send", "bob", "5stake"}, words...)...), want)
	}
	// Without a node the clock is that of the machine.
	msg, _ = r.scheduleTx(append([]string{"send", "bob", "5stake", "--at", "22:20Z"}, offline...)...)
	require.EqualValues(t, 1_700_000_400, msg.Spec.Trigger.Time.Unix())
}

// What JSON of a message's fields gets wrong is said of the field.
func TestMessagesOfFilesNameTheFieldThatIsWrong(t *testing.T) {
	r := newRig(t)
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.JSON(r.Send(r.Alice, r.Bob, 5))), &fields))
	fields["amount"] = []any{map[string]any{"denom": "stake", "amount": 5}}
	raw, err := json.Marshal([]any{fields})
	require.NoError(t, err)
	err = r.Refused("schedule", "--msgs", r.File("number.json", string(raw)), "--at", "500")
	require.ErrorContains(t, err, `amount[0].amount is the number 5: write it as text, "5"`)
}
