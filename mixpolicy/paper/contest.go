package paper

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Contest is the comparison of section 6 between Algorithm 1 and the penalty method
// on the queue: equal samples, equal budgets of tuning, fresh seeds for the result.
type Contest struct {
	Protocol Protocol
	// AsGiven are the methods with the parameters of the protocol.
	AsGiven Pair
	// Tuned are the best of the same number of configurations each, chosen by the mean
	// merit over tuning trials whose seed is not used again.
	Tuned          Pair
	Configurations int
	TuningTrials   int
}

// Pair is the two rivals.
type Pair struct{ PrimalDual, Penalty Score }

// Score is what the trials of one method came to; an entry per trial.
type Score struct {
	Eta    float64 // η₀ of the step size
	Weight float64 // ω of the penalty method

	Objective  []float64 // cᵀΨθ̂, which is a cost only if Ψθ̂ ⪰ 0
	PolicyCost []float64 // true cost of π^θ̂
	// Merit is how far an answer is from the optimum, feasible or not: the exact penalty
	// of [mixpolicy.Problem.Merit].
	Merit []float64
}

// ContestSettings say how much work a [Contest] is.
type ContestSettings struct {
	Trials, TuningTrials int
	// Etas are the η₀ tried by Algorithm 1, whose one parameter it is.
	Etas []float64
	// PenaltyEtas × Weights is the grid of the penalty method. It must have as many
	// points as Etas.
	PenaltyEtas, Weights []float64
	// Progress is that of [race.Settings].
	Progress func(name string, done, total int)
}

// DefaultContest gives both methods 16 configurations: η₀ in 16 powers for Algorithm 1,
// η₀ × ω in 4 × 4 powers of 4 for the penalty method, about where each does best.
func DefaultContest(c Protocol) ContestSettings {
	set := ContestSettings{Trials: 40, TuningTrials: 4}
	if c.CostScale == 0 { // raw costs: λ* ≈ 2·10⁵, and gradients in units of 10⁴
		set.Etas = powers(0x1p-34, 4, 16)
		set.PenaltyEtas, set.Weights = powers(0x1p-22, 4, 4), powers(cMax, 4, 4)
		return set
	}
	set.Etas = powers(0x1p-4, 2, 16)
	set.PenaltyEtas, set.Weights = powers(0x1p-6, 4, 4), powers(2, 4, 4)
	return set
}

// powers returns first, first·factor, …, n of them.
func powers(first, factor float64, n int) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = first
		first *= factor
	}
	return x
}

// Contest runs the comparison under the protocol. The schedule of a tuned method is the
// protocol's times a constant.
func (c Protocol) Contest(ctx context.Context, set ContestSettings) (*Contest, error) {
	if len(set.Etas) != len(set.PenaltyEtas)*len(set.Weights) {
		return nil, fmt.Errorf("paper: %d configurations of Algorithm 1 and %d of the penalty method, want as many", len(set.Etas), len(set.PenaltyEtas)*len(set.Weights))
	}
	p, err := QueueProblem(mixpolicy.Ball(c.Radius))
	if err != nil {
		return nil, err
	}
	merit, err := race.Merit(p)
	if err != nil {
		return nil, err
	}
	all, err := race.Run(ctx, p, []race.Entrant{
		{Name: "Algorithm 1", Methods: []mixpolicy.Method{c.PrimalDual()}},
		{Name: "penalty", Methods: []mixpolicy.Method{c.Penalty()}},
		{Name: "Algorithm 1, tuned", Methods: race.Grid(set.Etas, func(eta float64) mixpolicy.Method { return c.with(eta, 0).PrimalDual() })},
		{Name: "penalty, tuned", Methods: race.Grid2(set.PenaltyEtas, set.Weights, func(eta, omega float64) mixpolicy.Method { return c.with(eta, omega).Penalty() })},
	}, race.Settings{
		Trials: set.Trials, TuningTrials: set.TuningTrials, Seed: c.Seed, Iterations: c.Iterations,
		Schedule: mixpolicy.Every(c.Iterations), Valued: race.ValuedEnd, Progress: set.Progress,
	})
	scores := make([]Score, 4)
	for k, o := range all {
		if o.Err != nil && err == nil {
			err = o.Err
		}
		if o.Runs != nil {
			scores[k].Objective, scores[k].PolicyCost, scores[k].Merit = o.Runs.Final(race.Cost), o.Runs.Final(race.PolicyCost), o.Runs.Final(merit)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("paper: protocol %q: %w", c.Name, err)
	}
	own, rival := all[2].Chosen, all[3].Chosen
	scores[0].Eta = c.StepSize.At(0)
	scores[1].Eta, scores[1].Weight = c.StepSize.At(0), c.Weight
	scores[2].Eta = set.Etas[own]
	scores[3].Eta, scores[3].Weight = set.PenaltyEtas[rival/len(set.Weights)], set.Weights[rival%len(set.Weights)]
	return &Contest{
		Protocol: c, AsGiven: Pair{scores[0], scores[1]}, Tuned: Pair{scores[2], scores[3]},
		Configurations: len(set.Etas), TuningTrials: set.TuningTrials,
	}, nil
}

// with returns the protocol with another first step size and weight.
func (c Protocol) with(eta, weight float64) Protocol {
	c.StepSize, c.Weight = mixpolicy.Scaled{By: eta / c.StepSize.At(0), Of: c.StepSize}, weight
	return c
}

// confidence of all intervals, the paper's.
const confidence = 0.95

// less decides "smaller than bound" by an interval.
func less(iv race.Interval, bound float64) Verdict {
	switch {
	case iv.Hi < bound:
		return Holds
	case iv.Lo > bound:
		return Fails
	}
	return Undecided
}
