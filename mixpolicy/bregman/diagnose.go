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
	case c.fails(areNumbers, isGradient, isIntegral, isIncreasing, isInverse, hasInverse):
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

// fails reports whether one of the examinations failed.
func (c *checker) fails(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.failed[name] })
}

// diagnoseMethods asks which of φ, ∇φ and ∇φ* neither of the others agrees with.
func (c *checker) diagnoseMethods() {
	all := c.samples()
	var slopes, inverses, fromValue []reading // of ∇φ by φ, of ∇φ* by ∇φ, and of ∇φ* by φ
	wrong, back, from := 0, 0, 0              // entries where ∇φ is not that of φ, and where ∇φ* suits ∇φ or φ
	swapped := true
	for _, s := range all {
		for i, x := range s.x {
			slope := reading{x, i, s.x, s.grad[i], s.slope[i], s.off[i]}
			inverse := reading{s.grad[i], i, s.x, s.back[i], x, s.near}
			direct := reading{s.slope[i], i, s.x, s.from[i], x, gap(x)}
			if slope.usable() {
				slopes, fromValue = append(slopes, slope), append(fromValue, direct)
			}
			inverses = append(inverses, inverse)
			if slope.usable() && slope.wrong() {
				wrong++
				if inverse.is(x) {
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
	case c.fails(areNumbers, isInverse, hasInverse):
		c.diagnoseInverse(inverses)
	}
}

// isSwapped reports whether ∇φ and ∇φ* would be right in each other's place.
func (c *checker) isSwapped(s sample) bool {
	grad, conj := c.conjugateGradient(s.x), c.gradient(s.slope)
	for i := range s.x {
		r := reading{claimed: grad[i], measured: s.slope[i], off: s.off[i]}
		if r.usable() && (r.wrong() || !near(conj[i], s.x[i])) {
			return false
		}
	}
	return true
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
			if c.kink(x, i) {
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

// diagnoseOthers is for a modulus whose φ, ∇φ and ∇φ* agree: its boundary, large numbers, and the methods
// that it need not have.
func (c *checker) diagnoseOthers() {
	_, conjugator := c.m.(Conjugator)
	_, divergencer := c.m.(Divergencer)
	_, shifter := c.m.(Shifter)
	if c.separable { // which has both in any case
		_, conjugator = c.sep.at(0).(kernelConjugator)
		_, divergencer = c.sep.at(0).(kernelDivergencer)
	}
	for _, d := range []struct {
		wrong    bool
		diagnose func(*checker)
	}{
		{c.failed[isSteep], (*checker).diagnoseBoundary},
		{c.failed[isInfinite], (*checker).diagnoseOutside},
		{c.failed[isBounded], (*checker).diagnoseOverflow},
		{conjugator && c.failed[isConjugate], (*checker).diagnoseConjugate},
		{divergencer && c.fails(isDivergence, isPositive), (*checker).diagnoseDivergence},
		{shifter && c.fails(isClosedForm, isProjection), (*checker).diagnoseShift},
		{c.failed[isCurvature], (*checker).diagnoseCurvature},
		{c.failed[isConstant], (*checker).diagnoseConstant},
	} {
		if d.wrong {
			d.diagnose(c)
		}
	}
}

func (c *checker) diagnoseConjugate() {
	c.compare("Conjugate", "φ*", "y", nil, func() reading {
		x := c.point()
		y := c.gradient(x)
		want := sum.Dot(x, y) - c.m.Value(x)
		return reading{y[0], 0, y, Conjugate(c.m, y), want, 0}
	})
}

func (c *checker) diagnoseDivergence() {
	definition := func(x, y []float64) float64 {
		return c.m.Value(x) - c.m.Value(y) - sum.Dot(combine(1, x, -1, y), c.gradient(y))
	}
	interchanged := true
	f := c.compare("Divergence", "D(x; y)", "x", nil, func() reading {
		x, y := c.point(), c.point()
		v := Divergence(c.m, x, y)
		interchanged = interchanged && near(v, definition(y, x))
		return reading{x[0], 0, x, v, definition(x, y), c.rounding(terms{[][]float64{x, y}, [][]float64{c.gradient(y)}, [][]float64{x, y}})}
	})
	if interchanged {
		f.Words = "Divergence has its arguments interchanged: it is D(y; x)"
	}
}

func (c *checker) diagnoseShift() {
	orNaN := func(z float64, err error) float64 {
		if err != nil {
			return math.NaN()
		}
		return z
	}
	c.compare("Shift", "the z of 1ᵀ∇φ*(y + z1) = 1", "y", nil, func() reading {
		y := c.gradient(c.point())
		w, _, err := NewtonShift(c.m, y, nil)
		w = orNaN(w, err)
		return reading{y[0], 0, y, orNaN(c.m.(Shifter).Shift(y)), w, 0}
	})
}

func (c *checker) diagnoseCurvature() {
	what := "(φ*)″"
	if !c.separable {
		what = "1ᵀ∇²φ*(y)1"
	}
	c.compare(c.named.curvature, what, "y", []slip{{"is φ″, and not 1 over it", func(r reading) float64 { return 1 / r.measured }}}, func() reading {
		y := c.gradient(c.point())
		if !c.separable {
			v, off := derivative(func(z float64) float64 { return JDeriv(c.m, y, z) }, minAbs(y)/2, 4*ulp*(1+norm2(c.conjugateGradient(y))))
			return reading{y[0], 0, y, JSecond(c.m, y, 0), v, off}
		}
		i := c.rng.IntN(c.d)
		k := c.sep.at(i)
		v, off := derivative(func(z float64) float64 { return k.ConjDeriv(y[i] + z) }, math.Abs(y[i])/2, ulp*math.Abs(k.ConjDeriv(y[i])))
		return reading{y[i], i, y, kernelCurvature(k, y[i]), v, off}
	})
}

func (c *checker) diagnoseConstant() {
	mu, p, _ := StrongConvexity(c.m)
	c.find(Finding{
		Kind: Disagrees, Method: c.named.strong, Measured: c.least, Claimed: mu, Where: c.leastAt,
		Words: fmt.Sprintf("%s claims more than the strong convexity that φ has in ℓ%.4g", c.named.strong, p),
	})
}

// minAbs is minᵢ |yᵢ|.
func minAbs(y []float64) float64 {
	v := math.Inf(1)
	for _, x := range y {
		v = min(v, math.Abs(x))
	}
	return v
}

// compare reads a method at a hundred points, and tells how it differs from what follows.
func (c *checker) compare(method, what, axis string, slips []slip, read func() reading) *Finding {
	var all []reading
	for range 100 {
		if r := read(); r.usable() || math.IsNaN(r.claimed) {
			all = append(all, r)
		}
	}
	return c.tell(method, method, what, all, axis, slips, nil)
}
