package bregman

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// LogCosine is a modulus of the cube (−R, R)ᵈ whose inverse gradient is the arctangent:
//
//	φ(x) = −(2R/π) Σᵢ log cos(πxᵢ/2R),            ∇φ = tan(πxᵢ/2R),
//	φ*(y) = (2R/π) Σᵢ yᵢ arctan yᵢ − ½log(1 + yᵢ²),   ∇φ*(y) = (2R/π) arctan yᵢ.
//
// We know of no use of it as a mirror map. The reason to try it: the gap R − |θᵢ| is
// 1/|yᵢ| up to a factor, where that of [Hellinger] is 1/yᵢ² and that of [Cube] exp(−|yᵢ|). An
// iterate that noise has driven to a wall comes back after as many steps as brought
// it there in all three, but meanwhile it still moves: (φ*)″ falls only as 1/y².
//
// It is π/2R-strongly convex in ℓ₂: φ″ = (π/2R) sec² ≥ π/2R.
//
//	m, y := bregman.LogCosine{R: 2}, []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (1.5314, 0.6818, −1.2132)
type LogCosine struct {
	R float64 // half the side, positive
}

var (
	_ Modulus        = LogCosine{}
	_ Conjugator     = LogCosine{}
	_ StrongConvexer = LogCosine{}
	_ Coordinatewise = LogCosine{}
	_ KernelCurver   = LogCosine{}
	_ KernelSketcher = LogCosine{}
	_ Validator      = LogCosine{}
)

// Validate returns an error unless R is positive and finite.
func (l LogCosine) Validate() error { return validRadius("log-cosine cube", l.R) }

// Value returns −(2R/π) Σᵢ log cos(πxᵢ/2R).
func (l LogCosine) Value(x []float64) float64 {
	var acc sum.Accumulator
	for _, v := range x {
		if !(math.Abs(v) < l.R) {
			return math.Inf(1)
		}
		if a := math.Abs(v); a < l.R/2 { // cos = 1 − 2 sin² of half the angle
			s := math.Sin(math.Pi / 4 * (a / l.R))
			acc.Add(-math.Log1p(-2 * s * s))
		} else {
			acc.Add(-math.Log(math.Sin(math.Pi / 2 * ((l.R - a) / l.R))))
		}
	}
	return 2 * l.R / math.Pi * acc.Value()
}

// Gradient stores tan(πxᵢ/2R) in dst.
func (l LogCosine) Gradient(dst, x []float64) {
	checkLen(dst, x)
	for i, v := range x {
		dst[i] = l.Deriv(v)
	}
}

// ConjugateGradient stores (2R/π) arctan yᵢ in dst.
func (l LogCosine) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	c := 2 / math.Pi * l.R
	for i, v := range y {
		dst[i] = c * math.Atan(v)
	}
}

// InDomain reports whether |xᵢ| < R for all i.
func (l LogCosine) InDomain(x []float64) bool { return inInterval(x, -l.R, l.R) }

// Conjugate returns (2R/π) Σᵢ yᵢ arctan yᵢ − ½log(1 + yᵢ²).
func (l LogCosine) Conjugate(y []float64) float64 {
	var acc sum.Accumulator
	for _, v := range y {
		acc.Add(v * math.Atan(v))
		if a := math.Abs(v); a < 1 {
			acc.Add(-math.Log1p(v*v) / 2)
		} else {
			acc.Add(-math.Log(math.Hypot(1, v)))
		}
	}
	return 2 * l.R / math.Pi * acc.Value()
}

// StrongConvexity returns π/2R in ℓ₂.
func (l LogCosine) StrongConvexity() (mu float64, norm Norm) { return math.Pi / (2 * l.R), 2 }

// Deriv returns tan(πx/2R), near ±R as the cotangent of the gap's angle.
func (l LogCosine) Deriv(x float64) float64 {
	a := math.Abs(x)
	if a < l.R/2 {
		return math.Tan(math.Pi / 2 * (x / l.R))
	}
	return math.Copysign(1/math.Tan(math.Pi/2*((l.R-a)/l.R)), x)
}

// ConjDeriv returns (2R/π) arctan y.
func (l LogCosine) ConjDeriv(y float64) float64 { return 2 / math.Pi * l.R * math.Atan(y) }

// ConjCurvature returns (2R/π)/(1 + y²).
func (l LogCosine) ConjCurvature(y float64) float64 {
	n := math.Hypot(1, y)
	return 2 / math.Pi * l.R / n / n
}

// Sketch has the gap R(1 + aη)/(1 + bη + cη²) with η = |y|. The first three terms at 0 and the
// first at ∞ are those of R − (2R/π) arctan η if c = πa/2, b − a = 2/π and b(b − a) = c, so
// b = π²a/4 and a = (2/π)/(π²/4 − 1). Between, it is within 10 percent.
func (l LogCosine) Sketch(y float64) (x, slope float64) {
	const (
		a = (2 / math.Pi) / (math.Pi*math.Pi/4 - 1)
		b = math.Pi * math.Pi / 4 * a
		c = math.Pi / 2 * a
	)
	v := min(math.Abs(y), 1e150) // whose square is finite
	n := 1 + v*(b+c*v)
	gap := (1 + a*v) / n
	return math.Copysign(l.R-l.R*gap, y), l.R * ((b+2*c*v)*gap - a) / n
}

// Domain returns (−R, R).
func (l LogCosine) Domain() (lo, hi float64) { return -l.R, l.R }

// String names the modulus and its R.
func (l LogCosine) String() string { return fmt.Sprintf("log-cosine, R = %g", l.R) }
