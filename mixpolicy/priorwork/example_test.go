package priorwork_test

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
)

// queue returns the queue of de Farias and Van Roy with a buffer of 200.
func queue() (models.Queue, *mixpolicy.MDP) {
	q := models.DeFariasVanRoyQueue()
	q.Buffer = 200
	return q, mixpolicy.Must(q.MDP())
}

// The value αᵀΦν of the ALP is a lower bound on αᵀv*. The αᵀΦν of the smoothed program is
// greater.
func ExampleSALP() {
	q, x := queue()
	phi, alpha := mixpolicy.Must(q.Monomials(2)), mixpolicy.Must(q.GeometricWeights(0.9))
	alp := mixpolicy.Must(priorwork.ALP{Basis: phi, Weights: alpha}.Solve(context.Background(), x))
	smoothed := mixpolicy.Must(priorwork.SALP{
		Basis: phi, Weights: alpha, Penalty: priorwork.PublishedPenalty(x.Gamma()),
	}.Solve(context.Background(), x))
	optimal := mixpolicy.Must(mixpolicy.PolicyIteration(context.Background(), x, mixpolicy.ValuationSettings{})).Value
	fmt.Printf("ALP %.1f, smoothed %.1f\n", alp.Objective, smoothed.Objective)
	fmt.Printf("E|v* − Φν|: %.1f and %.1f\n", priorwork.WeightedError(alpha, optimal, alp.Value), priorwork.WeightedError(alpha, optimal, smoothed.Value))
	// Output:
	// ALP 234.6, smoothed 409.4
	// E|v* − Φν|: 154.7 and 52.6
}

// The linear program has 50 or 500 sampled constraints instead of all 804.
func ExampleConstraintSampling() {
	q, x := queue()
	f := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), x, mixpolicy.Must(q.Policies(x))...))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	s := priorwork.ConstraintSampling{Basis: mixpolicy.Must(q.Monomials(3)), Weights: mixpolicy.Must(q.GeometricWeights(0.9)), Bound: 1e4}
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
	s := priorwork.SmoothedPrimalDual{
		Basis: basis, Slack: []float64{.5, .5}, Radius: 4, CostScale: 6, StepSize: mixpolicy.InverseSqrt(0.3),
	}
	a := mixpolicy.Must(mixpolicy.Solve(context.Background(), p, s, mixpolicy.Settings{Iterations: 100_000, Seed: 1}))
	exact := mixpolicy.Must(priorwork.SALP{Basis: basis, Slack: s.Slack, Penalty: priorwork.PublishedPenalty(0.5)}.Solve(context.Background(), x))
	fmt.Printf("ν = %.2f, exactly %.2f\n", a.Run.(priorwork.Approximator).Nu(), exact.Nu)
	fmt.Printf("service while working with probability %v, while broken %v\n", a.Policy.Prob(models.Working, models.Attend), a.Policy.Prob(models.Broken, models.Attend))
	// Output:
	// ν = [-3.45 5.50], exactly [-4.00 5.71]
	// service while working with probability 0, while broken 1
}
