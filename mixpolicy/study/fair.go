package study

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Fair is the kind of race in which we tune three parameters of every method that has parameters. For Algorithm 1,
// these are the step η₀, the scale k of costs and the recency p of the average; the θ-step is η₀/k, and the λ-step is
// η₀k. For the penalty method, they are η₀, ω and p. All these methods try three grids of 64 settings, and use equally
// many runs for tuning. The second and the third grid lie around the best setting so far, but all three grids have the
// same values of p. If the best value of a parameter other than p is at an end of its axis, the new axis is as wide as
// the old axis and extends beyond this end; otherwise, the new axis is finer. Each race is run twice, in two drawings,
// which share no seed, no random instance and no tuning. A method counts as better than another only if it is better in
// both drawings.
const Fair = "fair"

// otherLengths are the fair races on the three problems with a tenth of the queries or, on the network, ten times as
// many.
var otherLengths = []string{"queue, 10⁴ queries", "grid world, 10⁴ queries", "network, 10⁵ queries"}

// FairProblems returns the names of all fair races.
func FairProblems() []string { return slices.Concat(Names, otherLengths, FamilyNames()) }

// FairTuning is the value of [race.Row].Race in the rows about tuning in fair races. Such a row contains the finite
// scores of the settings in the first grid of a fair race; each score comes from one run.
const FairTuning = "tuning of a fair race"

// Drawings are the names of the two drawings. In the rows of [Fair] and [FairTuning], [race.Row].Base is one of these
// names.
var Drawings = []string{"first drawing", "second drawing"}

// EvenMixture names the method that always answers θ = (1/d, …, 1/d), the start of the gradient methods.
const EvenMixture = "even mixture"

// FairMethods are the methods that take part in fair races. The variance-reduced form of Algorithm 1 does not take
// part, because each of its steps takes 2nmd operations. The dual ALP does not take part either. It equals the penalty
// method up to rounding, because the base policies' measures have no flow residual.
var FairMethods = []string{
	"Algorithm 1", "Algorithm 1, rows scaled", "penalty", "scale-free", "plug-in", "plug-in, median of means", EvenMixture,
}

func fairEntrants(p *mixpolicy.Problem) []race.Entrant {
	c := must(p.CostScale(0))
	recency := race.Axis{Name: "p", Values: []float64{0, 1, 3, 9}, Fixed: true}
	return []race.Entrant{
		tuned("Algorithm 1", "", nil, algorithm1(c, math.Inf(1), false), axis("η₀", 16, 8, 4), axis("k", 4, 8, 4), recency),
		tuned("Algorithm 1, rows scaled", "", nil, algorithm1(c, math.Inf(1), true), axis("η₀", 16, 8, 4), axis("k", 4, 8, 4), recency),
		tuned("penalty", "", nil, func(at []float64) mixpolicy.Method {
			return mixpolicy.Penalty{CostScale: c, Weight: at[1], StepSize: mixpolicy.InverseSqrt(at[0]), Recency: at[2]}
		}, axis("η₀", 1, 8, 4), axis("ω", 16, 8, 4), recency),
		enter("scale-free", "", nil, priorwork.ScaleFree{}),
		enter("plug-in", "", nil, mixpolicy.PlugIn{}),
		enter("plug-in, median of means", "", nil, priorwork.MedianPlugIn{}),
		enter(EvenMixture, "", nil, mixpolicy.Penalty{StepSize: mixpolicy.Constant(1e-300)}), // stays where it starts
	}
}

// gapped is a problem with its penalised gap in units of its optimum.
type gapped struct {
	p   *mixpolicy.Problem
	gap race.Curve
}

// fairRace is a fair race on a problem or a family; fairRaceOn sets the numbers with which the record was made.
type fairRace struct {
	name     string
	tuning   int // number of runs of each of the last two settings of a grid; on a family, each run has its own instance
	judged   int // number of instances on which the tuned methods are compared; 1 if the race is on one problem
	runs     int // number of runs of each tuned method on each of these instances
	queries  int // number of queries of each run
	instance func(k int, tuning bool) (*mixpolicy.Problem, error)
}

// fairRounds is the number of grids, and familyInstances is the number of instances of a family in each drawing.
const fairRounds, familyInstances = 3, 20

func fairRaceOn(name string) (f fairRace, err error) {
	defer catch(&err)
	if random, ok := family(name); ok {
		return fairRace{name, 10, familyInstances, 4, 3000, random.Instance}, nil
	}
	problem := name
	if slices.Contains(otherLengths, name) {
		problem, _, _ = strings.Cut(name, ",")
	}
	c := must(Build(problem))
	f = fairRace{name, 10, 1, 100, c.Queries[len(c.Queries)-1], func(int, bool) (*mixpolicy.Problem, error) { return c.Problem, nil }}
	if problem != name {
		f.queries = 1_000_000_000 / f.queries // 10⁴ instead of 10⁵, or 10⁵ instead of 10⁴
	}
	return f, nil
}

// instances returns the instances with the numbers from, from+1, …, from+count−1. On errors, instances panics, for
// [catch].
func (f fairRace) instances(count, from int, tuning bool) (all []gapped) {
	for k := range count {
		p := must(f.instance(from+k, tuning))
		gap, best := must(race.PenalisedGap(p)), must(p.Optimum(context.Background())).Objective
		all = append(all, gapped{p, func(l *race.Observation) float64 { return gap(l) / best }})
	}
	return all
}

// compute runs the named methods in drawing 0 or 1. The values of a row are the penalised gaps of the runs in units of
// the optimum, instance by instance.
func (f fairRace) compute(ctx context.Context, drawing int, progress Progress, names ...string) (rows race.Record, err error) {
	defer catch(&err)
	seed := uint64(2*drawing + 100)
	tuned, judged := f.instances(min(f.tuning, f.judged), 1000*(drawing+1), true), f.instances(f.judged, 1000*(drawing+1), false)
	for e, entrant := range fairEntrants(judged[0].p) { // the entrants of other instances have another scale of costs
		if !slices.Contains(names, entrant.Name) {
			continue
		}
		like := race.Row{Problem: f.name, Base: Drawings[drawing], Race: Fair, Method: entrant.Name, Quantity: PenalisedGap,
			At: float64(f.queries), Seed: seed, Configurations: 1}
		grid, best, least, tried := entrant, []float64(nil), math.Inf(1), [][]float64(nil)
		for round := 0; round < fairRounds && entrant.Axes != nil; round++ {
			if progress != nil {
				progress(like.Base+", "+entrant.Name, round, fairRounds)
			}
			first := make([]float64, len(grid.Methods))
			k, middle := race.Halve(len(grid.Methods), f.tuning, func(setting, trial int) float64 {
				d, v := tuned[trial%len(tuned)], math.Inf(1) // +∞ for a run that fails
				if runs, err := race.Trials(ctx, d.p, fairEntrants(d.p)[e].Make(grid.Numbers(setting)), race.Settings{
					Trials: 1, First: trial, Seed: seed + 1, Queries: []int{f.queries}, Workers: 1}); err == nil {
					v = d.gap(runs.Trials[0].End())
				}
				if trial == 0 {
					first[setting] = v
				}
				return v
			})
			if err := ctx.Err(); err != nil {
				return rows, err
			}
			if round == 0 {
				row := like
				row.Race, row.Seed = FairTuning, seed+1
				row.Values = slices.DeleteFunc(first, func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) })
				rows = append(rows, row)
			}
			for k := range grid.Methods {
				tried = append(tried, grid.Numbers(k))
			}
			like.Configurations = len(tried)
			if middle < least {
				best, least = grid.Numbers(k), middle
			}
			if best != nil {
				grid = grid.Around(best)
			}
		}
		if ends := race.Ends(entrant.Axes, tried, best); len(ends) > 0 {
			like.Settings = "at an end of what was tried: " + strings.Join(ends, ", ")
		}
		like.Setting = best
		for k, d := range judged {
			runs, err := race.Trials(ctx, d.p, fairEntrants(d.p)[e].Make(best), race.Settings{
				Trials: f.runs, First: k * f.runs, Seed: seed, Queries: []int{f.queries}})
			if err != nil {
				return rows, fault.At("study", f.name+", "+entrant.Name, err)
			}
			like.Values = append(like.Values, runs.Ends(d.gap)...)
		}
		rows = append(rows, like)
	}
	return rows.Round(6), nil
}

// Until is the value of [race.Row].Race in the rows about runs of [priorwork.ScaleFree] with a Tolerance of 1 %. These
// runs should end by themselves. For each run, the rows contain the number of queries, and the penalised gap in units
// of the optimum. At is the greatest allowed number of queries.
const Until = "until"

// queriesOfRun is the Quantity of rows of [Until] that contain the number of queries of each run. For a run that did
// not end by itself, this number is mostQueries.
const queriesOfRun, mostQueries = "queries of the run", 10_000_000_000

// untilProblems returns the problems of the rows of [Until].
func untilProblems() []string { return slices.Concat(Names, FamilyNames()) }

// until makes five runs on a problem, or one on each of five instances of a family.
func (f fairRace) until(ctx context.Context) (rows race.Record, err error) {
	defer catch(&err)
	like := race.Row{Problem: f.name, Race: Until, Method: "scale-free", At: mostQueries, Seed: 1, Configurations: 1}
	rows = race.Record{like, like}
	rows[0].Quantity, rows[1].Quantity = queriesOfRun, PenalisedGap
	for k, d := range f.instances(min(5, f.judged), 0, false) {
		runs := must(race.Trials(ctx, d.p, priorwork.ScaleFree{Tolerance: 0.01}, race.Settings{
			Trials: 5 / min(5, f.judged), First: k, Seed: like.Seed, Queries: []int{mostQueries}}))
		rows[0].Values, rows[1].Values = append(rows[0].Values, runs.Ends(race.Queries)...), append(rows[1].Values, runs.Ends(d.gap)...)
	}
	return rows.Round(6), nil
}

// UntilTable returns the table of the runs in the rows of [Until]. For the runs that ended by themselves, it shows
// their number, their median number of queries, and their greatest gap.
func (r Record) UntilTable() plotting.Table {
	t := plotting.Table{Caption: "Runs of the scale-free variant with a tolerance of 1 %", Columns: plotting.Columns("problem", "runs",
		"ended by themselves", "median of their queries\t%.0f", "queries allowed\t%.0f", "their greatest gap, % of the optimum\t%.2g")}
	for _, row := range r.Select(race.Row{Race: Until, Quantity: queriesOfRun}) {
		var ended, queries []float64
		for k, gap := range final(r.Record, race.Row{Problem: row.Problem, Race: Until, Quantity: PenalisedGap}).Values {
			if q := row.Values[k]; q < row.At {
				ended, queries = append(ended, 100*gap), append(queries, q)
			}
		}
		cells := []any{row.Problem, fmt.Sprint(len(row.Values)), fmt.Sprint(len(ended)), nil, row.At, nil}
		if len(ended) > 0 {
			cells[3], cells[5] = medianOf(queries).Mean, slices.Max(ended)
		}
		t.Row(cells...)
	}
	return t
}

// FairTable returns the table of the fair races on a problem. For each method and each drawing, it shows the setting
// chosen by tuning, and the median penalised gap with this setting. For each method, it also shows the number of
// settings tried, and the median of the finite scores in the first grid of the first drawing.
func (r Record) FairTable(problem string) plotting.Table {
	c := plotting.Cells{Missing: "–"}
	const settings, untuned, tuned, again = "settings", "untuned, median of the first grid", "tuned", "tuned again"
	for _, m := range r.Methods(problem, Fair) {
		names := []string{"η₀", "k", "p"}
		if m == "penalty" {
			names[1] = "ω"
		}
		for k, base := range Drawings {
			row := final(r.Record, race.Row{Problem: problem, Base: base, Race: Fair, Method: m})
			text := named("%.3g", row.Setting, names...)
			if row.Settings != "" {
				text += " (" + row.Settings + ")"
			}
			c.Set(m, settings, fmt.Sprint(row.Configurations))
			c.Set(m, base, interval(row, 100))
			c.Set(m, []string{tuned, again}[k], text)
		}
		if grid := final(r.Record, race.Row{Problem: problem, Base: Drawings[0], Race: FairTuning, Method: m}); grid.Values != nil {
			c.Set(m, untuned, fmt.Sprintf("%.3g", 100*grid.Value))
		}
	}
	return c.Table(fmt.Sprintf("%s, fair race: median penalised gap in %% of the optimum with 95 %% intervals, in two drawings", problem),
		"method", settings, Drawings[0], Drawings[1], untuned, tuned, again)
}
