package bregman

import (
	"fmt"
	"math"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

func (c *checker) meets(f *Examination) bool {
	if _, err := Shift(c.m, c.gradient(c.point()), nil); err != nil {
		f.Note = strings.TrimPrefix(err.Error(), "bregman: ")
		return false
	}
	return true
}

func (c *checker) projection(f *Examination) {
	if !c.meets(f) {
		return
	}
	// A healthy modulus needs some eight evaluations a time. One that needs more than twice that
	// is examined less often, so that Check ends soon whatever it is given.
	const trials = 100
	most, all := 0, 0
	for range trials {
		if all > 16*trials {
			break
		}
		y := c.gradient(c.point())
		step := c.normal(1)
		for i := range y {
			y[i] += step[i] * math.Abs(y[i])
		}
		_, n, err := NewtonShift(c.m, y, nil)
		if all += n; err == nil {
			most = max(most, n)
		}
		before := append([]float64(nil), y...)
		if _, err := ProjectDual(c.m, y, nil); err != nil {
			// A step may leave the domain of φ*, which no shift repairs.
			if strings.Contains(err.Error(), "leaves the domain") {
				continue
			}
			f.worse(1, 0.5, "%v at y = %s", err, vector(before))
			continue
		}
		theta := c.conjugateGradient(y)
		residual := JDeriv(c.m, y, 0)
		limit := slack * condition(c.conjugateGradient, y, theta) * math.Sqrt(float64(c.d))
		f.worse(math.Abs(residual), limit, "y = %s: θ = %s", vector(before), vector(theta))
	}
	f.Note = fmt.Sprintf("at most %d evaluations of J′", most)
}

// curvature compares J″ with difference quotients of J′ for shorter and shorter steps, at the one
// where rounding and what the quotients still differ by are least.
func (c *checker) curvature(f *Examination) {
	for range 50 {
		y := c.gradient(c.point())
		claim := JSecond(c.m, y, 0)
		if math.IsNaN(claim) {
			f.Note = "J″ is not given"
			return
		}
		theta := c.conjugateGradient(y)
		noise := 8 * ulp * (1 + normP(1, theta) + math.Abs(claim)*maxAbs(y))
		best, uncertain := math.NaN(), math.Inf(1)
		previous := math.NaN()
		longest := math.Inf(1) // within which no yᵢ changes its sign, where φ* may have a kink
		for _, v := range y {
			longest = min(longest, math.Abs(v)/2)
		}
		for h := longest; h > 1e-8*maxAbs(y); h /= 4 {
			quotient := (JDeriv(c.m, y, h) - JDeriv(c.m, y, -h)) / (2 * h)
			if u := math.Abs(quotient-previous) + noise/h; u < uncertain {
				best, uncertain = quotient, u
			}
			previous = quotient
		}
		if best > 0 && uncertain < 1e-4*best { // else J′ is too flat or too steep to tell
			f.worse(math.Abs(claim-best), 10*uncertain, "y = %s: J″ = %.6g, the slope is %.9g", vector(y), claim, best)
		}
	}
	if f.Limit == 0 {
		f.Note = "J′ is nowhere smooth enough to tell"
	}
}

func (c *checker) closedForm(f *Examination) {
	s, ok := c.m.(Shifter)
	if !ok {
		f.Note = "no closed form"
		return
	}
	if !c.meets(f) {
		return
	}
	for range 100 {
		y := c.gradient(c.point())
		z, err := s.Shift(y)
		w, _, err2 := NewtonShift(c.m, y, nil)
		if err != nil || err2 != nil {
			f.worse(1, 0.5, "closed form: %v; Newton: %v; y = %s", err, err2, vector(y))
			continue
		}
		theta := func(z []float64) []float64 { return c.conjugateGradient(shifted(y, z[0])) }
		at := []float64{z}
		a, b := theta(at), theta([]float64{w})
		f.worse(norm2(combine(1, a, -1, b)), slack*condition(theta, at, a), "y = %s: z = %.6g in closed form and %.9g by Newton", vector(y), z, w)
	}
}

func (c *checker) divergence(f *Examination) {
	for range 100 {
		x, y := c.point(), c.point()
		g := c.gradient(y)
		e := combine(1, x, -1, y)
		want := c.m.Value(x) - c.m.Value(y) - sum.Dot(e, g)
		got := Divergence(c.m, x, y)
		f.worse(math.Abs(got-want), slack*c.rounding(terms{[][]float64{x, y}, [][]float64{g}, [][]float64{e}}), "x = %s, y = %s: D = %.9g, by definition %.6g", vector(x), vector(y), got, want)
	}
}

func (c *checker) positive(f *Examination) {
	for range 100 {
		y := c.point()
		zero := Divergence(c.m, y, y)
		f.worse(math.Abs(zero), slack*c.rounding(terms{values: [][]float64{y}}), "D(y; y) = %.6g for y = %s", zero, vector(y))
		x := c.point()
		v := Divergence(c.m, x, y)
		e := combine(1, x, -1, y)
		f.worse(-v, slack*c.rounding(terms{[][]float64{x, y}, [][]float64{c.gradient(y)}, [][]float64{e}}), "D(x; y) = %.6g for x = %s, y = %s", v, vector(x), vector(y))
		if v == 0 && norm2(e) > 1e-2*norm2(y) {
			f.worse(1, 0.5, "D(x; y) = 0 for x = %s, y = %s", vector(x), vector(y))
		}
	}
}

// strongConvexity looks for the least D(x; y)/(½‖x−y‖²) over pairs on the hyperplane, far apart
// and close together, of those whose D exceeds the rounding of its terms a billion times, and so
// is known to six digits, if that rounding adds up to slack ulps.
func (c *checker) strongConvexity(f *Examination) {
	mu, p, ok := StrongConvexity(c.m)
	if !ok {
		f.Note = "none claimed"
		return
	}
	if c.d == 1 || !c.meets(f) {
		return
	}
	const known = 1e9
	least := math.Inf(1)
	var at [2][]float64
	for trial := range 300 {
		x, y := c.point(), c.point()
		if Project(c.m, x, x) != nil || Project(c.m, y, y) != nil || !c.m.InDomain(x) || !c.m.InDomain(y) {
			continue
		}
		if trial%2 == 1 {
			x = combine(0.01, x, 0.99, y)
		}
		e := combine(1, x, -1, y)
		n, div := normP(p, e), Divergence(c.m, x, y)
		if rounding := known * c.rounding(terms{[][]float64{x, y}, [][]float64{c.gradient(y)}, [][]float64{e}}); div < rounding && mu/2*n*n < rounding {
			continue
		}
		if q := div / (n * n / 2); q < least {
			least, at = q, [2][]float64{x, y}
		}
	}
	f.Note = fmt.Sprintf("claimed %.4g in ℓ%.4g, least seen %.4g;", mu, p, least)
	if at[0] != nil {
		f.worse(mu, least*(1+slack/known), "x = %s, y = %s", vector(at[0]), vector(at[1]))
		c.least, c.leastAt = least, f.Where
	}
}
