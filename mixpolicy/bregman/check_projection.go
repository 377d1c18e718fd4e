package bregman

import (
	"fmt"
	"math"
	"strings"
)

func (c *checker) meets(f *Finding) bool {
	if _, err := Shift(c.m, c.gradient(c.point()), nil); err != nil {
		f.Note = strings.TrimPrefix(err.Error(), "bregman: ")
		return false
	}
	return true
}

func (c *checker) projection(f *Finding) {
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
			f.worse(1, 0.5, func() string { return fmt.Sprintf(err.Error()+" at y = %s", vector(before)) })
			continue
		}
		theta := c.conjugateGradient(y)
		residual := JDeriv(c.m, y, 0)
		limit := slack * (condition(c.conjugateGradient, y, theta)*math.Sqrt(float64(c.d)) + ulp*Norm(1).Of(theta))
		f.worse(math.Abs(residual), limit, func() string { return fmt.Sprintf("y = %s: θ = %s", vector(before), vector(theta)) })
	}
	c.slow = all > 16*trials
	f.Note = fmt.Sprintf("at most %d evaluations of J′", most)
}

// curvature compares J″ with difference quotients of J′ for shorter and shorter steps, at the one
// where rounding and what the quotients still differ by are least.
func (c *checker) curvature(f *Finding) {
	for range 50 {
		y := c.gradient(c.point())
		claim := JSecond(c.m, y, 0)
		if math.IsNaN(claim) {
			f.Note = "J″ is not given"
			return
		}
		theta := c.conjugateGradient(y)
		noise := 8 * ulp * (1 + Norm(1).Of(theta) + math.Abs(claim)*maxAbs(y))
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
			f.worse(math.Abs(claim-best), 10*uncertain, func() string {
				return fmt.Sprintf("y = %s: J″ = %s, the slope is "+fmt.Sprintf("%.9g", best), vector(y), number(claim))
			})
		}
	}
	if f.Limit == 0 {
		f.Note = "J′ is nowhere smooth enough to tell"
	}
}

func (c *checker) closedForm(f *Finding) {
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
			f.worse(1, 0.5, func() string {
				return fmt.Sprintf(fmt.Sprintf("closed form: %v; Newton: %v; ", err, err2)+"y = %s", vector(y))
			})
			continue
		}
		theta := func(z float64) []float64 {
			u := c.new()
			for i, v := range y {
				u[i] = v + z
			}
			return c.conjugateGradient(u)
		}
		a, b := theta(z), theta(w)
		up := c.new()
		for i, v := range y {
			up[i] = v + z*(1+4*ulp)
		}
		limit := 1e-12*norm2(a) + slack*norm2(combine(1, c.conjugateGradient(up), -1, a))
		f.worse(norm2(combine(1, a, -1, b)), limit, func() string {
			return fmt.Sprintf("y = %s: z = %s in closed form and "+fmt.Sprintf("%.9g", w)+" by Newton", vector(y), number(z))
		})
	}
}
