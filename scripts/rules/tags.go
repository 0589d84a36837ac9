package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// tag is a place where a test names a rule.
type tag struct {
	file string // relative to the root, with slashes
	line int
	test string // empty if the tag is not in the doc comment of a test
}

var (
	tagLine = regexp.MustCompile(`^// Rule:(.*)$`)
	// runs are the functions that may have tags: tests and fuzz targets.
	runs = regexp.MustCompile(`^(?:Test|Fuzz)(?:[^a-z]|$)`)
)

// readTags collects the tags of all tests.
func (c *coverage) readTags() error {
	files := os.DirFS(c.root)
	for _, dir := range c.tests {
		err := fs.WalkDir(files, dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(name, "_test.go"):
				return nil
			}
			text, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			return c.addTags(name, text)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// addTags collects the tags of a file.
func (c *coverage) addTags(name string, text []byte) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	tests := map[*ast.CommentGroup]string{}
	for _, declaration := range file.Decls {
		if function, is := declaration.(*ast.FuncDecl); is && function.Recv == nil && runs.MatchString(function.Name.Name) {
			tests[function.Doc] = function.Name.Name
		}
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			match := tagLine.FindStringSubmatch(comment.Text)
			if match == nil {
				continue
			}
			for _, id := range strings.Split(match[1], ",") {
				id = strings.TrimSpace(id)
				c.tags[id] = append(c.tags[id], tag{name, files.Position(comment.Pos()).Line, tests[group]})
			}
		}
	}
	return nil
}
