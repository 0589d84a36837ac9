// Command trace counts what code of x/timers an empty block passes, the scheduling of a bank send, and its life from there to
// its receipt, under the default config: functions, files and packages that coverage says were executed. What runs for every
// timer is what somebody must read who wants to know how one fires. The chain has the module's own policies, and in the last
// line all guests too.
//
// It exits with status 1 if a count is above its limit, and with status 2 if it can't count. -v lists the functions.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// module is what is traced, but for the packages that no chain runs and for generated code.
const module = "github.com/cosmos-timers/timers/x/timers"

// count is how many functions, files and packages something passes.
type count struct{ functions, files, packages int }

func (c count) String() string { return fmt.Sprintf("%4d %4d %4d", c.functions, c.files, c.packages) }

// above tells whether one of the counts is above the limit.
func (c count) above(limit count) bool {
	return c.functions > limit.functions || c.files > limit.files || c.packages > limit.packages
}

// passes are what is traced, with the limits; a commit that raises one says for what. guests: on a chain that has registered all of them.
var passes = []struct {
	name, what string
	guests     bool
	limit      count
}{
	{"block", "an empty block", false, count{224, 49, 13}},
	{"schedule", "scheduling a bank send", false, count{184, 39, 15}},
	{"life", "a bank send from there to its receipt", false, count{590, 73, 16}},
	{"life", "the same with auction, score, tip and bidding agents, none of them in force", true, count{603, 76, 17}},
}

func main() {
	verbose := flag.Bool("v", false, "list the functions")
	flag.Parse()
	above, err := run(os.Stdout, *verbose)
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "trace: %v\n", err)
		os.Exit(2)
	case above:
		os.Exit(1)
	}
}

func run(out io.Writer, verbose bool) (above bool, err error) {
	dir, err := os.MkdirTemp("", "trace")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, tags := range []string{"", noGuests} {
		if err := cover(filepath.Join(dir, tags), tags); err != nil {
			return false, err
		}
	}
	fmt.Fprintln(out, "functions, files and packages of x/timers that are passed, with the limits")
	for _, pass := range passes {
		tags := noGuests
		if pass.guests {
			tags = ""
		}
		listed, err := command("go", "tool", "covdata", "func", "-i="+filepath.Join(dir, tags, pass.name))
		if err != nil {
			return false, err
		}
		passed := passedOf(listed)
		fmt.Fprintf(out, "%s  (%s)  %s\n", passed.count(), pass.limit, pass.what)
		if verbose {
			for _, function := range passed {
				fmt.Fprintf(out, "      %s\n", function)
			}
		}
		above = above || passed.count().above(pass.limit)
	}
	return above, nil
}

// noGuests is the tag of builds of the lab's chain without guests.
const noGuests = "noguests"

// cover builds the command passes with a tag, and runs it into a directory.
func cover(dir, tags string) error {
	binary := filepath.Join(dir, "passes")
	_, err := command("go", "build", "-tags="+tags, "-cover", "-covermode=atomic",
		"-coverpkg="+module+"/...,./scripts/trace/passes", "-o", binary, "./scripts/trace/passes")
	if err != nil {
		return err
	}
	_, err = command(binary, dir)
	return err
}

func command(name string, arguments ...string) ([]byte, error) {
	var failure bytes.Buffer
	cmd := exec.Command(name, arguments...)
	cmd.Stderr = &failure
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+os.TempDir())
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, failure.Bytes())
	}
	return out, err
}

// functions that were passed: FILE FUNCTION.
type functions []string

// passedOf reads the functions of the core that covdata lists as executed.
func passedOf(listed []byte) (passed functions) {
	for lines := bufio.NewScanner(bytes.NewReader(listed)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 || fields[2] == "0.0%" || !strings.HasPrefix(fields[0], module+"/") {
			continue
		}
		file, _, _ := strings.Cut(strings.TrimPrefix(fields[0], module+"/"), ":")
		top, _, _ := strings.Cut(file, "/")
		if slices.Contains([]string{"client", "testutil"}, top) || strings.HasSuffix(file, ".pb.go") || strings.HasSuffix(file, ".pulsar.go") {
			continue
		}
		passed = append(passed, file+" "+fields[1])
	}
	return passed
}

func (f functions) count() count {
	files, packages := map[string]bool{}, map[string]bool{}
	for _, function := range f {
		file, _, _ := strings.Cut(function, " ")
		files[file], packages[path.Dir(file)] = true, true
	}
	return count{len(f), len(files), len(packages)}
}
