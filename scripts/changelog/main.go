// Command changelog prints the commits since the last release in the form of the changelog, for its author to choose
// from and to put into words for users:
//
//	go run ./scripts/changelog         since the newest tag vX.Y.Z, or since the first commit if there is none
//	go run ./scripts/changelog REVISION
//
// Commits with a subject "type(scope): what" are grouped by type, those that break something first: they have a ! after
// the type, or a line "BREAKING CHANGE: ..." in the body. Merges are left out; other subjects come last.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "changelog:", err)
		os.Exit(1)
	}
}

func run(arguments []string, out io.Writer) error {
	if len(arguments) > 1 {
		return fmt.Errorf("%q: want at most one revision", arguments)
	}
	revisions := "HEAD"
	if len(arguments) == 1 {
		revisions = arguments[0] + "..HEAD"
	} else if tag, err := git("describe", "--tags", "--abbrev=0", "--match", "v*"); err == nil {
		revisions = strings.TrimSpace(tag) + "..HEAD"
	}
	// A commit ends with a NUL, which no message can hold.
	log, err := git("log", "--no-merges", "--reverse", "-z", "--format=%h%n%B", "--end-of-options", revisions, "--")
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, format(log))
	return err
}

func git(arguments ...string) (string, error) {
	var out, problems bytes.Buffer
	command := exec.Command("git", arguments...) //nolint:gosec // its arguments are not read by a shell
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", arguments[0], err, strings.TrimSpace(problems.String()))
	}
	return out.String(), nil
}

// group is a heading and the types of the commits below it.
type group struct {
	title string
	types []string
}

// groups are in the order in which they are printed.
var groups = []group{
	{"Breaking", nil},
	{"Features", []string{"feat"}},
	{"Fixes", []string{"fix"}},
	{"Speed", []string{"perf"}},
	{"Documentation", []string{"docs"}},
	{"Inside", []string{"refactor", "test", "build", "ci", "chore", "style", "revert"}},
	{"Other", nil},
}

var (
	conventional = regexp.MustCompile(`^([a-z]+)(?:\(([^()]+)\))?(!)?: +(\S.*)$`)
	breaking     = regexp.MustCompile(`(?m)^BREAKING[ -]CHANGE: `)
)

// format groups what git printed: for each commit its hash, its subject and its body, and a NUL.
func format(log string) string {
	entries := make([][]string, len(groups))
	for commit := range strings.SplitSeq(log, "\x00") {
		hash, message, _ := strings.Cut(strings.TrimSpace(commit), "\n")
		if hash == "" {
			continue
		}
		subject, body, _ := strings.Cut(message, "\n")
		i, what := classify(subject, body)
		entries[i] = append(entries[i], fmt.Sprintf("- %s (%s)\n", what, hash))
	}
	var out strings.Builder
	out.WriteString("## Unreleased\n")
	for i, lines := range entries {
		if len(lines) > 0 {
			fmt.Fprintf(&out, "\n### %s\n\n%s", groups[i].title, strings.Join(lines, ""))
		}
	}
	return out.String()
}

// classify returns the index of a commit's group, and what it says there.
func classify(subject, body string) (index int, what string) {
	match := conventional.FindStringSubmatch(subject)
	if match == nil {
		return len(groups) - 1, subject
	}
	kind, scope, what := match[1], match[2], match[4]
	if scope != "" {
		what = "`" + scope + "`: " + what
	}
	if match[3] != "" || breaking.MatchString(body) {
		return 0, what
	}
	for i, g := range groups {
		if slices.Contains(g.types, kind) {
			return i, what
		}
	}
	return len(groups) - 1, kind + " " + what
}
