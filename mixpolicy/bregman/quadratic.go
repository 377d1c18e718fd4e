package bregman

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Euclidean is φ(x) = ½‖x‖² = φ*(x) on all of ℝᵈ: mirror descent with it is gradient descent
// with the orthogonal projection onto Θ₂, z = (1 − 1ᵀy)/d. Primal and dual coordinates are
// the same. It is 1-strongly convex in ℓ₂. With no boundary it puts no limit on ‖θ‖: a policy
// class Θ_R needs another modulus.
//
//	m, y := bregman.Euclidean(), []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (2.3333, 0.3333, −1.6667)
func Euclidean() Modulus {
	return euclidean{Separable{Kernel: square{}, Name: "Euclidean", Mu: 1, P: 2}}
}

type euclidean struct{ Separable }

// Shift returns z = (1 − 1ᵀy)/d.
func (euclidean) Shift(y []float64) (float64, error) {
	var acc sum.Accumulator
	acc.Add(1)
	for _, v := range y {
		acc.Add(-v)
	}
	return acc.Value() / float64(len(y)), nil
}

type square struct{}

func (square) Value(x float64) float64         { return x * x / 2 }
func (square) Deriv(x float64) float64         { return x }
func (square) ConjDeriv(y float64) float64     { return y }
func (square) ConjCurvature(float64) float64   { return 1 }
func (square) Conjugate(y float64) float64     { return y * y / 2 }
func (square) Divergence(x, y float64) float64 { return (x - y) * (x - y) / 2 }
func (square) Domain() (lo, hi float64)        { return math.Inf(-1), math.Inf(1) }

// Mahalanobis is φ(x) = ½xᵀQx for a symmetric positive definite Q, with ∇φ = Qx,
// φ*(y) = ½yᵀQ⁻¹y and D(x; y) = ½(x−y)ᵀQ(x−y), half the squared distance of Mahalanobis (1936).
// With Q = ΨᵀΨ + εI distances between mixtures are distances between their measures, the
// geometry that Theorem 3.4 asks about. It is λ_min(Q)-strongly convex in ℓ₂.
//
//	m, err := bregman.NewMahalanobis(mat.NewSymDense(2, []float64{2, 1, 1, 3}))
//	m.ConjugateGradient(theta, y) // θ = Q⁻¹y
type Mahalanobis struct {
	u     blas64.Triangular // upper: Q = UᵀU
	least float64           // λ_min(Q)
	solve []float64         // Q⁻¹1
	ones  float64           // 1ᵀQ⁻¹1
}

var (
	_ Modulus        = (*Mahalanobis)(nil)
	_ Conjugator     = (*Mahalanobis)(nil)
	_ Shifter        = (*Mahalanobis)(nil)
	_ Divergencer    = (*Mahalanobis)(nil)
	_ StrongConvexer = (*Mahalanobis)(nil)
	_ Curver         = (*Mahalanobis)(nil)
)

// NewMahalanobis returns the modulus of Q. It returns an error if Q is not positive
// definite in floating point.
func NewMahalanobis(q mat.Symmetric) (*Mahalanobis, error) {
	d := q.SymmetricDim()
	var chol mat.Cholesky
	var eigen mat.EigenSym
	if !chol.Factorize(q) || !eigen.Factorize(q, false) {
		return nil, fmt.Errorf("bregman: the %d×%d matrix Q is not positive definite", d, d)
	}
	var u mat.TriDense
	chol.UTo(&u)
	m := &Mahalanobis{u: u.RawTriangular(), least: eigen.Values(nil)[0]}
	m.solve = make([]float64, d)
	for i := range m.solve {
		m.solve[i] = 1
	}
	m.ConjugateGradient(m.solve, m.solve)
	for _, v := range m.solve {
		m.ones += v
	}
	if !(m.least > 0) || m.ones-m.ones != 0 {
		return nil, fmt.Errorf("bregman: the %d×%d matrix Q is too near singular: λ_min = %g", d, d, m.least)
	}
	return m, nil
}

func (m *Mahalanobis) vector(x []float64) blas64.Vector {
	if len(x) != m.u.N {
		panic(fmt.Sprintf("bregman: vector of %d entries for a matrix of order %d", len(x), m.u.N))
	}
	return blas64.Vector{N: len(x), Inc: 1, Data: x}
}

// Value returns ½xᵀQx = ½‖Ux‖².
func (m *Mahalanobis) Value(x []float64) float64 {
	v := append([]float64(nil), x...)
	blas64.Trmv(blas.NoTrans, m.u, m.vector(v))
	return sumSquares(v, 0, 0, 1) / 2
}

// Gradient stores Qx in dst.
func (m *Mahalanobis) Gradient(dst, x []float64) {
	checkLen(dst, x)
	copy(dst, x)
	blas64.Trmv(blas.NoTrans, m.u, m.vector(dst))
	blas64.Trmv(blas.Trans, m.u, m.vector(dst))
}

// ConjugateGradient stores Q⁻¹y in dst.
func (m *Mahalanobis) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	copy(dst, y)
	blas64.Trsv(blas.Trans, m.u, m.vector(dst))
	blas64.Trsv(blas.NoTrans, m.u, m.vector(dst))
}

// InDomain reports whether x is finite.
func (m *Mahalanobis) InDomain(x []float64) bool { return firstNonFinite(x) < 0 }

// Conjugate returns ½yᵀQ⁻¹y = ½‖U⁻ᵀy‖².
func (m *Mahalanobis) Conjugate(y []float64) float64 {
	v := append([]float64(nil), y...)
	blas64.Trsv(blas.Trans, m.u, m.vector(v))
	return sumSquares(v, 0, 0, 1) / 2
}

// ConjugateCurvature returns 1ᵀQ⁻¹1.
func (m *Mahalanobis) ConjugateCurvature([]float64) float64 { return m.ones }

// Divergence returns ½(x−y)ᵀQ(x−y).
func (m *Mahalanobis) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	e := make([]float64, len(x))
	for i, v := range x {
		e[i] = v - y[i]
	}
	return m.Value(e)
}

// Shift returns z = (1 − yᵀQ⁻¹1)/(1ᵀQ⁻¹1).
func (m *Mahalanobis) Shift(y []float64) (float64, error) {
	var r double
	r.addProduct(1, 1)
	for i, v := range m.solve {
		r.addProduct(-v, y[i])
	}
	return r.value() / m.ones, nil
}

// StrongConvexity returns λ_min(Q) in ℓ₂.
func (m *Mahalanobis) StrongConvexity() (mu, p float64) { return m.least, 2 }

// String tells the order and the condition of Q.
func (m *Mahalanobis) String() string {
	return fmt.Sprintf("Mahalanobis, order %d, λ_min = %.3g", m.u.N, m.least)
}
