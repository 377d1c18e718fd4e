// Package prompt tests that long work ends with its context.
package prompt

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Check cancels work at random moments of its first quarter of a second, and fails unless it then
// ends within a second, with the error of its context or with its own end. Of three tries the
// best counts: what is late because other programs have the processors is not late each time.
func Check(t *testing.T, work map[string]func(ctx context.Context) error) {
	t.Helper()
	for what, f := range work {
		rng := rand.New(rand.NewPCG(1, 2))
		for range 3 {
			moment := time.Duration(rng.Float64() * float64(time.Second/4))
			late := time.Duration(math.MaxInt64)
			for try := 0; try < 3 && late >= time.Second; try++ {
				ctx, cancel := context.WithTimeout(t.Context(), moment)
				began := time.Now()
				err := f(ctx)
				took := time.Since(began) - moment
				cancel()
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("%s: %v, want the end of the context", what, err)
				}
				late = min(late, took)
			}
			if late >= time.Second {
				t.Errorf("%s: %v late, after %v", what, late, moment)
			}
		}
	}
}
