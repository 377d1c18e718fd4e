package bregman

import (
	"cmp"
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

// A sample is a point with what the methods say there.
type sample struct {
	x, grad    []float64 // ∇φ(x) as claimed
	slope, off []float64 // ∇φ(x) as measured from φ, and by how much that may be off
	back       []float64 // ∇φ*(grad), to be x
	from       []float64 // ∇φ*(slope), to be x
	near       float64   // the rounding of back
}

// samples are simple points for a reader, points that failed, and random ones.
func (c *checker) samples() (all []sample) {
	points := slices.Clone(c.suspects)
	for _, v := range []float64{0.3, 0.6, -0.3, 1.5, -1.5, 0.1, -0.1} {
		x := c.new()
		for i := range x {
			x[i] = v
		}
		points = append([][]float64{x}, points...)
	}
	slices.Reverse(points[:7])
	for range 40 {
		points = append(points, c.anywhere())
	}
	for _, x := range points {
		if !c.m.InDomain(x) {
			continue
		}
		s := sample{x: x, grad: c.gradient(x)}
		s.slope, s.off = c.measure(x)
		s.back, s.from = c.conjugateGradient(s.grad), c.conjugateGradient(s.slope)
		s.near = slack * condition(c.conjugateGradient, s.grad, s.back)
		all = append(all, s)
	}
	return all
}

// measure returns the partial derivatives of φ at x from its values, and how far off they may be.
func (c *checker) measure(x []float64) (slope, off []float64) {
	slope, off = c.new(), c.new()
	noise := c.rounding(terms{values: [][]float64{x}})
	for i := range x {
		slope[i], off[i] = c.partial(x, i, noise)
	}
	return slope, off
}

func (c *checker) partial(x []float64, i int, noise float64) (slope, off float64) {
	e := replaced(c.new(), i, 1)
	return derivative(func(t float64) float64 { return c.m.Value(combine(1, x, t, e)) }, c.reach(x, e)/2, noise)
}

// derivative returns f′(0) from central differences with h, h/2, h/4, …, extrapolated to 0 (Richardson), and
// about how far off it is: the least difference between two of the extrapolations, with what noise, the
// rounding of f, makes of the difference.
func derivative(f func(t float64) float64, h, noise float64) (slope, off float64) {
	var row [14]float64
	slope, off = math.NaN(), math.Inf(1)
	for k := range row {
		last := row
		row[0] = (f(h) - f(-h)) / (2 * h)
		power := 1.0
		for j := 1; j <= k; j++ {
			power *= 4
			row[j] = row[j-1] + (row[j-1]-last[j-1])/(power-1)
			if e := max(math.Abs(row[j]-row[j-1]), math.Abs(row[j]-last[j-1])) + noise/h; e < off {
				slope, off = row[j], e
			}
		}
		h /= 2
	}
	return slope, off
}

// A reading is what a method claims of an entry at a point, and what follows from the others.
type reading struct {
	at                float64 // the argument: xᵢ, or yᵢ
	i                 int
	x                 []float64
	claimed, measured float64
	off               float64 // how far off the measured number may be
}

func (r reading) wrong() bool {
	return !(math.Abs(r.claimed-r.measured) <= 100*r.off+1e-8*max(math.Abs(r.claimed), math.Abs(r.measured)))
}

// is reports whether the claimed number is v.
func (r reading) is(v float64) bool {
	return v-v == 0 && math.Abs(r.claimed-v) <= 100*r.off+1e-6*max(math.Abs(r.claimed), math.Abs(v))
}

// part is the error in proportion.
func (r reading) part() float64 { return math.Abs(r.claimed-r.measured) / math.Abs(r.measured) }

// usable reports whether what is measured is known to some digits.
func (r reading) usable() bool {
	return r.off <= 1e-4*max(math.Abs(r.measured), 1e-3*math.Abs(r.claimed), 1e-12)
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
		f := c.finding(named.value, strings.Replace(derivative, "the ", "The ", 1), named.gradient, slopes, "x", nil)
		c.draw(&f, slopes, func(x []float64, i int) (at, measured, claimed float64) {
			slope, _ := c.partial(x, i, ulp)
			return x[i], c.gradient(x)[i], slope
		})
		c.find(f)
	case wrong > 0:
		f := c.finding(named.gradient, named.gradient, derivative, slopes, "x", c.gradientSlips())
		c.draw(&f, slopes, func(x []float64, i int) (at, measured, claimed float64) {
			slope, _ := c.partial(x, i, ulp)
			return x[i], slope, c.gradient(x)[i]
		})
		c.find(f)
		if 2*from <= wrong { // and neither is ∇φ*
			f := c.finding(named.conjugateGradient, named.conjugateGradient, "the inverse of "+derivative, fromValue, "y", c.inverseSlips())
			c.draw(&f, fromValue, func(x []float64, i int) (at, measured, claimed float64) {
				y, _ := c.measure(x)
				return y[i], x[i], c.conjugateGradient(y)[i]
			})
			c.find(f)
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

// A slip is a number that a method may return by mistake.
type slip struct {
	words string
	f     func(r reading) float64
}

// entry is the i-th entry of f at the point of the reading with its own argument in that place.
func (c *checker) entry(f func(dst, x []float64)) func(reading) float64 {
	return func(r reading) float64 {
		x, dst := slices.Clone(r.x), c.new()
		x[r.i] = r.at
		f(dst, x)
		return dst[r.i]
	}
}

func (c *checker) gradientSlips() []slip {
	one := func(r reading) float64 { return c.kernelValue(r, r.at) }
	return []slip{
		{"returns the same as " + c.named.conjugateGradient, c.entry(c.m.ConjugateGradient)},
		{"returns " + c.named.value, one},
		{"is the second derivative of " + c.named.value, func(r reading) float64 {
			e := replaced(c.new(), r.i, 1)
			v, _ := derivative(func(t float64) float64 {
				slope, _ := c.partial(combine(1, r.x, t, e), r.i, ulp)
				return slope
			}, c.reach(r.x, e)/8, 0)
			return v
		}},
		{"is 1 over the derivative of " + c.named.value, func(r reading) float64 { return 1 / r.measured }},
	}
}

func (c *checker) inverseSlips() []slip {
	gradient := func(v float64) func(reading) float64 {
		return func(r reading) float64 { return c.entry(c.m.Gradient)(reading{at: v * r.at, i: r.i, x: r.x}) }
	}
	return []slip{
		{"returns the same as " + c.named.gradient, gradient(1)},
		{"is 1 over " + c.named.gradient + ", not its inverse", func(r reading) float64 { return 1 / gradient(1)(r) }},
		{"is φ*, not its derivative", func(r reading) float64 { return r.measured*r.at - c.kernelValue(r, r.measured) }},
	}
}

// kernelValue is φ of one entry, NaN if φ is no sum.
func (c *checker) kernelValue(r reading, x float64) float64 {
	if !c.separable {
		return math.NaN()
	}
	return c.sep.at(r.i).Value(x)
}

// finding tells how what a method claims differs from what follows from the others.
func (c *checker) finding(method, claimed, measured string, all []reading, axis string, slips []slip) Finding {
	wrong := slices.DeleteFunc(slices.Clone(all), func(r reading) bool { return !r.wrong() })
	f := Finding{Kind: Disagrees, Method: method, Words: claimed + " is not " + measured, Measured: math.NaN()}
	if len(wrong) == 0 {
		return f
	}
	fits := func(s slip) bool { return !slices.ContainsFunc(all, func(r reading) bool { return !r.is(s.f(r)) }) }
	worst := slices.MaxFunc(wrong, func(a, b reading) int { return cmp.Compare(a.part(), b.part()) }).part()
	if i := slices.IndexFunc(slips, fits); i >= 0 {
		f.Words = claimed + " " + slips[i].words
	} else if worst < 1e-4 {
		f.Words = fmt.Sprintf("%s is %s to %.0f digits only: does an iteration end early, or is there a float32?", claimed, measured, math.Floor(-math.Log10(worst)))
	} else if words := relation(all, wrong, claimed, measured); words != "" {
		f.Words = words
	}
	f.Axis, f.ClaimedName, f.MeasuredName = axis, claimed, measured
	first := wrong[0]
	f.Where = c.where(axis, first.at, first.i, first.x)
	f.Measured, f.Claimed = first.measured, first.claimed
	return f
}

// where names a point: the argument of a kernel, with its coordinate if kernels differ, or the vector.
func (c *checker) where(axis string, at float64, i int, x []float64) string {
	switch {
	case !c.separable && axis == "x":
		return fmt.Sprintf("x = %s, entry %d", vector(x), i)
	case !c.separable || c.sep.Each != nil:
		return fmt.Sprintf("%s[%d] = %s", axis, i, digits(at))
	}
	return fmt.Sprintf("%s = %s", axis, digits(at))
}

// relation says what the claimed numbers are of the measured ones, "" if nothing simple.
func relation(all, wrong []reading, claimed, measured string) string {
	var part string
	switch among := len(wrong) < len(all); {
	case among && only(all, func(r reading) bool { return r.at < 0 }):
		part = " for negative arguments"
	case among && only(all, func(r reading) bool { return r.at > 0 }):
		part = " for positive arguments"
	case among && only(all, func(r reading) bool { return r.i == wrong[0].i }):
		part = fmt.Sprintf(" in entry %d", wrong[0].i)
	}
	if len(wrong) < len(all) && part == "" && !math.IsNaN(wrong[0].claimed) { // where nothing else is wrong a number may be both
		wrong = all
	}
	sure := slices.MinFunc(wrong, func(a, b reading) int { return cmp.Compare(a.off/math.Abs(a.measured), b.off/math.Abs(b.measured)) })
	exact := slices.MinFunc(wrong, func(a, b reading) int { return cmp.Compare(a.off, b.off) })
	ratio, offset := sure.claimed/sure.measured, exact.claimed-exact.measured
	fits := func(f func(measured float64) float64) bool {
		return !slices.ContainsFunc(wrong, func(r reading) bool { return !r.is(f(r.measured)) })
	}
	switch {
	case !slices.ContainsFunc(wrong, func(r reading) bool { return !math.IsNaN(r.claimed) }):
		return claimed + " is NaN" + part
	case len(wrong) < 3:
		return ""
	case fits(func(float64) float64 { return wrong[0].claimed }):
		hint := ""
		if wrong[0].claimed == 0 {
			hint = "; is there a quotient of integers, such as 1/2, which is 0 in Go?"
		}
		return fmt.Sprintf("%s is %s everywhere%s%s", claimed, constant(wrong[0].claimed), part, hint)
	case fits(func(v float64) float64 { return ratio * v }):
		return fmt.Sprintf("%s is %s times %s%s", claimed, constant(ratio), measured, part)
	case fits(func(v float64) float64 { return v + offset }):
		return fmt.Sprintf("%s is %s plus %s%s", claimed, measured, constant(offset), part)
	case part != "":
		return fmt.Sprintf("%s is not %s%s", claimed, measured, part)
	}
	return ""
}

// only reports whether what is wrong has a property, and much of what has it is wrong.
func only(all []reading, has func(reading) bool) bool {
	wrong, with := 0, 0
	for _, r := range all {
		if has(r) {
			with++
		} else if r.wrong() {
			return false
		}
		if r.wrong() {
			wrong++
		}
	}
	return 4*wrong > with
}

// constant formats a factor, with its name if it has one.
func constant(v float64) string {
	s := digits(v)
	for name, w := range map[string]float64{"1/log 2": 1 / math.Ln2, "log 2": math.Ln2, "1/log 10": 1 / math.Ln10, "log 10": math.Ln10, "π": math.Pi, "e": math.E, "1/e": 1 / math.E} {
		if math.Abs(v-w) < 1e-6*w {
			s += " (" + name + ")"
		}
	}
	return s
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

// diagnoseDomain asks from where on φ is a number, at a point of the domain where it is none.
func (c *checker) diagnoseDomain() {
	finite := func(x []float64) (value, gradient bool) {
		v := c.m.Value(x)
		return v-v == 0, firstNonFinite(c.gradient(x)) < 0
	}
	good := func(x []float64) bool { v, g := finite(x); return v && g }
	bad := c.bad
	v, g := finite(bad)
	f := Finding{Kind: Disagrees, Method: c.named.domain, Where: "x = " + vector(bad).String(), Measured: math.NaN()}
	claim := fmt.Sprintf("φ(%s) = %s", vector(bad), digits(c.m.Value(bad)))
	switch {
	case v:
		f.Method, claim = c.named.gradient, fmt.Sprintf("%s is %s", c.named.gradient, vector(c.gradient(bad)))
	case g:
		f.Method = c.named.value
	}
	f.Words = claim + " inside of the domain"
	defer func() { c.find(f) }()
	start := c.new()
	for range 400 {
		if start = c.point(); good(start) {
			break
		}
	}
	if !good(start) {
		return
	}
	for i := range bad { // the entry at fault, if it is one
		if !good(replaced(start, i, bad[i])) {
			at := bad[i]
			single := func(x float64) bool { return good(replaced(start, i, x)) }
			if c.separable {
				f.Where = c.where("x", at, i, bad)
				f.Words = fmt.Sprintf("φ(%s) = %s", digits(at), digits(c.kernelValue(reading{i: i}, at)))
				if v {
					f.Words = fmt.Sprintf("%s(%s) = %s", c.named.gradient, digits(at), digits(c.gradient(replaced(start, i, at))[i]))
				}
			} else {
				f.Words = claim
			}
			if step := 1e-6 * (1 + math.Abs(at)); single(at-step) && single(at+step) {
				f.Method = c.named.value
				if v {
					f.Method = c.named.gradient
				}
				f.Words += " at a single point"
				return
			}
			in, out := start[i], at
			for range 200 {
				if mid := in + (out-in)/2; single(mid) {
					in = mid
				} else {
					out = mid
				}
			}
			verb := "ends"
			if at < start[i] {
				verb = "starts"
			}
			if !v { // to the end?
				f.Measured = tidy(in)
				f.Words += fmt.Sprintf(": the domain %s at %s", verb, digits(f.Measured))
				if f.Claimed = math.NaN(); c.separable {
					lo, hi := c.sep.at(i).Domain()
					if f.Claimed = hi; verb == "starts" {
						f.Claimed = lo
					}
				}
			}
			return
		}
	}
}

func replaced(x []float64, i int, v float64) []float64 {
	z := slices.Clone(x)
	z[i] = v
	return z
}

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
	f := c.finding(named.conjugateGradient, named.conjugateGradient, "the inverse of "+named.gradient, inverses, "y", c.inverseSlips())
	if both := fmt.Sprintf("%s(%s(y))", named.gradient, named.conjugateGradient); strings.Contains(f.Words, " is not ") {
		wrong := slices.DeleteFunc(slices.Clone(composed), func(r reading) bool { return !r.wrong() })
		if len(wrong) > 0 {
			if words := relation(composed, wrong, both, "y"); words != "" && !strings.Contains(words, "not") {
				f.Words += ": " + words
			}
		}
	}
	c.draw(&f, inverses, func(x []float64, i int) (at, measured, claimed float64) {
		y := c.gradient(x)
		return y[i], x[i], c.conjugateGradient(y)[i]
	})
	c.find(f)
}

// draw stores what a method claims, and what follows from the others, in an entry along the coordinate in which
// the first reading is wrong.
func (c *checker) draw(f *Finding, all []reading, read func(x []float64, i int) (at, measured, claimed float64)) {
	first := slices.IndexFunc(all, reading.wrong)
	if first < 0 {
		return
	}
	const points = 40 // on each side
	x, i := all[first].x, all[first].i
	reach := c.reach(x, replaced(c.new(), i, 1))
	for k := -points; k <= points; k++ {
		at, measured, claimed := read(replaced(x, i, x[i]+0.98*reach*float64(k)/points), i)
		if s := at + measured + claimed; s-s == 0 {
			f.MeasuredCurve = append(f.MeasuredCurve, Point{at, measured})
			f.ClaimedCurve = append(f.ClaimedCurve, Point{at, claimed})
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
	wrong := slices.DeleteFunc(slices.Clone(slopes), func(r reading) bool { return !r.wrong() })
	return !slices.ContainsFunc(wrong, func(r reading) bool { _, _, ok := c.sides(r.x, r.i); return !ok }) && c.kink(wrong[0].x, wrong[0].i)
}

// diagnoseOthers is for a modulus whose φ, ∇φ and ∇φ* agree: its boundary, large numbers, and the methods
// that it need not have.
func (c *checker) diagnoseOthers() {
	if c.failed[isSteep] {
		c.diagnoseBoundary()
	}
	if c.failed[isInfinite] {
		c.find(Finding{
			Kind: Disagrees, Method: c.named.value, Where: "x = " + vector(c.beyond).String(),
			Words: c.named.value + " is not +∞ outside of the domain", Measured: math.Inf(1), Claimed: c.m.Value(c.beyond),
		})
	}
	if c.failed[isBounded] {
		c.diagnoseOverflow()
	}
	_, conjugator := c.m.(Conjugator)
	_, divergencer := c.m.(Divergencer)
	if c.separable { // which has both in any case
		_, conjugator = c.sep.at(0).(kernelConjugator)
		_, divergencer = c.sep.at(0).(kernelDivergencer)
	}
	if c.failed[isConjugate] && conjugator {
		c.compare("Conjugate", "φ*", "y", nil, func() reading {
			x := c.point()
			y := c.gradient(x)
			want := sum.Dot(x, y) - c.m.Value(x)
			return reading{y[0], 0, y, Conjugate(c.m, y), want, ulp * c.size(x)}
		})
	}
	if divergencer && (c.failed[isDivergence] || c.failed[isPositive]) {
		var others [][2]float64 // D(x; y) as claimed, and D(y; x) as it is
		definition := func(x, y []float64) float64 {
			return c.m.Value(x) - c.m.Value(y) - sum.Dot(combine(1, x, -1, y), c.gradient(y))
		}
		before := len(c.report.Findings)
		c.compare("Divergence", "D(x; y)", "x", nil, func() reading {
			x, y := c.point(), c.point()
			v := Divergence(c.m, x, y)
			others = append(others, [2]float64{v, definition(y, x)})
			return reading{x[0], 0, x, v, definition(x, y), c.rounding(terms{[][]float64{x, y}, [][]float64{c.gradient(y)}, [][]float64{x, y}})}
		})
		if !slices.ContainsFunc(others, func(v [2]float64) bool { return math.Abs(v[0]-v[1]) > 1e-6*math.Abs(v[0]) }) {
			c.report.Findings[before].Words = "Divergence has its arguments interchanged: it is D(y; x)"
		}
	}
	_, shifter := c.m.(Shifter)
	if shifter && (c.failed[isClosedForm] || c.failed[isProjection]) {
		c.compare("Shift", "the z of 1ᵀ∇φ*(y + z1) = 1", "y", nil, func() reading {
			y := c.gradient(c.point())
			z, err := c.m.(Shifter).Shift(y)
			if err != nil {
				z = math.NaN()
			}
			w, _, err := NewtonShift(c.m, y, nil)
			if err != nil {
				w = math.NaN()
			}
			return reading{y[0], 0, y, z, w, ulp * (math.Abs(w) + maxAbs(y))}
		})
	}
	if c.failed[isCurvature] {
		what := "(φ*)″"
		if !c.separable {
			what = "1ᵀ∇²φ*(y)1"
		}
		c.compare(c.named.curvature, what, "y", []slip{{"is φ″, and not 1 over it", func(r reading) float64 { return 1 / r.measured }}}, func() reading {
			y := c.gradient(c.point())
			v, off := derivative(func(z float64) float64 { return JDeriv(c.m, y, z) }, minAbs(y)/2, 4*ulp*(1+norm2(c.conjugateGradient(y))))
			if !c.separable {
				return reading{y[0], 0, y, JSecond(c.m, y, 0), v, off}
			}
			i := c.rng.IntN(c.d)
			k := c.sep.at(i)
			v, off = derivative(func(z float64) float64 { return k.ConjDeriv(y[i] + z) }, math.Abs(y[i])/2, ulp*math.Abs(k.ConjDeriv(y[i])))
			return reading{y[i], i, y, kernelCurvature(k, y[i]), v, off}
		})
	}
	if c.failed[isConstant] {
		mu, p, _ := StrongConvexity(c.m)
		c.find(Finding{
			Kind: Disagrees, Method: c.named.strong, Measured: c.least, Claimed: mu, Where: c.leastAt,
			Words: fmt.Sprintf("%s claims more than the strong convexity that φ has in ℓ%.4g", c.named.strong, p),
		})
	}
}

func minAbs(y []float64) float64 {
	v := math.Inf(1)
	for _, x := range y {
		v = min(v, math.Abs(x))
	}
	return v
}

// compare reads a method at a hundred points, and tells how it differs from what follows.
func (c *checker) compare(method, what, axis string, slips []slip, read func() reading) {
	var all []reading
	for range 100 {
		if r := read(); r.usable() || math.IsNaN(r.claimed) {
			all = append(all, r)
		}
	}
	c.find(c.finding(method, method, what, all, axis, slips))
}

// diagnoseBoundary is for a ∇φ that stays finite at the boundary.
func (c *checker) diagnoseBoundary() {
	if c.edge[0] == nil {
		return
	}
	x, e := c.edge[0], c.edge[1]
	near := combine(1, x, 1-1e-9, e)
	g := c.gradient(near)
	f := Finding{
		Kind: NotLegendre, Method: c.named.value, Where: "x = " + vector(near).String(), Measured: norm2(g), Claimed: math.Inf(1),
		Words: "‖∇φ‖ stays finite at the boundary: φ has no barrier there",
	}
	for i := range near {
		if !c.separable {
			break
		}
		k := c.sep.at(i)
		lo, hi := k.Domain()
		end, out := hi, 1.0
		if e[i] < 0 {
			end, out = lo, -1
		}
		if math.Abs(near[i]-end) > 1e-6*math.Abs(e[i]) {
			continue
		}
		f.Where, f.Measured = c.where("x", end, i, near), math.Abs(g[i])
		f.Words = fmt.Sprintf("φ′ stays finite at the end %s of the domain: φ has no barrier there", digits(end))
		beyond := end + out*1e-3*(1+math.Abs(end))
		slope := k.Deriv(beyond)
		if v := k.Value(beyond); v-v == 0 && math.Abs(k.ConjDeriv(slope)-beyond) < 1e-9*(1+math.Abs(beyond)) {
			f.Method = c.named.domain
			f.Words += fmt.Sprintf(". %s, %s and %s agree beyond it: is the domain wider?", c.named.value, c.named.gradient, c.named.conjugateGradient)
		}
		break
	}
	c.find(f)
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
