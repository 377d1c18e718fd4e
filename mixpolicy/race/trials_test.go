package race_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// queue returns the problem of section 6 with a buffer of 20.
func queue(t testing.TB) *mixpolicy.Problem {
	t.Helper()
	q := models.Queue{Buffer: 20}
	x := mixpolicy.Must(q.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.Must(q.Policies(x))...))
	return mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
}

func wantError(t *testing.T, err error, says ...string) {
	t.Helper()
	for _, s := range says {
		if err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("error %v, want one that says %q", err, s)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// timeless formats all observations without their seconds. As text, NaN equals NaN.
func timeless(runs *race.Runs) string {
	var b strings.Builder
	for _, t := range runs.Trials {
		for _, l := range t.Observations {
			l.Seconds = 0
			fmt.Fprintf(&b, "%d %+v\n", t.Stream, l)
		}
	}
	return b.String()
}

// Trials are the same to the bit for any number of workers, and trial k has the results of
// Solve on stream k.
func TestTrialsAreThoseOfSolve(t *testing.T) {
	p := queue(t)
	method := mixpolicy.PrimalDual{CostScale: 400}
	set := race.Settings{Trials: 7, Iterations: 500, Seed: 4, Valued: race.ValuedEnd}
	first := mixpolicy.Must(race.Trials(t.Context(), p, method, set))
	for _, set.Workers = range []int{1, 2, 5} {
		if got := mixpolicy.Must(race.Trials(t.Context(), p, method, set)); timeless(got) != timeless(first) {
			t.Errorf("%d workers give other results than the default number", set.Workers)
		}
	}
	set.First, set.Trials = 3, 4
	part := mixpolicy.Must(race.Trials(t.Context(), p, method, set))
	if timeless(part) != timeless(&race.Runs{Method: method, Trials: first.Trials[3:]}) {
		t.Error("from stream 3 on, trials differ if First is 3")
	}
	gaps := first.Final(mixpolicy.Must(race.PenalisedGap(p)))
	for k, trial := range first.Trials {
		var h mixpolicy.History
		r := mixpolicy.Must(mixpolicy.Solve(t.Context(), p, method, mixpolicy.Settings{Iterations: 500, Seed: 4, Stream: uint64(k), Recorder: &h}))
		if len(trial.Observations) != len(h.Iteration) {
			t.Fatalf("trial %d: %d looks, want %d", k, len(trial.Observations), len(h.Iteration))
		}
		for i, l := range trial.Observations {
			want := l
			want.Iteration, want.Queries, want.Last, want.Theta = h.Iteration[i], h.Queries[i], h.Last[i], h.Average[i]
			if want.Cost, want.Violation, want.Mass = h.Cost[i], h.Violation[i], h.Mass[i]; fmt.Sprint(l) != fmt.Sprint(want) {
				t.Errorf("trial %d, look %d: %+v, want %+v", k, i, l, want)
			}
			if last := i == len(trial.Observations)-1; last != !math.IsNaN(l.PolicyCost) || last && (l.PolicyCost != r.PolicyCost || gaps[k] != r.PenalisedGap) {
				t.Errorf("trial %d, look %d: policy %v and penalised gap %v, want %v and %v", k, i, l.PolicyCost, gaps[k], r.PolicyCost, r.PenalisedGap)
			}
		}
	}
}

// With Queries, a run is observed after the step that reaches each given number of queries. A method without θ̂ has a
// policy cost, but no penalised gap.
func TestLooksByQueries(t *testing.T) {
	p := queue(t)
	marks := []int{20, 33}
	for _, m := range []mixpolicy.Method{
		mixpolicy.PlugIn{}, mixpolicy.Penalty{CostScale: 400}, priorwork.CertaintyEquivalence{},
		priorwork.PiLearning{Steps: 33, MixingTime: 50, Range: 100}, priorwork.VarianceReduced{CostScale: 400},
	} {
		set := race.Settings{Trials: 3, Queries: marks, Seed: 5, Valued: race.ValuedAll}
		one := mixpolicy.Must(race.Trials(t.Context(), p, m, set))
		band := one.Band(race.Queries, race.PolicyCost, .95)
		for k, want := range marks {
			if band.At[k] != float64(want) || !(band.Intervals[k].Mean > 0) {
				t.Errorf("%s: %v at %v queries, want %d", m.Name(), band.Intervals[k], band.At[k], want)
			}
		}
		if gap := one.Final(mixpolicy.Must(race.PenalisedGap(p)))[0]; math.IsNaN(gap) == one.HasTheta() {
			t.Errorf("%s: penalised gap %v", m.Name(), gap)
		}
	}
	// If one step passes two of the numbers, both get the observation after this step.
	two := mixpolicy.Must(race.Trials(t.Context(), p, priorwork.DualALP{CostScale: 400, Batch: 10}, race.Settings{Trials: 1, Queries: []int{3, 7, 12}}))
	for k, l := range two.Trials[0].Observations {
		if want := []int{10, 10, 20}[k]; l.Queries != want {
			t.Errorf("look %d at %v queries, want %d", k, l.Queries, want)
		}
	}
}

// With Times, a method that takes steps is never observed before the given time. A method that knows the costs and
// solves a linear program has the same answer at all times.
func TestLooksBySeconds(t *testing.T) {
	p := queue(t)
	set := race.Settings{Trials: 2, Times: []time.Duration{time.Millisecond, 20 * time.Millisecond}, Valued: race.ValuedAll}
	optimum := mixpolicy.Must(p.Optimum(t.Context())).Objective
	best := mixpolicy.Must(mixpolicy.PolicyIteration(t.Context(), p.MDP(), mixpolicy.ValuationSettings{})).Cost()
	for m, want := range map[mixpolicy.Method]float64{priorwork.MirrorProx{}: 0, mixpolicy.PlugIn{}: 0, priorwork.MixtureLP{}: optimum, priorwork.FullLP{}: best} {
		for _, trial := range mixpolicy.Must(race.Trials(t.Context(), p, m, set)).Trials {
			first, last := trial.Observations[0], trial.Observations[1]
			if want == 0 && (first.Seconds < .001 || last.Seconds < .02) {
				t.Errorf("%s: %v and %v s at marks of 1 and 20 ms", m.Name(), first.Seconds, last.Seconds)
			}
			// The tolerance covers the solver's gap and the rounding errors of sums over a hundred pairs.
			if want > 0 && (first.Seconds != last.Seconds || first.Seconds <= 0 || math.Abs(last.PolicyCost-want) > 1e-10*want) {
				t.Errorf("%s: %+v", m.Name(), trial)
			}
		}
	}
}

// stub always answers theta. If fails is set, a run of stub returns an error after b.after steps; if nan is also set,
// the run answers NaN instead. If some is set, stub fails only on streams whose first pair is even.
type stub struct {
	theta            [2]float64
	fails, some, nan bool
	after            int
	slow             time.Duration
}

func fixed(one, two float64) mixpolicy.Method { return stub{theta: [2]float64{one, two}} }

func (b stub) Name() string { return "stub" }
func (b stub) Start(_ *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	if b.some {
		pair, _ := o.Sample()
		b.fails = pair%2 == 0
	}
	return &stubRun{b, 0, o}, nil
}

type stubRun struct {
	stub
	t int
	o *mixpolicy.Oracle
}

var errBroken = errors.New("broken")

func (b *stubRun) Step() error {
	time.Sleep(b.slow)
	if b.fails && b.t == b.after && !b.nan {
		return errBroken
	}
	b.t++
	b.o.Sample()
	return nil
}

func (b *stubRun) View(s *mixpolicy.Snapshot) error {
	theta := b.theta[:]
	if b.fails && b.nan && b.t >= b.after {
		theta = []float64{math.NaN(), 1}
	}
	*s = mixpolicy.Snapshot{Last: theta, Average: theta}
	return nil
}

// The error of a failed run says why and where it failed, and the other runs go on.
func TestAFailingTrialIsATrial(t *testing.T) {
	p := queue(t)
	set := race.Settings{Trials: 12, Iterations: 10, Schedule: mixpolicy.Every(5)}
	for _, nan := range []bool{false, true} {
		runs := mixpolicy.Must(race.Trials(t.Context(), p, stub{fails: true, after: 7, some: true, nan: nan}, set))
		failed, says, steps := runs.Failed(), "stopped after 7 steps: broken", 7
		if nan {
			says, steps = "is not finite", 10
		}
		finished := len(runs.Finished())
		if len(failed) == 0 || len(failed)+finished != 12 || finished == 0 || len(runs.Final(race.Cost)) != finished {
			t.Fatalf("%d failed, %d finished, %d costs", len(failed), finished, len(runs.Final(race.Cost)))
		}
		for _, f := range failed {
			wantError(t, f.Err, fmt.Sprintf("stream %d ", f.Stream), says)
			if f.Steps != steps || len(f.Observations) != 2 {
				t.Errorf("%d steps, %d looks", f.Steps, len(f.Observations))
			}
		}
	}
	runs, err := race.Trials(t.Context(), p, stub{fails: true, after: 7}, set)
	if wantError(t, err, "stub", "stream 0", "broken"); !errors.Is(err, errBroken) || len(runs.Failed()) != 12 {
		t.Errorf("%v, %d failed", err, len(runs.Failed()))
	}
}

// When ctx ends, Trials and Run return an error, with the results so far.
func TestCancel(t *testing.T) {
	p := queue(t)
	ctx, cancel := context.WithCancel(t.Context())
	told := ""
	got, err := race.Trials(ctx, p, mixpolicy.PlugIn{}, race.Settings{Trials: 50, Iterations: 20, Workers: 1,
		Progress: func(name string, k, total int) {
			if told = fmt.Sprint(name, " ", k, " of ", total); k == 3 {
				cancel()
			}
		}})
	if wantError(t, err, "3 of 50 trials"); !errors.Is(err, context.Canceled) || len(got.Trials) != 3 || told != "plug-in 3 of 50" {
		t.Errorf("%d trials finished, %s, want 3; %v", len(got.Trials), told, err)
	}
	for name, set := range map[string]race.Settings{
		"iterations": {Trials: 4, Iterations: 1 << 40},
		"queries":    {Trials: 4, Queries: []int{1 << 40}},
		"seconds":    {Trials: 4, Times: []time.Duration{time.Hour}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		set.TuningTrials = 2
		all, err := race.Run(ctx, p, []race.Entrant{{Name: "a", Methods: []mixpolicy.Method{mixpolicy.Penalty{}, mixpolicy.Penalty{Weight: 2}}}}, set)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || len(all) != 1 {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Tuning chooses the method with the least penalised gap, or with the least given score, among the
// methods whose trials all finished.
func TestTuning(t *testing.T) {
	p := queue(t)
	best := mixpolicy.Must(p.Optimum(t.Context())).Theta
	thetas := [][]float64{{.5, .5}, {1.9, -.9}, best, {0, 1}}
	e := race.Entrant{Name: "fixed", Methods: []mixpolicy.Method{stub{fails: true, after: 3, some: true}}}
	for _, f := range thetas {
		e.Methods = append(e.Methods, fixed(f[0], f[1]))
	}
	run := func(set race.Settings) race.Outcome {
		return mixpolicy.Must(race.Run(t.Context(), p, []race.Entrant{e}, set))[0]
	}
	set := race.Settings{Trials: 12, TuningTrials: 12, Queries: []int{4, 10}}
	o := run(set)
	if o.Chosen != 3 || o.Err != nil || len(o.Tuning) != 5 || o.Tuning[0].Scores != nil || len(o.Tuning[0].Failed()) == 0 {
		t.Errorf("chose %d, %v, tuning %+v", o.Chosen, o.Err, o.Tuning)
	}
	for k, f := range thetas {
		want := mixpolicy.Must(p.PenalisedGap(f))
		if got := o.Tuning[k+1]; len(got.Scores) != 12 || got.Scores[0] != want || len(got.Trials[0].Observations) != 1 {
			t.Errorf("scores %v, want %v", got.Scores, want)
		}
	}
	set.Score = race.Theta(0)
	if o := run(set); o.Chosen != 4 {
		t.Errorf("chose %d by θ₁", o.Chosen)
	}
	set.Score = func(*race.Observation) float64 { return math.NaN() }
	e.Methods = e.Methods[1:]
	wantError(t, run(set).Err, "fixed: none of 4 settings", "infinite or NaN")
	set.TuningTrials = 0
	if o := run(set); o.Chosen != 0 || o.Tuning != nil {
		t.Errorf("not tuned: chose %d, tuning %v", o.Chosen, o.Tuning)
	}
}

// With halving, a method gets more trials the more rounds it survives, and tuning still finds the
// best method, with fewer runs.
func TestHalving(t *testing.T) {
	p := queue(t)
	one := func(x float64) mixpolicy.Method { return fixed(x, 1-x) }
	for _, c := range []struct {
		trials int
		values []float64
		want   []int // trials of each method
	}{
		{8, []float64{.7, .1, .6, .3, .5, .2, .4}, []int{2, 8, 2, 4, 2, 8, 4}},
		{8, []float64{.3, .1, .2}, []int{4, 8, 8}},
		{8, []float64{.2, .1}, []int{8, 8}},
		{1, []float64{.4, .2, .3, .1}, []int{1, 1, 1, 1}},
		{6, []float64{.1, .1, .1, .1}, []int{6, 6, 3, 3}},
	} {
		e := race.Entrant{Name: "fixed", Methods: race.Grid(c.values, one)}
		var most, total atomic.Int64
		o := mixpolicy.Must(race.Run(t.Context(), p, []race.Entrant{e}, race.Settings{
			Trials: 3, TuningTrials: c.trials, Halving: true, Score: race.Theta(0), Queries: []int{5},
			Progress: func(_ string, done, all int) { total.Add(1); most.Store(int64(all)) },
		}))[0]
		want := 3
		for k, n := range c.want {
			want += n
			if len(o.Tuning[k].Trials) != n || len(o.Tuning[k].Scores) != n || o.Tuning[k].Trials[n-1].Stream != uint64(n-1) {
				t.Errorf("%v: %d trials of method %d, want %d", c.values, len(o.Tuning[k].Trials), k, n)
			}
		}
		if o.Chosen != slices.Index(c.values, slices.Min(c.values)) || total.Load() != int64(want) || most.Load() != int64(want) {
			t.Errorf("%v: chose %d after %d runs of %d, want %d", c.values, o.Chosen, total.Load(), most.Load(), want)
		}
	}
	// A method that fails is dropped after the first round.
	e := race.Entrant{Name: "fixed", Methods: append(race.Grid([]float64{.3, .2, .1}, one), stub{fails: true, after: 2})}
	o := mixpolicy.Must(race.Run(t.Context(), p, []race.Entrant{e}, race.Settings{Trials: 1, TuningTrials: 12, Halving: true, Score: race.Theta(0), Queries: []int{4}}))[0]
	if o.Chosen != 2 || o.Err != nil || len(o.Tuning[3].Failed()) != 6 {
		t.Errorf("chose %d, %v", o.Chosen, o.Tuning[3])
	}
}

// Tune chooses by Middle instead of the mean if Middle is set. If all scores are NaN, it chooses no method. Without a
// score, it returns an error.
func TestTuneAlone(t *testing.T) {
	e := race.Entrant{Methods: race.Grid([]float64{.3, .1, .2}, func(x float64) mixpolicy.Method { return fixed(x, 1-x) })}
	for k, score := range []race.Curve{race.Theta(0), func(*race.Observation) float64 { return math.NaN() }} {
		set := race.Settings{Trials: 1, TuningTrials: 9, Halving: true, Queries: []int{3}, Score: score}
		set.Middle = func(scores []float64) float64 { return -scores[0] }
		if _, best, err := race.Tune(t.Context(), queue(t), e, set); err != nil || best != -k {
			t.Errorf("method %d, want %d, %v", best, -k, err)
		}
	}
	_, _, err := race.Tune(t.Context(), queue(t), e, race.Settings{Trials: 1, TuningTrials: 9, Queries: []int{3}})
	wantError(t, err, "without a score")
}

// Setting names the values of a method of a grid, and Edges names the axes on which the method is at an edge.
func TestAxes(t *testing.T) {
	e := race.Entrant{Axes: []race.Axis{{Name: "η₀", Values: []float64{2, 1, 4}}, {Name: "ω", Values: []float64{10, 5, 20, 2.5}}}}
	for k, want := range map[int]string{0: "η₀ = 2, ω = 10 []", 2: "η₀ = 2, ω = 20 [ω]", 5: "η₀ = 1, ω = 5 [η₀]", 11: "η₀ = 4, ω = 2.5 [η₀ ω]"} {
		if got := fmt.Sprint(e.Setting(k), " ", e.Edges(k)); got != want {
			t.Errorf("method %d: %s, want %s", k, got, want)
		}
	}
	if got := (race.Entrant{}).Setting(0); got != "" {
		t.Errorf("without a grid: %q", got)
	}
}

// A finer grid lies around the method, and reaches at most the method's neighbours on the old grid.
func TestFiner(t *testing.T) {
	e := race.Entrant{Name: "fixed", Make: func(at []float64) mixpolicy.Method { return fixed(at[0], at[1]) }}
	e = e.OnGrid(race.Axis{Name: "a", Values: race.Powers(1, 4, 4)}, race.Axis{Name: "b", Values: race.Powers(16, 2, 2)})
	if len(e.Methods) != 8 || e.Methods[5] != fixed(4, 8) {
		t.Fatalf("%v", e.Methods)
	}
	f := e.Finer(5)
	if got := race.Powers(1, 4, 5); !slices.Equal(got, []float64{1, .25, 4, .0625, 16}) {
		t.Errorf("powers %v", got)
	}
	if !slices.Equal(f.Axes[0].Values, []float64{4, 2, 8, 1}) || !slices.Equal(f.Axes[1].Values, []float64{8, 4}) || f.Methods[7] != fixed(1, 4) {
		t.Errorf("%v", f.Axes)
	}
	if e.Axes[0].Values[0] != 1 {
		t.Error("the first grid has changed")
	}
}

// Tuning uses a different seed from the trials, and the trials are the same as without tuning.
func TestTuningHasItsOwnSeed(t *testing.T) {
	p, m := queue(t), mixpolicy.Penalty{CostScale: 400}
	costs := func(seed uint64, trials int) []float64 {
		return mixpolicy.Must(race.Trials(t.Context(), p, m, race.Settings{Trials: trials, Queries: []int{50}, Seed: seed})).Final(race.Cost)
	}
	e := []race.Entrant{{Name: "penalty", Methods: []mixpolicy.Method{m, m}}}
	o := mixpolicy.Must(race.Run(t.Context(), p, e, race.Settings{Trials: 2, TuningTrials: 3, Queries: []int{50}, Seed: 7}))[0]
	tuning, got := o.Tuning[0].Final(race.Cost), o.Runs.Final(race.Cost)
	if !slices.Equal(tuning, costs(8, 3)) || !slices.Equal(got, costs(7, 2)) {
		t.Errorf("costs %v in tuning and %v in the trials, want the costs for seeds 8 and 7", tuning, got)
	}
}

// The outcome of an entrant that fails with every setting contains the error, and the other entrants still race.
func TestAFailingEntrantIsAnOutcome(t *testing.T) {
	p := queue(t)
	all, err := race.Run(t.Context(), p, []race.Entrant{
		{Name: "never", Methods: []mixpolicy.Method{stub{fails: true}, stub{fails: true, after: 2}}},
		{Name: "untuned", Methods: []mixpolicy.Method{mixpolicy.Penalty{Weight: -1}}},
		{Name: "silent", Methods: []mixpolicy.Method{priorwork.PDHG{}}},
		{Name: "at once", Methods: []mixpolicy.Method{priorwork.MixtureLP{}}},
		{Name: "well", Methods: []mixpolicy.Method{mixpolicy.PlugIn{}}},
	}, race.Settings{Trials: 2, TuningTrials: 2, Queries: []int{5}})
	if err != nil {
		t.Fatal(err)
	}
	for k, says := range []string{"never: none of 2 settings", "untuned: penalty weight ω = -1", "makes no queries", "makes no queries"} {
		wantError(t, all[k].Err, says)
	}
	if o := all[4]; o.Err != nil || len(o.Runs.Finished()) != 2 {
		t.Errorf("%+v", o)
	}
}

func TestSettingsErrors(t *testing.T) {
	p := queue(t)
	set := race.Settings{Trials: 1, Iterations: 1}
	enter := func(methods ...mixpolicy.Method) []race.Entrant { return []race.Entrant{{Name: "a", Methods: methods}} }
	for says, set := range map[string]race.Settings{
		"queries [10 10]":                    {Trials: 2, Queries: []int{10, 10}},
		"no queries":                         {Trials: 2, Queries: []int{}},
		"times [0s]":                         {Trials: 2, Times: []time.Duration{0}},
		"-1 iterations":                      {Trials: 2, Iterations: -1},
		"0 of Iterations, Queries and Times": {Trials: 2},
		"2 of Iterations, Queries and Times": {Trials: 2, Iterations: 1, Queries: []int{1}},
		"0 trials":                           {Iterations: 1},
		"first stream -1":                    {Trials: 1, First: -1, Iterations: 1},
		"-1 tuning trials":                   {Trials: 1, TuningTrials: -1, Iterations: 1},
	} {
		wantError(t, second(race.Run(t.Context(), p, enter(mixpolicy.PlugIn{}), set)), "race: ", says)
	}
	for says, entrants := range map[string][]race.Entrant{
		`"a" has 65 methods`: enter(slices.Repeat([]mixpolicy.Method{mixpolicy.PlugIn{}}, 65)...), "has 0 methods": enter(),
		`entrant "a": run without a method`: enter(nil), "no entrants": nil,
	} {
		wantError(t, second(race.Run(t.Context(), p, entrants, set)), "race: ", says)
	}
	wantError(t, second(race.Trials(t.Context(), p, nil, race.Settings{Trials: 1, Iterations: 1})), "without a method")
	wantError(t, second(race.Trials(t.Context(), nil, mixpolicy.PlugIn{}, race.Settings{Trials: 1, Iterations: 1})), "no problem")
}

// byHand returns finished trials with the given costs.
func byHand(costs ...[]float64) *race.Runs {
	var runs race.Runs
	for k, run := range costs {
		t := race.Trial{Stream: uint64(k)}
		for i, c := range run {
			t.Observations = append(t.Observations, race.Observation{Iteration: i, Queries: i + 1, Cost: c})
		}
		runs.Trials = append(runs.Trials, t)
	}
	return &runs
}

// A band is the mean and Student's interval of the curve at each observation. A run that
// ends early keeps its last value.
func TestBand(t *testing.T) {
	runs := byHand([]float64{1, 2, 3}, []float64{3, 4, 8}, []float64{5, 9})
	runs.Trials = append(runs.Trials, race.Trial{Err: errBroken, Observations: []race.Observation{{Cost: 1e9}}})
	b := runs.Band(race.Queries, race.Cost, .9)
	for k, want := range [][]float64{{1, 3, 5}, {2, 4, 9}, {3, 8, 9}} {
		if b.Intervals[k] != race.TInterval(want, .9) {
			t.Errorf("look %d: %v, want the interval of %v", k, b.Intervals[k], want)
		}
	}
	if !slices.Equal(b.At, []float64{1, 2, 8. / 3}) || !slices.Equal(runs.Final(race.Cost), []float64{3, 8, 9}) {
		t.Errorf("at %v, final %v", b.At, runs.Final(race.Cost))
	}
	rows := b.Rows(race.Row{Method: "m"})
	if len(rows) != 3 || rows[1].At != 2 || rows[1].Value != 5 || rows[1].Trials != 3 || rows[1].Method != "m" {
		t.Errorf("%+v", rows)
	}
}

// The second run reaches the goal, leaves it, and comes back. The last run leaves the goal at its end, so Reach returns
// +Inf for it.
func TestReach(t *testing.T) {
	r := byHand([]float64{9, 1, 1, 1}, []float64{1, 9, 9, 1}, []float64{1, 1, 1, 1}, []float64{9, 9, 1, 1}, []float64{1, 1, 1, 9})
	inf := math.Inf(1)
	if got := race.Median(r.Reach(race.Cost, 1), .9); got != race.Median([]float64{2, 4, 1, 3, inf}, .9) || got.Mean != 3 || got.Hi != inf {
		t.Errorf("%+v", got)
	}
	if got := race.Median(r.Reach(race.Cost, .5), .9); !math.IsInf(got.Lo, 1) {
		t.Errorf("%+v, want none", got)
	}
}

// Sleep does not count, because Times are processor times.
func TestSleepIsNoTime(t *testing.T) {
	p := queue(t)
	began := time.Now()
	runs := mixpolicy.Must(race.Trials(t.Context(), p, stub{slow: 100 * time.Microsecond},
		race.Settings{Trials: 1, Times: []time.Duration{2 * time.Millisecond}}))
	if l := runs.Trials[0].End(); l.Seconds > time.Since(began).Seconds()/2 && runtime.GOOS == "linux" {
		t.Errorf("%v s of processor time in %v of wall time", l.Seconds, time.Since(began))
	}
}
