package paper

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Exploration is a grid of runs of Algorithm 1, for a reader to wander about. Zeros give what
// is said.
type Exploration struct {
	Radii      []float64 // R of the class; 1, 2, 8
	Etas       []float64 // η₀ of η_t = η₀/√(t+1); 1, 4, 16, 64, 256
	Betas      []float64 // β, the radius of the ball of λ; T^{1/8}, T^{1/4}, T^{3/8}, T^{1/2}
	Iterations int       // T; 10,000
	Trials     int       // 6
	CostScale  float64   // max |c|
	Seed       uint64
}

func (e Exploration) complete(p *mixpolicy.Problem) Exploration {
	s := ModuliSettings{Iterations: e.Iterations, CostScale: e.CostScale}.complete(p)
	e.Iterations, e.CostScale = s.Iterations, s.CostScale
	if e.Radii == nil {
		e.Radii = []float64{1, 2, 8}
	}
	if e.Etas == nil {
		e.Etas = powers(1, 4, 5)
	}
	if e.Betas == nil {
		e.Betas = powers(math.Pow(float64(e.Iterations), 1./8), math.Pow(float64(e.Iterations), 1./8), 4)
	}
	if e.Trials == 0 {
		e.Trials = 6
	}
	return e
}

// Explore runs Algorithm 1 for each combination of R, η₀, β and modulus, and returns the
// sliders over them. The left figure tells where one run is in its class, θ₁/R; the right one
// how good the averages are, by the mean over trials, with all of them within the band.
func Explore(ctx context.Context, p *mixpolicy.Problem, e Exploration, families ...Family) (plotting.Explorer, error) {
	e = e.complete(p)
	var frames []plotting.Panels
	for _, r := range e.Radii {
		q, err := withRadius(p, r)
		if err != nil {
			return plotting.Explorer{}, err
		}
		for _, eta := range e.Etas {
			for _, beta := range e.Betas {
				for _, f := range families {
					frame, err := e.frame(ctx, q, eta, beta, f)
					if err != nil {
						return plotting.Explorer{}, fmt.Errorf("paper: modulus %s, R = %g, η₀ = %g, β = %.3g: %w", f.Name, r, eta, beta, err)
					}
					frames = append(frames, frame)
				}
			}
		}
	}
	moduli := plotting.Control{Label: "modulus", Menu: true}
	for _, f := range families {
		moduli.Values = append(moduli.Values, f.Name)
	}
	controls := []plotting.Control{slider("R", e.Radii), slider("η₀", e.Etas), slider("β", e.Betas), moduli}
	return plotting.Explorer{
		Controls: controls,
		Frame: func(at []int) plotting.Panels {
			k := 0
			for i, c := range controls {
				k = k*len(c.Values) + at[i]
			}
			return frames[k]
		},
	}, nil
}

// slider starts in the middle.
func slider(label string, values []float64) plotting.Control {
	c := plotting.Control{Label: label, Start: len(values) / 2}
	for _, v := range values {
		c.Values = append(c.Values, strconv.FormatFloat(v, 'g', 3, 64))
	}
	return c
}

func (e Exploration) frame(ctx context.Context, p *mixpolicy.Problem, eta, beta float64, f Family) (plotting.Panels, error) {
	best, err := p.Optimum()
	if err != nil {
		return plotting.Panels{}, err
	}
	merit, err := MeritCurve(p)
	if err != nil {
		return plotting.Panels{}, err
	}
	r := p.Class().R
	method := mixpolicy.PrimalDual{Modulus: f.At(r), StepSize: mixpolicy.InverseSqrt(eta), Beta: beta, CostScale: e.CostScale}
	t, err := race.Trials(ctx, p, method, race.Settings{Trials: e.Trials, Iterations: e.Iterations, Seed: e.Seed, Schedule: mixpolicy.LogSpaced(6)})
	if err != nil {
		return plotting.Panels{}, err
	}
	last, average := plotting.Line{Name: "θₜ", Color: plotting.Grey, Dash: plotting.Solid}, plotting.Line{Name: "θ̂ₜ"}
	for _, l := range t.Finished()[0].Looks {
		if l.Iteration >= 10 {
			x := float64(l.Iteration)
			last.X, last.Y = append(last.X, x), append(last.Y, l.Last[0]/r)
			average.X, average.Y = append(average.X, x), append(average.Y, l.Theta[0]/r)
		}
	}
	all := bandLine("θ̂ₜ", t.BandOf(race.Iterations, merit, func(x []float64) race.Interval {
		return race.Interval{Mean: stat.Mean(x, nil), Lo: floats.Min(x), Hi: floats.Max(x), N: len(x)}
	}))
	begin := len(all.X) - len(last.X) // of the looks at 10 iterations or more
	all.X, all.Y = all.X[begin:], all.Y[begin:]
	if all.Lo != nil {
		all.Lo, all.Hi = all.Lo[begin:], all.Hi[begin:]
	}
	queries := plotting.Axis{Label: "queries to the oracle", Log: true}
	return plotting.Row(
		plotting.Figure{
			Title: "Where a run is in its class", X: queries,
			Y: plotting.Axis{Label: "θ₁/R", Min: -1.05, Max: 1.05},
		}.With(last, average, plotting.Rule{Label: "θ₁*/R", At: best.Theta[0] / r}),
		plotting.Figure{
			Title: "How far it is from the optimum", X: queries,
			Y: plotting.Axis{Label: "merit, relative to the optimum", Log: true},
		}.With(all, plotting.Rule{Label: "as much as the optimum", At: 1}),
	), nil
}
