// Package bregman holds moduli φ for the paper's mirror step, the divergences they induce, and the
// projection that keeps the iterates on the hyperplane Θ₂ = {θ : 1ᵀθ = 1}.
//
// A modulus is a Legendre function (Definition 2.4): strictly convex, differentiable
// in the interior of its domain C, with ‖∇φ‖ → ∞ at the boundary of C. The gradient ∇φ
// is then a bijection from int C onto the interior of the domain of the conjugate φ*,
// and the inverse of ∇φ is ∇φ*. A step of Algorithm 1, with the step size η and the estimated
// gradient g, is
//
//	y ← y − ηg          the gradient step, in dual coordinates y = ∇φ(θ)    (3.25a)
//	y ← y + z1          z minimises J(z) = φ*(y + z1) − z                     (3.25b)
//	θ = ∇φ*(y)          the new point of C ∩ Θ₂                                    (3.25c)
//
// [ProjectDual] performs step (3.25b). Package mixpolicy stores the iterate as y, so the iterate loses no digits
// even if θ rounds to a point of the boundary.
//
// There are several ways to define a new modulus. [FromFunc] takes a function of one variable, and [FromVectorFunc]
// takes a function of the whole vector; both compute derivatives and inverses automatically. [FromClosures] takes φ, φ′
// and the inverse of φ′ as three functions, and [Separable] takes them as the methods of a [Kernel]. A type that
// implements [Modulus] defines all operations on whole vectors.
//
// [Gallery] lists the moduli of this package, [Scale] multiplies a modulus by a positive number, [Sum] adds two
// separable moduli, [Product] combines moduli of blocks of coordinates, [Compose] changes the coordinates by a matrix,
// and [Check] examines any modulus. The package finds the optional methods of a modulus by type assertion to these
// interfaces: [Conjugator], [Shifter], [Divergencer], [StrongConvexer], [Curver], [Validator].
package bregman

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// A Modulus is a Legendre function φ on ℝᵈ.
//
// The methods take whole vectors, because φ need not be a sum over the coordinates. If φ is a sum, write a [Kernel]
// instead. The methods must work in every dimension d for which the parameters of the modulus are valid. They must
// work if dst and the input are the same slice, and be safe for concurrent use. Gradient and ConjugateGradient should
// allocate no memory.
type Modulus interface {
	// Value returns φ(x), or +∞ if x is outside the domain of φ.
	Value(x []float64) float64

	// Gradient stores ∇φ(x) in dst, for x in the interior of the domain.
	Gradient(dst, x []float64)

	// ConjugateGradient stores ∇φ*(y) in dst: the unique θ with ∇φ(θ) = y. If y is finite,
	// no entry of the result is NaN. For a y beyond the range of ∇φ, the result is on the
	// boundary of the domain, on the side of y, and may have entries ±∞.
	ConjugateGradient(dst, y []float64)

	// InDomain reports whether x is in the interior of the domain, where ∇φ exists.
	InDomain(x []float64) bool
}

// A Conjugator computes φ*(y) = sup_x ⟨x, y⟩ − φ(x), equation (2.2), in closed form.
type Conjugator interface{ Conjugate(y []float64) float64 }

// A Shifter computes the z of (3.25b), with 1ᵀ∇φ*(y + z1) = 1, in closed form. It returns
// an error if no such z exists.
type Shifter interface {
	Shift(y []float64) (z float64, err error)
}

// A Divergencer computes D(x; y) by a formula that avoids cancellation when x is near y.
type Divergencer interface{ Divergence(x, y []float64) float64 }

// A StrongConvexer returns a μ ≥ 0 and a p. If μ > 0, it claims that D(x; y) ≥ (μ/2)‖x − y‖², with the norm ‖·‖ of
// ℓ_p, 1 ≤ p ≤ ∞, for all x and y of the domain with 1ᵀx = 1ᵀy = 1. In other words,
// φ(x) ≥ φ(y) + ⟨∇φ(y), x − y⟩ + (μ/2)‖x − y‖². If μ = 0, it claims nothing.
type StrongConvexer interface{ StrongConvexity() (mu, p float64) }

// A Curver computes 1ᵀ∇²φ*(y)1, that is, J″(0) of (3.24). For a modulus that is not a Curver, the solver of (3.25b)
// estimates J″ from differences of J′. A [Separable] is a Curver; its kernel may provide ConjCurvature.
type Curver interface{ ConjugateCurvature(y []float64) float64 }

// A Validator returns an error if the parameters of a modulus or kernel are wrong.
type Validator interface{ Validate() error }

// Validate returns an error if the parameters of m are wrong, or if the domain of m does
// not meet the hyperplane 1ᵀθ = 1 in ℝᵈ.
func Validate(m Modulus, d int) error {
	if err := validate(m); err != nil {
		return err
	}
	_, err := Shift(m, make([]float64, d), nil)
	return err
}

func validate(x any) error {
	if v, ok := x.(Validator); ok {
		return v.Validate()
	}
	return nil
}

// normP returns ‖x‖_p, 1 ≤ p ≤ ∞. It neither overflows nor underflows unless the norm does.
func normP(p float64, x []float64) float64 {
	scale := maxAbs(x)
	if scale == 0 || math.IsInf(scale, 1) || math.IsInf(p, 1) {
		return scale
	}
	var s float64
	for _, v := range x {
		s += math.Pow(math.Abs(v)/scale, p)
	}
	return scale * math.Pow(s, 1/p)
}

// StrongConvexity returns the μ and the p that m claims as a [StrongConvexer]; ok is false if m is
// not a StrongConvexer or claims no μ > 0.
func StrongConvexity(m Modulus) (mu, p float64, ok bool) {
	if s, is := m.(StrongConvexer); is {
		mu, p = s.StrongConvexity()
	}
	return mu, p, mu > 0
}

// Divergence returns the Bregman divergence of Definition 2.5,
//
//	D(x; y) = φ(x) − φ(y) − ⟨x − y, ∇φ(y)⟩,
//
// for x in the domain of φ and y in the interior of the domain, and +∞ for all other x and y. D measures the distance
// from the second argument to the first; it is non-negative, but not symmetric.
//
// If m is not a [Divergencer], Divergence evaluates the definition with compensated sums. The error is then a few
// times 2⁻⁵³(|φ(x)| + |φ(y)| + |⟨x − y, ∇φ(y)⟩|). For x near y, this error can exceed D itself. A negative result is
// replaced by 0.
func Divergence(m Modulus, x, y []float64) float64 {
	checkLen(x, y)
	if d, ok := m.(Divergencer); ok {
		return d.Divergence(x, y)
	}
	fx := m.Value(x)
	if math.IsInf(fx, 1) || !m.InDomain(y) {
		return math.Inf(1)
	}
	g := make([]float64, len(y))
	m.Gradient(g, y)
	for i := range g {
		g[i] *= y[i] - x[i]
	}
	return max(0, sum.Of(append([]float64{fx, -m.Value(y)}, g...)))
}

// Conjugate returns φ*(y) = sup_x ⟨x, y⟩ − φ(x). If m is a [Conjugator], Conjugate uses the formula of m; otherwise,
// it uses Fenchel's equality φ*(y) = ⟨x, y⟩ − φ(x) at x = ∇φ*(y).
func Conjugate(m Modulus, y []float64) float64 {
	if c, ok := m.(Conjugator); ok {
		return c.Conjugate(y)
	}
	x := make([]float64, len(y))
	m.ConjugateGradient(x, y)
	return sum.Dot(x, y) - m.Value(x)
}

func maxAbs(x []float64) float64 { return floats.Norm(x, math.Inf(1)) }

func checkLen(dst, x []float64) {
	if len(dst) != len(x) {
		panic(fmt.Sprintf("bregman: lengths differ: %d and %d", len(dst), len(x)))
	}
}
