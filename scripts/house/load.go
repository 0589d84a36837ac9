package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tree is the source code of a repository.
type tree struct {
	layout layout
	fset   *token.FileSet
	// packages in the order of their directories, and by import path.
	packages []*pkg
	byPath   map[string]*pkg
	protos   []protoFile
	// outside imports what is not in the tree.
	outside types.Importer
}

// pkg is a Go package. Its types are those of all its files but tests.
type pkg struct {
	dir, path string
	files     []*source
	testLines int

	types *types.Package
	info  *types.Info
	// checking is set while the package is checked, to find import cycles.
	checking bool
}

// source is a Go file that is no test.
type source struct {
	// name is the path from the root, with slashes.
	name      string
	text      []byte
	syntax    *ast.File
	generated bool
}

// protoFile is a protobuf file.
type protoFile struct {
	name string
	text []byte
}

// load reads all Go and protobuf files below the layout's sources, and checks the types of the Go packages.
func load(root string, layout layout) (*tree, error) {
	t := &tree{layout: layout, fset: token.NewFileSet(), byPath: map[string]*pkg{}}
	if !slices.Contains(layout.sources, layout.module) {
		return nil, fmt.Errorf("the module %s is not one of the sources", layout.module)
	}
	byDir := map[string]*pkg{}
	for _, from := range layout.sources {
		start := filepath.Join(root, filepath.FromSlash(from))
		err := filepath.WalkDir(start, func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() {
				if ignoredDir(entry.Name()) {
					return fs.SkipDir
				}
				return nil
			}
			return t.read(root, file, byDir)
		})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", from, err)
		}
	}
	for dir, p := range byDir {
		importPath, err := importPath(root, dir)
		if err != nil {
			return nil, err
		}
		p.path = importPath
		t.byPath[importPath] = p
		t.packages = append(t.packages, p)
	}
	slices.SortFunc(t.packages, func(a, b *pkg) int { return strings.Compare(a.dir, b.dir) })
	if err := t.findOutside(root); err != nil {
		return nil, err
	}
	for _, p := range t.packages {
		if err := t.check(p); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// ignoredDir reports whether the go command ignores directories of this name.
func ignoredDir(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, "_") || len(name) > 1 && name[0] == '.'
}

// read adds a file to the tree.
func (t *tree) read(root, file string, byDir map[string]*pkg) error {
	extension := filepath.Ext(file)
	if extension != ".go" && extension != ".proto" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(root, file)
	if err != nil {
		return err
	}
	name := filepath.ToSlash(relative)
	if extension == ".proto" {
		t.protos = append(t.protos, protoFile{name, text})
		return nil
	}
	syntax, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	p := byDir[path.Dir(name)]
	if p == nil {
		p = &pkg{dir: path.Dir(name)}
		byDir[p.dir] = p
	}
	generated := ast.IsGenerated(syntax) || strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(name, ".pb.gw.go")
	switch {
	case !strings.HasSuffix(name, "_test.go"):
		p.files = append(p.files, &source{name, text, syntax, generated})
	case !generated:
		p.testLines += lines(text)
	}
	return nil
}

// moduleLine is the line of a go.mod that names the module.
var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)"?`)

// importPath returns the import path of a directory: the nearest go.mod above it says with what it begins.
func importPath(root, dir string) (string, error) {
	for above, below := dir, ""; ; above, below = path.Dir(above), path.Join(path.Base(above), below) {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(above), "go.mod"))
		if err == nil {
			match := moduleLine.FindSubmatch(text)
			if match == nil {
				return "", fmt.Errorf("%s names no module", path.Join(above, "go.mod"))
			}
			return path.Join(string(match[1]), below), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if above == "." {
			return "", fmt.Errorf("no go.mod in %s nor above it", dir)
		}
	}
}

// findOutside makes the importer of what the module's packages import from outside of the tree. The go command
// compiles that, unless it is in the build cache.
func (t *tree) findOutside(root string) error {
	var sought []string
	for _, p := range t.packages {
		if !within(p.dir, t.layout.module) {
			continue
		}
		for _, imported := range p.imports() {
			if t.byPath[imported] == nil && imported != "unsafe" && !slices.Contains(sought, imported) {
				sought = append(sought, imported)
			}
		}
	}
	compiled := map[string]string{}
	if len(sought) > 0 {
		arguments := []string{"list", "-export", "-f", "{{.ImportPath}}\t{{.Export}}", "--"}
		list := exec.Command("go", append(arguments, sought...)...)
		list.Dir = filepath.Join(root, filepath.FromSlash(t.layout.module))
		var failure bytes.Buffer
		list.Stderr = &failure
		output, err := list.Output()
		if err != nil {
			return fmt.Errorf("go list -export of what %s imports: %w\n%s", t.layout.module, err, failure.String())
		}
		for line := range strings.Lines(string(output)) {
			importPath, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
			compiled[importPath] = file
		}
	}
	t.outside = importer.ForCompiler(t.fset, "gc", func(importPath string) (io.ReadCloser, error) {
		file, known := compiled[importPath]
		if !known {
			return nil, fmt.Errorf("%s is not among what %s imports", importPath, t.layout.module)
		}
		return os.Open(file)
	})
	return nil
}

// imports returns the import paths in the files of the package.
func (p *pkg) imports() []string {
	var found []string
	for _, file := range p.files {
		for _, spec := range file.syntax.Imports {
			found = append(found, strings.Trim(spec.Path.Value, `"`))
		}
	}
	return found
}

// check checks the types of a package, after those that it imports. The module's packages must be free of errors.
// Those of other sources need not be, since what only they import is unknown here.
func (t *tree) check(p *pkg) error {
	if p.types != nil {
		return nil
	}
	if p.checking {
		return fmt.Errorf("package %s imports itself through others", p.dir)
	}
	p.checking = true
	for _, imported := range p.imports() {
		if inTree := t.byPath[imported]; inTree != nil {
			if err := t.check(inTree); err != nil {
				return err
			}
		}
	}
	files := make([]*ast.File, len(p.files))
	for i, file := range p.files {
		files[i] = file.syntax
	}
	p.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	config := types.Config{Importer: t, Error: func(error) {}, FakeImportC: true}
	var err error
	p.types, err = config.Check(p.path, t.fset, files, p.info)
	if err != nil && within(p.dir, t.layout.module) {
		return fmt.Errorf("package %s: %w", p.dir, err)
	}
	return nil
}

// Import implements types.Importer.
func (t *tree) Import(importPath string) (*types.Package, error) {
	if p := t.byPath[importPath]; p != nil {
		return p.types, nil
	}
	return t.outside.Import(importPath)
}

// inModule returns the packages of the module that hold hand-written code.
func (t *tree) inModule() []*pkg {
	var found []*pkg
	for _, p := range t.packages {
		if within(p.dir, t.layout.module) && len(p.handWritten()) > 0 {
			found = append(found, p)
		}
	}
	return found
}

// at returns the package in the directory, or nil.
func (t *tree) at(dir string) *pkg {
	for _, p := range t.packages {
		if p.dir == dir {
			return p
		}
	}
	return nil
}

// handWritten returns the files of the package that are neither tests nor generated.
func (p *pkg) handWritten() []*source {
	var found []*source
	for _, file := range p.files {
		if !file.generated {
			found = append(found, file)
		}
	}
	return found
}

// within reports whether name is the place, or below it.
func within(name, place string) bool { return name == place || strings.HasPrefix(name, place+"/") }

// withinAny reports whether name is one of the places, or below one.
func withinAny(name string, places []string) bool {
	return slices.ContainsFunc(places, func(place string) bool { return within(name, place) })
}
