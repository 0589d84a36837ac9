package timers_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file is the checker; purity_test.go says what it is applied to, and proves that it can fail.

// rule is a thing that consensus code must not do.
type rule string

const (
	ruleFloat     rule = "float"
	ruleClock     rule = "clock"
	ruleRandom    rule = "random"
	ruleGoroutine rule = "goroutine"
	ruleSelect    rule = "select"
	ruleMapRange  rule = "range over a map"
	ruleSystem    rule = "operating system"
	// What formats another error by %v or %w may format the file and line where that was made, which are those of the
	// machine that built the node: an error of cosmossdk.io/errors does. %s is its text alone.
	ruleErrorText rule = "text of an error by %v"
	ruleErrorWrap rule = "text of an error by %w"
)

// finding is one breach of a rule.
type finding struct {
	file string
	rule rule
	at   string
}

// forbiddenImports are packages of which nothing may be used, by the rule that they break.
var forbiddenImports = map[string]rule{
	"math/rand": ruleRandom, "math/rand/v2": ruleRandom, "crypto/rand": ruleRandom, "hash/maphash": ruleRandom,
	"os": ruleSystem, "os/exec": ruleSystem, "net": ruleSystem, "net/http": ruleSystem, "syscall": ruleSystem,
	"unsafe": ruleSystem,
}

// forbiddenNames are functions and methods that may not even be mentioned, as package.Name or package.Type.Name.
var forbiddenNames = map[string]rule{
	"time.Now": ruleClock, "time.Since": ruleClock, "time.Until": ruleClock, "time.After": ruleClock,
	"time.AfterFunc": ruleClock, "time.Tick": ruleClock, "time.NewTimer": ruleClock, "time.NewTicker": ruleClock,
	"time.Sleep": ruleClock, "time.Local": ruleClock,
	// Iterators over maps, whose order is that of the map.
	"maps.All": ruleMapRange, "maps.Keys": ruleMapRange, "maps.Values": ruleMapRange, "maps.DeleteFunc": ruleMapRange,
	"reflect.Value.MapKeys": ruleMapRange, "reflect.Value.MapRange": ruleMapRange,
	"golang.org/x/exp/maps.Keys": ruleMapRange, "golang.org/x/exp/maps.Values": ruleMapRange,
	"sync.Map.Range": ruleMapRange,
}

// checkPurity returns every breach in files that were type-checked.
func checkPurity(fset *token.FileSet, files []*ast.File, info *types.Info) []finding {
	var found []finding
	for _, file := range files {
		name := fset.Position(file.FileStart).Filename
		name = name[strings.LastIndexByte(name, '/')+1:]
		report := func(node ast.Node, broken rule) {
			position := fset.Position(node.Pos())
			found = append(found, finding{name, broken, fmt.Sprintf("%s:%d: %s", name, position.Line, broken)})
		}
		for _, spec := range file.Imports {
			if broken := forbiddenImports[strings.Trim(spec.Path.Value, `"`)]; broken != "" {
				report(spec, broken)
			}
		}
		inPanic := map[ast.Node]bool{}
		ast.Inspect(file, func(node ast.Node) bool {
			for _, arg := range panics(node) {
				inPanic[arg] = true
			}
			if call, ok := node.(*ast.CallExpr); ok && !inPanic[node] {
				checkFormat(call, typed(info), report)
			}
			checkNode(node, info, report)
			return true
		})
	}
	return found
}

// panics are the arguments of a panic. Its text goes to the node's log.
func panics(node ast.Node) []ast.Expr {
	if call, ok := node.(*ast.CallExpr); ok {
		if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "panic" {
			return call.Args
		}
	}
	return nil
}

func checkNode(node ast.Node, info *types.Info, report func(ast.Node, rule)) {
	switch n := node.(type) {
	case *ast.GoStmt:
		report(n, ruleGoroutine)
	case *ast.SelectStmt:
		report(n, ruleSelect)
	case *ast.RangeStmt:
		if isMap(info.TypeOf(n.X)) {
			report(n, ruleMapRange)
		}
	case *ast.Ident:
		if object := info.Uses[n]; object != nil {
			if broken, forbidden := forbiddenNames[fullName(object)]; forbidden {
				report(n, broken)
			}
		}
		if object := info.Defs[n]; object != nil && isFloat(object.Type()) {
			report(n, ruleFloat)
		}
	}
	if expr, ok := node.(ast.Expr); ok {
		if value, known := info.Types[expr]; known && isFloat(value.Type) {
			report(expr, ruleFloat)
		}
	}
}

// formatting are the functions and methods that make text of a format, by the end of their names.
var formatting = regexp.MustCompile(`(Wrapf|Errorf|Newf|Sprintf)$`)

// verbs of a format.
var verbs = regexp.MustCompile(`%[-+# 0-9.]*([a-zA-Z%])`)

var errorInterface = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// known is what is known of an expression: the text of a constant one, and whether it is an error.
type known func(ast.Expr) (text string, constant, isError bool)

func typed(info *types.Info) known {
	return func(e ast.Expr) (string, bool, bool) {
		found := info.Types[e]
		if found.Value != nil && found.Value.Kind() == constant.String {
			return constant.StringVal(found.Value), true, false
		}
		return "", false, found.Type != nil && types.Implements(found.Type, errorInterface)
	}
}

// named knows of an expression what it says by itself, in code that is not type-checked: an error has the usual name.
func named(e ast.Expr) (text string, isConstant, isError bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil, false
	case *ast.BinaryExpr:
		before, first, _ := named(e.X)
		after, second, _ := named(e.Y)
		return before + after, first && second, false
	case *ast.Ident:
		return "", false, e.Name == "err"
	}
	return "", false, false
}

// checkFormat reports errors that are formatted by a verb that may say where they were made.
func checkFormat(call *ast.CallExpr, of known, report func(ast.Node, rule)) {
	var name string
	switch function := call.Fun.(type) {
	case *ast.Ident:
		name = function.Name
	case *ast.SelectorExpr:
		name = function.Sel.Name
	}
	if !formatting.MatchString(name) {
		return
	}
	for i, arg := range call.Args {
		format, constant, _ := of(arg)
		if !constant {
			continue
		}
		rest := call.Args[i+1:]
		for _, verb := range verbs.FindAllStringSubmatch(format, -1) {
			if verb[1] == "%" || len(rest) == 0 {
				continue
			}
			if _, _, isError := of(rest[0]); isError {
				switch verb[1] {
				case "v":
					report(rest[0], ruleErrorText)
				case "w":
					report(rest[0], ruleErrorWrap)
				}
			}
			rest = rest[1:]
		}
		return
	}
}

// fullName is package.Name, or package.Type.Name for a method.
func fullName(object types.Object) string {
	if object.Pkg() == nil {
		return ""
	}
	name := object.Name()
	if function, ok := object.(*types.Func); ok {
		if receiver := function.Signature().Recv(); receiver != nil {
			receiverType := receiver.Type()
			if pointer, ok := receiverType.(*types.Pointer); ok {
				receiverType = pointer.Elem()
			}
			if named, ok := receiverType.(*types.Named); ok {
				name = named.Obj().Name() + "." + name
			}
		}
	}
	return object.Pkg().Path() + "." + name
}

// isMap tells whether what is ranged over is a map, or may be one where it is a type parameter.
func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	if parameter, ok := t.(*types.TypeParam); ok {
		return mayBeMap(parameter.Constraint())
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func mayBeMap(constraint types.Type) bool {
	set, ok := constraint.Underlying().(*types.Interface)
	if !ok {
		return isMap(constraint)
	}
	for i := range set.NumEmbeddeds() {
		embedded := set.EmbeddedType(i)
		union, ok := embedded.(*types.Union)
		if !ok {
			if mayBeMap(embedded) {
				return true
			}
			continue
		}
		for j := range union.Len() {
			if mayBeMap(union.Term(j).Type()) {
				return true
			}
		}
	}
	return false
}

// isFloat tells whether a value of the type is a float or a complex number, or among several results is one.
func isFloat(t types.Type) bool {
	switch t := t.(type) {
	case nil:
		return false
	case *types.Tuple:
		for i := range t.Len() {
			if isFloat(t.At(i).Type()) {
				return true
			}
		}
		return false
	case *types.TypeParam:
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsFloat|types.IsComplex) != 0
}

// loader type-checks packages of the module against what the compiler made of their imports.
type loader struct {
	fset     *token.FileSet
	importer types.Importer
}

// compiledImports asks the go command where the compiled imports of the module's packages are, once for all tests.
var compiledImports = sync.OnceValues(func() (map[string]string, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
		"./...", "maps", "reflect", "sync", "math/rand", "math/rand/v2")
	var complaint bytes.Buffer
	list.Stderr = &complaint
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, complaint.String())
	}
	compiled := map[string]string{}
	for _, line := range strings.Split(string(out), "\n") {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			compiled[path] = file
		}
	}
	return compiled, nil
})

func newLoader(t *testing.T) loader {
	t.Helper()
	compiled, err := compiledImports()
	require.NoError(t, err)
	fset := token.NewFileSet()
	return loader{fset, importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		file := compiled[path]
		if file == "" {
			return nil, fmt.Errorf("%s was not compiled", path)
		}
		return os.Open(file)
	})}
}

// check type-checks the files of one package and returns what it breaches, in order and once each.
func (l loader) check(t *testing.T, path string, files []*ast.File) []finding {
	t.Helper()
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}
	config := types.Config{Importer: l.importer}
	_, err := config.Check(path, l.fset, files, info)
	require.NoError(t, err, "%s does not type-check", path)
	found := checkPurity(l.fset, files, info)
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.at, b.at) })
	return slices.Compact(found)
}
