// Command trace counts what code of x/timers an empty block passes, the scheduling of a bank send, and its life from there to
// its receipt, under the default config: the functions that coverage says were executed, their lines, files and packages. What runs for every
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
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is what is traced, but for the packages that no chain runs and for generated code.
const module = "github.com/cosmos-timers/timers/x/timers"

// count is how many functions, lines of these, files and packages something passes.
type count struct{ functions, lines, files, packages int }

func (c count) String() string {
	return fmt.Sprintf("%4d %5d %4d %4d", c.functions, c.lines, c.files, c.packages)
}

// above tells whether one of the counts is above the limit.
func (c count) above(limit count) bool {
	return c.functions > limit.functions || c.lines > limit.lines || c.files > limit.files || c.packages > limit.packages
}

// passes are what is traced, with the limits; a commit that raises one says for what. guests: on a chain that has registered all of them.
var passes = []struct {
	name, what string
	guests     bool
	limit      count
}{
	{"block", "an empty block", false, count{218, 2190, 49, 14}},
	{"schedule", "scheduling a bank send", false, count{187, 1848, 38, 15}},
	{"life", "a bank send from there to its receipt", false, count{590, 6120, 73, 17}},
	{"life", "the same with auction, score, tip and bidding agents, none of them in force", true, count{601, 6331, 76, 18}},
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
	fmt.Fprintln(out, "functions of x/timers that are passed, their lines, files and packages, with the limits")
	for _, pass := range passes {
		tags := noGuests
		if pass.guests {
			tags = ""
		}
		listed, err := command("go", "tool", "covdata", "func", "-i="+filepath.Join(dir, tags, pass.name))
		if err != nil {
			return false, err
		}
		passed, err := passedOf(listed)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(out, "%s  (%s)  %s\n", passed.count(), pass.limit, pass.what)
		if verbose {
			for _, function := range passed {
				fmt.Fprintf(out, "      %s %s, %d lines\n", function.file, function.name, function.lines)
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

// function is one that was passed.
type function struct {
	file, name string
	lines      int
}

type functions []function

// passedOf reads the functions of the core that covdata lists as executed.
func passedOf(listed []byte) (passed functions, err error) {
	perFile := map[string]map[int]int{}
	for lines := bufio.NewScanner(bytes.NewReader(listed)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 || fields[2] == "0.0%" || !strings.HasPrefix(fields[0], module+"/") {
			continue
		}
		file, at, _ := strings.Cut(strings.TrimPrefix(fields[0], module+"/"), ":")
		top, _, _ := strings.Cut(file, "/")
		if slices.Contains([]string{"client", "testutil"}, top) || strings.HasSuffix(file, ".pb.go") || strings.HasSuffix(file, ".pulsar.go") {
			continue
		}
		if perFile[file] == nil {
			if perFile[file], err = linesOf(filepath.Join("x/timers", file)); err != nil {
				return nil, err
			}
		}
		line, err := strconv.Atoi(strings.TrimSuffix(at, ":"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fields[0], err)
		}
		passed = append(passed, function{file, fields[1], perFile[file][line]})
	}
	return passed, nil
}

// linesOf are how many lines functions of a file have, by the line where their body begins: covdata names that.
func linesOf(name string) (map[int]int, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := map[int]int{}
	add := func(node ast.Node, body *ast.BlockStmt) {
		if body != nil {
			at := fset.Position(body.Pos()).Line
			lines[at] = max(lines[at], fset.Position(node.End()).Line-fset.Position(node.Pos()).Line+1)
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			add(node, node.Body)
		case *ast.FuncLit:
			add(node, node.Body)
		}
		return true
	})
	return lines, nil
}

func (f functions) count() count {
	files, packages := map[string]bool{}, map[string]bool{}
	lines := 0
	for _, function := range f {
		files[function.file], packages[path.Dir(function.file)] = true, true
		lines += function.lines
	}
	return count{len(f), lines, len(files), len(packages)}
}
