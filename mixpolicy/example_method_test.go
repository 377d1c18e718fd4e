package mixpolicy_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Optimistic is Algorithm 1 with optimistic steps in θ (Rakhlin and Sridharan 2013): each
// takes the last gradient for a guess of the next, −η(2ĝ_t − ĝ_{t−1}).
type Optimistic struct {
	Eta   mixpolicy.StepSize
	Scale float64 // of costs
}

func (a Optimistic) Name() string { return "optimistic" }

func (a Optimistic) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	r := &optimistic{Optimistic: a, p: p, o: o, phi: mixpolicy.DefaultModulus(p.Class())}
	for _, v := range []*[]float64{&r.theta, &r.y, &r.g, &r.before, &r.sum, &r.average, &r.row} {
		*v = make([]float64, p.Dim())
	}
	r.lambda, r.ascent = make([]float64, p.MDP().Pairs()), make([]float64, p.MDP().Pairs())
	floats.AddConst(1/float64(p.Dim()), r.theta)
	r.phi.Gradient(r.y, r.theta)
	return r, nil
}

// optimistic is a run.
type optimistic struct {
	Optimistic
	p   *mixpolicy.Problem
	o   *mixpolicy.Oracle
	phi bregman.Modulus

	t                   int
	theta, y, g, before []float64 // θ, ∇φ(θ), ĝ_t, ĝ_{t−1}
	lambda, ascent      []float64
	weight              float64 // Ση
	sum, average, row   []float64
}

func (a *optimistic) Step() error {
	eta := a.Eta.At(a.t)
	a.weight += eta
	floats.AddScaled(a.sum, eta, a.theta)
	a.p.GradLambda(a.ascent, a.theta)

	pair, cost := a.o.Sample() // (3.5a)
	a.p.Features().Row(a.row, pair)
	floats.ScaleTo(a.g, (cost/a.Scale-a.lambda[pair])/a.p.Features().Sampling()[pair], a.row)
	floats.AddScaled(a.y, -2*eta, a.g)
	floats.AddScaled(a.y, eta, a.before)
	copy(a.before, a.g)
	if _, err := bregman.ProjectDual(a.phi, a.y, a.row); err != nil { // (3.25b)
		return err
	}
	a.phi.ConjugateGradient(a.theta, a.y) // (3.25c)
	for i, v := range a.ascent {
		a.lambda[i] = max(0, a.lambda[i]+eta*v) // (3.26)
	}
	a.t++
	return nil
}

func (a *optimistic) View(s *mixpolicy.Snapshot) error {
	s.Iteration, s.Queries, s.Last, s.Average = a.t, a.o.Queries(), a.theta, a.theta
	if a.t > 0 {
		s.Average = floats.ScaleTo(a.average, 1/a.weight, a.sum) // (3.27)
	}
	return nil
}

// A method of one's own: its settings with Name and Start, its run with Step and View. Then it
// can be solved with, recorded, judged and raced as the others are.
func ExampleMethod() {
	queue := mixpolicy.Must(models.Queue{Buffer: 20}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), queue, mixpolicy.Must(models.Queue{}.Policies(queue))...))
	p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	_, cmax := queue.CostRange()

	m := Optimistic{Eta: mixpolicy.InverseSqrt(64), Scale: cmax}
	run := mixpolicy.Must(mixpolicy.Solve(context.Background(), p, m, mixpolicy.Settings{Iterations: 20_000, Seed: 1}))
	fmt.Printf("%s: %.0f %% above the optimum after %d queries\n", run.Method, 100*run.PenalisedGap/run.Optimum, run.Queries)
	// Output:
	// optimistic: 1 % above the optimum after 20000 queries
}
