package paper

import (
	"context"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/plotting"
)

// Figure2 is the comparison of Fig. 2: both methods on the queue over the same
// seeds.
type Figure2 struct {
	PrimalDual, Penalty *mixpolicy.Trials
	Optimum             float64 // of (2.18)
}

// Coefficients draws the left half of Fig. 2: θ̂₁ and θ̂₂ against the iteration, means
// over trials with 95 % intervals.
func (f Figure2) Coefficients() plotting.Figure {
	return plotting.Figure{
		Title: "Mixing coefficients",
		X:     plotting.Axis{Label: "iteration t", Log: true},
		Y:     plotting.Axis{Label: "θ̂₁ and θ̂₂"},
		Layers: []plotting.Layer{
			BandLine("Alg. 1, θ̂₁", f.PrimalDual, mixpolicy.ThetaCurve(0)),
			BandLine("Alg. 1, θ̂₂", f.PrimalDual, mixpolicy.ThetaCurve(1)),
			BandLine("penalty, θ̂₁", f.Penalty, mixpolicy.ThetaCurve(0)),
			BandLine("penalty, θ̂₂", f.Penalty, mixpolicy.ThetaCurve(1)),
		},
	}
}

// Cost draws the right half of Fig. 2: cᵀΨθ̂ against the iteration, with the exact
// optimum for reference.
func (f Figure2) Cost() plotting.Figure {
	return plotting.Figure{
		Title: "Dual cost",
		X:     plotting.Axis{Label: "iteration t", Log: true},
		Y:     plotting.Axis{Label: "cᵀΨθ̂"},
		Layers: []plotting.Layer{
			BandLine("Algorithm 1", f.PrimalDual, mixpolicy.CostCurve),
			BandLine("penalty", f.Penalty, mixpolicy.CostCurve),
			plotting.Rule{Label: "optimum of (2.18)", At: f.Optimum},
		},
	}
}

// Violation draws ½‖[Ψθ̂]₋‖₂, the panel that Fig. 2 lacks.
func (f Figure2) Violation() plotting.Figure {
	return plotting.Figure{
		Title: "Constraint violation",
		X:     plotting.Axis{Label: "iteration t", Log: true},
		Y:     plotting.Axis{Label: "V(θ̂) = ½‖[Ψθ̂]₋‖₂"},
		Layers: []plotting.Layer{
			BandLine("Algorithm 1", f.PrimalDual, mixpolicy.ViolationCurve),
			BandLine("penalty", f.Penalty, mixpolicy.ViolationCurve),
		},
	}
}

// Figure2 makes the trials of Fig. 2 under the protocol.
func (c Protocol) Figure2(ctx context.Context) (Figure2, error) {
	return figure2(ctx, c, c)
}

// Figure2 makes the trials of Fig. 2 with the tuned parameters of each method.
func (k *Contest) Figure2(ctx context.Context) (Figure2, error) {
	return figure2(ctx, k.Protocol.with(k.Tuned.PrimalDual), k.Protocol.with(k.Tuned.Penalty))
}

// with returns the protocol with the step size and weight of a score.
func (c Protocol) with(s Score) Protocol {
	c.StepSize = mixpolicy.Scaled{By: s.Eta / c.StepSize.At(0), Of: c.StepSize}
	c.Weight = s.Weight
	return c
}

func figure2(ctx context.Context, primalDual, penalty Protocol) (Figure2, error) {
	pd, err := primalDual.Run(ctx, primalDual.PrimalDual())
	if err != nil {
		return Figure2{}, err
	}
	pen, err := penalty.Run(ctx, penalty.Penalty())
	if err != nil {
		return Figure2{}, err
	}
	return Figure2{pd, pen, pd.Results[0].Optimum}, nil
}

// MeanMerit runs trials of a method on the queue with the given class, and returns the
// mean merit of its answers with a 95 % interval, as a fraction of the optimum.
func MeanMerit(ctx context.Context, class mixpolicy.Class, m mixpolicy.Method, iterations, trials int) (mixpolicy.Interval, error) {
	p, err := QueueProblem(class)
	if err != nil {
		return mixpolicy.Interval{}, err
	}
	t, err := mixpolicy.RunTrials(ctx, p, m, mixpolicy.TrialSettings{
		Trials: trials, Iterations: iterations, Seed: 1, Schedule: mixpolicy.Every(iterations), Certify: true,
	})
	if err != nil {
		return mixpolicy.Interval{}, err
	}
	relative := make([]float64, len(t.Results))
	for k, r := range t.Results {
		relative[k] = r.Merit / r.Optimum
	}
	return mixpolicy.TInterval(relative, confidence), nil
}

// MeritCurve is [mixpolicy.Problem.MeritCurve] as a fraction of the optimum.
func MeritCurve(p *mixpolicy.Problem) (mixpolicy.Curve, error) {
	merit, err := p.MeritCurve()
	if err != nil {
		return nil, err
	}
	best, err := p.Optimum()
	if err != nil {
		return nil, err
	}
	return func(h *mixpolicy.History) []float64 {
		y := merit(h)
		for k := range y {
			y[k] /= best.Objective
		}
		return y
	}, nil
}
