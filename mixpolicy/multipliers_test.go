package mixpolicy_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Up to rounding, lazy and dense multipliers give the same iterates: without a ball for
// λ, and with balls that λ meets never, at times, and always.
func TestLazyEqualsDense_3_26(t *testing.T) {
	const steps = 20_000 // later steps are small, and λ meets the ball nearly always or never
	section6 := queue(t, 100, mixpolicy.Ball(2))
	discounted := func(d int) *mixpolicy.Problem {
		return small(t, d, mixpolicy.Ball(3), mixpolicy.Discounted(.9))
	}
	for _, c := range []struct {
		name string
		p    *mixpolicy.Problem
		m    mixpolicy.PrimalDual
	}{
		{"queue", section6, mixpolicy.PrimalDual{CostScale: cMax}},
		{"queue, cube", section6, mixpolicy.PrimalDual{CostScale: cMax, Modulus: bregman.Cube(2)}},
		{"queue, Euclidean", section6, mixpolicy.PrimalDual{CostScale: cMax, Modulus: bregman.Euclidean()}},
		{"queue, constant step", section6, mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.Constant(.01)}},
		{"queue, wide ball", section6, mixpolicy.PrimalDual{CostScale: cMax, Beta: 100}},
		{"queue, ball met at times", section6, mixpolicy.PrimalDual{CostScale: cMax, Beta: 9}},
		{"queue, narrow ball", section6, mixpolicy.PrimalDual{CostScale: cMax, Beta: .5}},
		{"d = 3", geometricProblem(t, 100, 3), mixpolicy.PrimalDual{}},
		{"d = 3, discounted", discounted(3), mixpolicy.PrimalDual{CostScale: .2}},
		{"d = 4, ball met at times", geometricProblem(t, 100, 4), mixpolicy.PrimalDual{Beta: 2}},
		{"d = 8", geometricProblem(t, 50, 8), mixpolicy.PrimalDual{}},
		{"queue, rows scaled", section6, mixpolicy.PrimalDual{CostScale: cMax, RowScaling: true}},
		{"queue, rows scaled, ball met at times", section6, mixpolicy.PrimalDual{CostScale: cMax, RowScaling: true, Beta: 1}},
		{"d = 4, rows scaled", geometricProblem(t, 100, 4), mixpolicy.PrimalDual{RowScaling: true}},
		{"as printed", geometricProblem(t, 100, 3), mixpolicy.PrimalDual{Form: mixpolicy.Printed, Recency: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			with := func(kind mixpolicy.Multipliers) mixpolicy.Run {
				m := c.m
				m.Multipliers = kind
				return start(t, c.p, m)
			}
			dense, lazy := with(mixpolicy.DenseMultipliers), with(mixpolicy.LazyMultipliers)
			for step := range steps {
				if c.m.Form == mixpolicy.Printed && step == 1000 {
					break // after 2000 steps, iterates are NaN
				}
				advance(dense, 1)
				advance(lazy, 1)
				if a, b := view(t, dense), view(t, lazy); !floats.EqualApprox(a.Last, b.Last, 1e-12) {
					t.Fatalf("θ_%d = %v with lazy multipliers, %v with dense ones", step+1, b.Last, a.Last)
				} else if size := floats.Norm(a.Lambda, math.Inf(1)); c.m.Form == mixpolicy.Printed && !floats.EqualApprox(a.Lambda, b.Lambda, 1e-12*size) {
					t.Fatalf("λ̂_%d differs with lazy multipliers, which need no estimate", step+1)
				}
			}
		})
	}
}

// The multipliers that a lazy run reports are ⪰ 0, so their dual bound holds. They estimate λ̂ of (3.27) without
// bias, for averages with Recency 0 and 1: the mean difference from λ̂ is within 6 standard errors of 0.
func TestLazyAverage_3_27(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(3), mixpolicy.AverageCost)
	best := mixpolicy.Must(p.Optimum(t.Context()))
	const trials, steps = 400, 300
	pairs := p.MDP().Pairs()
	diff := make([][]float64, pairs)
	for k := range trials {
		var lambda [2][]float64
		for i, kind := range []mixpolicy.Multipliers{mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers} {
			method := mixpolicy.PrimalDual{CostScale: .1, Multipliers: kind, Recency: float64(k % 2)}
			m := mixpolicy.Must(method.Start(p, mixpolicy.Must(mixpolicy.NewOracle(p, 3, uint64(k)))))
			advance(m, steps)
			lambda[i] = view(t, m).Lambda
		}
		if floats.Min(lambda[1]) < 0 {
			t.Fatal("negative multipliers")
		}
		if low := p.DualBound(lambda[1]); low > best.Objective+1e-12 {
			t.Fatalf("bound %v above the optimum %v", low, best.Objective)
		}
		for i := range diff {
			diff[i] = append(diff[i], lambda[1][i]-lambda[0][i])
		}
	}
	// The chance that one of 12 means is off by 6 standard errors is about 10⁻⁸.
	some := false
	for i, x := range diff {
		iv := race.TInterval(x, .95)
		standard := iv.Std / math.Sqrt(trials)
		some = some || standard > 0
		if math.Abs(iv.Mean) > 6*standard {
			t.Errorf("pair %d: mean difference %v, standard error %v", i, iv.Mean, standard)
		}
	}
	if !some {
		t.Error("no multiplier was ever positive")
	}
}
