package beam

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Walk k of a base policy is [mixpolicy.Simulate] with the seed Seed + k. There are at least two walks, and their
// spread gives the confidence intervals. A walk has at most mostSteps steps, which take about a second, and at least
// fewestSteps steps, the number of streams in mixpolicy.Simulate. With up to mostSimulated steps in all, each entry of
// [Visits.Square] fits into 64 bits.
const (
	mostSteps     = 20_000_000
	fewestSteps   = 64
	mostSimulated = 900_000_000_000
)

func (r Race) walks() int64 { return max(2, (r.Simulate+mostSteps-1)/mostSteps) }

// Visits counts how often the walks under one policy visit each state. The lengths of the walks differ by at most one
// step. The counts are whole numbers, and Cost is summed exactly, so results do not depend on the order of the walks.
type Visits struct {
	Walks, Steps int64
	State        []int64   // visits to each state
	Square       []uint64  // for each state, the sum over the walks of (visits in the walk)²
	Cost         Statistic // mean costs of the walks
}

func (v *Visits) add(e *mixpolicy.Empirical, actions int) {
	t := Visits{Walks: 1, Steps: int64(e.Steps), State: make([]int64, len(e.State)), Square: make([]uint64, len(e.State))}
	for i, n := range e.Visits {
		t.State[i/actions] += n
	}
	for s, n := range t.State {
		t.Square[s] = uint64(n * n)
	}
	t.Cost.Add(e.MeanCost)
	v.merge(t)
}

func (v *Visits) merge(t Visits) {
	if v.Walks == 0 {
		v.State, v.Square = make([]int64, len(t.State)), make([]uint64, len(t.State))
	}
	v.Walks += t.Walks
	v.Steps += t.Steps
	v.Cost.Merge(t.Cost)
	for s := range t.State {
		v.State[s] += t.State[s]
		v.Square[s] += t.Square[s]
	}
}

// The quantities of a simulation: the mean cost, and the share of the steps that the walks spend in the state whose
// index is the row's At.
const (
	SimulatedCost    = "simulated cost"
	SimulatedMeasure = "simulated measure of a state"
)

// rows returns Student's intervals from the spread between walks. For a state that few walks reach, the interval says little.
func (v *Visits) rows(like race.Row) race.Record {
	like.Race, like.Quantity, like.At = "simulation", SimulatedCost, float64(v.Steps)
	like.Settings = fmt.Sprintf("%d walks, %d steps in all", v.Walks, v.Steps)
	rows := race.Record{v.Cost.Mean().Row(like)}
	like.Quantity = SimulatedMeasure
	n, steps := float64(v.Walks), float64(v.Steps)
	wide := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1+confidence)/2) * math.Sqrt(n/(n-1)) / steps
	for s, count := range v.State {
		visits := float64(count)
		mean, half := visits/steps, wide*math.Sqrt(max(0, float64(v.Square[s])-visits*visits/n))
		like.At = float64(s)
		rows = append(rows, race.Interval{Mean: mean, Lo: max(0, mean-half), Hi: min(1, mean+half), N: int(v.Walks)}.Row(like))
	}
	return rows
}

// walked is a base policy of a problem: the subject of walks.
type walked struct {
	*plan
	problem, policy int
}

// do runs the walks from, …, to−1.
func (c walked) do(ctx context.Context, from, to int) (part Part, err error) {
	i, n := c.problems[c.problem], c.walks()
	problem, err := i.build()
	for w := from; w < to && err == nil; w++ {
		steps := c.Simulate / n
		if int64(w) < c.Simulate%n {
			steps++
		}
		var e *mixpolicy.Empirical
		set := mixpolicy.SimulateSettings{Steps: int(steps), Seed: c.Seed + uint64(w)}
		e, err = mixpolicy.Simulate(ctx, problem.MDP(), problem.Features().Policy(c.policy), set)
		if err == nil {
			part.Walks.add(e, problem.MDP().Actions())
		}
	}
	if err != nil {
		err = fault.At("beam", i.label, err)
	}
	return part, err
}

func (c walked) rows(part Part) race.Record {
	like := race.Row{Problem: c.problems[c.problem].label, Method: fmt.Sprintf("base policy %d", c.policy), Seed: c.Seed}
	return part.Walks.rows(like)
}
