package bregman_test

import (
	"math"
	"testing"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

// inverse finds the x with φ′(x) = y by bisection. If the bracket spans several exponents, it bisects the exponents.
func inverse(k Kernel, y float64) float64 {
	lo, hi := k.Domain()
	lo, hi = max(lo, -math.MaxFloat64), min(hi, math.MaxFloat64)
	for {
		x := lo + (hi/2 - lo/2)
		switch {
		case lo > 0 && hi > 4*lo:
			x = math.Sqrt(lo) * math.Sqrt(hi)
		case hi < 0 && lo < 4*hi:
			x = -math.Sqrt(-lo) * math.Sqrt(-hi)
		case lo == 0 && hi > 1e-300:
			x = hi * min(1e-3, hi)
		case lo < 0 && hi > 0:
			x = 0
		case hi == 0:
			x = lo * min(1e-3, -lo)
		}
		if !(lo < x && x < hi) {
			return x
		}
		if k.Deriv(x) < y {
			lo = x
		} else {
			hi = x
		}
	}
}

// inverseError returns the largest error of (φ*)′ against the root of φ′(x) = y, divided by the allowed error: 10⁻¹²
// relative, plus the effect of rounding y.
func inverseError(k Kernel, into func(y float64) float64) float64 {
	rng := source(31)
	var worst float64
	for range 4000 {
		y := into(math.Copysign(math.Pow(10, 600*rng.Float64()-300), rng.NormFloat64()))
		if rng.IntN(2) == 0 {
			y = into(10 * rng.NormFloat64())
		}
		x, want := k.ConjDeriv(y), inverse(k, y)
		if math.Abs(want) < 1e-290 || math.Abs(x) > 1e290 { // too near the least or the greatest normal number
			continue
		}
		// An ulp in φ′ moves x by (φ*)″|y| ulps, and by at least (φ*)″ ulps if φ′ is computed as a difference.
		limit := 1e-12*math.Abs(want) + 8*ulp*(1+math.Abs(y))*JSecond(Separable{Kernel: k}, []float64{y}, 0)
		worst = max(worst, math.Abs(x-want)/limit)
	}
	return worst
}

// The closed forms of ∇φ* invert ∇φ over the whole domain, to 10⁻¹² relative.
func TestInversesInClosedForm(t *testing.T) {
	all := func(y float64) float64 { return y }
	for _, c := range []struct {
		m    Kernel
		into func(y float64) float64 // into the range of φ′
	}{
		{Cube(1.7).Kernel, all}, {Hellinger(1.7).Kernel, all}, {LogCosine(1.7).Kernel, all}, {FermiDirac([]float64{-1}, []float64{2}).Each[0], all},
		{Burg().Kernel, func(y float64) float64 { return -math.Abs(y) }},
		{Tsallis(0.5).Kernel, func(y float64) float64 { return min(y, 2-1e-3) }},
		{Tsallis(0.3).Kernel, func(y float64) float64 { return min(y, 1/0.7-1e-3) }},
		{Tsallis(0.9).Kernel, func(y float64) float64 { return min(y, 9) }},
	} {
		if e := inverseError(c.m, c.into); !(e <= 1) {
			t.Errorf("%v: the error of (φ*)′ is %.3g times the allowed error", c.m, e)
		}
	}
}
