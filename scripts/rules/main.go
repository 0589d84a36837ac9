// Command rules holds the rules of the module's reference, x/timers/README.md, to tests.
//
// A list has the id of each rule: its section and a name. A test names the rules that it shows in its doc comment:
//
//	// Rule: 1.4-height-above, 1.4-after
//
// The command fails if a rule has neither a test nor a scenario, if a test or a scenario that is named does not exist, and if
// the sections of the list are not those of the reference: a section that is new has a rule, or is known to have none.
//
// It exits with status 1 if it found anything wrong, and with status 2 if it cannot read the files.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// layout is the table of all that is particular to this repository. Paths are relative to its root, with slashes.
type layout struct {
	// reference is the document whose rules are listed, and list the file that lists them.
	reference, list string
	// bare are the sections of the reference that state no rule.
	bare []string
	// tests are the directories below which tests are read. Directories named testdata are left out.
	tests []string
	// scenarios is the directory of the scenarios with golden output.
	scenarios string
}

// rules is the layout of this repository.
var rules = layout{
	reference: "x/timers/README.md",
	list:      "x/timers/testdata/rules.txt",
	bare:      []string{"1", "9"},
	tests:     []string{"x/timers", "lab", "wasmbinding", "evmbinding", "app", "cmd", "testutil"},
	scenarios: "lab/testdata/scenarios",
}

func main() { os.Exit(run(os.Args[1:], rules, os.Stdout, os.Stderr)) }

// run does what the arguments say and returns the exit status.
func run(arguments []string, layout layout, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("rules", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "root `directory` of the repository")
	verbose := flags.Bool("v", false, "list the tests of each rule")
	if err := flags.Parse(arguments); err != nil || flags.NArg() > 0 {
		return 2
	}
	c := coverage{layout: layout, root: *root, tags: map[string][]tag{}}
	if err := c.read(); err != nil {
		fmt.Fprintln(stderr, "rules:", err)
		return 2
	}
	c.check()
	c.print(stdout, *verbose)
	for _, problem := range c.problems {
		fmt.Fprintln(stderr, problem)
	}
	if len(c.problems) > 0 {
		fmt.Fprintf(stderr, "rules: %d problem(s)\n", len(c.problems))
		return 1
	}
	return 0
}

// rule is a line of the list.
type rule struct {
	id, section string
	// scenarios that show the rule.
	scenarios []string
	line      int
}

// coverage is what was read, and what is wrong with it.
type coverage struct {
	layout
	root string
	// sections are the numbers of the reference's sections, in its order.
	sections []string
	rules    []rule
	// tags by the rule that they name.
	tags     map[string][]tag
	problems []string
}

// at notes a problem with the line to edit.
func (c *coverage) at(file string, line int, format string, arguments ...any) {
	c.problems = append(c.problems, fmt.Sprintf("%s:%d: %s", file, line, fmt.Sprintf(format, arguments...)))
}

var (
	heading  = regexp.MustCompile(`^#+ ([0-9]+(?:\.[0-9]+)*)\.? `)
	ruleLine = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)*)(?:-[a-z0-9]+)+(?: [a-z0-9_]+)*$`)
)

// read reads the reference, the list and the tests.
func (c *coverage) read() error {
	reference, err := os.ReadFile(c.path(c.reference))
	if err != nil {
		return err
	}
	code := false
	for line := range strings.Lines(string(reference)) {
		code = code != strings.HasPrefix(strings.TrimSpace(line), "```")
		if match := heading.FindStringSubmatch(line); match != nil && !code {
			c.sections = append(c.sections, match[1])
		}
	}
	list, err := os.ReadFile(c.path(c.list))
	if err != nil {
		return err
	}
	for i, line := range strings.Split(string(list), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		match := ruleLine.FindStringSubmatch(line)
		if match == nil {
			return fmt.Errorf("%s:%d: want SECTION-NAME, and scenarios behind it: %s", c.list, i+1, line)
		}
		words := strings.Fields(line)
		c.rules = append(c.rules, rule{words[0], match[1], words[1:], i + 1})
	}
	return c.readTags()
}

func (c *coverage) path(name string) string { return filepath.Join(c.root, filepath.FromSlash(name)) }

// check notes what is wrong.
func (c *coverage) check() {
	known, last := map[string]bool{}, 0
	for _, r := range c.rules {
		if known[r.id] {
			c.at(c.list, r.line, "%s is listed twice", r.id)
		}
		known[r.id] = true
		switch at := slices.Index(c.sections, r.section); {
		case at < 0:
			c.at(c.list, r.line, "%s has no section %s", c.reference, r.section)
		case at < last:
			c.at(c.list, r.line, "section %s comes before %s", r.section, c.sections[last])
		default:
			last = at
		}
		if len(c.tags[r.id]) == 0 && len(r.scenarios) == 0 {
			c.at(c.list, r.line, "no test shows the rule %s: write one, with // Rule: %s in its doc comment", r.id, r.id)
		}
		for _, scenario := range r.scenarios {
			if _, err := os.Stat(c.path(c.scenarios + "/" + scenario + ".golden.jsonl")); err != nil {
				c.at(c.list, r.line, "no scenario %s with golden output in %s", scenario, c.scenarios)
			}
		}
	}
	for _, section := range c.sections {
		has := slices.ContainsFunc(c.rules, func(r rule) bool { return r.section == section })
		switch bare := slices.Contains(c.bare, section); {
		case bare && has:
			c.at(c.list, 1, "section %s of %s has a rule after all: it is not bare", section, c.reference)
		case !bare && !has:
			c.at(c.list, 1, "section %s of %s has no rule", section, c.reference)
		}
	}
	for id, tags := range c.tags {
		for _, t := range tags {
			if t.test == "" {
				c.at(t.file, t.line, "a tag belongs in the doc comment of a test: %s", id)
			} else if !known[id] {
				c.at(t.file, t.line, "%s names the rule %q, which is not in %s", t.test, id, c.list)
			}
		}
	}
	slices.Sort(c.problems)
}

// print says how much there is, and with verbose the tests of each rule.
func (c *coverage) print(out io.Writer, verbose bool) {
	shown := 0
	for _, r := range c.rules {
		shown += len(c.tags[r.id]) + len(r.scenarios)
		if !verbose {
			continue
		}
		fmt.Fprintln(out, r.id)
		for _, t := range c.tags[r.id] {
			fmt.Fprintf(out, "  %s:%d %s\n", t.file, t.line, t.test)
		}
		for _, scenario := range r.scenarios {
			fmt.Fprintf(out, "  %s/%s.json\n", c.scenarios, scenario)
		}
	}
	fmt.Fprintf(out, "%d rules, shown %d times by tests and scenarios\n", len(c.rules), shown)
}
