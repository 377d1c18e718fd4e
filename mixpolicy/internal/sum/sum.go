// Package sum adds floating-point numbers. The error of a sum is small, and hardly depends on how many numbers are
// added. The package also checks that probabilities add up to 1.
package sum

import (
	"fmt"
	"math"
)

// Accumulator is a compensated running sum (Neumaier 1974). With unit roundoff u = 2⁻⁵³, the error of the sum of n
// terms is at most 2u|Σx| + O(n²u²) Σ|x|, whatever the magnitudes of the terms. The zero value is an empty sum.
type Accumulator struct{ sum, carry float64 }

// Add adds x to the sum.
func (a *Accumulator) Add(x float64) {
	t := a.sum + x
	if math.Abs(a.sum) >= math.Abs(x) {
		a.carry += (a.sum - t) + x
	} else {
		a.carry += (x - t) + a.sum
	}
	a.sum = t
}

// AddProduct adds xy without rounding the product. The error of a sum of n products is therefore as small as the error
// of a sum of 2n terms (Ogita, Rump and Oishi 2005).
func (a *Accumulator) AddProduct(x, y float64) {
	p := float64(x * y) // the conversion rounds the product, even if the compiler could fuse the product with a sum
	a.Add(p)
	a.carry += math.FMA(x, y, -p)
}

// Value returns the sum so far.
func (a *Accumulator) Value() float64 {
	if s := a.sum + a.carry; !math.IsNaN(s) {
		return s
	}
	return a.sum // an infinite term makes the carry NaN, but not the sum
}

// Of returns Σ xᵢ.
func Of(x []float64) float64 {
	var a Accumulator
	for _, v := range x {
		a.Add(v)
	}
	return a.Value()
}

// Dot returns Σ xᵢyᵢ, with each product rounded once. It panics if the lengths differ.
func Dot(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("sum: lengths differ")
	}
	var a Accumulator
	for i, v := range x {
		a.Add(float64(v * y[i])) // float64 forbids a fused multiply-add
	}
	return a.Value()
}

// Diff1 returns the ℓ₁ distance Σ |xᵢ − yᵢ|. It panics if the lengths differ.
func Diff1(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("sum: lengths differ")
	}
	var a Accumulator
	for i, v := range x {
		a.Add(math.Abs(v - y[i]))
	}
	return a.Value()
}

// Tolerance is the greatest allowed difference between 1 and the sum of k probabilities. Each probability may carry 16
// roundings, which is enough for formulas such as ϱ/(ϱ+a) and products of a few factors. If probabilities are rounded
// to a few decimals, the difference is usually far greater, and [CheckDistribution] returns an error.
func Tolerance(k int) float64 { return float64(16*(k+1)) * 0x1p-53 }

// CheckDistribution returns an error, without a prefix, unless p is a distribution over k
// outcomes: k numbers in [0, 1] that add up to 1 within [Tolerance].
func CheckDistribution(p []float64, k int) error {
	if len(p) != k {
		return fmt.Errorf("%d probabilities, want %d", len(p), k)
	}
	for i, v := range p {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("entry %d is %v, want a number in [0, 1]", i, v)
		}
	}
	if v := Of(p); math.Abs(v-1) > Tolerance(k) {
		return fmt.Errorf("entries add up to %v, want 1", v)
	}
	return nil
}
