package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// collections are those of the module's state: each is declared by a call that is given a prefix and, after that, a name.
func (t *tree) collections() (found []string) {
	for _, p := range t.inModule() {
		if p.info == nil {
			continue
		}
		for _, file := range p.handWritten() {
			ast.Inspect(file.syntax, func(node ast.Node) bool {
				call, is := node.(*ast.CallExpr)
				if !is {
					return true
				}
				for i := 1; i < len(call.Args); i++ {
					name, is := call.Args[i].(*ast.BasicLit)
					if is && name.Kind == token.STRING && isPrefix(p.info.TypeOf(call.Args[i-1])) {
						found = append(found, strings.Trim(name.Value, `"`))
					}
				}
				return true
			})
		}
	}
	return found
}

// isPrefix tells whether a type is that of the prefixes of a package collections.
func isPrefix(of types.Type) bool {
	named, is := of.(*types.Named)
	return is && named.Obj().Name() == "Prefix" && named.Obj().Pkg() != nil && named.Obj().Pkg().Name() == "collections"
}

// cursors are the fields that say where the next block goes on: those of the lane's state that are named so, and all of a struct that
// is named so itself.
func (t *tree) cursors() (found []string) {
	for _, declared := range t.layout.cursors {
		object := t.declared(declared.dir, declared.names[0])
		if object == nil {
			continue
		}
		structure, is := object.Type().Underlying().(*types.Struct)
		if !is {
			continue
		}
		for i := range structure.NumFields() {
			field := structure.Field(i).Name()
			if strings.HasSuffix(object.Name(), "Cursors") || strings.HasSuffix(field, "Cursor") || strings.HasSuffix(field, "From") || strings.HasSuffix(field, "Behind") {
				found = append(found, object.Name()+"."+field)
			}
		}
	}
	return found
}

// seam is an interface of a package with the types of the tree that have its methods.
type seam struct {
	name            string
	methods         int
	implementations int
}

// seams are the interfaces that some packages declare, all or those that are named, with the methods that each adds to those that it embeds.
func (t *tree) seams() (found []seam) {
	for _, declared := range t.layout.seams {
		dir := declared.dir
		p := t.at(dir)
		if p == nil || p.types == nil {
			continue
		}
		names := declared.names
		if len(names) == 0 {
			names = p.types.Scope().Names()
		}
		for _, name := range names {
			declared, is := p.types.Scope().Lookup(name).(*types.TypeName)
			if !is {
				continue
			}
			contract, is := declared.Type().Underlying().(*types.Interface)
			if !is || contract.NumMethods() == 0 || declared.IsAlias() {
				continue
			}
			found = append(found, seam{dir + "." + name, contract.NumExplicitMethods(), t.implementations(contract, declared)})
		}
	}
	return found
}

// implementations counts the types of the tree with the methods of an interface. Of a generic one, which no type has as it stands,
// it counts none and says 2.
func (t *tree) implementations(contract *types.Interface, declared *types.TypeName) (count int) {
	if named, is := declared.Type().(*types.Named); is && named.TypeParams().Len() > 0 {
		return 2
	}
	for _, p := range t.packages {
		if p.types == nil {
			continue
		}
		for _, name := range p.types.Scope().Names() {
			object, is := p.types.Scope().Lookup(name).(*types.TypeName)
			if !is || types.IsInterface(object.Type()) {
				continue
			}
			if hasAll(types.NewMethodSet(types.NewPointer(object.Type())), contract) {
				count++
			}
		}
	}
	return count
}

// hasAll tells whether a type has methods with the names of an interface's.
func hasAll(methods *types.MethodSet, contract *types.Interface) bool {
	for i := range contract.NumMethods() {
		method := contract.Method(i)
		if methods.Lookup(method.Pkg(), method.Name()) == nil {
			return false
		}
	}
	return true
}

// ofState are the measures of what is stored, and of what lies between the engine and policies.
func (t *tree) ofState(limits *limits) []row {
	collections, cursors, seams := t.collections(), t.cursors(), t.seams()
	methods, single := 0, []string{}
	var each []string
	for _, s := range seams {
		methods += s.methods
		each = append(each, fmt.Sprintf("%s (%d, by %d)", s.name, s.methods, s.implementations))
		if s.implementations == 1 {
			single = append(single, s.name)
		}
	}
	return []row{
		{"collections in state", len(collections), &limits.collections, collections},
		{"cursors of blocks", len(cursors), &limits.cursors, cursors},
		{"methods of policies' interfaces", methods, &limits.seamMethods, each},
		{"of these, with one implementation", len(single), &limits.seamsOfOne, single},
	}
}
