package linprog

import (
	"math"
	"math/big"
)

// The oracle solves (2.18) for small d and small integer data by looking at every
// candidate for a solution, in exact rational arithmetic as far as possible. It
// shares no code and no idea with the solver.
//
// A solution, if there is one, is attained at a point that is fixed by the cuts it
// meets: a vertex of the polyhedron, or, with the ℓ₂ ball, a point where an affine
// subspace {aₖᵀx = rhsₖ} meets the sphere in the direction of −b.

type ratCut struct {
	a   []*big.Rat
	rhs *big.Rat
}

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

func dotRat(a, b []*big.Rat) *big.Rat {
	s := new(big.Rat)
	for j := range a {
		s.Add(s, new(big.Rat).Mul(a[j], b[j]))
	}
	return s
}

func toRat(x []float64) []*big.Rat {
	y := make([]*big.Rat, len(x))
	for j, v := range x {
		y[j] = rat(v)
	}
	return y
}

// solveRat solves the square system m·x = rhs, with several right sides; ok is false
// if it is singular.
func solveRat(m, rhs [][]*big.Rat) (ok bool) {
	n := len(m)
	for c := range n {
		p := -1
		for r := c; r < n; r++ {
			if m[r][c].Sign() != 0 {
				p = r
				break
			}
		}
		if p < 0 {
			return false
		}
		m[c], m[p] = m[p], m[c]
		rhs[c], rhs[p] = rhs[p], rhs[c]
		inv := new(big.Rat).Inv(m[c][c])
		for r := range n {
			if r == c || m[r][c].Sign() == 0 {
				continue
			}
			f := new(big.Rat).Mul(m[r][c], inv)
			for k := c; k < n; k++ {
				m[r][k] = new(big.Rat).Sub(m[r][k], new(big.Rat).Mul(f, m[c][k]))
			}
			for k := range rhs[r] {
				rhs[r][k] = new(big.Rat).Sub(rhs[r][k], new(big.Rat).Mul(f, rhs[c][k]))
			}
		}
	}
	for c := range n { // m is diagonal now
		for k := range rhs[c] {
			rhs[c][k] = new(big.Rat).Quo(rhs[c][k], m[c][c])
		}
	}
	return true
}

// affineHull returns the point of least norm of {aₖᵀx = rhsₖ} and the part of −b along it.
func affineHull(cuts []ratCut, b []*big.Rat) (x0, v []*big.Rat, ok bool) {
	k := len(cuts)
	gram, rhs := make([][]*big.Rat, k), make([][]*big.Rat, k)
	for i := range cuts {
		for j := range cuts {
			gram[i] = append(gram[i], dotRat(cuts[i].a, cuts[j].a))
		}
		rhs[i] = []*big.Rat{cuts[i].rhs, dotRat(cuts[i].a, b)}
	}
	if !solveRat(gram, rhs) {
		return nil, nil, false
	}
	for j := range b {
		x, w := new(big.Rat), new(big.Rat).Neg(b[j])
		for i := range cuts {
			x.Add(x, new(big.Rat).Mul(rhs[i][0], cuts[i].a[j]))
			w.Add(w, new(big.Rat).Mul(rhs[i][1], cuts[i].a[j]))
		}
		x0, v = append(x0, x), append(v, w)
	}
	return x0, v, true
}

// enumerate returns the optimum of bᵀx over the cuts and 1ᵀx = 1, which must be a
// bounded set for radius = +∞; else also over ‖x‖₂ ≤ radius.
func enumerate(b []float64, cuts []ratCut, radius float64) (best float64, feasible bool) {
	d := len(b)
	br := toRat(b)
	one := ratCut{rhs: rat(1)}
	for range d {
		one.a = append(one.a, rat(1))
	}
	best = math.Inf(1)
	consider := func(set []ratCut) {
		x0, v, ok := affineHull(set, br)
		if !ok {
			return
		}
		slopeSq, _ := dotRat(v, v).Float64()
		normSq, _ := dotRat(x0, x0).Float64()
		meets := func(x []*big.Rat, slack *big.Rat) bool {
			for _, c := range cuts {
				if new(big.Rat).Add(dotRat(c.a, x), slack).Cmp(c.rhs) < 0 {
					return false
				}
			}
			return true
		}
		if math.IsInf(radius, 1) {
			if len(set) == d && meets(x0, new(big.Rat)) {
				f, _ := dotRat(br, x0).Float64()
				best, feasible = min(best, f), true
			}
			return
		}
		if normSq > radius*radius*(1+1e-14) {
			return
		}
		// x0 itself is feasible in the ball, if it meets the cuts. If v = 0 it is as
		// good as any point of this subspace.
		if meets(x0, new(big.Rat)) {
			f, _ := dotRat(br, x0).Float64()
			best, feasible = min(best, f), true
		}
		if slopeSq > 0 {
			t := rat(math.Sqrt(max(0, radius*radius-normSq) / slopeSq))
			x := make([]*big.Rat, d)
			for j := range x {
				x[j] = new(big.Rat).Add(x0[j], new(big.Rat).Mul(t, v[j]))
			}
			if meets(x, rat(1e-12)) { // t is rounded
				f, _ := dotRat(br, x).Float64()
				best, feasible = min(best, f), true
			}
		}
	}
	var visit func(from int, set []ratCut)
	visit = func(from int, set []ratCut) {
		consider(set)
		if len(set) == d {
			return
		}
		for i := from; i < len(cuts); i++ {
			visit(i+1, append(set[:len(set):len(set)], cuts[i]))
		}
	}
	visit(0, []ratCut{one})
	return best, feasible
}

type verdict string

const (
	isSolved     verdict = "solved"
	isInfeasible verdict = "infeasible"
	isUnbounded  verdict = "unbounded"
)

// oracle solves p for small integer Ψ.
func oracle(p Mixture) (verdict, float64) {
	n, d := p.Psi.Dims()
	var cuts []ratCut
	row := make([]float64, d)
	for i := range n {
		p.Psi.Row(row, i)
		if L1.Of(row) > 0 {
			cuts = append(cuts, ratCut{toRat(row), rat(0)})
		}
	}
	box := func(r float64) []ratCut {
		out := cuts[:len(cuts):len(cuts)]
		for j := range d {
			for _, s := range []float64{1, -1} {
				e := make([]float64, d)
				e[j] = s
				out = append(out, ratCut{toRat(e), rat(-r)})
			}
		}
		return out
	}
	answer := func(f float64, feasible bool) (verdict, float64) {
		if !feasible {
			return isInfeasible, 0
		}
		return isSolved, f
	}
	switch {
	case math.IsInf(p.R, 1):
		// With integers of size 3 and d ≤ 4 no vertex is beyond 4!·3⁴ in size. A box far
		// outside that makes the set bounded; if its size matters, the problem is not.
		f, feasible := enumerate(p.B, box(1e5), math.Inf(1))
		g, _ := enumerate(p.B, box(1e6), math.Inf(1))
		if feasible && f != g {
			return isUnbounded, 0
		}
		return answer(f, feasible)
	case p.Norm == L2:
		return answer(enumerate(p.B, cuts, p.R))
	case p.Norm == LInf:
		return answer(enumerate(p.B, box(p.R), math.Inf(1)))
	default: // all 2ᵈ facets
		for signs := range 1 << d {
			s := make([]float64, d)
			for j := range s {
				s[j] = float64(signs>>j&1)*2 - 1
			}
			cuts = append(cuts, ratCut{toRat(s), rat(-p.R)})
		}
		return answer(enumerate(p.B, cuts, math.Inf(1)))
	}
}
