package bregman

import (
	"fmt"
	"math"
)

// KernelOf returns the kernel of a separable modulus, and false if m is none. A combination of
// separable moduli is separable again, as a [Separable] over a combined kernel, so that all that
// the solver of (3.25b) knows of kernels still applies.
//
//	k, ok := bregman.KernelOf(bregman.Hellinger{R: 2})
//	x := k.ConjDeriv(0.5) // (k*)′(½) = 2·½/√(1 + ¼)
func KernelOf(m Modulus) (Kernel, bool) {
	if s, ok := m.(Separable); ok {
		return s.Kernel, true
	}
	if c, ok := m.(Coordinatewise); ok {
		return coordinate{c, m}, true
	}
	return nil, false
}

// coordinate is one coordinate of a modulus.
type coordinate struct {
	Coordinatewise
	m Modulus
}

func (k coordinate) Value(x float64) float64 { return k.m.Value([]float64{x}) }

func (k coordinate) ConjCurvature(y float64) float64 { return curvature(k.Coordinatewise, y) }

func (k coordinate) Sketch(y float64) (x, slope float64) {
	return sketch(k.Coordinatewise, y)
}

func (k coordinate) Validate() error { return validate(k.m) }

func (k coordinate) String() string { return fmt.Sprint(k.m) }

// curvature returns (k*)″(y), NaN if k does not know.
func curvature(k any, y float64) float64 {
	if c, ok := k.(KernelCurver); ok {
		return c.ConjCurvature(y)
	}
	return math.NaN()
}
