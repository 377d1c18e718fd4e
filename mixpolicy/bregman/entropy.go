package bregman

import (
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// NegativeEntropy returns φ(x) = Σᵢ xᵢ log xᵢ − xᵢ on the orthant x > 0, with ∇φ = log xᵢ, φ*(y) = Σᵢ exp yᵢ and
// ∇φ*(y) = exp yᵢ. On the hyperplane 1ᵀθ = 1, the domain is the open simplex, D is the Kullback–Leibler divergence,
// and the projection is the softmax, with z = −log Σᵢ exp yᵢ. A mirror step is then a step of exponentiated gradient
// (Kivinen and Warmuth 1997; Beck and Teboulle 2003, section 5).
//
// φ is 1-strongly convex in ℓ₁ on the simplex (Pinsker's inequality), but not on the whole
// orthant. The domain excludes mixtures with negative coefficients.
//
//	m, y := bregman.NegativeEntropy(), []float64{1, 2, 3}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (0.0900, 0.2447, 0.6652)
func NegativeEntropy() Modulus {
	return negativeEntropy{Separable{Kernel: entropy{}, Name: "negative entropy", Mu: 1, P: 1}}
}

type negativeEntropy struct{ Separable }

// Shift returns z = −log Σᵢ exp yᵢ.
func (negativeEntropy) Shift(y []float64) (float64, error) {
	top := slices.Max(y)
	var acc sum.Accumulator
	for _, v := range y {
		acc.Add(math.Exp(v - top))
	}
	return -top - math.Log(acc.Value()), nil
}

type entropy struct{}

func (entropy) Value(x float64) float64         { return xlogx(x) - x }
func (entropy) Deriv(x float64) float64         { return math.Log(x) }
func (entropy) ConjDeriv(y float64) float64     { return math.Exp(y) }
func (entropy) ConjCurvature(y float64) float64 { return math.Exp(y) }
func (entropy) Conjugate(y float64) float64     { return math.Exp(y) }
func (entropy) Divergence(x, y float64) float64 { return relativeEntropy(x, y, x-y) }
func (entropy) Domain() (lo, hi float64)        { return 0, math.Inf(1) }

// xlogx returns x log x, with 0 log 0 = 0, and NaN for x < 0.
func xlogx(x float64) float64 { return x * math.Log(x+math.SmallestNonzeroFloat64) }

// relativeEntropy returns a log(a/b) − a + b ≥ 0 for finite a ≥ 0 and b > 0, and +∞ for other a or b.
// The caller gives the difference e = a − b, which may be known more exactly than a and b.
//
// With δ = e/b, the result is b·[(1+δ) log(1+δ) − δ]. The bracket is δ²/2 − δ³/6 + …, so the two
// terms would cancel for |δ| ≤ ½. There, with r = δ/(2+δ) and log(1+δ) = 2(r + r³/3 + r⁵/5 + …), the
// bracket is 2r²[1 + (1+r)(r/3 + r³/5 + r⁵/7 + …)]/(1−r). Because |r| ≤ 1/3, each term of the last
// series is at most 1/9 of the previous term, and 17 terms give an error below 2⁻⁵³.
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
