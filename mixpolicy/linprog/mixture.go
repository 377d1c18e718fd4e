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
	B    []float64 // b = Ψᵀc
	Psi  Rows      // Ψ ∈ ℝᴺˣᵈ
	Norm Norm
	R    float64 // > 0; +∞ for no bound
}

// Settings of [Mixture.Solve]. The zero value is ready to use.
type Settings struct {
	// Warm are rows of Ψ to begin with, such as those active in the solution of a
	// similar problem. They change the time it takes, not the solution.
	Warm []int

	// Workers is the number of goroutines that scan Ψ; 0 for GOMAXPROCS. The solution
	// does not depend on it.
	Workers int

	// Progress, if not nil, is called after every scan of Ψ.
	Progress func(Progress)
}

// Progress tells how far [Mixture.Solve] has come.
type Progress struct {
	Scans     int     // of Ψ so far
	Rows      int     // of Ψ found so far
	Pivots    int     // changes of the active set so far
	Objective float64 // of the best feasible point, an upper bound of the optimum; +∞ if none is known
	Bound     float64 // certified lower bound of the optimum; −∞ if there is none yet
	Violation float64 // of the point that the last scan looked at, as in [Solution]
}

// A Solution of [Mixture]. If several θ are optimal it is the one of least ‖·‖₂.
type Solution struct {
	Theta     []float64
	Objective float64 // bᵀθ

	// The multipliers. At the solution b = Ψᵀλ + μ1 − ν g, where g ∈ ∂‖θ‖.
	Dual
	Ball float64 // ν ≥ 0, of ‖θ‖ ≤ R; 0 if it is not active

	// Bound is a certified lower bound of the optimum: Dual.Bound. If R = +∞ it holds
	// over ‖θ‖₂ ≤ Radius = 1024·‖Theta‖₂, because a residual b − Ψᵀλ − μ1 of zero is not
	// to be had in floating point.
	Bound  float64
	Radius float64

	// Violation is max {0, −Ψᵢθ/‖Ψᵢ‖₂}, at most 16(d+4)2⁻⁵³‖θ‖₂ for a solution.
	Violation float64

	Scans, Pivots int
}

// Gap returns Objective − Bound. No feasible point is better than Theta by more. It
// may be negative by as much as rounding lets Theta be infeasible.
func (s *Solution) Gap() float64 { return s.Objective - s.Bound }

// Active returns the rows of Ψ with positive multipliers, for [Settings].Warm.
func (s *Solution) Active() []int {
	rows := make([]int, len(s.Rows))
	for k, m := range s.Rows {
		rows[k] = m.Row
	}
	return rows
}

// Solve returns the solution, or an [*InfeasibleError] or [*UnboundedError], each
// with a proof that was checked. When ctx ends first it returns ctx.Err() and what there is:
// the best feasible point that it knows, or else the point it has come to (see its
// Violation), with the best bound. It does the same with a [*StalledError] if there is no
// proof to be had. An [*EntryError] names an entry of b or Ψ that is not finite. (Entries
// of Ψ are looked at where they matter: a row that could not be violated may keep a +∞
// to itself.)
//
// It panics if b has not as many entries as Ψ has columns.
func (p Mixture) Solve(ctx context.Context, s Settings) (*Solution, error) {
	_, d := p.Psi.Dims()
	if len(p.B) != d || d == 0 {
		panic(fmt.Sprintf("linprog: b has %d entries, Ψ has %d columns", len(p.B), d))
	}
	if math.IsNaN(p.R) || p.R <= 0 {
		return nil, fmt.Errorf("linprog: R = %v, want a positive number", p.R)
	}
	return p.program().minimize(ctx, s)
}

func (p Mixture) program() program {
	if math.IsInf(p.R, 1) {
		p.Norm = L2 // of no consequence, save in the radius of a certificate
	}
	return program{b: p.B, g: ones(len(p.B)), psi: p.Psi, norm: p.Norm, radius: p.R}
}
