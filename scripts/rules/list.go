package main

import (
	"fmt"
	"regexp"
	"strings"
)

// entry is a line of the list. It decides on one sentence.
type entry struct {
	section, name string // name is empty if the sentence states no rule
	digest        string
	beginning     string // of the sentence, enough to tell it from the others of its section
	undecided     bool   // the sentence is new or has changed, and nobody has read it with its tests yet
	untested      bool
	scenarios     []string // scenarios that show the rule
	line          int
}

// id names a rule in tags.
func (e *entry) id() string {
	if e.name == "" {
		return e.section
	}
	return e.section + "-" + e.name
}

// mark is what stands before the id.
func (e *entry) mark() string {
	switch {
	case e.undecided:
		return "?"
	case e.untested:
		return "!"
	}
	return ""
}

// String returns the line of the entry, without its scenarios.
func (e *entry) String() string {
	return fmt.Sprintf("%s%s %s %s", e.mark(), e.id(), e.digest, e.beginning)
}

var (
	entryLine    = regexp.MustCompile(`^([?!]?)([0-9]+(?:\.[0-9]+)*)(?:-([a-z0-9]+(?:-[a-z0-9]+)*))? ([0-9a-f]{6}) (.+)$`)
	scenarioLine = regexp.MustCompile(`^\s+scenario ([a-z0-9_]+)$`)
)

// parseList reads a list, and the lines of comments that it begins with.
func parseList(text string) (head []string, entries []*entry, err error) {
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") {
			if len(entries) == 0 && !strings.HasPrefix(line, "## ") {
				head = append(head, line)
			}
			continue
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		if match := scenarioLine.FindStringSubmatch(line); match != nil && len(entries) > 0 {
			last := entries[len(entries)-1]
			last.scenarios = append(last.scenarios, match[1])
			continue
		}
		match := entryLine.FindStringSubmatch(line)
		if match == nil {
			return nil, nil, fmt.Errorf("%d: want [?|!]SECTION[-NAME] DIGEST BEGINNING, or an indented scenario NAME: %s", i+1, line)
		}
		entries = append(entries, &entry{
			section: match[2], name: match[3], digest: match[4], beginning: match[5],
			undecided: match[1] == "?", untested: match[1] == "!", line: i + 1,
		})
	}
	return head, entries, nil
}
