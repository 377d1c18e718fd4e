package priorwork

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
)

// The methods of this file know the costs, and their runs take no steps: View or Policy does all of the work. Compare
// the methods by the time that View or Policy takes.
type (
	solvedTheta  func(context.Context) ([]float64, error)
	solvedPolicy func(context.Context) (*mixpolicy.Policy, error)
)

func (solvedTheta) Step() error  { return mixpolicy.ErrDone }
func (solvedPolicy) Step() error { return mixpolicy.ErrDone }

// View implements [mixpolicy.Run].
func (r solvedTheta) View(s *mixpolicy.Snapshot) error { return r.ViewUntil(context.Background(), s) }

// ViewUntil implements [mixpolicy.SlowRun]: it solves the problem.
func (r solvedTheta) ViewUntil(ctx context.Context, s *mixpolicy.Snapshot) error {
	theta, err := r(ctx)
	*s = mixpolicy.Snapshot{Last: theta, Average: theta}
	return err
}

// View implements [mixpolicy.Run].
func (r solvedPolicy) View(s *mixpolicy.Snapshot) error { return policyOnly{}.View(s) }

// Policy implements [mixpolicy.PolicyRun]: it solves the problem.
func (r solvedPolicy) Policy(ctx context.Context) (*mixpolicy.Policy, error) { return r(ctx) }

// MixtureLP solves (2.18) with the true costs, by package linprog.
//
// Source: the paper, section 2: the problem itself.
type MixtureLP struct{}

// Name implements [mixpolicy.Method].
func (MixtureLP) Name() string { return "exact LP (2.18)" }

// Start implements [mixpolicy.Method].
func (MixtureLP) Start(p *mixpolicy.Problem, _ *mixpolicy.Oracle) (mixpolicy.Run, error) {
	return solvedTheta(func(ctx context.Context) ([]float64, error) {
		best, err := p.Solve(ctx, p.BaseCosts())
		if err != nil {
			return nil, err
		}
		return best.Theta, nil
	}), nil
}

// FullLP solves the linear program of the whole MDP (2.13) by policy iteration, which is the simplex method with many
// pivots at once: see [SolveLP].
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

// ApproximateLP is [ALP] with the true costs and all constraints. The weight of a state is its mean probability under
// the base policies.
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

// SmoothedLP is [SALP] with the true costs and the published penalty. The optimal policy's measure is not known, so α
// and μ are the mean measure of the base policies. SmoothedLP is only for discounted cost.
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

// ProjectByBarrier stores in dst the Euclidean projection of y onto {1ᵀθ = 1, ‖θ‖₂ ≤ R}. Like a general convex solver,
// it uses an interior-point method: Newton's method for
//
//	min t·½‖θ − y‖² − log(R² − ‖θ‖²)  subject to  1ᵀθ = 1,
//
// with t = 1, 10, …, 10¹². The KKT system keeps 1ᵀθ = 1. The barrier has the parameter 1, so ½‖θ − y‖² is within
// 1/t of its minimum. ProjectByBarrier replaces the CVX call of section 6; the closed form is linprog.Norm.Project. An
// error says at which t the KKT system has no solution.
func ProjectByBarrier(dst, y []float64, r float64) error {
	d := len(y)
	copy(dst, barycentre(d))
	kkt, rhs, step := mat.NewDense(d+1, d+1, nil), mat.NewVecDense(d+1, nil), mat.NewVecDense(d+1, nil)
	var lu mat.LU
	for t := 1.0; t <= 1e12; t *= 10 {
		for range 50 { // the function is self-concordant: from the previous t, about ten steps are enough
			gap := r*r - floats.Dot(dst, dst)
			kkt.Zero()
			for i, xi := range dst {
				rhs.SetVec(i, -(t*(xi-y[i]) + 2*xi/gap))
				for j, xj := range dst {
					kkt.Set(i, j, 4*xi*xj/(gap*gap))
				}
				kkt.Set(i, i, kkt.At(i, i)+t+2/gap)
				kkt.Set(i, d, 1)
				kkt.Set(d, i, 1)
			}
			lu.Factorize(kkt)
			if err := lu.SolveVecTo(step, false, rhs); err != nil {
				if _, poor := err.(mat.Condition); !poor {
					return fmt.Errorf("priorwork: barrier at t = %g: %w", t, err)
				}
			}
			decrement := mat.Dot(rhs, step)
			if decrement < 1e-12 {
				break
			}
			length := 1.0
			if decrement > 1./16 { // a shorter step stays in the domain, and lowers the function by at least a constant
				length = 1 / (1 + math.Sqrt(decrement))
			}
			floats.AddScaled(dst, length, step.RawVector().Data[:d])
		}
	}
	return nil
}
