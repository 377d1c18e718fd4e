package bregman

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Cube is the paper's modulus of the cube [−R, R]ᵈ, the bit entropy (3.10):
//
//	φ(θ) = Σᵢ (R+θᵢ) log(R+θᵢ) + (R−θᵢ) log(R−θᵢ),   φ′ = log((R+θᵢ)/(R−θᵢ)),
//	φ*(y) = Σᵢ −Ryᵢ − 2R log(2R/(1 + exp yᵢ)),        (φ*)′ = R tanh(yᵢ/2).
//
// The conjugate (3.11) is right as printed, but overflows as printed: exp yᵢ is
// infinite from yᵢ = 710 on. Here it is R|yᵢ| + 2R log(1 + exp(−|yᵢ|)) − 2R log 2R.
//
// It is 2/R-strongly convex in ℓ₂. The cube meets the hyperplane 1ᵀθ = 1 in its interior
// if R > 1/d.
//
// Source: (3.10)–(3.12); for [0, 1] the bit entropy of Dhillon and Tropp (2007), Table 2.1.
//
//	m, y := bregman.Cube{R: 2}, []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (1.7093, 0.5330, −1.2423)
type Cube struct {
	R float64 // half the side, positive
}

var (
	_ Modulus        = Cube{}
	_ Conjugator     = Cube{}
	_ Divergencer    = Cube{}
	_ StrongConvexer = Cube{}
	_ Validator      = Cube{}
	_ Coordinatewise = Cube{}
	_ KernelCurver   = Cube{}
)

// Validate returns an error unless R is positive and finite.
func (c Cube) Validate() error { return validRadius("cube", c.R) }

// Value returns (3.10), with 0 log 0 = 0. For |θᵢ| < R/2 its two terms cancel but for
// 2R log R + R(2t artanh t + log(1 − t²)), t = θᵢ/R, which is about 2R log R + Rt².
func (c Cube) Value(x []float64) float64 {
	var acc sum.Accumulator
	for _, v := range x {
		switch t := v / c.R; {
		case math.Abs(t) < 0.5:
			acc.Add(2 * c.R * math.Log(c.R))
			acc.Add(c.R * (2*t*math.Atanh(t) + math.Log1p(-t*t)))
		case math.Abs(v) <= c.R:
			acc.Add(xlogx(c.R + v))
			acc.Add(xlogx(c.R - v))
		default:
			return math.Inf(1)
		}
	}
	return acc.Value()
}

// Gradient stores log((R+xᵢ)/(R−xᵢ)) in dst.
func (c Cube) Gradient(dst, x []float64) {
	checkLen(dst, x)
	for i, v := range x {
		dst[i] = c.Deriv(v)
	}
}

// ConjugateGradient stores R tanh(yᵢ/2) in dst. From |yᵢ| ≈ 38 on that is ±R to within
// rounding.
func (c Cube) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	for i, v := range y {
		dst[i] = c.R * math.Tanh(v/2)
	}
}

// InDomain reports whether |xᵢ| < R for all i.
func (c Cube) InDomain(x []float64) bool { return inInterval(x, -c.R, c.R) }

// Conjugate returns (3.11).
func (c Cube) Conjugate(y []float64) float64 {
	var acc sum.Accumulator
	for _, v := range y {
		v = math.Abs(v)
		acc.Add(c.R * v)
		acc.Add(2 * c.R * math.Log1p(math.Exp(-v)))
	}
	return acc.Value() - 2*c.R*float64(len(y))*math.Log(2*c.R)
}

// Divergence returns (3.12), as a sum of relative entropies of R+x and R−x, all of them
// non-negative.
func (c Cube) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	var acc sum.Accumulator
	for i, v := range x {
		e := v - y[i]
		acc.Add(relativeEntropy(c.R+v, c.R+y[i], e))
		acc.Add(relativeEntropy(c.R-v, c.R-y[i], -e))
	}
	return acc.Value()
}

// StrongConvexity returns 2/R in ℓ₂: φ″(θ) = 2R/(R² − θ²) ≥ 2/R, with equality at 0.
func (c Cube) StrongConvexity() (mu float64, norm Norm) { return 2 / c.R, 2 }

// Deriv returns log((R+x)/(R−x)) = log(1 + 2|x|/(R−|x|)) with the sign of x: exact to
// rounding both near 0, where the quotient is near 1, and near ±R.
func (c Cube) Deriv(x float64) float64 {
	a := math.Abs(x)
	return math.Copysign(math.Log1p(2*a/(c.R-a)), x)
}

// ConjDeriv returns R tanh(y/2).
func (c Cube) ConjDeriv(y float64) float64 { return c.R * math.Tanh(y/2) }

// ConjCurvature returns (R/2) sech²(y/2) = 2Re/(1+e)² with e = exp(−|y|).
func (c Cube) ConjCurvature(y float64) float64 {
	e := math.Exp(-math.Abs(y))
	return 2 * c.R * e / ((1 + e) * (1 + e))
}

// Domain returns (−R, R).
func (c Cube) Domain() (lo, hi float64) { return -c.R, c.R }

// String names the modulus and its R.
func (c Cube) String() string { return fmt.Sprintf("cube, R = %g", c.R) }
