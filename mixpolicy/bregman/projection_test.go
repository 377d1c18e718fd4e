package bregman_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

func residual(m Modulus, y []float64) (r, size float64, theta []float64) {
	theta = make([]float64, len(y))
	m.ConjugateGradient(theta, y)
	return JDeriv(m, y, 0), normP(1, theta), theta
}

// The closed forms and the iteration on J give the same θ, to 1e-12 relative. Only balls with R
// within 10⁻⁷ of 1/√d need a greater tolerance, because J′ is flat: an error of an ulp in J′ changes
// z by ulp/(R²d − 1) relative. The part of θ orthogonal to 1, of relative size √(R²d − 1), then
// changes by ulp/√(R²d − 1). For the log ball, the change is at most twice as large: if this part of θ
// has length tR, J″ is R²d/S times t² + 1/(1+S) ≥ (t² + 2/(1+S))/2 = (R²d − 1)/2R²d.
func TestNewtonAgreesWithClosedForms(t *testing.T) {
	rng := source(4)
	for trial := range 40_000 {
		y := dualPoint(rng)
		d, tol := len(y), 1e-12
		r := above(rng) / math.Sqrt(float64(d))
		m := []Modulus{Ball{r}, LogBall{r}, NegativeEntropy(), Euclidean()}[trial%4]
		if k := trial % 4; k < 2 {
			tol = max(tol, float64(4+4*k)*ulp/math.Sqrt(f64(bsub(bmul(bmul(bf(r), bf(r)), bf(float64(d))), bf(1)))))
		}
		closed, iterated := slices.Clone(y), slices.Clone(y)
		must(ProjectDual(m, closed, nil))
		must(ProjectDual(openForm(m), iterated, nil))
		_, _, a := residual(m, closed)
		if _, _, b := residual(m, iterated); !(distance(a, b) <= tol*normP(2, a)) {
			t.Fatalf("%v, y = %v: the closed form gives %v, the iteration %v", m, y, a, b)
		}
	}
}

// openForm hides the closed form of a modulus.
func openForm(m Modulus) Modulus {
	if IsSeparable(m) {
		return Scale(m, 1)
	}
	return struct {
		Modulus
		Curver
	}{m, m.(Curver)}
}

// The ball's z agrees with 400-bit arithmetic, for R down to (1 + 1e-9)/√d.
func TestBallShiftAccuracy(t *testing.T) {
	rng := source(5)
	for trial := range 3000 {
		y := dualPoint(rng)
		m := Ball{above(rng) / math.Sqrt(float64(len(y)))}
		if maxAbs(y) > 1e100 {
			continue // big.Float would need more bits
		}
		z := must(Shift(m, y, nil))
		want := bigBallShift(m.R, y)
		if e := math.Abs(f64(bsub(bf(z), want))); e > 8*ulp*(math.Abs(z)+maxAbs(y)) {
			t.Fatalf("trial %d: %v, y = %v: z = %.17g, want %.17g", trial, m, y, z, f64(want))
		}
	}
}

// The projection is accurate in 10⁴ and 10⁶ dimensions, where plain sums would lose digits.
func TestManyDimensions(t *testing.T) {
	rng := source(6)
	for _, d := range []int{10_000, 1_000_000} {
		if d > 10_000 && testing.Short() {
			break
		}
		for _, m := range []Modulus{Ball{R: 0.5}, Cube(0.001), NegativeEntropy(), Euclidean()} {
			y := normal(rng, d, 3)
			if _, err := ProjectDual(m, y, nil); err != nil {
				t.Fatal(err)
			}
			if r, size, _ := residual(m, y); math.Abs(r) > 4*ulp*size {
				t.Errorf("%v, d = %d: 1ᵀθ − 1 = %g for ‖θ‖₁ = %g", m, d, r, size)
			}
		}
	}
}

// (P.4): ∇²φ* is diagonal, so ∂θᵢ/∂yⱼ = 0 for i ≠ j, if and only if the modulus is separable.
func TestP4(t *testing.T) {
	for _, m := range everything(3) {
		a, b := []float64{-2, -1, -3}, []float64{-1, -1, -3} // in the range of every ∇φ
		m.ConjugateGradient(a, a)
		m.ConjugateGradient(b, b)
		if diagonal := slices.Equal(a[1:], b[1:]); diagonal != IsSeparable(m) {
			t.Errorf("%v: Hessian of φ* diagonal: %v, modulus separable: %v", m, diagonal, IsSeparable(m))
		}
	}
}

func TestProjectionErrors(t *testing.T) {
	for _, c := range []struct {
		m    Modulus
		y    []float64
		want string
	}{
		{Ball{R: 0.5}, make([]float64, 4), "does not meet the hyperplane 1ᵀθ = 1 in ℝ^4"},
		{Ball{R: 0.1}, make([]float64, 4), "does not meet"}, {Ball{R: 0}, []float64{1}, "R = 0: want"},
		{Ball{math.NaN()}, []float64{1}, "R = NaN"}, {Ball{inf}, []float64{1}, "R = +Inf"}, {Cube(-1), []float64{1}, "R = -1"},
		{Cube(0.25), make([]float64, 4), "its points have 1ᵀθ from -1 to 1"},
		{FermiDirac([]float64{0.25, 0.75}, []float64{1, 1}), make([]float64, 2), "its points have 1ᵀθ from 1 to 2"},
		{Ball{R: 2}, []float64{1, math.NaN()}, "y[1] = NaN"}, {Ball{R: 2}, []float64{math.NaN(), 1}, "y[0] = NaN"},
		{Cube(2), []float64{1, 2, math.Inf(-1)}, "y[2] = -Inf"}, {Ball{R: 2}, nil, "without coordinates"},
		{Separable{Name: "it"}, []float64{1}, "it has no kernel"}, {Sum(2, Cube(1), Ball{R: 1}), []float64{1, 1}, "+ ball, R = 1 has no kernel"},
	} {
		for _, f := range []func() error{
			func() error { _, err := Shift(c.m, c.y, nil); return err },
			func() error { _, err := ProjectDual(c.m, slices.Clone(c.y), nil); return err },
			func() error { _, _, err := NewtonShift(c.m, c.y, nil); return err },
		} {
			if fmt.Sprint(c.m) == "ball, R = 0.5" && f() == nil {
				continue // at R = 1/√d, J′ → 0 as z → ∞, and in floating point the iteration reaches 0
			}
			if err := f(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, y = %v: error %v, want one with %q", c.m, c.y, err, c.want)
			}
		}
	}
	for _, c := range []struct {
		m    Modulus
		x    []float64
		want string
	}{
		{Ball{R: 1}, []float64{0.8, 0.8}, "norm 1.13"}, {Cube(1), []float64{0.5, -1}, "x[1] = -1 outside the domain (-1, 1)"},
		{NegativeEntropy(), []float64{0, 1}, "x[0] = 0 outside the domain (0, +Inf) of negative entropy"},
		{Burg(), []float64{1, -1}, "x[1] = -1 outside the domain (0, +Inf) of Burg entropy"},
		{Tsallis(0.5), []float64{1, -1}, "x[1] = -1 outside the domain (0, +Inf) of Tsallis entropy, q = 0.5"},
		{Ball{R: 1}, []float64{0, math.NaN()}, "x[1] = NaN"}, {Ball{R: 1}, []float64{math.NaN(), 0}, "x[0] = NaN"},
	} {
		err := Project(c.m, make([]float64, len(c.x)), c.x)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, x = %v: error %v, want one with %q", c.m, c.x, err, c.want)
		}
	}
	for _, c := range []struct {
		r     float64
		d     int
		meets bool
	}{{0.7, 2, false}, {0.71, 2, true}, {1.1, 1, true}, {0.71, 0, false}} {
		if err := Validate(Ball{R: c.r}, c.d); (err == nil) != c.meets {
			t.Errorf("the ball of radius %g in ℝ^%d: %v", c.r, c.d, err)
		}
	}
}

func TestLengthsPanic(t *testing.T) {
	two, three := []float64{0.2, 0.3}, []float64{0.2, 0.3, 0.4}
	panics := func(m any, method, want string, f func()) {
		t.Helper()
		defer func() {
			if s := fmt.Sprint(recover()); s != "bregman: "+want {
				t.Errorf("%v: %s panics with %q, want %q", m, method, s, want)
			}
		}()
		f()
	}
	const differ = "lengths differ: 2 and 3"
	for _, m := range everything(3) {
		panics(m, "∇φ", differ, func() { m.Gradient(two, three) })
		panics(m, "∇φ*", differ, func() { m.ConjugateGradient(two, three) })
		panics(m, "D", differ, func() { Divergence(m, two, three) })
		if d, ok := m.(Divergencer); ok {
			panics(m, "its own D", differ, func() { d.Divergence(two, three) })
		}
		panics(m, "Project", differ, func() { _ = Project(m, two, []float64{math.NaN(), 0, 0}) })
		panics(m, "NewtonShift", differ, func() { _, _, _ = NewtonShift(m, three, two) })
	}
	const want = "vector of 2 entries for a modulus of 3 coordinates"
	m := FermiDirac(make([]float64, 3), three)
	panics(m, "φ", want, func() { m.Value(two) })
	panics(m, "∇φ", want, func() { m.Gradient(make([]float64, 2), two) })
	panics(m, "∇φ*", want, func() { m.ConjugateGradient(make([]float64, 2), two) })
	panics(m, "φ*", want, func() { m.Conjugate(two) })
	panics(m, "NewtonShift", want, func() { _, _, _ = NewtonShift(m, two, nil) })
	panics(m, "D", want, func() { m.Divergence(two, []float64{0.3, 0.1}) })
	panics(m, "InDomain", want, func() { m.InDomain(two) })
	panics("Product", "φ", "2 entries are left for the 3 coordinates of (cube, R = 2)", func() { Product(Block{Cube(2), 3}).Value(two) })
	panics("FermiDirac", "FermiDirac", differ, func() { FermiDirac(two, three) })
}

func TestNoAllocations(t *testing.T) {
	const d = 7
	y, dst, scratch := normal(source(1), d, 1), make([]float64, d), make([]float64, d)
	for _, m := range []Modulus{Ball{R: 2}, Cube(1.5), Euclidean(), NegativeEntropy()} {
		for name, f := range map[string]func(){ // Check tests ∇φ and ∇φ*
			"ProjectDual": func() { copy(dst, y); _, _ = ProjectDual(m, dst, scratch) },
			"Shift":       func() { _, _ = Shift(m, y, scratch) },
			"NewtonShift": func() { _, _, _ = NewtonShift(m, y, scratch) },
			"Conjugate":   func() { Conjugate(m, y) },
		} {
			if n := testing.AllocsPerRun(20, f); n != 0 {
				t.Errorf("%v: %s allocates %g times", m, name, n)
			}
		}
	}
}

func FuzzProjectDual(f *testing.F) {
	f.Add(uint8(0), 1.5, 0.3, -0.1, 2.0)
	f.Add(uint8(1), 0.5, 1e300, -1e300, 0.0)
	f.Add(uint8(1), 1.0/3+1e-16, 800.0, 0.0, -800.0)
	f.Add(uint8(2), 1.0, -1e308, 1e308, 5e-324)
	f.Add(uint8(9), 0.7, 1e-9, 1e150, -1e150)
	f.Fuzz(func(t *testing.T, kind uint8, r, a, b, c float64) {
		ms := []Modulus{
			Ball{R: r}, Cube(r), NegativeEntropy(), Euclidean(), Burg(), Tsallis(r), PNorm{P: r},
			Hellinger(r), LogCosine(r), LogBall{R: r}, Scale(LogCosine(2), r), Scale(Ball{R: 2}, r),
			FermiDirac([]float64{-r, 0, -1}, []float64{1, r, 2}), Separable{Kernel: plainKernel{Cube(r).Kernel}},
		}
		m := ms[int(kind)%len(ms)]
		before := []float64{a, b, c}
		y := slices.Clone(before)
		if _, _, err := NewtonShift(m, y, nil); err != nil && !strings.HasPrefix(err.Error(), "bregman: ") {
			t.Fatal(err)
		}
		_, err := ProjectDual(m, y, nil)
		ordinary := !slices.ContainsFunc(before, func(v float64) bool { return v-v != 0 }) && maxAbs(before) < 1e300 && r > 1e-3 && r < 1e6
		if err != nil {
			if ordinary && Validate(m, 3) == nil {
				t.Fatalf("%v: y = %v: %v", m, before, err)
			}
			return
		}
		if !ordinary || int(kind)%len(ms) == 5 && r < 0.01 || int(kind)%len(ms) == 6 && (r < 1.01 || r > 3) {
			return // such high powers turn an ulp in y into a large change of θ
		}
		if slices.ContainsFunc(y, func(v float64) bool { return v-v != 0 }) {
			t.Fatalf("%v: y = %v became %v", m, before, y)
		}
		rest, size, theta := residual(m, y)
		limit := ulp*(size+ends(m)) + 2*condition(m, y)
		if !(math.Abs(rest) <= 100*limit) {
			t.Fatalf("%v: y = %v: θ = %v, 1ᵀθ − 1 = %g, want at most %.2g", m, before, theta, rest, 100*limit)
		}
	})
}
