package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// projection is that of the penalty method (4.16), onto ‖θ‖₂ ≤ R and 1ᵀθ = 1.
func projection(_ context.Context, quick bool) ([]func() (race, error), error) {
	const d, points, r = 4, 20, 2
	calls := 2_000_000
	if quick {
		calls = 20_000
	}
	rng := rand.New(rand.NewPCG(1, 0))
	y := make([]float64, points*d)
	for i := range y {
		y[i] = 3 * rng.NormFloat64() // mostly outside of the ball
	}
	return []func() (race, error){func() (race, error) {
		return race{
			work:     "projection",
			instance: fmt.Sprintf("projection of the penalty method, ‖θ‖₂ ≤ R, d = %d", d),
			problem:  instance{Floats: map[string][]float64{"y": y}, Numbers: map[string]float64{"features": d, "radius": r}},
			method:   "closed form",
			calls:    calls,
			ours: func(_ context.Context, calls int) ([]float64, error) {
				theta := slices.Clone(y)
				for k := range calls {
					i := k % points * d
					if err := linprog.L2.Project(theta[i:i+d], y[i:i+d], r); err != nil {
						return nil, err
					}
				}
				return theta, nil
			},
			peers: []string{"Clarabel", "ECOS", "SCS"},
			// Solvers stop at 10⁻⁸ or so of objectives that are squares.
			agree:  within(1e-4),
			faster: 1000,
		}, nil
	}}, nil
}
