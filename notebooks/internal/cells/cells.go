// Package cells makes Go programs from the cells of a notebook, as GoNB does. A cell contains declarations and, after a
// line %%, the statements of its program. The declarations stay: later cells see them, and a later declaration of a
// name replaces the earlier one. Imports accumulate. Values do not stay, because every cell becomes a separate program.
// From other cells, a cell's program takes the imports and declarations that it uses, and the declarations that run
// code, such as init functions.
//
// A line directive before each part of a program states from which cell and line the part comes. So the compiler's
// errors name places as CELL:LINE:COLUMN, and the traces of panics name places as CELL:LINE.
package cells

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strings"
)

// A Session holds the declarations and imports of the cells so far. [New] makes one.
type Session struct {
	names   map[string]string // the names of the packages that cells may import, by their import paths
	units   []unit
	imports []imported
	env     []string
}

// New returns a session without declarations. The keys of names are the import paths of the packages that cells may
// import, and the values are the names of these packages.
func New(names map[string]string) *Session { return &Session{names: names} }

// A Program is made from a cell and the earlier declarations that the cell needs.
type Program struct {
	Text    string   // the text of the cell
	Source  string   // the source of package main, which is one file
	Imports []string // the paths of the packages that the program imports
	Args    []string // the arguments on the command line
	Env     []string // set by %env, as name=value
	Said    string   // messages of the cell's magics

	then Session // the session with the cell added
	main unit
}

// Key returns a name of the program: 64 bits of a hash of its source, in hexadecimal.
func (p *Program) Key() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(p.Source)))[:16] }

// Compose makes the program of the cell. The cell's name must not contain colons, spaces or line breaks. Compose does
// not change the session, but [Session.Keep] does. An error has the form of the compiler's errors; several syntax
// errors have a line each.
func (s *Session) Compose(name, text string) (*Program, error) {
	p := &Program{Text: text, then: *s}
	code, err := p.magics(name, text)
	if err != nil {
		return nil, err
	}
	if p.main, err = p.then.declare(name, code); err != nil {
		return nil, err
	}
	return p, p.write(p.main)
}

// Keep makes the declarations of the program's cell part of the session. Call Keep only after the program has compiled
// without an error.
func (s *Session) Keep(p *Program) { *s = p.then }

// Page joins the programs of a page's cells into one program for the page. Page also lists the programs that the page's
// program contains. The session must have kept all given programs. If os.Args[0] is the key of a listed program, the
// page's program runs the listed program. So the code that runs is exactly the code that the reader sees, although
// nothing is compiled in the browser. Only one thing differs from a separate program: the page's program also
// initialises the packages that other cells import.
//
// Page leaves out a program if composing its cell after the page's last cell would give a different program. For
// example, a later cell may redeclare what the program uses, add a method to a type that the program uses, or declare a
// variable with a computed value. Page also leaves out programs that import flag.
func (s *Session) Page(programs []*Program) (page *Program, in []*Program, err error) {
	page = &Program{then: *s}
	page.then.imports = append(slices.Clone(s.imports), imported{"page_os", "os", "line page:1:1"})
	start := unit{from: "//line page:1:1\n", text: "func main() {\n\tswitch page_os.Args[0] {\n"}
	var mains []unit
	for _, p := range programs {
		last := &Program{then: *s}
		if err := last.write(p.main); err == nil && last.Source == p.Source && !slices.Contains(p.Imports, "flag") {
			m, name := p.main, "page_"+p.Key()
			m.text = m.text[:m.names[0].at] + name + m.text[m.names[0].to:]
			mains, in = append(mains, m), append(in, p)
			start.text += fmt.Sprintf("\tcase %q:\n\t\t%s()\n", p.Key(), name)
		}
	}
	start.text += "\t}\n}"
	return page, in, page.write(append(mains, start)...)
}

// A unit is a declaration that can be replaced: a function, a method, a type, a block of constants, or variables that
// are declared together.
type unit struct {
	names []declared
	cell  string // the name of the cell that declares the unit
	from  string // what to put before text: a keyword if text has none, and a line directive
	text  string
	runs  bool // part of every program, used or not: init functions, and variables whose values are computed
}

// A declared is one of a unit's names. The name of a method m of T is T.m.
type declared struct {
	name   string
	at, to int // the first byte of the name in the unit's text, and the byte after the name
}

// imported is an imported package, with its name in cells.
type imported struct{ name, path, from string }

// declare adds the declarations of the cell's code to the session, and returns the function main of the cell, which is
// empty if the cell has none.
func (s *Session) declare(name, code string) (main unit, err error) {
	main = unit{cell: name, text: opening + "}", names: []declared{{"main", len("func "), len("func main")}}}
	files := token.NewFileSet()
	source := "package main\n//line " + name + ":1:1\n" + code
	file, err := parser.ParseFile(files, "", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		var lines strings.Builder
		scanner.PrintError(&lines, err)
		return main, errors.New(strings.TrimSuffix(lines.String(), "\n"))
	}
	offset := func(p token.Pos) int { return files.PositionFor(p, false).Offset }
	at := func(p token.Pos) string {
		position := files.Position(p)
		return fmt.Sprintf("line %s:%d:%d", name, position.Line, position.Column)
	}
	// cut makes a unit of a part of the source. If keyword is "", the part begins on a new line, because its doc
	// comment may contain a directive to the compiler.
	cut := func(keyword string, from, to token.Pos, names ...*ast.Ident) unit {
		u := unit{cell: name, from: "//" + at(from) + "\n", text: source[offset(from):offset(to)]}
		if keyword != "" {
			u.from = keyword + " /*" + at(from) + "*/"
		}
		for _, n := range names {
			u.names = append(u.names, declared{n.Name, offset(n.Pos()) - offset(from), offset(n.End()) - offset(from)})
		}
		return u
	}

	var units []unit
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			from := d.Pos()
			if d.Doc != nil {
				from = d.Doc.Pos()
			}
			u := cut("", from, d.End(), d.Name)
			n := &u.names[0]
			switch {
			case d.Recv != nil:
				n.name = receiver(d.Recv) + "." + n.name
			case n.name == "main":
				main = u
				continue
			case strings.HasPrefix(n.name, "init_"):
				u.text, u.runs = blank(u.text, *n, "init"), true
			case n.name == "init":
				u.runs = true
			}
			units = append(units, u)
		case *ast.GenDecl:
			var names []*ast.Ident
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ImportSpec:
					if err := s.imported(spec, at(spec.Pos())); err != nil {
						return main, err
					}
				case *ast.TypeSpec:
					units = append(units, cut("type", spec.Pos(), spec.End(), spec.Name))
				case *ast.ValueSpec:
					names = append(names, spec.Names...)
					if d.Tok == token.VAR {
						u := cut("var", spec.Pos(), spec.End(), spec.Names...)
						u.runs = slices.ContainsFunc(spec.Values, computed)
						units = append(units, u)
					}
				}
			}
			if d.Tok == token.CONST { // a block stays whole, because iota counts from its beginning
				units = append(units, cut("", d.Pos(), d.End(), names...))
			}
		}
	}
	s.units = append(without(s.units, units, name), units...)
	return main, nil
}

// computed reports whether a value contains anything but names without a dot, basic literals, and literals of slices,
// of arrays, and of types that have such a name. A program may omit an unused variable only if the variable's value is
// not computed.
func computed(value ast.Expr) (found bool) {
	ast.Inspect(value, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.BasicLit, *ast.Ident, *ast.CompositeLit, *ast.KeyValueExpr, *ast.ArrayType:
		default:
			found = true
		}
		return !found
	})
	return found
}

// without returns the old units without the names that the new units declare again. The new units are from the given
// cell. In an old unit that also declares other names, _ replaces the names that are declared again.
func without(old, now []unit, cell string) (kept []unit) {
	again := map[string]bool{}
	for _, u := range now {
		for _, n := range u.names {
			again[n.name] = true
		}
	}
	for _, u := range old {
		left := 0
		for _, n := range u.names {
			switch {
			case n.name == "_" && u.cell != cell: // only a new run of the unit's own cell removes this name
				left++
			case n.name != "_" && !again[n.name]:
				left++
			case n.name != "_":
				u.text = blank(u.text, n, "_")
			}
		}
		if left > 0 {
			kept = append(kept, u)
		}
	}
	return kept
}

// blank replaces a name in the text by another name, padded with spaces, so that the rest of the text stays in place.
func blank(text string, n declared, name string) string {
	return text[:n.at] + name + strings.Repeat(" ", n.to-n.at-len(name)) + text[n.to:]
}

// receiver returns the name of the type that the method belongs to: the first name in the receiver's type.
func receiver(list *ast.FieldList) (name string) {
	for _, r := range list.List {
		ast.Inspect(r.Type, func(n ast.Node) bool {
			if i, ok := n.(*ast.Ident); ok && name == "" {
				name = i.Name
			}
			return name == ""
		})
	}
	return name
}

// imported adds the import to the session, and removes an earlier import with the same name. (Several packages may be
// imported with the name _ or with a dot.)
func (s *Session) imported(spec *ast.ImportSpec, from string) error {
	i := imported{path: strings.Trim(spec.Path.Value, "\"`"), from: from}
	var ok bool
	if i.name, ok = s.names[i.path]; !ok {
		return fmt.Errorf("%s: there is no package %s here; cells may import the standard library and the packages that notebooks import",
			strings.TrimPrefix(from, "line "), spec.Path.Value)
	}
	if spec.Name != nil {
		i.name = spec.Name.Name
	}
	s.imports = slices.DeleteFunc(slices.Clone(s.imports), func(old imported) bool {
		return old.name == i.name && (i.name != "_" && i.name != "." || old.path == i.path)
	})
	s.imports = append(s.imports, i)
	return nil
}

// opening is the code that replaces %%.
const opening = "func main() {"

// write sets the program's source, imports and environment. The program contains the units that [needed] returns for
// mains.
func (p *Program) write(mains ...unit) error {
	p.Env = p.then.env
	units := needed(p.then.units, mains)
	// Units that only declare something are sorted by place and text, not by the order in which cells ran. So the program
	// of a cell stays the same when the cell runs again after others.
	order := func(u unit) string {
		if u.runs {
			return ""
		}
		return u.from + u.text
	}
	slices.SortStableFunc(units, func(a, b unit) int { return strings.Compare(order(a), order(b)) })
	body := ""
	for _, u := range units {
		body += u.from + u.text + "\n"
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", "package main\n"+body, 0)
	if err != nil {
		return err
	}
	used := qualifiers(file)
	imports := p.then.withStandard(slices.DeleteFunc(slices.Clone(p.then.imports), func(i imported) bool {
		return !used[i.name] && i.name != "_" && i.name != "."
	}), used)
	slices.SortFunc(imports, func(a, b imported) int { return strings.Compare(a.path+a.name, b.path+b.name) })
	// Package os tells the runtime of js/wasm about events; without it, the runtime cannot detect a deadlock.
	p.Imports = []string{"os"}
	head := "package main; import _ \"os\"\n"
	for _, i := range imports {
		head += "import /*" + i.from + "*/" + i.name + " \"" + i.path + "\"\n"
		p.Imports = append(p.Imports, i.path)
	}
	p.Source = head + body
	if slices.Contains(p.Imports, "flag") {
		p.Source = strings.Replace(p.Source, opening, opening+" flag.Parse();", 1)
	}
	return nil
}

// needed returns the functions main in mains, the units of their cells, the units that every program contains, and all
// units that the returned units mention.
func needed(units, mains []unit) (found []unit) {
	units, mentioned := append(slices.Clone(units), mains...), map[string]bool{}
	for left := len(units) + 1; len(units) < left; {
		left = len(units)
		units = slices.DeleteFunc(units, func(u unit) bool {
			take := u.runs || slices.ContainsFunc(mains, func(m unit) bool { return m.cell == u.cell })
			for _, n := range u.names {
				name, _, _ := strings.Cut(n.name, ".") // a method is needed if its type is mentioned
				take = take || mentioned[name]
			}
			if take {
				found = append(found, u)
				mention(mentioned, u.text)
			}
			return take
		})
	}
	return found
}

// mention adds the names in the text to names.
func mention(names map[string]bool, text string) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), []byte(text), nil, 0)
	for {
		switch _, kind, name := s.Scan(); kind {
		case token.IDENT:
			names[name] = true
		case token.EOF:
			return
		}
	}
}

// standard returns the path of the standard package that has this name and whose path ends in the name, or "" if there
// is no such package, or more than one. A cell may omit the import of a package that standard finds.
func (s *Session) standard(name string) (found string) {
	for p, n := range s.names {
		first, _, _ := strings.Cut(p, "/")
		if n != name || strings.Contains(first, ".") || path.Base(p) != name {
			continue
		}
		if found != "" {
			return ""
		}
		found = p
	}
	return found
}

// withStandard returns the imports and, for each used name that they lack, the [Session.standard] package of this name,
// if there is one.
func (s *Session) withStandard(imports []imported, used map[string]bool) []imported {
	for name := range used {
		path := s.standard(name)
		if path != "" && !slices.ContainsFunc(imports, func(i imported) bool { return i.name == name }) {
			imports = append(imports, imported{name, path, "line imports:1:1"})
		}
	}
	return imports
}

// qualifiers returns the names of packages in the file: names before a dot that the file does not declare.
func qualifiers(file *ast.File) map[string]bool {
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			// The parser resolves names within the file, which is enough.
			if x, ok := selector.X.(*ast.Ident); ok && x.Obj == nil {
				used[x.Name] = true
			}
		}
		return true
	})
	return used
}

// Imports returns the paths of the packages that the cell itself imports.
func Imports(text string) (paths []string, err error) {
	code, err := new(Program).magics("cell", text)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", "package main\n"+code, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, i := range file.Imports {
		paths = append(paths, strings.Trim(i.Path.Value, "\"`"))
	}
	return paths, nil
}
