package bregman

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// diagnose goes from what failed to its causes. What follows from a cause that it has found is left out: a modulus
// that is no number here or there is not asked for its derivative, and only one whose φ, ∇φ and ∇φ* agree
// for the rest.
func (c *checker) diagnose() {
	switch {
	case c.bad != nil:
		c.diagnoseDomain()
	case c.unsafe():
	case c.failed[areNumbers] || c.failed[isGradient] || c.failed[isIntegral] || c.failed[isIncreasing] || c.failed[isInverse] || c.failed[hasInverse]:
		c.diagnoseMethods()
	default:
		c.diagnoseOthers()
	}
	if len(c.report.Findings) > 0 {
		return
	}
	for _, e := range c.report.Examinations { // no cause is known
		if !e.OK {
			c.find(Finding{Kind: Disagrees, Words: "fails: " + e.Name, Where: e.Where, Measured: e.Worst, Claimed: e.Limit})
			return
		}
	}
}

// diagnoseMethods asks which of φ, ∇φ and ∇φ* neither of the others agrees with.
func (c *checker) diagnoseMethods() {
	all := c.samples()
	var slopes, inverses, fromValue []reading // of ∇φ by φ, of ∇φ* by ∇φ, and of ∇φ* by φ
	wrong, back, from := 0, 0, 0              // entries where ∇φ is not that of φ, and where ∇φ* suits ∇φ or φ
	swapped := len(all) > 0
	for _, s := range all {
		for i, x := range s.x {
			slope := reading{x, i, s.x, s.grad[i], s.slope[i], s.off[i]}
			inverse := reading{s.grad[i], i, s.x, s.back[i], x, s.near}
			direct := reading{s.slope[i], i, s.x, s.from[i], x, s.near + math.Abs(x)*1e-6}
			if slope.usable() {
				slopes, fromValue = append(slopes, slope), append(fromValue, direct)
			}
			inverses = append(inverses, inverse)
			if slope.usable() && slope.wrong() {
				wrong++
				if math.Abs(inverse.claimed-x) <= inverse.off+1e-9*math.Abs(x) {
					back++
				}
				if direct.is(x) {
					from++
				}
			}
		}
		swapped = swapped && c.isSwapped(s)
	}
	named := c.named
	derivative := "the derivative of " + named.value
	if named.gradient == "Gradient" {
		derivative = "the gradient of " + named.value
	}
	switch {
	case wrong > 0 && c.kinks(slopes):
	case named.value == "φ": // one function, and its derivatives by differentiation
		c.diagnoseConvexity()
	case wrong == 0 && c.jump():
	case wrong > 0 && swapped:
		c.find(Finding{Kind: Disagrees, Method: named.gradient, Measured: math.NaN(), Words: named.gradient + " and " + named.conjugateGradient + " are interchanged"})
	case wrong > 0 && back > from && 2*back > wrong: // φ is the odd one out
		for i := range slopes {
			slopes[i].claimed, slopes[i].measured = slopes[i].measured, slopes[i].claimed
		}
		c.tell(named.value, strings.Replace(derivative, "the ", "The ", 1), named.gradient, slopes, "x", nil, func(x []float64, i int) (at, measured, claimed float64) {
			slope, _ := c.partial(x, i, ulp)
			return x[i], c.gradient(x)[i], slope
		})
	case wrong > 0:
		c.tell(named.gradient, named.gradient, derivative, slopes, "x", c.gradientSlips(), func(x []float64, i int) (at, measured, claimed float64) {
			slope, _ := c.partial(x, i, ulp)
			return x[i], slope, c.gradient(x)[i]
		})
		if 2*from <= wrong { // and neither is ∇φ*
			c.tell(named.conjugateGradient, named.conjugateGradient, "the inverse of "+derivative, fromValue, "y", c.inverseSlips(), func(x []float64, i int) (at, measured, claimed float64) {
				y, _ := c.measure(x)
				return y[i], x[i], c.conjugateGradient(y)[i]
			})
		}
	case c.failed[isGradient]: // by so little that differences don't tell
	case c.diagnoseConvexity():
	case c.failed[areNumbers] || c.failed[isInverse] || c.failed[hasInverse]:
		c.diagnoseInverse(inverses)
	}
}

// isSwapped reports whether ∇φ and ∇φ* would be right in each other's place.
func (c *checker) isSwapped(s sample) bool {
	grad, conj := c.conjugateGradient(s.x), c.gradient(s.slope)
	for i := range s.x {
		r := reading{claimed: grad[i], measured: s.slope[i], off: s.off[i]}
		if r.usable() && (r.wrong() || math.Abs(conj[i]-s.x[i]) > 1e-6*(1+math.Abs(s.x[i]))) {
			return false
		}
	}
	return true
}

// jump finds a point at which φ jumps, between two points.
func (c *checker) jump() bool {
	if c.segment[0] == nil {
		return false
	}
	x, e := c.segment[0], combine(1, c.segment[1], -1, c.segment[0])
	lo, hi := 0.0, 1.0
	rise := func(a, b float64) float64 {
		return c.m.Value(combine(1, x, b, e)) - c.m.Value(combine(1, x, a, e)) - (b-a)*sum.Dot(c.gradient(x), e)
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
		if r := (reading{i: i}); math.Abs(c.kernelValue(r, v)-c.kernelValue(r, from[i])) > math.Abs(by)/2 {
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
	case len(c.suspects) > 0 && c.separable:
		f.fall(c)
	case len(c.suspects) > 0:
		f.Where = "x = " + vector(c.suspects[0]).String()
	}
	c.find(f)
	return true
}

// fall tells between which points φ′ of a kernel falls, or is constant.
func (f *Finding) fall(c *checker) {
	for i := range max(1, len(c.sep.Each)) {
		k := c.sep.at(i)
		lo, hi := k.Domain()
		xs := make([]float64, 2000)
		for j := range xs {
			xs[j] = c.spread(lo, hi)
		}
		slices.Sort(xs)
		for j := 1; j < len(xs); j++ {
			if k.Deriv(xs[j]) > k.Deriv(xs[j-1]) || xs[j] == xs[j-1] {
				continue
			}
			a := j - 1
			for j+1 < len(xs) && k.Deriv(xs[j+1]) <= k.Deriv(xs[j]) {
				j++
			}
			f.Words = fmt.Sprintf("φ is not convex: φ′ falls from %s to %s between x = %s and %s", digits(k.Deriv(xs[a])), digits(k.Deriv(xs[j])), digits(xs[a]), digits(xs[j]))
			if k.Deriv(xs[a]) == k.Deriv(xs[j]) {
				f.Words = fmt.Sprintf("φ is not strictly convex: φ′ is %s from x = %s to %s", digits(k.Deriv(xs[a])), digits(xs[a]), digits(xs[j]))
			}
			f.Where = c.where("x", xs[j], i, nil)
			return
		}
	}
}

// diagnoseInverse is for a ∇φ* that is not the inverse of ∇φ.
func (c *checker) diagnoseInverse(inverses []reading) {
	var composed []reading // of ∇φ(∇φ*(y)), to be y
	for range 100 {
		y := combine(0.5, c.gradient(c.point()), 0.5, c.gradient(c.point()))
		x := c.conjugateGradient(y)
		if !c.m.InDomain(x) {
			continue
		}
		back := c.gradient(x)
		limit := slack * condition(c.gradient, x, back)
		for i, v := range y {
			composed = append(composed, reading{v, i, y, back[i], v, limit})
			if math.Abs(back[i]-v) > limit && c.kink(x, i) {
				return
			}
		}
	}
	named := c.named
	f := c.tell(named.conjugateGradient, named.conjugateGradient, "the inverse of "+named.gradient, inverses, "y", c.inverseSlips(), func(x []float64, i int) (at, measured, claimed float64) {
		y := c.gradient(x)
		return y[i], x[i], c.conjugateGradient(y)[i]
	})
	if both := fmt.Sprintf("%s(%s(y))", named.gradient, named.conjugateGradient); strings.Contains(f.Words, " is not ") {
		if wrong := wrongOf(composed); len(wrong) > 0 {
			if words := relation(composed, wrong, both, "y"); words != "" && !strings.Contains(words, "not") {
				f.Words += ": " + words
			}
		}
	}
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
