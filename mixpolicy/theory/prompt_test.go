package theory_test

import (
	"context"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/prompt"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// Computations with powers of large matrices, or with thousands of policies, stop when their context ends.
func TestWorkEndsWithItsContext(t *testing.T) {
	x := mixpolicy.Must(models.Queue{Buffer: 1000, Arrival: .5, Rates: []float64{.4999, .5001}}.MDP())
	p := mixpolicy.UniformPolicy(x)
	prompt.Check(t, map[string]func(ctx context.Context) error{
		"mixing time": func(ctx context.Context) error { _, err := theory.MixingTime(ctx, x, p, 1e-9); return err },
		"mixing curve": func(ctx context.Context) error {
			_, err := theory.MixingCurve(ctx, x, p, nil, 1e9)
			return err
		},
		"contraction": func(ctx context.Context) error {
			_, err := theory.ContractionCoefficient(ctx, x, p, 1<<60-1)
			return err
		},
		"uniform mixing time": func(ctx context.Context) error { _, err := theory.UniformMixingTime(ctx, x, .5); return err },
		"ergodicity":          func(ctx context.Context) error { _, err := theory.UniformErgodicity(ctx, x); return err },
	})
}
