package paper

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// numbered lists the 145 equation numbers of the compiled paper.
const numbered = `
2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9a 2.9b 2.10 2.11 2.12 2.13a 2.13b 2.13c 2.14 2.15a 2.15b
2.15c 2.16 2.17 2.18a 2.18b 2.19 2.20 2.21 2.22 2.23 2.24 2.25
3.1 3.2 3.3 3.4 3.5a 3.6 3.7 3.8 3.9 3.10 3.11 3.12 3.13 3.14a 3.14b 3.15 3.16 3.17 3.18 3.19
3.20 3.21 3.22 3.23 3.24 3.25a 3.25b 3.25c 3.26 3.27a 3.28 3.29 3.30 3.31 3.32 3.33 3.34a 3.34b
3.35 3.36 3.37 3.38
4.1a 4.1b 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 4.10 4.11 4.12 4.13 4.14 4.15 4.16
5.1a 5.1b 5.2 5.3 5.4 5.5 5.6 5.7 5.8 5.9 5.10 5.11 5.12 5.13 5.14 5.15 5.16 5.17a 5.17b 5.18
5.19a 5.20a 5.21 5.22 5.23 5.24 5.25 5.26 5.27 5.28 5.29 5.30 5.31a 5.31b 5.32 5.33 5.34 5.35 5.36
6.1 6.2 6.3a 6.3b
A.1 A.2 A.3 A.4 A.5 A.6 A.7 A.8 A.9 A.10 A.11 A.12`

// statements are the other entries of the index: definitions, assumptions, lemmas,
// propositions, the theorem, the algorithm and the figures.
var statements = []string{"Definition 2.1", "Definition 2.2", "Definition 2.3", "Definition 2.4", "Definition 2.5",
	"Definition 2.6", "Definition 2.7", "Definition 2.8", "Definition 2.9", "Assumption A.1", "Assumption A.2", "Assumption A.3",
	"Definition 3.1", "Lemma 3.2", "Algorithm 1", "Proposition 3.1", "Lemma 3.3", "Theorem 3.4",
	"Lemma 5.1", "Proposition 5.1", "Lemma 5.2", "Figure 1", "Figure 2", "Lemma A.1", "Lemma A.2", "Lemma A.3", "Lemma A.4"}

// Each entry is decided by its check, and has an erratum if and only if it is not right as printed. data/equations.csv
// records the findings of the checks.
func TestIndex(t *testing.T) {
	var rows []Row
	for _, e := range Index() {
		t.Run(e.Number, func(t *testing.T) {
			found := mixpolicy.Must(Decide(t.Context(), []Entry{e}))
			f, v := found[0].Finding, found[0].Verdict
			if (v == HoldsAsCorrected || v == Fails) != (e.Errata != "") {
				t.Errorf("%s, with the erratum %q: %+v", v, e.Errata, f)
			}
			if v == Fails {
				t.Errorf("no correction passes: %+v", f)
			}
			if f.Numbers == "" || strings.Contains(f.Numbers, "%!") {
				t.Errorf("numbers %q", f.Numbers)
			}
			rows = append(rows, found...)
		})
	}
	known := mixpolicy.Must(RecordedIndex())
	for _, r := range rows {
		same := func(k Row) bool {
			return k.Number == r.Number && k.Verdict == r.Verdict && sameNumbers(k.Finding.Numbers, r.Finding.Numbers)
		}
		if !slices.ContainsFunc(known, same) {
			t.Errorf("computed %+v, but the record differs; %s equations", r, makes)
		}
	}
}

// makes names the command that makes the records.
const makes = "they are made again by go run ./mixpolicy/study/record table"

func TestIndexIsComplete(t *testing.T) {
	want := append(strings.Fields(numbered), statements...)
	if n := len(strings.Fields(numbered)); n != 145 {
		t.Fatalf("%d numbers, want 145", n)
	}
	var got []string
	anchors := map[string]string{}
	for _, e := range Index() {
		got = append(got, e.Number)
		if e.What == "" {
			t.Errorf("(%s) has no description", e.Number)
		}
		law := slices.ContainsFunc(Laws(), func(l Law) bool { return l.Number == e.Number })
		if checks[e.Number] == nil && !law {
			t.Errorf("(%s) has no check", e.Number)
		}
		if other, taken := anchors[e.Anchor()]; taken {
			t.Errorf("(%s) and (%s) have the anchor %q", e.Number, other, e.Anchor())
		}
		anchors[e.Anchor()] = e.Number
	}
	for n := range checks {
		if !slices.Contains(got, n) {
			t.Errorf("a check of (%s), which is not in the index", n)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("entries %q, want %q", got, want)
	}
}

func TestAnchor(t *testing.T) {
	for number, want := range map[string]string{
		"3.22": "eq-3-22", "2.13b": "eq-2-13b", "A.6": "eq-a-6", "Lemma 3.2": "lemma-3-2", "Definition 2.4": "def-2-4",
		"Theorem 3.4": "thm-3-4", "Proposition 3.1": "prop-3-1", "Algorithm 1": "alg-1", "Figure 1": "fig-1", "Assumption A.1": "assumption-a-1",
	} {
		if got := (Entry{Number: number}).Anchor(); got != want {
			t.Errorf("%s: %q, want %q", number, got, want)
		}
	}
}

// Summary counts the verdicts of five rows, and all errata by kind.
func TestSummary(t *testing.T) {
	row := func(v Verdict, erratum string) Row { return Row{Entry: Entry{Errata: erratum}, Verdict: v} }
	got := Summary([]Row{row(Holds, ""), row(HoldsAsCorrected, "sample-size"), row(HoldsAsCorrected, "sample-size"), row(HoldsAsCorrected, "argmin"), row(Defines, "")})
	want := "Of the 5 equations, statements and figures, 1 hold as printed and 1 are definitions. " +
		"Once corrected, 3 more hold: 2 had an error, 0 a gap in the argument, 0 a slip (such as a wrong sign, index or constant), 0 several meanings, 1 a misprint. "
	if !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if want := fmt.Sprintf("The %d errata by kind: error ", len(Errata())); !strings.Contains(got, want) {
		t.Errorf("%q, want %q in it", got, want)
	}
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?`)

// sameNumbers compares texts with numbers: the words must be equal, and the numbers must agree within one per cent or
// 10⁻⁹. On another architecture, where the order of operations differs, the results of a run of 10⁵ steps change by
// less than this.
func sameNumbers(a, b string) bool {
	if number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	x, y := number.FindAllString(a, -1), number.FindAllString(b, -1)
	for i := range x {
		v, err1 := strconv.ParseFloat(x[i], 64)
		w, err2 := strconv.ParseFloat(y[i], 64)
		if err1 != nil || err2 != nil || math.Abs(v-w) > max(1e-9, 0.01*max(v, w)) {
			return false
		}
	}
	return true
}

// Every anchor that the index names is in its notebook.
func TestIndexAnchors(t *testing.T) {
	for _, e := range Index() {
		b := mixpolicy.Must(os.ReadFile(filepath.Join("..", "..", "notebooks", e.Notebook+".ipynb")))
		if anchor := `id=\"` + e.Anchor() + `\"`; !bytes.Contains(b, []byte(anchor)) && !bytes.Contains(b, []byte(`id='`+e.Anchor()+`'`)) {
			t.Errorf("(%s): notebook %s has no <a id=%q></a>", e.Number, e.Notebook, e.Anchor())
		}
	}
}

// If must stops a check with an error, Check returns the error with one prefix and the entry's
// number. Check does not recover any other panic.
func TestCheckErrors(t *testing.T) {
	failing := func(context.Context) Finding {
		must(mixpolicy.NewProblem(nil, mixpolicy.Ball(2)))
		return holds(0, "not reached")
	}
	_, err := Entry{Number: "2.8", check: failing}.Check(t.Context())
	if want := "paper: (2.8): features are nil, want the result of NewFeatures or of another constructor"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	defer func() {
		if r := recover(); r != "a bug" {
			t.Errorf("the panic became %v", r)
		}
	}()
	_, err = Entry{check: func(context.Context) Finding { panic("a bug") }}.Check(t.Context())
	t.Errorf("a panic became the error %v", err)
}
