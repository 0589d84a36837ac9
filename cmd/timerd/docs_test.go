package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var (
	fenced = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```$")
	// inline is code within a sentence, which may continue in the next line.
	inline = regexp.MustCompile("`(timerd [^`]+)`")
	// shellWord is a word as a shell reads it, as far as the documents need that.
	shellWord = regexp.MustCompile(`"[^"]*"|'[^']*'|[|;#&>]|[^\s"';|&>]+`)
)

// documented are the commands of timerd in a text, as the words that follow its name.
func documented(text string) (commands [][]string) {
	var lines []string
	for _, block := range fenced.FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Split(strings.ReplaceAll(block[1], "\\\n", " "), "\n")...)
	}
	for _, code := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		lines = append(lines, strings.ReplaceAll(code[1], "\n", " "))
	}
	for _, line := range lines {
		var command []string
		within := false
		for _, word := range shellWord.FindAllString(line, -1) {
			switch {
			case word == "timerd":
				within, command = true, []string{}
			case within && strings.Contains("|;#&>", word[:1]):
				within = false
			case within && (strings.HasPrefix(word, "[") || strings.HasSuffix(word, "]") || word == "..."):
				// What may be left out, and what is.
			case within:
				command = append(command, strings.Trim(word, `"'`))
			}
		}
		if command != nil {
			commands = append(commands, command)
		}
	}
	return commands
}

// TestDocumentedCommandsAreTaken: timerd knows each command, flag and number of arguments that the documents for
// operators show.
func TestDocumentedCommandsAreTaken(t *testing.T) {
	for file, atLeast := range map[string]int{
		"x/timers/docs/operate/operate.md": 13, "x/timers/docs/operate/restore.md": 12, "README.md": 6, "SECURITY.md": 3, "x/timers/docs/operate/governance.md": 4,
		"x/timers/docs/use/cli.md": 60, "x/timers/docs/use/recipes.md": 10, "site/pages/tutorials/first-timer.md": 8,
	} {
		commandsAreTaken(t, file, atLeast)
	}
}

// commandsAreTaken holds the commands of a document to timerd.
func commandsAreTaken(t *testing.T, file string, atLeast int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", file))
	require.NoError(t, err)
	commands := documented(string(text))
	require.GreaterOrEqual(t, len(commands), atLeast, file)
	for _, words := range commands {
		t.Run(file+": timerd "+strings.Join(words, " "), func(t *testing.T) { taken(t, words) })
	}
}

// symptoms are the site's pages for what users see.
const symptoms = "site/pages/symptoms"

// TestSymptoms_CommandsAreTaken: each page of a symptom shows commands that timerd takes.
func TestSymptoms_CommandsAreTaken(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", symptoms, "*.md"))
	require.NoError(t, err)
	require.Greater(t, len(pages), 20)
	for _, page := range pages {
		commandsAreTaken(t, filepath.Join(symptoms, filepath.Base(page)), 2)
	}
}

// TestSymptoms_EachVerdictHasAPage, which names it and quotes what the command `describe` says; so has each reason to
// be on hold a line.
func TestSymptoms_EachVerdictHasAPage(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", symptoms, name+".md"))
		require.NoError(t, err)
		return string(text)
	}
	for number := range types.Verdict_name {
		verdict := types.Verdict(number)
		if verdict == types.VerdictUnspecified {
			continue
		}
		name := strings.ReplaceAll(verdict.Word(), "_", "-")
		page := read(name)
		require.Contains(t, page, "the verdict `"+verdict.Word()+"`", name)
		require.Contains(t, read("index"), "| `"+verdict.Word()+"` | [", "the table of symptoms/index.md")
		if says := words.Verdict(verdict); says != words.Verdict(types.VerdictUnspecified) {
			require.Contains(t, page, "\n> "+says+"\n", name)
		}
	}
	for number := range types.HoldReason_name {
		reason := types.HoldReason(number)
		if words.OnHold(reason) != "" {
			require.Contains(t, read("on-hold"), "| `"+reason.Word()+"` |")
		}
	}
}

// placeholders stand in documents for numbers.
var placeholders = strings.NewReplacer("HEIGHT", "7", "FORMAT", "3")

func taken(t *testing.T, words []string) {
	t.Helper()
	for i, word := range words {
		words[i] = placeholders.Replace(word)
	}
	// A command keeps what it was told: each has a tree of its own.
	root := newRootCmd(t.TempDir())
	// These are added to the tree when it is executed.
	root.PersistentFlags().String("home", "", "")
	root.PersistentFlags().String("log_level", "", "")
	command, rest, err := root.Find(words)
	require.NoError(t, err)
	require.NoError(t, command.ParseFlags(rest))
	args := command.Flags().Args()
	require.False(t, command.HasSubCommands() && len(args) > 0, "there is no such command")
	// Prose names some commands without their arguments.
	if len(rest) > 0 {
		require.NoError(t, command.ValidateArgs(args))
	}
}

func TestCommandsAreFoundInDocuments(t *testing.T) {
	text := "Prose of `timerd query timers lane` and\n`timerd query\ntimers params`.\n```\nmake localnet   # no command\n" +
		"timerd tx a \"b c\" \\\n  --d 'e f' | timeless   # g\nfor i in 0; do timerd tx h $i; done\n```\n"
	require.Equal(t, [][]string{
		{"tx", "a", "b c", "--d", "e f"},
		{"tx", "h", "$i"},
		{"query", "timers", "lane"},
		{"query", "timers", "params"},
	}, documented(text))
}
