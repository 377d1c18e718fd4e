package models

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Garnet is a random MDP (Archibald, McKinnon and Thomas 1995). Every state–action pair has a cost,
// drawn uniformly from [0, 1), and k = Branches next states, drawn without replacement. The
// probabilities of the next states are the lengths of the intervals into which k − 1 uniform
// points divide [0, 1]. The random numbers of pair i = s·Actions + a come from PCG(Seed, i).
type Garnet struct {
	States, Actions, Branches int
	Seed                      uint64

	// Ring makes s+1 (mod States) one of the next states of every state s under every
	// action. Then the chain of every policy is irreducible, and the average cost of every
	// policy is well defined.
	Ring bool

	// Criterion is the cost to minimise; the zero value means mixpolicy.AverageCost.
	Criterion mixpolicy.Criterion
}

// MDP draws the MDP.
func (g Garnet) MDP() (*mixpolicy.MDP, error) {
	if g.States < 1 || g.Actions < 1 {
		return nil, fmt.Errorf("models: Garnet with %d states and %d actions, want at least one of each", g.States, g.Actions)
	}
	if g.Branches < 1 || g.Branches > g.States {
		return nil, fmt.Errorf("models: Garnet with %d branches, want 1 to %d, the number of states", g.Branches, g.States)
	}
	g.Criterion = cmp.Or(g.Criterion, mixpolicy.AverageCost)
	next := make([]mixpolicy.Transition, g.Branches)
	cuts := make([]float64, g.Branches+1)
	return mixpolicy.New(mixpolicy.Spec{
		States: g.States, Actions: g.Actions, Criterion: g.Criterion,
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			rng := rand.New(rand.NewPCG(g.Seed, uint64(s*g.Actions+a)))
			g.drawStates(rng, s, next)
			// Uniform points are multiples of 2⁻⁵³, so the lengths are exact and add up to 1.
			cuts[0], cuts[g.Branches] = 0, 1
			for k := 1; k < g.Branches; k++ {
				cuts[k] = rng.Float64()
			}
			slices.Sort(cuts)
			for k := range next {
				next[k].P = cuts[k+1] - cuts[k]
			}
			return rng.Float64(), next
		},
	})
}

// drawStates fills in the next states of s (Floyd's sampling without replacement). With
// Ring, next[0] is s+1 (mod States), and the others are drawn from the remaining states,
// numbered in the order s+2, s+3, …, s (mod States).
func (g Garnet) drawStates(rng *rand.Rand, s int, next []mixpolicy.Transition) {
	offset, pool := 0, g.States
	if g.Ring {
		next[0].To = (s + 1) % g.States
		next = next[1:]
		offset, pool = s+2, g.States-1
	}
	for k := range next {
		last := pool - len(next) + k
		draw := (offset + rng.IntN(last+1)) % g.States
		if slices.ContainsFunc(next[:k], func(t mixpolicy.Transition) bool { return t.To == draw }) {
			draw = (offset + last) % g.States
		}
		next[k].To = draw
	}
}
