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
			if queries < x.Pairs() {
				continue
			}
			if cost > best+1e-6*(hi-lo) {
				t.Errorf("%v: policy costs %v after %d queries, want %v", criterion, cost, queries, best)
			}
			// Costs in other units, and from another zero, have the same best policies.
			for _, unit := range []struct{ length, zero float64 }{{0x1p-40, 0}, {1, 0x1p30}} {
				for i, c := range x.Costs() {
					a.cost[i] = unit.length*c + unit.zero
				}
				policy := mixpolicy.Must(a.Policy(background))
				if cost := mixpolicy.Must(x.Occupation(t.Context(), policy)).Cost(x.Costs()); cost > best+1e-6*(hi-lo) {
					t.Errorf("%v, costs times %v plus %v: policy costs %v, want %v", criterion, unit.length, unit.zero, cost, best)
				}
			}
		}
	}
}
