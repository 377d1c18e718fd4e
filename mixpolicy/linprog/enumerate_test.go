package linprog

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// smallProgram has up to four variables, entries of a few units and up to seven rows.
func smallProgram(rng *rand.Rand) Mixture {
	d := pick(rng, 1, 2, 2, 2, 3, 3, 3, 3, 4)
	low := pick(rng, -3, -1, 0)
	p := Mixture{
		B:    vector(d, func() float64 { return small(rng, -3, 3) }),
		Psi:  columns(rng.IntN(8), d, func(_, _ int) float64 { return small(rng, low, 3) }),
		Norm: anyNorm(rng),
		R:    pick(rng, 1.1, 1.7, 2.3, 5.3, math.Inf(1)),
	}
	if p.Norm == LInf {
		p.R -= .5 // the box may cut off an edge of the simplex
	}
	return p
}

// faces lists the constraints of a small program as half-spaces aᵀθ ≥ rhs: rows, and the facets of
// a polyhedral ball, or of the box of the given half side if there is no ball.
func faces(p Mixture, box float64) (normals [][]float64, rhs []float64) {
	n, d := p.Psi.Dims()
	add := func(a []float64, h float64) { normals, rhs = append(normals, a), append(rhs, h) }
	for i := range n {
		row := make([]float64, d)
		if p.Psi.Row(row, i); LInf.Of(row) > 0 {
			add(row, 0)
		}
	}
	norm, r := p.Norm, p.R
	if math.IsInf(r, 1) {
		norm, r = LInf, box
	}
	switch norm {
	case LInf:
		for j := range d {
			for _, s := range []float64{1, -1} {
				e := make([]float64, d)
				e[j] = s
				add(e, -r)
			}
		}
	case L1:
		for signs := range 1 << d {
			a := make([]float64, d)
			for j := range a {
				a[j] = float64(2*(signs>>j&1) - 1)
			}
			add(a, -r)
		}
	}
	return normals, rhs
}

// smallRounding is 2⁷ of condition, a normal's length of 6 at most over what is left of it when it
// does not depend on the others, 1/16 at least (flat looks at it), by 2⁶ operations, the 4dk of Gram
// and Schmidt twice, by 2⁻⁵³; per unit of the point's size.
const smallRounding = 0x1p-40

// flat is the affine hull {point + span(basis)} of some of the constraints as equations, where
// point is the nearest to 0, made by Gram and Schmidt. It has no point if they contradict each other.
func flat(d int, normals [][]float64, rhs []float64) (point []float64, q [][]float64) {
	point = make([]float64, d)
	for k, a := range normals {
		z, h := slices.Clone(a), rhs[k]
		for range 2 {
			for _, e := range q {
				floats.AddScaled(z, -floats.Dot(e, z), e)
			}
		}
		length := floats.Norm(z, 2)
		if length < smallRounding {
			if math.Abs(floats.Dot(a, point)-h) > smallRounding*(1+L2.Of(point)) {
				return nil, nil
			}
			continue
		}
		if length < 1./16 {
			panic("a small program of a condition that smallRounding does not allow for")
		}
		floats.Scale(1/length, z)
		floats.AddScaled(point, (h-floats.Dot(a, point))/floats.Dot(a, z), z)
		q = append(q, z)
	}
	return point, q
}

// enumerated solves a small program by its faces: the least bᵀθ of the candidates that are feasible,
// and of those the shortest. In each affine hull of faces a candidate is the point nearest to 0, with
// the value of bᵀθ free or the least, and for ℓ₂ the best point of the sphere.
func enumerated(p Mixture, box float64) (theta []float64) {
	d := len(p.B)
	normals, rhs := faces(p, box)
	sphere := p.Norm == L2 && !math.IsInf(p.R, 1)
	feasible := func(x []float64) bool {
		slack := smallRounding * (1 + L2.Of(x))
		for k, a := range normals {
			if floats.Dot(a, x) < rhs[k]-slack {
				return false
			}
		}
		return !sphere || floats.Norm(x, 2) <= p.R+slack
	}
	best := math.Inf(1)
	take := func(x []float64) {
		if x == nil || !feasible(x) {
			return
		}
		f, tie := floats.Dot(p.B, x), smallRounding*(1+L2.Of(x))
		if f < best-tie || f < best+tie && floats.Norm(x, 2) < floats.Norm(theta, 2) {
			best, theta = min(best, f), x
		}
	}
	each := func(visit func(a [][]float64, h []float64)) {
		var choose func(from int, a [][]float64, h []float64)
		choose = func(from int, a [][]float64, h []float64) {
			visit(a, h)
			for k := from; k < len(normals) && len(a) < d; k++ {
				choose(k+1, append(slices.Clip(a), normals[k]), append(slices.Clip(h), rhs[k]))
			}
		}
		choose(0, [][]float64{ones(d)}, []float64{1})
	}
	each(func(a [][]float64, h []float64) {
		x, q := flat(d, a, h)
		take(x)
		if x == nil || !sphere {
			return
		}
		v := slices.Clone(p.B)
		for _, e := range q {
			floats.AddScaled(v, -floats.Dot(e, v), e)
		}
		if room, slope := p.R*p.R-floats.Dot(x, x), floats.Norm(v, 2); room > 0 && slope > smallRounding {
			y := slices.Clone(x)
			floats.AddScaled(y, -math.Sqrt(room)/slope, v)
			take(y)
		}
	})
	if theta != nil { // among all of the least value
		least := best
		each(func(a [][]float64, h []float64) {
			x, _ := flat(d, append(slices.Clip(a), p.B), append(slices.Clip(h), least))
			take(x)
		})
	}
	return theta
}

// The answers to small programs are those of their faces one by one.
func TestSolveSmallPrograms(t *testing.T) {
	count := map[verdict]int{}
	for seed := range uint64(200) {
		p := smallProgram(rand.New(rand.NewPCG(seed, 3)))
		want, expected := isSolved, enumerated(p, 1<<12)
		if expected == nil {
			want = isInfeasible
		} else if math.IsInf(p.R, 1) {
			// The vertices are smaller than 1<<11, by Cramer's rule.
			if further := enumerated(p, 1<<13); floats.Dot(p.B, further) < floats.Dot(p.B, expected)-1 {
				want = isUnbounded
			}
		}
		count[want]++
		sol, err := p.Solve(background, Settings{})
		gap, bad := check(p, sol, err)
		if got := classify(err); got != want || bad != nil {
			t.Errorf("%d: %v, want %v: %v", seed, got, want, bad)
			continue
		}
		if want != isSolved {
			continue
		}
		// (R² and what is taken from it for a root differ by 1/5 or more, of 28: 2⁷ again.)
		tol := smallRounding * (1 + L2.Of(expected))
		if floats.Distance(sol.Theta, expected, 2) > tol || math.Abs(sol.Objective-floats.Dot(p.B, expected)) > tol {
			t.Errorf("%d: θ = %v, want %v: %+v", seed, sol.Theta, expected, p)
		}
		if gap > gapOf(p.program(), sol) {
			t.Errorf("%d: gap %v", seed, gap)
		}
		for _, m := range sol.Rows {
			row := make([]float64, len(p.B))
			if p.Psi.Row(row, m.Row); math.Abs(floats.Dot(row, sol.Theta)) > tol {
				t.Errorf("%d: multiplier of row %d, which is not active", seed, m.Row)
			}
		}
	}
	if len(count) != 3 {
		t.Error(count)
	}
}
