package plotting_test

import (
	"strings"
	"testing"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/mixpolicy/lab/plotting"
)

// A chart shows superscripts and subscripts instead of TeX markup. A rule is black and solid unless it has a colour. The
// meaning of the intervals appears only once, below the x axis.
func TestCharts(t *testing.T) {
	two := []float64{1, 2}
	band := plotting.Line{X: two, Y: two, Lo: two, Hi: two, Interval: "band: middle half of 200 runs"}
	for _, c := range []struct {
		figure plotting.Figure
		wants  []string
	}{
		{plotting.Figure{
			Title: `$R\|\Psi\|_{*,2}$`, X: plotting.Axis{Label: `$\beta = T^{1/8}$`}, Y: plotting.Axis{Label: `$x^2$, $\{s|a\}$`},
			Layers: []plotting.Layer{plotting.Line{Name: `$\pi^\theta$ (2.20)`, X: two, Y: two}, plotting.Rule{At: 1, Label: `$\theta_{a b}$`}},
		}, []string{`"R‖Ψ‖{sub|*,2}"`, `"β = T{sup|1/8}"`, `"x², {` + "\u2060" + `s|a}"`, `"π{sup|θ} (2.20)"`, `"θ{sub|ab}"`}},
		{plotting.Figure{}.With(plotting.Rule{At: 1}), []string{`"type":"solid"`, `"color":"#222222"`}},
		{plotting.Figure{}.With(plotting.Rule{At: 1, Color: plotting.Grey}), []string{`"type":"dashed"`, `"color":"#7f7f7f"`}},
		{plotting.Figure{X: plotting.Axis{Label: "queries"}}.With(band, band), []string{`"queries\n` + band.Interval + `"`}},
	} {
		d, err := plotting.DisplayData(c.figure)
		if err != nil {
			t.Fatal(err)
		}
		_, script, _ := strings.Cut(d.Data[protocol.MIMETextHTML].(string), "<script>")
		for _, want := range c.wants {
			if !strings.Contains(script, want) {
				t.Errorf("the chart has no %s", want)
			}
		}
	}
}
