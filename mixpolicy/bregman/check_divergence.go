package bregman

import (
	"fmt"
	"math"
)

func (c *checker) divergence(f *Finding) {
	for range 100 {
		x, y := c.point(), c.point()
		g := c.gradient(y)
		e := combine(1, x, -1, y)
		want := c.m.Value(x) - c.m.Value(y) - inner(e, g)
		got := Divergence(c.m, x, y)
		limit := slack * (ulp*(c.size(x)+c.size(y)) + condition(c.gradient, y, g)*norm2(e))
		f.worse(math.Abs(got-want), limit, func() string {
			return fmt.Sprintf("x = %s, y = %s: D = "+fmt.Sprintf("%.9g", got)+", by definition %s", vector(x), vector(y), number(want))
		})
	}
}

func (c *checker) positive(f *Finding) {
	for range 100 {
		y := c.point()
		zero := Divergence(c.m, y, y)
		f.worse(math.Abs(zero), slack*ulp*c.size(y), func() string { return fmt.Sprintf("D(y; y) = %s for y = %s", number(zero), vector(y)) })
		x := c.point()
		v := Divergence(c.m, x, y)
		g := c.gradient(y)
		noise := slack * ulp * (c.size(x) + c.size(y) + norm2(g)*norm2(combine(1, x, -1, y)))
		f.worse(-v, noise, func() string { return fmt.Sprintf("D(x; y) = %s for x = %s, y = %s", number(v), vector(x), vector(y)) })
		if near := norm2(combine(1, x, -1, y)); near > 1e-2*norm2(y) && v == 0 {
			f.worse(1, 0.5, func() string { return fmt.Sprintf("D(x; y) = %s for x = %s, y = %s", number(v), vector(x), vector(y)) })
		}
	}
}

func (c *checker) threePoints(f *Finding) {
	for range 100 {
		a, b, y := c.point(), c.point(), c.point()
		gb, gy := c.gradient(b), c.gradient(y)
		e := combine(1, a, -1, b)
		left := inner(combine(1, gb, -1, gy), e)
		right := Divergence(c.m, a, y) - Divergence(c.m, a, b) - Divergence(c.m, b, y)
		limit := slack * ulp * (c.size(a) + c.size(b) + c.size(y) + (norm2(gb)+norm2(gy))*(norm2(a)+norm2(b)+norm2(y)))
		f.worse(math.Abs(left-right), limit, func() string {
			return fmt.Sprintf("a = %s, b = %s, c = %s: ⟨∇φ(b) − ∇φ(c), a − b⟩ = %s", vector(a), vector(b), vector(y), number(left))
		})
	}
}

func (c *checker) pythagoras(f *Finding) {
	if !c.meets(f) {
		return
	}
	trials := 50
	if c.slow {
		trials = 5
	}
	for range trials {
		x, theta, p := c.point(), c.point(), c.new()
		if Project(c.m, theta, theta) != nil || Project(c.m, p, x) != nil || !c.m.InDomain(theta) || !c.m.InDomain(p) {
			continue // projected onto the boundary, to within rounding
		}
		whole, first, second := Divergence(c.m, theta, x), Divergence(c.m, p, x), Divergence(c.m, theta, p)
		gx, gp := c.gradient(x), c.gradient(p)
		limit := slack * (ulp*(c.size(x)+c.size(theta)+c.size(p)+(norm2(gx)+norm2(gp))*(norm2(x)+norm2(theta)+norm2(p))) + condition(c.gradient, p, gp)*norm2(combine(1, theta, -1, p)))
		f.worse(math.Abs(whole-first-second), limit, func() string {
			return fmt.Sprintf("x = %s, θ = %s, projection %s", vector(x), vector(theta), vector(p))
		})
	}
	if f.Limit == 0 {
		f.Note = "no two points that project into the domain"
	}
}

// strongConvexity looks for the least D(x; y)/(½‖x−y‖²) over pairs on the hyperplane, far apart
// and close together, of those whose D exceeds the rounding of its terms a billion times, and so
// is known to six digits, if that rounding adds up to slack ulps.
func (c *checker) strongConvexity(f *Finding) {
	mu, norm, ok := StrongConvexity(c.m)
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
		n, div := norm.Of(e), Divergence(c.m, x, y)
		if rounding := known * ulp * (c.size(x) + c.size(y) + norm2(c.gradient(y))*norm2(e)); div < rounding && mu/2*n*n < rounding {
			continue
		}
		if q := div / (n * n / 2); q < least {
			least, at = q, [2][]float64{x, y}
		}
	}
	f.Note = fmt.Sprintf("claimed %.4g in %v, least seen %.4g;", mu, norm, least)
	if at[0] != nil {
		f.worse(mu, least*(1+slack/known), func() string { return fmt.Sprintf("x = %s, y = %s", vector(at[0]), vector(at[1])) })
	}
}
