package bregman

import (
	"fmt"
)

// Translate returns φ(x − b), whose domain is moved by b. A b of length 1 moves every
// coordinate.
//
//	m := bregman.Translate(bregman.Ball{R: 1}, 0.5, 0.5, 0) // a ball about (½, ½, 0)
//	inside := m.InDomain([]float64{1, 1, 0})                // true
func Translate(m Modulus, b ...float64) Modulus {
	if k, ok := KernelOf(m); ok {
		if len(b) == 1 {
			return Separable{movedKernel{k, b[0]}}
		}
		ks := make(Coordinates, len(b))
		for i, v := range b {
			ks[i] = movedKernel{k, v}
		}
		return ks
	}
	return translated{m, b}
}

type translated struct {
	Modulus
	b []float64
}

func (t translated) by(i int) float64 {
	if len(t.b) == 1 {
		return t.b[0]
	}
	return t.b[i]
}

func (t translated) checkLen(x []float64) {
	if len(t.b) != 1 {
		checkLen(t.b, x)
	}
}

// minus stores x − b in dst.
func (t translated) minus(dst, x []float64) []float64 {
	t.checkLen(x)
	for i, v := range x {
		dst[i] = v - t.by(i)
	}
	return dst
}

func (t translated) Value(x []float64) float64 {
	return t.Modulus.Value(t.minus(make([]float64, len(x)), x))
}

func (t translated) Gradient(dst, x []float64) {
	checkLen(dst, x)
	t.Modulus.Gradient(dst, t.minus(dst, x))
}

func (t translated) ConjugateGradient(dst, y []float64) {
	t.checkLen(y)
	t.Modulus.ConjugateGradient(dst, y)
	for i := range dst {
		dst[i] += t.by(i)
	}
}

func (t translated) InDomain(x []float64) bool {
	return t.Modulus.InDomain(t.minus(make([]float64, len(x)), x))
}

func (t translated) Divergence(x, y []float64) float64 {
	return Divergence(t.Modulus, t.minus(make([]float64, len(x)), x), t.minus(make([]float64, len(y)), y))
}

func (t translated) Validate() error { return validate(t.Modulus) }

func (t translated) String() string { return fmt.Sprintf("%v moved by %v", t.Modulus, t.b) }

// movedKernel is φ(x − by).
type movedKernel struct {
	Kernel
	by float64
}

func (k movedKernel) Value(x float64) float64         { return k.Kernel.Value(x - k.by) }
func (k movedKernel) Deriv(x float64) float64         { return k.Kernel.Deriv(x - k.by) }
func (k movedKernel) ConjDeriv(y float64) float64     { return k.Kernel.ConjDeriv(y) + k.by }
func (k movedKernel) ConjCurvature(y float64) float64 { return curvature(k.Kernel, y) }

func (k movedKernel) Sketch(y float64) (x, slope float64) {
	x, slope = sketch(k.Kernel, y)
	return x + k.by, slope
}

func (k movedKernel) Divergence(x, y float64) float64 {
	return kernelDivergence(k.Kernel, x-k.by, y-k.by)
}

func (k movedKernel) Domain() (lo, hi float64) {
	lo, hi = k.Kernel.Domain()
	return lo + k.by, hi + k.by
}

func (k movedKernel) Validate() error { return validate(k.Kernel) }
func (k movedKernel) String() string  { return fmt.Sprintf("%v moved by %g", k.Kernel, k.by) }
