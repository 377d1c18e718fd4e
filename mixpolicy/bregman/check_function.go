package bregman

import (
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// numbers takes random points, 0 and 1/d, where a run starts.
func (c *checker) numbers(f *Examination) {
	points := [][]float64{c.new(), combine(0, c.new(), 1, c.new())}
	for i := range points[1] {
		points[1][i] = 1 / float64(c.d)
	}
	for k := range 102 {
		var x []float64
		if k < 100 {
			x = c.anywhere()
		} else if x = points[k-100]; !c.m.InDomain(x) {
			continue
		}
		v, g := c.m.Value(x), c.gradient(x)
		if f.must(v-v == 0 && firstNonFinite(g) < 0, "φ = %.6g, ∇φ = %s for x = %s", v, vector(g), vector(x)) {
			c.nonsense(x)
			continue
		}
		back := c.conjugateGradient(g)
		f.must(firstNonFinite(back) < 0, "∇φ*(y) = %s for y = %s", vector(back), vector(g))
	}
}

// nonsense remembers a point of the domain at which φ or ∇φ is no number.
func (c *checker) nonsense(x []float64) {
	if c.bad == nil {
		c.bad = slices.Clone(x)
	}
}

func (c *checker) suspect(x []float64) {
	if len(c.suspects) < 20 {
		c.suspects = append(c.suspects, slices.Clone(x))
	}
}

// taylor halves h until rounding takes over, and looks at the slope of the remainder between
// the largest and the smallest h that are left.
func (c *checker) taylor(f *Examination) {
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
			if f.worse(2-order, 0.25, "x = %s along %s: order %.3g at h = %.6g", vector(x), vector(e), order, last.X) {
				c.suspect(x)
			}
		}
	}
	if f.Limit == 0 { // one that is flat everywhere is found not to increase
		f.Note = "no remainder above rounding"
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
		if remainder <= 400*c.rounding(terms{[][]float64{x, there}, [][]float64{g}, [][]float64{x, there}}) {
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
func (c *checker) scan(f *Examination, i int) {
	k := c.sep.at(i)
	lo, hi := k.Domain()
	xs := make([]float64, 4000)
	for i := range xs {
		xs[i] = c.spread(lo, hi)
	}
	for j := range xs { // half of them evenly
		if j%2 == 0 && !math.IsInf(lo, -1) && !math.IsInf(hi, 1) {
			xs[j] = lo + (hi-lo)*(float64(j)+0.5)/float64(len(xs))
		}
	}
	slices.Sort(xs)
	previous := k.Deriv(xs[0])
	for j, x := range xs[1:] {
		below, v := xs[j], k.Deriv(x)
		if x > below {
			drop := previous - v
			if dip := &c.dip; drop >= 0 && dip.from < dip.to && dip.i == i && dip.to == below {
				dip.to, dip.after = x, v
			}
			wrong := f.worse(drop, 8*ulp*math.Abs(v), "φ′ falls by %.3g between %.6g and %.6g", drop, below, x)
			if drop >= 0 && x-below > 1e-3*math.Abs(x) {
				wrong = f.worse(1, 0.5, "φ′ is constant between %.6g and %.6g", below, x)
			}
			if wrong {
				if c.dip.from == c.dip.to {
					c.dip = dip{i, below, x, previous, v}
				}
				there := c.point()
				there[i] = (below + x) / 2
				c.suspect(there)
				there[i] = x
				c.suspect(there)
			}
		}
		previous = v
	}
}

func (c *checker) monotone(f *Examination) {
	if c.separable {
		for i := range max(1, len(c.sep.Each)) {
			c.scan(f, i)
		}
	}
	for range 60 {
		before, last := math.Inf(-1), c.new()
		c.line(func(_, there, e []float64) {
			g := c.gradient(there)
			slope := sum.Dot(g, e)
			drop := before - slope
			if f.worse(drop, slack*c.rounding(terms{nil, [][]float64{g, last}, [][]float64{e}}), "the slope of φ falls by %.3g at x = %s along %s", drop, vector(there), vector(e)) {
				c.suspect(there)
			}
			before, last = slope, g
		})
	}
}

// line calls f with each of 64 steps from one point to another, as long as they stay in the domain.
func (c *checker) line(f func(from, to, e []float64)) {
	x, y := c.point(), c.point()
	e := combine(1, y, -1, x)
	for k := range 64 {
		from, to := combine(1, x, float64(k)/64, e), combine(1, x, float64(k+1)/64, e)
		if !c.m.InDomain(to) {
			break
		}
		f(from, to, e)
	}
}

// increments sees that from one point to the next φ rises by no less than its slope at the first, and
// no more than its slope at the second: that it has no jumps.
func (c *checker) increments(f *Examination) {
	for range 60 {
		c.line(func(from, to, _ []float64) {
			g, h, e := c.gradient(from), c.gradient(to), combine(1, to, -1, from)
			rise := c.m.Value(to) - c.m.Value(from)
			all := [][]float64{from, to}
			short := max(sum.Dot(g, e)-rise, rise-sum.Dot(h, e))
			limit := 1.0
			if short > 0 || math.IsNaN(short) { // else rounding need not be estimated
				limit = slack * c.rounding(terms{all, [][]float64{g, h}, all})
			}
			if f.worse(short, limit, "φ rises by %.6g from x = %s to %s, where its slopes are %.6g and %.6g", rise, vector(from), vector(to), sum.Dot(g, e), sum.Dot(h, e)) {
				c.segment = [2][]float64{from, to}
				c.suspect(from)
			}
		})
	}
}

func (c *checker) inversePrimal(f *Examination) {
	for range 100 {
		x := c.anywhere()
		y := c.gradient(x)
		back := c.conjugateGradient(y)
		limit := slack * condition(c.conjugateGradient, y, back)
		wrong := f.worse(norm2(combine(1, back, -1, x)), limit, "x = %s, ∇φ(x) = %s, ∇φ*(∇φ(x)) = %s", vector(x), vector(y), vector(back))
		if wrong {
			c.suspect(x)
		}
	}
}

func (c *checker) inverseDual(f *Examination) {
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

func (c *checker) fenchel(f *Examination) {
	for range 100 {
		x := c.point()
		y := c.gradient(x)
		v, w, p := c.m.Value(x), Conjugate(c.m, y), sum.Dot(x, y)
		f.worse(math.Abs(v+w-p), slack*c.rounding(terms{[][]float64{x}, [][]float64{x}, [][]float64{y}}), "x = %s: φ + φ* = %.6g, ⟨x, y⟩ = %.6g", vector(x), v+w, p)
	}
}

// finite sees that φ is a number at a point of the domain.
func (c *checker) finite(f *Examination, x []float64) {
	if v := c.m.Value(x); v-v != 0 {
		// A φ that overflows, as cosh x does, is +∞ with its gradient.
		if g := c.gradient(x); math.IsInf(v, 1) && !slices.ContainsFunc(g, math.IsNaN) && maxAbs(g) > 1e250 {
			return
		}
		f.worse(1, 0.5, "φ = %.6g at x = %s, said to be in the domain", v, vector(x))
		c.nonsense(x)
	}
}

// exit returns the t at which x + te leaves the domain, 0 if it does not.
func (c *checker) exit(f *Examination, x, e []float64) float64 {
	t := 1e-3 * (1 + norm2(x)) / norm2(e)
	for range 60 {
		there := combine(1, x, t, e)
		if !c.m.InDomain(there) {
			return halve(0, t, func(t float64) bool { return c.m.InDomain(combine(1, x, t, e)) })
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
func (c *checker) boundary(f *Examination) {
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
		if f.worse(slowing, 10, "between %.2g and %.2g of the way ‖∇φ‖ rises by %.4g, between %.2g and %.2g by %.4g, from x = %s along %s",
			curve[n/2].X, curve[n*3/4].X, before, curve[n*3/4].X, curve[n].X, late, vector(x), vector(e)) {
			c.edge = [2][]float64{x, combine(inside, e, 0, e)}
		}
	}
	if f.Limit == 0 {
		f.Note = "no boundary met"
	}
}

// outside sees that φ is +∞ beyond the boundary. A [Separable] sees to that itself.
func (c *checker) outside(f *Examination) {
	for range 40 {
		if c.separable {
			break
		}
		x, e := c.point(), c.normal(1)
		inside := c.exit(&Examination{}, x, e)
		// Well beyond, as φ may be finite on the boundary.
		there := combine(1, x, 2*inside+1e-3*(1+norm2(x))/norm2(e), e)
		if inside > 0 && !c.m.InDomain(there) && firstNonFinite(there) < 0 {
			if v := c.m.Value(there); f.must(math.IsInf(v, 1), "φ = %.6g at x = %s", v, vector(there)) {
				c.beyond = there
			}
		}
	}
	if f.Limit == 0 {
		f.Note = "no boundary met, or a kernel's"
	}
}

// A ray is the way of y = t·e from one t to another, between which ∇φ* goes wrong in an entry, or for −1
// along e.
type ray struct {
	e        []float64
	from, to float64
	entry    int
}

// extremes follows ∇φ* along rays, on which it must increase, as the gradient of a convex function.
func (c *checker) extremes(f *Examination) {
	for range 10 {
		e := c.normal(0.1)
		var before []float64
		last := 0.0
		for k := -300; k <= 300; k++ {
			if (k < -20 || k > 20) && k%10 != 0 {
				continue
			}
			t := math.Pow(10, float64(k))
			x := c.conjugateGradient(combine(t, e, 0, e))
			nan := slices.IndexFunc(x, math.IsNaN)
			if f.must(nan < 0, "∇φ*(y) = %s for y = %s", vector(x), vector(combine(t, e, 0, e))) && c.ray.e == nil {
				if !c.separable {
					nan = -1
				}
				c.ray = ray{e, last, t, nan}
				break
			}
			if before != nil && nan < 0 {
				if i, drop, limit := c.fall(before, x, e); f.worse(drop, limit, "∇φ* falls by %.6g between y = %s and %s", drop, vector(combine(last, e, 0, e)), vector(combine(t, e, 0, e))) && c.ray.e == nil {
					c.ray = ray{e, last, t, i}
				}
			}
			before, last = x, t
		}
	}
}

// fall returns by how much x falls from before along e, in proportion to its size: for a separable φ in
// the entry in which it does most.
func (c *checker) fall(before, x, e []float64) (entry int, drop, limit float64) {
	entry, limit = -1, slack*ulp
	if !c.separable {
		drop = -sum.Dot(combine(1, x, -1, before), e) / ((norm2(x) + norm2(before)) * norm2(e))
	}
	for i := range x {
		if !c.separable || x[i] == before[i] {
			continue
		}
		v := (before[i] - x[i]) * math.Copysign(1, e[i]) / (math.Abs(x[i]) + math.Abs(before[i]))
		if math.IsNaN(v) { // one is infinite
			v = math.Copysign(1, (before[i]-x[i])*e[i])
		}
		if v > drop {
			entry, drop = i, v
		}
	}
	if math.IsNaN(drop) { // of 0, or of what is infinite
		drop = 0
	}
	return entry, drop, limit
}

// allocations also measures the speed. What other goroutines allocate is counted too, so the
// least of several short batches is taken; in the first pools fill.
func (c *checker) allocations(f *Examination) {
	x := c.point()
	y, dst := c.gradient(x), c.new()
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
	if f.worse(least/(2*calls), 0.1, "every call, on average") {
		who := c.named.gradient + " or " + c.named.conjugateGradient
		if c.named.value == "φ" {
			who = "φ"
		}
		c.find(Finding{Kind: Allocates, Method: who, Words: "a call of " + who + " allocates memory", Measured: least / (2 * calls), Claimed: 0})
	}
}
