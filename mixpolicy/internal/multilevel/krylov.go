package multilevel

import "gonum.org/v1/gonum/floats"

// krylov is the generalised conjugate residual method (Eisenstat, Elman and Schultz
// 1983), preconditioned by [level.correct] and truncated to the last directions: it
// makes ‖residual‖₂ least over μ + their span.
type krylov struct {
	direction, image [][]float64 // e and (I − Pᵀ)e
	norm             []float64   // ‖image‖₂²
	used             int
}

// directions is the number of directions kept. Two vectors each, as much memory as
// about two chains with 14 moves a state. More than ten gain less than they cost.
const directions = 10

func newKrylov(n int) *krylov {
	k := &krylov{norm: make([]float64, directions)}
	for range directions {
		k.direction = append(k.direction, make([]float64, n))
		k.image = append(k.image, make([]float64, n))
	}
	return k
}

// patience is the number of steps over which the residual has to halve. The first
// steps of a space often gain little.
const patience = 4

// solve improves μ and the residual until it is down to target or progress is slow.
func (k *krylov) solve(s *solver, target float64) {
	k.used = 0
	mark := s.Residual
	for step := 1; s.Sweeps < s.set.MaxSweeps; step++ {
		at := k.used % directions
		e, v := k.direction[at], k.image[at]
		s.top.correct(e, s.residual, v)
		if s.ctx.Err() != nil {
			return // e may be unfinished
		}
		r := s.residual
		var others []int
		for q := range min(k.used, directions) {
			if q != at {
				others = append(others, q)
			}
		}
		each(len(v), func(_, lo, hi int) { // what was left, to (I − Pᵀ)e
			for i := lo; i < hi; i++ {
				v[i] = r[i] - v[i]
			}
		})
		along := make([]float64, len(others))
		for m, q := range others {
			along[m] = dot(k.image[q], v) / k.norm[q]
		}
		each(len(v), func(_, lo, hi int) {
			for m, q := range others {
				floats.AddScaled(v[lo:hi], -along[m], k.image[q][lo:hi])
				floats.AddScaled(e[lo:hi], -along[m], k.direction[q][lo:hi])
			}
		})
		norm := dot(v, v)
		if !(norm > 0) {
			return
		}
		h := dot(v, r) / norm
		each(len(v), func(_, lo, hi int) {
			floats.AddScaled(s.mu[lo:hi], h, e[lo:hi])
			floats.AddScaled(r[lo:hi], -h, v[lo:hi])
		})
		k.norm[at] = norm
		k.used++
		s.Residual = norm1(r)
		if s.set.Progress != nil {
			s.set.Progress(s.Sweeps, s.Residual)
		}
		if s.Residual <= target {
			return
		}
		if step%patience == 0 {
			if s.Residual > mark/2 {
				return
			}
			mark = s.Residual
		}
	}
}

func dot(x, y []float64) float64 {
	return total(len(x), func(lo, hi int) float64 { return floats.Dot(x[lo:hi], y[lo:hi]) })
}
