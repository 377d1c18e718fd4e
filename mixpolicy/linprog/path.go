package linprog

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A path follows x(t) for a program, over the cuts of a pool in place of all rows. Its
// objective is b̂, where b = mean·g + length·b̂ with gᵀb̂ = 0 and ‖b̂‖₂ = 1 (or b̂ = 0):
// the mean is a constant on the hyperplane. Invariant, between calls: x is x(t) for the
// active cuts as equations and their multipliers u(t), save the hyperplane's, are not
// negative; so x is also x(t) for the active cuts as inequalities.
type path struct {
	program
	*activeSet
	mean, length float64

	pool   []*cut
	short  []*cut // of the pool, where that is long: those that were violated most
	misses []miss // scratch
	t      float64
	limit  float64 // of t, for the time being
	x, u   []float64
	inside bool  // cuts of a polyhedral ball are made
	sets   []int // scratch of the ℓ₁ cut
	pivots int
	exact  *exactPath // not nil: instead of the factors
	refutation
}

// A refutation is a combination of cuts, Σ uₖ aₖ, with uₖ ≥ 0 save for the hyperplane, that
// no point inside the ball satisfies.
type refutation struct {
	by     []*cut
	of     []float64  // uₖ
	ratios []*big.Rat // uₖ without rounding, of the cuts' whole numbers; nil if they are not known
}

type outcome int

const (
	bounded    outcome = iota // x solves the problem over the pool
	partial                   // x = x(t) over the pool, at the limit of t
	ray                       // x + s v is feasible over the pool for all s ≥ 0, bᵀv < 0
	infeasible                // the refutation shows it
	stalled                   // more steps than could be needed
)

func newPath(m program) *path {
	p := &path{program: m, limit: firstLimit}
	d := len(m.b)
	var square float64
	for _, g := range m.g {
		square += g * g
	}
	for j, v := range m.b {
		p.mean += v * m.g[j] / square
	}
	unit := make([]float64, d)
	for j, v := range m.b {
		unit[j] = v - p.mean*m.g[j]
	}
	p.length = L2.Of(unit)
	if p.length <= 4*0x1p-53*math.Abs(p.mean)*math.Sqrt(square) {
		p.length = 0 // a multiple of g, rounded
		clear(unit)
	} else {
		floats.Scale(1/p.length, unit)
		// A multiple of g that rounding has left in b̂ is taken up by the multiplier of the
		// hyperplane, which is among the normals.
	}
	p.activeSet = newActiveSet(unit, m.g)
	p.x, p.u = make([]float64, d), make([]float64, 0, d+1)
	p.moveTo(0)
	return p
}

// moveTo sets t and gives up active cuts until no multiplier is negative.
func (p *path) moveTo(t float64) {
	p.t = t
	if p.exact != nil {
		return // settle begins anew
	}
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

// violated returns a cut of pool or ball that x violates, and by how much, or nil if none
// is violated by more than rounding. It is the most violated one, or where that takes long
// the most violated one of a short list that was so of late.
func (p *path) violated() (worst *cut, by float64) {
	least := p.rounding() * L2.Of(p.x)
	if worst, by = p.worst(p.short, least, nil); worst != nil {
		return worst, by
	}
	var all *[]miss
	// A pool of a mebibyte is read in the time of a few steps.
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
	// The pool comes first, so that a cut of the ball is not made twice.
	if c, v := p.ballCut(max(by, least)); c != nil {
		p.pool = append(p.pool, c)
		worst, by = c, v
	}
	return worst, by
}

// A miss is a cut and by how much x violates it.
type miss struct {
	cut *cut
	by  float64
}

// worst returns the cut of a list that x violates most, if by more than least, and appends
// all that it so violates.
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

// settle restores feasibility over the pool at the present t: Goldfarb and Idnani's
// dual method. It reports false if the pool is infeasible.
func (p *path) settle(ctx context.Context) (outcome, error) {
	if p.exact != nil {
		return p.exact.settle(ctx, p)
	}
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
			return infeasible, nil
		}
		p.solve()
		p.moveTo(p.t)
	}
}

// enter makes the violated cut c active, moving x and u along the dual path and
// dropping what blocks it. It reports false if c contradicts active cuts.
func (p *path) enter(c *cut, by float64) bool {
	r := p.step
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
			// c's normal is Σ rₖ aₖ with r ⪯ 0 but for the hyperplane's.
			p.refutation = refutation{by: append(slices.Clone(p.cuts), c), of: make([]float64, q+1)}
			floats.ScaleTo(p.of[:q], -1, r[:q])
			p.of[q] = 1
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
