package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one change of a source file.
type mutant struct {
	// file, and the bytes of it that are replaced.
	file       string
	from, to   int
	with       string
	line       int
	kind, text string
}

// swaps are the operators that stand in for others: each changes a bound, an outcome or a sum.
var swaps = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.INC: {token.DEC}, token.DEC: {token.INC},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
}

// zeros are the values of results that a mutant returns in place of a computed one.
var zeros = map[string]string{
	"bool": "false", "int": "0", "int64": "0", "uint32": "0", "uint64": "0", "string": `""`, "error": "nil",
}

// mutantsOf lists the mutants of the hand-written sources of a directory, in the order of their places.
func mutantsOf(dir string) ([]mutant, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") || strings.HasSuffix(path, ".pb.gw.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found, err := mutantsIn(path, source)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// finder collects the mutants of one file.
type finder struct {
	path   string
	source []byte
	files  *token.FileSet
	found  []mutant
}

func mutantsIn(path string, source []byte) ([]mutant, error) {
	f := &finder{path: path, source: source, files: token.NewFileSet()}
	parsed, err := parser.ParseFile(f.files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, declaration := range parsed.Decls {
		if function, is := declaration.(*ast.FuncDecl); is && function.Body != nil {
			f.function(function.Type, function.Body)
		}
	}
	return f.found, nil
}

// function collects the mutants of a function's body.
func (f *finder) function(signature *ast.FuncType, body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.function(n.Type, n.Body)
			return false
		case *ast.BinaryExpr:
			f.swap(n.OpPos, n.Op)
		case *ast.IncDecStmt:
			f.swap(n.TokPos, n.Tok)
		case *ast.AssignStmt:
			f.swap(n.TokPos, n.Tok)
			if n.Tok == token.ASSIGN {
				f.replace("removed", n, "")
			}
		case *ast.ExprStmt:
			f.replace("removed", n, "")
		case *ast.IfStmt:
			f.replace("negated", n.Cond, "!("+f.of(n.Cond)+")")
		case *ast.ReturnStmt:
			f.zero(signature, n)
		}
		return true
	})
}

func (f *finder) swap(at token.Pos, operator token.Token) {
	for _, other := range swaps[operator] {
		f.add("operator", at, at+token.Pos(len(operator.String())), other.String())
	}
}

func (f *finder) replace(kind string, n ast.Node, with string) { f.add(kind, n.Pos(), n.End(), with) }

// zero returns the zero value in place of each result of a simple type.
func (f *finder) zero(signature *ast.FuncType, statement *ast.ReturnStmt) {
	if signature.Results == nil {
		return
	}
	var types []ast.Expr
	for _, field := range signature.Results.List {
		types = append(types, slices.Repeat([]ast.Expr{field.Type}, max(1, len(field.Names)))...)
	}
	if len(types) != len(statement.Results) {
		return
	}
	for i, result := range statement.Results {
		name, simple := types[i].(*ast.Ident)
		if !simple {
			continue
		}
		if zero, known := zeros[name.Name]; known && f.of(result) != zero {
			f.replace("zero", result, zero)
		}
	}
}

// of is the text of a node.
func (f *finder) of(n ast.Node) string {
	return string(f.source[f.files.Position(n.Pos()).Offset:f.files.Position(n.End()).Offset])
}

func (f *finder) add(kind string, from, to token.Pos, with string) {
	start, end := f.files.Position(from), f.files.Position(to)
	line, _, _ := strings.Cut(string(f.source[start.Offset-start.Column+1:]), "\n")
	f.found = append(f.found, mutant{
		file: f.path, from: start.Offset, to: end.Offset, with: with, line: start.Line, kind: kind, text: strings.TrimSpace(line),
	})
}

// apply is the source with the change.
func (m mutant) apply(source []byte) []byte {
	return slices.Concat(source[:m.from], []byte(m.with), source[m.to:])
}

func (m mutant) String() string {
	what := m.with
	if m.kind != "operator" && m.kind != "zero" {
		what = ""
	}
	return fmt.Sprintf("%s:%d %s: %s", filepath.Base(m.file), m.line, strings.TrimSpace(m.kind+" "+what), m.text)
}

// sample takes so many mutants, the same for the same seed; all if there are no more.
func sample(all []mutant, seed uint64, count int) []mutant {
	rank := func(m mutant) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d %d %s", seed, filepath.Base(m.file), m.from, m.to, m.with))
		return hex.EncodeToString(sum[:])
	}
	ranked := slices.Clone(all)
	slices.SortFunc(ranked, func(a, b mutant) int { return strings.Compare(rank(a), rank(b)) })
	return ranked[:min(count, len(ranked))]
}
