// Package shape is broken by the tests of package mutation.
package shape

import "errors"

// Area is a·b.
func Area(a, b float64) (float64, error) {
	if a < 0 {
		return 0, errors.New("shape: a < 0")
	}
	return a * b, nil
}

// Perimeter is a + b + a + b.
func Perimeter(a, b float64) float64 { return (a + b) + (a + b) }

// Double writes 2x to dst.
func Double(dst, x []float64) {
	for i := range x {
		dst[i] = 2 * x[i]
	}
}

// Total is Σx, or 0 if Σx is negative.
func Total(x []float64) (total float64) {
	for _, v := range x {
		total += v
	}
	return max(total, 0)
}

// Halvings counts how often x can be halved before it is at most 1.
func Halvings(x float64) (n int) {
	for x > 1 {
		x /= 2
		n++
	}
	return n
}
