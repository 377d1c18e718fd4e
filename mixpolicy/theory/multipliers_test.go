package theory_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// Multipliers returns an optimal λ, and no optimal λ is shorter. Its norm is the threshold of the exact penalty: no θ
// of the class gains more per unit of ‖[Ψθ]₋‖₂, and some θ gains as much.
func TestMultipliers(t *testing.T) {
	drawn, refused, inexact := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(2, 3).Draw(t, "d")
		r := rapid.SampledFrom([]float64{.8, 1, 1.5, 3, 20, math.Inf(1)}).Draw(t, "R")
		ball, cube, cross := mixpolicy.Ball(r), mixpolicy.Cube(r), mixpolicy.Class{Norm: linprog.L1, R: max(r, 1)}
		class := rapid.SampledFrom([]mixpolicy.Class{ball, cube, cross}).Draw(t, "class")
		g := models.Garnet{States: 6, Actions: 2, Branches: 2, Ring: true, Criterion: mixpolicy.Discounted(.9), Seed: rapid.Uint64().Draw(t, "seed")}
		x := mixpolicy.Must(g.MDP())
		base := make([]*mixpolicy.Policy, d)
		for j := range base {
			base[j] = drawPolicy(t, x)
		}
		f, err := mixpolicy.NewFeatures(t.Context(), x, base...)
		if err != nil {
			t.Skip("two policies are the same")
		}
		p := mixpolicy.Must(mixpolicy.NewProblem(f, class))
		best, err := p.Optimum(t.Context())
		if err != nil {
			t.Skip(err)
		}
		lambda, err := theory.Multipliers(p)
		if err != nil && strings.Contains(err.Error(), "has a zero entry") {
			t.Skip(err)
		}
		if drawn++; err != nil && strings.Contains(err.Error(), "because of rounding") {
			refused++
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		norm := floats.Norm(lambda, 2)
		scale := math.Abs(best.Objective) + norm*1e-3 + 1
		if math.IsInf(r, 1) {
			class = mixpolicy.Ball(2 * floats.Norm(best.Theta, 2))
		}
		gradient := make([]float64, d)
		p.GradTheta(gradient, lambda)
		if bound := class.MinLinear(gradient); floats.Min(lambda) < 0 || !(best.Objective-bound <= 1e-7*scale) {
			t.Fatalf("λ = %v bounds the optimum %v by %v; %v, θ* %v, rows %v", lambda, best.Objective, bound, class, best.Theta, best.Rows)
		}
		var inner float64 // if λ is the point of a convex set nearest to 0, ‖λ‖² ≤ λᵀλ′ for every λ′ in the set
		for _, m := range best.Rows {
			inner += lambda[m.Row] * m.Lambda()
		}
		if norm*norm > inner*(1+1e-6)+1e-9 {
			inexact++
		}
		if norm*norm > inner*(1+1e-4)+1e-9 {
			t.Fatalf("‖λ‖² = %v, and λᵀλ′ = %v", norm*norm, inner)
		}
		// Rays from θ* in 1ᵀθ = 1: for d = 2, one in each direction; for d = 3, a circle of rays, and rays along the
		// boundaries of the class and of each (Ψθ)_i ≥ 0, because the gain may be greatest there.
		rays := [][]float64{{1, -1}, {-1, 1}}
		if d == 3 {
			rays = nil
			for k := range 2000 {
				sin, cos := math.Sincos(2 * math.Pi * float64(k) / 2000)
				rays = append(rays, []float64{cos/math.Sqrt2 + sin/math.Sqrt(6), -cos/math.Sqrt2 + sin/math.Sqrt(6), -2 * sin / math.Sqrt(6)})
			}
			signs := make([]float64, d)
			for j, v := range best.Theta {
				signs[j] = math.Copysign(1, v)
			}
			normals := [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, signs, best.Theta}
			for i := range x.Pairs() {
				normals = append(normals, make([]float64, d))
				f.Row(normals[len(normals)-1], i)
			}
			for _, n := range normals {
				ray := []float64{n[2] - n[1], n[0] - n[2], n[1] - n[0]} // 1 × n
				if length := floats.Norm(ray, 2); length > 1e-9*floats.Norm(n, 2) {
					floats.Scale(1/length, ray)
					rays = append(rays, ray, []float64{-ray[0], -ray[1], -ray[2]})
				}
			}
		}
		gained, theta := 0.0, make([]float64, d)
		for _, ray := range rays {
			// The gain per unit falls along a ray, because the violation is convex. A longer step would violate rows with a little
			// slack. A step of 10⁻⁷ along the tangent leaves a sphere by less than 10⁻¹⁴ of its radius.
			floats.AddScaledTo(theta, best.Theta, 1e-7, ray)
			if v := 2 * p.Violation(theta); v > 2e-12 && p.Class().Size(theta) <= max(p.Class().R, p.Class().Size(best.Theta))*(1+2e-14) {
				gained = max(gained, -1e-7*floats.Dot(p.BaseCosts(), ray)/v)
			}
		}
		if gained > norm*(1+1e-3)+1e-3 || gained < norm*.95-1e-3 {
			t.Fatalf("d = %d, %v: ‖λ‖ = %v, and %v is gained per unit of violation", d, class, norm, gained)
		}
	})
	// Because of nearly dependent active rows, about one problem in 500 is refused, and one in 1,500 is inexact.
	if most := 3 + drawn/100; refused > most || inexact > most {
		t.Errorf("of %d problems, %d are refused, and %d have ‖λ‖² above λᵀλ′ by more than 10⁻⁶, want at most %d of each", drawn, refused, inexact, most)
	}
}

// On the queue of section 6, the pairs of length 100 with the two slow rates have equal rows of Ψ. The optimum puts
// one multiplier on one of these rows; the shortest λ* puts half of it on each.
func TestMultipliersOfEqualRows(t *testing.T) {
	p := queueProblem(t, 100, mixpolicy.Ball(2))
	lambda := mixpolicy.Must(theory.Multipliers(p))
	one, want := mixpolicy.Must(p.Optimum(t.Context())).Rows[0].Lambda(), make([]float64, len(lambda))
	want[4*99], want[4*99+1] = one/2, one/2
	if !floats.EqualApprox(lambda, want, 1e-9*one) {
		t.Errorf("λ = %v, want %v for two pairs", lambda, one/2)
	}
}

// For nearly equal costs, Multipliers agrees with a computation by hand: θ* = (0, 1), and λ* is e at both pairs that
// only the first policy uses.
func TestMultipliersOfNearlyEqualCosts(t *testing.T) {
	for e := 1e-5; e > 1e-8; e *= 0.9 {
		x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 1, Actions: 3, Criterion: mixpolicy.AverageCost,
			Dynamics: func(_, a int) (float64, []mixpolicy.Transition) {
				return 1 - e*float64(a/2), []mixpolicy.Transition{{To: 0, P: 1}}
			}}))
		p := mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, []float64{.5, .5, 0}, []float64{0, 0, 1})), mixpolicy.Cube(2)))
		if lambda := mixpolicy.Must(theory.Multipliers(p)); !floats.EqualApprox(lambda, []float64{e, e, 0}, 1e-14) {
			t.Errorf("λ = %v, want %v for the first two", lambda, e)
		}
	}
}
