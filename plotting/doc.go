// Package plotting describes a figure once and draws it twice: as an interactive chart in a notebook (go-echarts) and
// as a picture for a file (gonum/plot).
//
// A [Figure] is data: two axes and a list of layers, each a plain struct such as [Line], [Bars], [Points], [Rule],
// [Contour] or [Arrow]. [Show] displays a figure in a notebook, and [Save] writes the figure as SVG, PNG or PDF, or its
// numbers as CSV. [Row] puts figures side by side. With the sliders and menus of an [Explorer], the reader chooses
// among figures computed beforehand, even on an exported page without a kernel.
//
//	fig := plotting.Figure{
//		Title:  "Objective",
//		X:      plotting.Axis{Label: "iteration t", Log: true},
//		Y:      plotting.Axis{Label: "cᵀΨθ̂"},
//		Layers: []plotting.Layer{
//			plotting.Line{Name: "primal–dual", X: t, Y: mean, Lo: lo, Hi: hi},
//			plotting.Rule{At: 2861.6456, Label: "optimum"},
//		},
//	}
//	plotting.Show(fig)
//	err := plotting.Save("objective.svg", fig)
//
// Both renderings draw the same marks over the same axis ranges. Each layer becomes a list of marks of a few kinds
// (mark.go, grid.go), and both renderings can draw every kind. Neither rendering repairs data. Slices of different
// lengths are an error. So are NaN, infinities (except as Z in a [Grid]), numbers beyond ±1e100 and, on a logarithmic
// axis, values below 1e-100. The error names the layer and, if a number is wrong, the index of the number.
//
// A [Layer] is an interface with one method, so a user's own type can be a layer. Such a type draws itself with the
// layers of this package, and both renderings show it.
//
// Labels, titles and names may contain TeX formulas between dollar signs, with superscripts, subscripts, accents and
// symbols: `$c^T\Psi\hat\theta_t$`, `$\nabla\varphi$`. Both renderings raise superscripts and lower subscripts. Plain
// text uses Unicode's superscript and subscript characters where Unicode has them (see [Unicode]).
//
// Long curves are drawn with fewer points, without a visible change (thin.go). In a figure of one curve with at most
// 2000 points, every dropped point is within a pixel and a half of the drawn curve.
//
// In a notebook, the output of a figure contains the chart as HTML and, for LaTeX and for viewers without HTML, a
// picture as PNG.
//
// The cells of a page run as programs built for js/wasm. In such a build, the package only describes figures. Another
// program on the page, built for js/wasm with the build tag `drawer`, draws the figures. Its output is the same, byte for
// byte, as the output of the package on other platforms.
//
// The package draws results, and does not compute them. It imports no package from the folder mixpolicy.
package plotting
