package study

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Fair is a race in which each method has all the parameters that it naturally has, three each: Algorithm 1 its step η₀,
// the scale of costs k, by which its θ-step is η₀/k and its λ-step η₀k, and the recency p of its average; the penalty
// method η₀, ω and p. Each is tuned over as many settings with as many runs: a grid of 64, and then grids of 64 around the
// best so far, which go on as widely on an axis on which that is at an end, and are finer where it is inside. It is run twice,
// in two drawings that share no seed, no instance and no tuning; who is not better in both is not better.
const Fair = "fair"

// FairTuning is the race of the rows with one score of each setting of its first grid, from one run.
const FairTuning = "tuning of a fair race"

// Drawings are the names of the two, as [race.Row].Base.
var Drawings = []string{"first drawing", "second drawing"}

// FairMethods take part.
var FairMethods = []string{"Algorithm 1", "Algorithm 1, rows scaled", "penalty", "scale-free", "plug-in"}

func fairEntrants(p *mixpolicy.Problem) []race.Entrant {
	c := must(p.CostScale(0))
	axis := func(name string, first float64) race.Axis {
		return race.Axis{Name: name, Values: race.Powers(first, 8, 4)}
	}
	recency := race.Axis{Name: "p", Values: []float64{0, 1, 3, 9}, Fixed: true}
	algorithm1 := func(scaled bool) func([]float64) mixpolicy.Method {
		return func(at []float64) mixpolicy.Method {
			return mixpolicy.PrimalDual{CostScale: at[1] * c, Beta: math.Inf(1), RowScaling: scaled,
				StepSize: mixpolicy.InverseSqrt(at[0]), Recency: at[2]}
		}
	}
	return []race.Entrant{
		tuned("Algorithm 1", "", nil, algorithm1(false), axis("η₀", 16), axis("k", 4), recency),
		tuned("Algorithm 1, rows scaled", "", nil, algorithm1(true), axis("η₀", 16), axis("k", 4), recency),
		tuned("penalty", "", nil, func(at []float64) mixpolicy.Method {
			return mixpolicy.Penalty{CostScale: c, Weight: at[1], StepSize: mixpolicy.InverseSqrt(at[0]), Recency: at[2]}
		}, axis("η₀", 1), axis("ω", 16), recency),
		enter("scale-free", "", nil, priorwork.ScaleFree{}),
		enter("plug-in", "", nil, mixpolicy.PlugIn{}),
	}
}

// FairRace is a fair race on a problem or a family. The numbers are those of the record.
type FairRace struct {
	Name     string
	Rounds   int // grids
	Tuning   int // runs of the last two settings of a grid, or instances with one run each
	Judged   int // instances; 1 for a problem
	Runs     int // on each
	Queries  int
	Instance func(k int, tuning bool) (*mixpolicy.Problem, error)
}

// FairRaces are those of the three problems and of all families.
func FairRaces() (all []FairRace, err error) {
	defer catch(&err)
	for _, name := range Names {
		c := must(Build(name))
		r := FairRace{Name: name, Rounds: 3, Tuning: 10, Judged: 1, Runs: 60, Queries: c.Queries[len(c.Queries)-1],
			Instance: func(int, bool) (*mixpolicy.Problem, error) { return c.Problem, nil }}
		if name == "network" {
			r.Runs = 24
		}
		all = append(all, r)
	}
	for _, f := range Families() {
		all = append(all, FairRace{f.String(), 3, 10, 20, 4, familySettings.Queries, f.Instance})
	}
	return all, nil
}

// Compute runs a drawing, 0 or 1, of the named methods, or of all. The values of a row are the penalised gaps, in units
// of the optimum, of Runs runs on the first instance, then on the next.
func (f FairRace) Compute(ctx context.Context, drawing int, progress Progress, names ...string) (rows race.Record, err error) {
	defer catch(&err)
	seed := func(tuning bool) uint64 { return uint64(2*drawing + 100 + map[bool]int{true: 1}[tuning]) }
	instances := func(count int, tuning bool) (problems []*mixpolicy.Problem, gaps []race.Curve) {
		for k := range count {
			p := must(f.Instance(k+1000*(drawing+1), tuning))
			gap, best := must(race.PenalisedGap(p)), must(p.Optimum(ctx)).Objective
			problems = append(problems, p)
			gaps = append(gaps, func(l *race.Observation) float64 { return gap(l) / best })
		}
		return problems, gaps
	}
	tuning := 1
	if f.Judged > 1 {
		tuning = f.Tuning
	}
	tuned, tunedGaps := instances(tuning, true)
	judged, judgedGaps := instances(f.Judged, false)
	for e, entrant := range fairEntrants(judged[0]) {
		if len(names) > 0 && !slices.Contains(names, entrant.Name) {
			continue
		}
		like := race.Row{Problem: f.Name, Base: Drawings[drawing], Race: Fair, Method: entrant.Name, Quantity: PenalisedGap,
			At: float64(f.Queries), Seed: seed(false), Configurations: 1}
		// on returns the method of an entrant's setting for a problem, whose costs have a scale of their own.
		on := func(p *mixpolicy.Problem, at []float64) mixpolicy.Method {
			if at == nil {
				return entrant.Methods[0]
			}
			return fairEntrants(p)[e].Make(at)
		}
		best, least, tried := []float64(nil), math.Inf(1), [][]float64(nil)
		grid := entrant
		for round := 0; round < f.Rounds && entrant.Axes != nil; round++ {
			if progress != nil {
				progress(Drawings[drawing]+", "+entrant.Name, round, f.Rounds)
			}
			first := make([]float64, len(grid.Methods))
			k, middle := race.Halve(len(grid.Methods), f.Tuning, func(setting, trial int) float64 {
				i := trial % len(tuned)
				runs, err := race.Trials(ctx, tuned[i], on(tuned[i], grid.Numbers(setting)), race.Settings{
					Trials: 1, First: trial, Seed: seed(true), Queries: []int{f.Queries}, Workers: 1})
				v := math.Inf(1) // of a run that fails
				if err == nil {
					v = tunedGaps[i](runs.Trials[0].End())
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
				row.Race, row.Seed = FairTuning, seed(true)
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
		like.Setting, like.Values = best, make([]float64, f.Judged*f.Runs)
		var g errgroup.Group
		g.SetLimit(runtime.GOMAXPROCS(0))
		for i, p := range judged {
			g.Go(func() error {
				runs, err := race.Trials(ctx, p, on(p, best), race.Settings{
					Trials: f.Runs, First: i * f.Runs, Seed: seed(false), Queries: []int{f.Queries}, Workers: max(1, runtime.GOMAXPROCS(0)/f.Judged)})
				if err == nil {
					copy(like.Values[i*f.Runs:], runs.Ends(judgedGaps[i]))
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return rows, fault.At("study", fmt.Sprintf("%s, %s", f.Name, entrant.Name), err)
		}
		rows = append(rows, like)
	}
	return rows.Round(6), nil
}

// Update runs both drawings, of the named methods or of all, and replaces their rows in the record at path.
func (f FairRace) Update(ctx context.Context, path string, progress Progress, names ...string) error {
	for drawing, base := range Drawings {
		rows, err := f.Compute(ctx, drawing, progress, names...)
		if err != nil {
			return err
		}
		old := func(row race.Row) bool {
			return row.Problem == f.Name && row.Base == base && (len(names) == 0 || slices.Contains(names, row.Method))
		}
		if err := race.Update(path, old, rows, byProblem); err != nil {
			return err
		}
	}
	return nil
}

// FairDuel is a comparison of two methods in both drawings of a fair race.
type FairDuel struct {
	Problem, A, B string
	Drawings      [2]race.Duel
}

// Winner is the method that is better in both drawings, or "": what one drawing says and the other does not is undecided.
func (d FairDuel) Winner() string {
	if w := d.Drawings[0].Winner(); w == d.Drawings[1].Winner() {
		return w
	}
	return ""
}

// String shows the counts of both drawings, such as "12–48, 9–51", with a question mark if nobody wins.
func (d FairDuel) String() string {
	text := fmt.Sprintf("%d–%d, %d–%d", d.Drawings[0].Better, d.Drawings[0].Worse, d.Drawings[1].Better, d.Drawings[1].Worse)
	if d.Winner() == "" {
		text += " ?"
	}
	return text
}

// FairDuels compares pairs of methods in the fair races on some problems, on the same streams: run by run on a problem, and
// on a family by the instances on which one is better in more runs. Holm's correction is for all of them, in both drawings.
func (r Record) FairDuels(problems []string, pairs ...[2]string) (all []FairDuel) {
	var duels []race.Duel
	for _, problem := range problems {
		for _, pair := range pairs {
			for _, base := range Drawings {
				var values [2][]float64
				for k, m := range pair {
					if row, err := r.One(race.Row{Problem: problem, Base: base, Race: Fair, Method: m}); err == nil {
						values[k] = row.Values
					}
				}
				d := race.Compare(values[0], values[1], rounding)
				if !slices.Contains(Names, problem) {
					d = byInstance(d.Differences)
				}
				d.Problem, d.A, d.B = problem, pair[0], pair[1]
				duels = append(duels, d)
			}
		}
	}
	race.Settle(duels, Level)
	for k := 0; k < len(duels); k += 2 {
		if d := duels[k]; d.Differences != nil || d.Instances > 0 { // both took part
			all = append(all, FairDuel{d.Problem, d.A, d.B, [2]race.Duel{d, duels[k+1]}})
		}
	}
	return all
}

// byInstance counts the instances of a family on which more differences are below 0 than above, or fewer.
func byInstance(differences []float64) (d race.Duel) {
	if d.Instances = familySettings.Instances; len(differences) == 0 {
		return race.Duel{}
	}
	for part := range slices.Chunk(differences, max(1, len(differences)/d.Instances)) {
		if less, more := race.Signs(part, rounding); less > more {
			d.Better++
		} else if more > less {
			d.Worse++
		}
	}
	return d
}

// FairWins counts the problems on which a is better than b, b better than a, and nobody.
func (r Record) FairWins(problems []string, a, b string) (won, lost, undecided int) {
	for _, d := range r.FairDuels(problems, [2]string{a, b}) {
		switch d.Winner() {
		case a:
			won++
		case b:
			lost++
		default:
			undecided++
		}
	}
	return won, lost, undecided
}

// FairAgainst is the table of a method's duels with others in the fair races, a row a problem.
func (r Record) FairAgainst(problems []string, method string, others ...string) plotting.Table {
	var pairs [][2]string
	for _, o := range others {
		pairs = append(pairs, [2]string{method, o})
	}
	var c cells
	for _, d := range r.FairDuels(problems, pairs...) {
		c.set(d.Problem, d.B, d.String())
	}
	return c.table(fmt.Sprintf("Fair races: where %s has a smaller penalised gap than each other method, and where a greater one, in each of "+
		"two drawings, counted in runs, or in the instances of a family; ?: not the same winner in both, at %g %% with Holm's correction",
		method, 100*Level), "problem", others...)
}

// FairTable is the table of the fair races on a problem: gaps in both drawings, the settings, and what a setting taken at random
// from the first grid had.
func (r Record) FairTable(problem string) plotting.Table {
	t := plotting.Table{
		Caption: fmt.Sprintf("%s, fair race: median penalised gap in %% of the optimum with 95 %% intervals, in two drawings", problem),
		Columns: columns("method", "settings", Drawings[0], Drawings[1], "untuned, median of the first grid", "tuned", "tuned again"),
	}
	for _, m := range r.Methods(problem, Fair) {
		var gap, setting [2]string
		var tried int
		untuned := "–"
		for k, base := range Drawings {
			row, err := r.One(race.Row{Problem: problem, Base: base, Race: Fair, Method: m})
			if err != nil {
				continue
			}
			gap[k], tried, setting[k] = interval(row, 100), row.Configurations, "–"
			if x := row.Setting; x != nil {
				second := "k"
				if m == "penalty" {
					second = "ω"
				}
				setting[k] = fmt.Sprintf("η₀ = %.3g, %s = %.3g, p = %g", x[0], second, x[1], x[2])
			}
			if row.Settings != "" {
				setting[k] += " (" + row.Settings + ")"
			}
			if grid, err := r.One(race.Row{Problem: problem, Base: base, Race: FairTuning, Method: m}); err == nil && k == 0 {
				untuned = fmt.Sprintf("%.3g", 100*grid.Value)
			}
		}
		t.Row(m, fmt.Sprint(tried), gap[0], gap[1], untuned, setting[0], setting[1])
	}
	return t
}
