package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEquationsAreFound: every row of the index leads to an existing declaration and an existing
// test.
func TestEquationsAreFound(t *testing.T) {
	all := try((&Lab{root: "../../.."}).equations()).or(t)
	for _, e := range all {
		for what, at := range map[string]string{e.Symbol: e.SymbolAt, e.Test(): e.TestAt} {
			file, line, _ := strings.Cut(at, "#L")
			source, err := os.ReadFile(filepath.Join("../../..", strings.TrimPrefix(file, "../")))
			if err != nil || line == "" {
				t.Errorf("(%s): %s is at %q: %v", e.Number, what, at, err)
				continue
			}
			name := what[strings.LastIndexAny(what, "./")+1:]
			if what == e.Test() {
				name = "func TestIndex"
			}
			if !strings.Contains(string(source), name) {
				t.Errorf("(%s): %s has no %s", e.Number, file, name)
			}
		}
	}
}

// TestChoicesAreThoseOfTheTable: the choices by verdict cover every equation, and the choices by kind of erratum
// cover every equation with an erratum.
func TestChoicesAreThoseOfTheTable(t *testing.T) {
	p := &page{Equations: try((&Lab{root: "../../.."}).equations()).or(t)}
	verdicts, kinds, errata := 0, 0, 0
	for _, c := range p.Choices() {
		if strings.HasPrefix(c.Text, "as corrected: ") {
			kinds += c.Count
		} else {
			verdicts += c.Count
		}
	}
	for _, e := range p.Equations {
		if e.Errata != "" {
			errata++
		}
	}
	if verdicts != len(p.Equations) || kinds != errata || errata == 0 {
		t.Errorf("%d of %d equations by verdict, %d of %d by kind", verdicts, len(p.Equations), kinds, errata)
	}
}

func TestLinksToEquations(t *testing.T) {
	equations := try((&Lab{root: "../../.."}).equations()).or(t)
	body := `<p><a id="other-1"></a>By <a id="eq-3-22"></a>(3.22), Lemma 3.2 and (3.14), not (A.1) or (9.9):` +
		` $x (3.22)$ <code>(3.22)</code> <a href="#">(3.22)</a></p><h2 id="x">(3.22)</h2>`
	got := linkEquations(body, equations)
	for want, times := range map[string]int{
		`<p><span class="numbers"><a id="eq-3-22" class="numbered" data-card="eq-3-22" href="equations.html#eq-3-22"`:                                                              1,
		`>3.22</a></span><a id="other-1"></a>By <a class="cited" data-card="eq-3-22" href="03-primal-dual.html#eq-3-22">(3.22)</a>, <a class="cited" data-card="lemma-3-2"`:        1,
		`data-card="eq-3-14a" href="03-primal-dual.html#eq-3-14a">(3.14)</a>, not (A.1) or (9.9): $x (3.22)$ <code>(3.22)</code> <a href="#">(3.22)</a></p><h2 id="x">(3.22)</h2>`: 1,
		`data-card`: 4,
	} {
		if strings.Count(got, want) != times {
			t.Errorf("%d times %s in\n%s", strings.Count(got, want), want, got)
		}
	}
}

func TestStatementsInHTML(t *testing.T) {
	got := string(inHTML("Let **$a<b$**, then\n\n- $\\boxed{a}$;\n- b.\n\n1. c\n2. d\n\n$$e$$"))
	want := "<p>Let <strong>$a&lt;b$</strong>, then</p>\n<ul><li>$\\boxed{a}$;</li><li>b.</li></ul>\n<ol><li>c</li><li>d</li></ol>\n<p>$$e$$</p>\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
