package bregman

import (
	"math"
	"math/bits"
	"slices"
)

// between returns a number between a and b: their mean if they are within a factor of
// two of each other, else the middle of the floating-point numbers between them.
func between(a, b float64) float64 {
	a, b = max(a, -math.MaxFloat64), min(b, math.MaxFloat64)
	if a/b > 0.5 && a/b < 2 {
		return a + (b-a)/2
	}
	i, j := ordinal(a), ordinal(b)
	return fromOrdinal(i>>1 + j>>1 + i&j&1)
}

// ordinal numbers the floating-point numbers in increasing order, 0 being number 0.
func ordinal(x float64) int64 {
	n := int64(math.Float64bits(math.Abs(x)))
	if x < 0 {
		return -n
	}
	return n
}

func fromOrdinal(n int64) float64 {
	if n < 0 {
		return -math.Float64frombits(uint64(-n))
	}
	return math.Float64frombits(uint64(n))
}

// orderStatistic returns the entry of u that is larger than n others, reckoned from the
// largest (n = 0), and reorders u. It is a quickselect that sorts what is left should it
// not shrink.
func orderStatistic(u []float64, n int) float64 {
	if n == 0 {
		return slices.Max(u)
	}
	n = len(u) - 1 - n // from the smallest
	if n == 0 {
		return slices.Min(u)
	}
	for rounds := 2 * bits.Len(uint(len(u))); len(u) > 32 && rounds > 0; rounds-- {
		p := median(u[0], u[len(u)/2], u[len(u)-1])
		less, same := 0, 0
		for i, v := range u {
			switch {
			case v < p:
				u[i] = u[less+same]
				u[less+same] = u[less]
				u[less] = v
				less++
			case v == p:
				u[i] = u[less+same]
				u[less+same] = v
				same++
			}
		}
		switch {
		case n < less:
			u = u[:less]
		case n < less+same:
			return p
		default:
			n -= less + same
			u = u[less+same:]
		}
	}
	slices.Sort(u)
	return u[n]
}

func median(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }
