package bregman

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Coordinates is φ(x) = Σᵢ kᵢ(xᵢ) with a kernel for each coordinate.
//
//	ball, _ := bregman.KernelOf(bregman.Hellinger{R: 1})
//	m := bregman.Coordinates{ball, bregman.FromFunc(phi, 0, 1).Kernel} // k₁ on (−1, 1), k₂ on (0, 1)
type Coordinates []Kernel

var (
	_ Modulus     = Coordinates{}
	_ Conjugator  = Coordinates{}
	_ Divergencer = Coordinates{}
	_ Curver      = Coordinates{}
	_ Validator   = Coordinates{}
)

// Validate returns the first error of a kernel.
func (c Coordinates) Validate() error {
	for _, k := range c {
		if err := validate(k); err != nil {
			return err
		}
	}
	return nil
}

// Value returns Σᵢ kᵢ(xᵢ).
func (c Coordinates) Value(x []float64) float64 {
	c.check(x)
	var acc sum.Accumulator
	for i, v := range x {
		if lo, hi := c[i].Domain(); !(lo <= v && v <= hi) {
			return math.Inf(1)
		}
		acc.Add(c[i].Value(v))
	}
	return acc.Value()
}

func (c Coordinates) check(x []float64) {
	if len(x) != len(c) {
		panic(fmt.Sprintf("bregman: vector of %d entries for a modulus of %d coordinates", len(x), len(c)))
	}
}

// Gradient stores kᵢ′(xᵢ) in dst.
func (c Coordinates) Gradient(dst, x []float64) {
	checkLen(dst, x)
	c.check(x)
	for i, v := range x {
		dst[i] = c[i].Deriv(v)
	}
}

// ConjugateGradient stores (kᵢ*)′(yᵢ) in dst.
func (c Coordinates) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	c.check(y)
	for i, v := range y {
		dst[i] = c[i].ConjDeriv(v)
	}
}

func (c Coordinates) side(i int) (lo, hi float64) { return c[i].Domain() }

func (c Coordinates) halfway(i int) float64 {
	lo, hi := c[i].Domain()
	return c[i].Deriv(lo + (hi-lo)/2)
}

func (c Coordinates) curvatureAt(i int, y float64) float64 { return curverOf(c[i]).ConjCurvature(y) }

func (c Coordinates) sketchAt(i int, y float64) (x, slope float64) { return sketch(c[i], y) }

// InDomain reports whether every xᵢ is inside its kernel's interval.
func (c Coordinates) InDomain(x []float64) bool {
	c.check(x)
	for i, v := range x {
		if lo, hi := c[i].Domain(); !(lo < v && v < hi) {
			return false
		}
	}
	return true
}

// Conjugate returns Σᵢ kᵢ*(yᵢ).
func (c Coordinates) Conjugate(y []float64) float64 {
	c.check(y)
	var acc sum.Accumulator
	for i, v := range y {
		acc.Add(kernelConjugate(c[i], v))
	}
	return acc.Value()
}

// ConjugateCurvature returns Σᵢ (kᵢ*)″(yᵢ).
func (c Coordinates) ConjugateCurvature(y []float64) float64 {
	c.check(y)
	var acc sum.Accumulator
	for i, v := range y {
		acc.Add(curvature(c[i], v))
	}
	return acc.Value()
}

// Divergence returns the sum of the kernels' divergences.
func (c Coordinates) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	c.check(x)
	var acc sum.Accumulator
	for i, v := range x {
		acc.Add(kernelDivergence(c[i], v, y[i]))
	}
	return acc.Value()
}

// String tells the number of coordinates and the first kernel.
func (c Coordinates) String() string {
	if len(c) == 0 {
		return "no coordinates"
	}
	return fmt.Sprintf("%d coordinates: %v, …", len(c), c[0])
}
