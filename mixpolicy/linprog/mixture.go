package linprog

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"
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
	Bound     float64 // certified lower bound of the optimum, −∞ if there is none yet
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

	// Violation is max {0, −Ψᵢθ/‖Ψᵢ‖₂}, about rounding of ‖θ‖₂ for a solution.
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
// with a proof. When ctx ends first it returns the point it has come to, which is
// not feasible (see its Violation), with the best bound so far, and ctx.Err(); the same
// with a [*StalledError] if rounding prevents a better point. An [*EntryError] names
// an entry of b or Ψ that is not finite. (Entries of Ψ are looked at where they
// matter: a row that could not be violated may keep a +∞ to itself.)
//
// It panics if b has not as many entries as Ψ has columns.
func (p Mixture) Solve(ctx context.Context, s Settings) (*Solution, error) {
	_, d := p.Psi.Dims()
	if len(p.B) != d || d == 0 {
		panic(fmt.Sprintf("linprog: b has %d entries, Ψ has %d columns", len(p.B), d))
	}
	for j, v := range p.B {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, &EntryError{Row: -1, Col: j, Value: v}
		}
	}
	if math.IsNaN(p.R) || p.R <= 0 {
		return nil, fmt.Errorf("linprog: R = %v, want a positive number", p.R)
	}
	if math.IsInf(p.R, 1) {
		p.Norm = L2 // of no consequence, save in the radius of a certificate
	}
	if p.Norm.misses(p.R, d) {
		return nil, &InfeasibleError{Hyperplane: 1, Norm: p.Norm, R: p.R, Radius: p.Norm.OnHyperplane(d)}
	}
	workers := s.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	sv := &solver{
		Mixture: p,
		scanner: newScanner(p.Psi, workers),
		known:   make(map[int]bool),
		bound:   math.Inf(-1),
	}
	sv.mean, sv.length, sv.path = direction(p.B, p.Norm, p.R)
	for _, i := range s.Warm {
		if err := sv.learn(i); err != nil {
			return nil, err
		}
	}
	return sv.run(ctx, s.Progress)
}

// direction writes b as mean·1 + length·b̂ with 1ᵀb̂ = 0 and ‖b̂‖₂ = 1, and returns the
// path of b̂: the mean is a constant on the hyperplane.
func direction(b []float64, n Norm, r float64) (mean, length float64, p *path) {
	d := float64(len(b))
	for _, v := range b {
		mean += v / d
	}
	unit := make([]float64, len(b))
	for j, v := range b {
		unit[j] = v - mean
	}
	length = L2.Of(unit)
	if length <= 4*0x1p-53*math.Abs(mean)*math.Sqrt(d) {
		length = 0 // a constant vector, rounded
		clear(unit)
	} else {
		floats.Scale(1/length, unit)
		// A multiple of 1 that rounding has left in b̂ is taken up by the multiplier of the
		// hyperplane, which is among the normals.
	}
	return mean, length, newPath(unit, n, r)
}

type solver struct {
	Mixture
	*path
	*scanner
	mean, length float64      // b = mean·1 + length·b̂
	known        map[int]bool // the rows in the pool
	scans        int
	bound        float64 // the best so far
	violation    float64 // of x, once it was looked at
}

// learn puts row i into the pool.
func (s *solver) learn(i int) error {
	if s.known[i] {
		return nil
	}
	s.known[i] = true
	c := &cut{normal: make([]float64, len(s.B)), row: i}
	s.Psi.Row(c.normal, i)
	var err error
	c.length, c.scale, err = normalise(c.normal, i)
	if err == nil && c.length > 0 {
		s.pool = append(s.pool, c)
	}
	return err
}

func (s *solver) run(ctx context.Context, progress func(Progress)) (*Solution, error) {
	for {
		s.violation = math.Inf(1)
		out, err := s.optimize(ctx)
		if err != nil {
			return s.solution(), err
		}
		if out == infeasible {
			if e := s.contradiction(); e.proves() {
				return nil, e
			}
			out = stalled // the proof is lost in rounding
		}
		more, err := s.separate(ctx, out)
		if err != nil {
			if ctx.Err() == nil {
				return nil, err // the data
			}
			return s.solution(), err
		}
		if progress != nil {
			sol := s.solution()
			progress(Progress{Scans: s.scans, Rows: len(s.known), Pivots: s.pivots, Bound: sol.Bound, Violation: s.violation})
		}
		switch {
		case out == stalled:
			return s.solution(), &StalledError{Violation: s.violation, Pivots: s.pivots}
		case more:
		case !s.inside && s.Norm != L2 && (out == ray || s.Norm.Of(s.x) > s.R*(1+s.rounding())):
			// A polyhedral ball is left out until it matters. It may have exponentially many
			// cuts, and those found at a point that violates rows of Ψ are mostly not needed.
			s.inside = true
		case out == ray:
			unit := 1 / L2.Of(s.v)
			floats.Scale(unit, s.v)
			return nil, &UnboundedError{Point: s.x, Direction: s.v, Slope: floats.Dot(s.B, s.v)}
		default:
			return s.solution(), nil
		}
	}
}

// separate scans Ψ for rows that x violates, or the direction of its ray, puts the
// worst of them into the pool, and reports whether there were any.
func (s *solver) separate(ctx context.Context, out outcome) (more bool, err error) {
	points := [][]float64{s.x}
	if out == ray {
		points = append(points, s.v)
	}
	for k, x := range points {
		found, err := s.scan(ctx, x)
		if err != nil {
			return false, err
		}
		s.scans++
		least := s.rounding() * L2.Of(x)
		worst := 0.0
		for _, c := range found {
			worst = max(worst, c.by)
		}
		if k == 0 {
			s.violation = worst
		}
		// Twice as many as can be active, and some more where that is few or a scan is long:
		// the pool should remain small beside Ψ.
		for _, c := range s.choose(found, least, 2*len(s.B)+32+s.n/(1<<14)) {
			more = true
			if err := s.learn(c.row); err != nil {
				return false, err
			}
		}
	}
	return more, nil
}

// choose returns the most violated candidates, at most count, that are not in the
// pool and are violated by more than least.
func (s *solver) choose(found []candidate, least float64, count int) []candidate {
	found = slices.DeleteFunc(found, func(c candidate) bool { return c.by <= least || s.known[c.row] })
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.by, a.by) })
	return found[:min(count, len(found))]
}

// solution reads the present point and its multipliers from the path.
func (s *solver) solution() *Solution {
	sol := &Solution{
		Theta:     slices.Clone(s.x),
		Violation: s.violation,
		Radius:    s.R,
		Scans:     s.scans,
		Pivots:    s.pivots,
	}
	var objective double
	for j, v := range s.B {
		objective = objective.addProduct(v, sol.Theta[j])
	}
	sol.Objective = objective.value()
	if math.IsInf(s.R, 1) {
		sol.Radius = 1024 * L2.Of(sol.Theta)
	}
	switch {
	case s.optimal():
		// b̂ = Σ u1ₖ aₖ.
		sol.Dual, sol.Ball = s.multipliers(s.B, s.u1[:len(s.cuts)], s.length, s.mean)
	case s.t > 0:
		// x + t b̂ = Σ uₖ aₖ, and x/t is the part of the ball.
		sol.Dual, sol.Ball = s.multipliers(s.B, s.u, s.length/s.t, s.mean)
		if s.Norm == L2 {
			sol.Ball = s.length / s.t * L2.Of(s.x)
		}
	default:
		// The ball touches the feasible set in x(0), and need not have multipliers. Those of
		// t = 2⁻²⁶R have a bound that misses the optimum by about 2⁻²⁶R‖b‖: half of it by
		// t‖v‖²/2, half by the rounding 2⁻⁵²R²/t.
		t := 0x1p-26 * s.R
		sol.Dual, _ = s.multipliers(s.B, s.nearby(t), s.length/t, s.mean)
		sol.Ball = s.length / 0x1p-26
	}
	s.bound = max(s.bound, sol.Dual.Bound(s.B, s.Psi, s.Norm, sol.Radius))
	sol.Bound = s.bound
	return sol
}

// nearby returns u(t) of the active cuts, with what would be negative set to zero.
func (s *solver) nearby(t float64) []float64 {
	u := make([]float64, len(s.cuts))
	for k := range u {
		u[k] = s.u0[k] + t*s.u1[k]
		if k > 0 {
			u[k] = max(0, u[k])
		}
	}
	return u
}

// multipliers translates those of the unit normals, times a factor, to λ, to μ, which
// has a part of its own, and to ν of a polyhedral ball.
func (s *solver) multipliers(b, u []float64, factor, mu float64) (y Dual, nu float64) {
	y.Hyperplane = mu
	for k, c := range s.cuts {
		v := u[k] * factor
		switch {
		case c.row == hyperplane:
			y.Hyperplane += v * c.rhs // the normal is 1/√d, and so is the right side
		case v <= 0:
		case c.row == ball:
			nu += v // of an entry of θ, in ℓ∞
		default:
			y.Rows = append(y.Rows, Multiplier{Row: c.row, Value: v / c.length, Scale: c.scale})
		}
	}
	slices.SortFunc(y.Rows, func(a, b Multiplier) int { return cmp.Compare(a.Row, b.Row) })
	if s.Norm == L1 && nu > 0 {
		// Sums over sets are made of 1 and of signs, Σ_S θⱼ = (1ᵀθ − sᵀθ)/2, and how much is
		// 1's and how much the ball's is seen at the end.
		nu = y.centre(b, s.Psi)
	}
	return y, nu
}

// contradiction reads the proof of infeasibility from the path.
func (s *solver) contradiction() *InfeasibleError {
	var y Dual
	zero := make([]float64, len(s.B))
	if c := s.conflict; c == nil {
		// x(0) = Σ uₖ aₖ, and any feasible θ has x(0)ᵀθ ≥ ‖x(0)‖² > R‖x(0)‖.
		y, _ = s.multipliers(zero, s.u, 1, 0)
	} else {
		// a = Σ rₖ aₖ with r ⪯ 0 but for the hyperplane's: g holds r.
		s.cuts = append(s.cuts, c)
		u := make([]float64, len(s.cuts))
		for k := range s.cuts[:len(u)-1] {
			u[k] = -s.g[k]
		}
		u[len(u)-1] = 1
		y, _ = s.multipliers(zero, u, 1, 0)
		s.cuts = s.cuts[:len(u)-1]
	}
	e := &InfeasibleError{Rows: y.Rows, Hyperplane: y.Hyperplane, Norm: s.Norm, R: s.R}
	e.Radius = e.radius(s.Psi)
	return e
}
