package bregman

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/hyperdual"
)

// logBallCase is hyperplaneCase for the log ball.
func logBallCase(rng *rand.Rand) (Modulus, []float64) {
	_, y := hyperplaneCase(rng, 3)
	return LogBall{above(rng) / math.Sqrt(float64(len(y)))}, y
}

// LogBall's closed form is right where dual points are huge and R is near its bound.
func TestLogBallShift(t *testing.T) {
	rng := source(21)
	for range 20_000 {
		m, y := logBallCase(rng)
		before := slices.Clone(y)
		if _, err := ProjectDual(m, y, nil); err != nil {
			t.Fatal(err)
		}
		if r, size, _ := residual(m, y); math.Abs(r) > 8*ulp*size {
			t.Fatalf("%v, y = %v: 1ᵀθ − 1 = %g", m, before, r)
		}
	}
}

// Divergences against 400-bit arithmetic, near and far, inside and at the edge.
func TestGalleryDivergenceAccuracy(t *testing.T) {
	rng := source(22)
	const r = 1.7
	for trial := range 300 {
		near, edge := math.Pow(10, -10*rng.Float64()), 1-math.Pow(10, -14*rng.Float64())
		y := r * edge
		x := y + near*(r-y)*(2*rng.Float64()-1)
		if x == y || math.Abs(x) >= r {
			continue
		}
		bx, by := bf(x), bf(y)
		gx, gy := bigBallGap(r, []float64{x}), bigBallGap(r, []float64{y})
		// −log gx + log gy − 2y(x − y)/gy
		want := bsub(blog(bquo(gy, gx)), bquo(bmul(bmul(bf(2), by), bsub(bx, by)), gy))
		if e := relErr(LogBall{r}.Divergence([]float64{x}, []float64{y}), want); e > 40*ulp {
			t.Fatalf("trial %d: log ball off by %.2g relative (near %.1g, edge %.1g)", trial, e, near, 1-edge)
		}
		want = bigBallDivergence(r, []float64{x}, []float64{y})
		if e := relErr(Hellinger{r}.Divergence([]float64{x}, []float64{y}), want); e > 20*ulp {
			t.Fatalf("trial %d: Hellinger off by %.2g relative (near %.1g, edge %.1g)", trial, e, near, 1-edge)
		}
		x, y = math.Exp(-20*rng.Float64()), math.Exp(-20*rng.Float64())
		if rng.IntN(2) == 0 {
			x = y * (1 + near)
		}
		q := bquo(bf(x), bf(y))
		want = bsub(bsub(q, blog(q)), bf(1))
		if e := relErr(Burg{}.Divergence([]float64{x}, []float64{y}), want); e > 20*ulp {
			t.Fatalf("trial %d: Burg off by %.2g relative (x = %g, y = %g)", trial, e, x, y)
		}
		// The general formula of a kernel: 10⁻⁶ of cancellation leaves ten digits.
		lifted := lift(NegativeEntropy{})
		want = bigEntropyTerm(bf(x), bf(y))
		if e := relErr(lifted.Divergence([]float64{x}, []float64{y}), want); e > 1e-9 {
			t.Fatalf("trial %d: general formula off by %.2g relative (x = %g, y = %g)", trial, e, x, y)
		}
	}
}

// A kernel by automatic differentiation is the hand-written one.
func TestFuncIsTheKernel(t *testing.T) {
	one := Dual{Real: 1.5}
	for _, c := range []struct {
		f    Func
		want interface {
			Modulus
			Coordinatewise
			KernelCurver
		}
	}{
		{Func{"entropy", func(x Dual) Dual { return hyperdual.Sub(hyperdual.Mul(x, hyperdual.Log(x)), x) }, 0, math.Inf(1)}, NegativeEntropy{}},
		{Func{"Burg", func(x Dual) Dual { return hyperdual.Scale(-1, hyperdual.Log(x)) }, 0, math.Inf(1)}, Burg{}},
		{Func{"Hellinger", func(x Dual) Dual {
			return hyperdual.Scale(-1, hyperdual.Sqrt(hyperdual.Mul(hyperdual.Sub(one, x), hyperdual.Add(one, x))))
		}, -1.5, 1.5}, Hellinger{1.5}},
		{Func{"square", func(x Dual) Dual { return hyperdual.Scale(0.5, hyperdual.Mul(x, x)) }, math.Inf(-1), math.Inf(1)}, Euclidean{}},
	} {
		rng := source(23)
		for range 300 {
			y := 6 * rng.NormFloat64()
			x := c.want.ConjDeriv(y)
			if math.IsInf(x, 1) || math.Abs(x) == 1.5 {
				continue
			}
			lo, hi := c.f.Domain()
			// The inverse can be no better than the rounding of φ′ allows, whose terms are of order 1.
			limit := 20 * ulp * (math.Abs(x) + c.want.ConjCurvature(y)*(1+math.Abs(y))*(1+1/math.Min(1, min(hi-x, x-lo))))
			if got := c.f.ConjDeriv(y); math.Abs(got-x) > limit {
				t.Errorf("%s: (φ*)′(%g) = %.17g, want %.17g", c.f.Name, y, got, x)
			}
			if got, want := c.f.Deriv(x), c.want.Deriv(x); math.Abs(got-want) > 20*ulp*(1+math.Abs(want))*(1+1/min(1, hi-x)) {
				t.Errorf("%s: φ′(%g) = %.17g, want %.17g", c.f.Name, x, got, want)
			}
			if got, want := c.f.ConjCurvature(y), c.want.ConjCurvature(y); math.Abs(got-want) > 1e-7*want {
				t.Errorf("%s: (φ*)″(%g) = %.17g, want %.17g", c.f.Name, y, got, want)
			}
		}
		for _, y := range []float64{-1e300, -1e5, 1e5, 1e300} { // beyond what x can resolve: an end
			if v := c.f.ConjDeriv(y); math.IsNaN(v) {
				t.Errorf("%s: (φ*)′(%g) = %g", c.f.Name, y, v)
			}
		}
	}
}

func TestConstructorErrors(t *testing.T) {
	two := []float64{0, 0}
	for _, c := range []struct {
		err  func() error
		want string
	}{
		{func() error { return Validate(Hellinger{0}, 2) }, "R = 0"},
		{func() error { return Validate(LogCosine{-1}, 2) }, "R = -1"},
		{func() error { return Validate(LogBall{0.7}, 2) }, "need R > 1/√d"},
		{func() error { return Validate(Tsallis{1}, 2) }, "q = 1"},
		{func() error { return Validate(PNorm{1}, 2) }, "p = 1"},
		{func() error { return Validate(FermiDirac{two, []float64{1, -1}}, 2) }, "side 1"},
		{func() error { return Validate(FermiDirac{two, []float64{0.4, 0.5}}, 2) }, "from 0 to 0.9"},
		{func() error { return Validate(FermiDirac{two, []float64{1}}, 2) }, "2 lower and 1 upper"},
		{func() error { return Validate(Scale(Ball{2}, -1), 2) }, "scaled by -1"},
		{func() error { return Validate(Scale(Cube{2}, 0), 2) }, "scaled by 0"},
		{func() error { return Validate(Scale(Cube{-2}, 1), 2) }, "R = -2"},
		{func() error { return Validate(FromFunc(nil, 0, 1), 2) }, "without a function"},
		{func() error {
			return Validate(FromFunc(func(x Dual) Dual { return hyperdual.Mul(x, x) }, 1, 1), 2)
		}, "empty"},
		{func() error { return Validate(Radial{Separable{}.Kernel}, 2) }, "without a kernel"},
		{func() error { k, _ := KernelOf(Burg{}); return Validate(Radial{k}, 2) }, "want (−R, R)"},
		{func() error { return Validate(Blocks{{2, nil}}, 2) }, "block 0"},
		{func() error { _, err := NewMahalanobis(mat.NewSymDense(2, []float64{1, 2, 2, 1})); return err }, "not positive definite"},
		{func() error {
			_, err := NewLogBarrier(mat.NewDense(2, 2, []float64{1, 0, 0, 1}), []float64{1, -1}, two)
			return err
		}, "breaks row 1"},
		{func() error {
			_, err := NewLogBarrier(mat.NewDense(2, 2, []float64{1, 0, -1, 0}), []float64{1, 1}, two)
			return err
		}, "contains a line"},
		{func() error {
			_, err := NewAffine(Ball{1}, mat.NewDense(2, 2, []float64{1, 2, 2, 4}), two)
			return err
		}, "singular"},
		{func() error { _, err := NewAffine(Ball{1}, mat.NewDense(1, 2, nil), two); return err }, "square"},
		{func() error { _, err := Restrict(Ball{1}, two, mat.NewDense(2, 1, nil)); return err }, "separable"},
		{func() error {
			_, err := Restrict(Cube{1}, []float64{0, 2}, mat.NewDense(2, 1, []float64{1, 0}))
			return err
		}, "x[1] = 2"},
		{func() error { _, err := Restrict(Cube{1}, two, mat.NewDense(2, 1, nil)); return err }, "not independent"},
		{func() error { _, err := Sum(Cube{1}, Ball{1}); return err }, "term 1 of the sum, ball, R = 1, is not separable"},
		{func() error { _, err := Sum(); return err }, "no moduli"},
		{func() error { _, err := Sum(Cube{1}, Translate(Cube{1}, 3)); return err }, "empty"},
		{func() error { _, err := Box(Burg{}, two, []float64{1, 1}); return err }, "unbounded"},
		{func() error { _, err := Box(Ball{1}, two, []float64{1, 1}); return err }, "separable"},
		{func() error { _, err := Box(Cube{1}, two, []float64{1, 0}); return err }, "side 1"},
	} {
		if err := c.err(); err == nil || !strings.HasPrefix(err.Error(), "bregman: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// The restriction of the negative entropy to the line {(u, 1−u)} is the binary entropy.
func TestRestrictionByHand(t *testing.T) {
	r, err := Restrict(NegativeEntropy{}, []float64{0.5, 0.5}, mat.NewDense(2, 1, []float64{1, -1}))
	if err != nil {
		t.Fatal(err)
	}
	rng := source(24)
	for range 200 {
		y := []float64{5 * rng.NormFloat64()}
		u := []float64{0}
		r.ConjugateGradient(u, y)
		if want := math.Tanh(y[0]/2) / 2; math.Abs(u[0]-want) > 4*ulp {
			t.Fatalf("∇ψ*(%g) = %g, want %g", y[0], u[0], want)
		}
	}
}

// The log barrier of the interval (−1, 1) has a closed form: 2x/(1 − x²) = y.
func TestLogBarrierByHand(t *testing.T) {
	l, err := NewLogBarrier(mat.NewDense(2, 1, []float64{1, -1}), []float64{1, 1}, []float64{0.3})
	if err != nil {
		t.Fatal(err)
	}
	rng := source(25)
	for range 300 {
		y := []float64{math.Pow(10, 20*rng.Float64()-10) * rng.NormFloat64()}
		x := []float64{0}
		l.ConjugateGradient(x, y)
		want := y[0] / (1 + math.Hypot(1, y[0]))
		if math.Abs(x[0]-want) > 8*ulp*math.Abs(want)+2*ulp {
			t.Fatalf("∇φ*(%g) = %.17g, want %.17g", y[0], x[0], want)
		}
	}
	l.ConjugateGradient([]float64{0}, []float64{1e300})
}

// Radial, of the half circle, is the ball; an affine image of a ball is an ellipsoid.
func TestCombinatorsOfTheBall(t *testing.T) {
	rng := source(26)
	half, _ := KernelOf(Hellinger{1.5})
	affine, err := NewAffine(Ball{3}, mat.NewDense(2, 2, []float64{2, 0, 0, 2}), []float64{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		y := normal(rng, 2, 3)
		a, b, c := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		Ball{1.5}.ConjugateGradient(a, y)
		Radial{half}.ConjugateGradient(b, y)
		affine.ConjugateGradient(c, axpy(1, y, y)) // ∇ of φ(2x) is 2∇φ
		if distance(a, b) > 8*ulp || distance(a, c) > 8*ulp {
			t.Fatalf("ball %v, radial %v, affine %v", a, b, c)
		}
	}
}

func TestGalleryMeetsTheHyperplane(t *testing.T) {
	if n := len(Gallery(3, 2)); n != 11 {
		t.Errorf("%d moduli for R = 2", n)
	}
	for _, m := range Gallery(3, 0.5) {
		if _, isBall := m.(Ball); isBall {
			t.Errorf("%v is in the gallery for d = 3", m)
		}
	}
}

func BenchmarkGallery(b *testing.B) {
	const d = 1024
	y, dst := normal(source(1), d, 1), make([]float64, d)
	for i := range y {
		y[i] = -math.Abs(y[i]) // in the range of every ∇φ
	}
	for _, m := range Gallery(d, 2) {
		b.Run(strings.TrimPrefix(fmt.Sprintf("%T", m), "bregman."), func(b *testing.B) {
			for b.Loop() {
				m.ConjugateGradient(dst, y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/d, "ns/element")
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	for b.Loop() {
		if err := Check(Cube{2}, 4, 1).Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// scaledBy returns m with ∇φ* off by a factor.
type scaledBy struct {
	Coordinatewise
	factor float64
}

func (s scaledBy) ConjDeriv(y float64) float64 { return s.Coordinatewise.ConjDeriv(y) * s.factor }

// slopes is what invert needs of a kernel: φ′, and φ″ for speed alone.
type slopes struct{ Coordinatewise }

func (s slopes) derivs(x float64) (first, second float64) {
	first = s.Deriv(x)
	return first, 1 / curverOf(s.Coordinatewise).ConjCurvature(first)
}

// inverseError returns the largest relative difference of (φ*)′ from the root of φ′(x) = y, in units
// of 10⁻¹² and of what rounding of y accounts for.
func inverseError(k Coordinatewise, lift func(y float64) float64) float64 {
	rng := source(31)
	var worst float64
	lo, hi := k.Domain()
	for range 4000 {
		y := lift(math.Copysign(math.Pow(10, 600*rng.Float64()-300), rng.NormFloat64()))
		if rng.IntN(2) == 0 {
			y = lift(10 * rng.NormFloat64())
		}
		x := k.ConjDeriv(y)
		want := invert(slopes{k}, y, lo, hi)
		if math.Abs(want) < 1e-290 || math.Abs(x) > 1e290 { // below the normal numbers, or near their end
			continue
		}
		// An ulp in φ′ moves x by (φ*)″|y| ulps, where φ′ is a difference by (φ*)″ at least.
		limit := 1e-12*math.Abs(want) + 8*ulp*(1+math.Abs(y))*curverOf(k).ConjCurvature(y)
		worst = max(worst, math.Abs(x-want)/limit)
	}
	return worst
}

// The closed forms of ∇φ* are the inverses of ∇φ over the whole domain, to 10⁻¹² relative; and a
// closed form that is off by 10⁻¹¹ is not.
func TestInversesInClosedForm(t *testing.T) {
	all := func(y float64) float64 { return y }
	for _, c := range []struct {
		m    Coordinatewise
		lift func(y float64) float64 // into the range of φ′
	}{
		{Cube{1.7}, all}, {Hellinger{1.7}, all}, {LogCosine{1.7}, all}, {Euclidean{}, all},
		{NegativeEntropy{}, func(y float64) float64 { return max(-600, min(600, y)) }},
		{Burg{}, func(y float64) float64 { return -math.Abs(y) }},
		{Tsallis{0.5}, func(y float64) float64 { return min(y, 2-1e-3) }},
		{Tsallis{0.3}, func(y float64) float64 { return min(y, 1/0.7-1e-3) }},
		{Tsallis{0.9}, func(y float64) float64 { return min(y, 9) }},
	} {
		if e := inverseError(c.m, c.lift); !(e <= 1) {
			t.Errorf("%v: (φ*)′ is off by %.3g of what is allowed", c.m, e)
		}
		if e := inverseError(scaledBy{c.m, 1 + 1e-11}, c.lift); e <= 1 {
			t.Errorf("%v: an error of 10⁻¹¹ in (φ*)′ is not seen", c.m)
		}
	}
}

// ∇φ* against 400-bit arithmetic, for dual points of any size.
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
		for _, c := range []struct {
			m    Modulus
			want *big.Float
		}{
			{Hellinger{r}, bquo(bmul(bf(r), by), bsqrt(badd(bf(1), bmul(by, by))))},
			{LogBall{r}, bquo(bmul(bmul(bf(r), bf(r)), by), badd(bf(1), bsqrt(badd(bf(1), bmul(bmul(bf(r), bf(r)), bmul(by, by))))))},
		} {
			if e := relErr(one(c.m, y), c.want); e > 4*ulp {
				t.Fatalf("%v: ∇φ*(%g) off by %.2g relative", c.m, y, e)
			}
		}
		y = -math.Abs(y)
		base := bsub(bf(2), bf(y))
		if e := relErr(one(Tsallis{0.5}, y), bquo(bf(1), bmul(base, base))); y > -1e150 && e > 4*ulp {
			t.Fatalf("Tsallis: ∇φ*(%g) off by %.2g relative", y, e)
		}
	}
}
