package priorwork

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// The median of means ignores an outlier that spoils the mean. With one group, the median of
// means is the mean.
func TestMedianPlugIn(t *testing.T) {
	p := garnetProblem(mixpolicy.Ball(2))
	estimate := func(p *mixpolicy.Problem, m mixpolicy.Method) []float64 {
		return mixpolicy.Must(learn(p, m, 100, 1)).Run.(mixpolicy.Estimator).Estimate()
	}
	outlier := func() *mixpolicy.Problem {
		k := 0
		return p.WithNoise(func(*rand.Rand) float64 {
			if k++; k == 5 {
				return 1e9
			}
			return 0
		})
	}
	for j, v := range estimate(outlier(), MedianPlugIn{}) {
		if !(math.Abs(v) < 4) { // costs are below 1, weights below d
			t.Errorf("b̂%d is %v after an outlier", j, v)
		}
	}
	if mean := estimate(outlier(), mixpolicy.PlugIn{}); mean[0] < 1e5 {
		t.Errorf("mean %v after an outlier of 1e9 in 100", mean)
	}
	if one, mean := estimate(p, MedianPlugIn{Groups: 1}), estimate(p, mixpolicy.PlugIn{}); !floats.EqualApprox(one, mean, 1e-14) {
		t.Errorf("%v with one group, want the mean %v", one, mean)
	}
}
