package bregman

import (
	"fmt"
	"math"
)

// boxKernel is a kernel moved from its own interval onto (lo, hi), with s the ratio of their
// lengths. It reckons from the nearer end, so that nothing is lost there.
type boxKernel struct {
	Kernel
	lo, hi, s float64
}

func (k boxKernel) inner(x float64) float64 {
	a, b := k.Kernel.Domain()
	if x-k.lo < k.hi-x {
		return a + k.s*(x-k.lo)
	}
	return b - k.s*(k.hi-x)
}

func (k boxKernel) outer(x float64) float64 {
	a, b := k.Kernel.Domain()
	if x-a < b-x {
		return k.lo + (x-a)/k.s
	}
	return k.hi - (b-x)/k.s
}

func (k boxKernel) Value(x float64) float64 { return k.Kernel.Value(k.inner(x)) }

func (k boxKernel) Deriv(x float64) float64 { return k.s * k.Kernel.Deriv(k.inner(x)) }

func (k boxKernel) ConjDeriv(y float64) float64 { return k.outer(k.Kernel.ConjDeriv(y / k.s)) }

func (k boxKernel) ConjCurvature(y float64) float64 {
	return curvature(k.Kernel, y/k.s) / (k.s * k.s)
}

func (k boxKernel) Sketch(y float64) (x, slope float64) {
	x, slope = sketch(k.Kernel, y/k.s)
	return k.outer(x), slope / (k.s * k.s)
}

func (k boxKernel) Divergence(x, y float64) float64 {
	return kernelDivergence(k.Kernel, k.inner(x), k.inner(y))
}

func (k boxKernel) Domain() (lo, hi float64) { return k.lo, k.hi }

func (k boxKernel) Validate() error { return validate(k.Kernel) }

func (k boxKernel) String() string { return fmt.Sprintf("%v on (%g, %g)", k.Kernel, k.lo, k.hi) }

// Box moves a separable modulus with a bounded domain onto the box (loᵢ, hiᵢ), coordinate by
// coordinate. It returns an error if m is not separable, if its domain is unbounded, or if
// an interval is empty.
//
//	m, err := bregman.Box(bregman.Hellinger{R: 1}, []float64{0, 0, -1}, []float64{0.6, 1, 1})
//	inside := m.InDomain([]float64{0.5, 0.9, -0.4}) // true
func Box(m Modulus, lo, hi []float64) (Modulus, error) {
	checkLen(lo, hi)
	k, ok := KernelOf(m)
	if !ok {
		return nil, fmt.Errorf("bregman: box of %v: want a separable modulus", m)
	}
	a, b := k.Domain()
	if math.IsInf(a, -1) || math.IsInf(b, 1) {
		return nil, fmt.Errorf("bregman: box of %v: its domain (%g, %g) is unbounded", m, a, b)
	}
	ks := make(Coordinates, len(lo))
	for i := range lo {
		if !(lo[i] < hi[i]) || math.IsInf(hi[i]-lo[i], 1) {
			return nil, fmt.Errorf("bregman: side %d of the box, (%g, %g), is not a bounded interval", i, lo[i], hi[i])
		}
		ks[i] = boxKernel{k, lo[i], hi[i], (b - a) / (hi[i] - lo[i])}
	}
	return ks, nil
}
