package race

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
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
	// Axes are those of the grid that Methods are, the last one fastest, and Make makes the method of
	// a number on each; nil if they are not a grid.
	Axes []Axis
	Make func(at []float64) mixpolicy.Method
}

// OnGrid returns the entrant with the methods of a grid.
func (e Entrant) OnGrid(axes ...Axis) Entrant {
	size := 1
	for _, a := range axes {
		size *= len(a.Values)
	}
	e.Axes, e.Methods = axes, make([]mixpolicy.Method, size)
	for k := range e.Methods {
		e.Methods[k] = e.Make(e.Numbers(k))
	}
	return e
}

// Finer returns the entrant on a grid of the same size around method k, up to its neighbours: where
// the grid goes by powers of f on an axis of n numbers, the finer one goes by powers of f^(2/n).
// Where method k is at an edge, it goes beyond.
func (e Entrant) Finer(k int) Entrant {
	axes := slices.Clone(e.Axes)
	for i, v := range e.Numbers(k) {
		x := slices.Sorted(slices.Values(axes[i].Values))
		axes[i].Values = Powers(v, math.Pow(x[1]/x[0], 2/float64(len(x))), len(x))
	}
	return e.OnGrid(axes...)
}

// Around returns the grid that is tried after e, around the setting at that was best so far. On an axis on which that
// setting is at an end of e, the new grid is as wide as e, and goes beyond; where the setting is inside, the new grid
// is finer, up to the neighbours.
func (e Entrant) Around(at []float64) Entrant {
	axes := slices.Clone(e.Axes)
	for i, v := range at {
		a := &axes[i]
		if a.Fixed {
			continue
		}
		x := slices.Sorted(slices.Values(a.Values))
		factor := x[1] / x[0]
		if v > x[0] && v < x[len(x)-1] {
			factor = math.Pow(factor, 2/float64(len(x)))
		}
		a.Values = Powers(v, factor, len(x))
	}
	return e.OnGrid(axes...)
}

// Ends names the axes on which at has the least or the greatest of all numbers that were tried, beyond which a better one
// might be. Fixed axes have no ends.
func Ends(axes []Axis, tried [][]float64, at []float64) (names []string) {
	for i, v := range at {
		less, more := false, false
		for _, x := range tried {
			less, more = less || x[i] < v, more || x[i] > v
		}
		if !axes[i].Fixed && !(less && more) {
			names = append(names, axes[i].Name)
		}
	}
	return names
}

// Halve finds the setting of least median score among n by sequential halving: after each round, the worse half is
// dropped, and the trials of the others are doubled, up to the given number for the last two. It asks for scores in
// parallel. It also returns the median of the best setting, the lower one of two; +Inf if there is none. NaN counts
// as +Inf.
func Halve(n, trials int, score func(setting, trial int) float64) (best int, median float64) {
	scores, left, done := make([][]float64, n), make([]int, n), 0
	for k := range left {
		left[k] = k
	}
	middle := func(k int) float64 { return Median(scores[k], 0.5).Mean }
	for _, until := range (Settings{TuningTrials: trials, Halving: true}).rounds(n) {
		if done > 0 {
			slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(middle(a), middle(b)) })
			left = left[:(len(left)+1)/2]
		}
		var g errgroup.Group
		g.SetLimit(runtime.GOMAXPROCS(0))
		for _, k := range left {
			scores[k] = append(scores[k], make([]float64, until-done)...)
			for trial := done; trial < until; trial++ {
				g.Go(func() error {
					v := score(k, trial)
					if math.IsNaN(v) {
						v = math.Inf(1)
					}
					scores[k][trial] = v
					return nil
				})
			}
		}
		g.Wait() // without errors
		done = until
	}
	best = slices.MinFunc(left, func(a, b int) int { return cmp.Compare(middle(a), middle(b)) })
	return best, middle(best)
}

// Configuration returns the grid on which setting k is, its number there, and on which axes of the entrant's own grid it
// is at an edge. Where twice as many were tried as the n of that grid, k is setting k mod n of the finer grid around
// setting ⌊k/n⌋.
func (e Entrant) Configuration(k, tried int) (on Entrant, setting int, edges []string) {
	n := len(e.Methods)
	if tried == n {
		return e, k, e.Edges(k)
	}
	return e.Finer(k / n), k % n, e.Edges(k / n)
}

// Axis is a parameter and the numbers that are tried of it.
type Axis struct {
	Name   string
	Values []float64
	Fixed  bool // the values are all that make sense: the next grid has the same
}

// Setting names the numbers of method k, such as "η₀ = 64, ω = 8"; "" if there is no grid.
func (e Entrant) Setting(k int) string {
	var names []string
	for i, v := range e.Numbers(k) {
		names = append(names, fmt.Sprintf("%s = %.3g", e.Axes[i].Name, v))
	}
	return strings.Join(names, ", ")
}

// Edges names the axes on which method k has the least or the greatest number, beyond which a
// better one might be.
func (e Entrant) Edges(k int) (names []string) {
	for i, v := range e.Numbers(k) {
		if a := e.Axes[i]; v == slices.Min(a.Values) || v == slices.Max(a.Values) {
			names = append(names, a.Name)
		}
	}
	return names
}

// Numbers has the number of method k on each axis; none if there is no grid.
func (e Entrant) Numbers(k int) []float64 {
	if e.Axes == nil {
		return nil
	}
	at := make([]float64, len(e.Axes))
	for i, a := range slices.Backward(e.Axes) {
		at[i] = a.Values[k%len(a.Values)]
		k /= len(a.Values)
	}
	return at
}

// maxMethods is the greatest number of methods of an entrant, so that none is tuned more than
// another. Those with less to tune bring fewer.
const maxMethods = 64

// Outcome is the result of an entrant.
type Outcome struct {
	Entrant
	// Tuning has the tuning trials of each method, fewer of those that lost early with
	// [Settings].Halving; nil if there was nothing to choose.
	Tuning []Tuning
	// Chosen is the method of least mean score, or another [Settings].Middle, among those whose
	// tuning trials all finished.
	Chosen int
	// Runs are its trials; nil if none could be chosen.
	Runs *Runs
	// Err says why there are no finished trials, or is nil.
	Err error
}

// end is the last mark, if there is one: all that tuning looks at.
func end[number any](marks []number) []number { return marks[max(0, len(marks)-1):] }

// Tuning holds trials of a method, observed before the first step and at the end.
type Tuning struct {
	*Runs
	Scores []float64 // one a trial, if there is one Score; nil if some failed
}

// Run tunes every entrant and runs it on the same streams as the others. Failures are in
// the outcomes. Run returns an error if the settings are bad, and if ctx ends: then with
// the results so far.
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
		var err error
		if o.Tuning, o.Chosen, err = h.tune(ctx, e); err != nil {
			return o, err
		}
		if o.Chosen < 0 {
			o.Err = errors.New("the scores are infinite or NaN")
			for _, t := range o.Tuning {
				if failed := t.Failed(); len(failed) > 0 {
					o.Err = failed[0].Err
				}
			}
			place := fmt.Sprintf("%s: none of %d settings ran to the end with a finite score", e.Name, len(e.Methods))
			o.Err = fault.At("race", place, o.Err)
			return o, nil
		}
	}
	runs, err := h.trials(ctx, e.Name, e.Methods[o.Chosen:o.Chosen+1], 0, h.Trials, h.Seed)
	o.Runs = runs[0]
	if failed := o.Runs.Failed(); err == nil && len(failed) == h.Trials {
		o.Err = fault.At("race", e.Name, failed[0].Err)
	}
	return o, err
}

// Tune tunes an entrant as [Run] does, with Seed+1, and returns which method it chooses, −1 if there
// is none. Score is required. Tune returns an error if the settings are bad, and if ctx ends: then
// with the results so far.
func Tune(ctx context.Context, p *mixpolicy.Problem, e Entrant, set Settings) (all []Tuning, best int, err error) {
	h, err := begin(ctx, p, set)
	if err == nil && (set.Score == nil || set.TuningTrials == 0) {
		err = errors.New("race: tuning without a score or without trials, want both")
	}
	if err != nil {
		return nil, -1, err
	}
	h.total = set.runs(len(e.Methods)) - set.Trials
	return h.tune(ctx, e)
}

func (h *harness) tune(ctx context.Context, e Entrant) (all []Tuning, best int, err error) {
	tuning := *h
	tuning.Valued, tuning.Schedule = min(h.Valued, ValuedEnd), mixpolicy.Every(max(1, h.Iterations))
	tuning.Queries, tuning.Times = end(h.Queries), end(h.Times)
	var left []int // those that are not out
	for k, m := range e.Methods {
		all, left = append(all, Tuning{Runs: &Runs{Method: m}}), append(left, k)
	}
	worth := func(k int) float64 {
		if s := all[k].Scores; len(s) > 0 {
			if v := h.middle(s); v < math.Inf(1) {
				return v
			}
		}
		return math.Inf(1) // also for NaN
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
			if len(t.Failed()) == 0 {
				t.Scores = t.Final(h.Score)
			}
		}
		if err != nil {
			return all, -1, err
		}
		done = until
	}
	last := make([]Tuning, len(left))
	for i, k := range left {
		last[i] = all[k]
	}
	if best = Best(last, h.Score, h.middle); best >= 0 {
		best = left[best]
	}
	return all, best, nil
}

// middle is that of the settings.
func (s Settings) middle(scores []float64) float64 {
	if s.Middle != nil {
		return s.Middle(scores)
	}
	return stat.Mean(scores, nil)
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
