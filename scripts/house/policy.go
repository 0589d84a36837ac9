package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// policies is what names the policies.
type policies struct {
	tree *tree
	// enum is the type of the constants that name policies.
	enum types.Type
	all  []policyName
}

// policyName is what names one policy.
type policyName struct {
	// name in lower case, as its room is called.
	name     string
	constant types.Object
	// objects that belong to the policy: its constant, its parameters, and what bears its name.
	objects map[types.Object]bool
	// proto are the words that name it in a protobuf file and in strings.
	proto []string
}

// place is a line of a file at which a policy is named.
type place struct {
	file string
	line int
	what string
}

// findPolicies reads the policies from the constants of the enum.
func (t *tree) findPolicies() (*policies, error) {
	p := t.at(t.layout.types)
	if p == nil {
		return nil, fmt.Errorf("no package in %s", t.layout.types)
	}
	enum := p.types.Scope().Lookup(t.layout.enum)
	if enum == nil {
		return nil, fmt.Errorf("no type %s in %s", t.layout.enum, t.layout.types)
	}
	found := &policies{tree: t, enum: enum.Type()}
	for _, name := range p.types.Scope().Names() {
		object, is := p.types.Scope().Lookup(name).(*types.Const)
		if !is || !types.Identical(object.Type(), found.enum) || constant.Sign(object.Val()) == 0 {
			continue
		}
		short := strings.TrimPrefix(name, t.layout.enum)
		one := policyName{name: strings.ToLower(short), constant: object, objects: map[types.Object]bool{object: true}}
		one.proto = []string{name, strings.ToUpper(t.layout.enum + "_" + short)}
		found.all = append(found.all, one)
	}
	if len(found.all) == 0 {
		return nil, fmt.Errorf("type %s of %s has no constants", t.layout.enum, t.layout.types)
	}
	for i := range found.all {
		found.addNamesakes(&found.all[i], p.types)
		if shared := t.at(t.layout.typesByPolicy); shared != nil {
			found.addNamesakes(&found.all[i], shared.types)
		}
		if err := found.addConfig(&found.all[i], p.types); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// addNamesakes adds what the package declares under the name of the policy.
func (s *policies) addNamesakes(one *policyName, in *types.Package) {
	for _, name := range in.Scope().Names() {
		if strings.EqualFold(name, one.name) {
			one.objects[in.Scope().Lookup(name)] = true
		}
	}
}

// addConfig adds the fields and methods of the config that bear the name of the policy, and the message that such a
// field holds.
func (s *policies) addConfig(one *policyName, in *types.Package) error {
	object := in.Scope().Lookup(s.tree.layout.config)
	if object == nil {
		return fmt.Errorf("no type %s in %s", s.tree.layout.config, s.tree.layout.types)
	}
	named := func(member types.Object) bool {
		return strings.EqualFold(strings.TrimPrefix(member.Name(), "Get"), one.name)
	}
	for _, member := range members(object) {
		if !named(member) {
			continue
		}
		one.objects[member] = true
		if message := messageOf(member, in); message != nil && isField(member) {
			one.objects[message] = true
			one.proto = append(one.proto, message.Name())
		}
	}
	return nil
}

// members returns the fields and methods of a named type.
func members(object types.Object) []types.Object {
	var found []types.Object
	if named, is := object.Type().(*types.Named); is {
		for method := range named.Methods() {
			found = append(found, method)
		}
	}
	if structure, is := object.Type().Underlying().(*types.Struct); is {
		for field := range structure.Fields() {
			found = append(found, field)
		}
	}
	return found
}

// messageOf returns the struct of the package that the field holds or points to, or nil.
func messageOf(field types.Object, in *types.Package) types.Object {
	held := field.Type()
	if pointer, is := held.(*types.Pointer); is {
		held = pointer.Elem()
	}
	if named, is := held.(*types.Named); is && named.Obj().Pkg() == in {
		return named.Obj()
	}
	return nil
}

// room returns the name of the policy to whose room the file or directory belongs, or nothing.
func (s *policies) room(name string) string {
	for _, one := range s.all {
		for _, pattern := range s.tree.layout.rooms {
			if within(name, fmt.Sprintf(pattern, one.name)) {
				return one.name
			}
		}
	}
	return ""
}

// conditionals returns the places in the module at which hand-written code tells policies apart: those in code that
// runs inside blocks, and those in clients. Rooms and the registry may. These count, each occurrence as one:
//
//   - a constant of the enum of policies, wherever it stands; a default config may name one;
//   - a comparison (== and the like, or a case of a switch) of a value of the enum, or of its number or string, with
//     another constant that is not zero, or of any string with the name of a policy;
//   - a type assertion, or a case of a type switch, to a type of a room that is no interface.
func (s *policies) conditionals() (inBlocks, inClients []place) {
	for _, p := range s.tree.inModule() {
		for _, file := range p.handWritten() {
			if s.room(file.name) != "" || withinAny(file.name, s.tree.layout.registry) {
				continue
			}
			found := s.conditionalsOf(p, file)
			if withinAny(file.name, s.tree.layout.clients) {
				inClients = append(inClients, found...)
			} else {
				inBlocks = append(inBlocks, found...)
			}
		}
	}
	return inBlocks, inClients
}

// conditionalsOf returns the places in one file.
func (s *policies) conditionalsOf(p *pkg, file *source) []place {
	var found []place
	chosen := s.defaultChoices(file)
	add := func(node ast.Node, what string) {
		found = append(found, place{file.name, s.tree.fset.Position(node.Pos()).Line, what})
	}
	ast.Inspect(file.syntax, func(node ast.Node) bool {
		if identifier, is := node.(*ast.Ident); is && s.isConstant(p.info.Uses[identifier]) && !chosen[identifier] {
			add(node, identifier.Name)
		}
		for _, asserted := range assertions(node) {
			if name := s.roomType(p, asserted); name != "" {
				add(asserted, "type "+name)
			}
		}
		for _, c := range comparisons(node) {
			if s.isPolicy(p, c.value) && s.isOtherConstant(p, c.with) || s.isName(p, c.with) {
				add(c.with, "comparison of a policy with a constant")
			}
		}
		return true
	})
	return found
}

// assertions returns the types that the node asserts of a value, if it is a type assertion or a type switch.
func assertions(node ast.Node) []ast.Expr {
	switch node := node.(type) {
	case *ast.TypeAssertExpr:
		if node.Type != nil { // it is nil in the head of a type switch
			return []ast.Expr{node.Type}
		}
	case *ast.TypeSwitchStmt:
		return cases(node.Body)
	}
	return nil
}

// comparison of a value with an expression that may be a constant.
type comparison struct{ value, with ast.Expr }

// comparisons returns what the node compares, if it is a comparison or a switch over a value.
func comparisons(node ast.Node) []comparison {
	var found []comparison
	switch node := node.(type) {
	case *ast.BinaryExpr:
		if node.Op.Precedence() == token.EQL.Precedence() {
			found = append(found, comparison{node.X, node.Y}, comparison{node.Y, node.X})
		}
	case *ast.SwitchStmt:
		if node.Tag == nil { // then the cases hold comparisons of their own
			return nil
		}
		for _, one := range cases(node.Body) {
			found = append(found, comparison{node.Tag, one})
		}
	}
	return found
}

// cases returns the expressions of the cases of a switch.
func cases(body *ast.BlockStmt) []ast.Expr {
	var found []ast.Expr
	for _, statement := range body.List {
		if clause, is := statement.(*ast.CaseClause); is {
			found = append(found, clause.List...)
		}
	}
	return found
}

// defaultChoices returns the identifiers by which default configs in the file choose a policy: the first value in
// each that a field of the enum's name gets.
func (s *policies) defaultChoices(file *source) map[*ast.Ident]bool {
	found := map[*ast.Ident]bool{}
	for _, declaration := range file.syntax.Decls {
		function, is := declaration.(*ast.FuncDecl)
		if !is || function.Recv != nil || !slices.Contains(s.tree.layout.defaults, function.Name.Name) {
			continue
		}
		done := false
		ast.Inspect(function, func(node ast.Node) bool {
			pair, is := node.(*ast.KeyValueExpr)
			if !is || done {
				return !done
			}
			key, named := pair.Key.(*ast.Ident)
			value, plain := pair.Value.(*ast.Ident)
			if named && plain && key.Name == s.tree.layout.enum {
				found[value], done = true, true
			}
			return true
		})
	}
	return found
}

// isConstant reports whether the object is the constant of a policy.
func (s *policies) isConstant(object types.Object) bool {
	return object != nil && slices.ContainsFunc(s.all, func(one policyName) bool { return one.constant == object })
}

// roomType returns the name of the type that the expression names, or points to, if it is of a policy and no
// interface.
func (s *policies) roomType(p *pkg, expression ast.Expr) string {
	held := p.info.TypeOf(expression)
	if held == nil {
		return ""
	}
	if pointer, is := types.Unalias(held).(*types.Pointer); is {
		held = pointer.Elem()
	}
	named, is := types.Unalias(held).(*types.Named)
	if !is || types.IsInterface(named) {
		return ""
	}
	object := named.Obj()
	ofPolicy := slices.ContainsFunc(s.all, func(one policyName) bool { return one.objects[object] })
	if !ofPolicy && s.room(s.tree.dirOf(object)) == "" {
		return ""
	}
	return object.Name()
}

// dirOf returns the directory of the package that declares the object, or nothing if it is not in the tree.
func (t *tree) dirOf(object types.Object) string {
	if object.Pkg() == nil {
		return ""
	}
	if p := t.byPath[object.Pkg().Path()]; p != nil {
		return p.dir
	}
	return ""
}

// isPolicy reports whether the expression is a value of the enum, or its number or string.
func (s *policies) isPolicy(p *pkg, expression ast.Expr) bool {
	expression = ast.Unparen(expression)
	if known := p.info.TypeOf(expression); known != nil && types.Identical(known, s.enum) {
		return true
	}
	call, is := expression.(*ast.CallExpr)
	if !is {
		return false
	}
	if selector, method := call.Fun.(*ast.SelectorExpr); method && selector.Sel.Name == "String" {
		return s.isPolicy(p, selector.X)
	}
	conversion := len(call.Args) == 1 && p.info.Types[call.Fun].IsType()
	return conversion && s.isPolicy(p, call.Args[0])
}

// isOtherConstant reports whether the expression is a constant that is not zero and not that of a policy, which
// counts by itself.
func (s *policies) isOtherConstant(p *pkg, expression ast.Expr) bool {
	named := false
	ast.Inspect(expression, func(node ast.Node) bool {
		identifier, is := node.(*ast.Ident)
		named = named || is && s.isConstant(p.info.Uses[identifier])
		return true
	})
	value := p.info.Types[expression].Value
	if named || value == nil {
		return false
	}
	switch value.Kind() {
	case constant.Int:
		return constant.Sign(value) != 0
	case constant.String:
		return constant.StringVal(value) != ""
	default:
		return false
	}
}

// isName reports whether the expression is a constant string that is the name of a policy.
func (s *policies) isName(p *pkg, expression ast.Expr) bool {
	value := p.info.Types[expression].Value
	if value == nil || value.Kind() != constant.String {
		return false
	}
	text := constant.StringVal(value)
	return slices.ContainsFunc(s.all, func(one policyName) bool {
		return strings.EqualFold(text, one.name) || slices.Contains(one.proto, text)
	})
}

// sources returns for each policy, by name, the hand-written Go and protobuf files below the layout's sources that
// name it, each with the first place: the existing files that a further policy would have to edit as well. What
// belongs to the policy alone is not among them: its room, and files that bear its name, such as tip.go. A file names
// a policy by
//
//   - its constant of the enum, in a string too;
//   - an import of its room;
//   - its parameters: the field or method of the config that bears its name, and the message that the field holds;
//   - what bears its name in the package of the enum or in that of the policies' shared types;
//   - any identifier that contains its name, if that is distinctive.
func (s *policies) sources() map[string][]place {
	found := map[string][]place{}
	for i := range s.all {
		one := &s.all[i]
		found[one.name] = []place{}
		for _, p := range s.tree.packages {
			for _, file := range p.handWritten() {
				if named := s.namedIn(one, p, file); named != nil && !s.owns(one, file.name) {
					found[one.name] = append(found[one.name], *named)
				}
			}
		}
		for _, file := range s.tree.protos {
			if named := s.namedInProto(one, file); named != nil && !s.owns(one, file.name) {
				found[one.name] = append(found[one.name], *named)
			}
		}
	}
	return found
}

// owns reports whether the file belongs to the policy alone.
func (s *policies) owns(one *policyName, file string) bool {
	base := path.Base(file)
	return s.room(file) == one.name || strings.TrimSuffix(base, path.Ext(base)) == one.name
}

// namedIn returns the first place at which the file names the policy, or nil.
func (s *policies) namedIn(one *policyName, p *pkg, file *source) *place {
	var first *place
	ast.Inspect(file.syntax, func(node ast.Node) bool {
		if first != nil {
			return false
		}
		what := ""
		switch node := node.(type) {
		case *ast.ImportSpec:
			imported := s.tree.byPath[strings.Trim(node.Path.Value, `"`)]
			if imported != nil && s.room(imported.dir) == one.name {
				what = "imports " + imported.dir
			}
		case *ast.Ident:
			if s.names(one, p, node) {
				what = node.Name
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(node.Value); err == nil && slices.Contains(one.proto, text) {
				what = node.Value
			}
		}
		if what != "" {
			first = &place{file.name, s.tree.fset.Position(node.Pos()).Line, what}
		}
		return true
	})
	return first
}

// names reports whether the identifier names the policy.
func (s *policies) names(one *policyName, p *pkg, identifier *ast.Ident) bool {
	for _, object := range []types.Object{p.info.Uses[identifier], p.info.Defs[identifier]} {
		if object != nil && one.objects[object] {
			return true
		}
	}
	return s.distinctive(one, identifier.Name)
}

// distinctive reports whether the word contains the policy's name, and that is distinctive.
func (s *policies) distinctive(one *policyName, word string) bool {
	return slices.Contains(s.tree.layout.distinctive, one.name) && strings.Contains(strings.ToLower(word), one.name)
}

var (
	protoComment = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	protoWord    = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
)

// namedInProto returns the first place at which the file names the policy outside of comments, or nil.
func (s *policies) namedInProto(one *policyName, file protoFile) *place {
	code := protoComment.ReplaceAllStringFunc(string(file.text), func(comment string) string {
		return strings.Repeat("\n", strings.Count(comment, "\n"))
	})
	for i, line := range strings.Split(code, "\n") {
		for _, word := range protoWord.FindAllString(line, -1) {
			if slices.Contains(one.proto, word) || s.distinctive(one, word) {
				return &place{file.name, i + 1, word}
			}
		}
	}
	return nil
}
