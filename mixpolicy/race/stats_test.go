package race

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// u is the unit roundoff of float64.
const u = 0x1p-53

// TInterval agrees with the quantiles of Student's distribution in the tables of textbooks.
func TestTIntervalTable(t *testing.T) {
	for _, c := range []struct {
		n          int
		confidence float64
		quantile   float64
	}{
		{2, .95, 12.706}, {3, .95, 4.303}, {5, .95, 2.776}, {10, .95, 2.262}, {20, .95, 2.093}, {31, .95, 2.042},
		{2, .99, 63.657}, {10, .99, 3.250}, {5, .90, 2.132}, {121, .99, 2.617},
	} {
		x := make([]float64, c.n)
		for i := range x {
			x[i] = float64(i * i)
		}
		mean, deviation := stat.MeanStdDev(x, nil)
		half := c.quantile * deviation / math.Sqrt(float64(c.n))
		iv := TInterval(x, c.confidence)
		const digits = .0005 / 2 // the table's rounding error, relative to a quantile of 2 or more
		if off := max(math.Abs(iv.Hi-mean-half), math.Abs(mean-iv.Lo-half)); math.Abs(iv.Mean-mean) > 1e-12*mean || off > digits*half || iv.N != c.n {
			t.Errorf("n = %d: %v, want %v ± %v", c.n, iv, mean, half)
		}
	}
	if s := (Interval{Mean: 1.5, Lo: 1, Hi: 2}).String(); s != "1.5 [1, 2]" {
		t.Errorf("String gives %q", s)
	}
	if iv := TInterval([]float64{3}, .95); iv.Mean != 3 || !math.IsInf(iv.Lo, -1) || !math.IsInf(iv.Hi, 1) {
		t.Errorf("one value: %v", iv)
	}
}

// The bootstrap of three values agrees with its 27 equally likely resamples. Every step of
// the distribution function is more than 0.03 away from the quantile levels 0.08, 0.2, 0.8
// and 0.92. Six standard errors of 9,999 draws are at most 6·√(¼/9999) = 0.03.
func TestBootstrapEnumerated(t *testing.T) {
	x := []float64{0, 1, 10}
	var means []float64
	for k := range 27 {
		means = append(means, (x[k%3]+x[k/3%3]+x[k/9])/3)
	}
	slices.Sort(means)
	for _, confidence := range []float64{.6, .84} {
		lo := means[int(27*(1-confidence)/2)]
		hi := means[int(27*(1+confidence)/2)]
		iv := BootstrapInterval(x, confidence, 3)
		if math.Abs(iv.Lo-lo) > 8*u || math.Abs(iv.Hi-hi) > 8*u || math.Abs(iv.Mean-11./3) > 8*u {
			t.Errorf("confidence %v: %v, want [%v, %v]", confidence, iv, lo, hi)
		}
	}
	if a, b := BootstrapInterval(x, .8, 1), BootstrapInterval(x, .8, 1); a != b {
		t.Error("two calls with the same seed differ")
	}
	if iv := BootstrapInterval([]float64{3}, .95, 1); iv.Mean != 3 || !math.IsInf(iv.Lo, -1) {
		t.Errorf("one value: %v", iv)
	}
}

func TestIntervalPanics(t *testing.T) {
	two := []float64{1, 2}
	for k, f := range []func(){
		func() { TInterval(nil, .95) }, func() { TInterval(two, 1) }, func() { TInterval(two, 0) }, func() { Median(nil, .95) },
		func() { TTest(nil) }, func() { SpreadRatio(two, two, 1, 1) }, func() { BootstrapInterval(two, math.NaN(), 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("call %d does not panic", k)
				}
			}()
			f()
		}()
	}
}

// The p-value of the differences 1, …, 5 agrees with the distribution function of t with 4 degrees of
// freedom, ½ + (3/8) s (1 − s²/12) with s = t/√(1 + t²/4).
func TestTTest(t *testing.T) {
	s := 3 / math.Sqrt(0.5) // t = mean/√(s²/n)
	s /= math.Sqrt(1 + s*s/4)
	for _, sign := range []float64{1, -1} {
		if got, want := TTest([]float64{sign, 2 * sign, 3 * sign, 4 * sign, 5 * sign}), 2*(0.5-0.375*s*(1-s*s/12)); math.Abs(got-want) > 1e-12 {
			t.Errorf("p = %v, want %v", got, want)
		}
	}
	if p, q := TTest([]float64{0, 0}), TTest([]float64{1, 1}); p != 1 || q != 0 {
		t.Errorf("p = %v for differences of 0, want 1; p = %v for differences of 1, want 0", p, q)
	}
}

func TestSpreadRatio(t *testing.T) {
	const n = 1000
	rng := rand.New(rand.NewPCG(2, 0))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	scaled := func(by float64, x []float64) []float64 { return floats.ScaleTo(make([]float64, n), by, x) }
	// The bootstrap draws the same trials from both samples, so the common part of the samples cancels.
	near := floats.AddScaledTo(make([]float64, n), scaled(1.02, x), 0.01, y)
	for _, c := range []struct {
		x, y         []float64
		lo, hi, most float64
	}{{scaled(3, x), x, 3 - 1e-12, 3 + 1e-12, 2. / 10_000}, {x, scaled(3, x), 1./3 - 1e-12, 1./3 + 1e-12, 2. / 10_000}, {near, x, 1, 1.04, 1e-3}} {
		if iv, p, _ := SpreadRatio(c.x, c.y, .95, 1); !(iv.Lo > c.lo && iv.Hi < c.hi) || iv.N != n || p > c.most {
			t.Errorf("%v, p = %v, want within [%v, %v]", iv, p, c.lo, c.hi)
		}
	}
	// For normal data, the logarithm of a standard deviation has the variance 1/(2(n−1)). The bootstrap
	// estimates this variance from the fourth moment, with a relative error of √(24/n)/2 = 8 %. Half of
	// it, 4 %, is the relative error of the square root of the variance. The tolerance is four times 4 %.
	// y is scaled so that the logarithm of the ratio is 2·se below 0.
	se := 1 / math.Sqrt(n-1)
	iv, p, own := SpreadRatio(x, scaled(math.Exp(2*se)*stat.StdDev(x, nil)/stat.StdDev(y, nil), y), .95, 1)
	for what, ratio := range map[string]float64{
		"standard error": own / se,
		"lower half":     math.Log(iv.Mean/iv.Lo) / (1.959964 * se),
		"upper half":     math.Log(iv.Hi/iv.Mean) / (1.959964 * se),
		"quantile of p":  distuv.UnitNormal.Quantile(1-p/2) / 2,
	} {
		if math.Abs(ratio-1) > 0.16 {
			t.Errorf("%s is %v times its expected value", what, ratio)
		}
	}
	// A 95 % interval reaches 1.96 standard errors to each side. With 9999 resamples, the error of each end is
	// 0.03 standard errors, so the relative error of the length is 1 %. The tolerance is four times 1 %.
	if got := (math.Log(iv.Hi) - math.Log(iv.Lo)) / own; math.Abs(got/(2*1.959964)-1) > 0.04 {
		t.Errorf("the interval is %v standard errors long", got)
	}
}

// In sorted order, the first and the last of five values enclose the median with probability
// 1 − 2/2⁵, and the second and the fourth with probability 1 − 2(1 + 5)/2⁵.
func TestMedian(t *testing.T) {
	inf := math.Inf(1)
	x := []float64{3, inf, 1, 2, 4}
	if iv := Median(x, .9); iv.Mean != 3 || iv.Lo != 1 || iv.Hi != inf || math.Abs(iv.Confidence-(1-2./32)) > 1e-12 || iv.N != 5 {
		t.Errorf("%+v", iv)
	}
	if iv := Median(x, .6); iv.Lo != 2 || iv.Hi != 4 || math.Abs(iv.Confidence-.625) > 1e-12 {
		t.Errorf("%+v", iv)
	}
	if iv := Median([]float64{1, 2, 3, inf}, .5); iv.Mean != 2 {
		t.Errorf("the lower of two: %+v", iv)
	}
}

func TestSigns(t *testing.T) {
	if less, more := Signs([]float64{-2, -1, 0, 1, 2, 3, math.NaN()}, 1); less != 1 || more != 2 {
		t.Errorf("%d and %d", less, more)
	}
}

// The sign test agrees with a count over all 2ⁿ outcomes of n coins.
func TestSignTest(t *testing.T) {
	for n := range 11 {
		for less := range n + 1 {
			uneven := 0
			for falls := range 1 << n {
				heads := bits.OnesCount(uint(falls))
				if min(heads, n-heads) <= min(less, n-less) {
					uneven++
				}
			}
			want := float64(uneven) / float64(int(1)<<n)
			if got := SignTest(less, n-less); math.Abs(got-want) > 1e-12 {
				t.Errorf("%d against %d: p = %v, want %v", less, n-less, got, want)
			}
		}
	}
}

// Holm's procedure by hand: 4·0.01 = 0.04, 3·0.03 = 0.09, then 2·0.04 = 0.08, which is raised to 0.09, and 0.5.
func TestHolm(t *testing.T) {
	if got, want := Holm([]float64{.04, .01, .03, .5}), []float64{.09, .04, .09, .5}; !floats.EqualApprox(got, want, 1e-15) {
		t.Errorf("%v, want %v", got, want)
	}
}

// At the detectable probability, the test finds the better method with the given power. Five pairs are too few at any
// probability.
func TestDetectable(t *testing.T) {
	const level, power = 0.01, 0.8
	for _, n := range []int{20, 200} {
		least := n // the least number of wins with which the test decides
		for SignTest(n-least+1, least-1) <= level {
			least--
		}
		p := Detectable(n, level, power)
		found := distuv.Binomial{N: float64(n), P: p}.Survival(float64(least - 1))
		if math.Abs(found-power) > 1e-6 {
			t.Errorf("%d pairs, %v: found in %v of all samples, want %v", n, p, found, power)
		}
	}
	if p := Detectable(5, level, power); p < 1-1e-12 {
		t.Errorf("5 pairs detect %v", p)
	}
}
