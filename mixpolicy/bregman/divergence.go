package bregman

import (
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Divergence returns the Bregman divergence of Definition 2.5,
//
//	D(x; y) = φ(x) − φ(y) − ⟨x − y, ∇φ(y)⟩,
//
// for x in the domain of φ and y in its interior, and +∞ elsewhere. It is a distance
// from the second argument to the first, non-negative and not symmetric.
//
// Where m is neither a [Divergencer] nor separable, the definition is evaluated as it stands, with
// compensated sums: the error is then a few 2⁻⁵³·(|φ(x)| + |φ(y)| + |⟨x − y, ∇φ(y)⟩|),
// which for x near y may exceed D itself; the result is cut off at 0.
func Divergence(m Modulus, x, y []float64) float64 {
	checkLen(x, y)
	if d, ok := m.(Divergencer); ok {
		return d.Divergence(x, y)
	}
	if k, ok := KernelOf(m); ok {
		return Separable{k}.Divergence(x, y)
	}
	fx := m.Value(x)
	if math.IsInf(fx, 1) || !m.InDomain(y) {
		return math.Inf(1)
	}
	g := make([]float64, len(y))
	m.Gradient(g, y)
	var acc sum.Accumulator
	acc.Add(fx)
	acc.Add(-m.Value(y))
	for i, v := range g {
		acc.Add(v * (y[i] - x[i]))
	}
	return max(0, acc.Value())
}

// Conjugate returns φ*(y) = sup_x ⟨x, y⟩ − φ(x): by m's own formula if it is a
// [Conjugator], and else by Fenchel's equality φ*(y) = ⟨x, y⟩ − φ(x) at x = ∇φ*(y).
func Conjugate(m Modulus, y []float64) float64 {
	if c, ok := m.(Conjugator); ok {
		return c.Conjugate(y)
	}
	x := make([]float64, len(y))
	m.ConjugateGradient(x, y)
	return sum.Dot(x, y) - m.Value(x)
}
