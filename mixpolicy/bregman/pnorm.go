package bregman

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// PNorm is φ(x) = ½‖x‖²_p on ℝᵈ, 1 < p < ∞, with φ*(y) = ½‖y‖²_q, where 1/p + 1/q = 1. The gradient ∇φ
// is the duality map from ℓ_p to ℓ_q,
//
//	∇φ(x)ᵢ = ‖x‖_p^{2−p} |xᵢ|^{p−1} sign xᵢ.
//
// For 1 < p ≤ 2, φ is (p−1)-strongly convex in ℓ_p. With p = 1 + 1/log d, the bound on the error of mirror descent
// depends on d in the same way as with the entropy, but the domain is all of ℝᵈ. For p > 2, φ is not strongly convex.
// From about p = 3 on, ∇φ* is so steep at 0 that a rounded y does not determine all digits of θ = ∇φ*(y). For p ≠ 2, φ
// is not a sum over the coordinates.
//
// Source: Grove, Littlestone and Schuurmans (2001). The constant of strong convexity is due to
// Ball, Carlen and Lieb (1994).
//
// Gradient and ConjugateGradient compute one power for each entry. A power takes about 40 ns, or less if p = 3/2 or
// p = 2.
//
//	m, y := bregman.PNorm{P: 1.5}, []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (2.0687, 0.0374, −1.1060)
type PNorm struct {
	P float64 // exponent, 1 < P < ∞
}

// Validate returns an error unless 1 < P < ∞.
func (p PNorm) Validate() error {
	if !(p.P > 1) || math.IsInf(p.P, 1) {
		return fmt.Errorf("bregman: p-norm modulus with p = %g: want 1 < p < ∞", p.P)
	}
	return nil
}

// Value returns ½‖x‖²_p.
func (p PNorm) Value(x []float64) float64 {
	n := normP(p.P, x)
	return n * n / 2
}

// Gradient stores ‖x‖_p^{2−p} |xᵢ|^{p−1} sign xᵢ in dst.
func (p PNorm) Gradient(dst, x []float64) { dualityMap(dst, x, p.P) }

// ConjugateGradient stores ‖y‖_q^{2−q} |yᵢ|^{q−1} sign yᵢ in dst.
func (p PNorm) ConjugateGradient(dst, y []float64) { dualityMap(dst, y, p.P/(p.P-1)) }

// dualityMap stores the gradient of ½‖x‖²_p in dst. It divides x by max |xᵢ| first, so no power overflows.
func dualityMap(dst, x []float64, p float64) {
	checkLen(dst, x)
	top := maxAbs(x)
	if top == 0 {
		clear(dst)
		return
	}
	var acc sum.Accumulator
	for i, v := range x {
		r := math.Abs(v / top)
		t := math.Pow(r, p-1)
		acc.Add(t * r)
		dst[i] = math.Copysign(t, v)
	}
	floats.Scale(top*math.Pow(acc.Value(), (2-p)/p), dst)
}

// InDomain reports whether all entries of x are finite.
func (p PNorm) InDomain(x []float64) bool { return firstNonFinite(x) < 0 }

// Conjugate returns ½‖y‖²_q.
func (p PNorm) Conjugate(y []float64) float64 { return PNorm{p.P / (p.P - 1)}.Value(y) }

// StrongConvexity returns μ = p − 1 and the exponent p if p ≤ 2. For p > 2, it returns μ = 0, which claims nothing.
func (p PNorm) StrongConvexity() (mu, norm float64) {
	if p.P > 2 {
		return 0, 2
	}
	return p.P - 1, p.P
}

// String names the modulus and its p.
func (p PNorm) String() string { return fmt.Sprintf("½‖·‖², p = %.4g", p.P) }

// ConjugateCurvature returns (q−1) Σ rᵢ^{q−2} − (q−2)(Σ rᵢ^{q−1} sign yᵢ)², J″(0) of (3.24), where r = |y|/‖y‖_q. At
// y = 0, it returns NaN for every p. (If p ≠ 2, ∇²φ* has no limit at 0.) For p > 2, it returns NaN if any yᵢ is 0.
func (p PNorm) ConjugateCurvature(y []float64) float64 {
	q := p.P / (p.P - 1)
	n, diagonal, along := normP(q, y), 0., 0.
	for _, v := range y {
		t := math.Pow(math.Abs(v)/n, q-2)
		diagonal += t
		along += t * (v / n)
	}
	return (q-1)*diagonal - (q-2)*along*along
}
