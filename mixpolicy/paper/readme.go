package paper

import (
	"context"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// ReadmeFigure is the picture of the README: the problem (2.18) on the queue of section
// 6, and what three methods make of it, tuned by equal budgets. progress may be nil.
func ReadmeFigure(ctx context.Context, progress func(name string, done, total int)) (plotting.Panels, error) {
	p, err := QueueProblem(mixpolicy.Ball(Working().Radius))
	if err != nil {
		return plotting.Panels{}, err
	}
	best, err := p.Optimum()
	if err != nil {
		return plotting.Panels{}, err
	}
	least, err := p.Solve(ctx, []float64{1, 0})
	if err != nil {
		return plotting.Panels{}, err
	}
	line := plotting.Line{Name: "cost cᵀΨθ"}
	for t := -0.2; t <= 1.4; t += 0.05 {
		line.X, line.Y = append(line.X, t), append(line.Y, p.Objective([]float64{t, 1 - t}))
	}
	problem := plotting.Figure{
		Title: "Mixtures of two policies of a queue",
		X:     plotting.Axis{Label: "θ₁ (θ₂ = 1 − θ₁)"},
		Y:     plotting.Axis{Label: "average cost"},
		Layers: []plotting.Layer{
			plotting.Span{Label: "Ψθ is a measure", From: least.Theta[0], To: best.Theta[0], Vertical: true},
			line,
			plotting.Points{Name: "optimum of (2.18)", X: best.Theta[:1], Y: []float64{best.Objective}},
		},
	}

	set := DefaultContest(Working())
	set.Progress = progress
	k, err := Working().Contest(ctx, set)
	if err != nil {
		return plotting.Panels{}, err
	}
	merit, err := MeritCurve(p)
	if err != nil {
		return plotting.Panels{}, err
	}
	runs := plotting.Figure{
		Title: "Learning it from sampled costs",
		X:     plotting.Axis{Label: "queries to the oracle", Log: true},
		Y:     plotting.Axis{Label: "distance from the optimum, relative", Min: 0, Max: 1.5},
	}
	for _, m := range []struct {
		name   string
		method mixpolicy.Method
	}{
		{"Algorithm 1", k.tuned(k.Tuned.PrimalDual).PrimalDual()},
		{"penalty", k.tuned(k.Tuned.Penalty).Penalty()},
		{"plug-in", mixpolicy.PlugIn{}},
	} {
		t, err := race.Trials(ctx, p, m.method, race.Settings{
			Trials: 20, Iterations: k.Protocol.Iterations, Seed: k.Protocol.Seed, Schedule: mixpolicy.LogSpaced(8),
		})
		if err != nil {
			return plotting.Panels{}, err
		}
		runs.Layers = append(runs.Layers, BandLine(m.name, t, merit))
	}
	return plotting.Row(problem, runs), nil
}
