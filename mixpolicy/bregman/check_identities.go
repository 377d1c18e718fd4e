package bregman

import (
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// An identity relates methods of a modulus: the numbers that one method claims must equal the numbers that follow from
// the other methods.
type identity struct {
	name                  string
	methods, claims, with role   // the related methods; the method that claims the numbers; the method that they must follow from
	of                    string // what the numbers must be; %s stands for the name of the method that they must follow from
	whole                 bool   // whether the whole modulus is examined, and not its parts
	read                  func(p *part, x, z []float64) []reading
	examine               func(*checker, *Examination) // if not nil, used instead of read
	none                  string                       // the note if examine finds nothing to examine
	kind                  Kind                         // what is wrong if the identity fails
	words                 string
}

// A reading is a number that a method claims, and the number that it must equal.
type reading struct {
	p                *part
	from, x          []float64 // from: the point of the part; x: the argument of the method, which may be a dual point
	i                int       // the coordinate
	at               float64   // the entry of x in this coordinate
	got, want, limit float64
	other            float64 // the number that a likely mistake would give, such as calling another method; NaN if none
}

// wrong reports whether the claimed number is not finite, or differs from the required number by more than limit.
func (r reading) wrong() bool {
	return math.IsInf(r.got, 0) && !math.IsInf(r.want, 0) || !(math.Abs(r.got-r.want) <= r.limit)
}

// reading.is reports whether the claimed number equals v to six digits, or to within the limit.
func (r reading) is(v float64) bool {
	limit := r.limit
	if r.want != 0 { // scale the limit from want to v
		limit *= max(1, math.Abs(v/r.want))
	}
	return v-v == 0 && math.Abs(r.got-v) <= limit+1e-6*max(math.Abs(r.got), math.Abs(v))
}

// identities are the rows of a report. A row has either a function read, for numbers that must be equal, or its own
// function examine.
var identities = []identity{
	{name: areNumbers, examine: (*checker).numbers},
	{name: "φ, ∇φ, ∇φ* depend only on the point, also if called in place", examine: (*checker).repeats},
	{name: "φ, ∇φ, ∇φ* are smooth, to ten digits", examine: (*checker).accuracy},
	{name: isGradient, methods: value | gradient, claims: gradient, of: "the derivative of %s", with: value, read: (*part).slopes,
		kind: NotLegendre, words: "φ is not differentiable"},
	{name: isIncreasing, claims: value, examine: (*checker).monotone, kind: NotLegendre, words: "φ is not strictly convex, or jumps"},
	{name: isInverse, methods: gradient | inverse, claims: inverse, of: "the inverse of %s", with: gradient, read: (*part).back},
	{name: hasInverse, methods: gradient | inverse, claims: inverse, of: "the inverse of %s", with: gradient, read: (*part).forth,
		kind: NotLegendre, words: "φ is not differentiable: ∇φ jumps"},
	{name: isDirect, methods: value | inverse, claims: inverse, of: "the inverse of the derivative of %s", with: value,
		read: (*part).direct},
	{name: "φ(x) + φ*(y) = ⟨x, y⟩ at y = ∇φ(x)", methods: value | gradient | conjugate, claims: conjugate, of: "φ*", read: (*part).fenchel},
	{name: "D(x; y) agrees with its definition", methods: value | gradient | divergence, claims: divergence, of: "D(x; y)",
		read: (*part).distance},
	{name: isSteep, claims: value, examine: (*checker).boundary, none: "no boundary met", kind: NotLegendre,
		words: "‖∇φ‖ stays finite at the boundary"},
	{name: isInfinite, claims: value, examine: (*checker).outside, none: "no boundary met, or Separable ensures it", kind: Disagrees,
		words: "%s is not +∞ outside the domain"},
	{name: isBounded, claims: inverse, examine: (*checker).extremes, kind: Overflows, words: "%s decreases, or is not a number"},
	{name: isProjection, methods: inverse | shift, of: "1ᵀθ = 1", whole: true, read: (*part).projection},
	{name: "J″(z) is the slope of J′(z)", methods: inverse | curvature, claims: curvature, of: "(φ*)″", read: (*part).curvature},
	{name: "closed form and Newton agree", methods: inverse | shift, claims: shift, of: "the z of 1ᵀ∇φ*(y + z1) = 1",
		whole: true, read: (*part).shift},
	{name: isConstant, claims: constant, examine: (*checker).strongConvexity, kind: Disagrees,
		words: "%s claims more strong convexity than φ has"},
	{name: "no allocation in ∇φ, ∇φ*", examine: (*checker).allocations},
}

const (
	areNumbers   = "φ, ∇φ, ∇φ* are numbers"
	isGradient   = "∇φ is the gradient of φ"
	isIncreasing = "∇φ increases, and φ rises as ∇φ says"
	isInverse    = "∇φ*(∇φ(x)) = x"
	hasInverse   = "∇φ(∇φ*(y)) = y"
	isDirect     = "∇φ* takes the slopes of φ to x"
	isSteep      = "‖∇φ‖ → ∞ at the boundary"
	isInfinite   = "φ = +∞ outside the domain"
	isProjection = "1ᵀθ = 1 after projection, J′(z) = 0"
	isBounded    = "∇φ* of large y, to 1e300"
	isConstant   = "strong convexity constant"
)

// readAll calls the identity's examine. Without one, it reads the identity at all points of the parts that have the
// claiming method.
func (c *checker) readAll(id identity, e *Examination) {
	if id.examine != nil {
		if id.examine(c, e); e.Limit == 0 && e.Note == "" {
			e.Note = id.none
		}
		return
	}
	parts := slices.Clone(map[bool][]*part{false: c.parts, true: {c.whole}}[id.whole])
	parts = slices.DeleteFunc(parts, func(p *part) bool { return id.claims != 0 && p.own&id.claims == 0 })
	if id.whole && !c.meets(e) {
		return
	}
	for _, p := range parts {
		for k, x := range p.points {
			for _, r := range id.read(p, x, p.points[(k+1)%len(p.points)]) {
				if r.got-r.got != 0 || r.limit < math.Inf(1) { // otherwise the reading decides nothing
					r.from = x
					c.readings[id.name] = append(c.readings[id.name], r)
					e.worse(math.Abs(r.got-r.want), r.limit, "%s: %.9g for %.9g", r.where(id), r.got, r.want)
				}
			}
		}
	}
	if e.Note = "nothing that exceeds rounding"; len(parts) == 0 {
		e.Note = "no formula is given"
	}
	if e.Limit != 0 {
		e.Note = ""
	}
}

// part.all returns one reading for each entry.
func (p *part) all(at, got, want []float64, limit float64, other []float64) (all []reading) {
	for i, v := range at {
		all = append(all, reading{p, nil, at, p.i + i, v, got[i], want[i], limit, other[i]})
	}
	return all
}

func nans(d int) []float64 { return slices.Repeat([]float64{math.NaN()}, d) }

// slopes compares ∇φ(x) with those difference quotients of φ that are known to some digits.
func (p *part) slopes(x, _ []float64) (all []reading) {
	g, swapped := p.gradient(x), p.inverse(x)
	for i := range x {
		slope, off := p.partial(x, i)
		size := max(math.Abs(slope), math.Abs(g[i]))
		if off <= 1e-4*max(math.Abs(slope), 1e-3*math.Abs(g[i]), 1e-12) {
			all = append(all, reading{p, nil, x, p.i + i, x[i], g[i], slope, 100*off + 1e-8*size, swapped[i]})
		}
	}
	return all
}

// partial returns the i-th partial derivative of φ at x from values of φ, and an estimate of the error.
func (p *part) partial(x []float64, i int) (slope, off float64) {
	e := unit(len(x), i)
	along := func(t float64) float64 { return p.Value(combine(1, x, t, e)) }
	return derivative(along, p.reach(x, e)/2, ulp*norm2(x)*norm2(p.gradient(x)))
}

// back compares ∇φ*(∇φ(x)) with x.
func (p *part) back(x, _ []float64) []reading {
	y := p.gradient(x)
	got, swapped := p.inverse(y), nans(len(x))
	if p.InDomain(y) {
		swapped = p.gradient(y)
	}
	return p.all(y, got, x, slack*condition(p.inverse, y, got, p.size), swapped)
}

// forth compares ∇φ(∇φ*(y)) with y, for the mean y of two gradients.
func (p *part) forth(x, z []float64) []reading {
	y, nan := combine(0.5, p.gradient(x), 0.5, p.gradient(z)), nans(len(x))
	at := p.inverse(y)
	if !p.InDomain(at) {
		return p.all(y, nan, y, 0, nan)
	}
	got := p.gradient(at)
	return p.all(y, got, y, slack*(condition(p.gradient, at, got, 0)+ulp*p.size), nan)
}

// direct compares x with ∇φ*(y), where y holds the difference quotients of φ at x.
func (p *part) direct(x, _ []float64) []reading {
	y, off := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		if y[i], off[i] = p.partial(x, i); !(off[i] <= 1e-4*max(math.Abs(y[i]), 1e-12)) {
			return nil
		}
	}
	got, above, below := p.inverse(y), p.inverse(combine(1, y, slack, off)), p.inverse(combine(1, y, -slack, off))
	limit := max(norm2(combine(1, above, -1, got)), norm2(combine(1, below, -1, got))) + 1e-8*maxAbs(x)
	return p.all(y, got, x, limit, nans(len(x)))
}

// fenchel compares φ*(y) with ⟨x, y⟩ − φ(x) at y = ∇φ(x).
func (p *part) fenchel(x, _ []float64) []reading {
	y := p.gradient(x)
	limit := slack * (p.rounding(x) + ulp*norm2(x)*norm2(y))
	return []reading{{p, nil, y, p.i, y[0], Conjugate(p.Modulus, y), sum.Dot(x, y) - p.Value(x), limit, math.NaN()}}
}

// distance compares D(x; z) with its definition, and does so again after moving z close to x.
func (p *part) distance(x, z []float64) (all []reading) {
	definition := func(x, z []float64) float64 {
		return p.Value(x) - p.Value(z) - sum.Dot(combine(1, x, -1, z), p.gradient(z))
	}
	for _, z := range [][]float64{z, combine(0.999, x, 0.001, z)} {
		limit := slack * (p.rounding(x) + p.rounding(z) + ulp*norm2(p.gradient(z))*(norm2(x)+norm2(z)))
		all = append(all, reading{p, nil, x, p.i, x[0], Divergence(p.Modulus, x, z), definition(x, z), limit, definition(z, x)})
	}
	return all
}

// curvature compares J″ with the slope of J′, if the slope is known to some digits.
func (p *part) curvature(x, _ []float64) []reading {
	y := p.gradient(x)
	h := math.Inf(1) // no yᵢ changes its sign within h, because ∇φ* need not be smooth where yᵢ = 0
	for _, v := range y {
		h = min(h, math.Abs(v)/2)
	}
	got := JSecond(p.Modulus, y, 0)
	rounding := 8 * ulp * (1 + normP(1, p.inverse(y)) + math.Abs(got)*maxAbs(y))
	slope, off := derivative(func(z float64) float64 { return JDeriv(p.Modulus, y, z) }, h, rounding)
	if !(off <= 1e-4*max(math.Abs(slope), 1e-3*math.Abs(got))) || h == 0 || is[product](p.Modulus) && math.IsNaN(got) {
		return nil
	}
	return []reading{{p, nil, y, p.i, y[0], got, slope, 100*off + 1e-7*math.Abs(slope), math.NaN()}}
}

// shift compares the z of a closed form with the z of Newton's method.
func (p *part) shift(x, _ []float64) []reading {
	y := p.gradient(x)
	z, _ := p.Modulus.(Shifter).Shift(y) // 0 after an error
	want, _, _ := NewtonShift(p.Modulus, y, nil)
	a, b := shifted(y, z), shifted(y, want)
	limit, theta := slack*ulp*max(math.Abs(want), maxAbs(y)), p.inverse(a)
	if norm2(combine(1, theta, -1, p.inverse(b))) <= slack*condition(p.inverse, a, theta, maxAbs(y)) {
		limit = max(limit, math.Abs(z-want)) // J′ is too flat to tell the two z apart
	}
	return []reading{{p, nil, y, 0, y[0], z, want, limit, math.NaN()}}
}

// projection compares 1ᵀθ with 1 after the projection of ∇φ(x) + ∇φ(z)/2.
func (p *part) projection(x, z []float64) []reading {
	y := combine(1, p.gradient(x), 0.5, p.gradient(z))
	before := slices.Clone(y)
	if _, err := ProjectDual(p.Modulus, y, nil); err != nil {
		return []reading{{p, nil, before, 0, before[0], math.NaN(), 1, 0, math.NaN()}}
	}
	limit := slack * condition(p.inverse, y, p.inverse(y), 0) * math.Sqrt(float64(len(y)))
	return []reading{{p, nil, before, 0, before[0], JDeriv(p.Modulus, y, 0) + 1, 1, limit, math.NaN()}}
}
