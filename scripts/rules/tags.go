package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// tag is a place where a test names a rule.
type tag struct {
	rule string
	file string // relative to the root, with slashes
	line int
	test string // empty if the tag is not in the doc comment of a test
}

var (
	tagLine = regexp.MustCompile(`^// Rule:(.*)$`)
	// runs are the functions that may have tags: tests and fuzz targets.
	runs = regexp.MustCompile(`^(?:Test|Fuzz)(?:[^a-z]|$)`)
)

// readTags returns the tags of all tests below the directories.
func readTags(root string, dirs []string) ([]tag, error) {
	var found []tag
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			tags, err := tagsOf(filepath.ToSlash(name), text)
			found = append(found, tags...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// tagsOf returns the tags of a file.
func tagsOf(name string, text []byte) ([]tag, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	tests := map[*ast.CommentGroup]string{}
	for _, declaration := range file.Decls {
		function, is := declaration.(*ast.FuncDecl)
		if is && function.Recv == nil && runs.MatchString(function.Name.Name) {
			tests[function.Doc] = function.Name.Name
		}
	}
	var found []tag
	for _, group := range file.Comments {
		for _, comment := range group.List {
			match := tagLine.FindStringSubmatch(comment.Text)
			if match == nil {
				continue
			}
			for _, rule := range strings.Split(match[1], ",") {
				found = append(found, tag{
					rule: strings.TrimSpace(rule), file: name, line: files.Position(comment.Pos()).Line, test: tests[group],
				})
			}
		}
	}
	return found, nil
}
