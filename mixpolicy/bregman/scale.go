package bregman

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Scale returns cφ, for c > 0. The step sizes of Algorithm 1 act as 1/c: ηg on cφ is
// (η/c)g on φ. What is [Separable] stays so.
//
//	m := bregman.Scale(bregman.Cube(2), 10)
//	m.ConjugateGradient(theta, y) // what the cube has at y/10
func Scale(m Modulus, c float64) Modulus {
	s, ok := asSeparable(m)
	if !ok {
		return scaled{m, c}
	}
	s.Name, s.Mu, s.Kernel, s.Each = fmt.Sprintf("%g·(%v)", c, s), c*s.Mu, scaledKernel{s.Kernel, c}, slices.Clone(s.Each)
	for i, k := range s.Each {
		s.Each[i] = scaledKernel{k, c}
	}
	return s
}

type scaledKernel struct {
	Kernel
	c float64
}

func (k scaledKernel) Value(x float64) float64         { return k.c * k.Kernel.Value(x) }
func (k scaledKernel) Deriv(x float64) float64         { return k.c * k.Kernel.Deriv(x) }
func (k scaledKernel) ConjDeriv(y float64) float64     { return k.Kernel.ConjDeriv(y / k.c) }
func (k scaledKernel) Conjugate(y float64) float64     { return k.c * kernelConjugate(k.Kernel, y/k.c) }
func (k scaledKernel) ConjCurvature(y float64) float64 { return kernelCurvature(k.Kernel, y/k.c) / k.c }
func (k scaledKernel) Divergence(x, y float64) float64 { return k.c * kernelDivergence(k.Kernel, x, y) }
func (k scaledKernel) Validate() error                 { return validScale(k.Kernel, k.c) }

func validScale(of any, c float64) error {
	err := validate(of)
	if err == nil && (!(c > 0) || math.IsInf(c, 1)) {
		err = fmt.Errorf("bregman: modulus scaled by %g: want a positive number", c)
	}
	return err
}

// scaled is cφ for a φ of whole vectors.
type scaled struct {
	Modulus
	c float64
}

func (s scaled) Value(x []float64) float64 { return s.c * s.Modulus.Value(x) }

func (s scaled) Gradient(dst, x []float64) {
	s.Modulus.Gradient(dst, x)
	floats.Scale(s.c, dst)
}

func (s scaled) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	for i, v := range y {
		dst[i] = v / s.c
	}
	s.Modulus.ConjugateGradient(dst, dst)
}

func (s scaled) Divergence(x, y []float64) float64 { return s.c * Divergence(s.Modulus, x, y) }

func (s scaled) StrongConvexity() (mu, p float64) {
	mu, p, _ = StrongConvexity(s.Modulus)
	return s.c * mu, p
}

func (s scaled) Validate() error { return validScale(s.Modulus, s.c) }

func (s scaled) String() string { return fmt.Sprintf("%g·(%v)", s.c, nameOf(s.Modulus)) }
