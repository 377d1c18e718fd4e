package paper_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/paper"
	"github.com/mixpolicy/lab/plotting"
)

// TestReadmeFigure: the committed picture of the README is the one that the code makes.
func TestReadmeFigure(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of three methods with their tuning: some seconds")
	}
	committed, fresh := filepath.Join("..", "..", "data", "figures", "readme.svg"), filepath.Join(t.TempDir(), "readme.svg")
	if err := plotting.Save(fresh, mixpolicy.Must(paper.ReadmeFigure(t.Context(), nil))); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mixpolicy.Must(os.ReadFile(fresh)), mixpolicy.Must(os.ReadFile(committed))) {
		t.Errorf("data/figures/readme.svg is not what the code makes; go run ./mixpolicy/study/record readme makes it again")
	}
}

// TestReadmeCounts: the README's counts are those of the index and of the errata.
func TestReadmeCounts(t *testing.T) {
	text := mixpolicy.Must(os.ReadFile(filepath.Join("..", "..", "README.md")))
	if string(text) != mixpolicy.Must(paper.WithSummary(string(text))) {
		t.Error("the counts in the README are not those of data/equations.csv and of the errata; go run ./mixpolicy/study/record readme makes them again")
	}
	if _, err := paper.WithSummary("no place"); err == nil {
		t.Error("a README without a place for the counts is accepted")
	}
}

// TestStatementsInNotebooks: each entry of the index is stated once, in its notebook, in the words of
// data/statements.md and of the errata.
func TestStatementsInNotebooks(t *testing.T) {
	in := map[string][]string{}
	for _, file := range mixpolicy.Must(filepath.Glob(filepath.Join("..", "..", "notebooks", "*.ipynb"))) {
		text := mixpolicy.Must(os.ReadFile(file))
		want, numbers, err := paper.WithStatements(string(text))
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".ipynb")
		if string(text) != want {
			t.Errorf("the statements in %s are not those of data/statements.md; go run ./mixpolicy/study/record statements makes them again", name)
		}
		for _, n := range numbers {
			in[n] = append(in[n], name)
		}
	}
	for _, e := range paper.Index() {
		if got := in[e.Number]; len(got) != 1 || got[0] != e.Notebook {
			t.Errorf("(%s) is stated in %q, want %s", e.Number, got, e.Notebook)
		}
	}
}

// WithStatements fills a place with statements in Jupyter's format. It says what an erratum changes at the first
// statement, and "as above" at the next.
func TestPlacesOfStatements(t *testing.T) {
	const empty = "  \"a\\n\",\n  \"<!-- stated: 3.4; Algorithm 1 with 3.26 -->\\n\",\n  \"stale\\n\",\n  \"<!-- end -->\"\n"
	got, numbers, err := paper.WithStatements(empty)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := paper.WithStatements(got)
	if err != nil || again != got {
		t.Errorf("a second call changes the notebook: %v", err)
	}
	for want, times := range map[string]int{
		"  \"a\\n\",\n  \"<!-- stated: 3.4; Algorithm 1 with 3.26 -->\\n\",\n  \"\\n\",\n  \"> **(3.4).** In a step": 1,
		"  \"> $$\\\\nabla_\\\\lambda\\\\mathcal L(\\\\theta_t,\\\\lambda_t) = \\\\boxed{-}":                         1,
		"  \"> **Algorithm 1, (3.26).** The":    1,
		"lambda-step) (slip). *What changes:* ": 1,
		"lambda-step) (slip), as above.":        1,
		"  \"\\n\",\n  \"<!-- end -->\"\n":      1,
		"stale":                                 0,
	} {
		if n := strings.Count(got, want); n != times {
			t.Errorf("%d times %s, want %d, in\n%s", n, want, times, got)
		}
	}
	if !slices.Equal(numbers, []string{"3.4", "Algorithm 1", "3.26"}) {
		t.Errorf("numbers %q", numbers)
	}
	if _, _, err := paper.WithStatements(strings.Replace(empty, "3.26", "3.99", 1)); err == nil || !strings.Contains(err.Error(), "(3.99)") {
		t.Errorf("a place for (3.99): %v", err)
	}
}

// Evidence shows two figures for a correct modulus, the measured and the claimed slope for a wrong gradient, and the
// error of an invalid modulus.
func TestEvidence(t *testing.T) {
	value := func(x float64) float64 { return -math.Sqrt(1 - x*x) }
	turned := func(x float64) float64 { return -x / math.Sqrt(1-x*x) }
	inverse := func(y float64) float64 { return y / math.Hypot(1, y) }
	for _, c := range []struct {
		m    bregman.Modulus
		want []string
	}{
		{bregman.Ball{R: 2}, []string{"Taylor remainder", "Towards the boundary, the gradient grows"}},
		{bregman.FromClosures("turned", value, turned, inverse, -1, 1), []string{"Deriv is −1 times the derivative of Value", "measured: the derivative of Value", "claimed: Deriv"}},
		{bregman.Ball{R: -1}, []string{"want 0 < R < 1e300"}},
	} {
		var all strings.Builder
		for _, v := range paper.Evidence(bregman.Check(context.Background(), c.m, 2, 1)) {
			d, err := plotting.DisplayData(v)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range d.Data {
				if s, ok := text.(string); ok {
					all.WriteString(s)
				}
			}
		}
		for _, w := range c.want {
			if !strings.Contains(all.String(), w) {
				t.Errorf("%v: %q is not shown", c.m, w)
			}
		}
	}
}
