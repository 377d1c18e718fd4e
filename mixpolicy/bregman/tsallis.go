package bregman

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Tsallis is the negative Tsallis entropy of order 0 < q < 1 on the orthant x > 0,
//
//	φ(x) = Σᵢ (xᵢ − xᵢ^q)/(1 − q),   ∇φ = (1 − q xᵢ^{q−1})/(1 − q),
//	φ*(y) = Σᵢ xᵢ^q  at  xᵢ = ∇φ*(y) = (1 + (1−yᵢ)(1−q)/q)^{−1/(1−q)},  yᵢ < 1/(1−q).
//
// It lies between [Burg] (q → 0, after division by q) and [NegativeEntropy] (q → 1); q = ½ is
// the regulariser of best-of-both-worlds bandit algorithms. For q > 1 the derivative at 0
// is finite, and φ is no Legendre function.
//
// It is q·2^{1−q}-strongly convex in ℓ₁ on the simplex: with p = 2 − q and Σe = 0,
// Σ eᵢ²/xᵢᵖ ≥ (Σ |eᵢ|^{2/(1+p)})^{1+p} ≥ 2^{p−1}‖e‖₁² by Hölder's inequality.
//
// Source: Tsallis (1988); as a mirror map Abernethy, Lee and Tewari (2015).
//
// Of all orders only q = ½ does without logarithm and exponential, some 20 ns an element.
//
//	m, y := bregman.Tsallis{Q: 0.5}, []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (0.8559, 0.1054, 0.0387)
type Tsallis struct {
	Q float64 // order, between 0 and 1
}

var (
	_ Modulus        = Tsallis{}
	_ Conjugator     = Tsallis{}
	_ StrongConvexer = Tsallis{}
	_ Coordinatewise = Tsallis{}
	_ KernelCurver   = Tsallis{}
	_ Validator      = Tsallis{}
)

// Validate returns an error unless 0 < q < 1.
func (t Tsallis) Validate() error {
	if !(t.Q > 0 && t.Q < 1) {
		return fmt.Errorf("bregman: Tsallis entropy of order q = %g: want 0 < q < 1 (q = 1 is NegativeEntropy)", t.Q)
	}
	return nil
}

// Value returns Σᵢ (xᵢ − xᵢ^q)/(1 − q).
func (t Tsallis) Value(x []float64) float64 {
	var acc sum.Accumulator
	for _, v := range x {
		if !(v >= 0) {
			return math.Inf(1)
		}
		if v > 0 {
			acc.Add(-v * math.Expm1((t.Q-1)*math.Log(v)) / (1 - t.Q))
		}
	}
	return acc.Value()
}

// Gradient stores (1 − q xᵢ^{q−1})/(1 − q) in dst.
func (t Tsallis) Gradient(dst, x []float64) {
	checkLen(dst, x)
	for i, v := range x {
		dst[i] = t.Deriv(v)
	}
}

// ConjugateGradient stores (1 + (1−yᵢ)(1−q)/q)^{−1/(1−q)} in dst, +∞ from yᵢ = 1/(1−q) on.
func (t Tsallis) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	for i, v := range y {
		dst[i] = t.ConjDeriv(v)
	}
}

// InDomain reports whether all xᵢ are positive and finite.
func (t Tsallis) InDomain(x []float64) bool { return inInterval(x, 0, math.Inf(1)) }

// Conjugate returns Σᵢ xᵢ^q at x = ∇φ*(y).
func (t Tsallis) Conjugate(y []float64) float64 {
	var acc sum.Accumulator
	for _, v := range y {
		acc.Add(math.Pow(t.ConjDeriv(v), t.Q))
	}
	return acc.Value()
}

// StrongConvexity returns q·2^{1−q} in ℓ₁, valid on the simplex.
func (t Tsallis) StrongConvexity() (mu float64, norm Norm) { return t.Q * math.Exp2(1-t.Q), 1 }

// Deriv returns (1 − q x^{q−1})/(1 − q) = 1 − q(x^{q−1} − 1)/(1 − q), which does not cancel as
// q → 1.
func (t Tsallis) Deriv(x float64) float64 {
	if t.Q == 0.5 {
		return 2 - 1/math.Sqrt(x)
	}
	return 1 - t.Q*math.Expm1((t.Q-1)*math.Log(x))/(1-t.Q)
}

// ConjDeriv returns (1 + (1−y)(1−q)/q)^{−1/(1−q)}, +∞ from y = 1/(1−q) on.
// For q = ½ that is (2 − y)⁻², at a tenth of the cost.
func (t Tsallis) ConjDeriv(y float64) float64 {
	if t.Q == 0.5 && y < 2 {
		return 1 / ((2 - y) * (2 - y))
	}
	p := 1 - t.Q
	base := (1 - y) * (p / t.Q)
	if !(base > -1) {
		return math.Inf(1)
	}
	return math.Exp(-math.Log1p(base) / p)
}

// ConjCurvature returns x^{2−q}/q at x = (φ*)′(y).
func (t Tsallis) ConjCurvature(y float64) float64 {
	if x := t.ConjDeriv(y); t.Q == 0.5 {
		return 2 * x * math.Sqrt(x)
	}
	return math.Pow(t.ConjDeriv(y), 2-t.Q) / t.Q
}

// Domain returns (0, ∞).
func (t Tsallis) Domain() (lo, hi float64) { return 0, math.Inf(1) }

// String names the modulus and its order.
func (t Tsallis) String() string { return fmt.Sprintf("Tsallis entropy, q = %g", t.Q) }
