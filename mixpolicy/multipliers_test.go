package mixpolicy_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Lazy multipliers give the iterates of the dense ones, without a ball, with one that
// is never met, now and then, and always.
func TestLazyEqualsDense_3_26(t *testing.T) {
	steps := 100_000
	if testing.Short() {
		steps = 20_000
	}
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
		{"d = 2, short path", section6, mixpolicy.PrimalDual{CostScale: cMax}},
		{"d = 4, short path", geometricProblem(t, 50, 4), mixpolicy.PrimalDual{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			with := func(kind mixpolicy.Multipliers) mixpolicy.Insides {
				m := c.m
				m.Multipliers = kind
				return start(t, c.p, m).(mixpolicy.Insides)
			}
			dense, lazy := with(mixpolicy.DenseMultipliers), with(mixpolicy.LazyMultipliers)
			if strings.HasSuffix(c.name, "short path") {
				lazy.LimitPath(100)
			}
			var a, b mixpolicy.Snapshot
			worst, wasLazy := 0., 0
			const counted = 20_000 // later steps are small, and the ball is met nearly always or never
			for step := range steps {
				for _, m := range []mixpolicy.Run{dense, lazy} {
					advance(t, m, 1)
				}
				a = view(t, dense)
				b = view(t, lazy)
				worst = max(worst, floats.Distance(a.Last, b.Last, math.Inf(1)))
				if lazy.Lazy() && step < counted {
					wasLazy++
				}
			}
			t.Logf("%s: θ differ by at most %.1g; lazy in %d of %d steps", c.name, worst, wasLazy, counted)
			if !(worst <= 1e-12) {
				t.Errorf("θ differ by %v", worst)
			}
			least, most := counted, counted // of the lazy ones
			if strings.HasSuffix(c.name, "met at times") {
				least, most = counted/50, counted*3/4
			} else if strings.HasSuffix(c.name, "narrow ball") {
				least, most = 1, counted/50
			}
			if wasLazy < least || wasLazy > most {
				t.Errorf("lazy in %d of %d steps, want %d to %d", wasLazy, counted, least, most)
			}
			l, m := dense.CurrentMultipliers(), lazy.CurrentMultipliers()
			if diff := floats.Distance(l, m, math.Inf(1)); diff > 1e-12*(1+floats.Norm(l, math.Inf(1))) {
				t.Errorf("λ differ by %v", diff)
			}
		})
	}
}

// The multipliers that a lazy run reports are ⪰ 0, so that their bound holds, and
// estimate λ̂ of (3.27) without bias: their mean over trials is within its error.
func TestLazyAverage_3_27(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(3), mixpolicy.AverageCost)
	best := mixpolicy.Must(p.Optimum(t.Context()))
	const trials, steps = 400, 300
	pairs := p.MDP().Pairs()
	diff := make([][]float64, pairs)
	for k := range trials {
		var lambda [2][]float64
		for i, kind := range []mixpolicy.Multipliers{mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers} {
			m := startOn(t, p, mixpolicy.PrimalDual{CostScale: .1, Multipliers: kind}, mixpolicy.Must(mixpolicy.NewOracle(p, 3, uint64(k))))
			advance(t, m, steps)
			s := view(t, m)
			lambda[i] = s.Lambda
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

// The printed form without a ball: λ = ΨW gives the iterates and the multipliers of the
// vector that (3.26) updates.
func TestPrintedLazily_3_26(t *testing.T) {
	p := geometricProblem(t, 100, 3)
	var s [2]mixpolicy.Snapshot
	for k, kind := range []mixpolicy.Multipliers{mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers} {
		m := start(t, p, mixpolicy.PrimalDual{Form: mixpolicy.Printed, Multipliers: kind})
		advance(t, m, 500)
		s[k] = view(t, m)
	}
	// 500 steps of 3 products each round λ, and through it θ, by 1500·2⁻⁵³ of their size.
	const tol = 1e-12
	if d := floats.Distance(s[0].Last, s[1].Last, math.Inf(1)); !(d <= tol) {
		t.Errorf("θ differ by %v", d)
	}
	largest := floats.Norm(s[0].Lambda, math.Inf(1))
	if d := floats.Distance(s[0].Lambda, s[1].Lambda, math.Inf(1)); !(d <= tol*largest) || largest == 0 {
		t.Errorf("λ̂ differ by %v, the largest is %v", d, largest)
	}
}

func ExamplePrimalDual_multipliers() {
	fmt.Println(mixpolicy.PrimalDual{}.Multipliers, mixpolicy.LazyMultipliers)
	// Output: auto lazy
}
