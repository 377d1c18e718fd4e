package linprog

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// An InfeasibleError says that no θ satisfies Ψθ ⪰ 0, 1ᵀθ = 1 and ‖θ‖ ≤ R, and
// proves it by λ ⪰ 0 and κ > 0 with
//
//	κ > R‖Ψᵀλ + κ1‖⁎
//
// (Farkas). If R = +∞ the right side is hardly ever zero in floating point, and what is
// proved is that there is no feasible θ with ‖θ‖₂ < Radius, at least 2²⁰. Where rounding
// takes too much of a proof it is given in rational numbers.
type InfeasibleError struct {
	Rows       []Multiplier // λ, of a size near 1
	Hyperplane float64      // κ
	Norm       Norm         // of the constraint; ℓ₂ if R = +∞
	R          float64      // of the constraint
	Radius     float64      // κ/‖Ψᵀλ + κ1‖⁎ > R; 0/0 does not occur

	// Exact is nil or λ, as the values of Rows, and then κ, of which those are rounded. With
	// these numbers the proof holds exactly, and for R = +∞ Radius is +∞.
	Exact []*big.Rat
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
	return e.Exact != nil || e.Radius > e.R
}

// radius returns a lower bound of κ/‖Ψᵀλ + κ1‖⁎, the norm that every feasible θ has at
// least.
func (e *InfeasibleError) radius(g []float64, psi Rows) float64 {
	// Ψᵀλ + κg is minus the residual of b = 0 and μ = κ, for the same λ.
	y := Dual{Rows: e.Rows, Hyperplane: e.Hyperplane}
	return e.Hyperplane / y.residual(make([]float64, len(g)), g, psi, e.Norm) * (1 - 0x1p-51)
}

// contradiction reads the proof of infeasibility from the path.
func (s *solver) contradiction() *InfeasibleError {
	// Multipliers of a common size near 1.
	most := 0.0
	for _, v := range s.of {
		most = max(most, math.Abs(v))
	}
	y, _ := s.multipliers(make([]float64, s.d), s.by, s.of, 1/powerOfTwo(most), 0)
	e := &InfeasibleError{Rows: y.Rows, Hyperplane: y.Hyperplane, Norm: s.norm, R: s.radius}
	e.Radius = e.radius(s.g, s.psi)
	if s.ratios != nil && !e.proves() {
		s.sharpen(e)
	}
	return e
}

// sharpen gives e its multipliers without rounding, if they prove it.
func (s *solver) sharpen(e *InfeasibleError) {
	most := 0.0
	for _, v := range s.of {
		most = max(most, math.Abs(v))
	}
	unit := powerRat(1 - int(math.Ilogb(most)))
	lambda := make(map[*cut]*big.Rat)
	var rows []*cut
	var kappa *big.Rat
	for k, c := range s.by {
		v := new(big.Rat).Mul(s.ratios[k], powerRat(c.form.shift))
		v.Mul(v, unit)
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
	radius, _ = left.Quo(left, size).Float64()
	if e.Norm == L2 {
		radius = math.Sqrt(radius)
	}
	return max(e.R, radius*(1-0x1p-51)), true
}
