package plotting

import (
	"math"
	"strings"
	"testing"
)

func TestValidateNamesTheLayerAndTheIndex(t *testing.T) {
	nan, two := math.NaN(), []float64{1, 2}
	for _, c := range []struct {
		figure Figure
		want   string
	}{
		{Figure{}, "no layers"},
		{Figure{Title: "F", Layers: []Layer{Line{}}}, `figure "F": layer 0, line: X is empty`},
		{Figure{Layers: []Layer{Line{Name: "a", X: []float64{1, 2}, Y: []float64{1}}}}, `layer 0, line "a": Y has 1 values, but X has 2`},
		{Figure{Layers: []Layer{Line{X: []float64{1, 2}, Y: []float64{1, nan}}}}, "Y[1] is NaN"},
		{Figure{Layers: []Layer{Line{X: []float64{1, math.Inf(1)}, Y: []float64{1, 1}}}}, "X[1] is +Inf"},
		{Figure{Y: Axis{Log: true}, Layers: []Layer{Line{X: []float64{1, 2}, Y: []float64{1, 0}}}}, "Y[1] is 0: values must be ≥ 1e-100 on a logarithmic axis"},
		{Figure{Layers: []Layer{Line{X: []float64{1}, Y: []float64{1}, Lo: []float64{1}}}}, "Hi has 0 values, but X has 1"},
		{Figure{Layers: []Layer{Line{X: []float64{1}, Y: []float64{1}, Lo: []float64{2}, Hi: []float64{1}}}}, "Lo[0] = 2 > Hi[0] = 1"},
		{Figure{Layers: []Layer{nil}}, "layer 0 is nil"},
		{Figure{X: Axis{Log: true}, Layers: []Layer{Bars{X: []float64{1}, Height: []float64{1}}}}, "logarithmic x axis"},
		{Figure{X: Axis{Log: true}, Layers: []Layer{Rule{Label: "r", At: -1, Vertical: true}}}, `rule "r": At[0] is -1`},
		{Figure{X: Axis{Min: 2, Max: 1}, Layers: []Layer{Rule{}}}, "x axis: Min 2 > Max 1"},
		{Figure{X: Axis{Min: -1, Max: 1, Log: true}, Layers: []Layer{Rule{}}}, "Min -1 on a logarithmic axis"},
		{Figure{Width: -1, Layers: []Layer{Rule{}}}, "size -1 × 0 inches"},
		{Figure{Layers: []Layer{Line{X: []float64{1, 1e101}, Y: []float64{1, 1}}}}, "X[1] is 1e+101: values must be within ±1e+100"},
		{Figure{Y: Axis{Log: true}, Layers: []Layer{Rule{At: 1e-101}}}, "At[0] is 1e-101: values must be ≥ 1e-100 on a logarithmic axis"},
		{Figure{Layers: []Layer{Line{X: two, Y: two, Color: 99}}}, "colour 99 or"},
		{Figure{Layers: []Layer{Line{X: two, Y: two, Color: -1}}}, "colour -1 or"},
		{Figure{Layers: []Layer{Line{X: two, Y: two, Dash: 99}}}, "dash 99 does not exist"},
		{Figure{Layers: []Layer{Line{X: two, Y: two, Width: -1}}}, "a line -1 points wide"},
		{Figure{Layers: []Layer{Line{X: two, Y: two, Width: nan}}}, "a line NaN points wide"},
	} {
		err := c.figure.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), "plotting: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Validate() = %v, want an error that contains %q", err, c.want)
		}
	}
}
