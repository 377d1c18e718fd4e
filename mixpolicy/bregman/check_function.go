package bregman

import (
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

func (c *checker) numbers(f *Finding) {
	for range 100 {
		x := c.point()
		v, g := c.m.Value(x), c.gradient(x)
		f.must(v-v == 0 && firstNonFinite(g) < 0, "φ = %.6g, ∇φ = %s for x = %s", v, vector(g), vector(x))
		back := c.conjugateGradient(g)
		f.must(firstNonFinite(back) < 0, "∇φ*(y) = %s for y = %s", vector(back), vector(g))
		for _, method := range []struct {
			name string
			f    func(dst, x []float64)
			x, y []float64
		}{{"∇φ", c.m.Gradient, x, g}, {"∇φ*", c.m.ConjugateGradient, g, back}} {
			inPlace := slices.Clone(method.x)
			method.f(inPlace, inPlace)
			f.must(slices.Equal(inPlace, method.y), "%s of %s is %s, and %s with the result in the place of the argument", method.name, vector(method.x), vector(method.y), vector(inPlace))
		}
	}
}

// taylor halves h until rounding takes over, and looks at the slope of the remainder between
// the largest and the smallest h that are left.
func (c *checker) taylor(f *Finding) {
	for trial := range 40 {
		x, e := c.point(), c.normal(1)
		curve, order := c.remainders(x, e)
		if trial == 0 {
			c.report.Taylor = curve
		}
		if order < 1.75 {
			// Where φ″ is infinite, as for p-norms at xᵢ = 0, the order is less as long as h is
			// more than xᵢ. In proportion to x, it is not.
			for i, v := range x {
				e[i] *= math.Abs(v)
			}
			curve, order = c.remainders(x, e)
		}
		if n := len(curve); n >= 4 {
			last := curve[n-1]
			f.worse(2-order, 0.25, "x = %s along %s: order %.3g at h = %.6g", vector(x), vector(e), order, last.X)
		}
	}
	if f.Limit == 0 {
		f.OK = false
		f.Worst, f.Limit, f.Where = 1, 0.25, "no remainder above rounding: φ is flat"
	}
}

// remainders returns the remainder against h, and the order with which it falls at the end.
func (c *checker) remainders(x, e []float64) (curve []Point, order float64) {
	reach := c.reach(x, e)
	v, g := c.m.Value(x), c.gradient(x)
	slope := sum.Dot(g, e)
	h := reach / 2
	for range 38 {
		h /= 2
		there := combine(1, x, h, e)
		remainder := math.Abs(c.m.Value(there) - v - h*slope)
		if remainder < 400*c.rounding(terms{[][]float64{x, there}, [][]float64{g}, [][]float64{x, there}}) {
			break
		}
		curve = append(curve, Point{h, remainder})
	}
	n := len(curve)
	if n < 4 {
		return curve, 2
	}
	// The error of rounding is at most 1/20 at the last point, so the slope over two
	// halvings or more is within 0.1 of the order.
	last, first := curve[n-1], curve[max(0, n-4)]
	return curve, math.Log(first.Y/last.Y) / math.Log(first.X/last.X)
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

// scan goes through an interval in order, which finds a bump of any shape.
func (c *checker) scan(f *Finding, k Kernel) {
	lo, hi := k.Domain()
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
	previous := k.Deriv(xs[0])
	for i, x := range xs[1:] {
		below, v := xs[i], k.Deriv(x)
		if x > below {
			drop := previous - v
			f.worse(drop, 8*ulp*math.Abs(v), "φ′ falls by %.3g between %.6g and %.6g", drop, below, x)
			if drop >= 0 && x-below > 1e-3*math.Abs(x) {
				f.worse(1, 0.5, "φ′ is constant between %.6g and %.6g", below, x)
			}
		}
		previous = v
	}
}

func (c *checker) monotone(f *Finding) {
	if c.separable {
		for i := range max(1, len(c.sep.Each)) {
			c.scan(f, c.sep.at(i))
		}
	}
	c.lines(f)
	c.pairs(f)
}

// lines sees that along a line the slope rises.
func (c *checker) lines(f *Finding) {
	for range 60 {
		x, y := c.point(), c.point()
		e := combine(1, y, -1, x)
		before, last := math.Inf(-1), c.new()
		for t := 0.0; t <= 1; t += 0x1p-6 {
			there := combine(1, x, t, e)
			if !c.m.InDomain(there) {
				break
			}
			g := c.gradient(there)
			slope := sum.Dot(g, e)
			drop := before - slope
			f.worse(drop, slack*c.rounding(terms{nil, [][]float64{g, last}, [][]float64{e}}), "the slope of φ falls by %.3g at x = %s along %s", drop, vector(there), vector(e))
			before, last = slope, g
		}
	}
}

// pairs sees that ∇φ is monotone, and φ convex, from one point to another.
func (c *checker) pairs(f *Finding) {
	for range 100 {
		x, y := c.point(), c.point()
		gx, gy := c.gradient(x), c.gradient(y)
		e := combine(1, x, -1, y)
		rise := sum.Dot(combine(1, gx, -1, gy), e)
		f.worse(-rise, slack*c.rounding(terms{nil, [][]float64{gx, gy}, [][]float64{e}}), "⟨∇φ(x) − ∇φ(y), x − y⟩ = %.6g for x = %s, y = %s", rise, vector(x), vector(y))
		mid := combine(0.5, x, 0.5, y)
		excess := c.m.Value(mid) - c.m.Value(x)/2 - c.m.Value(y)/2
		f.worse(excess, slack*c.rounding(terms{values: [][]float64{x, y, mid}}), "φ of the middle exceeds the mean by %.6g for x = %s, y = %s", excess, vector(x), vector(y))
	}
}

func (c *checker) inversePrimal(f *Finding) {
	for range 100 {
		x := c.point()
		y := c.gradient(x)
		back := c.conjugateGradient(y)
		limit := slack * condition(c.conjugateGradient, y, back)
		f.worse(norm2(combine(1, back, -1, x)), limit, "x = %s, ∇φ(x) = %s, ∇φ*(∇φ(x)) = %s", vector(x), vector(y), vector(back))
	}
}

func (c *checker) inverseDual(f *Finding) {
	for range 100 {
		y := c.gradient(c.point())
		if c.rng.IntN(2) == 0 { // somewhere between two gradients, if that is in the range
			y = combine(0.5, y, 0.5, c.gradient(c.point()))
		}
		x := c.conjugateGradient(y)
		if !c.m.InDomain(x) {
			f.worse(1, 0.5, "∇φ*(y) = %s is outside the domain for y = %s", vector(x), vector(y))
			continue
		}
		back := c.gradient(x)
		limit := slack * condition(c.gradient, x, back)
		f.worse(norm2(combine(1, back, -1, y)), limit, "y = %s, ∇φ*(y) = %s, ∇φ(∇φ*(y)) = %s", vector(y), vector(x), vector(back))
	}
}

func (c *checker) fenchel(f *Finding) {
	for range 100 {
		x := c.point()
		y := c.gradient(x)
		v, w, p := c.m.Value(x), Conjugate(c.m, y), sum.Dot(x, y)
		f.worse(math.Abs(v+w-p), slack*c.rounding(terms{[][]float64{x}, [][]float64{x}, [][]float64{y}}), "x = %s: φ + φ* = %.6g, ⟨x, y⟩ = %.6g", vector(x), v+w, p)
	}
}

// bruteForce climbs ⟨x, y⟩ − φ(x) with no use of a gradient, from another point than the one
// that ∇φ* claims to be the top.
func (c *checker) bruteForce(f *Finding) {
	for range 10 {
		y := c.gradient(c.point())
		claim := Conjugate(c.m, y)
		objective := func(x []float64) float64 { return sum.Dot(x, y) - c.m.Value(x) }
		// Near its top the objective is flat, so that value is found to more digits than
		// place; compass search still leaves a relative 10⁻⁷.
		limit := 1e-6 * (1 + math.Abs(claim))
		best := c.climb(c.point(), objective)
		for range 5 { // a search that its steps have become too short for starts again
			was := objective(best)
			best = c.climb(best, objective)
			if objective(best)-was <= limit/10 {
				break
			}
		}
		f.worse(math.Abs(objective(best)-claim), limit+slack*c.rounding(terms{[][]float64{best}, [][]float64{best}, [][]float64{y}}), "y = %s: φ* = %.6g, search finds %.9g", vector(y), claim, objective(best))
	}
}

// climb is a search along the coordinates and along the line of its last move (Hooke and
// Jeeves 1961), with one step length for each.
func (c *checker) climb(x []float64, objective func([]float64) float64) []float64 {
	steps, try := make([]float64, len(x)), make([]float64, len(x))
	for i := range steps {
		steps[i] = 0.1 * (1 + math.Abs(x[i]))
	}
	best := objective(x)
	improves := func() bool {
		if !c.m.InDomain(try) {
			return false
		}
		v := objective(try)
		if !(v > best) {
			return false
		}
		best = v
		copy(x, try)
		return true
	}
	for range 4000 {
		start := slices.Clone(x)
		small := true
		for i := range x {
			copy(try, x)
			try[i] = x[i] + steps[i]
			moved := improves()
			if !moved {
				try[i] = x[i] - steps[i]
				moved = improves()
			}
			if moved {
				steps[i] *= 1.5
			} else {
				steps[i] /= 3
			}
			small = small && steps[i] < 1e-18
		}
		for t := 1.0; t < 1e6; t *= 2 { // on along the move
			for i := range try {
				try[i] = x[i] + t*(x[i]-start[i])
			}
			if !improves() {
				break
			}
		}
		if small {
			break
		}
	}
	return x
}

// finite sees that φ is a number at a point of the domain.
func (c *checker) finite(f *Finding, x []float64) {
	if v := c.m.Value(x); v-v != 0 {
		f.worse(1, 0.5, "φ = %.6g at x = %s, said to be in the domain", v, vector(x))
	}
}

// exit returns the t at which x + te leaves the domain, 0 if it does not.
func (c *checker) exit(f *Finding, x, e []float64) float64 {
	t := 1e-3 * (1 + norm2(x)) / norm2(e)
	for range 60 {
		there := combine(1, x, t, e)
		if !c.m.InDomain(there) {
			inside, outside := 0.0, t
			for range 200 {
				mid := inside + (outside-inside)/2
				if c.m.InDomain(combine(1, x, mid, e)) {
					inside = mid
				} else {
					outside = mid
				}
			}
			return inside
		}
		if norm2(there) < 1e6 {
			c.finite(f, there)
		}
		t *= 2
	}
	return 0
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
		inside := c.exit(f, x, e)
		if inside == 0 {
			continue
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
			c.finite(f, there)
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
		if curve[n].Y > 1e250 { // or φ overflows, and the end is none of the domain
			slowing = 0
		}
		f.worse(slowing, 10, "between %.2g and %.2g of the way ‖∇φ‖ rises by %.4g, between %.2g and %.2g by %.4g, from x = %s along %s",
			curve[n/2].X, curve[n*3/4].X, before, curve[n*3/4].X, curve[n].X, late, vector(x), vector(e))
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
			f.must(!slices.ContainsFunc(x, math.IsNaN), "∇φ*(y) = %s for y = %s", vector(x), vector(y))
		}
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
	f.worse(least/(2*calls), 0.1, "every call, on average")
}
