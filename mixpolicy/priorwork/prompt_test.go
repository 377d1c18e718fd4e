package priorwork

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/prompt"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Work on many rows, including the scaling of linear programs, ends when its context ends.
func TestWorkEndsWithItsContext(t *testing.T) {
	const n, d = 20_000, 60
	x := mixpolicy.Must(models.Garnet{States: n, Actions: 4, Branches: 2, Criterion: mixpolicy.Discounted(.99)}.MDP())
	phi := mat.NewDense(n, d, nil)
	v, u := make([]float64, n), make([]float64, n)
	for s := range n {
		phi.Set(s, 0, 1)
		for j := 1; j < d; j++ {
			phi.Set(s, j, math.Sin(float64(s*j)))
		}
		v[s], u[s] = math.Cos(float64(s)), 1
	}
	prompt.Check(t, map[string]func(ctx context.Context) error{
		"ALP":          func(ctx context.Context) error { _, err := ALP{Basis: phi}.Solve(ctx, x); return err },
		"smoothed ALP": func(ctx context.Context) error { _, err := SALP{Basis: phi, Penalty: 2}.Solve(ctx, x); return err },
		"best fit":     func(ctx context.Context) error { _, _, err := BestFit(ctx, phi, v, u); return err },
		"full LP":      func(ctx context.Context) error { _, err := SolveLP(ctx, x); return err },
	})
}
