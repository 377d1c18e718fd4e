package theory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// Multipliers returns the optimal multipliers λ* of (2.18) with the least ‖λ*‖₂, one entry per pair, in units of
// cost. λ* need not be unique: equal rows of Ψ can share their multipliers in any way, and the multiplier of a zero
// row is arbitrary. But exactly one λ* has the least norm. The maximum of the Lagrangian over λ ⪰ 0 with ‖λ‖₂ ≤ G is
// cᵀΨθ + G‖[Ψθ]₋‖₂. The least ‖λ*‖₂ is the least G for which the minimum of this function over θ is cᵀΨθ*:
//
//	‖λ*‖₂ = sup max{cᵀΨθ* − cᵀΨθ, 0}/‖[Ψθ]₋‖₂   over θ ∈ Θ_R ∩ Θ₂ with Ψθ ⋡ 0 .
//
// Let b = Ψᵀc, let A hold the nonzero rows i of Ψ with (Ψθ*)_i = 0, and let the vectors g be the outward normals of Θ_R
// at θ*. Then λ ⪰ 0 is optimal if b = Aᵀλ + μ1 − Σνg for some μ ∈ ℝ and some ν ≥ 0. The dual of minimising ½‖λ‖₂² over
// the optimal λ is
//
//	max bᵀy − ½‖[Ay]₊‖₂²   over 1ᵀy = 0, every gᵀy ≥ 0 ,      λ = [Ay]₊ .
//
// Newton's method solves this dual in ℝᵈ. Instead of imposing gᵀy ≥ 0, we add a row −wg to A for each g. Here w is 10⁶
// times the length of the longest row of Ψ in A, but at least 10⁶, so the relative error of ‖λ‖₂ is about 10⁻¹².
// Multipliers returns the errors of [mixpolicy.Problem.Optimum]. It also returns an error if rounding errors make the
// computed λ suboptimal, or if, for the ℓ₁ norm, θ* has a zero entry and ‖θ*‖₁ = R > 1.
func Multipliers(p *mixpolicy.Problem) ([]float64, error) {
	best, err := p.Optimum(context.Background())
	if err != nil {
		return nil, err
	}
	f, class, d := p.Features(), p.Class(), p.Dim()
	lambda, row, size := make([]float64, p.MDP().Pairs()), make([]float64, d), 0.0
	const touching = 1e-11
	var pairs []int
	var rows []float64
	for i := range lambda {
		f.Row(row, i)
		length := floats.Norm(row, 2)
		if length > 0 && floats.Dot(row, best.Theta) <= touching*length*floats.Norm(best.Theta, 2) {
			pairs, rows, size = append(pairs, i), append(rows, row...), max(size, length)
		}
	}
	if class.Size(best.Theta) >= class.R*(1-touching) {
		weight := -1e6 * max(size, 1)
		signs := make([]float64, d)
		for j, v := range best.Theta {
			signs[j] = math.Copysign(weight, -v)
			clear(row)
			switch {
			case class.Norm == linprog.LInf && math.Abs(v) >= class.R*(1-touching):
				row[j] = signs[j]
				rows = append(rows, row...)
			case class.Norm == linprog.L1 && math.Abs(v) <= touching && class.R == 1: // θ_j ≥ 0 on the simplex
				row[j] = -weight
				rows = append(rows, row...)
			case class.Norm == linprog.L1 && math.Abs(v) <= touching:
				return nil, fmt.Errorf("theory: θ* = %v has a zero entry and ‖θ*‖₁ = R = %v, want R = 1", best.Theta, class.R)
			}
		}
		switch class.Norm {
		case linprog.L2:
			rows = append(rows, floats.ScaleTo(row, weight/class.R, best.Theta)...)
		case linprog.L1:
			rows = append(rows, signs...)
		}
	}
	if len(rows) == 0 {
		return lambda, nil
	}
	a := mat.NewDense(len(rows)/d, d, rows)
	y := leastDual(a, p.BaseCosts())
	for k, i := range pairs {
		lambda[i] = max(0, floats.Dot(a.RawRowView(k), y))
	}
	if math.IsInf(class.R, 1) { // MinLinear of an unbounded class is −∞ unless all entries of the gradient are equal
		class = mixpolicy.Ball(2 * floats.Norm(best.Theta, 2))
	}
	p.GradTheta(row, lambda)
	lo, size := class.MinLinear(row), floats.Norm(p.BaseCosts(), math.Inf(1))
	if !(best.Objective-lo <= 1e-8*(math.Abs(lo)+size)) {
		return nil, errors.New("theory: because of rounding, the computed multipliers of least norm are not optimal")
	}
	return lambda, nil
}

// leastDual returns argmax bᵀy − ½‖[Ay]₊‖² over 1ᵀy = 0, by Newton's method, whose first step leads to the maximum
// of bᵀy − ½‖Ay‖². leastDual replaces each row of A by the row minus its mean, which does not change Ay.
func leastDual(a *mat.Dense, b []float64) []float64 {
	n, d := a.Dims()
	b, rounded := slices.Clone(b), 1e-15*floats.Norm(b, 2)
	floats.AddConst(-floats.Sum(b)/float64(d), b)
	rounded = max(rounded, 1e-11*floats.Norm(b, 2)) // nearly equal costs lose digits here
	for i := range n {
		row := a.RawRowView(i)
		floats.AddConst(-floats.Sum(row)/float64(d), row)
	}
	y := make([]float64, d)
	value := func(y []float64) float64 {
		v := floats.Dot(b, y)
		for i := range n {
			s := max(0, floats.Dot(a.RawRowView(i), y))
			v -= s * s / 2
		}
		return v
	}
	for first := true; ; first = false {
		part, gradient := mat.NewDense(n, d, nil), slices.Clone(b) // at first all rows, then the rows with Ay > 0
		for i := range n {
			r := a.RawRowView(i)
			if s := floats.Dot(r, y); first || s > 0 {
				part.SetRow(i, r)
				floats.AddScaled(gradient, -max(s, 0), r)
			}
		}
		var svd mat.SVD
		if !svd.Factorize(part, mat.SVDThin) {
			return y
		}
		var v mat.Dense
		svd.VTo(&v)
		step, least := make([]float64, d), 1e-13*mat.Norm(part, 2)
		for k, sigma := range svd.Values(nil) {
			column := mat.Col(nil, k, &v)
			slope := floats.Dot(column, gradient)
			if sigma > least || math.Abs(slope) > rounded {
				sigma = max(sigma, least)
				floats.AddScaled(step, slope/(sigma*sigma), column)
			}
		}
		t, old, next := 1.0, value(y), make([]float64, d)
		for ; t > 1e-30 && !(value(floats.AddScaledTo(next, y, t, step)) > old); t /= 2 {
		}
		if t <= 1e-30 {
			return y
		}
		y = next
	}
}
