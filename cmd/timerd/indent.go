package main

import "io"

// indenter writes JSON without white space as json.Indent would with two spaces, piece by piece: it keeps no more than how
// deep it is.
type indenter struct {
	to    io.Writer
	depth int
	// opened: the last byte opened an object or array, whose first member is to come.
	opened bool
	// quoted and escaped: within a string, after a backslash in it.
	quoted, escaped bool
	line            []byte
}

// Write implements io.Writer.
func (x *indenter) Write(p []byte) (int, error) {
	x.line = x.line[:0]
	for _, c := range p {
		x.add(c)
	}
	if _, err := x.to.Write(x.line); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (x *indenter) add(c byte) {
	if x.quoted {
		x.line = append(x.line, c)
		x.quoted = x.escaped || c != '"'
		x.escaped = !x.escaped && c == '\\'
		return
	}
	closes := c == '}' || c == ']'
	if closes {
		x.depth--
	}
	// An empty object or array stays on its line.
	if x.opened != closes {
		x.newline()
	}
	x.opened = c == '{' || c == '['
	x.line = append(x.line, c)
	switch c {
	case '{', '[':
		x.depth++
	case '"':
		x.quoted = true
	case ',':
		x.newline()
	case ':':
		x.line = append(x.line, ' ')
	}
}

func (x *indenter) newline() {
	x.line = append(x.line, '\n')
	for range x.depth {
		x.line = append(x.line, ' ', ' ')
	}
}
