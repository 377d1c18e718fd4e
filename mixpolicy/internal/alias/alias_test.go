package alias

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// probabilities returns the probability of every index, added up over the slots.
func (t *Table) probabilities() []float64 {
	p := make([]float64, len(t.slots))
	for k, s := range t.slots {
		keep := math.Ldexp(float64(s.threshold), -64)
		p[k] += keep / float64(len(t.slots))
		p[s.alias] += (1 - keep) / float64(len(t.slots))
	}
	return p
}

// The slots give every index the right probability, and an index of weight 0 a probability of at most n·2⁻⁶⁴.
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
			// Scaling rounds each of n terms twice, and each of at most n−1 transfers rounds once more.
			if want := w[i] / total; math.Abs(p-want) > 4*n*n*0x1p-53/n+0x1p-52 {
				t.Fatalf("index %d has probability %v, want %v", i, p, want)
			}
			if w[i] == 0 && p > n*0x1p-64 {
				t.Fatalf("index %d of weight 0 has probability %v", i, p)
			}
		}
	})
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
