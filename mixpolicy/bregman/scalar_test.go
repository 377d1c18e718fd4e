package bregman

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// A sketch has the sign, the range and the limits of (φ*)′, is as near to it as its doc comment
// says, and its second value is its own slope.
func TestSketches(t *testing.T) {
	for _, c := range []struct {
		m interface {
			KernelSketcher
			ConjDeriv(y float64) float64
		}
		within float64 // of the gap to ±R
	}{
		{Hellinger{3}, .16},
		{LogCosine{3}, .1},
	} {
		for e := -8.; e <= 12; e += .05 {
			y := math.Pow(10, e)
			x, slope := c.m.Sketch(y)
			if gap, want := 3-x, 3-c.m.ConjDeriv(y); e < 5 && math.Abs(gap-want) > c.within*want {
				t.Errorf("%v: at y = %g the gap is %g, that of (φ*)′ %g", c.m, y, gap, want)
			}
			if minus, same := c.m.Sketch(-y); minus != -x || same != slope {
				t.Errorf("%v: at ∓%g: %v and %v, with slopes %v and %v", c.m, y, minus, x, same, slope)
			}
			h := y * 1e-5
			above, _ := c.m.Sketch(y + h)
			below, _ := c.m.Sketch(y - h)
			// The difference has an error of h²/6 times a third derivative, of the order slope/y², and
			// that of two numbers near x, over 2h.
			if d := (above - below) / (2 * h); math.Abs(d-slope) > 1e-8*slope+2*3*ulp/h {
				t.Errorf("%v: slope %g at y = %g, differences say %g", c.m, slope, y, d)
			}
		}
		// To leading order at 0 it is (φ*)′ itself.
		if x, slope := c.m.Sketch(0); x != 0 || math.Abs(slope-c.m.ConjDeriv(1e-9)*1e9) > 1e-8*slope {
			t.Errorf("%v: at 0: %v with slope %v", c.m, x, slope)
		}
		if x, slope := c.m.Sketch(math.MaxFloat64); !(x > 2.999 && x <= 3 && slope >= 0) {
			t.Errorf("%v: at the greatest y: %v with slope %v", c.m, x, slope)
		}
	}
}

// Values near 0 and near the ends, where a formula taken as it stands loses its digits, against
// the first terms of expansions: −log cos u = u²/2 + u⁴/12 + …, and tan of what is left of a
// right angle.
func TestLogCosineNearItsEnds(t *testing.T) {
	const r = 3.
	l := LogCosine{r}
	for _, x := range []float64{1e-9, -1e-5, 1e-3} {
		u := math.Pi / 2 * (x / r)
		want := 2 * r / math.Pi * (u * u / 2) * (1 + u*u/6)
		if got := l.Value([]float64{x}); math.Abs(got-want) > (8*ulp+u*u*u*u/40)*want {
			t.Errorf("φ(%g) = %.17g, want %.17g", x, got, want)
		}
	}
	for _, gap := range []float64{0x1p-40, 0x1p-20} { // R − gap is exact
		v := math.Pi / 2 * (gap / r)
		if got, want := l.Deriv(r-gap), 1/v*(1-v*v/3); math.Abs(got-want) > 8*ulp*want {
			t.Errorf("φ′(R − %g) = %.17g, want %.17g", gap, got, want)
		}
		if got, want := l.Deriv(gap-r), -1/v*(1-v*v/3); math.Abs(got-want) > -8*ulp*want {
			t.Errorf("φ′(−R + %g) = %.17g, want %.17g", gap, got, want)
		}
		if got, want := l.Value([]float64{r - gap}), -2*r/math.Pi*(math.Log(v)-v*v/6); math.Abs(got-want) > 8*ulp*want {
			t.Errorf("φ(R − %g) = %.17g, want %.17g", gap, got, want)
		}
	}
	for _, x := range []float64{r, -r, 4, math.NaN()} {
		if got := l.Value([]float64{0, x}); !math.IsInf(got, 1) {
			t.Errorf("φ(%g) = %g outside of the domain", x, got)
		}
	}
}

// The divergence of a kernel that gives no more than it must, between points so near that
// values cancel: D(x; y) = ½(x−y)²φ″(y) + ⅙(x−y)³φ‴(y), with φ = cosh. By differences of φ′
// it has the digits that these leave: |φ′|·2⁻⁵³ of |x−y|φ″.
func TestKernelDivergenceOfNearPoints(t *testing.T) {
	for _, y := range []float64{-2, .5, 3} {
		for _, e := range []float64{1e-3, -1e-4, 1e-6} {
			want := e * e / 2 * (math.Cosh(y) + e/3*math.Sinh(y))
			got := kernelDivergence(hyperbolic{}, y+e, y)
			rounded := 16 * ulp * math.Abs(math.Sinh(y)) / (math.Abs(e) * math.Cosh(y)) // relative, with that of y + e
			if math.Abs(got-want) > (e*e+rounded+4*ulp*math.Abs(y/e))*want {
				t.Errorf("D(%g + %g; ·) = %g, want %g", y, e, got, want)
			}
		}
	}
	if got, want := kernelDivergence(hyperbolic{}, 2, -1), math.Cosh(2)-math.Cosh(-1)-3*math.Sinh(-1); math.Abs(got-want) > 8*ulp*want {
		t.Errorf("D(2; −1) = %v, want %v", got, want)
	}
	arc := semicircle{} // on [−1, 1]
	for _, c := range []struct{ x, y, want float64 }{{1, 0, 1}, {-1, 0, 1}, {1, 1, math.Inf(1)}, {1.5, 0, math.Inf(1)}, {0, -1, math.Inf(1)}} {
		if got := kernelDivergence(arc, c.x, c.y); got != c.want && math.Abs(got-c.want) > 4*ulp {
			t.Errorf("half circle: D(%g; %g) = %g, want %g", c.x, c.y, got, c.want)
		}
	}
}

type hyperbolic struct{}

func (hyperbolic) Value(x float64) float64     { return math.Cosh(x) }
func (hyperbolic) Deriv(x float64) float64     { return math.Sinh(x) }
func (hyperbolic) ConjDeriv(y float64) float64 { return math.Asinh(y) }
func (hyperbolic) Domain() (lo, hi float64)    { return math.Inf(-1), math.Inf(1) }

// semicircle is −√(1−x²).
type semicircle struct{}

func (semicircle) Value(x float64) float64     { return -math.Sqrt(1 - x*x) }
func (semicircle) Deriv(x float64) float64     { return x / math.Sqrt(1-x*x) }
func (semicircle) ConjDeriv(y float64) float64 { return y / math.Hypot(1, y) }
func (semicircle) Domain() (lo, hi float64)    { return -1, 1 }

// Constants of strong convexity that are computed: λ_min(Q), of a matrix with known
// eigenvalues; and for the barrier of [−1, 1]², with the Hessian diag(1/(1−x)² + 1/(1+x)²) ⪰ 2 I,
// a bound that is positive and no more than 2.
func TestComputedStrongConvexity(t *testing.T) {
	q, err := NewMahalanobis(mat.NewSymDense(2, []float64{2, 1, 1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	if mu, norm := q.StrongConvexity(); math.Abs(mu-1) > 8*ulp || norm != 2 {
		t.Errorf("Mahalanobis: %v in %v, want λ_min = 1 in ℓ₂", mu, norm)
	}
	b, err := NewLogBarrier(mat.NewDense(4, 2, []float64{1, 0, -1, 0, 0, 1, 0, -1}), []float64{1, 1, 1, 1}, []float64{.3, -.2})
	if err != nil {
		t.Fatal(err)
	}
	// The centre is 0, H = 2I, and each slack at most 1 + (4 + 2√4)/√2: two rows of it along an axis.
	want := 2 / math.Pow(1+8/math.Sqrt2, 2)
	if mu, norm := b.StrongConvexity(); math.Abs(mu-want) > 1e-7*want || norm != 2 {
		t.Errorf("barrier: %v in %v, want %v in ℓ₂", mu, norm, want)
	}
	cone, err := NewLogBarrier(mat.NewDense(2, 2, []float64{-1, 0, 0, -1}), []float64{0, 0}, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if mu, _ := cone.StrongConvexity(); mu != 0 {
		t.Errorf("barrier of an orthant: %v, want 0", mu)
	}
}

// A kernel whose slope at 0 is not 0 makes no radial modulus, and what overflows is said to.
func TestRefused(t *testing.T) {
	if err := Validate(Radial{tilted{}}, 2); err == nil || !strings.Contains(err.Error(), "k′(0) = 1") {
		t.Errorf("radial: error %v", err)
	}
	if _, err := Shift(infinite{Euclidean{}}, []float64{1, 2}, nil); err == nil || !strings.Contains(err.Error(), "overflows") {
		t.Errorf("shift: error %v", err)
	}
	for _, w := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if err := Validate(FermiDirac{[]float64{0, 0}, []float64{1, w}}, 2); err == nil {
			t.Errorf("Fermi–Dirac with an end %v: no error", w)
		}
	}
	for _, q := range []float64{0, -1, 1, 2, math.NaN()} {
		if err := Validate(Tsallis{q}, 2); err == nil {
			t.Errorf("Tsallis with q = %v: no error", q)
		}
	}
}

// tilted is ½x² + x on (−2, 2).
type tilted struct{}

func (tilted) Value(x float64) float64     { return x*x/2 + x }
func (tilted) Deriv(x float64) float64     { return x + 1 }
func (tilted) ConjDeriv(y float64) float64 { return y - 1 }
func (tilted) Domain() (lo, hi float64)    { return -2, 2 }

type infinite struct{ Euclidean }

func (infinite) Shift([]float64) (float64, error) { return math.Inf(1), nil }
