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
// There are three ways to a modulus of one's own: a scalar function, whose derivative
// and inverse are then found automatically ([FromFunc]); a [Kernel] with both written
// down, which [Separable] lifts to a cube and [Radial] to a ball; or a [Modulus] for whole
// vectors. [Scale], [Translate], [Sum], [Regularize], [Box], [Blocks], [NewAffine] and
// [Restrict] make new ones of old, [Gallery] lists those of this package, and [Check]
// examines any of them. Everything else is found by type assertion where a type has more to
// say: [Conjugator], [Shifter], [Divergencer], [StrongConvexer], [Curver], [Coordinatewise],
// [Validator].
package bregman

import (
	"fmt"
	"math"
)

// A Modulus is a Legendre function φ on ℝᵈ.
//
// The methods take whole vectors because an interface call per element would cost
// twenty times the arithmetic. Implementations work for every d, allocate nothing in
// Gradient and ConjugateGradient, allow dst to be the input itself, and are safe
// for concurrent use.
type Modulus interface {
	// Value returns φ(x), and +∞ where x is outside the domain of φ.
	Value(x []float64) float64

	// Gradient stores ∇φ(x) in dst, for x in the interior of the domain.
	Gradient(dst, x []float64)

	// ConjugateGradient stores ∇φ*(y) in dst: the one θ with ∇φ(θ) = y. For a
	// finite y it is never NaN: a y beyond the range of ∇φ gives the boundary of the
	// domain that it lies beyond, which may be ±∞.
	ConjugateGradient(dst, y []float64)

	// InDomain reports whether x is in the interior of the domain, where ∇φ exists.
	InDomain(x []float64) bool
}

// A Conjugator knows φ*(y) = sup_x ⟨x, y⟩ − φ(x), equation (2.5), in closed form.
type Conjugator interface{ Conjugate(y []float64) float64 }

// A Shifter knows the z of (3.25b), with 1ᵀ∇φ*(y + z1) = 1, in closed form. It
// returns an error if there is none.
type Shifter interface {
	Shift(y []float64) (z float64, err error)
}

// A Divergencer has a formula for D(x; y) that does not cancel when x is near y.
type Divergencer interface{ Divergence(x, y []float64) float64 }

// A StrongConvexer knows a μ > 0 and a norm with
// φ(x) ≥ φ(y) + ⟨∇φ(y), x − y⟩ + (μ/2)‖x − y‖² on C ∩ Θ₂, that is
// D(x; y) ≥ (μ/2)‖x − y‖².
type StrongConvexer interface {
	StrongConvexity() (mu float64, norm Norm)
}

// A Curver is a modulus, not separable, that knows 1ᵀ∇²φ*(y)1, which is J″ of (3.24),
// and spares the solver of (3.25b) the estimation of slopes. A separable one has a
// [KernelCurver] for that.
type Curver interface {
	ConjugateCurvature(y []float64) float64
}

// A Validator says what is wrong with a modulus's parameters.
type Validator interface{ Validate() error }

// A Coordinatewise modulus is separable, φ(x) = Σᵢ k(xᵢ), with the same kernel k at
// every coordinate, whose derivative, its inverse and its open interval are these.
type Coordinatewise interface {
	Deriv(x float64) float64
	ConjDeriv(y float64) float64
	Domain() (lo, hi float64)
}

// Validate returns an error if the parameters of m are wrong, or if its domain does
// not meet the hyperplane 1ᵀθ = 1 in ℝᵈ.
func Validate(m Modulus, d int) error {
	if err := validate(m); err != nil {
		return err
	}
	if d < 1 {
		return fmt.Errorf("bregman: dimension d = %d: want at least 1", d)
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

// A Norm is the p of an ℓ_p norm, 1 ≤ p ≤ ∞: Norm(2) is Euclidean, Norm(math.Inf(1))
// the largest modulus.
type Norm float64

// Of returns ‖x‖_p. It neither overflows nor underflows unless the norm does.
func (p Norm) Of(x []float64) float64 {
	scale := maxAbs(x)
	if scale == 0 || math.IsInf(scale, 1) || math.IsInf(float64(p), 1) {
		return scale
	}
	var s float64
	for _, v := range x {
		s += math.Pow(math.Abs(v)/scale, float64(p))
	}
	return scale * math.Pow(s, 1/float64(p))
}

// Dual returns the exponent q of the dual norm, 1/p + 1/q = 1.
func (p Norm) Dual() Norm {
	switch {
	case p == 1:
		return Norm(math.Inf(1))
	case math.IsInf(float64(p), 1):
		return 1
	}
	return p / (p - 1)
}

// String returns ℓ_p with the exponent written out.
func (p Norm) String() string {
	if math.IsInf(float64(p), 1) {
		return "ℓ∞"
	}
	return fmt.Sprintf("ℓ%.4g", float64(p))
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
