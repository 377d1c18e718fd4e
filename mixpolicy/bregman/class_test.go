package bregman_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/num/hyperdual"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

// pointOf draws a point of a class in the domain, often at its end, or returns nil.
func pointOf(rng *rand.Rand, c Class, m Modulus, d int) []float64 {
	x, e := make([]float64, d), normal(rng, d, 1)
	floats.AddConst(-floats.Sum(e)/float64(d), e)
	for t := 8.; t > 1e-4; t *= 0.9 {
		for i := range x {
			x[i] = 1/float64(d) + t*e[i]
		}
		if floats.Norm(x, c.P) <= c.R && m.InDomain(x) && rng.IntN(3) > 0 {
			return x
		}
	}
	return nil
}

type constant struct {
	p, mu     float64
	certified bool
}

func must2(v float64, ok bool, err error) (float64, bool) { return must(v, err), ok }

// No pair of points contradicts a certified μ, and no two values of φ are farther apart than a certified range.
func TestClassBounds(t *testing.T) {
	rng := source(41)
	for _, d := range []int{2, 5} {
		for _, m := range everything(d) {
			for _, c := range []Class{{2, 1.4}, {inf, 1.2}, {1, 1.3}, {1, 1}} {
				size, sure := must2(c.Range(m, d))
				var constants []constant
				for _, p := range []float64{1, 2, inf} {
					mu, certified := must2(c.StrongConvexity(m, d, p))
					constants = append(constants, constant{p, mu, certified})
				}
				least, most := inf, -inf
				for range 30 {
					x, y := pointOf(rng, c, m, d), pointOf(rng, c, m, d)
					if x == nil || y == nil {
						continue
					}
					least, most = min(least, m.Value(x), m.Value(y)), max(most, m.Value(x), m.Value(y))
					for _, k := range constants {
						half := math.Pow(floats.Distance(x, y, k.p), 2) / 2
						if div := Divergence(m, x, y); k.certified && !(div >= k.mu*half*(1-1e-9)-1e-13) {
							t.Errorf("%v on %v: μ = %g in ℓ_%g, but D(%v; %v) = %g × ½‖x − y‖²", m, c, k.mu, k.p, x, y, div/half)
						}
					}
				}
				if sure && !(most-least <= size*(1+1e-12)) {
					t.Errorf("%v on %v: range %g, but φ goes from %g to %g", m, c, size, least, most)
				}
			}
		}
	}
}

// The constants that are known in closed form, and how near an estimate without a declaration comes to them.
func TestClassConstants(t *testing.T) {
	entropy := FromFunc("entropy", func(x Dual) Dual { return hyperdual.Sub(hyperdual.Mul(x, hyperdual.Log(x)), x) }, 0, inf)
	const d = 4
	for _, c := range []struct {
		m         Modulus
		on        Class
		p         float64
		mu, size  float64
		off       float64
		certified bool
	}{
		{NegativeEntropy(), Class{1, 1}, 1, 1, math.Log(d), 1e-9, true},        // Pinsker; log d
		{entropy, Class{1, 1}, 1, 1, math.Log(d), 0.02, false},                 // the same without a proof
		{Euclidean(), Class{2, 1.5}, 2, 1, (1.5*1.5 - 1./d) / 2, 1e-4, true},   // ½(R² − 1/d)
		{Euclidean(), Class{inf, 1}, inf, 4. / 3, (4 - 1./d) / 2, 0.5, true},   // Σe = 0; at most d corners
		{Euclidean(), Class{2, 1.5}, 1, 1. / d, (2.25 - 1./d) / 2, 1e-4, true}, // ‖e‖₁² ≤ d‖e‖₂²
		{Cube(2), Class{inf, 1}, 2, 1, 0, 1e-9, true},                          // φ″ = 2R/(R² − x²), at 0
		{Scale(Cube(2), 3), Class{inf, 1}, 2, 3, 0, 1e-9, true},
		{Ball{R: 2}, Class{2, 1.5}, 2, 0.5, math.Sqrt(4-1./d) - math.Sqrt(4-2.25), 1e-9, true},
		{halfSphere(2, d), Class{2, 1.5}, 2, 1 / math.Sqrt(4-1./d), math.Sqrt(4-1./d) - math.Sqrt(4-2.25), 0.05, false},
		{Burg(), Class{1, 1}, 1, 2, inf, 1e-9, true},
	} {
		mu, certified, err := c.on.StrongConvexity(c.m, d, c.p)
		if err != nil || math.Abs(mu-c.mu) > c.off*c.mu || certified != c.certified {
			t.Errorf("%v on %v: μ = %.10g in ℓ_%g, certified: %t, %v; want %g", c.m, c.on, mu, c.p, certified, err, c.mu)
		}
		if size, _, err := c.on.Range(c.m, d); err != nil || c.size > 0 && size != c.size && math.Abs(size-c.size) > c.off*c.size {
			t.Errorf("%v on %v: range %.10g, %v; want %g", c.m, c.on, size, err, c.size)
		}
	}
	for want, f := range map[string]func() error{
		"norm ℓ_3: want P = 1, 2 or ∞": func() error { _, _, err := Class{3, 1}.Range(Cube(2), 2); return err },
		"want p = 1, 2 or ∞":           func() error { _, _, err := Class{2, 1}.StrongConvexity(Cube(2), 2, 4); return err },
		"does not meet 1ᵀθ = 1":        func() error { _, _, err := Class{2, 0.1}.Range(Cube(2), 2); return err },
		"R = -1":                       func() error { _, _, err := Class{2, 1}.Range(Cube(-1), 2); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}
