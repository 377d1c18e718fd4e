package priorwork

import (
	"fmt"
	"math"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

func ExampleDualALP() {
	w, p := everyPair(mixpolicy.AverageCost)
	best, _, _ := w.Optimum()
	r := mixpolicy.Must(mixpolicy.Solve(background, p, DualALP{Weight: 10, StepSize: mixpolicy.InverseSqrt(0.02)}, mixpolicy.Settings{Iterations: 100_000, Seed: 1}))
	fmt.Printf("optimal cost %.4f; its policy costs %.4f\n", best, r.PolicyCost)
	// Output:
	// optimal cost 1.5556; its policy costs 1.5879
}

// With a feature for every pair the penalty is exact: for ω above the multipliers, here
// above every relative value, the minimum of f_ω is the optimal cost. The average of T
// iterates is within R₂G/√T of it in the mean.
func TestDualALPFindsTheOptimalPolicy(t *testing.T) {
	for _, criterion := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(0.8)} {
		w, p := everyPair(criterion)
		best, _, err := w.Optimum()
		if err != nil {
			t.Fatal(err)
		}
		const steps = 100_000
		a := DualALP{Weight: 10, StepSize: mixpolicy.Constant(0.02 / math.Sqrt(steps))}
		r := mixpolicy.Must(mixpolicy.Solve(background, p, a, mixpolicy.Settings{Iterations: steps, Seed: 3}))
		// ‖ĝ‖ ≤ (6 + ω)·4 + ω Σ‖W_s‖ ≤ 64 + 10·4 < 110, ‖θ − θ₀‖ ≤ 1; a step of 0.02/√T is as
		// good as R₂/(G√T) to a factor: E f − f* ≤ (1/0.02 + 0.02·110²)/(2√T) = 0.46.
		const bound = (1/0.02 + 0.02*110*110) / 2
		if f := mixpolicy.Must(a.Objective(p, r.Theta)); f < best-1e-9 || f > best+bound/math.Sqrt(steps) {
			t.Errorf("%v: f_ω(θ̂) = %v, optimum %v", criterion, f, best)
		}
		if r.PolicyCost > best+0.05 { // next best of the four deterministic policies: 0.4 more
			t.Errorf("%v: the policy costs %v, optimum %v", criterion, r.PolicyCost, best)
		}
	}
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
