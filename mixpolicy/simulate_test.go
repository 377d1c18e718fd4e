package mixpolicy_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Under both criteria, visit frequencies differ from the exact measure by at most a few
// standard errors.
func TestSimulateEstimatesMeasure_2_10(t *testing.T) {
	for _, criterion := range []mixpolicy.Criterion{mixpolicy.Discounted(0.8), mixpolicy.AverageCost} {
		x := garnet(t, 10, 3, 4, criterion)
		p := mixpolicy.Must(mixpolicy.StateIndependent(x, .5, .25, .25))
		want := mixpolicy.Must(x.Occupation(t.Context(), p))
		e := mixpolicy.Must(mixpolicy.Simulate(t.Context(), x, p, mixpolicy.SimulateSettings{Steps: 400_003, Seed: 7}))
		var visits int64
		var chi2 float64
		for s := range x.States() {
			z := (e.State[s] - want.State[s]) / e.StateError[s]
			chi2 += z * z
			// For 63 degrees of freedom, |t| > 5.8 has probability 2·10⁻⁷.
			if math.Abs(z) > 5.8 {
				t.Errorf("%v: μ(%d) = %v ± %v, want %v", criterion, s, e.State[s], e.StateError[s], want.State[s])
			}
			// The standard error is within a factor of 3 of the standard error of
			// independent draws, because the chain mixes in a few steps.
			if naive := math.Sqrt(want.State[s] * (1 - want.State[s]) / 400_003); e.StateError[s] < naive/3 || e.StateError[s] > naive*3 {
				t.Errorf("%v: standard error of μ(%d) is %v, independent draws would give %v", criterion, s, e.StateError[s], naive)
			}
			for a := range x.Actions() {
				visits += e.Visits[x.Pair(s, a)]
			}
		}
		if chi2 < 0.5 {
			t.Errorf("%v: Σz² = %v over 10 states: errors are overstated", criterion, chi2)
		}
		if visits != 400_003 || e.Steps != 400_003 {
			t.Errorf("%v: %d visits, %d steps", criterion, visits, e.Steps)
		}
		if z := (e.MeanCost - want.Cost(x.Costs())) / e.CostError; math.Abs(z) > 5.8 || e.CostError <= 0 {
			t.Errorf("%v: cost %v ± %v, want %v", criterion, e.MeanCost, e.CostError, want.Cost(x.Costs()))
		}
		if d := math.Abs(e.MeanCost - e.Cost(x.Costs())); d > 1e-9 {
			t.Errorf("%v: mean cost %v, cᵀξ of the visits %v", criterion, e.MeanCost, e.Cost(x.Costs()))
		}
	}
}

// If the cost is 1 in one state and 0 elsewhere, the mean cost and its error equal the frequency of that state and its
// error, which Simulate computes in another way. This holds even if the simulation is cancelled after some streams. With
// one stream, both errors are 0.
func TestSimulateCostError(t *testing.T) {
	x := mixpolicy.Must(models.Queue{Buffer: 5}.MDP())
	cost := make([]float64, x.Pairs())
	for a := range x.Actions() {
		cost[x.Pair(2, a)] = 1
	}
	x = mixpolicy.Must(x.WithCosts(cost))
	const each = 70_000 // more steps than a stream takes between checks of the context
	for _, streams := range []int{64, 3, 1} {
		ctx, cancel := context.WithCancel(t.Context())
		e, err := mixpolicy.Simulate(ctx, x, mixpolicy.UniformPolicy(x), mixpolicy.SimulateSettings{Steps: 64 * each, Seed: 4, Workers: 1, Progress: func(done int) {
			if done == streams*each {
				cancel()
			}
		}})
		if (streams < 64) != errors.Is(err, context.Canceled) || e.Steps != streams*each || math.Abs(floats.Sum(e.State)-1) > 100*u {
			t.Errorf("%d streams: %d steps, %v", streams, e.Steps, err)
		}
		if math.Abs(e.MeanCost-e.State[2]) > 1e-13 || !(math.Abs(e.CostError-e.StateError[2]) <= 1e-9*e.StateError[2]) || (e.CostError > 0) != (streams > 1) {
			t.Errorf("%d streams: cost %v ± %v, frequency %v ± %v", streams, e.MeanCost, e.CostError, e.State[2], e.StateError[2])
		}
	}
}

// The result is the same to the bit for any number of workers. Another seed gives another
// result.
func TestSimulateWorkers(t *testing.T) {
	x := mixpolicy.Must(models.Queue{Criterion: mixpolicy.Discounted(0.99)}.MDP())
	p := mixpolicy.UniformPolicy(x)
	run := func(seed uint64, workers int) *mixpolicy.Empirical {
		set := mixpolicy.SimulateSettings{Steps: 100_003, Seed: seed, Workers: workers}
		return mixpolicy.Must(mixpolicy.Simulate(t.Context(), x, p, set))
	}
	want := run(1, 1)
	for _, workers := range []int{2, 7} {
		e := run(1, workers)
		if !slices.Equal(e.Visits, want.Visits) || !slices.Equal(e.StateError, want.StateError) ||
			e.MeanCost != want.MeanCost || e.CostError != want.CostError || !slices.Equal(e.Pair, want.Pair) {
			t.Errorf("the results with %d workers and with 1 differ", workers)
		}
	}
	if slices.Equal(run(2, 1).Visits, want.Visits) {
		t.Error("seeds 1 and 2 give the same visits")
	}
}

// Simulate calls Progress once per stream, with increasing numbers. One step per stream is enough.
func TestSimulateProgress(t *testing.T) {
	x := mixpolicy.Must(models.Queue{}.MDP())
	for _, steps := range []int{64, 6400} {
		var told []int
		set := mixpolicy.SimulateSettings{Steps: steps, Seed: 1, Workers: 3, Progress: func(done int) { told = append(told, done) }}
		e := mixpolicy.Must(mixpolicy.Simulate(t.Context(), x, mixpolicy.UniformPolicy(x), set))
		if len(told) != 64 || told[63] != steps || !slices.IsSorted(told) || e.Steps != steps {
			t.Errorf("progress %v, %d steps", told, e.Steps)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	e, err := mixpolicy.Simulate(ended, x, mixpolicy.UniformPolicy(x), mixpolicy.SimulateSettings{Steps: 6400})
	if e != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v, %v", e, err)
	}
}

func TestSimulateErrors(t *testing.T) {
	x := mixpolicy.Must(models.Queue{}.MDP())
	few := mixpolicy.SimulateSettings{Steps: 63}
	wantError(t, errOf(mixpolicy.Simulate(t.Context(), x, mixpolicy.UniformPolicy(x), few)), "63 simulated steps", "64 streams")
}
