package bregman

import (
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// NegativeEntropy is φ(x) = Σᵢ xᵢ log xᵢ − xᵢ on the orthant x > 0, with ∇φ = log xᵢ,
// φ*(y) = Σᵢ exp yᵢ and ∇φ*(y) = exp yᵢ.
// On the hyperplane 1ᵀθ = 1 its domain is the open simplex, the projection is the
// softmax, and D is the Kullback–Leibler divergence; a mirror step is exponentiated
// gradient (Kivinen and Warmuth 1997; Beck and Teboulle 2003, section 5).
//
// It is 1-strongly convex in ℓ₁ on the simplex (Pinsker's inequality), not on the
// whole orthant. The class it describes excludes mixtures with negative
// coefficients.
//
//	m, y := bregman.NegativeEntropy{}, []float64{1, 2, 3}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (0.0900, 0.2447, 0.6652)
type NegativeEntropy struct{}

var (
	_ Modulus        = NegativeEntropy{}
	_ Conjugator     = NegativeEntropy{}
	_ Shifter        = NegativeEntropy{}
	_ Divergencer    = NegativeEntropy{}
	_ StrongConvexer = NegativeEntropy{}
	_ Coordinatewise = NegativeEntropy{}
	_ KernelCurver   = NegativeEntropy{}
)

// Value returns Σᵢ xᵢ log xᵢ − xᵢ, with 0 log 0 = 0.
func (NegativeEntropy) Value(x []float64) float64 {
	var acc sum.Accumulator
	for _, v := range x {
		if !(v >= 0) {
			return math.Inf(1)
		}
		acc.Add(xlogx(v))
		acc.Add(-v)
	}
	return acc.Value()
}

// Gradient stores log xᵢ in dst.
func (NegativeEntropy) Gradient(dst, x []float64) {
	checkLen(dst, x)
	for i, v := range x {
		dst[i] = math.Log(v)
	}
}

// ConjugateGradient stores exp yᵢ in dst.
func (NegativeEntropy) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	for i, v := range y {
		dst[i] = math.Exp(v)
	}
}

// InDomain reports whether all xᵢ are positive and finite.
func (NegativeEntropy) InDomain(x []float64) bool { return inInterval(x, 0, math.Inf(1)) }

// Conjugate returns Σᵢ exp yᵢ.
func (NegativeEntropy) Conjugate(y []float64) float64 {
	var acc sum.Accumulator
	for _, v := range y {
		acc.Add(math.Exp(v))
	}
	return acc.Value()
}

// Divergence returns Σᵢ xᵢ log(xᵢ/yᵢ) − xᵢ + yᵢ.
func (NegativeEntropy) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	var acc sum.Accumulator
	for i, v := range x {
		acc.Add(relativeEntropy(v, y[i], v-y[i]))
	}
	return acc.Value()
}

// Shift returns z = −log Σᵢ exp yᵢ.
func (NegativeEntropy) Shift(y []float64) (float64, error) {
	top := math.Inf(-1)
	for _, v := range y {
		top = max(top, v)
	}
	var acc sum.Accumulator
	for _, v := range y {
		acc.Add(math.Exp(v - top))
	}
	return -top - math.Log(acc.Value()), nil
}

// StrongConvexity returns 1 in ℓ₁, valid on the simplex.
func (NegativeEntropy) StrongConvexity() (mu float64, norm Norm) { return 1, 1 }

// Deriv returns log x.
func (NegativeEntropy) Deriv(x float64) float64 { return math.Log(x) }

// ConjDeriv returns exp y.
func (NegativeEntropy) ConjDeriv(y float64) float64 { return math.Exp(y) }

// ConjCurvature returns exp y.
func (NegativeEntropy) ConjCurvature(y float64) float64 { return math.Exp(y) }

// Domain returns (0, ∞).
func (NegativeEntropy) Domain() (lo, hi float64) { return 0, math.Inf(1) }

// String names the modulus.
func (NegativeEntropy) String() string { return "negative entropy" }

func xlogx(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(x)
}

// relativeEntropy returns a log(a/b) − a + b ≥ 0 for a ≥ 0, b > 0, given the difference
// e = a − b, which the caller may know more exactly than a and b. It is +∞ outside.
//
// With δ = e/b it is b·[(1+δ) log(1+δ) − δ]. The bracket is δ²/2 − δ³/6 + …, so for
// |δ| ≤ ½ its terms would cancel; there r = δ/(2+δ), log(1+δ) = 2(r + r³/3 + r⁵/5 + …)
// turns it into 2r²[1 + (1+r)(r/3 + r³/5 + r⁵/7 + …)]/(1−r). With |r| ≤ 1/3 a term is
// at most 1/9 of the one before, and 17 of them reach 2⁻⁵³.
func relativeEntropy(a, b, e float64) float64 {
	if !(a >= 0 && b > 0) || math.IsInf(a, 1) || math.IsInf(b, 1) {
		return math.Inf(1)
	}
	if a == 0 {
		return b
	}
	if math.Abs(e) > b/2 {
		if q := a / b; q > 0 && !math.IsInf(q, 1) {
			return a*math.Log(q) - e
		}
		return a*(math.Log(a)-math.Log(b)) - e
	}
	r := e / (b + a)
	var tail float64
	for k := 17; k >= 1; k-- {
		tail = tail*r*r + 1/float64(2*k+1)
	}
	return b * 2 * r * r * (1 + (1+r)*r*tail) / (1 - r)
}
