package linprog

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// After every change of the active set its factors are those of the normals, and what is solved from
// them has its definition: x0 on the cuts and in the span of the normals, v = Σ u1ₖ aₖ − b orthogonal to it.
func TestActiveSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for trial := range 40 {
		d := 1 + rng.IntN(6)
		// The factors are those of normals that differ by some roundings, 16(d+4)
		// for each of 25 changes, and what is solved from them solves equations that differ by no
		// more: no condition comes in, for what is compared are residuals, per unit of their terms.
		tol := 25 * slack(d)
		normal := func() []float64 { return vector(d, rng.NormFloat64) }
		b, g := normal(), normal()
		s := newActiveSet(b, g)
		for step := range 25 {
			if k := len(s.cuts); k > 1 && (k == d || rng.IntN(3) == 0) {
				s.drop(1 + rng.IntN(k-1))
			} else if k < d {
				a := normal()
				floats.Scale(1/floats.Norm(a, 2), a)
				z := s.split(a)
				left := slices.Clone(a)
				for i, q := range s.q {
					if math.Abs(s.h[i]-floats.Dot(q, a)) > tol {
						t.Fatal("coordinates of the normal")
					}
					floats.AddScaled(left, -floats.Dot(q, a), q)
				}
				if math.Abs(z-floats.Norm(left, 2)) > tol || floats.Distance(left, s.z, 2) > tol {
					t.Fatalf("part %v of length %v, want %v", s.z, z, left)
				}
				if z < 1e-2 {
					continue
				}
				s.add(&cut{normal: a, rhs: rng.NormFloat64(), length: 1, scale: 1})
			}
			s.solve()
			k := len(s.cuts)
			if len(s.q) != k || len(s.r) != k {
				t.Fatalf("%d rows and %d columns of %d cuts", len(s.q), len(s.r), k)
			}
			size := 1 + floats.Norm(b, 2) + floats.Norm(s.u0[:k], 1) + floats.Norm(s.u1[:k], 1)
			x, v := make([]float64, d), slices.Clone(b)
			floats.Scale(-1, v)
			miss := 0.0
			for i, c := range s.cuts {
				if len(s.r[i]) != i+1 {
					t.Fatalf("column %d of R has %d entries", i, len(s.r[i]))
				}
				a := make([]float64, d)
				for j, f := range s.r[i] {
					floats.AddScaled(a, f, s.q[j])
				}
				if floats.Distance(a, c.normal, 2) > tol {
					t.Fatalf("trial %d, step %d: normal %d is %v, its factors make %v", trial, step, i, c.normal, a)
				}
				for j := range i + 1 {
					want := 0.0
					if i == j {
						want = 1
					}
					if math.Abs(floats.Dot(s.q[i], s.q[j])-want) > tol {
						t.Fatalf("q%dᵀq%d = %v", i, j, floats.Dot(s.q[i], s.q[j]))
					}
				}
				if math.Abs(floats.Dot(c.normal, s.x0)-c.rhs) > tol*size || math.Abs(floats.Dot(c.normal, s.v)) > tol*size {
					t.Fatalf("x0 = %v and v = %v on cut %d", s.x0, s.v, i)
				}
				floats.AddScaled(x, s.u0[i], c.normal)
				floats.AddScaled(v, s.u1[i], c.normal)
				if i > 0 {
					miss += max(0, -s.u1[i])
				}
			}
			if floats.Distance(x, s.x0, 2) > tol*size || floats.Distance(v, s.v, 2) > tol*size {
				t.Fatalf("x0 = %v, of the multipliers %v; v = %v, of the multipliers %v", s.x0, x, s.v, v)
			}
			if k == d && floats.Norm(s.v, 2) != 0 {
				t.Fatalf("v = %v at a vertex", s.v)
			}
			slope := floats.Norm(v, 2)
			if s.still != (slope <= tol*size) || s.optimal != (slope+miss <= tol*size) {
				t.Fatalf("still %v, optimal %v: ‖v‖ = %v, negative multipliers %v", s.still, s.optimal, slope, miss)
			}
		}
	}
}

// What is not told from rounding: 8(d+4)2⁻⁵³ of the sizes of what it is made of.
func TestActiveSetRounding(t *testing.T) {
	for d := 1; d < 9; d++ {
		if got := newActiveSet(ones(d), ones(d)).rounding(); got != slack(d)/2 {
			t.Errorf("d = %d: rounding %v, want %v", d, got, slack(d)/2)
		}
	}
	const w = 3
	plane := []float64{1, 0}
	least := slack(2) / 2 * (1 + w) // ‖v‖ of b = (w, ‖v‖)
	for _, c := range []struct {
		v    float64
		want bool
	}{{least, true}, {math.Nextafter(least, 1), false}} {
		if s := newActiveSet([]float64{w, c.v}, plane); s.still != c.want || s.optimal != c.want {
			t.Errorf("‖v‖ = %v: still %v, optimal %v", c.v, s.still, s.optimal)
		}
	}
	// b = (w, −m) on the cut of the second unit vector has the multipliers w and −m.
	for _, c := range []struct {
		m    float64
		want bool
	}{{least, true}, {1.1 * least, false}} {
		s := newActiveSet([]float64{w, -c.m}, plane)
		s.split([]float64{0, 1})
		s.add(&cut{normal: []float64{0, 1}})
		if s.solve(); !s.still || s.optimal != c.want {
			t.Errorf("multiplier %v: still %v, optimal %v", -c.m, s.still, s.optimal)
		}
	}
	u := []float64{3, 8}
	(&activeSet{r: [][]float64{{2}, {1, 4}}}).backSubstitute(u)
	if u[0] != .5 || u[1] != 2 {
		t.Errorf("solution %v of 2u + v = 3, 4v = 8", u)
	}
}
