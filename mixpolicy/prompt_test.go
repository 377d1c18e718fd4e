package mixpolicy_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/prompt"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Work of minutes, or of seconds between two steps, ends with its context.
func TestWorkEndsWithItsContext(t *testing.T) {
	slow := mixpolicy.Must(models.Queue{Buffer: 30_000, Arrival: .5, Rates: []float64{.4999, .5001}}.MDP())
	uneven := mixpolicy.Must(mixpolicy.StateIndependent(slow, .3, .7))
	full := garnet(t, 1500, 2, 15, mixpolicy.AverageCost) // elimination fills it in
	far := mixpolicy.Must(slow.WithCriterion(mixpolicy.Discounted(1 - 1e-9)))
	work := map[string]func(ctx context.Context) error{
		"features": func(ctx context.Context) error {
			return errOf(mixpolicy.NewFeatures(ctx, full, mixedPolicies(full, 30, 1)...))
		},
		"simulation": func(ctx context.Context) error {
			return errOf(mixpolicy.Simulate(ctx, slow, mixpolicy.UniformPolicy(slow), mixpolicy.SimulateSettings{Steps: 1e11}))
		},
		"evaluation": func(ctx context.Context) error {
			return errOf(mixpolicy.Evaluate(ctx, full, mixpolicy.UniformPolicy(full), mixpolicy.ValuationSettings{}))
		},
		"primal–dual": func(ctx context.Context) error {
			return errOf(mixpolicy.Solve(ctx, queue(t, 100, mixpolicy.Ball(2)), mixpolicy.PrimalDual{}, mixpolicy.Settings{Iterations: 1e9}))
		},
	}
	for method := mixpolicy.GaussSeidel; method <= mixpolicy.Multilevel; method++ {
		for _, x := range []*mixpolicy.MDP{slow, far} {
			work[method.String()+", "+x.Criterion().String()] = func(ctx context.Context) error {
				set := mixpolicy.MeasureSettings{Method: method, Tolerance: 1e-300, MaxSweeps: math.MaxInt}
				return errOf(mixpolicy.Occupation(ctx, x, uneven, set))
			}
		}
	}
	// The proof too: a residual that is met at once, in a chain that takes 10⁹ steps to a state.
	work["proof"] = func(ctx context.Context) error {
		set := mixpolicy.MeasureSettings{Method: mixpolicy.GaussSeidel, Tolerance: .1, MaxSweeps: math.MaxInt}
		return errOf(mixpolicy.Occupation(ctx, slow, uneven, set))
	}
	for _, method := range valuationMethods {
		work[method.name] = func(ctx context.Context) error {
			return errOf(method.run(ctx, far, mixpolicy.ValuationSettings{Tolerance: 1e-300}))
		}
	}
	prompt.Check(t, work)
}

// A view that solves a linear program ends with its context, and shows what was reached.
func TestViewEndsWithItsContext(t *testing.T) {
	p := queue(t, 100, mixpolicy.Ball(2))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r := start(t, p, mixpolicy.PlugIn{})
	advance(t, r, 10)
	var s mixpolicy.Snapshot
	if err := mixpolicy.View(ended, r, &s); !errors.Is(err, context.Canceled) || s.Iteration != 10 || !(math.Abs(s.Average[0]+s.Average[1]-1) < 1e-12) {
		t.Errorf("%+v, %v", s, err)
	}
	if err := mixpolicy.View(t.Context(), r, &s); err != nil {
		t.Error(err)
	}
	result, err := mixpolicy.Solve(ended, p, mixpolicy.PlugIn{}, mixpolicy.Settings{Iterations: 10})
	if !errors.Is(err, context.Canceled) || result.Status != mixpolicy.Interrupted {
		t.Errorf("%v, %v", result, err)
	}
}
