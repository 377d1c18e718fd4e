package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// accuracy of values: no entry is further than this from v*. Costs are in [0, 1), values
// about 10.
const accuracy = 1e-6

// valuation is value iteration, policy iteration and modified policy iteration on a random
// sparse MDP. All stop where span(𝒮v − v) proves the accuracy, or, those that have no other
// rule, where ‖𝒮v − v‖∞ does.
func valuation(_ context.Context, quick bool) ([]func() (race, error), error) {
	g := models.Garnet{States: 100_000, Actions: 10, Branches: 10, Seed: 1, Criterion: mixpolicy.Discounted(0.99)}
	if quick {
		g.States = 500
	}
	x, err := g.MDP()
	if err != nil {
		return nil, err
	}
	problem := matrixOf(x)
	problem.Numbers["accuracy"] = accuracy
	var all []func() (race, error)
	for _, e := range []struct {
		name  string
		solve func(context.Context, *mixpolicy.MDP, mixpolicy.ValuationSettings) (*mixpolicy.Valuation, error)
		peers []string
	}{
		{"value iteration", mixpolicy.ValueIteration, []string{"mdpsolver vi", "mdpsolver vi, parallel", "mdpsolver vi, gs", "mdpsolver vi, sor", "quantecon vi"}},
		{"policy iteration", mixpolicy.PolicyIteration, []string{"mdpsolver pi", "mdpsolver pi, parallel", "mdpsolver pi, gs", "mdpsolver pi, sor", "quantecon pi"}},
		{"modified policy iteration", mixpolicy.ModifiedPolicyIteration, []string{"mdpsolver mpi", "mdpsolver mpi, parallel", "mdpsolver mpi, gs", "mdpsolver mpi, sor", "quantecon mpi"}},
	} {
		all = append(all, func() (race, error) {
			return race{
				work:     "valuation",
				instance: fmt.Sprintf("%s, %s states × %d actions, %d next states", e.name, data.Thousands(g.States), g.Actions, g.Branches),
				problem:  problem,
				ours: func(ctx context.Context, _ int) ([]float64, error) {
					// Values are within width/(2(1−γ)) of the truth.
					v, err := e.solve(ctx, x, mixpolicy.ValuationSettings{Tolerance: 2 * (1 - x.Gamma()) * accuracy})
					if err != nil {
						return nil, err
					}
					return slices.Clone(v.Value), nil
				},
				peers:  e.peers,
				agree:  within(2 * accuracy),
				faster: 1,
			}, nil
		})
	}
	return all, nil
}
