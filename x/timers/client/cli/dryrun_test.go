package cli_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
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
	require.Contains(t, notes, "it would succeed if it ran now\n")
	line[2] = "50000000stake"
	msg, notes := r.scheduleTx(line...)
	require.NotNil(t, msg)
	require.Regexp(t, `warning: it would fail if it ran now: .*insufficient funds\n`, notes)
	require.Equal(t, balance, r.Chain.Bank.GetBalance(r.Chain.Ctx(), r.address(r.Bob), "stake"), "a dry run leaves no trace")

	out, notes, err := r.Run("tx", "timers", "schedule", "--msgs", r.File("msgs.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 5))+"]"),
		"--payload", "00", "--at", "500", "--gas-limit", "auto", "--from", "alice", "--generate-only")
	require.Error(t, err, "%s %s", out, notes)
	require.ErrorContains(t, r.Refused("schedule", "--payload", "00", "--at", "500", "--gas-limit", "auto"), "is for messages")
	require.ErrorContains(t, r.Refused("schedule", "send", "bob", "50000000stake", "--at", "500", "--gas-limit", "auto"),
		"--gas-limit auto: the messages would fail today: ")
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
		require.Regexp(t, `--gas-limit auto: [\d,]+ cycles\n`, notes)
		limit := regexp.MustCompile(`gas_limit: (\d+)`).FindStringSubmatch(out)
		require.NotNil(t, limit, out)
		require.NotEqual(t, "250000", limit[1], "less than the most that the chain allows")
		r.Blocks(4)
		history, _, err := r.Run("query", "timers", "history", "alice", "--limit", "1")
		require.NoError(t, err)
		require.Regexp(t, `fired +ok`, history, "%d messages from height %d", n, before)
	}
}
