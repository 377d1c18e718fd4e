package bregman

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// numbers checks that φ and ∇φ are finite at all points, and that ∇φ*(y) is not NaN at y = ∇φ(x) and at y = 0.
func (c *checker) numbers(f *Examination) {
	for _, p := range c.parts {
		var sizes []float64
		for _, x := range p.points {
			v, g := p.Value(x), p.gradient(x)
			if f.must(v-v == 0 && firstNonFinite(g) < 0, "φ = %.6g, ∇φ = %s for x = %s", v, vector(g), vector(x)) {
				if !c.has(Disagrees) {
					c.findDomain(p, x)
				}
				continue
			}
			sizes = append(sizes, norm2(g))
			for _, y := range [][]float64{g, make([]float64, len(x))} {
				back := p.inverse(y)
				f.must(!slices.ContainsFunc(back, math.IsNaN), "∇φ*(y) = %s for y = %s", vector(back), vector(y))
			}
		}
		slices.Sort(sizes)
		p.size = append(sizes, 0)[len(sizes)/2]
	}
}

// accuracy measures the noise of φ, ∇φ and ∇φ* at points in the whole domain. If a method evaluates a formula in
// float64, its median noise is at the level of rounding.
func (c *checker) accuracy(f *Examination) {
	for _, p := range c.parts {
		noisy := map[role][]float64{}
		see := func(r role, f func(t float64) float64, h float64) {
			if v := f(0); v-v == 0 && v != 0 && h > 0 {
				noisy[r] = append(noisy[r], min(noise(f, 0x1p-16*h), noise(f, 0x1p-20*h))/math.Abs(v))
			}
		}
		for _, x := range p.points[:min(len(p.points), 60)] {
			i := c.rng.IntN(len(x))
			e, y := unit(len(x), i), p.gradient(x)
			reach := p.reach(x, e)
			see(value, func(t float64) float64 { return p.Value(combine(1, x, t, e)) }, reach)
			see(gradient, func(t float64) float64 { return p.gradient(combine(1, x, t, e))[i] }, reach)
			see(inverse, func(t float64) float64 { return p.inverse(combine(1, y, t, e))[i] }, math.Abs(y[i])/2)
		}
		for _, r := range []role{value, gradient, inverse} {
			slices.Sort(noisy[r])
			n := len(noisy[r])
			if n >= 5 && f.worse(noisy[r][n/2], 1e-10, "half of the values of %s", c.named[r]) && !c.has(Disagrees) && !c.has(Unsafe) {
				c.accuse(Disagrees, r, "", "%s has %s", c.named[r], few(noisy[r][n/2]))
			}
		}
	}
}

// taylor records the Taylor remainder at a point against the step, as long as the remainder exceeds rounding.
func (c *checker) taylor() {
	p := c.whole
	x, e := p.points[len(p.points)/2], c.normal(1)
	v, g, h := p.Value(x), p.gradient(x), p.reach(x, e)/4
	for range 38 {
		remainder := math.Abs(p.Value(combine(1, x, h, e)) - v - h*sum.Dot(g, e))
		if !(remainder > 400*(p.rounding(x)+ulp*norm2(x)*norm2(g))) {
			return
		}
		c.report.Taylor = append(c.report.Taylor, Point{h, remainder})
		h /= 2
	}
}

// monotone checks that the slope of φ rises from one point of a path to the next, and that φ has no jumps: from x to
// the next point x + e, φ must rise by at least ⟨∇φ(x), e⟩ and by at most ⟨∇φ(x + e), e⟩. A path leads through the
// interval of a kernel, or, for any other modulus, from one point of the part to another. If one end of the interval is
// infinite, the path stays within 10 of the other end.
func (c *checker) monotone(f *Examination) {
	for _, p := range c.parts {
		var paths [60][][]float64
		for k := range paths {
			x, y := p.points[k%len(p.points)], p.points[c.rng.IntN(len(p.points))]
			for j := 0; j <= 64 && p.kernel == nil; j++ {
				paths[k] = append(paths[k], combine(float64(64-j)/64, x, float64(j)/64, y))
			}
		}
		for j, n := 0, 4000/len(c.parts)+100; j < n && p.kernel != nil; j++ {
			lo, hi := p.kernel.Domain()
			x := c.spread(lo, hi)
			if j%2 == 0 && hi-lo < math.Inf(1) { // half of the points are evenly spaced
				x = lo + (hi-lo)*(float64(j)+0.5)/float64(n)
			}
			paths[0] = append(paths[0], []float64{x})
		}
		if p.kernel != nil {
			slices.SortFunc(paths[0], slices.Compare)
		}
		for _, path := range paths {
			var from, g []float64
			for _, to := range path {
				if !p.InDomain(to) || slices.Equal(from, to) {
					continue
				}
				h := p.gradient(to)
				if maxAbs(h) > 1e250 { // φ overflows
					break
				} else if from != nil {
					p.rises(f, from, to, g, h)
				}
				from, g = to, h
			}
		}
	}
}

// rises compares the rise of φ from one point to another with the gradients g and h at the two points.
func (p *part) rises(f *Examination, from, to, g, h []float64) {
	e := combine(1, to, -1, from)
	below, above, rise := sum.Dot(g, e), sum.Dot(h, e), p.Value(to)-p.Value(from)
	wrong := f.worse(below-above, 8*ulp*(norm2(g)+norm2(h))*norm2(e),
		"∇φ decreases from %s to %s between x = %s and %s", vector(g), vector(h), vector(from), vector(to))
	if p.kernel != nil && below == above && norm2(e) > 1e-3*norm2(to) {
		wrong = f.must(false, "φ′ is %s from x = %s to %s", vector(g), vector(from), vector(to))
	}
	if short := max(below-rise, rise-above); !wrong && !(short <= 0) {
		limit := slack * (p.rounding(from) + p.rounding(to) + ulp*(norm2(g)+norm2(h))*norm2(from))
		f.worse(short, limit, "φ rises by %.6g from x = %s to %s, but by ∇φ, it rises by %.6g to %.6g",
			rise, vector(from), vector(to), below, above)
	}
}

// boundary approaches the boundary in several directions and halves the distance up to forty times, as long as the
// coordinates can resolve the distance. If ‖∇φ‖ is unbounded, it should rise steadily: a logarithm rises as much over
// the last quarter of the halvings as over the quarter before. But a norm that approaches a limit linearly in the
// distance rises only about a sixteenth as much, or less.
func (c *checker) boundary(f *Examination) {
	for trial := range 40 * len(c.parts) {
		p := c.parts[trial%len(c.parts)]
		x, e := p.points[c.rng.IntN(len(p.points))], c.normal(1)
		for range 7 { // a mean of points is far from the boundary
			x = combine(0.7, x, 0.3, p.points[c.rng.IntN(len(p.points))])
		}
		if p.kernel != nil {
			e = []float64{float64(2*(trial/len(c.parts)%2) - 1)}
		}
		most := 1e6 * (1 + norm2(x)) / norm2(e)
		inside := p.exit(x, e, most)
		if inside == most || !p.InDomain(x) {
			continue
		}
		start, curve := p.gradient(x), []Point(nil)
		for k := 0; k <= 40; k++ {
			gap := math.Exp2(-float64(k))
			there := combine(1, x, inside*(1-gap), e)
			if inside*gap*norm2(e) < 1e3*ulp*norm2(there) {
				break
			}
			curve = append(curve, Point{gap, norm2(combine(1, p.gradient(there), -1, start))})
		}
		if c.report.Boundary == nil {
			c.report.Boundary = curve
		}
		n := len(curve) - 1
		if n < 15 || curve[n].Y > 1e250 { // too few points, or φ overflows before its domain ends
			continue
		}
		late, before := curve[n].Y-curve[n*3/4].Y, curve[n*3/4].Y-curve[n/2].Y
		last := combine(1, x, 1-1e-9, combine(inside, e, 0, e))
		if f.worse(before/late, 10, "%s, where ‖∇φ‖ = %s", p.at("x", last, -1), digits(norm2(p.gradient(last)))) && p.kernel != nil {
			beyond := last[0] + 1e-3*inside*e[0]
			v, back := p.kernel.Value(beyond), p.kernel.ConjDeriv(p.kernel.Deriv(beyond))
			c.narrow = v-v == 0 && math.Abs(back-beyond) <= 1e-6*math.Abs(beyond)
		}
	}
}

// outside checks that φ is +∞ well beyond the boundary. A [Separable] ensures this itself.
func (c *checker) outside(f *Examination) {
	p := c.parts[0]
	for trial := 0; trial < 40 && p.kernel == nil; trial++ {
		x, e := p.points[c.rng.IntN(len(p.points))], c.normal(1)
		most := 1e6 * (1 + norm2(x)) / norm2(e)
		inside := p.exit(x, e, most)
		beyond := combine(1, x, 2*inside+1e-3*(1+norm2(x))/norm2(e), e)
		if v := p.Value(beyond); inside < most && !p.InDomain(beyond) {
			f.must(math.IsInf(v, 1), "x = %s, where φ = %s", vector(beyond), digits(v))
		}
	}
}

// extremes checks that ⟨∇φ*(te), e⟩ does not decrease as t grows. It must not, because ∇φ* is the gradient of a convex
// function.
func (c *checker) extremes(f *Examination) {
	for trial := range 10 * len(c.parts) {
		p, e := c.parts[trial%len(c.parts)], c.normal(0.1)
		if p.kernel != nil {
			e = []float64{float64(2*(trial/len(c.parts)%2) - 1)}
		}
		at := func(k float64) []float64 { return combine(math.Pow(10, k), e, 0, e) }
		before := p.inverse(at(-300))
		for k := -300.; k <= 300; k++ {
			x, drop := p.inverse(at(k)), 0.0
			for i, v := range x { // an infinite entry falls by ∞ or not at all; NaN counts as a fall by ∞
				if b := before[i]; v-v == 0 && b-b == 0 {
					drop += (b - v) * e[i]
				} else if v != v || b != b || (b-v)*e[i] > 0 {
					drop = math.Inf(1)
				}
			}
			drop /= (norm2(x)+norm2(before))*norm2(e) + 1e-300
			if f.worse(drop, slack*ulp, "y = %s, where %s becomes %s", vector(at(k)), vector(before), vector(x)) {
				break
			}
			if before = x; k >= 20 {
				k += 9
			}
		}
		// For y = te with t ≥ 10ᵏ, ∇φ*(y) no longer changes; k is the least such number, to eight decimals.
		k := float64(sort.Search(6e10, func(n int) bool { return slices.Equal(p.inverse(at(float64(n)/1e8-300)), before) }))/1e8 - 300
		// If only rounding makes ∇φ* flat, a step of a thousand ulps leaves the domain, or ∇φ after the step is at
		// least twice y.
		on := combine(1, before, slack*ulp*norm2(before)/norm2(e), e)
		if k < 299 && p.InDomain(on) && sum.Dot(p.gradient(on), e) < 2*sum.Dot(at(k), e) {
			f.Note = "flat beyond " + p.at("y", at(k), -1)
		}
	}
}

// meets reports whether the domain meets the hyperplane.
func (c *checker) meets(f *Examination) bool {
	_, err := Shift(c.m, c.whole.gradient(c.whole.points[0]), nil)
	if err != nil {
		f.Note = strings.TrimPrefix(err.Error(), "bregman: ")
	}
	return err == nil
}

// strongConvexity looks for the least D(x; y)/(½‖x−y‖²), with the claimed norm, over pairs of points on the hyperplane,
// some far apart and some close together. If no norm is claimed, it estimates μ from above in ℓ₁, ℓ₂ and ℓ_∞. It uses
// only pairs for which D, or the claimed (μ/2)‖x−y‖², is at least a billion times the estimated rounding error of D's
// terms. Even if the actual error is a thousand times the estimate, six digits are then known.
func (c *checker) strongConvexity(f *Examination) {
	mu, claimed, ok := StrongConvexity(c.m)
	if c.d == 1 || !c.meets(f) {
		f.Note = strings.TrimSpace("none claimed " + f.Note)
		return
	}
	norms := map[bool][]float64{true: {claimed}, false: {1, 2, math.Inf(1)}}[ok]
	w, known, where, from, to := c.whole, 1e9, "", math.Inf(1), math.Inf(-1)
	least := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}
	for trial := range 300 {
		x, y := slices.Clone(w.points[trial%len(w.points)]), slices.Clone(w.points[c.rng.IntN(len(w.points))])
		if Project(c.m, x, x) != nil || Project(c.m, y, y) != nil || !c.m.InDomain(x) || !c.m.InDomain(y) {
			continue
		}
		from, to = min(from, c.m.Value(x)), max(to, c.m.Value(x))
		if trial%2 == 1 {
			x = combine(0.01, x, 0.99, y)
		}
		e, div := combine(1, x, -1, y), Divergence(c.m, x, y)
		rounding := known * (w.rounding(x) + w.rounding(y) + ulp*norm2(w.gradient(y))*norm2(e))
		for k, p := range norms {
			half := normP(p, e) * normP(p, e) / 2
			if max(div, mu*half) >= rounding && div/half < least[k] {
				least[k], where = div/half, fmt.Sprintf("x = %s, y = %s", vector(x), vector(y))
			}
		}
	}
	if !ok {
		f.Note = fmt.Sprintf("none claimed; least seen %.3g in ℓ₁, %.3g in ℓ₂, %.3g in ℓ_∞; φ from %.3g to %.3g",
			least[0], least[1], least[2], from, to)
	} else if f.Note = fmt.Sprintf("claimed %.4g in ℓ%.4g, least seen %.4g;", mu, claimed, least[0]); where != "" {
		f.worse(mu, least[0]*(1+slack/known), "%s", where)
	}
}

// repeats calls φ, ∇φ and ∇φ* several times at each of 20 points: with the result in other memory than the argument,
// with the result in the same memory, and after other calls. It reports the first difference.
func (c *checker) repeats(f *Examination) {
	type call struct {
		method  role
		f       func(dst, x []float64)
		x, want []float64
	}
	see := func(k call, got, want []float64, words string) {
		same := slices.EqualFunc(got, want, func(a, b float64) bool { return a == b || a != a && b != b })
		if f.must(same, "%s of %s is %s and %s", c.named[k.method], vector(k.x), vector(want), vector(got)) && !c.has(Unsafe) {
			c.accuse(Unsafe, k.method, "x = "+vector(k.x).String(), "%s %s", c.named[k.method], words)
		}
	}
	val := func(dst, x []float64) {
		v := c.m.Value(x)
		clear(dst)
		dst[0] = v
	}
	var all []call
	for k := range 20 {
		x, m := c.whole.points[k%len(c.whole.points)], c.m
		v, y, inv := freshly(val, x), c.whole.gradient(x), m.ConjugateGradient
		all = append(all, call{value, val, x, v}, call{gradient, m.Gradient, x, y}, call{inverse, inv, y, freshly(inv, y)})
	}
	for _, k := range all {
		x, dst, full, inPlace := slices.Clone(k.x), make([]float64, c.d), slices.Repeat([]float64{7}, c.d), slices.Clone(k.x)
		k.f(dst, x)
		see(k, dst, k.want, "gives another result for the same point: it is random, or remembers earlier calls")
		see(k, x, k.x, "changes its argument")
		k.f(full, slices.Clone(k.x))
		see(k, full, k.want, "does not store every entry of its result")
		k.f(inPlace, inPlace)
		see(k, inPlace, k.want, "is wrong when the result takes the place of the argument: it reads an entry that it has written")
	}
	for i := range all { // backwards, and from the middle on, so other calls come before each call
		for _, k := range []call{all[len(all)-1-i], all[(i+len(all)/2)%len(all)]} {
			see(k, freshly(k.f, k.x), k.want, "depends on what was called before: it keeps something between calls")
		}
	}
}

// allocations counts the allocations per call, on average over calls of ∇φ and ∇φ*. The count includes allocations by
// other goroutines, so only the least count of several short batches matters. The first batch also fills pools.
func (c *checker) allocations(f *Examination) {
	x, dst, least := c.whole.points[0], make([]float64, c.d), math.Inf(1)
	y := c.whole.gradient(x)
	var before, after runtime.MemStats
	for range 20 {
		runtime.ReadMemStats(&before)
		for range 10 {
			c.m.ConjugateGradient(dst, y)
			c.m.Gradient(dst, x)
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.Mallocs-before.Mallocs)/20)
	}
	if f.worse(least, 0.1, "every call, on average") {
		who := strings.TrimPrefix(c.named[gradient]+" or "+c.named[inverse], "φ or ")
		found := c.accuse(Allocates, 0, "", "%s allocates memory", who)
		found.Method, found.Measured = who, least
	}
}
