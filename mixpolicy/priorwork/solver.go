package priorwork

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Solver makes a System of something that is told the costs and has no steps: all of its
// work is in the answer. It is to be compared by time, at the one time it takes.
func Solver(name string, solve func(ctx context.Context, p *mixpolicy.Problem) (*Answer, error)) System {
	return &solver{name: name, solve: solve}
}

type solver struct {
	name  string
	solve func(context.Context, *mixpolicy.Problem) (*Answer, error)
	p     *mixpolicy.Problem
}

func (s *solver) Name() string { return s.name }

func (s *solver) Init(p *mixpolicy.Problem, _ *mixpolicy.Oracle) error {
	s.p = p
	return nil
}

func (s *solver) Step() error { return errors.New("priorwork: " + s.name + " has no steps") }

func (s *solver) Answer(ctx context.Context) (*Answer, error) { return s.solve(ctx, s.p) }

// MixtureLP is (2.18) with the true costs, by package linprog.
func MixtureLP() System {
	return Solver("exact LP (2.18)", func(ctx context.Context, p *mixpolicy.Problem) (*Answer, error) {
		best, err := p.Solve(ctx, p.BaseCosts())
		if err != nil {
			return nil, err
		}
		policy, err := p.Features().PolicyOf(best.Theta)
		return &Answer{Policy: policy, Theta: best.Theta}, err
	})
}

// FullLP is the linear program of the whole MDP (2.13), by policy iteration, which is the
// simplex method with many pivots at once: see [SolveLP].
func FullLP() System {
	return Solver("policy iteration", func(ctx context.Context, p *mixpolicy.Problem) (*Answer, error) {
		best, err := mixpolicy.PolicyIteration(ctx, p.MDP(), mixpolicy.ValuationSettings{})
		if err != nil {
			return nil, err
		}
		return &Answer{Policy: best.Policy}, nil
	})
}

// ApproximateLP is [ALP] with the true costs and all constraints. States weigh as much as the
// base policies visit them, on average.
func ApproximateLP(phi *mat.Dense) System {
	return Solver("approximate LP", func(ctx context.Context, p *mixpolicy.Problem) (*Answer, error) {
		a, err := ALP{Basis: phi, Weights: visits(p)}.Solve(ctx, p.MDP())
		if err != nil {
			return nil, err
		}
		return &Answer{Policy: a.Policy}, nil
	})
}

// SmoothedLP is [SALP] with the true costs and the published penalty. In place of the optimal
// policy's measure, which is not known, violations weigh as much as the base policies visit
// their states, on average. It is for discounted cost.
func SmoothedLP(phi *mat.Dense) System {
	return Solver("smoothed LP", func(ctx context.Context, p *mixpolicy.Problem) (*Answer, error) {
		a, err := SALP{Basis: phi, Weights: visits(p), Slack: visits(p), Penalty: PublishedPenalty(p.MDP().Gamma())}.Solve(ctx, p.MDP())
		if err != nil {
			return nil, err
		}
		return &Answer{Policy: a.Policy}, nil
	})
}

// visits returns the oracle's distribution of states, the mean of the base policies' measures.
func visits(p *mixpolicy.Problem) []float64 {
	mu := make([]float64, p.MDP().States())
	for i, v := range p.Features().Sampling() {
		mu[i/p.MDP().Actions()] += v
	}
	floats.Scale(1/floats.Sum(mu), mu)
	return mu
}
