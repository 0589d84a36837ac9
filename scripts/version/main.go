// Command version writes the one number of a release everywhere, or checks that it is the same everywhere:
//
//	go run ./scripts/version 1.0.0-rc.1   write it, and print the tags that a release of it has
//	go run ./scripts/version -check       fail if a place states another number than the file VERSION
//
// The places are the file VERSION, of which the Makefile reads it; the requirements of this repository's Go modules on
// each other; the crates that are published, and what their workspace and its lock file say of them; the npm package;
// and the heading of the changelog's newest version. Crates of contracts are not published and keep a number of their
// own. The proto image has the number of the proto package, which is another.
//
// It exits with status 1 if places disagree, and with status 2 if the arguments are wrong or a place is missing.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	// modulePath begins the paths of the Go modules in this repository; the root's is this alone.
	modulePath = "github.com/cosmos-timers/timers"
	// numberFile holds the number.
	numberFile = "VERSION"
	changelog  = "CHANGELOG.md"
	// unreleased heads what is in no version yet, and ends the heading of a version that has no date yet.
	unreleased = "unreleased"
)

// published are the crates that have the number.
var published = []string{"cw-timers", "cw-timers-test"}

// tagged are the directories of the Go modules that a release tags, those that others require first. The root is last.
var tagged = []string{"x/timers", "lab", "wasmbinding", "evmbinding"}

// skipped are directories of which the go.mod files are not this repository's own.
var skipped = []string{"build", "node_modules", "target", "testdata"}

// A version as Go modules, crates and npm packages all can have it: no leading zeros, and no build metadata, which Go
// refuses. From major version 2 on the paths of Go modules would end in it.
const (
	digits     = `(0|[1-9]\d*)`
	identifier = `(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)`
)

var semantic = regexp.MustCompile(
	`^[01]\.` + digits + `\.` + digits + `(-` + identifier + `(\.` + identifier + `)*)?$`)

// place is where a number stands: the last group of the pattern, in each match. A pattern without a match is an error.
type place struct {
	file    string
	pattern *regexp.Regexp
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run does what the arguments say and returns the exit status.
func run(arguments []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("version", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "root `directory` of the repository")
	check := flags.Bool("check", false, "change nothing, and fail if a place states another number")
	if err := flags.Parse(arguments); err != nil {
		return 2
	}
	if *check == (flags.NArg() == 1) || flags.NArg() > 1 {
		fmt.Fprintln(stderr, "version: want one version as 1.0.0-rc.1, or -check")
		return 2
	}
	var differing []string
	var err error
	number := flags.Arg(0)
	if *check {
		number, differing, err = compare(*root)
	} else {
		err = write(*root, number)
	}
	if err != nil {
		fmt.Fprintln(stderr, "version:", err)
		return 2
	}
	if len(differing) > 0 {
		fmt.Fprintf(stderr, "version: %s states %s, but:\n%s\nwrite one everywhere: scripts/version.sh VERSION\n",
			numberFile, number, strings.Join(differing, "\n"))
		return 1
	}
	fmt.Fprintf(stdout, "all places state %s; a release of it has the tags\n", number)
	for _, tag := range tags(number) {
		fmt.Fprintln(stdout, tag)
	}
	return 0
}

// tags are those of a release, in the order in which they are made.
func tags(number string) []string {
	var all []string
	for _, dir := range tagged {
		all = append(all, dir+"/v"+number)
	}
	return append(all, "v"+number)
}

// write puts the number everywhere. It reads all places before it writes the first.
func write(root, number string) error {
	if !semantic.MatchString(number) {
		return fmt.Errorf("%q is no version: want MAJOR.MINOR.PATCH or MAJOR.MINOR.PATCH-PRERELEASE without v, "+
			"as 1.0.0-rc.1; MAJOR is 0 or 1", number)
	}
	all, err := places(root)
	if err != nil {
		return err
	}
	changed := map[string][]byte{numberFile: []byte(number + "\n")}
	text := func(file string) ([]byte, error) {
		if content, found := changed[file]; found {
			return content, nil
		}
		return os.ReadFile(filepath.Join(root, file))
	}
	for _, p := range all {
		content, err := text(p.file)
		if err != nil {
			return err
		}
		if changed[p.file], err = p.replace(content, number); err != nil {
			return err
		}
	}
	content, err := text(changelog)
	if err != nil {
		return err
	}
	if changed[changelog], err = head(content, number); err != nil {
		return err
	}
	for file, content := range changed {
		if err := os.WriteFile(filepath.Join(root, file), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// compare returns the number of VERSION, and for each place with another one a line.
func compare(root string) (number string, differing []string, err error) {
	content, err := os.ReadFile(filepath.Join(root, numberFile))
	if err != nil {
		return "", nil, err
	}
	number = strings.TrimSuffix(string(content), "\n")
	if !semantic.MatchString(number) {
		return "", nil, fmt.Errorf("%s holds %q: want a version as 1.0.0-rc.1", numberFile, content)
	}
	all, err := places(root)
	if err != nil {
		return "", nil, err
	}
	for _, p := range all {
		content, err := os.ReadFile(filepath.Join(root, p.file))
		if err != nil {
			return "", nil, err
		}
		found, err := p.numbers(content)
		if err != nil {
			return "", nil, err
		}
		for _, span := range found {
			if is := string(content[span[0]:span[1]]); is != number {
				differing = append(differing, fmt.Sprintf("  %s, line %d: %s", p.file, line(content, span[0]), is))
			}
		}
	}
	content, err = os.ReadFile(filepath.Join(root, changelog))
	if err != nil {
		return "", nil, err
	}
	newest, err := newest(content)
	if err != nil {
		return "", nil, err
	}
	if is := string(content[newest[2]:newest[3]]); is != number {
		differing = append(differing, fmt.Sprintf("  %s, line %d: %s", changelog, line(content, newest[2]), is))
	}
	return number, differing, nil
}

// places are all but VERSION and the changelog.
func places(root string) ([]place, error) {
	var all []place
	required := regexp.MustCompile(`(?m)^(?:require )?\t?` + regexp.QuoteMeta(modulePath) + `/\S+ v(\S+)$`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			hidden := path != root && strings.HasPrefix(entry.Name(), ".")
			if hidden || slices.Contains(skipped, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if entry.Name() != "go.mod" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil || !required.Match(content) {
			return err
		}
		file, err := filepath.Rel(root, path)
		all = append(all, place{file, required})
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("no go.mod requires a module of " + modulePath)
	}
	add := func(file, pattern string) { all = append(all, place{file, regexp.MustCompile(`(?m)` + pattern)}) }
	for _, crate := range published {
		add("clients/rust/"+crate+"/Cargo.toml", `\A\[package\]\n(?:[^\[\n].*\n)*?version = "(.*)"$`)
		add("clients/rust/Cargo.toml", `^`+crate+` = \{.* version = "([^"]*)"`)
		add("clients/rust/Cargo.lock", `^name = "`+crate+`"\nversion = "(.*)"$`)
	}
	add("clients/ts/package.json", `^  "version": "(.*)",$`)
	return all, nil
}

// numbers are where the numbers begin and end.
func (p place) numbers(content []byte) ([][2]int, error) {
	var all [][2]int
	for _, match := range p.pattern.FindAllSubmatchIndex(content, -1) {
		all = append(all, [2]int{match[2], match[3]})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no version where one is expected: nothing matches %s", p.file, p.pattern)
	}
	return all, nil
}

// replace puts the number where others stand.
func (p place) replace(content []byte, number string) ([]byte, error) {
	found, err := p.numbers(content)
	if err != nil {
		return nil, err
	}
	var out []byte
	done := 0
	for _, span := range found {
		out = append(append(out, content[done:span[0]]...), number...)
		done = span[1]
	}
	return append(out, content[done:]...), nil
}

// A heading of the changelog: a version and its date, or that it is unreleased.
var heading = regexp.MustCompile(`(?m)^## (\d\S*) - (` + unreleased + `|\d{4}-\d{2}-\d{2})$`)

// Changes that are in no version yet.
var pending = regexp.MustCompile(`(?mi)^## ` + unreleased + `$`)

// newest finds the heading of the newest version: the indexes of its match.
func newest(content []byte) ([]int, error) {
	match := heading.FindSubmatchIndex(content)
	if match == nil {
		return nil, fmt.Errorf(`%s: no heading of a version: want one as "## 1.0.0-rc.1 - %s" or with a date`,
			changelog, unreleased)
	}
	return match, nil
}

// head gives the number to the changelog's newest changes. What is in no version yet becomes this one, and a version
// without a date changes its number. It fails if the newest version has a date and another number: nothing is new.
func head(content []byte, number string) ([]byte, error) {
	title := fmt.Sprintf("## %s - %s", number, unreleased)
	if match := pending.FindIndex(content); match != nil {
		return slices.Concat(content[:match[0]], []byte(title), content[match[1]:]), nil
	}
	match, err := newest(content)
	if err != nil {
		return nil, err
	}
	switch dated := string(content[match[4]:match[5]]) != unreleased; {
	case string(content[match[2]:match[3]]) == number:
		return content, nil
	case dated:
		return nil, fmt.Errorf(`%s: %s is released: want its changes since then below a heading "## Unreleased"`,
			changelog, content[match[2]:match[3]])
	}
	return slices.Concat(content[:match[0]], []byte(title), content[match[1]:]), nil
}

// line is the number of the line that an offset is in, from 1.
func line(content []byte, offset int) int { return 1 + bytes.Count(content[:offset], []byte("\n")) }
