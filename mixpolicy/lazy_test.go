package mixpolicy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// A walk's drawdown is max_k ⟨ψ, W_k − W_t⟩, as a scan of the whole path finds it.
func TestWalkDrawdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 4).Draw(t, "d")
		walks := []mixpolicy.Walk{mixpolicy.NewSegments(d)}
		if d == 2 {
			walks = append(walks, mixpolicy.NewHull())
		}
		// Steps with the coordinate sum η ≥ 0: long runs of the same step, standstill, and
		// jumps of any size, on a grid so that all sums are exact and ties occur.
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		length := rapid.IntRange(0, 300).Draw(t, "steps")
		reach := rapid.SampledFrom([]int{0, 1, 3, 100}).Draw(t, "reach")
		path := [][]float64{make([]float64, d)}
		theta := make([]float64, d)
		for k := range length {
			if k == 0 || rng.IntN(8) == 0 {
				eta := float64(rng.IntN(4))
				rest := eta
				for j := 1; j < d; j++ {
					theta[j] = float64(rng.IntN(2*reach+1) - reach)
					rest -= theta[j]
				}
				theta[0] = rest
			}
			w := append([]float64(nil), path[k]...)
			floats.Add(w, theta)
			path = append(path, w)
			for _, walk := range walks {
				walk.Add(w)
			}
		}
		psi := make([]float64, d)
		for range 20 {
			for j := range psi {
				psi[j] = float64(rng.IntN(5))
			}
			last := floats.Dot(psi, path[length])
			want := 0.
			for _, w := range path {
				want = max(want, floats.Dot(psi, w)-last)
			}
			for _, walk := range walks {
				if got := walk.Drawdown(psi); got != want {
					t.Fatalf("%T: drawdown %v along %v, want %v", walk, got, psi, want)
				}
			}
		}
	})
}

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
			dense, lazy := c.m, c.m
			dense.Multipliers, lazy.Multipliers = mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers
			start(t, c.p, &dense)
			start(t, c.p, &lazy)
			if strings.HasSuffix(c.name, "short path") {
				lazy.LimitPath(100)
			}
			var a, b mixpolicy.Snapshot
			worst, wasLazy := 0., 0
			for range steps {
				for _, m := range []mixpolicy.Method{&dense, &lazy} {
					if err := m.Step(); err != nil {
						t.Fatal(err)
					}
				}
				if err := dense.View(&a); err != nil {
					t.Fatal(err)
				}
				if err := lazy.View(&b); err != nil {
					t.Fatal(err)
				}
				worst = max(worst, floats.Distance(a.Last, b.Last, math.Inf(1)))
				if lazy.Lazy() {
					wasLazy++
				}
			}
			t.Logf("%s: θ differ by at most %.1g; lazy in %d of %d steps", c.name, worst, wasLazy, steps)
			if !(worst <= 1e-12) {
				t.Errorf("θ differ by %v", worst)
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
	best := mixpolicy.Must(p.Optimum())
	const trials, steps = 400, 300
	pairs := p.MDP().Pairs()
	diff := make([][]float64, pairs)
	for k := range trials {
		var lambda [2][]float64
		for i, kind := range []mixpolicy.Multipliers{mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers} {
			m := &mixpolicy.PrimalDual{CostScale: .1, Multipliers: kind}
			if err := m.Init(p, mixpolicy.Must(mixpolicy.NewOracle(p, 3, uint64(k)))); err != nil {
				t.Fatal(err)
			}
			for range steps {
				if err := m.Step(); err != nil {
					t.Fatal(err)
				}
			}
			var s mixpolicy.Snapshot
			if err := m.View(&s); err != nil {
				t.Fatal(err)
			}
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
		iv := mixpolicy.TInterval(x, .95)
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

// Long walks, calm and wild, in every direction: a search that leaves out nodes of several
// levels finds what looking at every point does.
func TestWalkDrawdownOfLongWalks(t *testing.T) {
	const d, steps = 3, 2000
	rng := rand.New(rand.NewPCG(8, 1))
	for _, wobble := range []float64{0, .01, 1, 100} {
		for signs := range 1 << d {
			walk := mixpolicy.NewSegments(d)
			points := [][]float64{make([]float64, d)}
			w := make([]float64, d)
			for k := range steps {
				for j := range w {
					w[j] += (float64(2*(signs>>j&1)-1)*(1+float64(j)) + wobble*rng.NormFloat64()) / math.Sqrt(float64(k+1))
				}
				walk.Add(w)
				points = append(points, slices.Clone(w))
				if k%97 != 0 && k != steps-1 {
					continue
				}
				psi := []float64{rng.Float64(), rng.Float64(), rng.Float64()}
				psi[rng.IntN(d)] *= float64(rng.IntN(2))
				var want, size float64
				for _, p := range points {
					want = max(want, floats.Dot(psi, p)-floats.Dot(psi, w))
					size = max(size, floats.Norm(p, 1))
				}
				if got := walk.Drawdown(psi); math.Abs(got-want) > 16*u*size {
					t.Fatalf("wobble %v, signs %b, after %d steps: %v, want %v", wobble, signs, k+1, got, want)
				}
			}
		}
	}
}

// The memory of a run does not depend on its length where θ settles.
func TestHullStaysSmall(t *testing.T) {
	h := mixpolicy.NewHull()
	w := make([]float64, 2)
	for k := range 100_000 {
		eta, wobble := 1/math.Sqrt(float64(k+1)), .3*math.Cos(float64(k))
		w[0] += eta * (1.1 + wobble)
		w[1] += eta * (-.1 - wobble)
		h.Add(w)
	}
	// The hull of a random walk of n steps has about 2 ln n vertices; a wobbling line is
	// no worse. Four numbers a vertex pair.
	if n := h.Size(); n > 4*4*12 {
		t.Errorf("the hull holds %d numbers after 100,000 steps", n)
	}
}

func ExamplePrimalDual_multipliers() {
	fmt.Println(mixpolicy.PrimalDual{}.Multipliers, mixpolicy.LazyMultipliers)
	// Output: auto lazy
}
