package system

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// root of the repository.
const root = "../.."

// runElsewhere are the pages of which a test of their own runs all commands, in their order.
var runElsewhere = map[string]string{
	"README.md":                           "TestReadme_ScheduleATimer",
	"x/timers/docs/recipes.md":            "TestRecipes_ThePageRuns",
	"x/timers/docs/first-contract.md":     "TestLongFirstContract_ThePageRuns",
	"site/pages/tutorials/first-timer.md": "TestTutorials_FirstTimerRuns",
	"site/pages/tutorials/vote.md":        "TestTutorials_VoteRuns",
	"site/pages/tutorials/node.md":        "TestTutorials_NodeRuns",
}

// generated are pages that are made of the examples of the commands' help, for a chain with other coins.
const generated = "x/timers/docs/commands.md"

// notRun are commands of pages, by their beginning, that do not run here, and why.
var notRun = map[string]string{
	"timerd tx timers update | extend":      "the form of several commands, not a command",
	"timerd tx timers sys-cancel-timer | ":  "the form of several commands, not a command",
	"timerd start":                          "a node of the operator's: TestTutorials_NodeRuns starts one",
	"timerd comet ":                         "it changes the files of a node that is down: state sync and its faults have tests",
	"timerd snapshots ":                     "it reads the files of a node that is down: state sync and its faults have tests",
	"timerd export":                         "it reads the files of a node that is down: TestTutorials_NodeRuns exports",
	"timerd lab load":                       "minutes of load: it has tests of its own",
	"timerd lab run":                        "minutes of simulation: it has tests of its own",
	"timerd tx gov vote 1 yes --from $(bas": "within a loop over four validators: TestTutorials_VoteRuns has one",
	"for i in 0 1 2 3; do timerd tx gov vo": "a loop over four validators: TestTutorials_VoteRuns has one",
	"timerd tx upgrade software-upgrade":    "it ends the chain of the test: TestFaults upgrades one of its own",
}

// before is what the reader has done before a line that contains a text.
var before = []struct{ text, line string }{
	{" timers resume ", "timerd tx timers pause rent --from alice\ntimerd tx timers pause spare --from alice"},
	{" timers proof ", fired},
	{" timers verify ", fired + "\ntimerd query timers proof alice/rent --output-document rent.json\n" +
		`curl -s "$RPC/commit?height=$(jq -r .header_height rent.json)" > header.json`},
	{" authz revoke ", "timerd tx timers grant bob --allow /cosmos.bank.v1beta1.MsgSend --gas-limit 100000 --uses 1 --expires-in 30d --from alice"},
	{" cancel CONTRACT/", ofContract}, {" --actor CONTRACT --from", ofContract}, {" --all --actor ", ofContract},
	{"update-timer-config config.json", `timerd query timers params --output json | jq '.config.lane_timer_cycles = "2500000"' > config.json`},
	{"proposals/cancel.json", `jq --arg actor "$ALICE" --arg id "$(timerd query timers list alice --output json | jq -r '.timers[0].id')" ` +
		`'.messages[0].actor = $actor | .messages[0].id = $id | .deposit = "10000000utmr"' x/timers/docs/proposals/cancel.json > cancel.json`},
	{"two.json", "sed -n '/cat two.json/,/^}/p' lab/README.md | tail -n +2 > two.json"},
	{"NAME.json", "cp lab/testdata/scenarios/rent_for_a_year.json NAME.json"},
	{" update ID --at ", "timerd tx timers cancel rent --from alice\ntimerd tx timers schedule send bob 5utmr --after 10d --label rent --from alice"},
}

const (
	fired = "timerd tx timers run rent --from alice\nuntil timerd query timers history alice/rent 2>&1 | grep -q fired; do sleep 0.2; done"
	// ofContract is a timer of the contract's that alice has scheduled as its admin.
	ofContract = `timerd tx timers schedule --actor "$CONTRACT" --payload-file payload.bin --every 1d --label spare --from alice`
)

// instead is what the reader writes for what a page can't know.
var instead = []struct{ text, typed string }{
	{`{"claim":{}}`, `{"stop":{}}`},
	{"--title ... --summary ... --from alice", "..."},
	{"--title ... --summary ...", "..."},
	{",...}", "}"},
	{"--blocks 100", "--blocks 3"},
	{"lane_paused=false", "lane_paused=true"},
	{"config-diff 7", "config-diff 1"},
	{"receipts 1234", "receipts 5"},
	{"x/timers/docs/proposals/cancel.json", "cancel.json"},
	{"--from admin", "--from alice"},
	{" HEIGHT ", " 250000 "},
}

var (
	// blockOfPage is a fenced block of commands, perhaps within a list.
	blockOfPage = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$")
	// inlineOfPage is a whole command within a sentence, which may continue in the next line.
	inlineOfPage = regexp.MustCompile("`(timerd (?:query|tx) timers [a-z-]+ [^`]+)`")
	optional     = regexp.MustCompile(`\[[-a-zA-Z/0-9 ]+\]`)
	commandLine  = regexp.MustCompile(`^(for .*)?timerd `)
	comment      = regexp.MustCompile(`(^| +)# .*$`)
)

// commandsOfPage are those that begin with timerd, each in one line.
func commandsOfPage(text string) (commands []string) {
	joined := strings.NewReplacer("\\\n", " ", "|\n", "| ")
	for _, block := range blockOfPage.FindAllStringSubmatch(text, -1) {
		if !slices.Contains([]string{"sh", "console"}, block[1]) {
			continue
		}
		open := ""
		for _, line := range strings.Split(joined.Replace(block[2]), "\n") {
			line = open + strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			// A text in quotes may go on in the next line.
			if open = ""; commandLine.MatchString(line) && strings.Count(comment.ReplaceAllString(line, ""), "'")%2 == 1 {
				open = line + " "
				continue
			}
			if commandLine.MatchString(line) {
				commands = append(commands, strings.TrimSpace(comment.ReplaceAllString(line, "")))
			}
		}
	}
	for _, code := range inlineOfPage.FindAllStringSubmatch(blockOfPage.ReplaceAllString(text, ""), -1) {
		line := strings.Join(strings.Fields(code[1]), " ")
		// Prose names a command of a transaction without all that it needs.
		if strings.HasPrefix(line, "timerd query ") || strings.Contains(line, " --from ") {
			commands = append(commands, line)
		}
	}
	return commands
}

// pagesWithCommands are the Markdown files of the repository that show commands which no other test runs.
func pagesWithCommands(t *testing.T) map[string][]string {
	t.Helper()
	list := exec.Command("git", "ls-files", "*.md")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err, "no checkout of git")
	found := map[string][]string{}
	for _, path := range strings.Fields(string(out)) {
		if runElsewhere[path] != "" || path == generated {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		if commands := commandsOfPage(string(text)); len(commands) > 0 {
			found[path] = commands
		}
	}
	require.Greater(t, len(found), 25)
	return found
}

// reader is who types the commands of pages: alice has the timers that they name.
type reader struct {
	ctx  context.Context
	n    *node.Node
	dir  string
	said map[string]string
}

// openVotes lets no vote end while the test runs.
func openVotes(state map[string]json.RawMessage) error {
	state["gov"] = regexp.MustCompile(`("voting_period": *)"[^"]*"`).ReplaceAll(state["gov"], []byte(`$1"172800s"`))
	return nil
}

func newReader(ctx context.Context, t *testing.T) *reader {
	t.Helper()
	n := start(ctx, t, node.Options{Accounts: []string{"alice", "bob", "sponsor"}, Genesis: openVotes}).Nodes[0]
	r := &reader{ctx: ctx, n: n, dir: t.TempDir()}
	require.NoError(t, os.Symlink(binary, filepath.Join(r.dir, "timerd")))
	for _, dir := range []string{"x", "testutil", "lab"} {
		path, err := filepath.Abs(filepath.Join(root, dir))
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(r.dir, dir)))
	}
	return r
}

// run a line as a shell does, with the options in the environment that the command line's page says to put there.
func (r *reader) run(line string) (string, error) {
	shell := exec.CommandContext(r.ctx, "bash", "-c", "set -euo pipefail\n"+line)
	shell.Dir = r.dir
	shell.Env = append(os.Environ(), "PATH="+r.dir+":"+os.Getenv("PATH"), "TIMERD_HOME="+r.n.Home, "RPC="+r.n.RPC,
		"ALICE="+r.said["ALICE"], "CONTRACT="+r.said["CONTRACT"],
		"TIMERD_GAS=auto", "TIMERD_GAS_ADJUSTMENT=1.5", "TIMERD_GAS_PRICES=0.001utmr", "TIMERD_YES=true")
	if !strings.Contains(line, "--generate-only") {
		shell.Env = append(shell.Env, "TIMERD_WAIT=true", "TIMERD_WAIT_TIMEOUT=30m")
	}
	out, err := shell.CombinedOutput()
	if err != nil && strings.Contains(string(out), "a block was stored while this was tried: try again") {
		return r.run(line)
	}
	return string(out), err
}

func (r *reader) must(t *testing.T, line string) string {
	t.Helper()
	out, err := r.run(line)
	require.NoError(t, err, "%s\n%s", line, out)
	return strings.TrimSpace(out)
}

// begin makes what the pages take for granted: a contract, timers, files, a proposal.
func (r *reader) begin(t *testing.T) {
	t.Helper()
	alice, bob := addressOf(r.ctx, t, r.n, "alice"), addressOf(r.ctx, t, r.n, "bob")
	r.must(t, "timerd tx wasm store testutil/contracts/heartbeat.wasm --from alice")
	r.must(t, `timerd tx wasm instantiate 1 '{"every":2,"start":true}' --label heartbeat --admin `+alice+` --amount 1000000utmr --from alice`)
	r.must(t, "timerd tx timers update-timer-config --set lane_timer_cycles=3000000 --title wider --summary why --from alice")
	r.must(t, "timerd tx staking delegate "+r.must(t, "timerd keys show node0 --bech val --address")+" 1000000utmr --from alice")
	// One that fails again and again is there to be found.
	r.must(t, "timerd tx timers schedule send alice 9000000000000000utmr --every 2 --gas-limit 100000 --force --from bob")
	contract := r.must(t, `timerd query wasm list-contract-by-code 1 --output json | jq -r '.contracts[0]'`)
	send := fmt.Sprintf(`{"@type":"/cosmos.bank.v1beta1.MsgSend","from_address":%q,"to_address":%q,"amount":[{"denom":"utmr","amount":"5"}]}`, alice, bob)
	vote := fmt.Sprintf(`{"@type":"/cosmos.gov.v1.MsgVote","proposal_id":"1","voter":%q,"option":"VOTE_OPTION_YES"}`, alice)
	for name, text := range map[string]string{
		"send.json": send, "other.json": send, "messages.json": send, "vote.json": vote, "payload.bin": `{"beat":{}}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(r.dir, name), []byte("["+text+"]"), 0o600))
	}
	r.said = map[string]string{
		"OWNER": "alice", "ACTOR": "alice", "PAYER": alice, "ACCOUNT": alice, "OLD_ADMIN": "alice", "NEW_ADMIN": "alice", "KEY": "alice",
		"ALICE": alice, "BOB": bob, "GRANTEE": bob, "timer1...": alice, "CONTRACT": contract, "$CONTRACT": contract, "VALIDATOR": "node0",
		"WHAT": "bank:balance:bob:utmr", "ID": "rent", "ID-PREFIX": "rent", "3fa9": "spare", "PROPOSAL": "1", "...": "--title t --summary s --from alice",
		"$H": r.n.Home, "$FLAGS": "--from alice", "$MODULE": r.must(t, "timerd keys show node0 --address"),
		"$GOV": r.must(t, "timerd query auth module-account gov --output json | jq -r '.. | .address? // empty' | head -1"),
		"TYPE": "/cosmos.bank.v1beta1.MsgSend", "CYCLES": "100000", "TIME": "30d", "NAME": "NAME", "ACCOUNT_ON_A": alice,
		"FILE": "rent.json", "HEADER": "header.json", "BASE64": "Ag==",
	}
	r.renew(t)
}

// renew makes the timers anew that the pages name.
func (r *reader) renew(t *testing.T) {
	t.Helper()
	_, _ = r.run("timerd tx timers cancel --all --from alice")
	for _, label := range []string{"rent", "spare"} {
		r.must(t, "timerd tx timers schedule send bob 5utmr --every 1d --for 20d --from alice --label "+label)
	}
}

// live is a command that goes on until it is ended.
const live = "timerd query timers monitor"

var (
	wordOfPage = regexp.MustCompile(`\$?\b[A-Z_]+(?:-PREFIX)?\b|\$[A-Z]+\b|timer1\.\.\.|\.\.\.|\b3fa9\b`)
	dateOfPage = regexp.MustCompile(`\b203(\d)-\d\d-\d\d\b`)
)

// typed is what the reader types for a line of a page.
func (r *reader) typed(t *testing.T, line string) string {
	t.Helper()
	// Brackets are what may be left out, but in a program of jq's.
	if !strings.Contains(line, "jq ") {
		line = optional.ReplaceAllString(line, "")
	}
	for _, i := range instead {
		line = strings.ReplaceAll(line, i.text, i.typed)
	}
	// A reader ends what follows the chain.
	if strings.Contains(line, live) && !strings.Contains(line, "--blocks") {
		line = strings.Replace(line, live, "timeout --foreground --preserve-status --signal INT 3 "+live, 1)
	}
	// Dates of pages are some years from now, and a timer lives a year.
	height, err := r.n.Status(r.ctx)
	require.NoError(t, err)
	now, err := r.n.BlockTime(r.ctx, height)
	require.NoError(t, err)
	line = dateOfPage.ReplaceAllStringFunc(line, func(date string) string {
		return now.AddDate(0, 1+int(date[3]-'0'), 0).Format(time.DateOnly)
	})
	line = strings.ReplaceAll(line, "--height 1200", fmt.Sprint("--height ", height))
	return wordOfPage.ReplaceAllStringFunc(line, func(word string) string {
		if said, found := r.said[word]; found {
			return said
		}
		return word
	})
}

// TestPages_CommandsRunOnANode: what a page shows to type runs on a real node, with the reader's names in place of the page's.
func TestPages_CommandsRunOnANode(t *testing.T) {
	t.Parallel()
	pages := pagesWithCommands(t)
	r := newReader(testContext(t), t)
	r.begin(t)
	used := map[string]bool{}
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		for _, command := range pages[page] {
			if reason := leftOut(command); reason != "" {
				used[reason] = true
				continue
			}
			t.Run(page+": "+command, func(t *testing.T) {
				for _, b := range before {
					if strings.Contains(command, b.text) {
						r.must(t, b.line)
					}
				}
				line := r.typed(t, command)
				out, err := r.run(line)
				require.NoError(t, err, "%s\n%s", line, out)
				if strings.HasPrefix(line, "timerd tx") {
					r.renew(t)
				}
			})
		}
	}
	sources, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var tests strings.Builder
	for _, source := range sources {
		text, err := os.ReadFile(source)
		require.NoError(t, err)
		tests.Write(text)
	}
	for page, test := range runElsewhere {
		require.Contains(t, tests.String(), "\nfunc "+test+"(", page)
	}
	for beginning := range notRun {
		require.True(t, used[beginning], "no page shows %q", beginning)
	}
}

// leftOut is the entry of a command in the table of those that do not run here.
func leftOut(command string) string {
	for beginning := range notRun {
		if strings.HasPrefix(command+"\n", beginning) {
			return beginning
		}
	}
	return ""
}
