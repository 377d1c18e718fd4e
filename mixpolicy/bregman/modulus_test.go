package bregman

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func normal(rng *rand.Rand, d int, scale float64) []float64 {
	x := make([]float64, d)
	for i := range x {
		x[i] = scale * rng.NormFloat64()
	}
	return x
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 20190316)) }

func axpy(a float64, x, y []float64) []float64 {
	z := make([]float64, len(y))
	for i := range y {
		z[i] = a*x[i] + y[i]
	}
	return z
}

func dot(x, y []float64) float64 {
	var s float64
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

func distance(x, y []float64) float64 { return normP(2, axpy(-1, x, y)) }

// The constants can't be improved: D(x; y)/(½‖x−y‖²) comes as near to μ as one likes.
func TestStrongConvexityIsSharp(t *testing.T) {
	for _, c := range []struct {
		m    Modulus
		x, y []float64
	}{
		{Ball{3}, []float64{1e-4, 0}, []float64{0, 0}},
		{Cube(3), []float64{1e-4, 0}, []float64{0, 0}},
		{Euclidean(), []float64{1, 2}, []float64{0, 5}},
		{NegativeEntropy(), []float64{0.5 + 1e-4, 0.5 - 1e-4}, []float64{0.5, 0.5}},
	} {
		mu, p, _ := StrongConvexity(c.m)
		n := normP(p, axpy(-1, c.y, c.x))
		if r := Divergence(c.m, c.x, c.y) / (n * n / 2); math.Abs(r-mu) > 1e-6*mu {
			t.Errorf("%v: D/(½‖x−y‖²) = %g, claimed μ = %g", c.m, r, mu)
		}
	}
}

// Against 400-bit arithmetic: arguments far apart, close together, and near the boundary.
func TestDivergenceAccuracy(t *testing.T) {
	rng := source(2)
	const r = 1.7
	for trial := range 400 {
		d := 1 + rng.IntN(6)
		near := math.Pow(10, -12*rng.Float64())
		edge := 1 - math.Pow(10, -15*rng.Float64())
		y := normal(rng, d, 1)
		f := r * edge / normP(2, y)
		for i := range y {
			y[i] *= f
		}
		x := axpy(near*(1-edge), normal(rng, d, 1), y)
		if ball := (Ball{r}); distance(x, y) > 0 && ball.InDomain(x) && ball.InDomain(y) {
			want := bigBallDivergence(r, x, y)
			if e := relErr(ball.Divergence(x, y), want); e > 20*ulp {
				t.Fatalf("trial %d: ball, D = %g off by %.2g relative (near %.1g, edge %.1g)", trial, f64(want), e, near, 1-edge)
			}
			g := make([]float64, d)
			ball.Gradient(g, x)
			q := bsqrt(bigBallGap(r, x))
			for i := range g {
				if e := relErr(g[i], bquo(bf(x[i]), q)); e > 3*ulp {
					t.Fatalf("trial %d: ball, ∇φ off by %.2g relative", trial, e)
				}
			}
		}
		for i := range y {
			y[i] = r * edge * (2*rng.Float64() - 1)
			x[i] = y[i] + near*(r-math.Abs(y[i]))*rng.NormFloat64()
		}
		if cube := (Cube(r)); cube.InDomain(x) {
			if e := relErr(cube.Divergence(x, y), bigCubeDivergence(r, x, y)); e > 20*ulp {
				t.Fatalf("trial %d: cube, D off by %.2g relative (near %.1g)", trial, e, near)
			}
		}
		want := bzero()
		for i := range y {
			y[i] = math.Exp(-20 * rng.Float64())
			x[i] = math.Abs(y[i] * (1 + near*rng.NormFloat64()))
			want = badd(want, bigEntropyTerm(bf(x[i]), bf(y[i])))
		}
		if e := relErr(Divergence(NegativeEntropy(), x, y), want); e > 20*ulp {
			t.Fatalf("trial %d: entropy, D off by %.2g relative (near %.1g)", trial, e, near)
		}
	}
}

// (3.11) as printed is the conjugate, in exact arithmetic; in floating point its exp
// overflows and ours does not.
func TestCubeConjugateAsPrinted(t *testing.T) {
	const r = 1.3
	for _, v := range []float64{-1e4, -800, -30, -1, -1e-9, 0, 0.5, 7, 40, 709, 1e4} {
		want := bsub(bmul(bf(-r), bf(v)), bmul(bf(2*r), blog(bquo(bf(2*r), badd(bexp(bf(v)), bf(1))))))
		// 2R·log 2R is subtracted from terms of its size.
		if got := (Cube(r)).Conjugate([]float64{v}); math.Abs(f64(bsub(bf(got), want))) > 8*ulp*(r*math.Abs(v)+2*r) {
			t.Errorf("φ*(%g) = %.16g, printed formula %.16g", v, got, f64(want))
		}
	}
	for _, v := range []float64{1e300, -1e300, 800} {
		if got := (Cube(r)).Conjugate([]float64{v}); math.Abs(got-r*math.Abs(v)) > 8*r {
			t.Errorf("φ*(%g) = %g", v, got)
		}
	}
}

// The lift of a kernel is the loop that one would write.
func TestLiftIsTheLoop(t *testing.T) {
	for _, c := range byHand {
		y := normal(source(1), 40, 5)
		lifted, loop := make([]float64, 40), make([]float64, 40)
		c.lifted.ConjugateGradient(lifted, y)
		c.loop(loop, y)
		if !slices.Equal(lifted, loop) {
			t.Errorf("%v: ∇φ* = %v, by hand %v", c.lifted, lifted, loop)
		}
	}
}

// A kernel for each coordinate: Fermi–Dirac on the sides (−R, R) is the cube.
func TestKernelForEachCoordinate(t *testing.T) {
	cube, box := Cube(1.5), FermiDirac([]float64{-1.5, -1.5, -1.5}, []float64{1.5, 1.5, 1.5})
	rng := source(3)
	for range 100 {
		y := normal(rng, 3, 4)
		a, b := slices.Clone(y), slices.Clone(y)
		if _, err := ProjectDual(cube, a, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := ProjectDual(box, b, nil); err != nil {
			t.Fatal(err)
		}
		_, _, p := residual(cube, a)
		_, _, q := residual(box, b)
		if distance(p, q) > 1e-14 || math.Abs(box.Value(p)-cube.Value(p)) > 1e-14 || math.Abs(box.Conjugate(y)-cube.Conjugate(y)) > 1e-13 || math.Abs(box.Divergence(p, q)-cube.Divergence(p, q)) > 1e-14 {
			t.Fatalf("y = %v: cube %v, box %v", y, p, q)
		}
	}
	if s := Scale(box, 2).(Separable); s.Each[1].Deriv(0.5) != 2*box.Each[1].Deriv(0.5) || s.Mu != 2*box.Mu {
		t.Errorf("twice %v is %+v", box, s)
	}
}

func TestOutsideTheDomain(t *testing.T) {
	for _, c := range []struct {
		m Modulus
		x []float64
	}{
		{Ball{1}, []float64{0.8, 0.8}}, {Cube(1), []float64{0, -1.5}}, {NegativeEntropy(), []float64{1, -1e-9}},
		{Ball{1}, []float64{math.NaN(), 0}}, {Cube(1), []float64{math.NaN(), 0}}, {NegativeEntropy(), []float64{math.NaN(), 1}},
	} {
		if c.m.InDomain(c.x) || !math.IsInf(c.m.Value(c.x), 1) || !math.IsInf(Divergence(c.m, c.x, []float64{0.4, 0.4}), 1) {
			t.Errorf("%v: %v passes for a point of the domain", c.m, c.x)
		}
	}
}

func TestNorm(t *testing.T) {
	if got := normP(2, []float64{3e300, 4e300}); math.Abs(got-5e300) > 4*ulp*5e300 {
		t.Errorf("‖(3e300, 4e300)‖₂ = %g", got)
	}
}
