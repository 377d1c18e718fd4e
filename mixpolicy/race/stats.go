package race

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a mean, or another statistic, with a confidence interval.
type Interval struct {
	Mean, Lo, Hi float64
	Std          float64 // standard deviation of the values; only TInterval, BootstrapInterval and the Mean of a beam.Statistic set it
	Confidence   float64
	N            int
}

// String returns "mean [lo, hi]".
func (v Interval) String() string { return fmt.Sprintf("%.6g [%.6g, %.6g]", v.Mean, v.Lo, v.Hi) }

// TInterval returns Student's interval, mean ± t_{n−1} s/√n. For normal data, the interval has exactly the given
// confidence; for other data of finite variance, it has approximately this confidence if there are many values. For a
// single value, the interval is the whole real line. TInterval panics if x is empty, or if confidence is not between 0
// and 1.
func TInterval(x []float64, confidence float64) Interval {
	checkConfidence(confidence)
	if len(x) == 0 {
		panic("race: interval of no data")
	}
	if len(x) == 1 {
		return Interval{x[0], math.Inf(-1), math.Inf(1), 0, confidence, 1}
	}
	mean, std := stat.MeanStdDev(x, nil)
	n := float64(len(x))
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2) // P(|T| ≤ t) = confidence for Student's T
	half := t * std / math.Sqrt(n)
	return Interval{mean, mean - half, mean + half, std, confidence, len(x)}
}

// BootstrapInterval returns the percentile bootstrap interval of the mean, from 9,999 resamples drawn with PCG(seed,
// 0). The bootstrap assumes a finite variance, but no particular shape of the distribution. For small samples, the
// interval is too narrow: a little for 20 values, far too narrow for two or three. For a single value, it is the whole
// real line. BootstrapInterval panics under the same conditions as [TInterval].
func BootstrapInterval(x []float64, confidence float64, seed uint64) Interval {
	iv := TInterval(x, confidence)
	if len(x) == 1 {
		return iv
	}
	const resamples = 9999 // (resamples+1)·(1−confidence)/2 is whole for the usual levels
	rng := rand.New(rand.NewPCG(seed, 0))
	means := make([]float64, resamples)
	for i := range means {
		var total float64
		for range x {
			total += x[rng.IntN(len(x))]
		}
		means[i] = total / float64(len(x))
	}
	iv.Lo, iv.Hi = percentiles(means, confidence)
	return iv
}

// TTest returns the two-sided p-value of Student's t test of the hypothesis that the mean is 0. The p-value is exact
// for normal data; for other data of finite variance, it is approximately right if there are many values. If all values
// are 0, the p-value is 1. TTest panics for fewer than two values.
func TTest(x []float64) float64 {
	if len(x) == 0 {
		panic("race: test of no data")
	}
	mean, std := stat.MeanStdDev(x, nil)
	if mean == 0 && std == 0 {
		return 1
	}
	n := float64(len(x))
	return 2 * distuv.StudentsT{Sigma: 1, Nu: n - 1}.Survival(math.Abs(mean)/(std/math.Sqrt(n)))
}

// SpreadRatio compares the standard deviations of two samples on the same streams. It returns std(x)/std(y) with a
// percentile interval, the two-sided p-value of the hypothesis that the ratio is 1, and the standard error of the
// logarithm of the ratio. The interval, the p-value and the standard error come from 9,999 bootstrap resamples of the
// streams, drawn with PCG(seed, 0). The p-value is twice the share of the resamples whose ratio is on the rarer side of
// 1; the original sample counts as one such resample. We do not use the F test, because it assumes normal data.
func SpreadRatio(x, y []float64, confidence float64, seed uint64) (ratio Interval, p, logError float64) {
	checkConfidence(confidence)
	const resamples = 9999
	rng := rand.New(rand.NewPCG(seed, 0))
	logs := make([]float64, resamples)
	u, v := make([]float64, len(x)), make([]float64, len(x))
	above := 0
	for k := range logs {
		for i := range u {
			j := rng.IntN(len(x))
			u[i], v[i] = x[j], y[j]
		}
		logs[k] = math.Log(stat.StdDev(u, nil) / stat.StdDev(v, nil))
		if logs[k] > 0 {
			above++
		}
	}
	lo, hi := percentiles(logs, confidence)
	ratio = Interval{Mean: stat.StdDev(x, nil) / stat.StdDev(y, nil), Lo: math.Exp(lo), Hi: math.Exp(hi), Confidence: confidence, N: len(x)}
	return ratio, min(1, 2*float64(1+min(above, resamples-above))/(resamples+1)), stat.StdDev(logs, nil)
}

// Median returns the median of the N values x, or the lower of the two middle values if N is even. Lo is the k-th least
// value, and Hi is the k-th greatest value. If the values are independent draws from one distribution, Lo and Hi
// enclose the true median with probability at least 1 − 2 Pr{Bin(N, ½) < k}. The field Confidence of the result is this
// lower bound. Median takes the greatest k for which the lower bound reaches the requested confidence, or k = 1 if
// there is no such k. Values may be +Inf. Median panics under the same conditions as [TInterval].
func Median(x []float64, confidence float64) Interval {
	checkConfidence(confidence)
	n := len(x)
	if n == 0 {
		panic("race: median of no data")
	}
	x = slices.Sorted(slices.Values(x))
	binomial := distuv.Binomial{N: float64(n), P: 0.5}
	k := 1 // the least and the greatest value, if no other k reaches the confidence
	for 2*(k+1) <= n && 1-2*binomial.CDF(float64(k)) >= confidence {
		k++
	}
	return Interval{Mean: x[(n-1)/2], Lo: x[k-1], Hi: x[n-k], Confidence: 1 - 2*binomial.CDF(float64(k-1)), N: n}
}

// Signs returns the number of entries of x that are below −rounding, and the number of entries that are above rounding.
func Signs(x []float64, rounding float64) (less, more int) {
	for _, v := range x {
		if v < -rounding {
			less++
		} else if v > rounding {
			more++
		}
	}
	return less, more
}

// SignTest returns the two-sided p-value of the sign test on paired differences. Here, the parameter less is the number
// of negative differences, and the parameter more is the number of positive differences. With n = less + more, the
// p-value is min{1, 2 Pr{Bin(n, ½) ≤ min(less, more)}}, the probability that n fair coins fall at least as unevenly.
// The test assumes only that the differences are independent; differences of 0 do not count. SignTest panics if a count
// is negative.
func SignTest(less, more int) float64 {
	if less < 0 || more < 0 {
		panic(fmt.Sprintf("race: sign test of %d and %d differences, want counts ≥ 0", less, more))
	}
	if less == more { // for 0 and 0, this is a convention
		return 1
	}
	return min(1, 2*distuv.Binomial{N: float64(less + more), P: 0.5}.CDF(float64(min(less, more))))
}

// Detectable returns the least p ≥ ½ with the following property: if a method wins each of n pairs with probability p,
// the sign test at the given level finds, with a probability of at least power, that this method is better. If there is
// no such p, Detectable returns 1. Detectable panics unless level and power are between 0 and 1.
func Detectable(n int, level, power float64) float64 {
	checkConfidence(level)
	checkConfidence(power)
	losses := -1 // the greatest number of losses with which the test still finds a difference
	for SignTest(losses+1, n-losses-1) <= level {
		losses++
	}
	lo, hi := 0.5, 1.0
	for range 50 {
		p := (lo + hi) / 2
		if losses >= 0 && (distuv.Binomial{N: float64(n), P: 1 - p}).CDF(float64(losses)) >= power {
			hi = p
		} else {
			lo = p
		}
	}
	return hi
}

// Holm adjusts the p-values p for their number, and returns the adjusted p-values in the same order. If we reject every
// hypothesis whose adjusted p-value is at most α, the probability of one or more wrong rejections is at most α, however
// the tests depend on each other (Holm 1979). For p₍₁₎ ≤ … ≤ p₍ₖ₎, the adjusted values are p̃₍ᵢ₎ = max_{j≤i} min(1,
// (k−j+1) p₍ⱼ₎).
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted, least := make([]float64, len(p)), 0.0
	for k, i := range order {
		least = max(least, min(1, float64(len(p)-k)*p[i]))
		adjusted[i] = least
	}
	return adjusted
}

// percentiles sorts x, and returns the ends of the central interval that contains the given share (confidence) of the
// entries.
func percentiles(x []float64, confidence float64) (lo, hi float64) {
	slices.Sort(x)
	return stat.Quantile((1-confidence)/2, stat.Empirical, x, nil), stat.Quantile((1+confidence)/2, stat.Empirical, x, nil)
}

func checkConfidence(c float64) {
	if !(c > 0 && c < 1) {
		panic(fmt.Sprintf("race: confidence %v, want between 0 and 1", c))
	}
}
