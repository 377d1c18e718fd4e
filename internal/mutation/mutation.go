// Package mutation breaks functions in small ways and runs tests, which should notice.
//
// All mutants are built into one program: a mutated function begins with a switch over the
// number of the mutant to be, which a variable of the environment gives, and each case is a
// copy of the body with one change. So a hundred mutants take one build and a hundred runs of a
// test, where a build for each would take most of the time. The sources stay as they are:
// go build -overlay takes the mutated ones from elsewhere.
package mutation

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
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
	ID       int // from 1 within a [Program]
	Folder   string
	File     string // in the folder
	Function string // "Name" or "Type.Name"
	Line     int
	Operator Operator
	From, To string // the changed source, on one line each; From ends in "[2]" for the second such change of a function
	edit     edit
}

// edit replaces the bytes from start to end of a function's body, counted from its brace; one
// of start 0 and end −1 replaces the body.
type edit struct {
	start, end int
	text       string
}

// Function is a declared function with a body.
type Function struct {
	Folder, File, Name string
	source             []byte // of the file
	file               *ast.File
	decl               *ast.FuncDecl
	fset               *token.FileSet
}

// Functions returns the functions of the package in a folder below root, tests aside, in the
// order of its files.
func Functions(root, folder string) ([]*Function, error) {
	p, err := build.ImportDir(filepath.Join(root, folder), 0)
	if err != nil {
		return nil, fmt.Errorf("mutation: %w", err)
	}
	var all []*Function
	for _, name := range p.GoFiles {
		path := filepath.Join(root, folder, name)
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("mutation: %w", err)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("mutation: %w", err)
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				all = append(all, &Function{folder, name, receiver(d) + d.Name.Name, source, file, d, fset})
			}
		}
	}
	return all, nil
}

// receiver returns "Type." for a method, else "".
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return ""
		}
	}
}

// Named returns the functions that a symbol stands for: a function or a method, or the methods of
// a type.
func Named(all []*Function, symbol string) []*Function {
	var found []*Function
	for _, f := range all {
		if f.Name == symbol || strings.HasPrefix(f.Name, symbol+".") {
			found = append(found, f)
		}
	}
	return found
}

// Hash is a short hash of the code of the functions, comments and layout aside.
func Hash(functions []*Function) string {
	h := sha256.New()
	for _, f := range functions {
		bare := *f.decl
		bare.Doc = nil
		var b bytes.Buffer
		if err := format.Node(&b, token.NewFileSet(), &bare); err != nil {
			panic("mutation: " + err.Error()) // it was parsed from source
		}
		h.Write([]byte(strings.Join(strings.Fields(b.String()), " ")))
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6])
}

func (f *Function) offset(p token.Pos) int { return f.fset.Position(p).Offset }

// text returns the source of a node.
func (f *Function) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}

// Mutants returns the changes of the function's body, without those that only touch the words of
// an error. Some don't compile: [Build] leaves them out.
func (f *Function) Mutants() []Mutant {
	g := &generator{Function: f, base: f.offset(f.decl.Body.Pos())}
	g.results()
	parents := []ast.Node{}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if n == nil {
			parents = parents[:len(parents)-1]
			return false
		}
		if wordsOnly(n) || refuses(n) {
			return false
		}
		g.node(n, append([]ast.Node{nil}, parents...)[len(parents)])
		parents = append(parents, n)
		return true
	})
	seen := map[[3]string]int{}
	for i := range g.mutants {
		m := &g.mutants[i]
		same := [3]string{string(m.Operator), m.From, m.To}
		if seen[same]++; seen[same] > 1 {
			m.From += fmt.Sprintf(" [%d]", seen[same])
		}
	}
	return g.mutants
}

// wordsOnly reports whether a node only makes the words of an error or a panic.
func wordsOnly(n ast.Node) bool {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch fun := c.Fun.(type) {
	case *ast.Ident:
		return fun.Name == "panic"
	case *ast.SelectorExpr:
		p, ok := fun.X.(*ast.Ident)
		return ok && (p.Name == "errors" || p.Name == "fault" || p.Name == "fmt" && fun.Sel.Name == "Errorf")
	}
	return false
}

// refuses reports whether a node is the passing on of an error: if err != nil { return … err }.
func refuses(n ast.Node) bool {
	i, ok := n.(*ast.IfStmt)
	if !ok {
		return false
	}
	c, ok := i.Cond.(*ast.BinaryExpr)
	if !ok || c.Op != token.NEQ {
		return false
	}
	x, ok1 := c.X.(*ast.Ident)
	y, ok2 := c.Y.(*ast.Ident)
	return ok1 && ok2 && x.Name == "err" && y.Name == "nil" && i.Init == nil
}

type generator struct {
	*Function
	base    int
	mutants []Mutant
}

func (g *generator) add(op Operator, n ast.Node, text string) {
	from := g.text(n)
	if text == from {
		return
	}
	start, end := g.offset(n.Pos())-g.base, g.offset(n.End())-g.base
	if slices.ContainsFunc(g.mutants, func(m Mutant) bool { return m.edit == edit{start, end, text} }) {
		return // both factors of x*x
	}
	g.mutants = append(g.mutants, Mutant{
		Folder: g.Folder, File: g.File, Function: g.Name, Line: g.fset.Position(n.Pos()).Line, Operator: op,
		From: oneLine(from), To: oneLine(text), edit: edit{start, end, text},
	})
}

// body adds a change of the whole body.
func (g *generator) body(op Operator, to, text string) {
	g.mutants = append(g.mutants, Mutant{
		Folder: g.Folder, File: g.File, Function: g.Name, Line: g.fset.Position(g.decl.Pos()).Line, Operator: op,
		From: "the result", To: to, edit: edit{0, -1, text},
	})
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

func (f *Function) parameters(list *ast.FieldList) []parameter {
	var all []parameter
	if list == nil {
		return nil
	}
	for _, p := range list.List {
		if len(p.Names) == 0 {
			all = append(all, parameter{"_", f.text(p.Type)})
		}
		for _, name := range p.Names {
			all = append(all, parameter{name.Name, f.text(p.Type)})
		}
	}
	return all
}

// results adds the changes of what the function returns, or of what it writes to dst.
func (g *generator) results() {
	in, out := g.parameters(g.decl.Type.Params), g.parameters(g.decl.Type.Results)
	if g.decl.Recv != nil {
		in = append(in, g.parameters(g.decl.Recv)...)
	}
	signature, body := g.signature(), g.text(g.decl.Body)
	dst := slices.Index(in, parameter{"dst", "[]float64"}) >= 0
	if dst {
		g.body(Sign, "dst with the other sign", fmt.Sprintf("{ defer mutantScale(dst, -1); %s func() %s %s() }", returns(out), signature, body))
		g.body(Factor, "twice dst", fmt.Sprintf("{ defer mutantScale(dst, 2); %s func() %s %s() }", returns(out), signature, body))
		for _, p := range in {
			if p.name != "dst" && p.name != "_" && p.kind == "[]float64" {
				g.body(Identity, p.name, fmt.Sprintf("{ copy(dst, %s); %s }", p.name, g.zeros(out, "dst")))
			}
		}
	}
	if len(out) == 0 {
		g.body(Step, "nothing done", "{}")
		return
	}
	zero := "*new(" + out[0].kind + ")"
	if len(out) > 1 || out[0].kind != "error" {
		g.body(Constant, "0", "{ "+g.zeros(out, zero)+" }")
	}
	first := out[0].kind
	switch first {
	case "bool":
		g.body(Constant, "true", "{ "+g.zeros(out, "true")+" }")
	case "float64", "int", "[]float64":
		if first != "[]float64" {
			g.body(Constant, "1", "{ "+g.zeros(out, "1")+" }")
		}
		names, rest := []string{"mutantFirst"}, []string{}
		for i := range out[1:] {
			names, rest = append(names, fmt.Sprintf("mutantRest%d", i)), append(rest, fmt.Sprintf(", mutantRest%d", i))
		}
		for _, c := range []struct {
			op Operator
			to string
			by string
		}{{Sign, "the other sign", "-1"}, {Factor, "twice", "2"}} {
			scaled := "mutantFirst * " + c.by
			if first == "[]float64" {
				scaled = "mutantScaled(mutantFirst, " + c.by + ")"
			}
			g.body(c.op, c.to, fmt.Sprintf("{ %s := func() %s %s(); return %s%s }", strings.Join(names, ", "), signature, body, scaled, strings.Join(rest, "")))
		}
	}
	for _, p := range in {
		if p.kind == first && p.name != "_" && p.name != "dst" && first != "error" && first != "bool" {
			g.body(Identity, p.name, "{ "+g.zeros(out, p.name)+" }")
		}
	}
}

// returns is "return" if there is something to.
func returns(out []parameter) string {
	if len(out) == 0 {
		return ""
	}
	return "return"
}

// zeros is a return statement of a first value and zeros.
func (g *generator) zeros(out []parameter, first string) string {
	if len(out) == 0 {
		return "return"
	}
	values := []string{first}
	for _, r := range out[1:] {
		values = append(values, "*new("+r.kind+")")
	}
	return "return " + strings.Join(values, ", ")
}

// signature is the source of the results, in parentheses.
func (f *Function) signature() string {
	r := f.decl.Type.Results
	if r == nil {
		return ""
	}
	s := f.text(r)
	if strings.HasPrefix(s, "(") {
		return s
	}
	return "(" + s + ")"
}

var swapped = map[token.Token]string{
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
	token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*=",
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&",
}

// node adds the changes of one node.
func (g *generator) node(n, parent ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		x, y := g.text(n.X), g.text(n.Y)
		with, ok := swapped[n.Op]
		switch {
		case !ok:
		case arithmetic(n.Op):
			op := Sign
			if n.Op == token.MUL || n.Op == token.QUO {
				op = Factor
			}
			g.add(op, n, x+" "+with+" ("+y+")")
			g.add(Term, n, x)
			if n.Op != token.QUO && n.Op != token.SUB {
				g.add(Term, n, y)
			}
		default:
			g.add(Condition, n, x+" "+with+" "+y)
		}
	case *ast.UnaryExpr:
		if n.Op == token.SUB {
			g.add(Sign, n, g.text(n.X))
		}
		if n.Op == token.NOT {
			g.add(Condition, n, g.text(n.X))
		}
	case *ast.BasicLit:
		if b, ok := parent.(*ast.BinaryExpr); ok && arithmetic(b.Op) && (n.Kind == token.INT || n.Kind == token.FLOAT) && n.Value != "0" {
			g.add(Factor, n, "(2 * "+n.Value+")")
		}
	case *ast.CallExpr:
		g.call(n)
	case *ast.ExprStmt:
		if !wordsOnly(n.X) { // what panics is only words
			g.add(Step, n, "{}")
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			return
		}
		if with, ok := swapped[n.Tok]; ok {
			op := Factor
			if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
				op = Sign
			}
			g.add(op, n, g.text(n.Lhs[0])+" "+with+" "+g.text(n.Rhs[0]))
		}
		if _, ok := parent.(*ast.BlockStmt); ok {
			g.add(Step, n, "{}")
		}
	case *ast.RangeStmt:
		g.add(Step, n.Body, "{}")
	case *ast.IfStmt:
		if _, ok := n.Cond.(*ast.BinaryExpr); !ok {
			g.add(Condition, n.Cond, "!("+g.text(n.Cond)+")")
		}
	}
}

func arithmetic(op token.Token) bool {
	return op == token.ADD || op == token.SUB || op == token.MUL || op == token.QUO
}

func (g *generator) call(n *ast.CallExpr) {
	for i := range len(n.Args) - 1 {
		a, b := n.Args[i], n.Args[i+1]
		if g.text(a) == g.text(b) {
			continue
		}
		args := make([]string, len(n.Args))
		for k, arg := range n.Args {
			args[k] = g.text(arg)
		}
		args[i], args[i+1] = args[i+1], args[i]
		dots := ""
		if n.Ellipsis.IsValid() {
			dots = "..."
		}
		switch g.text(n.Fun) {
		case "min", "max", "math.Max", "math.Min", "math.Hypot", "floats.Dot", "floats.Distance", "mat.Dot", "sum.Dot", "append", "make": // symmetric, or no numbers
		default:
			g.add(Argument, n, g.text(n.Fun)+"("+strings.Join(args, ", ")+dots+")")
		}
	}
	switch fun := n.Fun.(type) {
	case *ast.Ident:
		if other := map[string]string{"min": "max", "max": "min"}[fun.Name]; other != "" {
			g.add(Argument, fun, other)
		}
	case *ast.SelectorExpr:
		if p, ok := fun.X.(*ast.Ident); ok && p.Name == "math" && len(n.Args) == 1 {
			g.add(Step, n, "("+g.text(n.Args[0])+")")
		}
	}
}
