// Package directions provides directions of ℝᵈ for searches.
package directions

import (
	"iter"
	"math"
)

// All yields the two directions of each axis of ℝᵈ, and then 64 fixed directions whose coordinates have various signs.
// The vectors share memory: each vector is valid only until the next one is yielded.
func All(d int) iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		direction := make([]float64, d)
		for i, more := 0, true; more && i < 2*d+64; i++ {
			for j := range direction {
				direction[j] = math.Cos(float64(1+i-2*d) * (1 + 2*float64(j)) * math.Phi)
			}
			if i < 2*d {
				clear(direction)
				direction[i/2] = float64(1 - i%2*2)
			}
			more = yield(direction)
		}
	}
}
