package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/client/cli"
)

// applied is what apply prints as JSON.
type applied struct {
	Timers []struct {
		Name, Action, ID string
		Fields           []string
	}
	Changes      int
	Transactions []struct {
		Height int64
		TxHash string
	}
}

// apply runs apply with a file, and returns what it did by the names of timers.
func (r *rig) apply(file string, more ...string) (actions map[string]string, sent int) {
	r.T.Helper()
	out, notes, err := r.Run(append([]string{"tx", "timers", "apply", "--file", file, "--from", "alice", "--yes", "--output", "json"}, more...)...)
	require.NoError(r.T, err, notes)
	var said applied
	require.NoError(r.T, json.Unmarshal([]byte(out), &said), out)
	actions = map[string]string{}
	for _, timer := range said.Timers {
		actions[timer.Name] = timer.Action
	}
	return actions, len(said.Transactions)
}

// write writes a file of timers at a path that stays.
func (r *rig) write(path, text string) string {
	r.T.Helper()
	require.NoError(r.T, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const household = `timers:
  rent:
    does: send bob 1200stake
    every: month@1 09:00
    zone: Europe/Berlin
    count: 12
    on-unfunded: skip
  once:
    does: send bob 5stake
    at: 20
  watched:
    does: [send, bob, 7stake]
    watch: bank:balance:bob:stake
    when: < 100
`

// TestApply_MakesTimersWhatTheFileStates: what is missing is scheduled, a second run sends nothing, what differs is updated by its
// fields, what has left by itself is done, and what is gone from the file is cancelled if asked.
func TestApply_MakesTimersWhatTheFileStates(t *testing.T) {
	r := newRig(t)
	r.Simulates(60_000)
	path := filepath.Join(t.TempDir(), "timers.yaml")
	file := r.write(path, household)
	actions, sent := r.apply(file)
	require.Equal(t, map[string]string{"rent": "schedule", "once": "schedule", "watched": "schedule"}, actions)
	require.Equal(t, 1, sent)

	actions, sent = r.apply(file)
	require.Equal(t, map[string]string{"rent": "none", "once": "none", "watched": "none"}, actions)
	require.Zero(t, sent)

	r.Blocks(20)
	actions, sent = r.apply(file)
	require.Equal(t, map[string]string{"rent": "none", "once": "done", "watched": "none"}, actions)
	require.Zero(t, sent)

	// What the timer does differs, and how often: both fields change, and the others stay.
	changed := strings.Replace(strings.Replace(household, "1200stake", "1300stake", 1), "count: 12", "count: 24", 1)
	r.write(path, changed)
	out, _, err := r.Run("tx", "timers", "diff", "--file", file, "--from", "alice")
	require.Equal(t, 2, cli.ExitCode(err))
	for _, want := range []string{
		"~ rent: send 1300stake to bob", "  now it is rent: send 1200stake to bob", `  -     - amount: "1200"`, `  +     - amount: "1300"`, `  -   remaining: "12"`, `  +   remaining: "24"`,
		"  once is done: timer ", "0 timers to schedule, 1 to update, 0 to cancel, 1 as the file states",
	} {
		require.Contains(t, out, want)
	}
	actions, sent = r.apply(file)
	require.Equal(t, "update", actions["rent"])
	require.Equal(t, 1, sent)
	_, sent = r.apply(file)
	require.Zero(t, sent)
	_, _, err = r.Run("tx", "timers", "diff", "--file", file, "--from", "alice")
	require.NoError(t, err)

	// What is gone from the file stays, unless asked.
	r.write(path, "timers: {once: {does: send bob 5stake, at: 20}}")
	actions, sent = r.apply(file)
	require.Equal(t, map[string]string{"rent": "left", "once": "done", "watched": "left"}, actions)
	require.Zero(t, sent)
	actions, sent = r.apply(file, "--prune")
	require.Equal(t, map[string]string{"rent": "cancel", "once": "done", "watched": "cancel"}, actions)
	require.Equal(t, 1, sent)
	actions, _ = r.apply(file, "--prune")
	require.Equal(t, map[string]string{"once": "done"}, actions)

	// What is done is scheduled again if that is said.
	r.write(path, "timers: {once: {does: send bob 5stake, at: 900}}")
	actions, sent = r.apply(file, "--again", "once")
	require.Equal(t, map[string]string{"once": "schedule"}, actions)
	require.Equal(t, 1, sent)
}

// TestApply_TakesSpecsAsTheyArePrinted: what query timers timer --output yaml prints is a file that changes nothing.
func TestApply_TakesSpecsAsTheyArePrinted(t *testing.T) {
	r := newRig(t)
	r.Simulates(60_000)
	path := filepath.Join(t.TempDir(), "timers.yaml")
	r.apply(r.write(path, household))
	var printed []string
	for _, name := range []string{"rent", "once", "watched"} {
		out, _, err := r.Run("query", "timers", "timer", "alice/"+name, "--output", "yaml")
		require.NoError(t, err)
		printed = append(printed, out)
	}
	actions, sent := r.apply(r.write(path, strings.Join(printed, "---\n")))
	require.Equal(t, map[string]string{"rent": "none", "once": "none", "watched": "none"}, actions)
	require.Zero(t, sent)
	// Without a lock what is live is found by its name.
	require.NoError(t, os.Remove(path+".lock"))
	_, sent = r.apply(path)
	require.Zero(t, sent)
}

// TestApply_SendsSeveralTransactions: more than fit into one are sent in turn.
func TestApply_SendsSeveralTransactions(t *testing.T) {
	r := newRig(t)
	r.Simulates(60_000)
	var text strings.Builder
	text.WriteString("timers:\n")
	for i := range 45 {
		fmt.Fprintf(&text, "  t%02d: {does: send bob 5stake, at: %d}\n", i, 500+i)
	}
	file := r.write(filepath.Join(t.TempDir(), "timers.yaml"), text.String())
	_, sent := r.apply(file)
	require.Equal(t, 3, sent)
	_, sent = r.apply(file)
	require.Zero(t, sent)
}

// TestApply_DryRunSendsNothing, and says what would be sent.
func TestApply_DryRunSendsNothing(t *testing.T) {
	r := newRig(t)
	r.Simulates(60_000)
	file := r.write(filepath.Join(t.TempDir(), "timers.yaml"), household)
	out, notes, err := r.Run("tx", "timers", "apply", "--file", file, "--from", "alice", "--dry-run")
	require.NoError(t, err)
	require.Contains(t, out, "+ rent: send 1200stake to bob")
	require.Contains(t, out, "3 timers to schedule, 0 to update, 0 to cancel, 0 as the file states")
	require.Contains(t, notes, "alice's balance lasts for all 12 fires")
	require.NoFileExists(t, file+".lock")
	actions, _ := r.apply(file, "--dry-run")
	require.Equal(t, "schedule", actions["rent"])
}

// TestApply_RefusesWhatNoFileStates: each mistake is named with its line and what would be right.
func TestApply_RefusesWhatNoFileStates(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(t.TempDir(), "timers.yaml")
	for text, want := range map[string]string{
		"timers: {":               "it is no YAML: ",
		"":                        "it states no timers",
		"- rent":                  "line 1: want timers, with a name and what is stated of each",
		"rent: {at: 5}":           "it has neither timers nor the fields of a spec",
		"timers:":                 "want the names of timers below timers",
		"timers: {}\nmore: 1":     `"more" is stated beside timers`,
		"timers: {rent: 5}":       `timer "rent": want what it does and when`,
		"timers: {\"\": {at: 5}}": "a timer has no name",
		"timers: {a/b: {at: 5}}":  "slash",
		"timers:\n  pay: {at: 5}\n  pay: {at: 6}":                                         "lines 2 and 3 both state timer pay",
		"timers: {pay: {at: 5}}\n---\nname: pay\ntrigger: {height: 9}":                    "lines 1 and 3 both state timer pay",
		"trigger: {height: 9}":                                                            "the spec has no name",
		"timers: {pay: {does: send bob 5stake, att: 500}}":                                `"att" is nothing that a timer has: did you mean at?`,
		"timers: {pay: {does: send bob 5stake, in: 20}}":                                  "in: a file is read again: state a height with at",
		"timers: {pay: {does: send bob 5stake, after: 1h}}":                               "after: a file is read again: state a date with at",
		"timers: {pay: {does: send bob 5stake, at: '09:00'}}":                             "is another time each day",
		"timers: {pay: {does: send bob 5stake, at: 500, for: 1y}}":                        "state a date with expires-at",
		"timers: {pay: {does: send bob 5stake, at: 500, expires-at: '2024-01-31 09:00'}}": "a file states that height",
		"timers: {pay: {does: send bob 5stake, at: '2023-01-31 09:00'}}":                  "has passed, and it was never scheduled of this file",
		"timers: {pay: {does: send bob 5stake, at: 500, file: b.yaml}}":                   "state the spec itself",
		"timers: {pay: {does: sendd bob 5stake, at: 500}}":                                "did you mean send?",
		"timers: {pay: {does: send bob 5stake, at: {b: c}}}":                              "want a text, a number or a list of them",
		"name: pay\ntrigger: {height: 9}\nstatus: {seq: 4}":                               "it states a status",
		"timers: {pay: {name: b, trigger: {height: 9}}}":                                  `timer "pay" has a spec with the name "b"`,
	} {
		_, _, err := r.Run("tx", "timers", "apply", "--file", r.write(path, text), "--from", "alice", "--yes")
		require.ErrorContains(t, err, want, text)
		require.NoFileExists(t, path+".lock")
	}
	for _, c := range []struct{ line, want string }{
		{"", "--file is missing"}, {"--file -", "it must be a file"}, {"--file none.yaml", "no such file"},
	} {
		_, _, err := r.Run(append(strings.Fields("tx timers apply --from alice"), strings.Fields(c.line)...)...)
		require.ErrorContains(t, err, c.want)
	}
	r.write(path, "timers: {pay: {does: send bob 5stake, at: 500}}")
	for lock, want := range map[string]string{
		`{"chain_id":"other"}`:                               "is of the chain \"other\"",
		`{"chain_id":"` + r.Ctx.ChainID + `","owner":"bob"}`: "is of the timers of bob",
		`[]`: "is no lock of timers",
	} {
		r.write(path+".lock", lock)
		_, _, err := r.Run("tx", "timers", "apply", "--file", path, "--from", "alice", "--yes")
		require.ErrorContains(t, err, want)
	}
}

// TestApply_GoesOnWhereItWasStopped: a transaction of which nobody saw what became is known by the lock. What it scheduled and has fired
// since is done, and is not paid again.
func TestApply_GoesOnWhereItWasStopped(t *testing.T) {
	r := newRig(t)
	r.Simulates(60_000)
	file := r.write(filepath.Join(t.TempDir(), "timers.yaml"), "timers: {pay: {does: send bob 5stake, at: 30}}")
	before := r.balance(r.Bob)
	r.Node.Away, r.Node.Once = 9, true
	_, _, err := r.Run("tx", "timers", "apply", "--file", file, "--from", "alice", "--yes", "--wait-timeout", "1ns")
	require.Equal(t, 3, cli.ExitCode(err), "%v", err)
	require.Contains(t, string(must(os.ReadFile(file+".lock"))), `"sent"`)
	r.Node.Away = 0
	for hash := range r.Node.Sent { // The node includes it.
		_, _ = r.Node.Tx(context.Background(), []byte(hash), false)
		_, err = r.Node.Tx(context.Background(), []byte(hash), false)
		require.NoError(t, err)
	}
	r.Blocks(40)
	require.Equal(t, before.AddRaw(5), r.balance(r.Bob))

	lock := must(os.ReadFile(file + ".lock"))
	out, notes, err := r.Run("tx", "timers", "diff", "--file", file, "--from", "alice")
	require.NoError(t, err, notes+out)
	require.Contains(t, out, "pay is done")
	require.Equal(t, lock, must(os.ReadFile(file+".lock")))
	actions, _ := r.apply(file)
	require.Equal(t, map[string]string{"pay": "done"}, actions)
	require.NotContains(t, string(must(os.ReadFile(file+".lock"))), `"sent"`)
	r.Blocks(40)
	require.Equal(t, before.AddRaw(5), r.balance(r.Bob))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestApply_ATransactionThatIsRefusedIsSentAgain: the lock forgets what the node or the chain refused.
func TestApply_ATransactionThatIsRefusedIsSentAgain(t *testing.T) {
	r := newRig(t)
	r.Simulates(60_000)
	file := r.write(filepath.Join(t.TempDir(), "timers.yaml"), "timers: {pay: {does: send bob 5stake, at: 300}}")
	r.Node.Refuse = true
	_, _, err := r.Run("tx", "timers", "apply", "--file", file, "--from", "alice", "--yes")
	require.ErrorContains(t, err, "insufficient fee")
	require.NotContains(t, string(must(os.ReadFile(file+".lock"))), `"sent"`)
	r.Node.Refuse = false
	actions, sent := r.apply(file)
	require.Equal(t, map[string]string{"pay": "schedule"}, actions)
	require.Equal(t, 1, sent)
}

// TestApply_LeavesAChargeUnboundIfTheFileSaysSo: a highest charge of none is no default, and a spec states the whole timer.
func TestApply_LeavesAChargeUnboundIfTheFileSaysSo(t *testing.T) {
	r := newRig(t)
	r.Simulates(60_000)
	file := r.write(filepath.Join(t.TempDir(), "timers.yaml"), `timers:
  free: {does: send bob 5stake, at: 500, max-charge: none}
  bound: {does: send bob 5stake, at: 500}
`)
	r.apply(file)
	for name, bound := range map[string]bool{"free": false, "bound": true} {
		out, _, err := r.Run("query", "timers", "timer", "alice/"+name, "--output", "yaml")
		require.NoError(t, err)
		require.Equal(t, bound, strings.Contains(out, "max_charge"), out)
	}
	out, _, err := r.Run("query", "timers", "timer", "alice/free", "--output", "yaml")
	require.NoError(t, err)
	r.apply(r.write(file+".whole", strings.Replace(out, "name: free", "name: whole", 1)))
	out, _, err = r.Run("query", "timers", "timer", "alice/whole", "--output", "yaml")
	require.NoError(t, err)
	require.NotContains(t, out, "max_charge")
}
