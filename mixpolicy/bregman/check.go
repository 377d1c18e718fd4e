package bregman

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Check examines a modulus in ℝᵈ: whether it is a Legendre function, whether its methods agree
// with each other, and how it behaves in the projection. All points are drawn from the seed.
//
// Interior points come from the kernel's interval if m is separable, and from ∇φ* of random
// dual points. Every tolerance is the rounding error of what is compared, amplified by the
// condition of the map in question as measured by a perturbed evaluation, times a factor of a
// thousand for what such an estimate misses. A wrong formula is off by far more, unless the
// mistake itself is of the order of 10⁻¹⁰.
//
// A panic of the modulus is a finding too.
//
//	report := bregman.Check(bregman.Cube(2), 4, 1)
//	fmt.Println(report, report.Err())
func Check(m Modulus, d int, seed uint64) *Report {
	r := &Report{Modulus: fmt.Sprint(m), Dim: d}
	if err := validate(m); err != nil {
		r.Findings = []Finding{{Name: "parameters", Limit: 1, Worst: 1, Where: err.Error()}}
		return r
	}
	c := &checker{m: m, d: d, rng: rand.New(rand.NewPCG(seed, 0)), report: r}
	c.sep, c.separable = asSeparable(m)
	for _, examine := range []struct {
		name string
		f    func(*Finding)
	}{
		{"φ, ∇φ, ∇φ* are numbers", c.numbers},
		{"∇φ is the gradient: Taylor remainder of order 2", c.taylor},
		{"∇φ increases: φ is strictly convex", c.monotone},
		{"∇φ*(∇φ(x)) = x", c.inversePrimal},
		{"∇φ(∇φ*(y)) = y", c.inverseDual},
		{"φ(x) + φ*(y) = ⟨x, y⟩ at y = ∇φ(x)", c.fenchel},
		{"φ*(y) = sup ⟨x, y⟩ − φ(x) by search", c.bruteForce},
		{"D(x; y) is its definition", c.divergence},
		{"D(x; y) > 0 for x ≠ y, and D(y; y) = 0", c.positive},
		{"three-point identity", c.threePoints},
		{"‖∇φ‖ → ∞ at the boundary", c.boundary},
		{"∇φ* of large y, to 1e300", c.extremes},
		{"1ᵀθ = 1 after projection, J′(z) = 0", c.projection},
		{"J″(z) is the slope of J′(z)", c.curvature},
		{"closed form and Newton agree", c.closedForm},
		{"Pythagorean identity on 1ᵀθ = 1", c.pythagoras},
		{"strong convexity constant", c.strongConvexity},
		{"no allocation in ∇φ, ∇φ*", c.allocations},
	} {
		f := Finding{Name: examine.name, OK: true}
		func() {
			defer func() {
				if p := recover(); p != nil {
					f.OK, f.Worst, f.Limit, f.Where = false, math.Inf(1), 1, fmt.Sprintf("panic: %v", p)
				}
			}()
			examine.f(&f)
		}()
		r.Findings = append(r.Findings, f)
	}
	return r
}

type checker struct {
	m         Modulus
	d         int
	sep       Separable
	separable bool
	rng       *rand.Rand
	first     int  // the trial from which point starts
	slow      bool // the projection takes many evaluations
	report    *Report
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

func (c *checker) gradient(x []float64) []float64 { g := c.new(); c.m.Gradient(g, x); return g }

func (c *checker) conjugateGradient(y []float64) []float64 {
	x := c.new()
	c.m.ConjugateGradient(x, y)
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
		x := c.new()
		for i := range x {
			lo, hi := c.sep.at(i).Domain()
			x[i] = c.spread(lo, hi)
		}
		if c.m.InDomain(x) {
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
	panic("no interior point was found: ∇φ* never maps into the domain")
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
