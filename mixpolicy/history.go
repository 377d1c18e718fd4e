package mixpolicy

import "slices"

var _ Recorder = (*History)(nil)

// History is a [Recorder] that keeps the curves of a run: one entry per recorded
// iteration. The curve of the merit, for which the optimum must be known, comes from
// [Problem.MeritCurve].
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

// Coordinate returns the curve of θ̂ⱼ.
func (h *History) Coordinate(j int) []float64 {
	y := make([]float64, len(h.Average))
	for k, theta := range h.Average {
		y[k] = theta[j]
	}
	return y
}

// MarshalBinary implements [Resumable].
func (h *History) MarshalBinary() ([]byte, error) {
	b := appendInts(nil, len(h.Iteration))
	for k := range h.Iteration {
		b = appendInts(b, h.Iteration[k], h.Queries[k])
		b = appendFloats(appendFloats(b, h.Last[k]), h.Average[k])
		b = appendFloats(b, []float64{h.Cost[k], h.Violation[k], h.Mass[k]})
	}
	return b, nil
}

// UnmarshalBinary implements [Resumable].
func (h *History) UnmarshalBinary(b []byte) error {
	*h = History{}
	r := &reader{b: b}
	var numbers [3]float64
	for range r.within("number of records", 0, len(b)) {
		h.Iteration, h.Queries = append(h.Iteration, r.int()), append(h.Queries, r.int())
		h.Last, h.Average = append(h.Last, r.floats()), append(h.Average, r.floats())
		r.into(numbers[:], "a record")
		h.Cost, h.Violation, h.Mass = append(h.Cost, numbers[0]), append(h.Violation, numbers[1]), append(h.Mass, numbers[2])
		if r.err != nil {
			break
		}
	}
	return r.close()
}
