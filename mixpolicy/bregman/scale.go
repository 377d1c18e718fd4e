package bregman

import (
	"fmt"
	"math"
)

// Scale returns cφ, for c > 0. The step sizes of Algorithm 1 act as 1/c: ηg on cφ is
// (η/c)g on φ.
//
//	m := bregman.Scale(bregman.Cube{R: 2}, 10)
//	m.ConjugateGradient(theta, y) // what the cube has at y/10
func Scale(m Modulus, c float64) Modulus {
	if k, ok := KernelOf(m); ok {
		return Separable{scaledKernel{k, c}}
	}
	return scaled{m, c}
}

type scaledKernel struct {
	Kernel
	c float64
}

func (k scaledKernel) Value(x float64) float64 { return k.c * k.Kernel.Value(x) }

func (k scaledKernel) Deriv(x float64) float64 { return k.c * k.Kernel.Deriv(x) }

func (k scaledKernel) ConjDeriv(y float64) float64 { return k.Kernel.ConjDeriv(y / k.c) }

func (k scaledKernel) ConjCurvature(y float64) float64 {
	return curvature(k.Kernel, y/k.c) / k.c
}

func (k scaledKernel) Sketch(y float64) (x, slope float64) {
	x, slope = sketch(k.Kernel, y/k.c)
	return x, slope / k.c
}

func (k scaledKernel) Divergence(x, y float64) float64 {
	return k.c * kernelDivergence(k.Kernel, x, y)
}

func (k scaledKernel) Validate() error {
	if err := validate(k.Kernel); err != nil {
		return err
	}
	return validFactor(k.c)
}

func (k scaledKernel) String() string { return fmt.Sprintf("%g·(%v)", k.c, k.Kernel) }

func validFactor(c float64) error {
	if !(c > 0) || math.IsInf(c, 1) {
		return fmt.Errorf("bregman: modulus scaled by %g: want a positive number", c)
	}
	return nil
}

type scaled struct {
	Modulus
	c float64
}

func (s scaled) Value(x []float64) float64 { return s.c * s.Modulus.Value(x) }

func (s scaled) Gradient(dst, x []float64) {
	s.Modulus.Gradient(dst, x)
	for i := range dst {
		dst[i] *= s.c
	}
}

func (s scaled) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	for i, v := range y {
		dst[i] = v / s.c
	}
	s.Modulus.ConjugateGradient(dst, dst)
}

func (s scaled) Divergence(x, y []float64) float64 { return s.c * Divergence(s.Modulus, x, y) }

func (s scaled) Validate() error {
	if err := validate(s.Modulus); err != nil {
		return err
	}
	return validFactor(s.c)
}

func (s scaled) String() string { return fmt.Sprintf("%g·(%v)", s.c, s.Modulus) }
