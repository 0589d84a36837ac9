package main

import (
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
)

// largestCycle returns the names of the files of the largest cycle of the package, sorted: the largest set of files of
// which each depends on each other, directly or through others. It returns none if the package has no cycle.
//
// A file depends on another one of its package if it uses what is declared there: a function, type, constant, variable,
// field or method, be it one of an interface. Only hand-written files that are no tests count.
func (t *tree) largestCycle(p *pkg) []string {
	var largest []string
	for _, component := range components(t.dependencies(p)) {
		if len(component) > 1 && len(component) > len(largest) {
			largest = component
		}
	}
	slices.Sort(largest)
	return largest
}

// dependencies returns the files that each hand-written file of the package depends on, by their names in the package.
// Generated files are named, but depend on none.
func (t *tree) dependencies(p *pkg) map[string][]string {
	found := map[string][]string{}
	for _, file := range p.handWritten() {
		name := path.Base(file.name)
		found[name] = nil
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			identifier, is := node.(*ast.Ident)
			if !is {
				return true
			}
			object := p.info.Uses[identifier]
			if object == nil || object.Pkg() != p.types {
				return true
			}
			other := path.Base(t.fset.Position(object.Pos()).Filename)
			if other != name && !slices.Contains(found[name], other) {
				found[name] = append(found[name], other)
			}
			return true
		})
		slices.Sort(found[name])
	}
	return found
}

// isField reports whether the object is a field of a struct.
func isField(object types.Object) bool {
	variable, is := object.(*types.Var)
	return is && variable.IsField()
}

// components returns the strongly connected components of a graph that is given by the successors of each node
// (Tarjan's algorithm). Their order depends on the graph alone.
func components(successors map[string][]string) [][]string {
	search := tarjan{successors: successors, index: map[string]int{}, low: map[string]int{}, open: map[string]bool{}}
	for _, node := range slices.Sorted(maps.Keys(successors)) {
		if _, visited := search.index[node]; !visited {
			search.visit(node)
		}
	}
	return search.found
}

// tarjan is the state of the search: the order in which nodes were first visited, the lowest such index that each node
// reaches among the open ones, and the stack of nodes whose component is not yet known.
type tarjan struct {
	successors map[string][]string
	index, low map[string]int
	stack      []string
	open       map[string]bool
	found      [][]string
}

func (s *tarjan) visit(node string) {
	s.index[node], s.low[node] = len(s.index), len(s.index)
	s.stack, s.open[node] = append(s.stack, node), true
	for _, next := range s.successors[node] {
		if _, visited := s.index[next]; !visited {
			s.visit(next)
			s.low[node] = min(s.low[node], s.low[next])
		} else if s.open[next] {
			s.low[node] = min(s.low[node], s.index[next])
		}
	}
	if s.low[node] != s.index[node] {
		return
	}
	start := slices.Index(s.stack, node)
	component := slices.Clone(s.stack[start:])
	s.stack = s.stack[:start]
	for _, member := range component {
		delete(s.open, member)
	}
	s.found = append(s.found, component)
}
