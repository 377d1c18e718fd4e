package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// An equation is a row of the index of equations and statements: what it says,
// where it is in the notebooks and in the code, and what became of it.
type equation struct {
	Number, What, Symbol, Notebook, Anchor, Test, Verdict, Erratum, Found string

	SymbolAt, TestAt string // source file and line, from the pages' folder; empty if not found
}

// equations reads data/equations.csv and looks up where its symbols and tests
// are declared. Without the file there are none.
func (l *Lab) equations() ([]equation, error) {
	rows, err := l.records("equations.csv", 9)
	if err != nil {
		return nil, err
	}
	code := declarations{root: l.Root}
	var all []equation
	for _, row := range rows {
		e := equation{Number: row[0], What: row[1], Symbol: row[2], Notebook: row[3], Anchor: row[4], Test: row[5], Verdict: row[6], Erratum: row[7], Found: row[8]}
		dir, name, _ := strings.Cut(path.Base(e.Symbol), ".")
		e.SymbolAt = code.find(path.Join(path.Dir(e.Symbol), dir), name)
		// A test is named as go test -run has it: folder/TestName/subtest.
		if at := strings.Index(e.Test, "/Test"); at >= 0 {
			name, _, _ := strings.Cut(e.Test[at+1:], "/")
			e.TestAt = code.find(e.Test[:at], name)
		}
		all = append(all, e)
	}
	return all, nil
}

// declarations finds where packages of the clone declare a name.
type declarations struct {
	root  string
	known map[string]map[string]string // by folder and name: file and line
}

// find returns the place of Name, or Type.Method, in the package of the folder.
func (d *declarations) find(dir, name string) string {
	if d.known == nil {
		d.known = map[string]map[string]string{}
	}
	if d.known[dir] == nil {
		d.known[dir] = map[string]string{}
		files, _ := filepath.Glob(filepath.Join(d.root, dir, "*.go"))
		for _, file := range files {
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
			if err != nil {
				continue // the compiler says what is wrong with it
			}
			note := func(name string, at token.Pos) {
				d.known[dir][name] = fmt.Sprintf("../%s/%s#L%d", dir, filepath.Base(file), set.Position(at).Line)
			}
			for _, decl := range tree.Decls {
				switch decl := decl.(type) {
				case *ast.FuncDecl:
					note(receiver(decl)+decl.Name.Name, decl.Pos())
				case *ast.GenDecl:
					for _, spec := range decl.Specs {
						switch spec := spec.(type) {
						case *ast.TypeSpec:
							note(spec.Name.Name, spec.Pos())
						case *ast.ValueSpec:
							for _, id := range spec.Names {
								note(id.Name, id.Pos())
							}
						}
					}
				}
			}
		}
	}
	if at := d.known[dir][name]; at != "" {
		return at
	}
	// A method of an interface, or one that comes with an embedded type: the type.
	if of, _, method := strings.Cut(name, "."); method {
		return d.known[dir][of]
	}
	return ""
}

// receiver is "Type." for a method.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}

var numbered = regexp.MustCompile(`<a id="([a-z]+-[0-9a-z-]+)"></a>`)

// linkBack turns the anchors of equations in a page into links to the index.
func linkBack(body string, equations []equation) string {
	numbers := map[string]string{}
	for _, e := range equations {
		numbers[e.Anchor] = e.Number
	}
	return numbered.ReplaceAllStringFunc(body, func(tag string) string {
		id := numbered.FindStringSubmatch(tag)[1]
		if numbers[id] == "" {
			return tag
		}
		return fmt.Sprintf(`<a id="%s" class="numbered" href="equations.html#%s" title="%s in the index of equations">%s</a>`,
			id, id, html.EscapeString(numbers[id]), html.EscapeString(numbers[id]))
	})
}

var erratumName = regexp.MustCompile(`<p>(<strong>[^<]*</strong>[^<]*<em>([a-z0-9-]+)</em></p>)`)

// nameErrata gives the entries of the errata an anchor each.
func nameErrata(body string) string {
	return erratumName.ReplaceAllString(body, `<p id="erratum-$2">$1`)
}
