package alias

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// probabilities adds up what the slots give to every index.
func (t *Table) probabilities() []float64 {
	p := make([]float64, len(t.slots))
	for k, s := range t.slots {
		keep := math.Ldexp(float64(s.threshold), -64)
		p[k] += keep / float64(len(t.slots))
		p[s.alias] += (1 - keep) / float64(len(t.slots))
	}
	return p
}

// The slots give every index its probability, and none to one of weight 0.
func TestSlotsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			if rapid.Bool().Draw(t, "zero") {
				return 0
			}
			return math.Ldexp(rapid.Float64Range(0.5, 1).Draw(t, "w"), rapid.IntRange(-60, 60).Draw(t, "e"))
		}), 1, 40).Draw(t, "w")
		var total float64
		for _, x := range w {
			total += x
		}
		table, err := New(w)
		if total == 0 {
			if err == nil {
				t.Fatal("weights of 0 accepted")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		n := float64(len(w))
		for i, p := range table.probabilities() {
			// Scaling rounds n terms twice, each of at most n−1 transfers once more.
			if want := w[i] / total; math.Abs(p-want) > 4*n*n*0x1p-53/n+0x1p-52 {
				t.Fatalf("index %d has probability %v, want %v", i, p, want)
			}
			if w[i] == 0 && p > n*0x1p-64 {
				t.Fatalf("index %d of weight 0 has probability %v", i, p)
			}
		}
	})
}

// Draws follow the weights: Pearson's χ² stays below its quantile for 10⁻⁶.
func TestDrawChiSquare(t *testing.T) {
	const draws = 200_000
	for seed, w := range [][]float64{
		{1},
		{1, 1},
		{3, 1, 0, 2},
		{1e-3, 1, 1, 1, 1, 5},
		{0.2, 0.2, 0.2, 0.2, 0.1, 0.05, 0.05},
	} {
		table, err := New(w)
		if err != nil {
			t.Fatal(err)
		}
		count := make([]float64, len(w))
		rng := rand.NewPCG(uint64(seed), 0)
		for range draws {
			count[table.Draw(rng)]++
		}
		var total, chi2 float64
		for _, x := range w {
			total += x
		}
		freedom := -1.0
		for i, c := range count {
			want := w[i] / total * draws
			if want == 0 {
				if c > 0 {
					t.Errorf("weights %v: index %d drawn", w, i)
				}
				continue
			}
			chi2 += (c - want) * (c - want) / want
			freedom++
		}
		if freedom == 0 {
			continue
		}
		if limit := (distuv.ChiSquared{K: freedom}).Quantile(1 - 1e-6); chi2 > limit {
			t.Errorf("weights %v: χ² = %v, limit %v", w, chi2, limit)
		}
	}
}

func TestNewErrors(t *testing.T) {
	for _, c := range []struct {
		w    []float64
		says string
	}{
		{nil, "0 weights"},
		{[]float64{1, -2}, "weight 1 is -2"},
		{[]float64{1, 1, math.NaN()}, "weight 2 is NaN"},
		{[]float64{math.Inf(1)}, "weight 0 is +Inf"},
		{[]float64{0, 0}, "add up to 0"},
		{[]float64{1e308, 1e308}, "add up to +Inf"},
	} {
		if _, err := New(c.w); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("weights %v: %v, want %q", c.w, err, c.says)
		}
	}
}

func TestDrawDoesNotAllocate(t *testing.T) {
	table, _ := New([]float64{1, 2, 3})
	rng := rand.NewPCG(1, 1)
	if n := testing.AllocsPerRun(100, func() { table.Draw(rng) }); n != 0 {
		t.Errorf("%v allocations a draw", n)
	}
}
