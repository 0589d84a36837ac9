package system

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// recipesPort is the first of the page's network.
const recipesPort = 19_100

// TestRecipes_ThePageRuns: all commands of docs/use/recipes.md do what it says, one after the other, by copy and paste.
func TestRecipes_ThePageRuns(t *testing.T) {
	page, err := os.ReadFile("../../x/timers/docs/use/recipes.md")
	require.NoError(t, err)
	script := "set -euo pipefail\ntrap 'make localnet-stop' EXIT\n"
	found := commandBlock.FindAllStringSubmatch(string(page), -1)
	require.Len(t, found, 8, "a network, six recipes, and its end")
	for _, block := range found[:7] {
		script += block[1]
	}
	// What the loop, the sponsored job and the launch have done.
	script += `timerd query timers list alice
timerd query timers describe alice/sponsored
`
	text := runPage(t, checkoutIn(t, t.TempDir()), recipesPort, script)
	for _, said := range []string{
		"will send 1000utmr to bob", "on the first of each month at 09:00 Europe/Berlin", "09:00:00", "balance lasts for",
		"on the last day of each month", "will delegate 100utmr", "only if bank:balance:bob:utmr < 1000: does not hold now",
		"launch", "ok",
	} {
		require.Contains(t, text, said, text)
	}
	require.Regexp(t, `(?m)^[0-9a-f]{8} +sponsored .*pending`, text)
	require.NotContains(t, text, "FAILING")
	require.Len(t, regexp.MustCompile(`(?m)^\d{4}-\d\d-01 09:00:00 \+0[12]:00$`).FindAllString(text, -1), 12, "each first at 09:00, in summer and in winter")
}
