package mixpolicy_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// The average with recency p is Σ wθ / Σ w, w_t = η_t(t+1)ᵖ, of the iterates that are shown; λ̂ has the same weights,
// and λ_t is what the plain sum Σ ηλ grows by.
func TestRecency_3_27(t *testing.T) {
	const d, steps, p, eta0 = 3, 40, 2.5, 8.
	x := unit(t, d)
	for _, methods := range [][2]mixpolicy.Method{
		{
			mixpolicy.Penalty{Weight: 4, StepSize: mixpolicy.InverseSqrt(eta0)},
			mixpolicy.Penalty{Weight: 4, StepSize: mixpolicy.InverseSqrt(eta0), Recency: p},
		}, {
			mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(eta0), Multipliers: mixpolicy.DenseMultipliers},
			mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(eta0), Multipliers: mixpolicy.DenseMultipliers, Recency: p},
		}, {
			mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(eta0), Multipliers: mixpolicy.LazyMultipliers},
			mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(eta0), Multipliers: mixpolicy.LazyMultipliers, Recency: p},
		},
	} {
		plain := startOn(t, x, methods[0], mixpolicy.Must(mixpolicy.NewOracle(x, 1, 0)))
		recent := startOn(t, x, methods[1], mixpolicy.Must(mixpolicy.NewOracle(x, 1, 0)))
		theta, lambda := make([]float64, d), make([]float64, x.MDP().Pairs())
		before, grown := make([]float64, len(lambda)), make([]float64, len(lambda)) // Σ ηλ, before a step and after it
		var weights, etas float64
		for k := range steps {
			eta := eta0 / math.Sqrt(float64(k+1))
			w := eta * math.Pow(float64(k+1), p)
			floats.AddScaled(theta, w, view(t, plain).Last)
			weights, etas = weights+w, etas+eta
			advance(t, plain, 1)
			advance(t, recent, 1)
			if l := view(t, plain).Lambda; l != nil {
				floats.ScaleTo(grown, etas, l)
				for i, v := range grown {
					lambda[i] += w / eta * (v - before[i])
				}
				copy(before, grown)
			}
		}
		s := view(t, recent)
		floats.Scale(1/weights, theta)
		floats.Scale(1/weights, lambda)
		if !floats.EqualApprox(s.Average, theta, 1e-13) {
			t.Errorf("%v: θ̂ = %v, want %v", methods[1], s.Average, theta)
		}
		if size := floats.Norm(lambda, math.Inf(1)); s.Lambda != nil && (size == 0 || !floats.EqualApprox(s.Lambda, lambda, 1e-12*size)) {
			t.Errorf("%v: λ̂ = %v, want %v", methods[1], s.Lambda, lambda)
		}
	}
	for _, p := range []float64{-1, 31, math.NaN()} {
		if _, err := (mixpolicy.PrimalDual{Recency: p}).For(x); err == nil {
			t.Errorf("no error for p = %v", p)
		}
	}
}
