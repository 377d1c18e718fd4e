//go:build !js || drawer

package plotting

import (
	"bytes"
	"math"

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
			kind, name := l.of.describe()
			c := numbers(l.of)
			for i := range max(len(c[0]), len(c[1])) {
				at := func(column int) float64 {
					if c[column] == nil {
						return math.NaN()
					}
					return c[column][i]
				}
				rows = append(rows, datum{k + 1, Unicode(f.Title), kind, Unicode(name), at(0), at(1), at(2), at(3), at(4)})
			}
		}
	}
	var b bytes.Buffer
	err := csvrows.Encode(&b, rows)
	return b.Bytes(), err
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
