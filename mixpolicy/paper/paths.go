package paper

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/plotting"
)

// Paths draws the first trial of each modulus on the hyperplane 1ᵀθ = 1, with the level sets
// of D(θ*; ·), the distance to the optimum that the proofs follow, at that of θ₀ times 4, 1,
// ¼, …: one figure for each modulus. For d = 2 the hyperplane is a line, and θ₁ is drawn against the queries; for d = 3
// it is a plane, in the coordinates (θ₁, θ₂), and the path is that of the average θ̂.
//
// There are no level sets where φ(θ*) is infinite: where the optimum is on the boundary of
// the domain, and φ a barrier.
func (m *Moduli) Paths() (plotting.Panels, error) {
	draw := map[int]func(Contender, []float64) plotting.Figure{2: onLine, 3: onPlane}[m.Problem.Dim()]
	if draw == nil {
		return plotting.Panels{}, fmt.Errorf("paper: paths on the hyperplane for d = %d, want d = 2 or 3", m.Problem.Dim())
	}
	best, err := m.Problem.Optimum()
	if err != nil {
		return plotting.Panels{}, err
	}
	var figures []plotting.Figure
	for _, c := range m.finished() {
		figures = append(figures, draw(c, best.Theta))
	}
	return plotting.Row(figures...), nil
}

// distance is D(θ*; ·) for the leading coordinates of a θ on the hyperplane, +∞ outside of
// the domain.
func (c Contender) distance(best []float64) func(leading ...float64) float64 {
	return func(leading ...float64) float64 {
		theta := append(append([]float64(nil), leading...), 1-floats.Sum(leading))
		if !c.Modulus.InDomain(theta) {
			return math.Inf(1)
		}
		d := bregman.Divergence(c.Modulus, best, theta)
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		return d
	}
}

// levels are the levels drawn, the distance of θ₀ among them.
func levels(start float64) []float64 {
	return []float64{4 * start, start, start / 4, start / 16, start / 64}
}

// onLine draws θₜ and θ̂ₜ over strips D(θ*; ·) ≤ ℓ, a strip for each level.
func onLine(c Contender, best []float64) plotting.Figure {
	looks := c.Trials.Finished()[0].Looks
	f := plotting.Figure{
		Title: c.Family.Name,
		X:     plotting.Axis{Label: "queries to the oracle", Log: true}, Y: plotting.Axis{Label: "θ₁"},
	}
	last, average := plotting.Line{Name: "θₜ", Color: plotting.Grey, Dash: plotting.Solid}, plotting.Line{Name: "θ̂ₜ"}
	for _, l := range looks {
		if q := float64(l.Queries); q > 0 {
			last.X, last.Y = append(last.X, q), append(last.Y, l.Last[0])
			average.X, average.Y = append(average.X, q), append(average.Y, l.Theta[0])
		}
	}
	y := reach(append(last.Y, average.Y...), best[0])
	f.Y.Min, f.Y.Max = y[0], y[1]
	d := c.distance(best)
	if start := d(looks[0].Theta[0]); !math.IsInf(start, 1) {
		for _, level := range levels(start) {
			strip := plotting.Span{From: edge(d, best[0], y[0], level), To: edge(d, best[0], y[1], level)}
			f.Layers = append(f.Layers, strip)
		}
	}
	return f.With(last, average, plotting.Rule{Label: "θ₁*", At: best[0]})
}

// edge returns the point between the optimum and the end up to which d ≤ level. It is one
// point, for φ is convex:
//
//	∂/∂s D(θ*; θ* + sv) = s vᵀ∇²φ(θ* + sv)v ≥ 0.
func edge(d func(...float64) float64, best, end, level float64) float64 {
	if d(end) <= level {
		return end
	}
	in, out := best, end
	for range 30 { // to 10⁻⁹ of the way, far less than a pixel
		if mid := (in + out) / 2; d(mid) <= level {
			in = mid
		} else {
			out = mid
		}
	}
	return in
}

func onPlane(c Contender, best []float64) plotting.Figure {
	path := plotting.Path{Name: "θ̂"}
	for _, l := range c.Trials.Finished()[0].Looks {
		path.X, path.Y = append(path.X, l.Theta[0]), append(path.Y, l.Theta[1])
	}
	x, y := reach(path.X, best[0]), reach(path.Y, best[1])
	f := plotting.Figure{
		Title: c.Family.Name, Width: 5, Height: 4.6,
		X: plotting.Axis{Label: "θ₁", Min: x[0], Max: x[1]}, Y: plotting.Axis{Label: "θ₂", Min: y[0], Max: y[1]},
	}
	d := c.distance(best)
	if start := d(path.X[0], path.Y[0]); !math.IsInf(start, 1) {
		plane := plotting.Sample(func(x, y float64) float64 { return d(x, y) }, x[0], x[1], y[0], y[1], 61)
		f.Layers = append(f.Layers, plotting.Contour{Name: "D(θ*; ·)", Grid: plane, Levels: levels(start)})
	}
	return f.With(path, plotting.Points{Name: "θ*", X: best[:1], Y: best[1:2]})
}

// reach is the range of values and one more, widened by a tenth.
func reach(x []float64, more float64) [2]float64 {
	lo, hi := min(floats.Min(x), more), max(floats.Max(x), more)
	margin := (hi - lo) / 10
	if margin == 0 {
		margin = 0.1
	}
	return [2]float64{lo - margin, hi + margin}
}
