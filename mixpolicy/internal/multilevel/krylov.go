package multilevel

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// krylov is the generalised conjugate residual method (Eisenstat, Elman and Schultz 1983),
// preconditioned by [cycle.correct] and truncated to the last directions: it minimises
// ‖residual‖₂ over μ + the span of these directions.
type krylov struct {
	direction, image [mostPatience][]float64 // e and (I − Pᵀ)e
	norm             [mostPatience]float64   // ‖image‖₂²

	// patience is the number of steps in which the residual must halve. The first steps
	// of a Krylov method often gain little. On random graphs whose weights differ a
	// lot, all steps gain little, whatever the shares are.
	patience int
}

// directions is the number of stored directions, unless patience is greater. With two
// vectors each, ten directions take about as much memory as 13 moves per state. If steps gain
// a lot, more than ten directions cost more time than they save.
const directions, leastPatience, mostPatience = 10, 4, 32

// solve improves x, and so reduces r, the residual of the states of c. It returns when the residual
// of all states is at most target, when progress is slow, or when MaxSweeps is reached or ctx ends.
func (k *krylov) solve(c *cycle, x, r []float64, target float64) {
	s := c.solver
	outside, mark := s.Residual-norm1(r), s.Residual
	keep := max(directions, k.patience)
	for step := 0; s.Sweeps < s.set.MaxSweeps; step++ {
		at := step % keep
		e, v := sized(k.direction[at], len(r)), sized(k.image[at], len(r))
		k.direction[at], k.image[at] = e, v
		c.correct(e, r, v, true)
		if s.ctx.Err() != nil {
			return // e may be unfinished
		}
		others := slices.DeleteFunc(every(min(step, keep)), func(q int32) bool { return int(q) == at })
		along := totals(len(r), len(others), func(lo, hi int, sums []float64) {
			for i := lo; i < hi; i++ {
				v[i] = r[i] - v[i] // v was the rest of r, and becomes (I − Pᵀ)e
			}
			for m, q := range others {
				sums[m] = floats.Dot(k.image[q][lo:hi], v[lo:hi])
			}
		})
		products := totals(len(r), 2, func(lo, hi int, sums []float64) {
			for m, q := range others {
				floats.AddScaled(v[lo:hi], -along[m]/k.norm[q], k.image[q][lo:hi])
				floats.AddScaled(e[lo:hi], -along[m]/k.norm[q], k.direction[q][lo:hi])
			}
			sums[0], sums[1] = floats.Dot(v[lo:hi], v[lo:hi]), floats.Dot(v[lo:hi], r[lo:hi])
		})
		k.norm[at] = products[0]
		if !(k.norm[at] > 0) {
			return
		}
		h := products[1] / k.norm[at]
		s.Residual = outside + total(len(r), func(lo, hi int) (sum float64) {
			floats.AddScaled(x[lo:hi], h, e[lo:hi])
			floats.AddScaled(r[lo:hi], -h, v[lo:hi])
			for _, v := range r[lo:hi] {
				sum += math.Abs(v)
			}
			return sum
		})
		if s.set.Progress != nil {
			s.set.Progress(s.Sweeps, s.Residual)
		}
		if s.Residual <= target {
			return
		}
		if step%k.patience == k.patience-1 {
			if s.Residual > mark/2 {
				k.patience = min(2*k.patience, mostPatience)
				return
			}
			mark = s.Residual
		}
	}
}

// sized returns x with the length n. Reused memory is faster than new memory.
func sized[T any](x []T, n int) []T { return slices.Grow(x[:0], n)[:n] }
