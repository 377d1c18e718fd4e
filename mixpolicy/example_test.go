package mixpolicy_test

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// The queue of section 6, two base policies, their feature matrix Ψ, and Algorithm 1 on
// problem (2.18).
func Example() {
	queue := mixpolicy.Must(models.Queue{}.MDP())
	even := mixpolicy.Must(mixpolicy.StateIndependent(queue, .25, .25, .25, .25))
	slow := mixpolicy.Must(mixpolicy.StateIndependent(queue, .3, .3, .2, .2))
	psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), queue, even, slow))
	problem := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))

	_, highest := queue.CostRange()
	method := mixpolicy.PrimalDual{CostScale: highest}
	run := mixpolicy.Must(mixpolicy.Solve(context.Background(), problem, method, mixpolicy.Settings{Iterations: 100_000, Seed: 1}))
	fmt.Println(&run.Certificate)
	// Output:
	// cost cᵀΨθ̂                    2051.474835
	// exact optimum of (2.18)      2861.645568
	// gap to the optimum           -810
	// gap, infeasibility priced    1.73e+04
	// lower bound from λ̂           2321.399534
	// duality gap                  -270
	// true cost of π^θ̂             2371.641879
	// violation ½‖[Ψθ̂]₋‖₂          0.0049
	// negative mass ‖[Ψθ̂]₋‖₁       0.0423
	// 1ᵀθ̂ − 1                      +0.000000000
	// ‖θ̂‖ of R                     1.325 of 2
	// queries                      100000
	// seed, stream                 1, 0
	// settings                     primal–dual, φ: ball, R = 2, η = 1, 0.7071, 0.5774, …, G = +Inf, scale of costs 10030.72, T = 100000, ‖θ‖₂ ≤ 2
}

// The mixture of the two policies' measures that costs least, exactly.
func ExampleProblem_Optimum() {
	queue := mixpolicy.Must(models.Queue{}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), queue, mixpolicy.Must(models.Queue{}.Policies(queue))...))
	problem := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	best := mixpolicy.Must(problem.Optimum(context.Background()))
	fmt.Printf("base policies cost %.1f\n", problem.BaseCosts())
	fmt.Printf("optimum %.1f at θ = %.3f\n", best.Objective, best.Theta)
	// Output:
	// base policies cost [3395.5 7987.9]
	// optimum 2861.6 at θ = [1.116 -0.116]
}

// By cost alone the infeasible mixture would look better than the optimum.
func ExampleProblem_Merit() {
	queue := mixpolicy.Must(models.Queue{}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), queue, mixpolicy.Must(models.Queue{}.Policies(queue))...))
	problem := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	for _, theta := range [][]float64{{.5, .5}, {1, 0}, {1.116, -.116}, {1.5, -.5}} {
		fmt.Printf("θ = %v: cost %.0f, merit %.0f\n", theta, problem.Objective(theta), mixpolicy.Must(problem.Merit(theta)))
	}
	// Output:
	// θ = [0.5 0.5]: cost 5692, merit 2830
	// θ = [1 0]: cost 3395, merit 534
	// θ = [1.116 -0.116]: cost 2863, merit 1
	// θ = [1.5 -0.5]: cost 1099, merit 57961
}
