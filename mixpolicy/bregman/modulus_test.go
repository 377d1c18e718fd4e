package bregman_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/hyperdual"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

func axpy(a float64, x, y []float64) []float64 {
	z := make([]float64, len(y))
	for i := range y {
		z[i] = a*x[i] + y[i]
	}
	return z
}

func distance(x, y []float64) float64 { return normP(2, axpy(-1, x, y)) }

// The constants of strong convexity are sharp: D(x; y)/(½‖x−y‖²) comes arbitrarily near to μ.
func TestStrongConvexityIsSharp(t *testing.T) {
	nearTo := func(y ...float64) [2][]float64 { // along (1, −1)
		return [2][]float64{{y[0] + 1e-4, y[1] - 1e-4}, y}
	}
	for _, c := range []struct {
		m  Modulus
		at [2][]float64
	}{
		{Ball{R: 3}, nearTo(0, 0)}, {LogBall{R: 3}, nearTo(0, 0)},
		{Cube(3), nearTo(0, 0)}, {Hellinger(3), nearTo(0, 0)}, {LogCosine(3), nearTo(0, 0)},
		{FermiDirac([]float64{-1, -2}, []float64{2, 1}), nearTo(0.5, -0.5)},
		{FermiDirac([]float64{0, -2}, []float64{2, 4}), [2][]float64{{1, 1 + 1e-4}, {1, 1}}}, // the wider side
		{NegativeEntropy(), nearTo(0.5, 0.5)}, {Burg(), nearTo(0.5, 0.5)}, {Tsallis(0.3), nearTo(0.5, 0.5)},
		{Euclidean(), [2][]float64{{1, 2}, {0, 5}}},
		{PNorm{P: 2}, nearTo(1, 3)}, {PNorm{P: 1.5}, [2][]float64{{1 + 1e-4, 1}, {1, 1 + 1e-4}}},
		{Scale(Ball{R: 3}, 7), nearTo(0, 0)}, {Scale(Cube(3), 7), nearTo(0, 0)},
		{Compose(Ball{R: 3}, mat.NewDense(2, 2, []float64{4, 3, 3, 4})), nearTo(0, 0)}, // σ = 1 along (1, −1), and 7 along (1, 1)
	} {
		mu, p, ok := StrongConvexity(c.m)
		x, y := c.at[0], c.at[1]
		n := normP(p, axpy(-1, y, x))
		if r := Divergence(c.m, x, y) / (n * n / 2); !ok || !(math.Abs(r-mu) <= 1e-6*r) {
			t.Errorf("%v: D/(½‖x−y‖²) = %g, claimed μ = %g", c.m, r, mu)
		}
	}
	for _, m := range []Modulus{PNorm{P: 3}, Compose(NegativeEntropy(), mixing(2))} {
		if mu, _, ok := StrongConvexity(m); ok {
			t.Errorf("%v is said to be %g-strongly convex", m, mu)
		}
	}
}

// over returns the function Σᵢ f(i, xᵢ) of x.
func over(f func(i int, v float64) float64) func([]float64) float64 {
	return func(x []float64) float64 {
		var s float64
		for i, v := range x {
			s += f(i, v)
		}
		return s
	}
}

// For each modulus, the test computes φ literally as the documentation defines it. Values, gradients, conjugates,
// divergences and projections of the modulus agree with this φ.
func TestDefinitions(t *testing.T) {
	const r = 1.7
	lo, hi := []float64{-1, -1.5, -2}, []float64{2, 3, 1.2}
	bit := func(lo, hi, v float64) float64 { return (v-lo)*math.Log(v-lo) + (hi-v)*math.Log(hi-v) }
	cube := over(func(_ int, v float64) float64 { return bit(-r, r, v) })
	ball := func(x []float64) float64 { return -math.Sqrt(r*r - floats.Dot(x, x)) }
	box := over(func(i int, v float64) float64 { return bit(lo[i], hi[i], v) })
	pnorm := func(p float64) func([]float64) float64 {
		return func(x []float64) float64 {
			return math.Pow(over(func(_ int, v float64) float64 { return math.Pow(math.Abs(v), p) })(x), 2/p) / 2
		}
	}
	tsallis := func(q float64) func([]float64) float64 {
		return over(func(_ int, v float64) float64 { return (v - math.Pow(v, q)) / (1 - q) })
	}
	times := func(c float64, phi func([]float64) float64) func([]float64) float64 {
		return func(x []float64) float64 { return c * phi(x) }
	}
	entropy := over(func(_ int, v float64) float64 { return v*math.Log(v) - v })
	square := func(x []float64) float64 { return floats.Dot(x, x) / 2 }
	logarithm := over(func(_ int, v float64) float64 { return -math.Log(v) })
	arc := over(func(_ int, v float64) float64 { return -math.Sqrt(r*r - v*v) })
	for _, c := range []struct {
		m        Modulus
		phi      func([]float64) float64
		positive bool // whether the domain is the positive orthant
	}{
		{Ball{R: r}, ball, false}, {LogBall{R: r}, func(x []float64) float64 { return -math.Log(r*r - floats.Dot(x, x)) }, false},
		{Cube(r), cube, false}, {LogBall{R: 5.1}, func(x []float64) float64 { return -math.Log(5.1*5.1 - floats.Dot(x, x)) }, false},
		{Hellinger(r), arc, false},
		{LogCosine(r), over(func(_ int, v float64) float64 { return -2 * r / math.Pi * math.Log(math.Cos(math.Pi*v/2/r)) }), false},
		{FermiDirac(lo, hi), box, false}, {NegativeEntropy(), entropy, true},
		{Tsallis(0.5), tsallis(0.5), true}, {Tsallis(0.3), tsallis(0.3), true},
		{Burg(), logarithm, true}, {Euclidean(), square, false},
		{PNorm{P: 1.4}, pnorm(1.4), false}, {PNorm{P: 1.5}, pnorm(1.5), false}, {PNorm{P: 2}, pnorm(2), false}, {PNorm{P: 3}, pnorm(3), false},
		{Scale(Ball{R: r}, 5), times(5, ball), false}, {Scale(Cube(r), 5), times(5, cube), false}, {Scale(FermiDirac(lo, hi), 5), times(5, box), false},
		{FromFunc("a function", func(x Dual) Dual { return hyperdual.Sub(hyperdual.Mul(x, hyperdual.Log(x)), x) }, 0, inf), entropy, true},
		{FromFunc("a logarithm", func(x Dual) Dual { return hyperdual.Scale(-1, hyperdual.Log(x)) }, 0, inf), logarithm, true},
		{FromFunc("a square", func(x Dual) Dual { return hyperdual.Scale(0.5, hyperdual.Mul(x, x)) }, -inf, inf), square, false},
		{Compose(Ball{R: 5}, mixing(3)), func(x []float64) float64 {
			var ax mat.VecDense
			ax.MulVec(mixing(3), mat.NewVecDense(3, x))
			return -math.Sqrt(25 - mat.Dot(&ax, &ax))
		}, false},
		{halfCircleFunc(r), arc, false}, {Separable{Kernel: plainKernel{Hellinger(r).Kernel}}, arc, false},
	} {
		name := fmt.Sprint(c.m)
		blind := strings.HasSuffix(name, "∘ A") // JSecond may be NaN
		rng := source(40)
		draw := func() []float64 {
			x := make([]float64, 3)
			for i := range x {
				x[i] = 0.1 + 0.85*rng.Float64()
				if !c.positive && rng.IntN(2) == 0 {
					x[i] = -x[i]
				}
			}
			return x
		}
		for range 20 {
			x, z := draw(), draw()
			y, back, on := slices.Repeat([]float64{math.NaN()}, 3), slices.Repeat([]float64{math.NaN()}, 3), make([]float64, 3)
			c.m.Gradient(y, x)
			c.m.ConjugateGradient(back, y)
			copy(on, y)
			shift := must(ProjectDual(c.m, on, nil))
			e := axpy(-1, x, z)
			for _, v := range []struct {
				name      string
				got, want float64
				within    float64 // relative to 1 + |want|: rounding, or the error of difference quotients
			}{
				{"φ(x)", c.m.Value(x), c.phi(x), 1e-13},
				{"φ*(y)", Conjugate(c.m, y), floats.Dot(x, y) - c.phi(x), 1e-13},
				{"D(z; x)", Divergence(c.m, z, x), c.phi(z) - c.phi(x) - floats.Dot(e, y), 1e-12},
				{"⟨∇φ(x), e⟩", floats.Dot(y, e), fd.Derivative(func(h float64) float64 { return c.phi(axpy(h, e, x)) }, 0, &fd.Settings{Formula: fd.Central}), 1e-6},
				{"‖∇φ*(∇φ(x)) − x‖", distance(back, x), 0, 1e-13},
				{"J′(z)", JDeriv(c.m, y, must(Shift(c.m, y, nil))), 0, 1e-12},
				{"J′(0) after projection", JDeriv(c.m, on, 0), 0, 1e-12},
				{"‖y + z1 − projection‖", distance(on, axpy(shift, []float64{1, 1, 1}, y)), 0, 1e-13 * (1 + math.Abs(shift))},
				{"J(0.01)", J(c.m, y, 0.01), Conjugate(c.m, axpy(0.01, []float64{1, 1, 1}, y)) - 0.01, 1e-14},
				{"J′(0.01)", JDeriv(c.m, y, 0.01), fd.Derivative(func(h float64) float64 { return J(c.m, y, 0.01+h) }, 0, &fd.Settings{Formula: fd.Central}), 1e-6},
				{"J″(0.01)", JSecond(c.m, y, 0.01), fd.Derivative(func(h float64) float64 { return JDeriv(c.m, y, 0.01+h) }, 0, &fd.Settings{Formula: fd.Central}), 1e-6},
			} {
				if math.IsNaN(v.got) && v.name == "J″(0.01)" && blind {
					continue
				}
				if !(math.Abs(v.got-v.want) <= v.within*(1+math.Abs(v.want))) {
					t.Errorf("%v, x = %v: %s = %.15g, want %.15g", c.m, x, v.name, v.got, v.want)
				}
			}
			if !c.m.InDomain(x) {
				t.Errorf("%v: x = %v is not in the domain", c.m, x)
			}
		}
	}
}

// Far from 0, the conjugates of both balls grow like ‖y‖: φ* and the shift are homogeneous of degree 1, ∇φ* of degree
// 0, and J″ of degree −1, even where squares overflow.
func TestBallsFarOut(t *testing.T) {
	rng := source(41)
	if got := JSecond(Ball{R: 1.7}, slices.Repeat([]float64{0x1p600}, 5), 0); got != 0 { // about 2⁻¹⁸⁰⁰
		t.Errorf("J″ = %g far out on the diagonal", got)
	}
	if got := (LogBall{R: 1e270}).Conjugate([]float64{1e-117}); math.Abs(got-1e153) > 1e-13*1e153 { // R‖y‖
		t.Errorf("φ* = %g of a large log ball near 0", got)
	}
	for _, c := range []struct{ r, far float64 }{{1.7, 0x1p600}, {0x1p30, 0x1p600}, {0x1p450, 0x1p500}, {0.6, 0x1p950}} {
		for _, m := range []Modulus{Ball{R: c.r}, LogBall{R: c.r}} {
			const d = 5
			far, y, y2, x, x2 := c.far, make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
			for i := range y {
				y[i] = 0x1p72 * (1 + rng.Float64())
				y2[i] = y[i] * far
			}
			m.ConjugateGradient(x, y)
			m.ConjugateGradient(x2, y2)
			for _, v := range []struct {
				name      string
				near, far float64
			}{
				{"φ*", Conjugate(m, y), Conjugate(m, y2) / far},
				{"z", must(m.(Shifter).Shift(y)), must(m.(Shifter).Shift(y2)) / far},
				{"J″", JSecond(m, y, 0), JSecond(m, y2, 0) * far},
				{"∇φ*₁", x[0], x2[0]},
			} {
				if !(math.Abs(v.near-v.far) <= 1e-13*math.Abs(v.near)) {
					t.Errorf("%v: %s = %g at y, and %g scaled back from a large multiple of y", m, v.name, v.near, v.far)
				}
			}
		}
	}
}

// Divergence agrees with its definition in 400-bit arithmetic, for arguments far apart, close together, and near the
// boundary.
func TestDivergenceAccuracy(t *testing.T) {
	rng := source(2)
	const r = 1.7
	var near, edge float64
	inBall := func(x, y []float64) {
		copy(y, normal(rng, len(y), 1))
		floats.Scale(r*edge/normP(2, y), y)
		copy(x, axpy(near*(1-edge), normal(rng, len(y), 1), y))
	}
	inCube := func(x, y []float64) {
		for i := range y {
			y[i] = r * edge * (2*rng.Float64() - 1)
			x[i] = y[i] + near*(r-math.Abs(y[i]))*rng.NormFloat64()
		}
	}
	positive := func(x, y []float64) {
		for i := range y {
			y[i] = math.Exp(-20 * rng.Float64())
			x[i] = math.Abs(y[i] * (1 + near*rng.NormFloat64()))
		}
	}
	total := func(f func(x, y float64) *big.Float) func(x, y []float64) *big.Float {
		return func(x, y []float64) *big.Float {
			s := bzero()
			for i := range x {
				s = badd(s, f(x[i], y[i]))
			}
			return s
		}
	}
	trials := 400
	if testing.Short() {
		trials = 100
	}
	for _, c := range []struct {
		m    Modulus
		draw func(x, y []float64)
		want func(x, y []float64) *big.Float
		ulps float64
	}{
		{Ball{R: r}, inBall, func(x, y []float64) *big.Float { return bigBallDivergence(r, x, y) }, 20},
		{LogBall{R: r}, inBall, func(x, y []float64) *big.Float { // −log gx + log gy − 2⟨y, x − y⟩/gy
			gx, gy := bigBallGap(r, x), bigBallGap(r, y)
			return bsub(blog(bquo(gy, gx)), bquo(bmul(bf(2), bsub(bdot(x, y), bdot(y, y))), gy))
		}, 40},
		{Cube(r), inCube, func(x, y []float64) *big.Float { return bigCubeDivergence(r, x, y) }, 20},
		{Hellinger(r), inCube, total(func(x, y float64) *big.Float { return bigBallDivergence(r, []float64{x}, []float64{y}) }), 20},
		{NegativeEntropy(), positive, total(func(x, y float64) *big.Float { return bigEntropyTerm(bf(x), bf(y)) }), 20},
		{Burg(), positive, total(func(x, y float64) *big.Float {
			q := bquo(bf(x), bf(y))
			return bsub(bsub(q, blog(q)), bf(1))
		}), 20},
	} {
		for trial := range trials {
			near, edge = math.Pow(10, -12*rng.Float64()), 1-math.Pow(10, -15*rng.Float64())
			x, y := make([]float64, 1+trial%6), make([]float64, 1+trial%6)
			if c.draw(x, y); distance(x, y) == 0 || !c.m.InDomain(x) || !c.m.InDomain(y) {
				continue
			}
			want := c.want(x, y)
			if e := relErr(Divergence(c.m, x, y), want); e > c.ulps*ulp {
				t.Fatalf("%v, trial %d: D = %g off by %.2g relative (near %.1g, edge %.1g)", c.m, trial, f64(want), e, near, 1-edge)
			}
			if ball, ok := c.m.(Ball); ok {
				g, q := make([]float64, len(x)), bsqrt(bigBallGap(r, x))
				ball.Gradient(g, x)
				for i := range g {
					if e := relErr(g[i], bquo(bf(x[i]), q)); e > 3*ulp {
						t.Fatalf("trial %d: ball, ∇φ off by %.2g relative", trial, e)
					}
				}
			}
		}
	}
}

// In exact arithmetic, (3.11) as printed is the conjugate. In floating point, exp v overflows in (3.11); our form does
// not overflow.
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

func TestOutsideTheDomain(t *testing.T) {
	roots := FromVectorFunc("roots", func(x []Dual) Dual { // its gradient is not finite at 0
		return hyperdual.Scale(-1, hyperdual.Add(hyperdual.Sqrt(x[0]), hyperdual.Sqrt(x[1])))
	}, []float64{1, 1})
	for _, c := range []struct {
		m Modulus
		x []float64
	}{
		{Ball{R: 1}, []float64{0.8, 0.8}}, {LogBall{R: 1}, []float64{0.8, 0.8}}, {Cube(1), []float64{0, -1.5}}, {NegativeEntropy(), []float64{1, -1e-9}},
		{Ball{R: 1}, []float64{math.NaN(), 0}}, {Cube(1), []float64{math.NaN(), 0}}, {NegativeEntropy(), []float64{math.NaN(), 1}},
		{struct{ Modulus }{Ball{R: 1}}, []float64{0.8, 0.8}}, {LogBall{R: 1}, []float64{1, 0}}, {LogCosine(1), []float64{1, 0}}, {Burg(), []float64{0, 1}}, {roots, []float64{-1, 1}}, // φ = ∞ on the boundary too
	} {
		if c.m.InDomain(c.x) || !math.IsInf(c.m.Value(c.x), 1) || !math.IsInf(Divergence(c.m, c.x, []float64{0.4, 0.4}), 1) {
			t.Errorf("%v: %v passes for a point of the domain", c.m, c.x)
		}
	}
	for _, m := range []Modulus{struct{ Modulus }{Ball{R: 1}}, LogBall{R: 1}} {
		if d := Divergence(m, []float64{0.4, 0.4}, []float64{0.8, 0.8}); !math.IsInf(d, 1) {
			t.Errorf("D = %g from a point outside of %v", d, m)
		}
	}
	for _, m := range everything(3) {
		for i := range 3 {
			for _, v := range []float64{math.NaN(), inf, math.Inf(-1)} {
				x := []float64{0.1, 0.2, 0.3}
				if x[i] = v; m.InDomain(x) || CheckDomain(m, x) == nil || !strings.Contains(CheckDomain(m, x).Error(), fmt.Sprintf("x[%d] = %g", i, v)) {
					t.Errorf("%v: %v is in the domain, or %v", m, x, CheckDomain(m, x))
				}
			}
		}
	}
	for _, m := range []Modulus{Euclidean(), NegativeEntropy(), Tsallis(0.5), Burg(), PNorm{P: 3}} {
		if x := []float64{1e100, 1e-100}; !m.InDomain(x) {
			t.Errorf("%v: %v is not in the domain", m, x)
		}
	}
	if x := []float64{-1e100, 1}; !Euclidean().InDomain(x) {
		t.Errorf("Euclidean: %v is not in the domain", x)
	}
	// On the boundary, φ(x) and D(x; y) may be finite, but D(y; x) is infinite.
	for _, c := range []struct {
		m         Modulus
		x, y      []float64
		phi, dist float64
	}{
		{Ball{R: 2}, []float64{0, -2}, []float64{0, 0}, 0, 2},
		{Hellinger(2), []float64{0, -2}, []float64{0, 0}, -2, 2},
		{Cube(2), []float64{0, -2}, []float64{0, 0}, 12 * math.Ln2, 4 * math.Ln2},
		{Cube(2), []float64{0, 2}, []float64{0, 0}, 12 * math.Ln2, 4 * math.Ln2},
		{struct{ Modulus }{Ball{R: 2}}, []float64{0, -2}, []float64{0, 0}, 0, 2},
		{FermiDirac([]float64{0, 0}, []float64{4, 4}), []float64{2, 0}, []float64{2, 2}, 12 * math.Ln2, 4 * math.Ln2},
		{FermiDirac([]float64{0, 0}, []float64{4, 4}), []float64{2, 4}, []float64{2, 2}, 12 * math.Ln2, 4 * math.Ln2},
		{NegativeEntropy(), []float64{0, 1}, []float64{2, 1}, -1, 2},
		{Tsallis(0.5), []float64{0, 4}, []float64{1, 4}, 4, 1},
		{roots, []float64{0, 1}, []float64{4, 1}, -1, 1}, {roots, []float64{1, 0}, []float64{1, 4}, -1, 1},
	} {
		phi, dist, back := c.m.Value(c.x), Divergence(c.m, c.x, c.y), Divergence(c.m, c.y, c.x)
		if c.m.InDomain(c.x) || math.Abs(phi-c.phi) > 8*ulp*(1+math.Abs(c.phi)) || math.Abs(dist-c.dist) > 8*ulp*c.dist || !math.IsInf(back, 1) {
			t.Errorf("%v: in the domain %v, φ = %g, want %g, D = %g, want %g, and %g, want ∞", c.m, c.m.InDomain(c.x), phi, c.phi, dist, c.dist, back)
		}
	}
}

const ulp = 0x1p-52

func normP(p float64, x []float64) float64 { return floats.Norm(x, p) }

func maxAbs(x []float64) float64 { return floats.Norm(x, inf) }

// entropic is the kernel of the entropy, without optional methods.
var entropic = FromClosures("entropy", func(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x*math.Log(x) - x
}, math.Log, math.Exp, 0, inf).Kernel

// condition returns how far ∇φ*(y) moves if every entry of y changes by an ulp, plus an ulp of ‖∇φ*(y)‖.
func condition(m Modulus, y []float64) float64 {
	x, moved := make([]float64, len(y)), make([]float64, len(y))
	for i, v := range y {
		moved[i] = v * (1 + 4*ulp)
	}
	m.ConjugateGradient(x, y)
	m.ConjugateGradient(moved, moved)
	return distance(x, moved)/4 + ulp*norm(x)
}
