package bregman

import (
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// diagnoseDomain is for a point of the domain at which φ or ∇φ is no number. Of a kernel it asks in
// which entry, and from where on.
func (c *checker) diagnoseDomain() {
	v, g := c.m.Value(c.bad), c.gradient(c.bad)
	value, gradient := v-v == 0, firstNonFinite(g) < 0
	f := Finding{Kind: Disagrees, Method: c.named.domain, Where: "x = " + vector(c.bad).String(), Measured: math.NaN(), Claimed: math.NaN()}
	f.Words = fmt.Sprintf("φ(%s) = %s inside of the domain", vector(c.bad), digits(v))
	switch {
	case value:
		f.Method, f.Words = c.named.gradient, fmt.Sprintf("%s is %s inside of the domain", c.named.gradient, vector(g))
	case gradient:
		f.Method = c.named.value
	}
	defer func() { c.find(f) }()
	good := func(i int, x float64) bool {
		v, g := c.sep.at(i).Value(x), c.sep.at(i).Deriv(x)
		return v-v == 0 && g-g == 0
	}
	i := 0
	for i < c.d && (!c.separable || good(i, c.bad[i])) {
		i++
	}
	if i == c.d {
		return
	}
	at, inside := c.bad[i], c.point()[i]
	f.Where, f.Words = c.where("x", at, i, c.bad), fmt.Sprintf("φ(%s) = %s", digits(at), digits(c.kernelValue(i, at)))
	if value {
		f.Words = fmt.Sprintf("%s(%s) = %s", c.named.gradient, digits(at), digits(g[i]))
	}
	for trial := 0; trial < 400 && !good(i, inside); trial++ {
		inside = c.point()[i]
	}
	if step := gap(at); good(i, at-step) && good(i, at+step) {
		if f.Method == c.named.domain {
			f.Method = c.named.value
		}
		f.Words += " at a single point"
	} else if !value && good(i, inside) {
		f.Measured = tidy(halve(inside, at, func(x float64) bool { return good(i, x) }))
		lo, hi := c.sep.at(i).Domain()
		verb := "ends"
		if f.Claimed = hi; at < inside {
			verb, f.Claimed = "starts", lo
		}
		f.Words += fmt.Sprintf(": the domain %s at %s", verb, digits(f.Measured))
	}
}

// halve returns the last number from good towards bad that is good.
func halve(good, bad float64, is func(float64) bool) float64 {
	for range 200 {
		if mid := good + (bad-good)/2; is(mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	return good
}

// replaced is x with v for its i-th entry.
func replaced(x []float64, i int, v float64) []float64 {
	z := slices.Clone(x)
	z[i] = v
	return z
}

// diagnoseBoundary is for a ∇φ that stays finite at the boundary.
func (c *checker) diagnoseBoundary() {
	if c.edge[0] == nil {
		return
	}
	x, e := c.edge[0], c.edge[1]
	last := combine(1, x, 1-1e-9, e)
	g := c.gradient(last)
	f := Finding{
		Kind: NotLegendre, Method: c.named.value, Where: "x = " + vector(last).String(), Measured: norm2(g), Claimed: math.Inf(1),
		Words: "‖∇φ‖ stays finite at the boundary: φ has no barrier there",
	}
	for i := range last {
		if !c.separable {
			break
		}
		k := c.sep.at(i)
		end, hi := k.Domain()
		if e[i] > 0 {
			end = hi
		}
		if !near(last[i], end) {
			continue
		}
		f.Where, f.Measured = c.where("x", end, i, last), math.Abs(g[i])
		f.Words = fmt.Sprintf("φ′ stays finite at the end %s of the domain: φ has no barrier there", digits(end))
		beyond := end + (end-x[i])/1000
		slope := k.Deriv(beyond)
		if v := k.Value(beyond); v-v == 0 && near(k.ConjDeriv(slope), beyond) {
			f.Method = c.named.domain
			f.Words += fmt.Sprintf(". %s, %s and %s agree beyond it: is the domain wider?", c.named.value, c.named.gradient, c.named.conjugateGradient)
		}
		break
	}
	c.find(f)
}

// diagnoseOutside is for a φ that is not +∞ beyond its domain.
func (c *checker) diagnoseOutside() {
	c.find(Finding{
		Kind: Disagrees, Method: c.named.value, Where: "x = " + vector(c.beyond).String(),
		Words: c.named.value + " is not +∞ outside of the domain", Measured: math.Inf(1), Claimed: c.m.Value(c.beyond),
	})
}

// Where functions of y overflow.
var overflow = []struct {
	at float64
	of string
}{
	{math.Log(math.MaxFloat64), "exp(y)"}, {math.Log(math.MaxFloat64) / 2, "exp(2y)"}, {math.Log(math.MaxFloat64) * 2, "exp(y/2)"},
	{math.Log(math.MaxFloat64) + math.Ln2, "cosh(y)"}, {math.Sqrt(math.MaxFloat64), "y²"}, {math.Cbrt(math.MaxFloat64), "y³"},
	{math.Sqrt(math.Sqrt(math.MaxFloat64)), "y⁴"},
}

// diagnoseOverflow finds how far along a ray ∇φ* is right.
func (c *checker) diagnoseOverflow() {
	r := c.ray
	at := func(t float64) []float64 { return c.conjugateGradient(combine(t, r.e, 0, r.e)) }
	start := at(r.from)
	wrong := func(x []float64) bool {
		from, to, along := start, x, r.e
		if i := r.entry; i >= 0 {
			from, to, along = start[i:i+1], x[i:i+1], r.e[i:i+1]
		}
		_, drop, limit := c.fall(from, to, along)
		return drop > limit || slices.ContainsFunc(to, math.IsNaN)
	}
	lo, hi := max(r.from, 1e-300), r.to
	for range 200 {
		if mid := math.Sqrt(lo) * math.Sqrt(hi); wrong(at(mid)) {
			hi = mid
		} else {
			lo = mid
		}
	}
	good, broken := at(lo), at(hi)
	f := Finding{Kind: Overflows, Method: c.named.conjugateGradient, Measured: norm2(good), Claimed: norm2(broken)}
	size, on := hi*norm2(r.e), "‖y‖"
	if r.entry >= 0 {
		f.Measured, f.Claimed = good[r.entry], broken[r.entry]
		size, on = hi*r.e[r.entry], "y"
	}
	f.Where = fmt.Sprintf("%s = %s", on, digits(size))
	f.Words = fmt.Sprintf("%s is %s from %s = %s on", c.named.conjugateGradient, digits(f.Claimed), on, digits(size))
	for _, o := range overflow {
		if math.Abs(math.Abs(size)-o.at) < 1e-3*o.at {
			f.Words += ", where " + o.of + " overflows"
		}
	}
	c.find(f)
}

// jump finds a point at which φ jumps, between two points.
func (c *checker) jump() bool {
	if c.segment[0] == nil {
		return false
	}
	x, e := c.segment[0], combine(1, c.segment[1], -1, c.segment[0])
	lo, hi := 0.0, 1.0
	rise := func(a, b float64) float64 { // but for what ∇φ makes of it, by the midpoint rule
		at := func(t float64) []float64 { return combine(1, x, t, e) }
		return c.m.Value(at(b)) - c.m.Value(at(a)) - (b-a)*sum.Dot(c.gradient(at(a+(b-a)/2)), e)
	}
	for range 50 {
		if mid := lo + (hi-lo)/2; math.Abs(rise(lo, mid)) > math.Abs(rise(mid, hi)) {
			hi = mid
		} else {
			lo = mid
		}
	}
	by := rise(lo, hi)
	if !(math.Abs(by) > slack*c.rounding(terms{values: [][]float64{x}})) {
		return false
	}
	f := Finding{Kind: NotLegendre, Method: c.named.value, Words: fmt.Sprintf("%s jumps by %s", c.named.value, digits(by)), Measured: math.NaN()}
	from, to := combine(1, x, lo, e), combine(1, x, hi, e)
	f.Where = "x = " + vector(to).String()
	for i, v := range to {
		if math.Abs(c.kernelValue(i, v)-c.kernelValue(i, from[i])) > math.Abs(by)/2 {
			f.Where = c.where("x", tidy(v), i, to)
		}
	}
	c.find(f)
	return true
}

// tidy rounds what was found by halving.
func tidy(v float64) float64 { return math.Round(v*1e9) / 1e9 }

// diagnoseConvexity tells what ∇φ does where it does not increase, and whether that is so.
func (c *checker) diagnoseConvexity() bool {
	if !c.failed[isIncreasing] {
		return false
	}
	f := Finding{Kind: NotLegendre, Method: c.named.value, Words: "φ is not convex", Measured: math.NaN()}
	falls, flat, pairs := 0, 0, 0
	for range 100 {
		x, y := c.point(), c.point()
		gx, gy := c.gradient(x), c.gradient(y)
		pairs++
		switch rise := sum.Dot(combine(1, gx, -1, gy), combine(1, x, -1, y)); {
		case slices.Equal(gx, gy):
			flat++
		case rise < 0:
			falls++
		}
	}
	switch {
	case falls == pairs:
		f.Words = "φ is concave: is −φ meant?"
	case flat == pairs:
		f.Words = "φ is linear: ∇φ is the same everywhere"
	case c.dip.from < c.dip.to:
		d := c.dip
		f.Words = fmt.Sprintf("φ is not convex: φ′ falls from %s to %s between x = %s and %s", digits(d.before), digits(d.after), digits(d.from), digits(d.to))
		if d.before == d.after {
			f.Words = fmt.Sprintf("φ is not strictly convex: φ′ is %s from x = %s to %s", digits(d.before), digits(d.from), digits(d.to))
		}
		f.Where = c.where("x", d.to, d.i, nil)
	case len(c.suspects) > 0:
		f.Where = "x = " + vector(c.suspects[0]).String()
	}
	c.find(f)
	return true
}

// A dip is where φ′ of a kernel falls, or stays the same: from one x to another, and its values there.
type dip struct {
	i             int // the entry
	from, to      float64
	before, after float64
}

// kink tells that ∇φ jumps at a point, and reports whether it does.
func (c *checker) kink(x []float64, i int) bool {
	below, above, ok := c.sides(x, i)
	if ok {
		c.find(Finding{
			Kind: NotLegendre, Method: c.named.value, Where: c.where("x", tidy(x[i]), i, x), Measured: math.NaN(),
			Words: fmt.Sprintf("φ is not differentiable: %s jumps from %s to %s", c.named.gradient, digits(tidy(below)), digits(tidy(above))),
		})
	}
	return ok
}

// sides returns what an entry of ∇φ is on the sides of a point, and whether it jumps there.
func (c *checker) sides(x []float64, i int) (below, above float64, jumps bool) {
	at := func(step float64) float64 { return c.gradient(replaced(x, i, x[i]+step))[i] }
	near, nearer := 1e-7*(1+math.Abs(x[i])), 1e-11*(1+math.Abs(x[i]))
	below, above = at(-nearer), at(nearer)
	return below, above, above-below > 0.9*(at(near)-at(-near)) && above-below > 1e-6*(math.Abs(above)+math.Abs(below))
}

// kinks looks for a jump of ∇φ, if there is one wherever it is not the derivative of φ.
func (c *checker) kinks(slopes []reading) bool {
	wrong := wrongOf(slopes)
	return !slices.ContainsFunc(wrong, func(r reading) bool { _, _, ok := c.sides(r.x, r.i); return !ok }) && c.kink(wrong[0].x, wrong[0].i)
}
