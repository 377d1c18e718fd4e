package plotting

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Line is a curve through the points (X[i], Y[i]). With Lo and Hi it carries
// the band Lo[i] ≤ · ≤ Hi[i], an interval around a mean for example, under the
// same legend entry.
type Line struct {
	Name   string
	X, Y   []float64
	Lo, Hi []float64 // both or neither
	Color  Color
	Dash   Dash
}

func (l Line) describe() (kind, name string) { return "line", l.Name }
func (l Line) style() ink                    { return ink{l.Color, l.Dash} }
func (l Line) check(x, y Axis) error {
	interval, err := checkInterval(l.Lo, l.Hi, y)
	if err != nil {
		return err
	}
	return checkColumns(append([]column{{"X", l.X, x}, {"Y", l.Y, y}}, interval...)...)
}

func (l Line) marks(in ink) []mark {
	return []mark{curve{x: l.X, y: l.Y, lo: l.Lo, hi: l.Hi, ink: in}}
}

// Bars are rectangles that stand on 0, such as a histogram: Height[i] over the
// bin of the given Width centred at X[i]. Several layers of bars overlap and
// are translucent.
type Bars struct {
	Name      string
	X, Height []float64
	Width     float64 // default: the smallest distance between centres
	Color     Color
}

func (b Bars) describe() (kind, name string) { return "bars", b.Name }
func (b Bars) style() ink                    { return ink{b.Color, AutoDash} }
func (b Bars) check(x, y Axis) error {
	if x.Log {
		return errors.New("bars of equal width can't stand on a logarithmic x axis")
	}
	if b.Width < 0 || !finite(b.Width) {
		return fmt.Errorf("the bars' Width is %g, want > 0", b.Width)
	}
	return checkColumns(column{"X", b.X, x}, column{"Height", b.Height, y})
}

func (b Bars) width() float64 {
	if b.Width > 0 {
		return b.Width
	}
	return smallestGap(b.X)
}

func (b Bars) marks(in ink) []mark {
	return []mark{boxes{x: b.X, height: b.Height, width: b.width(), ink: in}}
}

// Points are isolated points, with an error bar from Lo[i] to Hi[i] if given.
type Points struct {
	Name   string
	X, Y   []float64
	Lo, Hi []float64 // both or neither
	Color  Color
}

func (p Points) describe() (kind, name string) { return "points", p.Name }
func (p Points) style() ink                    { return ink{p.Color, AutoDash} }
func (p Points) check(x, y Axis) error {
	interval, err := checkInterval(p.Lo, p.Hi, y)
	if err != nil {
		return err
	}
	return checkColumns(append([]column{{"X", p.X, x}, {"Y", p.Y, y}}, interval...)...)
}

func (p Points) marks(in ink) []mark {
	return []mark{glyphs{x: p.X, y: p.Y, lo: p.Lo, hi: p.Hi, ink: in}}
}

// Rule is a reference line across the figure at the value At of the y axis, or
// of the x axis if Vertical.
type Rule struct {
	Label    string
	At       float64
	Vertical bool
	Color    Color // default: Grey
}

func (r Rule) describe() (kind, name string) { return "rule", r.Label }
func (r Rule) style() ink                    { return ink{orGrey(r.Color), Dashed} }
func (r Rule) check(x, y Axis) error {
	axis := y
	if r.Vertical {
		axis = x
	}
	return checkColumns(column{"At", []float64{r.At}, axis})
}

func (r Rule) marks(in ink) []mark {
	return []mark{rule{at: r.At, vertical: r.Vertical, label: r.Label, ink: in}}
}

// Span shades the strip From ≤ y ≤ To, or From ≤ x ≤ To if Vertical.
type Span struct {
	Label    string
	From, To float64
	Vertical bool
	Color    Color // default: Grey
}

func (s Span) describe() (kind, name string) { return "span", s.Label }
func (s Span) style() ink                    { return ink{orGrey(s.Color), AutoDash} }
func (s Span) check(x, y Axis) error {
	axis := y
	if s.Vertical {
		axis = x
	}
	if s.From > s.To {
		return fmt.Errorf("strip with From %g > To %g", s.From, s.To)
	}
	return checkColumns(column{"From", []float64{s.From}, axis}, column{"To", []float64{s.To}, axis})
}

func (s Span) marks(in ink) []mark {
	return []mark{span{from: s.From, to: s.To, vertical: s.Vertical, label: s.Label, ink: in}}
}

// Path is a trajectory in the plane: a hollow marker where it starts, a full
// one where it ends, and arrowheads on the way.
type Path struct {
	Name  string
	X, Y  []float64
	Color Color
	Dash  Dash // default: Solid
}

func (p Path) describe() (kind, name string) { return "path", p.Name }
func (p Path) style() ink {
	if p.Dash == AutoDash {
		return ink{p.Color, Solid}
	}
	return ink{p.Color, p.Dash}
}
func (p Path) check(x, y Axis) error {
	return checkColumns(column{"X", p.X, x}, column{"Y", p.Y, y})
}

func (p Path) marks(in ink) []mark {
	last := len(p.X) - 1
	return []mark{
		curve{x: p.X, y: p.Y, arrows: true, ink: in},
		glyphs{x: p.X[:1], y: p.Y[:1], hollow: true, ink: in},
		glyphs{x: p.X[last:], y: p.Y[last:], ink: in},
	}
}

func orGrey(c Color) Color {
	if c == Auto {
		return Grey
	}
	return c
}

// smallestGap returns the smallest positive distance between two of the
// values, or 1 if there is none.
func smallestGap(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	gap := math.Inf(1)
	for i := 1; i < len(sorted); i++ {
		if d := sorted[i] - sorted[i-1]; d > 0 {
			gap = min(gap, d)
		}
	}
	if math.IsInf(gap, 1) {
		return 1
	}
	return gap
}
