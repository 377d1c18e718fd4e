package priorwork

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// MedianPlugIn is [mixpolicy.PlugIn] for noise with heavy tails: sample k goes to group k mod Groups, and b̂ⱼ is the
// median of the groups' estimates of (cᵀΨ)ⱼ. If fewer than half of the groups contain an outlier, the median is within
// the range of the estimates from the groups without an outlier. The mean of [mixpolicy.PlugIn] includes outliers, as
// it should if the outliers are real costs. While there are fewer samples than groups, the median is taken over the
// groups that have a sample.
//
// Source: Nemirovski and Yudin, Problem Complexity and Method Efficiency in Optimization, 1983. We did not have its
// text.
//
// Deviations: see [Publications].
type MedianPlugIn struct {
	Groups int // 0 means 15
}

// Name implements [mixpolicy.Method].
func (MedianPlugIn) Name() string { return "plug-in, median of means" }

type medianPlugIn struct {
	p             *mixpolicy.Problem
	oracle        *mixpolicy.Oracle
	t, solved     int
	total         [][]float64 // total[k] is Σ c ψ/q over the samples of group k
	row, b, theta []float64
}

// Start implements [mixpolicy.Method].
func (a MedianPlugIn) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	d := p.Dim()
	if a.Groups < 0 {
		return nil, fmt.Errorf("priorwork: medians of %d means, want Groups ≥ 1, or 0 for the default of 15", a.Groups)
	}
	return &medianPlugIn{p: p, oracle: o, total: zeroVectors(cmp.Or(a.Groups, 15), d),
		row: make([]float64, d), b: make([]float64, d), theta: barycentre(d)}, nil
}

// Step implements [mixpolicy.Run].
func (a *medianPlugIn) Step() error {
	pair, cost := a.oracle.Sample()
	a.p.Features().Row(a.row, pair)
	floats.AddScaled(a.total[a.t%len(a.total)], cost/a.p.Features().Sampling()[pair], a.row)
	a.t++
	return nil
}

// View implements [mixpolicy.Run].
func (a *medianPlugIn) View(s *mixpolicy.Snapshot) error { return a.ViewUntil(context.Background(), s) }

// ViewUntil implements [mixpolicy.SlowRun]. It solves (2.18) with b̂, but only if samples have been drawn since the
// last solution.
func (a *medianPlugIn) ViewUntil(ctx context.Context, s *mixpolicy.Snapshot) error {
	if a.t != a.solved {
		means := make([]float64, min(a.t, len(a.total)))
		for j := range a.b {
			for k := range means {
				means[k] = a.total[k][j] / float64((a.t+len(a.total)-1-k)/len(a.total))
			}
			slices.Sort(means)
			a.b[j] = (means[(len(means)-1)/2] + means[len(means)/2]) / 2
		}
		best, err := a.p.Solve(ctx, a.b)
		if err != nil {
			return fault.At("priorwork", "median of means", err)
		}
		a.theta, a.solved = best.Theta, a.t
	}
	*s = mixpolicy.Snapshot{Last: a.theta, Average: a.theta}
	return nil
}

// Estimate implements [mixpolicy.Estimator].
func (a *medianPlugIn) Estimate() []float64 { return a.b }
