package bregman

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Check examines a modulus in ℝᵈ: whether it is a Legendre function, whether its methods agree
// with each other, and how it behaves in the projection. Where something fails it looks for the
// cause, and names the method at fault and the likely slip. All points are drawn from the seed.
//
// Interior points come from the kernel's interval if m is separable, and from ∇φ* of random
// dual points. Every tolerance is the rounding error of what is compared, amplified by the
// condition of the map in question as measured by a perturbed evaluation, times a factor of a
// thousand for what such an estimate misses. A wrong formula is off by far more, unless the
// mistake itself is of the order of 10⁻¹⁰.
//
// Of three methods that disagree the one at fault is the one that neither of the others agrees with. What
// follows from a cause is not told again: a modulus with several mistakes may have to be checked
// again once the first are mended. m is called from several goroutines at once, and one that writes to a
// map then may end the program.
//
//	report := bregman.Check(bregman.Cube(2), 4, 1)
//	fmt.Println(report, report.Err())
func Check(m Modulus, d int, seed uint64) *Report {
	c := newChecker(m, d, seed)
	var err error
	if c.protect(func() { err = validate(m) }); err != nil {
		c.find(Finding{Kind: Invalid, Method: "Validate", Words: strings.TrimPrefix(err.Error(), "bregman: "), Measured: math.NaN()})
	}
	if len(c.report.Findings) > 0 {
		return c.report
	}
	for _, x := range examinations {
		e := Examination{Name: x.name, OK: true}
		if !c.protect(func() { x.examine(c, &e) }) {
			e.OK, e.Worst, e.Limit, e.Where = false, math.Inf(1), 1, "see the panic"
		}
		c.failed[x.name] = !e.OK
		c.report.Examinations = append(c.report.Examinations, e)
	}
	if !c.panics {
		c.protect(c.diagnose)
	}
	slices.SortStableFunc(c.report.Findings, func(a, b Finding) int { return int(a.Kind - b.Kind) })
	return c.report
}

// What is examined. The diagnosis asks for some of them by name.
const (
	areNumbers   = "φ, ∇φ, ∇φ* are numbers"
	isGradient   = "∇φ is the gradient: Taylor remainder of order 2"
	isIntegral   = "φ(b) − φ(a) is between ⟨∇φ(a), b − a⟩ and ⟨∇φ(b), b − a⟩"
	isIncreasing = "∇φ increases: φ is strictly convex"
	isInverse    = "∇φ*(∇φ(x)) = x"
	hasInverse   = "∇φ(∇φ*(y)) = y"
	isConjugate  = "φ(x) + φ*(y) = ⟨x, y⟩ at y = ∇φ(x)"
	isDivergence = "D(x; y) is its definition"
	isPositive   = "D(x; y) > 0 for x ≠ y, and D(y; y) = 0"
	isSteep      = "‖∇φ‖ → ∞ at the boundary"
	isInfinite   = "φ = +∞ outside of the domain"
	isBounded    = "∇φ* of large y, to 1e300"
	isProjection = "1ᵀθ = 1 after projection, J′(z) = 0"
	isCurvature  = "J″(z) is the slope of J′(z)"
	isClosedForm = "closed form and Newton agree"
	isConstant   = "strong convexity constant"
)

var examinations = []struct {
	name    string
	examine func(*checker, *Examination)
}{
	{areNumbers, (*checker).numbers},
	{"the same from the same point, whatever was called before, and in place", (*checker).repeats},
	{isGradient, (*checker).taylor},
	{isIntegral, (*checker).increments},
	{isIncreasing, (*checker).monotone},
	{isInverse, (*checker).inversePrimal},
	{hasInverse, (*checker).inverseDual},
	{isConjugate, (*checker).fenchel},
	{isDivergence, (*checker).divergence},
	{isPositive, (*checker).positive},
	{isSteep, (*checker).boundary},
	{isInfinite, (*checker).outside},
	{isBounded, (*checker).extremes},
	{isProjection, (*checker).projection},
	{isCurvature, (*checker).curvature},
	{isClosedForm, (*checker).closedForm},
	{isConstant, (*checker).strongConvexity},
	{"the same from several goroutines", (*checker).concurrent},
	{"no allocation in ∇φ, ∇φ*", (*checker).allocations},
}

type checker struct {
	m         Modulus
	d         int
	sep       Separable
	separable bool
	named     names
	rng       *rand.Rand
	first     int // the trial from which point starts
	report    *Report
	failed    map[string]bool // by the name of the examination
	panics    bool

	// Where examinations met what the diagnosis goes back to.
	bad      []float64    // a point of the domain at which φ or ∇φ is no number
	beyond   []float64    // a point outside, at which φ is not +∞
	suspects [][]float64  // points at which something is wrong
	segment  [2][]float64 // between which φ rises by too much, or too little
	dip      dip          // the first
	edge     [2][]float64 // a point, and the way to the boundary from there
	ray      ray
	least    float64 // the strong convexity seen
	leastAt  string
}

func newChecker(m Modulus, d int, seed uint64) *checker {
	c := &checker{
		m: m, d: d, rng: rand.New(rand.NewPCG(seed, 0)), failed: map[string]bool{},
		report: &Report{Modulus: nameOf(m), Dim: d}, named: namesOf(m),
	}
	c.sep, c.separable = asSeparable(m)
	return c
}

// nameOf is what String returns, or the type.
func nameOf(m any) string {
	if s, ok := m.(fmt.Stringer); ok {
		return fmt.Sprint(s)
	}
	return fmt.Sprintf("%T", m)
}

// names are those of the methods that the author of a modulus has written.
type names struct{ value, gradient, conjugateGradient, domain, curvature, strong string }

func namesOf(m Modulus) names {
	if s, ok := m.(Separable); ok {
		if _, ok := s.Kernel.(automatic); ok {
			return names{"φ", "φ", "φ", "lo and hi", "φ", "Mu"}
		}
		return names{"Value", "Deriv", "ConjDeriv", "Domain", "ConjCurvature", "Mu"}
	}
	if _, ok := m.(*vectorFunc); ok {
		return names{"φ", "φ", "φ", "φ", "φ", ""}
	}
	return names{"Value", "Gradient", "ConjugateGradient", "InDomain", "ConjugateCurvature", "StrongConvexity"}
}

func (c *checker) find(f Finding) { c.report.Findings = append(c.report.Findings, f) }

// protect calls f, and reports whether it came back. A panic becomes a finding.
func (c *checker) protect(f func()) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			c.panics = true
			c.findPanic(p, stack())
		}
	}()
	f()
	return true
}

// nowhere is the panic of point.
type nowhere struct{}

// stack returns the calls that led to a panic, from the innermost on, without those of the runtime.
func stack() (frames []runtime.Frame) {
	pc := make([]uintptr, 256)
	all := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
	panicked := false
	for {
		f, more := all.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicked, frames = true, nil
		case panicked && !strings.HasPrefix(f.Function, "runtime."):
			frames = append(frames, f)
		}
		if !more {
			return frames
		}
	}
}

// findPanic names the innermost of the calls that is a method of a modulus or a kernel, and the line.
func (c *checker) findPanic(p any, calls []runtime.Frame) {
	f := Finding{Kind: Panics, Words: fmt.Sprintf("%v", p), Measured: math.NaN()}
	if _, ok := p.(nowhere); ok {
		f = Finding{Kind: Disagrees, Method: c.named.domain, Measured: math.NaN(), Words: fmt.Sprintf("no point was found inside of the domain: nothing that %s returns is in it", c.named.conjugateGradient)}
	}
	for _, call := range calls {
		name := strings.TrimSuffix(call.Function[strings.LastIndex(call.Function, ".")+1:], "-fm")
		if f.Kind == Panics && f.Where == "" {
			f.Where = fmt.Sprintf("%s:%d", filepath.Base(call.File), call.Line)
		}
		if f.Method == "" && slices.Contains(methods, name) {
			f.Method, f.Words = name, fmt.Sprintf("%s panics: %s", name, f.Words)
		}
	}
	for _, other := range c.report.Findings {
		if other.Kind == f.Kind && other.Method == f.Method && other.Where == f.Where {
			return
		}
	}
	c.find(f)
}

var methods = []string{
	"Value", "Gradient", "ConjugateGradient", "InDomain", "Deriv", "ConjDeriv", "Domain", "Conjugate", "Divergence",
	"Shift", "ConjCurvature", "ConjugateCurvature", "StrongConvexity", "Validate",
}

// slack is the factor by which an error may exceed its estimate.
const slack = 1000

func (c *checker) new() []float64 { return make([]float64, c.d) }

func (c *checker) normal(scale float64) []float64 {
	x := c.new()
	for i := range x {
		x[i] = scale * c.rng.NormFloat64()
	}
	return x
}

// gradient and conjugateGradient keep their argument, also from a method that does not.
func (c *checker) gradient(x []float64) []float64 {
	g := c.new()
	c.m.Gradient(g, slices.Clone(x))
	return g
}

func (c *checker) conjugateGradient(y []float64) []float64 {
	x := c.new()
	c.m.ConjugateGradient(x, slices.Clone(y))
	return x
}

func combine(a float64, x []float64, b float64, y []float64) []float64 {
	z := make([]float64, len(x))
	for i := range x {
		z[i] = a*x[i] + b*y[i]
	}
	return z
}

func norm2(x []float64) float64 { return normP(2, x) }

// point returns an interior point. Half of a separable modulus's points are spread over its
// interval, with as many near an end, on a logarithmic scale, as in the middle.
func (c *checker) point() []float64 {
	if c.separable && c.rng.IntN(2) == 0 {
		if x := c.spreadPoint(); c.m.InDomain(x) {
			return x
		}
	}
	for trial := c.first; trial < 400; trial++ {
		// Where these are too large, ∇φ* gives the boundary, and where they are too small a point
		// far out: smaller and larger ones follow in turns.
		octaves := float64(trial%200) / 8
		if trial%2 == 0 {
			octaves = -octaves
		}
		y := c.normal(math.Exp(4*c.rng.Float64()-2) * math.Exp2(octaves))
		if trial >= 200 { // the range of ∇φ may be on one side of 0, as for a log barrier
			for i := range y {
				y[i] = -math.Abs(y[i])
			}
		}
		x := c.conjugateGradient(y)
		if c.m.InDomain(x) && norm2(x) < 1e4 {
			c.first = max(0, trial-8)
			return x
		}
	}
	c.first = 400 // it never does
	if c.separable {
		if x := c.spreadPoint(); c.m.InDomain(x) {
			return x
		}
	}
	panic(nowhere{})
}

func (c *checker) spreadPoint() []float64 {
	x := c.new()
	for i := range x {
		lo, hi := c.sep.at(i).Domain()
		x[i] = c.spread(lo, hi)
	}
	return x
}

// anywhere returns a point or one beside it, which ∇φ* need not reach.
func (c *checker) anywhere() []float64 {
	x := c.point()
	if c.rng.IntN(2) == 0 {
		return x
	}
	e := c.normal(1)
	return combine(1, x, c.reach(x, e)*(c.rng.Float64()-0.5), e)
}

func (c *checker) spread(lo, hi float64) float64 {
	gap := math.Exp(-12 * c.rng.Float64())
	lower := c.rng.IntN(2) == 0
	switch {
	case math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return c.rng.NormFloat64() / gap / 1000
	case math.IsInf(hi, 1):
		return lo + gap*10
	case math.IsInf(lo, -1):
		return hi - gap*10
	case lower:
		return lo + (hi-lo)*gap/2
	}
	return hi - (hi-lo)*gap/2
}

// size bounds the rounding error of φ(x) in ulps: for a sum over the coordinates, the sum of
// the sizes of its terms, and what is seen of it. That is the second difference of φ along x,
// for a step of about 2⁻²⁶x, of which φ itself accounts for xᵀ∇²φx ulps and the rest is noise
// (Moré and Wild 2011).
func (c *checker) size(x []float64) float64 {
	v := c.m.Value(x)
	s := math.Abs(v)
	if c.separable {
		for i, v := range x {
			s += math.Abs(c.sep.at(i).Value(v))
		}
	} else {
		s++
	}
	for _, step := range []float64{0x1p-26, 0x1.5p-27, 0x1.9p-27} {
		seen := math.Abs(c.m.Value(combine(1+step, x, 0, x)) - 2*v + c.m.Value(combine(1-step, x, 0, x)))
		if seen < 0x1p-26*s {
			s = max(s, seen/ulp)
		}
	}
	return s
}

// terms are what an examination adds up: φ at some points, and inner products of each of left with
// each of right.
type terms struct{ values, left, right [][]float64 }

// rounding bounds the rounding error of a sum: an ulp of the size of each term.
func (c *checker) rounding(t terms) float64 {
	var values, left, right float64
	for _, x := range t.values {
		values += c.size(x)
	}
	for _, x := range t.left {
		left += norm2(x)
	}
	for _, x := range t.right {
		right += norm2(x)
	}
	return ulp * (values + left*right)
}

// condition returns how far f moves when its argument is changed by an ulp.
func condition(f func([]float64) []float64, x, fx []float64) float64 {
	up := make([]float64, len(x))
	for i, v := range x {
		up[i] = v * (1 + 4*ulp)
	}
	move := norm2(combine(1, f(up), -1, fx))
	if math.IsNaN(move) { // x is so near the boundary that an ulp leads out
		return math.Inf(1)
	}
	return move/4 + ulp*norm2(fx)
}
