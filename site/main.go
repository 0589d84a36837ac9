package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// versionName is main or a release; v0.0.0 is none. It becomes the name of a directory, and a part of addresses.
var versionName = regexp.MustCompile(`^(main|v[0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6})$`)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 || !slices.Contains([]string{"stage", "finish"}, args[0]) {
		return errors.New("want stage VERSION or finish VERSION")
	}
	if !versionName.MatchString(args[1]) {
		return fmt.Errorf("version %q: want main, or a release such as v0.2.0", args[1])
	}
	p, err := readPlan(".")
	if err != nil {
		return err
	}
	if args[0] == "stage" {
		return stage(p, args[1], filepath.Join("build", "site-src"))
	}
	return finish(p, args[1], filepath.Join("build", "site"))
}

// finish adds to a built version each page as Markdown and its llms.txt. At the root it lists the versions that were
// built, the newest release first and main last, and leads to the first.
func finish(p *plan, version, to string) error {
	files, err := p.render(version)
	if err != nil {
		return err
	}
	files["llms.txt"] = p.llms("")
	if err := writeAll(filepath.Join(to, version), files); err != nil {
		return err
	}
	names, err := versions(to)
	if err != nil {
		return err
	}
	list, err := json.Marshal(names)
	if err != nil {
		return err
	}
	first := names[0]
	llms, err := os.ReadFile(filepath.Join(to, first, "llms.txt"))
	if err != nil {
		return err
	}
	return writeAll(to, written{
		"versions.json": list,
		"llms.txt":      ownLinks.ReplaceAll(llms, []byte("${1}"+first+"/")),
		"index.html": fmt.Appendf(nil, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>%s</title>\n"+
			"<meta http-equiv=\"refresh\" content=\"0; url=%s/\">\n<a href=\"%s/\">%s</a>\n", p.Title, first, first, p.Title),
	})
}

// ownLinks are the beginnings of links in llms.txt.
var ownLinks = regexp.MustCompile(`(?m)^(- \[[^\]]*\]\()`)

// versions that were built, the newest first, and main last.
func versions(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.IsDir() && versionName.MatchString(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return compareVersions(b, a) })
	return names, nil
}

// compareVersions orders main below all releases, and releases by their numbers.
func compareVersions(a, b string) int {
	numbers := func(version string) (n [3]int) {
		_, _ = fmt.Sscanf(version, "v%d.%d.%d", &n[0], &n[1], &n[2]) // Of main nothing is read.
		return n
	}
	na, nb := numbers(a), numbers(b)
	return slices.Compare(na[:], nb[:])
}
