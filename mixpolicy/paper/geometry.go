package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// copies is the queue with each of its base policies k times. A class of radius R/k reaches
// the mixtures that R reaches without the copies, while ‖Ψ‖_{*,2} for ‖·‖_∞ is k times as
// large. In Algorithm 1 with the modulus of the cube copies see the same gradients, stay
// equal, and add up to the coefficient that one would have: the runs are the same.
func copies(k int, class mixpolicy.Class) (*mixpolicy.Problem, error) {
	x, base, err := Queue()
	if err != nil {
		return nil, err
	}
	return mixtureProblem(x, class, slices.Repeat(base, k)...)
}

// geometryClaim decides the remark after Theorem 3.4 by two ways of writing one problem.
func geometryClaim(ctx context.Context) (Claim, error) {
	const k, radius, iterations = 8, 2, 10_000
	var norm, cost [2]float64
	for i, n := range []int{1, k} {
		p, err := copies(n, mixpolicy.Cube(radius/float64(n)))
		if err != nil {
			return Claim{}, err
		}
		method := mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(16)}
		r, err := mixpolicy.Solve(ctx, p, method, mixpolicy.Settings{Iterations: iterations, Seed: 1, Uncertified: true})
		if err != nil {
			return Claim{}, err
		}
		norm[i], cost[i] = theory.SubordinateNorm(p.Features(), p.Class().Norm), r.Objective
	}
	return Claim{
		ID: "3-geometry", Where: "3.2", Claim: "the geometry of the policy class influences the sample complexity through ‖Ψ‖_{*,2}",
		Experiment: fmt.Sprintf("queue, cube, T = 10⁴, η₀ = 16: each base policy once and R = 2, against %d times and R = 2/%[1]d", k),
		Numbers: fmt.Sprintf("‖Ψ‖_{*,2} is %.4g and %.4g, for which the theorem has T differ by a factor of %.0f; cᵀΨθ̂ is %.6g and %.6g; unmoved is R‖Ψ‖_{*,2}",
			norm[0], norm[1], math.Pow(norm[1]/norm[0], 4), cost[0], cost[1]),
		// The costs would be equal but for rounding.
		Verdict: verdictIf(math.Abs(cost[1]-cost[0]) > 1e-6*cost[0]),
	}, nil
}
