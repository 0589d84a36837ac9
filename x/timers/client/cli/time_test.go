package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Before, each of these zones was taken for UTC without a word: 09:00 in Berlin was 11:00.
// Rule: 9.1-zone
func TestTimes_AreOfTheZoneThatTZNames(t *testing.T) {
	r := newRig(t)
	r.Schedule(500, 5)
	for tz, want := range map[string]string{
		"Europe/Berln": "did you mean Europe/Berlin?", "CET-1CEST": "did you mean CET?", "berlin": "did you mean Europe/Berlin?",
		"America/new_york": "did you mean America/New_York?", "Middle/Earth": "want a name such as Europe/Berlin, or UTC",
	} {
		r.TZ = tz
		err := r.Refused("schedule", "send", "bob", "5stake", "--at", "09:00", "--gas-limit", "100000")
		require.ErrorContains(t, err, "TZ="+tz+" is no time zone that is known here")
		require.ErrorContains(t, err, want)
		for _, line := range []string{"extend 12 --by 1h", "schedule send bob 5stake --at 500 --gas-limit 100000"} {
			require.ErrorContains(t, r.Refused(strings.Fields(line)...), want, line)
		}
		_, _, err = r.Run("query", "timers", "list", "alice")
		require.ErrorContains(t, err, want)
	}
	// The chain of the rig is at 2023-11-14 22:13:30 UTC.
	for tz, shown := range map[string]string{
		"Europe/Berlin": "23:21:40 +01:00", "America/New_York": "17:21:40 -05:00", "Australia/Sydney": "09:21:40 +11:00", "": "22:21:40 +00:00",
	} {
		r.TZ = tz
		out, _, err := r.Run("query", "timers", "list", "alice", "-o", "wide")
		require.NoError(t, err)
		require.Contains(t, out, shown, tz)
	}
	r.TZ = "Australia/Sydney"
	_, notes := r.scheduleTx("send", "bob", "5stake", "--at", "09:21:40", "--gas-limit", "100000", "--generate-only")
	require.Contains(t, notes, ", at 2023-11-15 09:21:40 +11:00\n")
}

// Before, --after 30s was expected 50 seconds ago when no block had come for 80.
// Rule: 9.1-halt, 9.1-halt-now, 9.1-expected
func TestTimes_OfAHaltedChain(t *testing.T) {
	r := newRig(t)
	id := r.Schedule(500, 5)
	height := r.Chain.Height()
	const objection = "of 2023-11-14 22:13:31 +00:00, 1m20s ago by the clock of this machine: the chain may be halted"
	r.Late = 80 * time.Second
	for _, line := range []string{
		"schedule send bob 5stake --after 30s --gas-limit 100000",
		"schedule send bob 5stake --at 22:20 --gas-limit 100000",
		"schedule send bob 5stake --at 400 --expires-in 10m --gas-limit 100000",
		"schedule send bob 5stake --every day@09:00 --gas-limit 100000",
		"extend " + id + " --until 23:00 --shorten",
		"extend " + id + " --by 1h",
		"grant bob --expires-in 1h --gas-limit 100000 --allow /cosmos.gov.v1.MsgVote",
	} {
		err := r.Refused(strings.Fields(line)...)
		require.ErrorContains(t, err, objection, line)
		require.ErrorContains(t, err, "Nothing was sent; --force sends it all the same", line)
		_, notes := r.Printed(append(strings.Fields(line), "--force")...)
		require.Contains(t, notes, "warning: the last block, ", line)
	}
	// What is forced counts from now: 22:14:51.
	msg, notes := r.Printed("schedule", "send", "bob", "5stake", "--after", "30s", "--gas-limit", "100000", "--force")
	require.EqualValues(t, 1_700_000_000+int64(height)+80+30, scheduled(t, msg).Spec.Trigger.Time.Unix())
	require.Contains(t, notes, ", at 2023-11-14 22:15:21 +00:00\n")
	_, notes = r.Printed("schedule", "send", "bob", "5stake", "--in", "30", "--gas-limit", "100000", "--force")
	require.Contains(t, notes, "expected at 2023-11-14 22:15:20 +00:00")
	require.ErrorContains(t, r.Refused("schedule", "send", "bob", "5stake", "--at", "2023-11-14 22:14:30", "--gas-limit", "100000"),
		"has passed: it is 2023-11-14 22:14:51 +00:00")

	out, notes, err := r.Run("query", "timers", "list", "alice")
	require.NoError(t, err)
	require.Contains(t, notes, "warning: the last block, ")
	require.Contains(t, out, "500, in 8m8s")
	_, notes, err = r.Run("query", "timers", "estimate")
	require.NoError(t, err)
	require.Contains(t, notes, objection)

	// A machine whose clock is off by seconds objects to nothing.
	r.Late = 10 * time.Second
	_, notes = r.Printed("schedule", "send", "bob", "5stake", "--after", "30s", "--gas-limit", "100000")
	require.NotContains(t, notes, "halted")
	require.Contains(t, notes, ", at 2023-11-14 22:14:11 +00:00\n")
}
