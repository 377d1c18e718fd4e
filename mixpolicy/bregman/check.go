package bregman

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// A Report is the evidence that a modulus is what it must be, from [Check].
type Report struct {
	Modulus  string
	Dim      int
	Findings []Finding

	// Taylor is the remainder |φ(x+he) − φ(x) − h⟨∇φ(x), e⟩| against h for one x and e, whose
	// slope on logarithmic axes must be 2.
	Taylor []Point
	// Boundary is the change of ∇φ since the start against what is left of the way, on one
	// way to the boundary: it must grow without bound. It is empty if no boundary was met.
	Boundary []Point
	// Speed is the time of ∇φ* for an entry of a vector, in nanoseconds. It is the one thing here
	// that differs between runs, and String leaves it out.
	Speed float64
}

// A Point of a curve.
type Point struct{ X, Y float64 }

// A Finding is the result of one examination.
type Finding struct {
	Name  string  // what must hold
	OK    bool    // whether it does
	Worst float64 // the worst case met: an error relative to Limit's scale
	Limit float64 // what Worst may be
	Where string  // the worst case, if it fails
	Note  string  // why it was left out, or what else is worth knowing
}

// Err returns nil if everything holds, or an error that lists what does not. It makes Check a
// test helper:
//
//	if err := bregman.Check(m, 4, 1).Err(); err != nil {
//		t.Error(err)
//	}
func (r *Report) Err() error {
	var failed []string
	for _, f := range r.Findings {
		if !f.OK {
			failed = append(failed, fmt.Sprintf("%s: %.3g, limit %.3g, at %s", f.Name, f.Worst, f.Limit, f.Where))
		}
	}
	if failed == nil {
		return nil
	}
	return fmt.Errorf("bregman: %s in ℝ^%d is no Legendre function, or its methods disagree:\n\t%s", r.Modulus, r.Dim, strings.Join(failed, "\n\t"))
}

// String is a table with a line for each finding. The same modulus, dimension and seed give
// the same table.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, d = %d\n", r.Modulus, r.Dim)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, f := range r.Findings {
		verdict := "ok"
		switch {
		case !f.OK:
			verdict = "FAILS"
		case f.Limit == 0 && f.Note != "":
			verdict = "–"
		}
		fmt.Fprintf(w, "%s\t%s\t", verdict, f.Name)
		if f.Limit != 0 {
			fmt.Fprintf(w, "%.2g\tof %.2g", f.Worst, f.Limit)
		} else {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprintf(w, "\t%s\n", strings.TrimSpace(f.Note+" "+f.Where))
	}
	w.Flush()
	return b.String()
}

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
func Check(m Modulus, d int, seed uint64) *Report {
	r := &Report{Modulus: fmt.Sprint(m), Dim: d}
	if err := validate(m); err != nil {
		r.Findings = []Finding{{Name: "parameters", Limit: 1, Worst: 1, Where: err.Error()}}
		return r
	}
	c := &checker{m: m, d: d, rng: rand.New(rand.NewPCG(seed, 0)), report: r}
	c.kernel, c.separable = KernelOf(m)
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
	kernel    Kernel
	separable bool
	rng       *rand.Rand
	report    *Report
}

// slack is the factor by which an error may exceed its estimate.
const slack = 1000

// worse records a case if it is the worst so far. What is not a number is the worst of all.
func (f *Finding) worse(err, limit float64, where func() string) {
	ratio := err / limit
	switch {
	case err <= 0 && limit == 0:
		ratio = 0
	case math.IsNaN(ratio):
		ratio = math.Inf(1)
	}
	if f.Limit != 0 && !(ratio > f.Worst/f.Limit) {
		return
	}
	f.Worst, f.Limit, f.Where = err, limit, ""
	if f.OK = ratio <= 1; !f.OK {
		f.Where = where()
	}
}

// A vector in a finding: what is not needed is cut off.
type vector []float64

func (v vector) String() string {
	if len(v) > 4 {
		return fmt.Sprintf("%.4g…", []float64(v[:4]))
	}
	return fmt.Sprintf("%.6g", []float64(v))
}

type number float64

func (n number) String() string { return fmt.Sprintf("%.6g", float64(n)) }

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

func norm2(x []float64) float64 { return Norm(2).Of(x) }

func inner(x, y []float64) float64 { return sum.Dot(x, y) }

// point returns an interior point. Half of a separable modulus's points are spread over its
// interval, with as many near an end, on a logarithmic scale, as in the middle.
func (c *checker) point() []float64 {
	if c.separable && c.rng.IntN(2) == 0 {
		lo, hi := c.kernel.Domain()
		x := c.new()
		for i := range x {
			x[i] = c.spread(lo, hi)
		}
		if c.m.InDomain(x) {
			return x
		}
	}
	for trial := range 400 {
		y := c.normal(math.Exp(4*c.rng.Float64() - 2))
		if trial >= 200 { // the range of ∇φ may be on one side of 0, as for a log barrier
			for i := range y {
				y[i] = -math.Abs(y[i])
			}
		}
		x := c.conjugateGradient(y)
		if c.m.InDomain(x) && norm2(x) < 1e4 {
			return x
		}
	}
	panic("no interior point is to be had: ∇φ* maps into no domain")
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
// the sizes of its terms.
func (c *checker) size(x []float64) float64 {
	if !c.separable {
		return math.Abs(c.m.Value(x)) + 1
	}
	var s float64
	for _, v := range x {
		s += math.Abs(c.kernel.Value(v))
	}
	return s + math.Abs(c.m.Value(x))
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

func (c *checker) numbers(f *Finding) {
	for range 100 {
		x := c.point()
		v, g := c.m.Value(x), c.gradient(x)
		bad := 0.0
		if v-v != 0 || firstNonFinite(g) >= 0 {
			bad = 1
		}
		f.worse(bad, 0.5, func() string { return fmt.Sprintf("φ = %s, ∇φ = %s for x = %s", number(v), vector(g), vector(x)) })
		back := c.conjugateGradient(g)
		bad = 0
		if firstNonFinite(back) >= 0 {
			bad = 1
		}
		f.worse(bad, 0.5, func() string { return fmt.Sprintf("∇φ*(y) = %s for y = %s", vector(back), vector(g)) })
	}
}

// taylor halves h until rounding takes over, and looks at the slope of the remainder between
// the largest and the smallest h that are left.
func (c *checker) taylor(f *Finding) {
	for trial := range 40 {
		x, e := c.point(), c.normal(1)
		reach := c.reach(x, e)
		v, g := c.m.Value(x), c.gradient(x)
		slope := inner(g, e)
		var curve []Point
		for h := reach / 4; h > reach*1e-12; h /= 2 {
			there := combine(1, x, h, e)
			remainder := math.Abs(c.m.Value(there) - v - h*slope)
			floor := 20 * ulp * (c.size(x) + c.size(there) + math.Abs(h*slope) + norm2(g)*norm2(x))
			if remainder < floor*20 {
				break
			}
			curve = append(curve, Point{h, remainder})
		}
		if trial == 0 {
			c.report.Taylor = curve
		}
		if n := len(curve); n >= 4 {
			// The error of rounding is at most 1/20 at the last point, so the slope over two
			// halvings or more is within 0.1 of the order.
			last, first := curve[n-1], curve[max(0, n-4)]
			order := math.Log(first.Y/last.Y) / math.Log(first.X/last.X)
			f.worse(2-order, 0.25, func() string {
				return fmt.Sprintf("x = %s along %s: order "+fmt.Sprintf("%.3g", order)+" at h = %s", vector(x), vector(e), number(last.X))
			})
		}
	}
	if f.Limit == 0 {
		f.OK = false
		f.Worst, f.Limit, f.Where = 1, 0.25, "no remainder above rounding: φ is flat"
	}
}

// reach returns how far x + te may go within the domain, at most 1 + ‖x‖ over ‖e‖.
func (c *checker) reach(x, e []float64) float64 {
	t := (1 + norm2(x)) / norm2(e)
	for range 200 {
		if c.m.InDomain(combine(1, x, t, e)) && c.m.InDomain(combine(1, x, -t, e)) {
			return t
		}
		t /= 2
	}
	return t
}

func (c *checker) monotone(f *Finding) {
	if c.separable { // a scan in order finds a bump of any shape
		lo, hi := c.kernel.Domain()
		xs := make([]float64, 4000)
		for i := range xs {
			xs[i] = c.spread(lo, hi)
		}
		for i := range xs { // half of them evenly
			if i%2 == 0 && !math.IsInf(lo, -1) && !math.IsInf(hi, 1) {
				xs[i] = lo + (hi-lo)*(float64(i)+0.5)/float64(len(xs))
			}
		}
		slices.Sort(xs)
		previous := math.Inf(-1)
		for i, x := range xs {
			v := c.kernel.Deriv(x)
			if i > 0 && x > xs[i-1] {
				drop, below := previous-v, xs[i-1]
				f.worse(drop, 8*ulp*math.Abs(v)+math.SmallestNonzeroFloat64, func() string {
					return fmt.Sprintf("φ′ falls by %.3g between %.6g and %.6g", drop, below, x)
				})
				if drop >= 0 && x-below > 1e-3*math.Abs(x) {
					f.worse(1, 0.5, func() string { return fmt.Sprintf("φ′ is constant between %.6g and %.6g", below, x) })
				}
			}
			previous = v
		}
	}
	for range 60 { // along lines, the slope rises
		x, y := c.point(), c.point()
		e := combine(1, y, -1, x)
		const n = 50
		before, noise := math.Inf(-1), 0.0
		for i := range n + 1 {
			there := combine(1, x, float64(i)/n, e)
			if !c.m.InDomain(there) {
				break
			}
			g := c.gradient(there)
			slope, near := inner(g, e), slack*ulp*norm2(g)*norm2(e)
			drop := before - slope
			if i > 0 {
				f.worse(drop, near+noise, func() string {
					return fmt.Sprintf("the slope of φ falls by %.3g at x = %s along %s", drop, vector(there), vector(e))
				})
			}
			before, noise = slope, near
		}
	}
	for range 100 {
		x, y := c.point(), c.point()
		gx, gy := c.gradient(x), c.gradient(y)
		e := combine(1, x, -1, y)
		rise := inner(combine(1, gx, -1, gy), e)
		noise := slack * ulp * (norm2(gx) + norm2(gy)) * norm2(e)
		f.worse(-rise, noise, func() string {
			return fmt.Sprintf("⟨∇φ(x) − ∇φ(y), x − y⟩ = %s for x = %s, y = %s", number(rise), vector(x), vector(y))
		})
		mid := combine(0.5, x, 0.5, y)
		excess := c.m.Value(mid) - c.m.Value(x)/2 - c.m.Value(y)/2
		f.worse(excess, slack*ulp*(c.size(x)+c.size(y)+c.size(mid)), func() string {
			return fmt.Sprintf("φ of the middle exceeds the mean by %s for x = %s, y = %s", number(excess), vector(x), vector(y))
		})
	}
}

func (c *checker) inversePrimal(f *Finding) {
	for range 100 {
		x := c.point()
		y := c.gradient(x)
		back := c.conjugateGradient(y)
		limit := slack * (condition(c.conjugateGradient, y, back) + ulp*norm2(x))
		f.worse(norm2(combine(1, back, -1, x)), limit, func() string {
			return fmt.Sprintf("x = %s, ∇φ(x) = %s, ∇φ*(∇φ(x)) = %s", vector(x), vector(y), vector(back))
		})
	}
}

func (c *checker) inverseDual(f *Finding) {
	for range 100 {
		y := c.gradient(c.point())
		if c.rng.IntN(2) == 0 { // somewhere between two gradients, if that is in the range
			y = combine(0.5, y, 0.5, c.gradient(c.point()))
		}
		x := c.conjugateGradient(y)
		if firstNonFinite(x) >= 0 || !c.m.InDomain(x) {
			f.worse(1, 0.5, func() string {
				return fmt.Sprintf("∇φ*(y) = %s is outside the domain for y = %s", vector(x), vector(y))
			})
			continue
		}
		back := c.gradient(x)
		limit := slack * (condition(c.gradient, x, back) + ulp*norm2(y))
		f.worse(norm2(combine(1, back, -1, y)), limit, func() string {
			return fmt.Sprintf("y = %s, ∇φ*(y) = %s, ∇φ(∇φ*(y)) = %s", vector(y), vector(x), vector(back))
		})
	}
}

func (c *checker) fenchel(f *Finding) {
	for range 100 {
		x := c.point()
		y := c.gradient(x)
		v, w, p := c.m.Value(x), Conjugate(c.m, y), inner(x, y)
		limit := slack * ulp * (c.size(x) + math.Abs(w) + norm2(x)*norm2(y))
		f.worse(math.Abs(v+w-p), limit, func() string {
			return fmt.Sprintf("x = %s: φ + φ* = "+fmt.Sprintf("%.6g", v+w)+", ⟨x, y⟩ = %s", vector(x), number(p))
		})
	}
}

// bruteForce climbs ⟨x, y⟩ − φ(x) with no use of a gradient, from another point than the one
// that ∇φ* claims to be the top.
func (c *checker) bruteForce(f *Finding) {
	for range 10 {
		y := c.gradient(c.point())
		claim := Conjugate(c.m, y)
		objective := func(x []float64) float64 { return inner(x, y) - c.m.Value(x) }
		best := c.climb(c.point(), objective)
		// Near its top the objective is flat, so that value is found to more digits than
		// place; compass search still leaves a relative 10⁻⁷.
		limit := 1e-6 * (1 + math.Abs(claim))
		f.worse(math.Abs(objective(best)-claim), limit+slack*ulp*(c.size(best)+norm2(best)*norm2(y)), func() string {
			return fmt.Sprintf("y = %s: φ* = %s, search finds "+fmt.Sprintf("%.9g", objective(best)), vector(y), number(claim))
		})
	}
}

// climb is a search along the coordinates and along the line of its last move (Hooke and
// Jeeves 1961), with one step length for each.
func (c *checker) climb(x []float64, objective func([]float64) float64) []float64 {
	d := len(x)
	steps := make([]float64, d)
	for i := range steps {
		steps[i] = 0.1 * (1 + math.Abs(x[i]))
	}
	best := objective(x)
	try := make([]float64, d)
	for range 4000 {
		start := append([]float64(nil), x...)
		small := true
		for i := range x {
			moved := false
			for _, s := range []float64{steps[i], -steps[i]} {
				copy(try, x)
				try[i] += s
				if !c.m.InDomain(try) {
					continue
				}
				if v := objective(try); v > best {
					best, moved = v, true
					copy(x, try)
					break
				}
			}
			if moved {
				steps[i] *= 1.5
			} else {
				steps[i] /= 3
			}
			small = small && steps[i] < 1e-11*(1e-5+math.Abs(x[i]))
		}
		for t := 1.0; t < 1e6; t *= 2 { // on along the move
			for i := range try {
				try[i] = x[i] + t*(x[i]-start[i])
			}
			if !c.m.InDomain(try) {
				break
			}
			v := objective(try)
			if !(v > best) {
				break
			}
			best = v
			copy(x, try)
		}
		if small {
			break
		}
	}
	return x
}

func (c *checker) divergence(f *Finding) {
	for range 100 {
		x, y := c.point(), c.point()
		g := c.gradient(y)
		e := combine(1, x, -1, y)
		want := c.m.Value(x) - c.m.Value(y) - inner(e, g)
		got := Divergence(c.m, x, y)
		limit := slack * ulp * (c.size(x) + c.size(y) + norm2(e)*norm2(g))
		f.worse(math.Abs(got-want), limit, func() string {
			return fmt.Sprintf("x = %s, y = %s: D = "+fmt.Sprintf("%.9g", got)+", by definition %s", vector(x), vector(y), number(want))
		})
	}
}

func (c *checker) positive(f *Finding) {
	for range 100 {
		y := c.point()
		zero := Divergence(c.m, y, y)
		f.worse(math.Abs(zero), slack*ulp*c.size(y), func() string { return fmt.Sprintf("D(y; y) = %s for y = %s", number(zero), vector(y)) })
		x := c.point()
		v := Divergence(c.m, x, y)
		g := c.gradient(y)
		noise := slack * ulp * (c.size(x) + c.size(y) + norm2(g)*norm2(combine(1, x, -1, y)))
		f.worse(-v, noise, func() string { return fmt.Sprintf("D(x; y) = %s for x = %s, y = %s", number(v), vector(x), vector(y)) })
		if near := norm2(combine(1, x, -1, y)); near > 1e-2*norm2(y) && v == 0 {
			f.worse(1, 0.5, func() string { return fmt.Sprintf("D(x; y) = %s for x = %s, y = %s", number(v), vector(x), vector(y)) })
		}
	}
}

func (c *checker) threePoints(f *Finding) {
	for range 100 {
		a, b, y := c.point(), c.point(), c.point()
		gb, gy := c.gradient(b), c.gradient(y)
		e := combine(1, a, -1, b)
		left := inner(combine(1, gb, -1, gy), e)
		right := Divergence(c.m, a, y) - Divergence(c.m, a, b) - Divergence(c.m, b, y)
		limit := slack * ulp * (c.size(a) + c.size(b) + c.size(y) + (norm2(gb)+norm2(gy))*(norm2(a)+norm2(b)+norm2(y)))
		f.worse(math.Abs(left-right), limit, func() string {
			return fmt.Sprintf("a = %s, b = %s, c = %s: ⟨∇φ(b) − ∇φ(c), a − b⟩ = %s", vector(a), vector(b), vector(y), number(left))
		})
	}
}

// boundary goes to the boundary in several directions and halves the distance to it forty
// times, or as long as the coordinates can resolve it. If ‖∇φ‖ is to be unbounded, its rise
// must not slow down: a logarithm rises as much over the last quarter of the halvings as over
// the one before, where what converges rises by at most a sixteenth of that.
func (c *checker) boundary(f *Finding) {
	for range 40 {
		x, e := c.point(), c.normal(1)
		for range 7 { // a mean of points is well inside
			x = combine(0.7, x, 0.3, c.point())
		}
		t := 1e-3 * (1 + norm2(x)) / norm2(e)
		out := false
		for range 60 {
			if !c.m.InDomain(combine(1, x, t, e)) {
				out = true
				break
			}
			t *= 2
		}
		if !out {
			continue
		}
		inside, outside := 0.0, t
		for range 200 {
			mid := inside + (outside-inside)/2
			if c.m.InDomain(combine(1, x, mid, e)) {
				inside = mid
			} else {
				outside = mid
			}
		}
		start := c.gradient(x)
		var curve []Point
		for k := 0; k <= 40; k++ {
			gap := math.Exp2(-float64(k))
			there := combine(1, x, inside*(1-gap), e)
			if inside*gap*norm2(e) < 1e3*ulp*norm2(there) {
				break
			}
			curve = append(curve, Point{gap, norm2(combine(1, c.gradient(there), -1, start))})
		}
		if c.report.Boundary == nil {
			c.report.Boundary = curve
		}
		if len(curve) < 16 {
			continue
		}
		n := len(curve) - 1
		late, before := curve[n].Y-curve[n*3/4].Y, curve[n*3/4].Y-curve[n/2].Y
		slowing := before / late
		if math.IsInf(curve[n].Y, 1) {
			slowing = 0
		}
		f.worse(slowing, 10, func() string {
			return fmt.Sprintf("between %.2g and %.2g of the way ‖∇φ‖ rises by %.4g, between %.2g and %.2g by %.4g, from x = %s along %s",
				curve[n/2].X, curve[n*3/4].X, before, curve[n*3/4].X, curve[n].X, late, vector(x), vector(e))
		})
	}
	if f.Limit == 0 {
		f.Note = "no boundary met"
	}
}

func (c *checker) extremes(f *Finding) {
	for _, scale := range []float64{1e-300, 1e-150, 1e-20, 1e20, 1e150, 1e300} {
		for range 5 {
			y := c.normal(1)
			for i := range y {
				y[i] *= scale / 10
			}
			x := c.conjugateGradient(y)
			bad := 0.0
			for _, v := range x {
				if math.IsNaN(v) {
					bad = 1
				}
			}
			f.worse(bad, 0.5, func() string { return fmt.Sprintf("∇φ*(y) = %s for y = %s", vector(x), vector(y)) })
		}
	}
}

func (c *checker) meets(f *Finding) bool {
	if _, err := Shift(c.m, c.gradient(c.point()), nil); err != nil {
		f.Note = strings.TrimPrefix(err.Error(), "bregman: ")
		return false
	}
	return true
}

func (c *checker) projection(f *Finding) {
	if !c.meets(f) {
		return
	}
	most := 0
	for range 100 {
		y := c.gradient(c.point())
		step := c.normal(1)
		for i := range y {
			y[i] += step[i] * math.Abs(y[i])
		}
		if _, n, err := NewtonShift(c.m, y, nil); err == nil {
			most = max(most, n)
		}
		before := append([]float64(nil), y...)
		if _, err := ProjectDual(c.m, y, nil); err != nil {
			// A step may leave the domain of φ*, which no shift repairs.
			if strings.Contains(err.Error(), "leaves the domain") {
				continue
			}
			f.worse(1, 0.5, func() string { return fmt.Sprintf(err.Error()+" at y = %s", vector(before)) })
			continue
		}
		theta := c.conjugateGradient(y)
		residual := JDeriv(c.m, y, 0)
		limit := slack * (condition(c.conjugateGradient, y, theta)*math.Sqrt(float64(c.d)) + ulp*Norm(1).Of(theta))
		f.worse(math.Abs(residual), limit, func() string { return fmt.Sprintf("y = %s: θ = %s", vector(before), vector(theta)) })
	}
	f.Note = fmt.Sprintf("at most %d evaluations of J′", most)
}

func (c *checker) closedForm(f *Finding) {
	s, ok := c.m.(Shifter)
	if !ok {
		f.Note = "no closed form"
		return
	}
	if !c.meets(f) {
		return
	}
	for range 100 {
		y := c.gradient(c.point())
		z, err := s.Shift(y)
		w, _, err2 := NewtonShift(c.m, y, nil)
		if err != nil || err2 != nil {
			f.worse(1, 0.5, func() string {
				return fmt.Sprintf(fmt.Sprintf("closed form: %v; Newton: %v; ", err, err2)+"y = %s", vector(y))
			})
			continue
		}
		theta := func(z float64) []float64 {
			u := c.new()
			for i, v := range y {
				u[i] = v + z
			}
			return c.conjugateGradient(u)
		}
		a, b := theta(z), theta(w)
		up := c.new()
		for i, v := range y {
			up[i] = v + z*(1+4*ulp)
		}
		limit := 1e-12*norm2(a) + slack*norm2(combine(1, c.conjugateGradient(up), -1, a))
		f.worse(norm2(combine(1, a, -1, b)), limit, func() string {
			return fmt.Sprintf("y = %s: z = %s in closed form and "+fmt.Sprintf("%.9g", w)+" by Newton", vector(y), number(z))
		})
	}
}

func (c *checker) pythagoras(f *Finding) {
	if !c.meets(f) {
		return
	}
	for range 50 {
		x, theta, p := c.point(), c.point(), c.new()
		if Project(c.m, theta, theta) != nil || Project(c.m, p, x) != nil || !c.m.InDomain(theta) || !c.m.InDomain(p) {
			continue // projected onto the boundary, to within rounding
		}
		whole, first, second := Divergence(c.m, theta, x), Divergence(c.m, p, x), Divergence(c.m, theta, p)
		gx, gp := c.gradient(x), c.gradient(p)
		limit := slack * (ulp*(c.size(x)+c.size(theta)+c.size(p)+(norm2(gx)+norm2(gp))*(norm2(x)+norm2(theta)+norm2(p))) + condition(c.gradient, p, gp)*norm2(combine(1, theta, -1, p)))
		f.worse(math.Abs(whole-first-second), limit, func() string {
			return fmt.Sprintf("x = %s, θ = %s, projection %s", vector(x), vector(theta), vector(p))
		})
	}
}

// strongConvexity looks for the least D(x; y)/(½‖x−y‖²) over pairs on the hyperplane, far apart
// and close together, of those whose D exceeds the rounding of its terms a billion times, and so
// is known to six digits, if that rounding adds up to slack ulps.
func (c *checker) strongConvexity(f *Finding) {
	s, ok := c.m.(StrongConvexer)
	if !ok {
		f.Note = "none claimed"
		return
	}
	mu, norm := s.StrongConvexity()
	if c.d == 1 || !c.meets(f) {
		return
	}
	const known = 1e9
	least := math.Inf(1)
	var at [2][]float64
	for trial := range 300 {
		x, y := c.point(), c.point()
		if Project(c.m, x, x) != nil || Project(c.m, y, y) != nil || !c.m.InDomain(x) || !c.m.InDomain(y) {
			continue
		}
		if trial%2 == 1 {
			x = combine(0.01, x, 0.99, y)
		}
		e := combine(1, x, -1, y)
		n, div := norm.Of(e), Divergence(c.m, x, y)
		if div > 0 && div < known*ulp*(c.size(x)+c.size(y)+norm2(c.gradient(y))*norm2(e)) {
			continue
		}
		if q := div / (n * n / 2); q < least {
			least, at = q, [2][]float64{x, y}
		}
	}
	f.Note = fmt.Sprintf("claimed %.4g in %v, least seen %.4g;", mu, norm, least)
	if at[0] != nil {
		f.worse(mu, least*(1+slack/known), func() string { return fmt.Sprintf("x = %s, y = %s", vector(at[0]), vector(at[1])) })
	}
}

// allocations also measures the speed. What other goroutines allocate is counted too, so the
// least of several short batches is taken.
func (c *checker) allocations(f *Finding) {
	x := c.point()
	y, dst := c.gradient(x), c.new()
	c.m.ConjugateGradient(dst, y) // pools fill
	least, fastest := math.Inf(1), math.Inf(1)
	var before, after runtime.MemStats
	const batches, calls = 20, 10
	for range batches {
		runtime.ReadMemStats(&before)
		start := time.Now()
		for range calls {
			c.m.ConjugateGradient(dst, y)
		}
		fastest = min(fastest, float64(time.Since(start).Nanoseconds()))
		for range calls {
			c.m.Gradient(dst, x)
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.Mallocs-before.Mallocs))
	}
	c.report.Speed = fastest / calls / float64(c.d)
	f.worse(least/(2*calls), 0.1, func() string { return "every call, on average" })
}
