package priorwork

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// After nm queries, all costs are known, and the policy is optimal to 10⁻⁶ of their range.
// Before its first query, a pair is taken to cost c_max.
func TestCertaintyEquivalence(t *testing.T) {
	for _, criterion := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(0.9)} {
		w, p := everyPair(criterion)
		x := p.MDP()
		best, _, _ := w.Optimum()
		lo, hi := x.CostRange()
		for queries := range 2*x.Pairs() + 1 {
			a := begin[*certaintyEquivalence](p, CertaintyEquivalence{})
			cost := func() float64 {
				return mixpolicy.Must(x.Occupation(t.Context(), mixpolicy.Must(a.Policy(background)))).Cost(x.Costs())
			}
			for range queries {
				mixpolicy.Must(0, a.Step())
			}
			seen := 0
			for i, c := range a.cost {
				if c == x.Costs()[i] && c < hi {
					seen++
				} else if c != hi {
					t.Fatalf("pair %d is believed to cost %v, costs %v", i, c, x.Costs()[i])
				}
			}
			if got := cost(); queries < x.Pairs() && seen > queries || got < best-1e-9 || queries >= x.Pairs() && got > best+1e-6*(hi-lo) {
				t.Errorf("%v: %d costs known after %d queries, policy costs %v, the best %v", criterion, seen, queries, got, best)
			}
			// Costs in another unit have the same best policies.
			if floats.Scale(0x1p-40, a.cost); queries >= x.Pairs() && cost() > best+1e-6*(hi-lo) {
				t.Errorf("%v, in another unit: policy costs %v, want %v", criterion, cost(), best)
			}
		}
	}
	// A pair that is not allowed is never queried, and its estimate is the estimate of the pair that is taken instead.
	move := func(s, a int) (float64, []mixpolicy.Transition) {
		return float64(3 - s - a), []mixpolicy.Transition{{To: a, P: 1}}
	}
	x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 2, Actions: 2, Criterion: mixpolicy.Discounted(.5), Dynamics: move,
		Allowed: func(s, a int) bool { return s == 0 || a == 1 }}))
	f := mixpolicy.Must(mixpolicy.NewFeatures(background, x, mixpolicy.UniformPolicy(x)))
	a := begin[*certaintyEquivalence](mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Simplex())), CertaintyEquivalence{})
	got := 0.
	for range 3 {
		mixpolicy.Must(0, a.Step())
		got = mixpolicy.Must(x.Occupation(background, mixpolicy.Must(a.Policy(background)))).Cost(x.Costs())
	}
	if math.Abs(got-1.25) > 1e-9 {
		t.Errorf("after each allowed pair was queried once: cost %v, want 1.25", got)
	}
}
