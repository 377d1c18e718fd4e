package linprog

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A cut is the constraint aᵀx ≥ rhs, or aᵀx = rhs for the hyperplane, with ‖a‖₂ = 1.
type cut struct {
	normal []float64 // a
	rhs    float64   // 0 for a row of Ψ
	row    int       // the row's index in Ψ, or the constant ball or hyperplane
	scale  float64   // the power of two by which a row of Ψ is divided first
	length float64   // the length ‖·‖₂ by which the scaled row is then divided
}

const (
	hyperplane = -1
	ball       = -2
)

// An activeSet is a set of cuts that hold as equations and have linearly independent normals a₁ … a_q, where a₁ is the
// normal of the hyperplane. The activeSet stores these normals in factored form:
//
//	[a₁ … a_q] = Qᵀ R,   rows of Q orthonormal, R upper triangular.
//
// The activeSet also stores the solution of the equality-constrained problem
//
//	min ½‖x + t b‖₂²   subject to   aₖᵀx = rhsₖ.
//
// The solution is affine in t, as are the multipliers in x + t b = Σ uₖ aₖ:
//
//	x(t) = x0 + t v,   u(t) = u0 + t u1.
//
// x0 is the point of least norm that satisfies the equations, so it lies in the span of the aₖ. v is the
// part of −b that is orthogonal to this span, and therefore to x0. After each step, x0 and v are
// recomputed from the factors, so that errors do not add up.
type activeSet struct {
	d         int
	objective []float64 // b in these formulas
	cuts      []*cut
	q         [][]float64 // q[k] is row k of Q, of length d
	r         [][]float64 // r[k] is column k of R, of length k+1
	x0, v     []float64
	u0, u1    []float64
	y, w      []float64 // x0 = Qᵀy; w = Qb
	h, z      []float64 // results of the last split of a cut's normal
	step      []float64 // scratch of path.enter

	still   bool // v = 0 to within rounding, so x(t) does not depend on t
	optimal bool // v = 0, and u1 ⪰ 0 except for the hyperplane, so b = Σ u1ₖ aₖ, and x0, if feasible, solves the LP
}

func newActiveSet(b, g []float64) *activeSet {
	d := len(b)
	// One block holds the vectors; the rows of Q and the columns of R are allocated on demand.
	block := make([]float64, 10*d)
	next := func() []float64 {
		v := block[:d:d]
		block = block[d:]
		return v
	}
	s := &activeSet{
		d: d, objective: b,
		x0: next(), v: next(), u0: next(), u1: next(), y: next(), w: next(),
		h: next(), z: next(), step: next(),
	}
	length := L2.Of(g)
	plane := &cut{normal: next(), row: hyperplane, rhs: 1 / length, scale: 1, length: length}
	floats.ScaleTo(plane.normal, plane.rhs, g)
	s.split(s.z, s.h, plane.normal)
	s.add(plane)
	s.solve()
	return s
}

// rounding bounds the rounding error of the inner product of a unit normal with a solution
// x of the factored equations, per unit of ‖x‖₂. The bound includes the errors of the product
// itself (d·2⁻⁵³), of x = Qᵀy (q·2⁻⁵³) and of the factors (a few times d·2⁻⁵³ each, for
// reorthogonalised Gram–Schmidt). Smaller differences mean nothing.
func (s *activeSet) rounding() float64 { return 8 * float64(s.d+4) * 0x1p-53 }

// split stores in z the part of the vector n that is orthogonal to the active normals, and
// in h the coordinates Qn of n. It returns ‖z‖₂. Two passes of Gram–Schmidt are enough
// (Daniel, Gragg, Kaufman and Stewart 1976).
func (s *activeSet) split(z, h, n []float64) float64 {
	copy(z, n)
	clear(h[:len(s.q)])
	for range 2 {
		for k, q := range s.q {
			c := floats.Dot(q, z)
			h[k] += c
			floats.AddScaled(z, -c, q)
		}
	}
	return math.Sqrt(floats.Dot(z, z))
}

// add appends the cut c. s.z and s.h must hold the results of split for the normal of c.
func (s *activeSet) add(c *cut) {
	k := len(s.cuts)
	s.q, s.r = slices.Grow(s.q, 1)[:k+1], slices.Grow(s.r, 1)[:k+1]
	if s.q[k] == nil { // rows of Q and columns of R that were dropped are used again
		s.q[k], s.r[k] = make([]float64, s.d), make([]float64, s.d)
	}
	norm := math.Sqrt(floats.Dot(s.z, s.z))
	floats.ScaleTo(s.q[k], 1/norm, s.z)
	s.r[k] = s.r[k][:k+1]
	copy(s.r[k], s.h[:k])
	s.r[k][k] = norm
	s.cuts = append(s.cuts, c)
}

// drop removes cut j: the columns of R after j move one place to the left, and rotations
// make R triangular again.
func (s *activeSet) drop(j int) {
	last := len(s.cuts) - 1
	gone := s.r[j]
	copy(s.r[j:], s.r[j+1:])
	s.r[last] = gone // to be used again
	for k := j; k < last; k++ {
		col := s.r[k] // of length k+2
		// c² + sn² = 1, c a + sn b = rho and c b − sn a = 0 for a = col[k] and b = col[k+1].
		c, sn, rho := 1.0, 0.0, math.Hypot(col[k], col[k+1])
		if rho != 0 {
			c, sn = col[k]/rho, col[k+1]/rho
		}
		s.r[k] = col[:k+1]
		s.r[k][k] = rho
		for _, col := range s.r[k+1 : last] {
			col[k], col[k+1] = c*col[k]+sn*col[k+1], c*col[k+1]-sn*col[k]
		}
		p, q := s.q[k], s.q[k+1]
		for i, a := range p {
			p[i], q[i] = c*a+sn*q[i], c*q[i]-sn*a
		}
	}
	s.cuts = slices.Delete(s.cuts, j, j+1)
	s.q, s.r = s.q[:last], s.r[:last]
}

// solve recomputes x0, v, u0, u1, still and optimal from the factors.
func (s *activeSet) solve() {
	// Solve Rᵀy = rhs by forward substitution.
	for k, c := range s.cuts {
		col := s.r[k]
		s.y[k] = (c.rhs - floats.Dot(col[:k], s.y[:k])) / col[k]
	}
	clear(s.x0)
	for k, q := range s.q {
		floats.AddScaled(s.x0, s.y[k], q)
	}
	s.split(s.v, s.w, s.objective)
	if len(s.q) == s.d {
		clear(s.v) // the normals span the space
	}
	floats.Scale(-1, s.v)
	q := len(s.q)
	copy(s.u0, s.y[:q])
	copy(s.u1, s.w[:q])
	s.backSubstitute(s.u0[:q])
	s.backSubstitute(s.u1[:q])

	slope := L2.Of(s.v)
	s.still = slope <= s.rounding()*(1+L1.Of(s.w[:q]))
	var miss, sum float64
	for k, u := range s.u1[:q] {
		sum += math.Abs(u)
		if k > 0 && u < 0 {
			miss -= u
		}
	}
	s.optimal = slope+miss <= s.rounding()*(1+sum)
}

// backSubstitute solves R u = y in place.
func (s *activeSet) backSubstitute(u []float64) {
	for k := len(u) - 1; k >= 0; k-- {
		u[k] /= s.r[k][k]
		floats.AddScaled(u[:k], -u[k], s.r[k][:k])
	}
}
