// Mutate changes a package's sources in small ways, one at a time, and tells which changes no test notices: a flipped or
// shifted condition, another operator, a removed statement, a zero in place of a result. The sources on disk stay as they
// are: each change is an overlay of the build. `make mutants` runs it; CONTRIBUTING.md says what for.
//
//	mutate [-sample N] [-seed N] [-tests PACKAGE,...] DIRECTORY...
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// outcome of the tests on a mutant.
type outcome int

const (
	survived outcome = iota
	killed
	// invalid mutants do not compile, and count for nothing.
	invalid
)

// String implements fmt.Stringer.
func (o outcome) String() string { return [...]string{"survived", "killed", "invalid"}[o] }

func main() {
	count := flag.Int("sample", 20, "mutants of each package")
	seed := flag.Uint64("seed", 1, "which mutants")
	tests := flag.String("tests", "", "packages whose tests run beside the package's own, separated by commas")
	run := flag.String("run", "", "tests that run; all by default")
	timeout := flag.Duration("timeout", 2*time.Minute, "a mutant whose tests take longer is killed")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	runner := &runner{count: *count, seed: *seed, run: *run, timeout: *timeout, out: os.Stdout, progress: os.Stderr}
	if *tests != "" {
		runner.tests = strings.Split(*tests, ",")
	}
	for _, dir := range flag.Args() {
		if err := runner.measure(dir); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			os.Exit(1)
		}
	}
}

// runner tests mutants of packages.
type runner struct {
	count   int
	seed    uint64
	tests   []string
	run     string
	timeout time.Duration
	out     io.Writer
	// progress gets a line for each mutant.
	progress io.Writer
}

// measure tests the mutants of a package and prints the share killed, and the survivors.
func (r *runner) measure(dir string) error {
	all, err := mutantsOf(dir)
	if err != nil {
		return err
	}
	packages := r.packages(dir)
	if result, output := r.test(packages, nil); result != survived {
		return fmt.Errorf("the tests of %s fail without any change:\n%s", dir, output)
	}
	var survivors []mutant
	tested, dead := 0, 0
	chosen := sample(all, r.seed, r.count)
	for i, m := range chosen {
		result, err := r.try(packages, m)
		if err != nil {
			return err
		}
		fmt.Fprintf(r.progress, "%d of %d %s: %s\n", i+1, len(chosen), result, m)
		if result == invalid {
			continue
		}
		if tested++; result == killed {
			dead++
			continue
		}
		survivors = append(survivors, m)
	}
	fmt.Fprintf(r.out, "%s: %d of %d mutants killed (%d %%), of %d\n", dir, dead, tested, 100*dead/max(1, tested), len(all))
	for _, m := range survivors {
		fmt.Fprintf(r.out, "  %s\n", m)
	}
	return nil
}

func (r *runner) packages(dir string) []string {
	if len(r.tests) > 0 {
		return append([]string{dir}, r.tests...)
	}
	return []string{dir}
}

// try tests one mutant.
func (r *runner) try(packages []string, m mutant) (outcome, error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return invalid, err
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return invalid, err
	}
	defer os.RemoveAll(dir)
	changed := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(changed, m.apply(source), 0o600); err != nil {
		return invalid, err
	}
	original, err := filepath.Abs(m.file)
	if err != nil {
		return invalid, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return invalid, err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return invalid, err
	}
	result, _ := r.test(packages, []string{"-overlay", file})
	return result, nil
}

// mostMemory is the address space of a test: a change may make a loop append for ever.
const mostMemory = 16 << 30

// bounded are the flags by which tests run within mostMemory, where the system has a command for it.
func bounded() []string {
	command, err := exec.LookPath("prlimit")
	if err != nil {
		return nil
	}
	return []string{"-exec", fmt.Sprintf("%s --as=%d", command, mostMemory)}
}

// test runs the tests of packages, and says what came of it. Tests that take too long, or too much memory, have noticed the
// change.
func (r *runner) test(packages, flags []string) (outcome, []byte) {
	// The time to build is not that of the tests.
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout+10*time.Minute)
	defer cancel()
	args := append([]string{"test", "-vet=off", "-failfast", "-count=1", "-ldflags=-w", "-timeout", r.timeout.String()}, bounded()...)
	args = append(args, flags...)
	if r.run != "" {
		args = append(args, "-run", r.run)
	}
	output, err := exec.CommandContext(ctx, "go", append(args, packages...)...).CombinedOutput()
	switch {
	case err == nil:
		return survived, output
	case bytes.Contains(output, []byte("[build failed]")) || bytes.Contains(output, []byte("[setup failed]")):
		return invalid, output
	default:
		return killed, output
	}
}
