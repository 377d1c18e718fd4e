package theory_test

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// The corrected bound (3.31) for the queue of section 6 after 10⁶ iterations, and its terms.
func ExampleConstants_ObjectiveBound() {
	queue := mixpolicy.Must(models.Queue{}.MDP())
	base := mixpolicy.Must(models.Queue{}.Policies(queue))
	psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), queue, base...))
	problem := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	k := mixpolicy.Must(theory.NewConstants(problem, mixpolicy.PrimalDual{Beta: 50, CostScale: 10_000}))
	fmt.Printf("A = %.3f, ‖Ψ‖ = %.3f, C_e = %.1f, ‖λ*‖ = %.1f\n", k.A, k.PsiNorm, k.Ce(mixpolicy.Corrected), k.LambdaStar)

	bound := k.ObjectiveBound(theory.InverseSqrtSums(mixpolicy.Corrected, 1_000_000), 0.05)
	for _, t := range bound.Terms {
		fmt.Printf("%8.3f  %s\n", t.Value, t.Name)
	}
	fmt.Printf("%8.3f\n", bound.Value)
	// Output:
	// A = 1.997, ‖Ψ‖ = 0.107, C_e = 109.4, ‖λ*‖ = 15.1
	//    0.001  D, from the start
	//    0.000  σ_max, from the dual steps
	//    0.839  ‖∇𝓛‖⁎, from the primal steps
	//  177.365  C_e², from the estimation errors
	//    2.063  C_e√ln, from their deviation
	//  180.268
}

// τ_mix(¼) of (2.23), corrected: the number of steps until the distribution from every start is
// within ¼ of the stationary one. The second eigenvalue is 0.35, so the greatest distance after t
// steps is 0.6923·0.35ᵗ.
func ExampleMixingTime() {
	x := mixpolicy.Must(models.Machine{}.MDP())
	m := mixpolicy.Must(theory.MixingTime(context.Background(), x, mixpolicy.UniformPolicy(x), .25))
	fmt.Printf("τ = %d, at a distance of %.4f\n", m.Time, m.Distance)
	// Output:
	// τ = 1, at a distance of 0.2423
}
