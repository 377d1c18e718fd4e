// Package mutation breaks functions in small ways and runs tests, which should fail.
//
// A test program contains all mutants of the code that it tests. A mutated function begins with a switch. Each case of
// the switch is a mutant: a copy of the function's body with one change. An environment variable selects the mutant. So
// a hundred mutants need a hundred runs of a test program, but not a hundred builds. The sources stay unchanged,
// because `go test -overlay` reads the mutated sources from another folder.
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

// The kinds of change.
const (
	Constant  Operator = "constant"  // the function returns zero values, or its first result is 1 or true
	Sign      Operator = "sign"      // the result or a term changes its sign
	Identity  Operator = "identity"  // the function returns one of its arguments, or copies it to dst
	Factor    Operator = "factor"    // the result or a constant is doubled, * becomes /, or / becomes *
	Term      Operator = "term"      // an operand of a sum, a difference, a product or a quotient is dropped
	Argument  Operator = "argument"  // two adjacent arguments are swapped, min becomes max, or max becomes min
	Step      Operator = "step"      // a statement, a function's or a loop's body, or a call to package math is skipped
	Condition Operator = "condition" // a condition is negated, && and || are exchanged, or a comparison becomes strict or not strict
)

// Mutant is a function with one change.
type Mutant struct {
	ID int // from 1 within a [Program]
	*Function
	Operator Operator
	From, To string // the code before and after the change, or a description of both; each is shortened to one line
	body     string // the body of the function, with the change
}

// Function is a declared function with a body.
type Function struct {
	Folder, File string
	Name         string // "Name" or "Type.Name"
	source       []byte // the text of the file
	file         *ast.File
	decl         *ast.FuncDecl
	mutants      []Mutant
}

// Functions returns the functions and methods of a package, without those in test files. The package is in the given
// folder of the module at root.
func Functions(root, folder string) (all []*Function, err error) {
	p, err := build.ImportDir(filepath.Join(root, folder), 0)
	if err != nil {
		return nil, err
	}
	for _, name := range p.GoFiles {
		source, unread := os.ReadFile(filepath.Join(p.Dir, name))
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err := errors.Join(unread, err); err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				f := &Function{folder, name, d.Name.Name, source, file, d, nil}
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
func Named(all []*Function, symbol string) []*Function {
	return slices.DeleteFunc(slices.Clone(all), func(f *Function) bool {
		return f.Name != symbol && !strings.HasPrefix(f.Name, symbol+".")
	})
}

// between returns the source from one position to another.
func (f *Function) between(p, q token.Pos) string {
	return string(f.source[p-f.file.FileStart : q-f.file.FileStart])
}

func (f *Function) text(n ast.Node) string { return f.between(n.Pos(), n.End()) }

// generate makes the changes of the function's body. It omits changes in code that only passes an error on, or writes
// the text of an error. [Build] drops the mutants that do not compile.
func (f *Function) generate() []Mutant {
	f.mutants = nil
	f.results()
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		_, binary := n.(*ast.BinaryExpr) // look into a binary expression even if words matches it
		if n == nil || !binary && words.MatchString(f.text(n)) {
			return false
		}
		f.node(n)
		return true
	})
	return f.mutants
}

// words matches the start of code that only passes an error on, or writes the text of an error.
var words = regexp.MustCompile(`^(if err != nil {|panic\(|fmt\.Errorf\(|errors\.|fault\.)`)

// add adds the replacement of a node by a text.
func (f *Function) add(op Operator, n ast.Node, text string) {
	b := f.decl.Body
	f.change(op, f.text(n), text, f.between(b.Pos(), n.Pos())+text+f.between(n.End(), b.End()))
}

// change adds a change of the body, unless another change gives the same body. For example, dropping the first factor of
// x*x is the same as dropping the second.
func (f *Function) change(op Operator, from, to, body string) {
	if from != to && !slices.ContainsFunc(f.mutants, func(m Mutant) bool { return m.body == body }) {
		f.mutants = append(f.mutants, Mutant{Function: f, Operator: op, From: oneLine(from), To: oneLine(to), body: body})
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

// variable is a parameter or a result.
type variable struct{ name, kind string }

func (f *Function) variables(lists ...*ast.FieldList) (all []variable) {
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, v := range list.List {
			for _, name := range append(v.Names, ast.NewIdent("_"))[:max(1, len(v.Names))] {
				all = append(all, variable{name.Name, f.text(v.Type)})
			}
		}
	}
	return all
}

// call returns the source of statements that run body instead of the function's own body, and return the results of
// body.
func (f *Function) call(body string) string {
	if f.decl.Type.Results == nil {
		return "func() " + body + "(); return"
	}
	return "return func() " + f.text(f.decl.Type.Results) + " " + body + "()"
}

// results adds the changes of the function's results, or of the values that it writes to dst.
func (f *Function) results() {
	in, out := f.variables(f.decl.Type.Params, f.decl.Recv), f.variables(f.decl.Type.Results)
	var names, zeros []string
	for i, r := range out {
		names, zeros = append(names, fmt.Sprint("mutant", i)), append(zeros, "*new("+r.kind+")")
	}
	kind := append(out, variable{})[0].kind          // of the first result
	returns := func(op Operator, to, first string) { // zeros for the other results
		f.change(op, "the result", to, "{ return "+strings.Join(append([]string{first}, zeros[1:]...), ", ")+" }")
	}
	dst := slices.Contains(in, variable{"dst", "[]float64"})
	for _, op := range []Operator{Sign, Factor} {
		by := map[Operator]string{Sign: "-1", Factor: "2"}[op]
		if dst {
			f.change(op, "dst", by+" times dst", "{ defer func() { for i := range dst { dst[i] *= "+by+" } }(); "+f.text(f.decl.Body)[1:])
		}
		if scaled := scaled[kind]; scaled != "" {
			list := strings.Join(names, ", ")
			f.change(op, "the result", by+" times the result",
				"{ "+list+" := "+strings.TrimPrefix(f.call(f.text(f.decl.Body)), "return ")+fmt.Sprintf(scaled, by)+"; return "+list+" }")
		}
	}
	for _, p := range in {
		switch {
		case p.name == "dst":
		case dst && p.kind == "[]float64":
			f.change(Identity, "dst", p.name, "{ copy(dst, "+p.name+"); return "+strings.Join(zeros, ", ")+" }")
		case p.kind == kind && kind != "error" && kind != "bool":
			returns(Identity, p.name, p.name)
		}
	}
	if len(out) == 0 {
		f.change(Step, "the body", "nothing", "{}")
		return
	}
	if len(out) > 1 || kind != "error" {
		returns(Constant, "0", zeros[0])
	}
	if one := map[string]string{"bool": "true", "float64": "1", "int": "1"}[kind]; one != "" {
		returns(Constant, one, one)
	}
}

// scaled maps the type of the first result to code that multiplies this result by a factor.
var scaled = map[string]string{"float64": "; mutant0 *= %s", "int": "; mutant0 *= %s",
	"[]float64": "; mutant0 = append([]float64(nil), mutant0...); for i := range mutant0 { mutant0[i] *= %s }"}

// swapped maps an operator to its replacement.
var swapped = map[token.Token]struct {
	Operator
	to string
}{
	token.ADD: {Sign, "-"}, token.SUB: {Sign, "+"}, token.MUL: {Factor, "/"}, token.QUO: {Factor, "*"},
	token.ADD_ASSIGN: {Sign, "-="}, token.SUB_ASSIGN: {Sign, "+="}, token.MUL_ASSIGN: {Factor, "/="}, token.QUO_ASSIGN: {Factor, "*="},
	token.LSS: {Condition, "<="}, token.LEQ: {Condition, "<"}, token.GTR: {Condition, ">="}, token.GEQ: {Condition, ">"},
	token.EQL: {Condition, "!="}, token.NEQ: {Condition, "=="}, token.LAND: {Condition, "||"}, token.LOR: {Condition, "&&"},
}

// node adds the changes of one node.
func (f *Function) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		x, y, other := f.text(n.X), f.text(n.Y), swapped[n.Op]
		switch other.Operator {
		case Condition:
			f.add(Condition, n, x+" "+other.to+" "+y)
		case Sign, Factor:
			f.add(other.Operator, n, x+" "+other.to+" ("+y+")")
			f.add(Term, n, x)
			if n.Op == token.MUL || n.Op == token.ADD {
				f.add(Term, n, y)
			}
			for _, side := range []ast.Expr{n.X, n.Y} {
				if v, ok := side.(*ast.BasicLit); ok && (v.Kind == token.INT || v.Kind == token.FLOAT) && v.Value != "0" {
					f.add(Factor, v, "(2 * "+v.Value+")")
				}
			}
		}
	case *ast.UnaryExpr:
		if op := map[token.Token]Operator{token.SUB: Sign, token.NOT: Condition}[n.Op]; op != "" {
			f.add(op, n, f.text(n.X))
		}
	case *ast.CallExpr:
		f.arguments(n)
	case *ast.ExprStmt:
		f.add(Step, n, "{}")
	case *ast.AssignStmt:
		if other, ok := swapped[n.Tok]; ok {
			f.add(other.Operator, n, f.text(n.Lhs[0])+" "+other.to+" "+f.text(n.Rhs[0]))
		}
	case *ast.BlockStmt:
		for _, s := range n.List {
			if a, ok := s.(*ast.AssignStmt); ok && a.Tok != token.DEFINE {
				f.add(Step, a, "{}")
			}
		}
	case *ast.RangeStmt:
		f.add(Step, n.Body, "{}")
	case *ast.IfStmt:
		if _, ok := n.Cond.(*ast.BinaryExpr); !ok {
			f.add(Condition, n.Cond, "!("+f.text(n.Cond)+")")
		}
	}
}

// symmetric lists functions whose arguments may be swapped without effect, or are not numbers.
var symmetric = []string{"min", "max", "math.Max", "math.Min", "math.Hypot", "floats.Dot", "floats.Distance", "mat.Dot", "sum.Dot",
	"append", "make"}

// arguments adds the changes of a call.
func (f *Function) arguments(n *ast.CallExpr) {
	fun := f.text(n.Fun)
	for i := range max(1, len(n.Args)) - 1 {
		a, b := n.Args[i], n.Args[i+1]
		if !slices.Contains(symmetric, fun) && f.text(a) != f.text(b) {
			f.add(Argument, n, f.between(n.Pos(), a.Pos())+f.text(b)+", "+f.text(a)+f.between(b.End(), n.End()))
		}
	}
	if other := map[string]string{"min": "max", "max": "min"}[fun]; other != "" {
		f.add(Argument, n.Fun, other)
	}
	if strings.HasPrefix(fun, "math.") && len(n.Args) == 1 {
		f.add(Step, n, "("+f.text(n.Args[0])+")")
	}
}
