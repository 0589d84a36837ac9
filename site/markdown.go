package main

import (
	"fmt"
	"regexp"
	"strings"
)

// heading of a document.
type heading struct {
	level int
	text  string
	// slug is the anchor that GitHub gives it in its file, unique there.
	slug string
}

// line of a document, without its end.
type line struct {
	text string
	// code: within a fenced block, or a fence itself.
	code    bool
	heading *heading
}

var (
	headingLine = regexp.MustCompile(`^(#{1,6}) +(.+?)(?: +#+)?$`)
	fence       = regexp.MustCompile("^ *(```+|~~~+)")
	notInSlug   = regexp.MustCompile(`[^\p{L}\p{M}\p{N}\p{Pc} -]`)
	// linkText is the text of a link in a heading, in place of the link.
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	comment  = regexp.MustCompile(`(?s)<!--.*?-->\n?`)
)

// slugs gives the anchors of headings, as GitHub and the site's generator do.
type slugs map[string]int

func (s slugs) of(text string) string {
	text = strings.ReplaceAll(linkText.ReplaceAllString(text, "$1"), "`", "")
	slug := strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
	n, seen := s[slug]
	s[slug] = n + 1
	if seen {
		return fmt.Sprintf("%s-%d", slug, n)
	}
	return slug
}

// parse splits a document into lines. Comments of HTML are left out.
func parse(text string) []line {
	var lines []line
	anchors, open := slugs{}, ""
	for _, text := range strings.Split(strings.TrimRight(comment.ReplaceAllString(text, ""), "\n"), "\n") {
		l := line{text: text, code: open != ""}
		if mark := fence.FindStringSubmatch(text); mark != nil {
			switch l.code = true; {
			case open == "":
				open = mark[1]
			case strings.HasPrefix(mark[1], open) && strings.TrimSpace(text) == mark[1]:
				open = ""
			}
		} else if found := headingLine.FindStringSubmatch(text); found != nil && !l.code {
			l.heading = &heading{len(found[1]), found[2], anchors.of(found[2])}
		}
		lines = append(lines, l)
	}
	return lines
}

// link of a document: an image, or a link to a target.
var link = regexp.MustCompile(`(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]*)\)`)

// unread are forms of links that link does not find.
var unread = regexp.MustCompile(`(?m)^ *\[[^\]]+\]: |\]\(<|\]\([^)\n]* "`)

// relink replaces the target of each link in prose by what to returns for it; image says that it is one. Code is left
// as it is.
func relink(lines []line, to func(target string, image bool) string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(lines); {
		j := i
		for j < len(lines) && lines[j].code == lines[i].code {
			j++
		}
		part := make([]string, 0, j-i)
		for _, l := range lines[i:j] {
			part = append(part, l.text)
		}
		text := strings.Join(part, "\n") + "\n"
		if !lines[i].code {
			masked := mask(text)
			if at := unread.FindString(masked); at != "" {
				return "", fmt.Errorf("a link of the form %q: want [text](target)", at)
			}
			var changed strings.Builder
			end := 0
			for _, at := range link.FindAllStringSubmatchIndex(masked, -1) {
				changed.WriteString(text[end:at[6]])
				changed.WriteString(to(text[at[6]:at[7]], at[3] > at[2]))
				end = at[7]
			}
			text = changed.String() + text[end:]
		}
		out.WriteString(text)
		i = j
	}
	return out.String(), nil
}

// mask replaces what is within code spans, so that no link is found there. The length stays.
func mask(text string) string {
	out := []byte(text)
	for i := 0; i < len(out); {
		if out[i] != '`' {
			i++
			continue
		}
		run := i
		for run < len(out) && out[run] == '`' {
			run++
		}
		marks := text[i:run]
		end := closing(text, run, marks)
		if end < 0 {
			i = run
			continue
		}
		for at := run; at < end; at++ {
			if out[at] != '\n' {
				out[at] = 'x'
			}
		}
		i = end + len(marks)
	}
	return string(out)
}

// closing is where a code span ends that begins before from: at a run of as many marks, within the paragraph.
func closing(text string, from int, marks string) int {
	for at := from; at < len(text); at++ {
		if strings.HasPrefix(text[at:], "\n\n") {
			return -1
		}
		if text[at] != '`' {
			continue
		}
		run := at
		for run < len(text) && text[run] == '`' {
			run++
		}
		if run-at == len(marks) {
			return at
		}
		at = run - 1
	}
	return -1
}
