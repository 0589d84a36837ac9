package govern_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/types"
)

var updateParameters = flag.Bool("parameters.update", false, "write "+parametersFile)

const parametersFile = "parameters.txt"

var (
	named = regexp.MustCompile("`([a-z0-9_.]+)`")
	link  = regexp.MustCompile(` \(\[.*?\]\(.*?\)\)`)
)

// What is said of a parameter is what the reference's tables say, of each that there is.
func TestParameters_AreThoseOfTheReference(t *testing.T) {
	reference, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, tables, _ := strings.Cut(string(reference), "\n## 7. ")
	tables, _, _ = strings.Cut(tables, "\n## 8. ")
	var lines []string
	for _, row := range strings.Split(tables, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 7 || !strings.HasPrefix(row, "| `") {
			continue
		}
		for _, name := range named.FindAllStringSubmatch(cells[1], -1) {
			lines = append(lines, name[1]+"\t"+strings.TrimSpace(link.ReplaceAllString(strings.ReplaceAll(cells[4], "`", ""), "")))
		}
	}
	text := strings.Join(lines, "\n") + "\n"
	if *updateParameters {
		require.NoError(t, os.WriteFile(parametersFile, []byte(text), 0o600))
	}
	kept, err := os.ReadFile(parametersFile)
	require.NoError(t, err)
	require.Equal(t, text, string(kept), "run the test with -args -parameters.update if the change is meant")
	told := map[string]string{}
	for _, line := range lines {
		name, meaning, _ := strings.Cut(line, "\t")
		require.NotEmpty(t, meaning, name)
		if !strings.Contains(name, ".") {
			require.Empty(t, told[meaning], "%s and %s are told alike", told[meaning], name)
			told[meaning] = name
		}
	}
	for _, path := range types.ConfigFields.Paths() {
		whole, _, _ := strings.Cut(path, ".")
		if path != "policy_params" {
			require.True(t, strings.Contains(text, path+"\t") || strings.Contains(text, whole+"\t"), path)
		}
	}
}
