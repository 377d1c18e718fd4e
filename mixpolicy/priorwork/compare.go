package priorwork

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Contestant is a system in all configurations that tuning may choose from, the published
// or default one first. They are settings, and shared by all runs.
type Contestant struct {
	Name           string
	Source         string // the paper it is from
	Configurations []mixpolicy.Method
}

// ComparisonSettings are the same for all contestants. Trials is required.
type ComparisonSettings struct {
	Trials int // 20 or more for intervals worth showing

	// Configurations is the greatest number that a contestant may bring, so that none is
	// tuned more than another; 0 is 16. Those with less to tune bring fewer.
	Configurations int
	// TuningTrials is how many runs, to the end of the budget, judge a configuration; 0
	// takes the first of each contestant.
	TuningTrials int

	Seed       uint64  // trial k uses stream k; tuning uses Seed+1, never seen again
	Confidence float64 // of intervals; 0 is 0.95
	Workers    int     // goroutines of [CompareByQueries]; 0 is one per CPU

	// SkipPolicyCost leaves out the true cost of policies where a measure takes longer
	// than a run, for systems that have a θ̂.
	SkipPolicyCost bool

	// Progress, when set, is told what has been done; it may be called concurrently.
	Progress func(contestant string, runs int)
}

// Comparison holds a race per contestant, on one problem and oracle.
type Comparison struct {
	Races []Race
	Seed  uint64
}

// Race is how a contestant did, an entry per checkpoint.
type Race struct {
	Name          string
	Configuration int // of those that the contestant brought; 0 is the first
	Tried         int // configurations

	Queries []mixpolicy.Interval // costs revealed
	Seconds []mixpolicy.Interval // for Init, the steps, and the answer; not for judging it
	// Merit is the exact-penalty merit of θ̂ ([mixpolicy.Problem.Merit]): ≥ 0, and 0 at the
	// optimum of (2.18) only. It is nil for systems without a θ̂.
	Merit []mixpolicy.Interval
	// PolicyCost is the true cost of the policy; nil if it was left out. It may be below
	// the optimum of (2.18), which is over mixtures.
	PolicyCost []mixpolicy.Interval

	// Tuning is the mean score of each configuration over the tuning trials, at the end of
	// the budget: of merits, or of costs if there is no θ̂. It is nil if nothing was tuned.
	Tuning []float64

	// Runs holds what the checkpoints of each run showed, in the order of streams.
	Runs [][]Look
}

// Look is what a checkpoint of a run shows: the numbers behind a [Race]'s intervals.
type Look struct {
	Queries, Seconds float64
	Merit            float64 // 0 for systems without a θ̂
	PolicyCost       float64 // 0 if it was left out

	hasMerit, hasPolicy bool
}

// Score returns the merit, or the cost of the policy if there is no θ̂.
func (s Look) Score() float64 {
	if s.hasMerit {
		return s.Merit
	}
	return s.PolicyCost
}

// CompareByQueries runs every contestant for the same numbers of queries, which increase.
// Merits and costs are reproducible to the bit; seconds are not, and with several Workers
// they suffer from each other.
func CompareByQueries(ctx context.Context, p *mixpolicy.Problem, contestants []Contestant, queries []int, set ComparisonSettings) (*Comparison, error) {
	for k, q := range queries {
		if q < 1 || k > 0 && q <= queries[k-1] {
			return nil, fmt.Errorf("priorwork: checkpoint %d is at %d queries, want positive and increasing numbers", k, q)
		}
	}
	return compare(ctx, p, contestants, set, course{
		checkpoints: len(queries),
		reached:     func(k, asked int, _ time.Duration) bool { return asked >= queries[k] },
		asks:        true,
	})
}

// CompareByTime runs every contestant for the same times, which increase, one run after
// the other. Systems that ask no queries can take part. Results depend on the machine.
func CompareByTime(ctx context.Context, p *mixpolicy.Problem, contestants []Contestant, times []time.Duration, set ComparisonSettings) (*Comparison, error) {
	for k, d := range times {
		if d <= 0 || k > 0 && d <= times[k-1] {
			return nil, fmt.Errorf("priorwork: checkpoint %d is at %v, want positive and increasing times", k, d)
		}
	}
	set.Workers = 1
	return compare(ctx, p, contestants, set, course{
		checkpoints: len(times),
		reached:     func(k, _ int, spent time.Duration) bool { return spent >= times[k] },
	})
}

// course says where runs are looked at.
type course struct {
	checkpoints int
	reached     func(k, queries int, spent time.Duration) bool
	asks        bool // who asks no queries never arrives
}

// end has the last checkpoint only: all that tuning looks at.
func (c course) end() course {
	last := c.checkpoints - 1
	return course{checkpoints: 1, asks: c.asks, reached: func(_, queries int, spent time.Duration) bool { return c.reached(last, queries, spent) }}
}

func (s ComparisonSettings) complete() (ComparisonSettings, error) {
	if s.Configurations == 0 {
		s.Configurations = 16
	}
	if s.Confidence == 0 {
		s.Confidence = 0.95
	}
	if s.Workers <= 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	switch {
	case s.Trials < 2:
		return s, fmt.Errorf("priorwork: comparison of %d trials, want at least 2", s.Trials)
	case s.TuningTrials < 0:
		return s, fmt.Errorf("priorwork: comparison with %d tuning trials, want 0 or more", s.TuningTrials)
	case !(s.Confidence > 0 && s.Confidence < 1):
		return s, fmt.Errorf("priorwork: confidence %v, want between 0 and 1", s.Confidence)
	}
	return s, nil
}

func compare(ctx context.Context, p *mixpolicy.Problem, contestants []Contestant, set ComparisonSettings, c course) (*Comparison, error) {
	set, err := set.complete()
	if err != nil {
		return nil, err
	}
	if c.checkpoints == 0 || len(contestants) == 0 {
		return nil, errors.New("priorwork: comparison without contestants or checkpoints, want at least one of each")
	}
	if _, err := p.OptimumContext(ctx); err != nil { // once, before time counts
		return nil, fmt.Errorf("priorwork: comparison: exact optimum: %w", err)
	}
	out := &Comparison{Seed: set.Seed}
	for _, x := range contestants {
		if n := len(x.Configurations); n == 0 || n > set.Configurations {
			return nil, fmt.Errorf("priorwork: contestant %q brings %d configurations, want 1 to %d", x.Name, n, set.Configurations)
		}
		e := event{ctx: ctx, p: p, name: x.Name, set: set, course: c}
		best, least, tried := 0, math.Inf(1), 1
		var tuning []float64
		if set.TuningTrials > 0 && len(x.Configurations) > 1 {
			tried = len(x.Configurations)
			heat := e
			heat.course = c.end()
			for k, m := range x.Configurations {
				runs, err := heat.runs(m, set.TuningTrials, set.Seed+1)
				if err != nil {
					return out, err
				}
				var mean float64
				for _, r := range runs {
					mean += r[len(r)-1].Score() / float64(len(runs))
				}
				tuning = append(tuning, mean)
				if mean < least {
					best, least = k, mean
				}
			}
		}
		runs, err := e.runs(x.Configurations[best], set.Trials, set.Seed)
		if err != nil {
			return out, err
		}
		race := e.race(runs)
		race.Configuration, race.Tried, race.Tuning = best, tried, tuning
		out.Races = append(out.Races, race)
	}
	return out, nil
}

// event is all runs of a contestant.
type event struct {
	ctx  context.Context
	p    *mixpolicy.Problem
	name string
	set  ComparisonSettings
	course
}

func (e *event) runs(m mixpolicy.Method, trials int, seed uint64) ([][]Look, error) {
	out := make([][]Look, trials)
	g, ctx := errgroup.WithContext(e.ctx)
	g.SetLimit(e.set.Workers)
	for k := range trials {
		g.Go(func() error {
			r, err := e.run(ctx, m, seed, uint64(k))
			if err != nil {
				return fmt.Errorf("priorwork: %s, stream %d: %w", e.name, k, err)
			}
			out[k] = r
			if e.set.Progress != nil {
				e.set.Progress(e.name, 1)
			}
			return nil
		})
	}
	return out, g.Wait()
}

// run times Start and steps, and stops the clock while it judges.
func (e *event) run(ctx context.Context, m mixpolicy.Method, seed, stream uint64) ([]Look, error) {
	o, err := mixpolicy.NewOracle(e.p, seed, stream)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	s, err := m.Start(e.p, o)
	if err != nil {
		return nil, err
	}
	spent := time.Since(begin)
	// Looks at the clock, and at the context, come after as many steps as take some
	// microseconds: a look takes 50 ns.
	const look = 64
	var out []Look
	done := false
	for step := 0; len(out) < e.checkpoints; {
		begin = time.Now()
		for range look {
			if err := s.Step(); err == mixpolicy.ErrDone {
				done = true
				break
			} else if err != nil {
				return nil, fmt.Errorf("step %d: %w", step, err)
			}
			step++
			if e.asks && e.reached(len(out), o.Queries(), 0) {
				break
			}
		}
		spent += time.Since(begin)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("stopped after %d steps: %w", step, err)
		}
		if e.asks && o.Queries() == 0 {
			return nil, errors.New("asks no queries; want CompareByTime")
		}
		if !done && !e.reached(len(out), o.Queries(), spent) {
			continue
		}
		q, err := e.look(ctx, s, o, spent)
		if err != nil {
			return nil, fmt.Errorf("after %d steps: %w", step, err)
		}
		for len(out) < e.checkpoints && (done || e.reached(len(out), o.Queries(), spent)) {
			out = append(out, q)
		}
	}
	return out, nil
}

// look asks for an answer, which costs time, and judges it.
func (e *event) look(ctx context.Context, s mixpolicy.Run, o *mixpolicy.Oracle, spent time.Duration) (Look, error) {
	begin := time.Now()
	var snap mixpolicy.Snapshot
	var policy *mixpolicy.Policy
	err := s.View(&snap)
	if run, ok := s.(mixpolicy.PolicyRun); ok && err == nil {
		policy, err = run.Policy(ctx)
	} else if err == nil {
		policy, err = e.p.Features().PolicyOf(snap.Average)
	}
	if err != nil {
		return Look{}, fmt.Errorf("answer: %w", err)
	}
	total := spent + time.Since(begin)
	q, err := e.judge(ctx, snap.Average, policy)
	q.Queries, q.Seconds = float64(o.Queries()), total.Seconds()
	return q, err
}

// judge works out the merit of θ̂ and the true cost of the policy.
func (e *event) judge(ctx context.Context, theta []float64, policy *mixpolicy.Policy) (q Look, err error) {
	if theta != nil {
		q.hasMerit = true
		if q.Merit, err = e.p.Merit(theta); err != nil {
			return q, err
		}
		if e.set.SkipPolicyCost {
			return q, nil
		}
	}
	x := e.p.MDP()
	measure, err := mixpolicy.Occupation(ctx, x, policy, mixpolicy.MeasureSettings{})
	if err != nil {
		return q, fmt.Errorf("true cost of the policy: %w", err)
	}
	q.hasPolicy, q.PolicyCost = true, measure.Cost(x.Costs())
	return q, nil
}

// race sums up the runs.
func (e *event) race(runs [][]Look) Race {
	r := Race{Name: e.name}
	column := func(k int, of func(Look) float64) mixpolicy.Interval {
		x := make([]float64, len(runs))
		for i, run := range runs {
			x[i] = of(run[k])
		}
		return mixpolicy.TInterval(x, e.set.Confidence)
	}
	for k, first := range runs[0] {
		r.Queries = append(r.Queries, column(k, func(s Look) float64 { return s.Queries }))
		r.Seconds = append(r.Seconds, column(k, func(s Look) float64 { return s.Seconds }))
		if first.hasMerit {
			r.Merit = append(r.Merit, column(k, func(s Look) float64 { return s.Merit }))
		}
		if first.hasPolicy {
			r.PolicyCost = append(r.PolicyCost, column(k, func(s Look) float64 { return s.PolicyCost }))
		}
	}
	r.Runs = runs
	return r
}
