package linprog

import "math"

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
	return y.bound(b, ones(len(b)), psi, n, r)
}

// bound is Bound for the hyperplane gᵀθ = 1.
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
	gamma := 2 * k * 0x1p-53
	for j := range acc {
		v := math.Abs(acc[j].value())
		size[j] = v + 2*gamma*gamma*size[j] + k*0x1p-1000
		if v == 0 && len(y.Rows) == 0 {
			size[j] = 0 // b = μg exactly: nothing was rounded
		}
	}
	// Rounding of the norm: d additions, for ℓ₂ of rounded squares, and a root.
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
