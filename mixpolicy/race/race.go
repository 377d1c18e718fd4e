package race

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// Entrant is a method in all settings that tuning may choose from, the published or default
// one first.
type Entrant struct {
	Name    string
	Source  string   // the paper it is from
	Told    []string // what it knows or may ask for, for a table
	Methods []mixpolicy.Method
}

// maxMethods is the greatest number of methods of an entrant, so that none is tuned more than
// another. Those with less to tune bring fewer.
const maxMethods = 16

// Outcome is how an entrant did.
type Outcome struct {
	Entrant
	// Tuning has the tuning trials of each method, fewer of those that lost early with
	// [Settings].Halving; nil if there was nothing to choose.
	Tuning []Tuning
	// Chosen is the method of least mean score among those whose tuning trials all finished.
	Chosen int
	// Runs are its trials; nil if none could be chosen.
	Runs *Runs
	// Err says why there are no finished trials, or is nil.
	Err error
}

// end is the last mark, if there is one: all that tuning looks at.
func end[number any](marks []number) []number { return marks[max(0, len(marks)-1):] }

// Tuning is trials of a method that were looked at in the end, and before the first step.
type Tuning struct {
	*Runs
	Scores []float64 // one a trial; nil if some failed
}

// Run tunes every entrant and runs it on the same streams as the others. What fails is in
// the [Outcome]; the error is for bad settings, and for the end of ctx, when what was done
// before is returned with it.
func Run(ctx context.Context, p *mixpolicy.Problem, entrants []Entrant, set Settings) ([]Outcome, error) {
	h, err := begin(ctx, p, set)
	if err != nil {
		return nil, err
	}
	if len(entrants) == 0 {
		return nil, errors.New("race: no entrants, want at least one")
	}
	for _, e := range entrants {
		if n := len(e.Methods); n == 0 || n > maxMethods {
			return nil, fmt.Errorf("race: entrant %q brings %d methods, want 1 to %d", e.Name, n, maxMethods)
		}
		for _, m := range e.Methods {
			if err := mixpolicy.CheckMethod(m); err != nil {
				return nil, fault.At("race", fmt.Sprintf("entrant %q", e.Name), err)
			}
		}
		h.total += set.runs(len(e.Methods))
	}
	if h.Score == nil {
		// The optimum is computed here, once, before time counts.
		if _, err := p.Optimum(ctx); err != nil {
			return nil, fault.At("race", "exact optimum", err)
		}
		merit, err := Merit(p)
		if err != nil {
			return nil, err
		}
		h.Score = func(l *Observation) float64 {
			if l.Theta == nil {
				return l.PolicyCost
			}
			return merit(l)
		}
	}
	var all []Outcome
	for _, e := range entrants {
		o, err := h.enter(ctx, e)
		all = append(all, o)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// enter runs one entrant; the error is that of ctx.
func (h *harness) enter(ctx context.Context, e Entrant) (Outcome, error) {
	o := Outcome{Entrant: e}
	if h.TuningTrials > 0 && len(e.Methods) > 1 {
		if err := h.tune(ctx, &o); err != nil || o.Err != nil {
			return o, err
		}
	}
	all, err := h.trials(ctx, e.Name, e.Methods[o.Chosen:o.Chosen+1], 0, h.Trials, h.Seed)
	o.Runs = all[0]
	if failed := o.Runs.Failed(); err == nil && len(failed) == h.Trials {
		o.Err = fault.At("race", e.Name, failed[0].Err)
	}
	return o, err
}

// tune sets Tuning and Chosen, or Err; the error is that of ctx.
func (h *harness) tune(ctx context.Context, o *Outcome) error {
	tuning := *h
	tuning.Valued, tuning.Schedule = min(h.Valued, ValuedEnd), mixpolicy.Every(max(1, h.Iterations))
	tuning.Queries, tuning.Times = end(h.Queries), end(h.Times)
	tried, means, left := make([]Tuning, len(o.Methods)), make([]float64, len(o.Methods)), make([]int, len(o.Methods))
	for k, m := range o.Methods {
		tried[k].Runs, left[k] = &Runs{Method: m}, k
	}
	failure := errors.New("the scores are infinite or NaN")
	done := 0
	for _, until := range h.rounds(len(o.Methods)) {
		methods := make([]mixpolicy.Method, len(left))
		for i, k := range left {
			methods[i] = o.Methods[k]
		}
		all, err := tuning.trials(ctx, "tuning "+o.Name, methods, done, until, h.Seed+1)
		if err != nil {
			return err
		}
		for i, k := range left {
			tried[k].Trials = append(tried[k].Trials, all[i].Trials...)
			means[k] = math.Inf(1)
			if failed := tried[k].Failed(); len(failed) > 0 {
				tried[k].Scores, failure = nil, failed[0].Err
			} else if tried[k].Scores = tried[k].Final(h.Score); stat.Mean(tried[k].Scores, nil) < means[k] { // not NaN
				means[k] = stat.Mean(tried[k].Scores, nil)
			}
		}
		slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(means[a], means[b]) })
		o.Chosen, done = left[0], until
		left = left[:(len(left)+1)/2]
	}
	o.Tuning = tried
	if math.IsInf(means[o.Chosen], 1) {
		o.Chosen, o.Err = -1, fault.At("race", fmt.Sprintf("%s: none of %d settings ran to the end with a finite score", o.Name, len(o.Methods)), failure)
	}
	return nil
}

// rounds returns how many trials each mean is of, round after round of the tuning of n methods.
func (s Settings) rounds(n int) []int {
	rounds := []int{s.TuningTrials}
	for k := 2; s.Halving && s.TuningTrials > 0 && k < n; k *= 2 {
		rounds = slices.Insert(rounds, 0, max(1, rounds[0]/2))
	}
	return rounds
}

// runs returns how many runs an entrant of n methods has.
func (s Settings) runs(n int) int {
	total, done, left := s.Trials, 0, n
	for _, until := range s.rounds(n) {
		if n > 1 {
			total += left * (until - done)
		}
		done, left = until, (left+1)/2
	}
	return total
}

// Powers returns first, and then count−1 numbers around it, first·factorᵏ for k = −1, 1,
// −2, 2, …: a grid for tuning.
func Powers(first, factor float64, count int) []float64 {
	x := []float64{first}
	for up, down := first, first; len(x) < count; {
		down /= factor
		x = append(x, down)
		if len(x) < count {
			up *= factor
			x = append(x, up)
		}
	}
	return x
}

// Grid returns a method for each of the given numbers.
func Grid(numbers []float64, method func(v float64) mixpolicy.Method) []mixpolicy.Method {
	return Grid2(numbers, []float64{1}, func(v, _ float64) mixpolicy.Method { return method(v) })
}

// Grid2 returns a method for each pair of numbers, the first of both first.
func Grid2(a, b []float64, method func(v, w float64) mixpolicy.Method) []mixpolicy.Method {
	var all []mixpolicy.Method
	for _, v := range a {
		for _, w := range b {
			all = append(all, method(v, w))
		}
	}
	return all
}
