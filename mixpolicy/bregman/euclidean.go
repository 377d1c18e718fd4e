package bregman

import (
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Euclidean returns φ(x) = ½‖x‖² on all of ℝᵈ, with φ* = φ, so primal and dual coordinates are the same. Mirror descent
// with φ is gradient descent with the orthogonal projection onto the hyperplane 1ᵀθ = 1. The projection adds
// z = (1 − 1ᵀy)/d to each coordinate of y. φ is 1-strongly convex in ℓ₂. The domain has no boundary, so this modulus
// does not bound ‖θ‖. A bounded class Θ_R needs another modulus.
//
//	m, y := bregman.Euclidean(), []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (2.3333, 0.3333, −1.6667)
func Euclidean() Modulus {
	return euclidean{Separable{Kernel: square{}, Name: "Euclidean", Mu: 1, P: 2}}
}

type euclidean struct{ Separable }

// ConjugateGradient copies y, because ∇φ* is the identity.
func (euclidean) ConjugateGradient(dst, y []float64) { checkLen(dst, y); copy(dst, y) }

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
