package plotting

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Figure describes one plot. Layers are drawn in their order, so the first
// lies at the bottom.
type Figure struct {
	Title  string
	X, Y   Axis
	Layers []Layer

	// Width and Height are in inches. Default: 6.4 × 4.
	Width, Height float64
}

// Axis describes an axis. The label names the quantity and, in parentheses,
// its unit.
type Axis struct {
	Label string
	Log   bool // base 10; the data must be positive

	// Min and Max fix the range if Min < Max. By default the range is that of
	// the data.
	Min, Max float64
}

// Layer is a part of a figure: [Line], [Bars], [Points], [Rule], [Span], [Path],
// [Contour] or [Heatmap].
type Layer interface {
	// describe returns the kind of the layer and its name in the legend, which
	// may be empty.
	describe() (kind, name string)
	// check returns an error if the data can't be drawn on the axes.
	check(x, y Axis) error
	// style is what the author chose; Auto is resolved by the figure.
	style() ink
	// marks lowers the layer to primitives.
	marks(ink) []mark
}

const (
	defaultWidth  = 6.4 // inches; with the height, gonum/plot's and Matplotlib's habit
	defaultHeight = 4.0
)

func (f Figure) size() (width, height float64) {
	width, height = f.Width, f.Height
	if width == 0 {
		width = defaultWidth
	}
	if height == 0 {
		height = defaultHeight
	}
	return width, height
}

// Validate returns the first reason why the figure can't be drawn, or nil.
func (f Figure) Validate() error {
	if err := f.check(); err != nil {
		return fmt.Errorf("plotting: %w", err)
	}
	return nil
}

// check is Validate without the name of the package, which exported functions add.
func (f Figure) check() error {
	err := f.checkParts()
	if err != nil && f.Title != "" {
		return fmt.Errorf("figure %q: %w", f.Title, err)
	}
	return err
}

func (f Figure) checkParts() error {
	if len(f.Layers) == 0 {
		return errors.New("no layers: there is nothing to draw")
	}
	if w, h := f.size(); !(w > 0 && h > 0 && w <= 100 && h <= 100) {
		return fmt.Errorf("size %g × %g inches: both must lie in (0, 100]", f.Width, f.Height)
	}
	for _, a := range []struct {
		name string
		Axis
	}{{"x", f.X}, {"y", f.Y}} {
		switch {
		case !finite(a.Min) || !finite(a.Max):
			return fmt.Errorf("%s axis: range [%g, %g] is not finite", a.name, a.Min, a.Max)
		case a.Min > a.Max:
			return fmt.Errorf("%s axis: Min %g > Max %g", a.name, a.Min, a.Max)
		case a.Min < a.Max && a.Log && a.Min <= 0:
			return fmt.Errorf("%s axis: Min %g on a logarithmic axis, where it must be > 0", a.name, a.Min)
		}
	}
	for i, l := range f.Layers {
		if l == nil {
			return fmt.Errorf("layer %d is nil", i)
		}
		if err := l.check(f.X, f.Y); err != nil {
			return fmt.Errorf("layer %d, %s: %w", i, title(l), err)
		}
	}
	return nil
}

// title is how a message calls the layer.
func title(l Layer) string {
	kind, name := l.describe()
	if name == "" {
		return kind
	}
	return fmt.Sprintf("%s %q", kind, name)
}

// alt is the text that stands for the picture: the title, the axes and the range of
// each layer.
func (f Figure) alt() string {
	var b strings.Builder
	if f.Title != "" {
		b.WriteString(f.Title + ". ")
	}
	fmt.Fprintf(&b, "%s against %s.", axisName(f.Y, "y"), axisName(f.X, "x"))
	for _, l := range f.Layers {
		if _, name := l.describe(); name != "" {
			b.WriteString(" " + strings.ToUpper(title(l)[:1]) + title(l)[1:])
			ms := l.marks(ink{})
			switch ms[0].(type) {
			case extent, plane: // their y axis is no value
				ms = nil
			}
			switch r := boundsOf(ms).y; {
			case r.lo == r.hi:
				fmt.Fprintf(&b, ": at %s", brief(r.lo))
			case r.lo < r.hi:
				fmt.Fprintf(&b, ": from %s to %s", brief(r.lo), brief(r.hi))
			}
			b.WriteString(".")
		}
	}
	return b.String()
}

func axisName(a Axis, fallback string) string {
	name := a.Label
	if name == "" {
		name = fallback
	}
	if a.Log {
		name += " (logarithmic)"
	}
	return name
}

// column is a named slice of a layer, for messages about it.
type column struct {
	name string
	data []float64
	axis Axis
}

// checkColumns verifies that columns are non-empty, equally long, finite, and
// positive where their axis is logarithmic.
func checkColumns(cols ...column) error {
	if len(cols[0].data) == 0 {
		return fmt.Errorf("%s is empty", cols[0].name)
	}
	for _, c := range cols {
		if len(c.data) != len(cols[0].data) {
			return fmt.Errorf("%s has %d values, but %s has %d", c.name, len(c.data), cols[0].name, len(cols[0].data))
		}
		for i, v := range c.data {
			if !finite(v) {
				return fmt.Errorf("%s[%d] is %g: values must be finite", c.name, i, v)
			}
			if c.axis.Log && v <= 0 {
				return fmt.Errorf("%s[%d] is %g: values must be > 0 on a logarithmic axis", c.name, i, v)
			}
		}
	}
	return nil
}

// checkInterval verifies Lo ≤ Hi and returns no columns if there is no interval.
func checkInterval(lo, hi []float64, axis Axis) ([]column, error) {
	if lo == nil && hi == nil {
		return nil, nil
	}
	if len(lo) == len(hi) {
		for i := range lo {
			if lo[i] > hi[i] {
				return nil, fmt.Errorf("interval %d: Lo[%d] = %g > Hi[%d] = %g", i, i, lo[i], i, hi[i])
			}
		}
	}
	return []column{{"Lo", lo, axis}, {"Hi", hi, axis}}, nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Drawing is what can be saved to a file: a [Figure], [Panels] or an [Explorer].
type Drawing interface {
	View
	panels() (Panels, error)
}

// Panels are figures in a grid, row by row, their axes aligned. On a page
// as many are side by side as fit.
type Panels struct {
	Figures []Figure
	Columns int // in a file; default: all in one row
}

// Row puts figures side by side.
func Row(figures ...Figure) Panels { return Panels{Figures: figures} }

func (f Figure) panels() (Panels, error) { return Row(f), f.check() }

func (p Panels) panels() (Panels, error) {
	if len(p.Figures) == 0 {
		return p, errors.New("panels without figures: there is nothing to draw")
	}
	if p.Columns < 0 {
		return p, errors.New("panels with a negative number of columns")
	}
	for _, f := range p.Figures {
		if err := f.check(); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p Panels) shape() (rows, cols int) {
	cols = p.Columns
	if cols == 0 {
		cols = len(p.Figures)
	}
	return (len(p.Figures) + cols - 1) / cols, cols
}

// size is the size of the whole in inches: each panel has the size of the
// first figure.
func (p Panels) size() (width, height float64) {
	rows, cols := p.shape()
	w, h := p.Figures[0].size()
	return w * float64(cols), h * float64(rows)
}

// With returns the figure with further layers on top.
func (f Figure) With(layers ...Layer) Figure {
	f.Layers = append(append([]Layer(nil), f.Layers...), layers...)
	return f
}
