// Command cpu prints the processor time that the tests of each package took, the longest first, and fails if one took a larger part
// of all than its limit: cpu DIRECTORY, where scripts/cpu/exec.sh wrote a file for each. Processor time in seconds is that of a
// machine; which part of it is whose is not.
//
// It exits with status 1 above a limit, and with status 2 if it can't tell.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// shown is how many packages are printed.
const shown = 20

// most is the part of all, in per cent, that the tests of one package may take; a commit that raises one says for what.
var most = map[string]int{
	"testutil/system":       90, // it builds timerd and contracts, where no cache has them
	"testutil/bench/prices": 20,
	"x/timers/keeper":       16,
	"app":                   12,
	"testutil/campaign":     12,
}

// others is the limit of packages that most does not have.
const others = 8

// whole is how many packages are judged at least: parts of fewer say nothing.
const whole = 100

func main() {
	flag.Parse()
	above, err := run(os.Stdout, flag.Arg(0))
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "cpu: %v\n", err)
		os.Exit(2)
	case above:
		os.Exit(1)
	}
}

// took is how long the tests of a package took.
type took struct {
	name string
	time time.Duration
}

func run(out io.Writer, dir string) (above bool, err error) {
	all, err := read(dir)
	if err != nil {
		return false, err
	}
	total := time.Duration(0)
	for _, p := range all {
		total += p.time
	}
	fmt.Fprintf(out, "the tests of %d packages took %.0f s of processor time; the longest, with their parts of it and the limits\n", len(all), total.Seconds())
	for i, p := range all {
		limit := cmp.Or(most[p.name], others)
		percent := 100 * p.time.Seconds() / max(total.Seconds(), 0.001)
		if i < shown {
			fmt.Fprintf(out, "%8.1f s  %4.1f %%  (%2d %%)  %s\n", p.time.Seconds(), percent, limit, p.name)
		}
		if len(all) >= whole && percent > float64(limit) {
			above = true
			fmt.Fprintf(out, "cpu: %s is above its limit of %d %%\n", p.name, limit)
		}
	}
	return above, nil
}

// read reads a directory, and sums what each package took.
func read(dir string) (all []took, err error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return nil, err
		}
		one, err := parse(string(text), root)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		at := slices.IndexFunc(all, func(p took) bool { return p.name == one.name })
		if at < 0 {
			all = append(all, one)
		} else {
			all[at].time += one.time
		}
	}
	slices.SortFunc(all, func(a, b took) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.name, b.name)) })
	return all, nil
}

// parse reads what the builtin times of bash prints, of which the second line is that of the test, and the directory.
func parse(text, root string) (took, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 3 {
		return took{}, fmt.Errorf("it has %d lines: want 3", len(lines))
	}
	name, err := filepath.Rel(root, lines[2])
	if err != nil {
		return took{}, err
	}
	p := took{name: filepath.ToSlash(name)}
	for _, field := range strings.Fields(lines[1]) {
		part, err := time.ParseDuration(field)
		if err != nil {
			return took{}, err
		}
		p.time += part
	}
	return p, nil
}
