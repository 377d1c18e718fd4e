package linprog

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestProjectAgainstOtherSolver(t *testing.T) {
	for _, c := range readReference(t).Projections {
		norm, d := normNamed[c.Norm], len(c.Y)
		got := make([]float64, d)
		if err := norm.Project(got, c.Y, c.R); err != nil {
			t.Fatal(err)
		}
		// Half the squared distance is 1-strongly convex, so a point whose value is wrong by
		// ε is off by √(2ε). Clarabel's tolerance of 1e-13 or a little more is relative to the
		// objective; entries are up to 300, and so ε up to 1e-8 in the largest.
		eps := 1e-13 * (1 + L2.Of(c.Y)*L2.Of(c.Y))
		for j := range got {
			if math.Abs(got[j]-c.Theta[j]) > 4*math.Sqrt(2*eps) {
				t.Errorf("%v, R = %v, y = %v: %v, want %v", norm, c.R, c.Y, got, c.Theta)
				break
			}
		}
	}
}

// p is the projection of y onto a convex set if and only if p is in it and
// (y − p)ᵀ(z − p) ≤ 0 for every z in it, that is, for every extreme point of it.
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
		if err := norm.Project(p, y, r); err != nil {
			t.Fatal(err)
		}
		in := slices.Clone(y)
		if err := norm.Project(in, in, r); err != nil || !slices.Equal(in, p) {
			t.Fatalf("in place: %v, want %v", in, p)
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
		// The best point of the set in the direction y − p: as much of the hyperplane's part
		// as the norm lets it.
		g := make([]float64, d)
		for j := range g {
			g[j] = y[j] - p[j]
		}
		mean := 0.0
		for _, v := range g {
			mean += v / float64(d)
		}
		for j := range g {
			g[j] -= mean
		}
		if math.IsInf(r, 1) {
			if L2.Of(g) > unit*(L2.Of(y)+1)*4 {
				t.Fatalf("y − p = %v is not a multiple of 1", g)
			}
			return
		}
		best := supportOnHyperplane(norm, g, r)
		at := 0.0
		for j := range g {
			at += g[j] * p[j]
		}
		// Rounding of y and p is in g, and multiplied by ‖z‖₂ ≤ √d r.
		if best-at > unit*(L1.Of(y)+L1.Of(p))*math.Sqrt(float64(d))*r {
			t.Fatalf("max gᵀz = %v, gᵀp = %v: p = %v, y = %v", best, at, p, y)
		}
	})
}

// Against rational arithmetic: the parts of the solution between the breaks of a piecewise linear sum.
func TestProjectExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for trial := range 1500 {
		d := 1 + rng.IntN(7)
		norm := pick(rng, LInf, L1)
		r := norm.OnHyperplane(d) * pick(rng, 1+1e-9, 1.25, 2, 50)
		shift, size := pick(rng, 0, 1, 1e8, -1e17), pick(rng, 0.01, 1, 30)
		y := vector(d, func() float64 { return shift + math.Round(64*size*rng.NormFloat64())/64 })
		got := make([]float64, d)
		if err := norm.Project(got, y, r); err != nil {
			t.Fatal(err)
		}
		spread := slices.Max(y) - slices.Min(y)
		for j, v := range projection(norm, toRat(y), rat(r)) {
			want, _ := v.Float64()
			if math.Abs(got[j]-want) > 4*float64(d+4)*0x1p-53*(spread+LInf.Of(got)) {
				t.Fatalf("%d: %v, R = %v, y = %v: θ[%d] = %v, want %v", trial, norm, r, y, j, got[j], want)
			}
		}
	}
}

// projection is Project for ℓ∞ and ℓ₁ without rounding.
func projection(norm Norm, y []*big.Rat, r *big.Rat) []*big.Rat {
	d, one := int64(len(y)), big.NewRat(1, 1)
	sub := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
	each := func(f func(v *big.Rat) *big.Rat) (out []*big.Rat, sum *big.Rat) {
		sum = new(big.Rat)
		for _, v := range y {
			w := f(v)
			out, sum = append(out, w), sum.Add(sum, w)
		}
		return out, sum
	}
	low := new(big.Rat).Neg(r)
	clip := func(v, least, most *big.Rat) *big.Rat {
		switch {
		case least != nil && v.Cmp(least) < 0:
			return least
		case most != nil && v.Cmp(most) > 0:
			return most
		}
		return v
	}
	// level returns the κ at which a piecewise linear, decreasing sum of clip(s(v − κ)) is mass.
	level := func(breaks []*big.Rat, f func(v, kappa *big.Rat) *big.Rat, mass *big.Rat) *big.Rat {
		slices.SortFunc(breaks, func(a, b *big.Rat) int { return a.Cmp(b) })
		at := func(kappa *big.Rat) *big.Rat {
			_, sum := each(func(v *big.Rat) *big.Rat { return f(v, kappa) })
			return sum
		}
		for k := len(breaks) - 2; k >= 0; k-- {
			a, b := breaks[k], breaks[k+1]
			if fa, fb := at(a), at(b); fa.Cmp(mass) >= 0 && fa.Cmp(fb) > 0 {
				share := new(big.Rat).Quo(sub(fa, mass), sub(fa, fb))
				return share.Add(a, share.Mul(share, sub(b, a)))
			}
		}
		panic("no level")
	}
	free, sum := each(func(v *big.Rat) *big.Rat { return v })
	step := new(big.Rat).Quo(sub(one, sum), big.NewRat(d, 1))
	size := new(big.Rat)
	for j, v := range free {
		free[j] = new(big.Rat).Add(v, step)
		if a := new(big.Rat).Abs(free[j]); norm == L1 {
			size.Add(size, a)
		} else if a.Cmp(size) > 0 {
			size = a
		}
	}
	if size.Cmp(r) <= 0 {
		return free
	}
	if norm == LInf {
		var breaks []*big.Rat
		for _, v := range y {
			breaks = append(breaks, sub(v, r), new(big.Rat).Add(v, r))
		}
		f := func(v, kappa *big.Rat) *big.Rat { return clip(sub(v, kappa), low, r) }
		kappa := level(breaks, f, one)
		out, _ := each(func(v *big.Rat) *big.Rat { return f(v, kappa) })
		return out
	}
	half, zero := big.NewRat(1, 2), new(big.Rat)
	positive, negative := new(big.Rat).Add(r, one), sub(r, one)
	positive.Mul(positive, half)
	negative.Mul(negative, half)
	above := func(v, kappa *big.Rat) *big.Rat { return clip(sub(v, kappa), zero, nil) }
	breaks := append(slices.Clone(y), sub(slices.MinFunc(y, func(a, b *big.Rat) int { return a.Cmp(b) }), positive))
	alpha := level(breaks, above, positive)
	upper, _ := each(func(v *big.Rat) *big.Rat { return above(v, alpha) })
	for j, v := range y { // the same of −y
		y[j] = new(big.Rat).Neg(v)
	}
	if negative.Sign() == 0 {
		return upper
	}
	breaks = append(slices.Clone(y), sub(slices.MinFunc(y, func(a, b *big.Rat) int { return a.Cmp(b) }), negative))
	beta := level(breaks, above, negative)
	lower, _ := each(func(v *big.Rat) *big.Rat { return above(v, beta) })
	for j := range upper {
		upper[j] = sub(upper[j], lower[j])
	}
	return upper
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
	// ℓ∞: r on the largest entries, −r on the smallest, one in between.
	best, left := 0.0, 1+d*r // what is to be put on top of −r everywhere
	for k := len(g) - 1; k >= 0; k-- {
		z := min(left, 2*r)
		left -= z
		best += sorted[k] * (z - r)
	}
	return best
}

func TestProjectBadData(t *testing.T) {
	dst := make([]float64, 2)
	for _, norm := range []Norm{L2, LInf, L1} {
		for _, r := range []float64{math.NaN(), -1, 0, norm.OnHyperplane(2) * (1 - 1e-12)} {
			if err := norm.Project(dst, []float64{1, 2}, r); err == nil {
				t.Errorf("%v, R = %v: no error", norm, r)
			}
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), 1e300} {
			if err := norm.Project(dst, []float64{1, v}, 2); err == nil {
				t.Errorf("%v, y₂ = %v: no error", norm, v)
			}
		}
	}
}

// Entries up to 2⁹⁶⁰ in size are projected, and vectors of other lengths are the programmer's mistake.
func TestProjectLimits(t *testing.T) {
	for _, norm := range []Norm{L2, LInf, L1} {
		for _, v := range []float64{0x1p960, -0x1p960} {
			dst := make([]float64, 2)
			if err := norm.Project(dst, []float64{0, v}, 1); err != nil || math.Abs(dst[0]+dst[1]-1) > 8*0x1p-53 { // entries of 1 at most, of four operations each
				t.Errorf("%v, y₂ = %v: %v, %v", norm, v, dst, err)
			}
			for _, v := range []float64{math.Nextafter(v, 2*v), math.Copysign(math.Inf(1), v)} {
				if err := norm.Project(dst, []float64{0, v}, 1); err == nil {
					t.Errorf("%v, y₂ = %v: no error", norm, v)
				}
			}
		}
	}
	// Of a multiple of 1 nothing is left, whatever its mean is rounded to.
	for _, norm := range []Norm{L2, LInf, L1} {
		for _, r := range []float64{1.5, math.Inf(1)} {
			dst := make([]float64, 10)
			if err := norm.Project(dst, slices.Repeat([]float64{.7 * 0x1p900}, 10), r); err != nil || slices.ContainsFunc(dst, func(v float64) bool { return math.Abs(v-.1) > 0x1p-53 }) {
				t.Errorf("%v, R = %v: %v, %v, want 0.1", norm, r, dst, err)
			}
		}
	}
	// R·‖1‖⁎ may be less than 1 by the rounding 2⁻⁵¹.
	for _, norm := range []Norm{L2, LInf} {
		if norm.misses(1-0x1p-51, 1) || !norm.misses(math.Nextafter(1-0x1p-51, 0), 1) {
			t.Errorf("%v: what touches", norm)
		}
	}
	for _, c := range [][2]int{{0, 0}, {1, 2}, {2, 1}, {0, 1}, {1, 0}} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "linprog: projecting") {
					t.Errorf("lengths %v: panic %q", c, s)
				}
			}()
			L2.Project(make([]float64, c[0]), make([]float64, c[1]), 1)
		}()
	}
}

// √(R² − 1/d) has all its digits, save where the ball is taken to touch.
func TestBallRadius(t *testing.T) {
	for d := 1; d <= 40; d++ {
		for _, more := range []float64{0, 2e-16, 5e-16, 1e-15, 2e-15, 1e-12, 1e-8, .01, 1, 1e6} {
			r := L2.OnHyperplane(d) * (1 + more)
			excess := new(big.Rat).Mul(rat(r), rat(r)) // d R² − 1
			excess.Mul(excess, big.NewRat(int64(d), 1)).Sub(excess, big.NewRat(1, 1))
			size, _ := excess.Float64()
			want := 0.0
			if size > 0x1p-50 {
				root := new(big.Float).SetPrec(200).SetRat(excess.Quo(excess, big.NewRat(int64(d), 1)))
				want, _ = root.Sqrt(root).Float64()
			}
			if got := ballRadius(r, d); math.Abs(got-want) > 4*0x1p-53*want { // a root halves what four roundings make of dR² − 1
				t.Errorf("d = %d, R = %v: %v, want %v", d, r, got, want)
			}
		}
	}
	if got := ballRadius(0x1p700, 3); got != 0x1p700 {
		t.Error(got)
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
		if got := n.Of([]float64{1, math.Inf(-1), 2}); !math.IsInf(got, 1) {
			t.Errorf("%v of a vector with −∞ = %v, want +∞", n, got)
		}
		if got := n.Of([]float64{math.NaN(), 1}); !math.IsNaN(got) {
			t.Errorf("%v of a vector with NaN = %v", n, got)
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

func TestNormOfInfinity(t *testing.T) {
	for _, v := range []float64{math.Inf(-1), math.NaN()} {
		if got := L2.Of([]float64{1, v}); math.IsNaN(v) != math.IsNaN(got) || !math.IsNaN(v) && !math.IsInf(got, 1) {
			t.Errorf("‖(1, %v)‖ = %v", v, got)
		}
	}
}

func BenchmarkProject(b *testing.B) {
	for _, d := range []int{2, 100} {
		y, dst := costs(d, 1), make([]float64, d)
		for _, norm := range []Norm{L2, LInf, L1} {
			b.Run(named[norm]+" d="+map[int]string{2: "2", 100: "100"}[d], func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := norm.Project(dst, y, 2); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
