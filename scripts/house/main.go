// Command house measures the structure of the module's source code and compares it with limits.
//
// It type-checks the module, which must compile; dependencies come compiled from the build cache. Each measure is
// defined at the function that takes it. Tests and generated files are not measured, unless a measure says so.
//
// It exits with status 1 if a limit is broken, and with status 2 if it cannot measure.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

// layout is the table of all that is particular to this repository. Paths are relative to its root, with slashes; they
// name a directory with all that is below it, or a file.
type layout struct {
	// module is the directory whose packages are measured.
	module string
	// sources are the directories in which a new policy may need an edit. Each must exist; module is one of them.
	sources []string

	// enum is the type of types whose constants are the policies, but for zero. In lower case and without the name of
	// the type, a constant is the name of its policy: PolicyFIFO is fifo.
	types, enum string
	// config is the struct of types that holds the parameters of each policy. The functions in defaults may choose the
	// policy of a new chain, once each.
	config   string
	defaults []string

	// rooms are the places that belong to one policy; %s is its name.
	rooms []string
	// typesByPolicy is a package whose types of a policy's name (FIFO for fifo) belong to that policy.
	typesByPolicy string
	// distinctive are names of policies that are no words of their own: each identifier that contains one names the
	// policy.
	distinctive []string
	// registry is where policies may be told apart.
	registry []string
	// clients do not run inside blocks: the conditionals in them are counted apart.
	clients []string

	// block is the struct of what one block needs. The first entry found counts.
	block []declaration

	// counted are other structs whose fields are counted, and parameters those whose fields are with those of their structs.
	counted, parameters []declaration
	// stated is a type that a struct has a field of if it holds what an owner states of a timer.
	stated declaration
	// cursors are the structs with fields that say where a block goes on, and seams the packages whose interfaces policies have.
	cursors, seams []declaration

	// beside are the directories of the module that are not its core: what no block runs, and what a chain need not link.
	beside []string

	// pure packages depend on nothing but mathematics. cli is the command line.
	pure, cli []string

	limits limits
}

// declaration is a place where one of some types is declared.
type declaration struct {
	dir   string
	names []string
}

// limits are the largest values that pass.
type limits struct {
	packageLines, cycleFiles, blockFields, conditionals, policySources, functionLines, stating int
	coreLines, corePackages, coreFloors                                                        int
	collections, cursors, seamMethods, seamsOfOne                                              int
}

// house is the layout of this repository.
var house = layout{
	module:  "x/timers",
	sources: []string{"x/timers", "proto", "app", "cmd", "wasmbinding", "evmbinding"},

	types:    "x/timers/types",
	enum:     "Policy",
	config:   "TimerConfig",
	defaults: []string{"DefaultTimerConfig"},

	rooms: []string{
		"x/timers/market/%s", "x/timers/market/%s.go", "x/timers/policies/%s", "x/timers/policies/%s.go", "x/timers/types/params_%s.go",
	},
	typesByPolicy: "x/timers/market",
	distinctive:   []string{"eip1559"},
	registry:      []string{"x/timers/policies/registry.go"},
	clients:       []string{"x/timers/client", "x/timers/simulation"},

	block: []declaration{
		{"x/timers/engine", []string{"Block", "block"}},
		{"x/timers/keeper", []string{"block"}},
	},

	counted:    []declaration{{"x/timers/types", []string{"Timer"}}, {"x/timers/types", []string{"LaneState"}}},
	parameters: []declaration{{"x/timers/types", []string{"TimerConfig"}}},
	stated:     declaration{"x/timers/types", []string{"OnUnfunded"}},

	cursors: []declaration{{"x/timers/types", []string{"LaneState"}}, {"x/timers/types", []string{"WatchCursors"}}},
	seams: []declaration{
		{"x/timers/policies", nil}, {"x/timers/contest", nil}, {"x/timers/market", []string{"Ranking"}}, {"x/timers/types", []string{"AgentCalls"}},
	},

	beside: []string{
		"x/timers/client", "x/timers/testutil",
		"x/timers/policies/guests", "x/timers/policies/agents", "x/timers/policies/auction", "x/timers/policies/score", "x/timers/policies/tip",
		"x/timers/market/auction", "x/timers/market/score", "x/timers/market/tip",
	},

	pure: []string{"x/timers/decimal", "x/timers/logmap", "x/timers/market", "x/timers/schedule"},
	cli:  []string{"x/timers/client"},

	limits: limits{
		packageLines: 3550, cycleFiles: 6, blockFields: 22, conditionals: 0, policySources: 5, functionLines: 70, stating: 1,
		coreLines: 33330, corePackages: 22, coreFloors: 11,
		collections: 31, cursors: 13, seamMethods: 32, seamsOfOne: 1,
	},
}

func main() { os.Exit(run(os.Args[1:], house, os.Stdout, os.Stderr)) }

// run measures the repository as the arguments say and returns the exit status.
func run(arguments []string, layout layout, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("house", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "root `directory` of the repository")
	reportOnly := flags.Bool("report", false, "print the measures and exit with 0 though a limit is broken")
	verbose := flags.Bool("v", false, "list each place that names a policy")
	if err := flags.Parse(arguments); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "house: unexpected argument %q\n", flags.Arg(0))
		return 2
	}

	tree, err := load(*root, layout)
	if err != nil {
		fmt.Fprintln(stderr, "house:", err)
		return 2
	}
	measured, err := measure(tree)
	if err != nil {
		fmt.Fprintln(stderr, "house:", err)
		return 2
	}
	measured.print(stdout, *verbose)
	broken := measured.broken()
	for _, one := range broken {
		fmt.Fprintf(stderr, "house: %s: %d is above the limit of %d\n", one.name, one.value, *one.limit)
	}
	if len(broken) > 0 && !*reportOnly {
		return 1
	}
	return 0
}
