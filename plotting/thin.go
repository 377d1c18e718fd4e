//go:build !js || drawer

package plotting

import (
	"iter"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// maxPoints is the number of points kept of a smooth curve: one for every two or three of the 500 to 700 pixels of a
// figure's width. Twice as many look the same and take twice the space in every saved notebook.
const maxPoints = 250

// If a curve has more points than the constant dense, a picture shows only its outline, because several points share
// each of the 500 to 700 columns of pixels.
const (
	pixelColumns = 500
	dense        = 4 * pixelColumns
)

// thin drops points that are invisible on a screen. Curves over the same x are thinned together, so that a reader who
// hovers at x sees the values of all these curves.
func thin(layers []layer, sx, sy scale) []layer {
	var groups [][]*mark
	out := slices.Clone(layers)
	for i := range out {
		out[i].marks = slices.Clone(out[i].marks)
		for j, m := range out[i].marks {
			c, ok := m.(curve)
			if !ok {
				continue
			}
			if c.arrows || c.thin || !slices.IsSorted(c.x) { // y need not be a function of x
				keep := simplifyTo(maxPoints, project(c.x, sx), project(c.y, sy))
				out[i].marks[j] = c.pick(keep)
				continue
			}
			if len(c.x) <= maxPoints {
				continue
			}
			k := slices.IndexFunc(groups, func(g []*mark) bool {
				return slices.Equal((*g[0]).(curve).x, c.x)
			})
			if k < 0 {
				k, groups = len(groups), append(groups, nil)
			}
			groups[k] = append(groups[k], &out[i].marks[j])
		}
	}
	for _, g := range groups {
		var x []float64
		var ys [][]float64
		for _, r := range g {
			c := (*r).(curve)
			x = project(c.x, sx)
			for _, column := range [][]float64{c.y, c.lo, c.hi} {
				if column != nil {
					ys = append(ys, project(column, sy))
				}
			}
		}
		keep := extremes(x, ys)
		if more := maxPoints - len(keep); more > 0 { // points of the smooth parts, to hover at
			keep = sorted(append(keep, strips(more, x)...))
		}
		for _, r := range g {
			*r = (*r).(curve).pick(keep)
		}
	}
	return out
}

// project maps values to the unit interval of the axis.
func project(v []float64, s scale) []float64 { return mapped(v, s.unit) }

// pick keeps the points with the given indices.
func (c curve) pick(keep []int) curve {
	c.x, c.y, c.lo, c.hi = pick(c.x, keep), pick(c.y, keep), pick(c.lo, keep), pick(c.hi, keep)
	return c
}

func pick(v []float64, keep []int) []float64 {
	if v == nil {
		return nil
	}
	return mapped(keep, func(k int) float64 { return v[k] })
}

// extremes finds the first, the last, the least and the greatest point of each curve in each column of pixels. These
// points draw the same pixels as all points do (U. Jugel et al., M4: A Visualization-Oriented Time Series Data
// Aggregation, VLDB 2014). For each curve, extremes then drops points within half a pixel of the lines between the
// others. It returns the indices of the points that at least one curve keeps. x is sorted; the axis is the unit
// interval. With many curves, the columns are wider than pixels.
func extremes(x []float64, ys [][]float64) []int {
	columns := min(pixelColumns, 2*dense/(2+2*len(ys)))
	column := func(i int) int { return min(columns-1, max(0, int(x[i]*float64(columns)))) }
	var keep []int
	for lo := 0; lo < len(x); {
		hi := lo + 1
		for hi < len(x) && column(hi) == column(lo) {
			hi++
		}
		keep = append(keep, lo, hi-1)
		for _, y := range ys {
			keep = append(keep, lo+floats.MinIdx(y[lo:hi]), lo+floats.MaxIdx(y[lo:hi]))
		}
		lo = hi
	}
	keep = sorted(keep)
	// Where the curves are smooth, fewer points suffice.
	var needed []int
	for _, y := range ys {
		for _, k := range simplify(0.5/pixelColumns, pick(x, keep), pick(y, keep)) {
			needed = append(needed, keep[k])
		}
	}
	return sorted(needed)
}

// sorted returns the indices in increasing order, each once.
func sorted(indices []int) []int {
	slices.Sort(indices)
	return slices.Compact(indices)
}

// strips returns the index of the first point in each of n strips of the axis. x is sorted; the axis is the unit interval.
func strips(n int, x []float64) (keep []int) {
	for i, u := range x {
		if i == 0 || int(u*float64(n)) != int(x[i-1]*float64(n)) {
			keep = append(keep, i)
		}
	}
	return keep
}

// simplify drops points of a polyline, each within tol of the simplified line (Ramer 1972; Douglas and Peucker 1973),
// and returns the indices of the remaining points. It keeps NaN, which separates pieces, and the neighbours of NaN.
func simplify(tol float64, x, y []float64) []int {
	keep := make([]bool, len(x))
	var split func(lo, hi int)
	split = func(lo, hi int) {
		keep[lo], keep[hi] = true, true
		dx, dy := x[hi]-x[lo], y[hi]-y[lo]
		length2 := dx*dx + dy*dy
		far, farthest := -1, tol*tol
		for i := lo + 1; i < hi; i++ {
			px, py := x[i]-x[lo], y[i]-y[lo]
			d2 := px*px + py*py
			if length2 > 0 {
				t := min(1, max(0, (px*dx+py*dy)/length2))
				px, py = px-t*dx, py-t*dy
				d2 = px*px + py*py
			}
			if d2 > farthest {
				far, farthest = i, d2
			}
		}
		if far >= 0 {
			split(lo, far)
			split(far, hi)
		}
	}
	for lo, hi := range pieces(x, y) {
		split(lo, hi-1)
	}
	var out []int
	for i, k := range keep {
		if k || !finite(x[i]) || !finite(y[i]) {
			out = append(out, i)
		}
	}
	return out
}

// pieces iterates over the pieces into which NaN separates a polyline. It yields the index of the first point of a
// piece, and the index after the last point of the piece.
func pieces(x, y []float64) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		lo := 0
		for hi := range len(x) + 1 {
			if hi < len(x) && finite(x[hi]) && finite(y[hi]) {
				continue
			}
			if hi > lo && !yield(lo, hi) {
				return
			}
			lo = hi + 1
		}
	}
}

// simplifyTo simplifies until at most n points are left, starting with a tolerance below what can be seen. If len(x) is
// at most dense, it may keep more than n points, because it then drops only points within half a pixel of the line. It
// keeps the ends of all pieces of a curve, even if these are more than n points.
func simplifyTo(n int, x, y []float64) []int {
	for tol := invisible; ; tol *= 2 {
		keep := simplify(tol, x, y)
		switch {
		case len(keep) <= n || tol > 1 || len(x) <= dense && 2*tol > 0.5/pixelColumns:
			return keep
		case len(keep) > 100*n: // far too many
			tol *= 8
		}
	}
}

// invisible is a fifth of a pixel in a plot 500 pixels wide, as a fraction of
// the length of the axis.
const invisible = 0.2 / 500
