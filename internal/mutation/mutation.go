// Package mutation breaks functions in small ways and runs tests, which should notice.
//
// One program contains all mutants: a mutated function begins with a switch over the number of
// the mutant, which a variable of the environment gives, and each case is a copy of the body with
// one change. A hundred mutants need one build and a hundred runs of a test. The sources stay as
// they are, because go build -overlay reads the mutated ones from elsewhere.
package mutation

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Operator is a kind of change.
type Operator string

// The changes.
const (
	Constant  Operator = "constant"  // the function returns zeros, or 1
	Sign      Operator = "sign"      // the result or a term has the other sign
	Identity  Operator = "identity"  // the function returns its argument
	Factor    Operator = "factor"    // the result or a constant is twice as large, * for /
	Term      Operator = "term"      // an operand of a sum, a product or a quotient is dropped
	Argument  Operator = "argument"  // two arguments in turn are swapped; min for max
	Step      Operator = "step"      // a statement, a loop's body or a function of package math is skipped
	Condition Operator = "condition" // a condition is negated, < for ≤, && for ||
)

// Mutant is one change of one function.
type Mutant struct {
	ID int // from 1 within a [Program]
	*Function
	Operator Operator
	From, To string // the changed source, on one line each
	body     string // of the function, with the change
}

// Function is a declared function with a body.
type Function struct {
	Folder, File string
	Name         string // "Name" or "Type.Name"
	source       []byte // of the file
	file         *ast.File
	decl         *ast.FuncDecl
	fset         *token.FileSet
}

// Functions returns the functions of the package in a folder below root, tests aside, in the
// order of its files.
func Functions(root, folder string) ([]*Function, error) {
	p, err := build.ImportDir(filepath.Join(root, folder), 0)
	if err != nil {
		return nil, err
	}
	var all []*Function
	for _, name := range p.GoFiles {
		path := filepath.Join(root, folder, name)
		source, unread := os.ReadFile(path)
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
		if err := errors.Join(unread, err); err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				f := &Function{folder, name, d.Name.Name, source, file, d, fset}
				if d.Recv != nil {
					kind, _, _ := strings.Cut(f.text(d.Recv.List[0].Type), "[")
					f.Name = strings.TrimPrefix(kind, "*") + "." + f.Name
				}
				all = append(all, f)
			}
		}
	}
	return all, nil
}

// Named returns the functions that a symbol stands for: a function or a method, or the methods of
// a type.
func Named(all []*Function, symbol string) (found []*Function) {
	for _, f := range all {
		if f.Name == symbol || strings.HasPrefix(f.Name, symbol+".") {
			found = append(found, f)
		}
	}
	return found
}

// between returns the source from one position to another.
func (f *Function) between(p, q token.Pos) string {
	return string(f.source[f.fset.Position(p).Offset:f.fset.Position(q).Offset])
}

func (f *Function) text(n ast.Node) string { return f.between(n.Pos(), n.End()) }

// Mutants returns the changes of the function's body, without those that only touch the words of
// an error or pass an error on. [Build] leaves out those that do not compile.
func (f *Function) Mutants() []Mutant {
	g := &generator{Function: f}
	g.results()
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		text := ""
		switch n := n.(type) {
		case nil:
			return true
		case *ast.IfStmt:
			text = g.between(n.Pos(), n.Body.Pos())
		case *ast.ExprStmt, *ast.CallExpr:
			text = g.text(n)
		}
		words := words.MatchString(text)
		if !words {
			g.node(n)
		}
		return !words
	})
	return g.mutants
}

// words begins code that only passes an error on, or writes one.
var words = regexp.MustCompile(`^(if err != nil $|panic\(|fmt\.Errorf\(|errors\.|fault\.)`)

type generator struct {
	*Function
	mutants []Mutant
}

// add adds the change of a node to another text.
func (g *generator) add(op Operator, n ast.Node, text string) {
	b := g.decl.Body
	g.body(op, g.text(n), text, g.between(b.Pos(), n.Pos())+text+g.between(n.End(), b.End()))
}

// body adds a change of the body, but no change twice: both factors of x*x are dropped alike.
func (g *generator) body(op Operator, from, to, body string) {
	if from != to && !slices.ContainsFunc(g.mutants, func(m Mutant) bool { return m.body == body }) {
		g.mutants = append(g.mutants, Mutant{Function: g.Function, Operator: op, From: oneLine(from), To: oneLine(to), body: body})
	}
}

// oneLine shortens source to a line of at most 80 characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 80 {
		s = string(r[:79]) + "…"
	}
	return s
}

// parameter is a parameter or a result, one for each name.
type parameter struct{ name, kind string }

func (f *Function) parameters(lists ...*ast.FieldList) (all []parameter) {
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, p := range list.List {
			for _, name := range p.Names {
				all = append(all, parameter{name.Name, f.text(p.Type)})
			}
			if len(p.Names) == 0 {
				all = append(all, parameter{"_", f.text(p.Type)})
			}
		}
	}
	return all
}

// call is the source of statements that run a body in place of the function's, and return what it returns.
func (f *Function) call(body string) string {
	if f.decl.Type.Results == nil {
		return "func() " + body + "(); return"
	}
	return "return " + f.literal(body)
}

// literal is the source of the call of a function literal with the function's results.
func (f *Function) literal(body string) string {
	return "func() (" + strings.TrimSuffix(strings.TrimPrefix(f.text(f.decl.Type.Results), "("), ")") + ") " + body + "()"
}

// results adds the changes of what the function returns, or of what it writes to dst.
func (g *generator) results() {
	in, out := g.parameters(g.decl.Type.Params, g.decl.Recv), g.parameters(g.decl.Type.Results)
	body := g.text(g.decl.Body)
	var names, zeros []string
	for i, r := range out {
		names, zeros = append(names, fmt.Sprint("mutantResult", i)), append(zeros, "*new("+r.kind+")")
	}
	change := func(op Operator, to, first string) { // the first result is another, the others are zeros
		g.body(op, "the result", to, "{ return "+strings.Join(append([]string{first}, zeros[1:]...), ", ")+" }")
	}
	dst := slices.Contains(in, parameter{"dst", "[]float64"})
	for _, op := range []Operator{Sign, Factor} {
		by := map[Operator]string{Sign: "-1", Factor: "2"}[op]
		if dst {
			g.body(op, "dst", by+" times dst", "{ defer func() { copy(dst, mutantScaled(dst, "+by+")) }(); "+g.call(body)+" }")
		}
		if len(out) > 0 && slices.Contains([]string{"float64", "int", "[]float64"}, out[0].kind) {
			scaled := append([]string{"mutantScaled(mutantResult0, " + by + ")"}, names[1:]...)
			text := "{ " + strings.Join(names, ", ") + " := " + g.literal(body) + "; return " + strings.Join(scaled, ", ") + " }"
			g.body(op, "the result", by+" times the result", text)
		}
	}
	for _, p := range in {
		switch {
		case p.name == "_" || p.name == "dst":
		case dst && p.kind == "[]float64":
			g.body(Identity, "dst", p.name, "{ copy(dst, "+p.name+"); "+g.call("{ return "+strings.Join(zeros, ", ")+" }")+" }")
		case len(out) > 0 && p.kind == out[0].kind && p.kind != "error" && p.kind != "bool":
			change(Identity, p.name, p.name)
		}
	}
	if len(out) == 0 {
		g.body(Step, "the body", "nothing", "{}")
		return
	}
	if len(out) > 1 || out[0].kind != "error" {
		change(Constant, "0", zeros[0])
	}
	if one := map[string]string{"bool": "true", "float64": "1", "int": "1"}[out[0].kind]; one != "" {
		change(Constant, one, one)
	}
}

var swapped = map[token.Token]string{
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
	token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*=",
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&",
}

var operatorOf = map[token.Token]Operator{
	token.ADD: Sign, token.SUB: Sign, token.MUL: Factor, token.QUO: Factor,
	token.ADD_ASSIGN: Sign, token.SUB_ASSIGN: Sign, token.MUL_ASSIGN: Factor, token.QUO_ASSIGN: Factor,
}

// node adds the changes of one node.
func (g *generator) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		x, y := g.text(n.X), g.text(n.Y)
		op := operatorOf[n.Op]
		if op == "" {
			if swapped[n.Op] != "" {
				g.add(Condition, n, x+" "+swapped[n.Op]+" "+y)
			}
			return
		}
		g.add(op, n, x+" "+swapped[n.Op]+" ("+y+")")
		g.add(Term, n, x)
		if n.Op == token.MUL || n.Op == token.ADD {
			g.add(Term, n, y)
		}
		for _, side := range []ast.Expr{n.X, n.Y} {
			if v, ok := side.(*ast.BasicLit); ok && (v.Kind == token.INT || v.Kind == token.FLOAT) && v.Value != "0" {
				g.add(Factor, v, "(2 * "+v.Value+")")
			}
		}
	case *ast.UnaryExpr:
		if op := map[token.Token]Operator{token.SUB: Sign, token.NOT: Condition}[n.Op]; op != "" {
			g.add(op, n, g.text(n.X))
		}
	case *ast.CallExpr:
		g.arguments(n)
	case *ast.ExprStmt:
		g.add(Step, n, "{}")
	case *ast.AssignStmt:
		if op, ok := operatorOf[n.Tok]; ok {
			g.add(op, n, g.text(n.Lhs[0])+" "+swapped[n.Tok]+" "+g.text(n.Rhs[0]))
		}
	case *ast.BlockStmt:
		for _, s := range n.List {
			if a, ok := s.(*ast.AssignStmt); ok && a.Tok != token.DEFINE {
				g.add(Step, a, "{}")
			}
		}
	case *ast.RangeStmt:
		g.add(Step, n.Body, "{}")
	case *ast.IfStmt:
		if _, ok := n.Cond.(*ast.BinaryExpr); !ok {
			g.add(Condition, n.Cond, "!("+g.text(n.Cond)+")")
		}
	}
}

// symmetric are functions whose arguments may be swapped, or are no numbers.
var symmetric = []string{"min", "max", "math.Max", "math.Min", "math.Hypot", "floats.Dot", "floats.Distance", "mat.Dot", "sum.Dot",
	"append", "make"}

// arguments adds the changes of a call.
func (g *generator) arguments(n *ast.CallExpr) {
	fun := g.text(n.Fun)
	for i := range max(1, len(n.Args)) - 1 {
		a, b := n.Args[i], n.Args[i+1]
		if !slices.Contains(symmetric, fun) && g.text(a) != g.text(b) {
			g.add(Argument, n, g.between(n.Pos(), a.Pos())+g.text(b)+", "+g.text(a)+g.between(b.End(), n.End()))
		}
	}
	if other := map[string]string{"min": "max", "max": "min"}[fun]; other != "" {
		g.add(Argument, n.Fun, other)
	}
	if strings.HasPrefix(fun, "math.") && len(n.Args) == 1 {
		g.add(Step, n, "("+g.text(n.Args[0])+")")
	}
}
