package cells

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/tools/go/gcexportdata"
)

// A Completion is a name that can stand at the cursor.
type Completion struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // constant, function, keyword, method, namespace, property, type or variable
	Type string `json:"type"`
}

// Importer returns an importer that reads packages from their archives, in the form that Go's compiler writes. While
// the function archive returns nil for a path, the package with this path cannot be imported.
func Importer(archive func(path string) []byte) types.Importer {
	return &archives{archive, token.NewFileSet(), map[string]*types.Package{}}
}

type archives struct {
	archive  func(path string) []byte
	files    *token.FileSet
	packages map[string]*types.Package // imported packages, and parts of the packages that they mention
}

// Import implements [types.Importer].
func (a *archives) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := a.packages[path]; p != nil && p.Complete() {
		return p, nil
	}
	data := a.archive(path)
	if data == nil {
		return nil, fmt.Errorf("no archive of %s", path)
	}
	exported, err := gcexportdata.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return gcexportdata.Read(exported, a.files, a.packages, path)
}

// Complete returns names that can stand between two parts of a cell. In a struct literal, the struct's fields come
// first; names of inner scopes come before names of outer scopes. Complete also returns the prefix with which all these
// names begin: the unfinished name at the end of the first part. It tolerates most mistakes elsewhere in the cell.
func (s *Session) Complete(before, after string, packages types.Importer) (prefix string, found []Completion) {
	start := len(before) - nameAtEnd(before)
	prefix = before[start:]
	c := s.check(before[:start]+placeholder+after[nameAtStart(after):], packages)
	if c == nil {
		return prefix, nil
	}
	seen := map[string]bool{placeholder: true, "_": true}
	add := func(name, kind, of string) {
		if strings.HasPrefix(name, prefix) && !seen[name] {
			seen[name] = true
			found = append(found, Completion{name, kind, of})
		}
	}
	object := func(o types.Object) {
		if o.Exported() || o.Pkg() == nil || o.Pkg() == c.main {
			add(o.Name(), kind(o), c.typeOf(o))
		}
	}

	path := c.find(func(n ast.Node) bool { i, ok := n.(*ast.Ident); return ok && i.Name == placeholder })
	if path == nil {
		return prefix, nil // in a comment or a string
	}
	name, around := path[len(path)-1].(*ast.Ident), path[:len(path)-1]
	if selector, ok := around[len(around)-1].(*ast.SelectorExpr); ok && selector.Sel == name {
		if x, ok := selector.X.(*ast.Ident); ok {
			if p, ok := c.info.Uses[x].(*types.PkgName); ok {
				scope := p.Imported().Scope()
				for _, n := range scope.Names() {
					object(scope.Lookup(n))
				}
				return prefix, found
			}
		}
		if t := c.info.TypeOf(selector.X); t != nil {
			members(t, object)
		}
		return prefix, found
	}
	// In a struct literal, its fields come first.
	if entry, ok := around[len(around)-1].(*ast.KeyValueExpr); ok && entry.Key == name {
		around = around[:len(around)-1]
	}
	if literal, ok := around[len(around)-1].(*ast.CompositeLit); ok {
		if t := c.info.TypeOf(literal); t != nil {
			if of, ok := t.Underlying().(*types.Struct); ok {
				for f := range of.Fields() {
					object(f)
				}
			}
		}
	}
	for scope := c.main.Scope().Innermost(name.Pos()); scope != nil; scope = scope.Parent() {
		if scope == types.Universe && prefix == "" {
			break
		}
		for _, n := range scope.Names() {
			if _, o := scope.LookupParent(n, name.Pos()); o != nil && o.Parent() == scope {
				add(n, kind(o), c.typeOf(o))
			}
		}
	}
	if prefix != "" {
		for k := token.BREAK; k <= token.VAR; k++ {
			add(k.String(), "keyword", "")
		}
		for _, p := range slices.Sorted(maps.Keys(s.names)) {
			if n := s.names[p]; strings.HasPrefix(n, prefix) && s.standard(n) == p {
				add(n, "namespace", p)
			}
		}
	}
	return prefix, found
}

// Inspect describes the name at the place where the two parts of the cell meet. For a type, it also lists the methods.
// If there is no declared name at this place, Inspect returns "".
func (s *Session) Inspect(before, after string, packages types.Importer) string {
	start, end := len(before)-nameAtEnd(before), nameAtStart(after)
	was := before[start:] + after[:end]
	c := s.check(before+after, packages)
	if c == nil || was == "" {
		return ""
	}
	line, column := strings.Count(before, "\n"), start-strings.LastIndexByte(before[:start], '\n')-1
	path := c.find(func(n ast.Node) bool {
		i, ok := n.(*ast.Ident)
		if !ok || i.Name != was {
			return false
		}
		at := c.files.PositionFor(i.Pos(), false)
		return at.Line == line+2 && at.Column == column+1 // the first line is the package line
	})
	if path == nil {
		return ""
	}
	o := c.info.ObjectOf(path[len(path)-1].(*ast.Ident))
	if o == nil {
		return ""
	}
	said := []string{types.ObjectString(o, c.qualify)}
	if t, ok := o.(*types.TypeName); ok {
		methods := types.NewMethodSet(types.NewPointer(t.Type()))
		if types.IsInterface(t.Type()) {
			methods = types.NewMethodSet(t.Type())
		}
		for m := range methods.Methods() {
			if m.Obj().Exported() || m.Obj().Pkg() == c.main {
				said = append(said, types.ObjectString(m.Obj(), c.qualify))
			}
		}
	}
	return strings.Join(said, "\n")
}

// placeholder replaces, in a cell, the name to complete.
const placeholder = "_here_"

// A checked is the result of go/types for a cell together with the declarations of the session.
type checked struct {
	files *token.FileSet
	cell  *ast.File
	main  *types.Package
	info  *types.Info
}

// check checks the types of the cell together with the session's declarations. It returns nil if there is no result.
func (s *Session) check(text string, packages types.Importer) *checked {
	p := &Program{then: Session{names: s.names, units: s.units, imports: s.imports}}
	code, err := p.magics("cell", text)
	if err != nil {
		return nil
	}
	c := &checked{files: token.NewFileSet(), info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
	}}
	var rest strings.Builder // the session's declarations
	for _, u := range p.then.units {
		rest.WriteString(u.from + u.text + "\n")
	}
	whole, _ := parser.ParseFile(token.NewFileSet(), "", "package main\n"+rest.String()+code, 0)
	if whole == nil {
		return nil
	}
	for _, spec := range whole.Imports {
		p.then.imported(spec, "line cell:1:1")
	}
	head := "package main"
	for _, i := range p.then.withStandard(p.then.imports, qualifiers(whole)) {
		head += "; import " + i.name + " \"" + i.path + "\""
	}
	// If a name is declared twice, the first declaration counts: the cell's.
	c.cell, _ = parser.ParseFile(c.files, "", head+"\n"+code, parser.SkipObjectResolution)
	session, _ := parser.ParseFile(c.files, "", head+"\n"+rest.String(), parser.SkipObjectResolution)
	if c.cell == nil || session == nil {
		return nil
	}
	settings := types.Config{Importer: packages, Error: func(error) {}}
	defer func() { recover() }() // go/types panics on some code that does not parse; then there is no result
	c.main, _ = settings.Check("main", c.files, []*ast.File{c.cell, session}, c.info)
	return c
}

// find returns the path to the first wanted node of the cell: the nodes around the wanted node, the outermost first,
// and the wanted node itself.
func (c *checked) find(wanted func(ast.Node) bool) (path []ast.Node) {
	var around []ast.Node
	ast.Inspect(c.cell, func(n ast.Node) bool {
		switch {
		case path != nil:
			return false
		case n == nil:
			around = around[:len(around)-1]
			return false
		}
		around = append(around, n)
		if wanted(n) {
			path = slices.Clone(around)
		}
		return true
	})
	return path
}

// qualify writes names of packages as cells do.
func (c *checked) qualify(p *types.Package) string {
	if p == c.main {
		return ""
	}
	return p.Name()
}

// typeOf describes the type of a declaration, in brief. For an imported package, it returns the import path; for a
// type, a built-in function or nil, it returns "".
func (c *checked) typeOf(o types.Object) string {
	switch o := o.(type) {
	case *types.PkgName:
		return o.Imported().Path()
	case *types.TypeName, *types.Builtin, *types.Nil:
		return ""
	}
	return types.TypeString(o.Type(), c.qualify)
}

// kind returns the Kind that a [Completion] states for the declaration.
func kind(o types.Object) string {
	switch o := o.(type) {
	case *types.PkgName:
		return "namespace"
	case *types.Const, *types.Nil:
		return "constant"
	case *types.TypeName:
		return "type"
	case *types.Builtin:
		return "function"
	case *types.Func:
		if o.Signature().Recv() != nil {
			return "method"
		}
		return "function"
	case *types.Var:
		if o.IsField() {
			return "property"
		}
	}
	return "variable"
}

// members calls add with the fields and methods of the type, and of the types that it embeds.
func members(t types.Type, add func(types.Object)) {
	fields(t, map[types.Type]bool{}, add)
	if _, ok := t.Underlying().(*types.Pointer); !ok && !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	for m := range types.NewMethodSet(t).Methods() {
		add(m.Obj())
	}
}

func fields(t types.Type, seen map[types.Type]bool, add func(types.Object)) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	of, ok := t.Underlying().(*types.Struct)
	if !ok || seen[t] {
		return
	}
	seen[t] = true
	for f := range of.Fields() {
		add(f)
	}
	for f := range of.Fields() {
		if f.Embedded() {
			fields(f.Type(), seen, add)
		}
	}
}

// nameAtEnd and nameAtStart return the number of bytes of a name at the end or at the start of the text; 0 means no
// name.
func nameAtEnd(text string) int   { return len(text) - len(strings.TrimRightFunc(text, inName)) }
func nameAtStart(text string) int { return len(text) - len(strings.TrimLeftFunc(text, inName)) }

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
