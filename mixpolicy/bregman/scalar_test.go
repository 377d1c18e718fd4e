package bregman

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Values near 0 and near the ends, where a formula taken as it stands loses its digits, against
// the first terms of expansions: −log cos u = u²/2 + u⁴/12 + …, and tan of what is left of a
// right angle.
func TestLogCosineNearItsEnds(t *testing.T) {
	const r = 3.
	l := LogCosine(r)
	for _, x := range []float64{1e-9, -1e-5, 1e-3} {
		u := math.Pi / 2 * (x / r)
		want := 2 * r / math.Pi * (u * u / 2) * (1 + u*u/6)
		if got := l.Value([]float64{x}); math.Abs(got-want) > (8*ulp+u*u*u*u/40)*want {
			t.Errorf("φ(%g) = %.17g, want %.17g", x, got, want)
		}
	}
	for _, gap := range []float64{0x1p-40, 0x1p-20} { // R − gap is exact
		v := math.Pi / 2 * (gap / r)
		if got, want := l.Kernel.Deriv(r-gap), 1/v*(1-v*v/3); math.Abs(got-want) > 8*ulp*want {
			t.Errorf("φ′(R − %g) = %.17g, want %.17g", gap, got, want)
		}
		if got, want := l.Kernel.Deriv(gap-r), -1/v*(1-v*v/3); math.Abs(got-want) > -8*ulp*want {
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

// The constant of strong convexity is λ_min(Q), here of a matrix with known eigenvalues.
func TestComputedStrongConvexity(t *testing.T) {
	q, err := NewMahalanobis(mat.NewSymDense(2, []float64{2, 1, 1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	if mu, norm := q.StrongConvexity(); math.Abs(mu-1) > 8*ulp || norm != 2 {
		t.Errorf("Mahalanobis: %v in %v, want λ_min = 1 in ℓ₂", mu, norm)
	}
}

func TestRefused(t *testing.T) {
	if _, err := Shift(infinite{Euclidean()}, []float64{1, 2}, nil); err == nil || !strings.Contains(err.Error(), "overflows") {
		t.Errorf("shift: error %v", err)
	}
	for _, w := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if err := Validate(FermiDirac([]float64{0, 0}, []float64{1, w}), 2); err == nil {
			t.Errorf("Fermi–Dirac with an end %v: no error", w)
		}
	}
	for _, q := range []float64{0, -1, 1, 2, math.NaN()} {
		if err := Validate(Tsallis(q), 2); err == nil {
			t.Errorf("Tsallis with q = %v: no error", q)
		}
	}
}

type infinite struct{ Modulus }

func (infinite) Shift([]float64) (float64, error) { return math.Inf(1), nil }
