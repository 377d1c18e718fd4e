package bregman

import "github.com/mixpolicy/lab/mixpolicy/internal/sum"

// Euclidean is φ(x) = ½‖x‖² = φ*(x) on all of ℝᵈ: mirror descent with it is gradient descent
// with the orthogonal projection onto Θ₂. Primal and dual coordinates are the same.
// It is 1-strongly convex in ℓ₂. With no boundary it puts no limit on ‖θ‖: a policy
// class Θ_R needs another modulus.
//
//	m, y := bregman.Euclidean{}, []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (2.3333, 0.3333, −1.6667)
type Euclidean struct{}

var (
	_ Modulus        = Euclidean{}
	_ Conjugator     = Euclidean{}
	_ Shifter        = Euclidean{}
	_ Divergencer    = Euclidean{}
	_ StrongConvexer = Euclidean{}
	_ Coordinatewise = Euclidean{}
	_ KernelCurver   = Euclidean{}
)

// Value returns ½‖x‖².
func (Euclidean) Value(x []float64) float64 { return sum.Dot(x, x) / 2 }

// Gradient copies x to dst.
func (Euclidean) Gradient(dst, x []float64) { checkLen(dst, x); copy(dst, x) }

// ConjugateGradient copies y to dst.
func (Euclidean) ConjugateGradient(dst, y []float64) { checkLen(dst, y); copy(dst, y) }

// InDomain reports whether x is finite.
func (Euclidean) InDomain(x []float64) bool { return firstNonFinite(x) < 0 }

// Conjugate returns ½‖y‖².
func (Euclidean) Conjugate(y []float64) float64 { return sum.Dot(y, y) / 2 }

// Divergence returns ½‖x − y‖².
func (Euclidean) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	var acc sum.Accumulator
	for i, v := range x {
		acc.Add((v - y[i]) * (v - y[i]))
	}
	return acc.Value() / 2
}

// Shift returns z = (1 − 1ᵀy)/d.
func (Euclidean) Shift(y []float64) (float64, error) {
	var acc sum.Accumulator
	acc.Add(1)
	for _, v := range y {
		acc.Add(-v)
	}
	return acc.Value() / float64(len(y)), nil
}

// StrongConvexity returns 1 in ℓ₂.
func (Euclidean) StrongConvexity() (mu float64, norm Norm) { return 1, 2 }

// Deriv returns x.
func (Euclidean) Deriv(x float64) float64 { return x }

// ConjDeriv returns y.
func (Euclidean) ConjDeriv(y float64) float64 { return y }

// ConjCurvature returns 1.
func (Euclidean) ConjCurvature(float64) float64 { return 1 }

// Domain returns ℝ.
func (Euclidean) Domain() (lo, hi float64) { return realLine() }

// String names the modulus.
func (Euclidean) String() string { return "Euclidean" }
