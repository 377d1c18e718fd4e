// Package prompt tests that long work ends when its context ends.
package prompt

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mixpolicy/lab/mixpolicy/internal/clock"
)

// Check calls each function three times, with contexts that end after 30, 90 and 210 ms. In short tests, it calls each
// function once, with a context that ends after 90 ms. The test fails unless each call ends within a second of
// processor time after its context, with the error of the context or without an error. (Wall time would include the
// work of other programs.)
func Check(t *testing.T, work map[string]func(ctx context.Context) error) {
	t.Helper()
	moments := []time.Duration{30 * time.Millisecond, 90 * time.Millisecond, 210 * time.Millisecond}
	if testing.Short() {
		moments = moments[1:2]
	}
	for what, f := range work {
		for _, moment := range moments {
			ctx, cancel := context.WithTimeout(t.Context(), moment)
			end := make(chan time.Duration, 1)
			context.AfterFunc(ctx, func() { end <- clock.ProcessorTime() })
			err := f(ctx)
			now := clock.ProcessorTime()
			cancel()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%s: error %v, want the error of the ended context", what, err)
			}
			if late := now - <-end; late >= time.Second {
				t.Errorf("%s: took %v of processor time to end after its context, which ended after %v", what, late, moment)
			}
		}
	}
}
