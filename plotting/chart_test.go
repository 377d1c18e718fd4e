package plotting_test

import (
	"strings"
	"testing"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/mixpolicy/lab/plotting"
)

// script is the part of a figure's output that draws the chart.
func script(t *testing.T, f plotting.Figure) string {
	t.Helper()
	d, err := plotting.DisplayData(f)
	if err != nil {
		t.Fatal(err)
	}
	_, s, _ := strings.Cut(d.Data[protocol.MIMETextHTML].(string), "<script>")
	return s
}

var two = []float64{1, 2}

// Charts raise and lower what Unicode can't: no text of theirs has the marks of TeX.
func TestScriptsOfCharts(t *testing.T) {
	got := script(t, plotting.Figure{
		Title: `$R\|\Psi\|_{*,2}$`, X: plotting.Axis{Label: `$\beta = T^{1/8}$`}, Y: plotting.Axis{Label: `$x^2$, $\{s|a\}$`},
		Layers: []plotting.Layer{
			plotting.Line{Name: `$\pi^\theta$ (2.20)`, X: two, Y: two}, plotting.Rule{At: 1, Label: `$\theta_{a b}$`},
		}})
	for _, want := range []string{`"R‖Ψ‖{sub|*,2}"`, `"β = T{sup|1/8}"`, `"x², {` + "\u2060" + `s|a}"`, `"π{sup|θ} (2.20)"`, `"θ{sub|ab}"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the chart has no %s", want)
		}
	}
}

// A rule is thin, black and solid unless it has a colour.
func TestRulesAreBlack(t *testing.T) {
	for color, wants := range map[plotting.Color][]string{
		plotting.Auto: {`"type":"solid"`, `"color":"#222222"`}, plotting.Grey: {`"type":"dashed"`, `"color":"#7f7f7f"`},
	} {
		got := script(t, plotting.Figure{Layers: []plotting.Layer{plotting.Rule{At: 1, Label: "optimum", Color: color}}})
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("colour %d: the chart has no %s", color, want)
			}
		}
	}
}

// What intervals are stands once below the x axis, in charts and in pictures.
func TestIntervalsAreExplained(t *testing.T) {
	const words = "band: middle half of 200 runs"
	line := plotting.Line{X: two, Y: two, Lo: two, Hi: two, Interval: words}
	f := plotting.Figure{X: plotting.Axis{Label: "queries"}, Layers: []plotting.Layer{line, line}}
	if got := script(t, f); strings.Count(got, words) != 1 || !strings.Contains(got, `"queries\n`+words) {
		t.Errorf("the chart says %d times what the band is", strings.Count(got, words))
	}
}
