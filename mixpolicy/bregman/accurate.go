package bregman

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// ulp is the distance from 1 to the next larger float64.
const ulp = 0x1p-52

// binade returns the power of two c with ½ ≤ cr < 1, clipped to the range from 2⁻¹⁰⁰⁰ to 2¹⁰⁰⁰. The product cr has no
// rounding error. If r is 0 or not finite, c is 1.
func binade(r float64) float64 {
	_, e := math.Frexp(r)
	return math.Ldexp(1, min(max(-e, -1000), 1000))
}

// If a sum of squares is less than huge, no term and no partial sum has overflowed.
const huge = 0x1p1000

// hypot1 returns a power of two c, and c√(1 + r²‖y‖²). c is 1 unless r²‖y‖² might overflow.
func hypot1(r float64, y []float64) (c, n float64) {
	if s := sumSquares(y, 0, 0, r); s < huge {
		return 1, math.Sqrt(1 + s)
	}
	c = binade(maxAbs(y))
	return c, math.Hypot(c, r*math.Sqrt(sumSquares(y, 0, 0, c)))
}

// centred returns the mean ȳ of y as the sum pivot + mean. With the deviations w = y − ȳ1, it
// also returns ww = (c‖w‖)² and c, which is 1 unless ‖w‖² might overflow; c² + ww never overflows.
// The pivot is ȳ, rounded, or may be y₁ if the sum of y overflows. Subtracting the pivot first preserves
// the differences between entries with a large common part.
func centred(y []float64) (pivot, mean, c, ww float64) {
	d := float64(len(y))
	if pivot = sum.Of(y) / d; pivot-pivot != 0 {
		pivot = y[0]
	}
	var acc sum.Accumulator
	for _, v := range y {
		acc.Add(v - pivot)
	}
	mean = acc.Value() / d
	if ww = sumSquares(y, pivot, mean, 1); ww < huge || firstNonFinite(y) >= 0 {
		return pivot, mean, 1, ww
	}
	c = binade(maxAbs(y))
	pivot, mean, _, ww = centred(floats.ScaleTo(make([]float64, len(y)), c, y))
	return pivot / c, mean / c, c, ww
}

// sumSquares returns Σ (c(xᵢ − a − b))². Four sums run side by side for speed, and after every
// 256 terms they are added to a compensated sum. So the relative error of the summation stays
// below about 64·2⁻⁵³, and is typically 2⁻⁵³, for an x of any length.
func sumSquares(x []float64, a, b, c float64) float64 {
	long := len(x) > 4
	var acc sum.Accumulator
	for len(x) > 0 {
		n := min(256, len(x))
		head := x[:n]
		x = x[n:]
		var s0, s1, s2, s3 float64
		for long && len(head) >= 4 {
			h := (*[4]float64)(head)
			v0, v1, v2, v3 := c*(h[0]-a-b), c*(h[1]-a-b), c*(h[2]-a-b), c*(h[3]-a-b)
			s0 += v0 * v0
			s1 += v1 * v1
			s2 += v2 * v2
			s3 += v3 * v3
			head = head[4:]
		}
		for _, v := range head {
			v = c * (v - a - b)
			s0 += v * v
		}
		if !long { // at most four terms need no compensation
			return s0
		}
		acc.Add((s0 + s1) + (s2 + s3))
	}
	return acc.Value()
}

// firstNonFinite returns the index of the first NaN or ±∞ in x, or −1.
func firstNonFinite(x []float64) int {
	return slices.IndexFunc(x, func(v float64) bool { return v-v != 0 })
}
