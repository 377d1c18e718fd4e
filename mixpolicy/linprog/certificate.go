package linprog

import (
	"fmt"
	"math"
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

// Bound returns a number that is not greater than the dual objective
// μ − R‖b − Ψᵀλ − μ1‖⁎, and so a lower bound of bᵀθ over all feasible θ. The
// residual is evaluated in doubled precision and the bound rounded downwards,
// with an allowance for every operation, so the bound is safe in spite of rounding. It
// is −∞ for R = +∞, unless the residual is zero.
func (y Dual) Bound(b []float64, psi Rows, n Norm, r float64) float64 {
	res := y.residual(b, psi, n)
	if res == 0 {
		return y.Hyperplane
	}
	loss := r * res
	// r·res, the subtraction and this allowance itself: three roundings.
	return y.Hyperplane - loss - 0x1p-51*(math.Abs(y.Hyperplane)+loss)
}

// residual returns an upper bound of ‖b − Ψᵀλ − μ1‖⁎ that exceeds it by little more
// than its rounding.
func (y Dual) residual(b []float64, psi Rows, n Norm) float64 {
	acc, size := y.reducedCosts(b, psi)
	// A sum of k products in doubled precision is wrong by at most γ²₂ₖ Σ|terms| besides
	// its final rounding, with γ₂ₖ ≈ 2k·2⁻⁵³ (Ogita, Rump, Oishi 2005), and by what
	// falls below the normal range, less than 2⁻¹⁰⁰⁰ a term.
	k := float64(len(y.Rows) + 2)
	gamma := 2 * k * 0x1p-53
	for j := range acc {
		v := math.Abs(acc[j].value())
		size[j] = v + 2*gamma*gamma*size[j] + k*0x1p-1000
		if v == 0 && len(y.Rows) == 0 {
			size[j] = 0 // b = μ1 exactly: nothing was rounded
		}
	}
	// Rounding of the norm: d additions, for ℓ₂ of rounded squares, and a root.
	return n.Dual().Of(size) * (1 + float64(len(b)+8)*0x1p-52)
}

// reducedCosts returns b − Ψᵀλ − μ1 in doubled precision, and the sums of the absolute
// values of its terms.
func (y Dual) reducedCosts(b []float64, psi Rows) (acc []double, size []float64) {
	acc, size = make([]double, len(b)), make([]float64, len(b))
	for j, v := range b {
		acc[j] = acc[j].add(v).add(-y.Hyperplane)
		size[j] = math.Abs(v) + math.Abs(y.Hyperplane)
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
	acc, _ := y.reducedCosts(b, psi)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range acc {
		lo, hi = min(lo, v.value()), max(hi, v.value())
	}
	y.Hyperplane += lo + (hi-lo)/2
	return (hi - lo) / 2
}

// An InfeasibleError says that no θ satisfies Ψθ ⪰ 0, 1ᵀθ = 1 and ‖θ‖ ≤ R, and
// proves it by λ ⪰ 0 and κ > 0 with
//
//	κ > R‖Ψᵀλ + κ1‖⁎
//
// (Farkas). If R = +∞ the right side is never zero in floating point, and what is
// proved is that there is no feasible θ with ‖θ‖₂ < Radius.
type InfeasibleError struct {
	Rows       []Multiplier // λ
	Hyperplane float64      // κ
	Norm       Norm         // of the constraint; ℓ₂ if R = +∞
	R          float64      // of the constraint
	Radius     float64      // κ/‖Ψᵀλ + κ1‖⁎ > R; 0/0 does not occur
}

func (e *InfeasibleError) Error() string {
	if len(e.Rows) == 0 {
		return fmt.Sprintf("linprog: infeasible: every θ with 1ᵀθ = 1 has an %v norm of at least %v, more than R = %v",
			e.Norm, e.Radius, e.R)
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
	return fmt.Sprintf("linprog: infeasible: by %s of Ψθ ⪰ 0, every θ with 1ᵀθ = 1 has an %v norm of at least %v, more than R = %v",
		list, e.Norm, e.Radius, e.R)
}

// proves reports that the radius is enough: for R = +∞ so large that nothing in the
// data, of which rounding takes 2⁻⁵², would account for a feasible point beyond it.
func (e *InfeasibleError) proves() bool {
	if math.IsInf(e.R, 1) {
		return e.Radius > 0x1p20
	}
	return e.Radius > e.R
}

// radius returns a lower bound of κ/‖Ψᵀλ + κ1‖⁎, the norm that every feasible θ has at
// least.
func (e *InfeasibleError) radius(psi Rows) float64 {
	// Ψᵀλ + κ1 is minus the residual of b = 0 and μ = κ, for the same λ.
	_, d := psi.Dims()
	y := Dual{Rows: e.Rows, Hyperplane: e.Hyperplane}
	return e.Hyperplane / y.residual(make([]float64, d), psi, e.Norm) * (1 - 0x1p-51)
}

// An UnboundedError says that bᵀθ has no minimum: every Point + s·Direction with
// s ≥ 0 is feasible, for ΨDirection ⪰ 0 and 1ᵀDirection = 0, and bᵀDirection < 0. It
// occurs only for R = +∞.
type UnboundedError struct {
	Point     []float64 // feasible
	Direction []float64 // of length ‖·‖₂ = 1
	Slope     float64   // bᵀDirection < 0
}

func (e *UnboundedError) Error() string {
	return fmt.Sprintf("linprog: unbounded: bᵀθ falls by %v per unit along a ray of feasible points; bound ‖θ‖", -e.Slope)
}

// A StalledError says that rounding kept the method from reaching a point where no
// row is violated. The solution returned with it has a valid Bound.
type StalledError struct {
	Violation float64 // what remains, as in [Solution]
	Pivots    int     // steps taken
}

func (e *StalledError) Error() string {
	return fmt.Sprintf("linprog: no progress after %d steps, with a violation of %v: the active rows are dependent to within rounding",
		e.Pivots, e.Violation)
}

// An EntryError names an entry of the data that is not a finite number.
type EntryError struct {
	Row, Col int // of Ψ; Row is −1 for b
	Value    float64
}

func (e *EntryError) Error() string {
	if e.Row < 0 {
		return fmt.Sprintf("linprog: b[%d] = %v, want a finite number", e.Col, e.Value)
	}
	return fmt.Sprintf("linprog: Ψ[%d,%d] = %v, want a finite number", e.Row, e.Col, e.Value)
}

// double is a number hi + lo of twice the precision (Dekker 1971).
type double struct{ hi, lo float64 }

func (a double) add(x float64) double {
	s := a.hi + x
	t := s - a.hi
	return double{s, a.lo + ((a.hi - (s - t)) + (x - t))}
}

func (a double) addProduct(x, y float64) double {
	p := x * y
	s := a.add(p)
	s.lo += math.FMA(x, y, -p)
	return s
}

func (a double) value() float64 { return a.hi + a.lo }
