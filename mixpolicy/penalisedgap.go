package mixpolicy

import (
	"context"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// penalties are the optimum and the weights of the penalised gap.
type penalties struct{ optimum, negative, hyperplane, norm float64 }

// PenalisedGap returns the exact ℓ₁ penalty function at θ, minus the optimum,
//
//	f(θ) − f* + ω₁‖[Ψθ]₋‖₁ + ω₂|1ᵀθ − 1| + ω₃(‖θ‖ − R)₊,    f(θ) = cᵀΨθ.
//
// Let λ*, μ* and ν* be the multipliers of Ψθ ⪰ 0, 1ᵀθ = 1 and ‖θ‖ ≤ R at the optimum. Then ω₁ = 2‖λ*‖_∞, ω₂ = 2|μ*| and
// ω₃ = 2ν*, but each weight that is less than max c − min c is raised to max c − min c. The multipliers λ* need not be
// unique: for example, equal rows of Ψ can share a multiplier in any proportion. Another λ* can give another ω₁. We use
// the λ* that the solver returns. Penalised gaps of answers can be compared even if some answers are infeasible. By
// cost alone, an infeasible answer can seem better than the optimum, because Ψθ can place negative mass on expensive
// pairs.
//
// The penalised gap is at least half of the sum of its penalties, so it is ≥ 0. If not all costs
// are equal, the penalised gap is 0 only if θ is feasible and f(θ) = f*. Proof: the multipliers satisfy λ* ⪰ 0 and
// ν* ≥ 0, f* = μ* − ν*R, and Ψᵀc = Ψᵀλ* + μ*1 − ν*g for some g such that gᵀθ ≤ ‖θ‖ for all θ. So,
// for every θ ∈ ℝᵈ,
//
//	f(θ) − f* = λ*ᵀΨθ + μ*(1ᵀθ − 1) + ν*(R − gᵀθ)
//	          ≥ −‖λ*‖_∞‖[Ψθ]₋‖₁ − |μ*||1ᵀθ − 1| − ν*(‖θ‖ − R)₊,
//
// and each penalty is at least twice the term that the last line subtracts for the same constraint. ∎
// Apart from rounding errors, the computed penalised gap is too low by the error of the computed f*,
// which exceeds the optimum by at most linprog's Solution.Gap.
//
// The first call computes the exact optimum, unless [Problem.Optimum] has already computed it.
// PenalisedGap returns the errors of [Problem.Optimum].
func (p *Problem) PenalisedGap(theta []float64) (float64, error) {
	best, err := p.Optimum(context.Background())
	if err != nil {
		return 0, err
	}
	return p.penaltiesOf(best).gap(p.Objective(theta), p.NegativeMass(theta), p.hyperplaneError(theta), p.class.Size(theta)-p.class.R), nil
}

func (p *Problem) penaltiesOf(best *linprog.Solution) penalties {
	lo, hi := p.MDP().CostRange()
	var lambda float64
	for _, m := range best.Rows {
		lambda = max(lambda, m.Lambda())
	}
	return penalties{
		optimum:    best.Objective,
		negative:   max(2*lambda, hi-lo),
		hyperplane: max(2*math.Abs(best.Hyperplane), hi-lo),
		norm:       max(2*best.Ball, hi-lo),
	}
}

// gap returns the penalised gap, given the cost of θ, the negative mass of Ψθ, 1ᵀθ − 1, and ‖θ‖ − R. In (2.22),
// a violation function V occurs on the right side only, in the minimum. Here, the violations of the answer θ are added
// to the answer's own cost, with the weights w.
func (w penalties) gap(cost, mass, hyperplane, excess float64) float64 {
	m := cost - w.optimum + w.hyperplane*math.Abs(hyperplane)
	if mass > 0 { // ω₁ may be infinite if a row of Ψ is nearly 0, and ∞·0 is NaN
		m += w.negative * mass
	}
	if excess > 0 {
		m += w.norm * excess
	}
	return m
}

// hyperplaneError returns 1ᵀθ − 1, which (2.18b) requires to be 0.
func (p *Problem) hyperplaneError(theta []float64) float64 {
	var total sum.Accumulator
	total.Add(-1)
	for _, v := range theta {
		total.Add(v)
	}
	return total.Value()
}
