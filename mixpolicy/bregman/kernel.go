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

// Separable is the modulus φ(x) = Σᵢ k(xᵢ) of a kernel k. It makes an interface
// call per element; a modulus meant for long vectors implements [Modulus] itself.
type Separable struct{ Kernel }

var (
	_ Modulus        = Separable{}
	_ Conjugator     = Separable{}
	_ Curver         = Separable{}
	_ Coordinatewise = Separable{}
	_ KernelCurver   = Separable{}
	_ Validator      = Separable{}
)

// Validate returns an error if the kernel's domain is empty.
func (s Separable) Validate() error {
	if s.Kernel == nil {
		return fmt.Errorf("bregman: separable modulus without a kernel")
	}
	if lo, hi := s.Kernel.Domain(); !(lo < hi) {
		return fmt.Errorf("bregman: kernel's domain (%g, %g) is empty", lo, hi)
	}
	if v, ok := s.Kernel.(Validator); ok {
		return v.Validate()
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
		x := s.Kernel.ConjDeriv(v)
		acc.Add(x * v)
		acc.Add(-s.Kernel.Value(x))
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

// ConjugateCurvature returns Σᵢ (k*)″(yᵢ), or NaN if the kernel is no [KernelCurver].
func (s Separable) ConjugateCurvature(y []float64) float64 {
	c, ok := s.Kernel.(KernelCurver)
	if !ok {
		return math.NaN()
	}
	var acc sum.Accumulator
	for _, v := range y {
		acc.Add(c.ConjCurvature(v))
	}
	return acc.Value()
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
