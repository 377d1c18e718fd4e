package paper

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// section6 is the equations and figures of section 6.
var section6 = []Entry{
	{Number: "6.1", What: "transition law of the queue", Symbol: "mixpolicy/models.Queue", Errata: "transition-law", check: checkTransitionLaw},
	{Number: "6.2", What: "cost of a state and an action", Symbol: "mixpolicy/models.Queue", Defines: true, check: checkQueueCost},
	{Number: "6.3a", What: "first base policy: every rate equally often", Symbol: "mixpolicy/models.Queue.Policies", Defines: true, check: checkBasePolicies},
	{Number: "6.3b", What: "second base policy: the slower rates more often", Symbol: "mixpolicy/models.Queue.Policies", Defines: true, check: checkBasePolicies},
	{Number: "Figure 1", What: "stationary measures of the base policies, from visits", Symbol: "mixpolicy.Simulate", check: checkVisits},
	{Number: "Figure 2", What: "mixing coefficients and dual cost along the iterations", Symbol: "mixpolicy/paper.Protocol.Run", Errata: "protocol", check: checkProtocol},
}

func checkTransitionLaw(context.Context) Finding {
	_, refused := models.Queue{Reading: models.Literal}.MDP()
	if refused == nil {
		noError(fmt.Errorf("paper: the literal reading of (6.1) was accepted"))
	}
	x := must(models.Queue{}.MDP())
	var worst float64
	for s := range x.States() {
		for a := range x.Actions() {
			_, p := x.Next(s, a)
			var total float64
			for _, v := range p {
				total += v
			}
			worst = max(worst, math.Abs(total-1))
		}
	}
	return holdsCorrected(0.5+0.8-1, worst, "up 0.5 and down 0.8 add up to 1.3; the uniformised chain has rows that add up to 1 and the same measures under (6.3)")
}

func checkQueueCost(context.Context) Finding {
	x := must(models.Queue{}.MDP())
	var worst float64
	for s := range 100 {
		for a, rate := range []float64{0.2, 0.4, 0.6, 0.8} {
			worst = max(worst, relativeError(x.Cost(s, a), sq(float64(s+1))+60*rate*rate*rate))
		}
	}
	return holds(worst, "at all 400 pairs; the greatest is %.2f", x.Cost(99, 3))
}

func checkBasePolicies(context.Context) Finding {
	_, base := queueModel()
	var worst float64
	for k, want := range [][]float64{{.25, .25, .25, .25}, {.3, .3, .2, .2}} {
		for s := range 100 {
			worst = max(worst, relativeVectorError(base[k].Row(s), want))
		}
	}
	return holds(worst, "the same in every state")
}

func checkVisits(ctx context.Context) Finding {
	x, base := queueModel()
	var worst float64
	for _, p := range base {
		q := must(x.Occupation(p))
		e := must(mixpolicy.Simulate(ctx, x, p, mixpolicy.SimulateSettings{Steps: 2_000_000, Seed: 1}))
		for s, mu := range q.State {
			// A normal variable beyond 6 in any of 200 states has the probability 4·10⁻⁷; states
			// visited fewer than 100 times are left out, as their error is not normal.
			if mu*2e6 > 100 && e.StateError[s] > 0 {
				worst = max(worst, math.Abs(e.State[s]-mu)/e.StateError[s])
			}
		}
	}
	return holds(excess(worst, 6), "2·10⁶ steps: frequencies within %.1f standard errors of the exact measures, uniform and geometric", worst)
}

// checkProtocol: under the stated protocol θ̂ is far outside of the feasible set, and cᵀΨθ̂
// is not the cost of its policy; under the working one it is.
func checkProtocol(ctx context.Context) Finding {
	costs := func(c Protocol, eta float64) (objective, policy float64) {
		c.Trials = 4
		c.StepSize = mixpolicy.InverseSqrt(eta)
		if c.CostScale == 0 {
			c.StepSize = mixpolicy.Constant(eta)
		}
		t := must(c.Run(ctx, c.PrimalDual()))
		return stat.Mean(t.Final(race.Cost), nil), stat.Mean(t.Final(race.PolicyCost), nil)
	}
	literal, true1 := costs(AsPrinted(mixpolicy.Corrected), 0.001)
	working, true2 := costs(Working(), 64)
	// A feasible answer is asked for, up to a per cent of its cost.
	return holdsCorrected(relativeError(literal, true1), relativeError(working, true2), "section 6 word for word: cᵀΨθ̂ = %.4g, and the policy costs %.4g; scaled costs, R = 2, η = 64/√(t+1), T = 10⁵: %.5g and %.5g", literal, true1, working, true2).within(0.01)
}
