package system

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

var metricName = regexp.MustCompile(`\btimers_[a-z0-9_]+`)

// TestEveryMetricOfTheDashboardsIsServed loads the metrics that dashboard, alerts and documentation name from a node that
// has fired nothing yet, so that no rule waits for a series that begins with the first trouble.
func TestEveryMetricOfTheDashboardsIsServed(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice", "bob"}}).Nodes[0]
	alice, bob := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob")
	result, err := trySchedule(ctx, n, "alice", "--msgs", sendFile(t, alice, bob, 1), "--in", "100000")
	require.NoError(t, err)
	scheduledIn(t, result)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, n.API+"/metrics?format=prometheus", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), "\ntimers_pending 1\n")
	served := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		if name := metricName.FindString(line); name != "" && strings.HasPrefix(line, name) {
			served[name] = true
			// A histogram's own name is in the documentation.
			served[strings.TrimSuffix(name, "_bucket")] = true
		}
	}
	for file, atLeast := range map[string]int{
		"ops/grafana/timers.json": 20, "ops/prometheus/alerts.yml": 9, "x/timers/docs/operate/operate.md": 28,
	} {
		raw, err := os.ReadFile(filepath.Join("..", "..", file))
		require.NoError(t, err)
		named := metricName.FindAllString(string(raw), -1)
		slices.Sort(named)
		named = slices.Compact(named)
		require.GreaterOrEqual(t, len(named), atLeast, file)
		for _, name := range named {
			require.True(t, served[name], "%s names %s, which the node does not serve", file, name)
		}
	}
}

// TestAlertsPointToRunbooks: each alert names a section that the documentation has.
func TestAlertsPointToRunbooks(t *testing.T) {
	alerts, err := os.ReadFile(filepath.Join("..", "..", "ops", "prometheus", "alerts.yml"))
	require.NoError(t, err)
	docs, err := os.ReadFile(filepath.Join("..", "..", "x", "timers", "docs", "operate", "operate.md"))
	require.NoError(t, err)
	sections := map[string]bool{}
	for _, line := range strings.Split(string(docs), "\n") {
		if title, found := strings.CutPrefix(line, "### "); found {
			sections[strings.ReplaceAll(strings.ToLower(title), " ", "-")] = true
		}
	}
	named := regexp.MustCompile(`runbook: (\S+)`).FindAllStringSubmatch(string(alerts), -1)
	require.Len(t, named, strings.Count(string(alerts), "- alert:"), "each alert has a runbook")
	for _, m := range named {
		require.True(t, sections[m[1]], "no section %q", m[1])
	}
}
