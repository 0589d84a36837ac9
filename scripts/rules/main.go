// Command rules holds the reference of the module, x/timers/README.md, to its tests.
//
// A list names each sentence of the reference: either it states no rule, or it is a rule with an id. A test names the
// rules that it shows in its doc comment:
//
//	// Rule: 1.4-height-above, 1.4-after
//
// The command fails if a sentence is new, has changed or is gone, if a rule has no test, or if a test names a rule that
// does not exist. With -write it writes the list anew; what a person has to decide it marks with a question mark, which
// fails too.
//
// It exits with status 1 if it found anything wrong, and with status 2 if it cannot read the files.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// layout is the table of all that is particular to this repository. Paths are relative to its root, with slashes.
type layout struct {
	// reference is the document whose sentences are listed, and list the file that lists them.
	reference, list string
	// tests are the directories below which tests are read. Directories named testdata are left out.
	tests []string
	// scenarios is the directory of the scenarios with golden output.
	scenarios string
	// wholeTables are the sections each of whose tables counts as one sentence: one test holds all its rows to the code.
	wholeTables []string
	// untested is the largest number of rules without a test that passes. It only ever falls.
	untested int
}

// rules is the layout of this repository.
var rules = layout{
	reference:   "x/timers/README.md",
	list:        "x/timers/testdata/rules.txt",
	tests:       []string{"x/timers", "wasmbinding", "app", "cmd", "testutil"},
	scenarios:   "x/timers/testdata/scenarios",
	wholeTables: []string{"2", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "7.9", "7.10", "7.11", "8", "9.2"},
	untested:    4,
}

func main() { os.Exit(run(os.Args[1:], rules, os.Stdout, os.Stderr)) }

// run does what the arguments say and returns the exit status.
func run(arguments []string, layout layout, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("rules", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "root `directory` of the repository")
	write := flags.Bool("write", false, "write the list anew, and mark with ? what a person has to decide")
	verbose := flags.Bool("v", false, "list the tests of each rule")
	if err := flags.Parse(arguments); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "rules: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	c, err := load(*root, layout)
	if err != nil {
		fmt.Fprintln(stderr, "rules:", err)
		return 2
	}
	if *write {
		if err := os.WriteFile(filepath.Join(*root, filepath.FromSlash(layout.list)), []byte(c.rewritten()), 0o600); err != nil {
			fmt.Fprintln(stderr, "rules:", err)
			return 2
		}
		if c, err = load(*root, layout); err != nil {
			fmt.Fprintln(stderr, "rules:", err)
			return 2
		}
	}
	problems := c.check()
	c.print(stdout, *verbose)
	for _, problem := range problems {
		fmt.Fprintln(stderr, problem)
	}
	if len(problems) > 0 {
		fmt.Fprintf(stderr, "rules: %d problem(s)\n", len(problems))
		return 1
	}
	return 0
}
