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

// Entrant is a method with all the settings from which tuning may choose; each element of Methods is the method in one
// setting. The first of Methods should be the published or default setting, which [Run] takes without tuning.
type Entrant struct {
	Name    string
	Source  string   // the paper that describes the method
	Told    []string // the kinds of information that the method receives
	Methods []mixpolicy.Method
	// If the methods form a grid, Axes are the axes of this grid, and Make returns the method that has the value at[i]
	// on each axis i. In Methods, the value on the last axis varies fastest. Without a grid, Axes is nil.
	Axes []Axis
	Make func(at []float64) mixpolicy.Method
}

// OnGrid returns a copy of the entrant with the given axes. In the copy, Methods has one method for each point of the
// grid.
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

// Finer returns a copy of the entrant on a finer grid around method k, with as many methods as the old grid. Let an
// axis have n values, let neighbouring values differ by the factor f, and let v be the value of method k on this axis.
// Then the new values are v times n consecutive powers of f^(2/n) between f⁻¹ and f. So the finer grid does not extend
// beyond the neighbours of method k. But if method k is at an edge of the old grid, the finer grid extends beyond this
// edge. Every axis needs at least three values.
func (e Entrant) Finer(k int) Entrant {
	axes := slices.Clone(e.Axes)
	for i, v := range e.Numbers(k) {
		x := slices.Sorted(slices.Values(axes[i].Values))
		axes[i].Values = Powers(v, math.Pow(x[1]/x[0], 2/float64(len(x))), len(x))
	}
	return e.OnGrid(axes...)
}

// Around returns a copy of the entrant on a new grid around the best setting so far. The value of this setting on axis
// i is at[i]. If at[i] is an end of the old axis, the new axis is as wide as the old axis and extends beyond this end.
// Otherwise, the new axis is finer than the old axis, and lies between the neighbours of at[i]. Axes with Fixed set do
// not change; every other axis needs at least three values.
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

// Ends returns the names of the axes i on which at[i] is the least or the greatest of all tried values, so a better
// value may lie beyond at[i]. Ends omits axes with Fixed set.
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

// Halve looks for the setting with the least median score among n settings, by sequential halving. After every round
// but the last, Halve drops half of the remaining settings (rounded down): those with the greatest median scores. At
// the end of a round that r more rounds follow, each setting of this round has max{1, ⌊trials/2ʳ⌋} trials, counting the
// trials of earlier rounds. Halve calls the function score in parallel, and a score of NaN counts as +Inf. Halve
// returns the best setting and this setting's median score; for an even number of scores, the median is the lower of
// the two middle scores.
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
		g.Wait() // no function returns an error
		done = until
	}
	best = slices.MinFunc(left, func(a, b int) int { return cmp.Compare(middle(a), middle(b)) })
	return best, middle(best)
}

// Configuration decodes k, the recorded index of a setting. Let n be the size of the entrant's first grid. If n
// settings were tried, k is the index of a setting on the first grid. If 2n settings were tried, k stands for setting
// k mod n of the finer grid around setting ⌊k/n⌋ of the first grid. Configuration returns the entrant on the setting's
// grid, and the setting's index on this grid. It also returns the names of the axes on which setting k of the first
// grid (or, if 2n settings were tried, setting ⌊k/n⌋) is at an edge.
func (e Entrant) Configuration(k, tried int) (on Entrant, setting int, edges []string) {
	n := len(e.Methods)
	if tried == n {
		return e, k, e.Edges(k)
	}
	return e.Finer(k / n), k % n, e.Edges(k / n)
}

// Axis is a parameter with the values to try.
type Axis struct {
	Name   string
	Values []float64
	Fixed  bool // true if no other values make sense; [Entrant.Around] then keeps Values
}

// Setting returns a text with the parameter values of method k, such as "η₀ = 64, ω = 8", or "" if the entrant has no
// grid.
func (e Entrant) Setting(k int) string {
	var names []string
	for i, v := range e.Numbers(k) {
		names = append(names, fmt.Sprintf("%s = %.3g", e.Axes[i].Name, v))
	}
	return strings.Join(names, ", ")
}

// Edges returns the names of the axes on which the value of method k is the least or the greatest value, so a better
// value may lie beyond the grid.
func (e Entrant) Edges(k int) (names []string) {
	for i, v := range e.Numbers(k) {
		if a := e.Axes[i]; v == slices.Min(a.Values) || v == slices.Max(a.Values) {
			names = append(names, a.Name)
		}
	}
	return names
}

// Numbers returns the value of method k on each axis, or nil if the entrant has no grid.
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

// maxMethods is the greatest number of methods (settings) that an entrant may have in [Run].
const maxMethods = 64

// Outcome is the result of an entrant in a race.
type Outcome struct {
	Entrant
	// Tuning holds the tuning trials of the entrant, with one entry for each of its Methods. With [Settings].Halving, a method that
	// is dropped early can have fewer than TuningTrials trials. Tuning is nil if the entrant has only one method, or if
	// TuningTrials is 0.
	Tuning []Tuning
	// Chosen is the index of the chosen method, or −1 if no method can be chosen. The candidates are the methods that
	// are left in the last round of tuning and whose tuning trials all finished. Of the candidates, the method with the
	// least mean score is chosen or, if [Settings].Middle is set, the method with the least Middle of the scores; this
	// least value must be below +∞. Without tuning, Chosen is 0.
	Chosen int
	// Runs are the trials of the chosen method, or nil if no method was chosen.
	Runs *Runs
	// Err is nil if at least one trial of the chosen method finished. Otherwise, unless the context ended, Err says
	// why: no method could be chosen, or all trials of the chosen method failed.
	Err error
}

// end returns the last mark, if there is one. Tuning observes runs only at this mark.
func end[number any](marks []number) []number { return marks[max(0, len(marks)-1):] }

// Tuning holds the tuning trials of a method. A tuning run is not observed between its start and its end.
type Tuning struct {
	*Runs
	Scores []float64 // one per trial; nil if a trial failed
}

// Run chooses one method of each entrant by tuning, and runs the chosen methods, all of them on the same streams.
// Failed runs are part of the outcomes. Run returns an error if the settings or the entrants are invalid, if the
// default score cannot be computed, or if ctx ends. When ctx ends, Run also returns the results so far.
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
			return nil, fmt.Errorf("race: entrant %q has %d methods, want 1 to %d", e.Name, n, maxMethods)
		}
		for _, m := range e.Methods {
			if err := mixpolicy.CheckMethod(m); err != nil {
				return nil, fault.At("race", fmt.Sprintf("entrant %q", e.Name), err)
			}
		}
		h.total += set.runs(len(e.Methods))
	}
	if h.Score == nil {
		// Compute the optimum once, before any timed run.
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

// enter runs one entrant. The only error is the error of ctx.
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
			place := fmt.Sprintf("%s: none of %d settings can be chosen", e.Name, len(e.Methods))
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

// Tune tunes an entrant as [Run] does, with Seed+1. It returns the tuning trials of each method, and the index of the
// chosen method, or −1 if no method can be chosen. Score and TuningTrials are required. Tune returns an error if the
// settings are invalid, or if ctx ends. When ctx ends, Tune also returns the trials so far.
func Tune(ctx context.Context, p *mixpolicy.Problem, e Entrant, set Settings) (all []Tuning, best int, err error) {
	h, err := begin(ctx, p, set)
	if err == nil && (set.Score == nil || set.TuningTrials == 0) {
		err = errors.New("race: tuning without a score or without trials, want a Score and TuningTrials > 0")
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
	var left []int // the methods still in the tuning
	for k, m := range e.Methods {
		all, left = append(all, Tuning{Runs: &Runs{Method: m}}), append(left, k)
	}
	worth := func(k int) float64 {
		if s := all[k].Scores; len(s) > 0 {
			if v := h.middle(s); v < math.Inf(1) {
				return v
			}
		}
		return math.Inf(1) // a failed trial, or a middle of NaN
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

// middle returns Middle of the scores, or their mean if Middle is nil.
func (s Settings) middle(scores []float64) float64 {
	if s.Middle != nil {
		return s.Middle(scores)
	}
	return stat.Mean(scores, nil)
}

// rounds returns, for each round of tuning n methods, how many trials each remaining method has after the round.
func (s Settings) rounds(n int) []int {
	rounds := []int{s.TuningTrials}
	for k := 2; s.Halving && s.TuningTrials > 0 && k < n; k *= 2 {
		rounds = slices.Insert(rounds, 0, max(1, rounds[0]/2))
	}
	return rounds
}

// runs returns the number of runs of an entrant with n methods, tuning runs included.
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

// Best returns the index of the method with the least middle(scores). A method's scores are the values of the curve
// score at the ends of its tuning trials; middle is a function such as the mean or the median. Best considers only
// methods whose tuning trials all finished and for which middle(scores) < +∞. If there is no such method, Best returns
// −1.
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

// Powers returns the numbers first·factorᵏ, as values for an [Axis], where k takes the first `count` values of the
// sequence 0, −1, 1, −2, 2, ….
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

// Grid returns method(v) for each of the given numbers v.
func Grid(numbers []float64, method func(v float64) mixpolicy.Method) []mixpolicy.Method {
	return Grid2(numbers, []float64{1}, func(v, _ float64) mixpolicy.Method { return method(v) })
}

// Grid2 returns method(v, w) for each number v in the list a and each number w in the list b; w varies faster than v.
func Grid2(a, b []float64, method func(v, w float64) mixpolicy.Method) []mixpolicy.Method {
	var all []mixpolicy.Method
	for _, v := range a {
		for _, w := range b {
			all = append(all, method(v, w))
		}
	}
	return all
}
