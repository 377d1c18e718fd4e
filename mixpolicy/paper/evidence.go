package paper

import (
	"fmt"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/plotting"
)

// Evidence shows a report of [bregman.Check]: a table of its findings, and its two pictures,
// the Taylor remainder and the way to the boundary.
func Evidence(r *bregman.Report) []plotting.View {
	var name, verdict, worst, remark []string
	for _, f := range r.Findings {
		name = append(name, f.Name)
		v, w := "holds", ""
		switch {
		case !f.OK:
			v = "FAILS"
		case f.Limit == 0:
			v = "–"
		}
		if f.Limit != 0 {
			w = fmt.Sprintf("%.1e of %.1e", f.Worst, f.Limit)
		}
		verdict, worst = append(verdict, v), append(worst, w)
		if f.Where != "" {
			f.Note = strings.TrimSpace(f.Note + " " + f.Where)
		}
		remark = append(remark, f.Note)
	}
	views := []plotting.View{plotting.Table{
		Caption: fmt.Sprintf("%s in ℝ^%d", r.Modulus, r.Dim),
		Columns: []plotting.Column{
			{Head: "what must hold", Text: name}, {Head: "", Text: verdict}, {Head: "worst case", Text: worst}, {Head: "remark", Text: remark},
		},
	}}
	var figures []plotting.Figure
	for _, f := range []struct {
		title, x, y string
		points      []bregman.Point
	}{
		{"Taylor remainder of φ: slope 2", "step h", "remainder", r.Taylor},
		{"On the way to the boundary", "what is left of the way", "change of the gradient", r.Boundary},
	} {
		line := plotting.Line{Name: "measured"}
		for _, p := range f.points {
			if p.X > 0 && p.Y > 0 { // the axes are logarithmic
				line.X, line.Y = append(line.X, p.X), append(line.Y, p.Y)
			}
		}
		if len(line.X) > 1 {
			figures = append(figures, plotting.Figure{
				Title: f.title, X: plotting.Axis{Label: f.x, Log: true}, Y: plotting.Axis{Label: f.y, Log: true},
			}.With(line))
		}
	}
	if figures != nil {
		views = append(views, plotting.Row(figures...))
	}
	return views
}
