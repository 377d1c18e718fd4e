package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schollz/progressbar/v3"
	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// TestQuick installs the peers and runs all of them on small instances of every task in works.
// Each peer reaches our answer or runs out of time.
func TestQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("installs the peers from PyPI, which may take minutes")
	}
	root, err := clone()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{temp: t.TempDir(), quick: true, bar: progressbar.DefaultSilent(-1)}
	if b.python, err = peersIn(t.Context(), filepath.Join(root, ".lab", "peers")); err != nil {
		t.Fatal(err)
	}
	for _, w := range works {
		rows, err := b.measure(t.Context(), w)
		if err != nil {
			t.Error(err)
		}
		for _, c := range rows {
			if c.Outcome != "" && !strings.HasPrefix(c.Outcome, "stopped") {
				t.Errorf("%s: %s, %s: %s", c.Instance, c.Peer, c.Method, c.Outcome)
			}
		}
	}
}

// The comparisons reject wrong answers and accept rounding errors.
func TestWrongAnswersAreFound(t *testing.T) {
	w := models.Network{Buffers: [4]int{2, 2, 2, 2}}
	x := mixpolicy.Must(w.MDP())
	chain := mixpolicy.Must(x.Under(mixpolicy.Must(w.Policy(x, models.OldestJob))))
	mu := mixpolicy.Must(chain.Occupation(t.Context(), mixpolicy.UniformPolicy(chain))).State
	moved := func(from, to int, mass float64) []float64 {
		v := append([]float64(nil), mu...)
		v[from] -= mass
		v[to] += mass
		return v
	}
	scaled := append([]float64(nil), mu...)
	floats.Scale(2, scaled)
	for name, theirs := range map[string][]float64{
		"short": mu[1:], "moved": moved(0, 1, 1e-8), "NaN": moved(0, 1, math.NaN()), "scaled": scaled, "zero": make([]float64, len(mu)),
	} {
		if sameMeasure(chain, mu, theirs) == nil {
			t.Errorf("a stationary measure that is %s passes", name)
		}
	}
	if err := sameMeasure(chain, mu, moved(0, 1, 1e-14)); err != nil {
		t.Errorf("rounding does not pass: %v", err)
	}

	// Over θ₁ + θ₂ = 1, θ₁ − θ₂/2 ≥ 0 and θ₂ ≥ 0, the best θ for costs (1, 0) is (1/3, 2/3).
	p := linprog.Mixture{B: []float64{1, 0}, Psi: linprog.Columns{{1, 0}, {-0.5, 1}}, Norm: linprog.LInf, R: 10}
	best := []float64{1. / 3, 2. / 3}
	for _, theirs := range [][]float64{
		{1}, {1. / 3, 1}, {0.4, 0.6}, {0.3, 0.7}, {11, -10}, {math.NaN(), 1},
	} {
		if asGood(p, best, theirs) == nil {
			t.Errorf("θ = %v passes", theirs)
		}
	}
	if err := asGood(p, best, []float64{1./3 - 1e-9, 2./3 + 1e-9}); err != nil {
		t.Error(err)
	}

	agree := within(1e-3)
	for _, theirs := range [][]float64{{1}, {1, 2.01}, {1, math.NaN()}} {
		if agree([]float64{1, 2}, theirs) == nil {
			t.Errorf("%v passes for (1, 2)", theirs)
		}
	}
	if err := agree([]float64{1, 2}, []float64{1.0005, 2}); err != nil {
		t.Error(err)
	}
}

// A triad sets every entry, even if there are fewer entries than cores.
func TestTriad(t *testing.T) {
	for n := range 9 {
		a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			b[i], c[i] = float64(i), float64(i*i)
		}
		triad(a, b, c, 3)
		for i, v := range a {
			if want := float64(i + 3*i*i); v != want {
				t.Errorf("entry %d of %d is %v, want %v", i, n, v, want)
			}
		}
	}
	x := instance{Arrays: map[string]any{"a.f64": []float64{1, 2}, "b.f64": []float64{3}, "c.i32": []int32{4}}}
	if got := x.size(); got != 28 {
		t.Errorf("%d bytes of three numbers of 8 and one of 4", got)
	}
}

func TestProductForm(t *testing.T) {
	sizes, actions := []int{3, 2, 4}, 2
	v := productForm(rand.New(rand.NewPCG(1, 1)), sizes, actions)
	if len(v) != 3*2*4*2 || math.Abs(floats.Sum(v)-1) > 1e-14 {
		t.Fatalf("%d entries that add up to %v", len(v), floats.Sum(v))
	}
	// The table (first queue) × (the rest) has rank 1: all its 2 × 2 minors with the entry v[0] vanish.
	rest := len(v) / sizes[0]
	for i := 1; i < sizes[0]; i++ {
		for j := 1; j < rest; j++ {
			a, b := v[0]*v[i*rest+j], v[j]*v[i*rest]
			if math.Abs(a-b) > 1e-15*a*8 {
				t.Fatalf("not a product: %v and %v", a, b)
			}
		}
	}
}

func TestMeasured(t *testing.T) {
	for want, x := range map[data.Measured][]float64{
		{Median: 3, Least: 3, Greatest: 3}: {3}, {Median: 2, Least: 1, Greatest: 3}: {3, 1}, {Median: 2, Least: 1, Greatest: 9}: {9, 1, 2},
	} {
		if got := measured(x); got != want {
			t.Errorf("%v: %+v, want %+v", x, got, want)
		}
	}
}
