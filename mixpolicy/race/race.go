package race

import (
	"context"
	"errors"
	"fmt"
	"math"

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
	// Tuning has the tuning trials of each method; nil if there was nothing to choose.
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
	Scores []float64 // one a trial, if there is one Score; nil if some failed
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
		if h.total += set.Trials; len(e.Methods) > 1 {
			h.total += set.TuningTrials * len(e.Methods)
		}
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
	var err error
	if h.TuningTrials > 0 && len(e.Methods) > 1 {
		if o.Tuning, err = h.tune(ctx, e); err != nil {
			return o, err
		}
		if o.Chosen = Best(o.Tuning, h.Score, mean); o.Chosen < 0 {
			o.Err = errors.New("the scores are infinite or NaN")
			for _, t := range o.Tuning {
				if failed := t.Failed(); len(failed) > 0 {
					o.Err = failed[0].Err
				}
			}
			o.Err = fault.At("race", fmt.Sprintf("%s: none of %d settings ran to the end with a finite score", e.Name, len(e.Methods)), o.Err)
			return o, nil
		}
	}
	o.Runs, err = h.trials(ctx, e.Methods[o.Chosen], e.Name, h.Trials, h.Seed)
	if failed := o.Runs.Failed(); err == nil && len(failed) == h.Trials {
		o.Err = fault.At("race", e.Name, failed[0].Err)
	}
	return o, err
}

// Tune runs each method of an entrant to the end TuningTrials times, with Seed+1. The error is for bad
// settings, and for the end of ctx, when what was done before is returned with it.
func Tune(ctx context.Context, p *mixpolicy.Problem, e Entrant, set Settings) ([]Tuning, error) {
	h, err := begin(ctx, p, set)
	if err != nil {
		return nil, err
	}
	h.total = set.TuningTrials * len(e.Methods)
	return h.tune(ctx, e)
}

func (h *harness) tune(ctx context.Context, e Entrant) (all []Tuning, err error) {
	tuning := *h
	tuning.Valued, tuning.Schedule = min(h.Valued, ValuedEnd), mixpolicy.Every(max(1, h.Iterations))
	tuning.Queries, tuning.Times = end(h.Queries), end(h.Times)
	for _, m := range e.Methods {
		runs, err := tuning.trials(ctx, m, "tuning "+e.Name, h.TuningTrials, h.Seed+1)
		if err != nil {
			return all, err
		}
		t := Tuning{Runs: runs}
		if h.Score != nil && len(runs.Failed()) == 0 {
			t.Scores = runs.Final(h.Score)
		}
		all = append(all, t)
	}
	return all, nil
}

// Best returns the method with the least middle of a score, such as a mean or a median, among those
// whose tuning trials all finished; −1 if there is none.
func Best(tuning []Tuning, score Curve, middle func(x []float64) float64) int {
	best, least := -1, math.Inf(1)
	for k, t := range tuning {
		if len(t.Failed()) > 0 {
			continue
		}
		if v := middle(t.Final(score)); v < least {
			best, least = k, v
		}
	}
	return best
}

func mean(x []float64) float64 { return stat.Mean(x, nil) }

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
