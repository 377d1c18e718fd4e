package linprog

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Rows are found near the path. The solution for few rows is far from the feasible set, at
// d = 400 a hundred times its size, and the rows that it violates are not those that matter.
// So x(t) is first found over all rows for t = 1, when ‖b̂‖₂ = 1 and ‖x(0)‖₂ ≤ 1 are of
// the same size, and then for an upper limit of t that is raised by a factor each time that
// a scan finds few rows, until it does not matter. A factor of 256 makes it slower by half.
const (
	firstLimit = 1
	raise      = 16
)

// release returns the t at which the first active cut gives way, or +∞.
func (p *path) release() float64 {
	t := math.Inf(1)
	for k := 1; k < len(p.cuts); k++ {
		if p.u1[k] < 0 {
			t = min(t, -p.u0[k]/p.u1[k])
		}
	}
	return t
}

// optimize solves the problem over the pool.
func (p *path) optimize(ctx context.Context) (outcome, error) {
	switch {
	case p.norm == L2 && !math.IsInf(p.radius, 1):
		return p.toSphere(ctx)
	case p.exact != nil:
		return p.exact.toInfinity(ctx, p)
	}
	return p.toInfinity(ctx)
}

// toInfinity increases t until x(t) no longer depends on it.
func (p *path) toInfinity(ctx context.Context) (outcome, error) {
	t := min(max(p.t, 1), p.limit)
	for {
		p.moveTo(t)
		if out, err := p.settle(ctx); out != bounded || err != nil {
			return out, err
		}
		if p.optimal {
			return bounded, nil
		}
		if !p.inside && !p.still && p.recedes() {
			return ray, nil
		}
		if t > 0x1p500 {
			return stalled, nil
		}
		if t >= p.limit {
			return partial, nil
		}
		// Any factor works: each t costs a few steps from the last one's active set.
		t *= 64
		if until := p.release(); !math.IsInf(until, 1) {
			t = max(t, 2*until)
		}
		t = min(t, p.limit)
	}
}

// recedes reports that no cut of the pool ends the ray x + s v, s ≥ 0.
func (p *path) recedes() bool {
	least := -p.rounding() * L2.Of(p.v)
	for _, c := range p.pool {
		if floats.Dot(c.normal, p.v) < least {
			return false
		}
	}
	return true
}

// toSphere finds the t at which ‖x(t)‖₂ = R, or shows that x(t) stays inside. On each
// piece ‖x(t)‖² = ‖x0‖² + t²‖v‖², so the t that a piece proposes is exact if it is on
// that piece; a bracket keeps the search finite where it is not.
func (p *path) toSphere(ctx context.Context) (outcome, error) {
	lo, hi := -1.0, math.Inf(1) // ‖x(lo)‖ < R < ‖x(hi)‖; −1 and +∞ are not known yet
	tol := p.rounding() * p.radius
	for width := math.Inf(1); ; width = hi - lo {
		if out, err := p.settle(ctx); out != bounded || err != nil {
			return out, err
		}
		norm, floor, slope := L2.Of(p.x), L2.Of(p.x0), L2.Of(p.v)
		next := math.NaN()
		if !p.still && floor < p.radius {
			next = math.Sqrt((p.radius-floor)*(p.radius+floor)) / slope
		}
		switch {
		case p.t > 0 && lo < 0 && floor >= p.radius-tol:
			// If the ball only touches the feasible set, t is as arbitrary as the rounding of
			// R − ‖x(0)‖, and x(t) with it: x(0) is the point.
			hi = p.t
			p.moveTo(0)
			continue
		case math.Abs(norm-p.radius) <= tol:
			return bounded, nil
		case norm < p.radius:
			if p.optimal {
				return bounded, nil
			}
			lo = p.t
			if p.still {
				next = 2 * max(p.release(), lo) // +∞ does not occur: it would be optimal
			}
		case p.t == 0:
			// x(0) = Σ uₖ aₖ, and any feasible θ has x(0)ᵀθ ≥ ‖x(0)‖² > R‖x(0)‖.
			p.refutation = refutation{by: slices.Clone(p.cuts), of: slices.Clone(p.u)}
			if p.exact != nil {
				p.ratios = p.exact.values()
			}
			return infeasible, nil
		default:
			hi = p.t
		}
		switch {
		case math.IsInf(hi, 1):
			if !(next > lo) {
				next = 2*lo + 1
			}
			if next > 0x1p500 {
				return stalled, nil
			}
			if next > p.limit {
				if p.t >= p.limit {
					return partial, nil
				}
				next = p.limit
			}
		case lo < 0:
			if !(0 < next && next < hi) {
				next = 0 // is there a feasible point at all?
			}
		default:
			if !(lo < next && next < hi) || hi-lo > width/2 {
				next = lo + (hi-lo)/2
			}
			if next <= lo || next >= hi {
				return bounded, nil // neighbouring numbers
			}
		}
		p.moveTo(next)
	}
}
