package bregman

import "math"

// Burg returns Burg's entropy φ(x) = −Σᵢ log xᵢ on the orthant x > 0, with ∇φ = −1/x, φ*(y) = −d − Σᵢ log(−yᵢ) for
// y < 0 and ∇φ*(y) = −1/y. Its divergence is the Itakura–Saito divergence, Σᵢ xᵢ/yᵢ − log(xᵢ/yᵢ) − 1. On the hyperplane
// 1ᵀθ = 1, φ is the log barrier of the simplex. Burg keeps the iterates θ = ∇φ*(y) further from the boundary than
// [NegativeEntropy] does: as yᵢ → −∞, θᵢ falls like 1/|yᵢ| with Burg, but like exp yᵢ with NegativeEntropy.
//
// φ is 2-strongly convex in ℓ₁ on the simplex: for a direction e with Σᵢ eᵢ = 0, Hölder's inequality gives
// eᵀ∇²φ(x)e = Σ eᵢ²/xᵢ² ≥ (Σ |eᵢ|^{2/3})³ ≥ (2(‖e‖₁/2)^{2/3})³ = 2‖e‖₁². For d = 2, equality holds at x = (½, ½).
//
// Source: Burg (1975). Bauschke and Borwein (1997) use φ as a Bregman function.
//
//	m, y := bregman.Burg(), []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (0.5623, 0.2647, 0.1731)
func Burg() Separable { return Separable{Kernel: burg{}, Name: "Burg entropy", Mu: 2, P: 1} }

type burg struct{}

func (burg) Value(x float64) float64 { return -math.Log(x) }
func (burg) Deriv(x float64) float64 { return -1 / x }

// For y ≥ 0, min(y, zero) is −0, and the formulas give +∞. For φ*, +∞ is the value. For (φ*)′,
// +∞ is the upper end of the domain, as [Kernel] requires.
func (burg) ConjDeriv(y float64) float64     { return -1 / min(y, zero) }
func (burg) ConjCurvature(y float64) float64 { return 1 / min(y, zero) / min(y, zero) }
func (burg) Conjugate(y float64) float64     { return -1 - math.Log(-min(y, zero)) }

var zero = math.Copysign(0, -1)

func (burg) Divergence(x, y float64) float64 { return relativeEntropy(y, x, y-x) / y }
func (burg) Domain() (lo, hi float64)        { return 0, math.Inf(1) }
