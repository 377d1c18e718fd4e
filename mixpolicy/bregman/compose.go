package bregman

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Compose returns the modulus (φ∘A)(x) = φ(Ax), where A is an invertible d × d matrix. The domain of φ∘A is {x :
// Ax ∈ C}, where C is the domain of φ. If φ is a Legendre function, φ∘A is a Legendre function, with
//
//	∇(φ∘A)(x) = Aᵀ∇φ(Ax),   D(x; y) = D_φ(Ax; Ay),
//	(φ∘A)*(y) = φ*(A⁻ᵀy),   ∇(φ∘A)*(y) = A⁻¹∇φ*(A⁻ᵀy).
//
// If φ is μ-strongly convex in ℓ₂ on all of C, then φ∘A is μσ²-strongly convex in ℓ₂, where σ is the least singular
// value of A. The returned modulus claims the constant μσ² whenever φ claims a constant μ in ℓ₂. Compose does not check
// that φ is μ-strongly convex on all of C. If φ claims a constant in another norm, or none, the returned modulus claims
// none. For the moduli of [Gallery], the claims in ℓ₂ hold on all of C.
//
// Compose copies A. The Validate method of the returned modulus returns an error if A is not square, if the condition
// number σ_max/σ of A is 10¹² or more, or if φ is invalid. Rounding moves Ax by about 2⁻⁵³‖A‖‖x‖. If this distance is
// greater than the distance of Ax from the boundary of C, ∇φ(Ax) can be entirely wrong. For d > 64, Gradient and
// ConjugateGradient allocate memory.
//
//	shear := mat.NewDense(2, 2, []float64{1, 1, 0, 1})
//	m := bregman.Compose(bregman.Ball{R: 2}, shear) // −√(4 − (x₁+x₂)² − x₂²)
func Compose(m Modulus, a mat.Matrix) Modulus {
	var svd mat.SVD
	rows, d := a.Dims()
	c := composed{of: m, a: mat.DenseCopyOf(a), inverse: new(mat.Dense)}
	if svd.Factorize(a, mat.SVDNone); rows != d || !(svd.Cond() < 1e12) {
		c.err = fmt.Errorf("bregman: %v, with an A of %d × %d and condition number %.3g: want a square A of condition number below 1e12",
			c, rows, d, svd.Cond())
		return c
	}
	c.err, c.adjoint = c.inverse.Inverse(a), mat.DenseCopyOf(a.T())
	c.inverseAdjoint, c.most = mat.DenseCopyOf(c.inverse.T()), math.MaxFloat64/float64(d)/max(1, maxAbs(c.inverse.RawMatrix().Data))
	if mu, p, _ := StrongConvexity(m); p == 2 {
		c.mu = mu * math.Pow(svd.Values(nil)[d-1], 2)
	}
	return c
}

type composed struct {
	of                                  Modulus
	a, adjoint, inverse, inverseAdjoint *mat.Dense
	most, mu                            float64 // if every |uᵢ| ≤ most, A⁻¹u does not overflow; mu is the μσ² that φ∘A claims in ℓ₂
	err                                 error
}

// times stores in dst the product of b and x, with the entries of x clipped to [−most, most], and returns dst.
func times(dst []float64, b *mat.Dense, x []float64, most float64) []float64 {
	checkLen(dst, b.RawRowView(0))
	w := append(make([]float64, 0, 64), x...) // no allocation up to d = 64
	for i, v := range w {
		w[i] = max(-most, min(most, v))
	}
	for i := range dst {
		dst[i] = sum.Dot(b.RawRowView(i), w)
	}
	return dst
}

// image returns Ax in a new slice.
func (c composed) image(x []float64) []float64 {
	return times(make([]float64, len(x)), c.a, x, math.Inf(1))
}

func (c composed) Value(x []float64) float64        { return c.of.Value(c.image(x)) }
func (c composed) InDomain(x []float64) bool        { return c.of.InDomain(c.image(x)) }
func (c composed) StrongConvexity() (mu, p float64) { return c.mu, 2 }
func (c composed) Validate() error                  { return cmp.Or(c.err, validate(c.of)) }
func (c composed) String() string                   { return fmt.Sprintf("(%s) ∘ A", nameOf(c.of)) }

func (c composed) Gradient(dst, x []float64) {
	c.of.Gradient(dst, times(dst, c.a, x, math.Inf(1)))
	times(dst, c.adjoint, dst, math.Inf(1))
}

func (c composed) ConjugateGradient(dst, y []float64) {
	c.of.ConjugateGradient(dst, times(dst, c.inverseAdjoint, y, c.most))
	times(dst, c.inverse, dst, c.most)
}
