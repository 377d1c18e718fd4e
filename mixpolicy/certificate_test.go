package mixpolicy_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Every number of a certificate agrees with one that is computed from Ψ, c, θ̂ and λ̂ by other means.
func TestCertificateRecomputed(t *testing.T) {
	for _, criterion := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(.8)} {
		for _, m := range []mixpolicy.Method{
			mixpolicy.PrimalDual{CostScale: .1}, mixpolicy.PrimalDual{CostScale: .1, Multipliers: mixpolicy.LazyMultipliers},
			mixpolicy.PrimalDual{CostScale: .1, Form: mixpolicy.Printed, StepSize: mixpolicy.Constant(.01), Beta: 1},
			mixpolicy.Penalty{CostScale: .1}, mixpolicy.PlugIn{},
		} {
			p := small(t, 3, mixpolicy.Ball(1.2), criterion)
			r := solve(t, p, m, mixpolicy.Settings{Iterations: 400, Seed: 8, Stream: 2})
			psi, c := naive(p.Features(), r.Theta), p.MDP().Costs()
			var squares, mass float64
			for _, v := range psi {
				squares += math.Min(0, v) * math.Min(0, v)
				mass -= math.Min(0, v)
			}
			same := func(name string, got, want float64) {
				t.Helper()
				if !(math.Abs(got-want) <= 1e-11*(1+math.Abs(want))) { // some hundred roundings, and one LU solution
					t.Errorf("%v, %s: %s is %v, want %v", criterion, m.Name(), name, got, want)
				}
			}
			same("objective", r.Objective, floats.Dot(c, psi))
			same("violation", r.Violation, math.Sqrt(squares)/2)
			same("negative mass", r.NegativeMass, mass)
			same("hyperplane error", r.HyperplaneError, floats.Sum(r.Theta)-1)
			same("norm", r.Norm, math.Sqrt(floats.Dot(r.Theta, r.Theta)))
			same("radius", r.Radius, 1.2)
			same("queries", float64(r.Queries), 400)
			best := mixpolicy.Must(p.Optimum(t.Context()))
			same("optimum", r.Optimum, best.Objective)
			same("gap", r.Gap, r.Objective-best.Objective)
			same("penalised gap", r.PenalisedGap, mixpolicy.Must(p.PenalisedGap(r.Theta)))
			if !r.HasPolicy || !r.HasOptimum {
				t.Fatal("an incomplete certificate")
			}
			same("policy's cost", r.PolicyCost, costOf(p.MDP(), r.Policy, luMeasure(t, p.MDP(), r.Policy)))
			same("policy's residual", r.PolicyResidual, 0)
			if r.HasDual {
				// The bound is the minimum of a linear function over the class, attained on the ball's surface.
				g := make([]float64, 3)
				p.GradTheta(g, r.Lambda)
				mean := floats.Sum(g) / 3
				w := 0.
				for _, v := range g {
					w += (v - mean) * (v - mean)
				}
				same("dual bound", r.DualBound, mean-math.Sqrt(1.2*1.2-1./3)*math.Sqrt(w))
				same("duality gap", r.DualityGap, r.Objective-r.DualBound)
				if r.DualBound > best.Objective+1e-12 {
					t.Errorf("%s: bound %v above the optimum %v", m.Name(), r.DualBound, best.Objective)
				}
			} else if pd, ok := m.(mixpolicy.PrimalDual); ok && pd.Form == mixpolicy.Corrected {
				t.Errorf("%s: no dual bound", m.Name())
			}
			if r.Seed != 8 || r.Stream != 2 || !strings.Contains(r.Settings, "T = 400") || !strings.HasPrefix(r.Settings, m.Name()) {
				t.Errorf("settings %q", r.Settings)
			}
		}
	}
}

// An uncertified run omits only the numbers that take time to compute. For an unbounded class, there is no dual bound.
func TestUncertified(t *testing.T) {
	p, set := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost), mixpolicy.Settings{Iterations: 10, Uncertified: true}
	for want, m := range map[string]mixpolicy.Method{
		"primal–dual, φ: ball, R = 2, η = 1, 0.7071, 0.5774, …, G = +Inf, scale of costs 1": mixpolicy.PrimalDual{CostScale: 1},
		"penalty, ω = 2, η = 1, 0.7071, 0.5774, …, scale of costs 3":                        mixpolicy.Penalty{CostScale: 3, Weight: 2},
	} {
		r := solve(t, p, m, set)
		if r.Settings != want+", T = 10, ‖θ‖₂ ≤ 2" || r.HasOptimum || r.HasPolicy || r.Objective != p.Objective(r.Theta) || r.Policy == nil {
			t.Errorf("settings %q, want %q: %+v", r.Settings, want, r.Certificate)
		}
		if s := r.Certificate.Details() + r.Certificate.String(); strings.Contains(s, "optimum") || strings.Contains(s, "true cost") {
			t.Errorf("a number that was not computed is printed:\n%s", s)
		}
	}
	for class, has := range map[mixpolicy.Class]bool{mixpolicy.Ball(2): true, mixpolicy.Unbounded(): false} {
		r := solve(t, small(t, 2, class, mixpolicy.AverageCost), mixpolicy.PrimalDual{}, set)
		if r.HasDual != has {
			t.Errorf("%v: dual bound %v, %v", class, r.DualBound, r.HasDual)
		}
	}
}

// Whatever the costs and the radius, and even if Solve returns an error, no number of a certificate is
// NaN, and only the penalised gap may be infinite. Without an error, the certificate is complete.
func TestNumbersOfACertificateAreFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]float64{1e-300, 1, 1e150, 1e290, 1e300, 1e306}).Draw(t, "size of costs")
		r := rapid.SampledFrom([]float64{2, 1e4, 1e16, 1e100, 1e160, 1e300}).Draw(t, "R")
		m := rapid.SampledFrom([]mixpolicy.Method{mixpolicy.PrimalDual{}, mixpolicy.PrimalDual{CostScale: 1}, mixpolicy.Penalty{}, mixpolicy.PlugIn{}}).Draw(t, "method")
		x := mixpolicy.Must(models.Machine{Outage: 5 * size, Service: size}.MDP())
		psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), x, mixpolicy.UniformPolicy(x), mixpolicy.Must(mixpolicy.StateIndependent(x, .1, .9))))
		p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(r)))
		result, err := mixpolicy.Solve(context.Background(), p, m, mixpolicy.Settings{Iterations: 10, Seed: rapid.Uint64().Draw(t, "seed")})
		if result == nil {
			return // refused
		}
		all := reflect.ValueOf(result.Certificate)
		for i := range all.NumField() {
			if v := all.Field(i); v.Kind() == reflect.Float64 && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) && v.Float() != result.PenalisedGap) {
				t.Fatalf("%s is %v, error %v", all.Type().Field(i).Name, v, err)
			}
		}
		if err == nil && !(result.HasTheta && result.HasOptimum && result.HasPolicy) {
			t.Fatalf("neither an error nor the whole certificate: %+v", result.Certificate)
		}
	})
}

// A hyperplane error that rounds to 0 prints as +0.
func TestCertificateOfRounding(t *testing.T) {
	for v, want := range map[float64]string{-1e-16: "+0.000000000", 0: "+0.000000000", 1e-16: "+0.000000000", -1.6e-9: "-0.000000002", .25: "+0.250000000"} {
		if text := (&mixpolicy.Certificate{HasTheta: true, HyperplaneError: v}).Details(); !strings.Contains(text, want) {
			t.Errorf("1ᵀθ̂ − 1 = %v is printed as\n%s", v, text)
		}
	}
}

// Mismatch returns a point just outside the class (beyond) and a point just inside the class (missing).
// Each point is on the first axis that leads to such a point.
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
		{bregman.Cube(2.001), mixpolicy.Cube(2), true, false},
		{bregman.Cube(1.45), mixpolicy.Ball(2), false, true}, // (1.45, −0.45) is within the ball
		{bregman.NegativeEntropy(), mixpolicy.Simplex(), false, false},
		{bregman.Euclidean(), mixpolicy.Simplex(), true, false},
		{bregman.FermiDirac([]float64{-.5, -2}, []float64{3, 3}), mixpolicy.Ball(2), true, true}, // missing at the left end, beyond at the right
	} {
		if x, y := e.class.Mismatch(e.phi, start); (x != nil) != e.beyond || (y != nil) != e.missing {
			t.Errorf("%v and the class %v: points %v and %v, want a point: %v, %v", e.phi, e.class, x, y, e.beyond, e.missing)
		}
	}
	// In ℝ³, the box [−1, 2]³ contains less of the hyperplane than the cube: (2, 1, −2) is not in the box.
	box := bregman.FermiDirac([]float64{-1, -1, -1}, []float64{2, 2, 2})
	if x, y := mixpolicy.Cube(2).Mismatch(box, []float64{1. / 3, 1. / 3, 1. / 3}); x != nil || y == nil {
		t.Errorf("box: %v and %v", x, y)
	}
}

// The certificate warns of a modulus for another class, and of a Ψθ̂ that is not the measure of a policy, and says what to do.
func TestWarnings(t *testing.T) {
	p := queue(t, 100, mixpolicy.Ball(2))
	for _, e := range []struct {
		name   string
		method mixpolicy.Method
		want   []string // part of each warning
	}{
		{"default", mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(64)}, nil},
		{"wide ball", &mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(4), Modulus: bregman.Ball{R: 3}}, []string{
			" is in the domain of φ (ball, R = 3) but not in the class ‖θ‖₂ ≤ 2, so nothing keeps θ̂ in the class; " +
				"want a modulus for this class, such as mixpolicy.DefaultModulus(class), or the class of this modulus"}},
		{"entropy", mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(64), Modulus: bregman.NegativeEntropy()}, []string{
			" is in the class ‖θ‖₂ ≤ 2 but not in the domain of φ (negative entropy), so no iterate comes near it; want a modulus"}},
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
