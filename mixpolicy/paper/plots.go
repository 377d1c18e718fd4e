package paper

import (
	"fmt"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// BandLine draws a curve's mean over trials with its 95 % interval. The first
// recorded state, before any iteration, is left out, so that the line fits a
// logarithmic axis.
func BandLine(name string, runs *race.Runs, c race.Curve) plotting.Line {
	return bandLine(name, runs.Band(race.Iterations, c, confidence), 0)
}

// Sweep is the line of a mean at the points x with its interval, whose lower end stays within a
// tenth of the mean, so that the band fits a logarithmic axis.
func Sweep(name string, x []float64, at func(x float64) race.Interval) plotting.Line {
	line := plotting.Line{Name: name, X: x}
	for _, v := range x {
		iv := at(v)
		line.Y, line.Hi = append(line.Y, iv.Mean), append(line.Hi, iv.Hi)
		line.Lo = append(line.Lo, max(iv.Lo, iv.Mean/10))
		line.Interval = meanBand(iv.Confidence, iv.N)
	}
	return line
}

// bandLine draws a band from the given number of iterations or queries on, without what is at 0.
func bandLine(name string, b race.Band, from float64) plotting.Line {
	return line(name, slices.DeleteFunc(b.Rows(race.Row{}), func(row race.Row) bool { return row.At == 0 || row.At < from }))
}

// line draws rows against At, with their intervals if those are of trials.
func line(name string, rows race.Record) plotting.Line {
	l := plotting.Line{Name: name}
	l.X, l.Y, l.Lo, l.Hi = rows.Columns()
	if len(rows) > 0 && rows[0].Trials <= 1 {
		l.Lo, l.Hi = nil, nil
	} else if len(rows) > 0 {
		l.Interval = meanBand(confidence, rows[0].Trials)
	}
	return l
}

// meanBand says what a band is.
func meanBand(confidence float64, runs int) string {
	return fmt.Sprintf("band: %.0f %% interval of the mean, %d runs", 100*confidence, runs)
}

// Plot draws the figure as the paper does, a histogram of visits, with the exact
// measure as a line over it.
func (f Figure1) Plot(title string) plotting.Figure {
	x := make([]float64, len(f.Exact.State))
	for s := range x {
		x[s] = float64(s + 1)
	}
	return plotting.Figure{Title: title, X: plotting.Axis{Label: "queue length s"}, Y: plotting.Axis{Label: "probability μ(s)"},
		Layers: []plotting.Layer{plotting.Bars{Name: "visits", X: x, Height: f.Simulated.State},
			plotting.Line{Name: "exact", X: x, Y: f.Exact.State}}}
}
