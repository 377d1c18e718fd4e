package plotting_test

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/plotting"
)

// Ellipse is a custom layer that consists of a line and a point. Both renderings draw them.
type Ellipse struct {
	Name       string
	X, Y, A, B float64 // the centre and the half-axes
}

func (e Ellipse) Draw(p *plotting.Pen) error {
	if e.A <= 0 || e.B <= 0 {
		return fmt.Errorf("half-axes %g and %g, want > 0", e.A, e.B)
	}
	var x, y []float64
	for k := range 101 {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / 100)
		x, y = append(x, e.X+e.A*cos), append(y, e.Y+e.B*sin)
	}
	return p.Draw(
		plotting.Line{Name: e.Name, X: x, Y: y, Width: 1},
		plotting.Points{X: []float64{e.X}, Y: []float64{e.Y}},
	)
}

func ExampleLayer() {
	fig := plotting.Figure{Title: `Where $\hat\theta$ may lie`, X: plotting.Axis{Label: `$\theta_1$`}, Y: plotting.Axis{Label: `$\theta_2$`}}.With(
		Ellipse{Name: "95 %", X: 1, Y: 2, A: 0.5, B: 0.25},
		plotting.Arrow{Label: "the optimum", X: 1.2, Y: 2.1, FromX: 1.6, FromY: 2.3},
	)
	plotting.Show(fig)
	fmt.Println(fig.With(Ellipse{A: 1}).Validate())
	// Output:
	// Where θ̂ may lie. θ₂ against θ₁. Line "95 %": from 1.75 to 2.25. Label "the optimum".
	// plotting: figure "Where $\\hat\\theta$ may lie": layer 2, plotting_test.Ellipse: half-axes 1 and 0, want > 0
}
