package main

import (
	"fmt"
	"go/types"
	"io"
	"maps"
	"slices"
	"strings"
)

// result is all that was measured.
type result struct {
	rows     []row
	packages []packageMeasures
	// conditionals, clients and sources are the places behind the measures of policies.
	conditionals, clients []place
	sources               map[string][]place
}

// row is one measure. Without a limit it is only reported.
type row struct {
	name  string
	value int
	limit *int
	where []string
}

// packageMeasures are those that each package has of its own.
type packageMeasures struct {
	dir   string
	lines int
	// cycle holds the files of the largest cycle.
	cycle           []string
	comments, tests int     // lines
	commentsAim     int     // per cent, 0 for none
	testsAim        float64 // lines of tests per line
}

// measure takes all measures of the tree.
func measure(t *tree) (*result, error) {
	limits := t.layout.limits
	r := &result{}
	var functions []function
	for _, p := range t.inModule() {
		r.packages = append(r.packages, t.ofPackage(p))
		functions = append(functions, t.functions(p)...)
	}
	if len(r.packages) == 0 {
		return nil, fmt.Errorf("no hand-written Go package below %s", t.layout.module)
	}
	fields, where, err := t.blockFields()
	if err != nil {
		return nil, err
	}
	ofPolicies, err := r.ofPolicies(t)
	if err != nil {
		return nil, err
	}
	count, long := longFunctions(functions, limits.functionLines)
	r.rows = append(r.rows,
		r.largestPackage(limits.packageLines),
		r.largestCycle(limits.cycleFiles),
		row{"fields of block, with embedded ones", fields, &limits.blockFields, []string{where}},
	)
	lines, packages, floors := t.core()
	r.rows = append(r.rows,
		row{"core: lines", lines, &limits.coreLines, nil},
		row{"core: packages", packages, &limits.corePackages, nil},
		row{"core: floors", floors, &limits.coreFloors, nil},
	)
	for _, declared := range t.layout.counted {
		fields, where := t.structFields(declared.dir, declared.names[0])
		if fields < 0 {
			continue
		}
		r.rows = append(r.rows, row{"fields of " + declared.names[0], fields, nil, []string{where}})
	}
	for _, declared := range t.layout.parameters {
		if found := t.declared(declared.dir, declared.names[0]); found != nil {
			structure, _ := found.Type().Underlying().(*types.Struct)
			r.rows = append(r.rows, row{"parameters of " + declared.names[0], t.parametersOf(structure), nil, nil})
		}
	}
	if sought := t.declared(t.layout.stated.dir, t.layout.stated.names[0]); sought != nil {
		stating := t.stating(sought)
		r.rows = append(r.rows, row{"types with what an owner states", len(stating), &limits.stating, stating})
	}
	r.rows = append(r.rows, t.ofState(&t.layout.limits)...)
	r.rows = append(r.rows, ofPolicies...)
	r.rows = append(r.rows, row{fmt.Sprintf("functions above %d lines", limits.functionLines), count, new(int), long})
	return r, nil
}

// largestPackage returns the measure of the largest package. It names all that are above the limit.
func (r *result) largestPackage(limit int) row {
	bySize := slices.SortedStableFunc(slices.Values(r.packages), func(a, b packageMeasures) int {
		return b.lines - a.lines
	})
	found := row{"largest package, lines", bySize[0].lines, &limit, []string{bySize[0].dir}}
	for _, p := range bySize[1:] {
		if p.lines > limit {
			found.where = append(found.where, fmt.Sprintf("%s (%d)", p.dir, p.lines))
		}
	}
	return found
}

// largestCycle returns the measure of the largest cycle of files. It names its files, and the other packages with a
// cycle above the limit.
func (r *result) largestCycle(limit int) row {
	byCycle := slices.SortedStableFunc(slices.Values(r.packages), func(a, b packageMeasures) int {
		return len(b.cycle) - len(a.cycle)
	})
	largest := byCycle[0]
	found := row{"largest cycle of files", len(largest.cycle), &limit, nil}
	if len(largest.cycle) > 0 {
		found.where = append([]string{largest.dir + ":"}, largest.cycle...)
	}
	for _, p := range byCycle[1:] {
		if len(p.cycle) > limit {
			found.where = append(found.where, fmt.Sprintf("%s (%d)", p.dir, len(p.cycle)))
		}
	}
	return found
}

// longFunctions returns how many functions have more lines than the limit, and which ones; if there are none, the
// longest.
func longFunctions(functions []function, limit int) (count int, where []string) {
	slices.SortStableFunc(functions, func(a, b function) int { return b.lines - a.lines })
	for _, f := range functions {
		if f.lines > limit {
			count++
			where = append(where, f.String())
		}
	}
	if count == 0 && len(functions) > 0 {
		where = []string{"the longest:", functions[0].String()}
	}
	return count, where
}

// ofPolicies measures how much of the code knows one policy from another.
func (r *result) ofPolicies(t *tree) ([]row, error) {
	found, err := t.findPolicies()
	if err != nil {
		return nil, err
	}
	limits := t.layout.limits
	r.conditionals, r.clients = found.conditionals()
	r.sources = found.sources()
	most := row{name: "sources that a further policy edits", value: -1, limit: &limits.policySources}
	for _, policy := range found.all {
		if named := r.sources[policy.name]; len(named) > most.value {
			most.value, most.where = len(named), []string{"as many name " + policy.name + ":"}
			for _, at := range named {
				most.where = append(most.where, at.file)
			}
		}
	}
	return []row{
		{"conditionals on the policy", len(r.conditionals), &limits.conditionals, perFile(r.conditionals)},
		{"policies named in clients", len(r.clients), nil, perFile(r.clients)},
		most,
	}, nil
}

// perFile returns each file of the places with the number of places in it.
func perFile(places []place) []string {
	count := map[string]int{}
	var files []string
	for _, at := range places {
		if count[at.file] == 0 {
			files = append(files, at.file)
		}
		count[at.file]++
	}
	for i, file := range files {
		files[i] = fmt.Sprintf("%s (%d)", file, count[file])
	}
	return files
}

// ofPackage returns the measures of one package, with what it aims at.
func (t *tree) ofPackage(p *pkg) packageMeasures {
	found := packageMeasures{
		dir: p.dir, lines: p.lines(), cycle: t.largestCycle(p), comments: p.commentLines(), tests: p.testLines,
		testsAim: 2,
	}
	switch {
	case withinAny(p.dir, t.layout.pure):
		found.commentsAim, found.testsAim = 33, 4
	case withinAny(p.dir, t.layout.cli):
		found.testsAim = 1.2
	}
	return found
}

// broken returns the measures that are above their limits.
func (r *result) broken() []row {
	var found []row
	for _, m := range r.rows {
		if m.limit != nil && m.value > *m.limit {
			found = append(found, m)
		}
	}
	return found
}

// whereWidth is the width of the last column, in which long lists are wrapped.
const whereWidth = 74

// print writes the measures as a table, and below it a table of the packages. verbose adds the places that name
// policies.
func (r *result) print(out io.Writer, verbose bool) {
	fmt.Fprintf(out, "%-35s  %6s  %6s  %s\n", "measure", "value", "limit", "where")
	for _, m := range r.rows {
		limit := "-"
		if m.limit != nil {
			limit = fmt.Sprint(*m.limit)
		}
		for i, line := range wrap(m.where, whereWidth) {
			if i == 0 {
				fmt.Fprintf(out, "%-35s  %6d  %6s  %s\n", m.name, m.value, limit, line)
			} else {
				fmt.Fprintf(out, "%53s%s\n", "", line)
			}
		}
	}
	fmt.Fprintf(out, "\n%-35s  %6s  %6s  %9s  %5s  %11s  %5s\n",
		"package", "lines", "cycle", "comments", "aim", "tests/line", "aim")
	for _, p := range r.packages {
		aim := "-"
		if p.commentsAim > 0 {
			aim = fmt.Sprintf("%d %%", p.commentsAim)
		}
		fmt.Fprintf(out, "%-35s  %6d  %6d  %7.0f %%  %5s  %11.1f  %5.1f\n",
			p.dir, p.lines, len(p.cycle), 100*float64(p.comments)/float64(p.lines), aim,
			float64(p.tests)/float64(p.lines), p.testsAim)
	}
	if verbose {
		r.printPlaces(out)
	}
}

// printPlaces writes each place at which a policy is named.
func (r *result) printPlaces(out io.Writer) {
	list := func(title string, places []place) {
		fmt.Fprintf(out, "\n%s: %d\n", title, len(places))
		for _, at := range places {
			fmt.Fprintf(out, "  %s:%d: %s\n", at.file, at.line, at.what)
		}
	}
	list("conditionals on the policy", r.conditionals)
	list("policies named in clients", r.clients)
	for _, name := range slices.Sorted(maps.Keys(r.sources)) {
		list("sources that name "+name, r.sources[name])
	}
}

// wrap joins words to lines of at most the width, as far as the words allow. No words are a dash.
func wrap(words []string, width int) []string {
	if len(words) == 0 {
		return []string{"-"}
	}
	found := []string{""}
	for i, word := range words {
		if i < len(words)-1 && !strings.HasSuffix(word, ":") {
			word += ","
		}
		last := &found[len(found)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) > width:
			found = append(found, word)
		default:
			*last += " " + word
		}
	}
	return found
}
