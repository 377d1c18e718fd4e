package mixpolicy

import "slices"

var _ Recorder = (*History)(nil)

// History is a [Recorder] that keeps the curves of a run: one entry per recorded iteration. A
// History needs a θ̂, so it cannot record a [PolicyRun].
type History struct {
	Iteration []int
	Queries   []int
	Last      [][]float64 // θ_t
	Average   [][]float64 // θ̂_t
	Cost      []float64   // cᵀΨθ̂_t
	Violation []float64   // V(θ̂_t) = ½‖[Ψθ̂_t]₋‖₂
	Mass      []float64   // ‖[Ψθ̂_t]₋‖₁
}

// Record implements [Recorder].
func (h *History) Record(p *Problem, s *Snapshot) error {
	norm2, norm1 := p.negativePart(s.Average)
	h.Iteration = append(h.Iteration, s.Iteration)
	h.Queries = append(h.Queries, s.Queries)
	h.Last = append(h.Last, slices.Clone(s.Last))
	h.Average = append(h.Average, slices.Clone(s.Average))
	h.Cost = append(h.Cost, p.Objective(s.Average))
	h.Violation = append(h.Violation, norm2/2)
	h.Mass = append(h.Mass, norm1)
	return nil
}
