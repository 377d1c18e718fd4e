package bregman

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Affine is φ(Ax + b) for an invertible matrix A: the domain of φ in other coordinates, such
// as an ellipsoid made of a ball. Its maps are
//
//	∇ = Aᵀ∇φ(Ax + b),   ∇* = A⁻¹(∇φ*(A⁻ᵀy) − b).
//
//	ellipse := mat.NewDense(2, 2, []float64{1, 0, 0, 3}) // ‖(θ₁, 3θ₂)‖ < 2
//	m, err := bregman.NewAffine(bregman.Ball{R: 2}, ellipse, []float64{0, 0})
type Affine struct {
	m      Modulus
	a      blas64.General
	lu     blas64.General
	pivots []int
	b      []float64
	pool   *sync.Pool
}

var (
	_ Modulus     = (*Affine)(nil)
	_ Conjugator  = (*Affine)(nil)
	_ Divergencer = (*Affine)(nil)
	_ Validator   = (*Affine)(nil)
)

// NewAffine returns φ(Ax + b). It returns an error if A is not square, or singular to working
// precision.
func NewAffine(m Modulus, a mat.Matrix, b []float64) (*Affine, error) {
	r, c := a.Dims()
	if r != c || len(b) != r {
		return nil, fmt.Errorf("bregman: change of variables by a %d×%d matrix and a shift of %d entries: want square", r, c, len(b))
	}
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDNone) {
		return nil, fmt.Errorf("bregman: change of variables: the singular values of A don't converge")
	}
	values := svd.Values(nil)
	if least := values[r-1]; !(least > ulp*float64(r)*values[0]) {
		return nil, fmt.Errorf("bregman: change of variables by a singular matrix: singular values %.3g to %.3g", values[0], least)
	}
	f := &Affine{
		m:      m,
		a:      mat.DenseCopyOf(a).RawMatrix(),
		lu:     mat.DenseCopyOf(a).RawMatrix(),
		pivots: make([]int, r),
		b:      append([]float64(nil), b...),
	}
	f.pool = &sync.Pool{New: func() any { v := make([]float64, r); return &v }}
	lapack64.Getrf(f.lu, f.pivots)
	return f, nil
}

// image stores Ax + b in a vector of the pool.
func (f *Affine) image(x []float64) *[]float64 {
	checkLen(x, f.b)
	u := f.pool.Get().(*[]float64)
	copy(*u, f.b)
	blas64.Gemv(blas.NoTrans, 1, f.a, vec(x), 1, vec(*u))
	return u
}

func vec(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

func (f *Affine) solve(t blas.Transpose, x []float64) {
	lapack64.Getrs(t, f.lu, blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}, f.pivots)
}

// Validate returns an error if φ does.
func (f *Affine) Validate() error { return validate(f.m) }

// Value returns φ(Ax + b).
func (f *Affine) Value(x []float64) float64 {
	u := f.image(x)
	defer f.pool.Put(u)
	return f.m.Value(*u)
}

// Gradient stores Aᵀ∇φ(Ax + b) in dst.
func (f *Affine) Gradient(dst, x []float64) {
	checkLen(dst, x)
	u := f.image(x)
	f.m.Gradient(*u, *u)
	blas64.Gemv(blas.Trans, 1, f.a, vec(*u), 0, vec(dst))
	f.pool.Put(u)
}

// ConjugateGradient stores A⁻¹(∇φ*(A⁻ᵀy) − b) in dst.
func (f *Affine) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	checkLen(y, f.b)
	copy(dst, y)
	f.solve(blas.Trans, dst)
	f.m.ConjugateGradient(dst, dst)
	for i, v := range f.b {
		dst[i] -= v
	}
	f.solve(blas.NoTrans, dst)
}

// InDomain reports whether Ax + b is in the domain of φ.
func (f *Affine) InDomain(x []float64) bool {
	u := f.image(x)
	defer f.pool.Put(u)
	return f.m.InDomain(*u)
}

// Conjugate returns φ*(A⁻ᵀy) − ⟨A⁻ᵀy, b⟩.
func (f *Affine) Conjugate(y []float64) float64 {
	checkLen(y, f.b)
	v := append([]float64(nil), y...)
	f.solve(blas.Trans, v)
	c := Conjugate(f.m, v)
	for i, b := range f.b {
		c -= b * v[i]
	}
	return c
}

// Divergence returns D(Ax + b; Ay + b).
func (f *Affine) Divergence(x, y []float64) float64 {
	u, v := f.image(x), f.image(y)
	defer f.pool.Put(u)
	defer f.pool.Put(v)
	return Divergence(f.m, *u, *v)
}

// String names φ.
func (f *Affine) String() string { return fmt.Sprintf("%v in other coordinates", f.m) }

// Restriction is ψ(u) = φ(o + Nu), a modulus φ restricted to the affine subspace through o
// spanned by the columns of N, in the coordinates u of that subspace:
//
//	∇ψ(u) = Nᵀ∇φ(o + Nu),   ∇ψ*(y) = argmax ⟨u, y⟩ − φ(o + Nu).
//
// The maximum is found by Newton's method with backtracking, of cost O(dk²+k³) a step for k
// columns. It works in primal coordinates: where y is so large that o + Nu comes within
// rounding of the boundary, ∇ψ(∇ψ*(y)) is no longer y.
//
//	line := mat.NewDense(2, 1, []float64{1, -1}) // (½ + u, ½ − u)
//	m, err := bregman.Restrict(bregman.NegativeEntropy{}, []float64{0.5, 0.5}, line)
type Restriction struct {
	m      Modulus
	curve  restrictable
	n      blas64.General // d×k
	origin []float64
	pool   *sync.Pool // of *restrictionState
}

var _ Modulus = (*Restriction)(nil)

// restrictable is what the Newton iteration needs to know of φ: φ″, as 1/(φ*)″(φ′).
type restrictable interface {
	Coordinatewise
	KernelCurver
}

type restrictionState struct{ x, grad, u, g, step, y, h []float64 }

// Restrict returns φ(o + Nu). φ must be separable with known second derivatives, o an interior
// point, and the columns of N independent; an error says which is not so.
func Restrict(m Modulus, origin []float64, n mat.Matrix) (*Restriction, error) {
	curve, ok := m.(restrictable)
	if !ok {
		return nil, fmt.Errorf("bregman: restriction of %v: want a separable modulus with second derivatives", m)
	}
	if err := CheckDomain(m, origin); err != nil {
		return nil, fmt.Errorf("bregman: restriction of %v: origin: %w", m, err)
	}
	d, k := n.Dims()
	if d != len(origin) {
		return nil, fmt.Errorf("bregman: restriction: %d×%d basis for an origin of %d coordinates", d, k, len(origin))
	}
	var svd mat.SVD
	if k > d || !svd.Factorize(n, mat.SVDNone) || !(svd.Values(nil)[k-1] > ulp*float64(d)*svd.Values(nil)[0]) {
		return nil, fmt.Errorf("bregman: restriction: the %d columns of the basis are not independent", k)
	}
	r := &Restriction{m: m, curve: curve, n: mat.DenseCopyOf(n).RawMatrix(), origin: append([]float64(nil), origin...)}
	r.pool = &sync.Pool{New: func() any {
		return &restrictionState{make([]float64, d), make([]float64, d), make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k*k)}
	}}
	return r, nil
}

func (r *Restriction) state() *restrictionState { return r.pool.Get().(*restrictionState) }

// Point stores the point o + Nu of the subspace in dst.
func (r *Restriction) Point(dst, u []float64) {
	checkLen(dst, r.origin)
	copy(dst, r.origin)
	blas64.Gemv(blas.NoTrans, 1, r.n, vec(u), 1, vec(dst))
}

// Value returns φ(o + Nu).
func (r *Restriction) Value(u []float64) float64 {
	st := r.state()
	defer r.pool.Put(st)
	r.Point(st.x, u)
	return r.m.Value(st.x)
}

// Gradient stores Nᵀ∇φ(o + Nu) in dst.
func (r *Restriction) Gradient(dst, u []float64) {
	checkLen(dst, u)
	st := r.state()
	r.Point(st.x, u)
	r.m.Gradient(st.x, st.x)
	blas64.Gemv(blas.Trans, 1, r.n, vec(st.x), 0, vec(dst))
	r.pool.Put(st)
}

// InDomain reports whether o + Nu is in the domain of φ.
func (r *Restriction) InDomain(u []float64) bool {
	st := r.state()
	defer r.pool.Put(st)
	r.Point(st.x, u)
	return r.m.InDomain(st.x)
}

// Divergence returns the divergence of φ between the points.
func (r *Restriction) Divergence(u, v []float64) float64 {
	x, y := make([]float64, len(r.origin)), make([]float64, len(r.origin))
	r.Point(x, u)
	r.Point(y, v)
	return Divergence(r.m, x, y)
}

// ConjugateGradient stores argmax ⟨u, y⟩ − φ(o + Nu) in dst, to the accuracy to which the
// gradient can be told from rounding.
func (r *Restriction) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	st := r.state()
	defer r.pool.Put(st)
	checkLen(y, st.u)
	copy(st.y, y) // dst may be y
	y = st.y
	k := r.n.Cols
	clear(st.u)
	best := r.evaluate(st, st.u, y)
	stalled := 0
	// Newton's method doubles the digits at each of its last steps, and backtracking halves
	// the way to a boundary: some 53 halvings for each face that a corner has.
	for range 100 * k {
		r.hessian(st)
		if !factor(st.h, k) {
			break
		}
		copy(st.step, st.g)
		solveFactored(st.h, st.step)
		// A full step, or as much of it as stays in the domain and does not turn the slope
		// along it by more than half beyond zero: the objective is concave, so its maximum
		// on the line is near.
		along := innerProduct(st.step, st.g)
		t, limited := 1.0, false
		for ; t > 0x1p-60; t /= 2 {
			for i, v := range st.u {
				dst[i] = v + t*st.step[i]
			}
			r.Point(st.x, dst)
			if !r.m.InDomain(st.x) {
				limited = true
				continue
			}
			r.evaluate(st, dst, y)
			if innerProduct(st.step, st.g) >= -along/2 {
				break
			}
		}
		residual := maxAbs(st.g)
		if t <= 0x1p-60 || residual-residual != 0 {
			break // the boundary, as near as coordinates can tell
		}
		moved := false
		for i, v := range st.u {
			moved = moved || math.Abs(dst[i]-v) > 2*ulp*math.Abs(v)
		}
		copy(st.u, dst)
		// Three steps, not shortened by the boundary, that have not halved the residual: what is
		// left is rounding.
		if residual < best/2 || limited {
			stalled = 0
		} else {
			stalled++
		}
		best = min(best, residual)
		if !moved || residual == 0 || stalled == 3 {
			break
		}
	}
	copy(dst, st.u)
}

// evaluate stores y − ∇ψ(u) in st.g, and ∇φ at the point in st.grad, and returns the largest
// entry of the former.
func (r *Restriction) evaluate(st *restrictionState, u, y []float64) float64 {
	r.Point(st.x, u)
	r.m.Gradient(st.grad, st.x)
	copy(st.g, y)
	blas64.Gemv(blas.Trans, -1, r.n, vec(st.grad), 1, vec(st.g))
	return maxAbs(st.g)
}

// hessian stores NᵀDN in st.h, D the second derivatives of φ at the point with gradient
// st.grad.
func (r *Restriction) hessian(st *restrictionState) {
	k := r.n.Cols
	clear(st.h)
	for i, g := range st.grad {
		c := math.Sqrt(r.curve.ConjCurvature(g))
		row := r.n.Data[i*r.n.Stride : i*r.n.Stride+k]
		for j, p := range row {
			for l := j; l < k; l++ {
				st.h[j*k+l] += (p / c) * (row[l] / c)
			}
		}
	}
}

func innerProduct(x, y []float64) float64 {
	var s float64
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// String names φ and the dimension.
func (r *Restriction) String() string {
	return fmt.Sprintf("%v on a subspace of dimension %d", r.m, r.n.Cols)
}
