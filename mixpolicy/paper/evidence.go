package paper

import (
	"fmt"
	"math"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/plotting"
)

// Evidence shows a report of [bregman.Check]: a table of what was examined, and pictures. If nothing is wrong
// these are the Taylor remainder and the way to the boundary; else there is a table of the findings
// before, and for each the measured beside the claimed.
func Evidence(r *bregman.Report) (views []plotting.View) {
	in := fmt.Sprintf("%s in ℝ^%d", r.Modulus, r.Dim)
	var figures []plotting.Figure
	if len(r.Findings) > 0 {
		t := plotting.Table{Caption: "Findings on " + in, Columns: []plotting.Column{
			{Head: "verdict"}, {Head: "method"}, {Head: "finding"}, {Head: "at"}, {Head: "measured"}, {Head: "claimed"},
		}}
		for _, f := range r.Findings {
			measured, claimed := "", ""
			if !math.IsNaN(f.Measured) && !math.IsNaN(f.Claimed) {
				measured, claimed = fmt.Sprintf("%.4g", f.Measured), fmt.Sprintf("%.4g", f.Claimed)
			}
			t.Row(f.Kind, f.Method, f.Words, f.Where, measured, claimed)
			if len(f.MeasuredCurve) > 1 {
				figures = append(figures, plotting.Figure{
					Title: f.Method + ": what it claims is not what is measured", X: plotting.Axis{Label: f.Axis},
				}.With(curve("measured: "+f.MeasuredName, f.MeasuredCurve, false), curve("claimed: "+f.ClaimedName, f.ClaimedCurve, false)))
			}
		}
		views = append(views, t)
	}
	t := plotting.Table{Caption: in,
		Columns: []plotting.Column{{Head: "what must hold"}, {Head: ""}, {Head: "of what is allowed"}, {Head: "remark"}}}
	for _, e := range r.Examinations {
		t.Row(e.Name, e.Verdict(), e.Share(), strings.TrimSpace(e.Note+" "+e.Where))
	}
	views = append(views, t)
	if len(r.Findings) == 0 {
		for _, f := range []struct {
			title, x, y string
			points      []bregman.Point
		}{
			{"φ and its gradient agree: the Taylor remainder falls as h²", "step h", "remainder", r.Taylor},
			{"Towards the boundary the gradient grows", "what is left of the way", "change of the gradient", r.Boundary},
		} {
			if line := curve("measured", f.points, true); len(line.X) > 1 {
				figures = append(figures, plotting.Figure{
					Title: f.title, X: plotting.Axis{Label: f.x, Log: true}, Y: plotting.Axis{Label: f.y, Log: true}}.With(line))
			}
		}
	}
	if figures != nil {
		views = append(views, plotting.Row(figures...))
	}
	return views
}

// curve is a line through points, of positive ones if the axes are logarithmic.
func curve(name string, points []bregman.Point, log bool) plotting.Line {
	line := plotting.Line{Name: name}
	for _, p := range points {
		if !log || p.X > 0 && p.Y > 0 {
			line.X, line.Y = append(line.X, p.X), append(line.Y, p.Y)
		}
	}
	return line
}
