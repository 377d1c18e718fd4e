package study

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// The races: what the methods had as much of as each other, or what a row is instead.
const (
	Given     = "given"   // a number of the problem
	ByQueries = "queries" // a look at a race by queries
	Tuning    = "tuning"  // the score of a setting at the end of the race by queries
	Reaching  = "reach"   // queries until a goal is reached: median, and interval for it
	BySeconds = "seconds" // a look at a race by time; depends on the machine
)

// races are in the order of the record.
var races = []string{Given, ByQueries, Tuning, Reaching, BySeconds}

// The quantities.
const (
	Merit      = "merit" // exact-penalty merit of θ̂, in units of cost
	PolicyCost = "true cost of the policy"

	// Goals of [Reaching], one per cent from an optimum; At is the goal's cost.
	MeritGoal   = "merit within 1 % of the optimum of (2.18)"
	MixtureGoal = "policy within 1 % of the optimum of (2.18)"
	PolicyGoal  = "policy within 1 % of the best policy"

	// Numbers of the problem; At is not used.
	BestBase = "best base policy"
	Mixture  = "optimum of (2.18)"
	Best     = "best policy"
)

// Record is all rows, problem by problem: means over trials with 95 % intervals.
type Record struct{ race.Record }

// Recorded returns data/comparison.csv.
func Recorded() (Record, error) {
	f, err := data.Files.Open("comparison.csv")
	if err != nil {
		return Record{}, fmt.Errorf("study: %w", err)
	}
	defer f.Close()
	r, err := race.Read(f)
	return Record{r}, err
}

// settings are those of the record: 20 trials, and 4 others for each setting.
func settings() race.Settings {
	return race.Settings{Trials: 20, TuningTrials: 4, Seed: 1, Valued: race.ValuedAll}
}

// Learners are the methods that learn costs, for this instance.
func (c Instance) Learners() []race.Entrant {
	return Learners(c.Problem, c.Basis, c.Queries[len(c.Queries)-1], c.Mixing)
}

// All returns the learners and the methods that know the costs.
func (c Instance) All() []race.Entrant { return append(c.Learners(), Informed(c.Problem, c.Basis)...) }

// Only returns the entrants of the given names, or all if there are none.
func Only(all []race.Entrant, names ...string) []race.Entrant {
	return slices.DeleteFunc(all, func(e race.Entrant) bool { return len(names) > 0 && !slices.Contains(names, e.Name) })
}

// Compute runs the races of the named methods, or of all if none is named: minutes. Ψ is
// known to all, and its computation does not count.
func (c Instance) Compute(ctx context.Context, progress func(name string, done, total int), names ...string) (race.Record, error) {
	marks, err := c.Marks(ctx)
	if err != nil {
		return nil, err
	}
	rows := c.given(marks)
	set := settings()
	set.Progress = progress
	if learners := Only(c.Learners(), names...); len(learners) > 0 {
		set.Queries = c.Queries
		all, err := race.Run(ctx, c.Problem, learners, set)
		if err != nil {
			return nil, fault.At("study", c.Name, err)
		}
		for _, o := range all {
			rows = append(rows, c.rows(ByQueries, o)...)
			rows = append(rows, c.tuning(o)...)
			rows = append(rows, c.reach(o, marks)...)
		}
	}
	set.Queries, set.Times = nil, c.Times
	all, err := race.Run(ctx, c.Problem, Only(c.All(), names...), set)
	if err != nil {
		return nil, fault.At("study", c.Name, err)
	}
	for _, o := range all {
		rows = append(rows, c.rows(BySeconds, o)...)
	}
	return rows.Round(6), nil
}

// Update computes the rows of the named methods on an instance, or of all if none is named,
// and replaces those in the record at path. Others' rows stay as they are.
func (c Instance) Update(ctx context.Context, path string, progress func(name string, done, total int), names ...string) error {
	for _, name := range names {
		if !slices.ContainsFunc(c.All(), func(e race.Entrant) bool { return e.Name == name }) {
			return fmt.Errorf("study: no method %q on %s", name, c.Name)
		}
	}
	rows, err := c.Compute(ctx, progress, names...)
	if err != nil {
		return err
	}
	return race.Update(path, func(row race.Row) bool {
		return row.Problem == c.Name && (row.Race == Given || len(names) == 0 || slices.Contains(names, row.Method))
	}, rows, c.order())
}

// order sorts rows by problem and race, and those of the instance by method.
func (c Instance) order() func(a, b race.Row) int {
	all := c.All()
	method := func(row race.Row) int {
		if row.Problem != c.Name {
			return 0
		}
		return slices.IndexFunc(all, func(e race.Entrant) bool { return e.Name == row.Method })
	}
	return func(a, b race.Row) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Names, a.Problem), slices.Index(Names, b.Problem)),
			cmp.Compare(slices.Index(races, a.Race), slices.Index(races, b.Race)),
			cmp.Compare(method(a), method(b)))
	}
}

// Missing returns the methods of the instance that have no row in the record.
func (c Instance) Missing(r Record) (names []string) {
	for _, e := range c.All() {
		if len(r.Select(race.Row{Problem: c.Name, Method: e.Name})) == 0 {
			names = append(names, e.Name)
		}
	}
	return names
}

// Reached returns how many queries a method needed to come to a goal of [Reaching] and stay
// there ([race.Runs.Reach]), or false if that is not recorded: without θ̂ there is no merit.
func (r Record) Reached(problem, method, goal string) (race.Row, bool) {
	row, err := r.One(race.Row{Problem: problem, Race: Reaching, Method: method, Quantity: goal})
	return row, err == nil
}

// Budget returns the number of queries at the end of the race by queries.
func (r Record) Budget(problem string) float64 {
	var most float64
	for _, row := range r.Select(race.Row{Problem: problem, Race: ByQueries}) {
		most = max(most, row.At)
	}
	return most
}

func (c Instance) given(m Marks) (rows race.Record) {
	like := race.Row{Problem: c.Name, Race: Given}
	for _, v := range []struct {
		what string
		cost float64
	}{{BestBase, m.BestBase}, {Mixture, m.Mixture}, {Best, m.Best}} {
		like.Quantity, like.Value, like.Lo, like.Hi = v.what, v.cost, v.cost, v.cost
		rows = append(rows, like)
	}
	return rows
}

// machine is what there is to say of one without asking the operating system.
func machine() string {
	return fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// confidence of all intervals.
const confidence = 0.95

// like is what the rows of an outcome have in common.
func (c Instance) like(kind string, o race.Outcome) race.Row {
	return race.Row{
		Problem: c.Name, Race: kind, Method: o.Name, Source: o.Source,
		Configuration: o.Chosen, Configurations: len(o.Methods), Seed: settings().Seed,
	}
}

// rows has the merit and the true cost at each look.
func (c Instance) rows(kind string, o race.Outcome) race.Record {
	like, at := c.like(kind, o), race.Queries
	if kind == BySeconds {
		like.Machine, at = machine(), race.Seconds
	}
	rows := o.Failures(like)
	if o.Err != nil {
		return rows
	}
	like.Quantity = PolicyCost
	costs := o.Runs.Band(at, race.PolicyCost, confidence).Rows(like)
	var merits race.Record
	if merit, err := race.Merit(c.Problem); err == nil && o.Runs.HasTheta() {
		like.Quantity = Merit
		merits = o.Runs.Band(at, merit, confidence).Rows(like)
	}
	for k := range costs {
		if k > 0 && costs[k].At == costs[k-1].At {
			continue // one answer for several marks
		}
		if merits != nil {
			rows = append(rows, merits[k])
		}
		rows = append(rows, costs[k])
	}
	return rows
}

// tuning has the mean score of each setting.
func (c Instance) tuning(o race.Outcome) (rows race.Record) {
	like := c.like(Tuning, o)
	like.Source, like.Seed, like.Configurations, like.Quantity = "", like.Seed+1, len(o.Tuning), PolicyCost
	if slices.ContainsFunc(o.Tuning, func(t race.Tuning) bool { return t.HasTheta() }) {
		like.Quantity = Merit
	}
	for k, t := range o.Tuning {
		like.At = float64(k)
		if t.Scores == nil {
			rows = append(rows, t.Failures(like)...)
			continue
		}
		v := stat.Mean(t.Scores, nil)
		like.Value, like.Lo, like.Hi, like.Trials = v, v, v, len(t.Scores)
		rows = append(rows, like)
	}
	return rows
}

// reach has the queries to each of the goals.
func (c Instance) reach(o race.Outcome, m Marks) (rows race.Record) {
	if o.Err != nil {
		return nil
	}
	like := c.like(Reaching, o)
	if like.Source = ""; o.Tuning == nil {
		like.Configurations = 1
	}
	add := func(goal string, score race.Curve, at float64) {
		like.Quantity, like.At = goal, at
		rows = append(rows, o.Runs.Reach(score, at, confidence).Row(like))
	}
	if merit, err := race.Merit(c.Problem); err == nil && o.Runs.HasTheta() {
		add(MeritGoal, merit, 0.01*m.Mixture)
	}
	add(MixtureGoal, race.PolicyCost, 1.01*m.Mixture)
	add(PolicyGoal, race.PolicyCost, 1.01*m.Best)
	return rows
}
