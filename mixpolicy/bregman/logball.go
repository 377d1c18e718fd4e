package bregman

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// LogBall is the logarithmic barrier of the Euclidean ball of radius R,
//
//	φ(x) = −log(R² − ‖x‖²),           ∇φ(x) = 2x/(R² − ‖x‖²),
//	φ*(y) = S − 1 + log(2R²/(1 + S)),   ∇φ*(y) = R²y/(1 + S),   S = √(1 + R²‖y‖²).
//
// φ is a well-known self-concordant barrier; we know of no earlier use of φ for mixtures of policies. As ‖y‖
// grows, the distance of ∇φ*(y) from the sphere falls like 1/‖y‖; with [Ball], which has the same domain, the distance
// falls like 1/‖y‖². So for the same large y, ∇φ*(y) is further inside with LogBall than with Ball. The local norm
// √(eᵀ∇²φ(x)e) of a step e depends only on x/R and e/R. The projection has a closed form: see [LogBall.Shift].
//
// φ is 2/R²-strongly convex in ℓ₂: ∇²φ ≽ 2I/(R² − ‖x‖²).
//
//	m, y := bregman.LogBall{R: 2}, []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (1.4602, 0.3333, −0.7936)
type LogBall struct {
	R float64 // radius, positive
}

// Validate returns an error unless 0 < R < 10³⁰⁰.
func (b LogBall) Validate() error { return validRadius("ball", b.R) }

// Value returns −log(R² − ‖x‖²), or +∞ if ‖x‖ ≥ R.
func (b LogBall) Value(x []float64) float64 {
	c := binade(b.R)
	if g := Ball(b).gap(x, c); g > 0 {
		return 2*math.Log(c) - math.Log(g)
	}
	return math.Inf(1)
}

// Gradient stores 2x/(R² − ‖x‖²) in dst.
func (b LogBall) Gradient(dst, x []float64) {
	checkLen(dst, x)
	c := binade(b.R)
	floats.ScaleTo(dst, 2*c*c/Ball(b).gap(x, c), x)
}

// ConjugateGradient stores R²y/(1 + S) in dst.
func (b LogBall) ConjugateGradient(dst, y []float64) {
	c, n := hypot1(b.R, y)
	radial(dst, y, c*b.R, b.R/(c+n))
}

// ConjugateCurvature returns R²d(1 + R²‖w‖²/(1 + S))/(S(1 + S)), J″(0) of (3.24), where w = y − ȳ1 and ȳ is the mean
// of y.
func (b LogBall) ConjugateCurvature(y []float64) float64 {
	c, n := hypot1(b.R, y)
	_, _, k, ww := centred(y)
	t := b.R * (math.Sqrt(ww) / (c + n)) * (c / k) // R‖w‖/(1 + S)
	// (1 + t²(1+S))/(1+S) = 1/(1+S) + t²
	return b.R * (c / n) * b.R * float64(len(y)) * (c/(c+n) + t*t)
}

// InDomain reports whether ‖x‖ < R.
func (b LogBall) InDomain(x []float64) bool { return Ball(b).InDomain(x) }

// Conjugate returns S − 1 + log(2R²/(1 + S)).
func (b LogBall) Conjugate(y []float64) float64 {
	c, n := hypot1(b.R, y)
	m := normP(2, y) * b.R
	// S − 1 = (R‖y‖)²/(1 + S)
	return m*(c*m/(c+n)) + math.Ln2 + 2*math.Log(b.R) - math.Log(1+n/c)
}

// Divergence returns log(gy/gx) − 2⟨y, e⟩/gy with e = x − y, gx = R² − ‖x‖² and gy = R² − ‖y‖². The code
// computes the equivalent form (gx/gy − 1 − log(gx/gy)) + ‖e‖²/gy, in which neither term is negative.
func (b LogBall) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	c := binade(b.R)
	gx, gy := Ball(b).gap(x, c), Ball(b).gap(y, c)
	if !(gx > 0 && gy > 0) {
		return math.Inf(1)
	}
	var ee float64
	var drop sum.Accumulator // gy − gx = ⟨x + y, e⟩
	for i, v := range x {
		e := c * (v - y[i])
		ee += e * e
		drop.AddProduct(c*v, e)
		drop.AddProduct(c*y[i], e)
	}
	return relativeEntropy(gy, gx, drop.Value())/gy + ee/gy
}

// Shift returns z = −ȳ + v with v = (d + √(d² + κ‖w‖²))/κ and κ = d(R²d − 1), where ȳ and w are as in [Ball.Shift].
// In terms of v, the equation 1ᵀ∇φ*(y + z1) = 1 is R²dv − 1 = √(1 + R²(‖w‖² + dv²)). Squared, this equation gives
// κv² − 2dv − ‖w‖² = 0, and v is the positive root.
func (b LogBall) Shift(y []float64) (float64, error) {
	slope, err := Ball(b).slope(len(y))
	if err != nil {
		return 0, err
	}
	pivot, mean, c, ww := centred(y)
	d := float64(len(y))
	v := (c*d/slope + math.Hypot(c*d/slope, math.Sqrt(ww))) / slope
	return v/c - mean - pivot, nil
}

// StrongConvexity returns μ = 2/R² and p = 2.
func (b LogBall) StrongConvexity() (mu, p float64) { return 2 / b.R / b.R, 2 }

// String names the modulus and its radius.
func (b LogBall) String() string { return fmt.Sprintf("log ball, R = %g", b.R) }
