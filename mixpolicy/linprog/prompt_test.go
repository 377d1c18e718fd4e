package linprog

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy/internal/prompt"
)

// Programs that take seconds end with their context, in steps and in exact arithmetic.
func TestSolveEndsWithItsContext(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	signs := func(d int, most float64) Columns {
		return columns(200, d, func(i, j int) float64 {
			v := rng.NormFloat64() * pick(rng, 1, most, 1/most)
			if v < 0 && rng.IntN(3) > 0 {
				v = -v
			}
			return v
		})
	}
	work := map[string]func(ctx context.Context) error{}
	for name, most := range map[string]float64{"alike": 1, "of any size": 1e300} {
		p := Mixture{B: costs(32, 1), Psi: signs(32, most), Norm: LInf, R: 3}.program()
		work["exact, entries "+name] = func(ctx context.Context) error {
			s := newSolver(p)
			s.withoutRounding()
			if err := s.begin(ctx); err != nil {
				return err
			}
			_, err := s.run(ctx)
			if _, stalled := err.(*StalledError); stalled {
				return nil
			}
			return err
		}
	}
	for _, norm := range []Norm{L2, L1} {
		p := Mixture{B: costs(200, 3), Psi: measures(5000, 200, .2, 5), Norm: norm, R: 1.2}
		work["in steps, "+norm.String()] = func(ctx context.Context) error {
			_, err := p.Solve(ctx, Settings{})
			return err
		}
	}
	prompt.Check(t, work)
}
