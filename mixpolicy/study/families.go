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

// draw is the noise itself; nil is none.
func (n Noise) draw() func(*rand.Rand) float64 {
	switch n {
	case Gaussian:
		return (*rand.Rand).NormFloat64
	case Heavy:
		return func(rng *rand.Rand) float64 { return distuv.StudentsT{Sigma: 1, Nu: 1.5, Src: rng}.Rand() }
	case Outliers:
		return func(rng *rand.Rand) float64 {
			switch rng.IntN(500) {
			case 0:
				return 1000
			case 1:
				return -1000
			}
			return 0
		}
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

// drawn is an instance with those who race on it, and its penalised gap in units of its optimum.
type drawn struct {
	p        *mixpolicy.Problem
	entrants []race.Entrant
	gap      race.Curve
}

func (f Family) instances(n int, tuning bool, queries int) []drawn {
	all := make([]drawn, n)
	for k := range all {
		p := must(f.Instance(k, tuning))
		gap, best := must(race.PenalisedGap(p)), must(p.Optimum(context.Background())).Objective
		all[k] = drawn{p, Only(Learners(p, nil, queries, 0), familyMethods...), func(l *race.Observation) float64 { return gap(l) / best }}
	}
	return all
}

// Compute races on a family. Penalised gaps are in units of the instance's optimum of (2.18). The setting
// of a method is the one of least median penalised gap over the instances of tuning. Its rows are
// the median over the other instances of their medians over runs; how many instances it won against
// each other method, by the sign test over runs at 5 %; and on how many it was better in more
// runs, from which the family is judged.
func (f Family) Compute(ctx context.Context, set FamilySettings) (rows race.Record, err error) {
	defer catch(&err)
	r := race.Settings{Queries: []int{set.Queries}, Workers: 1}
	like, workers := race.Row{Problem: f.String(), Race: ByQueries, Quantity: PenalisedGap, At: float64(set.Queries)}, runtime.GOMAXPROCS(0)
	if set.Time != 0 {
		like.Race, like.At, like.Machine, workers = BySeconds, set.Time.Seconds(), machine(), 1
		r.Queries, r.Times = nil, []time.Duration{set.Time}
	}
	tuning, judged := f.instances(set.Tuning, true, set.Queries), f.instances(set.Instances, false, set.Queries)
	// trials runs a method on each of some instances, with seeds of its own on each.
	trials := func(on []drawn, e, m, count int, seed uint64) (runs []*race.Runs, medians []float64, err error) {
		runs, medians = make([]*race.Runs, len(on)), make([]float64, len(on))
		var g errgroup.Group
		g.SetLimit(workers)
		for k, d := range on {
			g.Go(func() (err error) {
				r := r
				r.Trials, r.Seed = count, seed+uint64(k)
				if runs[k], err = race.Trials(ctx, d.p, d.entrants[e].Methods[m], r); err == nil {
					medians[k] = medianOf(runs[k].Final(d.gap)).Mean
				}
				return err
			})
		}
		return runs, medians, g.Wait()
	}
	runs := make([][]*race.Runs, len(familyMethods)) // of each method on each instance
	for e, name := range familyMethods {
		if set.Progress != nil {
			set.Progress(name, e, len(familyMethods))
		}
		row, least := like, math.Inf(1)
		row.Method, row.Source, row.Configurations = name, judged[0].entrants[e].Source, len(judged[0].entrants[e].Methods)
		for m := 0; m < row.Configurations && row.Configurations > 1; m++ {
			_, medians, err := trials(tuning, e, m, 1, 0)
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
		row.Setting = judged[0].entrants[e].Numbers(row.Configuration)
		if runs[e], row.Values, err = trials(judged, e, row.Configuration, set.Runs, uint64(set.Tuning)); err != nil {
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
	for i, a := range familyMethods {
		for j, b := range familyMethods {
			if i == j {
				continue
			}
			won, better := 0, 0
			for k, d := range judged {
				less, more := race.Signs(race.Differences(runs[i][k].Ends(d.gap), runs[j][k].Ends(d.gap)), rounding)
				if less > more {
					better++
					if race.SignTest(less, more) <= Level {
						won++
					}
				}
			}
			for what, count := range [2]int{won, better} {
				row, n := like, float64(count)
				row.Method, row.Quantity = a, []string{wonAgainst(b), betterThan(b)}[what]
				row.Value, row.Lo, row.Hi, row.Trials = n, n, n, len(judged)
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

// Update computes the rows of the family in the races of a kind and replaces those in the record
// at path.
func (f Family) Update(ctx context.Context, path, kind string, progress func(name string, done, total int)) error {
	set := familySettings
	if kind == BySeconds {
		if f.Noise != Gaussian {
			return nil // recorded by queries only
		}
		set.Time = 10 * time.Millisecond
	}
	set.Progress = progress
	rows, err := f.Compute(ctx, set)
	if err != nil {
		return err
	}
	same := func(row race.Row) bool { return row.Problem == f.String() && row.Base == "" && row.Race == kind }
	return race.Update(path, same, rows, byProblem)
}

// ByDim draws the penalised gaps of the methods on the families with the given noise, and that of
// the even mixture, where the gradient methods start: medians over instances.
func (r Record) ByDim(noise Noise) plotting.Figure {
	f := plotting.Figure{
		Title: noise.String(), X: plotting.Axis{Label: "number of base policies d", Log: true},
		Y: plotting.Axis{Label: gapLabel, Log: true}, Width: width, Height: height,
	}
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
