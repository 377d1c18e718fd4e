// Package study races all methods of package priorwork, and Algorithm 1 in its forms, on
// three problems, and some of them on families of random ones ([Family]): by queries and by
// seconds, tuned for what is reported. Those of the families are finely tuned on the three problems,
// by queries, and have the runs to decide who is better; the others have 20, of 16 settings. Runs are compared on
// the same streams by the sign test, with Holm's correction for the number of comparisons. The results are recorded
// in data/comparison.csv, from which the figures and tables of the notebook on what to use, and
// what it recommends, are computed; a test computes a part of them anew.
//
// A new method takes part when it has a line in [Learners] or [Informed], and its results are
// recorded by
//
//	go run ./mixpolicy/study/record comparison -m NAME
package study

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Instance is a problem to race on.
type Instance struct {
	Name    string
	Problem *mixpolicy.Problem
	Basis   *mat.Dense // Φ, functions on states for the approximate LPs, of size 1
	Mixing  float64    // of the base policies under average cost, τ_mix(¼) rounded up
	Queries []int      // at which the race looks
	Times   []time.Duration
	Trials  int // of the methods that are finely tuned, by queries
}

// Names are those of the three instances: the queue of section 6 (n·m = 400, d = 2, average
// cost), a grid world (216, 4, γ = 0.95), and the four-dimensional network with six places in
// each queue (9604, 6, γ = 0.99).
var Names = []string{"queue", "grid world", "network"}

// Build makes the instance of the given name.
func Build(name string) (c Instance, err error) {
	switch name {
	case "queue":
		c, err = queue()
	case "grid world":
		c, err = gridWorld()
	case "network":
		c, err = network()
	default:
		err = fmt.Errorf("no problem %q, want one of %q", name, Names)
	}
	if err != nil {
		return c, fmt.Errorf("study: %w", err)
	}
	c.Name = name
	return c, nil
}

// queue has R = 2, which holds the optimum, as in the working protocol for section 6.
func queue() (Instance, error) {
	q := models.Queue{}
	x, err := q.MDP()
	if err != nil {
		return Instance{}, err
	}
	base, err := q.Policies(x)
	if err != nil {
		return Instance{}, err
	}
	phi, err := q.Monomials(3)
	if err != nil {
		return Instance{}, err
	}
	return instance(Instance{Basis: phi, Mixing: 3000, Queries: decades(100_000, 4), Times: times(20 * time.Millisecond), Trials: 200}, x, base)
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

// gridWorld has a base policy for each direction, which it takes in two of five steps.
func gridWorld() (Instance, error) {
	x, err := models.GridWorld{Map: maze, Slip: 0.1, Criterion: mixpolicy.Discounted(0.95)}.MDP()
	if err != nil {
		return Instance{}, err
	}
	var base []*mixpolicy.Policy
	for a := range x.Actions() {
		row := []float64{0.2, 0.2, 0.2, 0.2}
		row[a] = 0.4
		p, err := mixpolicy.StateIndependent(x, row...)
		if err != nil {
			return Instance{}, err
		}
		base = append(base, p)
	}
	phi := mat.NewDense(x.States(), 6, nil) // quadratic in row and column
	for s := range x.States() {
		var row, column float64
		if _, err := fmt.Sscanf(x.StateName(s), "(%g, %g)", &row, &column); err != nil {
			return Instance{}, fmt.Errorf("state %q: %w", x.StateName(s), err)
		}
		phi.SetRow(s, []float64{1, row, column, row * row, row * column, column * column})
	}
	return instance(Instance{Basis: phi, Queries: decades(100_000, 4), Times: times(20 * time.Millisecond), Trials: 200}, x, base)
}

// network has all six rules as base policies, and lengths with their squares as Φ. Under
// average cost a policy that a method is still learning may leave several recurrent classes,
// and then it has no cost; under discounting it has one.
func network() (Instance, error) {
	w := models.Network{Buffers: [4]int{6, 6, 6, 6}, Criterion: mixpolicy.Discounted(0.99)}
	x, err := w.MDP()
	if err != nil {
		return Instance{}, err
	}
	base, err := w.Policies(x, models.Rules()...)
	if err != nil {
		return Instance{}, err
	}
	phi := mat.NewDense(x.States(), 9, nil)
	for s := range x.States() {
		lengths, err := w.Lengths(s)
		if err != nil {
			return Instance{}, err
		}
		row := []float64{1}
		for _, l := range lengths {
			row = append(row, float64(l), float64(l*l))
		}
		phi.SetRow(s, row)
	}
	return instance(Instance{Basis: phi, Queries: decades(10_000, 3), Times: times(20 * time.Millisecond), Trials: 100}, x, base)
}

// instance fills in the problem over the ball of radius 2, and scales Φ.
func instance(c Instance, x *mixpolicy.MDP, base []*mixpolicy.Policy) (Instance, error) {
	psi, err := mixpolicy.NewFeatures(context.Background(), x, base...)
	if err != nil {
		return c, err
	}
	if c.Problem, err = mixpolicy.NewProblem(psi, mixpolicy.Ball(2)); err != nil {
		return c, err
	}
	n, d := c.Basis.Dims()
	for j := range d {
		column := mat.Col(nil, j, c.Basis)
		size := mat.Norm(mat.NewVecDense(n, column), math.Inf(1))
		for s, v := range column {
			c.Basis.Set(s, j, v/size)
		}
	}
	return c, nil
}

// decades returns about perDecade whole numbers for each power of ten, from 1 to last.
func decades(last, perDecade int) []int {
	var all []int
	for k := 0; ; k++ {
		q := min(last, int(math.Round(math.Pow(10, float64(k)/float64(perDecade)))))
		if len(all) == 0 || q > all[len(all)-1] {
			all = append(all, q)
		}
		if q == last {
			return all
		}
	}
}

// times returns last and three times before it, a tenth of each other.
func times(last time.Duration) []time.Duration {
	return []time.Duration{last / 1000, last / 100, last / 10, last}
}

// Marks are the costs that answers are measured by.
type Marks struct {
	BestBase float64 // the cheapest base policy
	Mixture  float64 // the optimum of (2.18)
	Best     float64 // of all policies, to 1e-9 of the range of costs
	Norm     float64 // ‖λ*‖₂ in units of max |c|, as Algorithm 1 scales costs
}

// Marks computes them exactly.
func (c Instance) Marks(ctx context.Context) (Marks, error) {
	mixture, err := c.Problem.Optimum(ctx)
	if err != nil {
		return Marks{}, fault.At("study", c.Name, err)
	}
	best, err := mixpolicy.ModifiedPolicyIteration(ctx, c.Problem.MDP(), mixpolicy.ValuationSettings{})
	if err != nil {
		return Marks{}, fault.At("study", c.Name, err)
	}
	m := Marks{BestBase: math.Inf(1), Mixture: mixture.Objective, Best: best.Cost()}
	lo, hi := c.Problem.MDP().CostRange()
	for _, row := range mixture.Rows {
		m.Norm = math.Hypot(m.Norm, row.Lambda()/max(-lo, hi))
	}
	for _, b := range c.Problem.BaseCosts() {
		m.BestBase = min(m.BestBase, b)
	}
	return m, nil
}
