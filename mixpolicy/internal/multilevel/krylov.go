package multilevel

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
		s.top.correct(e, s.residual)
		if s.ctx.Err() != nil {
			return // e may be unfinished
		}
		s.top.imbalance(v, e, nil) // −(I − Pᵀ)e
		for i := range v {
			v[i] = -v[i]
		}
		for q := range min(k.used, directions) {
			if q == at {
				continue
			}
			h := dot(k.image[q], v) / k.norm[q]
			for i := range v {
				v[i] -= h * k.image[q][i]
				e[i] -= h * k.direction[q][i]
			}
		}
		norm := dot(v, v)
		if !(norm > 0) {
			return
		}
		h := dot(v, s.residual) / norm
		for i := range v {
			s.mu[i] += h * e[i]
			s.residual[i] -= h * v[i]
		}
		k.norm[at] = norm
		k.used++
		s.Residual = norm1(s.residual)
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
	var s float64
	for i, v := range x {
		s += v * y[i]
	}
	return s
}
