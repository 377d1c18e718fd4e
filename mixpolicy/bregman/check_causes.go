package bregman

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// diagnose finds the causes of the failures, and omits their consequences. If there already is a finding that a method
// disagrees or is unsafe, diagnose adds none. It reports a failure at the boundary or for large numbers only if φ, ∇φ
// and ∇φ* agree, and a wrong constant of strong convexity only if there is no other finding.
func (c *checker) diagnose() {
	core := c.fails(areNumbers, isGradient, isInverse, hasInverse, isDirect)
	switch {
	case c.has(Disagrees) || c.has(Unsafe):
	case core && !c.fails(isInverse, isDirect):
		// ∇φ* is right at every ∇φ(x). So if ∇φ* fails at a y, this y is in a gap of the range of ∇φ.
		c.tellFirst(hasInverse, isGradient)
	case c.failed[isIncreasing] && !c.failed[isGradient]:
		c.tellFirst(isIncreasing)
	case core || !c.fails(isSteep, isInfinite, isBounded):
		c.blame()
	default:
		c.tellFirst(isSteep, isInfinite, isBounded)
	}
	if len(c.report.Findings) == 0 {
		c.tellFirst(isConstant)
	}
	all := c.report.Examinations
	if k := slices.IndexFunc(all, func(e Examination) bool { return !e.OK }); k >= 0 && len(c.report.Findings) == 0 { // no cause yet
		c.accuse(Disagrees, 0, all[k].Where, "fails: %s", all[k].Name)
	}
}

// tellFirst makes a finding of the first failed row, in the order of the report, among the given rows. The finding has
// the words of the row, and says where the row failed.
func (c *checker) tellFirst(rows ...string) {
	for k, id := range identities {
		if e := c.report.Examinations[k]; !e.OK && slices.Contains(rows, id.name) {
			f := c.accuse(id.kind, id.claims, "", "%s: %s", strings.Replace(id.words, "%s", c.named[id.claims], 1), e.Where)
			if id.kind == NotLegendre {
				f.Method = c.named[value]
			}
			if id.name == isSteep && c.narrow {
				f.Method, f.Words = c.named[domain], f.Words+"; the methods also agree outside the domain: is the domain wider?"
			}
			return
		}
	}
}

// accuse makes a finding without numbers.
func (c *checker) accuse(k Kind, method role, where, format string, args ...any) *Finding {
	f := Finding{Kind: k, Method: c.named[method], Where: where, Words: fmt.Sprintf(format, args...), Measured: math.NaN()}
	c.report.Findings = append(c.report.Findings, f)
	return &c.report.Findings[len(c.report.Findings)-1]
}

// few says how many digits are right, given a relative error.
func few(off float64) string {
	return fmt.Sprintf("%.0f digits only: does an iteration stop too early, or is a variable a float32?", math.Floor(-math.Log10(off)))
}

// fails reports whether any of the rows failed.
func (c *checker) fails(rows ...string) bool {
	return slices.ContainsFunc(rows, func(row string) bool { return c.failed[row] })
}

// has reports whether there is a finding of a kind.
func (c *checker) has(k Kind) bool {
	return slices.ContainsFunc(c.report.Findings, func(f Finding) bool { return f.Kind == k })
}

// blame finds the method at fault: the method that all failing identities name. If the failing identities share several
// methods, blame discards those that also appear in an identity that holds. If exactly one method remains, this method
// is at fault; otherwise, blame reports the first failing identity in which a method other than ∇φ makes the claim.
// If the failing identities share no method, blame reports every method that disagrees with φ. The search
// for the method ignores hasInverse, and isProjection if m has no Shift.
func (c *checker) blame() {
	common, holds := ^role(0), role(0)
	for _, id := range identities {
		switch {
		case id.read == nil || id.name == hasInverse || id.name == isProjection && c.whole.own&shift == 0:
		case c.failed[id.name]:
			common &= id.methods
		case len(c.readings[id.name]) > 0:
			holds |= id.methods
		}
	}
	method := common
	if bits.OnesCount(uint(common)) != 1 {
		method &^= holds
	}
	if bits.OnesCount(uint(method)) != 1 {
		method = 0
	}
	for _, id := range identities {
		switch {
		case !c.failed[id.name] || id.read == nil || id.claims == 0:
		case common == 0 && id.with == value:
			c.tell(id, id.claims)
		case common != 0 && (method == 0 && id.claims != gradient || id.methods&method != 0):
			c.tell(id, cmp.Or(method, id.claims))
			return
		}
	}
}

// tell makes a finding: how the numbers that a method claims differ from the numbers that follow
// from the other methods, in words and as curves.
func (c *checker) tell(id identity, method role) {
	if c.named[value] == c.named[gradient] && method <= inverse {
		return // the methods are one function and its automatic derivatives
	}
	claimed, measured := c.named[id.claims], strings.Replace(id.of, "%s", c.named[id.with], 1)
	wrong := slices.DeleteFunc(slices.Clone(c.readings[id.name]), func(r reading) bool { return !r.wrong() })
	first := wrong[0]
	f := c.accuse(Disagrees, method, first.where(id), "%s", relation(c.readings[id.name], wrong, claimed, measured, map[role]string{
		gradient: "returns the same as " + c.named[inverse], inverse: "returns the same as " + c.named[gradient],
		divergence: "has its arguments interchanged: it is D(y; x)",
	}[method]))
	f.Measured, f.Claimed, f.ClaimedName, f.MeasuredName = first.want, first.got, claimed, measured
	if method == value && c.failed[isSteep] { // a correct ∇φ would be steep at the boundary
		f.Method, f.Words = c.named[gradient], fmt.Sprintf("%s and %s are interchanged", c.named[gradient], c.named[inverse])
	} else if method != id.claims {
		f.Words = c.named[method] + " is at fault: " + f.Words
	}
	if f.Axis = f.Where[:1]; id.claims > inverse {
		return
	}
	const points = 40 // of a curve, on each side of x
	p, x, i := first.p, first.from, first.i-first.p.i
	reach := p.reach(x, unit(len(x), i))
	for k := -points; k <= points; k++ {
		for _, s := range id.read(p, replaced(x, i, x[i]+0.98*reach*float64(k)/points), x) {
			if v := s.at + s.want + s.got; s.i == first.i && v-v == 0 {
				f.MeasuredCurve = append(f.MeasuredCurve, Point{s.at, s.want})
				f.ClaimedCurve = append(f.ClaimedCurve, Point{s.at, s.got})
			}
		}
	}
}

// where names the point of a reading.
func (r reading) where(id identity) string {
	return r.p.at(map[bool]string{true: "x", false: "y"}[id.claims == gradient || id.claims == divergence], r.x, r.i)
}

// at names a point of a part. If the kernels differ, the name includes the kernel's coordinate. If the part is the
// whole modulus, the name includes the entry i, unless i is −1.
func (p *part) at(axis string, x []float64, i int) string {
	if p.each {
		return fmt.Sprintf("%s[%d] = %s", axis, p.i, vector(x))
	} else if p.kernel == nil && i >= 0 {
		return fmt.Sprintf("%s = %s, entry %d", axis, vector(x), i)
	}
	return fmt.Sprintf("%s = %s", axis, vector(x))
}

// relation says how the claimed numbers relate to the measured ones: fewer digits, another method's
// numbers (swapped), a factor (perhaps −1), an offset, or a reciprocal.
func relation(all, wrong []reading, claimed, measured, swapped string) string {
	sure := slices.MinFunc(wrong, func(a, b reading) int { return cmp.Compare(a.limit/math.Abs(a.want), b.limit/math.Abs(b.want)) })
	exact := slices.MinFunc(wrong, func(a, b reading) int { return cmp.Compare(a.limit, b.limit) })
	ratio, offset, worst := sure.got/sure.want, exact.got-exact.want, 0.0
	for _, r := range wrong {
		worst = max(worst, math.Abs((r.got-r.want)/r.want))
	}
	if math.IsNaN(sure.got) {
		return claimed + " is not a number"
	} else if worst < 1e-4 {
		return fmt.Sprintf("%s is %s to %s", claimed, measured, few(worst))
	}
	for _, k := range []struct {
		words string
		want  func(r reading) float64
	}{
		{swapped, func(r reading) float64 { return r.other }},
		{fmt.Sprintf("is %s times %s", digits(ratio), measured), func(r reading) float64 { return ratio * r.want }},
		{fmt.Sprintf("is %s plus %s", measured, digits(offset)), func(r reading) float64 { return r.want + offset }},
		{"is 1 over " + measured, func(r reading) float64 { return 1 / r.want }},
		{"is the reciprocal of the method that it should invert", func(r reading) float64 { return 1 / r.other }},
	} {
		known, other := 0, 0
		for _, r := range all {
			if v := k.want(r); r.is(v) {
				known++
			} else if v-v == 0 {
				other++
			}
		}
		if known > 2 && other == 0 && k.words != "" {
			return claimed + " " + k.words
		}
	}
	return claimed + " is not " + measured
}

// findDomain makes the finding for a point x of the domain at which φ or ∇φ is not a finite number. If φ(x) is finite,
// ∇φ is wrong. Otherwise, φ is wrong if ∇φ*(∇φ(x)) equals x to six digits, and the domain is wrong if not.
func (c *checker) findDomain(p *part, x []float64) {
	v, g, method := p.Value(x), p.gradient(x), domain
	if v-v == 0 {
		c.accuse(Disagrees, gradient, p.at("x", x, -1), "%s is %s inside the domain", c.named[gradient], vector(g))
		return
	} else if norm2(combine(1, p.inverse(g), -1, x)) <= 1e-6*norm2(x) {
		method = value
	}
	c.accuse(Disagrees, method, p.at("x", x, -1), "φ = %s inside the domain", digits(v))
}
