package system

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readmePort is the first of the network of the README.
const readmePort = 19_150

// shownBlock is a block of commands of a page, and of what it says that they print, if it does.
var shownBlock = regexp.MustCompile("(?s)```sh\n(.*?)```\n(?:\n[^\n`]*:\n)?(?:\n```(?:text)?\n(.*?)```\n)?")

// varying is what differs between two runs of a page: ids, addresses, times, heights, and what depends on those.
var varying = []struct {
	found *regexp.Regexp
	as    string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d( [+-]\d\d:\d\d|Z)`), "TIME"},
	{regexp.MustCompile(`, in [\d.dhm]+s\b`), ", in TIME"},
	{regexp.MustCompile(`\btimer1[0-9a-z]+\b`), "ADDRESS"},
	{regexp.MustCompile(`\b[0-9a-f]{8}([0-9a-f]{4})?\b`), "ID"},
	{regexp.MustCompile(`^\d+ +ID`), "HEIGHT ID"},
	{regexp.MustCompile(`\bat most \d+utmr`), "at most COINS"},
	{regexp.MustCompile(`\bfor [\d,]+ cycles`), "for CYCLES"},
	{regexp.MustCompile(` ok +\d+ `), " ok PAID "},
	{regexp.MustCompile(`\b\d+ cycles, \d+ cells(, \d+ s late)?`), "USE"},
	{regexp.MustCompile(` {2,}`), " "},
}

// invariable are the lines of a text without what varies.
func invariable(text string) (lines []string) {
	for _, line := range strings.Split(text, "\n") {
		for _, v := range varying {
			line = v.found.ReplaceAllString(line, v.as)
		}
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// section of a page, up to the next heading of its level.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, from, found := strings.Cut(string(text), "\n"+heading+"\n")
	require.True(t, found, "%s has no %q", page, heading)
	level := heading[:strings.Index(heading, " ")+1]
	within, _, _ := strings.Cut(from, "\n"+level)
	return within
}

// requireShown asserts that what a page shows is printed, in that order; more may be printed between.
func requireShown(t *testing.T, shown, printed string) {
	t.Helper()
	lines := invariable(printed)
	for _, want := range invariable(shown) {
		at := 0
		for at < len(lines) && lines[at] != want {
			at++
		}
		require.Less(t, at, len(lines), "%q is not printed, or not in this place:\n%s", want, printed)
		lines = lines[at+1:]
	}
}

// TestReadme_ScheduleATimer: the commands of that part of the README run one after the other, and print what it shows.
func TestReadme_ScheduleATimer(t *testing.T) {
	blocks := shownBlock.FindAllStringSubmatch(section(t, "../../README.md", "## Schedule a timer"), -1)
	require.Len(t, blocks, 3)
	const live, next = "timerd query timers monitor ", "=== next ===\n"
	script := "set -euo pipefail\ntrap 'make localnet-stop' EXIT\n"
	for _, block := range blocks {
		require.NotEmpty(t, block[2], "what do these print?\n%s", block[1])
		script += block[1] + fmt.Sprintf("printf %q\n", next)
	}
	// A reader ends the live view. Meanwhile the timer fires.
	require.Equal(t, 1, strings.Count(script, live))
	script = strings.Replace(script, live, "for ((i = 0; i < 600; i++)); do timerd query timers history alice | grep -q fired && break; sleep 0.2; done\n"+
		"timeout --foreground --preserve-status --signal INT 3 "+live, 1)
	printed := strings.Split(runPage(t, checkoutIn(t, t.TempDir()), readmePort, script), next)
	require.Len(t, printed, len(blocks)+1)
	for i, block := range blocks {
		requireShown(t, block[2], printed[i])
	}
}
