package linprog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Inequalities is the linear program in the free variables x ∈ ℝᵈ
//
//	min bᵀx   subject to   A x ⪰ h,
//
// with a small d and very many rows, such as the approximate LP (4.1).
//
// Solve adds a dimension: with θ = (x, 1), A x ⪰ h becomes Ψθ ⪰ 0, where Ψ has the rows Ψᵢ = (aᵢ, −hᵢ). The
// hyperplane is gᵀθ = 1, where g is the last unit vector. If there are several solutions, Solve returns the solution
// with the least ‖x‖₂. Rounding errors are relative to ‖θ‖₂, so scale the variables to make ‖x‖₂ about 1.
type Inequalities struct {
	B []float64
	A Rows
	H []float64 // h, with one entry for each row of A
}

// A Point is a result of [Inequalities.Solve].
type Point struct {
	X         []float64
	Objective float64      // bᵀx
	Rows      []Multiplier // λ ⪰ 0; at the solution, b = Aᵀλ; each Scale refers to a row (aᵢ, −hᵢ) of Ψ

	// Bound is a certified lower bound on bᵀx over all feasible x with ‖x‖² + 1 ≤ Radius², as in
	// [Solution].
	Bound, Radius float64

	// Violation is max {0, (hᵢ − aᵢx)/√(‖aᵢ‖² + hᵢ²)} over all rows with (aᵢ, hᵢ) ≠ 0, or +∞ as in [Solution].
	Violation float64
}

// Gap returns Objective − Bound.
func (p *Point) Gap() float64 { return p.Objective - p.Bound }

// Solve returns the solution with its multipliers. It returns the errors of [Mixture.Solve], and an error if an entry
// of h is not finite. The Point and the Direction of an [UnboundedError] refer to the variables x. If ctx ends first,
// or if the error is a [*StalledError], Solve also returns a Point. The X of this Point may be infeasible, but its
// Bound is valid.
//
// Solve panics unless b has one entry for each column of A, and h has one entry for each row of A.
func (p Inequalities) Solve(ctx context.Context, s Settings) (*Point, error) {
	n, d := p.A.Dims()
	if len(p.B) != d || len(p.H) != n {
		panic(fmt.Sprintf("linprog: b has %d entries and h has %d, but A is %d × %d", len(p.B), len(p.H), n, d))
	}
	for i, v := range p.H {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("linprog: h[%d] = %v, want a finite number", i, v)
		}
	}
	sol, err := p.program().minimize(ctx, s)
	var ray *UnboundedError
	if errors.As(err, &ray) {
		ray.Point, ray.Direction = ray.Point[:d], ray.Direction[:d]
	}
	if err != nil {
		err = fmt.Errorf("%w (A x ⪰ h is rewritten as Ψθ ⪰ 0, with Ψ = [A | −h] and θ = (x, 1); the last entry of θ, not 1ᵀθ, is 1)", err)
	}
	if sol == nil {
		return nil, err
	}
	return &Point{
		X: sol.Theta[:d], Objective: sol.Objective, Rows: sol.Rows,
		Bound: sol.Bound, Radius: sol.Radius, Violation: sol.Violation,
	}, err
}

func (p Inequalities) program() program {
	d := len(p.B)
	g := make([]float64, d+1)
	g[d] = 1
	return program{b: append(slices.Clone(p.B), 0), g: g, psi: cone{p.A, p.H, d}, norm: L2, radius: math.Inf(1)}
}

// cone is Ψ = [A | −h].
type cone struct {
	a Rows
	h []float64
	d int
}

var _ Rows = cone{}

// Dims implements [Rows].
func (c cone) Dims() (n, d int) { return len(c.h), c.d + 1 }

// Apply implements [Rows].
func (c cone) Apply(dst []float64, from int, theta []float64) {
	c.a.Apply(dst, from, theta[:c.d])
	floats.AddScaled(dst, -theta[c.d], c.h[from:from+len(dst)])
}

// Row implements [Rows].
func (c cone) Row(dst []float64, i int) {
	c.a.Row(dst[:c.d], i)
	dst[c.d] = -c.h[i]
}
