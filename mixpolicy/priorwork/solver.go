package priorwork

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
)

// The methods of this file know the costs, and their runs take no steps, because View or Policy does all of the work.
// Compare the methods by the time that View or Policy takes.
type (
	solvedMixture struct{ *mixpolicy.Problem }
	solvedPolicy  func(context.Context) (*mixpolicy.Policy, error)
)

func (solvedMixture) Step() error { return mixpolicy.ErrDone }
func (solvedPolicy) Step() error  { return mixpolicy.ErrDone }

// View implements [mixpolicy.Run].
func (r solvedMixture) View(s *mixpolicy.Snapshot) error { return r.ViewUntil(context.Background(), s) }

// ViewUntil implements [mixpolicy.SlowRun]: it solves the problem.
func (r solvedMixture) ViewUntil(ctx context.Context, s *mixpolicy.Snapshot) error {
	best, err := r.Solve(ctx, r.BaseCosts())
	if *s = (mixpolicy.Snapshot{}); err == nil {
		s.Last, s.Average = best.Theta, best.Theta
	}
	return err
}

// View implements [mixpolicy.Run].
func (r solvedPolicy) View(s *mixpolicy.Snapshot) error { return policyOnly{}.View(s) }

// Policy implements [mixpolicy.PolicyRun]: it solves the problem.
func (r solvedPolicy) Policy(ctx context.Context) (*mixpolicy.Policy, error) { return r(ctx) }

// MixtureLP uses package linprog to solve (2.18) with the true costs.
//
// Source: section 2 of the paper states this problem.
type MixtureLP struct{}

// Name implements [mixpolicy.Method].
func (MixtureLP) Name() string { return "exact LP (2.18)" }

// Start implements [mixpolicy.Method].
func (MixtureLP) Start(p *mixpolicy.Problem, _ *mixpolicy.Oracle) (mixpolicy.Run, error) {
	return solvedMixture{p}, nil
}

// FullLP solves (2.13), the linear program of the whole MDP, by policy iteration, which is the simplex method with many
// pivots at once (see [SolveLP]).
//
// Source: Howard, Dynamic Programming and Markov Processes, 1960.
type FullLP struct{}

// Name implements [mixpolicy.Method].
func (FullLP) Name() string { return "policy iteration" }

// Start implements [mixpolicy.Method].
func (FullLP) Start(p *mixpolicy.Problem, _ *mixpolicy.Oracle) (mixpolicy.Run, error) {
	return solvedPolicy(func(ctx context.Context) (*mixpolicy.Policy, error) {
		best, err := mixpolicy.PolicyIteration(ctx, p.MDP(), mixpolicy.ValuationSettings{})
		if err != nil {
			return nil, err
		}
		return best.Policy, nil
	}), nil
}

// ApproximateLP is [ALP] with the true costs and all constraints. The state-relevance weights are the distribution that
// [Visits] returns.
//
// Source: see [ALP].
//
// Deviations: see [Publications].
type ApproximateLP struct{ Basis *mat.Dense }

// Name implements [mixpolicy.Method].
func (ApproximateLP) Name() string { return "approximate LP" }

// Start implements [mixpolicy.Method].
func (a ApproximateLP) Start(p *mixpolicy.Problem, _ *mixpolicy.Oracle) (mixpolicy.Run, error) {
	return solvedPolicy(func(ctx context.Context) (*mixpolicy.Policy, error) {
		return policyOf(ALP{Basis: a.Basis, Weights: Visits(p)}.Solve(ctx, p.MDP()))
	}), nil
}

// SmoothedLP is [SALP] with the true costs and the published penalty. For both α and μ, SmoothedLP uses the
// distribution that [Visits] returns. (The published μ, the optimal policy's measure, is unknown before the problem is
// solved.) SmoothedLP is only for discounted cost.
//
// Source: see [SALP].
//
// Deviations: see [Publications].
type SmoothedLP struct{ Basis *mat.Dense }

// Name implements [mixpolicy.Method].
func (SmoothedLP) Name() string { return "smoothed LP" }

// Start implements [mixpolicy.Method].
func (a SmoothedLP) Start(p *mixpolicy.Problem, _ *mixpolicy.Oracle) (mixpolicy.Run, error) {
	return solvedPolicy(func(ctx context.Context) (*mixpolicy.Policy, error) {
		return policyOf(SALP{Basis: a.Basis, Weights: Visits(p), Slack: Visits(p),
			Penalty: PublishedPenalty(p.MDP().Gamma())}.Solve(ctx, p.MDP()))
	}), nil
}

func policyOf(a *Approximation, err error) (*mixpolicy.Policy, error) {
	if err != nil {
		return nil, err
	}
	return a.Policy, nil
}

// Visits returns the distribution of the states that the oracle samples: by default, the mean measure of the base
// policies.
func Visits(p *mixpolicy.Problem) []float64 {
	mu := make([]float64, p.MDP().States())
	for i, v := range p.Features().Sampling() {
		mu[i/p.MDP().Actions()] += v
	}
	floats.Scale(1/floats.Sum(mu), mu)
	return mu
}
