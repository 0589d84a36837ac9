package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
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

// blockFields returns the number of fields of the struct of what one block needs, and where it is. The fields of embedded
// structs of the tree are counted. If several of the names are declared, it is the largest of them.
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
	found := t.declared(dir, name)
	if found == nil {
		return -1, ""
	}
	structure, is := found.Type().Underlying().(*types.Struct)
	if !is {
		return -1, ""
	}
	at := t.fset.Position(found.Pos())
	return t.fieldsOf(structure), fmt.Sprintf("%s:%d %s", t.nameOf(at.Filename, dir), at.Line, name)
}

// declared is a type of the package in a directory; nil if there is none.
func (t *tree) declared(dir, name string) types.Object {
	p := t.at(dir)
	if p == nil || p.types == nil {
		return nil
	}
	found, is := p.types.Scope().Lookup(name).(*types.TypeName)
	if !is {
		return nil
	}
	return found
}

// nameOf is the path of a file of a directory, from the root.
func (t *tree) nameOf(file, dir string) string { return dir + "/" + path.Base(filepath.ToSlash(file)) }

// fieldsOf counts the fields of a struct. One that is embedded counts as its own fields if it is a struct of the tree.
func (t *tree) fieldsOf(structure *types.Struct) (fields int) {
	for i := range structure.NumFields() {
		field := structure.Field(i)
		if inner := t.structOf(field.Type()); field.Embedded() && inner != nil {
			fields += t.fieldsOf(inner)
		} else {
			fields++
		}
	}
	return fields
}

// stating are the structs of the module that have a field of a type, generated ones among them.
func (t *tree) stating(sought types.Object) (found []string) {
	for _, p := range t.inModule() {
		if p.types == nil {
			continue
		}
		for _, name := range p.types.Scope().Names() {
			structure, is := p.types.Scope().Lookup(name).Type().Underlying().(*types.Struct)
			if !is {
				continue
			}
			for i := range structure.NumFields() {
				if types.Identical(structure.Field(i).Type(), sought.Type()) {
					found = append(found, p.dir+"."+name)
				}
			}
		}
	}
	return found
}

// parametersOf counts the fields of a struct, and instead of one that is a struct of the tree, the fields of that.
func (t *tree) parametersOf(structure *types.Struct) (count int) {
	for i := range structure.NumFields() {
		if inner := t.structOf(structure.Field(i).Type()); inner != nil {
			count += t.parametersOf(inner)
		} else {
			count++
		}
	}
	return count
}

// structOf is the struct behind a type that is declared in the tree, or behind a pointer to it; nil for others.
func (t *tree) structOf(of types.Type) *types.Struct {
	if pointer, is := of.(*types.Pointer); is {
		of = pointer.Elem()
	}
	named, is := types.Unalias(of).(*types.Named)
	if !is || named.Obj().Pkg() == nil || t.byPath[named.Obj().Pkg().Path()] == nil {
		return nil
	}
	structure, _ := named.Underlying().(*types.Struct)
	return structure
}

// core returns how many hand-written lines and packages the module has without what no block runs, and its floors: how many
// of these packages stand on each other at most.
func (t *tree) core() (lines, packages, floors int) {
	height := map[string]int{}
	var heightOf func(p *pkg) int
	heightOf = func(p *pkg) int {
		if height[p.path] == 0 {
			highest := 0
			for _, imported := range p.imports() {
				if below := t.byPath[imported]; below != nil && within(below.dir, t.layout.module) && !withinAny(below.dir, t.layout.beside) {
					highest = max(highest, heightOf(below))
				}
			}
			height[p.path] = highest + 1
		}
		return height[p.path]
	}
	for _, p := range t.inModule() {
		if withinAny(p.dir, t.layout.beside) {
			continue
		}
		packages++
		floors = max(floors, heightOf(p))
		for _, file := range p.handWritten() {
			lines += strings.Count(string(file.text), "\n")
		}
	}
	return lines, packages, floors
}
