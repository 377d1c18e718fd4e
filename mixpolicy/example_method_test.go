package mixpolicy_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Optimistic is Algorithm 1 with optimistic steps in θ: each takes the last gradient for a guess of the next,
// and so moves along 2ĝ_t − ĝ_{t−1}. There is no ball for λ.
type Optimistic struct {
	StepSize  mixpolicy.StepSize // η; nil is InverseSqrt(1)
	CostScale float64            // divides costs; 0 is c_max
}

func (a Optimistic) Name() string { return "optimistic" }

type optimistic struct {
	*mixpolicy.Mirror
	p                         *mixpolicy.Problem
	g, last, lambda, negative []float64 // 2ĝ_t − ĝ_{t−1}, ĝ_{t−1}, λ, −Ψθ
}

func (a Optimistic) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	m, err := mixpolicy.Mirror{Eta: a.StepSize, Scale: a.CostScale}.Start(p, o)
	pairs := p.MDP().Pairs()
	return &optimistic{m, p, make([]float64, p.Dim()), make([]float64, p.Dim()), make([]float64, pairs), make([]float64, pairs)}, err
}

func (a *optimistic) Step() error {
	pair, cost, q := a.Sample() // (3.5a)
	floats.Scale((cost-a.lambda[pair])/q, a.Row)
	floats.AddScaledTo(a.g, a.Row, 1, a.Row)
	floats.Sub(a.g, a.last)
	copy(a.last, a.Row)
	eta, err := a.Mirror.Step(1, 1, a.g) // (3.25)
	a.p.GradLambda(a.negative, a.Before)
	for i, v := range a.negative {
		a.lambda[i] = max(0, a.lambda[i]+eta*v) // (3.26)
	}
	return err
}

// A method of one's own: its settings with Name and Start, and its run with Step; the [mixpolicy.Mirror] in it has the steps in θ, averages and view. Then it
// can be solved with, recorded, judged and raced as the others are.
func ExampleMethod() {
	queue := mixpolicy.Must(models.Queue{Buffer: 20}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), queue, mixpolicy.Must(models.Queue{}.Policies(queue))...))
	p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))

	m := Optimistic{StepSize: mixpolicy.InverseSqrt(64)}
	run := mixpolicy.Must(mixpolicy.Solve(context.Background(), p, m, mixpolicy.Settings{Iterations: 20_000, Seed: 1}))
	fmt.Printf("%s: %.0f %% above the optimum after %d queries\n", run.Method, 100*run.PenalisedGap/run.Optimum, run.Queries)
	// Output:
	// optimistic: 1 % above the optimum after 20000 queries
}
