package bregman_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/hyperdual"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

var million = flag.Bool("million", false, "take long: a million dual points, all seeds of the book of mistakes")

var inf = math.Inf(1)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 20190316)) }

func normal(rng *rand.Rand, d int, scale float64) []float64 {
	x := make([]float64, d)
	for i := range x {
		x[i] = scale * rng.NormFloat64()
	}
	return x
}

// must returns v, or panics with err.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// halfSphere is the modulus of the ball by automatic differentiation.
func halfSphere(r float64, d int) Modulus {
	return FromVectorFunc("half sphere", func(x []Dual) Dual {
		gap := Dual{Real: r * r}
		for _, v := range x {
			gap = hyperdual.Sub(gap, hyperdual.Mul(v, v))
		}
		return hyperdual.Scale(-1, hyperdual.Sqrt(gap))
	}, make([]float64, d))
}

// halfCircleFunc is Hellinger's kernel by automatic differentiation.
func halfCircleFunc(r float64) Separable {
	return FromFunc("half circle", func(x Dual) Dual {
		return hyperdual.Scale(-1, hyperdual.Sqrt(hyperdual.Mul(hyperdual.Sub(Dual{Real: r}, x), hyperdual.Add(Dual{Real: r}, x))))
	}, -r, r)
}

// mixing returns an invertible d × d matrix.
func mixing(d int) *mat.Dense {
	data := make([]float64, d*d)
	for k := range data {
		data[k] = math.Cos(float64(k*k))/3 + float64(max(0, 1-k%(d+1)))
	}
	return mat.NewDense(d, d, data)
}

// everything returns moduli in ℝᵈ: the moduli of Gallery, variants of these, and results of Scale, Compose and Sum.
func everything(d int) []Modulus {
	lo, hi := make([]float64, d), make([]float64, d)
	for i := range d {
		lo[i], hi[i] = -1-float64(i)/3, 2+float64(i%3)
	}
	return append(Gallery(d, 2), PNorm{P: 3}, Tsallis(0.9), FermiDirac(lo, hi),
		FromFunc("a function", func(x Dual) Dual { return hyperdual.Sub(hyperdual.Mul(x, hyperdual.Log(x)), hyperdual.Log(x)) }, 0, inf),
		halfCircleFunc(2), Scale(Ball{R: 2}, 3), Scale(NegativeEntropy(), 0.2), Scale(FermiDirac(lo, hi), 3), halfSphere(2, d),
		Compose(Ball{R: 2}, mixing(d)), Scale(Compose(Cube(2), mixing(d)), 0.5),
		Sum(d, NegativeEntropy(), Scale(Burg(), 0.1)), Sum(d, FermiDirac(lo, hi), Euclidean()),
	)
}

// Every modulus of the package passes Check in several dimensions, and so does a φ that overflows. Check does not call a
// ∇φ* flat if only rounding makes it constant.
func TestCheckPasses(t *testing.T) {
	for _, d := range []int{2, 5, 1} {
		if d != 2 && testing.Short() {
			break
		}
		split := Product(Block{Scale(Ball{R: 2}, 3), (d + 1) / 2}, Block{NegativeEntropy(), 0})
		for _, m := range append(everything(d), split, struct{ Modulus }{Burg()}, FromClosures("cosh", math.Cosh, math.Sinh, math.Asinh, -inf, inf)) {
			if r := Check(context.Background(), m, d, 1); r.Err() != nil || strings.Contains(r.String(), "flat beyond") {
				t.Error(r)
			}
		}
	}
}

// If a modulus claims no constant of strong convexity, Check estimates one from above: here, to within a tenth.
func TestStrongConvexityIsEstimated(t *testing.T) {
	for _, m := range []Modulus{Ball{R: 2}, Cube(2), NegativeEntropy()} {
		var least [3]float64
		_, text, _ := strings.Cut(Check(t.Context(), struct{ Modulus }{m}, 3, 1).String(), "none claimed; ")
		fmt.Sscanf(text, "least seen %g in ℓ₁, %g in ℓ₂", &least[1], &least[2])
		if mu, p, _ := StrongConvexity(m); !(0.999*mu < least[int(p)] && least[int(p)] < 1.1*mu) {
			t.Errorf("%v: %q, want %v in ℓ%v", m, text, mu, p)
		}
	}
}

// Near the boundary of a small ball, difference quotients are less exact than they seem. Check allows for this.
func TestSlopesNearTheBoundary(t *testing.T) {
	if err := Check(context.Background(), Scale(Ball{R: 1e-3 * 1.37}, 3), 2, 101).Err(); err != nil {
		t.Error(err)
	}
}

// If ∇φ* is constant far out, Check notes beyond which y, with the sign of y, and reports no mistake.
func TestFlatIsRemarked(t *testing.T) {
	tanh := func(y float64) float64 { return 2 * math.Tanh(y/2) }
	for want, conj := range map[string]function{
		"flat beyond y = 15\n":      func(y float64) float64 { return tanh(max(-15, min(15, y))) },
		"flat beyond y = −25\n":     func(y float64) float64 { return tanh(max(-25, y)) },
		"flat beyond y = 14.5087\n": func(y float64) float64 { return max(-2*0.999999, min(2*0.999999, tanh(y))) },
	} {
		k := bits(2)
		k.conj = conj
		if r := Check(context.Background(), k.modulus(), 3, 1); r.Err() != nil || !strings.Contains(r.String(), want) {
			t.Errorf("want %q in\n%v", want, r)
		}
	}
}

// Check reports no mistake in a correct modulus, for any radius, dimension and seed.
func TestNoFalseAlarms(t *testing.T) {
	trials, rng := 2, source(30)
	if *million {
		trials = 60
	} else if testing.Short() {
		t.Skip("checks the whole gallery, some seconds")
	}
	for range trials {
		for _, d := range []int{2, 3, 16} {
			r, seed := math.Pow(10, 6*rng.Float64()-3), rng.Uint64()
			for _, m := range append(Gallery(d, r), Tsallis(r/(1+r)), PNorm{P: 1.1 + 0.9/(1+r)}, Scale(Ball{R: r}, 3), Scale(Cube(1), r), Scale(Burg(), r)) {
				if err := Check(context.Background(), m, d, seed).Err(); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		}
	}
}

// The same seed gives the same report. The report prints one line for each examination, and contains the points of two
// curves.
func TestReport(t *testing.T) {
	r := Check(context.Background(), Ball{R: 2}, 3, 1)
	if s := r.String(); len(r.Taylor) < 5 || len(r.Boundary) < 20 || !strings.HasPrefix(s, "ball, R = 2, d = 3\nholds") || strings.Count(s, "\n") != len(r.Examinations)+1 {
		t.Errorf("%d points of the Taylor curve, %d of the boundary curve, and\n%s", len(r.Taylor), len(r.Boundary), s)
	}
	if a, b := Check(context.Background(), Cube(2), 3, 5), Check(context.Background(), Cube(2), 3, 5); a.String() != b.String() {
		t.Errorf("the same seed gives different reports:\n%v\n%v", a, b)
	}
	last := r.Taylor[len(r.Taylor)-1]
	if order := math.Log(r.Taylor[0].Y/last.Y) / math.Log(r.Taylor[0].X/last.X); math.Abs(order-2) > 0.3 {
		t.Errorf("the Taylor remainder falls with the order %g", order)
	}
	r = &Report{
		Modulus: "m", Dim: 3,
		Findings: []Finding{
			{Kind: Disagrees, Words: "Deriv is −1 times the derivative of Value", Where: "x = 0.3", Measured: 0.5, Claimed: -0.5},
			{Kind: Panics, Words: "Deriv panics: oh", Where: "a.go:3", Measured: math.NaN()},
			{Kind: Disagrees, Words: "close", Measured: -2, Claimed: -2.000000001},
		},
		Examinations: []Examination{
			{Name: "first", OK: true, Worst: 0.12, Limit: 0.5, Note: "claimed 1"},
			{Name: "second one", Worst: 2, Limit: 1, Note: "of two", Where: "x = 1"},
			{Name: "third", OK: true, Note: "left out"},
			{Name: "fourth", OK: true},
		},
	}
	const findings = "methods disagree: Deriv is −1 times the derivative of Value, at x = 0.3: measured 0.5, claimed −0.5\n%[1]sa panic: Deriv panics: oh, at a.go:3\n" +
		"%[1]smethods disagree: close: measured −2, claimed −2.000000001"
	want := "m, d = 3\n" + fmt.Sprintf(findings, "") + "\nholds  first       24 %     claimed 1\nFAILS  second one  2 times  of two x = 1\n–      third                left out\nholds  fourth               \n"
	if r.String() != want {
		t.Errorf("%q, want %q", r, want)
	}
	if err, want := r.Err(), "bregman: m in ℝ^3:\n\t"+fmt.Sprintf(findings, "\t"); fmt.Sprint(err) != want {
		t.Errorf("%v, want %v", err, want)
	}
	for want, e := range map[string]Examination{
		"": {Worst: 0}, "0 %": {Worst: -3, Limit: 1e-9}, "< 0.1 %": {Worst: 9e-4, Limit: 1}, "0.1 %": {Worst: 1e-3, Limit: 1},
		"100 %": {Worst: 2, Limit: 2}, "1.01 times": {Worst: 2.02, Limit: 2}, "4e+11 times": {Worst: 4.2e11, Limit: 1}, "+Inf times": {Worst: inf, Limit: 1},
	} {
		if got := e.Share(); got != want {
			t.Errorf("%g of %g is %q, want %q", e.Worst, e.Limit, got, want)
		}
	}
}

// A check whose context has ended returns no examination, and an error that says so.
func TestCheckStops(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if r := Check(ctx, Cube(2), 2, 1); len(r.Examinations) > 0 || !strings.Contains(fmt.Sprint(r.Err()), "stopped: the examination ended early: context canceled") {
		t.Error(r)
	}
}

// consistent checks that a report has findings if and only if an examination fails or none was made, that each
// finding says what is wrong, and that no examination passes with a NaN or beyond its limit.
func consistent(t *testing.T, r *Report) {
	t.Helper()
	fails := len(r.Examinations) == 0
	for _, e := range r.Examinations {
		fails = fails || !e.OK
		if e.OK && (math.IsNaN(e.Worst) || e.Worst > e.Limit) {
			t.Fatalf("%+v passes", e)
		}
	}
	if fails != (r.Err() != nil) {
		t.Fatalf("examinations fail: %v; findings: %v", fails, r.Err())
	}
	for _, f := range r.Findings {
		if f.Words == "" || strings.Contains(f.String(), "%!") {
			t.Fatalf("%+v", f)
		}
		for _, p := range slices.Concat(f.MeasuredCurve, f.ClaimedCurve) {
			if s := p.X + p.Y; s-s != 0 {
				t.Fatalf("%v: its curve has the point %v", f, p)
			}
		}
	}
	if s := r.String(); strings.Contains(s, "%!") {
		t.Fatal(s)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(uint8(0), 1.5, 0.0, 1.0)
	f.Add(uint8(1), 0.5, -1.0, 2.0)
	f.Add(uint8(2), 3.0, -1e300, 1e300)
	f.Add(uint8(3), 0.1, 0.0, math.Inf(1))
	f.Fuzz(func(t *testing.T, kind uint8, p, lo, hi float64) {
		phi := []func(x Dual) Dual{
			func(x Dual) Dual { return hyperdual.PowReal(x, p) },
			func(x Dual) Dual {
				return hyperdual.Scale(-1, hyperdual.Log(hyperdual.Sub(Dual{Real: p}, hyperdual.Mul(x, x))))
			},
			func(x Dual) Dual { return hyperdual.Scale(p, hyperdual.Exp(x)) },
			func(x Dual) Dual { return hyperdual.Add(hyperdual.Scale(p, hyperdual.Sin(x)), hyperdual.Mul(x, x)) },
			func(x Dual) Dual { return hyperdual.Inv(hyperdual.Sub(x, Dual{Real: p})) },
		}[kind%5]
		consistent(t, Check(context.Background(), FromFunc("a function", phi, lo, hi), 2, 1))
	})
}
