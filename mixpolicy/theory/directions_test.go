package theory

import (
	"math"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// ‖x‖_p² against the square of the class's norm, at the x where the ratio is least.
func TestNormRatio(t *testing.T) {
	for _, e := range []struct {
		p    float64
		norm linprog.Norm
		want float64
	}{
		{2, linprog.L2, 1}, {1, linprog.L2, 1}, {1, linprog.L1, 1}, {2, linprog.LInf, 1}, {math.Inf(1), linprog.LInf, 1}, // a unit vector
		{2, linprog.L1, 1. / 4}, {math.Inf(1), linprog.L2, 1. / 4}, {math.Inf(1), linprog.L1, 1. / 16}, {4, linprog.L2, 1. / 2}, // 1 ∈ ℝ⁴
	} {
		if got := normRatio(e.p, e.norm, 4); math.Abs(got-e.want) > 1e-15 {
			t.Errorf("ℓ_%v and %v: %v, want %v", e.p, e.norm, got, e.want)
		}
	}
}

// The extreme points of ‖θ‖₁ ≤ R in Θ₂, for D = ½‖θ − θ₀‖².
func TestMaxDivergenceL1(t *testing.T) {
	phi := bregman.Euclidean()
	of := func(a, b, c float64) float64 { return (sq(a-0.5) + sq(b-0.3) + sq(c-0.2)) / 2 }
	for r, want := range map[float64]float64{
		1: of(0, 0, 1),
		3: max(of(2, -1, 0), of(2, 0, -1), of(-1, 2, 0), of(0, 2, -1), of(-1, 0, 2), of(0, -1, 2)),
	} {
		if got := maxDivergenceL1(phi, r, []float64{0.5, 0.3, 0.2}); math.Abs(got-want) > 1e-14 {
			t.Errorf("R = %v: %v, want %v", r, got, want)
		}
	}
	if got := maxDivergenceL1(phi, 3, []float64{0.4}); math.Abs(got-sq(0.6)/2) > 1e-15 {
		t.Errorf("d = 1: %v", got) // Θ₂ is the point 1
	}
}

func sq(x float64) float64 { return x * x }
