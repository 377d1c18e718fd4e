package linprog

import (
	"math"
	"slices"
)

// ballCut returns the cut of a polyhedral ball that x violates most, if by more than
// the amount given.
func (p *path) ballCut(more float64) (*cut, float64) {
	if !p.inside {
		return nil, 0
	}
	switch p.norm {
	case LInf:
		at := 0
		for j, v := range p.x {
			if math.Abs(v) > math.Abs(p.x[at]) {
				at = j
			}
		}
		by := math.Abs(p.x[at]) - p.radius
		if by <= more {
			return nil, 0
		}
		return p.boxCut(at, -math.Copysign(1, p.x[at])), by
	case L1:
		// The deepest of Σ_{j∈S} θⱼ ≥ −(R−1)/2 takes the k most negative entries for some k.
		p.sets = p.sets[:0]
		for j, v := range p.x {
			if v < 0 {
				p.sets = append(p.sets, j)
			}
		}
		slices.SortFunc(p.sets, func(i, j int) int {
			if p.x[i] < p.x[j] || p.x[i] == p.x[j] && i < j {
				return -1
			}
			return 1
		})
		rhs := -(p.radius - 1) / 2
		if rhs == 0 && len(p.sets) > 1 {
			p.sets = p.sets[:1] // the simplex: its facets are θⱼ ≥ 0
		}
		size, by, sum := 0, more, 0.0
		for k, j := range p.sets {
			sum += p.x[j]
			if v := (rhs - sum) / math.Sqrt(float64(k+1)); v > by {
				size, by = k+1, v
			}
		}
		if size == 0 {
			return nil, 0
		}
		return p.massCut(p.sets[:size]), by
	}
	return nil, 0
}

// boxCut returns s θⱼ ≥ −R, s = ±1.
func (p *path) boxCut(j int, s float64) *cut {
	c := &cut{normal: make([]float64, p.d), rhs: -p.radius, row: ball, scale: 1, length: 1}
	c.normal[j] = s
	return c
}

// massCut returns Σ_{j∈S} θⱼ ≥ −(R−1)/2.
func (p *path) massCut(set []int) *cut {
	length := math.Sqrt(float64(len(set)))
	unit := 1 / length
	c := &cut{normal: make([]float64, p.d), rhs: -(p.radius - 1) / 2 * unit, row: ball, scale: 1, length: length}
	for _, j := range set {
		c.normal[j] = unit
	}
	return c
}
