package mixpolicy_test

import (
	"math"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// What is beyond a class is just outside of it, along the first axis that leads there; what is
// missing of it is just inside.
func TestMismatch(t *testing.T) {
	start := []float64{0.5, 0.5}
	half := math.Sqrt(3.5 / 2) // (½ + h, ½ − h) is on the sphere of radius 2
	far, near := 0.5+(1+0x1p-20)*half, 0.5+(1-0x1p-20)*half
	if x, _ := mixpolicy.Ball(2).Mismatch(bregman.Euclidean(), start); len(x) != 2 || math.Abs(x[0]-far) > 1e-14 || math.Abs(x[0]+x[1]-1) > 1e-14 {
		t.Errorf("beyond the ball is %v, want (%v, %v)", x, far, 1-far)
	}
	if _, x := mixpolicy.Ball(2).Mismatch(bregman.NegativeEntropy(), start); len(x) != 2 || math.Abs(x[0]-near) > 1e-14 || math.Abs(x[0]+x[1]-1) > 1e-14 {
		t.Errorf("missing of the ball is %v, want (%v, %v)", x, near, 1-near)
	}
	for _, e := range []struct {
		phi             bregman.Modulus
		class           mixpolicy.Class
		beyond, missing bool
	}{
		{bregman.Ball{R: 2}, mixpolicy.Ball(2), false, false},
		{bregman.Ball{R: 1.9}, mixpolicy.Ball(2), false, true},
		{bregman.Ball{R: 2.001}, mixpolicy.Ball(2), true, false},
		{bregman.Cube(2), mixpolicy.Cube(2), false, false},
		{bregman.Cube(2.001), mixpolicy.Cube(2), true, false},
		{bregman.Cube(1.45), mixpolicy.Ball(2), false, true}, // (1.45, −0.45) is within the ball
		{bregman.NegativeEntropy(), mixpolicy.Simplex(), false, false},
		{bregman.Euclidean(), mixpolicy.Simplex(), true, false},
		{bregman.Euclidean(), mixpolicy.Unbounded(), false, false},
		{bregman.FermiDirac([]float64{-.5, -2}, []float64{3, 3}), mixpolicy.Ball(2), true, true}, // one at each end
		{bregman.FermiDirac([]float64{-2, -.5}, []float64{3, 3}), mixpolicy.Ball(2), true, true},
	} {
		if x, y := e.class.Mismatch(e.phi, start); (x != nil) != e.beyond || (y != nil) != e.missing {
			t.Errorf("%v and the class %v: %v and %v, want some: %v, %v", e.phi, e.class, x, y, e.beyond, e.missing)
		}
	}
	// In ℝ³ the box [−1, 2]³ meets the hyperplane in less than the cube does: (2, 1, −2) is not in it.
	box := bregman.FermiDirac([]float64{-1, -1, -1}, []float64{2, 2, 2})
	if x, y := mixpolicy.Cube(2).Mismatch(box, []float64{1. / 3, 1. / 3, 1. / 3}); x != nil || y == nil {
		t.Errorf("box: %v and %v", x, y)
	}
}

// The certificate names a modulus of another class, and a cost that no policy has, with what to do.
func TestWarnings(t *testing.T) {
	p := queue(t, 100, mixpolicy.Ball(2))
	for _, e := range []struct {
		name   string
		method mixpolicy.Method
		want   []string // part of each warning
	}{
		{"default", mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(64)}, nil},
		{"wide ball", &mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(4), Modulus: bregman.Ball{R: 3}}, []string{
			" is in the domain of φ (ball, R = 3) but not in the class ‖θ‖₂ ≤ 2, so that nothing keeps θ̂ in the class; " +
				"want a modulus for this class, such as mixpolicy.DefaultModulus(class), or the class of this modulus"}},
		{"entropy", mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(64), Modulus: bregman.NegativeEntropy()}, []string{
			" is in the class ‖θ‖₂ ≤ 2 but not in the domain of φ (negative entropy), so that no iterate comes near it; want a modulus"}},
		{"no scale of costs", mixpolicy.PrimalDual{CostScale: 1}, []string{
			"Ψθ̂ is not the measure of a policy; want more iterations, other step sizes, or costs divided by c_max (CostScale = 10030.7)"}},
	} {
		r := solve(t, p, e.method, mixpolicy.Settings{Iterations: 10_000, Seed: 1})
		if len(r.Warnings) != len(e.want) {
			t.Errorf("%s: warnings %q, want %d", e.name, r.Warnings, len(e.want))
			continue
		}
		for k, w := range r.Warnings {
			line := "warning                      " + w + "\n"
			if !strings.Contains(w, e.want[k]) || !strings.Contains(r.String(), line) || !strings.Contains(r.Details(), line) {
				t.Errorf("%s: warning %q, want %q, in\n%v\n%v", e.name, w, e.want[k], r, r.Details())
			}
		}
	}
}
