package linprog

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A path follows x(t) for a program, over the cuts of a pool instead of all rows. Its
// objective is b̂, where b = mean·g + length·b̂ with gᵀb̂ = 0 and ‖b̂‖₂ = 1 (or b̂ = 0);
// the term mean·gᵀx is constant on the hyperplane. Invariant between calls: x is x(t) for
// the active cuts as equations, and the multipliers u(t) of these cuts, except for the
// hyperplane's, are not negative. So x is also x(t) for the active cuts as inequalities.
type path struct {
	program
	*activeSet
	mean, length float64

	pool   []*cut
	short  []*cut // the most violated cuts at the last pass over the pool, if the pool is long
	misses []miss // scratch of violated
	t      float64
	limit  float64 // the greatest t allowed for now; raised when x(limit) violates few new rows
	x, u   []float64
	inside bool  // whether cuts of a polyhedral ball are generated
	sets   []int // scratch of ballCut
	pivots int
	refutation
}

// A refutation is a combination of cuts that no point of the ball satisfies:
// (Σ uₖ aₖ)ᵀx ≥ Σ uₖ rhsₖ, with uₖ ≥ 0 except for the hyperplane.
type refutation struct {
	refuting []*cut
	weights  []float64 // uₖ
}

type outcome int

const (
	bounded    outcome = iota // x solves the problem over the pool
	partial                   // x = x(t) over the pool, at the limit of t
	ray                       // x + s v is feasible over the pool for all s ≥ 0, and bᵀv < 0
	infeasible                // the refutation shows that no point is feasible over the pool
	stalled                   // no answer after 1000 d steps at one t, or at any t up to 2⁵⁰⁰ (2⁶⁰⁰ in toSphere)
)

func newPath(m program) *path {
	p := &path{program: m, limit: firstLimit}
	d := len(m.b)
	square := floats.Dot(m.g, m.g)
	for j, v := range m.b {
		p.mean += v * m.g[j] / square
	}
	unit := make([]float64, d)
	for j, v := range m.b {
		unit[j] = v - p.mean*m.g[j]
	}
	p.length = L2.Of(unit)
	if p.length <= 4*0x1p-53*math.Abs(p.mean)*math.Sqrt(square) {
		p.length = 0 // b is a multiple of g, to within rounding
		clear(unit)
	} else {
		floats.Scale(1/p.length, unit)
		// The multiplier of the hyperplane, whose normal is active, absorbs a multiple of g
		// that rounding has left in b̂.
	}
	p.activeSet = newActiveSet(unit, m.g)
	p.x, p.u = make([]float64, d), make([]float64, 0, d)
	p.moveTo(0)
	return p
}

// moveTo sets t, and drops active cuts until no multiplier is negative, except possibly the
// hyperplane's.
func (p *path) moveTo(t float64) {
	p.t = t
	for {
		floats.AddScaledTo(p.x, p.x0, t, p.v)
		p.u = p.at(p.u[:0], t)
		// A cut whose multiplier is zero to within rounding stays.
		worst, least := 0, -p.rounding()*L1.Of(p.u)
		for k := 1; k < len(p.cuts); k++ {
			if p.u[k] < least {
				worst, least = k, p.u[k]
			}
		}
		if worst == 0 {
			for k := 1; k < len(p.cuts); k++ {
				p.u[k] = max(0, p.u[k])
			}
			return
		}
		p.drop(worst)
		p.solve()
	}
}

// at stores u(t) in u, whose capacity must be enough, and returns u(t).
func (s *activeSet) at(u []float64, t float64) []float64 {
	q := len(s.cuts)
	return floats.AddScaledTo(u[:q], s.u0[:q], t, s.u1[:q])
}

// violated returns a cut of the pool or of the ball that x violates by more than rounding, and
// the amount; or nil if there is none. It returns the most violated cut of the short list or,
// if x violates no cut of this list, the most violated cut of the whole pool and the ball.
func (p *path) violated() (worst *cut, by float64) {
	least := p.rounding() * L2.Of(p.x)
	if worst, by = p.worst(p.short, least, nil); worst != nil {
		return worst, by
	}
	var all *[]miss
	// A pass over a pool of a mebibyte takes as long as a few steps, so a longer pool gets a short list.
	if len(p.pool)*p.d > 1<<17 {
		p.misses = p.misses[:0]
		all = &p.misses
	}
	worst, by = p.worst(p.pool, least, all)
	if all != nil {
		slices.SortStableFunc(p.misses, func(a, b miss) int { return cmp.Compare(b.by, a.by) })
		p.short = p.short[:0]
		for _, m := range p.misses[:min(len(p.misses), 64)] {
			p.short = append(p.short, m.cut)
		}
	}
	// The pool is searched before the ball, so that no cut of the ball is generated twice.
	if c, v := p.ballCut(max(by, least)); c != nil {
		p.pool = append(p.pool, c)
		worst, by = c, v
	}
	return worst, by
}

// A miss is a cut and the amount by which x violates it.
type miss struct {
	cut *cut
	by  float64
}

// worst returns the most violated cut of a list and the amount, or nil if x violates no cut by
// more than least. If all is not nil, it also appends to *all each cut violated by more than least.
func (p *path) worst(cuts []*cut, least float64, all *[]miss) (worst *cut, by float64) {
	by = least
	for _, c := range cuts {
		v := c.rhs - floats.Dot(c.normal, p.x)
		if v > least && all != nil {
			*all = append(*all, miss{c, v})
		}
		if v > by {
			worst, by = c, v
		}
	}
	return worst, by
}

// settle restores feasibility over the pool at the present t by Goldfarb and Idnani's dual
// method. It returns bounded when x violates no cut, infeasible if every point violates a cut, and
// stalled after too many steps.
func (p *path) settle(ctx context.Context) (outcome, error) {
	// In exact arithmetic, the dual objective increases whenever a cut enters, so no active set occurs twice. A
	// thousand steps per dimension are far more than any problem has taken (at most 50 d, if the columns of Ψ are
	// measures), so more steps mean that rounding makes the method cycle.
	limit := p.pivots + 1000*p.d
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
			return infeasible, nil
		}
		p.solve()
		p.moveTo(p.t)
	}
}

// enter makes the violated cut c active: it moves x and u along the dual path and drops
// cuts that block the way. It returns false if c contradicts the active cuts.
func (p *path) enter(c *cut, by float64) bool {
	r := p.step
	for {
		p.pivots++
		z := p.split(p.z, p.h, c.normal)
		q := len(p.cuts)
		copy(r, p.h[:q])
		p.backSubstitute(r[:q])

		// A full step puts x on c. If z is at most the rounding error, c's normal depends linearly on the
		// active normals, and no full step exists.
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
			// c's normal is Σ rₖ aₖ with r ⪯ 0, except for the hyperplane.
			floats.Scale(-1, r[:q])
			p.refutation = refutation{refuting: append(slices.Clone(p.cuts), c), weights: append(slices.Clone(r[:q]), 1)}
			return false
		}
		for k := range p.u {
			p.u[k] -= step * r[k]
		}
		if full <= partial {
			p.add(c)
			return true
		}
		if !math.IsInf(full, 1) {
			floats.AddScaled(p.x, step, p.z)
			// If the partial step is only slightly shorter than the full step, rounding may leave x beyond c. We
			// then treat x as a point on c, and c enters with the next step, of length 0, because x needs the
			// multiplier of c.
			by = max(0, c.rhs-floats.Dot(c.normal, p.x))
		}
		p.u = slices.Delete(p.u, block, block+1)
		p.drop(block)
	}
}

// Useful rows are those that points near the feasible set violate. While the pool has few rows, the solution over the
// pool is far from the feasible set: at d = 400, the distance is a hundred times the size of the set. The rows that
// this solution violates rarely matter. So the limit of t is 1 at first, where ‖t b̂‖₂ = 1 is comparable with ‖x(0)‖₂.
// Whenever a scan finds few new rows, the limit is multiplied by 16, until x(t) solves the problem before t reaches the
// limit. With a factor of 256, the work takes 1.5 times as long.
const (
	firstLimit = 1
	raise      = 16
)

// release returns the least t at which the multiplier of an active row falls to 0, or +∞ if none falls.
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

// toInfinity increases t until x(t) solves the problem or begins a ray, or t reaches its limit.
func (p *path) toInfinity(ctx context.Context) (outcome, error) {
	t := min(max(p.t, 1), p.limit)
	for {
		p.moveTo(t)
		if out, err := p.settle(ctx); out != bounded {
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
		// Any factor works: each t costs a few steps from the active set of the previous t.
		t = min(64*t, p.limit)
	}
}

// recedes reports whether no cut of the pool ends the ray x + s v, s ≥ 0.
func (p *path) recedes() bool {
	least := -p.rounding() * L2.Of(p.v)
	for _, c := range p.pool {
		if floats.Dot(c.normal, p.v) < least {
			return false
		}
	}
	return true
}

// toSphere finds the t at which ‖x(t)‖₂ = R, or shows that x(t) stays inside the ball. On each
// linear piece of the path, ‖x(t)‖² = ‖x0‖² + t²‖v‖², so the t computed from a piece is exact if
// this t lies on the piece. Otherwise, a bracket around the exact t keeps the search finite.
func (p *path) toSphere(ctx context.Context) (outcome, error) {
	lo, hi := -1.0, math.Inf(1) // ‖x(lo)‖ < R < ‖x(hi)‖; −1 and +∞ mean unknown
	tol := p.rounding() * p.radius
	for {
		if out, err := p.settle(ctx); out != bounded {
			return out, err
		}
		norm, floor := L2.Of(p.x), L2.Of(p.x0)
		// If the ball only touches the feasible set, the rounding of R − ‖x(0)‖ determines t and x(t).
		// The search then goes back to x(0), the solution.
		touching := lo < 0 && p.t > 0 && floor >= p.radius-tol
		switch {
		case touching:
			hi = p.t
		case math.Abs(norm-p.radius) <= tol || norm < p.radius && p.optimal:
			return bounded, nil
		case norm < p.radius:
			lo = p.t
		case p.t == 0:
			// x(0) = Σ uₖ aₖ, and any θ that satisfies the cuts has x(0)ᵀθ ≥ ‖x(0)‖² > R‖x(0)‖.
			p.refutation = refutation{refuting: slices.Clone(p.cuts), weights: slices.Clone(p.u)}
			return infeasible, nil
		default:
			hi = p.t
		}
		next := math.Sqrt((p.radius-floor)*(p.radius+floor)) / L2.Of(p.v)
		if p.still {
			next = 2 * p.release() // x(t) stays the same up to release()
		}
		if touching || !(lo < next && next < hi) {
			next = max(0, min(lo+(hi-lo)/2, 2*lo+1)) // 0, or 2 lo + 1, or the middle
		}
		switch {
		case next == lo || next == hi:
			return bounded, nil // lo and hi are neighbouring numbers
		case next > 0x1p600:
			return stalled, nil
		case next <= p.limit:
		case p.t >= p.limit:
			return partial, nil
		default:
			next = p.limit
		}
		p.moveTo(next)
	}
}

// ballCut returns the cut of a polyhedral ball that x violates most, and the violation. It returns nil if p.inside
// is false, or if the violation does not exceed the given amount.
func (p *path) ballCut(more float64) (*cut, float64) {
	if !p.inside {
		return nil, 0
	}
	if p.norm == LInf {
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
		c := &cut{normal: make([]float64, p.d), rhs: -p.radius, row: ball, scale: 1, length: 1}
		c.normal[at] = -math.Copysign(1, p.x[at])
		return c, by
	}
	// In the most violated constraint Σ_{j∈S} xⱼ ≥ −(R−1)/2, S indexes the k most negative entries of x, for some k.
	p.sets = p.sets[:0]
	for j, v := range p.x {
		if v < 0 {
			p.sets = append(p.sets, j)
		}
	}
	slices.SortFunc(p.sets, func(i, j int) int { return cmp.Or(cmp.Compare(p.x[i], p.x[j]), i-j) })
	rhs := -(p.radius - 1) / 2
	if rhs == 0 {
		p.sets = p.sets[:min(1, len(p.sets))] // the simplex: its facets are θⱼ ≥ 0
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
	length := math.Sqrt(float64(size))
	c := &cut{normal: make([]float64, p.d), rhs: rhs * (1 / length), row: ball, scale: 1, length: length}
	for _, j := range p.sets[:size] {
		c.normal[j] = 1 / length
	}
	return c, by
}
