package bregman

import (
	"fmt"
)

// Sum returns φ₁ + φ₂ + … for separable moduli, on the intersection of their domains. The
// inverse of the derivative is found by iteration. It returns an error if one of them is
// not separable: the conjugate of such a sum has no formula in those of its terms.
//
//	m, err := bregman.Sum(bregman.NegativeEntropy{}, bregman.Burg{})
//	m.Gradient(y, theta) // yᵢ = log θᵢ − 1/θᵢ
func Sum(ms ...Modulus) (Modulus, error) {
	var total Kernel
	for i, m := range ms {
		k, ok := KernelOf(m)
		if !ok {
			return nil, fmt.Errorf("bregman: term %d of the sum, %v, is not separable", i, m)
		}
		if total == nil {
			total = k
		} else {
			total = sumKernel{total, k}
		}
	}
	if total == nil {
		return nil, fmt.Errorf("bregman: a sum of no moduli")
	}
	s := Separable{total}
	return s, s.Validate()
}

// Regularize returns φ + (ε/2)‖x‖², which is at least ε-strongly convex in ℓ₂, for a
// separable φ.
//
//	m, err := bregman.Regularize(bregman.NegativeEntropy{}, 2)
//	m.Gradient(y, theta) // yᵢ = log θᵢ + 2θᵢ
func Regularize(m Modulus, epsilon float64) (Modulus, error) {
	return Sum(m, Scale(Euclidean{}, epsilon))
}

type sumKernel struct{ a, b Kernel }

func (k sumKernel) Value(x float64) float64 { return k.a.Value(x) + k.b.Value(x) }

func (k sumKernel) Deriv(x float64) float64 { return k.a.Deriv(x) + k.b.Deriv(x) }

func (k sumKernel) ConjDeriv(y float64) float64 { lo, hi := k.Domain(); return invert(k, y, lo, hi) }

func (k sumKernel) ConjCurvature(y float64) float64 {
	_, second := k.derivs(k.ConjDeriv(y))
	return 1 / second
}

func (k sumKernel) derivs(x float64) (first, second float64) {
	a, b := k.a.Deriv(x), k.b.Deriv(x)
	return a + b, 1/curvature(k.a, a) + 1/curvature(k.b, b)
}

func (k sumKernel) Divergence(x, y float64) float64 {
	return kernelDivergence(k.a, x, y) + kernelDivergence(k.b, x, y)
}

func (k sumKernel) Domain() (lo, hi float64) {
	lo, hi = k.a.Domain()
	lo2, hi2 := k.b.Domain()
	return max(lo, lo2), min(hi, hi2)
}

func (k sumKernel) Validate() error {
	if err := validate(k.a); err != nil {
		return err
	}
	return validate(k.b)
}

func (k sumKernel) String() string { return fmt.Sprintf("%v + %v", k.a, k.b) }
