//go:build !js || drawer

package plotting

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/mixpolicy/lab/internal/csvrows"
)

// datum is a row of the table that [Save] writes as CSV; a number that the layer lacks is NaN.
type datum struct {
	Panel int     `csv:"panel"` // counted from 1
	Title string  `csv:"title"`
	Kind  string  `csv:"kind"`
	Layer string  `csv:"layer"`
	X     float64 `csv:"x,%g,"`
	Y     float64 `csv:"y,%g,"`
	Lo    float64 `csv:"lo,%g,"`
	Hi    float64 `csv:"hi,%g,"`
	Z     float64 `csv:"z,%g,"`
}

// csv returns the table that [Save] describes, with the numbers before thinning.
func (p Panels) csv() ([]byte, error) {
	var rows []datum
	for k, f := range p.Figures {
		layers, err := f.lower()
		if err != nil {
			return nil, err
		}
		for _, l := range layers {
			c := numbers(l.of)
			for i := range max(len(c[0]), len(c[1])) {
				at := func(column int) float64 {
					if c[column] == nil {
						return math.NaN()
					}
					return c[column][i]
				}
				rows = append(rows, datum{k + 1, Unicode(f.Title), l.kind, Unicode(l.name), at(0), at(1), at(2), at(3), at(4)})
			}
		}
	}
	var b bytes.Buffer
	err := csvrows.Encode(&b, rows)
	return b.Bytes(), err
}

// alt returns the alternative text of the picture: the title, the axes, and the kind and name of each named layer. For
// named layers other than arrows, contours and heatmaps, the text also gives the range of any values along y or, if the
// y axis has names, along x.
func (f Figure) alt() string {
	values, along, y := 1, "", "y"
	if f.Y.Names != nil {
		values, along, y = 0, "x ", "rows"
	}
	text := strings.TrimPrefix(Unicode(f.Title)+". ", ". ") + axisName(f.Y, y) + " against " + axisName(f.X, "x") + "."
	layers, _ := f.lower() // no error, because the figure has been drawn
	for _, l := range layers {
		if l.name == "" {
			continue
		}
		kind := strings.Replace(l.kind, "arrow", "label", 1) // the text does not say where the arrow points
		text += fmt.Sprintf(" %s%s %q", strings.ToUpper(kind[:1]), kind[1:], Unicode(l.name))
		c := numbers(l.of)
		switch r := empty.include(c[values]...); {
		case r.lo > r.hi || c[4] != nil || kind == "label": // no values, or no range that says anything
		case r.lo == r.hi:
			text += fmt.Sprintf(": %sat %s", along, brief(r.lo))
		default:
			text += fmt.Sprintf(": %sfrom %s to %s", along, brief(r.lo), brief(r.hi))
		}
		text += "."
	}
	return text
}

func axisName(a Axis, fallback string) string {
	if a.Log {
		return cmp.Or(Unicode(a.Label), fallback) + " (logarithmic)"
	}
	return cmp.Or(Unicode(a.Label), fallback)
}

// numbers returns the columns x, y, lo, hi and z of a layer.
func numbers(l described) (c [5][]float64) {
	across := map[bool]int{true: 0, false: 1} // the column x for a vertical line, and y for a horizontal line
	switch l := l.(type) {
	case Line:
		return [5][]float64{l.X, l.Y, l.Lo, l.Hi}
	case Points:
		return [5][]float64{l.X, l.Y, l.Lo, l.Hi}
	case Path:
		return [5][]float64{l.X, l.Y}
	case Bars:
		return [5][]float64{l.X, l.Height}
	case Rule:
		c[across[l.Vertical]] = []float64{l.At}
	case Span:
		c[across[l.Vertical]] = []float64{l.From, l.To}
	case Arrow:
		return [5][]float64{{l.X}, {l.Y}}
	case Contour:
		return l.Grid.columns()
	case Heatmap:
		return l.Grid.columns()
	}
	return c
}

// columns returns x, y and z of each point.
func (g Grid) columns() (c [5][]float64) {
	for i, x := range g.X {
		for j, y := range g.Y {
			c[0], c[1], c[4] = append(c[0], x), append(c[1], y), append(c[4], g.Z[i][j])
		}
	}
	return c
}
