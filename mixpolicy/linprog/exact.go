package linprog

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// An exactPath finds x(t) over the pool without rounding, from the data as they are
// given. It is Goldfarb and Idnani's method once more, which in exact arithmetic needs no
// rule against cycling: each full step raises the dual objective, so no active set comes
// twice, and there are at most d partial steps between two full ones.
//
// That argument holds in any ordered field, and so t may be an infinitely large number: all
// that is ever compared is affine in t, and is compared by its coefficient of t first.
// x(t) = x0 + t v for infinite t is the answer to the linear program: if v = 0 then x0 is
// its solution of least norm; else v is a ray of descent.
//
// The active set is refactored in each step, in whole numbers by Bareiss' elimination.
// With q active cuts their size is some 100 q bits, and a step takes q³ operations on
// them: 20 µs for q = 4, 1 ms for q = 12, 50 ms for q = 32.
type exactPath struct {
	b      []*big.Int   // the objective, in whole numbers …
	t      affine       // … and the t that goes with them
	active []*cut       // the hyperplane first
	gram   [][]*big.Int // of their whole numbers
	u      []affine     // their multipliers
	x      position
}

// exactVariables is the most variables for which exact arithmetic is tried, and exactBits the
// most that the numbers of active cuts may have, added up over the cuts: 64 cuts of 160 bits, or
// five of all that a float64 may have. A step then takes a few tenths of a second at most.
const (
	exactVariables = 32
	exactBits      = 10 << 10
)

// toInfinity solves the linear program over the pool.
func (e *exactPath) toInfinity(ctx context.Context, p *path) (outcome, error) {
	b := p.b
	if p.length == 0 {
		b = p.objective // 0: b is constant to within rounding
	}
	out, err := e.run(ctx, p, b, nil)
	if out != bounded {
		return out, err
	}
	e.publish(p, b)
	if p.length > 0 {
		// From multipliers of b to those of b̂, where b = mean·g + length·b̂.
		p.u1[0] -= p.mean * p.cuts[0].length
		floats.Scale(1/p.length, p.u1[:len(p.cuts)])
	}
	if p.still {
		copy(p.x, p.x0)
		return bounded, nil
	}
	// Any feasible point can be the start of the ray: take the one of least norm.
	v := slices.Clone(p.v)
	p.t = 0
	if out, err := e.settle(ctx, p); out != bounded {
		return out, err
	}
	copy(p.v, v)
	return ray, nil
}

// settle finds x(t) at the t of p.
func (e *exactPath) settle(ctx context.Context, p *path) (outcome, error) {
	out, err := e.run(ctx, p, p.objective, new(big.Rat).SetFloat64(p.t))
	if out != bounded {
		return out, err
	}
	e.publish(p, p.objective)
	p.u = append(p.u[:0], inUnits(e.active, e.values())...)
	for j := range p.x {
		p.x[j], _ = new(big.Rat).SetFrac(e.x.rest[j], e.x.den).Float64()
	}
	return bounded, nil
}

// run finds x(t), for infinite t if t is nil.
func (e *exactPath) run(ctx context.Context, p *path, b []float64, t *big.Rat) (outcome, error) {
	var shift int
	e.b, shift = whole(b)
	e.t = affine{new(big.Rat), new(big.Rat)}
	unit := powerRat(-shift)
	if t == nil {
		e.t.lead = unit
	} else {
		e.t.rest = unit.Mul(unit, t)
	}
	e.active, e.gram = e.active[:0], e.gram[:0]
	plane := p.cuts[0]
	e.extend(p, plane)
	// x = u a − t b is on the hyperplane.
	f := p.integral(plane)
	perLength := new(big.Rat).SetFrac(big.NewInt(1), e.gram[0][0])
	rhs := affine{new(big.Rat), new(big.Rat).SetInt(f.rhs)}
	e.u = append(e.u[:0], rhs.addScaled(new(big.Rat).SetInt(dotInt(f.a, e.b)), e.t).times(perLength))
	for {
		e.locate(p)
		c := e.violated(p)
		if c == nil {
			return bounded, nil
		}
		if out, err := e.enter(ctx, p, c); out != bounded {
			return out, err
		}
	}
}

// extend makes a cut active.
func (e *exactPath) extend(p *path, c *cut) {
	row := append(e.products(p, c), nil)
	a := p.integral(c).a
	row[len(row)-1] = dotInt(a, a)
	for k := range e.gram {
		e.gram[k] = append(e.gram[k], row[k])
	}
	e.gram = append(e.gram, row)
	e.active = append(e.active, c)
}

// products returns the inner products of c with the active cuts.
func (e *exactPath) products(p *path, c *cut) []*big.Int {
	out := make([]*big.Int, len(e.active), len(e.active)+1)
	for k, other := range e.active {
		out[k] = dotInt(p.integral(other).a, p.integral(c).a)
	}
	return out
}

// locate evaluates x = Σ uₖ aₖ − t b over a common denominator.
func (e *exactPath) locate(p *path) {
	den := big.NewInt(1)
	include := func(r *big.Rat) {
		d := r.Denom()
		den.Mul(den, new(big.Int).Quo(d, new(big.Int).GCD(nil, nil, den, d)))
	}
	include(e.t.lead)
	include(e.t.rest)
	for _, u := range e.u {
		include(u.lead)
		include(u.rest)
	}
	e.x = position{make([]*big.Int, p.d), make([]*big.Int, p.d), den}
	for j := range p.d {
		e.x.lead[j], e.x.rest[j] = new(big.Int), new(big.Int)
	}
	add := func(f affine, sign int64, a []*big.Int) {
		for _, part := range []struct {
			f *big.Rat
			x []*big.Int
		}{{f.lead, e.x.lead}, {f.rest, e.x.rest}} {
			if part.f.Sign() == 0 {
				continue
			}
			n := new(big.Int).Quo(den, part.f.Denom())
			n.Mul(n, part.f.Num()).Mul(n, big.NewInt(sign))
			product := new(big.Int)
			for j, v := range a {
				part.x[j].Add(part.x[j], product.Mul(n, v))
			}
		}
	}
	add(e.t, -1, e.b)
	for k, c := range e.active {
		add(e.u[k], 1, p.integral(c).a)
	}
}

// miss returns rhs − aᵀx of a cut.
func (e *exactPath) miss(f *integral) affine {
	rest := new(big.Int).Mul(f.rhs, e.x.den)
	rest.Sub(rest, dotInt(f.a, e.x.rest))
	lead := dotInt(f.a, e.x.lead)
	return affine{new(big.Rat).SetFrac(lead.Neg(lead), e.x.den), new(big.Rat).SetFrac(rest, e.x.den)}
}

// violated returns the cut of the pool, or else of the ball, that x is farthest beyond, or
// nil if there is none.
func (e *exactPath) violated(p *path) *cut {
	var worst *cut
	var most [2]*big.Float
	for _, c := range p.pool {
		f := p.integral(c)
		lead, rest := dotInt(f.a, e.x.lead), dotInt(f.a, e.x.rest)
		rest.Sub(new(big.Int).Mul(f.rhs, e.x.den), rest)
		if s := -lead.Sign(); s < 0 || s == 0 && rest.Sign() <= 0 {
			continue
		}
		by := [2]*big.Float{c.perUnit(lead.Neg(lead)), c.perUnit(rest)}
		if worst == nil || cmp.Or(by[0].Cmp(most[0]), by[1].Cmp(most[1])) > 0 {
			worst, most = c, by
		}
	}
	if worst == nil && p.inside {
		if worst = e.ballCut(p); worst != nil {
			p.pool = append(p.pool, worst)
		}
	}
	return worst
}

// ballCut returns a cut of a polyhedral ball that x violates, or nil.
func (e *exactPath) ballCut(p *path) *cut {
	coordinate := func(j int) affine {
		return affine{new(big.Rat).SetFrac(e.x.lead[j], e.x.den), new(big.Rat).SetFrac(e.x.rest[j], e.x.den)}
	}
	below := func(a affine, limit *big.Rat) bool {
		return affine{a.lead, new(big.Rat).Sub(a.rest, limit)}.sign() < 0
	}
	switch p.norm {
	case LInf:
		least := new(big.Rat).SetFloat64(-p.radius)
		for j := range p.d {
			x := coordinate(j)
			for _, s := range []int64{1, -1} {
				if below(x.times(big.NewRat(s, 1)), least) {
					return p.boxCut(j, float64(s))
				}
			}
		}
	case L1:
		least := new(big.Rat).SetFloat64(1 - p.radius)
		least.Mul(least, big.NewRat(1, 2))
		var set []int
		sum := affine{new(big.Rat), new(big.Rat)}
		for j := range p.d {
			if x := coordinate(j); x.sign() < 0 {
				set = append(set, j)
				sum = sum.addScaled(big.NewRat(1, 1), x)
			}
		}
		if below(sum, least) {
			if p.radius == 1 {
				set = set[:1] // the simplex: its facets are θⱼ ≥ 0
			}
			return p.massCut(set)
		}
	}
	return nil
}

// enter makes the cut c active that x violates, dropping what blocks it.
func (e *exactPath) enter(ctx context.Context, p *path, c *cut) (outcome, error) {
	f := p.integral(c)
	miss := e.miss(f)
	entering := affine{new(big.Rat), new(big.Rat)} // the multiplier of c
	for {
		if err := ctx.Err(); err != nil || e.bits(p)+f.bits() > exactBits {
			return stalled, err
		}
		p.pivots++
		g := e.products(p, c)
		r := e.solve(g)[0]
		// zz is the square of the part of c's normal that is orthogonal to the active ones.
		zz := new(big.Rat).SetInt(dotInt(f.a, f.a))
		for k := range r {
			zz.Sub(zz, new(big.Rat).Mul(r[k], new(big.Rat).SetInt(g[k])))
		}
		block := 0
		for k := 1; k < len(r); k++ {
			if r[k].Sign() > 0 && (block == 0 || cmpRatio(e.u[k], r[k], e.u[block], r[block]) < 0) {
				block = k
			}
		}
		full := zz.Sign() > 0 && (block == 0 || cmpRatio(miss, zz, e.u[block], r[block]) <= 0)
		var step affine
		switch {
		case full:
			step = miss.times(new(big.Rat).Inv(zz))
		case block > 0:
			step = e.u[block].times(new(big.Rat).Inv(r[block]))
		default:
			// c's normal is Σ rₖ aₖ with r ⪯ 0 but for the hyperplane's.
			p.refutation = refutation{refuting: append(slices.Clone(e.active), c)}
			for _, v := range r {
				p.ratios = append(p.ratios, v.Neg(v))
			}
			p.ratios = append(p.ratios, big.NewRat(1, 1))
			p.scale()
			return infeasible, nil
		}
		for k, v := range r {
			e.u[k] = e.u[k].addScaled(new(big.Rat).Neg(v), step)
		}
		entering = entering.addScaled(big.NewRat(1, 1), step)
		if full {
			e.extend(p, c)
			e.u = append(e.u, entering)
			return bounded, nil
		}
		miss = miss.addScaled(zz.Neg(zz), step)
		e.drop(block)
	}
}

// drop makes an active cut inactive.
func (e *exactPath) drop(k int) {
	e.active = slices.Delete(e.active, k, k+1)
	e.u = slices.Delete(e.u, k, k+1)
	e.gram = slices.Delete(e.gram, k, k+1)
	for i := range e.gram {
		e.gram[i] = slices.Delete(e.gram[i], k, k+1)
	}
}

// solve returns the solutions of Gram·y = rhs, by Gauss, Jordan and Bareiss: whole numbers
// all the way, and each of them a minor of the matrix. The active normals are independent,
// so the leading minors, which are the pivots, are positive.
func (e *exactPath) solve(rhs ...[]*big.Int) [][]*big.Rat {
	q := len(e.gram)
	m := make([][]*big.Int, q)
	for i := range m {
		for _, v := range e.gram[i] {
			m[i] = append(m[i], new(big.Int).Set(v))
		}
		for _, column := range rhs {
			m[i] = append(m[i], new(big.Int).Set(column[i]))
		}
	}
	last, other := big.NewInt(1), new(big.Int)
	for c := range q {
		pivot := m[c][c]
		for i := range m {
			if i == c {
				continue
			}
			factor := m[i][c]
			for j := c + 1; j < len(m[i]); j++ { // what is left of them is not read again
				v := m[i][j]
				v.Mul(v, pivot).Sub(v, other.Mul(factor, m[c][j])).Quo(v, last)
			}
		}
		last = new(big.Int).Set(pivot) // which the next step changes
	}
	out := make([][]*big.Rat, len(rhs))
	for k := range rhs {
		for i := range m {
			out[k] = append(out[k], new(big.Rat).SetFrac(m[i][q+k], last))
		}
	}
	return out
}

// values returns the multipliers for a finite t.
func (e *exactPath) values() []*big.Rat {
	out := make([]*big.Rat, len(e.u))
	for k, u := range e.u {
		out[k] = u.rest
	}
	return out
}

// publish rounds x(t) = x0 + t v and its multipliers for the path; still and optimal are set
// without rounding.
func (e *exactPath) publish(p *path, b []float64) {
	p.cuts = slices.Clone(e.active)
	rhs, along := make([]*big.Int, len(e.active)), make([]*big.Int, len(e.active))
	for k, c := range e.active {
		f := p.integral(c)
		rhs[k], along[k] = f.rhs, dotInt(f.a, e.b)
	}
	// x0 = Σ u0ₖ aₖ and v = Σ u1ₖ aₖ − b.
	u := e.solve(rhs, along)
	_, shift := whole(b)
	unit := powerRat(-shift)
	for _, w := range u[1] {
		w.Mul(w, unit)
	}
	p.still = true
	for j := range p.d {
		x, v := new(big.Rat), new(big.Rat)
		v.Neg(v.Mul(unit, new(big.Rat).SetInt(e.b[j])))
		for k, c := range e.active {
			a := new(big.Rat).SetInt(c.form.a[j])
			x.Add(x, new(big.Rat).Mul(u[0][k], a))
			v.Add(v, a.Mul(a, u[1][k]))
		}
		p.x0[j], _ = x.Float64()
		p.v[j], _ = v.Float64()
		p.still = p.still && v.Sign() == 0
	}
	p.optimal = p.still
	for _, w := range u[1][1:] {
		p.optimal = p.optimal && w.Sign() >= 0
	}
	copy(p.u0, inUnits(p.cuts, u[0]))
	copy(p.u1, inUnits(p.cuts, u[1]))
}

// An integral cut is (a, rhs) in whole numbers, 2^shift times that of the row divided by its
// scale, or of the ball or the hyperplane as they are written.
type integral struct {
	a     []*big.Int
	rhs   *big.Int
	shift int
}

// bits returns how long the numbers of f are.
func (f *integral) bits() int {
	most := 0
	for _, v := range f.a {
		most = max(most, v.BitLen())
	}
	return most
}

// bits returns how long the numbers of active cuts are together.
func (e *exactPath) bits(p *path) (sum int) {
	for _, c := range e.active {
		sum += p.integral(c).bits()
	}
	return sum
}

// affine is a number rest + lead·t for an infinitely large t.
type affine struct{ lead, rest *big.Rat }

func (a affine) sign() int {
	if s := a.lead.Sign(); s != 0 {
		return s
	}
	return a.rest.Sign()
}

// cmpRatio compares a/r with b/s, where r, s > 0.
func cmpRatio(a affine, r *big.Rat, b affine, s *big.Rat) int {
	if c := cmpProduct(a.lead, s, b.lead, r); c != 0 {
		return c
	}
	return cmpProduct(a.rest, s, b.rest, r)
}

func cmpProduct(a, s, b, r *big.Rat) int {
	return new(big.Rat).Mul(a, s).Cmp(new(big.Rat).Mul(b, r))
}

// addScaled returns a + f·b.
func (a affine) addScaled(f *big.Rat, b affine) affine {
	lead, rest := new(big.Rat).Mul(f, b.lead), new(big.Rat).Mul(f, b.rest)
	return affine{lead.Add(lead, a.lead), rest.Add(rest, a.rest)}
}

// times returns f·a.
func (a affine) times(f *big.Rat) affine {
	return affine{new(big.Rat).Mul(f, a.lead), new(big.Rat).Mul(f, a.rest)}
}

// A position is the point (rest + lead·t)/den.
type position struct {
	lead, rest []*big.Int
	den        *big.Int // > 0
}

// whole returns 2^shift·x in whole numbers, with the least shift.
func whole(x []float64) (out []*big.Int, shift int) {
	lowest := math.MaxInt
	for _, v := range x {
		if v != 0 {
			_, e := math.Frexp(v)
			lowest = min(lowest, e-53)
		}
	}
	out = make([]*big.Int, len(x))
	for j, v := range x {
		f, e := math.Frexp(v)
		out[j] = big.NewInt(int64(math.Ldexp(f, 53)))
		if v != 0 {
			out[j].Lsh(out[j], uint(e-53-lowest))
		}
	}
	if lowest == math.MaxInt {
		return out, 0
	}
	return out, -lowest
}

// integral returns c in whole numbers, from the data. Rows are homogeneous, a ball has its
// ±θⱼ ≥ −R or 2Σ_S θⱼ ≥ 1 − R.
func (p *path) integral(c *cut) *integral {
	if c.form != nil {
		return c.form
	}
	row, extra := make([]float64, p.d+1), 0
	switch c.row {
	case hyperplane:
		copy(row, p.g)
		row[p.d] = 1
	case ball:
		unit := 1.0
		row[p.d] = -p.radius
		if p.norm == L1 {
			unit, row[p.d] = 2, 1-p.radius
			extra = 1
		}
		for j, v := range c.normal {
			if v != 0 {
				row[j] = math.Copysign(unit, v)
			}
		}
	default:
		p.psi.Row(row[:p.d], c.row)
		_, extra = math.Frexp(c.scale)
		extra--
	}
	a, shift := whole(row)
	c.form = &integral{a: a[:p.d], rhs: a[p.d], shift: shift + extra}
	return c.form
}

// perUnit returns what the product v of the cut's whole numbers is for its unit normal.
func (c *cut) perUnit(v *big.Int) *big.Float {
	f := new(big.Float).SetPrec(64).SetInt(v)
	f.SetMantExp(f, -c.form.shift)
	return f.Quo(f, big.NewFloat(c.length))
}

// scale divides the ratios by a power of two such that weights are of a size near 1, and sets
// those.
func (r *refutation) scale() {
	most := math.MinInt
	for k, v := range r.ratios {
		if v.Sign() != 0 {
			most = max(most, inUnit(r.refuting[k], v).MantExp(nil))
		}
	}
	unit := powerRat(-most)
	for k, v := range r.ratios {
		r.ratios[k] = new(big.Rat).Mul(v, unit)
	}
	r.weights = inUnits(r.refuting, r.ratios)
}

// inUnits rounds multipliers of the cuts' whole numbers to those of their unit normals.
func inUnits(cuts []*cut, ratios []*big.Rat) []float64 {
	out := make([]float64, len(cuts))
	for k, c := range cuts {
		out[k], _ = inUnit(c, ratios[k]).Float64()
	}
	return out
}

func inUnit(c *cut, ratio *big.Rat) *big.Float {
	f := new(big.Float).SetPrec(128).SetRat(ratio)
	f.SetMantExp(f, c.form.shift)
	return f.Mul(f, big.NewFloat(c.length))
}

func dotInt(a, b []*big.Int) *big.Int {
	sum, product := new(big.Int), new(big.Int)
	for j := range a {
		sum.Add(sum, product.Mul(a[j], b[j]))
	}
	return sum
}

// powerRat returns 2^e.
func powerRat(e int) *big.Rat {
	power := new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e)))
	if e < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), power)
	}
	return new(big.Rat).SetInt(power)
}
