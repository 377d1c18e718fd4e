package linprog

import (
	"context"
	"fmt"
	"math"
)

// Mixture is problem (2.18) in the variables θ ∈ ℝᵈ,
//
//	min bᵀθ   subject to   Ψθ ⪰ 0,  1ᵀθ = 1,  ‖θ‖ ≤ R.
type Mixture struct {
	B    []float64 // b = Ψᵀc, where c ∈ ℝᴺ contains the costs
	Psi  Rows      // Ψ ∈ ℝᴺˣᵈ
	Norm Norm
	R    float64 // positive and at most 2⁵⁰⁰, or +∞ for no bound
}

// Settings are the options of [Mixture.Solve] and [Inequalities.Solve]. The zero value is ready to use.
type Settings struct {
	// Warm lists the rows with which Solve starts, such as the active rows of a similar problem: rows of Ψ or, for
	// [Inequalities], of A. Warm changes the time that Solve takes, but not the optimal point. If the multipliers are
	// not unique, Warm may change them.
	Warm []int
}

// A Solution is a result of [Mixture.Solve]. If several θ are optimal, Theta is the optimal θ with the least ‖θ‖₂.
type Solution struct {
	Theta     []float64
	Objective float64 // bᵀθ

	// Dual contains the multipliers λ and μ. At the solution, b = Ψᵀλ + μ1 − ν g, where ν is Ball and g is a
	// subgradient of the norm at θ.
	Dual
	Ball float64 // ν ≥ 0, the multiplier of ‖θ‖ ≤ R; 0 if this constraint is not active

	// Bound is a certified lower bound on the optimum: the objective of the dual problem at Dual, rounded downwards. If
	// R is finite, Radius is R. If R = +∞, Radius is 1024·‖x‖₂, where x, the last point of the method, is Theta unless
	// Solve returns an error. Bound then holds only over ‖θ‖₂ ≤ Radius, because rounding leaves a nonzero residual
	// b − Ψᵀλ − μ1.
	Bound  float64
	Radius float64

	// Violation is max {0, −Ψᵢθ/‖Ψᵢ‖₂} over all nonzero rows Ψᵢ. At a solution, Violation is at most
	// 16(d+4)2⁻⁵³‖θ‖₂. Violation is +∞ if Solve ended before it computed the violations of Theta.
	Violation float64

	Scans, Pivots int // number of scans of all rows; number of steps of the active-set method
}

// Gap returns Objective − Bound. No feasible θ with ‖θ‖ ≤ Radius has an objective that is lower than Objective by
// more than Gap. Gap can be slightly negative, because rounding can make Theta infeasible.
func (s *Solution) Gap() float64 { return s.Objective - s.Bound }

// String states the objective, at most the first eight entries of θ, the gap and the number of binding rows.
func (s Solution) String() string {
	theta, more := s.Theta, ""
	if len(theta) > 8 {
		theta, more = theta[:8], fmt.Sprintf(" … (%d in all)", len(s.Theta))
	}
	return fmt.Sprintf("optimum %.9g at θ = %.6g%s\nno feasible point is better by more than %.0e; binding rows: %d",
		s.Objective, theta, more, max(0, s.Gap()), len(s.Rows))
}

// Solve returns the solution, an [*InfeasibleError] or an [*UnboundedError], each with a checked proof. If ctx ends
// first, Solve returns ctx.Err() and an unfinished solution: the best known feasible point and, if R is finite, the
// best bound so far. If no feasible point is known, the unfinished solution holds the last point of the method instead,
// and its Violation may be positive. If Solve finds no proof, it returns an unfinished solution with a
// [*StalledError]. Solve also returns an error if R is out of range, or if an entry of b or Ψ is not finite. If the
// objective, the bound or a multiplier would overflow, Solve returns an error that names the bⱼ of greatest magnitude.
// The entries of Ψ may be finite numbers of any magnitude.
//
// Solve panics unless Ψ has at least one column and b has one entry for each column of Ψ. If R is finite, Solve also
// panics unless Norm is L2, LInf or L1.
func (p Mixture) Solve(ctx context.Context, s Settings) (*Solution, error) {
	_, d := p.Psi.Dims()
	if len(p.B) != d || d == 0 {
		panic(fmt.Sprintf("linprog: b has %d entries, but Ψ has %d columns", len(p.B), d))
	}
	if !(p.R > 0) || p.R > mostRadius && !math.IsInf(p.R, 1) {
		return nil, fmt.Errorf("linprog: R = %v, want a positive number of at most 2⁵⁰⁰, or +Inf", p.R)
	}
	return p.program().minimize(ctx, s)
}

func (p Mixture) program() program {
	if math.IsInf(p.R, 1) {
		p.Norm = L2 // the norm matters only for the radius of a certificate
	}
	return program{b: p.B, g: ones(len(p.B)), psi: p.Psi, norm: p.Norm, radius: p.R}
}

// An UnboundedError says that bᵀθ has no minimum over the feasible θ. Every θ = Point + s·Direction with s ≥ 0 is
// feasible, because ΨDirection ⪰ 0 and 1ᵀDirection = 0. As s grows, bᵀθ falls, because bᵀDirection < 0. An
// UnboundedError occurs only for R = +∞.
type UnboundedError struct {
	Point     []float64 // feasible
	Direction []float64 // ‖Direction‖₂ = 1
	Slope     float64   // bᵀDirection < 0
}

func (e *UnboundedError) Error() string {
	return fmt.Sprintf("linprog: unbounded: bᵀθ falls by %v per unit of length on a ray of feasible points; want a bound on ‖θ‖", -e.Slope)
}

// A StalledError says that, because of rounding, Solve could not prove an answer: the method stopped without an
// answer, or the proof of the answer failed. The optimum, if it exists, is between Bound and Objective.
type StalledError struct {
	Violation float64 // Violation of the last point, as in [Solution]
	Pivots    int     // number of steps
	Bound     float64 // certified lower bound; −∞ if there is none, as is usual for R = +∞
	Objective float64 // bᵀθ at the best feasible point; +∞ if none is known
}

func (e *StalledError) Error() string {
	return fmt.Sprintf("linprog: not decided because of rounding: no proof after %d steps, with a violation of %v "+
		"at the last point; any optimum is between %v and %v",
		e.Pivots, e.Violation, e.Bound, e.Objective)
}
