package theory

import (
	"math"
	"slices"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// The directions are the axes, both ways, and then 64 of various signs; they end when f says so.
func TestEachDirection(t *testing.T) {
	var all [][]float64
	eachDirection(3, func(x []float64) bool { all = append(all, slices.Clone(x)); return true })
	if len(all) != 2*3+64 {
		t.Fatalf("%d directions", len(all))
	}
	for i, want := range [][]float64{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}} {
		if !slices.Equal(all[i], want) {
			t.Errorf("direction %d is %v, want %v", i, all[i], want)
		}
	}
	for i := range 64 {
		for j := range 3 {
			if want := math.Cos(math.Phi * float64((i+1)*(2*j+1))); math.Abs(all[6+i][j]-want) > 1e-12 { // angles up to 500
				t.Errorf("direction %d has %v, want %v", 6+i, all[6+i][j], want)
			}
		}
	}
	for _, stop := range []int{1, 4, 9} {
		n := 0
		eachDirection(3, func([]float64) bool { n++; return n < stop })
		if n != stop {
			t.Errorf("%d directions, want %d", n, stop)
		}
	}
}

// What is beyond a class is just outside of it, along the first axis that leads there.
func TestBeyond(t *testing.T) {
	start := []float64{0.5, 0.5}
	half := math.Sqrt(3.5 / 2) // (½ + h, ½ − h) is on the sphere of radius 2
	far := 0.5 + (1+0x1p-20)*half
	if x := beyond(bregman.Euclidean(), mixpolicy.Ball(2), start); len(x) != 2 || math.Abs(x[0]-far) > 1e-14 || math.Abs(x[0]+x[1]-1) > 1e-14 {
		t.Errorf("beyond the ball is %v, want (%v, %v)", x, far, 1-far)
	}
	for _, e := range []struct {
		phi   bregman.Modulus
		class mixpolicy.Class
		leave bool
	}{
		{bregman.Ball{R: 2}, mixpolicy.Ball(2), false},
		{bregman.Ball{R: 1.9}, mixpolicy.Ball(2), false},
		{bregman.Ball{R: 2.001}, mixpolicy.Ball(2), true},
		{bregman.Cube(2), mixpolicy.Cube(2), false},
		{bregman.Cube(2.001), mixpolicy.Cube(2), true},
		{bregman.Cube(1.45), mixpolicy.Ball(2), false}, // (1.45, −0.45) is within the ball
		{bregman.NegativeEntropy(), mixpolicy.Simplex(), false},
		{bregman.Euclidean(), mixpolicy.Simplex(), true},
		{bregman.Euclidean(), mixpolicy.Unbounded(), false},
	} {
		if x := beyond(e.phi, e.class, start); (x != nil) != e.leave {
			t.Errorf("%v and the class %v: %v, want one: %v", e.phi, e.class, x, e.leave)
		}
	}
}

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
