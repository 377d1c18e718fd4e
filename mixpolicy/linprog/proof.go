package linprog

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A Multiplier is the entry λᵢ > 0 of the dual vector of Ψθ ⪰ 0 at an active row. The
// rows may be as small as numbers get, so it is stored for the row divided by Scale.
type Multiplier struct {
	Row   int     // i
	Value float64 // λᵢ · Scale, which multiplies Ψᵢ/Scale
	Scale float64 // a power of two: 1 ≤ ‖Ψᵢ‖∞/Scale < 2
}

// Lambda returns λᵢ. It may overflow to +∞ for a row below 10⁻²⁹⁰ or so.
func (m Multiplier) Lambda() float64 { return m.Value / m.Scale }

// A Dual is a point of the dual problem of (2.18),
//
//	max μ − R‖b − Ψᵀλ − μ1‖⁎   over   λ ⪰ 0, μ ∈ ℝ.
type Dual struct {
	Rows       []Multiplier // λ, where it is not 0, in the order of rows
	Hyperplane float64      // μ, of 1ᵀθ = 1: the change of the optimum per unit of its right side
}

// bound returns a number that is not greater than the dual objective
// μ − R‖b − Ψᵀλ − μg‖⁎, and so a lower bound of bᵀθ over all feasible θ. The
// residual is evaluated in doubled precision and the bound rounded downwards,
// with an allowance for every operation, so the bound is safe in spite of rounding. It
// is −∞ for R = +∞, unless the residual is zero.
func (y Dual) bound(b, g []float64, psi Rows, n Norm, r float64) float64 {
	res := y.residual(b, g, psi, n)
	if res == 0 {
		return y.Hyperplane
	}
	loss := r * res
	// r·res, the subtraction and this allowance itself: three roundings.
	return y.Hyperplane - loss - 0x1p-51*(math.Abs(y.Hyperplane)+loss)
}

// residual returns an upper bound of ‖b − Ψᵀλ − μg‖⁎ that exceeds it by little more
// than its rounding.
func (y Dual) residual(b, g []float64, psi Rows, n Norm) float64 {
	acc, size := y.reducedCosts(b, g, psi)
	// A sum of k products in doubled precision is wrong by at most γ²₂ₖ Σ|terms| besides
	// its final rounding, with γ₂ₖ ≈ 2k·2⁻⁵³ (Ogita, Rump, Oishi 2005), and by what
	// falls below the normal range, less than 2⁻¹⁰⁰⁰ a term.
	k := float64(len(y.Rows) + 2)
	gamma := k * 0x1p-52
	for j := range acc {
		v := math.Abs(acc[j].value())
		size[j] = v + 2*gamma*gamma*size[j] + k*0x1p-1000
		if v == 0 && len(y.Rows) == 0 {
			size[j] = 0 // b = μg exactly: nothing was rounded
		}
	}
	// Rounding of the norm: d additions, for ℓ₂ of rounded squares, and a root, of half a unit of
	// 2⁻⁵² each. What is left, (d + 8)/2 − 2 units at least, is for the caller's roundings.
	return n.Dual().Of(size) * (1 + float64(len(b)+8)*0x1p-52)
}

// reducedCosts returns b − Ψᵀλ − μg in doubled precision, and the sums of the absolute
// values of its terms.
func (y Dual) reducedCosts(b, g []float64, psi Rows) (acc []double, size []float64) {
	acc, size = make([]double, len(b)), make([]float64, len(b))
	for j, v := range b {
		acc[j] = acc[j].add(v).addProduct(-y.Hyperplane, g[j])
		size[j] = math.Abs(v) + math.Abs(y.Hyperplane*g[j])
	}
	row := make([]float64, len(b))
	for _, m := range y.Rows {
		psi.Row(row, m.Row)
		for j, v := range row {
			v /= m.Scale
			acc[j] = acc[j].addProduct(-m.Value, v)
			size[j] += m.Value * math.Abs(v)
		}
	}
	return acc, size
}

// centre sets μ to the middle of the range of b − Ψᵀλ and returns half that range. For
// the ℓ₁ ball this is the best μ for λ, and the one with the least ‖b − Ψᵀλ − μ1‖∞.
func (y *Dual) centre(b []float64, psi Rows) (halfRange float64) {
	acc, _ := y.reducedCosts(b, ones(len(b)), psi)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range acc {
		lo, hi = min(lo, v.value()), max(hi, v.value())
	}
	y.Hyperplane += lo + (hi-lo)/2
	return (hi - lo) / 2
}

func ones(d int) []float64 {
	g := make([]float64, d)
	for j := range g {
		g[j] = 1
	}
	return g
}

// double is a number hi + lo of twice the precision (Dekker 1971).
type double struct{ hi, lo float64 }

func (a double) add(x float64) double {
	s := a.hi + x
	t := s - a.hi
	return double{s, a.lo + ((a.hi - (s - t)) + (x - t))}
}

func (a double) addProduct(x, y float64) double {
	p := float64(x * y) // so that it is rounded also where a product and a sum may be one operation
	s := a.add(p)
	s.lo += math.FMA(x, y, -p)
	return s
}

func (a double) value() float64 { return a.hi + a.lo }

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
		sol.Hyperplane = s.mean // no step was made yet
	default:
		// The ball touches the feasible set in x(0), and need not have multipliers. Those of
		// t = touchTime·R have a bound that misses the optimum by about that times ‖b‖.
		t := touchTime * s.radius
		sol.Dual, _ = s.multipliers(s.b, s.cuts, s.nearby(t), s.length/t, s.mean)
		sol.Ball = s.length / touchTime
	}
	sol.Bound = sol.Dual.bound(s.b, s.g, s.psi, s.norm, sol.Radius)
	if sol.Bound > s.bound {
		s.bound, s.dual = sol.Bound, sol.Dual
	}
	return sol
}

// touchTime is the t/R at which the multipliers are read that a touching ball does not have.
// Their bound is less than the optimum by t‖v‖²/2 and by the rounding 2⁻⁵²R²/t, relative to
// ‖b‖: half of 2⁻²⁶R each.
const touchTime = 0x1p-26

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
	// Each term of bᵀθ − μ − R‖b − Ψᵀλ − μg‖⁎ has an error of a rounding of its size. What the
	// bound of a touching ball misses, touchTime·R‖b‖, is far less: its Ball is ‖b‖/touchTime.
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

// An InfeasibleError says that no θ satisfies Ψθ ⪰ 0, 1ᵀθ = 1 and ‖θ‖ ≤ R, and
// proves it by λ ⪰ 0 and κ > 0 with
//
//	κ > R‖Ψᵀλ + κ1‖⁎
//
// (Farkas). If R = +∞ the right side is rarely zero in floating point, and what is
// proved is that there is no feasible θ with ‖θ‖₂ < Radius, at least 2²⁰. Where rounding
// leaves no proof, it is given in rational numbers.
type InfeasibleError struct {
	Rows       []Multiplier // λ, of a size near 1
	Hyperplane float64      // κ
	Norm       Norm         // of the constraint; ℓ₂ if R = +∞
	R          float64      // of the constraint
	Radius     float64      // κ/‖Ψᵀλ + κ1‖⁎ > R; 0/0 does not occur

	// Exact is nil or λ, as the values of Rows, and then κ, of which those are rounded: to 0
	// where λᵢ is below all numbers. With these the proof holds exactly, and for R = +∞ Radius
	// is +∞.
	Exact []*big.Rat
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
	for i, m := range e.Rows {
		if i == 4 {
			list += fmt.Sprintf(" … (%d in all)", len(e.Rows))
			break
		}
		list += fmt.Sprintf(" %d", m.Row)
	}
	if math.IsInf(e.R, 1) {
		return fmt.Sprintf("linprog: infeasible: %s of Ψθ ⪰ 0 and 1ᵀθ = 1 exclude each other", list)
	}
	return fmt.Sprintf("linprog: infeasible: by %s of Ψθ ⪰ 0, every θ with 1ᵀθ = 1 has %s ≥ %v, more than R = %v",
		list, e.Norm.Around("θ"), e.Radius, e.R)
}

// proves reports that the radius is enough: for R = +∞ so large that nothing in the
// data, of which rounding takes 2⁻⁵², would account for a feasible point beyond it.
func (e *InfeasibleError) proves() bool {
	if math.IsInf(e.R, 1) {
		return e.Radius > 0x1p20
	}
	return e.Exact != nil || e.Radius > e.R
}

// radius returns a lower bound of κ/‖Ψᵀλ + κ1‖⁎, the norm that every feasible θ has at
// least.
func (e *InfeasibleError) radius(g []float64, psi Rows) float64 {
	// Ψᵀλ + κg is minus the residual of b = 0 and μ = κ, for the same λ.
	y := Dual{Rows: e.Rows, Hyperplane: e.Hyperplane}
	// The rounding of the quotient is within what the residual has more than it needs.
	return e.Hyperplane / y.residual(make([]float64, len(g)), g, psi, e.Norm)
}

// contradiction reads the proof of infeasibility from the path.
func (s *solver) contradiction() *InfeasibleError {
	// Multipliers of a common size near 1.
	y, _ := s.multipliers(make([]float64, s.d), s.refuting, s.weights, 1/powerOfTwo(LInf.Of(s.weights)), 0)
	e := &InfeasibleError{Rows: y.Rows, Hyperplane: y.Hyperplane, Norm: s.norm, R: s.radius}
	e.Radius = e.radius(s.g, s.psi)
	if s.ratios != nil && !e.proves() {
		s.sharpen(e)
	}
	return e
}

// sharpen gives e its multipliers without rounding, if they prove it.
func (s *solver) sharpen(e *InfeasibleError) {
	lambda := make(map[*cut]*big.Rat)
	var rows []*cut
	var kappa *big.Rat
	for k, c := range s.refuting {
		v := new(big.Rat).Mul(s.ratios[k], powerRat(c.form.shift))
		switch {
		case c.row == hyperplane:
			kappa = v
		case c.row >= 0 && v.Sign() > 0:
			rows, lambda[c] = append(rows, c), v
		}
	}
	slices.SortFunc(rows, func(a, b *cut) int { return cmp.Compare(a.row, b.row) })
	e.Rows, e.Exact = nil, nil
	for _, c := range rows {
		v, _ := lambda[c].Float64()
		e.Rows = append(e.Rows, Multiplier{Row: c.row, Value: v, Scale: c.scale})
		e.Exact = append(e.Exact, lambda[c])
	}
	if s.norm == L1 && !math.IsInf(s.radius, 1) {
		// The κ in the middle, as in Dual.centre.
		e.Exact = append(e.Exact, new(big.Rat))
		w := e.combination(s.g, s.psi)
		lo, hi := w[0], w[0]
		for _, v := range w {
			if v.Cmp(lo) < 0 {
				lo = v
			}
			if v.Cmp(hi) > 0 {
				hi = v
			}
		}
		kappa = new(big.Rat).Add(lo, hi)
		kappa.Mul(kappa, big.NewRat(-1, 2))
		e.Exact = e.Exact[:len(rows)]
	}
	e.Exact = append(e.Exact, kappa)
	e.Hyperplane, _ = kappa.Float64()
	if radius, ok := e.provesExactly(s.g, s.psi); ok {
		e.Radius = radius
	} else {
		e.Exact = nil
	}
}

// combination returns Ψᵀλ + κg of the exact multipliers.
func (e *InfeasibleError) combination(g []float64, psi Rows) []*big.Rat {
	out, row := make([]*big.Rat, len(g)), make([]float64, len(g))
	last := len(e.Exact) - 1
	for j, v := range g {
		out[j] = new(big.Rat).SetFloat64(v)
		out[j].Mul(out[j], e.Exact[last])
	}
	for k, m := range e.Rows {
		psi.Row(row, m.Row)
		f := new(big.Rat).Quo(e.Exact[k], new(big.Rat).SetFloat64(m.Scale))
		for j, v := range row {
			if v != 0 {
				a := new(big.Rat).SetFloat64(v)
				out[j].Add(out[j], a.Mul(a, f))
			}
		}
	}
	return out
}

// provesExactly checks κ > R‖Ψᵀλ + κg‖⁎ without rounding, and returns κ/‖Ψᵀλ + κg‖⁎ or a
// little less, but at least R.
func (e *InfeasibleError) provesExactly(g []float64, psi Rows) (radius float64, ok bool) {
	kappa := e.Exact[len(e.Exact)-1]
	for _, v := range e.Exact {
		if v.Sign() <= 0 {
			return 0, false
		}
	}
	// ‖·‖⁎, or its square for ℓ₂.
	size := new(big.Rat)
	for _, v := range e.combination(g, psi) {
		switch v.Abs(v); e.Norm.Dual() {
		case L2:
			size.Add(size, v.Mul(v, v))
		case LInf:
			if v.Cmp(size) > 0 {
				size = v
			}
		case L1:
			size.Add(size, v)
		}
	}
	if size.Sign() == 0 {
		return math.Inf(1), true
	}
	if math.IsInf(e.R, 1) {
		return 0, false
	}
	r := new(big.Rat).SetFloat64(e.R)
	left := new(big.Rat).Set(kappa)
	if e.Norm == L2 {
		r.Mul(r, r)
		left.Mul(left, left)
	}
	if left.Cmp(r.Mul(r, size)) <= 0 {
		return 0, false
	}
	ratio := new(big.Float).SetPrec(64).SetRat(left.Quo(left, size))
	if e.Norm == L2 {
		ratio.Sqrt(ratio)
	}
	radius, _ = ratio.Float64()
	return max(e.R, min(radius, math.MaxFloat64)*(1-0x1p-51)), true
}
