package priorwork

import (
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
			cost := mixpolicy.Must(x.Occupation(t.Context(), policy)).Cost(x.Costs())
			if queries < x.Pairs() && seen > queries || cost < best-1e-9 {
				t.Errorf("%d costs known after %d queries, policy costs %v", seen, queries, cost)
			}
			if queries >= x.Pairs() && cost > best+1e-6*(hi-lo) {
				t.Errorf("%v: policy costs %v after %d queries, want %v", criterion, cost, queries, best)
			}
		}
	}
}
