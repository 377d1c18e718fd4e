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
		h.total += set.runs(len(e.Methods))
	}
	if h.Score == nil {
		// The optimum is computed here, once, before time counts.
		if _, err := p.Optimum(ctx); err != nil {
			return nil, fault.At("race", "exact optimum", err)
		}
		gap, err := PenalisedGap(p)
		if err != nil {
			return nil, err
		}
		h.Score = func(l *Observation) float64 {
			if l.Theta == nil {
				return l.PolicyCost
			}
			return gap(l)
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
		all, left, err := h.tune(ctx, e)
		if o.Tuning = all; err != nil {
			return o, err
		}
		last := make([]Tuning, len(left))
		for i, k := range left {
			last[i] = all[k]
		}
		best := Best(last, h.Score, mean)
		if best < 0 {
			o.Chosen, o.Err = -1, errors.New("the scores are infinite or NaN")
			for _, t := range o.Tuning {
				if failed := t.Failed(); len(failed) > 0 {
					o.Err = failed[0].Err
				}
			}
			o.Err = fault.At("race", fmt.Sprintf("%s: none of %d settings ran to the end with a finite score", e.Name, len(e.Methods)), o.Err)
			return o, nil
		}
		o.Chosen = left[best]
	}
	runs, err := h.trials(ctx, e.Name, e.Methods[o.Chosen:o.Chosen+1], 0, h.Trials, h.Seed)
	o.Runs = runs[0]
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
	h.Halving = false
	all, _, err := h.tune(ctx, e)
	return all, err
}

// tune also returns which methods are left in the last round.
func (h *harness) tune(ctx context.Context, e Entrant) (all []Tuning, left []int, err error) {
	tuning := *h
	tuning.Valued, tuning.Schedule = min(h.Valued, ValuedEnd), mixpolicy.Every(max(1, h.Iterations))
	tuning.Queries, tuning.Times = end(h.Queries), end(h.Times)
	for k, m := range e.Methods {
		all, left = append(all, Tuning{Runs: &Runs{Method: m}}), append(left, k)
	}
	worth := func(k int) float64 {
		if v := mean(all[k].Scores); v < math.Inf(1) {
			return v
		}
		return math.Inf(1) // also for NaN, that of no scores
	}
	done := 0
	for _, until := range h.rounds(len(e.Methods)) {
		if done > 0 {
			slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(worth(a), worth(b)) })
			left = left[:(len(left)+1)/2]
		}
		var methods []mixpolicy.Method
		for _, k := range left {
			methods = append(methods, e.Methods[k])
		}
		runs, err := tuning.trials(ctx, "tuning "+e.Name, methods, done, until, h.Seed+1)
		for i, k := range left {
			t := &all[k]
			t.Trials, t.Scores = append(t.Trials, runs[i].Trials...), nil
			if h.Score != nil && len(t.Failed()) == 0 {
				t.Scores = t.Final(h.Score)
			}
		}
		if err != nil {
			return all, left, err
		}
		done = until
	}
	return all, left, nil
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
