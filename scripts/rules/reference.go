package main

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// sentence is what the list decides on: a sentence of a paragraph or of an item, a row of a table, or a block of code.
type sentence struct {
	section, title string // 1.4, Trigger
	text           string // in one line, without marks of bold, code and links
	line           int    // where it begins
}

// digest changes with each word and sign of the sentence, not with where its lines break.
func (s sentence) digest() string {
	sum := sha256.Sum256([]byte(s.text))
	return hex.EncodeToString(sum[:3])
}

var (
	heading = regexp.MustCompile(`^#+ ([0-9]+(?:\.[0-9]+)*)\.? (.*)$`)
	item    = regexp.MustCompile(`^\s*(?:-|[0-9]+\.) `)
	link    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	border  = regexp.MustCompile(`^\|[-:| ]+$`)
	marks   = strings.NewReplacer("**", "", "`", "")
	// abbreviations end with a full stop that ends no sentence.
	abbreviations = []string{"e.g.", "i.e.", "cf.", "vs."}
)

// splitter collects the sentences of a document.
type splitter struct {
	wholeTables    []string
	section, title string
	found          []sentence
	block          []string // lines of the paragraph, item, table or code that is being read
	from           int      // line of the first of them
	kind           kind
}

type kind int

const (
	prose kind = iota
	table
	code
)

// sentences returns the sentences of the numbered sections of a document in Markdown, in its order.
func sentences(document string, wholeTables []string) []sentence {
	s := &splitter{wholeTables: wholeTables}
	for i, line := range strings.Split(document, "\n") {
		s.read(i+1, line)
	}
	s.end()
	return s.found
}

func (s *splitter) read(number int, line string) {
	trimmed := strings.TrimSpace(line)
	if strings.HasPrefix(trimmed, "```") {
		opens := s.kind != code
		s.end()
		if opens {
			s.kind, s.from = code, number
		}
		return
	}
	if s.kind == code {
		s.block = append(s.block, line)
		return
	}
	switch {
	case strings.HasPrefix(line, "#"):
		s.end()
		s.section, s.title = "", ""
		if match := heading.FindStringSubmatch(line); match != nil {
			s.section, s.title = match[1], match[2]
		}
	case trimmed == "", strings.HasPrefix(trimmed, "<!--"):
		s.end()
	case strings.HasPrefix(trimmed, "|"):
		s.add(table, number, trimmed)
	case item.MatchString(line):
		s.end()
		s.add(prose, number, item.ReplaceAllString(line, ""))
	default:
		s.add(prose, number, trimmed)
	}
}

// add appends a line to the block, or begins one.
func (s *splitter) add(kind kind, number int, line string) {
	if kind != s.kind {
		s.end()
		s.kind = kind
	}
	if len(s.block) == 0 {
		s.from = number
	}
	s.block = append(s.block, line)
}

// end splits the block that has been read.
func (s *splitter) end() {
	block, kind := s.block, s.kind
	s.block, s.kind = nil, prose
	if len(block) == 0 || s.section == "" {
		return
	}
	switch {
	case kind == table && !slices.Contains(s.wholeTables, s.section):
		for i, row := range block {
			// The first two rows are the head and its border.
			if i >= 2 {
				s.keep(s.from+i, cells(row))
			}
		}
	case kind == table:
		var rows []string
		for _, row := range block {
			if !border.MatchString(row) {
				rows = append(rows, cells(row))
			}
		}
		s.keep(s.from, strings.Join(rows, " / "))
	case kind == code:
		s.keep(s.from, strings.Join(block, " "))
	default:
		begin := 0
		for _, text := range split(strings.Join(block, " ")) {
			s.keep(s.from+lineOf(block, begin), text)
			begin += len(text) + 1
		}
	}
}

// lineOf is the line in which a place lies, of the joined lines of a block.
func lineOf(block []string, place int) (line int) {
	for end := len(block[0]); end < place; end += 1 + len(block[line]) {
		line++
	}
	return line
}

func (s *splitter) keep(line int, text string) {
	text = strings.Join(strings.Fields(plain(text)), " ")
	if text != "" {
		s.found = append(s.found, sentence{section: s.section, title: s.title, text: text, line: line})
	}
}

// plain returns a text without marks of bold and code, and with the texts of its links.
func plain(text string) string { return marks.Replace(link.ReplaceAllString(text, "$1")) }

// cells returns a row without its outer bars.
func cells(row string) string { return strings.Trim(row, "| ") }

// split splits prose into sentences. A sentence ends with a full stop, a question mark or an exclamation mark outside
// of code, before a space and what can begin a sentence: no lower-case letter.
func split(text string) []string {
	var found []string
	begin, inCode := 0, false
	for i, r := range text {
		if r == '`' {
			inCode = !inCode
		}
		if inCode || !strings.ContainsRune(".?!", r) {
			continue
		}
		rest := text[i+1:]
		after := strings.TrimLeft(rest, `)"`)
		if !strings.HasPrefix(after, " ") || unicode.IsLower([]rune(after)[1]) || abbreviated(text[begin:i+1]) {
			continue
		}
		end := len(text) - len(after)
		found = append(found, text[begin:end])
		begin = end + 1
	}
	return append(found, text[begin:])
}

// abbreviated tells whether a text ends with an abbreviation.
func abbreviated(text string) bool {
	words := strings.Fields(text)
	return slices.Contains(abbreviations, strings.TrimLeft(words[len(words)-1], "("))
}
