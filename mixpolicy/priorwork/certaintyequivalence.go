package priorwork

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// CertaintyEquivalence estimates the costs, and solves the MDP with the estimated costs. It applies the plug-in
// principle to the whole MDP, (2.13), instead of to (2.18). With a generative model, this principle is minimax optimal
// in the number of queries, up to a logarithmic factor (Azar, Munos and Kappen 2013). Here, transitions are known. If
// costs have no noise, one query for each allowed pair is enough: the answer's cost then exceeds the cost of the best
// policy by at most 10⁻⁶ times the range of the costs.
//
// The method queries all allowed pairs in a random order, and then repeats this order. The estimate of a pair's cost is
// the cost last observed for this pair. Before a pair's first query, the estimate is the greatest cost, which
// Assumption A.3 gives.
//
// Source: Azar, Munos and Kappen, Machine Learning 91(3), 2013.
//
// Deviations: see [Publications].
type CertaintyEquivalence struct{}

// Name implements [mixpolicy.Method].
func (CertaintyEquivalence) Name() string { return "certainty equivalence" }

// certaintyEquivalence is a run of [CertaintyEquivalence].
type certaintyEquivalence struct {
	policyOnly
	x      *mixpolicy.MDP
	oracle *mixpolicy.Oracle
	order  []int
	cost   []float64
	t      int
}

// Start implements [mixpolicy.Method].
func (CertaintyEquivalence) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	x := p.MDP()
	_, most := x.CostRange()
	order := slices.DeleteFunc(rand.New(o.Rand()).Perm(x.Pairs()), func(i int) bool { return !x.Allowed(x.StateAction(i)) })
	return &certaintyEquivalence{x: x, oracle: o, order: order, cost: slices.Repeat([]float64{most}, x.Pairs())}, nil
}

// Step implements [mixpolicy.Run]: it makes one query.
func (a *certaintyEquivalence) Step() error {
	pair, m := a.order[a.t%len(a.order)], a.x.Actions()
	a.cost[pair], _ = a.oracle.Query(pair/m, pair%m)
	a.t++
	return nil
}

// Policy implements [mixpolicy.PolicyRun]. Policy solves the MDP with the estimated costs, to within 10⁻⁶ times the
// range of these costs.
func (a *certaintyEquivalence) Policy(ctx context.Context) (*mixpolicy.Policy, error) {
	for i := range a.cost {
		s, b := a.x.StateAction(i)
		a.cost[i] = a.cost[a.x.Pair(s, a.x.Taken(s, b))]
	}
	estimated, err := a.x.WithCosts(a.cost)
	if err != nil {
		return nil, err
	}
	lo, hi := estimated.CostRange()
	best, err := mixpolicy.ModifiedPolicyIteration(ctx, estimated, mixpolicy.ValuationSettings{Tolerance: 1e-6 * (hi - lo)})
	if err != nil {
		return nil, fault.At("priorwork", fmt.Sprintf("certainty equivalence after %d queries", a.t), err)
	}
	return best.Policy, nil
}
