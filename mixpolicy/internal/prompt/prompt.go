// Package prompt tests that long work ends when its context ends.
package prompt

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mixpolicy/lab/mixpolicy/internal/clock"
)

// Check ends the context of each function at three moments in the first quarter of a second, or at one moment in short
// tests. The test fails unless the function then ends within a second of processor time, with the error of the context
// or without an error. (Wall time would also count the work of other programs.)
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
				t.Errorf("%s: ended %v after its context, which ended at %v", what, late, moment)
			}
		}
	}
}
