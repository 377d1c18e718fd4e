package bregman

import (
	"cmp"
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// A Kernel is a Legendre function φ of one real variable. The author of a separable modulus need write only a Kernel.
//
// The package also uses these optional methods of a kernel:
//
//	Conjugate(y float64) float64      // φ*(y)
//	Divergence(x, y float64) float64  // D(x; y)
//	ConjCurvature(y float64) float64  // (φ*)″(y) = 1/φ″((φ*)′(y))
//
// The methods Validate and String are also optional. Without Conjugate, the package computes φ*(y) as xy − φ(x) at
// x = (φ*)′(y). Without Divergence, it computes D by the definition, or by a quadrature where the terms of the
// definition cancel. Without ConjCurvature, it computes (φ*)″ from a difference of φ′.
type Kernel interface {
	// Value returns φ(x) for lo ≤ x ≤ hi.
	Value(x float64) float64
	// Deriv returns φ′(x) for lo < x < hi; φ′ must be strictly increasing.
	Deriv(x float64) float64
	// ConjDeriv returns (φ*)′(y), the x with φ′(x) = y; it returns hi for a y above the range of
	// φ′, and lo for a y below the range.
	ConjDeriv(y float64) float64
	// Domain returns the ends of the open interval in which φ′ exists.
	Domain() (lo, hi float64)
}

type kernelConjugator interface{ Conjugate(y float64) float64 }
type kernelDivergencer interface{ Divergence(x, y float64) float64 }
type kernelCurver interface{ ConjCurvature(y float64) float64 }

// Separable is the modulus φ(x) = Σᵢ kᵢ(xᵢ), with the same kernel for every coordinate, or a
// different kernel for each.
//
//	m := bregman.Separable{Kernel: halfCircle{}} // a type with Value, Deriv, ConjDeriv and Domain
//	err := bregman.Check(ctx, m, 3, 1).Err()
//
// Separable calls the kernel through the interface [Kernel]; the calls take 1 to 4 ns per entry.
type Separable struct {
	Kernel Kernel   // the kernel of every coordinate, if Each is nil
	Each   []Kernel // if the kernels differ: one kernel for each coordinate
	Name   string   // the result of String; if empty, String describes the kernels
	Mu     float64  // the constant of strong convexity in ℓ_p; 0 if unknown
	P      float64  // the p of this ℓ_p
}

// separable returns s. Types that embed a Separable also have this method.
func (s Separable) separable() Separable { return s }

// asSeparable returns the Separable that m is or embeds, and whether there is one.
func asSeparable(m Modulus) (Separable, bool) {
	if s, ok := m.(interface{ separable() Separable }); ok {
		return s.separable(), true
	}
	return Separable{}, false
}

// IsSeparable reports whether m is a [Separable] or embeds one. If so, ∇φ and ∇φ* act on each coordinate separately.
func IsSeparable(m Modulus) bool { _, ok := asSeparable(m); return ok }

func (s Separable) at(i int) Kernel {
	if s.Each == nil {
		return s.Kernel
	}
	return s.Each[i]
}

// kernels returns Each or, if Each is nil, a slice that holds only Kernel.
func (s Separable) kernels() []Kernel {
	if s.Each == nil {
		return []Kernel{s.Kernel}
	}
	return s.Each
}

func (s Separable) checkLen(x []float64) {
	if s.Each != nil && len(x) != len(s.Each) {
		panic(fmt.Sprintf("bregman: vector of %d entries for a modulus of %d coordinates", len(x), len(s.Each)))
	}
}

// Validate returns the first error of a kernel, or an error if a kernel is missing or has an empty domain.
func (s Separable) Validate() error {
	for i, k := range s.kernels() {
		if k == nil {
			return fmt.Errorf("bregman: %v has no kernel for coordinate %d: want one (Sum wants separable moduli in ℝᵈ)", s, i)
		}
		err := validate(k)
		if lo, hi := k.Domain(); err == nil && !(lo < hi) {
			err = fmt.Errorf("bregman: the domain (%g, %g) of %v is empty", lo, hi, s)
		}
		if err != nil && s.Each != nil {
			return fmt.Errorf("%w, at coordinate %d", err, i)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Value returns Σᵢ kᵢ(xᵢ), or +∞ outside the closed domain.
func (s Separable) Value(x []float64) float64 {
	return s.total(x, func(k Kernel, i int) float64 {
		if lo, hi := k.Domain(); !(lo <= x[i] && x[i] <= hi) {
			return math.Inf(1)
		}
		return k.Value(x[i])
	})
}

// total returns the sum of f over the coordinates.
func (s Separable) total(x []float64, f func(k Kernel, i int) float64) float64 {
	s.checkLen(x)
	var acc sum.Accumulator
	for i := range x {
		acc.Add(f(s.at(i), i))
	}
	return acc.Value()
}

// Gradient stores kᵢ′(xᵢ) in dst[i].
func (s Separable) Gradient(dst, x []float64) {
	checkLen(dst, x)
	s.checkLen(x)
	for i, v := range x {
		dst[i] = s.at(i).Deriv(v)
	}
}

// ConjugateGradient stores (kᵢ*)′(yᵢ) in dst[i].
func (s Separable) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	s.checkLen(y)
	for i, v := range y {
		dst[i] = s.at(i).ConjDeriv(v)
	}
}

// Conjugate returns Σᵢ kᵢ*(yᵢ).
func (s Separable) Conjugate(y []float64) float64 {
	return s.total(y, func(k Kernel, i int) float64 { return kernelConjugate(k, y[i]) })
}

// Divergence returns Σᵢ Dᵢ(xᵢ; yᵢ), where Dᵢ is the divergence of kᵢ.
func (s Separable) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	return s.total(x, func(k Kernel, i int) float64 { return kernelDivergence(k, x[i], y[i]) })
}

// ConjugateCurvature returns Σᵢ (kᵢ*)″(yᵢ).
func (s Separable) ConjugateCurvature(y []float64) float64 {
	return s.total(y, func(k Kernel, i int) float64 { return kernelCurvature(k, y[i]) })
}

// InDomain reports whether each xᵢ is inside its interval.
func (s Separable) InDomain(x []float64) bool { return s.outside(x) < 0 }

// outside returns the index of the first xᵢ that is not inside its interval, or −1.
func (s Separable) outside(x []float64) int {
	s.checkLen(x)
	for i, v := range x {
		if lo, hi := s.at(i).Domain(); !(lo < v && v < hi) {
			return i
		}
	}
	return -1
}

// StrongConvexity returns Mu and P.
func (s Separable) StrongConvexity() (mu, p float64) { return s.Mu, s.P }

// String returns the name or, if the name is empty, a description of the kernels.
func (s Separable) String() string {
	if s.Each != nil && s.Name == "" {
		return fmt.Sprintf("separable, with %d kernels", len(s.Each))
	}
	return cmp.Or(s.Name, "separable "+nameOf(s.Kernel))
}

// kernelCurvature returns (k*)″(y). If the kernel has no ConjCurvature, or if ConjCurvature returns NaN,
// kernelCurvature estimates 1/k″ at x = (k*)′(y) from a central difference of k′. The step of the difference is 2⁻¹⁷
// times the distance of x from the nearer end of the domain, but at most 2⁻¹⁷(|x| + 2⁻¹⁰). About ten digits are then
// right.
func kernelCurvature(k Kernel, y float64) float64 {
	if c, ok := k.(kernelCurver); ok {
		if c := c.ConjCurvature(y); !math.IsNaN(c) {
			return c
		}
	}
	x := k.ConjDeriv(y)
	lo, hi := k.Domain()
	h := 0x1p-17 * min(x-lo, hi-x, math.Abs(x)+0x1p-10)
	rise := k.Deriv(x+h) - k.Deriv(x-h)
	if !(rise > 0) { // x is at an end to within rounding
		return 0
	}
	return ((x + h) - (x - h)) / rise
}

// kernelConjugate returns k*(y). Without the kernel's Conjugate, it computes xy − k(x) at x = (k*)′(y), or returns +∞
// if this x is infinite.
func kernelConjugate(k Kernel, y float64) float64 {
	if c, ok := k.(kernelConjugator); ok {
		return c.Conjugate(y)
	}
	x := k.ConjDeriv(y)
	if math.IsInf(x, 0) {
		return math.Inf(1)
	}
	return math.FMA(x, y, -k.Value(x))
}

// kernelDivergence returns D(x; y) = φ(x) − φ(y) − (x−y)φ′(y), or +∞ unless x is in the closed domain and y in its
// interior. Without the kernel's Divergence, it evaluates this definition. If the three terms cancel to less than 10⁻⁶
// of their size, because x is near y or φ contains a large constant, it uses a quadrature instead. Let e = x − y. If
// the kernel has ConjCurvature, the quadrature computes e² ∫₀¹ (1−u) φ″(y+ue) du, where nothing cancels. Without
// ConjCurvature, or if this integral is not finite, the quadrature computes e ∫₀¹ φ′(y+ue) − φ′(y) du, which loses the
// digits that φ′(x) and φ′(y) share. The double exponential rule of Takahasi and Mori (1974) stays accurate near an end
// of the domain.
func kernelDivergence(k Kernel, x, y float64) float64 {
	lo, hi := k.Domain()
	if !(lo <= x && x <= hi && lo < y && y < hi) {
		return math.Inf(1)
	}
	if d, ok := k.(kernelDivergencer); ok {
		return d.Divergence(x, y)
	}
	e, slope, fx, fy := x-y, k.Deriv(y), k.Value(x), k.Value(y)
	direct := fx - fy - e*slope
	if direct > 1e-6*(math.Abs(fx)+math.Abs(fy)+math.Abs(e*slope)) || math.IsInf(fx, 1) {
		return direct
	}
	own, curved := k.(kernelCurver)
	smooth, rough, step := 0., 0., 1./16
	for j := -52; j <= 52; j++ { // the trapezoidal rule in s, with u = 1/(1 + exp(−π sinh s))
		s := step * float64(j)
		v := math.Exp(math.Pi * math.Sinh(s))
		weight, t := step*math.Pi*math.Cosh(s)*v/(1+v)/(1+v), x-e/(1+v)
		if v < 1 {
			t = y + e*v/(1+v)
		}
		d := k.Deriv(t)
		if curved {
			smooth += weight / (1 + v) / own.ConjCurvature(d) * e * e
		}
		rough += weight * (d - slope) * e
	}
	if curved && smooth >= 0 && !math.IsInf(smooth, 1) {
		return smooth
	}
	return max(0, rough)
}
