package bregman

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Hellinger is the ball's modulus once per coordinate, on the cube (−R, R)ᵈ:
//
//	φ(x) = −Σᵢ √(R² − xᵢ²),   ∇φ = x/√(R² − x²),
//	φ*(y) = R Σᵢ √(1 + yᵢ²),   ∇φ*(y) = Ry/√(1 + y²).
//
// It has the domain of [Cube] with nothing but square roots, and tails 1/y² in place of
// exp(−|y|). It is 1/R-strongly convex in ℓ₂: φ″ = R²/(R² − x²)^{3/2} ≥ 1/R.
//
// Source: Dhillon and Tropp (2007), Table 2.1.
//
//	m, y := bregman.Hellinger{R: 2}, []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (1.8521, 0.8271, −1.6792)
type Hellinger struct {
	R float64 // half the side, positive
}

var (
	_ Modulus        = Hellinger{}
	_ Conjugator     = Hellinger{}
	_ Divergencer    = Hellinger{}
	_ StrongConvexer = Hellinger{}
	_ Coordinatewise = Hellinger{}
	_ KernelCurver   = Hellinger{}
	_ KernelSketcher = Hellinger{}
	_ Validator      = Hellinger{}
)

// Validate returns an error unless R is positive and finite.
func (h Hellinger) Validate() error { return validRadius("Hellinger cube", h.R) }

// root returns √(R² − x²), accurate near ±R.
func (h Hellinger) root(x float64) float64 { return math.Sqrt(h.R-x) * math.Sqrt(h.R+x) }

// Value returns −Σᵢ √(R² − xᵢ²).
func (h Hellinger) Value(x []float64) float64 {
	var acc sum.Accumulator
	for _, v := range x {
		if !(math.Abs(v) <= h.R) {
			return math.Inf(1)
		}
		acc.Add(-h.root(v))
	}
	return acc.Value()
}

// Gradient stores xᵢ/√(R² − xᵢ²) in dst.
func (h Hellinger) Gradient(dst, x []float64) {
	checkLen(dst, x)
	for i, v := range x {
		dst[i] = v / h.root(v)
	}
}

// ConjugateGradient stores Ryᵢ/√(1 + yᵢ²) in dst.
func (h Hellinger) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	for i, v := range y {
		if n := math.Sqrt(1 + v*v); n <= math.MaxFloat64 {
			dst[i] = h.R * v / n
		} else {
			dst[i] = math.Copysign(h.R, v)
		}
	}
}

// InDomain reports whether |xᵢ| < R for all i.
func (h Hellinger) InDomain(x []float64) bool { return inInterval(x, -h.R, h.R) }

// Conjugate returns R Σᵢ √(1 + yᵢ²).
func (h Hellinger) Conjugate(y []float64) float64 {
	var acc sum.Accumulator
	for _, v := range y {
		acc.Add(math.Hypot(1, v))
	}
	return h.R * acc.Value()
}

// Divergence is the sum over the coordinates of (3.9) in one dimension; see
// [Ball.Divergence] for its form.
func (h Hellinger) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	var acc sum.Accumulator
	for i, v := range x {
		w := y[i]
		if !(math.Abs(v) <= h.R && math.Abs(w) < h.R) {
			return math.Inf(1)
		}
		p, q, e := h.root(v), h.root(w), v-w
		// q²e² + (ye)² = (Re)²
		acc.Add(2 * (h.R * e) * (h.R * e) / q / ((p+q)*(p+q) + e*e))
	}
	return acc.Value()
}

// StrongConvexity returns 1/R in ℓ₂.
func (h Hellinger) StrongConvexity() (mu float64, norm Norm) { return 1 / h.R, 2 }

// Deriv returns x/√(R² − x²).
func (h Hellinger) Deriv(x float64) float64 { return x / h.root(x) }

// ConjDeriv returns Ry/√(1 + y²).
func (h Hellinger) ConjDeriv(y float64) float64 {
	if n := math.Sqrt(1 + y*y); n <= math.MaxFloat64 {
		return h.R * y / n
	}
	return math.Copysign(h.R, y)
}

// ConjCurvature returns R/(1 + y²)^{3/2}.
func (h Hellinger) ConjCurvature(y float64) float64 {
	n := math.Hypot(1, y)
	return h.R / n / n / n
}

// Sketch has the gap R/(1 + |y| + 2y²), right to the leading order at 0 and at ±∞, and within
// 16 percent between.
func (h Hellinger) Sketch(y float64) (x, slope float64) {
	a := min(math.Abs(y), 1e150) // whose square is finite
	gap := 1 / (1 + a + 2*a*a)
	return math.Copysign(h.R-h.R*gap, y), h.R * gap * gap * (1 + 4*a)
}

// Domain returns (−R, R).
func (h Hellinger) Domain() (lo, hi float64) { return -h.R, h.R }

// String names the modulus and its R.
func (h Hellinger) String() string { return fmt.Sprintf("Hellinger, R = %g", h.R) }
