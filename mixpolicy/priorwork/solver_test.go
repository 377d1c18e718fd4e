package priorwork

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/prompt"
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

// Work on many rows, including the scaling of linear programs, ends when its context ends.
func TestWorkEndsWithItsContext(t *testing.T) {
	const n, d = 20_000, 60
	x := mixpolicy.Must(models.Garnet{States: n, Actions: 4, Branches: 2, Criterion: mixpolicy.Discounted(.99)}.MDP())
	phi := mat.NewDense(n, d, nil)
	v, u := make([]float64, n), make([]float64, n)
	for s := range n {
		phi.Set(s, 0, 1)
		for j := 1; j < d; j++ {
			phi.Set(s, j, math.Sin(float64(s*j)))
		}
		v[s], u[s] = math.Cos(float64(s)), 1
	}
	prompt.Check(t, map[string]func(ctx context.Context) error{
		"ALP":          func(ctx context.Context) error { _, err := ALP{Basis: phi}.Solve(ctx, x); return err },
		"smoothed ALP": func(ctx context.Context) error { _, err := SALP{Basis: phi, Penalty: 2}.Solve(ctx, x); return err },
		"best fit":     func(ctx context.Context) error { _, _, err := BestFit(ctx, phi, v, u); return err },
		"full LP":      func(ctx context.Context) error { _, err := SolveLP(ctx, x); return err },
	})
}
