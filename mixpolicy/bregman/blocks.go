package bregman

import (
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// A Block is a modulus for the next Len coordinates.
type Block struct {
	Len     int
	Modulus Modulus
}

// Blocks is φ(x) = φ₁(x₁, …, x_{n₁}) + φ₂(x_{n₁+1}, …) + …: each block of coordinates in a set of
// its own.
//
//	m := bregman.Blocks{{Len: 2, Modulus: bregman.Ball{R: 1}}, {Len: 3, Modulus: bregman.NegativeEntropy{}}}
//	inside := m.InDomain([]float64{0.8, -0.2, 0.1, 0.2, 0.1}) // true
type Blocks []Block

var (
	_ Modulus     = Blocks{}
	_ Conjugator  = Blocks{}
	_ Divergencer = Blocks{}
	_ Curver      = Blocks{}
	_ Validator   = Blocks{}
)

// Validate returns the first error of a block.
func (b Blocks) Validate() error {
	for i, block := range b {
		if block.Modulus == nil || block.Len < 1 {
			return fmt.Errorf("bregman: block %d has %d coordinates and the modulus %v", i, block.Len, block.Modulus)
		}
		if err := validate(block.Modulus); err != nil {
			return err
		}
	}
	return nil
}

func (b Blocks) check(x []float64) {
	n := 0
	for _, block := range b {
		n += block.Len
	}
	if n != len(x) {
		panic(fmt.Sprintf("bregman: vector of %d entries for blocks of %d", len(x), n))
	}
}

func (b Blocks) total(x []float64, f func(m Modulus, x []float64) float64) float64 {
	b.check(x)
	var acc sum.Accumulator
	for _, block := range b {
		acc.Add(f(block.Modulus, x[:block.Len]))
		x = x[block.Len:]
	}
	return acc.Value()
}

// Value returns the sum over the blocks.
func (b Blocks) Value(x []float64) float64 { return b.total(x, Modulus.Value) }

// Conjugate returns the sum over the blocks.
func (b Blocks) Conjugate(y []float64) float64 { return b.total(y, Conjugate) }

// ConjugateCurvature returns the sum over the blocks.
func (b Blocks) ConjugateCurvature(y []float64) float64 {
	return b.total(y, func(m Modulus, y []float64) float64 { return JSecond(m, y, 0) })
}

// Gradient is the blocks' gradients one after the other.
func (b Blocks) Gradient(dst, x []float64) {
	checkLen(dst, x)
	b.check(x)
	for _, block := range b {
		block.Modulus.Gradient(dst[:block.Len], x[:block.Len])
		dst, x = dst[block.Len:], x[block.Len:]
	}
}

// ConjugateGradient is the blocks' maps one after the other.
func (b Blocks) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	b.check(y)
	for _, block := range b {
		block.Modulus.ConjugateGradient(dst[:block.Len], y[:block.Len])
		dst, y = dst[block.Len:], y[block.Len:]
	}
}

// InDomain reports whether every block is in its domain.
func (b Blocks) InDomain(x []float64) bool {
	b.check(x)
	for _, block := range b {
		if !block.Modulus.InDomain(x[:block.Len]) {
			return false
		}
		x = x[block.Len:]
	}
	return true
}

// Divergence returns the sum over the blocks.
func (b Blocks) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	b.check(x)
	var acc sum.Accumulator
	for _, block := range b {
		acc.Add(Divergence(block.Modulus, x[:block.Len], y[:block.Len]))
		x, y = x[block.Len:], y[block.Len:]
	}
	return acc.Value()
}
