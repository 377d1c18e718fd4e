package bregman

import (
	"fmt"
	"math"
)

// Hellinger returns a modulus of the cube (−R, R)ᵈ, R > 0: the sum of the one-dimensional modulus [Ball] over the
// coordinates,
//
//	φ(x) = −Σᵢ √(R² − xᵢ²),   ∇φ = x/√(R² − x²),
//	φ*(y) = R Σᵢ √(1 + yᵢ²),   ∇φ*(y) = Ry/√(1 + y²).
//
// Hellinger has the same open domain as [Cube], but its formulas contain only square roots and no logarithms. As |yᵢ|
// grows, the gap R − |θᵢ| of θ = ∇φ*(y) falls like 1/yᵢ²; with Cube, the gap falls like exp(−|yᵢ|). φ is 1/R-strongly
// convex in ℓ₂: φ″ = R²/(R² − x²)^{3/2} ≥ 1/R.
//
// Source: Dhillon and Tropp (2007), Table 2.1.
//
//	m, y := bregman.Hellinger(2), []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (1.8521, 0.8271, −1.6792)
func Hellinger(R float64) Separable {
	return Separable{Kernel: hellinger{R}, Name: fmt.Sprintf("Hellinger, R = %g", R), Mu: 1 / R, P: 2}
}

type hellinger struct{ R float64 }

func (k hellinger) Validate() error { return validRadius("Hellinger cube", k.R) }

// root returns √(R² − x²), accurate near ±R.
func (k hellinger) root(x float64) float64 { return math.Sqrt(k.R-x) * math.Sqrt(k.R+x) }

func (k hellinger) Value(x float64) float64 { return -k.root(x) }
func (k hellinger) Deriv(x float64) float64 { return x / k.root(x) }

func (k hellinger) ConjDeriv(y float64) float64 {
	if n := math.Sqrt(1 + y*y); n <= math.MaxFloat64 {
		return k.R * y / n
	}
	return math.Copysign(k.R, y)
}

func (k hellinger) ConjCurvature(y float64) float64 {
	n := math.Hypot(1, y)
	return k.R / n / n / n
}

func (k hellinger) Conjugate(y float64) float64 { return k.R * math.Hypot(1, y) }

// Divergence is (3.9) in one dimension, in the form of [Ball.Divergence], where
// q²e² + (ye)² = (Re)².
func (k hellinger) Divergence(x, y float64) float64 {
	p, q, e := k.root(x), k.root(y), x-y
	return 2 * (k.R * e) * (k.R * e) / q / ((p+q)*(p+q) + e*e)
}

func (k hellinger) Domain() (lo, hi float64) { return -k.R, k.R }
