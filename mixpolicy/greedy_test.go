package mixpolicy_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// A greedy step that leaves actions out gives what one over all actions gives, to the
// bit, whatever the values were before.
func TestGreedy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, drawCriterion(t))
		g := mixpolicy.NewGreedy(x)
		actions := make([]int32, x.States())
		v, want, got := make([]float64, x.States()), make([]float64, x.States()), make([]float64, x.States())
		tie := rapid.SampledFrom([]float64{0, 1e-12, .5}).Draw(t, "tie")
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			if scale := rapid.SampledFrom([]float64{0, 1e-9, 1e-3, 1, 1e3}).Draw(t, "scale"); scale == 0 {
				copy(v, want) // as value iteration does
			} else {
				for s, d := range drawFinite(t, x.States(), scale, "δ") {
					v[s] += d
				}
			}
			lo, hi, changed := x.Improve(want, v, actions, tie)
			gotLo, gotHi, gotChanged := g.Step(got, v, tie, 1)
			if !slices.Equal(got, want) || !slices.Equal(g.Actions(), actions) || gotLo != lo || gotHi != hi || gotChanged != changed {
				t.Fatalf("𝒮v = %v, actions %v, change %v %v %v; want %v, %v, %v %v %v",
					got, g.Actions(), gotLo, gotHi, gotChanged, want, actions, lo, hi, changed)
			}
			g.Sweep(got, v)
			for s, a := range actions {
				to, p := x.Next(s, int(a))
				var e float64
				for k, s2 := range to {
					e += p[k] * v[s2]
				}
				if want := x.Cost(s, int(a)) + x.Gamma()*e; got[s] != want {
					t.Fatalf("the policy's value of state %d is %v, want %v", s, got[s], want)
				}
			}
		}
	})
}

// Value iteration soon looks at one action in most states; the number of workers
// changes nothing.
func TestGreedyLeavesOut(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 20_000, Actions: 8, Branches: 6, Criterion: mixpolicy.Discounted(.9)}.MDP())
	g := mixpolicy.NewGreedy(x)
	actions := make([]int32, x.States())
	v, want, got := make([]float64, x.States()), make([]float64, x.States()), make([]float64, x.States())
	for k := range 12 {
		x.Improve(want, v, actions, 0)
		g.Step(got, v, 0, 1+k%3)
		if !slices.Equal(got, want) || !slices.Equal(g.Actions(), actions) {
			t.Fatalf("step %d differs", k)
		}
		copy(v, want)
	}
	if alone := g.Alone(got); alone < 19_000 {
		t.Errorf("%d of %d states have one candidate, want nearly all", alone, x.States())
	}
}

// Costs beyond the range of the small numbers that distances are kept in.
func TestGreedyHuge(t *testing.T) {
	x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: 2, Actions: 3, Criterion: mixpolicy.Discounted(.5),
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			return []float64{1e300, 1, 1e-300}[(s+a)%3], []mixpolicy.Transition{{To: a % 2, P: 1}}
		},
	}))
	g := mixpolicy.NewGreedy(x)
	actions, want, got := make([]int32, 2), make([]float64, 2), make([]float64, 2)
	for _, v := range [][]float64{{0, 0}, {1e300, -1e300}, {0, 1e305}, {-math.MaxFloat64 / 4, 1}, {0, 0}} {
		x.Improve(want, v, actions, 0)
		g.Step(got, v, 0, 1)
		if !slices.Equal(got, want) || !slices.Equal(g.Actions(), actions) {
			t.Fatalf("v = %v: %v, %v, want %v, %v", v, got, g.Actions(), want, actions)
		}
	}
}
