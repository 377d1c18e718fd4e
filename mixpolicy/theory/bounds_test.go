package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// ‖Ψ‖_{⁎,2} = sup ‖Ψᵀx‖⁎/‖x‖₂ equals sup ‖Ψθ‖₂/‖θ‖, because a matrix and its transpose have equal norms.
func TestSubordinateNorms(t *testing.T) {
	const d = 4
	f := garnetProblem(t, 3, d, mixpolicy.Ball(2)).Features()
	var svd mat.SVD
	if !svd.Factorize(f.Dense(), mat.SVDNone) {
		t.Fatal("SVD failed")
	}
	// The largest eigenvalue of the Gram matrix errs by about d ulps; its root errs by half as many.
	if want, got := svd.Values(nil)[0], theory.SubordinateNorm(f, linprog.L2); math.Abs(got-want) > 8*d*0x1p-53*want {
		t.Errorf("σ_max = %v, SVD of Ψ says %v", got, want)
	}
	// ‖Ψθ‖₂ is convex: over a polytope, a vertex attains its maximum.
	row := make([]float64, f.MDP().Pairs())
	size := func(theta []float64) float64 { f.MulVec(row, theta); return floats.Norm(row, 2) }
	var signs, units float64
	theta := make([]float64, d)
	for mask := range 1 << d {
		for j := range theta {
			theta[j] = float64(2*(mask>>j&1) - 1)
		}
		signs = max(signs, size(theta))
	}
	for j := range d {
		units = max(units, floats.Norm(f.Column(j), 2))
	}
	for norm, want := range map[linprog.Norm]float64{linprog.LInf: signs, linprog.L1: units} {
		if got := theory.SubordinateNorm(f, norm); math.Abs(got-want) > 1e-14*want {
			t.Errorf("‖Ψ‖ for %v = %v, vertices say %v", norm, got, want)
		}
	}
}

// generic hides the type of a modulus, so MaxDivergence has to climb.
type generic struct{ bregman.Modulus }

// For the ball, climbing reaches the closed form. For other moduli, hiding the type does not change the result.
func TestMaxDivergence(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	for _, tt := range []struct {
		phi   bregman.Modulus
		class mixpolicy.Class
		d     int
	}{
		{bregman.Ball{R: 2}, mixpolicy.Ball(2), 2},
		{bregman.Ball{R: 0.8}, mixpolicy.Ball(0.8), 5},
		{bregman.Cube(1.5), mixpolicy.Cube(1.5), 3},
		{bregman.Cube(0.4), mixpolicy.Cube(0.4), 6},
		{bregman.NegativeEntropy(), mixpolicy.Simplex(), 4},
		{bregman.Euclidean(), mixpolicy.Ball(3), 4},
	} {
		start := barycentre(tt.d)
		for j := range start {
			start[j] *= 1 + 0.2*(rng.Float64()-0.5)
		}
		floats.Scale(1/floats.Sum(start), start)
		want, climbed := theory.MaxDivergence(tt.phi, tt.class, start), theory.MaxDivergence(generic{tt.phi}, tt.class, start)
		if !(math.Abs(climbed-want) <= 1e-6*want) {
			t.Errorf("%v, %v: climbing reaches %v, want %v", tt.phi, tt.class, climbed, want)
		}
	}
	// From the centre of the ball's section, the greatest D is the section's radius √(R² − 1/d). The climb ends a fraction
	// 2⁻⁴⁸ inside the boundary, which lowers D by a fraction √2⁻⁴⁷.
	inside := 1 - math.Sqrt(0x1p-47)
	section := math.Sqrt(3.5)
	for what, tt := range map[string]struct {
		phi       bregman.Modulus
		class     mixpolicy.Class
		d         int
		want, off float64
	}{
		"ball":                   {bregman.Ball{R: 2}, mixpolicy.Ball(2), 2, section, 4 * u},
		"ball, climbed":          {generic{bregman.Ball{R: 2}}, mixpolicy.Ball(2), 2, section * inside, 1e-8},
		"very large":             {generic{bregman.Ball{R: 0x1p50}}, mixpolicy.Ball(0x1p50), 4, 0x1p50 * inside, 1e-8},
		"times a small number":   {generic{bregman.Scale(bregman.Ball{R: 2}, 0x1p-60)}, mixpolicy.Ball(2), 2, 0x1p-60 * section * inside, 1e-8},
		"within a larger domain": {bregman.Ball{R: 3}, mixpolicy.Ball(2), 2, math.Sqrt(9-.5) - math.Sqrt(9-4), 1e-13},
		"beyond the domain":      {bregman.Ball{R: 2}, mixpolicy.Ball(3), 2, math.Inf(1), 0},
		"simplex":                {bregman.Euclidean(), mixpolicy.Simplex(), 3, 1. / 3, 4 * u},
		"ℓ₁, at (2, −1, 0)":      {bregman.Euclidean(), mixpolicy.Class{Norm: linprog.L1, R: 3}, 3, 7. / 3, 4 * u},
		"one policy":             {bregman.Ball{R: 2}, mixpolicy.Ball(2), 1, 0, 0},
	} {
		if got := theory.MaxDivergence(tt.phi, tt.class, barycentre(tt.d)); !(math.Abs(got-tt.want) <= tt.off*tt.want) && got != tt.want {
			t.Errorf("%s: D = %v, want %v", what, got, tt.want)
		}
	}
}

// Over the cube, a vertex attains the greatest divergence. The starts favour some coordinates. For some
// radii, all vertices have the same number of entries at +R; for others, they do not.
func TestMaxDivergenceVertices(t *testing.T) {
	for _, start := range [][]float64{{.25, .25, .25, .25}, {.4, .1, .2, .3}, {-.1, .5, .3, .3}, {.5, .2, .3}, {.5, .3, -.2, .4}} {
		for _, r := range []float64{.55, .7, 1, 1.5, 4} {
			checkVertices(t, bregman.Cube(r), r, start)
			each := bregman.Separable{Name: "one kernel each"}
			for i := range start {
				kernels := []bregman.Separable{bregman.Cube(r), bregman.Hellinger(r), bregman.Scale(bregman.Hellinger(r), 5).(bregman.Separable)}
				each.Each = append(each.Each, kernels[i%3].Kernel)
			}
			checkVertices(t, each, r, start)
		}
	}
}

func checkVertices(t *testing.T, phi bregman.Modulus, r float64, start []float64) {
	d := len(start)
	var want float64
	theta := make([]float64, d)
	for last := range d {
		for signs := range 1 << d {
			theta[last] = 1
			for j := range d {
				if j != last {
					theta[j] = r * float64(2*(signs>>j&1)-1)
					theta[last] -= theta[j]
				}
			}
			if math.Abs(theta[last]) <= r {
				want = max(want, bregman.Divergence(phi, theta, start))
			}
		}
	}
	if got := theory.MaxDivergence(phi, mixpolicy.Cube(r), start); !(math.Abs(got-want) <= 1e-12*want) {
		t.Errorf("%v from %v: %v, the vertices say %v", phi, start, got, want)
	}
}
