package paper

import (
	"math"
	"time"

	"github.com/mixpolicy/lab/mixpolicy"
)

// StepCost is what an iteration takes on this machine, in nanoseconds. Only the ratios
// mean anything elsewhere.
type StepCost struct {
	PrimalDual        float64 // Algorithm 1
	Penalty           float64 // with the closed-form projection
	PenaltyByBarrier  float64 // with [ProjectByBarrier] in its place
	Projection        float64 // the closed form alone
	BarrierProjection float64
}

// MeasureStepCost times both methods on the queue of section 6.
func MeasureStepCost() (StepCost, error) {
	var c StepCost
	proto := Working()
	p, err := QueueProblem(mixpolicy.Ball(proto.Radius))
	if err != nil {
		return c, err
	}
	step := func(m mixpolicy.Method) float64 {
		o, e := mixpolicy.NewOracle(p, 1, 0)
		if e != nil {
			err = e
			return 0
		}
		run, e := m.Start(p, o)
		if e != nil {
			err = e
			return 0
		}
		return nanoseconds(20_000, func() { err = run.Step() })
	}
	c.PrimalDual, c.Penalty = step(proto.PrimalDual()), step(proto.Penalty())
	if err != nil {
		return c, err
	}
	theta, y := make([]float64, 2), []float64{1.9, -0.7}
	class := p.Class()
	c.Projection = nanoseconds(100_000, func() { err = class.Norm.Project(theta, y, class.R) })
	c.BarrierProjection = nanoseconds(200, func() { err = ProjectByBarrier(theta, y, class.R) })
	c.PenaltyByBarrier = c.Penalty - c.Projection + c.BarrierProjection
	return c, err
}

// nanoseconds returns the least time of a call over five batches: what disturbs a
// measurement only adds to it.
func nanoseconds(calls int, f func()) float64 {
	best := math.Inf(1)
	for range 5 {
		start := time.Now()
		for range calls {
			f()
		}
		best = min(best, float64(time.Since(start).Nanoseconds())/float64(calls))
	}
	return best
}
