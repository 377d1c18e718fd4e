package race

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// Ledger splits the gap 𝓛(θ̂, λ*) − 𝓛(θ*, λ̂) of a run of Algorithm 1 into terms. The terms show what another modulus
// would have to reduce; [LedgerTerms] lists the names of the terms. Here φ is the modulus, D is its Bregman divergence,
// φ* is its conjugate, y_t = ∇φ(θ_t), and η is the step size. The estimate (3.5a) is ĝ_t, and its error is
// e_t = ĝ_t − ∇_θ𝓛(θ_t, λ_t). The optimum of (2.18) is θ*, and λ* comes from [theory.Multipliers]. T is the number of
// steps so far, and each sum is over these steps. Costs and λ are divided by the run's CostScale. The terms are the
// following numbers, divided by Ση|cᵀΨθ*|:
//
//	regret of θ    Ση⟨∇_θ𝓛, θ_t − θ*⟩  = start + stability + noise
//	θ: start       D(θ*; θ₀) − D(θ*; θ_T)
//	θ: stability   ΣD(θ_t; θ_{t+1}) = Σ φ*(y_{t+1}) − φ*(y_t) − ⟨θ_t, y_{t+1} − y_t⟩
//	θ: noise       −Ση⟨e_t, θ_t − θ*⟩, with mean 0
//	regret of λ    Ση⟨−Ψθ_t, λ* − λ_t⟩ = start + stability
//	λ: start       ½‖λ* − λ₀‖² − ½‖λ* − λ_T‖²
//	λ: stability   regret of λ − start, at most ½Ση²‖Ψθ_t‖² if λ* is in the ball of (3.26)
//
// The regret of θ is exactly the sum of its three terms: start, stability and noise. There are two reasons: θ* and θ_t
// are on the hyperplane 1ᵀθ = 1, and y_t − y_{t+1} equals ηĝ_t up to a multiple of the vector 1. The function 𝓛 is
// affine in each argument, so the sums that define the two regrets, divided by Ση, add up to the gap.
type Ledger struct {
	Queries []float64
	Terms   [7][]float64 // Terms[k][i] is the term LedgerTerms[k] after Queries[i] queries
}

// LedgerTerms are the names of the terms of a [Ledger], in the order of its field Terms.
var LedgerTerms = [7]string{"regret of θ", "θ: start", "θ: stability", "θ: noise", "regret of λ", "λ: start", "λ: stability"}

// LedgerOf runs Algorithm 1 with the oracle of the given seed, and returns the ledger of this run. When ctx ends during
// the run, LedgerOf returns the ledger so far and an error. LedgerOf returns nil and an error if iterations < 1, if
// φ(θ*) = ∞, or if the run fails. LedgerOf also returns an error for the printed form, for row scaling and for a
// Recency other than 0, because these options change the sums. It also returns the errors of [mixpolicy.PrimalDual.For]
// and [theory.Multipliers].
func LedgerOf(ctx context.Context, p *mixpolicy.Problem, a mixpolicy.PrimalDual, iterations int, seed uint64) (*Ledger, error) {
	a, err := a.For(p)
	switch {
	case err != nil:
	case iterations < 1:
		err = fmt.Errorf("race: ledger of %d iterations: want at least 1", iterations)
	case a.Form != mixpolicy.Corrected || a.RowScaling || a.Recency != 0:
		err = fmt.Errorf("race: ledger of %d iterations: want the corrected form without RowScaling and Recency", iterations)
	}
	goal, e1 := theory.Multipliers(p)
	best, e2 := p.Optimum(ctx)
	o, e3 := mixpolicy.NewOracle(p, seed, 0)
	if err = errors.Join(err, e1, e2, e3); err != nil {
		return nil, err
	}
	m := mixpolicy.Mirror{Phi: a.Modulus, Eta: a.StepSize, Scale: a.CostScale, Theta: a.Theta0}.Begin(o)
	far, value := bregman.Divergence(m.Phi, best.Theta, m.Theta), m.Phi.Value(best.Theta)
	if math.IsInf(far, 1) {
		return nil, fmt.Errorf("race: ledger: modulus %v is infinite at the optimum θ* = %.6g", m.Phi, best.Theta)
	}
	mean, lambda, ascent := make([]float64, p.Dim()), make([]float64, len(goal)), make([]float64, len(goal)) // lambda is in units of cost
	l, sums, left, next := &Ledger{}, [7]float64{}, floats.Norm(goal, 2), mixpolicy.LogSpaced(12)
	for t, due := 1, 1; t <= iterations && ctx.Err() == nil; t++ {
		pair, cost, q := m.Sample()
		p.GradTheta(mean, lambda)
		p.GradLambda(ascent, m.Theta)
		before, slope := bregman.Conjugate(m.Phi, m.Dual)-floats.Dot(m.Theta, m.Dual), cost-lambda[pair]/m.Scale
		eta, err := m.Step(slope, q, m.Row)
		if err != nil {
			return nil, err
		}
		sums[2] += m.Scale * (bregman.Conjugate(m.Phi, m.Dual) - floats.Dot(m.Before, m.Dual) - before)
		for j, v := range m.Before {
			sums[0] += eta * mean[j] * (v - best.Theta[j])
			sums[3] += eta * (mean[j] - m.Scale*slope/q*m.Row[j]) * (v - best.Theta[j])
		}
		for i, h := range ascent {
			sums[4] += eta * h * (goal[i] - lambda[i])
			lambda[i] = max(0, lambda[i]+m.Scale*eta*h)
		}
		if n, g := floats.Norm(lambda, 2), a.Radius(p.MDP().Criterion())*m.Scale; n > g {
			floats.Scale(g/n, lambda)
		}
		if t < due && t < iterations {
			continue
		}
		due, l.Queries = next(t), append(l.Queries, float64(t))
		sums[1] = m.Scale * (far - (value + bregman.Conjugate(m.Phi, m.Dual) - floats.Dot(best.Theta, m.Dual)))
		sums[5] = (left*left - math.Pow(floats.Distance(goal, lambda, 2), 2)) / 2 / m.Scale
		sums[6] = sums[4] - sums[5]
		for k, v := range sums {
			l.Terms[k] = append(l.Terms[k], v/m.SumEta/math.Abs(best.Objective))
		}
	}
	return l, ctx.Err()
}
