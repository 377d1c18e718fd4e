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
	x, err := models.Queue{Buffer: places, Arrival: 0.49}.MDP()
	if err != nil {
		return t, err
	}
	var base [2]*mixpolicy.Policy
	for i, p := range [][]float64{{.25, .25, .25, .25}, {.2, .2, .3, .3}} {
		if base[i], err = mixpolicy.StateIndependent(x, p...); err != nil {
			return t, err
		}
	}
	t.Pairs = x.Pairs()
	begin := time.Now()
	psi, err := mixpolicy.NewFeatures(ctx, x, base[:]...)
	t.Features = time.Since(begin)
	if err != nil {
		return t, err
	}
	p, err := mixpolicy.NewProblem(psi, mixpolicy.Ball(2))
	if err != nil {
		return t, err
	}
	_, cmax := x.CostRange()
	lazy := mixpolicy.PrimalDual{CostScale: cmax, RowScaling: true, Multipliers: mixpolicy.LazyMultipliers}
	const few, many = 10_000, 110_000 // their difference is without Start
	var times [3]time.Duration
	for i, run := range []struct {
		m     mixpolicy.Method
		steps int
	}{{lazy, few}, {lazy, many}, {mixpolicy.PlugIn{}, 100}} {
		begin := time.Now()
		if _, err = mixpolicy.Solve(ctx, p, run.m, mixpolicy.Settings{Iterations: run.steps, Seed: 1, Uncertified: true}); err != nil {
			return t, err
		}
		times[i] = time.Since(begin)
	}
	t.Step, t.PlugIn = (times[1]-times[0])/(many-few), times[2]
	return t, nil
}
