package bregman

import (
	"fmt"
	"math"
)

// Radial is φ(x) = k(‖x‖) for an even kernel k: what [Separable] makes a cube of, Radial makes
// a ball of. The domain of k must be (−R, R), R possibly infinite, with k′(0) = 0.
//
//	k, ok := bregman.KernelOf(bregman.LogCosine{R: 2})
//	m := bregman.Radial{Kernel: k} // on the ball of radius 2
type Radial struct{ Kernel Kernel }

var (
	_ Modulus    = Radial{}
	_ Conjugator = Radial{}
	_ Curver     = Radial{}
	_ Validator  = Radial{}
)

// Validate returns an error unless the kernel's domain is symmetric and k′(0) = 0.
func (r Radial) Validate() error {
	if r.Kernel == nil {
		return fmt.Errorf("bregman: radial modulus without a kernel")
	}
	if lo, hi := r.Kernel.Domain(); lo != -hi || !(hi > 0) {
		return fmt.Errorf("bregman: radial modulus of a kernel on (%g, %g): want (−R, R)", lo, hi)
	}
	if d := r.Kernel.Deriv(0); d != 0 {
		return fmt.Errorf("bregman: radial modulus of a kernel with k′(0) = %g: want 0", d)
	}
	return validate(r.Kernel)
}

// Value returns k(‖x‖).
func (r Radial) Value(x []float64) float64 {
	n := Norm(2).Of(x)
	if _, hi := r.Kernel.Domain(); !(n <= hi) {
		return math.Inf(1)
	}
	return r.Kernel.Value(n)
}

// Gradient stores k′(‖x‖)x/‖x‖ in dst.
func (r Radial) Gradient(dst, x []float64) { radially(dst, x, r.Kernel.Deriv) }

// ConjugateGradient stores (k*)′(‖y‖)y/‖y‖ in dst.
func (r Radial) ConjugateGradient(dst, y []float64) { radially(dst, y, r.Kernel.ConjDeriv) }

func radially(dst, x []float64, f func(float64) float64) {
	checkLen(dst, x)
	n := Norm(2).Of(x)
	if n == 0 {
		clear(dst)
		return
	}
	v := f(n)
	for i := range x {
		dst[i] = x[i] / n * v
	}
}

// ConjugateCurvature returns J″ of (3.24), d(s (k*)″(n) + (1 − s) (k*)′(n)/n) with n = ‖y‖ and
// s = dȳ²/n², or NaN if the kernel is no [KernelCurver].
func (r Radial) ConjugateCurvature(y []float64) float64 {
	k, ok := r.Kernel.(KernelCurver)
	n := Norm(2).Of(y)
	switch {
	case !ok:
		return math.NaN()
	case n == 0:
		return float64(len(y)) * k.ConjCurvature(0)
	}
	_, _, c, ww := centred(y)
	t := math.Sqrt(ww) / c / n // √(1 − s)
	t *= t
	return float64(len(y)) * (max(0, 1-t)*k.ConjCurvature(n) + t*r.Kernel.ConjDeriv(n)/n)
}

// InDomain reports whether ‖x‖ < R.
func (r Radial) InDomain(x []float64) bool {
	_, hi := r.Kernel.Domain()
	return Norm(2).Of(x) < hi
}

// Conjugate returns k*(‖y‖).
func (r Radial) Conjugate(y []float64) float64 { return kernelConjugate(r.Kernel, Norm(2).Of(y)) }

// String names the kernel.
func (r Radial) String() string { return fmt.Sprintf("radial %v", r.Kernel) }
