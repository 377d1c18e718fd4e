package linprog

import (
	"context"
	"math"
	"slices"
)

// minimize solves the program. Costs that are all tiny, or huge, are first divided by a power
// of two: what doubled precision keeps below a number would fall below the normal range, or
// products leave it. For others that would change no digit.
func (m program) minimize(ctx context.Context, settings Settings) (*Solution, error) {
	for j, v := range m.b {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, &EntryError{Row: -1, Col: j, Value: v}
		}
	}
	most := LInf.Of(m.b)
	if most == 0 || most > 0x1p-500 && most < 0x1p500 {
		return m.generate(ctx, settings)
	}
	s := powerOfTwo(most)
	unit := m
	unit.b = slices.Clone(m.b)
	for j := range unit.b {
		unit.b[j] /= s
	}
	if tell := settings.Progress; tell != nil {
		settings.Progress = func(p Progress) {
			p.Objective, p.Bound = p.Objective*s, downwards(p.Bound, s)
			tell(p)
		}
	}
	sol, err := unit.generate(ctx, settings)
	switch e := err.(type) {
	case *UnboundedError:
		e.Slope *= s
	case *StalledError:
		e.Objective, e.Bound = e.Objective*s, downwards(e.Bound, s)
	}
	if sol == nil {
		return nil, err
	}
	sol.Objective *= s
	sol.Hyperplane *= s
	sol.Ball *= s
	for k := range sol.Rows {
		sol.Rows[k].Value *= s
	}
	sol.Rows = slices.DeleteFunc(sol.Rows, func(r Multiplier) bool { return r.Value == 0 }) // below all numbers
	if !math.IsInf(sol.Bound, -1) {
		sol.Bound = sol.Dual.bound(m.b, m.g, m.psi, m.norm, sol.Radius)
	}
	return sol, err
}

// downwards returns x·s, s a power of two, and less where that is not a number.
func downwards(x, s float64) float64 {
	y := x * s
	if y/s > x {
		return math.Nextafter(y, math.Inf(-1))
	}
	return y
}
