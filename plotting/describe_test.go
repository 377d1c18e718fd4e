package plotting

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// ticked is a user's layer, which draws itself with other layers.
type ticked struct{ X float64 }

func (l ticked) Draw(p *Pen) error {
	return p.Draw(&Line{Name: p.Y.Label, X: []float64{0, l.X}, Y: []float64{1, 2}}, pair{})
}

// Drawing from a description, as a page does, gives the same output as drawing directly. Without the script, an output
// has at most 38 kB for each panel: the largest panel has a rough curve with a band and a smooth curve, of 1000 points
// each.
func TestWhatIsDescribedIsDrawnTheSame(t *testing.T) {
	drawings := gallery()
	drawings["layers of one's own"] = Figure{Title: "own", Y: Axis{Label: "value"}, Layers: []Layer{
		Rule{At: 1.5}, ticked{3}, Line{Name: "next", X: []float64{0, 3}, Y: []float64{2, 1}}, &ticked{4},
		Contour{Name: "c", Grid: Grid{X: []float64{0, 1, 2}, Y: []float64{0, 1, 2}, Z: [][]float64{{0, 1, 2}, {1, 2, math.Inf(1)}, {2, 3, 4}}}},
	}}
	for name, d := range drawings {
		t.Run(name, func(t *testing.T) {
			o := order{Still: must(d.panels())}
			o.Frames = []Panels{o.Still}
			if e, ok := d.(Explorer); ok {
				o.Frames, o.Controls = must(e.aligned()), e.Controls
			}
			draw := func() display {
				answer := must(decode[order](o.encode())).draw()
				return must(must(decode[drawn](pack(answer))).result())
			}
			got, want := draw(), must(d.display())
			if got.html != want.html || got.plain != want.plain || !bytes.Equal(got.png, want.png) {
				t.Error("the output differs from the output of drawing directly")
			}
			if kB := (len(got.html) - len(script)) / 1024; kB > 38*len(o.Still.Figures) || got.plain == "" || strings.Count(got.html, "</script") != 1 ||
				!strings.Contains(got.html, "<img") || !strings.Contains(got.html, "mixpolicyCharts") {
				t.Errorf("an output of %d kB is too large, lacks a form, or has not exactly one script", kB)
			}
			o.Format = "svg"
			if !bytes.Equal(draw().png, must(encode("svg", d))) {
				t.Error("the file differs from the file of drawing directly")
			}
		})
	}
	if _, err := (order{Format: "bmp", Still: divergence(1, 0, 1)}).draw().result(); err == nil {
		t.Error("no error for a format that does not exist")
	}
}
