package linprog

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// minimize divides the costs by a power of two, solves the program and scales the result back.
// Without the division, the low part of a number in doubled precision would fall below the
// normal range if all costs were tiny, and products would overflow if a cost were huge.
func (m program) minimize(ctx context.Context, settings Settings) (*Solution, error) {
	for j, v := range m.b {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("linprog: b[%d] = %v, want a finite number", j, v)
		}
	}
	most := LInf.Of(m.b)
	s := powerOfTwo(most)
	unit := m
	unit.b = slices.Clone(m.b)
	for j := range unit.b {
		unit.b[j] /= s
	}
	sol, err := unit.generate(ctx, settings)
	m.rescale(sol, err, s)
	if err == nil && !sol.finite() {
		at := slices.IndexFunc(m.b, func(v float64) bool { return math.Abs(v) == most })
		return nil, fmt.Errorf("linprog: bᵀθ or a multiplier overflows at a solution with ‖θ‖₂ = %.3g, where b[%d] = %v; "+
			"want b scaled down", L2.Of(sol.Theta), at, m.b[at])
	}
	return sol, err
}

// mostRadius is the greatest finite R that Solve accepts, so that squares of numbers near R do not overflow.
const mostRadius = 0x1p500

// finite reports whether the objective, the bound and the multipliers are finite.
func (s *Solution) finite() bool {
	numbers := []float64{s.Objective, s.Bound, s.Hyperplane, s.Ball}
	for _, m := range s.Rows {
		numbers = append(numbers, m.Value)
	}
	return LInf.Of(numbers) <= math.MaxFloat64
}

// rescale turns the solution and the error for b/s into the solution and the error for b.
func (m program) rescale(sol *Solution, err error, s float64) {
	if e, ok := err.(*UnboundedError); ok {
		e.Slope *= s
	}
	if sol == nil {
		return
	}
	sol.Objective *= s
	sol.Hyperplane *= s
	sol.Ball *= s
	for k := range sol.Rows {
		sol.Rows[k].Value *= s
	}
	sol.Rows = slices.DeleteFunc(sol.Rows, func(r Multiplier) bool { return r.Value == 0 }) // the multiplier underflowed
	sol.Bound = sol.Dual.bound(m.b, m.g, m.psi, m.norm, sol.Radius)
	if e, ok := err.(*StalledError); ok {
		if e.Objective *= s; !math.IsInf(m.radius, 1) {
			e.Bound = sol.Bound
		}
	}
}

// A program is
//
//	min bᵀθ   subject to   Ψθ ⪰ 0,  gᵀθ = 1,  ‖θ‖ ≤ R
//
// with g = 1 or R = +∞. [Mixture] and [Inequalities] are solved in this form.
type program struct {
	b, g   []float64
	psi    Rows
	norm   Norm
	radius float64 // R
}

// A solver generates constraints: it solves the program over the known rows and looks for
// other rows that the solution violates, until there are none.
type solver struct {
	*path
	*scanner
	known     map[int]bool // the rows passed to learn
	scans     int
	violation float64 // of x, as in [Solution]; +∞ until x is scanned
	best      incumbent
	bound     float64 // the best bound so far; at first, the bound with λ = 0 and μ = 0
	dual      Dual    // the dual point that proves bound
}

// generate solves a program with ‖b‖_∞ in [1, 2), or b = 0.
func (m program) generate(ctx context.Context, settings Settings) (*Solution, error) {
	if d := len(m.b); !math.IsInf(m.radius, 1) && m.norm.misses(m.radius, d) {
		return nil, &InfeasibleError{Hyperplane: 1, Norm: m.norm, R: m.radius, Radius: m.norm.OnHyperplane(d)}
	}
	s := &solver{
		path:    newPath(m),
		scanner: newScanner(m.psi),
		known:   make(map[int]bool),
		bound:   Dual{}.bound(m.b, m.g, m.psi, m.norm, m.radius),
	}
	if len(settings.Warm) > 0 {
		s.limit = math.Inf(1) // presumably, Warm lists all rows that matter
	}
	for _, i := range settings.Warm {
		if err := s.learn(i); err != nil {
			return nil, err
		}
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	return s.run(ctx)
}

// learn puts row i into the pool, unless the row is known or consists of zeros.
func (s *solver) learn(i int) error {
	if s.known[i] {
		return nil
	}
	s.known[i] = true
	c := &cut{normal: make([]float64, s.d), row: i}
	s.psi.Row(c.normal, i)
	var err error
	c.length, c.scale, err = normalise(c.normal, i)
	if err == nil && c.length > 0 {
		s.pool = append(s.pool, c)
	}
	return err
}

func (s *solver) run(ctx context.Context) (*Solution, error) {
	for {
		s.violation = math.Inf(1)
		out, err := s.optimize(ctx)
		if err != nil {
			return s.unfinished(), err
		}
		if out == infeasible {
			if e := s.contradiction(); e.proves() {
				return nil, e
			}
			out = stalled // the proof is lost in rounding
		}
		before := len(s.known)
		more, err := s.separate(ctx, out)
		if err != nil {
			if ctx.Err() == nil {
				return nil, err // an error in the data
			}
			return s.unfinished(), err
		}
		sol := s.solution()
		switch {
		case out == stalled:
		case out == partial:
			if len(s.known)-before <= s.d/4 { // few compared with the d rows of a vertex
				s.limit *= raise
			}
			continue
		case more:
			continue
		case !s.inside && s.norm != L2 && (out == ray || s.norm.Of(s.x) > s.radius*(1+s.rounding())):
			// A polyhedral ball is ignored until x violates no row of Ψ. The ball may have exponentially
			// many cuts, and most cuts found at a point that violates rows are not needed.
			s.inside = true
			continue
		case out == ray:
			if e := s.ray(); e != nil {
				return nil, e
			}
		case s.proves(sol):
			return sol, nil
		}
		return s.unfinished(), &StalledError{Violation: s.violation, Pivots: s.pivots, Bound: s.bound, Objective: s.best.objective}
	}
}

// separate scans Ψ for rows that x violates and, if out is ray, for rows that the direction of
// the ray violates. It puts the worst new rows into the pool, and reports whether it found any.
func (s *solver) separate(ctx context.Context, out outcome) (more bool, err error) {
	points := [][]float64{s.x}
	if out == ray {
		points = append(points, s.v)
	}
	centres := [2][]float64{s.best.centre} // nil for the direction of a ray
	for k, x := range points {
		centre := centres[k]
		found, share, err := s.scan(ctx, x, centre)
		if err != nil {
			return false, err
		}
		s.scans++
		if centre != nil {
			s.toward(x, share)
		}
		least := s.rounding() * L2.Of(x)
		worst := 0.0
		for _, c := range found {
			worst = max(worst, c.by)
		}
		if k == 0 {
			s.violation = worst
		}
		found = slices.DeleteFunc(found, func(c candidate) bool { return c.by <= least || s.known[c.row] })
		slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.by, a.by) })
		// The pool should remain small compared with Ψ. So learn at most 2d + 32 + N/2¹⁴ rows per scan: twice as many as can
		// be active, plus a number that matters only if d is small or Ψ is long.
		for _, c := range found[:min(len(found), 2*s.d+32+s.n/(1<<14))] {
			more = true
			if err := s.learn(c.row); err != nil {
				return false, err
			}
		}
	}
	return more, nil
}

// An incumbent is the best known feasible point. The points of the path are rarely feasible before its
// end. But if c is feasible, this point on the way from c to x violates no row:
//
//	c + s (x − c),   s = min {Ψᵢc/(Ψᵢc − Ψᵢx) : Ψᵢx < 0}, or 1 if no Ψᵢx is negative.
//
// A scan visits the rows with Ψᵢx < 0 anyway. If the columns of Ψ are measures, c = (1/d)1 is feasible.
type incumbent struct {
	centre    []float64 // c; nil if none is known
	theta     []float64 // the point; nil if none is known
	objective float64   // bᵀθ; +∞ if none is known
}

// begin tests the point of least norm on the hyperplane. If this point is feasible, it becomes the incumbent.
func (s *solver) begin(ctx context.Context) error {
	s.best.objective = math.Inf(1)
	c := make([]float64, s.d)
	floats.ScaleTo(c, 1/floats.Dot(s.g, s.g), s.g)
	found, _, err := s.scan(ctx, c, nil)
	if ctx.Err() != nil {
		return nil // run returns the error
	}
	if s.scans++; err != nil || len(found) > 0 {
		return err
	}
	s.best = incumbent{centre: c, theta: c, objective: s.value(c)}
	return nil
}

// toward makes the point c + s (x − c) the incumbent if its objective is lower than the incumbent's. share is
// the greatest s ≤ 1 at which the point violates no row. The s used is at most share, and keeps the point in the ball.
func (s *solver) toward(x []float64, share float64) {
	c := s.best.centre
	// The point is in the ball because ‖c + s(x − c)‖ ≤ (1−s)‖c‖ + s‖x‖ ≤ R.
	if out, in := s.norm.Of(x), s.norm.Of(c); out > s.radius {
		share = min(share, max(0, (s.radius-in)/(out-in)))
	}
	share *= 1 - s.rounding()
	theta := make([]float64, s.d)
	for j, v := range c {
		theta[j] = v + share*(x[j]-v)
	}
	if f := s.value(theta); f < s.best.objective {
		s.best.theta, s.best.objective = theta, f
	}
}
