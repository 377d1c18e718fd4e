// Package study runs races of most methods of package priorwork, and of several forms of Algorithm 1, on three problems
// ([Names]). In races by queries, all methods make equally many queries; in races by seconds, all methods have the same
// time. For results by penalised gap, the methods are tuned by penalised gap; for results by true cost, by true cost.
// Some of the methods also run in fair races ([Fair]), on these problems and on families of random problems ([Family]).
// In the races by queries, the methods that also take part in fair races have 100 or 200 runs. If these methods have
// anything to tune, we tune them on fine grids of settings. The other methods have 20 runs, and at most 16 settings.
// The sign test compares runs on the same streams, with Holm's correction for the number of comparisons. The results
// are in data/comparison.csv. From this file, notebook 09 computes its recommendations, and notebook 12 its figures and
// tables. A test repeats some of the races. [FourQueues] is the experiment that the paper announces in section 7, on
// networks with up to a million states. The results of this experiment are in data/network.csv.
//
// A record of races holds the result of each run at the end of the race ([race.Row].Values). The sign tests and the
// tables of final results are computed from these results.
//
// To add a method, add a line to [Learners] or [Informed], and record its results with
//
//	go run ./mixpolicy/study/record comparison -m NAME
package study

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Instance is a problem on which methods race.
type Instance struct {
	Name    string
	Problem *mixpolicy.Problem
	Basis   *mat.Dense // Φ for the approximate LPs: functions on states, each scaled so that its greatest |entry| is 1
	Mixing  float64    // an upper bound on τ_mix(¼) of the base policies; used only under average cost
	Queries []int      // the numbers of queries after which a race by queries records results
	Times   []time.Duration
	Trials  int // number of runs of each of the FairMethods in the race by queries; every other method has 20 runs
}

// Names are the names of the three instances: the queue of section 6 (nm = 400, d = 2, average cost), a grid world (nm
// = 216, d = 4, γ = 0.95), and the four-dimensional network with six places in each queue (nm = 9604, d = 6, γ = 0.99).
var Names = []string{"queue", "grid world", "network"}

// Build makes the instance with the given name.
func Build(name string) (c Instance, err error) {
	defer catch(&err)
	build := map[string]func() Instance{"queue": queue, "grid world": gridWorld, "network": network}[name]
	if build == nil {
		return c, fmt.Errorf("study: no problem %q, want one of %q", name, Names)
	}
	c = build()
	c.Name = name
	return c, nil
}

// queue uses R = 2, as the working protocol for section 6 does, because the class with R = 2 contains the optimum for
// the paper's R = 100.
func queue() Instance {
	q := models.Queue{}
	x := must(q.MDP())
	return instance(Instance{Basis: must(q.Monomials(3)), Mixing: 3000, Queries: decades(100_000, 4), Trials: 200}, x, must(q.Policies(x)))
}

const maze = `
..~....~
.#S..##.
.#....#.
.~.#...~
...~.G..
.~...#..
.##.~...
....#...`

// For each direction, gridWorld has a base policy that takes this direction with probability 0.4 and
// each other direction with probability 0.2.
func gridWorld() Instance {
	x := must(models.GridWorld{Map: maze, Slip: 0.1, Criterion: mixpolicy.Discounted(0.95)}.MDP())
	var base []*mixpolicy.Policy
	for a := range x.Actions() {
		row := []float64{0.2, 0.2, 0.2, 0.2}
		row[a] = 0.4
		base = append(base, must(mixpolicy.StateIndependent(x, row...)))
	}
	phi := mat.NewDense(x.States(), 6, nil) // quadratic in row and column
	for s := range x.States() {
		var row, column float64
		must(fmt.Sscanf(x.StateName(s), "(%g, %g)", &row, &column))
		phi.SetRow(s, []float64{1, row, column, row * row, row * column, column * column})
	}
	return instance(Instance{Basis: phi, Queries: decades(100_000, 4), Trials: 200}, x, base)
}

// network has all six rules as base policies. Φ consists of 1, the lengths and the squares of the lengths. The cost is
// discounted, because every policy then has a cost. Under average cost, a policy that is still being learnt may have
// several recurrent classes, and then its cost depends on the start.
func network() Instance {
	w := models.Network{Buffers: [4]int{6, 6, 6, 6}, Criterion: mixpolicy.Discounted(0.99)}
	x := must(w.MDP())
	phi := mat.NewDense(x.States(), 9, nil)
	for s := range x.States() {
		row := []float64{1}
		for _, l := range must(w.Lengths(s)) {
			row = append(row, float64(l), float64(l*l))
		}
		phi.SetRow(s, row)
	}
	return instance(Instance{Basis: phi, Queries: decades(10_000, 3), Trials: 100}, x, must(w.Policies(x, models.Rules()...)))
}

// instance fills in the problem, over the ball of radius 2, and the four times, up to 20 ms. It also scales Φ.
func instance(c Instance, x *mixpolicy.MDP, base []*mixpolicy.Policy) Instance {
	c.Problem = must(mixpolicy.NewProblem(must(mixpolicy.NewFeatures(context.Background(), x, base...)), mixpolicy.Ball(2)))
	c.Times = []time.Duration{20 * time.Microsecond, 200 * time.Microsecond, 2 * time.Millisecond, 20 * time.Millisecond}
	_, d := c.Basis.Dims()
	for j := range d {
		column := mat.Col(nil, j, c.Basis)
		size := floats.Norm(column, math.Inf(1))
		for s, v := range column {
			c.Basis.Set(s, j, v/size)
		}
	}
	return c
}

// decades returns about perDecade whole numbers for each power of ten, from 1 to last.
func decades(last, perDecade int) (all []int) {
	for q := 0; q < last; all = append(all, q) {
		q = min(last, mixpolicy.LogSpaced(perDecade)(q))
	}
	return all
}
