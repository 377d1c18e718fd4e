// Package bregman holds the moduli φ of the paper's mirror step, the divergences
// they induce, and the projection that keeps the iterates on the hyperplane
// Θ₂ = {θ : 1ᵀθ = 1}.
//
// A modulus is a Legendre function (Definition 2.4): strictly convex, differentiable
// in the interior of its domain C, with ‖∇φ‖ → ∞ at the boundary of C. Its gradient
// is then a bijection of int C onto the domain of the conjugate φ*, with inverse ∇φ*,
// and a step of Algorithm 1 is
//
//	y ← y − ηg          the gradient step, in dual coordinates y = ∇φ(θ)    (3.25a)
//	y ← y + z1          z minimises J(z) = φ*(y + z1) − z                     (3.25b)
//	θ = ∇φ*(y)          the point of C ∩ Θ₂                                    (3.25c)
//
// [ProjectDual] does the second line. The iterate stays dual, so a θ that has
// come within rounding of the boundary loses nothing.
//
// There are several ways to a modulus of one's own: a function of one variable or of all
// ([FromFunc], [FromVectorFunc]), whose derivative and inverse are then found automatically; one with
// both written down, as functions or as a [Kernel] ([FromClosures], [Separable]); or a [Modulus] for
// whole vectors. [Gallery] lists those of this package, [Scale] multiplies one by a number, [Sum] adds two, [Product] has
// one for each of several blocks of coordinates, and [Check] examines any of them. The optional methods of a modulus
// are found by type assertion: [Conjugator], [Shifter], [Divergencer], [StrongConvexer], [Curver], [Validator].
package bregman

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// A Modulus is a Legendre function φ on ℝᵈ.
//
// The methods take whole vectors, because a φ need not be a sum over the coordinates; for one that
// is, write a [Kernel]. Implementations work for every d, allocate nothing in Gradient and
// ConjugateGradient, allow dst to be the input itself, and are safe for concurrent use.
type Modulus interface {
	// Value returns φ(x), and +∞ where x is outside the domain of φ.
	Value(x []float64) float64

	// Gradient stores ∇φ(x) in dst, for x in the interior of the domain.
	Gradient(dst, x []float64)

	// ConjugateGradient stores ∇φ*(y) in dst: the one θ with ∇φ(θ) = y. For a
	// finite y it is never NaN: for a y beyond the range of ∇φ, it is the boundary of the
	// domain on that side, which may be ±∞.
	ConjugateGradient(dst, y []float64)

	// InDomain reports whether x is in the interior of the domain, where ∇φ exists.
	InDomain(x []float64) bool
}

// A Conjugator knows φ*(y) = sup_x ⟨x, y⟩ − φ(x), equation (2.2), in closed form.
type Conjugator interface{ Conjugate(y []float64) float64 }

// A Shifter knows the z of (3.25b), with 1ᵀ∇φ*(y + z1) = 1, in closed form. It
// returns an error if there is none.
type Shifter interface {
	Shift(y []float64) (z float64, err error)
}

// A Divergencer has a formula for D(x; y) that does not cancel when x is near y.
type Divergencer interface{ Divergence(x, y []float64) float64 }

// A StrongConvexer knows a μ > 0 and a p, 1 ≤ p ≤ ∞, such that in the norm of ℓ_p
// φ(x) ≥ φ(y) + ⟨∇φ(y), x − y⟩ + (μ/2)‖x − y‖² on C ∩ Θ₂, that is
// D(x; y) ≥ (μ/2)‖x − y‖².
type StrongConvexer interface{ StrongConvexity() (mu, p float64) }

// A Curver knows 1ᵀ∇²φ*(y)1, which is J″ of (3.24), and spares the solver of (3.25b) the
// estimation of slopes. The kernel of a [Separable] has ConjCurvature for that.
type Curver interface{ ConjugateCurvature(y []float64) float64 }

// A Validator says what is wrong with a modulus's parameters.
type Validator interface{ Validate() error }

// Validate returns an error if the parameters of m are wrong, or if its domain does
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

// StrongConvexity returns the μ and the p of a [StrongConvexer], and false if m is none or
// knows no μ > 0.
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
// for x in the domain of φ and y in its interior, and +∞ elsewhere. It is a distance
// from the second argument to the first, non-negative and not symmetric.
//
// Where m is not a [Divergencer], the definition is evaluated as it stands, with
// compensated sums: the error is then a few 2⁻⁵³·(|φ(x)| + |φ(y)| + |⟨x − y, ∇φ(y)⟩|),
// which for x near y may exceed D itself; the result is cut off at 0.
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

// Conjugate returns φ*(y) = sup_x ⟨x, y⟩ − φ(x): by m's own formula if it is a
// [Conjugator], and else by Fenchel's equality φ*(y) = ⟨x, y⟩ − φ(x) at x = ∇φ*(y).
func Conjugate(m Modulus, y []float64) float64 {
	if c, ok := m.(Conjugator); ok {
		return c.Conjugate(y)
	}
	x := make([]float64, len(y))
	m.ConjugateGradient(x, y)
	return sum.Dot(x, y) - m.Value(x)
}

func maxAbs(x []float64) float64 {
	var m float64
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

func checkLen(dst, x []float64) {
	if len(dst) != len(x) {
		panic(fmt.Sprintf("bregman: lengths differ: %d and %d", len(dst), len(x)))
	}
}
