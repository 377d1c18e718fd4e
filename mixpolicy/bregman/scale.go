package bregman

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Scale returns cφ, for c > 0. From the same θ, a mirror step with cφ and the step size η reaches the same point as a
// mirror step with φ and the step size η/c. If φ is [Separable], so is cφ.
//
//	m := bregman.Scale(bregman.Cube(2), 10)
//	m.ConjugateGradient(theta, y) // the cube's ∇φ*(y/10)
func Scale(m Modulus, c float64) Modulus {
	s, ok := asSeparable(m)
	if !ok {
		return product{fmt.Sprintf("%g·(%v)", c, nameOf(m)), []Block{{m, 0}}, c}
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
		err = fmt.Errorf("bregman: modulus scaled by %g: want a positive, finite number", c)
	}
	return err
}

// A Block of a [Product] is a modulus of N coordinates. In the last block, N = 0 means all remaining coordinates.
type Block struct {
	Modulus
	N int
}

// String returns the name of the modulus in brackets.
func (b Block) String() string { return "(" + nameOf(b.Modulus) + ")" }

// Product returns φ(x) = Σ_b φ_b(x_b), where x = (x₁, x₂, …) is cut into blocks. On C₁ × C₂ × …, where C_b is the
// domain of φ_b,
//
//	∇φ(x) = (∇φ₁(x₁), ∇φ₂(x₂), …),   φ*(y) = Σ_b φ_b*(y_b),   ∇φ*(y) = (∇φ₁*(y₁), ∇φ₂*(y₂), …),
//
// and D(x; y) = Σ_b D_b(x_b; y_b). φ is a Legendre function if every φ_b is a Legendre function.
//
// A product of several blocks claims no strong convexity. The claim of a block may hold only where the entries of x_b
// add up to 1, but on the hyperplane, only the entries of the whole x add up to 1. If each φ_b is μ_b-strongly convex
// in ℓ₂ on all of C_b, the product is strongly convex in ℓ₂ with the constant min μ_b. Every modulus of [Gallery] whose
// claim is in ℓ₂ satisfies this condition. [NegativeEntropy] is not strongly convex on all of its domain: where the
// entries of x_b add up to a, its constant in ℓ₁ is 1/a.
//
//	m := bregman.Product(bregman.Block{bregman.NegativeEntropy(), 3}, bregman.Block{bregman.Ball{R: 2}, 2})
//
// If every block is [Separable], use instead one Separable that lists all kernels in Each, because only the
// projection of a Separable can start from bounds on the root z of J′.
func Product(first Block, more ...Block) Modulus {
	blocks := slices.Concat([]Block{first}, more)
	return product{strings.ReplaceAll(strings.Trim(fmt.Sprint(blocks), "[]"), ") (", ") × ("), blocks, 1}
}

// A product is c times the modulus of [Product].
type product struct {
	name   string
	blocks []Block
	c      float64
}

// total returns Σ_b f(φ_b, x_b, y_b), the sum over the blocks.
func (p product) total(f func(m Modulus, x, y []float64) float64, x, y []float64) float64 {
	checkLen(x, y)
	var acc sum.Accumulator
	for k, b := range p.blocks {
		n := cmp.Or(b.N, len(x))
		if n > len(x) || k == len(p.blocks)-1 && n < len(x) {
			panic(fmt.Sprintf("bregman: %d entries are left for the %d coordinates of %v", len(x), n, b))
		}
		acc.Add(f(b.Modulus, x[:n], y[:n]))
		x, y = x[n:], y[n:]
	}
	return acc.Value()
}

func (p product) Value(x []float64) float64 {
	return p.c * p.total(func(m Modulus, x, _ []float64) float64 { return m.Value(x) }, x, x)
}

func (p product) Gradient(dst, x []float64) {
	p.total(func(m Modulus, dst, x []float64) float64 { m.Gradient(dst, x); return 0 }, dst, x)
	floats.Scale(p.c, dst)
}

func (p product) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	for i, v := range y {
		dst[i] = v / p.c
	}
	p.total(func(m Modulus, y, dst []float64) float64 { m.ConjugateGradient(dst, y); return 0 }, dst, dst)
}

func (p product) InDomain(x []float64) bool {
	return p.total(func(m Modulus, x, _ []float64) float64 { return map[bool]float64{false: 1}[m.InDomain(x)] }, x, x) == 0
}

func (p product) Divergence(x, y []float64) float64 { return p.c * p.total(Divergence, x, y) }

// ConjugateCurvature is NaN if the curvature of a block is unknown.
func (p product) ConjugateCurvature(y []float64) float64 {
	y = floats.ScaleTo(make([]float64, len(y)), 1/p.c, y)
	return p.total(func(m Modulus, y, _ []float64) float64 { return JSecond(m, y, 0) }, y, y) / p.c
}

func (p product) StrongConvexity() (mu, norm float64) {
	if mu, norm, _ = StrongConvexity(p.blocks[0].Modulus); len(p.blocks) > 1 {
		mu = 0
	}
	return p.c * mu, norm
}

func (p product) Validate() error {
	for k, b := range p.blocks {
		if err := validScale(b.Modulus, p.c); err != nil {
			return err
		} else if b.N < 0 || b.N == 0 && k < len(p.blocks)-1 {
			return fmt.Errorf("bregman: the block %v of a product has %d coordinates: want 1 or more", b, b.N)
		}
	}
	return nil
}

func (p product) String() string { return p.name }
