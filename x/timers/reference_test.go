package timers_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/version"
)

var update = flag.Bool("update", false, "rewrite docs/commands.md")

const referenceHead = `# Reference of the commands

This is what ` + "`--help`" + ` says of each command, with the flags that are its own.
[client/cli/README.md](../client/cli/README.md) explains them. All transactions take the flags of the SDK's, among them ` + "`--from`, `--gas`, `--gas-prices`, `--fees`, `--generate-only`, `--offline`, `--yes` and `--output`" + `; all queries take ` + "`--node`, `--height` and `--output`" + `.`

// TestTheReferenceOfTheCommandsIsCurrent: docs/commands.md is made of the commands. Run with -update to rewrite it.
func TestTheReferenceOfTheCommandsIsCurrent(t *testing.T) {
	version.AppName = "timerd"
	root := rootCmd(t)
	var made strings.Builder
	made.WriteString(wrapped(referenceHead, 120) + "\n")
	for _, kind := range []string{"tx", "query"} {
		parent, _, err := root.Find([]string{kind, "timers"})
		require.NoError(t, err)
		for _, cmd := range parent.Commands() {
			if cmd.IsAvailableCommand() {
				refer(&made, cmd, kind)
			}
		}
	}
	text := strings.ReplaceAll(made.String(), "chaind", "timerd")
	for _, line := range strings.Split(text, "\n") {
		require.LessOrEqual(t, len(line), 120, line)
	}
	file := filepath.Join("docs", "commands.md")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, text, string(raw), "run go test . -run Reference -update, and read what changed")
}

// refer writes of a command, and of those below it.
func refer(out *strings.Builder, cmd *cobra.Command, kind string) {
	const width = 120
	fmt.Fprintf(out, "\n## %s\n\n%s\n", strings.TrimSuffix(strings.TrimPrefix(cmd.UseLine(), "chaind "), " [flags]"), wrapped(describe(cmd), width))
	shared := &pflag.FlagSet{}
	sdkCmd := &cobra.Command{}
	if kind == "tx" {
		flags.AddTxFlagsToCmd(sdkCmd)
	} else {
		flags.AddQueryFlagsToCmd(sdkCmd)
		flags.AddKeyringFlags(sdkCmd.Flags())
	}
	shared.AddFlagSet(sdkCmd.Flags())
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags = true
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		known := shared.Lookup(f.Name)
		if f.Name != "help" && (known == nil || f.Name == flags.FlagFeePayer && known.Usage != f.Usage) {
			own.AddFlag(f)
		}
	})
	if usages := own.FlagUsagesWrapped(width); usages != "" {
		var lines []string
		for _, line := range strings.Split(strings.TrimRight(usages, "\n"), "\n") {
			lines = append(lines, strings.TrimRight(line, " "))
		}
		fmt.Fprintf(out, "\n```text\n%s\n```\n", strings.Join(lines, "\n"))
	}
	if cmd.Example != "" {
		fmt.Fprintf(out, "\n```sh\n%s\n```\n", brokenLines(cmd.Example, width))
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			refer(out, below, kind)
		}
	}
}

func describe(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return cmd.Long
	}
	return cmd.Short + "."
}

// wrapped sets each paragraph of a text again.
func wrapped(text string, width int) string {
	var paragraphs []string
	for _, paragraph := range strings.Split(text, "\n\n") {
		line, lines := "", []string{}
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len(line)+1+len(word) > width {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		paragraphs = append(paragraphs, strings.Join(append(lines, line), "\n"))
	}
	return strings.Join(paragraphs, "\n\n")
}

// brokenLines breaks long lines of a shell's as a shell reads them.
func brokenLines(text string, width int) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		for len(line) > width {
			at := strings.LastIndex(line[:width-2], " --")
			if at <= 0 {
				break
			}
			lines, line = append(lines, line[:at]+" \\"), "  "+line[at+1:]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
