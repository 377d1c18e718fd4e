package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// Values of [race.Row.Race]: the resource that all methods receive equally or, for other rows, what the row contains.
const (
	Given     = "given"   // an exact number about the problem
	ByQueries = "queries" // the result after At queries, in a race by queries
	Tuning    = "tuning"  // the tuning for the race by queries; Values are the median scores of the first grid's settings
	Reaching  = "reach"   // the number of queries after which a goal is reached and kept to the end
	BySeconds = "seconds" // the result after At seconds, in a race by seconds; depends on the machine
)

// races are in the order of the record.
var races = []string{Given, ByQueries, Tuning, Reaching, BySeconds, Fair, FairTuning, Until}

// The quantities.
const (
	PenalisedGap = "penalised gap" // of θ̂; in units of cost or, if Race is Fair, FairTuning or Until, of the optimum
	PolicyCost   = "true cost of the policy"

	// Goals of [Reaching]: to be within one per cent of an optimum. In these rows, the field At is the greatest gap or
	// cost that meets the goal, in units of cost.
	GapGoal     = "penalised gap within 1 % of the optimum of (2.18)"
	MixtureGoal = "policy within 1 % of the optimum of (2.18)"
	PolicyGoal  = "policy within 1 % of the best policy"

	// Exact numbers about a problem, in rows of [Given].
	BestBase = "best base policy"
	Mixture  = "optimum of (2.18)"
	Best     = "best policy"
	Norm     = "‖λ*‖₂ / max |c|" // Algorithm 1 can converge to λ* only if its G is at least this number
)

// Record holds the rows of data/comparison.csv, problem by problem. They contain exact numbers; medians over runs, with
// 95 % intervals of these medians; and, in the rows about tuning, scores of settings. In the races by queries and by
// seconds, the values of the runs are stored only for the last observation. For the earlier observations, and for the
// rows of [Reaching], only the medians with their intervals were recorded.
type Record struct{ race.Record }

// Recorded returns the rows of data/comparison.csv. All calls return the same rows, which the caller must not change.
func Recorded() (Record, error) { return comparison() }

var comparison = sync.OnceValues(func() (Record, error) {
	r, err := Runs("comparison")
	return Record{r.Derive(medianOf)}, err
})

// finely reports whether a method is tuned on the fine grid, and then on a finer grid around its best setting, with
// enough runs to decide. This applies to the methods of the fair races, except in races by seconds.
func finely(kind, method string) bool {
	return kind != BySeconds && slices.Contains(FairMethods, method)
}

// settings returns the settings of the record. With 200 runs and a correction for 17 tests, the sign test has the power
// 0.9 to find a method that is better in 65 % of all runs. With 20 runs, this share must be 91 % ([race.Detectable]).
func (c Instance) settings(kind, method string) race.Settings {
	set := race.Settings{Trials: 20, TuningTrials: 10, Seed: 1, Queries: c.Queries}
	if finely(kind, method) {
		set.Trials, set.TuningTrials, set.Halving = c.Trials, 32, true
	}
	if kind == BySeconds {
		set.Queries, set.Times = nil, c.Times
	}
	return set
}

// Entrants returns the entrants of one kind of race: the methods that learn costs and, in races by seconds, also the
// methods that know the costs.
func (c Instance) Entrants(kind string) []race.Entrant {
	all := Learners(c.Problem, c.Basis, c.Queries[len(c.Queries)-1], c.Mixing)
	for k, e := range all {
		if finely(kind, e.Name) && e.Axes != nil {
			all[k] = e.OnGrid(finer[len(e.Axes)]...)
		}
	}
	if kind == BySeconds {
		all = append(all, Informed(c.Problem, c.Basis)...)
	}
	return all
}

// Only returns the entrants with the given names, or all entrants if no name is given. It can overwrite the given
// slice.
func Only(all []race.Entrant, names ...string) []race.Entrant {
	return slices.DeleteFunc(all, func(e race.Entrant) bool { return len(names) > 0 && !slices.Contains(names, e.Name) })
}

// Progress receives the name of the current work, how much of this work is done, and how much there is in total.
type Progress = func(name string, done, total int)

// outcome is the result of an entrant for a quantity: the runs of the setting that had the least median of this
// quantity in tuning.
type outcome struct {
	race.Entrant
	quantity      string
	score         race.Curve
	tuning        []race.Tuning // the tuning of each setting of the grid; nil if there was nothing to choose
	chosen, tried int           // arguments of [race.Entrant.Configuration]
	runs          *race.Runs
}

// outcome returns an outcome without runs, for the true cost of the policy or for the penalised gap.
func (c Instance) outcome(e race.Entrant, quantity string, finer bool) outcome {
	o := outcome{Entrant: e, quantity: quantity, score: race.PolicyCost, tried: len(e.Methods)}
	if quantity == PenalisedGap {
		o.score = must(race.PenalisedGap(c.Problem))
	}
	if finer && e.Axes != nil { // tuned again, around the best setting of the grid
		o.tried *= 2
	}
	return o
}

// race tunes and runs an entrant for each reported quantity: the true cost and, if the entrant has θ̂, the penalised
// gap. It returns an error if ctx ends, if tuning finds no setting with a finite score, or if all runs of the chosen
// setting fail.
func (c Instance) race(ctx context.Context, e race.Entrant, set race.Settings) (all []outcome, err error) {
	defer catch(&err)
	must(c.Problem.Optimum(ctx)) // once, before any timed run
	told := set.Progress
	set.Middle = func(x []float64) float64 { return medianOf(x).Mean }
	for _, quantity := range []string{PolicyCost, PenalisedGap} {
		o, set := c.outcome(e, quantity, set.Halving), set
		if set.Score = o.score; quantity == PolicyCost {
			set.Valued = race.ValuedAll
		}
		if told != nil {
			set.Progress = func(_ string, done, total int) { told(e.Name+", "+quantity, done, total) }
		}
		if n := len(e.Methods); n > 1 {
			tuning, best, err := race.Tune(ctx, c.Problem, e, set)
			if o.chosen = must(best, err); o.chosen >= 0 && o.tried > n {
				_, best, err := race.Tune(ctx, c.Problem, e.Finer(o.chosen), set)
				o.chosen = o.chosen*n + max(0, must(best, err)) // setting 0 of the finer grid is the best setting of the grid
			}
			if o.chosen < 0 {
				err := cmp.Or(tuning[0].Err(), errors.New("infinite scores"))
				return all, fmt.Errorf("%s: none of %d settings ran to the end with a finite score: %w", e.Name, n, err)
			}
			o.tuning = tuning
		}
		if all != nil && o.chosen == all[0].chosen {
			o.runs = all[0].runs
		} else {
			on, k, _ := e.Configuration(o.chosen, o.tried)
			o.runs = must(race.Trials(ctx, c.Problem, on.Methods[k], set))
		}
		if all = append([]outcome{o}, all...); !o.runs.HasTheta() {
			break
		}
	}
	return all, nil
}

// medianOf returns the median with its interval. Tuning also compares settings by medianOf.
func medianOf(x []float64) race.Interval { return race.Median(x, confidence) }

// Update computes a problem's rows of the given kind: [ByQueries], [BySeconds], [Fair] or [Until]. It runs the named
// methods or, if none is named, all methods of this kind. For Until, the only method is "scale-free". ByQueries
// includes [Tuning] and [Reaching], and Fair includes [FairTuning]. ByQueries and BySeconds also include [Given].
// Except for Until, each method takes minutes. In the record at path, Update replaces the old rows with the computed
// rows, and leaves the rows of other methods unchanged. It returns the methods that took part. For a problem outside
// [Names], only Fair exists and, if the problem is a family, also Until; for any other kind, Update does nothing. Races
// by queries and by seconds run one method after another, so an interruption loses the results of at most one method.
// In races by seconds, the time to compute Ψ does not count.
func Update(ctx context.Context, path, problem, kind string, progress Progress, names ...string) (raced []string, err error) {
	defer func() {
		if err != nil {
			err = fault.At("study", problem, err)
		}
	}()
	defer catch(&err)
	replace := func(rows race.Record, order func(a, b race.Row) int, old func(race.Row) bool) {
		must(0, race.Update(path, func(row race.Row) bool { return row.Problem == problem && old(row) }, rows, order))
	}
	if kind == Until {
		if !slices.Contains(untilProblems(), problem) || len(names) > 0 && !slices.Contains(names, "scale-free") {
			return nil, nil
		}
		rows := must(must(fairRaceOn(problem)).until(ctx))
		replace(rows, order(""), func(row race.Row) bool { return row.Race == Until })
		return []string{rows[0].Method}, nil
	}
	if kind == Fair {
		fair := must(fairRaceOn(problem))
		raced = slices.DeleteFunc(slices.Clone(FairMethods), func(m string) bool { return len(names) > 0 && !slices.Contains(names, m) })
		for drawing := 0; drawing < len(Drawings) && len(raced) > 0; drawing++ {
			replace(must(fair.compute(ctx, drawing, progress, raced...)), order(""), func(row race.Row) bool {
				return row.Base == Drawings[drawing] && slices.Contains(raced, row.Method)
			})
		}
		return raced, nil
	}
	if !slices.Contains(Names, problem) {
		return nil, nil
	}
	c := must(Build(problem))
	given := Record{must(c.given(ctx))}
	for _, e := range Only(c.Entrants(kind), names...) {
		set := c.settings(kind, e.Name)
		set.Progress = progress
		looks, tuning, reach := c.rows(kind, must(c.race(ctx, e, set)), given)
		if kind == BySeconds {
			tuning, reach = nil, nil
		}
		rows := slices.Concat(given.Record, looks, tuning, reach).Round(6)
		replace(rows, order(problem, c.Entrants(BySeconds)...), func(row race.Row) bool {
			return row.Base == "" && (row.Race == Given || (row.Race == BySeconds) == (kind == BySeconds) && row.Method == e.Name)
		})
		raced = append(raced, e.Name)
	}
	return raced, nil
}

// order returns a function that compares rows by problem and then by race. Rows of the given problem that are not about
// a fair race are also compared by the order of the given methods.
func order(problem string, methods ...race.Entrant) func(a, b race.Row) int {
	problems := FairProblems()
	place := func(row race.Row) []int {
		method := -1 // other rows keep their order
		if row.Problem == problem && row.Base == "" {
			method = slices.IndexFunc(methods, func(e race.Entrant) bool { return e.Name == row.Method })
		}
		return []int{slices.Index(problems, row.Problem), slices.Index(races, row.Race), method}
	}
	return func(a, b race.Row) int { return slices.Compare(place(a), place(b)) }
}

// given returns the rows of [Given]: three costs with which answers are compared, and ‖λ*‖₂ in units of max |c|,
// because Algorithm 1 divides costs by max |c|. The cost of the best policy has an error of up to 1e-9 of the range
// of costs.
func (c Instance) given(ctx context.Context) (rows race.Record, err error) {
	defer catch(&err)
	mixture := must(c.Problem.Optimum(ctx))
	best := must(mixpolicy.ModifiedPolicyIteration(ctx, c.Problem.MDP(), mixpolicy.ValuationSettings{}))
	lo, hi := c.Problem.MDP().CostRange()
	norm := floats.Norm(must(theory.Multipliers(c.Problem)), 2) / max(-lo, hi)
	for k, v := range []float64{slices.Min(c.Problem.BaseCosts()), mixture.Objective, best.Cost(), norm} {
		what := []string{BestBase, Mixture, Best, Norm}[k]
		rows = append(rows, race.Row{Problem: c.Name, Race: Given, Quantity: what, Value: v, Lo: v, Hi: v})
	}
	return rows, nil
}

// machine describes the machine without asking the operating system.
func machine() string {
	return fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// confidence is the confidence of all intervals except those of duels.
const confidence = 0.95

// like returns the fields that the rows of an outcome share.
func (c Instance) like(kind string, o outcome) race.Row {
	on, k, _ := o.Entrant.Configuration(o.chosen, o.tried)
	return race.Row{
		Problem: c.Name, Race: kind, Method: o.Name, Source: o.Source, Quantity: o.quantity, Configuration: o.chosen,
		Configurations: o.tried, Setting: on.Numbers(k), Seed: c.settings(kind, o.Name).Seed,
	}
}

// rows returns the results of all outcomes: the values of the runs at each observation; the median score of each
// setting in tuning (over fewer runs for a setting that was dropped early, NaN for a setting that failed); and the
// queries that each run needed to reach each goal.
func (c Instance) rows(kind string, outcomes []outcome, given Record) (looks, tuning, reach race.Record) {
	mixture, best := given.Mark(c.Name, Mixture), given.Mark(c.Name, Best)
	for _, o := range outcomes {
		at, like := race.Queries, c.like(kind, o)
		if kind == BySeconds {
			at, like.Machine = race.Seconds, machine()
		}
		all := o.runs.Rows(at, o.score, like) // below, an answer that serves several marks gets one row
		looks = append(looks, slices.CompactFunc(all, func(a, b race.Row) bool { return a.At == b.At })...)

		like = c.like(Tuning, o)
		like.Source, like.Seed = "", like.Seed+1
		for _, t := range o.tuning {
			v := math.NaN()
			if len(t.Scores) > 0 && !math.IsInf(medianOf(t.Scores).Mean, 0) {
				v = medianOf(t.Scores).Mean
			}
			like.Values = append(like.Values, v)
		}
		if like.Values != nil {
			tuning = append(tuning, race.Record{like}.Round(4)...)
		}

		goals, costs := []string{MixtureGoal, PolicyGoal}, []float64{1.01 * mixture, 1.01 * best}
		if o.quantity == PenalisedGap {
			goals, costs = []string{GapGoal}, []float64{0.01 * mixture}
		}
		for k, goal := range goals {
			like := c.like(Reaching, o)
			like.Source, like.Quantity, like.At, like.Values = "", goal, costs[k], o.runs.Reach(o.score, costs[k])
			reach = append(reach, like)
		}
	}
	return looks, tuning, reach
}
