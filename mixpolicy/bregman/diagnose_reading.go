package bregman

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

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
	var points [][]float64
	for _, v := range []float64{0.3, 0.6, -0.3, 1.5, -1.5, 0.1, -0.1} {
		points = append(points, slices.Repeat([]float64{v}, c.d))
	}
	points = append(points, c.suspects...)
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

// partial is measure for one entry.
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
			if e := math.Abs(row[j]-last[j-1]) + noise/h; e < off {
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

// wrong reports whether the claimed number is not the measured one.
func (r reading) wrong() bool {
	return !(math.Abs(r.claimed-r.measured) <= 100*r.off+1e-8*max(math.Abs(r.claimed), math.Abs(r.measured)))
}

// is reports whether the claimed number is v.
func (r reading) is(v float64) bool {
	return v-v == 0 && math.Abs(r.claimed-v) <= 100*r.off+1e-6*max(math.Abs(r.claimed), math.Abs(v))
}

// near reports whether v is w to six digits.
func near(v, w float64) bool { return math.Abs(v-w) <= gap(w) }

// gap is a millionth of v, or of 1 if that is more.
func gap(v float64) float64 { return 1e-6 * max(1, math.Abs(v)) }

// wrongOf returns the readings that are wrong.
func wrongOf(all []reading) []reading {
	return slices.DeleteFunc(slices.Clone(all), func(r reading) bool { return !r.wrong() })
}

// part is the error in proportion.
func (r reading) part() float64 { return math.Abs(r.claimed-r.measured) / math.Abs(r.measured) }

// usable reports whether what is measured is known to some digits.
func (r reading) usable() bool {
	return r.off <= 1e-4*max(math.Abs(r.measured), 1e-3*math.Abs(r.claimed), 1e-12)
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

// gradientSlips are what a ∇φ may be in place of the derivative of φ.
func (c *checker) gradientSlips() []slip {
	one := func(r reading) float64 { return c.kernelValue(r.i, r.at) }
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

// inverseSlips are what a ∇φ* may be in place of the inverse of ∇φ.
func (c *checker) inverseSlips() []slip {
	gradient := c.entry(c.m.Gradient)
	return []slip{
		{"returns the same as " + c.named.gradient, gradient},
		{"is 1 over " + c.named.gradient + ", not its inverse", func(r reading) float64 { return 1 / gradient(r) }},
		{"is φ*, not its derivative", func(r reading) float64 { return r.measured*r.at - c.kernelValue(r.i, r.measured) }},
	}
}

// kernelValue is φ of one entry, NaN if φ is no sum.
func (c *checker) kernelValue(i int, x float64) float64 {
	if !c.separable {
		return math.NaN()
	}
	return c.sep.at(i).Value(x)
}

// tell makes the finding of how what a method claims differs from what follows from the others, with
// curves if there is a way to read them.
func (c *checker) tell(method, claimed, measured string, all []reading, axis string, slips []slip, read func(x []float64, i int) (at, measured, claimed float64)) *Finding {
	wrong := wrongOf(all)
	c.find(Finding{Kind: Disagrees, Method: method, Words: claimed + " is not " + measured, Measured: math.NaN()})
	f := &c.report.Findings[len(c.report.Findings)-1]
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
	first := wrong[0]
	if f.Axis, f.ClaimedName, f.MeasuredName = axis, claimed, measured; read != nil {
		f.draw(c, first, read)
	}
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
		if near(v, w) {
			s += " (" + name + ")"
		}
	}
	return s
}

// draw stores what a method claims, and what follows from the others, in an entry along the coordinate in which
// a reading is wrong.
func (f *Finding) draw(c *checker, r reading, read func(x []float64, i int) (at, measured, claimed float64)) {
	const points = 40 // on each side
	x, i := r.x, r.i
	reach := c.reach(x, replaced(c.new(), i, 1))
	for k := -points; k <= points; k++ {
		at, measured, claimed := read(replaced(x, i, x[i]+0.98*reach*float64(k)/points), i)
		if s := at + measured + claimed; s-s == 0 {
			f.MeasuredCurve = append(f.MeasuredCurve, Point{at, measured})
			f.ClaimedCurve = append(f.ClaimedCurve, Point{at, claimed})
		}
	}
}
