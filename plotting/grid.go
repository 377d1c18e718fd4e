package plotting

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Grid holds the values of a function on a rectangular grid: Z[i][j] = z(X[i], Y[j]), with X and Y increasing. Z may be
// ±Inf where the function is not defined, for example outside the domain of a divergence. The figure is blank where Z
// is ±Inf.
type Grid struct {
	X, Y []float64
	Z    [][]float64
}

// Sample evaluates z on n × n equidistant points of [x0, x1] × [y0, y1], for n ≥ 2. If z becomes infinite between two
// neighbouring points, Sample adds a row or column of grid points close to where z becomes infinite.
func Sample(z func(x, y float64) float64, x0, x1, y0, y1 float64, n int) Grid {
	g := Grid{X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		u := float64(i) / float64(n-1)
		g.X[i], g.Y[i] = x0+u*(x1-x0), y0+u*(y1-y0)
	}
	xs, ys := slices.Clone(g.X), slices.Clone(g.Y)
	for i := range n {
		for j := range n - 1 {
			ys = append(ys, ends(func(y float64) float64 { return z(g.X[i], y) }, g.Y[j], g.Y[j+1])...)
			xs = append(xs, ends(func(x float64) float64 { return z(x, g.Y[i]) }, g.X[j], g.X[j+1])...)
		}
	}
	slices.Sort(xs)
	slices.Sort(ys)
	g = Grid{X: slices.Compact(xs), Y: slices.Compact(ys)}
	for _, x := range g.X {
		g.Z = append(g.Z, mapped(g.Y, func(y float64) float64 { return z(x, y) }))
	}
	return g
}

// If z is infinite at exactly one of a and b, ends returns a point at which z is still finite, next to where z becomes
// infinite. Otherwise, it returns nil.
func ends(z func(float64) float64, a, b float64) []float64 {
	if math.IsInf(z(a), 0) {
		a, b = b, a
	}
	if math.IsInf(z(a), 0) || !math.IsInf(z(b), 0) {
		return nil
	}
	for range 30 { // a billionth of the distance is finer than any screen
		if m := a + (b-a)/2; math.IsInf(z(m), 0) {
			b = m
		} else {
			a = m
		}
	}
	return []float64{a}
}

func (g Grid) check(x, y Axis) error {
	for _, c := range []column{{"Grid.X", g.X, x}, {"Grid.Y", g.Y, y}} {
		if err := checkColumns(c); err != nil {
			return err
		}
		if len(c.data) < 2 {
			return fmt.Errorf("%s has %d value, where at least 2 are needed", c.name, len(c.data))
		}
		for i := 1; i < len(c.data); i++ {
			if c.data[i] <= c.data[i-1] {
				return fmt.Errorf("%s[%d] = %g ≤ %s[%d] = %g: values must increase", c.name, i, c.data[i], c.name, i-1, c.data[i-1])
			}
		}
	}
	if len(g.Z) != len(g.X) {
		return fmt.Errorf("Grid.Z has %d rows, but Grid.X has %d values", len(g.Z), len(g.X))
	}
	for i, row := range g.Z {
		if len(row) != len(g.Y) {
			return fmt.Errorf("Grid.Z[%d] has %d values, but Grid.Y has %d", i, len(row), len(g.Y))
		}
		for j, v := range row {
			if !drawable(v) && !math.IsInf(v, 0) {
				return fmt.Errorf("Grid.Z[%d][%d] is %g, at (%g, %g): values must be ±Inf, or within ±1e100", i, j, v, g.X[i], g.Y[j])
			}
		}
	}
	if r := g.values(); r.lo > r.hi {
		return errors.New("Grid.Z has no finite value, want at least one")
	}
	return nil
}

// values returns the range of the finite values.
func (g Grid) values() interval {
	r := empty
	for _, row := range g.Z {
		r = r.include(row...)
	}
	return r
}

// Contour draws the level sets z(x, y) = c of a function on a grid, each with the label c where there is room.
type Contour struct {
	Name   string
	Grid   Grid
	Levels []float64 // default: about eight round values
	Color  Color     // default: Grey
}

func (c Contour) describe() (kind, name string) { return "contour", c.Name }

// Draw implements [Layer].
func (c Contour) Draw(p *Pen) error {
	if c.Levels != nil {
		if err := checkColumns(column{"Levels", c.Levels, Axis{}}); err != nil {
			return err
		}
	}
	if err := c.Grid.check(p.X, p.Y); err != nil {
		return err
	}
	return p.add(c, "", c.Color.or(Grey), Solid, 0, c.marks()...)
}

func (c Contour) marks() []mark {
	levels := c.Levels
	if levels == nil {
		r := c.Grid.values()
		for _, t := range (scale{lo: r.lo, hi: r.hi}).ticks(8) {
			levels = append(levels, t.at)
		}
	}
	// The axes cover the whole grid, even if the level sets cover less.
	ms := []mark{extent{interval{c.Grid.X[0], c.Grid.X[len(c.Grid.X)-1]}, interval{c.Grid.Y[0], c.Grid.Y[len(c.Grid.Y)-1]}}}
	var labels texts
	for _, level := range levels {
		lines := c.Grid.levelSet(level)
		if len(lines) == 0 {
			continue
		}
		all := curve{thin: true}
		for k, l := range lines {
			if k > 0 { // NaN separates the pieces
				all.x, all.y = append(all.x, math.NaN()), append(all.y, math.NaN())
			}
			all.x, all.y = append(all.x, l.x...), append(all.y, l.y...)
			if l.closed {
				all.x, all.y = append(all.x, l.x[0]), append(all.y, l.y[0])
			}
		}
		ms = append(ms, all)
		if x, y, ok := c.room(labels, lines); ok {
			labels.x, labels.y = append(labels.x, x), append(labels.y, y)
			labels.text = append(labels.text, brief(level))
		}
	}
	if len(labels.x) > 0 {
		ms = append(ms, labels)
	}
	return ms
}

// room finds a point of the level set for the label, where the frame and earlier labels leave twice the space that a
// label needs: the middle point of the longest piece or, if the space there is less, the first such point. If there is
// no such point, room returns the point with the most space, and ok is false if a label needs more than that.
func (c Contour) room(labels texts, lines []polyline) (x, y float64, ok bool) {
	const width, height = 0.09, 0.06 // of a label and the space around it, relative to the length of an axis
	g := c.Grid
	sx, sy := scale{lo: g.X[0], hi: g.X[len(g.X)-1]}, scale{lo: g.Y[0], hi: g.Y[len(g.Y)-1]}
	distance := func(x, y float64) float64 {
		u, v := sx.unit(x), sy.unit(y)
		d := 2 * min(u/width, (1-u)/width, v/height, (1-v)/height)
		for i := range labels.x {
			d = min(d, max(math.Abs(u-sx.unit(labels.x[i]))/width, math.Abs(v-sy.unit(labels.y[i]))/height))
		}
		return d
	}
	longest := slices.MaxFunc(lines, func(a, b polyline) int { return len(a.x) - len(b.x) })
	x, y = longest.x[len(longest.x)/2], longest.y[len(longest.x)/2]
	best := distance(x, y)
	for _, l := range lines {
		for i := range l.x {
			if d := distance(l.x[i], l.y[i]); best < 2 && d > best {
				x, y, best = l.x[i], l.y[i], d
			}
		}
	}
	return x, y, best >= 1
}

// polyline is a connected piece of a level set; a closed piece continues from its last point to the first.
type polyline struct {
	x, y   []float64
	closed bool
}

// levelSet traces the level set of the function that interpolates the grid linearly along its edges (marching
// squares). If only two opposite corners of a cell are above the level, the level set separates these two unless the
// mean of the four corners is above the level. A corner or a mean at the level itself counts as above. If exactly one
// corner of a cell is not finite, the triangle of the other three corners is used.
func (g Grid) levelSet(level float64) []polyline {
	nx, ny := len(g.X), len(g.Y)
	// An edge of kind 0 leads from (i, j) to (i+1, j), and an edge of kind 1 from (i, j) to (i, j+1). The diagonals are
	// of kind 2, from (i, j) to (i+1, j+1), and of kind 3, from (i+1, j) to (i, j+1).
	edge := func(i, j, kind int) int { return 4*(i*ny+j) + kind }

	// neighbours maps an edge to the edges to which the level set continues, through the cells on either side.
	neighbours := map[int][]int{}
	var order []int // the edges in order of discovery, because maps have no order
	link := func(a, b int) {
		for _, e := range [][2]int{{a, b}, {b, a}} {
			if neighbours[e[0]] == nil {
				order = append(order, e[0])
			}
			neighbours[e[0]] = append(neighbours[e[0]], e[1])
		}
	}
	for i := range nx - 1 {
		for j := range ny - 1 {
			corners := []float64{g.Z[i][j], g.Z[i+1][j], g.Z[i+1][j+1], g.Z[i][j+1]}
			edges := []int{edge(i, j, 0), edge(i+1, j, 1), edge(i, j+1, 0), edge(i, j, 1)}
			infinite := func(z float64) bool { return !finite(z) }
			if k := slices.IndexFunc(corners, infinite); k >= 0 { // edge k joins corners k and k+1
				corners = slices.Concat(corners[k+1:], corners[:k])
				edges = append(slices.Concat(edges[k+1:], edges[:k])[:2], edge(i, j, 3-k%2))
				if slices.ContainsFunc(corners, infinite) {
					continue
				}
			}
			var crossed []int // the edges that the level set crosses, in order around the cell
			for k, e := range edges {
				if (corners[k] >= level) != (corners[(k+1)%len(corners)] >= level) {
					crossed = append(crossed, e)
				}
			}
			switch len(crossed) {
			case 2:
				link(crossed[0], crossed[1])
			case 4:
				if ((corners[0]+corners[1]+corners[2]+corners[3])/4 >= level) == (g.Z[i][j] >= level) {
					link(crossed[0], crossed[1])
					link(crossed[2], crossed[3])
				} else {
					link(crossed[3], crossed[0])
					link(crossed[1], crossed[2])
				}
			}
		}
	}
	point := func(e int) (x, y float64) {
		ends := [4][4]int{{0, 0, 1, 0}, {0, 0, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 1}}[e%4]
		i, j, k, l := e/4/ny+ends[0], e/4%ny+ends[1], e/4/ny+ends[2], e/4%ny+ends[3]
		t := (level - g.Z[i][j]) / (g.Z[k][l] - g.Z[i][j])
		return g.X[i] + t*(g.X[k]-g.X[i]), g.Y[j] + t*(g.Y[l]-g.Y[j])
	}
	// Open pieces begin at an edge with one neighbour; the remaining pieces are closed.
	slices.SortStableFunc(order, func(a, b int) int { return len(neighbours[a]) - len(neighbours[b]) })
	visited := map[int]bool{}
	var out []polyline
	for _, start := range order {
		if visited[start] {
			continue
		}
		l := polyline{closed: len(neighbours[start]) == 2}
		for at := start; ; {
			visited[at] = true
			x, y := point(at)
			l.x, l.y = append(l.x, x), append(l.y, y)
			next := slices.IndexFunc(neighbours[at], func(e int) bool { return !visited[e] })
			if next < 0 {
				break
			}
			at = neighbours[at][next]
		}
		out = append(out, l)
	}
	return out
}

// Heatmap colours the area of a grid: each point gets the colour of the value at the nearest grid point. Small values
// are dark. The legend shows the scale of colours, and the least and the greatest value.
type Heatmap struct {
	Name string
	Grid Grid
}

func (h Heatmap) describe() (kind, name string) {
	r := h.Grid.values()
	if r.lo > r.hi {
		return "heatmap", h.Name
	}
	return "heatmap", strings.TrimSpace(fmt.Sprintf("%s from %s to %s", h.Name, brief(r.lo), brief(r.hi)))
}

// Draw implements [Layer].
func (h Heatmap) Draw(p *Pen) error {
	err := h.Grid.check(p.X, p.Y)
	if err == nil { // on a logarithmic axis, the first cell may reach below 0
		err = cmp.Or(checkColumns(column{"cells of X", cells(h.Grid.X), p.X}), checkColumns(column{"cells of Y", cells(h.Grid.Y), p.Y}))
	}
	if err != nil {
		return err
	}
	return p.add(h, "", Grey, AutoDash, 0, plane{h.Grid})
}

// plane is the area of a grid, coloured by the values.
type plane struct{ grid Grid }

func (p plane) bounds() bounds {
	return bounds{empty.include(cells(p.grid.X)...), empty.include(cells(p.grid.Y)...)}
}

// cells returns the borders of the cells around sorted points: halfway between neighbours, and half a cell beyond both ends.
func cells(sorted []float64) []float64 {
	last := len(sorted) - 1
	borders := []float64{sorted[0] - (sorted[1]-sorted[0])/2}
	for i := range last {
		borders = append(borders, (sorted[i]+sorted[i+1])/2)
	}
	return append(borders, sorted[last]+(sorted[last]-sorted[last-1])/2)
}

// extent draws nothing; it only sets the range of the axes.
type extent bounds

func (e extent) bounds() bounds { return bounds(e) }

// texts are drawn centred at their points.
type texts struct {
	x, y []float64
	text []string
}

func (t texts) bounds() bounds { return bounds{empty.include(t.x...), empty.include(t.y...)} }
