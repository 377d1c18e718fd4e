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

// By cost alone, the infeasible mixture θ = (1.5, −0.5) would look better than the optimum.
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

// The occupation measure (2.10) of a policy, its cost, and the policy that belongs to a
// measure (2.20).
func ExampleMDP_Occupation() {
	x := mixpolicy.Must(models.Machine{}.MDP())
	careful := mixpolicy.Must(mixpolicy.Deterministic(x, []int{models.Attend, models.Attend}))
	m := mixpolicy.Must(x.Occupation(context.Background(), careful))
	fmt.Printf("working %.4f of the time, at a cost of %.4f a step\n", m.State[models.Working], m.Cost(x.Costs()))
	back := mixpolicy.Must(mixpolicy.PolicyOf(x, m.Pair))
	fmt.Printf("its policy services with probability %g, %g\n", back.Prob(models.Working, models.Attend), back.Prob(models.Broken, models.Attend))
	// Output:
	// working 0.8889 of the time, at a cost of 1.5556 a step
	// its policy services with probability 1, 1
}

// The measure of a mixture of policies (2.16) is not the mixture of their measures, because the mixture draws a policy
// at every step.
func ExampleMixture() {
	x := mixpolicy.Must(models.Machine{}.MDP())
	never, always := mixpolicy.Must(mixpolicy.StateIndependent(x, 1, 0)), mixpolicy.Must(mixpolicy.StateIndependent(x, 0, 1))
	half := mixpolicy.Must(mixpolicy.Mixture([]float64{.5, .5}, never, always))
	for _, p := range []*mixpolicy.Policy{never, always, half} {
		fmt.Printf("broken %.4f of the time\n", mixpolicy.Must(x.Occupation(context.Background(), p)).State[models.Broken])
	}
	// Output:
	// broken 0.7500 of the time
	// broken 0.1111 of the time
	// broken 0.3077 of the time
}

// Frequencies of visits with their standard errors, and the exact measure.
func ExampleSimulate() {
	x := mixpolicy.Must(models.Machine{}.MDP())
	p := mixpolicy.UniformPolicy(x)
	seen := mixpolicy.Must(mixpolicy.Simulate(context.Background(), x, p, mixpolicy.SimulateSettings{Steps: 1_000_000, Seed: 1}))
	fmt.Printf("broken %.4f ± %.4f of the time, exactly %.4f\n", seen.State[models.Broken], seen.StateError[models.Broken],
		mixpolicy.Must(x.Occupation(context.Background(), p)).State[models.Broken])
	fmt.Println(seen)
	// Output:
	// broken 0.3077 ± 0.0006 of the time, exactly 0.3077
	// occupation measure of 2 states and 4 pairs, estimated from 1000000 steps
	// mean cost 2.039, standard error 0.0027
}

// Plug-in, which needs no step size, on the queue of section 6.
func ExamplePlugIn() {
	queue := mixpolicy.Must(models.Queue{}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), queue, mixpolicy.Must(models.Queue{}.Policies(queue))...))
	p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	run := mixpolicy.Must(mixpolicy.Solve(context.Background(), p, mixpolicy.PlugIn{}, mixpolicy.Settings{Iterations: 100, Seed: 1}))
	fmt.Printf("θ̂ = %.4f, %.3f %% above the optimum after %d queries\n", run.Theta, 100*run.PenalisedGap/run.Optimum, run.Queries)
	// Output:
	// θ̂ = [1.1162 -0.1162], 0.000 % above the optimum after 100 queries
}

// How a model, a policy, a measure, Ψ, a problem, its optimum and a result print.
func Example_print() {
	queue := mixpolicy.Must(models.Queue{}.MDP())
	base := mixpolicy.Must(models.Queue{}.Policies(queue))
	psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), queue, base...))
	p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	s, a := queue.StateAction(queue.Pair(17, 3))
	fmt.Println(queue)
	fmt.Println(base[0])
	fmt.Println(mixpolicy.Must(queue.Occupation(context.Background(), base[0])))
	fmt.Println(psi)
	fmt.Println(p)
	fmt.Println(mixpolicy.Must(p.Optimum(context.Background())))
	fmt.Println("pair 17, 3 and back:", s, a)
	run := mixpolicy.Must(mixpolicy.Solve(context.Background(), p, mixpolicy.PlugIn{}, mixpolicy.Settings{Iterations: 100, Seed: 1, Uncertified: true}))
	fmt.Println(run)
	// Output:
	// MDP of 100 states and 4 actions, average cost
	// 1094 transitions, costs from 1.48 to 10030.7
	// randomised policy of 100 states and 4 actions
	// in state 0 with probabilities [0.25 0.25 0.25 0.25]
	// occupation measure of 100 states and 400 pairs
	// most mass in state 0: 0.01; flow residual 4.9e-17, by elimination
	// Ψ of 400 pairs and 2 columns
	// cᵀΨ = [3395.5 7987.87]
	// min cᵀΨθ over Ψθ ⪰ 0, 1ᵀθ = 1, ‖θ‖₂ ≤ 2
	// d = 2, 400 pairs, cᵀΨ = [3395.5 7987.87]
	// optimum 2861.64557 at θ = [1.11625 -0.116248]
	// no feasible point is better by more than 6e-12; binding rows: 1
	// pair 17, 3 and back: 17 3
	// plug-in, completed after 100 iterations
	// θ̂ = [1.11625 -0.116248]
	// cost of the mixture          2861.65
	// negative mass                0
}
