// Package apply makes the timers of an account what a file states (x/timers/docs/use/apply.md).
package apply

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Entry is what a file states of one timer: a spec, or the words and flags of the command that would schedule it.
type Entry struct {
	Name string
	// Line is where the file states it.
	Line int
	// Spec is the spec as YAML; nil if it is stated in words.
	Spec []byte
	// Does are the words that say what it does, and Flags what else is stated.
	Does  []string
	Flags []Flag
}

// Flag is a flag of the command, with its text; one that may be repeated comes several times.
type Flag struct {
	Name, Text string
	Line       int
}

// At names an entry with its place in the file.
func (e *Entry) At() string { return fmt.Sprintf("%s (line %d)", e.Name, e.Line) }

const (
	keyTimers = "timers"
	keyDoes   = "does"
	keyName   = "name"
)

// Parse reads a file: YAML documents, each of which is one spec with a name, or holds timers by their names.
func Parse(text []byte) (entries []Entry, err error) {
	lines := map[string]int{}
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("it is no YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
			continue
		}
		found, err := ofDocument(document.Content[0])
		if err != nil {
			return nil, err
		}
		for _, entry := range found {
			if before, twice := lines[entry.Name]; twice {
				return nil, fmt.Errorf("lines %d and %d both state timer %s: want one of them", before, entry.Line, entry.Name)
			}
			lines[entry.Name] = entry.Line
		}
		entries = append(entries, found...)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("it states no timers: want %s with a name and what is stated of each, or specs as query timers timer --output yaml prints them; %q states that there are none",
			keyTimers, keyTimers+": {}")
	}
	return entries, nil
}

// ofDocument reads one document.
func ofDocument(node *yaml.Node) ([]Entry, error) {
	if node.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want %s, with a name and what is stated of each", node.Line, keyTimers)
	}
	timers := valueOf(node, keyTimers)
	if timers == nil {
		if !isSpec(node) {
			return nil, fmt.Errorf("line %d: it has neither %s nor the fields of a spec, such as trigger and call", node.Line, keyTimers)
		}
		name := valueOf(node, keyName)
		if name == nil || name.Value == "" {
			return nil, fmt.Errorf("line %d: the spec has no name: a file knows timers by their names", node.Line)
		}
		entry, err := ofSpec(name.Value, node)
		return []Entry{entry}, err
	}
	if len(node.Content) != 2 {
		return nil, fmt.Errorf("line %d: %q is stated beside %s: want nothing but that", node.Line, other(node, keyTimers), keyTimers)
	}
	if timers.Tag == "!!null" || timers.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want the names of timers below %s, with what is stated of each; {} states that there are none", timers.Line, keyTimers)
	}
	entries := []Entry{}
	for i := 0; i+1 < len(timers.Content); i += 2 {
		entry, err := ofTimer(timers.Content[i], timers.Content[i+1])
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// ofTimer reads a timer below its name.
func ofTimer(name, stated *yaml.Node) (Entry, error) {
	if stated.Kind != yaml.MappingNode {
		return Entry{}, fmt.Errorf("line %d: timer %.80q: want what it does and when, such as %s and every", name.Line, name.Value, keyDoes)
	}
	if isSpec(stated) {
		return ofSpec(name.Value, stated)
	}
	entry := Entry{Name: name.Value, Line: name.Line}
	if err := checkName(entry); err != nil {
		return entry, err
	}
	for i := 0; i+1 < len(stated.Content); i += 2 {
		key, value := stated.Content[i], stated.Content[i+1]
		texts, err := textsOf(key.Value, value)
		if err != nil {
			return entry, err
		}
		for _, f := range entry.Flags {
			if f.Name == key.Value {
				return entry, fmt.Errorf("line %d: timer %s states %s twice, the first time in line %d", key.Line, entry.Name, key.Value, f.Line)
			}
		}
		switch {
		case key.Value != keyDoes:
			for _, text := range texts {
				entry.Flags = append(entry.Flags, Flag{key.Value, text, key.Line})
			}
		case value.Kind == yaml.ScalarNode:
			entry.Does = strings.Fields(value.Value)
		default:
			entry.Does = texts
		}
	}
	return entry, nil
}

// textsOf are the texts of a value: of one, or of a list.
func textsOf(key string, value *yaml.Node) (texts []string, err error) {
	nodes := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		nodes = value.Content
	}
	for _, node := range nodes {
		if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
			return nil, fmt.Errorf("line %d: %s: want a text, a number or a list of them", node.Line, key)
		}
		texts = append(texts, node.Value)
	}
	return texts, nil
}

// ofSpec reads a spec of a name.
func ofSpec(name string, node *yaml.Node) (Entry, error) {
	entry := Entry{Name: name, Line: node.Line}
	if stated := valueOf(node, keyName); stated != nil && stated.Value != name {
		return entry, fmt.Errorf("line %d: timer %.80q has a spec with the name %.80q: want the same", stated.Line, name, stated.Value)
	}
	text, err := yaml.Marshal(node)
	if err != nil {
		return entry, fmt.Errorf("line %d: %w", node.Line, err)
	}
	entry.Spec = text
	return entry, checkName(entry)
}

// checkName refuses what no timer can be called.
func checkName(e Entry) error {
	if e.Name == "" {
		return fmt.Errorf("line %d: a timer has no name", e.Line)
	}
	if err := types.CheckName(e.Name); err != nil {
		return fmt.Errorf("line %d: %w", e.Line, err)
	}
	return nil
}

// isSpec tells the fields of a spec from flags.
func isSpec(node *yaml.Node) bool {
	return valueOf(node, "trigger") != nil || valueOf(node, "call") != nil
}

// valueOf is the value of a key; nil if there is none.
func valueOf(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// other is the first key that is not one.
func other(node *yaml.Node, key string) string {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value != key {
			return node.Content[i].Value
		}
	}
	return key
}
