package plotting_test

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/plotting"
)

func ExampleShow() {
	fig := plotting.Figure{
		Title: "Objective",
		X:     plotting.Axis{Label: "iteration t", Log: true},
		Y:     plotting.Axis{Label: "cost"},
		Layers: []plotting.Layer{
			plotting.Line{Name: "mean", X: []float64{1, 10, 100}, Y: []float64{9, 5, 4}, Lo: []float64{7, 4, 3.5}, Hi: []float64{11, 6, 4.5}},
			plotting.Rule{Label: "optimum", At: 3},
		},
	}
	plotting.Show(fig) // a chart in a notebook, a sentence elsewhere
	// Output:
	// Objective. cost against iteration t (logarithmic). Line "mean": from 4 to 9. Rule "optimum": at 3.
}

func ExampleTable() {
	table := plotting.Table{
		Caption: "Average cost",
		Columns: []plotting.Column{{Head: "policy"}, {Head: "cost", Format: "%.3f"}, {Head: "gap", Format: "%.1e"}},
	}
	table.Row("π¹", 3395.5, 0.18656)
	table.Row("π²", 7987.874, 1.79136)
	table.Row("optimum", 2861.6456, 0)
	plotting.Show(table)
	// Output:
	// Average cost
	// policy       cost      gap
	// π¹       3395.500  1.9e-01
	// π²       7987.874  1.8e+00
	// optimum  2861.646  0.0e+00
}

func ExampleMarkdown() {
	plotting.Show(plotting.Markdown(fmt.Sprintf("The optimum is $c^T\\Psi\\theta^\\star = %.4f$.", 2861.6456)))
	// Output:
	// The optimum is $c^T\Psi\theta^\star = 2861.6456$.
}

func ExampleGraph() {
	square := plotting.Graph("x²", []float64{0, 1, 2}, func(x float64) float64 { return x * x })
	fmt.Println(square.X, square.Y)
	// Output:
	// [0 1 2] [0 1 4]
}

func ExampleFold() {
	plotting.Show(plotting.Fold{Head: "All settings", Text: "η₀  64\nT   100000"})
	// Output:
	// All settings
	// η₀  64
	// T   100000
}

func ExampleFigure_Validate() {
	fig := plotting.Figure{
		Title: "Violation",
		Y:     plotting.Axis{Log: true},
		Layers: []plotting.Layer{
			plotting.Line{Name: "primal–dual", X: []float64{1, 2, 3}, Y: []float64{0.1, 0.01, 0}},
		},
	}
	fmt.Println(fig.Validate())
	// Output:
	// plotting: figure "Violation": layer 0, line "primal–dual": Y[2] is 0: values must be ≥ 1e-100 on a logarithmic axis
}

func ExampleExplorer() {
	radius, power := []float64{1, 2}, []float64{2, 4}
	plotting.Show(plotting.Explorer{
		Controls: []plotting.Control{
			{Label: "R", Values: []string{"1", "2"}, Start: 1},
			{Label: "modulus", Values: []string{"quadratic", "quartic"}, Menu: true},
		},
		Frame: func(at []int) plotting.Panels {
			y := math.Pow(radius[at[0]], power[at[1]])
			return plotting.Row(plotting.Figure{
				Title:  "Bregman divergence",
				Layers: []plotting.Layer{plotting.Line{Name: "D", X: []float64{0, radius[at[0]]}, Y: []float64{0, y}}},
			})
		},
	})
	// Output:
	// A slider over R = 1, 2.
	// A menu over modulus = quadratic, quartic.
	// Bregman divergence (R = 2, quadratic). y against x. Line "D": from 0 to 4.
}
