package paper

import (
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/plotting"
)

// BandLine draws a curve's mean over trials with its 95 % interval. The first
// recorded state, before any iteration, is left out, so that the line fits a
// logarithmic axis.
func BandLine(name string, t *mixpolicy.Trials, c mixpolicy.Curve) plotting.Line {
	b := t.Band(c, confidence)
	line := plotting.Line{Name: name}
	for k, at := range b.Iteration {
		if at == 0 {
			continue
		}
		line.X = append(line.X, float64(at))
		line.Y = append(line.Y, b.Mean[k])
		if b.Trials > 1 {
			line.Lo, line.Hi = append(line.Lo, b.Lo[k]), append(line.Hi, b.Hi[k])
		}
	}
	return line
}

// Plot draws the figure as the paper does, a histogram of visits, with the exact
// measure as a line over it.
func (f Figure1) Plot(title string) plotting.Figure {
	x := make([]float64, len(f.Exact.State))
	for s := range x {
		x[s] = float64(s + 1)
	}
	return plotting.Figure{
		Title: title,
		X:     plotting.Axis{Label: "queue length s"},
		Y:     plotting.Axis{Label: "probability μ(s)"},
		Layers: []plotting.Layer{
			plotting.Bars{Name: "visits", X: x, Height: f.Simulated.State},
			plotting.Line{Name: "exact", X: x, Y: f.Exact.State},
		},
	}
}
