package plotting

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
)

var update = flag.Bool("update", false, "rewrite the golden pictures")

// numbered returns 1, …, n.
func numbered(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i + 1)
	}
	return out
}

// histogram returns a figure of a measure on the states 1, …, n.
func histogram(title, name string, mu []float64) Figure {
	return Figure{
		Title: title, X: Axis{Label: "state"}, Y: Axis{Label: "probability"},
		Layers: []Layer{Bars{Name: name, X: numbered(len(mu)), Height: mu}},
	}
}

// divergence returns a figure of one curve.
func divergence(y ...float64) Panels {
	return Row(Figure{Title: "Bregman divergence", X: Axis{Label: "θ"}, Y: Axis{Label: "D(θ, θ₀)"}, Layers: []Layer{Line{Name: "ball", X: []float64{0, 1, 2}, Y: y}}})
}

// slider returns an Explorer over frames that are numbered from 1.
func slider(label string, start int, frames ...Panels) Explorer {
	c := Control{Label: label, Start: start}
	for k := range frames {
		c.Values = append(c.Values, strconv.Itoa(k+1))
	}
	return Explorer{Controls: []Control{c}, Frame: func(at []int) Panels { return frames[at[0]] }}
}

// gallery returns a figure of each kind. Formulas give the data, so the figures never change.
func gallery() map[string]Drawing {
	const n = 1000
	t := numbered(n)
	of := func(f func(t float64) float64) []float64 { return mapped(t, f) }
	cost := Figure{Title: "Cost of the mixture", X: Axis{Label: "iteration t", Log: true}, Y: Axis{Label: "cost cᵀΨθ"}}.With(
		Line{Name: "primal–dual", X: t,
			Y:  of(func(t float64) float64 { return 2900 + 3000/math.Sqrt(t) + 40*math.Sin(t) }),
			Lo: of(func(t float64) float64 { return 2860 + 2100/math.Sqrt(t) + 40*math.Sin(t) }),
			Hi: of(func(t float64) float64 { return 2940 + 3900/math.Sqrt(t) + 40*math.Sin(t) })},
		Line{Name: "penalty method", X: t, Y: of(func(t float64) float64 { return 3100 + 4500/math.Sqrt(t) })},
		Rule{Label: "optimum", At: 2861.6456})

	states := numbered(40)
	geometric := mapped(states, func(s float64) float64 { return 0.08 * math.Pow(0.46/0.5, s-1) })
	simulated := mapped(states, func(s float64) float64 { return geometric[int(s)-1] * (1 + 0.05*math.Sin(7*(s-1))) })
	theta1, theta2 := of(func(t float64) float64 { return 0.3 + 0.6*math.Exp(-t/300)*math.Cos(t/60) }),
		of(func(t float64) float64 { return 0.5 + 0.4*math.Exp(-t/300)*math.Sin(t/60) })
	distance := Sample(func(x, y float64) float64 {
		if x <= 0 || y <= 0 {
			return math.Inf(1)
		}
		return x*math.Log(x/0.3) - x + 0.3 + y*math.Log(y/0.5) - y + 0.5
	}, -0.1, 1.1, -0.1, 1.1, 61)
	z := of(func(t float64) float64 { return -2 + t/250 })

	return map[string]Drawing{
		"cost":     cost,
		"measures": Row(histogram("μ¹", "", geometric), histogram("μ²", "simulated", simulated).With(Line{Name: "exact", X: states, Y: geometric, Color: Vermilion})),
		"path": Figure{
			Title: "Iterates and the level sets of D(θ, θ̂)", X: Axis{Label: "θ₁"}, Y: Axis{Label: "θ₂"},
			Layers: []Layer{
				Contour{Name: "D", Grid: distance, Levels: []float64{0.02, 0.1, 0.3}},
				Path{Name: "iterates", X: theta1, Y: theta2, Color: Blue},
			}},
		"heatmap": Figure{
			Title: "D(θ, θ̂)", X: Axis{Label: "θ₁"}, Y: Axis{Label: "θ₂"},
			Layers: []Layer{Heatmap{Name: "D", Grid: distance}, Points{Name: "θ̂", X: []float64{0.3}, Y: []float64{0.5}, Color: Orange}}},
		"dual": Figure{Title: "The dual of the projection", X: Axis{Label: "z"}, Y: Axis{Label: "J(z)"}}.
			With(Line{Name: "J", X: z, Y: of(func(t float64) float64 { return math.Cosh(t/250 - 2.5) })},
				Rule{Label: "zₜ = 0.5", At: 0.5, Vertical: true}, Span{Label: "bracket", From: 0, To: 1, Vertical: true}),
		"points": Figure{
			Title: "Cost against samples", X: Axis{Label: "samples", Log: true}, Y: Axis{Label: "relative error"},
			Layers: []Layer{
				Points{Name: "plug-in", X: []float64{10, 100, 1000}, Y: []float64{0.3, 0.2, 0.1}, Lo: []float64{0.2, 0.15, 0.05}, Hi: []float64{0.4, 0.25, 0.15}},
				Points{Name: "primal–dual", X: []float64{10, 100, 1000}, Y: []float64{0.35, 0.28, 0.22}},
			}},
		"slider": slider("η", 1, divergence(0, 0.1, 0.4), divergence(0, 1, 4)),
		"explorer": Explorer{
			Controls: []Control{
				{Label: "R", Values: []string{"1", "2", "4"}, Start: 1},
				{Label: "φ", Values: []string{"bowl", "parabola"}, Menu: true},
			},
			Frame: func(at []int) Panels {
				r, x := []float64{1, 2, 4}[at[0]], []float64{0, 0.5, 1}
				y := make([]float64, len(x))
				for i := range x {
					y[i] = []float64{r - math.Sqrt(r*r-x[i]*x[i]), x[i] * x[i]}[at[1]]
				}
				return Row(Figure{Title: "A modulus", Layers: []Layer{Line{Name: "φ", X: x, Y: y}}}, histogram("1/R", "", []float64{1 / r}))
			}},
	}
}

func TestGoldenPictures(t *testing.T) {
	for name, d := range gallery() {
		got, path := must(encode("svg", d)), filepath.Join("testdata", name+".svg")
		if *update {
			noError(os.WriteFile(path, got, 0o644))
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s has changed, %v: look at it, then run go test -update", path, err)
		}
	}
}

// PDF and SVG use the same colours and opacities. SVG truncates a channel to a multiple of 1/255, and PDF
// prints three decimals.
func TestColorsOfPDF(t *testing.T) {
	stream := regexp.MustCompile(`(?s)stream\r?\n(.*?)endstream`)
	colors := func(text []byte, pattern string, channel func(string) float64) (all [][]float64) {
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
			var c []float64
			for _, v := range slices.Repeat(m[1:], 4-len(m[1:]))[:3] { // a grey is one number
				c = append(c, channel(string(v)))
			}
			all = append(all, c)
		}
		return all
	}
	decimal := func(v string) float64 { return 255 * must(strconv.ParseFloat(v, 64)) }
	hex := func(v string) float64 { return float64(must(strconv.ParseUint(v, 16, 8))) }
	without := func(all, others [][]float64, near float64) [][]float64 {
		return slices.DeleteFunc(slices.Clone(all), func(c []float64) bool {
			return slices.ContainsFunc(others, func(o []float64) bool { return floats.Distance(o, c, math.Inf(1)) < near })
		})
	}
	for name, d := range gallery() {
		pages, picture := must(encode("pdf", d)), must(encode("svg", d))
		opaque := [][]float64{{255, 255, 255}}
		a, b := colors(pages, `/ca ([\d.]+)`, decimal), colors(picture, `-opacity:([\d.]+)`, decimal)
		if more, less := without(a, append(b, opaque...), 0.255), without(b, append(a, opaque...), 0.255); len(more)+len(less) > 0 {
			t.Errorf("%s: PDF alone has 255 times the opacities %v, SVG alone %v", name, more, less)
		}
		var pdf [][]float64
		for _, m := range stream.FindAllSubmatch(pages, -1) {
			if r, err := zlib.NewReader(bytes.NewReader(m[1])); err == nil { // a compressed stream
				drawn := must(io.ReadAll(r))
				pdf = append(pdf, colors(drawn, `\n([\d.]+) [gG]\b`, decimal)...)
				pdf = append(pdf, colors(drawn, `([\d.]+) ([\d.]+) ([\d.]+) (?:rg|RG)\b`, decimal)...)
			}
		}
		svg := append(colors(picture, `(?:fill|stroke):#([0-9A-F]{2})([0-9A-F]{2})([0-9A-F]{2})`, hex), []float64{0, 0, 0}) // PDF begins with black
		if more, less := without(pdf, svg, 1.2), without(svg, pdf, 1.2); len(more)+len(less) > 0 {
			t.Errorf("%s: PDF alone has the colours %.0f, SVG alone %.0f", name, more, less)
		}
	}
}

// The live chart has the layers of the picture: the legend and the series have the names of the layers, in the
// same order.
func TestRenderingsAgree(t *testing.T) {
	for name, d := range gallery() {
		for _, f := range must(d.panels()).Figures {
			var want, legend, series []string
			for _, l := range must(f.lower()) {
				if l.inLegend() {
					want = append(want, l.name)
				}
			}
			var option struct {
				Legend struct{ Data []struct{ Name string } }
				Series []struct{ Name string }
			}
			if err := json.Unmarshal(marshal(must(f.option(new(columns), stillDigits))), &option); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, e := range option.Legend.Data {
				legend = append(legend, e.Name)
			}
			for _, s := range option.Series {
				if s.Name != "" && !slices.Contains(series, s.Name) {
					series = append(series, s.Name)
				}
			}
			if !slices.Equal(legend, want) || !slices.Equal(series, want) {
				t.Errorf("%s: layers %q, live legend %q, live series %q", name, want, legend, series)
			}
		}
	}
}

func TestShowPanicsWithTheReason(t *testing.T) {
	defer func() {
		err, _ := recover().(error)
		if err == nil || !strings.Contains(err.Error(), "no layers") {
			t.Errorf("panic %v", err)
		}
	}()
	Show(Figure{})
}

// prepared returns the layers and axes of a figure that can be drawn.
func prepared(f Figure) (layers []layer, x, y scale) {
	layers, x, y, err := f.prepare()
	return must(layers, err), x, y
}

func noError(err error) { must(0, err) }

// must returns v, or panics with err.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
