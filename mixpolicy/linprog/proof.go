package linprog

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// solution reads the present point and its multipliers from the path.
func (s *solver) solution() *Solution {
	sol := &Solution{
		Theta:     slices.Clone(s.x),
		Objective: s.value(s.x),
		Violation: s.violation,
		Radius:    s.radius,
		Scans:     s.scans,
		Pivots:    s.pivots,
	}
	if math.IsInf(s.radius, 1) {
		sol.Radius = 1024 * L2.Of(sol.Theta)
	}
	switch {
	case s.optimal:
		// b̂ = Σ u1ₖ aₖ.
		sol.Dual, sol.Ball = s.multipliers(s.b, s.cuts, s.u1, s.length, s.mean)
	case s.t > 0:
		// x + t b̂ = Σ uₖ aₖ, and x/t is the part of the ball.
		sol.Dual, sol.Ball = s.multipliers(s.b, s.cuts, s.u, s.length/s.t, s.mean)
		if s.norm == L2 {
			sol.Ball = s.length / s.t * L2.Of(s.x)
		}
	case math.IsInf(s.radius, 1):
		sol.Hyperplane = s.mean // the path has hardly begun
	default:
		// The ball touches the feasible set in x(0), and need not have multipliers. Those of
		// t = touch·R have a bound that misses the optimum by about that times ‖b‖.
		t := touch * s.radius
		sol.Dual, _ = s.multipliers(s.b, s.cuts, s.nearby(t), s.length/t, s.mean)
		sol.Ball = s.length / touch
	}
	sol.Bound = sol.Dual.bound(s.b, s.g, s.psi, s.norm, sol.Radius)
	if sol.Bound > s.bound {
		s.bound, s.dual = sol.Bound, sol.Dual
	}
	return sol
}

// touch is the t/R at which the multipliers are read that a touching ball does not have.
// Their bound is less than the optimum by t‖v‖²/2 and by the rounding 2⁻⁵²R²/t, relative to
// ‖b‖: half of 2⁻²⁶R each.
const touch = 0x1p-26

// value returns bᵀx.
func (s *solver) value(x []float64) float64 {
	var sum double
	for j, v := range s.b {
		sum = sum.addProduct(v, x[j])
	}
	return sum.value()
}

// unfinished returns what there is when the work ends early: the best feasible point, or if
// none is known the present one, and the best bound.
func (s *solver) unfinished() *Solution {
	sol := s.solution()
	if s.best.theta != nil {
		sol.Theta, sol.Objective, sol.Violation = slices.Clone(s.best.theta), s.best.objective, 0
	}
	if !math.IsInf(s.radius, 1) {
		sol.Dual, sol.Bound = s.dual, s.bound
	}
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
func (s *solver) multipliers(b []float64, cuts []*cut, u []float64, factor, mu float64) (y Dual, nu float64) {
	y.Hyperplane = mu
	for k, c := range cuts {
		v := u[k] * factor
		switch {
		case c.row == hyperplane:
			y.Hyperplane += v * c.rhs // the normal is g/‖g‖, and the right side 1/‖g‖
		case v <= 0:
		case c.row == ball:
			nu += v // of an entry of θ, in ℓ∞
		default:
			y.Rows = append(y.Rows, Multiplier{Row: c.row, Value: v / c.length, Scale: c.scale})
		}
	}
	slices.SortFunc(y.Rows, func(a, b Multiplier) int { return cmp.Compare(a.Row, b.Row) })
	if s.norm == L1 && nu > 0 {
		// Sums over sets are made of 1 and of signs, Σ_S θⱼ = (1ᵀθ − sᵀθ)/2, and how much is
		// 1's and how much the ball's is seen at the end.
		nu = y.centre(b, s.psi)
	}
	return y, nu
}

// proves reports that a solution is what it should be: its point feasible and its gap
// closed, both to within rounding. The rows were looked at by a scan.
func (s *solver) proves(sol *Solution) bool {
	length := L2.Of(sol.Theta)
	tol := s.rounding() * length
	var plane double
	for j, g := range s.g {
		plane = plane.addProduct(g, sol.Theta[j])
	}
	// A polyhedral ball is met in terms of the unit normals of its facets, of which
	// 1/√d times those of ℓ₁.
	slack := tol
	if s.norm == L1 {
		slack *= 2 * math.Sqrt(float64(s.d))
	}
	if !(sol.Violation <= 2*tol) ||
		!(math.Abs(plane.add(-1).value()) <= 2*tol*L2.Of(s.g)) ||
		!(s.norm.Of(sol.Theta) <= s.radius+2*slack) {
		return false
	}
	// Each term of bᵀθ − μ − R‖b − Ψᵀλ − μg‖⁎ has an error of a rounding of its size.
	size := L2.Of(s.b) + math.Abs(sol.Hyperplane)*L2.Of(s.g) + sol.Ball
	for _, m := range sol.Rows {
		size += m.Value * math.Sqrt(float64(s.d)) * 2 // ‖Ψᵢ‖∞ < 2·Scale
	}
	radius := sol.Radius
	if s.norm == LInf {
		radius *= math.Sqrt(float64(s.d))
	}
	allowed := 4 * s.rounding() * size * radius
	if !s.optimal && s.t == 0 {
		allowed += 2 * touch * radius * s.length
	}
	return math.Abs(sol.Gap()) <= allowed
}

// ray returns the ray that the path ends in.
func (s *solver) ray() *UnboundedError {
	floats.Scale(1/L2.Of(s.v), s.v)
	return &UnboundedError{Point: s.x, Direction: s.v, Slope: s.value(s.v)}
}

// descends reports that a ray is one of descent in the hyperplane.
func (s *solver) descends(e *UnboundedError) bool {
	var along, plane double
	for j, g := range s.g {
		along = along.addProduct(g, e.Direction[j])
		plane = plane.addProduct(g, e.Point[j])
	}
	tol := 2 * s.rounding() * L2.Of(s.g)
	return e.Slope < 0 && math.Abs(along.value()) <= tol &&
		math.Abs(plane.add(-1).value()) <= tol*L2.Of(e.Point) && s.violation <= 2*s.rounding()*L2.Of(e.Point)
}
