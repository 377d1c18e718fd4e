package bregman

import (
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

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

// replaced is x with v for its i-th entry.
func replaced(x []float64, i int, v float64) []float64 {
	z := slices.Clone(x)
	z[i] = v
	return z
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

// minAbs is minᵢ |yᵢ|.
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
	c.tell(method, method, what, all, axis, slips, nil)
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
