package bregman

import (
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Burg is Burg's entropy φ(x) = −Σᵢ log xᵢ on the orthant x > 0, with ∇φ = −1/x,
// φ*(y) = −d − Σᵢ log(−yᵢ) for y < 0 and ∇φ*(y) = −1/y. Its divergence is that of Itakura and
// Saito. On the hyperplane 1ᵀθ = 1 it is the log barrier of the simplex: it keeps off the
// boundary harder than [NegativeEntropy], θᵢ falling as 1/|yᵢ| and not as exp yᵢ.
//
// It is 2-strongly convex in ℓ₁ on the simplex: for Σe = 0, Hölder's inequality gives
// Σ eᵢ²/xᵢ² ≥ (Σ |eᵢ|^{2/3})³ ≥ (2(‖e‖₁/2)^{2/3})³ = 2‖e‖₁², with equality for two coordinates.
//
// Source: Burg (1975); as a Bregman function Bauschke and Borwein (1997).
//
//	m, y := bregman.Burg{}, []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (0.5623, 0.2647, 0.1731)
type Burg struct{}

var (
	_ Modulus        = Burg{}
	_ Conjugator     = Burg{}
	_ Divergencer    = Burg{}
	_ StrongConvexer = Burg{}
	_ Coordinatewise = Burg{}
	_ KernelCurver   = Burg{}
)

// Value returns −Σᵢ log xᵢ.
func (Burg) Value(x []float64) float64 {
	var acc sum.Accumulator
	for _, v := range x {
		if !(v > 0) {
			return math.Inf(1)
		}
		acc.Add(-math.Log(v))
	}
	return acc.Value()
}

// Gradient stores −1/xᵢ in dst.
func (Burg) Gradient(dst, x []float64) {
	checkLen(dst, x)
	for i, v := range x {
		dst[i] = -1 / v
	}
}

// ConjugateGradient stores −1/yᵢ in dst, +∞ where yᵢ ≥ 0.
func (Burg) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	for i, v := range y {
		if v < 0 {
			dst[i] = -1 / v
		} else {
			dst[i] = math.Inf(1)
		}
	}
}

// InDomain reports whether all xᵢ are positive and finite.
func (Burg) InDomain(x []float64) bool { return inInterval(x, 0, math.Inf(1)) }

// Conjugate returns −d − Σᵢ log(−yᵢ), +∞ unless y < 0.
func (Burg) Conjugate(y []float64) float64 {
	var acc sum.Accumulator
	for _, v := range y {
		if !(v < 0) {
			return math.Inf(1)
		}
		acc.Add(-1)
		acc.Add(-math.Log(-v))
	}
	return acc.Value()
}

// Divergence returns the Itakura–Saito divergence Σᵢ xᵢ/yᵢ − log(xᵢ/yᵢ) − 1.
func (Burg) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	var acc sum.Accumulator
	for i, v := range x {
		if !(v > 0 && y[i] > 0) {
			return math.Inf(1)
		}
		acc.Add(relativeEntropy(y[i], v, y[i]-v) / y[i])
	}
	return acc.Value()
}

// StrongConvexity returns 2 in ℓ₁, valid on the simplex.
func (Burg) StrongConvexity() (mu float64, norm Norm) { return 2, 1 }

// Deriv returns −1/x.
func (Burg) Deriv(x float64) float64 { return -1 / x }

// ConjDeriv returns −1/y, +∞ for y ≥ 0.
func (Burg) ConjDeriv(y float64) float64 {
	if y < 0 {
		return -1 / y
	}
	return math.Inf(1)
}

// ConjCurvature returns 1/y².
func (Burg) ConjCurvature(y float64) float64 {
	if y < 0 {
		return 1 / y / y
	}
	return math.Inf(1)
}

// Domain returns (0, ∞).
func (Burg) Domain() (lo, hi float64) { return 0, math.Inf(1) }

// String names the modulus.
func (Burg) String() string { return "Burg entropy" }
