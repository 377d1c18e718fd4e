package beam

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Walk k of a base policy is [mixpolicy.Simulate] with Seed + k. There are two at least, whose
// spread gives the errors, and no walk has more steps than mostSteps, some seconds, nor fewer than
// its streams.
const (
	mostSteps   = 100_000_000
	fewestSteps = 64
)

func (r Race) walks() int64 { return max(2, (r.Simulate+mostSteps-1)/mostSteps) }

// numberOf numbers base policy j of problem k.
func numberOf(k, j int) int              { return k<<20 | j }
func problemAndPolicy(of int) (k, j int) { return of >> 20, of & (1<<20 - 1) }

// Visits are what walks of equal length, up to one step, saw under a policy: whole numbers and
// exact sums, hence the same in any order.
type Visits struct {
	Walks, Steps int64
	State        []int64     // visits to each state
	Square       [][2]uint64 // Σ of the squares of the visits of each walk, upper and lower half
	Cost         Statistic   // mean costs of the walks
}

// add adds a walk.
func (v *Visits) add(e *mixpolicy.Empirical, actions int) {
	t := Visits{Walks: 1, Steps: int64(e.Steps), State: make([]int64, len(e.State)), Square: make([][2]uint64, len(e.State))}
	for i, n := range e.Visits {
		t.State[i/actions] += n
	}
	for s, n := range t.State {
		t.Square[s][0], t.Square[s][1] = bits.Mul64(uint64(n), uint64(n))
	}
	t.Cost.Add(e.MeanCost)
	v.merge(t)
}

// merge adds the walks of t.
func (v *Visits) merge(t Visits) {
	if v.Walks == 0 {
		v.State, v.Square = make([]int64, len(t.State)), make([][2]uint64, len(t.State))
	}
	v.Walks += t.Walks
	v.Steps += t.Steps
	v.Cost.Merge(t.Cost)
	for s := range t.State {
		var carry uint64
		v.State[s] += t.State[s]
		v.Square[s][1], carry = bits.Add64(v.Square[s][1], t.Square[s][1], 0)
		v.Square[s][0] += t.Square[s][0] + carry
	}
}

// The quantities of a simulation: the mean cost, and the part of the steps in each state, whose
// number is At.
const (
	SimulatedCost    = "simulated cost"
	SimulatedMeasure = "simulated measure of a state"
)

// rows have Student's intervals from the spread between walks; for a state that few walks came
// to they say little.
func (v *Visits) rows(like race.Row) race.Record {
	like.Race, like.Quantity, like.At = "simulation", SimulatedCost, float64(v.Steps)
	like.Settings = fmt.Sprintf("%d walks, %d steps in all", v.Walks, v.Steps)
	rows := race.Record{v.Cost.Mean().Row(like)}
	like.Quantity = SimulatedMeasure
	n, steps := float64(v.Walks), float64(v.Steps)
	wide := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1+confidence)/2) * math.Sqrt(n/(n-1)) / steps
	for s, count := range v.State {
		visits := float64(count)
		square := math.Ldexp(float64(v.Square[s][0]), 64) + float64(v.Square[s][1])
		mean, half := visits/steps, wide*math.Sqrt(max(0, square-visits*visits/n))
		like.At = float64(s)
		rows = append(rows, race.Interval{Mean: mean, Lo: max(0, mean-half), Hi: min(1, mean+half), N: int(v.Walks)}.Row(like))
	}
	return rows
}

type walk struct{ Race string }

// ProcessElement walks.
func (f *walk) ProcessElement(ctx context.Context, t Task, emit func(int, Visits)) error {
	var v Visits
	err := living(ctx, func() error {
		p, err := open(f.Race)
		if err != nil {
			return err
		}
		k, j := problemAndPolicy(t.Of)
		problem, err := p.problems[k].build()
		n := p.walks()
		for w := t.From; w < t.To && err == nil; w++ {
			steps := p.Simulate / n
			if int64(w) < p.Simulate%n {
				steps++
			}
			var e *mixpolicy.Empirical
			set := mixpolicy.SimulateSettings{Steps: int(steps), Seed: p.Seed + uint64(w)}
			e, err = mixpolicy.Simulate(ctx, problem.MDP(), problem.Features().Policy(j), set)
			if err == nil {
				v.add(e, problem.MDP().Actions())
			}
		}
		if err != nil {
			return fault.At("beam", p.problems[k].label, err)
		}
		return nil
	})
	if err == nil {
		done.add(ctx, t.To-t.From)
		emit(t.Of, v)
	}
	return err
}

func mergeVisits(a, b Visits) Visits { a.merge(b); return a }

type visitRows struct{ Race string }

// ProcessElement makes the rows of a base policy, which come after those of all cells.
func (f *visitRows) ProcessElement(of int, v Visits) (Block, error) {
	p, err := open(f.Race)
	if err != nil {
		return Block{}, err
	}
	k, j := problemAndPolicy(of)
	like := race.Row{Problem: p.problems[k].label, Method: fmt.Sprintf("base policy %d", j), Seed: p.Seed}
	return block(len(p.cells)+of, v.rows(like))
}
