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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// root of the repository.
const root = "../.."

// runElsewhere are the pages of which a test of their own runs all commands, in their order: one of this package, or a file.
var runElsewhere = map[string]string{
	"x/timers/docs/use/recipes.md":        "TestRecipes_ThePageRuns",
	"x/timers/docs/use/first-contract.md": "TestLongFirstContract_ThePageRuns",
	"x/timers/docs/use/exchanges.md":      "TestLongQueriesForExchanges",
	"site/pages/tutorials/first-timer.md": "TestTutorials_FirstTimerRuns",
	"site/pages/tutorials/vote.md":        "TestTutorials_VoteRuns",
	"site/pages/tutorials/node.md":        "TestTutorials_NodeRuns",
	"evmbinding/docs/evm.md":              "evmbinding/testutil/evmapp/nodetest/tutorial.mjs",
}

// ofReadme is the part of the README that TestReadme_ScheduleATimer runs.
const ofReadme = "## Schedule a timer"

// generated are pages that are made of the examples of the commands' help, for a chain with other coins.
const generated = "x/timers/docs/use/commands.md"

// notRun are commands of pages, by their beginning, that do not run here, and why.
var notRun = map[string]string{
	"timerd start":                          "a node of the operator's: TestTutorials_NodeRuns starts one",
	"timerd comet ":                         "it changes the files of a node that is down: state sync and its faults have tests",
	"timerd snapshots ":                     "it reads the files of a node that is down: state sync and its faults have tests",
	"timerd export":                         "it reads the files of a node that is down: TestTutorials_NodeRuns exports",
	"timerd mcp ":                           "it serves until it is ended: TestAssistant_BuildsWhatTheCommandLineDoes",
	"timerd lab load":                       "minutes of load: it has tests of its own",
	"timerd lab run":                        "minutes of simulation: it has tests of its own",
	"for n in .localnet/node?; do timerd":   "a loop over four validators: TestTutorials_VoteRuns has one",
	"for i in 0 1 2 3; do timerd tx gov vo": "a loop over four validators: TestTutorials_VoteRuns has one",
	"timerd tx upgrade software-upgrade":    "it ends the chain of the test: TestFaults upgrades one of its own",
	"cp $H/data/priv_validator_state":       "files of a validator that is down: its faults have tests",
	"cp signed.json $H/data/":               "files of a validator that is down: its faults have tests",
	"bd tx ":                                "the binary of another chain: app/ibc_chains_test.go has two chains in memory",
	"bd query ":                             "the binary of another chain: app/ibc_chains_test.go has two chains in memory",
	"grpcurl ":                              "a program that nothing here installs: the same is asked by REST in the lines below it",
	"sha256sum --check":                     "a release that is not out yet",
	"tar -xzf timerd-VERSION":               "a release that is not out yet",
	"timerd-VERSION-linux-ARCH/timerd":      "a release that is not out yet",
	"make install":                          "it writes into the reader's directories",
	"make check":                            "this test is a part of it",
	"make site":                             "minutes, Node.js and a network: site/site_test.go tests what it builds from",
	"SITE_TABLES=all make site-browser":     "an hour in a browser",
	"cd lab && go test ./sim/browser":       "an hour, which make test-long runs",
	"go test ./site":                        "a part of make check",
	"go test ./testutil/smallest":           "a part of make check",
	"python3 -m http.server":                "it serves until it is ended",
	"SAMPLES=6 STEPS=100":                   "it writes committed traces anew, with Quint: make model-traces",
	"scripts/policies.py":                   "minutes, and it writes committed files: make verify compares",
	"(cd lab && go test ./replay":           "it writes committed files: make check compares",
	"cargo add ":                            "the crates are not published: make rust builds who depends on them by path",
	"cargo test":                            "the template, rendered: TestLongFirstContract_ThePageRuns",
	"cargo run --bin schema":                "the template, rendered: TestLongFirstContract_ThePageRuns",
	"./build.sh":                            "the template, rendered: TestLongFirstContract_ThePageRuns",
	"npm install @cosmos-timers/timers":     "the package is not published: clients/ts/test/pack.test.ts installs the packed one",
	"make clients-ts && ":                   "Node.js and a network: make clients-ts",
	"npm run example":                       "Node.js and a browser: make clients-ts-browser",
	"npx esbuild --servedir":                "it serves until it is ended: make clients-ts-browser",
	"go mod ":                               "a new Go module, and a network",
}

// notPrinted are blocks of text, by their beginning, that no command prints.
var notPrinted = map[string]string{
	"intrinsic = FIRE_BASE_CYCLES":           "a formula",
	"u         = max(size used":              "a formula",
	"W = weight_max":                         "a formula",
	"deliver_id = keccak256":                 "a formula",
	"l           = 0":                        "a formula",
	"per cycle:  ":                           "a formula",
	"weight' = ":                             "a formula",
	"score = w_age":                          "a formula",
	"(bid + e^":                              "a formula",
	"   messages, queries, CLI  ":            "a picture",
	"account ──┐":                            "a picture",
	"receipts  09 |":                         "keys of the store",
	"timers of lab, height 1234, 1.2s ago  ": "a view that fills a terminal: TestTheViewReadsWellAtItsWidths of x/timers/client/monitor",
}

// before is what the reader has done before a line that contains a text.
var before = []struct{ text, line string }{
	{" timers diff ", "timerd tx timers apply --file timers.yaml --from alice"},
	{" timers resume ", "timerd tx timers pause rent --from alice\ntimerd tx timers pause spare --from alice"},
	{" timers proof ", fired},
	{" timers verify ", fired + "\ntimerd query timers proof alice/rent --output-document rent.json\n" +
		`curl -s "$RPC/commit?height=$(jq -r .header_height rent.json)" > header.json`},
	{" authz revoke ", "timerd tx timers grant bob --allow /cosmos.bank.v1beta1.MsgSend --gas-limit 100000 --uses 1 --expires-in 30d --from alice"},
	{" cancel CONTRACT/", ofContract},
	{" --actor CONTRACT --from", unnamedOfContract},
	{" --all --actor ", unnamedOfContract},
	{"update-timer-config config.json", `timerd query timers params --output json | jq '.config.lane_timer_cycles = "2500000"' > config.json`},
	{"proposals/cancel.json", `jq --arg actor "$ALICE" --arg id "$(timerd query timers list alice --output json | jq -r '.timers[0].id')" ` +
		`'.messages[0].actor = $actor | .messages[0].id = $id | .deposit = "10000000utmr"' x/timers/docs/operate/proposals/cancel.json > cancel.json`},
	{"two.json", "sed -n '/cat two.json/,/^}/p' lab/README.md | tail -n +2 > two.json"},
	{"NAME.json", "cp lab/testdata/scenarios/rent_for_a_year.json NAME.json"},
	{" schedule --file rent.yaml ", "timerd tx timers cancel rent --from alice"},
	{" update ID --at ", "timerd tx timers cancel rent --from alice\ntimerd tx timers schedule send bob 5utmr --after 10d --name rent --from alice"},
}

const (
	fired = "timerd tx timers run rent --from alice\nuntil timerd query timers history alice/rent 2>&1 | grep -q fired; do sleep 0.2; done"
	// ofContract is a timer of the contract's that alice has scheduled as its admin.
	ofContract = `timerd tx timers schedule --actor "$CONTRACT" --payload-file payload.bin --every 1d --name spare --from alice`
	// unnamedOfContract may be scheduled more than once.
	unnamedOfContract = `timerd tx timers schedule --actor "$CONTRACT" --payload-file payload.bin --every 1d --from alice`
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
	{"x/timers/docs/operate/proposals/cancel.json", "cancel.json"},
	{"--from admin", "--from alice"},
	{" HEIGHT ", " 250000 "},
	{"http://127.0.0.1:1317", "$API"},
	{"http://127.0.0.1:27002", "$API"},
	{"localhost:1317", "$API"},
}

var (
	// blockOfPage is a fenced block, perhaps within a list.
	blockOfPage = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$")
	// beforePrinted is what stands between commands and what they print: nothing, or the end of a sentence.
	beforePrinted = regexp.MustCompile("^\n+(?:[^\n`]*:\n+)?$")
	// inlineOfPage is a whole command within a sentence, which may continue in the next line.
	inlineOfPage = regexp.MustCompile("`(timerd (?:query|tx) timers [a-z-]+ [^`]+)`")
	optional     = regexp.MustCompile(`\[[-a-zA-Z/0-9 ]+\]`)
	comment      = regexp.MustCompile(`(^| +)# .*$`)
)

// part of a page: commands, each in one line, and what the page says that they print, if it does.
type part struct {
	commands []string
	printed  string
}

// partsOfPage are its blocks of commands, each sentence's commands, and what is shown as printed without a command before it.
func partsOfPage(text string) (parts []part, orphans []string) {
	var last *part
	end := 0
	for _, at := range blockOfPage.FindAllStringSubmatchIndex(text, -1) {
		language, body, between := text[at[2]:at[3]], text[at[4]:at[5]], text[end:at[0]]
		end = at[1]
		switch {
		case language == "sh":
			parts = append(parts, part{commands: linesOf(body)})
			last = &parts[len(parts)-1]
			continue
		case language == "console":
			parts = append(parts, console(body)...)
		case language != "text":
		case last != nil && beforePrinted.MatchString(between):
			last.printed = body
		default:
			orphans = append(orphans, body)
		}
		last = nil
	}
	for _, code := range inlineOfPage.FindAllStringSubmatch(blockOfPage.ReplaceAllString(text, ""), -1) {
		line := strings.Join(strings.Fields(code[1]), " ")
		// Prose names a command of a transaction without all that it needs.
		if strings.HasPrefix(line, "timerd query ") || strings.Contains(line, " --from ") {
			parts = append(parts, part{commands: []string{line}})
		}
	}
	return parts, orphans
}

// linesOf are the commands of a block, each in one line, without comments.
func linesOf(block string) (commands []string) {
	open := ""
	for _, line := range strings.Split(strings.NewReplacer("\\\n", " ", "|\n", "| ").Replace(block), "\n") {
		line = open + strings.TrimSpace(comment.ReplaceAllString(line, ""))
		open = ""
		loop := strings.HasPrefix(line, "for ") && !strings.HasSuffix(line, "done")
		switch {
		// A text in quotes may go on in the next line, and so does a loop.
		case strings.Count(line, "'")%2 == 1:
			open = line + " "
		case loop && strings.HasSuffix(line, "do"):
			open = line + " "
		case loop:
			open = line + "; "
		case line != "":
			commands = append(commands, line)
		}
	}
	return commands
}

// console is a block in which commands begin with a dollar sign and what they print follows.
func console(block string) (parts []part) {
	for _, one := range strings.Split("\n"+block, "\n$ ")[1:] {
		lines, command := strings.Split(one, "\n"), ""
		for len(lines) > 0 {
			command += lines[0] + "\n"
			lines = lines[1:]
			if !strings.HasSuffix(command, "\\\n") && !strings.HasSuffix(command, "|\n") {
				break
			}
		}
		parts = append(parts, part{linesOf(command), strings.Join(lines, "\n")})
	}
	return parts
}

// pagesWithCommands are the Markdown files of the repository that show commands which no other test runs.
func pagesWithCommands(t *testing.T) map[string][]part {
	t.Helper()
	list := exec.Command("git", "ls-files", "*.md")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err, "no checkout of git")
	found, used := map[string][]part{}, map[string]bool{}
	for _, path := range strings.Fields(string(out)) {
		if runElsewhere[path] != "" || path == generated {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		text := string(raw)
		if path == "README.md" {
			text = strings.Replace(text, section(t, filepath.Join(root, path), ofReadme), "", 1)
		}
		parts, orphans := partsOfPage(text)
		if len(parts) > 0 {
			found[path] = parts
		}
		for _, orphan := range orphans {
			known := beginning(notPrinted, orphan)
			assert.NotEmpty(t, known, "%s: which command prints this, or why does none?\n%s", path, orphan)
			used[known] = true
		}
	}
	require.Greater(t, len(found), 25)
	for known := range notPrinted {
		assert.True(t, used[known], "no page shows %q", known)
	}
	return found
}

// beginning is the entry of a table with which a text begins; empty if there is none.
func beginning(table map[string]string, text string) string {
	for entry := range table {
		if strings.HasPrefix(text, entry) {
			return entry
		}
	}
	return ""
}

// TestPages_PartsAreCommandsAndWhatTheyPrint: which lines of a page are commands, and what is shown as printed by which of them.
func TestPages_PartsAreCommandsAndWhatTheyPrint(t *testing.T) {
	page := strings.ReplaceAll(`Prose of "timerd query timers list alice".

"""sh
make a   # no command of ours
timerd tx b \
  --c 'd
    e' | jq .   # f
for i in 0 1; do
  g $i
done
"""

It prints:

"""text
h
"""

"""text
a formula
"""

"""console
$ i |
    j
k
$ l
"""
`, `"`, "`")
	parts, orphans := partsOfPage(page)
	require.Equal(t, []part{
		{[]string{"make a", "timerd tx b    --c 'd e' | jq .", "for i in 0 1; do g $i; done"}, "h\n"},
		{[]string{"i |     j"}, "k"},
		{[]string{"l"}, ""},
		{commands: []string{"timerd query timers list alice"}},
	}, parts)
	require.Equal(t, []string{"a formula\n"}, orphans)
}

// TestPages_WhatDoesNotRunIsShown: an entry of notRun is the beginning of a command that a page shows.
func TestPages_WhatDoesNotRunIsShown(t *testing.T) {
	used := map[string]bool{}
	for _, parts := range pagesWithCommands(t) {
		for _, p := range parts {
			for _, command := range p.commands {
				used[beginning(notRun, command)] = true
			}
		}
	}
	for entry := range notRun {
		assert.True(t, used[entry], "no page shows %q", entry)
	}
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
	shell.Env = append(os.Environ(), "PATH="+r.dir+":"+os.Getenv("PATH"), "TIMERD_HOME="+r.n.Home, "RPC="+r.n.RPC, "API="+r.n.API, "HEIGHT=5",
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
	page, err := os.ReadFile(filepath.Join(root, "x/timers/docs/use/apply.md"))
	require.NoError(t, err)
	file := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(page))
	require.NotNil(t, file)
	dated := strings.Replace(file[1], "2030-01-31", time.Now().AddDate(0, 3, 0).Format(time.DateOnly), 1)
	require.NoError(t, os.WriteFile(filepath.Join(r.dir, "timers.yaml"), []byte(dated), 0o600))
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
	for _, name := range []string{"rent", "spare"} {
		r.must(t, "timerd tx timers schedule send bob 5utmr --every 1d --for 20d --from alice --name "+name)
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

// TestPages_CommandsRunOnANode: what a page shows to type runs on a real node, with the reader's names in place of the page's, and
// prints what the page shows. What is not run is listed with the reason: a command that is neither fails here.
func TestPages_CommandsRunOnANode(t *testing.T) {
	t.Parallel()
	pages := pagesWithCommands(t)
	r := newReader(testContext(t), t)
	r.begin(t)
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		for _, p := range pages[page] {
			printed := ""
			if p.printed != "" {
				r.renew(t)
			}
			for _, command := range p.commands {
				if beginning(notRun, command) != "" {
					continue
				}
				t.Run(page+": "+command, func(t *testing.T) { printed += r.types(t, command) })
			}
			if p.printed != "" {
				t.Run(page+": what it shows", func(t *testing.T) { requireShown(t, p.printed, printed) })
			}
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
		if strings.HasPrefix(test, "Test") {
			require.Contains(t, tests.String(), "\nfunc "+test+"(", page)
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, test))
		require.NoError(t, err)
		require.Contains(t, string(text), filepath.Base(page), test)
	}
}

// types runs a command of a page, and what the reader has done before it, and returns what it prints.
func (r *reader) types(t *testing.T, command string) string {
	t.Helper()
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
	return out
}
