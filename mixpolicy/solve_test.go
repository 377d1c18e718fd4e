package mixpolicy_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
)

// recorder is a function as a Recorder.
type recorder func(s *mixpolicy.Snapshot) error

func (f recorder) Record(_ *mixpolicy.Problem, s *mixpolicy.Snapshot) error { return f(s) }

// The recorder sees θ₀, every scheduled state, and the last one, each once and in order.
func TestSolveRecords(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	for _, c := range []struct {
		iterations int
		schedule   mixpolicy.Schedule
		want       []int
	}{
		{10, mixpolicy.Every(3), []int{0, 3, 6, 9, 10}},
		{9, mixpolicy.Every(3), []int{0, 3, 6, 9}},
		{1, mixpolicy.Every(7), []int{0, 1}},
		{120, mixpolicy.LogSpaced(2), []int{0, 1, 3, 10, 32, 100, 120}},
		{1000, mixpolicy.LogSpaced(1), []int{0, 1, 10, 100, 1000}},
	} {
		var h mixpolicy.History
		r, err := mixpolicy.Solve(context.Background(), p, mixpolicy.PrimalDual{}, mixpolicy.Settings{Iterations: c.iterations, Recorder: &h, Schedule: c.schedule})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(h.Iteration, c.want) {
			t.Errorf("T = %d: recorded %v, want %v", c.iterations, h.Iteration, c.want)
		}
		if !slices.Equal(h.Queries, h.Iteration) {
			t.Errorf("queries %v, want one an iteration", h.Queries)
		}
		last := len(h.Iteration) - 1
		if !slices.Equal(h.Average[last], r.Theta) || !slices.Equal(h.Last[last], r.Last) || h.Cost[last] != r.Objective || h.Violation[last] != r.Violation || h.Mass[last] != r.NegativeMass {
			t.Errorf("the last record %v is not the result %v", h.Average[last], r.Theta)
		}
		if got := h.Coordinate(1); got[last] != r.Theta[1] || got[0] != .5 {
			t.Errorf("the curve of θ̂₂ is %v", got)
		}
	}
}

// Every(k) gives the next multiple of k; LogSpaced rises, meets every power of ten, and
// gives about as many in each factor of ten as asked for.
func TestSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, at := rapid.IntRange(1, 1000).Draw(t, "k"), rapid.IntRange(0, 1e6).Draw(t, "t")
		if next := mixpolicy.Every(k)(at); next%k != 0 || next <= at || next > at+k {
			t.Fatalf("Every(%d)(%d) = %d", k, at, next)
		}
		s := mixpolicy.LogSpaced(k)
		if next := s(at); next <= at {
			t.Fatalf("LogSpaced(%d)(%d) = %d", k, at, next)
		}
	})
	for _, k := range []int{1, 2, 3, 5, 10, 20, 30} {
		s := mixpolicy.LogSpaced(k)
		seen, count := map[int]bool{}, 0
		for at := s(0); at <= 1e7; at = s(at) {
			seen[at] = true
			if at > 1e6 {
				count++
			}
		}
		if count != k {
			t.Errorf("LogSpaced(%d) gives %d between 10⁶ and 10⁷", k, count)
		}
		for at := 1; at <= 1e7; at *= 10 {
			if !seen[at] {
				t.Errorf("LogSpaced(%d) leaves out %d", k, at)
			}
		}
	}
	for name, f := range map[string]func(int) mixpolicy.Schedule{"Every": mixpolicy.Every, "LogSpaced": mixpolicy.LogSpaced} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "mixpolicy: "+name+"(0)") {
					t.Errorf("%s(0) panics with %q", name, s)
				}
			}()
			f(0)
		}()
	}
}

// On cancellation: what was reached, and ctx.Err().
func TestSolveCancelled(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const at, total = 5000, 1_000_000
	var last int
	r, err := mixpolicy.Solve(ctx, p, mixpolicy.PrimalDual{}, mixpolicy.Settings{
		Iterations: total, Schedule: mixpolicy.Every(at),
		Recorder: recorder(func(s *mixpolicy.Snapshot) error {
			last = s.Iteration
			if s.Iteration == at {
				cancel()
			}
			return nil
		}),
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	wantError(t, err, "stopped after", "of 1000000 iterations")
	if r == nil || r.Status != mixpolicy.Interrupted || r.Status.String() != "interrupted" {
		t.Fatalf("result %+v", r)
	}
	if r.Iterations < at || r.Iterations > at+1024 || last != r.Iterations || r.Queries != r.Iterations {
		t.Errorf("stopped after %d iterations and %d queries, recorded %d", r.Iterations, r.Queries, last)
	}
	// It is the state that a run of that length has.
	same, err := mixpolicy.Solve(context.Background(), p, mixpolicy.PrimalDual{}, mixpolicy.Settings{Iterations: r.Iterations})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(same.Theta, r.Theta) || !slices.Equal(same.Lambda, r.Lambda) || same.Objective != r.Objective || r.Policy == nil {
		t.Errorf("θ̂ = %v, a run of %d iterations has %v", r.Theta, r.Iterations, same.Theta)
	}
	if r.HasOptimum || r.HasPolicy {
		t.Error("time was taken for the certificate after cancellation")
	}
}

// An error of the recorder ends the run and comes back.
func TestRecorderError(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	full := errors.New("disk full")
	for _, at := range []int{0, 4, 9} {
		r, err := mixpolicy.Solve(context.Background(), p, mixpolicy.Penalty{}, mixpolicy.Settings{
			Iterations: 9, Schedule: mixpolicy.Every(2),
			Recorder: recorder(func(s *mixpolicy.Snapshot) error {
				if s.Iteration == at {
					return full
				}
				return nil
			}),
		})
		if !errors.Is(err, full) {
			t.Errorf("error %v, want the recorder's", err)
		}
		if r == nil || r.Status != mixpolicy.Failed || r.Iterations != at {
			t.Errorf("at %d: result %+v", at, r)
		}
	}
	// Also when the run is stopping for another reason: both come back.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	shown := 0
	_, err := mixpolicy.Solve(ctx, p, mixpolicy.Penalty{}, mixpolicy.Settings{
		Iterations: 9, Recorder: recorder(func(s *mixpolicy.Snapshot) error {
			cancel()
			if shown++; shown > 1 {
				return full
			}
			return nil
		}),
	})
	if !errors.Is(err, full) || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want both", err)
	}
}

// An error of the method: the result has the iterations before it.
func TestSolveMethodFails(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	m := mixpolicy.PrimalDual{StepSize: func(t int) float64 {
		if t == 7 {
			return math.NaN()
		}
		return .1
	}}
	r, err := mixpolicy.Solve(context.Background(), p, m, mixpolicy.Settings{Iterations: 20})
	wantError(t, err, "stopped after 7 of 20 iterations", "step size of iteration 7 is NaN")
	if r == nil || r.Status != mixpolicy.Failed || r.Iterations != 7 || floats.HasNaN(r.Theta) || !r.HasOptimum {
		t.Errorf("result %+v", r)
	}
}

func TestSolveErrors(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	for _, n := range []int{0, -3} {
		r, err := mixpolicy.Solve(context.Background(), p, mixpolicy.PrimalDual{}, mixpolicy.Settings{Iterations: n})
		wantError(t, err, "iterations, want at least 1")
		if r != nil {
			t.Error("a result without iterations")
		}
	}
	r, err := mixpolicy.Solve(context.Background(), p, mixpolicy.PrimalDual{Beta: -1}, mixpolicy.Settings{Iterations: 1})
	wantError(t, err, "β = -1")
	if r != nil {
		t.Error("a result with bad parameters")
	}
}

// The same to the bit from a seed, and another run from another; a method can be used
// again.
func TestSolveReproducible(t *testing.T) {
	p := small(t, 3, mixpolicy.Ball(2), mixpolicy.AverageCost)
	for _, m := range []mixpolicy.Method{mixpolicy.PrimalDual{}, mixpolicy.PrimalDual{Multipliers: mixpolicy.LazyMultipliers}, mixpolicy.Penalty{}, mixpolicy.PlugIn{}} {
		solve := func(seed, stream uint64) *mixpolicy.Result {
			r, err := mixpolicy.Solve(context.Background(), p, m, mixpolicy.Settings{Iterations: 300, Seed: seed, Stream: stream})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		a, b := solve(1, 2), solve(1, 2)
		if !slices.Equal(a.Theta, b.Theta) || !slices.Equal(a.Last, b.Last) || !slices.Equal(a.Lambda, b.Lambda) {
			t.Errorf("%s: two runs from a seed differ", m.Name())
		}
		if m.Name() != "plug-in" && (slices.Equal(a.Theta, solve(2, 2).Theta) || slices.Equal(a.Theta, solve(1, 3).Theta)) {
			t.Errorf("%s: runs from different seeds are the same", m.Name())
		}
	}
}

// Progress is told from 0 to T, in order.
func TestSolveProgress(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	var told []int
	_, err := mixpolicy.Solve(context.Background(), p, mixpolicy.PlugIn{}, mixpolicy.Settings{
		Iterations: 5000, Progress: func(done, total int) {
			if total != 5000 {
				t.Errorf("total %d", total)
			}
			told = append(told, done)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) < 3 || told[0] != 0 || told[len(told)-1] != 5000 || !slices.IsSorted(told) {
		t.Errorf("told %v", told)
	}
}
