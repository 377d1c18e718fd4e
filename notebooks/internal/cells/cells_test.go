package cells

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// known maps the paths of some packages to their names.
var known = map[string]string{
	"fmt": "fmt", "os": "os", "strings": "strings", "math": "math", "flag": "flag",
	"math/rand": "rand", "math/rand/v2": "rand", "crypto/rand": "rand",
	"gonum.org/v1/gonum/mat": "mat", "example.com/go-odd/v3": "odd",
}

// TestSessions checks what the last of several cells prints.
func TestSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for each session")
	}
	for _, test := range []struct {
		name  string
		cells []string
		want  string
	}{
		{"a declaration stays", []string{"func f() int { return 1 }", "%%\nfmt.Println(f())"}, "1"},
		{"and is replaced", []string{"func f() int { return 1 }", "func f() int { return 2 }\n%%\nfmt.Println(f())"}, "2"},
		{"a method too", []string{
			"type t[V any] struct{ v V }\nfunc (x *t[V]) f() int { return 1 }\nfunc (x t[V]) g() int { return 1 }",
			"func (x *t[V]) f() int { return 2 }\n%%\nx := new(t[int])\nfmt.Println(x.f(), x.g())"}, "2 1"},
		{"a type keeps its methods", []string{
			"type t int\nfunc (t) String() string { return \"t\" }", "type t string\n%%\nfmt.Println(t(\"?\"))"}, "t"},
		{"one of several variables", []string{
			"var αβγ, b = 1, func() int { return 2 }()", "var αβγ = 3\n%%\nfmt.Println(αβγ, b)"}, "3 2"},
		{"one of a block of constants", []string{
			"const (\n\ta = iota\n\tb\n\tc\n)", "const b = 7\n%%\nfmt.Println(a, b, c)"}, "0 7 2"},
		{"values don't stay", []string{"var n = 1\n%%\nn++", "%%\nfmt.Println(n)"}, "1"},
		{"imports accumulate, and unused ones don't hurt", []string{
			"import (\n\t\"fmt\"\n\t\"strings\"\n\tm \"math\"\n\t_ \"os\"\n)", "%%\nfmt.Println(m.Pi > 3)"}, "true"},
		{"a local name hides a package", []string{
			"import \"strings\"", "%%\nvar strings struct{ n int }\nfmt.Println(strings.n)"}, "0"},
		{"standard packages need no import", []string{"%%\nfmt.Println(strings.ToUpper(\"a\"))"}, "A"},
		{"flags of the program", []string{"var n = flag.Int(\"n\", 1, \"\")", "%% -n=5 x\nfmt.Println(*n, flag.Args())"}, "5 [x]"},
		{"initialisers run every time", []string{"func init_a() { fmt.Print(\"a \") }\nfunc init_b() { fmt.Print(\"b \") }", "%%\nfmt.Println()"}, "a b"},
		{"magics of no use", []string{"%noautoget\n%goflags -x\n//gonb:%%\nfmt.Println(1)"}, "1"},
		{"reset", []string{"func f() {}", "%reset\nvar f = 1\n%%\nfmt.Println(f)"}, "1"},
		{"remove", []string{"type T int\nfunc (T) String() string { return \"T\" }", "%rm T~String\n%%\nfmt.Println(T(3))"}, "3"},
		{"what nobody uses is left out", []string{"func f() { undefined() }\ntype t int\nfunc (t) m() { undefined() }", "%%\nfmt.Println(1)"}, "1"},
		{"but not what is used by way of others", []string{
			"type t int\nfunc (t) String() string { return g() }\nfunc g() string { return \"g\" }", "var v t", "%%\nfmt.Println(v)"}, "g"},
		{"a blank variable of a cell that runs again", []string{"func f() int { return 1 }\nvar _ = f()", "func g() {}", "%%\nfmt.Println(f())"}, "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.TrimSpace(run(t, compose(t, New(known), test.cells...))); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// compose adds the cells to the session under the names a, b, and so on, and returns the program of the last cell.
func compose(t *testing.T, s *Session, cells ...string) (p *Program) {
	t.Helper()
	for i, text := range cells {
		p = must(s.Compose(string(rune('a'+i)), text))
		s.Keep(p)
	}
	return p
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// run returns what the program or the compiler prints.
func run(t *testing.T, p *Program) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	must(0, os.WriteFile(file, []byte(p.Source), 0o600))
	cmd := exec.Command("go", append([]string{"run", file}, p.Args...)...)
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// TestPage: the page's program, run under the key of a cell's program, prints what the cell's program prints. The page
// leaves out cells with flags, and cells that use a name that is redeclared later, or a type that gets a method later.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	s, programs, binary := New(known), []*Program{}, filepath.Join(t.TempDir(), "page")
	texts := []string{
		"type one int\nfunc again() int { return 1 }\nfunc init_a() { fmt.Print(\"begun \") }",
		"%%\nfmt.Println(again())",
		"%%\nfmt.Println(one(1))",
		"%% -n=5\nfmt.Println(*flag.Int(\"n\", 1, \"\"))",
		"type other int\nvar v = []int{3}\n%% x y\nfmt.Println(other(1), v, os.Args[1:])",
		"func again() int { return 2 }\nfunc (one) String() string { return \"one\" }\nvar w = []string{\"w\"}",
		"func f() { main() }\n%%\nif v[0]++; v[0] < 5 {\n\tf()\n}\nfmt.Println(again(), one(1), v, w)",
	}
	for _, i := range []int{0, 1, 2, 3, 4, 5, 6, 4, 6} { // cells 4 and 6 run again
		p := must(s.Compose(string(rune('a'+i)), texts[i]))
		s.Keep(p)
		if i == len(programs) {
			programs = append(programs, p)
		} else if p.Key() != programs[i].Key() {
			t.Errorf("cell %d has another program when it runs again: %s", i, p.Source)
		}
	}
	page, in, err := s.Page(programs)
	if want := programs[4:]; err != nil || !slices.Equal(in, want) {
		t.Fatalf("%d programs, %v; want the last %d", len(in), err, len(want))
	}
	file := binary + ".go"
	must(0, os.WriteFile(file, []byte(page.Source), 0o600))
	if said, err := exec.Command("go", "build", "-o", binary, file).CombinedOutput(); err != nil {
		t.Fatalf("%s\n%s", said, page.Source)
	}
	for _, p := range in {
		cmd := exec.Command(binary)
		cmd.Args = append([]string{p.Key()}, p.Args...)
		if got, _ := cmd.CombinedOutput(); string(got) != run(t, p) || !strings.HasPrefix(string(got), "begun ") {
			t.Errorf("%s\nprints %q, and in the page %q", p.Source, run(t, p), got)
		}
	}
	p := compose(t, s, "var computed = again()") // all programs then compute this variable
	if _, in, err := s.Page(append(programs, p)); err != nil || !slices.Equal(in, []*Program{p}) {
		t.Errorf("%d programs, %v, after a computed variable", len(in), err)
	}
}

// TestPlaces: an error names its cell and line.
func TestPlaces(t *testing.T) {
	for _, test := range []struct {
		name, want string
		cells      []string
	}{
		{"the compiler's, in main", "b:3:2: undefined: x", []string{"func f() {}", "%%\nf()\n\tx++"}},
		{"in a function of an earlier cell", "a:2:9: undefined: g", []string{"func f() int {\n return g() }", "%%\nf()"}},
		{"in one of a group of variables", "a:3:8: undefined: y", []string{"var (\n\ta = 1\n\tb   = y()\n)", "%%\n"}},
		{"a panic", "b:4 +0x", []string{"func f() int { return 0 }", "// nothing\n%%\nvar s []int\ns[f()]++"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := run(t, compose(t, New(known), test.cells...)); !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q in it", got, test.want)
			}
		})
	}
}

// TestMistakes: the error for an invalid cell names the place of the mistake, and the session stays as it was.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"func f( {\n}":                "c:1:9: expected",
		"%%\nx := 1\n)\n":             "c:3:1: expected",
		"%%\nx := (1\ny := )":         "c:2:8: ",
		"%%\n%%\n":                    "c:2:1: a second %%: the first is in line 1",
		"import \"example.com/none\"": "c:1:8: there is no package \"example.com/none\" here",
		"!ls":                         "c:1:1: a page has no shell",
		"var a int\n%test":            "c:2:1: %test does not work in a page",
		"%env A":                      "c:1:1: want %env NAME VALUE",
		"%%bash\nls":                  "c:1:1: %%bash does not work in a page",
		"func f() {}\nimport \"fmt\"": "c:2:1: imports must appear before other declarations",
	} {
		s := New(known)
		compose(t, s, "func g() {}")
		if _, err := s.Compose("c", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if s.String() != "g\n" {
			t.Errorf("after %q: %s", text, s)
		}
	}
}

func TestMagics(t *testing.T) {
	p := compose(t, New(known), "import o \"os\"\n%env A b\nfunc f() {}", "var x, _ = 1, 2\n%env C=d\n%% one two\n", "%list")
	if want := []string{"A=b", "C=d"}; !slices.Equal(p.Env, want) {
		t.Errorf("environment %q, want %q", p.Env, want)
	}
	if want := "import o \"os\"\nf\nx\n"; p.Said != want {
		t.Errorf("said %q, want %q", p.Said, want)
	}
	if p := compose(t, New(known), "%% one two\n"); !slices.Equal(p.Args, []string{"one", "two"}) {
		t.Errorf("arguments %q", p.Args)
	}
	if p := compose(t, New(known), "%%\nodd.F()\nrand.F()\n"); !slices.Equal(p.Imports, []string{"os"}) {
		t.Errorf("imports %q of other modules, or of two packages with one name", p.Imports)
	}
}

// FuzzCompose: for any two texts of cells, Compose returns an error or Go code that parses, and Complete does not panic
// between the two texts.
func FuzzCompose(f *testing.F) {
	f.Add("import \"fmt\"\n\nvar a, b = 1, 2\nconst (\n\tc = iota\n\td\n)", "var a = 3\n%%\nfmt.Println(a, b, c, d)")
	f.Add("type t[V any] struct{ v V }\nfunc (x *t[V]) f() int { return 1 }", "%env A B\n%% -n 1\nn := flag.Int(\"n\", 0, \"\")\nfmt.Println(*n)")
	f.Add("func init_x() {}\nfunc main() {}", "%rm init_x\n!ls")
	f.Fuzz(func(t *testing.T, first, second string) {
		s := New(known)
		for _, text := range []string{first, second} {
			p, err := s.Compose("cell", text)
			if err != nil {
				continue
			}
			if _, err := parser.ParseFile(token.NewFileSet(), "", p.Source, parser.SkipObjectResolution); err != nil {
				t.Errorf("%q and %q make %q: %v", first, second, p.Source, err)
			}
			s.Keep(p)
		}
		s.Complete(first, second, Importer(func(string) []byte { return nil }))
	})
}
