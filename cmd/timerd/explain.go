package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/crypto/keyring"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"

	"github.com/cosmos-timers/timers/x/timers/client/cli"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
)

// This file says what was wrong with a command line where the libraries that read it leave that to be guessed: they name
// positional arguments by numbers, quote the functions of Go that refused a value, and see a wrong word last.

// msgsFlag names a file, which people state without it. The command that has it takes no word but those of its subcommands.
const msgsFlag = "msgs"

// knownCommand refuses a word that names no command below the one before it. The SDK's commands would read the flags
// behind it first, and complain about these.
func knownCommand(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil || !cmd.HasAvailableSubCommands() {
		return nil //nolint:nilerr // Who finds no command at the top says so well enough.
	}
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") || rest[0] == "help" {
		return nil
	}
	word := rest[0]
	cmd.SuggestionsMinimumDistance = 2
	near := cmd.SuggestionsFor(word)
	if cmd.Flags().Lookup(msgsFlag) != nil && len(near) == 0 {
		return errors.New(stray(cmd, word))
	}
	text := fmt.Sprintf("there is no command %q below %q", word, cmd.CommandPath())
	if len(near) > 0 {
		text += ": did you mean " + strings.Join(quoted(near), " or ") + "?"
	}
	return fmt.Errorf("%s; %q lists those there are", text, cmd.CommandPath()+" --help")
}

func quoted(words []string) []string {
	all := make([]string, len(words))
	for i := range words {
		all[i] = strconv.Quote(words[i])
	}
	return all
}

var (
	// badValue is what the parser of flags says; AutoCLI's positional arguments are flags named by their places.
	badValue = regexp.MustCompile(`^invalid argument "(.*)" for "(?:-\w, )?--([\w.-]+)" flag: (?s:(.*))$`)
	// wrongCount is what cobra says of too many or too few arguments.
	wrongCount = regexp.MustCompile(`^(?:accepts|requires at least) (\d+) arg\(s\), (?:received|only received) (\d+)$`)
	// strayWord is what cobra says of a word that is no argument.
	strayWord = regexp.MustCompile(`^unknown command "(.*)" for "(.*)"$`)
	// goFunction is how Go's conversions begin their errors.
	goFunction = regexp.MustCompile(`(?:strconv\.\w+: )?parsing "(?:[^"\\]|\\.)*": `)
	// transport is what gRPC writes before each error that it hands on, and the SDK behind that of a simulation.
	transport = regexp.MustCompile(`rpc error: code = \S+ desc = | with gas used: '\d+'(?:: unknown request)?$`)
	// placeholder is an argument in the usage of a command.
	placeholder = regexp.MustCompile(`[\[<]([\w -]+)[\]>]`)
)

// explain says what was wrong in words of this command line.
func explain(root *cobra.Command, args []string, err error) error {
	cmd, _, findErr := root.Find(args)
	if findErr != nil {
		cmd = root
	}
	text := transport.ReplaceAllString(plain.NoPaths(err.Error()), "")
	switch {
	case badValue.MatchString(text):
		m := badValue.FindStringSubmatch(text)
		text = fmt.Sprintf("%s: %q: %s", argumentName(cmd, m[2]), m[1], whatIsWrong(m[3], cmd, m[2]))
	case wrongCount.MatchString(text):
		text = countOfArguments(cmd, wrongCount.FindStringSubmatch(text))
	case strayWord.MatchString(text) && (!cmd.HasAvailableSubCommands() || cmd.Flags().Lookup(msgsFlag) != nil):
		text = stray(cmd, strayWord.FindStringSubmatch(text)[1])
	case cli.ExitCode(err) != 1:
		// A transaction whose end is unknown: that the node is away is only why.
	case isNoNode(text):
		text = fmt.Sprintf("no node answers at %s: is it running? --%s names another (%s)", nodeOf(cmd), flags.FlagNode, lastPart(text))
	case errors.Is(err, sdkerrors.ErrKeyNotFound) || strings.Contains(text, ".info: key not found"):
		text = noKey(cmd, text)
	case text == io.EOF.Error():
		text = fmt.Sprintf("no answer came on standard input: --%s answers yes", flags.FlagSkipConfirmation)
	}
	return explained{text, err}
}

// explained is an error in other words. It has no form of its own for printing, as registered errors have, which would
// write the place in the code behind the text.
type explained struct {
	text string
	err  error
}

func (e explained) Error() string { return e.text }
func (e explained) Unwrap() error { return e.err }

// argumentName is a flag, or the positional argument that AutoCLI has made a flag of.
func argumentName(cmd *cobra.Command, flag string) string {
	place, err := strconv.Atoi(flag)
	if err != nil {
		return "--" + flag
	}
	names := placeholder.FindAllStringSubmatch(cmd.Use, -1)
	if place < len(names) {
		return names[place][1]
	}
	return fmt.Sprintf("argument %d of %s", place+1, cmd.CommandPath())
}

// whatIsWrong says what a value should have been.
func whatIsWrong(reason string, cmd *cobra.Command, flag string) string {
	reason = goFunction.ReplaceAllString(reason, "")
	kind := ""
	if f := cmd.Flags().Lookup(flag); f != nil {
		kind = f.Value.Type()
	}
	switch {
	case strings.Contains(reason, "value out of range"):
		return "is too large"
	case strings.Contains(reason, "bech32"), strings.Contains(kind, "ddress") && strings.Contains(reason, "key not found"):
		return "is neither an address of this chain nor the name of a key"
	case reason == "invalid syntax" && (strings.HasPrefix(kind, "uint") || kind == "" && flagIsPlace(flag)):
		return "is no whole number"
	case reason == "invalid syntax" && kind == "bool":
		return "is neither true nor false"
	case reason == "invalid syntax":
		return "is no number"
	default:
		return reason
	}
}

func flagIsPlace(flag string) bool { return strings.Trim(flag, "0123456789") == "" }

func countOfArguments(cmd *cobra.Command, m []string) string {
	names := placeholder.FindAllString(cmd.Use, -1)
	want := plain.Count(parsed(m[1]), "argument")
	if len(names) > 0 {
		want += ", " + strings.Join(names, " ")
	}
	got := "none"
	if m[2] != "0" {
		got = m[2]
	}
	text := fmt.Sprintf("%s wants %s, and got %s: %s", cmd.CommandPath(), want, got, cmd.UseLine())
	if parsed(m[2]) > parsed(m[1]) {
		text += "; " + quoteIt
	}
	return text
}

func parsed(digits string) uint64 {
	n, _ := strconv.ParseUint(digits, 10, 64)
	return n
}

// stray tells what to do with a word that no flag took.
func stray(cmd *cobra.Command, word string) string {
	text := fmt.Sprintf("%s takes no argument, and %q is one", cmd.CommandPath(), word)
	if strings.HasSuffix(word, ".json") && cmd.Flags().Lookup(msgsFlag) != nil {
		return text + ": did you mean --msgs " + word + "?"
	}
	// What a timer does comes first: an account, and no length of time, stands where it should.
	if send, _, err := cmd.Find([]string{"send"}); err == nil && send != cmd && !cmd.Flags().Changed(msgsFlag) && word[0] >= 'a' && word[0] <= 'z' {
		return fmt.Sprintf("%s: did you mean %s %s?", text, send.CommandPath(), word)
	}
	return text + ": " + quoteIt
}

// quoteIt is what to do with a value that the shell has cut up.
const quoteIt = `a value with a space in it is quoted, as in --after "1d 12h", or written without one, as in --after 5m`

func isNoNode(text string) bool {
	return strings.Contains(text, "connection refused") || strings.Contains(text, "no such host") ||
		strings.Contains(text, "post failed: Post ")
}

func nodeOf(cmd *cobra.Command) string {
	if f := cmd.Flags().Lookup(flags.FlagNode); f != nil && f.Changed {
		return f.Value.String()
	}
	return "the address of client.toml"
}

// lastPart is the end of an error, which says what happened, behind what says where.
func lastPart(text string) string {
	if at := strings.Index(text, "dial "); at >= 0 {
		return strings.Trim(text[at:], `"`)
	}
	return text
}

func noKey(cmd *cobra.Command, text string) string {
	name := ""
	if before, _, found := strings.Cut(text, ".info: key not found"); found {
		name = before[strings.LastIndexAny(before, " \"")+1:]
	} else if f := cmd.Flags().Lookup(flags.FlagFrom); f != nil {
		name = f.Value.String()
	}
	home, backend := "the home of client.toml", keyring.BackendOS
	if ctx := client.GetClientContextFromCmd(cmd); ctx.Keyring != nil {
		home, backend = ctx.KeyringDir, ctx.Keyring.Backend()
	}
	return fmt.Sprintf("there is no key %q in the key ring (--%s %s) of %s: %q lists those there are",
		name, flags.FlagKeyringBackend, backend, home, cmd.Root().Name()+" keys list")
}
