// Package race runs methods many times and compares them. It provides trials on many streams of random numbers, and
// tuning with a separate seed. All runs of a race are observed at the same numbers of iterations or queries, or at the
// same times. The package also computes means with intervals, and reads and writes records of the results.
//
// The [Trial] of a failed run states why the run failed and after how many steps. A failed run does not end the other
// runs, and a method whose runs all fail does not end the race.
package race

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/clock"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// Settings apply to all methods of a race. Trials and exactly one of Iterations, Queries
// and Times are required.
type Settings struct {
	Trials int
	First  int    // the stream of the first trial; several machines can share the trials if they use different streams
	Seed   uint64 // trial k = 0, 1, … uses stream First + k of Seed; tuning uses Seed+1 instead

	Iterations int // T
	// If Iterations is set, Schedule says after which iterations to observe a run; nil means LogSpaced(20). The end of
	// a run is always observed. The start is also observed, unless the run is a [mixpolicy.PolicyRun].
	Schedule mixpolicy.Schedule
	// Queries lists, in increasing order, the numbers of queries (revealed costs) after which to observe a run.
	Queries []int
	// Times lists, in increasing order, the processor times after which to observe a run. Processor time is the time
	// that all threads of this process use together; other processes do not count. If Times is set, only one run takes
	// place at a time. The time to compute and evaluate answers does not count towards these times. With Times, the
	// observations depend on the machine.
	Times []time.Duration

	// Valued says which observations include the true cost of the policy. Observations of a [mixpolicy.PolicyRun]
	// always include this cost.
	Valued Valued

	Workers int // number of goroutines; 0 means one per CPU; always 1 if Times is set. Only the recorded times depend on Workers.

	// Progress, if set, is called after each run with three arguments: a name, such as "penalty" or "tuning penalty",
	// the number of runs done, and the total number of runs. Several goroutines may call Progress at the same time.
	Progress func(name string, done, total int)

	// TuningTrials is the number of tuning runs of each method of an entrant or, with Halving, of each method that is
	// left in the last round. If TuningTrials is 0, [Run] does not tune, and takes the first method of each entrant.
	TuningTrials int
	// Middle is the statistic by which tuning compares the scores of an entrant's methods, such as the median; nil
	// means the mean.
	Middle func(scores []float64) float64
	// Halving tunes the n ≥ 2 methods of an entrant in ⌈log₂ n⌉ rounds. After every round but the last, half of the
	// remaining methods (rounded down) are dropped: those with the worst scores. After a round with r rounds to go,
	// each method of this round has max{1, ⌊TuningTrials/2ʳ⌋} trials. This is sequential halving (Karnin, Koren and
	// Somekh, ICML 2013; successive halving in Jamieson and Talwalkar, AISTATS 2016), with one difference: the trials
	// of earlier rounds also count in later rounds. Entrants with equally many methods get equally many tuning runs.
	Halving bool
	// Score is the curve whose value at the end of a run is the score of the run; less is better. For [Run], a nil
	// Score means the penalised gap of θ̂ ([PenalisedGap]), or the true cost of the policy if there is no θ̂.
	Score Curve
}

// Valued says which observations include the true cost of the policy. Computing this cost can take longer than the run
// itself.
type Valued int

const (
	Unvalued  Valued = iota // none
	ValuedEnd               // the last observation
	ValuedAll
)

// Observation is the state of a run at one moment.
type Observation struct {
	Iteration, Queries int
	Seconds            float64 // time for Start, the steps and this answer, but not for earlier answers or true costs; see Settings.Times

	// A [mixpolicy.PolicyRun] has no θ: Last and Theta are nil, and Cost, Violation and Mass are NaN.
	Last, Theta           []float64 // θ_t, and the answer θ̂_t
	Cost, Violation, Mass float64   // cᵀΨθ̂, ½‖[Ψθ̂]₋‖₂ and ‖[Ψθ̂]₋‖₁

	PolicyCost float64 // the true cost of the policy; NaN if it was not computed
}

// Trial is one run.
type Trial struct {
	Stream       uint64
	Observations []Observation
	Steps        int   // number of steps done
	Err          error // why the run ended early; nil for a run that finished
}

// End returns the last observation.
func (t *Trial) End() *Observation { return &t.Observations[len(t.Observations)-1] }

// Runs are the trials of one method on one problem, in the order of their streams.
type Runs struct {
	Method mixpolicy.Method
	Trials []Trial
}

// Trials runs a method on the streams First, First+1, … of Seed, in parallel unless Times is set. It returns an error
// if the settings or the method are invalid, if all trials fail, or if ctx ends. If all trials fail, Trials also
// returns these trials; when ctx ends, it also returns the trials so far.
func Trials(ctx context.Context, p *mixpolicy.Problem, m mixpolicy.Method, set Settings) (*Runs, error) {
	h, err := begin(ctx, p, set)
	if err != nil {
		return nil, err
	}
	if err := mixpolicy.CheckMethod(m); err != nil {
		return nil, fault.At("race", "", err)
	}
	h.total = set.Trials
	runs, err := h.trials(ctx, m.Name(), []mixpolicy.Method{m}, 0, set.Trials, set.Seed)
	if err == nil {
		err = runs[0].Err()
	}
	return runs[0], err
}

type harness struct {
	p *mixpolicy.Problem
	Settings
	done  *atomic.Int64
	total int // number of all runs, for Progress
}

// begin checks the settings and fills in their defaults.
func begin(ctx context.Context, p *mixpolicy.Problem, set Settings) (*harness, error) {
	missing := func(given bool) bool { return !given }
	ways := len(slices.DeleteFunc([]bool{set.Iterations != 0, set.Queries != nil, set.Times != nil}, missing))
	if set.Schedule == nil {
		set.Schedule = mixpolicy.LogSpaced(20)
	}
	if set.Workers <= 0 {
		set.Workers = runtime.GOMAXPROCS(0)
	}
	if set.Times != nil {
		set.Workers = 1
	}
	err := errors.Join(increasing("queries", set.Queries), increasing("times", set.Times))
	switch {
	case ctx == nil || p == nil:
		err = errors.New("race: no context or no problem, want both")
	case set.Trials < 1:
		err = fmt.Errorf("race: %d trials, want at least 1", set.Trials)
	case set.First < 0:
		err = fmt.Errorf("race: first stream %d, want 0 or more", set.First)
	case set.TuningTrials < 0:
		err = fmt.Errorf("race: %d tuning trials, want 0 or more", set.TuningTrials)
	case ways != 1:
		err = fmt.Errorf("race: %d of Iterations, Queries and Times are set, want one", ways)
	case set.Iterations < 0:
		err = fmt.Errorf("race: %d iterations, want at least 1", set.Iterations)
	}
	return &harness{p: p, Settings: set, done: new(atomic.Int64)}, err
}

func increasing[number ~int | ~int64](what string, marks []number) error {
	if marks != nil && len(marks) == 0 {
		return fmt.Errorf("race: the settings list no %s, want at least one", what)
	}
	for k, v := range marks {
		if v < 1 || k > 0 && v <= marks[k-1] {
			return fmt.Errorf("race: %s %v, want positive values in increasing order", what, marks)
		}
	}
	return nil
}

// trials runs each method on the streams First+from, …, First+to−1, all in parallel, and returns the trials
// that ctx did not end. The only error is the error of ctx.
func (h *harness) trials(ctx context.Context, name string, methods []mixpolicy.Method, from, to int, seed uint64) ([]*Runs, error) {
	all := make([]*Trial, len(methods)*(to-from))
	var g errgroup.Group
	g.SetLimit(h.Workers)
	for k := range all {
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			t := &Trial{Stream: uint64(h.First + from + k%(to-from))}
			if t.Err = h.run(ctx, methods[k/(to-from)], seed, t); t.Err != nil && ctx.Err() != nil {
				return nil
			}
			all[k] = t
			if done := h.done.Add(1); h.Progress != nil {
				h.Progress(name, int(done), h.total)
			}
			return nil
		})
	}
	g.Wait() // no function returns an error: each trial stores its error
	runs := make([]*Runs, len(methods))
	finished := 0
	for i, m := range methods {
		runs[i] = &Runs{Method: m}
		for _, t := range all[i*(to-from) : (i+1)*(to-from)] {
			if t != nil {
				runs[i].Trials = append(runs[i].Trials, *t)
				finished++
			}
		}
	}
	if err := ctx.Err(); err != nil && finished < len(all) {
		return runs, fmt.Errorf("race: %s stopped after %d of %d trials: %w", name, finished, len(all), err)
	}
	return runs, nil
}

// run runs method m on the stream of t, and fills in t.
func (h *harness) run(ctx context.Context, m mixpolicy.Method, seed uint64, t *Trial) error {
	o, err := mixpolicy.NewOracle(h.p, seed, t.Stream)
	if err != nil {
		return err
	}
	began := time.Now()
	now := func() time.Duration { return time.Since(began) } // wall time, because runs are concurrent
	if h.Times != nil {
		now = clock.ProcessorTime
	}
	since := now()
	var spent time.Duration
	run, err := mixpolicy.Start(m, h.p, o)
	if err != nil {
		return err
	}
	look := func(step int) error {
		l, policy, err := h.look(ctx, run)
		l.Iteration, l.Queries, l.Seconds = step, o.Queries(), (spent + now() - since).Seconds()
		if err == nil && policy != nil {
			err = h.value(ctx, policy, &l)
		}
		if err == nil {
			t.Observations = append(t.Observations, l)
		}
		return err
	}
	_, learnsPolicy := run.(mixpolicy.PolicyRun)
	marks := len(h.Queries) + len(h.Times)
	t.Steps, err = mixpolicy.Drive(ctx, run, func(step int) (next int, err error) {
		due := 0
		switch {
		case h.Queries != nil:
			next, due = step+1, passed(h.Queries[len(t.Observations):], o.Queries())
			if step == clockSteps && o.Queries() == 0 {
				return 0, errNoQueries
			}
		case h.Times != nil:
			next, due = step+clockSteps, passed(h.Times[len(t.Observations):], spent+now()-since)
		default:
			if next = h.Schedule(step); next <= step {
				next = h.Iterations
			}
			next, due = min(next, h.Iterations), 1
		}
		if due == 0 || step == 0 && (learnsPolicy || marks > 0) {
			return next, nil // before its first step, a PolicyRun has no policy; marks wait for the first step
		}
		spent += now() - since
		since = now()
		if err := look(step); err != nil {
			return 0, err
		}
		for range due - 1 {
			t.Observations = append(t.Observations, *t.End())
		}
		if len(t.Observations) == marks {
			next = step
		}
		since = now()
		return next, nil
	}, nil)
	if n := len(t.Observations); err == nil && (n < marks || n == 0 || marks == 0 && t.End().Iteration != t.Steps) {
		err = look(t.Steps) // the run ended, and its end is not yet observed
	}
	for err == nil && len(t.Observations) < marks {
		t.Observations = append(t.Observations, *t.End())
	}
	if err == nil && h.Queries != nil && o.Queries() == 0 {
		err = errNoQueries
	}
	if err == nil && h.Valued == ValuedEnd && !learnsPolicy {
		var policy *mixpolicy.Policy
		if policy, err = h.p.Features().PolicyOf(t.End().Theta); err == nil {
			err = h.value(ctx, policy, t.End())
		}
	}
	if err != nil {
		return fault.At("race", fmt.Sprintf("stream %d stopped after %d steps", t.Stream, t.Steps), err)
	}
	return nil
}

// clockSteps is the number of steps between two readings of the clock.
const clockSteps = 64

var errNoQueries = errors.New("the method makes no queries; want Times or Iterations instead of Queries")

// passed returns the number of marks ≤ at; the marks are increasing.
func passed[number ~int | ~int64](marks []number, at number) (n int) {
	for n < len(marks) && marks[n] <= at {
		n++
	}
	return n
}

// look asks a run for its answer, and for its policy if the policy must be valued.
func (h *harness) look(ctx context.Context, run mixpolicy.Run) (l Observation, policy *mixpolicy.Policy, err error) {
	var s mixpolicy.Snapshot
	nan := math.NaN()
	l.Cost, l.Violation, l.Mass, l.PolicyCost = nan, nan, nan, nan
	if err = mixpolicy.View(ctx, run, &s); err != nil {
		return l, nil, err
	}
	if learner, ok := run.(mixpolicy.PolicyRun); ok {
		policy, err = learner.Policy(ctx)
		return l, policy, err
	}
	l.Last, l.Theta = slices.Clone(s.Last), slices.Clone(s.Average)
	if size := floats.Norm(l.Theta, 1); math.IsNaN(size) || math.IsInf(size, 0) {
		return l, nil, fmt.Errorf("θ̂ = %v is not finite", l.Theta)
	}
	l.Cost, l.Violation, l.Mass = h.p.Objective(l.Theta), h.p.Violation(l.Theta), h.p.NegativeMass(l.Theta)
	if h.Valued == ValuedAll {
		policy, err = h.p.Features().PolicyOf(l.Theta)
	}
	return l, policy, err
}

func (h *harness) value(ctx context.Context, policy *mixpolicy.Policy, l *Observation) error {
	q, err := mixpolicy.Occupation(ctx, h.p.MDP(), policy, mixpolicy.MeasureSettings{})
	if err != nil {
		return fmt.Errorf("true cost of the policy: %w", err)
	}
	l.PolicyCost = q.Cost(h.p.MDP().Costs())
	return nil
}

// Finished returns the trials that reached the end.
func (r *Runs) Finished() []Trial { return r.ended(true) }

// Failed returns the trials that did not reach the end.
func (r *Runs) Failed() []Trial { return r.ended(false) }

// Err returns the error of the first trial if there are trials and none of them reached the end. Otherwise, Err returns
// nil.
func (r *Runs) Err() error {
	if failed := r.Failed(); len(failed) > 0 && len(failed) == len(r.Trials) {
		return fault.At("race", r.Method.Name(), failed[0].Err)
	}
	return nil
}

func (r *Runs) ended(well bool) []Trial {
	return slices.DeleteFunc(slices.Clone(r.Trials), func(t Trial) bool { return (t.Err == nil) != well })
}

// HasTheta reports whether the finished trials have a θ̂.
func (r *Runs) HasTheta() bool {
	all := r.Finished()
	return len(all) > 0 && all[0].Observations[0].Theta != nil
}

// Curve maps an observation to a number: a stored quantity, or a function of θ̂.
type Curve func(l *Observation) float64

// Cost is cᵀΨθ̂, which is the cost of a policy only if Ψθ̂ ⪰ 0.
func Cost(l *Observation) float64 { return l.Cost }

// Violation is ½‖[Ψθ̂]₋‖₂.
func Violation(l *Observation) float64 { return l.Violation }

// Mass is ‖[Ψθ̂]₋‖₁.
func Mass(l *Observation) float64 { return l.Mass }

// PolicyCost is the true cost of the policy.
func PolicyCost(l *Observation) float64 { return l.PolicyCost }

// Theta returns the curve of the mixing coefficient Observation.Theta[j], as in Fig. 2 (left) of the paper.
func Theta(j int) Curve { return func(l *Observation) float64 { return l.Theta[j] } }

// PenalisedGap returns the curve whose value is [mixpolicy.Problem.PenalisedGap] at θ̂, or NaN if there is no θ̂. Up to
// rounding, the gap is not negative. Unless all costs are equal, the gap is 0 only at an optimum of (2.18).
// PenalisedGap returns an error if the exact optimum cannot be computed.
func PenalisedGap(p *mixpolicy.Problem) (Curve, error) {
	if _, err := p.Optimum(context.Background()); err != nil {
		return nil, fault.At("race", "penalised gap", err)
	}
	return func(l *Observation) float64 {
		if l.Theta == nil {
			return math.NaN()
		}
		return mixpolicy.Must(p.PenalisedGap(l.Theta)) // fails only if the optimum is unknown, and the optimum is known
	}, nil
}

// Final returns the curve's last value in each finished trial.
func (r *Runs) Final(c Curve) []float64 {
	var x []float64
	for _, t := range r.Finished() {
		x = append(x, c(t.End()))
	}
	return x
}

// Band is a curve of means over trials, or of another statistic, with a confidence interval for each point. At and
// Intervals have one entry for each observation.
type Band struct {
	At        []float64 // mean number of iterations, queries or seconds
	Intervals []Interval
}

// Iterations, Queries and Seconds are curves for the horizontal axis.
func Iterations(l *Observation) float64 { return float64(l.Iteration) }
func Queries(l *Observation) float64    { return float64(l.Queries) }
func Seconds(l *Observation) float64    { return l.Seconds }

// For each observation, Band returns two means over the finished trials: the mean of the first curve, and the mean of
// the second curve, c. The mean of c comes with a t interval of the given confidence, a number between 0 and 1. A run
// that finished early keeps its last value from then on.
func (r *Runs) Band(at, c Curve, confidence float64) (b Band) {
	return r.BandOf(at, c, func(x []float64) Interval { return TInterval(x, confidence) })
}

// BandOf is like [Runs.Band], but the last argument of BandOf is the function that computes the intervals.
func (r *Runs) BandOf(at, c Curve, interval func(x []float64) Interval) (b Band) {
	for _, row := range r.Rows(at, c, Row{}) {
		var y []float64
		for k, t := range r.Trials {
			if t.Err == nil {
				y = append(y, row.Values[k])
			}
		}
		b.At, b.Intervals = append(b.At, row.At), append(b.Intervals, interval(y))
	}
	return b
}

// Rows returns one row for each k: row k covers the k-th observations of all runs. In the field Values, the entry of a
// run is the value of the second curve, c, or NaN if the run failed. The field At is the mean of the first curve over
// the finished runs. All other fields come from the given row. A run that finished early keeps its last value from then
// on.
func (r *Runs) Rows(at, c Curve, like Row) (rows Record) {
	looks := 0
	for _, t := range r.Finished() {
		looks = max(looks, len(t.Observations))
	}
	for k := range looks {
		var x []float64
		like.Values = r.byStream(func(t *Trial) float64 {
			l := &t.Observations[min(k, len(t.Observations)-1)]
			x = append(x, at(l))
			return c(l)
		})
		like.At = floats.Sum(x) / float64(len(x))
		rows = append(rows, like)
	}
	return rows
}

// byStream returns a number for every run; NaN for a failed run.
func (r *Runs) byStream(of func(t *Trial) float64) []float64 {
	values := make([]float64, len(r.Trials))
	for k := range r.Trials {
		if values[k] = math.NaN(); r.Trials[k].Err == nil {
			values[k] = of(&r.Trials[k])
		}
	}
	return values
}

// Ends returns the curve's last value in each run, or NaN for a failed run. Two methods that draw nothing but pairs
// receive the same pairs in their runs on the same stream. So noise that the two methods share cancels in the
// [Differences] of their last values.
func (r *Runs) Ends(c Curve) []float64 {
	return r.byStream(func(t *Trial) float64 { return c(t.End()) })
}

// Reach returns, for each run, the number of queries after which the score stays at or below the goal: the number at
// the first observation whose score, like all later scores, is at most the goal. This number is +Inf if the last score
// is above the goal, and NaN for a failed run.
func (r *Runs) Reach(score Curve, goal float64) []float64 {
	return r.byStream(func(t *Trial) float64 {
		first := math.Inf(1)
		for k := len(t.Observations) - 1; k >= 0 && score(&t.Observations[k]) <= goal; k-- {
			first = float64(t.Observations[k].Queries)
		}
		return first
	})
}
