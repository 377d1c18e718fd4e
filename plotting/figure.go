package plotting

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Figure describes one plot. Its layers are drawn in order, the first at the bottom.
type Figure struct {
	Title  string
	X, Y   Axis
	Layers []Layer

	// Width and Height are in inches. By default, Width is 6.4, and Height is 4.
	Width, Height float64
}

// Axis describes an axis. Its Label names the quantity and, in parentheses, the unit.
type Axis struct {
	Label string
	Log   bool // logarithmic, to base 10; the data must be positive

	// If Min < Max, the axis goes from Min to Max. By default, both are 0, and the axis covers the data or, if there
	// are Names, all Names.
	Min, Max float64

	// Names replace the numbers on a y axis: Names[0] is at the value 1, Names[1] is at 2, and so on, upwards. If there
	// are names, the error bars of [Points] are horizontal.
	Names []string
}

// Layer is a part of a figure: [Line], [Bars], [Points], [Rule], [Span], [Path], [Contour], [Heatmap], [Arrow], or a
// user's own type, which draws itself with these types.
type Layer interface {
	// Draw draws the layer with the pen, in the units of the axes. An error says what cannot be drawn. Draw may be
	// called several times, and must draw the same layers each time.
	Draw(p *Pen) error
}

// Pen is the tool with which a [Layer] draws. Both renderings use the marks that the pen has drawn.
type Pen struct {
	X, Y Axis // the axes of the figure

	layers []layer
	auto   int    // number of earlier layers whose colour comes from [Pen.free]
	used   bool   // the current layer has a colour from [Pen.free]
	taken  []Look // the looks of layers with the name of a method (see [LookOf])
}

// Draw draws the layers, the first at the bottom. If a user's own layer draws several layers whose colour the figure
// chooses, these layers share one colour.
func (p *Pen) Draw(layers ...Layer) error {
	for _, l := range layers {
		if err := l.Draw(p); err != nil {
			return fmt.Errorf("%s: %w", title(l), err)
		}
	}
	return nil
}

// add stores the marks of l, with the ink that [Pen.ink] returns for the other arguments.
func (p *Pen) add(l described, of string, c Color, d Dash, width float64, marks ...mark) error {
	in, err := p.ink(of, c, d, width)
	if err != nil {
		return err
	}
	kind, name := l.describe()
	p.layers = append(p.layers, layer{of: l, kind: kind, name: name, ink: in, marks: marks})
	return nil
}

// axis returns the x axis, or the y axis if x is false.
func (p *Pen) axis(x bool) Axis {
	if x {
		return p.X
	}
	return p.Y
}

// size returns the size in inches, with the defaults filled in.
func (f Figure) size() (width, height float64) { return cmp.Or(f.Width, 6.4), cmp.Or(f.Height, 4) }

// Validate returns the first reason why the figure cannot be drawn, or nil.
func (f Figure) Validate() error {
	if _, err := f.lower(); err != nil {
		return fmt.Errorf("plotting: %w", err)
	}
	return nil
}

// lower turns the layers into marks.
func (f Figure) lower() ([]layer, error) {
	layers, err := f.lowerParts()
	if err != nil && f.Title != "" {
		return nil, fmt.Errorf("figure %q: %w", f.Title, err)
	}
	return layers, err
}

func (f Figure) lowerParts() ([]layer, error) {
	if err := f.checkFrame(); err != nil {
		return nil, err
	}
	p := Pen{X: f.X, Y: f.Y}
	for _, l := range f.Layers {
		if d, ok := l.(described); ok {
			_, name := d.describe()
			_, look := methodOf(name)
			p.taken = append(p.taken, look) // the zero Look unless the layer has the name of a method
		}
	}
	for i, l := range f.Layers {
		if l == nil {
			return nil, fmt.Errorf("layer %d is nil", i)
		}
		p.used = false
		if err := p.Draw(l); err != nil {
			return nil, fmt.Errorf("layer %d, %w", i, err)
		}
		if p.used {
			p.auto++
		}
	}
	if len(p.layers) == 0 {
		return nil, errors.New("the layers draw nothing")
	}
	for _, txt := range f.texts(p.layers) {
		if _, err := formulas(txt); err != nil {
			return nil, err
		}
	}
	return p.layers, nil
}

func (f Figure) checkFrame() error {
	if len(f.Layers) == 0 {
		return errors.New("no layers: there is nothing to draw")
	}
	if w, h := f.size(); !(w > 0 && h > 0 && w <= 100 && h <= 100) {
		return fmt.Errorf("size %g × %g inches: Width and Height must be in (0, 100], or 0 for the default", f.Width, f.Height)
	}
	for _, a := range []struct {
		name string
		Axis
	}{{"x", f.X}, {"y", f.Y}} {
		switch {
		case a.Names != nil && (a.Log || a.name == "x"):
			return fmt.Errorf("%s axis: only a linear y axis can have Names", a.name)
		case !drawable(a.Min) || !drawable(a.Max):
			return fmt.Errorf("%s axis: range [%g, %g] is not within ±%g", a.name, a.Min, a.Max, limit)
		case a.Min > a.Max:
			return fmt.Errorf("%s axis: Min %g > Max %g", a.name, a.Min, a.Max)
		case a.Min < a.Max && a.Log && a.Min <= 0:
			return fmt.Errorf("%s axis: Min %g on a logarithmic axis, where it must be > 0", a.name, a.Min)
		}
	}
	return nil
}

// below returns the label of the x axis and, on separate lines, the meanings of the layers' intervals.
func (f Figure) below(layers []layer) string {
	lines := []string{f.X.Label}
	for _, l := range layers {
		words := ""
		switch l := l.of.(type) {
		case Line:
			words = l.Interval
		case Points:
			words = l.Interval
		}
		if words != "" && !slices.Contains(lines, words) {
			lines = append(lines, words)
		}
	}
	return strings.Join(lines, "\n")
}

// A described layer is one of the package's own layers.
type described interface {
	Layer
	// describe returns the kind of the layer and its name, which may be empty.
	describe() (kind, name string)
}

// title returns the name of the layer in messages.
func title(l Layer) string {
	d, ok := l.(described)
	if !ok {
		return fmt.Sprintf("%T", l)
	}
	kind, name := d.describe()
	if name == "" {
		return kind
	}
	return fmt.Sprintf("%s %q", kind, name)
}

// column is a slice of a layer, with a name for error messages.
type column struct {
	name string
	data []float64
	axis Axis
}

// checkColumns verifies that columns are non-empty and equally long, and that their values are within ±limit and, on a
// logarithmic axis, at least 1/limit.
func checkColumns(cols ...column) error {
	if len(cols[0].data) == 0 {
		return fmt.Errorf("%s is empty", cols[0].name)
	}
	for _, c := range cols {
		if len(c.data) != len(cols[0].data) {
			return fmt.Errorf("%s has %d values, but %s has %d", c.name, len(c.data), cols[0].name, len(cols[0].data))
		}
		for i, v := range c.data {
			if !drawable(v) {
				return fmt.Errorf("%s[%d] is %g: values must be within ±%g", c.name, i, v, limit)
			}
			if c.axis.Log && v < 1/limit {
				return fmt.Errorf("%s[%d] is %g: values must be ≥ %g on a logarithmic axis", c.name, i, v, 1/limit)
			}
		}
	}
	return nil
}

// check verifies the columns x and y of points. If lo or hi is not nil, check also verifies the columns lo and hi,
// whose axis is along, and that lo[i] ≤ hi[i] for each i.
func (p *Pen) check(x, y, lo, hi []float64, along Axis) error {
	all := []column{{"X", x, p.X}, {"Y", y, p.Y}}
	if lo != nil || hi != nil {
		all = append(all, column{"Lo", lo, along}, column{"Hi", hi, along})
	}
	if err := checkColumns(all...); err != nil {
		return err
	}
	for i := range lo {
		if lo[i] > hi[i] {
			return fmt.Errorf("interval %d: Lo[%d] = %g > Hi[%d] = %g", i, i, lo[i], i, hi[i])
		}
	}
	return nil
}

// limit is the greatest absolute value that is drawn, and 1/limit is the least value on a logarithmic axis. These
// limits keep coordinates finite.
const limit = 1e100

func drawable(v float64) bool { return math.Abs(v) <= limit }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Drawing is a view that [Save] can write to a file: a [Figure], [Panels] or an [Explorer].
type Drawing interface {
	View
	panels() (Panels, error)
}

// Panels are figures in a grid, row by row. In a file, the axes of the figures are aligned, and each figure has as much
// room as the first. A page shows as many figures side by side as there is room for.
type Panels struct {
	Figures []Figure
	Columns int // the number of columns in a file; default: all figures in one row
}

// Row returns panels that show the figures side by side.
func Row(figures ...Figure) Panels { return Panels{Figures: figures} }

func (f Figure) panels() (Panels, error) { return Row(f).panels() }

func (p Panels) panels() (Panels, error) {
	if len(p.Figures) == 0 {
		return p, errors.New("panels without figures: there is nothing to draw")
	}
	for _, f := range p.Figures {
		if _, err := f.lower(); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p Panels) shape() (rows, cols int) {
	cols = cmp.Or(p.Columns, len(p.Figures))
	return (len(p.Figures) + cols - 1) / cols, cols
}

// size returns the size of all panels together, in inches: each panel has the size of the first figure.
func (p Panels) size() (width, height float64) {
	rows, cols := p.shape()
	w, h := p.Figures[0].size()
	return w * float64(cols), h * float64(rows)
}

// Titled returns the figure with a title.
func (f Figure) Titled(title string) Figure {
	f.Title = title
	return f
}

// Titled returns the panels with one title for each figure. It panics if there are more or fewer titles than figures.
func (p Panels) Titled(titles ...string) Panels {
	if len(titles) != len(p.Figures) {
		panic(fmt.Sprintf("plotting: %d titles for %d panels", len(titles), len(p.Figures)))
	}
	p.Figures = slices.Clone(p.Figures)
	for i, title := range titles {
		p.Figures[i].Title = title
	}
	return p
}

// With returns the figure with further layers on top.
func (f Figure) With(layers ...Layer) Figure {
	f.Layers = slices.Concat(f.Layers, layers)
	return f
}
