package bregman

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// diagnose goes from what failed to its cause. What follows from a cause is left out: a modulus
// that is no number here or there is not asked for its derivative, and only one whose φ, ∇φ and ∇φ* agree
// for the rest.
func (c *checker) diagnose() {
	core := c.fails(areNumbers, isGradient, isInverse, hasInverse, isDirect)
	switch {
	case c.bad.p != nil:
		c.findDomain()
	case c.has(Unsafe):
	case c.badDual.p != nil && !c.failed[isInverse]:
		c.accuse(Disagrees, inverse, "y = "+vector(c.badDual.x).String(), "%s is NaN at a single point", c.named[inverse])
	case c.failed[haveDigits]:
		c.accuse(Disagrees, c.vague, "", "%s has %s", c.named[c.vague], few(c.digits))
	case core && !c.fails(isInverse, isDirect): // ∇φ* is right for each ∇φ(x), and others are in a gap
		c.tellFirst(hasInverse, isGradient)
	case c.failed[isIncreasing] && !c.failed[isGradient]:
		c.tellFirst(isIncreasing)
	case core:
		c.blame()
	default:
		if c.tellFirst(isSteep, isInfinite, isBounded); !c.fails(isSteep, isInfinite, isBounded) {
			c.blame()
		}
		if len(c.report.Findings) == 0 {
			c.tellFirst(isConstant)
		}
	}
	if len(c.report.Findings) > 0 {
		return
	}
	for _, e := range c.report.Examinations { // no cause is known
		if !e.OK {
			c.accuse(Disagrees, 0, e.Where, "fails: %s", e.Name)
			return
		}
	}
}

// tellFirst makes the finding of the first of some rows that failed, with what its examination says.
func (c *checker) tellFirst(rows ...string) {
	for k, id := range identities {
		if e := c.report.Examinations[k]; !e.OK && slices.Contains(rows, id.name) {
			method := id.claims
			if id.kind == NotLegendre {
				method = value
			}
			f := c.accuse(id.kind, method, "", "%s: %s", strings.Replace(id.words, "%s", c.named[id.claims], 1), e.Where)
			if id.name == isSteep && c.narrow {
				f.Method, f.Words = c.named[domain], f.Words+"; the methods agree beyond: is the domain wider?"
			}
			return
		}
	}
}

// accuse makes a finding without numbers.
func (c *checker) accuse(k Kind, method role, where, format string, args ...any) *Finding {
	c.find(Finding{Kind: k, Method: c.named[method], Where: where, Words: fmt.Sprintf(format, args...), Measured: math.NaN()})
	return &c.report.Findings[len(c.report.Findings)-1]
}

// few tells of a number of digits.
func few(digits float64) string {
	return fmt.Sprintf("%.0f digits only: does an iteration end early, or is there a float32?", math.Floor(digits))
}

// fails reports whether one of the rows failed, and has whether there is a finding of a kind.
func (c *checker) fails(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.failed[name] })
}

func (c *checker) has(k Kind) bool {
	return slices.ContainsFunc(c.report.Findings, func(f Finding) bool { return f.Kind == k })
}

// blame names the method at fault: at most points, the one that all identities are about which fail there, and
// none which hold. Where there is none, two methods are wrong, or the identities differ in how little they see.
func (c *checker) blame() {
	votes, torn := map[role]int{}, 0
	core := c.fails(isGradient, isInverse, hasInverse, isDirect)
	for _, s := range c.states {
		if !core { // what these are about is right at all points
			s.holds |= value | gradient | inverse
		}
		if guilty := s.common &^ s.holds; s.fails && bits.OnesCount(uint(guilty)) == 1 {
			votes[guilty]++
		} else if s.fails && s.common == 0 {
			torn++
		}
	}
	var method role
	for r := value; r <= shift; r <<= 1 {
		if votes[r] > votes[method] {
			method = r
		}
	}
	for _, id := range identities {
		if !c.failed[id.name] || id.read == nil || id.claims == 0 {
			continue
		}
		if torn > 4*votes[method] { // two methods are wrong, and compared with φ
			if id.with == value {
				c.tell(id, id.claims)
			}
		} else if method == 0 && id.claims != gradient || id.methods&method != 0 {
			c.tell(id, cmp.Or(method, id.claims))
			return
		}
	}
}

// tell makes the finding of how what a method claims differs from what follows from the others, with
// curves.
func (c *checker) tell(id identity, method role) {
	all := slices.Clone(c.readings[id.name])
	name, claimed, measured := c.named[method], c.named[id.claims], id.of
	if id.with != 0 {
		measured = fmt.Sprintf(id.of, c.named[id.with])
	}
	if c.named[value] == c.named[gradient] && method <= inverse {
		return // these are one function and its derivatives
	}
	if c.named[gradient] == "Gradient" {
		measured = strings.Replace(measured, "derivative", "gradient", 1)
	}
	turned := method == value && id.claims == gradient
	if turned {
		claimed, measured = strings.Replace(measured, "the", "The", 1), claimed
		for i, r := range all {
			all[i].got, all[i].want = r.want, r.got
		}
	}
	wrong := slices.DeleteFunc(slices.Clone(all), func(r reading) bool { return !r.wrong() })
	first := wrong[0]
	f := c.accuse(Disagrees, method, c.where(id, first), "%s is not %s", claimed, measured)
	f.Measured, f.Claimed, f.ClaimedName, f.MeasuredName = first.want, first.got, claimed, measured
	switch {
	case method != id.claims && !turned:
		f.Words = name + " is at odds with the others: " + id.name
	case turned && !slices.ContainsFunc(wrong, func(r reading) bool { return !r.is(r.other) }):
		f.Words = fmt.Sprintf("%s is φ*, and not φ: its derivative is %s", name, c.named[inverse])
		if c.failed[isSteep] { // as no right ∇φ is
			f.Method, f.Words = c.named[gradient], fmt.Sprintf("%s and %s are interchanged", c.named[gradient], c.named[inverse])
		}
	case id.name != hasInverse:
		f.Words = relation(all, wrong, claimed, measured, map[role]string{
			gradient: "returns the same as " + c.named[inverse], inverse: "returns the same as " + c.named[gradient],
			divergence: "has its arguments interchanged: it is D(y; x)",
		}[method])
	}
	if f.Axis, _, _ = strings.Cut(f.Where, " "); id.claims > inverse {
		return
	}
	const points = 40 // on each side
	p, x, i := first.p, first.from, first.i-first.p.i
	reach := p.reach(x, unit(len(x), i))
	for k := -points; k <= points; k++ {
		for _, s := range id.read(p, replaced(x, i, x[i]+0.98*reach*float64(k)/points), x) {
			if turned {
				s.got, s.want = s.want, s.got
			}
			if v := s.at + s.want + s.got; s.i == first.i && v-v == 0 {
				f.MeasuredCurve = append(f.MeasuredCurve, Point{s.at, s.want})
				f.ClaimedCurve = append(f.ClaimedCurve, Point{s.at, s.got})
			}
		}
	}
}

// where names the point of a reading: the argument of a kernel, with its coordinate if kernels differ, or the vector.
func (c *checker) where(id identity, r reading) string {
	axis := "y"
	if id.claims == gradient || id.claims == divergence {
		axis = "x"
	}
	switch {
	case r.p.kernel == nil && axis == "x":
		return fmt.Sprintf("x = %s, entry %d", vector(r.x), r.i)
	case r.p.kernel == nil || r.p.each:
		return fmt.Sprintf("%s[%d] = %s", axis, r.i, digits(r.at))
	}
	return fmt.Sprintf("%s = %s", axis, digits(r.at))
}

// at names a point, or the coordinate of a kernel.
func (p place) String() string {
	if p.p.kernel == nil {
		return "x = " + vector(p.x).String()
	}
	if p.p.each {
		return fmt.Sprintf("x[%d] = %s", p.p.i, digits(p.x[0]))
	}
	return "x = " + digits(p.x[0])
}

// relation says what the claimed numbers are of the measured ones: not the same digits, another method's
// (swapped), a reciprocal, a factor, which may be a sign, or an offset.
func relation(all, wrong []reading, claimed, measured, swapped string) string {
	worst, sure, exact := 0.0, wrong[0], wrong[0]
	for _, r := range wrong {
		worst = max(worst, math.Abs((r.got-r.want)/r.want))
		if r.limit/math.Abs(r.want) < sure.limit/math.Abs(sure.want) {
			sure = r
		}
		if r.limit < exact.limit {
			exact = r
		}
	}
	ratio, offset := sure.got/sure.want, exact.got-exact.want
	fits := func(f func(r reading) float64) bool {
		known := 0
		for _, r := range all {
			if v := f(r); r.is(v) {
				known++
			} else if v-v == 0 {
				return false
			}
		}
		return known > 2
	}
	switch {
	case !slices.ContainsFunc(wrong, func(r reading) bool { return !math.IsNaN(r.got) }):
		return claimed + " is NaN"
	case worst < 1e-4:
		return fmt.Sprintf("%s is %s to %s", claimed, measured, few(-math.Log10(worst)))
	case fits(func(r reading) float64 { return r.other }):
		return claimed + " " + swapped
	case fits(func(r reading) float64 { return ratio * r.want }):
		return fmt.Sprintf("%s is %s times %s", claimed, digits(ratio), measured)
	case fits(func(r reading) float64 { return r.want + offset }):
		return fmt.Sprintf("%s is %s plus %s", claimed, measured, digits(offset))
	case fits(func(r reading) float64 { return 1 / r.want }):
		return claimed + " is 1 over " + measured
	case fits(func(r reading) float64 { return 1 / r.other }):
		return claimed + " is 1 over the method, and not its inverse"
	}
	return claimed + " is not " + measured
}

// findDomain is for a point of the domain at which φ or ∇φ is not a number: it goes there from a point at which
// both are. Where the domain is too wide ∇φ grows without bound on the way, or both end at once.
func (c *checker) findDomain() {
	p, x := c.bad.p, c.bad.x
	v, g := p.Value(x), p.gradient(x)
	f := c.accuse(Disagrees, domain, c.bad.String(), "φ = %s", digits(v))
	switch {
	case v-v == 0:
		f.Method, f.Words = c.named[gradient], fmt.Sprintf("%s is %s", c.named[gradient], vector(g))
	case firstNonFinite(g) < 0:
		f.Method = c.named[value]
	}
	good := func(x []float64) bool { v := p.Value(x); return v-v == 0 && firstNonFinite(p.gradient(x)) < 0 }
	k := slices.IndexFunc(p.points, good)
	if near, far := beside(x); good(near) && good(far) {
		if f.Words += " at a single point"; f.Method == c.named[domain] {
			f.Method = c.named[value]
		}
	} else if f.Words += " inside of the domain"; k >= 0 && v-v != 0 {
		from := p.points[k]
		e := combine(1, x, -1, from)
		end := halve(0, 1, func(t float64) bool { return good(combine(1, from, t, e)) })
		slope := func(gap float64) float64 { return sum.Dot(p.gradient(combine(1, from, end*(1-gap), e)), e) }
		steep := math.Abs(slope(1e-12)-slope(1e-8)) > 0.1*math.Abs(slope(1e-8)-slope(1e-4))
		if f.Method == c.named[domain] || steep {
			f.Method = c.named[domain]
			f.Words += ", which ends at " + place{p, combine(1, from, end, e)}.String()
		}
	}
}

// beside returns two points next to another.
func beside(x []float64) (a, b []float64) {
	a = combine(1+1e-6, x, 1e-6, slices.Repeat([]float64{1}, len(x)))
	return a, combine(2, x, -1, a)
}
