package cli_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	authsigning "github.com/cosmos/cosmos-sdk/x/auth/signing"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Messages are tried before they are signed: whether they would succeed now is said, and decides nothing.
func TestMessagesAreTriedBeforeTheyAreSigned(t *testing.T) {
	r := newRig(t)
	line := []string{"send", "bob", "5stake", "--at", "500", "--gas-limit", "100000", "--generate-only"}
	_, notes := r.scheduleTx(line...)
	require.NotContains(t, notes, "if it ran now", "this node does not simulate")
	err := r.Refused("schedule", "send", "bob", "5stake", "--at", "500", "--gas-limit", "auto")
	require.ErrorContains(t, err, "--gas-limit auto: no node has tried the messages: state a number of cycles")

	r.Simulates(45_000)
	balance := r.Chain.Bank.GetBalance(r.Chain.Ctx(), r.address(r.Bob), "stake")
	_, notes = r.scheduleTx(line...)
	require.Contains(t, notes, "it would succeed if it ran now, the pre-charge debited\n")
	line[2] = "50000000stake"
	require.ErrorContains(t, r.Refused(append([]string{"schedule"}, line...)...), "it would fail if it ran now: spendable balance")
	msg, notes := r.scheduleTx(append(line, "--force")...)
	require.NotNil(t, msg)
	require.Regexp(t, `warning: it would fail if it ran now: .*insufficient funds\n`, notes)
	require.Equal(t, balance, r.Chain.Bank.GetBalance(r.Chain.Ctx(), r.address(r.Bob), "stake"), "a dry run leaves no trace")

	out, notes, err := r.Run("tx", "timers", "schedule", "--msgs", r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]"),
		"--payload", "00", "--at", "500", "--gas-limit", "auto", "--from", "alice", "--generate-only")
	require.Error(t, err, "%s %s", out, notes)
	require.ErrorContains(t, r.Refused("schedule", "--payload", "00", "--at", "500", "--gas-limit", "auto"), "is for messages")
	require.ErrorContains(t, r.Refused("schedule", "send", "bob", "50000000stake", "--at", "500", "--gas-limit", "auto"),
		"it would fail if it ran now: ")
	_, _, err = r.Run("query", "timers", "estimate", "--gas-limit", "auto")
	require.ErrorContains(t, err, `"auto" is no number of cycles`)
	_, _, err = r.Run(append([]string{"tx", "timers", "schedule", "send", "bob", "5stake", "--at", "500", "--gas-limit", "auto", "--from", r.Alice}, offline...)...)
	require.ErrorContains(t, err, "--gas-limit auto needs a node")
}

// The gas limit that a dry run finds does for the fire.
func TestTheGasLimitOfADryRunIsEnough(t *testing.T) {
	r := newRig(t)
	r.Simulates(45_000)
	for n := 1; n <= 8; n *= 2 {
		text := "["
		for i := range n {
			if i > 0 {
				text += ","
			}
			text += r.JSON(r.Send(r.Alice, r.Bob, 5))
		}
		file := r.File("msgs.json", text+"]")
		before := r.Chain.Height()
		r.Node.Polls = 0
		out, notes, err := r.Run("tx", "timers", "schedule", "--msgs", file, "--in", "3", "--gas-limit", "auto", "--from", "alice", "-y", "--wait", "-o", "text")
		require.NoError(t, err)
		require.Contains(t, out, " is scheduled, due at height ")
		limit := regexp.MustCompile(`--gas-limit auto: ([\d,]+) cycles\n`).FindStringSubmatch(notes)
		require.NotNil(t, limit, notes)
		require.NotEqual(t, "250,000", limit[1], "less than the most that the chain allows")
		r.Blocks(4)
		history, _, err := r.Run("query", "timers", "history", "alice", "--page-limit", "1")
		require.NoError(t, err)
		require.Regexp(t, `fired +ok`, history, "%d messages from height %d", n, before)
	}
}

// Whether a timer makes itself due is said before it is signed, and is what the chain does then.
func TestATimerThatTriggersItsOwnWatchIsForetold(t *testing.T) {
	r := newRig(t)
	r.Simulates(45_000)
	schedule := func(line ...string) string {
		t.Helper()
		line = append([]string{"send", "bob", "5stake", "--gas-limit", "100000", "--generate-only"}, line...)
		_, notes := r.scheduleTx(line...)
		return notes
	}
	const warning = "warning: it changes what it watches"
	own := "bank:balance:alice:stake"
	require.Contains(t, schedule("--watch", own, "--count", "0"),
		warning+" (bank:balance:"+r.Alice+":stake): each fire makes it due again in the next block, and each is paid; --cooldown 2 lets its own changes not count\n")
	require.Contains(t, schedule("--watch", "bank:balances:bob", "--count", "3"), warning, "a prefix of what is written")
	require.Contains(t, schedule("--watch", own, "--count", "3", "--when", "< 1000"),
		"it changes what it watches (bank:balance:"+r.Alice+":stake): that makes it due again if its condition becomes true by it\n")
	for _, line := range [][]string{
		{"--watch", own},
		{"--watch", own, "--count", "3", "--cooldown", "2"},
		{"--watch", "bank:balance:alice:other", "--count", "0"},
		{"--watch", "bank:supply:stake", "--count", "0"},
		{"--at", "500"},
	} {
		require.NotContains(t, schedule(line...), "what it watches (", "%q", line)
	}
	// The chain agrees: a change of alice's makes it due, and then its own do, or not with a cooldown of two blocks.
	for _, c := range []struct {
		cooldown string
		want     int
	}{{"2", 1}, {"1", 4}} {
		r.Node.Polls = 0
		_, notes, err := r.Run("tx", "timers", "schedule", "send", "bob", "5stake", "--watch", own, "--count", "4", "--cooldown", c.cooldown,
			"--gas-limit", "100000", "--from", "alice", "-y", "--wait", "-o", "text")
		require.NoError(t, err)
		require.Equal(t, c.want == 4, strings.Contains(notes, warning), notes)
		r.Blocks(1)
		r.Sends(r.Alice, r.Bob, 1)
		from := r.Chain.Height()
		r.Blocks(12)
		out, _, err := r.Run("query", "timers", "history", "alice", "-o", "json", "--page-limit", "100")
		require.NoError(t, err)
		var history struct {
			Events []struct {
				Height uint64 `json:"height"`
				Type   string `json:"type"`
			} `json:"events"`
		}
		require.NoError(t, json.Unmarshal([]byte(out), &history))
		fires := 0
		for _, event := range history.Events {
			if event.Type == "TimerFired" && event.Height >= from {
				fires++
			}
		}
		require.Equal(t, c.want, fires, "cooldown %s", c.cooldown)
		if c.want == 1 { // the others have all fired
			r.Node.Polls = 0
			_, _, err = r.Run("tx", "timers", "cancel", "--all", "--from", "alice", "-y", "--wait", "-o", "text")
			require.NoError(t, err)
		}
	}
}

// A node that simulates a transaction without a fee does not count the gas of paying it. The fee that is paid is that of
// the estimate.
func TestGasIsEstimatedWithAFee(t *testing.T) {
	r := newRig(t)
	r.Simulates(45_000)
	id := r.Schedule(500, 5)
	line := []string{"tx", "timers", "cancel", id, "--from", "alice", "-y", "--generate-only", "--gas-prices", "0.001stake", "--gas-adjustment", "1.5"}
	out, notes, err := r.Run(append(line, "--gas", "auto")...)
	require.NoError(t, err)
	require.Equal(t, "1stake", r.SimulatedFee.String())
	estimate := regexp.MustCompile(`gas estimate: (\d+)\n`).FindStringSubmatch(notes)
	require.NotNil(t, estimate, notes)
	require.Contains(t, out, `"gas_limit":"`+estimate[1]+`"`)

	r.SimulatedFee = nil
	out, notes, err = r.Run(append(line, "--gas", "77000")...)
	require.NoError(t, err)
	require.NotContains(t, notes, "gas estimate")
	require.Nil(t, r.SimulatedFee, "stated gas needs no simulation")
	require.Contains(t, out, `"gas_limit":"77000"`)
}

// A transaction that follows another before that is in a block takes the sequence that the node wants, as a script's second
// command must.
func TestATransactionFollowsOneInNoBlockYet(t *testing.T) {
	r := newRig(t)
	r.Simulates(45_000)
	r.Pending = 7
	line := []string{"tx", "timers", "schedule", "send", "bob", "5stake", "--at", "500", "--gas-limit", "100000", "--from", "alice", "-y", "--gas", "auto"}
	_, notes, err := r.Run(line...)
	require.NoError(t, err)
	require.Contains(t, notes, "it would succeed if it ran now, the pre-charge debited\n")
	require.Regexp(t, `gas estimate: \d+\n`, notes)
	require.Len(t, r.Node.Sent, 1)
	for _, sent := range r.Node.Sent {
		decoded, err := r.Ctx.TxConfig.TxDecoder()(sent)
		require.NoError(t, err)
		signed, err := decoded.(authsigning.SigVerifiableTx).GetSignaturesV2()
		require.NoError(t, err)
		require.EqualValues(t, 7, signed[0].Sequence)
	}
}

// update --gas-limit auto tries the messages that the timer has, or those that it is given.
func TestUpdateFindsTheGasLimit(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	require.ErrorContains(t, r.Refused("update", id, "--gas-limit", "auto"), "--gas-limit auto: no node has tried the messages")
	r.Simulates(45_000)
	msg, notes := r.Printed("update", id, "--gas-limit", "auto")
	update, ok := msg.(*types.MsgUpdateTimer)
	require.True(t, ok)
	require.Regexp(t, `--gas-limit auto: [\d,]+ cycles\n(?s:.*)it would succeed if it ran now, the pre-charge debited\n`, notes)
	require.Greater(t, update.Spec.GasLimit, uint64(45_000))
	require.Less(t, update.Spec.GasLimit, uint64(250_000))
	require.Equal(t, []string{"gas_limit"}, update.Fields)
	require.Empty(t, update.Spec.Beyond(update.Fields))
	three := r.File("three.json", "["+strings.Join([]string{r.JSON(r.Send(r.Alice, r.Bob, 5)), r.JSON(r.Send(r.Alice, r.Bob, 6)), r.JSON(r.Send(r.Alice, r.Bob, 7))}, ",")+"]")
	more, _ := r.Printed("update", id, "--gas-limit", "auto", "--msgs", three)
	require.Greater(t, more.(*types.MsgUpdateTimer).Spec.GasLimit, update.Spec.GasLimit)
	require.Equal(t, []string{"call", "gas_limit"}, more.(*types.MsgUpdateTimer).Fields)
	tooMuch := r.File("much.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 99_000_000))+"]")
	require.ErrorContains(t, r.Refused("update", id, "--msgs", tooMuch), "it would fail if it ran now: ")
	_, notes = r.Printed("update", id, "--msgs", tooMuch, "--force")
	require.Contains(t, notes, "warning: it would fail if it ran now: ")
	require.ErrorContains(t, r.Refused("update", id, "--gas-limit", "auto", "--msgs", tooMuch), "it would fail if it ran now: ")
}
