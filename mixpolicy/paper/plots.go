package paper

import (
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// BandLine draws a curve's mean over trials with its 95 % interval. The first
// recorded state, before any iteration, is left out, so that the line fits a
// logarithmic axis.
func BandLine(name string, runs *race.Runs, c race.Curve) plotting.Line {
	return bandLine(name, runs.Band(race.Iterations, c, confidence))
}

func bandLine(name string, b race.Band) plotting.Line {
	line := plotting.Line{Name: name}
	for k, iv := range b.Intervals {
		if b.At[k] == 0 {
			continue
		}
		line.X, line.Y = append(line.X, b.At[k]), append(line.Y, iv.Mean)
		if iv.N > 1 {
			line.Lo, line.Hi = append(line.Lo, iv.Lo), append(line.Hi, iv.Hi)
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
