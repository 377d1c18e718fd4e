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
	// cost of the mixture          2051.47
	// exact optimum of (2.18)      2861.65
	// penalised gap                1.73e+04
	// negative mass                0.0423
	// true cost of its policy      2371.64
}

// All numbers of the certificate of a short run, which is far from feasible.
func ExampleCertificate_Details() {
	queue := mixpolicy.Must(models.Queue{}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), queue, mixpolicy.Must(models.Queue{}.Policies(queue))...))
	problem := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	run := mixpolicy.Must(mixpolicy.Solve(context.Background(), problem, mixpolicy.PrimalDual{CostScale: 1e4}, mixpolicy.Settings{Iterations: 1000, Seed: 1}))
	fmt.Println(run.Details())
	// Output:
	// cost cᵀΨθ̂                    360.276283
	// exact optimum of (2.18)      2861.645568
	// gap to the optimum           -2.5e+03
	// penalised gap                9.44e+04
	// lower bound from λ̂           185.733026
	// duality gap                  +175
	// true cost of its policy      2047.687491
	// violation ½‖[Ψθ̂]₋‖₂          0.0191
	// negative mass ‖[Ψθ̂]₋‖₁       0.227
	// 1ᵀθ̂ − 1                      +0.000000000
	// ‖θ̂‖ of R                     1.788 of 2
	// queries                      1000
	// seed, stream                 1, 0
	// settings                     primal–dual, φ: ball, R = 2, η = 1, 0.7071, 0.5774, …, G = +Inf, scale of costs 10000, T = 1000, ‖θ‖₂ ≤ 2
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
func ExampleProblem_PenalisedGap() {
	queue := mixpolicy.Must(models.Queue{}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), queue, mixpolicy.Must(models.Queue{}.Policies(queue))...))
	problem := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	for _, theta := range [][]float64{{.5, .5}, {1, 0}, {1.116, -.116}, {1.5, -.5}} {
		fmt.Printf("θ = %v: cost %.0f, penalised gap %.0f\n", theta, problem.Objective(theta), mixpolicy.Must(problem.PenalisedGap(theta)))
	}
	// Output:
	// θ = [0.5 0.5]: cost 5692, penalised gap 2830
	// θ = [1 0]: cost 3395, penalised gap 534
	// θ = [1.116 -0.116]: cost 2863, penalised gap 1
	// θ = [1.5 -0.5]: cost 1099, penalised gap 57961
}
