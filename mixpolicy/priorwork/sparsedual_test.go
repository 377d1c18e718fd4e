package priorwork

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// This is the dual ALP of a machine, with one feature per state–action pair.
func ExampleSparseDualALP() {
	w, p := everyPair(mixpolicy.AverageCost)
	x := p.MDP()
	best, _, _ := w.Optimum()
	a := mixpolicy.Must(NewSparseDualALP(x, x.Pairs(), func(i int, set func(int, float64)) { set(i, 1) }))
	theta := mixpolicy.Must(a.Run(context.Background(), DualALPRun{
		Weight: 10, CostScale: 1, StepSize: mixpolicy.InverseSqrt(0.02), Batch: 10, Steps: 20_000, Radius: 1, Start: barycentre(x.Pairs()),
	}, rand.NewPCG(1, 0)))
	policy := mixpolicy.Must(mixpolicy.PolicyOf(x, theta))
	fmt.Printf("optimal cost %.4f; its policy costs %.4f\n", best, mixpolicy.Must(x.Occupation(context.Background(), policy)).Cost(x.Costs()))
	// Output:
	// optimal cost 1.5556; its policy costs 1.5892
}

func TestSparseDualALPErrors(t *testing.T) {
	_, p := everyPair(mixpolicy.AverageCost)
	x := p.MDP()
	for _, c := range []struct {
		row  func(int, func(int, float64))
		says string
	}{
		{func(i int, set func(int, float64)) { set(2, 1) }, "feature 2 of pair 0"},
		{func(i int, set func(int, float64)) { set(0, math.NaN()) }, "is NaN"},
		{func(i int, set func(int, float64)) { set(0, math.Inf(1)) }, "feature 0 of pair 0 is +Inf"},
		{func(i int, set func(int, float64)) { set(0, 1); set(0, 1) }, "feature 0 of pair 0 is set twice"},
	} {
		wantError(t, second(NewSparseDualALP(x, 2, c.row)), c.says)
	}
	a := mixpolicy.Must(NewSparseDualALP(x, x.Pairs(), func(i int, set func(int, float64)) { set(i, 1) }))
	set := DualALPRun{Weight: 1, CostScale: 1, StepSize: mixpolicy.Constant(.1), Batch: 1, Steps: 10, Radius: 1, Start: barycentre(x.Pairs())}
	for says, spoil := range map[string]func(*DualALPRun){
		"ω = 0":                     func(s *DualALPRun) { s.Weight = 0 },
		"θ₀ of 0 entries":           func(s *DualALPRun) { s.Start = nil },
		"dual ALP, step 1: R = 0.1": func(s *DualALPRun) { s.Radius = .1 }, // the plane does not meet the ball
	} {
		spoiled := set
		spoil(&spoiled)
		wantError(t, second(a.Run(background, spoiled, rand.NewPCG(1, 0))), says)
	}
	// Without a schedule, Visit gets the average once, after the last step, even if there is only one step. This
	// average is the answer.
	for _, steps := range []int{1, 3} {
		var shown []float64
		once := set
		once.Steps, once.Visit = steps, func(step int, average []float64) error {
			shown = append(append(shown, float64(step)), average...)
			return nil
		}
		if got := mixpolicy.Must(a.Run(background, once, rand.NewPCG(1, 0))); !floats.Equal(shown, append([]float64{float64(steps)}, got...)) {
			t.Errorf("%d steps: answer %v, shown %v", steps, got, shown)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	wantError(t, second(a.Run(ended, set, rand.NewPCG(1, 0))), "after 0 of 10 steps")
}

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
