package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// The races: what the methods had as much of as each other, or what a row is instead.
const (
	Given     = "given"   // a number of the problem
	ByQueries = "queries" // a look at a race by queries
	Tuning    = "tuning"  // at the end of the race by queries; its values are the median scores of the settings
	Reaching  = "reach"   // queries until a goal is reached
	BySeconds = "seconds" // a look at a race by time; depends on the machine
)

// races are in the order of the record.
var races = []string{Given, ByQueries, Tuning, Reaching, BySeconds, Fair, FairTuning}

// The quantities.
const (
	PenalisedGap = "penalised gap" // of θ̂, in units of cost
	PolicyCost   = "true cost of the policy"

	// Goals of [Reaching], one per cent from an optimum; At is the goal's cost.
	GapGoal     = "penalised gap within 1 % of the optimum of (2.18)"
	MixtureGoal = "policy within 1 % of the optimum of (2.18)"
	PolicyGoal  = "policy within 1 % of the best policy"

	// Numbers of the problem; At is not used.
	BestBase = "best base policy"
	Mixture  = "optimum of (2.18)"
	Best     = "best policy"
	Norm     = "‖λ*‖₂ / max |c|" // what G must exceed for Algorithm 1
)

// Record is all rows, problem by problem: medians over runs with 95 % intervals. The values of the runs are those at
// the last look; looks before it were recorded as medians.
type Record struct{ race.Record }

// Recorded returns data/comparison.csv.
func Recorded() (Record, error) {
	r, err := Runs("comparison")
	return Record{r.Derive(medianOf)}, err
}

// finely says whether a method is tuned on the fine grid, and then on a finer one around its best setting,
// with as many runs as decide: those of the fair races.
func finely(kind, method string) bool {
	return kind != BySeconds && slices.Contains(FairMethods, method)
}

// settings are those of the record. Of two methods the sign test of 200 runs, as one of 14 tests, finds with
// a probability of 0.9 the one that is better in 65 % of all runs; that of 20 runs must be better in 91 %
// ([race.Detectable]).
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

// Entrants are those of a kind of race: the methods that learn costs, and, by seconds, those that know them.
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

// Only returns the entrants of the given names, or all if there are none.
func Only(all []race.Entrant, names ...string) []race.Entrant {
	return slices.DeleteFunc(all, func(e race.Entrant) bool { return len(names) > 0 && !slices.Contains(names, e.Name) })
}

// Progress is told what runs, and how much of it is done.
type Progress = func(name string, done, total int)

// Compute runs the race of a kind, [ByQueries] or [BySeconds], of one of its entrants: minutes. Ψ is known to all, and
// its computation does not count.
func (c Instance) Compute(ctx context.Context, kind string, progress Progress, e race.Entrant) (rows race.Record, err error) {
	defer catch(&err)
	given, set := Record{must(c.given(ctx))}, c.settings(kind, e.Name)
	set.Progress = progress
	o := must(c.race(ctx, e, set))
	if rows = append(given.Record, c.rows(kind, o)...); kind == ByQueries {
		rows = slices.Concat(rows, c.tuning(o), c.reach(o, given))
	}
	return rows.Round(6), nil
}

// outcome is how an entrant did. For each quantity that is reported it has the runs of the
// setting with the least median of that quantity in tuning.
type outcome struct {
	race.Entrant
	finer  bool                     // a second time, around the best of the grid
	tuning map[string][]race.Tuning // of each setting of the grid; nil if there was nothing to choose
	chosen map[string]int           // as [chosen] takes them
	runs   map[string]*race.Runs
}

// scores are what is reported of a method: the true cost of its policy, and its penalised gap.
func (c Instance) scores() map[string]race.Curve {
	return map[string]race.Curve{PolicyCost: race.PolicyCost, PenalisedGap: mixpolicy.Must(race.PenalisedGap(c.Problem))}
}

// race tunes an entrant for each quantity, and runs it. Errors: that of ctx, and that of an entrant of which no setting, or
// no run of the chosen one, comes to an end.
func (c Instance) race(ctx context.Context, e race.Entrant, set race.Settings) (o outcome, err error) {
	defer catch(&err)
	must(c.Problem.Optimum(ctx)) // once, before time counts
	o = outcome{Entrant: e, tuning: map[string][]race.Tuning{}, chosen: map[string]int{}, runs: map[string]*race.Runs{}}
	o.finer = set.Halving && e.Axes != nil
	told := set.Progress
	set.Middle = func(x []float64) float64 { return medianOf(x).Mean }
	for _, quantity := range []string{PolicyCost, PenalisedGap} {
		first := o.runs[PolicyCost]
		if first != nil && !first.HasTheta() {
			break // no penalised gap
		}
		set := set
		if set.Score = c.scores()[quantity]; quantity == PolicyCost {
			set.Valued = race.ValuedAll
		}
		if told != nil {
			set.Progress = func(_ string, done, total int) { told(e.Name+", "+quantity, done, total) }
		}
		k := 0
		if n := len(e.Methods); n > 1 {
			tuning, best, err := race.Tune(ctx, c.Problem, e, set)
			if k = must(best, err); k >= 0 && o.finer {
				_, best, err := race.Tune(ctx, c.Problem, e.Finer(k), set)
				k = k*n + max(0, must(best, err)) // the first one is that of the grid
			}
			if k < 0 {
				err := cmp.Or(tuning[0].Err(), errors.New("infinite scores"))
				return o, fmt.Errorf("%s: none of %d settings ran to the end: %w", e.Name, n, err)
			}
			o.tuning[quantity] = tuning
		}
		o.chosen[quantity] = k
		if o.runs[quantity] = first; first != nil && k == o.chosen[PolicyCost] {
			continue
		}
		on, j, _ := e.Configuration(k, o.configurations())
		o.runs[quantity] = must(race.Trials(ctx, c.Problem, on.Methods[j], set))
	}
	return o, nil
}

// configurations is how many were tried.
func (o outcome) configurations() int {
	if o.finer {
		return 2 * len(o.Methods)
	}
	return len(o.Methods)
}

// medianOf is the median with its interval, by which settings are compared too.
func medianOf(x []float64) race.Interval { return race.Median(x, confidence) }

// Update computes the rows of a race of a kind, [ByQueries], [BySeconds] or [Fair], on a problem, of the named methods,
// or of all if none is named, and replaces those in the record at path. Others' rows stay as they are. Races that are
// not fair are one method after the other, so that an interruption loses one at most, and there are none on families.
// It returns who took part.
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
	if kind == Fair {
		fair := must(fairRaceOn(problem))
		raced = slices.DeleteFunc(slices.Clone(FairMethods), func(m string) bool { return len(names) > 0 && !slices.Contains(names, m) })
		for drawing := 0; drawing < len(Drawings) && len(raced) > 0; drawing++ {
			replace(must(fair.compute(ctx, drawing, progress, raced...)), byProblem, func(row race.Row) bool {
				return row.Base == Drawings[drawing] && slices.Contains(raced, row.Method)
			})
		}
		return raced, nil
	}
	if _, random := family(problem); random {
		return nil, nil
	}
	c := must(Build(problem))
	for _, e := range Only(c.Entrants(kind), names...) {
		replace(must(c.Compute(ctx, kind, progress, e)), c.order(), func(row race.Row) bool {
			return row.Base == "" && (row.Race == Given || (row.Race == BySeconds) == (kind == BySeconds) && row.Method == e.Name)
		})
		raced = append(raced, e.Name)
	}
	return raced, nil
}

// byProblem sorts rows by problem and race.
func byProblem(a, b race.Row) int {
	order := slices.Concat(Names, FamilyNames())
	return cmp.Or(
		cmp.Compare(slices.Index(order, a.Problem), slices.Index(order, b.Problem)),
		cmp.Compare(slices.Index(races, a.Race), slices.Index(races, b.Race)))
}

// order sorts rows by problem and race, and those of the instance by method.
func (c Instance) order() func(a, b race.Row) int {
	all := c.Entrants(BySeconds)
	method := func(row race.Row) int {
		if row.Problem != c.Name || row.Base != "" { // as they are, those of a fair race too
			return 0
		}
		return slices.IndexFunc(all, func(e race.Entrant) bool { return e.Name == row.Method })
	}
	return func(a, b race.Row) int { return cmp.Or(byProblem(a, b), cmp.Compare(method(a), method(b))) }
}

// given has the numbers of the problem, exactly: costs that answers are measured by, the best of all policies to 1e-9 of
// the range of costs, and ‖λ*‖₂ in units of max |c|, as Algorithm 1 scales costs.
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

// machine is what there is to say of one without asking the operating system.
func machine() string {
	return fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// confidence of all intervals.
const confidence = 0.95

// like is what the rows of an outcome about a quantity have in common.
func (c Instance) like(kind, quantity string, o outcome) race.Row {
	like := race.Row{
		Problem: c.Name, Race: kind, Method: o.Name, Source: o.Source, Quantity: quantity,
		Configurations: o.configurations(), Seed: c.settings(kind, o.Name).Seed,
	}
	if k, chosen := o.chosen[quantity]; chosen {
		on, j, _ := o.Entrant.Configuration(k, like.Configurations)
		like.Configuration, like.Setting = k, on.Numbers(j)
	}
	return like
}

// reported are the quantities of which there are runs, in the order of the rows. A method
// without θ̂ has no penalised gap.
func (o outcome) reported() (all []string) {
	for _, quantity := range []string{PenalisedGap, PolicyCost} {
		if runs := o.runs[quantity]; runs != nil && (quantity == PolicyCost || runs.HasTheta()) {
			all = append(all, quantity)
		}
	}
	return all
}

// rows has the medians of the penalised gap and of the true cost at each look.
func (c Instance) rows(kind string, o outcome) (rows race.Record) {
	at, on := race.Queries, ""
	if kind == BySeconds {
		at, on = race.Seconds, machine()
	}
	for _, quantity := range o.reported() {
		like := c.like(kind, quantity, o)
		like.Machine = on
		all := o.runs[quantity].Rows(at, c.scores()[quantity], like) // one answer for several marks is one row
		rows = append(rows, slices.CompactFunc(all, func(a, b race.Row) bool { return a.At == b.At })...)
	}
	return rows
}

// tuning has the median scores of all settings, those that lost early of fewer runs, and NaN for those that failed.
func (c Instance) tuning(o outcome) (rows race.Record) {
	for _, quantity := range o.reported() {
		like := c.like(Tuning, quantity, o)
		like.Source, like.Seed = "", like.Seed+1
		for _, t := range o.tuning[quantity] {
			v := math.NaN()
			if len(t.Scores) > 0 {
				v = medianOf(t.Scores).Mean
			}
			if like.Values = append(like.Values, v); math.IsInf(v, 0) {
				like.Values[len(like.Values)-1] = math.NaN()
			}
		}
		if like.Values != nil {
			rows = append(rows, race.Record{like}.Round(4)...)
		}
	}
	return rows
}

// reach has the queries to each of the goals.
func (c Instance) reach(o outcome, given Record) (rows race.Record) {
	mixture, best := given.Mark(c.Name, Mixture), given.Mark(c.Name, Best)
	for _, goal := range []struct {
		name, quantity string
		at             float64
	}{{GapGoal, PenalisedGap, 0.01 * mixture}, {MixtureGoal, PolicyCost, 1.01 * mixture}, {PolicyGoal, PolicyCost, 1.01 * best}} {
		if slices.Contains(o.reported(), goal.quantity) {
			like := c.like(Reaching, goal.quantity, o)
			like.Source, like.Quantity, like.At = "", goal.name, goal.at
			like.Values = o.runs[goal.quantity].Reach(c.scores()[goal.quantity], goal.at)
			rows = append(rows, like)
		}
	}
	return rows
}
