package priorwork

import (
	"math"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// After nm queries all costs are known and the policy is an optimal one; before, what was
// not asked counts as c_max, and with nothing known any policy will do.
func TestCertaintyEquivalence(t *testing.T) {
	for _, criterion := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(0.9)} {
		w, p := everyPair(criterion)
		x := p.MDP()
		best, _, err := w.Optimum()
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := x.CostRange()
		for queries := range 2*x.Pairs() + 1 {
			a := begin[*certaintyEquivalence](t, p, CertaintyEquivalence{})
			for range queries {
				if err := a.Step(); err != nil {
					t.Fatal(err)
				}
			}
			policy := mixpolicy.Must(a.Policy(background))
			seen := 0
			for i, c := range a.cost {
				if c == x.Costs()[i] && c < hi {
					seen++
				} else if c != hi {
					t.Fatalf("pair %d is believed to cost %v, costs %v", i, c, x.Costs()[i])
				}
			}
			cost := mixpolicy.Must(x.Occupation(policy)).Cost(x.Costs())
			if queries < x.Pairs() && seen > queries || cost < best-1e-9 {
				t.Errorf("%d costs known after %d queries, policy costs %v", seen, queries, cost)
			}
			if queries >= x.Pairs() && cost > best+1e-6*(hi-lo) {
				t.Errorf("%v: policy costs %v after %d queries, want %v", criterion, cost, queries, best)
			}
		}
	}
}

func TestReach(t *testing.T) {
	run := func(scores ...float64) []Look {
		looks := make([]Look, len(scores))
		for k, s := range scores {
			looks[k] = Look{Queries: float64(k + 1), Merit: s, hasMerit: true}
		}
		return looks
	}
	// The second run is at the goal, leaves it, and comes back; the last never stays.
	r := Race{Runs: [][]Look{run(9, 1, 1, 1), run(1, 9, 9, 1), run(1, 1, 1, 1), run(9, 9, 1, 1), run(1, 1, 1, 9)}}
	got := r.Reach(Look.Score, 1, 0.9)
	// Five runs: the extremes enclose the median with probability 1 − 2/32, the next two with
	// 1 − 2·6/32.
	want := Reach{Goal: 1, Median: 3, Lo: 1, Hi: math.Inf(1), Confidence: 1 - 2./32, Reached: 4, Runs: 5}
	if math.Abs(got.Confidence-want.Confidence) > 1e-12 {
		t.Errorf("confidence %v, want %v", got.Confidence, want.Confidence)
	}
	if got.Confidence = want.Confidence; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := r.Reach(Look.Score, 1, 0.6); got.Lo != 2 || got.Hi != 4 || math.Abs(got.Confidence-0.625) > 1e-12 {
		t.Errorf("%+v, want [2, 4] with 0.625", got)
	}
	if got := r.Reach(Look.Score, 0.5, 0.9); got.Reached != 0 || !math.IsInf(got.Median, 1) {
		t.Errorf("%+v, want none", got)
	}
}
