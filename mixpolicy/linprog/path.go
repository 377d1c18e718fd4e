package linprog

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A path follows x(t) over the cuts of a pool, for an objective b of length 1 with
// 1ᵀb = 0 (or b = 0). Invariant, between calls: x is x(t) for the active cuts as
// equations and their multipliers u(t), save the hyperplane's, are not negative; so x
// is also x(t) for the active cuts as inequalities.
type path struct {
	*activeSet
	norm   Norm
	radius float64
	pool   []*cut
	t      float64
	x, u   []float64
	inside bool  // cuts of a polyhedral ball are made
	sets   []int // scratch of the ℓ₁ cut
	pivots int
	// A cut that contradicts the active ones, and the combination that shows it.
	conflict *cut
}

type outcome int

const (
	bounded    outcome = iota // x solves the problem over the pool
	ray                       // x + s v is feasible over the pool for all s ≥ 0, bᵀv < 0
	infeasible                // conflict is set, or ‖x(0)‖₂ > R
	stalled                   // more steps than could be needed
)

func newPath(b []float64, n Norm, radius float64) *path {
	s := newActiveSet(b)
	p := &path{activeSet: s, norm: n, radius: radius, x: make([]float64, s.d), u: make([]float64, 0, s.d+1)}
	p.moveTo(0)
	return p
}

// moveTo sets t and gives up active cuts until no multiplier is negative.
func (p *path) moveTo(t float64) {
	p.t = t
	for {
		p.locate()
		worst := 0
		for k := 1; k < len(p.cuts); k++ {
			if p.u[k] < 0 && (worst == 0 || p.u[k] < p.u[worst]) {
				worst = k
			}
		}
		if worst == 0 {
			return
		}
		// A multiplier that is zero to within rounding stays.
		if -p.u[worst] <= p.rounding()*p.sumOfMultipliers() {
			for k := 1; k < len(p.cuts); k++ {
				p.u[k] = max(0, p.u[k])
			}
			return
		}
		p.drop(worst)
		p.solve()
	}
}

// locate evaluates x(t) and u(t).
func (p *path) locate() {
	floats.AddScaledTo(p.x, p.x0, p.t, p.v)
	p.u = p.u[:len(p.cuts)]
	for k := range p.u {
		p.u[k] = p.u0[k] + p.t*p.u1[k]
	}
}

func (p *path) sumOfMultipliers() float64 {
	s := 0.0
	for _, v := range p.u {
		s += math.Abs(v)
	}
	return s
}

// violated returns the cut of pool or ball that x violates most, and by how much, or
// nil if none is violated by more than rounding.
func (p *path) violated() (worst *cut, by float64) {
	by = p.rounding() * L2.Of(p.x)
	for _, c := range p.pool {
		if v := c.rhs - floats.Dot(c.normal, p.x); v > by {
			worst, by = c, v
		}
	}
	// The pool comes first, so that a cut of the ball is not made twice.
	if c, v := p.ballCut(by); c != nil {
		p.pool = append(p.pool, c)
		worst, by = c, v
	}
	return worst, by
}

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
		c := &cut{normal: make([]float64, p.d), rhs: -p.radius, row: ball}
		c.normal[at] = -math.Copysign(1, p.x[at])
		return c, by
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
		unit := 1 / math.Sqrt(float64(size))
		c := &cut{normal: make([]float64, p.d), rhs: rhs * unit, row: ball}
		for _, j := range p.sets[:size] {
			c.normal[j] = unit
		}
		return c, by
	}
	return nil, 0
}

// settle restores feasibility over the pool at the present t: Goldfarb and Idnani's
// dual method. It reports false if the pool is infeasible.
func (p *path) settle(ctx context.Context) (outcome, error) {
	// In exact arithmetic every step increases the dual objective, so that no active set
	// comes twice. A few hundred per dimension are far beyond what any problem took
	// (10 d at most in the tests); more means that rounding makes it cycle.
	limit := p.pivots + 1000*(p.d+10)
	for {
		if err := ctx.Err(); err != nil {
			return stalled, err
		}
		if p.pivots > limit {
			return stalled, nil
		}
		c, by := p.violated()
		if c == nil {
			return bounded, nil
		}
		if !p.enter(c, by) {
			p.conflict = c
			return infeasible, nil
		}
		p.solve()
		p.moveTo(p.t)
	}
}

// enter makes the violated cut c active, moving x and u along the dual path and
// dropping what blocks it. It reports false if c contradicts active cuts.
func (p *path) enter(c *cut, by float64) bool {
	r := p.g
	entering := 0.0 // the multiplier of c
	for {
		p.pivots++
		z := p.split(c.normal)
		q := len(p.cuts)
		copy(r, p.h[:q])
		p.backSubstitute(r[:q])

		// A full step puts x on c. Below the rounding of z, c depends on the active cuts.
		full := math.Inf(1)
		if q < p.d && z > p.rounding() {
			full = by / (z * z)
		}
		// A partial step ends where an active multiplier falls to zero.
		partial, block := math.Inf(1), 0
		for k := 1; k < q; k++ {
			if r[k] > 0 && p.u[k] < partial*r[k] {
				partial, block = p.u[k]/r[k], k
			}
		}
		step := min(full, partial)
		if math.IsInf(step, 1) {
			return false
		}
		for k := range p.u {
			p.u[k] -= step * r[k]
		}
		entering += step
		if full <= partial {
			p.add(c)
			return true
		}
		if !math.IsInf(full, 1) {
			floats.AddScaled(p.x, step, p.z)
			// Where both steps are of one length, rounding may leave x beyond c. It is on c
			// then, and c enters with the next step, of length 0: x needs its multiplier.
			by = max(0, c.rhs-floats.Dot(c.normal, p.x))
		}
		p.u = append(p.u[:block], p.u[block+1:]...)
		p.drop(block)
	}
}

// optimal reports that x0 solves the LP whatever t: −b is in the cone of the active
// normals to within rounding, v = 0 and u1 ⪰ 0.
func (p *path) optimal() bool {
	var miss, sum float64
	for k, u := range p.u1[:len(p.cuts)] {
		sum += math.Abs(u)
		if k > 0 && u < 0 {
			miss -= u
		}
	}
	return L2.Of(p.v)+miss <= p.rounding()*(1+sum)
}

// still reports that x does not move with t.
func (p *path) still() bool {
	sum := 0.0
	for _, w := range p.w[:len(p.cuts)] {
		sum += math.Abs(w)
	}
	return L2.Of(p.v) <= p.rounding()*(1+sum)
}

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
	if p.norm == L2 && !math.IsInf(p.radius, 1) {
		return p.toSphere(ctx)
	}
	return p.toInfinity(ctx)
}

// toInfinity increases t until x(t) no longer depends on it.
func (p *path) toInfinity(ctx context.Context) (outcome, error) {
	t := max(p.t, 1)
	for {
		p.moveTo(t)
		if out, err := p.settle(ctx); out != bounded || err != nil {
			return out, err
		}
		if p.optimal() {
			return bounded, nil
		}
		if !p.inside && !p.still() && p.recedes() {
			return ray, nil
		}
		if t > 0x1p500 {
			return stalled, nil
		}
		// Any factor works: each t costs a few steps from the last one's active set.
		t *= 64
		if until := p.release(); !math.IsInf(until, 1) {
			t = max(t, 2*until)
		}
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
		if !p.still() && floor < p.radius {
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
			if p.optimal() {
				return bounded, nil
			}
			lo = p.t
			if p.still() {
				next = 2 * max(p.release(), lo) // +∞ does not occur: it would be optimal
			}
		case p.t == 0:
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
