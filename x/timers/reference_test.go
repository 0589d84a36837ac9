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

var update = flag.Bool("update", false, "rewrite docs/use/commands.md")

const referenceHead = `# Reference of the commands

Each command with its flags and an example; ` + "`--help`" + ` says more of it, and [cli.md](cli.md) shows the commands at work. What several commands share stands once, at the top. All transactions take the flags of the SDK, among them ` + "`--from`, `--gas`, `--gas-prices`, `--fees`, `--generate-only`, `--offline`, `--yes` and `--output`" + `; all queries take ` + "`--node`, `--height` and `--output`.\n\n" + `A timer is named ID-PREFIX or ACTOR/ID-PREFIX: as many digits of its id as tell it from the actor's other timers. All 64 digits need no look-up. Its name names it as well. The admin of a contract names those that the admin scheduled for it: CONTRACT/ID-PREFIX.`

// TestTheReferenceOfTheCommandsIsCurrent: docs/use/commands.md is made of the commands. Run with -update to rewrite it.
func TestTheReferenceOfTheCommandsIsCurrent(t *testing.T) {
	version.AppName = "timerd"
	root := rootCmd(t)
	var all []referred
	for _, kind := range []string{"tx", "query"} {
		parent, _, err := root.Find([]string{kind, "timers"})
		require.NoError(t, err)
		for _, cmd := range parent.Commands() {
			all = append(all, available(cmd, kind)...)
		}
	}
	made := strings.Builder{}
	made.WriteString(wrapped(referenceHead, width) + "\n")
	shared := sharedFlags(all)
	fmt.Fprintf(&made, "\n## Flags of several commands\n\n%s", usages(shared))
	for _, one := range all {
		refer(&made, one, shared)
	}
	text := strings.ReplaceAll(made.String(), "chaind", "timerd")
	for _, line := range strings.Split(text, "\n") {
		require.LessOrEqual(t, len(line), width, line)
	}
	file := filepath.Join("docs", "use", "commands.md")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, text, string(raw), "run go test . -run Reference -update, and read what changed")
}

// width of the lines of the page.
const width = 120

// referred is a command with the flags that are its own, not the SDK's.
type referred struct {
	cmd *cobra.Command
	own *pflag.FlagSet
}

// available are a command and those below it, but hidden ones.
func available(cmd *cobra.Command, kind string) (all []referred) {
	if !cmd.IsAvailableCommand() {
		return nil
	}
	sdkCmd := &cobra.Command{}
	if kind == "tx" {
		flags.AddTxFlagsToCmd(sdkCmd)
	} else {
		flags.AddQueryFlagsToCmd(sdkCmd)
		flags.AddKeyringFlags(sdkCmd.Flags())
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags = true
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		known := sdkCmd.Flags().Lookup(f.Name)
		if f.Name != "help" && (known == nil || f.Name == flags.FlagFeePayer && known.Usage != f.Usage) {
			own.AddFlag(f)
		}
	})
	all = append(all, referred{cmd, own})
	for _, below := range cmd.Commands() {
		all = append(all, available(below, kind)...)
	}
	return all
}

// sharedFlags are those that more than one command has with the same words and the same default.
func sharedFlags(all []referred) *pflag.FlagSet {
	shared, seen := pflag.NewFlagSet("", pflag.ContinueOnError), map[string]*pflag.Flag{}
	for _, one := range all {
		one.own.VisitAll(func(f *pflag.Flag) {
			switch known := seen[f.Name]; {
			case known == nil:
				seen[f.Name] = f
			case sameFlag(known, f) && shared.Lookup(f.Name) == nil:
				shared.AddFlag(f)
			}
		})
	}
	return shared
}

func sameFlag(a, b *pflag.Flag) bool {
	return b != nil && a.Usage == b.Usage && a.DefValue == b.DefValue
}

// usages of flags as a block of text, empty without any.
func usages(set *pflag.FlagSet) string {
	text := set.FlagUsagesWrapped(width)
	if text == "" {
		return ""
	}
	var lines []string
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return "```text\n" + strings.Join(lines, "\n") + "\n```\n"
}

// refer writes of a command.
func refer(out *strings.Builder, one referred, shared *pflag.FlagSet) {
	cmd := one.cmd
	fmt.Fprintf(out, "\n## %s\n\n%s\n", strings.TrimSuffix(strings.TrimPrefix(cmd.UseLine(), "chaind "), " [flags]"), wrapped(strings.TrimSuffix(cmd.Short, ".")+".", width))
	own, also, ofParent := pflag.NewFlagSet("", pflag.ContinueOnError), []string{}, 0
	one.own.VisitAll(func(f *pflag.Flag) {
		switch known := shared.Lookup(f.Name); {
		case sameFlag(f, cmd.Parent().Flags().Lookup(f.Name)):
			ofParent++
		case known == nil || !sameFlag(known, f):
			own.AddFlag(f)
		default:
			also = append(also, "`--"+f.Name+"`")
		}
	})
	if ofParent > 0 {
		also = append([]string{fmt.Sprintf("the %d flags of `%s` that say when and how", ofParent, cmd.Parent().Name())}, also...)
	}
	if block := usages(own); block != "" {
		out.WriteString("\n" + block)
	}
	if len(also) > 0 {
		fmt.Fprintf(out, "\n%s\n", wrapped("Shared: "+strings.Join(also, ", ")+".", width))
	}
	if cmd.Example != "" {
		fmt.Fprintf(out, "\n```sh\n%s\n```\n", firstExample(brokenLines(cmd.Example, width)))
	}
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

// firstExample is the first command of some, with the lines that continue it.
func firstExample(examples string) string {
	lines := strings.Split(examples, "\n")
	n := 1
	for n < len(lines) && (strings.HasSuffix(lines[n-1], "\\") || strings.HasPrefix(lines[n-1], "#")) {
		n++
	}
	return strings.Join(lines[:n], "\n")
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
