// Package study races all methods of package priorwork, and Algorithm 1 in its forms, on
// three problems: by queries and by seconds, tuned with the same budget, with intervals.
// The results are recorded in data/comparison.csv, from which the figures and tables of the
// notebook on what to use are drawn; a test recomputes a part of them.
package study

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
)

// Course is a problem to race on.
type Course struct {
	Name    string
	Problem *mixpolicy.Problem
	Basis   *mat.Dense // Φ, functions on states for the approximate LPs, of size 1
	Mixing  float64    // of the base policies under average cost, τ_mix(¼) rounded up
	Queries []int      // checkpoints
	Times   []time.Duration
}

// Courses returns the three: the queue of section 6 (n·m = 400, d = 2, average cost), a
// grid world (216, 4, γ = 0.95), and the four-dimensional network with six places in each
// queue (9604, 6, γ = 0.99).
func Courses() ([]Course, error) {
	var all []Course
	for _, build := range []func() (Course, error){queue, gridWorld, network} {
		c, err := build()
		if err != nil {
			return nil, fmt.Errorf("study: %w", err)
		}
		all = append(all, c)
	}
	return all, nil
}

// queue has R = 2, which holds the optimum, as in the working protocol for section 6.
func queue() (Course, error) {
	q := models.Queue{}
	x, err := q.MDP()
	if err != nil {
		return Course{}, err
	}
	base, err := q.Policies(x)
	if err != nil {
		return Course{}, err
	}
	phi, err := q.Monomials(3)
	if err != nil {
		return Course{}, err
	}
	return course(Course{Name: "queue", Basis: phi, Mixing: 3000, Queries: decades(1_000_000, 8), Times: times(50 * time.Millisecond)}, x, base)
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
func gridWorld() (Course, error) {
	x, err := models.GridWorld{Map: maze, Slip: 0.1, Criterion: mixpolicy.Discounted(0.95)}.MDP()
	if err != nil {
		return Course{}, err
	}
	var base []*mixpolicy.Policy
	for a := range x.Actions() {
		row := []float64{0.2, 0.2, 0.2, 0.2}
		row[a] = 0.4
		p, err := mixpolicy.StateIndependent(x, row...)
		if err != nil {
			return Course{}, err
		}
		base = append(base, p)
	}
	phi := mat.NewDense(x.States(), 6, nil) // quadratic in row and column
	for s := range x.States() {
		var row, column float64
		if _, err := fmt.Sscanf(x.StateName(s), "(%g, %g)", &row, &column); err != nil {
			return Course{}, fmt.Errorf("state %q: %w", x.StateName(s), err)
		}
		phi.SetRow(s, []float64{1, row, column, row * row, row * column, column * column})
	}
	return course(Course{Name: "grid world", Basis: phi, Queries: decades(100_000, 8), Times: times(50 * time.Millisecond)}, x, base)
}

// network has all six rules as base policies, and lengths with their squares as Φ. Under
// average cost a policy that a method is still learning may leave several recurrent classes,
// and then it has no cost; under discounting it has one.
func network() (Course, error) {
	w := models.Network{Buffers: [4]int{6, 6, 6, 6}, Criterion: mixpolicy.Discounted(0.99)}
	x, err := w.MDP()
	if err != nil {
		return Course{}, err
	}
	base, err := w.Policies(x, models.Rules()...)
	if err != nil {
		return Course{}, err
	}
	phi := mat.NewDense(x.States(), 9, nil)
	for s := range x.States() {
		lengths, err := w.Lengths(s)
		if err != nil {
			return Course{}, err
		}
		row := []float64{1}
		for _, l := range lengths {
			row = append(row, float64(l), float64(l*l))
		}
		phi.SetRow(s, row)
	}
	return course(Course{Name: "network", Basis: phi, Queries: decades(10_000, 3), Times: times(100 * time.Millisecond)}, x, base)
}

// course fills in the problem over the ball of radius 2, and scales Φ.
func course(c Course, x *mixpolicy.MDP, base []*mixpolicy.Policy) (Course, error) {
	psi, err := mixpolicy.NewFeatures(x, base...)
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

// times returns 10 µs, 20 µs, 50 µs, 100 µs, … up to last.
func times(last time.Duration) []time.Duration {
	var all []time.Duration
	for unit := 10 * time.Microsecond; ; unit *= 10 {
		for _, f := range []time.Duration{1, 2, 5} {
			if f*unit > last {
				return all
			}
			all = append(all, f*unit)
		}
	}
}

// Learners are the contestants that learn costs, for this course.
func (c Course) Learners() []priorwork.Contestant {
	return priorwork.Learners(c.Problem, c.Basis, c.Queries[len(c.Queries)-1], c.Mixing)
}

// settings are those of the record: 20 trials, and 4 others for each configuration.
func settings() priorwork.ComparisonSettings {
	return priorwork.ComparisonSettings{Trials: 20, TuningTrials: 4, Seed: 1}
}

// ByQueries races the learners.
func (c Course) ByQueries(ctx context.Context) (*priorwork.Comparison, error) {
	return priorwork.CompareByQueries(ctx, c.Problem, c.Learners(), c.Queries, settings())
}

// ByTime races the learners and those who know the costs. Ψ is known to all and its
// computation does not count.
func (c Course) ByTime(ctx context.Context) (*priorwork.Comparison, error) {
	all := append(c.Learners(), priorwork.Knowing(c.Problem, c.Basis)...)
	return priorwork.CompareByTime(ctx, c.Problem, all, c.Times, settings())
}

// Marks are the costs that answers are measured by.
type Marks struct {
	BestBase float64 // the cheapest base policy
	Mixture  float64 // the optimum of (2.18)
	Best     float64 // of all policies, to 1e-9 of the range of costs
}

// Marks computes them exactly.
func (c Course) Marks(ctx context.Context) (Marks, error) {
	mixture, err := c.Problem.OptimumContext(ctx)
	if err != nil {
		return Marks{}, fmt.Errorf("study: %s: %w", c.Name, err)
	}
	best, err := mixpolicy.ModifiedPolicyIteration(ctx, c.Problem.MDP(), mixpolicy.ValuationSettings{})
	if err != nil {
		return Marks{}, fmt.Errorf("study: %s: %w", c.Name, err)
	}
	m := Marks{BestBase: math.Inf(1), Mixture: mixture.Objective, Best: best.Cost()}
	for _, b := range c.Problem.BaseCosts() {
		m.BestBase = min(m.BestBase, b)
	}
	return m, nil
}
