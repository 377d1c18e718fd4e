package bregman_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/hyperdual"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

// The ∇φ* of the ball by automatic differentiation differs from the hand-written ∇φ* by at most a thousand times the
// effect of an ulp in every yᵢ. For yᵢ of size 1e300, ∇φ*(y) is on the boundary.
func TestVectorFuncIsTheModulus(t *testing.T) {
	rng := source(24)
	for _, d := range []int{1, 2, 3, 6} {
		got, want := make([]float64, d), make([]float64, d)
		for range 50 {
			y := normal(rng, d, math.Exp(3*rng.NormFloat64()))
			halfSphere(2, d).ConjugateGradient(got, y)
			Ball{R: 2}.ConjugateGradient(want, y)
			if limit := 1000 * condition(Ball{R: 2}, y); !(distance(got, want) <= limit) {
				t.Errorf("∇φ*(%v) = %v, want %v within %.2g", y, got, want, limit)
			}
		}
		halfSphere(2, d).ConjugateGradient(got, normal(rng, d, 1e300))
		if n := norm(got); !(math.Abs(n-2) <= 8*ulp) {
			t.Errorf("d = %d: for y of 1e300 the norm is %.17g, want 2", d, n)
		}
	}
}

// For φ = −log det[a b; b c] + 0.05‖x‖², the plain Newton method from the identity takes hundreds of steps. Still,
// ∇φ(∇φ*(y)) = y for every y of length 1000. If φ is not convex and no path leads to y, or if a step
// overflows, ∇φ*(y) is NaN.
func TestVectorFuncFarOff(t *testing.T) {
	m := FromVectorFunc("determinant", func(x []Dual) Dual {
		s := hyperdual.Scale(-1, hyperdual.Log(hyperdual.Sub(hyperdual.Mul(x[0], x[1]), hyperdual.Mul(x[2], x[2]))))
		if x[0].Real <= 0 {
			return Dual{Real: math.NaN()}
		}
		for _, v := range x {
			s = hyperdual.Add(s, hyperdual.Scale(0.05, hyperdual.Mul(v, v)))
		}
		return s
	}, []float64{1, 1, 0})
	rng, x, g := source(25), make([]float64, 3), make([]float64, 3)
	for range 200 {
		y := normal(rng, 3, 1)
		floats.Scale(1000/norm(y), y)
		m.ConjugateGradient(x, y)
		if m.Gradient(g, x); !(distance(g, y) <= 1e-9*1000) {
			t.Errorf("∇φ*(%v) = %v, where ∇φ is %v", y, x, g)
		}
	}
	wave := FromVectorFunc("cosine", func(x []Dual) Dual { return hyperdual.Scale(-1, hyperdual.Cos(x[0])) }, []float64{0})
	flat := FromVectorFunc("flat", func(x []Dual) Dual { return hyperdual.Scale(1e-309, hyperdual.Mul(x[0], x[0])) }, []float64{1})
	for _, m := range []Modulus{wave, flat} { // −cos′ is at most 1; the Newton step of 10⁻³⁰⁹x² overflows
		_, err := ProjectDual(m, []float64{2}, nil)
		if m.ConjugateGradient(x[:1], []float64{2}); !math.IsNaN(x[0]) || err == nil || !strings.Contains(err.Error(), "outside the domain of φ*") {
			t.Errorf("%v: ∇φ*(2) = %g, %v, want NaN and an error", m, x[0], err)
		}
	}
}

// Without a formula for D, the divergence is accurate near an end of the domain, and a constant added to φ does not
// change it.
func TestDivergenceWithoutFormula(t *testing.T) {
	const r = 2.
	for _, of := range []Separable{Cube(r), Hellinger(r)} {
		for _, constant := range []float64{0, 1e6, 1e12, -1e12} {
			k := of.Kernel
			m := FromClosures("plain", func(x float64) float64 { return constant + k.Value(x) }, k.Deriv, k.ConjDeriv, -r, r)
			for _, gap := range []float64{1e-3, 1e-9, 1e-15} {
				for _, at := range []float64{-1, 0.5, 1.9} {
					x, y := []float64{r * (1 - gap)}, []float64{at}
					got, want := Divergence(m, x, y), Divergence(of, x, y)
					if off := math.Abs(got/want - 1); !(off <= 1e-8) {
						t.Errorf("%v + %g: D(%g; %g) = %.12g, want %.12g", of, constant, x[0], at, got, want)
					}
				}
			}
		}
	}
}

// If φ″ is 0 at the root, each Newton step covers only a part of the way. ∇φ* still reaches the root
// from far off, to the last digits, and also a point where φ is large.
func TestVectorFuncOfPowers(t *testing.T) {
	for _, c := range []struct {
		at                   float64
		power                int
		inside, y, want, off float64
	}{
		{0, 6, 1, 6e-90, 1e-18, 8 * ulp * 1e-18}, {0, 6, -1, -6e-90, -1e-18, 8 * ulp * 1e-18}, {1, 4, 2, 0, 1, 8 * ulp},
		{1, 6, 2, 0, 1, 8 * ulp}, {-1, 4, -2, 0, -1, 8 * ulp}, {0, 4, 1, 4e36, 1e12, 8 * ulp * 1e12},
	} {
		x := []float64{c.y}
		FromVectorFunc("power", func(x []Dual) Dual {
			v := Dual{Real: 1}
			for range c.power {
				v = hyperdual.Mul(v, hyperdual.Sub(x[0], Dual{Real: c.at}))
			}
			return v
		}, []float64{c.inside}).ConjugateGradient(x, x)
		if !(math.Abs(x[0]-c.want) <= c.off) {
			t.Errorf("(x − %g)^%d: ∇φ*(%g) = %.17g, want %g", c.at, c.power, c.y, x[0], c.want)
		}
	}
}

func TestConstructorErrors(t *testing.T) {
	two := []float64{0, 0}
	for _, c := range []struct {
		m    Modulus
		want string
	}{
		{Hellinger(0), "Hellinger cube of radius R = 0: want"}, {LogCosine(-1), "R = -1"}, {LogBall{R: 0.7}, "need R > 1/√d"},
		{Tsallis(1), "q = 1: want"}, {PNorm{P: 1}, "p = 1: want"}, {PNorm{inf}, "p = +Inf: want"},
		{FermiDirac(two, []float64{1, -1}), "side (0, -1) of a box is not an interval within ±1e20, at coordinate 1"},
		{FermiDirac(two, two), "R = 0: want 0 < R < 1e300, at coordinate 0"},
		{FermiDirac([]float64{math.Inf(-1), 0}, []float64{1, 1}), "side (-Inf, 1) of a box"},
		{FermiDirac(two, []float64{0.4, 0.5}), "from 0 to 0.9"}, {FermiDirac(two, []float64{1e20, 1}), "within ±1e20, at coordinate 0"},
		{Scale(Cube(2), inf), "scaled by +Inf"}, {Scale(Ball{R: 2}, -1), "scaled by -1"}, {Scale(Cube(2), 0), "scaled by 0"},
		{Scale(Cube(-2), 1), "R = -2"}, {Product(Block{Cube(2), 0}, Block{Cube(2), 2}), "block (cube, R = 2) of a product has 0"}, {Ball{1e300}, "R = 1e+300: want 0 < R < 1e300"}, {Cube(1e300), "R = 1e+300: want 0 < R < 1e300"},
		{Compose(Cube(2), mat.NewDense(3, 2, []float64{1, 0, 0, 1, 0, 0})), "A of 3 × 2"}, {Compose(Cube(2), mat.NewDense(2, 2, nil)), "condition number"},
		{Compose(Cube(-2), mixing(2)), "R = -2"}, {Compose(Cube(2), mat.NewDense(2, 2, []float64{1, 0, 0, 1e-13})), "want a square A of condition number below 1e12"},
		{FromClosures("nothing", half, half, half, 0, 0), "the domain (0, 0) of nothing is empty"},
		{Separable{Each: []Kernel{parabola, draft{lo: 2, hi: 1, value: half}.modulus().Kernel}}, "is empty, at coordinate 1"},
		{FromFunc("a function", func(x Dual) Dual { return hyperdual.Mul(x, x) }, 1, 1), "empty"},
		{FromVectorFunc("root", func(x []Dual) Dual { return hyperdual.Sqrt(x[0]) }, []float64{-1, 0}), "is not a number at [-1 0]"},
	} {
		if err := Validate(c.m, 2); err == nil || !strings.HasPrefix(err.Error(), "bregman: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// ∇φ*, and φ′ of the cube, agree with 400-bit arithmetic, for |y| from 1e-20 to 1e300.
func TestGalleryAccuracy(t *testing.T) {
	rng := source(32)
	one := func(m Modulus, y float64) float64 {
		x := []float64{y}
		m.ConjugateGradient(x, x)
		return x[0]
	}
	const r = 1.7
	for range 1000 {
		y := math.Copysign(math.Pow(10, 320*rng.Float64()-20), rng.NormFloat64())
		by := bf(y)
		type answer struct {
			m    Modulus
			want *big.Float
			ulps float64
		}
		root := bquo(bmul(bf(r), by), bsqrt(badd(bf(1), bmul(by, by)))) // ∇φ* of Hellinger, and of the ball in ℝ
		answers := []answer{
			{Ball{R: r}, root, 3}, {Hellinger(r), root, 4},
			{LogBall{R: r}, bquo(bmul(bmul(bf(r), bf(r)), by), badd(bf(1), bsqrt(badd(bf(1), bmul(bmul(bf(r), bf(r)), bmul(by, by)))))), 4},
		}
		if math.Abs(y) < 100 {
			answers = append(answers, answer{Cube(r), bigCubeTheta(r, by), 3})
		}
		for _, c := range answers {
			if e := relErr(one(c.m, y), c.want); e > c.ulps*ulp {
				t.Fatalf("%v: ∇φ*(%g) off by %.2g relative", c.m, y, e)
			}
		}
		x := r * (1 - math.Pow(10, -15*rng.Float64()))
		if e := relErr(Cube(r).Kernel.Deriv(x), blog(bquo(badd(bf(r), bf(x)), bsub(bf(r), bf(x))))); e > 3*ulp {
			t.Fatalf("cube: φ′(%g) off by %.2g relative", x, e)
		}
		if got, want := Cube(r).Kernel.Deriv(-x), -Cube(r).Kernel.Deriv(x); got != want {
			t.Fatalf("cube: φ′(%g) = %g, want %g", -x, got, want)
		}
		y = -math.Abs(y)
		base := bsub(bf(2), bf(y))
		if e := relErr(one(Tsallis(0.5), y), bquo(bf(1), bmul(base, base))); y > -1e150 && e > 4*ulp {
			t.Fatalf("Tsallis: ∇φ*(%g) off by %.2g relative", y, e)
		}
	}
}

// Near 0 and near the ends, where the plain formulas lose digits, LogCosine agrees with the first
// terms of series in u = πx/2R: near 0, −log cos u = u²/2 + u⁴/12 + …; near the ends, the series of
// tan u and log cos u in v = π/2 − u.
func TestLogCosineNearItsEnds(t *testing.T) {
	const r = 3.
	l := LogCosine(r)
	see := func(of string, at, got, want, off float64) {
		t.Helper()
		if !(math.Abs(got-want) <= off*math.Abs(want)) {
			t.Errorf("%s(%g) = %.17g, want %.17g", of, at, got, want)
		}
	}
	for _, x := range []float64{1e-9, -1e-5, 1e-3} {
		u := math.Pi / 2 * (x / r)
		see("φ", x, l.Value([]float64{x}), 2*r/math.Pi*(u*u/2)*(1+u*u/6), 8*ulp+u*u*u*u/40)
	}
	for _, y := range []float64{1e-9, -1e-5} {
		see("φ*", y, l.Conjugate([]float64{y}), r/math.Pi*y*y*(1-y*y/6), 8*ulp)
		see("φ*", y*1e205, l.Conjugate([]float64{y * 1e205}), r*math.Abs(y*1e205), 8*ulp)
	}
	for _, gap := range []float64{0x1p-40, 0x1p-20} { // R − gap is exact
		v := math.Pi / 2 * (gap / r)
		see("φ′", r-gap, l.Kernel.Deriv(r-gap), 1/v*(1-v*v/3), 8*ulp)
		see("φ′", gap-r, l.Kernel.Deriv(gap-r), -1/v*(1-v*v/3), 8*ulp)
		see("φ", r-gap, l.Value([]float64{r - gap}), -2*r/math.Pi*(math.Log(v)-v*v/6), 8*ulp)
	}
}

// For a kernel without optional methods, φ = cosh, D is accurate between points so near that the
// values of φ cancel: D(x; y) ≈ ½(x−y)²φ″(y) + ⅙(x−y)³φ‴(y). Here D is computed from differences
// of φ′, with a relative error of about 2⁻⁵³|φ′|/(|x−y|φ″).
func TestKernelDivergenceOfNearPoints(t *testing.T) {
	m := FromClosures("cosh", math.Cosh, math.Sinh, math.Asinh, -inf, inf)
	for _, y := range []float64{-2, .5, 3} {
		for _, e := range []float64{1e-3, -1e-4, 1e-6} {
			want := e * e / 2 * (math.Cosh(y) + e/3*math.Sinh(y))
			got := m.Divergence([]float64{y + e}, []float64{y})
			rounded := 16 * ulp * math.Abs(math.Sinh(y)) / (math.Abs(e) * math.Cosh(y)) // relative; the rounding of y + e is added below
			if math.Abs(got-want) > (e*e+rounded+4*ulp*math.Abs(y/e))*want {
				t.Errorf("D(%g + %g; ·) = %g, want %g", y, e, got, want)
			}
		}
	}
	if got, want := m.Divergence([]float64{2}, []float64{-1}), math.Cosh(2)-math.Cosh(-1)-3*math.Sinh(-1); math.Abs(got-want) > 8*ulp*want {
		t.Errorf("D(2; −1) = %v, want %v", got, want)
	}
	arc := halfCircle{} // on [−1, 1]
	for _, c := range []struct{ x, y, want float64 }{{1, 0, 1}, {-1, 0, 1}, {0, 1, inf}, {1, 1, inf}, {1.5, 0, inf}, {0, -1, inf}} {
		if got := (Separable{Kernel: arc}).Divergence([]float64{c.x}, []float64{c.y}); got != c.want && !(math.Abs(got-c.want) <= 4*ulp) {
			t.Errorf("half circle: D(%g; %g) = %g, want %g", c.x, c.y, got, c.want)
		}
	}
}

// For y beyond the range of φ′, ∇φ*(y) is an end of the domain.
func TestBeyondTheRange(t *testing.T) {
	for _, c := range []struct {
		k    Kernel
		y    float64
		want [3]float64 // (φ*)′, (φ*)″, φ*
	}{
		{Burg().Kernel, 0, [3]float64{inf, inf, inf}}, {Burg().Kernel, 3, [3]float64{inf, inf, inf}},
		{Tsallis(0.5).Kernel, 2, [3]float64{inf, inf, inf}}, {Tsallis(0.5).Kernel, 5, [3]float64{inf, inf, inf}}, {Tsallis(0.3).Kernel, 5, [3]float64{inf, inf, inf}},
		{Hellinger(2).Kernel, 1e300, [3]float64{2, 0, 2e300}}, {Hellinger(2).Kernel, -1e300, [3]float64{-2, 0, 2e300}},
	} {
		if got := [3]float64{c.k.ConjDeriv(c.y), JSecond(Separable{Kernel: c.k}, []float64{c.y}, 0), (Separable{Kernel: c.k}).Conjugate([]float64{c.y})}; got != c.want {
			t.Errorf("%T: %g at y = %g, want %g", c.k, got, c.y, c.want)
		}
	}
	x := []float64{1e300, 1e300}
	if Compose(NegativeEntropy(), mixing(2)).ConjugateGradient(x, x); math.IsNaN(x[0] + x[1]) {
		t.Errorf("entropy ∘ A: ∇φ* = %v far out", x)
	}
	if got := (Separable{Kernel: plainKernel{Burg().Kernel}}).Conjugate([]float64{1}); !math.IsInf(got, 1) {
		t.Errorf("Burg: φ*(1) = %g", got)
	}
}

func TestShiftOverflows(t *testing.T) {
	if _, err := Shift(infinite{Euclidean()}, []float64{1, 2}, nil); err == nil || !strings.Contains(err.Error(), "overflows") {
		t.Errorf("shift: error %v", err)
	}
}

type infinite struct{ Modulus }

func (infinite) Shift([]float64) (float64, error) { return inf, nil }
