package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Family is a distribution of problems: sparse random MDPs with 100 states, 4 actions, 4 next
// states a pair and costs uniform in [0, 1) ([models.Garnet]), discounted by 0.95; Dim base
// policies whose probabilities are uniform over the simplex in every state; and costs that are
// revealed with noise. A method is tuned on instances of the family and judged on others. The
// MDP of an instance is the same in all families, and the policies of a smaller Dim are the first of a
// greater one: families are not independent of each other.
type Family struct {
	Dim   int
	Noise Noise
}

// Noise is a distribution of what the oracle adds to a cost. All have mean 0.
type Noise int

const (
	Exact    Noise = iota
	Gaussian       // of standard deviation 1, the range of costs
	Heavy          // Student's t with 1.5 degrees of freedom: the variance is infinite
	Outliers       // ±1000 with probability 1/500 each, else 0
)

func (n Noise) String() string {
	return [...]string{"exact costs", "Gaussian noise", "heavy tails", "rare outliers"}[n]
}

var outliers = [500]float64{1000, -1000}

// draw is the noise itself; nil is none.
func (n Noise) draw() func(*rand.Rand) float64 {
	switch n {
	case Gaussian:
		return (*rand.Rand).NormFloat64
	case Heavy:
		return func(rng *rand.Rand) float64 { return distuv.StudentsT{Sigma: 1, Nu: 1.5, Src: rng}.Rand() }
	case Outliers:
		return func(rng *rand.Rand) float64 { return outliers[rng.IntN(len(outliers))] }
	}
	return nil
}

// Families are all that are recorded.
func Families() (all []Family) {
	for _, n := range []Noise{Exact, Gaussian, Heavy, Outliers} {
		for _, d := range []int{2, 5, 10, 20, 50} {
			all = append(all, Family{d, n})
		}
	}
	return all
}

// String is the name of the family in the record, such as "random, d = 10, heavy tails".
func (f Family) String() string { return fmt.Sprintf("random, d = %d, %v", f.Dim, f.Noise) }

// family returns the one of the given name.
func family(name string) (f Family, known bool) {
	for _, f := range Families() {
		if f.String() == name {
			return f, true
		}
	}
	return f, false
}

// Instance draws problem k. Those of tuning are others.
func (f Family) Instance(k int, tuning bool) (p *mixpolicy.Problem, err error) {
	defer catch(&err)
	seed := uint64(k)
	if tuning {
		seed = ^seed
	}
	x := must(models.Garnet{States: 100, Actions: 4, Branches: 4, Seed: seed, Criterion: mixpolicy.Discounted(0.95)}.MDP())
	rng := rand.New(rand.NewPCG(seed, 1<<32)) // below are the generators of the pairs
	base := make([]*mixpolicy.Policy, f.Dim)
	for j := range base {
		base[j] = must(mixpolicy.PolicyFunc(x, func(_ int, row []float64) {
			var total float64
			for a := range row {
				row[a] = rng.ExpFloat64()
				total += row[a]
			}
			for a := range row {
				row[a] /= total
			}
		}))
	}
	p = must(mixpolicy.NewProblem(must(mixpolicy.NewFeatures(context.Background(), x, base...)), mixpolicy.Ball(2)))
	return p.WithNoise(f.Noise.draw()), nil
}

// FamilySettings say how much work a family is.
type FamilySettings struct {
	Instances, Tuning int           // judged on, and tuned on, one run for each setting
	Runs              int           // on each instance that is judged
	Queries           int           // of a run
	Time              time.Duration // of a run, if it is not 0, in place of Queries
	Progress          func(name string, done, total int)
}

// familySettings are those of the record. Ten runs decide an instance where nine or ten go
// the same way: the p-value of eight is 0.11.
var familySettings = FamilySettings{Instances: 20, Tuning: 20, Runs: 10, Queries: 3000}

// familyMethods take part. Of the others the variance-reduced form takes 2nmd operations a step,
// and the dual ALP is the penalty method up to rounding: measures have no flow residual.
var familyMethods = []string{"Algorithm 1", "Algorithm 1, rows scaled", "penalty", "plug-in", "plug-in, median of means"}

// EvenMixture is θ = (1/d, …, 1/d), where the gradient methods start, as a method.
const EvenMixture = "even mixture"

// drawn is an instance with its penalised gap in units of its optimum.
type drawn struct {
	p   *mixpolicy.Problem
	gap race.Curve
}

func draw(ctx context.Context, count int, instance func(k int) (*mixpolicy.Problem, error)) (all []drawn) {
	for k := range count {
		p := must(instance(k))
		gap, best := must(race.PenalisedGap(p)), must(p.Optimum(ctx)).Objective
		all = append(all, drawn{p, func(l *race.Observation) float64 { return gap(l) / best }})
	}
	return all
}

// ends runs a method, which may depend on the instance, on each of some: what its runs came to.
func ends(ctx context.Context, on []drawn, workers int, method func(*mixpolicy.Problem) mixpolicy.Method,
	set func(k int) race.Settings) ([][]float64, error) {
	all := make([][]float64, len(on))
	var g errgroup.Group
	g.SetLimit(workers)
	for k, d := range on {
		g.Go(func() error {
			runs, err := race.Trials(ctx, d.p, method(d.p), set(k))
			if err == nil {
				all[k] = runs.Ends(d.gap)
			}
			return err
		})
	}
	return all, g.Wait()
}

// judge adds an instance to the duel of a family: who of two methods is better in more runs, and whether they decide.
func judge(d *race.Duel, differences []float64) {
	d.Instances++
	less, more := race.Signs(differences, rounding)
	better, won := &d.Better, &d.Won
	if more > less {
		better, won = &d.Worse, &d.Lost
	}
	if less != more {
		*better++
	}
	if race.SignTest(less, more) <= Level {
		*won++
	}
}

// Compute races on a family. Penalised gaps are in units of the instance's optimum of (2.18). The setting
// of a method is the one of least median penalised gap over the instances of tuning. Its rows are
// the median over the other instances of their medians over runs; how many instances it won against
// each other method, by the sign test over runs at 5 %; and on how many it was better in more
// runs, from which the family is judged.
func (f Family) Compute(ctx context.Context, set FamilySettings) (rows race.Record, err error) {
	defer catch(&err)
	looks := race.Settings{Queries: []int{set.Queries}, Workers: 1}
	like, workers := race.Row{Problem: f.String(), Race: ByQueries, Quantity: PenalisedGap, At: float64(set.Queries)}, runtime.GOMAXPROCS(0)
	if set.Time != 0 {
		like.Race, like.At, like.Machine, workers = BySeconds, set.Time.Seconds(), machine(), 1
		looks.Queries, looks.Times = nil, []time.Duration{set.Time}
	}
	tuning := draw(ctx, set.Tuning, func(k int) (*mixpolicy.Problem, error) { return f.Instance(k, true) })
	judged := draw(ctx, set.Instances, func(k int) (*mixpolicy.Problem, error) { return f.Instance(k, false) })
	entrant := func(p *mixpolicy.Problem, name string) race.Entrant {
		return Only(Learners(p, nil, set.Queries, 0), name)[0]
	}
	// trials runs a method on each of some instances, with seeds of its own on each.
	trials := func(on []drawn, name string, setting, count int, seed uint64) (runs [][]float64, medians []float64, err error) {
		runs, err = ends(ctx, on, workers, func(p *mixpolicy.Problem) mixpolicy.Method { return entrant(p, name).Methods[setting] },
			func(k int) race.Settings {
				set := looks
				set.Trials, set.Seed = count, seed+uint64(k)
				return set
			})
		for k := 0; k < len(runs) && err == nil; k++ {
			medians = append(medians, medianOf(race.Row{Values: runs[k]}.Observed()).Mean)
		}
		return runs, medians, err
	}
	runs := map[string][][]float64{} // of each method on each instance
	for k, name := range familyMethods {
		if set.Progress != nil {
			set.Progress(name, k, len(familyMethods))
		}
		row, least, e := like, math.Inf(1), entrant(judged[0].p, name)
		row.Method, row.Source, row.Configurations = name, e.Source, len(e.Methods)
		for m := 0; m < row.Configurations && row.Configurations > 1; m++ {
			_, medians, err := trials(tuning, name, m, 1, 0)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				continue // a setting with which a run fails is not chosen
			}
			if v := medianOf(medians).Mean; v < least {
				least, row.Configuration = v, m
			}
		}
		row.Setting = e.Numbers(row.Configuration)
		if runs[name], row.Values, err = trials(judged, name, row.Configuration, set.Runs, uint64(set.Tuning)); err != nil {
			return nil, fault.At("study", fmt.Sprintf("%v, %s", f, name), err)
		}
		rows = append(rows, row)
	}
	if like.Race == ByQueries {
		row := like
		row.Method, row.Configurations = EvenMixture, 1
		for _, d := range judged {
			row.Values = append(row.Values, d.gap(&race.Observation{Theta: slices.Repeat([]float64{1 / float64(f.Dim)}, f.Dim)}))
		}
		rows = append(rows, row)
	}
	for _, a := range familyMethods {
		for _, b := range slices.DeleteFunc(slices.Clone(familyMethods), func(b string) bool { return a == b }) {
			var d race.Duel
			for k := range judged {
				judge(&d, race.Differences(runs[a][k], runs[b][k]))
			}
			for what, count := range [2]int{d.Won, d.Better} {
				row, n := like, float64(count)
				row.Method, row.Quantity = a, []string{wonAgainst(b), betterThan(b)}[what]
				row.Value, row.Lo, row.Hi, row.Trials = n, n, n, d.Instances
				rows = append(rows, row)
			}
		}
	}
	return rows.Round(6), nil
}

// The quantities of a family about pairs of methods.
func wonAgainst(method string) string { return "instances won against " + method }
func betterThan(method string) string { return "instances better than " + method }

// rounding of a number, in units of the optimum: what exact answers differ by.
const rounding = 1e-9

// ByDim draws the penalised gaps of the methods on the families with the given noise, and that of
// the even mixture, where the gradient methods start: medians over instances.
func (r Record) ByDim(noise Noise) plotting.Figure {
	f := sized("number of base policies d", gapLabel)
	f.Title = noise.String()
	for _, m := range append(slices.Clone(familyMethods), EvenMixture) {
		var line plotting.Line
		for _, family := range Families() {
			row, err := r.One(race.Row{Problem: family.String(), Race: ByQueries, Method: m, Quantity: PenalisedGap})
			if family.Noise != noise || err != nil {
				continue
			}
			line.X, line.Y = append(line.X, float64(family.Dim)), append(line.Y, max(row.Value, floor))
			line.Lo, line.Hi = append(line.Lo, max(row.Lo, floor)), append(line.Hi, max(row.Hi, floor))
		}
		add(&f, m, line)
	}
	return f
}

// Deviation returns the greatest standard deviation of an entry of plug-in's b̂ after a number of queries
// whose noise has the given variance σ²: max over j of
//
//	√(v_j/T),    v_j = Σ_i ψʲ_i² (c_i² + σ²)/q_i − b_j² ≤ d (E_{ψʲ} c² + σ²),
//
// since q = (1/d) Σ ψʲ ≥ ψʲ/d. The bound has no number of states or actions in it: pairs that were
// never seen are what the others stand for. The terms of b̂ are those of the gradients (3.5a) of
// Algorithm 1 at λ = 0, and those of the penalty method where Ψθ ⪰ 0.
func Deviation(p *mixpolicy.Problem, variance float64, queries int) (most float64) {
	f, costs := p.Features(), p.MDP().Costs()
	q, b := f.Sampling(), p.BaseCosts()
	for j := range b {
		v := -b[j] * b[j]
		for i, psi := range f.Column(j) {
			if psi > 0 {
				v += psi * psi * (costs[i]*costs[i] + variance) / q[i]
			}
		}
		most = max(most, math.Sqrt(v/float64(queries)))
	}
	return most
}
