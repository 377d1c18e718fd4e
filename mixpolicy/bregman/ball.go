package bregman

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Ball is the modulus (3.7) that the paper uses on the Euclidean ball of radius R:
//
//	φ(θ) = −√(R² − ‖θ‖²),   ∇φ(θ) = θ/√(R² − ‖θ‖²),
//	φ*(y) = R√(1 + ‖y‖²),   ∇φ*(y) = Ry/√(1 + ‖y‖²).
//
// The graph of φ is a half sphere. For d = 1 and R = 1, the divergence (3.9) is the Hellinger-like divergence of
// Dhillon and Tropp (2007). φ is 1/R-strongly convex in ℓ₂; the paper's proof assumes the constant 1 (see the
// errata).
//
// If R > 1/√d, the ball meets the hyperplane 1ᵀθ = 1 in a smaller ball, with centre (1/d)1 and radius
// ρ = √(R² − 1/d). On the hyperplane, φ is the modulus of the smaller ball, so the projection has a closed form: see
// [Ball.Shift]. If R ≤ 1/√d, the open ball misses the hyperplane, and there is no projection.
//
//	m, y := bregman.Ball{R: 2}, []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (1.6099, 0.3333, −0.9432)
type Ball struct {
	R float64 // radius, positive
}

// Validate returns an error unless 0 < R < 10³⁰⁰. For a larger R, sums over the entries of θ might overflow.
func (b Ball) Validate() error { return validRadius("ball", b.R) }

func validRadius(set string, r float64) error {
	if !(0 < r && r < 1e300) {
		return fmt.Errorf("bregman: %s of radius R = %g: want 0 < R < 1e300", set, r)
	}
	return nil
}

// Value returns −√(R² − ‖x‖²), equation (3.7), or +∞ if ‖x‖ > R.
func (b Ball) Value(x []float64) float64 {
	c := binade(b.R)
	if g := b.gap(x, c); g >= 0 {
		return -math.Sqrt(g) / c
	}
	return math.Inf(1)
}

// Gradient stores x/√(R² − ‖x‖²) in dst.
func (b Ball) Gradient(dst, x []float64) {
	checkLen(dst, x)
	c := binade(b.R)
	floats.ScaleTo(dst, c/math.Sqrt(b.gap(x, c)), x)
}

// ConjugateGradient stores Ry/√(1 + ‖y‖²) in dst. For ‖y‖ above about 10⁸, the result lies on the sphere of radius R
// to within rounding.
func (b Ball) ConjugateGradient(dst, y []float64) {
	c, n := hypot1(1, y)
	radial(dst, y, c, b.R/n)
}

// radial stores (cy)s in dst. It multiplies y by c first, because the product cs may underflow.
func radial(dst, y []float64, c, s float64) {
	checkLen(dst, y)
	for i, v := range y {
		dst[i] = c * v * s
	}
}

// InDomain reports whether ‖x‖ < R.
func (b Ball) InDomain(x []float64) bool { return b.gap(x, binade(b.R)) > 0 }

// Conjugate returns R√(1 + ‖y‖²), equation (3.8).
func (b Ball) Conjugate(y []float64) float64 {
	c, n := hypot1(1, y)
	return b.R * n / c
}

// ConjugateCurvature returns 1ᵀ∇²φ*(y)1 = R(d + d‖y‖² − (1ᵀy)²)/(1 + ‖y‖²)^{3/2}, J″(0) of (3.24). The code computes
// the first bracket as d(1 + ‖y − ȳ1‖²), where ȳ is the mean of y. In this form, nothing cancels.
func (b Ball) ConjugateCurvature(y []float64) float64 {
	c, n := hypot1(1, y)
	_, _, k, ww := centred(y)
	t := math.Sqrt(k*k+ww) / n * (c / k) // √(1 + ‖w‖²)/√(1 + ‖y‖²) with w = y − ȳ1
	return b.R * float64(len(y)) * t * t * (c / n)
}

// Divergence returns (3.9), D(x; y) = (R² − ⟨x, y⟩)/√(R² − ‖y‖²) − √(R² − ‖x‖²).
//
// Formula (3.9) loses digits to cancellation when x is near y, and when x and y are both near the sphere. With
// e = x − y, p = √(R² − ‖x‖²) and q = √(R² − ‖y‖²), Divergence computes
//
//	D = 2q(‖e‖² + ⟨y, e⟩²/q²) / ((p + q)² + ‖e‖²),
//
// in which nothing cancels. This form follows from (R² − ⟨x, y⟩)² − p²q² = q²‖e‖² + ⟨y, e⟩² and
// R² − ⟨x, y⟩ = (p² + q² + ‖e‖²)/2.
func (b Ball) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	c := binade(b.R)
	gx, gy := b.gap(x, c), b.gap(y, c)
	if !(gx >= 0 && gy > 0) {
		return math.Inf(1)
	}
	var ee float64
	var ye sum.Accumulator
	for i, v := range x {
		e := c * (v - y[i])
		ee += e * e
		ye.AddProduct(c*y[i], e)
	}
	p, q := math.Sqrt(gx), math.Sqrt(gy)
	t := ye.Value() / q
	return 2 * q * (ee + t*t) / ((p+q)*(p+q) + ee) / c
}

// Shift returns the z with 1ᵀ∇φ*(y + z1) = 1, in closed form. This z corrects (3.22), where y is called V (see
// [Ball.PrintedShift]).
//
// Let ȳ be the mean of y, and w = y − ȳ1. Then 1ᵀw = 0 and ‖y + z1‖² = ‖w‖² + d(ȳ + z)². So the equation
// 1ᵀ∇φ*(y + z1) = 1 becomes Rd(ȳ + z) = √(1 + ‖w‖² + d(ȳ + z)²). The solution of this equation is
//
//	z = −ȳ + √(1 + ‖w‖²) / √(d(R²d − 1)).
//
// The square roots lose no digits to cancellation, and no intermediate result overflows. The projected point
// ∇φ*(y + z1) is (1/d)1 + ρw/√(1 + ‖w‖²), where ρ = √(R² − 1/d).
func (b Ball) Shift(y []float64) (float64, error) {
	slope, err := b.slope(len(y))
	if err != nil {
		return 0, err
	}
	pivot, mean, c, ww := centred(y)
	return math.Sqrt(c*c+ww)/slope/c - mean - pivot, nil
}

// slope returns √(d(R²d − 1)), or an error if R is invalid or the ball misses the hyperplane.
func (b Ball) slope(d int) (float64, error) {
	if err := b.Validate(); err != nil {
		return 0, err
	}
	rr, n := float64(b.R*b.R), float64(d) // the conversions force rounding, even if the compiler fuses products and sums
	rrd := float64(rr * n)
	if math.IsInf(rrd, 1) {
		return b.R * n, nil
	}
	// g is R²d − 1 with a relative error of about 2⁻⁵³, even for R ≈ 1/√d.
	g := (rrd - 1) + (math.FMA(rr, n, -rrd) + math.FMA(b.R, b.R, -rr)*n)
	if !(g > 0) {
		return 0, fmt.Errorf("bregman: ball of radius R = %g does not meet the hyperplane 1ᵀθ = 1 in ℝ^%d: need R > 1/√d = %g",
			b.R, d, 1/math.Sqrt(n))
	}
	return math.Sqrt(n * g), nil
}

// PrintedShift returns (3.22) exactly as the paper prints it, with V = y:
//
//	z = [−1ᵀV(R²d−1) + √((1ᵀV(R²d−1))² − ((Rd)²−d)·R²(1ᵀV − ‖V‖² − 1))] / ((Rd)²−d).
//
// In general, the printed z is not the root of the J′ of (3.23). Setting J′ = 0 and squaring gives
// ((Rd)²−d)z² + 2(R²d−1)(1ᵀV)z + R²(1ᵀV)² − ‖V‖² − 1 = 0. So the factor R²(1ᵀV − ‖V‖² − 1) under the root should be
// R²(1ᵀV)² − ‖V‖² − 1. At R = 2 and V = (0.3, −0.1), for example, the printed z gives J′(z) ≈ 0.63. Use [Ball.Shift].
//
// PrintedShift returns an error if the printed discriminant is negative, if R is invalid, or if the ball misses the
// hyperplane.
func (b Ball) PrintedShift(y []float64) (float64, error) {
	if _, err := b.slope(len(y)); err != nil {
		return 0, err
	}
	d, s, vv := float64(len(y)), floats.Sum(y), floats.Dot(y, y)
	lead, half := b.R*d*b.R*d-d, s*(b.R*b.R*d-1)
	disc := half*half - lead*b.R*b.R*(s-vv-1)
	if !(disc >= 0) {
		return 0, fmt.Errorf("bregman: (3.22) as printed has the discriminant %g < 0", disc)
	}
	return (-half + math.Sqrt(disc)) / lead, nil
}

// StrongConvexity returns μ = 1/R and p = 2: ∇²φ(θ) ≽ I/√(R² − ‖θ‖²) ≽ I/R, with equality at θ = 0.
func (b Ball) StrongConvexity() (mu, p float64) { return 1 / b.R, 2 }

// String names the modulus and its radius.
func (b Ball) String() string { return fmt.Sprintf("ball, R = %g", b.R) }

// gap returns (cR)² − ‖cx‖², computed in twice the working precision. Near the sphere, float64
// arithmetic would leave only the rounding errors of the squares.
func (b Ball) gap(x []float64, c float64) float64 {
	var g sum.Accumulator
	g.AddProduct(c*b.R, c*b.R)
	for _, v := range x {
		g.AddProduct(-(c * v), c*v)
	}
	return g.Value()
}
