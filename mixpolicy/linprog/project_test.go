package linprog

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

// p is the projection of y onto a convex set if and only if p is in the set and (y − p)ᵀ(z − p) ≤ 0 for every z in
// the set.
func TestProjectIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 12).Draw(t, "d")
		norm := rapid.SampledFrom([]Norm{L2, LInf, L1}).Draw(t, "norm")
		r := norm.OnHyperplane(d) * rapid.SampledFrom([]float64{1, 1 + 1e-9, 1.1, 2, 50, 1e9, math.Inf(1)}).Draw(t, "R")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		size := math.Pow(10, rapid.Float64Range(-12, 250).Draw(t, "size"))
		shift := rapid.SampledFrom([]float64{0, 1, 1e8, -1e17}).Draw(t, "shift")
		y := make([]float64, d)
		for j := range y {
			y[j] = shift + size*rng.NormFloat64()
			if j > 0 && rng.IntN(4) == 0 {
				y[j] = y[j-1]
			}
		}
		p := make([]float64, d)
		in := slices.Clone(y)
		if err := errors.Join(norm.Project(p, y, r), norm.Project(in, in, r)); err != nil || !slices.Equal(in, p) {
			t.Fatalf("in place: %v, want %v; error %v", in, p, err)
		}
		unit := 4 * float64(d+4) * 0x1p-53
		sum := -1.0
		for _, v := range p {
			sum += v
		}
		if math.Abs(sum) > unit*L1.Of(p) {
			t.Fatalf("sum − 1 = %v", sum)
		}
		if v := norm.Of(p); v > r*(1+unit) || math.IsNaN(v) {
			t.Fatalf("‖p‖ = %v, R = %v", v, r)
		}
		// g is the part of y − p that is parallel to the hyperplane. No z of the set gives a larger gᵀz than p.
		g := floats.SubTo(make([]float64, d), y, p)
		floats.AddConst(-floats.Sum(g)/float64(d), g)
		if math.IsInf(r, 1) {
			if L2.Of(g) > unit*(L2.Of(y)+1)*4 {
				t.Fatalf("y − p = %v is not a multiple of 1", g)
			}
			return
		}
		best := supportOnHyperplane(norm, g, r)
		at := floats.Dot(g, p)
		// g contains the rounding of y and p, which gᵀz multiplies by ‖z‖₂ ≤ √d r.
		if best-at > unit*(L1.Of(y)+L1.Of(p))*math.Sqrt(float64(d))*r {
			t.Fatalf("max gᵀz = %v, gᵀp = %v: p = %v, y = %v", best, at, p, y)
		}
	})
}

// supportOnHyperplane returns max gᵀz over ‖z‖ ≤ r, 1ᵀz = 1, where 1ᵀg = 0.
func supportOnHyperplane(norm Norm, g []float64, r float64) float64 {
	d := float64(len(g))
	sorted := slices.Sorted(slices.Values(g))
	switch norm {
	case L2:
		if r*math.Sqrt(d) <= 1+0x1p-51 {
			return 0
		}
		square := new(big.Float).SetPrec(200).SetFloat64(r)
		square.Mul(square, square)
		square.Sub(square, new(big.Float).SetPrec(200).SetRat(big.NewRat(1, int64(d))))
		radius, _ := square.Sqrt(square).Float64()
		return radius * L2.Of(g)
	case L1: // (r+1)/2 on the largest entry, (1−r)/2 on the smallest
		return sorted[len(g)-1]*(r+1)/2 - sorted[0]*(r-1)/2
	}
	// ℓ∞: r on the largest entries, −r on the smallest, and at most one value in between.
	best, left := 0.0, 1+d*r // left is how much the entries of z, all −r at first, must still grow in sum
	for k := len(g) - 1; k >= 0; k-- {
		z := min(left, 2*r)
		left -= z
		best += sorted[k] * (z - r)
	}
	return best
}

// Project accepts entries up to 2⁹⁶⁰ in magnitude. It returns an error for other entries, and for an R whose ball misses
// the hyperplane. It panics for lengths that differ or are 0.
func TestProjectLimits(t *testing.T) {
	for _, norm := range []Norm{L2, LInf, L1} {
		dst := make([]float64, 2)
		for _, v := range []float64{0x1p960, -0x1p960} {
			err := norm.Project(dst, []float64{0, v}, 1)
			if err != nil || math.Abs(dst[0]+dst[1]-1) > 8*0x1p-53 { // entries of at most 1, each from four operations
				t.Errorf("%v, y₂ = %v: %v, %v", norm, v, dst, err)
			}
			for _, v := range []float64{math.Nextafter(v, 2*v), math.Copysign(math.Inf(1), v), math.NaN()} {
				if err := norm.Project(dst, []float64{0, v}, 1); err == nil {
					t.Errorf("%v, y₂ = %v: no error", norm, v)
				}
			}
		}
		for _, r := range []float64{math.NaN(), -1, 0, norm.OnHyperplane(2) * (1 - 1e-12)} {
			if err := norm.Project(dst, []float64{1, 2}, r); err == nil {
				t.Errorf("%v, R = %v: no error", norm, r)
			}
		}
		// A multiple of 1 is projected to 1/d, even if its mean is rounded.
		for _, r := range []float64{1.5, math.Inf(1)} {
			dst := make([]float64, 10)
			err := norm.Project(dst, slices.Repeat([]float64{.7 * 0x1p900}, 10), r)
			if err != nil || slices.ContainsFunc(dst, func(v float64) bool { return math.Abs(v-.1) > 0x1p-53 }) {
				t.Errorf("%v, R = %v: %v, %v, want 0.1", norm, r, dst, err)
			}
		}
	}
	for _, c := range [][2]int{{0, 0}, {1, 2}, {2, 1}} {
		panics(t, "linprog: projecting", func() { L2.Project(make([]float64, c[0]), make([]float64, c[1]), 1) })
	}
}

// The general solver projects as the closed form does. The solver's ½‖θ − y‖² is within 10⁻¹² of the minimum, so by
// 1-strong convexity, its θ is within √2·10⁻⁶ of the projection. It returns an error instead of a θ that is far from it.
func TestProjectByBarrier(t *testing.T) {
	want, got := make([]float64, 3), make([]float64, 3)
	for _, y := range [][]float64{{3, -1, 0}, {0.2, 0.3, 0.5}, {100, 50, -80}, {0, 0, 0}} {
		L2.Project(want, y, 2)
		if err := ProjectByBarrier(got, y, 2); err != nil || floats.Distance(got, want, 2) > 1.5e-6 {
			t.Errorf("y = %v: %v, %v, want %v", y, got, err, want)
		}
	}
	for _, c := range [][2]float64{{math.NaN(), 2}, {math.Inf(1), 2}, {1e4, 50}, {0, 0.5}, {1, 0.5}, {0, math.NaN()}, {0, math.Inf(1)}} {
		if err := ProjectByBarrier(got, []float64{c[0], 0, 0}, c[1]); err == nil {
			t.Errorf("y₁ = %v, R = %v: %v, want an error", c[0], c[1], got)
		}
	}
}

func TestProjectAllocatesNothing(t *testing.T) {
	y, dst := costs(100, 1), make([]float64, 100)
	for _, norm := range []Norm{L2, LInf, L1} {
		if n := testing.AllocsPerRun(100, func() { norm.Project(dst, y, 2) }); n != 0 {
			t.Errorf("%v: %v allocations", norm, n)
		}
	}
}

func TestNorms(t *testing.T) {
	x := []float64{3, -4, 0}
	for n, want := range map[Norm]float64{L2: 5, LInf: 4, L1: 7} {
		for _, scale := range []float64{1, 0x1p-1060, 0x1p1000} {
			y := []float64{x[0] * scale, x[1] * scale, 0}
			if got := n.Of(y); got != want*scale {
				t.Errorf("%v of %v = %v, want %v", n, y, got, want*scale)
			}
		}
		if inf, nan := n.Of([]float64{1, math.Inf(-1)}), n.Of([]float64{1, math.NaN()}); !math.IsInf(inf, 1) || !math.IsNaN(nan) {
			t.Errorf("%v of a vector with −∞ is %v, with NaN %v", n, inf, nan)
		}
		if n.Dual().Dual() != n {
			t.Errorf("%v: the dual of the dual is %v", n, n.Dual().Dual())
		}
		// ‖1‖⁎ ‖1/d‖ = 1.
		ones := []float64{1, 1, 1, 1, 1}
		if got := n.OnHyperplane(5) * n.Dual().Of(ones); math.Abs(got-1) > 0x1p-51 {
			t.Errorf("%v: %v", n, got)
		}
	}
}
