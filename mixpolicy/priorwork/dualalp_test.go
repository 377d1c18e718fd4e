package priorwork

import (
	"fmt"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

func ExampleDualALP() {
	w, p := everyPair(mixpolicy.AverageCost)
	best, _, _ := w.Optimum()
	r := mixpolicy.Must(mixpolicy.Solve(background, p, DualALP{Weight: 10, StepSize: mixpolicy.InverseSqrt(0.02), CostScale: 1}, mixpolicy.Settings{Iterations: 100_000, Seed: 1}))
	fmt.Printf("optimal cost %.4f; its policy costs %.4f\n", best, r.PolicyCost)
	// Output:
	// optimal cost 1.5556; its policy costs 1.5879
}

func TestPublishedDualALP(t *testing.T) {
	m := PublishedDualALP()
	if m.Weight != 2 || m.Batch != 1000 {
		t.Errorf("%+v", m)
	}
	for k, want := range map[int]float64{0: 1e-4, 1999: 1e-4, 2000: 5e-5, 7999: 1.25e-5} {
		if got := m.StepSize.At(k); got != want {
			t.Errorf("η(%d) = %v, want %v", k, got, want)
		}
	}
}
