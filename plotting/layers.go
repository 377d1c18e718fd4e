package plotting

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Line is a curve through the points (X[i], Y[i]). If Lo and Hi are given, the layer also shows the band
// Lo[i] ≤ · ≤ Hi[i], such as an interval around a mean. Curve and band share one legend entry.
type Line struct {
	Name   string
	X, Y   []float64
	Lo, Hi []float64 // both or neither
	Color  Color
	Dash   Dash
	Width  float64 // in points; default: 1.6

	// Interval is a text below the x axis. It explains Lo and Hi, as in "band: middle half of 200 runs", or markers
	// that the legend does not explain, as in "hollow: start; full: end". If several layers have the same Interval, the
	// text appears only once.
	Interval string
}

// Graph returns the line through the points (x[i], f(x[i])). To make x, use floats.Span of gonum for a linear axis, and
// floats.LogSpan for a logarithmic axis: both space the x evenly on the axis.
func Graph(name string, x []float64, f func(x float64) float64) Line {
	return Line{Name: name, X: x, Y: mapped(x, f)}
}

func mapped[T any](v []T, f func(T) float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = f(x)
	}
	return out
}

func (l Line) describe() (kind, name string) { return "line", l.Name }

// Draw implements [Layer].
func (l Line) Draw(p *Pen) error {
	if err := p.check(l.X, l.Y, l.Lo, l.Hi, p.Y); err != nil {
		return err
	}
	return p.add(l, l.Name, l.Color, l.Dash, l.Width, curve{x: l.X, y: l.Y, lo: l.Lo, hi: l.Hi})
}

// Bars are rectangles that stand on 0, as in a histogram, or on the frame if the axis begins above 0. Bar i is centred
// at X[i] and reaches Height[i]. Each bar is Width wide, including a small gap on either side. Bars are translucent, so
// several layers of bars can overlap.
type Bars struct {
	Name      string
	X, Height []float64
	Width     float64 // default: the smallest positive distance between two centres, or 1 if there is none
	Color     Color
}

func (b Bars) describe() (kind, name string) { return "bars", b.Name }

// Draw implements [Layer].
func (b Bars) Draw(p *Pen) error {
	if p.X.Log {
		return errors.New("bars of equal width can't stand on a logarithmic x axis")
	}
	if b.Width < 0 || !finite(b.Width) {
		return fmt.Errorf("the bars' Width is %g, want > 0, or 0 for the default", b.Width)
	}
	if err := checkColumns(column{"X", b.X, p.X}, column{"Height", b.Height, p.Y}); err != nil {
		return err
	}
	return p.add(b, b.Name, b.Color, ByColor, 0, boxes{x: b.X, height: b.Height, width: cmp.Or(b.Width, smallestGap(b.X))})
}

// Points are isolated points. If Lo and Hi are given, each point has an error bar from Lo[i] to Hi[i]. Error bars are
// vertical unless the y axis has names.
type Points struct {
	Name   string
	X, Y   []float64
	Lo, Hi []float64 // both or neither
	Color  Color
	Dash   Dash // selects the marker that stands for this dash; default: ByColor

	Interval string // as in a [Line]
}

func (l Points) describe() (kind, name string) { return "points", l.Name }

// Draw implements [Layer].
func (l Points) Draw(p *Pen) error {
	level := p.Y.Names != nil
	if err := p.check(l.X, l.Y, l.Lo, l.Hi, p.axis(level)); err != nil {
		return err
	}
	return p.add(l, l.Name, l.Color, cmp.Or(l.Dash, ByColor), 0, glyphs{x: l.X, y: l.Y, lo: l.Lo, hi: l.Hi, level: level})
}

// Rule is a reference line across the figure at the value At of the y axis or, if Vertical, of the x axis.
type Rule struct {
	Label    string
	At       float64
	Vertical bool
	Color    Color // default: Black, for exact values; a black rule is solid, and a rule of another colour is dashed
}

func (r Rule) describe() (kind, name string) { return "rule", r.Label }

// Draw implements [Layer].
func (r Rule) Draw(p *Pen) error {
	if err := checkColumns(column{"At", []float64{r.At}, p.axis(r.Vertical)}); err != nil {
		return err
	}
	c, dash := r.Color.or(Black), Dashed
	if c.name() == Black {
		dash = Solid
	}
	return p.add(r, "", c, dash, 0, rule{at: r.At, vertical: r.Vertical, label: r.Label})
}

// Span shades the strip From ≤ y ≤ To, or From ≤ x ≤ To if Vertical.
type Span struct {
	Label    string
	From, To float64
	Vertical bool
	Color    Color // default: Grey
}

func (s Span) describe() (kind, name string) { return "span", s.Label }

// Draw implements [Layer].
func (s Span) Draw(p *Pen) error {
	axis := p.axis(s.Vertical)
	if s.From > s.To {
		return fmt.Errorf("the strip has From = %g > To = %g", s.From, s.To)
	}
	if err := checkColumns(column{"From", []float64{s.From}, axis}, column{"To", []float64{s.To}, axis}); err != nil {
		return err
	}
	return p.add(s, "", s.Color.or(Grey), AutoDash, 0, span{s.From, s.To, s.Vertical, s.Label})
}

// Path is a trajectory in the plane, with a hollow marker at its start, a full marker at its end and, unless the drawn
// path is very short, arrowheads in between.
type Path struct {
	Name  string
	X, Y  []float64
	Color Color
	Dash  Dash    // default: Solid
	Width float64 // in points; default: 1.6
}

func (l Path) describe() (kind, name string) { return "path", l.Name }

// Draw implements [Layer].
func (l Path) Draw(p *Pen) error {
	if err := p.check(l.X, l.Y, nil, nil, p.Y); err != nil {
		return err
	}
	last := len(l.X) - 1
	return p.add(l, l.Name, l.Color, cmp.Or(l.Dash, Solid), l.Width, curve{x: l.X, y: l.Y, arrows: true},
		glyphs{x: l.X[:1], y: l.Y[:1], hollow: true}, glyphs{x: l.X[last:], y: l.Y[last:]})
}

// Arrow is an arrow that points to (X, Y). Its label is at the other end, (FromX, FromY). If both ends are the same
// point, only the label is drawn.
type Arrow struct {
	Label        string
	X, Y         float64
	FromX, FromY float64
	Color        Color // default: Grey
}

func (a Arrow) describe() (kind, name string) { return "arrow", a.Label }

// Draw implements [Layer].
func (a Arrow) Draw(p *Pen) error {
	err := checkColumns(column{"X", []float64{a.X}, p.X}, column{"Y", []float64{a.Y}, p.Y},
		column{"FromX", []float64{a.FromX}, p.X}, column{"FromY", []float64{a.FromY}, p.Y})
	if err != nil {
		return err
	}
	return p.add(a, "", a.Color.or(Grey), Solid, 0, arrow{a.X, a.Y, a.FromX, a.FromY, a.Label})
}

// smallestGap returns the smallest positive distance between two of the values, or 1 if there is none.
func smallestGap(x []float64) float64 {
	sorted := slices.Compact(slices.Sorted(slices.Values(x)))
	gap := math.Inf(1)
	for i := 1; i < len(sorted); i++ {
		gap = min(gap, sorted[i]-sorted[i-1])
	}
	if math.IsInf(gap, 1) {
		return 1
	}
	return gap
}
