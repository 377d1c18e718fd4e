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

// Multipliers returns the λ* of (2.18) with the least ‖λ*‖₂, one entry a pair, in units of cost. Others may
// be optimal too: equal rows of Ψ share their multipliers in any way, and a row of 0 takes any. But the
// least norm is a number of the problem. It is the least radius G for which the minimum of the Lagrangian's
// maximum over ‖λ‖₂ ≤ G, cᵀΨθ + G‖[Ψθ]₋‖₂, is the optimum cᵀΨθ*:
//
//	‖λ*‖₂ = max (cᵀΨθ* − cᵀΨθ)/‖[Ψθ]₋‖₂   over θ ∈ Θ_R ∩ Θ₂ with Ψθ ⋡ 0 .
//
// With b = Ψᵀc, the rows A of Ψ at which (Ψθ*)_i = 0, and the outward normals g of the ball at θ*, λ ⪰ 0 is
// optimal if b = Aᵀλ + μ1 − Σνg for some μ and ν ≥ 0. The dual of min ½‖λ‖₂² is
//
//	max bᵀy − ½‖[Ay]₊‖₂²   over 1ᵀy = 0, gᵀy ≥ 0 ,      λ = [Ay]₊ .
//
// Newton's method solves it in ℝᵈ. A normal is a row of A, of 10⁶ times the size of others: so ‖λ‖₂ is right
// to 10⁻¹². Errors: those of [mixpolicy.Problem.Optimum], a θ* with more than 12 entries of 0 where ‖θ*‖₁ = R, and a λ
// that rounding keeps from being optimal.
func Multipliers(p *mixpolicy.Problem) ([]float64, error) {
	best, err := p.Optimum(context.Background())
	if err != nil {
		return nil, err
	}
	f, class, d := p.Features(), p.Class(), p.Dim()
	lambda, row := make([]float64, p.MDP().Pairs()), make([]float64, d)
	const touching = 1e-11
	var pairs []int
	var rows []float64
	size := 0.0
	for i := range lambda {
		f.Row(row, i)
		length := floats.Norm(row, 2)
		if length > 0 && floats.Dot(row, best.Theta) <= touching*length*floats.Norm(best.Theta, 2) {
			pairs, rows, size = append(pairs, i), append(rows, row...), max(size, length)
		}
	}
	if class.Size(best.Theta) >= class.R*(1-touching) {
		weight := -1e6 * max(size, 1)
		switch class.Norm {
		case linprog.L2:
			rows = append(rows, floats.ScaleTo(row, weight/class.R, best.Theta)...)
		case linprog.LInf:
			for j, v := range best.Theta {
				if math.Abs(v) >= class.R*(1-touching) {
					clear(row)
					row[j] = math.Copysign(weight, -v)
					rows = append(rows, row...)
				}
			}
		case linprog.L1: // a sign for each entry, either one of 0
			normals := [][]float64{make([]float64, d)}
			for j, v := range best.Theta {
				for _, g := range normals {
					g[j] = math.Copysign(weight, -v)
					if math.Abs(v) <= touching {
						other := slices.Clone(g)
						other[j] = -g[j]
						normals = append(normals, other)
					}
				}
				if len(normals) > 1<<12 {
					return nil, fmt.Errorf("theory: θ* on the sphere of ‖·‖₁ has more than 12 entries of 0, and too many normals: %v", best.Theta)
				}
			}
			rows = append(rows, slices.Concat(normals...)...)
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
	if math.IsInf(class.R, 1) { // whose bound is −∞ for a gradient that is not 0
		class = mixpolicy.Ball(2 * floats.Norm(best.Theta, 2))
	}
	p.GradTheta(row, lambda)
	if lo := class.MinLinear(row); !(best.Objective-lo <= 1e-8*(math.Abs(lo)+floats.Norm(p.BaseCosts(), math.Inf(1)))) {
		return nil, errors.New("theory: rounding keeps the least multipliers from being optimal")
	}
	return lambda, nil
}

// leastDual returns argmax bᵀy − ½‖[Ay]₊‖² over 1ᵀy = 0, by Newton's method from the maximum with all rows.
func leastDual(a *mat.Dense, b []float64) []float64 {
	n, d := a.Dims()
	y, step, gradient := make([]float64, d), make([]float64, d), make([]float64, d)
	active := make([]bool, n) // the rows that count
	value := func(y []float64) float64 {
		v := floats.Dot(b, y)
		for i := range n {
			if s := floats.Dot(a.RawRowView(i), y); s > 0 {
				v -= s * s / 2
			}
		}
		return v
	}
	for first := true; ; first = false {
		part, weights := mat.NewDense(n, d, nil), 0.0 // the active rows along 1ᵀy = 0
		copy(gradient, b)
		for i := range n {
			r := a.RawRowView(i)
			s := floats.Dot(r, y)
			if active[i] = first || s > 0; active[i] {
				part.SetRow(i, r)
				floats.AddConst(-floats.Sum(r)/float64(d), part.RawRowView(i))
				floats.AddScaled(gradient, -max(s, 0), r)
				weights += floats.Dot(r, r)
			}
		}
		floats.AddConst(-floats.Sum(gradient)/float64(d), gradient)
		var svd mat.SVD
		if !svd.Factorize(part, mat.SVDThin) {
			return y
		}
		var v mat.Dense
		svd.VTo(&v)
		clear(step)
		for k, sigma := range svd.Values(nil) {
			column := mat.Col(nil, k, &v)
			floats.AddConst(-floats.Sum(column)/float64(d), column)
			slope, least := floats.Dot(column, gradient), 1e-13*math.Sqrt(weights)
			if sigma > least || math.Abs(slope) > 1e-11*floats.Norm(b, 2) { // else it is rounding
				sigma = max(sigma, least)
				floats.AddScaled(step, slope/(sigma*sigma), column)
			}
		}
		old, next := value(y), make([]float64, d)
		t := 1.0
		for ; t > 1e-30 && !(value(floats.AddScaledTo(next, y, t, step)) > old); t /= 2 {
		}
		if t <= 1e-30 {
			return y
		}
		y = next
	}
}
