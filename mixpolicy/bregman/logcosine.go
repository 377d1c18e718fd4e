package bregman

import (
	"fmt"
	"math"
)

// LogCosine returns a modulus of the cube (−R, R)ᵈ, R > 0. Up to scale, the inverse of its gradient is the
// arctangent:
//
//	φ(x) = −(2R/π) Σᵢ log cos(πxᵢ/2R),            ∇φ = tan(πxᵢ/2R),
//	φ*(y) = (2R/π) Σᵢ yᵢ arctan yᵢ − ½log(1 + yᵢ²),   ∇φ*(y) = (2R/π) arctan yᵢ.
//
// We know of no earlier use of this φ as a mirror map. As |yᵢ| grows, the gap R − |θᵢ| of θ = ∇φ*(y) falls like 1/|yᵢ|,
// compared with 1/yᵢ² for [Hellinger] and exp(−|yᵢ|) for [Cube]. With all three moduli, an iterate that noise has
// driven to the boundary needs about as many steps to return as it took to get there. But with LogCosine, the iterate
// moves visibly on the way back, because (φ*)″ falls only like 1/y².
//
// φ is π/2R-strongly convex in ℓ₂: φ″ = (π/2R) sec² ≥ π/2R.
//
//	m, y := bregman.LogCosine(2), []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (1.5314, 0.6818, −1.2132)
func LogCosine(R float64) Separable {
	return Separable{Kernel: logCosine{R}, Name: fmt.Sprintf("log-cosine, R = %g", R), Mu: math.Pi / (2 * R), P: 2}
}

type logCosine struct{ R float64 }

func (k logCosine) Validate() error { return validRadius("log-cosine cube", k.R) }

// Value computes the cosine as 1 − 2 sin²(πx/4R) if |x| < R/2, and as sin(π(R − |x|)/2R) otherwise.
func (k logCosine) Value(x float64) float64 {
	a, c := math.Abs(x), 2*k.R/math.Pi
	if a < k.R/2 {
		s := math.Sin(math.Pi / 4 * (a / k.R))
		return -c * math.Log1p(-2*s*s)
	}
	return -c * math.Log(math.Sin(math.Pi/2*((k.R-a)/k.R)))
}

// Deriv returns tan(πx/2R). If |x| ≥ R/2, it computes the tangent as cot(π(R − |x|)/2R) with the sign of x.
func (k logCosine) Deriv(x float64) float64 {
	a := math.Abs(x)
	if a < k.R/2 {
		return math.Tan(math.Pi / 2 * (x / k.R))
	}
	return math.Copysign(1/math.Tan(math.Pi/2*((k.R-a)/k.R)), x)
}

func (k logCosine) ConjDeriv(y float64) float64 { return 2 / math.Pi * k.R * math.Atan(y) }

func (k logCosine) ConjCurvature(y float64) float64 {
	n := math.Hypot(1, y)
	return 2 / math.Pi * k.R / n / n
}

func (k logCosine) Conjugate(y float64) float64 {
	l := math.Log(math.Hypot(1, y))
	if math.Abs(y) < 1 {
		l = math.Log1p(y*y) / 2
	}
	return 2 * k.R / math.Pi * (y*math.Atan(y) - l)
}

func (k logCosine) Domain() (lo, hi float64) { return -k.R, k.R }
