// Package paper reproduces the paper: the data behind its figures, its claims with
// the experiments that decide them, its errata, and the index of its equations.
package paper

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Protocol is a way to run the comparison of section 6. The paper states R = 100,
// η = 1/T = 0.001, T = 1000 and 20 trials; θ₀, β, the penalty weight and any scaling
// of the costs are left open.
type Protocol struct {
	Name       string
	Radius     float64 // R of the Euclidean ball
	Iterations int     // T
	Trials     int
	StepSize   mixpolicy.StepSize
	CostScale  float64 // divides the costs
	Weight     float64 // ω of the penalty method
	Form       mixpolicy.Form
	Seed       uint64
}

// AsPrinted is the protocol of section 6 word for word, with what it leaves open
// filled in as plainly as possible: θ₀ = (½, ½), costs as they are, ω = 1, no ball for
// λ (at γ = 1 its radius 1/(1−γ) is infinite).
func AsPrinted(form mixpolicy.Form) Protocol {
	name := "as printed"
	if form == mixpolicy.Corrected {
		name = "as printed, with the corrected algorithm"
	}
	return Protocol{
		Name: name, Radius: 100, Iterations: 1000, Trials: 20,
		StepSize: mixpolicy.Constant(0.001), Weight: 1, Form: form, Seed: 1,
	}
}

// Working is a protocol under which both methods do what they are meant to: costs
// divided by c_max, the step size 1/√(t+1) of Proposition 3.1, a radius that holds
// the optimum but not much more, the corrected algorithm, and enough iterations to
// see convergence.
func Working() Protocol {
	return Protocol{
		Name: "working", Radius: 2, Iterations: 100_000, Trials: 20,
		StepSize: mixpolicy.InverseSqrt(1), CostScale: cMax, Weight: 1, Seed: 1,
	}
}

// cMax is the greatest cost (6.2) of the queue, 100² + 60·0.8³.
const cMax = 100*100 + 60*0.8*0.8*0.8

// Queue returns the queue of section 6, the default reading of its law, and the two
// base policies (6.3).
func Queue() (*mixpolicy.MDP, []*mixpolicy.Policy, error) {
	x, err := models.Queue{}.MDP()
	if err != nil {
		return nil, nil, err
	}
	base, err := models.Queue{}.Policies(x)
	return x, base, err
}

// QueueProblem returns (2.18) for that queue with the features of its base policies.
func QueueProblem(class mixpolicy.Class) (*mixpolicy.Problem, error) {
	x, base, err := Queue()
	if err != nil {
		return nil, err
	}
	return mixtureProblem(x, class, base...)
}

// PrimalDual returns Algorithm 1 under the protocol.
func (c Protocol) PrimalDual() mixpolicy.Method {
	return mixpolicy.PrimalDual{StepSize: c.StepSize, CostScale: c.CostScale, Form: c.Form}
}

// Penalty returns the penalty method under the protocol.
func (c Protocol) Penalty() mixpolicy.Method {
	return mixpolicy.Penalty{StepSize: c.StepSize, CostScale: c.CostScale, Weight: c.Weight}
}

// Run makes the trials of a method on the queue.
func (c Protocol) Run(ctx context.Context, m mixpolicy.Method) (*race.Runs, error) {
	p, err := QueueProblem(mixpolicy.Ball(c.Radius))
	if err != nil {
		return nil, err
	}
	t, err := race.Trials(ctx, p, m, race.Settings{
		Trials: c.Trials, Iterations: c.Iterations, Seed: c.Seed, Valued: race.ValuedEnd,
	})
	if err != nil {
		return t, fmt.Errorf("paper: protocol %q: %w", c.Name, err)
	}
	return t, nil
}
