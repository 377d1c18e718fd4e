// Package prompt tests that long work ends with its context.
package prompt

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mixpolicy/lab/mixpolicy/internal/clock"
)

// Check cancels work at three moments of its first quarter of a second, in short tests at one of them, and
// fails unless it then ends within a second, with the error of its context or with its own end. It counts
// the time of processors, since other programs may have them.
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
				t.Fatalf("%s: %v, want the end of the context", what, err)
			}
			if late := now - <-end; late >= time.Second {
				t.Errorf("%s: %v late, after %v", what, late, moment)
			}
		}
	}
}
