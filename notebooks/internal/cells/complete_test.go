package cells

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed returns an importer of packages from the export data that go list -export names.
func listed(t testing.TB) types.Importer {
	return Importer(func(path string) []byte {
		file, err := exec.Command("go", "list", "-export", "-f", "{{.Export}}", path).Output()
		if err != nil {
			return nil
		}
		data, err := os.ReadFile(strings.TrimSpace(string(file)))
		if err != nil {
			t.Error(err)
		}
		return data
	})
}

const mixpolicy = "github.com/mixpolicy/lab/mixpolicy"

// TestComplete completes the name at |, which is in the last cell.
func TestComplete(t *testing.T) {
	packages := listed(t)
	for _, test := range []struct {
		name  string
		cells []string
		want  string // all completions, in order
	}{
		{"a package", []string{"import \"strings\"", "%%\nfmt.Println(strings.ToUp|)"}, "ToUpper function func(s string) string, ToUpperSpecial function func(c unicode.SpecialCase, s string) string"},
		{"a package that nothing imports", []string{"%%\nstrings.EqualF|"}, "EqualFold function func(s string, t string) bool"},
		{"fields and methods", []string{"type t struct{ count int }\nfunc (t) add() {}", "var v t\n%%\nv.|"}, "count property int, add method func()"},
		{"what is embedded", []string{"type a struct{ depth int }\ntype b struct{ *a }\n%%\nb{}.de|"}, "depth property int"},
		{"a type of another package", []string{"%%\nvar b strings.Builder\nb.WriteS|\nb.Reset()"}, "WriteString method func(s string) (int, error)"},
		{"not what others keep to themselves", []string{"%%\nvar b strings.Builder\nb.bu|"}, ""},
		{"local names before those of the session", []string{"var width1 = 1", "%%\nwidth2 := \"\"\nfmt.Println(wid|)\nwidth3 := 1"}, "width2 variable string, width1 variable int"},
		{"the cell's own declaration counts", []string{"func f1() int { return 1 }", "func f1() string { return \"\" }\n%%\nf1|"}, "f1 function func() string"},
		{"fields of a literal", []string{"type point struct{ left, right float64 }\n%%\nfmt.Println(point{le|: 1})"}, "left property float64, len function "},
		{"a keyword, and a package", []string{"%%\nstru|"}, "struct keyword "},
		{"the middle of a name", []string{"%%\nstrings.Equ|alFold(\"a\", \"A\")"}, "EqualFold function func(s string, t string) bool"},
		{"in what is not finished", []string{"%%\nfor i := range strings.SplitS|"}, "SplitSeq function func(s string, sep string) iter.Seq[string]"},
		{"letters of other alphabets", []string{"var αβγ = 1.5\n%%\nfmt.Println(\"→\", αβ|)"}, "αβγ variable float64"},
		{"our own package", []string{"import \"" + mixpolicy + "\"\n%%\nmixpolicy.AverageC|"}, "AverageCost variable mixpolicy.Criterion"},
		{"nothing in a string", []string{"%%\nfmt.Println(\"str|\")"}, ""},
		{"nothing after a magic that is none", []string{"%nonsense\nvar x = 1\n%%\nx|"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := New(map[string]string{"fmt": "fmt", "strings": "strings", mixpolicy: "mixpolicy"})
			end := len(test.cells) - 1
			compose(t, s, test.cells[:end]...)
			before, after, _ := strings.Cut(test.cells[end], "|")
			prefix, found := s.Complete(before, after, packages)
			if !strings.HasSuffix(before, prefix) {
				t.Errorf("prefix %q of %q", prefix, before)
			}
			var got []string
			for _, f := range found {
				got = append(got, f.Name+" "+f.Kind+" "+f.Type)
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestCompletePackages: Complete finds all exported names that the sources of a package declare, and no others.
func TestCompletePackages(t *testing.T) {
	packages := listed(t)
	for path, name := range map[string]string{"sort": "sort", mixpolicy: "mixpolicy"} {
		s := New(map[string]string{path: name})
		_, found := s.Complete("import \""+path+"\"\n%%\n"+name+".", "\n", packages)
		var got []string
		for _, f := range found {
			got = append(got, f.Name)
		}
		folder := must(exec.Command("go", "list", "-f", "{{.Dir}}{{range .GoFiles}} {{.}}{{end}}", path).Output())
		var want []string
		names := strings.Fields(string(folder))
		for _, file := range names[1:] {
			parsed := must(parser.ParseFile(token.NewFileSet(), filepath.Join(names[0], file), nil, 0))
			for name := range parsed.Scope.Objects {
				if ast.IsExported(name) {
					want = append(want, name)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(want) < 10 {
			t.Errorf("%s: got %q\nwant %q", path, got, want)
		}
	}
}

func TestInspect(t *testing.T) {
	packages := listed(t)
	for text, want := range map[string]string{
		"%%\nx := strings.Equal|Fold(\"a\", \"b\")": "func strings.EqualFold(s string, t string) bool",
		"%%\nyear := 1\nfmt.Println(y|ear)":         "var year int",
		"type t int\nfunc (t) m() {}\nvar x t|":     "type t int\nfunc (t).m()",
		"%%\nfmt.Println(1|2)":                      "",
		"%%\nundefined|(1)":                         "",
	} {
		before, after, _ := strings.Cut(text, "|")
		if got := New(map[string]string{"fmt": "fmt", "strings": "strings"}).Inspect(before, after, packages); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
