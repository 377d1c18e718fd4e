package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

func drawOutcomes(t *rapid.T) (x, p []float64) {
	k := rapid.IntRange(1, 6).Draw(t, "k")
	return drawValues(t, k, "x"), drawDistribution(t, k, "p")
}

func expectation(f func(float64) float64, x, p []float64) (e float64) {
	for i, v := range x {
		if p[i] > 0 {
			e += p[i] * f(v)
		}
	}
	return e
}

// The corrected (2.3): at β = ‖X‖_ψ, E ψ(|X|/β) = 1. The norm is homogeneous and satisfies the triangle
// inequality.
func TestOrliczNorm_2_3(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, p := drawOutcomes(t)
		nu := rapid.SampledFrom([]float64{1, 2, 3}).Draw(t, "ν")
		norm := mixpolicy.Must(theory.OrliczNorm(nu, x, p))
		if norm == 0 {
			if e := expectation(math.Abs, x, p); e != 0 {
				t.Fatalf("‖X‖ = 0, E|X| = %v", e)
			}
			return
		}
		e := expectation(func(v float64) float64 { return math.Expm1(math.Pow(math.Abs(v)/norm, nu)) }, x, p)
		rounding := max(u, 0x1p-1074/norm) // the relative rounding of β, which may be subnormal
		// A relative error of δ in β changes E ψ by at most ν·2·ln(1 + 64)·65 δ, because p ≥ 1/64.
		if !(math.Abs(e-1) <= nu*2*5*65*8*rounding) {
			t.Fatalf("E ψ(|X|/β) = %v", e)
		}
		opposite := floats.ScaleTo(make([]float64, len(x)), -2, x)
		if doubled := mixpolicy.Must(theory.OrliczNorm(nu, opposite, p)); !(math.Abs(doubled/norm-2) <= 32*rounding) {
			t.Fatalf("‖−2X‖ = %v, ‖X‖ = %v", doubled, norm)
		}
		y := drawValues(t, len(x), "y")
		total := floats.AddTo(make([]float64, len(x)), x, y)
		of := func(x []float64) float64 { return mixpolicy.Must(theory.OrliczNorm(nu, x, p)) }
		if !(of(total) <= (norm+of(y))*(1+32*u)+3*0x1p-1074) { // the rounding of three norms
			t.Fatalf("‖X+Y‖ = %v > %v + %v", of(total), norm, of(y))
		}
	})
}

// (2.3) as printed agrees with a value computed by hand: E|X| = 2, so E|X|/β = 1 for β = 2. Only |X| = 3
// differs from 1, by 2.
func TestPrintedOrliczByHand_2_3(t *testing.T) {
	got, want := theory.PrintedOrlicz(2, 2, []float64{1, -3}, []float64{.5, .5}), .5*math.Expm1(4)
	if !(math.Abs(got-want) <= 4*u*want) {
		t.Errorf("E ψ = %v, want %v", got, want)
	}
}

// (2.4), (2.6): the moment norm agrees with the maximum over a fine grid of q, and bounds the
// Orlicz norm up to a factor.
func TestMomentNorm_2_4_2_6(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, p := drawOutcomes(t)
		nu := rapid.SampledFrom([]float64{1, 2}).Draw(t, "ν")
		got := mixpolicy.Must(theory.MomentNorm(nu, x, p))
		var grid, top float64
		for i, v := range x {
			if p[i] > 0 {
				top = max(top, math.Abs(v))
			}
		}
		const h = 0.005
		for lnq := 0.0; lnq < 3.2 && top > 0; lnq += h { // the supremum is at a q below e·2·ln 64 < e^3.2
			q := math.Exp(lnq)
			m := math.Pow(expectation(func(v float64) float64 { return math.Pow(math.Abs(v)/top, q) }, x, p), 1/q)
			grid = max(grid, top*m*math.Pow(q, -1/nu))
		}
		// With steps of h in ln q, the grid misses a smooth maximum by at most h²/8 times the
		// curvature in ln q, which is below ln²64 + 1 < 20.
		if !(got >= grid*(1-1e-12) && got <= grid*(1+20*h*h)) {
			t.Fatalf("norm %v, grid %v", got, grid)
		}
		// E ψ(|X|/β) = Σ_k E|X|^{νk} / (k! β^{νk}). With E|X|^q ≤ (K q^{1/ν})^q and
		// k! ≥ (k/e)^k, this is at most Σ (νe)^k (K/β)^{νk}, which is 1 at β = K(2νe)^{1/ν}.
		if orlicz := mixpolicy.Must(theory.OrliczNorm(nu, x, p)); orlicz > got*math.Pow(2*nu*math.E, 1/nu)*(1+1e-12) {
			t.Fatalf("Orlicz norm %v, moment norm %v", orlicz, got)
		}
	})
}

// (2.5), (2.7): in two dimensions, the lower and the upper bound enclose the norm, which a grid
// of directions approximates.
func TestVectorMomentNorm_2_5_2_7(t *testing.T) {
	var tried, found int
	rapid.Check(t, func(t *rapid.T) {
		_, p := drawOutcomes(t)
		nu := rapid.SampledFrom([]float64{1, 2}).Draw(t, "ν")
		z := mat.NewDense(len(p), 2, drawValues(t, 2*len(p), "z"))
		lower, upper, err := theory.VectorMomentNorm(nu, z, p)
		if err != nil {
			t.Fatal(err)
		}
		const directions = 180
		var grid float64
		for k := range directions {
			sin, cos := math.Sincos(math.Pi * float64(k) / directions)
			x := make([]float64, len(p))
			for i := range x {
				x[i] = cos*z.At(i, 0) + sin*z.At(i, 1)
			}
			grid = max(grid, mixpolicy.Must(theory.MomentNorm(nu, x, p)))
		}
		// Some direction of the grid is within π/360 of the best one; there, the norm is less than
		// its maximum by at most π/360 times the maximum.
		if truth := grid / (1 - math.Pi/360); !(lower <= truth*(1+1e-9) && upper >= grid*(1-1e-9)) {
			t.Fatalf("[%v, %v], grid %v", lower, upper, grid)
		}
		if tried++; lower >= grid*(1-1e-9) {
			found++
		}
	})
	if found < tried*9/10 { // lower is only a local maximum, which should mostly be the global one
		t.Errorf("lower bound is the greatest value in %d of %d draws", found, tried)
	}
}

// (2.4), (2.6) if |X| is M with probability p, else 0: M p^{1/q} q^{−1/ν} is greatest at q = max(1, −ν ln p).
func TestMomentNormBernoulli_2_4_2_6(t *testing.T) {
	for _, nu := range []float64{1, 2} {
		for _, p := range []float64{1, .7, 1e-3, 1e-300} {
			q := max(1, -nu*math.Log(p))
			got, want := mixpolicy.Must(theory.MomentNorm(nu, []float64{0, -3}, []float64{1 - p, p})), 3*math.Pow(p, 1/q)*math.Pow(q, -1/nu)
			if !(math.Abs(got/want-1) <= 1e-12) {
				t.Errorf("ν = %v, p = %v: %v, want %v", nu, p, got, want)
			}
		}
	}
}

func TestOrliczErrors(t *testing.T) {
	for _, f := range []func(float64, []float64, []float64) (float64, error){theory.OrliczNorm, theory.MomentNorm} {
		wantError(t, second(f(0.5, []float64{1}, []float64{1})), "ν = 0.5, want ν ≥ 1")
		wantError(t, second(f(2, []float64{1, math.NaN()}, []float64{0.5, 0.5})), "outcome 1 is NaN")
		wantError(t, second(f(2, []float64{1, 2}, []float64{0.5, 0.6})), "add up to 1.1, want 1")
		if v, err := f(2, []float64{0, 7}, []float64{1, 0}); v != 0 || err != nil {
			t.Errorf("norm of 0 is %v, %v", v, err)
		}
	}
}

// Slices of different lengths panic with a message of the package, not of the runtime.
func TestMisusePanics(t *testing.T) {
	for _, f := range []func(){
		func() { _, _ = theory.OrliczNorm(2, []float64{1, 2}, []float64{1}) },
		func() { _, _ = theory.OrliczNorm(2, []float64{1}, []float64{.5, .5}) },
		func() { _, _ = theory.MomentNorm(2, []float64{1}, []float64{.5, .5}) },
		func() { _, _, _ = theory.VectorMomentNorm(2, mat.NewDense(1, 2, nil), []float64{.5, .5}) },
		func() { theory.TotalVariation([]float64{1}, []float64{.5, .5}) },
	} {
		panics(t, "theory: ", f)
	}
}
