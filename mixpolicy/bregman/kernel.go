package bregman

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// A Kernel is a Legendre function φ of one real variable: all that an author of a
// separable modulus has to write.
type Kernel interface {
	// Value returns φ(x).
	Value(x float64) float64
	// Deriv returns φ′(x) for lo < x < hi; it is increasing.
	Deriv(x float64) float64
	// ConjDeriv returns (φ*)′(y), the x with φ′(x) = y; for a y above the range of φ′
	// it returns hi, below it lo.
	ConjDeriv(y float64) float64
	// Domain returns the ends of the open interval in which φ′ exists.
	Domain() (lo, hi float64)
}

// A KernelCurver is a kernel, or a [Coordinatewise] modulus, that knows
// (φ*)″(y) = 1/φ″((φ*)′(y)).
type KernelCurver interface {
	ConjCurvature(y float64) float64
}

// A KernelConjugator is a kernel that knows its conjugate.
type KernelConjugator interface {
	Conjugate(y float64) float64
}

// A KernelDivergencer is a kernel with a formula for D(x; y) that does not cancel.
type KernelDivergencer interface {
	Divergence(x, y float64) float64
}

// curverOf returns k's own (φ*)″, or one by differences if it has none.
func curverOf(k Coordinatewise) KernelCurver {
	if c, ok := k.(KernelCurver); ok && !math.IsNaN(c.ConjCurvature(0)) {
		return c
	}
	return differenced{k}
}

// differenced is a kernel with (φ*)″ = 1/φ″ from a central difference of φ′: for a step of
// 2⁻¹⁷ of the distance from the ends, and of |x| + 2⁻¹⁰, half of the digits are right.
type differenced struct{ Coordinatewise }

func (k differenced) ConjCurvature(y float64) float64 {
	x := k.ConjDeriv(y)
	lo, hi := k.Domain()
	h := 0x1p-17 * min(x-lo, hi-x, math.Abs(x)+0x1p-10)
	rise := k.Deriv(x+h) - k.Deriv(x-h)
	if !(rise > 0) { // x is at an end, to within rounding
		return 0
	}
	return ((x + h) - (x - h)) / rise
}

// kernelConjugate returns k*(y), as xy − k(x) at x = (k*)′(y) if the kernel has no formula.
func kernelConjugate(k Kernel, y float64) float64 {
	if c, ok := k.(KernelConjugator); ok {
		return c.Conjugate(y)
	}
	x := k.ConjDeriv(y)
	if math.IsInf(x, 0) {
		return math.Inf(1)
	}
	return math.FMA(x, y, -k.Value(x))
}

// kernelDivergence returns φ(x) − φ(y) − (x−y)φ′(y). Where the three terms cancel to less
// than 10⁻⁶ of their size, x is so near y that a quadrature of a smooth integrand takes
// over: with e = x − y, D = e² ∫₀¹ (1−t) φ″(y+te) dt, in which nothing cancels, or, if φ″ is
// not known, D = e ∫₀¹ φ′(y+te) − φ′(y) dt, which loses the digits that φ′(x) and φ′(y) have
// in common.
func kernelDivergence(k Kernel, x, y float64) float64 {
	if d, ok := k.(KernelDivergencer); ok {
		return d.Divergence(x, y)
	}
	if c, ok := k.(coordinate); ok {
		if d, ok := c.m.(Divergencer); ok {
			return d.Divergence([]float64{x}, []float64{y})
		}
	}
	lo, hi := k.Domain()
	if !(lo <= x && x <= hi && lo < y && y < hi) {
		return math.Inf(1)
	}
	e, slope := x-y, k.Deriv(y)
	fx, fy := k.Value(x), k.Value(y)
	direct := fx - fy - e*slope
	if direct > 1e-6*(math.Abs(fx)+math.Abs(fy)+math.Abs(e*slope)) {
		return direct
	}
	var smooth, rough float64
	for i, t := range gaussNodes {
		d := k.Deriv(y + t*e)
		smooth += gaussWeights[i] * (1 - t) / curvature(k, d) * e * e
		rough += gaussWeights[i] * (d - slope) * e
	}
	if smooth >= 0 && !math.IsInf(smooth, 1) {
		return smooth
	}
	return max(0, rough)
}

// The four-point Gauss–Legendre rule on (0, 1): ½ ± ½√(3/7 ∓ (2/7)√(6/5)).
var (
	gaussNodes   = [4]float64{0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970263}
	gaussWeights = [4]float64{0.17392742256872693, 0.32607257743127307, 0.32607257743127307, 0.17392742256872693}
)

// Separable is the modulus φ(x) = Σᵢ k(xᵢ) of a kernel k. It makes an interface
// call per element; a modulus meant for long vectors implements [Modulus] itself.
//
//	m := bregman.Separable{Kernel: halfCircle{}} // a type with Value, Deriv, ConjDeriv and Domain
//	err := bregman.Check(m, 3, 1).Err()
type Separable struct{ Kernel }

var (
	_ Modulus        = Separable{}
	_ Conjugator     = Separable{}
	_ Divergencer    = Separable{}
	_ Coordinatewise = Separable{}
	_ KernelCurver   = Separable{}
	_ Validator      = Separable{}
)

// Validate returns an error if the kernel's domain is empty.
func (s Separable) Validate() error {
	if s.Kernel == nil {
		return fmt.Errorf("bregman: separable modulus without a kernel")
	}
	if err := validate(s.Kernel); err != nil {
		return err
	}
	if lo, hi := s.Kernel.Domain(); !(lo < hi) {
		return fmt.Errorf("bregman: the domain (%g, %g) of %v is empty", lo, hi, s.Kernel)
	}
	return nil
}

// Value returns Σᵢ k(xᵢ).
func (s Separable) Value(x []float64) float64 {
	lo, hi := s.Kernel.Domain()
	var acc sum.Accumulator
	for _, v := range x {
		if !(lo <= v && v <= hi) {
			return math.Inf(1)
		}
		acc.Add(s.Kernel.Value(v))
	}
	return acc.Value()
}

// Gradient stores k′(xᵢ) in dst.
func (s Separable) Gradient(dst, x []float64) {
	checkLen(dst, x)
	for i, v := range x {
		dst[i] = s.Kernel.Deriv(v)
	}
}

// ConjugateGradient stores (k*)′(yᵢ) in dst.
func (s Separable) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	for i, v := range y {
		dst[i] = s.Kernel.ConjDeriv(v)
	}
}

// Conjugate returns Σᵢ k*(yᵢ), each term as xy − k(x) at x = (k*)′(y).
func (s Separable) Conjugate(y []float64) float64 {
	var acc sum.Accumulator
	for _, v := range y {
		acc.Add(kernelConjugate(s.Kernel, v))
	}
	return acc.Value()
}

// Divergence returns Σᵢ D(xᵢ; yᵢ).
func (s Separable) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	var acc sum.Accumulator
	for i, v := range x {
		acc.Add(kernelDivergence(s.Kernel, v, y[i]))
	}
	return acc.Value()
}

// InDomain reports whether lo < xᵢ < hi for all i.
func (s Separable) InDomain(x []float64) bool {
	lo, hi := s.Kernel.Domain()
	return inInterval(x, lo, hi)
}

// ConjCurvature returns (k*)″(y), or NaN if the kernel is no [KernelCurver].
func (s Separable) ConjCurvature(y float64) float64 {
	if c, ok := s.Kernel.(KernelCurver); ok {
		return c.ConjCurvature(y)
	}
	return math.NaN()
}

// String names the kernel.
func (s Separable) String() string { return fmt.Sprintf("separable %v", s.Kernel) }

func inInterval(x []float64, lo, hi float64) bool {
	for _, v := range x {
		if !(lo < v && v < hi) {
			return false
		}
	}
	return true
}
