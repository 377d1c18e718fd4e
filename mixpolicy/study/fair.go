package study

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

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
var FairMethods = []string{"Algorithm 1", "Algorithm 1, rows scaled", "penalty", "scale-free", "plug-in", "plug-in, median of means", EvenMixture}

func fairEntrants(p *mixpolicy.Problem) []race.Entrant {
	c := must(p.CostScale(0))
	recency := race.Axis{Name: "p", Values: []float64{0, 1, 3, 9}, Fixed: true}
	algorithm1 := func(scaled bool) func([]float64) mixpolicy.Method {
		return func(at []float64) mixpolicy.Method {
			return mixpolicy.PrimalDual{CostScale: at[1] * c, Beta: math.Inf(1), RowScaling: scaled,
				StepSize: mixpolicy.InverseSqrt(at[0]), Recency: at[2]}
		}
	}
	return []race.Entrant{
		tuned("Algorithm 1", "", nil, algorithm1(false), axis("η₀", 16, 8, 4), axis("k", 4, 8, 4), recency),
		tuned("Algorithm 1, rows scaled", "", nil, algorithm1(true), axis("η₀", 16, 8, 4), axis("k", 4, 8, 4), recency),
		tuned("penalty", "", nil, func(at []float64) mixpolicy.Method {
			return mixpolicy.Penalty{CostScale: c, Weight: at[1], StepSize: mixpolicy.InverseSqrt(at[0]), Recency: at[2]}
		}, axis("η₀", 1, 8, 4), axis("ω", 16, 8, 4), recency),
		enter("scale-free", "", nil, priorwork.ScaleFree{}),
		enter("plug-in", "", nil, mixpolicy.PlugIn{}),
		enter("plug-in, median of means", "", nil, MedianPlugIn{}),
		enter(EvenMixture, "", nil, mixpolicy.Penalty{StepSize: mixpolicy.Constant(1e-300)}), // stays where it starts
	}
}

// fairRace is one on a problem or a family. The numbers are those of the record.
type fairRace struct {
	name     string
	tuning   int // runs of the last two settings of a grid, or instances with one run each
	judged   int // instances; 1 for a problem
	runs     int // on each
	queries  int
	instance func(k int, tuning bool) (*mixpolicy.Problem, error)
}

// fairRounds is the number of grids.
const fairRounds = 3

func fairRaceOn(name string) (f fairRace, err error) {
	defer catch(&err)
	if random, ok := family(name); ok {
		return fairRace{name, 10, 20, 4, familySettings.Queries, random.Instance}, nil
	}
	c := must(Build(name))
	f = fairRace{name, 10, 1, 60, c.Queries[len(c.Queries)-1], func(int, bool) (*mixpolicy.Problem, error) { return c.Problem, nil }}
	if name == "network" {
		f.runs = 24
	}
	return f, nil
}

// compute runs a drawing, 0 or 1, of the named methods. The values of a row are the penalised gaps, in units
// of the optimum, of the runs on the first instance, then on the next.
func (f fairRace) compute(ctx context.Context, drawing int, progress Progress, names ...string) (rows race.Record, err error) {
	defer catch(&err)
	seed := uint64(2*drawing + 100)
	instances := func(count int, tuning bool) []drawn {
		return draw(ctx, count, func(k int) (*mixpolicy.Problem, error) { return f.instance(k+1000*(drawing+1), tuning) })
	}
	tuned, judged, cores := instances(min(f.tuning, f.judged), true), instances(f.judged, false), runtime.GOMAXPROCS(0)
	for e, entrant := range fairEntrants(judged[0].p) {
		if !slices.Contains(names, entrant.Name) {
			continue
		}
		like := race.Row{Problem: f.name, Base: Drawings[drawing], Race: Fair, Method: entrant.Name, Quantity: PenalisedGap,
			At: float64(f.queries), Seed: seed, Configurations: 1}
		// on returns the method of an entrant's setting for a problem, whose costs have a scale of their own.
		on := func(p *mixpolicy.Problem, at []float64) mixpolicy.Method {
			if at == nil {
				return entrant.Methods[0]
			}
			return fairEntrants(p)[e].Make(at)
		}
		best, least, tried := []float64(nil), math.Inf(1), [][]float64(nil)
		grid := entrant
		for round := 0; round < fairRounds && entrant.Axes != nil; round++ {
			if progress != nil {
				progress(like.Base+", "+entrant.Name, round, fairRounds)
			}
			first := make([]float64, len(grid.Methods))
			k, middle := race.Halve(len(grid.Methods), f.tuning, func(setting, trial int) float64 {
				d, v := tuned[trial%len(tuned)], math.Inf(1) // of a run that fails
				if runs, err := race.Trials(ctx, d.p, on(d.p, grid.Numbers(setting)), race.Settings{
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
		tunedTo := func(p *mixpolicy.Problem) mixpolicy.Method { return on(p, best) }
		values, err := ends(ctx, judged, cores, tunedTo, func(k int) race.Settings {
			return race.Settings{Trials: f.runs, First: k * f.runs, Seed: seed, Queries: []int{f.queries}, Workers: max(1, cores/f.judged)}
		})
		if err != nil {
			return rows, fault.At("study", f.name+", "+entrant.Name, err)
		}
		like.Values = slices.Concat(values...)
		rows = append(rows, like)
	}
	return rows.Round(6), nil
}

// FairDuel is a comparison of two methods in both drawings of a fair race.
type FairDuel [2]race.Duel

// Winner is the method that is better in both drawings, or "": what one drawing says and the other does not is undecided.
func (d FairDuel) Winner() string {
	if w := d[0].Winner(); w == d[1].Winner() {
		return w
	}
	return ""
}

// String shows the counts of both drawings, such as "12–48, 9–51", with a question mark if nobody wins.
func (d FairDuel) String() string {
	text := fmt.Sprintf("%d–%d, %d–%d", d[0].Better, d[0].Worse, d[1].Better, d[1].Worse)
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
					row, _ := r.One(race.Row{Problem: problem, Base: base, Race: Fair, Method: m})
					values[k] = row.Values
				}
				d := race.Compare(values[0], values[1], rounding)
				if differences := d.Differences; !slices.Contains(Names, problem) {
					d = race.Duel{}
					for part := range slices.Chunk(differences, max(1, len(differences)/familySettings.Instances)) {
						judge(&d, part)
					}
				}
				d.Problem, d.A, d.B = problem, pair[0], pair[1]
				duels = append(duels, d)
			}
		}
	}
	race.Settle(duels, Level)
	for both := range slices.Chunk(duels, 2) {
		if d := both[0]; d.Differences != nil || d.Instances > 0 { // both took part
			all = append(all, FairDuel(both))
		}
	}
	return all
}

// FairWins counts the problems on which a is better than b, b better than a, and nobody.
func (r Record) FairWins(problems []string, a, b string) (won, lost, undecided int) {
	return tally(r.FairDuels(problems, [2]string{a, b}), a, b)
}

// FairAgainst is the table of a method's duels with others in the fair races, a row a problem.
func (r Record) FairAgainst(problems []string, method string, others ...string) plotting.Table {
	var c cells
	for _, d := range r.FairDuels(problems, with(method, others...)...) {
		c.set(d[0].Problem, d[0].B, d.String())
	}
	return c.table(fmt.Sprintf("Fair races: where %s has a smaller penalised gap than each other method, and where a greater one, in each "+
		"of two drawings, counted in runs, or in the instances of a family; ?: not the same winner in both, "+
		"at %g %% with Holm's correction", method, 100*Level), "problem", others...)
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
		second, tried, untuned := "k", 0, "–"
		if m == "penalty" {
			second = "ω"
		}
		for k, base := range Drawings {
			if row, err := r.One(race.Row{Problem: problem, Base: base, Race: Fair, Method: m}); err == nil {
				gap[k], tried = interval(row, 100), row.Configurations
				setting[k] = cmp.Or(named("%.3g", row.Setting, "η₀", second, "p"), "–")
				if row.Settings != "" {
					setting[k] += " (" + row.Settings + ")"
				}
			}
		}
		if grid, err := r.One(race.Row{Problem: problem, Base: Drawings[0], Race: FairTuning, Method: m}); err == nil {
			untuned = fmt.Sprintf("%.3g", 100*grid.Value)
		}
		t.Row(m, fmt.Sprint(tried), gap[0], gap[1], untuned, setting[0], setting[1])
	}
	return t
}
