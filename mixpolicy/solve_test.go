package mixpolicy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/prompt"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// recorder makes a function a Recorder.
type recorder func(s *mixpolicy.Snapshot) error

func (f recorder) Record(_ *mixpolicy.Problem, s *mixpolicy.Snapshot) error { return f(s) }

// The recorder sees θ₀, every scheduled state, and the last state, each once and in order.
func TestSolveRecords(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	for _, c := range []struct {
		iterations int
		schedule   mixpolicy.Schedule
		want       []int
	}{
		{10, mixpolicy.Every(3), []int{0, 3, 6, 9, 10}},
		{9, mixpolicy.Every(3), []int{0, 3, 6, 9}},
		{9, func(t int) int { return t }, []int{0, 9}}, // a schedule that does not advance
		{120, mixpolicy.LogSpaced(2), []int{0, 1, 3, 10, 32, 100, 120}},
		{1000, mixpolicy.LogSpaced(1), []int{0, 1, 10, 100, 1000}},
	} {
		var h mixpolicy.History
		var told []int // the arguments of Progress: from 0 to T, in order
		r := solve(t, p, mixpolicy.PrimalDual{}, mixpolicy.Settings{Iterations: c.iterations, Recorder: &h, Schedule: c.schedule,
			Progress: func(done, _ int) { told = append(told, done) }})
		if told[0] != 0 || told[len(told)-1] != c.iterations || !slices.IsSorted(told) {
			t.Errorf("T = %d: Progress called with %v", c.iterations, told)
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
	}
}

// Every(k) gives the next multiple of k. LogSpaced gives a later step, and for very many steps per decade, t + 1.
func TestSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, at := rapid.IntRange(1, 1000).Draw(t, "k"), rapid.IntRange(0, 1e6).Draw(t, "t")
		if next := mixpolicy.Every(k)(at); next%k != 0 || next <= at || next > at+k {
			t.Fatalf("Every(%d)(%d) = %d", k, at, next)
		}
		if next, least := mixpolicy.LogSpaced(k)(at), mixpolicy.LogSpaced(1<<60)(at); next <= at || least != at+1 {
			t.Fatalf("LogSpaced(%d)(%d) = %d, and %d at the closest", k, at, next, least)
		}
	})
}

// When cancelled, Solve returns the state that it reached, and ctx.Err().
func TestSolveCancelled(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	ctx, cancel := context.WithCancel(t.Context())
	const at, total = 5000, 1_000_000_000_000 // more than a day of work
	var last int
	r, err := mixpolicy.Solve(ctx, p, mixpolicy.PrimalDual{}, mixpolicy.Settings{
		Iterations: total, Schedule: mixpolicy.Every(at),
		Recorder: recorder(func(s *mixpolicy.Snapshot) error {
			if last = s.Iteration; last == at {
				cancel()
			}
			return nil
		}),
	})
	wantError(t, err, "stopped after", "of 1000000000000 iterations")
	reached := r.Iterations >= at && last == r.Iterations && r.Queries == r.Iterations
	if !errors.Is(err, context.Canceled) || r.Status != mixpolicy.Interrupted || !reached {
		t.Fatalf("recorded %d, %v, %+v", last, err, r)
	}
	// The state equals the state of a complete run with as many iterations.
	same := solve(t, p, mixpolicy.PrimalDual{}, mixpolicy.Settings{Iterations: r.Iterations})
	if !slices.Equal(same.Theta, r.Theta) || !slices.Equal(same.Lambda, r.Lambda) || same.Objective != r.Objective || r.Policy == nil {
		t.Errorf("θ̂ = %v, a run of %d iterations has %v", r.Theta, r.Iterations, same.Theta)
	}
	if r.HasOptimum || r.HasPolicy {
		t.Error("after cancellation, the certificate has a number that takes time")
	}
}

// An error of the recorder ends the run, and Solve returns it.
func TestRecorderError(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	full := errors.New("disk full")
	for _, at := range []int{0, 4, 9} {
		r, err := mixpolicy.Solve(t.Context(), p, mixpolicy.Penalty{}, mixpolicy.Settings{
			Iterations: 9, Schedule: mixpolicy.Every(2),
			Recorder: recorder(func(s *mixpolicy.Snapshot) error {
				if s.Iteration < at {
					return nil
				}
				return full
			}),
		})
		if !errors.Is(err, full) || r.Status != mixpolicy.Failed || r.Iterations != at {
			t.Errorf("at %d: result %+v, error %v, want the recorder's", at, r, err)
		}
	}
}

// An invalid step size ends the run, and the result is the state before the invalid step.
func TestSolveMethodFails(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1, 0} {
		eta := mixpolicy.StepFunc(func(t int) float64 {
			if t == 7 {
				return bad
			}
			return .1
		})
		for _, m := range []mixpolicy.Method{mixpolicy.PrimalDual{StepSize: eta}, mixpolicy.Penalty{StepSize: eta}} {
			r, err := mixpolicy.Solve(t.Context(), p, m, mixpolicy.Settings{Iterations: 20})
			if bad == 0 { // a step size of 0 is valid
				if err != nil || r.Iterations != 20 {
					t.Errorf("a step of 0: %v, %+v", err, r)
				}
				continue
			}
			wantError(t, err, "stopped after 7 of 20 iterations", fmt.Sprintf("step size of iteration 7 is %v, want a finite number ≥ 0", bad))
			if r == nil || r.Status != mixpolicy.Failed || r.Iterations != 7 || floats.HasNaN(r.Theta) || !r.HasOptimum {
				t.Errorf("result %+v", r)
			}
		}
	}
}

// Errors name the argument that is nil or out of range, and come without a result.
func TestSolveErrors(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	var none *mixpolicy.PrimalDual
	for _, c := range []struct {
		ctx        context.Context
		p          *mixpolicy.Problem
		m          mixpolicy.Method
		iterations int
		says       string
	}{
		{nil, p, mixpolicy.PlugIn{}, 1, "without a context"},
		{t.Context(), nil, mixpolicy.PlugIn{}, 1, "without a problem"},
		{t.Context(), p, nil, 1, "without a method"},
		{t.Context(), p, none, 1, "without a method"},
		{t.Context(), new(mixpolicy.Problem), mixpolicy.PlugIn{}, 1, "without a problem"},
		{t.Context(), p, mixpolicy.Penalty{StepSize: mixpolicy.Scaled{By: 2}}, 1, "step size mixpolicy.Scaled without a schedule"},
		{t.Context(), p, mixpolicy.PrimalDual{StepSize: mixpolicy.StepFunc(nil)}, 1, "step size mixpolicy.StepFunc without a schedule"},
		{t.Context(), p, mixpolicy.PlugIn{}, 0, "0 iterations, want at least 1"},
		{t.Context(), p, mixpolicy.PrimalDual{Beta: -1}, 1, "β = -1"},
	} {
		r, err := mixpolicy.Solve(c.ctx, c.p, c.m, mixpolicy.Settings{Iterations: c.iterations})
		wantError(t, err, c.says)
		if r != nil {
			t.Errorf("%s, and a result", c.says)
		}
	}
	for _, p := range []*mixpolicy.Problem{nil, new(mixpolicy.Problem)} {
		wantError(t, errOf(mixpolicy.NewOracle(p, 1, 0)), "oracle without a problem")
	}
}

// A Method holds only settings: runs change neither its text nor its JSON. It can run several times at once. Runs
// with the same seed and stream are equal bit by bit. Except for plug-in, runs with another seed or stream differ.
func TestMethodIsSettings(t *testing.T) {
	p := small(t, 3, mixpolicy.Ball(2), mixpolicy.AverageCost)
	for _, c := range []struct {
		m           mixpolicy.Method
		text, coded string
	}{
		{&mixpolicy.PrimalDual{}, "primal–dual", `{"Modulus":null,"StepSize":null,"Beta":0,"CostScale":0,"Recency":0,"Theta0":null,"Form":0,"RowScaling":false,"Multipliers":0}`},
		{&mixpolicy.PrimalDual{Modulus: bregman.Ball{R: 3}, StepSize: mixpolicy.InverseSqrt(4), Theta0: []float64{.5, .25, .25}}, "primal–dual, φ: ball, R = 3, η = 4, 2.828, 2.309, …",
			`{"Modulus":{"R":3},"StepSize":{"InverseSqrt":4},"Beta":0,"CostScale":0,"Recency":0,"Theta0":[0.5,0.25,0.25],"Form":0,"RowScaling":false,"Multipliers":0}`},
		{&mixpolicy.Penalty{Weight: 2, StepSize: mixpolicy.Scaled{By: .5, Of: mixpolicy.Constant(3)}}, "penalty, ω = 2, η = 1.5, 1.5, 1.5, …",
			`{"Weight":2,"StepSize":{"By":0.5,"Of":{"Constant":3}},"CostScale":0,"Recency":0,"Theta0":null}`},
		{&mixpolicy.PlugIn{}, "plug-in", "{}"},
	} {
		var group sync.WaitGroup
		var r [4]*mixpolicy.Result
		for k, seed := range [][2]uint64{{1, 2}, {1, 2}, {2, 2}, {1, 3}} {
			group.Go(func() { r[k] = solve(t, p, c.m, mixpolicy.Settings{Iterations: 2000, Seed: seed[0], Stream: seed[1]}) })
		}
		group.Wait()
		if !slices.Equal(r[0].Theta, r[1].Theta) || !slices.Equal(r[0].Last, r[1].Last) || !slices.Equal(r[0].Lambda, r[1].Lambda) {
			t.Errorf("%s: two runs from a seed differ", c.text)
		}
		if c.text != "plug-in" && (slices.Equal(r[0].Theta, r[2].Theta) || slices.Equal(r[0].Theta, r[3].Theta)) {
			t.Errorf("%s: runs from different seeds are the same", c.text)
		}
		text := strings.TrimPrefix(fmt.Sprint(c.m), "&")
		coded, err := json.Marshal(c.m)
		if text != c.text || string(coded) != c.coded || err != nil {
			t.Errorf("%s\nand %s, %v, want\n%s\nand %s", text, coded, err, c.text, c.coded)
		}
	}
	one := mixpolicy.StepFunc(func(int) float64 { return 1 })
	wantError(t, errOf(json.Marshal(mixpolicy.Penalty{StepSize: one})), "a StepFunc can't be written as JSON")
}

// Drive counts the steps. It calls look(t) for t = 0, for every t that look asks for, and for the last step.
func TestDrive(t *testing.T) {
	for last, want := range map[int][]int{ // the step at which the method is done, and the steps at which Drive calls look
		100: {0, 3, 6, 9}, // look ends the run after 9
		5:   {0, 3, 5},
		6:   {0, 3, 6}, // look has already seen t = 6
		0:   {0},
	} {
		var looks []int
		steps, err := mixpolicy.Drive(t.Context(), &countdown{last}, func(at int) (int, error) {
			looks = append(looks, at)
			return min(at+3, 9), nil
		}, nil)
		if steps != want[len(want)-1] || !slices.Equal(looks, want) || err != nil {
			t.Errorf("%d: %d steps, looks %v, %v", last, steps, looks, err)
		}
	}
}

// countdown is done after the given number of steps.
type countdown struct{ left int }

func (c *countdown) Step() error {
	if c.left == 0 {
		return mixpolicy.ErrDone
	}
	c.left--
	return nil
}

func (c *countdown) View(*mixpolicy.Snapshot) error { return nil }

// Work that takes minutes, or seconds between two steps, stops when its context ends.
func TestWorkEndsWithItsContext(t *testing.T) {
	slow := mixpolicy.Must(models.Queue{Buffer: 30_000, Arrival: .5, Rates: []float64{.4999, .5001}}.MDP())
	uneven := mixpolicy.Must(mixpolicy.StateIndependent(slow, .3, .7))
	full := garnet(t, 1500, 2, 15, mixpolicy.AverageCost) // elimination fills its matrix
	far := mixpolicy.Must(slow.WithCriterion(mixpolicy.Discounted(1 - 1e-9)))
	work := map[string]func(ctx context.Context) error{
		"features": func(ctx context.Context) error {
			return errOf(mixpolicy.NewFeatures(ctx, full, mixedPolicies(full, 30, 1)...))
		},
		"simulation": func(ctx context.Context) error {
			return errOf(mixpolicy.Simulate(ctx, slow, mixpolicy.UniformPolicy(slow), mixpolicy.SimulateSettings{Steps: 1e11}))
		},
		"evaluation": func(ctx context.Context) error {
			return errOf(mixpolicy.Evaluate(ctx, full, mixpolicy.UniformPolicy(full), mixpolicy.ValuationSettings{}))
		},
		"primal–dual": func(ctx context.Context) error {
			return errOf(mixpolicy.Solve(ctx, queue(t, 100, mixpolicy.Ball(2)), mixpolicy.PrimalDual{}, mixpolicy.Settings{Iterations: 1e9}))
		},
	}
	for method := mixpolicy.GaussSeidel; method <= mixpolicy.Multilevel; method++ {
		for _, x := range []*mixpolicy.MDP{slow, far} {
			work[method.String()+", "+x.Criterion().String()] = func(ctx context.Context) error {
				set := mixpolicy.MeasureSettings{Method: method, Tolerance: 1e-300, MaxSweeps: math.MaxInt}
				return errOf(mixpolicy.Occupation(ctx, x, uneven, set))
			}
		}
	}
	// The proof of the error bound also stops when its context ends: the residual meets
	// the tolerance at once, but the chain takes 10⁹ steps to reach a state.
	work["proof"] = func(ctx context.Context) error {
		set := mixpolicy.MeasureSettings{Method: mixpolicy.GaussSeidel, Tolerance: .1, MaxSweeps: math.MaxInt}
		return errOf(mixpolicy.Occupation(ctx, slow, uneven, set))
	}
	for _, method := range valuationMethods {
		work[method.name] = func(ctx context.Context) error {
			return errOf(method.run(ctx, far, mixpolicy.ValuationSettings{Tolerance: 1e-300}))
		}
	}
	prompt.Check(t, work)
}

// A view that solves a linear program stops when its context ends, and still shows a θ with 1ᵀθ = 1.
func TestViewEndsWithItsContext(t *testing.T) {
	p := queue(t, 100, mixpolicy.Ball(2))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r := start(t, p, mixpolicy.PlugIn{})
	advance(r, 10)
	var s mixpolicy.Snapshot
	if err := mixpolicy.View(ended, r, &s); !errors.Is(err, context.Canceled) || !(math.Abs(s.Average[0]+s.Average[1]-1) < 1e-12) {
		t.Errorf("%+v, %v", s, err)
	}
	if err := mixpolicy.View(t.Context(), r, &s); err != nil {
		t.Error(err)
	}
	result, err := mixpolicy.Solve(ended, p, mixpolicy.PlugIn{}, mixpolicy.Settings{Iterations: 10})
	if !errors.Is(err, context.Canceled) || result.Status != mixpolicy.Interrupted {
		t.Errorf("%v, %v", result, err)
	}
}
