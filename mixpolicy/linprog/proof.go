package linprog

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// A Multiplier is the multiplier λᵢ > 0 of the constraint Ψᵢθ ≥ 0. The entries of Ψᵢ may be arbitrarily small, so the
// multiplier is stored for the row divided by Scale.
type Multiplier struct {
	Row   int     // i
	Value float64 // λᵢ · Scale, the multiplier of Ψᵢ/Scale
	Scale float64 // the power of two with 1 ≤ ‖Ψᵢ‖∞/Scale < 2
}

// Lambda returns λᵢ. If Scale is tiny, the result may overflow to +∞, because it is Value/Scale.
func (m Multiplier) Lambda() float64 { return m.Value / m.Scale }

// A Dual is a point of the dual problem of (2.18),
//
//	max μ − R‖b − Ψᵀλ − μ1‖⁎   over   λ ⪰ 0, μ ∈ ℝ.
type Dual struct {
	Rows       []Multiplier // the nonzero λᵢ, in the order of rows
	Hyperplane float64      // μ, the multiplier of 1ᵀθ = 1: the rate at which the optimum changes with the right side of this equation
}

// bound returns a number that is at most the dual objective μ − R‖b − Ψᵀλ − μg‖⁎, and so a
// lower bound on bᵀθ over all feasible θ. The residual is evaluated in doubled precision, and
// the bound is rounded downwards, with an allowance for every operation, so the bound holds
// despite rounding. For R = +∞, the bound is −∞, unless the residual is zero.
func (y Dual) bound(b, g []float64, psi Rows, n Norm, r float64) float64 {
	res := y.residual(b, g, psi, n)
	if res == 0 {
		return y.Hyperplane
	}
	loss := r * res
	// Three roundings: r·res, the subtraction and this allowance itself.
	return y.Hyperplane - loss - 0x1p-51*(math.Abs(y.Hyperplane)+loss)
}

// residual returns an upper bound on ‖b − Ψᵀλ − μg‖⁎ that exceeds the norm by little more
// than the rounding of the norm.
func (y Dual) residual(b, g []float64, psi Rows, n Norm) float64 {
	acc, size := y.reducedCosts(b, g, psi)
	// A sum of k products in doubled precision errs by its final rounding, by at most γ²₂ₖ
	// Σ|terms| with γ₂ₖ ≈ 2k·2⁻⁵³ (Ogita, Rump, Oishi 2005), and by underflow of less than
	// 2⁻¹⁰⁰⁰ per term.
	k := float64(len(y.Rows) + 2)
	gamma := k * 0x1p-52
	for j := range acc {
		v := math.Abs(acc[j].Value())
		size[j] = v + 2*gamma*gamma*size[j] + k*0x1p-1000
		if v == 0 && len(y.Rows) == 0 {
			size[j] = 0 // b = μg exactly: no rounding
		}
	}
	// The norm takes d additions and, for ℓ₂, the squares and a root, which err by half a unit of
	// 2⁻⁵² each. The rest of the factor, at least (d + 8)/2 − 2 units, covers the caller's
	// roundings.
	return n.Dual().Of(size) * (1 + float64(len(b)+8)*0x1p-52)
}

// reducedCosts returns b − Ψᵀλ − μg in doubled precision, and for each entry the sum of the
// absolute values of its terms.
func (y Dual) reducedCosts(b, g []float64, psi Rows) (acc []sum.Accumulator, size []float64) {
	acc, size = make([]sum.Accumulator, len(b)), make([]float64, len(b))
	for j, v := range b {
		acc[j].Add(v)
		acc[j].AddProduct(-y.Hyperplane, g[j])
		size[j] = math.Abs(v) + math.Abs(y.Hyperplane*g[j])
	}
	row := make([]float64, len(b))
	for _, m := range y.Rows {
		psi.Row(row, m.Row)
		for j, v := range row {
			v /= m.Scale
			acc[j].AddProduct(-m.Value, v)
			size[j] += m.Value * math.Abs(v)
		}
	}
	return acc, size
}

func ones(d int) []float64 { return slices.Repeat([]float64{1}, d) }

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
		// b̂ = Σ (uₖ/t) aₖ − x/t, where x/t is the term of the ball.
		sol.Dual, sol.Ball = s.multipliers(s.b, s.cuts, s.u, s.length/s.t, s.mean)
		if s.norm == L2 {
			sol.Ball = s.length / s.t * L2.Of(s.x)
		}
	case math.IsInf(s.radius, 1):
		sol.Hyperplane = s.mean // no step yet
	default:
		// If the ball touches the feasible set at x(0), multipliers need not exist. The multipliers
		// at t = touchTime·R then give a bound that misses the optimum by about touchTime·R·‖b‖.
		t := touchTime * s.radius
		sol.Dual, _ = s.multipliers(s.b, s.cuts, s.at(make([]float64, s.d), t), s.length/t, s.mean)
		sol.Ball = s.length / touchTime
	}
	sol.Bound = sol.Dual.bound(s.b, s.g, s.psi, s.norm, sol.Radius)
	if sol.Bound > s.bound && !math.IsInf(s.radius, 1) { // with R = +∞, sol.Bound holds only within sol.Radius
		s.bound, s.dual = sol.Bound, sol.Dual
	}
	return sol
}

// touchTime is the t/R at which multipliers are read if the ball only touches the feasible set,
// because exact multipliers need not exist then. The bound from the multipliers at t is below the
// optimum by at most t‖v‖²‖b‖/2 ≤ 2⁻²⁷R‖b‖, plus the rounding, about 2⁻⁵²R²‖b‖/t = 2⁻²⁶R‖b‖.
const touchTime = 0x1p-26

// value returns bᵀx.
func (s *solver) value(x []float64) float64 { return accurate(s.b, x) }

// accurate returns xᵀy + Σ more in doubled precision.
func accurate(x, y []float64, more ...float64) float64 {
	var acc sum.Accumulator
	for j, v := range x {
		acc.AddProduct(v, y[j])
	}
	for _, v := range more {
		acc.Add(v)
	}
	return acc.Value()
}

// unfinished returns the result when the work ends early: the best feasible point, or the
// present point if no feasible point is known, and, if R is finite, the best bound.
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

// multipliers multiplies u, the multipliers of the unit normals, by a factor, and returns λ, μ and, for
// a polyhedral ball, ν. It adds mu to μ. Negative multipliers of inequalities count as 0.
func (s *solver) multipliers(b []float64, cuts []*cut, u []float64, factor, mu float64) (y Dual, nu float64) {
	y.Hyperplane = mu
	for k, c := range cuts {
		v := u[k] * factor
		switch {
		case c.row == hyperplane:
			y.Hyperplane += v * c.rhs // the normal is g/‖g‖, and the right side 1/‖g‖
		case v <= 0:
		case c.row == ball:
			nu += v // in ℓ∞, v is the multiplier of a bound on one entry of θ
		default:
			y.Rows = append(y.Rows, Multiplier{Row: c.row, Value: v / c.length, Scale: c.scale})
		}
	}
	slices.SortFunc(y.Rows, func(a, b Multiplier) int { return cmp.Compare(a.Row, b.Row) })
	if s.norm == L1 && nu > 0 {
		// With the signs sⱼ = −1 on S and 1 elsewhere, Σ_S θⱼ = (1ᵀθ − sᵀθ)/2, so a facet's multiplier belongs
		// partly to the hyperplane and partly to the ball. The best μ for λ, with the least ‖b − Ψᵀλ − μ1‖∞,
		// is the middle of the range of the entries of b − Ψᵀλ, and ν is half the width of this range.
		acc, _ := y.reducedCosts(b, s.g, s.psi)
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, v := range acc {
			lo, hi = min(lo, v.Value()), max(hi, v.Value())
		}
		y.Hyperplane += lo + (hi-lo)/2
		nu = (hi - lo) / 2
	}
	return y, nu
}

// proves reports whether a solution is proved: its point is feasible and its gap closed,
// both to within rounding. A scan has already checked the rows.
func (s *solver) proves(sol *Solution) bool {
	length := L2.Of(sol.Theta)
	tol := s.rounding() * length
	// The tolerance of a polyhedral ball refers to the unit normals of its facets; the
	// facet normals of ℓ₁ have length √d.
	slack := tol
	if s.norm == L1 {
		slack *= 2 * math.Sqrt(float64(s.d))
	}
	if !(sol.Violation <= 2*tol) ||
		!(math.Abs(accurate(s.g, sol.Theta, -1)) <= 2*tol*L2.Of(s.g)) ||
		!(s.norm.Of(sol.Theta) <= s.radius+2*slack) {
		return false
	}
	// The rounding error of each term of bᵀθ − μ + R‖b − Ψᵀλ − μg‖⁎ is proportional to the term. If the ball touches
	// the feasible set, the bound misses the optimum by about touchTime·R‖b‖. This is far less than allowed, because
	// size includes Ball = ‖b‖/touchTime.
	size := L2.Of(s.b) + math.Abs(sol.Hyperplane)*L2.Of(s.g) + sol.Ball
	for _, m := range sol.Rows {
		size += m.Value * math.Sqrt(float64(s.d)) * 2 // ‖Ψᵢ‖∞ < 2·Scale
	}
	radius := sol.Radius
	if s.norm == LInf {
		radius *= math.Sqrt(float64(s.d))
	}
	allowed := 4 * s.rounding() * size * radius
	return math.Abs(sol.Gap()) <= allowed
}

// ray returns the ray in which the path ends. Its direction is −b minus the projection of −b onto the span of the
// active normals, computed in 1,024 bits; a sum below 2⁻⁵¹² times the size of its terms counts as 0. The result is
// nil if the direction is 0 or violates a row, or if the point of the ray is infeasible.
func (s *solver) ray() *UnboundedError {
	var basis [][]*big.Float
	reduce := func(x []*big.Float) bool {
		before := dot(x, x)
		for _, q := range basis {
			c := dot(x, q)
			c.Quo(c, dot(q, q))
			for j := range x {
				x[j].Sub(x[j], new(big.Float).Mul(c, q[j]))
			}
		}
		return !negligible(dot(x, x), before)
	}
	row, v := slices.Clone(s.g), widen(s.b)
	for _, c := range s.cuts {
		if c.row != hyperplane {
			s.psi.Row(row, c.row)
		}
		if q := widen(row); reduce(q) {
			basis = append(basis, q)
		}
	}
	if !reduce(v) {
		return nil
	}
	e := &UnboundedError{Point: s.x, Direction: make([]float64, s.d)}
	size := dot(v, v)
	for j, x := range v {
		e.Direction[j], _ = x.Neg(x).Quo(x, new(big.Float).Sqrt(size)).Float64()
	}
	e.Slope = s.value(e.Direction)
	for i := range s.n {
		s.psi.Row(row, i)
		if floats.Dot(row, e.Direction) > s.rounding()*L2.Of(row) {
			continue
		}
		if d := dot(widen(row), v); d.Sign() < 0 && !negligible(d, big.NewFloat(L2.Of(row))) {
			return nil
		}
	}
	if tol := 2 * s.rounding() * L2.Of(e.Point); s.violation <= tol && math.Abs(accurate(s.g, e.Point, -1)) <= tol*L2.Of(s.g) {
		return e
	}
	return nil
}

func widen(x []float64) []*big.Float {
	w := make([]*big.Float, len(x))
	for j, v := range x {
		w[j] = new(big.Float).SetPrec(1024).SetFloat64(v)
	}
	return w
}

func dot(x, y []*big.Float) *big.Float {
	sum := new(big.Float).SetPrec(1024)
	for j := range x {
		sum.Add(sum, new(big.Float).Mul(x[j], y[j]))
	}
	return sum
}

func negligible(x, size *big.Float) bool {
	return x.Sign() == 0 || x.MantExp(nil) < size.MantExp(nil)-512
}

// An InfeasibleError says that no θ satisfies Ψθ ⪰ 0, 1ᵀθ = 1 and ‖θ‖ ≤ R. As in Farkas' lemma, the proof consists of
// λ ⪰ 0 and κ > 0 with
//
//	κ > R‖Ψᵀλ + κ1‖⁎.
//
// If R = +∞, this inequality requires Ψᵀλ + κ1 = 0, which rarely holds exactly in floating point. So for R = +∞, the
// proof shows only that there is no feasible θ with ‖θ‖₂ < Radius, where Radius is more than 2²⁰.
type InfeasibleError struct {
	Rows       []Multiplier // λ, scaled to a size near 1
	Hyperplane float64      // κ
	Norm       Norm         // the norm of the constraint ‖θ‖ ≤ R; ℓ₂ if R = +∞
	R          float64      // the R of ‖θ‖ ≤ R
	Radius     float64      // κ/‖Ψᵀλ + κ1‖⁎, rounded downwards; greater than R if R is finite; never NaN
}

func (e *InfeasibleError) Error() string {
	if len(e.Rows) == 0 {
		return fmt.Sprintf("linprog: infeasible: every θ with 1ᵀθ = 1 has %s ≥ %v, more than R = %v",
			e.Norm.Around("θ"), e.Radius, e.R)
	}
	list := "row"
	if len(e.Rows) > 1 {
		list = "rows"
	}
	for _, m := range e.Rows[:min(4, len(e.Rows))] {
		list += fmt.Sprintf(" %d", m.Row)
	}
	if len(e.Rows) > 4 {
		list += fmt.Sprintf(" … (%d in all)", len(e.Rows))
	}
	if math.IsInf(e.R, 1) {
		return fmt.Sprintf("linprog: infeasible: %s of Ψθ ⪰ 0 and 1ᵀθ = 1 exclude each other", list)
	}
	return fmt.Sprintf("linprog: infeasible: by %s of Ψθ ⪰ 0, every θ with 1ᵀθ = 1 has %s ≥ %v, more than R = %v",
		list, e.Norm.Around("θ"), e.Radius, e.R)
}

// proves reports whether Radius is large enough for a proof: greater than R, or greater than 2²⁰
// if R = +∞.
func (e *InfeasibleError) proves() bool {
	if math.IsInf(e.R, 1) {
		return e.Radius > 0x1p20
	}
	return e.Radius > e.R
}

// contradiction reads the proof of infeasibility from the path.
func (s *solver) contradiction() *InfeasibleError {
	// Scale the multipliers so that the greatest weight is in [1, 2).
	zero := make([]float64, s.d)
	y, _ := s.multipliers(zero, s.refuting, s.weights, 1/powerOfTwo(LInf.Of(s.weights)), 0)
	// Every feasible θ has a norm of at least κ/‖Ψᵀλ + κg‖⁎, where Ψᵀλ + κg is minus the residual of b = 0 and
	// μ = κ. The allowance in the residual covers the rounding of the quotient.
	least := y.Hyperplane / y.residual(zero, s.g, s.psi, s.norm)
	return &InfeasibleError{Rows: y.Rows, Hyperplane: y.Hyperplane, Norm: s.norm, R: s.radius, Radius: least}
}
