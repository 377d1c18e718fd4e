package priorwork

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// The value αᵀΦν of the ALP is a lower bound on αᵀv*. The αᵀΦν of the smoothed program is
// greater.
func ExampleSALP() {
	q := deFariasVanRoy(200)
	x := mixpolicy.Must(q.MDP())
	phi, alpha := mixpolicy.Must(q.Monomials(2)), geometric(x)
	alp := mixpolicy.Must(ALP{Basis: phi, Weights: alpha}.Solve(context.Background(), x))
	smoothed := mixpolicy.Must(SALP{
		Basis: phi, Weights: alpha, Penalty: PublishedPenalty(x.Gamma()),
	}.Solve(context.Background(), x))
	optimal := mixpolicy.Must(mixpolicy.PolicyIteration(context.Background(), x, mixpolicy.ValuationSettings{})).Value
	fmt.Printf("ALP %.1f, smoothed %.1f\n", alp.Objective, smoothed.Objective)
	fmt.Printf("E|v* − Φν|: %.1f and %.1f\n", WeightedError(alpha, optimal, alp.Value), WeightedError(alpha, optimal, smoothed.Value))
	// Output:
	// ALP 234.6, smoothed 409.4
	// E|v* − Φν|: 154.7 and 52.6
}

// The linear program has 50 or 500 sampled constraints instead of all 804.
func ExampleConstraintSampling() {
	q := deFariasVanRoy(200)
	x := mixpolicy.Must(q.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), x, mixpolicy.Must(q.Policies(x))...))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	s := ConstraintSampling{Basis: mixpolicy.Must(q.Monomials(3)), Weights: geometric(x), Bound: 1e4}
	for _, samples := range []int{50, 500} {
		r := mixpolicy.Must(mixpolicy.Solve(context.Background(), p, s, mixpolicy.Settings{Iterations: samples, Seed: 1}))
		fmt.Printf("%d samples: the greedy policy costs %.2f a step\n", samples, r.PolicyCost)
	}
	best := mixpolicy.Must(mixpolicy.PolicyIteration(context.Background(), x, mixpolicy.ValuationSettings{}))
	fmt.Printf("optimal: %.2f\n", best.Cost())
	// Output:
	// 50 samples: the greedy policy costs 99.12 a step
	// 500 samples: the greedy policy costs 99.25 a step
	// optimal: 94.04
}

func ExampleSmoothedPrimalDual() {
	x := mixpolicy.Must(models.Machine{Criterion: mixpolicy.Discounted(0.5)}.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), x, mixpolicy.UniformPolicy(x)))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	basis := mixpolicy.Must(models.Queue{Buffer: 2}.Monomials(1)) // 1 and the state
	s := SmoothedPrimalDual{
		Basis: basis, Slack: []float64{.5, .5}, Radius: 4, CostScale: 6, StepSize: mixpolicy.InverseSqrt(0.3),
	}
	a := mixpolicy.Must(mixpolicy.Solve(context.Background(), p, s, mixpolicy.Settings{Iterations: 100_000, Seed: 1}))
	exact := mixpolicy.Must(SALP{Basis: basis, Slack: s.Slack, Penalty: PublishedPenalty(0.5)}.Solve(context.Background(), x))
	fmt.Printf("ν = %.2f, exactly %.2f\n", a.Run.(Approximator).Nu(), exact.Nu)
	fmt.Printf("service while working with probability %v, while broken %v\n", a.Policy.Prob(models.Working, models.Attend), a.Policy.Prob(models.Broken, models.Attend))
	// Output:
	// ν = [-3.45 5.50], exactly [-4.00 5.71]
	// service while working with probability 0, while broken 1
}
