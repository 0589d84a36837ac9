package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// leastWords is how many words of a sentence the list repeats at least, for its readers.
const leastWords = 7

// coverage is all that was read.
type coverage struct {
	layout    layout
	sentences []sentence
	head      []string
	entries   []*entry
	tags      []tag
	// golden holds the scenarios that have golden output.
	golden map[string]bool
}

// load reads the repository. A list that does not exist is empty.
func load(root string, layout layout) (*coverage, error) {
	c := &coverage{layout: layout, golden: map[string]bool{}}
	read := func(name string) (string, error) {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		return string(raw), err
	}
	reference, err := read(layout.reference)
	if err != nil {
		return nil, err
	}
	c.sentences = sentences(reference, layout.wholeTables)
	list, err := read(layout.list)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if c.head, c.entries, err = parseList(list); err != nil {
		return nil, fmt.Errorf("%s:%w", layout.list, err)
	}
	if c.tags, err = readTags(root, layout.tests); err != nil {
		return nil, err
	}
	golden, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(layout.scenarios), "*.golden.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, file := range golden {
		c.golden[strings.TrimSuffix(filepath.Base(file), ".golden.jsonl")] = true
	}
	return c, nil
}

// match pairs sentences with entries: an entry belongs to the sentences of its section that begin as it says.
func (c *coverage) match() (ofSentence [][]*entry, ofEntry map[*entry][]int) {
	ofSentence, ofEntry = make([][]*entry, len(c.sentences)), map[*entry][]int{}
	for i, s := range c.sentences {
		for _, e := range c.entries {
			if e.section == s.section && strings.HasPrefix(s.text, e.beginning) {
				ofSentence[i] = append(ofSentence[i], e)
				ofEntry[e] = append(ofEntry[e], i)
			}
		}
	}
	return ofSentence, ofEntry
}

// problems collects what is wrong, each with the line to edit.
type problems []string

func (p *problems) at(file string, line int, format string, arguments ...any) {
	*p = append(*p, fmt.Sprintf("%s:%d: %s", file, line, fmt.Sprintf(format, arguments...)))
}

// check returns what is wrong.
func (c *coverage) check() []string {
	var found problems
	tests := c.testsByRule()
	ofSentence, ofEntry := c.match()
	c.checkSentences(&found, ofSentence, tests)
	for _, e := range c.entries {
		if n := len(ofEntry[e]); n == 0 {
			found.at(c.layout.list, e.line, "no sentence of section %s of %s begins %q any more: "+
				"give its id to the sentence that took its place, or delete the line", e.section, c.layout.reference, e.beginning)
		} else if n > 1 {
			found.at(c.layout.list, e.line, "%d sentences of section %s begin so: give more words", n, e.section)
		}
		if e.undecided {
			found.at(c.layout.list, e.line, "undecided: read the sentence with its tests (%s), "+
				"give it an id if it is a rule, and remove the ?", places(tests[e.id()]))
		}
		for _, scenario := range e.scenarios {
			if !c.golden[scenario] {
				found.at(c.layout.list, e.line, "no scenario %s with golden output in %s", scenario, c.layout.scenarios)
			}
		}
		if e.name == "" && len(e.scenarios) > 0 {
			found.at(c.layout.list, e.line, "a sentence that states no rule has no scenario")
		}
	}
	c.checkRules(&found, tests)
	return found
}

// checkSentences holds that each sentence has one entry, which knows it as it is.
func (c *coverage) checkSentences(found *problems, ofSentence [][]*entry, tests map[string][]tag) {
	after := 0
	for i, s := range c.sentences {
		entries := ofSentence[i]
		if len(entries) == 0 {
			found.at(c.layout.reference, s.line, "this sentence is new: %.300q. Add a line for it after %s:%d, as a rule: "+
				"%s-NAME %s %s; or as none, without -NAME", s.text, c.layout.list, after, s.section, s.digest(), c.beginning(i))
			continue
		}
		e := entries[0]
		after = e.line
		if len(entries) > 1 {
			found.at(c.layout.list, entries[1].line, "the sentence %q has another line, %d", s.text, e.line)
		}
		if e.digest != s.digest() && !e.undecided {
			found.at(c.layout.list, e.line, "the sentence of %s in %s:%d has changed: %.300q. "+
				"Read it with its tests (%s), then write %s in place of %s",
				e.id(), c.layout.reference, s.line, s.text, places(tests[e.id()]), s.digest(), e.digest)
		}
	}
}

// rule is an id of the list with all its entries: sentences that state one rule together share it.
type rule struct {
	id        string
	entries   []*entry
	untested  bool
	scenarios []string
}

// rules returns the rules in the order of the list.
func (c *coverage) rules() []*rule {
	var found []*rule
	byID := map[string]*rule{}
	for _, e := range c.entries {
		if e.name == "" {
			continue
		}
		r := byID[e.id()]
		if r == nil {
			r = &rule{id: e.id()}
			byID[e.id()] = r
			found = append(found, r)
		}
		r.entries = append(r.entries, e)
		r.untested = r.untested || e.untested
		r.scenarios = append(r.scenarios, e.scenarios...)
	}
	return found
}

// checkRules holds that each rule has a test, and that each tag names a rule.
func (c *coverage) checkRules(found *problems, tests map[string][]tag) {
	known := map[string]bool{}
	untested := 0
	for _, r := range c.rules() {
		known[r.id] = true
		line := r.entries[0].line
		shown := len(tests[r.id]) + len(r.scenarios)
		if r.untested {
			untested++
		}
		switch {
		case r.untested && shown > 0:
			found.at(c.layout.list, line, "%s has a test (%s): remove the !", r.id, places(tests[r.id]))
		case !r.untested && shown == 0:
			found.at(c.layout.list, line, "no test shows the rule %s: write one, with // Rule: %s in its doc comment", r.id, r.id)
		}
	}
	if untested > c.layout.untested {
		found.at(c.layout.list, 1, "%d rules have no test, at most %d may", untested, c.layout.untested)
	}
	for _, t := range c.tags {
		if t.test == "" {
			found.at(t.file, t.line, "a tag belongs in the doc comment of a test: %s", t.rule)
		} else if !known[t.rule] {
			found.at(t.file, t.line, "%s names the rule %q, which is not in %s", t.test, t.rule, c.layout.list)
		}
	}
}

// testsByRule returns the tags of each rule that are at a test.
func (c *coverage) testsByRule() map[string][]tag {
	found := map[string][]tag{}
	for _, t := range c.tags {
		if t.test != "" {
			found[t.rule] = append(found[t.rule], t)
		}
	}
	return found
}

// places names tests by file, line and name.
func places(tags []tag) string {
	if len(tags) == 0 {
		return "none"
	}
	var names []string
	for _, t := range tags {
		names = append(names, fmt.Sprintf("%s:%d %s", t.file, t.line, t.test))
	}
	return strings.Join(names, ", ")
}

// beginning returns as many words of a sentence as tell it from the others of its section.
func (c *coverage) beginning(index int) string {
	s := c.sentences[index]
	words := strings.Fields(s.text)
	for n := min(leastWords, len(words)); n < len(words); n++ {
		text := strings.Join(words[:n], " ")
		if !slices.ContainsFunc(c.sentences, func(o sentence) bool {
			return o != s && o.section == s.section && strings.HasPrefix(o.text, text)
		}) {
			return text
		}
	}
	return s.text
}

// rewritten returns the list in the order of the reference. New and changed sentences are undecided. Entries without a
// sentence stand at the end of their section.
func (c *coverage) rewritten() string {
	ofSentence, ofEntry := c.match()
	var out strings.Builder
	for _, line := range c.head {
		fmt.Fprintln(&out, line)
	}
	gone := func(section string) {
		for _, e := range c.entries {
			if e.section == section && len(ofEntry[e]) == 0 {
				e.write(&out)
			}
		}
	}
	section := ""
	for i, s := range c.sentences {
		if s.section != section {
			gone(section)
			section = s.section
			fmt.Fprintf(&out, "\n## %s %s\n", s.section, s.title)
		}
		e := &entry{section: s.section, undecided: true}
		if len(ofSentence[i]) == 1 {
			known := *ofSentence[i][0]
			known.undecided = known.undecided || known.digest != s.digest()
			e = &known
		}
		e.digest, e.beginning = s.digest(), c.beginning(i)
		e.write(&out)
	}
	gone(section)
	return out.String()
}

func (e *entry) write(out io.Writer) {
	fmt.Fprintln(out, e)
	for _, scenario := range e.scenarios {
		fmt.Fprintln(out, "  scenario", scenario)
	}
}

// row is a line of the table.
type row struct {
	section, title                     string
	sentences, rules, tagged, untested int
}

// table returns a row for each section, and one for all.
func (c *coverage) table(tests map[string][]tag) []*row {
	var rows []*row
	bySection := map[string]*row{}
	total := &row{section: "all"}
	for _, s := range c.sentences {
		r := bySection[s.section]
		if r == nil {
			r = &row{section: s.section, title: s.title}
			bySection[s.section] = r
			rows = append(rows, r)
		}
		r.sentences++
		total.sentences++
	}
	for _, one := range c.rules() {
		for _, r := range []*row{bySection[one.entries[0].section], total} {
			if r == nil {
				continue // a section that is gone
			}
			r.rules++
			r.tagged += len(tests[one.id]) + len(one.scenarios)
			if one.untested {
				r.untested++
			}
		}
	}
	return append(rows, total)
}

// print writes the table of sections and the rules without a test, and with verbose the tests of each rule.
func (c *coverage) print(out io.Writer, verbose bool) {
	tests := c.testsByRule()
	fmt.Fprintf(out, "%-6s %9s %6s %6s %9s\n", "", "sentences", "rules", "tests", "untested")
	for _, r := range c.table(tests) {
		line := fmt.Sprintf("%-6s %9d %6d %6d %9d  %s", r.section, r.sentences, r.rules, r.tagged, r.untested, r.title)
		fmt.Fprintln(out, strings.TrimSpace(line))
	}
	for _, r := range c.rules() {
		if r.untested {
			fmt.Fprintf(out, "untested: %s\n", r.id)
		}
	}
	if !verbose {
		return
	}
	for _, r := range c.rules() {
		fmt.Fprintln(out, r.id)
		for _, t := range tests[r.id] {
			fmt.Fprintf(out, "  %s:%d %s\n", t.file, t.line, t.test)
		}
		for _, scenario := range r.scenarios {
			fmt.Fprintf(out, "  %s/%s.json\n", c.layout.scenarios, scenario)
		}
	}
}
