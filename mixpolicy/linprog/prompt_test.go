package linprog

import (
	"context"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy/internal/prompt"
)

// Programs that take seconds end with their context.
func TestSolveEndsWithItsContext(t *testing.T) {
	work := map[string]func(ctx context.Context) error{}
	for _, norm := range []Norm{L2, L1} {
		p := Mixture{B: costs(200, 3), Psi: measures(5000, 200, .2, 5), Norm: norm, R: 1.2}
		work["in steps, "+norm.String()] = func(ctx context.Context) error {
			_, err := p.Solve(ctx, Settings{})
			return err
		}
	}
	prompt.Check(t, work)
}
