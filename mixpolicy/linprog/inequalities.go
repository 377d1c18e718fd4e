package linprog

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Inequalities is the linear program in free variables x ∈ ℝᵈ
//
//	min bᵀx   subject to   A x ⪰ h,
//
// for few variables and very many rows, such as the approximate LP (4.1).
//
// It is [Mixture] in one more dimension. The homogeneous form A x − hτ ⪰ 0, τ = 1 has
// its variables on a hyperplane, which an orthogonal map takes to 1ᵀθ = 1: with H the
// reflection that exchanges the last unit vector and 1/√(d+1),
//
//	θ = H (x, 1/√(d+1)),   so that 1ᵀθ = 1 and ‖θ‖² = ‖x‖² + 1/(d+1),
//	Ψᵢ = (aᵢ, −hᵢ√(d+1)) H.
//
// The map keeps lengths, so the solution is the one of least ‖x‖₂ if there are several.
// Rounding is relative to ‖θ‖₂: scale the variables such that ‖x‖₂ is about 1.
type Inequalities struct {
	B []float64
	A Rows
	H []float64 // one per row of A
}

// A Point solves [Inequalities].
type Point struct {
	X         []float64
	Objective float64      // bᵀx
	Rows      []Multiplier // λ ⪰ 0 with b = Aᵀλ; Scale refers to the row (aᵢ, −hᵢ√(d+1)) H

	// Bound is a certified lower bound of bᵀx over all feasible x with ‖x‖₂ ≤ Radius, as in
	// [Solution].
	Bound, Radius float64

	// Violation is max {0, (hᵢ − aᵢx)/√(‖aᵢ‖² + (d+1)hᵢ²)}.
	Violation float64

	Scans, Pivots int
}

// Gap returns Objective − Bound.
func (p *Point) Gap() float64 { return p.Objective - p.Bound }

// Solve returns the solution with its multipliers. Errors are those of [Mixture.Solve];
// of an [UnboundedError], Point and Direction are x. On cancellation, and with a
// [*StalledError], there is a point that is not feasible with a valid bound.
//
// It panics if b has not as many entries as A has columns, or h as A has rows.
func (p Inequalities) Solve(ctx context.Context, s Settings) (*Point, error) {
	n, d := p.A.Dims()
	if len(p.B) != d || len(p.H) != n {
		panic(fmt.Sprintf("linprog: b has %d entries and h %d, A is %d × %d", len(p.B), len(p.H), n, d))
	}
	for i, v := range p.H {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("linprog: h[%d] = %v, want a finite number", i, v)
		}
	}
	c := newCone(p.A, p.H)
	b := append(append(make([]float64, 0, d+1), p.B...), 0)
	c.reflect(b)
	sol, err := Mixture{B: b, Psi: c, R: math.Inf(1)}.Solve(ctx, s)
	var ray *UnboundedError
	if errors.As(err, &ray) {
		c.reflect(ray.Point)
		c.reflect(ray.Direction)
		ray.Point, ray.Direction = ray.Point[:d], ray.Direction[:d]
	}
	if err != nil {
		err = fmt.Errorf("linprog: min bᵀx, A x ⪰ h, as a cone: %w", err)
	}
	if sol == nil {
		return nil, err
	}
	c.reflect(sol.Theta)
	return &Point{
		X: sol.Theta[:d], Objective: sol.Objective, Rows: sol.Rows,
		Bound: sol.Bound, Radius: sol.Radius, Violation: sol.Violation,
		Scans: sol.Scans, Pivots: sol.Pivots,
	}, err
}

// cone is Ψ = [A | −h√(d+1)] H.
type cone struct {
	a    Rows
	h    []float64
	d    int
	root float64 // √(d+1)
}

var _ Rows = (*cone)(nil)

func newCone(a Rows, h []float64) *cone {
	_, d := a.Dims()
	return &cone{a, h, d, math.Sqrt(float64(d + 1))}
}

// reflect replaces θ by Hθ, H = I − 2vvᵀ/vᵀv with v = e_{d+1} − 1/√(d+1). With
// r = √(d+1), vᵀv = 2 − 2/r and vᵀθ = θ_{d+1} − 1ᵀθ/r.
func (c *cone) reflect(theta []float64) {
	total := 0.0
	for _, t := range theta {
		total += t
	}
	last := theta[c.d]
	f := (last - total/c.root) / (1 - 1/c.root)
	for j := range theta {
		theta[j] += f / c.root
	}
	theta[c.d] = total / c.root // what last − f + f/r is
}

// Dims implements [Rows].
func (c *cone) Dims() (n, d int) { return len(c.h), c.d + 1 }

// Apply implements [Rows]: A x − h√(d+1)w for (x, w) = Hθ.
func (c *cone) Apply(dst []float64, from int, theta []float64) {
	// A few dozen numbers, once in some 2000 rows: Rows are applied concurrently, and
	// there is nowhere to keep them.
	x := append([]float64(nil), theta...)
	c.reflect(x)
	c.a.Apply(dst, from, x[:c.d])
	w := c.root * x[c.d]
	for k := range dst {
		dst[k] -= c.h[from+k] * w
	}
}

// Row implements [Rows].
func (c *cone) Row(dst []float64, i int) {
	c.a.Row(dst[:c.d], i)
	dst[c.d] = -c.h[i] * c.root
	c.reflect(dst)
}
