package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"strings"
)

// lines returns the number of lines of a text, the empty ones among them.
func lines(text []byte) int {
	count := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		count++
	}
	return count
}

// lines returns the number of lines of the hand-written files of the package, comments and empty lines among them.
func (p *pkg) lines() int {
	total := 0
	for _, file := range p.handWritten() {
		total += lines(file.text)
	}
	return total
}

// commentLines returns the number of lines of the hand-written files that hold a comment and no code.
func (p *pkg) commentLines() int {
	total := 0
	for _, file := range p.handWritten() {
		total += commentLines(file.text)
	}
	return total
}

func commentLines(text []byte) int {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(text))
	var tokens scanner.Scanner
	tokens.Init(file, text, nil, scanner.ScanComments)
	comment, code := map[int]bool{}, map[int]bool{}
	for {
		at, kind, literal := tokens.Scan()
		if kind == token.EOF {
			break
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue // inserted by the scanner
		}
		holds := code
		if kind == token.COMMENT {
			holds = comment
		}
		first := file.Line(at)
		for line := first; line <= first+strings.Count(literal, "\n"); line++ {
			holds[line] = true
		}
	}
	count := 0
	for line := range comment {
		if !code[line] {
			count++
		}
	}
	return count
}

// function is a function of the module.
type function struct {
	name, file  string
	line, lines int
}

func (f function) String() string {
	return fmt.Sprintf("%s:%d %s, %d lines", f.file, f.line, f.name, f.lines)
}

// functions returns the hand-written functions of the package with their lines from func to the closing brace,
// comments and empty lines among them. A function literal belongs to the function around it, if there is one.
func (t *tree) functions(p *pkg) []function {
	var found []function
	for _, file := range p.handWritten() {
		add := func(name string, node ast.Node) {
			start, end := t.fset.Position(node.Pos()), t.fset.Position(node.End())
			found = append(found, function{name, file.name, start.Line, end.Line - start.Line + 1})
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				// The node's position is that of func: the comment above does not count.
				add(node.Name.Name, node)
				return false
			case *ast.FuncLit:
				add("a function literal", node)
				return false
			}
			return true
		})
	}
	return found
}

// blockFields returns the number of fields of the struct of what one block needs, and where it is. An embedded struct
// is one field. If several of the names are declared, it is the largest of them.
func (t *tree) blockFields() (fields int, where string, err error) {
	var sought []string
	for _, declared := range t.layout.block {
		fields = -1
		for _, name := range declared.names {
			sought = append(sought, declared.dir+"."+name)
			if count, at := t.structFields(declared.dir, name); count > fields {
				fields, where = count, at
			}
		}
		if fields >= 0 {
			return fields, where, nil
		}
	}
	return 0, "", fmt.Errorf("none of the structs %s is declared", strings.Join(sought, ", "))
}

// structFields returns the number of fields of a struct and where it is declared, or -1 if there is none.
func (t *tree) structFields(dir, name string) (fields int, where string) {
	p := t.at(dir)
	if p == nil {
		return -1, ""
	}
	fields = -1
	for _, file := range p.handWritten() {
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			spec, is := node.(*ast.TypeSpec)
			if !is || spec.Name.Name != name {
				return true
			}
			if structure, is := spec.Type.(*ast.StructType); is {
				fields, where = 0, fmt.Sprintf("%s:%d %s", file.name, t.fset.Position(spec.Pos()).Line, name)
				for _, field := range structure.Fields.List {
					fields += max(1, len(field.Names))
				}
			}
			return false
		})
	}
	return fields, where
}
