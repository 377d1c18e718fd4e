package plotting

// The figures that the notebooks draw again and again. Each returns a plain
// [Figure], to be adjusted at will: its title, its axes, and further layers by
// [Figure.With].

// With returns the figure with further layers on top.
func (f Figure) With(layers ...Layer) Figure {
	f.Layers = append(append([]Layer(nil), f.Layers...), layers...)
	return f
}

// Measure is the histogram of a probability measure on the states 1, …, n (as
// the panels of Fig. 1): mu[i] over state i+1.
func Measure(title string, mu []float64) Figure {
	return Figure{
		Title:  title,
		X:      Axis{Label: "state"},
		Y:      Axis{Label: "probability"},
		Layers: []Layer{Bars{X: numbered(len(mu)), Height: mu}},
	}
}

// Measures is the histogram of a measure found by simulation, or by any other
// approximation, and the exact one over it (Fig. 1).
func Measures(title string, simulated, exact []float64) Figure {
	return Figure{
		Title: title,
		X:     Axis{Label: "state"},
		Y:     Axis{Label: "probability"},
		Layers: []Layer{
			Bars{Name: "simulated", X: numbered(len(simulated)), Height: simulated},
			Line{Name: "exact", X: numbered(len(exact)), Y: exact, Color: Vermilion},
		},
	}
}

// Coefficients shows mixing coefficients θ along a run, with confidence bands
// where the lines have them (Fig. 2, left).
func Coefficients(lines ...Line) Figure {
	return progress("Mixing coefficients", Axis{Label: "θ"}, lines)
}

// Costs shows the cost of the mixture along a run (Fig. 2, right). Where the
// optimum is known it belongs there as a [Rule].
func Costs(lines ...Line) Figure {
	return progress("Cost of the mixture", Axis{Label: "cost cᵀΨθ"}, lines)
}

// Violations shows the constraint violation V along a run on logarithmic axes.
// A violation of exactly 0 can't be shown there.
func Violations(lines ...Line) Figure {
	f := progress("Constraint violation", Axis{Label: "violation V", Log: true}, lines)
	f.X.Log = true
	return f
}

// Divergences shows divergences D(θ, θ₀) against θ.
func Divergences(lines ...Line) Figure {
	f := progress("Bregman divergence", Axis{Label: "D(θ, θ₀)"}, lines)
	f.X.Label = "θ"
	return f
}

// DualFunctions shows the functions J of (3.19), whose minimiser is the shift z
// that projects onto the hyperplane 1ᵀθ = 1, and marks the minimisers.
func DualFunctions(minimisers []float64, lines ...Line) Figure {
	f := progress("The dual of the projection", Axis{Label: "J(z)"}, lines)
	f.X.Label = "z"
	for _, z := range minimisers {
		f.Layers = append(f.Layers, Rule{Label: "zₜ = " + brief(z), At: z, Vertical: true})
	}
	return f
}

// progress is a figure of lines over the iterations.
func progress(title string, y Axis, lines []Line) Figure {
	f := Figure{Title: title, X: Axis{Label: "iteration t"}, Y: y}
	for _, l := range lines {
		f.Layers = append(f.Layers, l)
	}
	return f
}

// numbered returns 1, …, n.
func numbered(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i + 1)
	}
	return out
}
