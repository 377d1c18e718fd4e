package priorwork

import (
	"math"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// A method that knows the costs returns the policy of the program that it is named after, without a query.
func TestSolvers(t *testing.T) {
	q := models.Queue{Buffer: 20, Criterion: mixpolicy.Discounted(0.9)}
	x := mixpolicy.Must(q.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.Must(q.Policies(x))...))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	phi := mixpolicy.Must(q.Monomials(2))
	cost := func(policy *mixpolicy.Policy) float64 {
		return mixpolicy.Must(x.Occupation(t.Context(), policy)).Cost(x.Costs())
	}
	mu := Visits(p)
	want := map[string]float64{
		"exact LP (2.18)":  mixpolicy.Must(p.Optimum(t.Context())).Objective,
		"policy iteration": mixpolicy.Must(SolveLP(background, x)).Primal,
		"approximate LP":   cost(mixpolicy.Must(ALP{Basis: phi, Weights: mu}.Solve(background, x)).Policy),
		"smoothed LP":      cost(mixpolicy.Must(SALP{Basis: phi, Weights: mu, Slack: mu, Penalty: 20}.Solve(background, x)).Policy),
	}
	for _, m := range []mixpolicy.Method{MixtureLP{}, FullLP{}, ApproximateLP{phi}, SmoothedLP{phi}} {
		r := mixpolicy.Must(mixpolicy.Solve(background, p, m, mixpolicy.Settings{Iterations: 5}))
		if r.Iterations != 0 || r.Queries != 0 || r.Status != mixpolicy.Completed {
			t.Errorf("%s: %d iterations, %d queries, %v", m.Name(), r.Iterations, r.Queries, r.Status)
		}
		// The tolerance is for sums of 80 costs times probabilities, and for the gap of the exact solvers.
		if got := r.PolicyCost; math.Abs(got-want[m.Name()]) > 1e-10*got || r.Method != m.Name() {
			t.Errorf("%s: cost %v, want %v", m.Name(), got, want[m.Name()])
		}
	}
}
