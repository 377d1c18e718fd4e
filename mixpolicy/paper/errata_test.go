package paper

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
)

// For each erratum, a computation finds that the printed form fails and the corrected form holds. An error, and no
// other kind, also has a reading most favourable to the authors, in which the statement fails as well. The witness
// finds the numbers of data/errata.csv.
func TestErrata(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range mixpolicy.Must(RecordedErrata()) {
		t.Run(e.ID, func(t *testing.T) {
			if seen[e.ID] {
				t.Error("the ID is used twice")
			}
			seen[e.ID] = true
			f := mixpolicy.Must(e.Witness(t.Context()))
			if f.PrintedHolds() {
				t.Errorf("the printed form holds: %+v", f)
			}
			if !f.CorrectedHolds() {
				t.Errorf("the corrected form fails: %+v", f)
			}
			if !slices.Contains(Kinds(), e.Kind) {
				t.Errorf("kind %q, want one of %v", e.Kind, Kinds())
			}
			if grave := e.Kind == Error; grave != (e.Reading != "") || grave != (e.Examined != "") || grave == (f.Reading <= f.Tolerance) {
				t.Errorf("%s with the reading %q, of deviation %v: want a reading that fails for an error, and no reading for another kind", e.Kind, e.Reading, f.Reading)
			}
			for reading := range strings.SplitSeq(e.Examined, "; ") {
				if n := strings.Count(reading, ": "); n != 2 && reading != "" {
					t.Errorf("examined is %q, with %d colons; want a reading, what it gives and whether the statement holds", reading, n)
				}
			}
			for name, text := range map[string]string{"Printed": e.Printed, "Corrected": e.Corrected, "Why": e.Why, "Downstream": e.Downstream, "numbers": f.Numbers} {
				if text == "" {
					t.Errorf("%s is empty", name)
				}
			}
			if !sameNumbers(e.Numbers, f.Numbers) {
				t.Errorf("recorded %q, computed %q; %s errata", e.Numbers, f.Numbers, makes)
			}
			if n := len(strings.Fields(e.Why)); n > 60 {
				t.Errorf("Why has %d words, want at most 60", n)
			}
			for _, text := range []string{e.Printed, e.Corrected, e.Why, e.Downstream, e.Reading, e.Examined, e.Choice} {
				if strings.Count(text, "$")%2 != 0 || strings.Count(text, "{") != strings.Count(text, "}") || formulaInUnicode.MatchString(text) {
					t.Errorf("dollar signs or braces don't match, or a formula is not in TeX: %s", text)
				}
			}
		})
	}
}

var formulaInUnicode = regexp.MustCompile(`[‖⟨⟩∇√Σ≤≥⪰θλΨξ₀-₉]`)

// The index and the errata refer to each other. If an erratum is about an entry, the entry names its gravest erratum;
// if an entry names an erratum, the erratum is about this entry.
func TestErrataAndIndex(t *testing.T) {
	numbers := map[string]Entry{}
	for _, e := range Index() {
		numbers[e.Number] = e
	}
	for _, e := range Errata() {
		for _, where := range e.Where {
			if strings.HasPrefix(where, "§") || where == "abstract" {
				continue
			}
			n, ok := numbers[where]
			if !ok {
				t.Errorf("erratum %q is about %q, which is not in the index", e.ID, where)
				continue
			}
			if k := slices.Index(Kinds(), n.Kind()); k < 0 || k > slices.Index(Kinds(), e.Kind) {
				t.Errorf("erratum %q, of kind %s, is about (%s), which names %q", e.ID, e.Kind, where, n.Errata)
			}
		}
	}
	for _, n := range numbers {
		if n.Errata == "" {
			continue
		}
		i := slices.IndexFunc(Errata(), func(e Erratum) bool { return e.ID == n.Errata })
		if i < 0 {
			t.Errorf("(%s) names the erratum %q, which does not exist", n.Number, n.Errata)
		} else if !slices.Contains(Errata()[i].Where, n.Number) {
			t.Errorf("(%s) names the erratum %q, which is about %v", n.Number, n.Errata, Errata()[i].Where)
		}
	}
}

// TestErrataAreNamed: every erratum to which another erratum or a notebook refers exists. The notebooks set names of
// errata in italics.
func TestErrataAreNamed(t *testing.T) {
	known := map[string]bool{}
	for _, e := range Errata() {
		known[e.ID] = true
	}
	texts := map[string]string{}
	for _, file := range mixpolicy.Must(filepath.Glob(filepath.Join("..", "..", "notebooks", "*.ipynb"))) {
		var notebook struct{ Cells []struct{ Source []string } }
		if err := json.Unmarshal(mixpolicy.Must(os.ReadFile(file)), &notebook); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, cell := range notebook.Cells {
			texts[file] += strings.Join(cell.Source, "")
		}
	}
	for _, e := range Errata() {
		texts[e.ID] = e.Why + e.Downstream + e.Choice + e.Reading
	}
	named := regexp.MustCompile(`(?:errat(?:um|a) \*|see )([a-z0-9]+(?:-[a-z0-9]+)+)`)
	for name, text := range texts {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if !known[m[1]] {
				t.Errorf("%s names the erratum %q, which does not exist", name, m[1])
			}
		}
	}
}

// TestDeviationsAreComputed: the source computes every deviation by which a printed form fails or a corrected form
// holds; no deviation is a number in the source.
func TestDeviationsAreComputed(t *testing.T) {
	deviations := map[string]int{"holdsCorrected": 2, "read": 1} // how many of the leading arguments are deviations
	found := 0
	for _, file := range mixpolicy.Must(filepath.Glob("*.go")) {
		set := token.NewFileSet()
		f := mixpolicy.Must(parser.ParseFile(set, file, nil, parser.SkipObjectResolution))
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := ""
			switch fun := call.Fun.(type) {
			case *ast.Ident:
				name = fun.Name
			case *ast.SelectorExpr:
				name = fun.Sel.Name
			}
			for i := range deviations[name] {
				found++
				if typed(call.Args[i]) {
					t.Errorf("%s: a deviation is typed in", set.Position(call.Args[i].Pos()))
				}
			}
			return true
		})
	}
	if found < 2*len(Errata()) {
		t.Errorf("%d deviations found, want some for each erratum", found)
	}
}

// typed reports whether an expression contains no variable.
func typed(x ast.Expr) bool {
	variable := false
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr: // selects from a package or a variable: math.Inf, r.Gap
			if id, ok := n.X.(*ast.Ident); ok && (id.Name == "math" || id.Name == "floats") {
				return false
			}
		case *ast.Ident:
			variable = variable || ast.IsExported(n.Name) || !slices.Contains([]string{"min", "max", "excess", "relativeError", "sq", "true", "false", "nil"}, n.Name)
		}
		return true
	})
	return !variable
}

// data/errata.csv has one row with numbers for every erratum, and data/equations.csv does not change when it is read
// and written.
func TestRecorded(t *testing.T) {
	errata, entries := mixpolicy.Must(data.Rows[witnessed]("errata.csv")), mixpolicy.Must(RecordedIndex())
	if len(errata) != len(Errata()) || slices.ContainsFunc(errata, func(e witnessed) bool { return e.Witness == "" }) {
		t.Errorf("%d errata recorded, want %d, each with numbers: %+v", len(errata), len(Errata()), errata)
	}
	var b bytes.Buffer
	if err := WriteIndex(&b, entries); err != nil || b.String() != string(mixpolicy.Must(data.Files.ReadFile("equations.csv"))) {
		t.Errorf("data/equations.csv differs after reading and writing: %v", err)
	}
}
