package study

import (
	"context"
	"time"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// StepTimes are the times, for a problem of so many pairs, of a step of Algorithm 1 that doesn't look at
// all of them, of plug-in with its linear program, and of computing Ψ, which both need.
type StepTimes struct {
	Pairs                  int
	Step, PlugIn, Features time.Duration
}

// MeasureSteps takes the times on the queue of section 6 with so many places, where π¹ and a policy that
// is a little faster are mixed. Jobs come a little more rarely than there, so that π¹ keeps the queue short.
func MeasureSteps(ctx context.Context, places int) (t StepTimes, err error) {
	defer catch(&err)
	x := must(models.Queue{Buffer: places, Arrival: 0.49}.MDP())
	one, two := must(mixpolicy.StateIndependent(x, .25, .25, .25, .25)), must(mixpolicy.StateIndependent(x, .2, .2, .3, .3))
	begin := time.Now()
	psi := must(mixpolicy.NewFeatures(ctx, x, one, two))
	t.Pairs, t.Features = x.Pairs(), time.Since(begin)
	p := must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	run := func(m mixpolicy.Method, steps int) time.Duration {
		begin := time.Now()
		must(mixpolicy.Solve(ctx, p, m, mixpolicy.Settings{Iterations: steps, Seed: 1, Uncertified: true}))
		return time.Since(begin)
	}
	_, cmax := x.CostRange()
	lazy := mixpolicy.PrimalDual{CostScale: cmax, RowScaling: true, Multipliers: mixpolicy.LazyMultipliers}
	const few, many = 10_000, 110_000 // their difference is without Start
	start := run(lazy, few)
	t.Step, t.PlugIn = (run(lazy, many)-start)/(many-few), run(mixpolicy.PlugIn{}, 100)
	return t, nil
}
