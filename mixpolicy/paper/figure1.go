package paper

import (
	"context"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Figure1Steps is the number of epochs that the paper simulates for Fig. 1.
const Figure1Steps = 50_000_000

// Figure1 holds the stationary measure of one base policy three times: what Fig. 1
// shows for π¹ (left) and π² (right).
type Figure1 struct {
	Exact     *mixpolicy.Measure   // by elimination
	Iterated  *mixpolicy.Measure   // by sweeps
	Simulated *mixpolicy.Empirical // by counting visits
}

// IterationError is ‖μ_iterated − μ_exact‖₁.
func (f Figure1) IterationError() float64 { return sum.Diff1(f.Iterated.State, f.Exact.State) }

// SimulationError is ‖μ_simulated − μ_exact‖₁.
func (f Figure1) SimulationError() float64 { return sum.Diff1(f.Simulated.State, f.Exact.State) }

// WorstZ is the greatest distance between simulation and truth over all states, in
// standard errors of the simulation. The greatest of 100 normal deviates is below
// 4.2 in 99.7 % of cases.
func (f Figure1) WorstZ() float64 {
	worst := 0.0
	for s, mu := range f.Exact.State {
		if e := f.Simulated.StateError[s]; e > 0 {
			worst = max(worst, abs(f.Simulated.State[s]-mu)/e)
		}
	}
	return worst
}

func abs(v float64) float64 { return max(v, -v) }

// ComputeFigure1 computes Fig. 1 for both base policies, with the given number of
// simulated steps for each ([Figure1Steps] in the paper).
func ComputeFigure1(ctx context.Context, steps int, seed uint64) ([]Figure1, error) {
	x, base, err := Queue()
	if err != nil {
		return nil, err
	}
	figures := make([]Figure1, len(base))
	for i, p := range base {
		f := &figures[i]
		if f.Exact, err = mixpolicy.Occupation(ctx, x, p, mixpolicy.MeasureSettings{Method: mixpolicy.Elimination}); err != nil {
			return nil, err
		}
		if f.Iterated, err = mixpolicy.Occupation(ctx, x, p, mixpolicy.MeasureSettings{Method: mixpolicy.GaussSeidel}); err != nil {
			return nil, err
		}
		if f.Simulated, err = mixpolicy.Simulate(ctx, x, p, mixpolicy.SimulateSettings{Steps: steps, Seed: seed + uint64(i)}); err != nil {
			return nil, err
		}
	}
	return figures, nil
}
