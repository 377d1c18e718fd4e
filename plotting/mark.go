package plotting

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"unicode/utf8"
)

// A mark is a primitive in data coordinates. Layers are lowered to marks, which both renderings draw.
type mark interface {
	bounds() bounds
}

// curve is a polyline, with the band lo ≤ · ≤ hi if lo and hi are not nil.
type curve struct {
	x, y, lo, hi []float64
	arrows       bool // with arrowheads along the way, for a trajectory
	thin         bool // a thinner line, for a level set
}

// boxes are the rectangles of [Bars], centred at x.
type boxes struct {
	x, height []float64
	width     float64
}

// glyphs are markers, with error bars from lo to hi if lo and hi are not nil.
type glyphs struct {
	x, y, lo, hi []float64
	level        bool // the error bars lie along x, not along y
	hollow       bool
}

// rule is a line across the figure.
type rule struct {
	at       float64
	vertical bool
	label    string
}

// span is a strip across the figure.
type span struct {
	from, to float64
	vertical bool
	label    string
}

// arrow points from its label, at (fromX, fromY), to (x, y).
type arrow struct {
	x, y, fromX, fromY float64
	label              string
}

// layer holds the marks of one of the package's own layers.
type layer struct {
	of         described
	kind, name string
	ink        ink
	marks      []mark
}

// inLegend reports whether the legend names the layer. The labels of rules, spans and arrows are in the figure instead.
func (l layer) inLegend() bool {
	switch l.marks[0].(type) {
	case rule, span, arrow:
		return false
	}
	return l.name != ""
}

// interval is lo ≤ · ≤ hi; empty if lo > hi.
type interval struct{ lo, hi float64 }

var empty = interval{math.Inf(1), math.Inf(-1)}

func (r interval) include(values ...float64) interval {
	for _, v := range values {
		if finite(v) {
			r.lo, r.hi = min(r.lo, v), max(r.hi, v)
		}
	}
	return r
}

// bounds is the rectangle that a mark covers.
type bounds struct{ x, y interval }

func boundsOf(ms []mark) bounds {
	b := bounds{empty, empty}
	for _, m := range ms {
		mb := m.bounds()
		b.x = b.x.include(mb.x.lo, mb.x.hi)
		b.y = b.y.include(mb.y.lo, mb.y.hi)
	}
	return b
}

func (c curve) bounds() bounds {
	return bounds{empty.include(c.x...), empty.include(c.y...).include(c.lo...).include(c.hi...)}
}

func (b boxes) bounds() bounds {
	x := empty.include(b.x...)
	return bounds{interval{x.lo - b.width/2, x.hi + b.width/2}, empty.include(0).include(b.height...)}
}

func (g glyphs) bounds() bounds {
	if g.level {
		return bounds{empty.include(g.x...).include(g.lo...).include(g.hi...), empty.include(g.y...)}
	}
	return bounds{empty.include(g.x...), empty.include(g.y...).include(g.lo...).include(g.hi...)}
}

func (r rule) bounds() bounds {
	return span{from: r.at, to: r.at, vertical: r.vertical}.bounds()
}

func (s span) bounds() bounds {
	if s.vertical {
		return bounds{empty.include(s.from, s.to), empty}
	}
	return bounds{empty, empty.include(s.from, s.to)}
}

func (a arrow) bounds() bounds {
	return bounds{empty.include(a.x, a.fromX), empty.include(a.y, a.fromY)}
}

// corner says at which end of a rule, and on which side of the rule, the label stands.
type corner struct {
	start bool // at the left or lower end of the rule, not at the right or upper end
	below bool // below a horizontal rule, left of a vertical rule
}

// place finds the corner where the label of a rule covers the fewest pieces of marks.
func (r rule) place(layers []layer, x, y scale, width, height float64) corner {
	// The label's box, relative to the axes, estimated from the size of 9 pt letters and the space outside the axes.
	w := 0.07 * float64(utf8.RuneCountInString(r.label)) / max(1, width-0.9)
	h := 0.17 / max(1, height-1)
	at, long, high := y.unit(r.at), w, h // the rule's place, and the label's size along the rule and across it
	if r.vertical {
		at, long, high = x.unit(r.at), h, w
	}
	best, least := corner{}, -1
	for _, c := range []corner{{false, false}, {false, true}, {true, false}, {true, true}} {
		along, across := interval{1 - long, 1}, interval{at, at + high}
		if c.start {
			along = interval{0, long}
		}
		if c.below {
			across = interval{at - high, at}
		}
		b := bounds{along, across}
		if r.vertical {
			b = bounds{across, along}
		}
		covered := 0
		if b.x.lo < 0 || b.x.hi > 1 || b.y.lo < 0 || b.y.hi > 1 {
			covered = 1e6 // outside the axes: chosen only if no corner is inside
		}
		for _, l := range layers {
			for _, m := range l.marks {
				covered += b.covers(m, x, y)
			}
		}
		if least < 0 || covered < least {
			best, least = c, covered
		}
	}
	return best
}

// covers counts the pieces of the mark that the box may touch.
func (b bounds) covers(m mark, x, y scale) int {
	n := 0
	touch := func(x0, x1, y0, y1 float64) {
		sx := empty.include(x.unit(x0), x.unit(x1))
		sy := empty.include(y.unit(y0), y.unit(y1))
		if sx.lo <= b.x.hi && b.x.lo <= sx.hi && sy.lo <= b.y.hi && b.y.lo <= sy.hi {
			n++
		}
	}
	switch m := m.(type) {
	case curve:
		for _, column := range [][]float64{m.y, m.lo, m.hi} {
			for i := 1; i < len(column); i++ {
				touch(m.x[i-1], m.x[i], column[i-1], column[i])
			}
		}
	case boxes:
		for i := range m.x {
			touch(m.x[i]-m.width/2, m.x[i]+m.width/2, max(0, y.lo), m.height[i])
		}
	case glyphs:
		for i := range m.x {
			touch(m.x[i], m.x[i], m.y[i], m.y[i])
		}
	case rule:
		if m.vertical {
			touch(m.at, m.at, y.lo, y.hi)
		} else {
			touch(x.lo, x.hi, m.at, m.at)
		}
	}
	return n
}

// Color is one of the constants below, and is opaque unless [Color.Opacity] has changed the opacity. The zero value,
// Auto, lets the figure choose a colour.
//
// The palette is Okabe and Ito's ("Color universal design", 2008), with an additional grey. It omits their yellow,
// because yellow vanishes on white paper. Readers with any common form of colour blindness can distinguish the colours
// of the palette. The first four colours have a contrast of at least 3:1 on white and on black.
type Color int64 // bits 24 to 31 hold 255 − alpha

const (
	Auto Color = iota
	Blue
	Vermilion
	Green
	Purple
	Orange
	Sky
	Grey
	Black // for exact values, and the default of a [Rule]; nearly white on dark pages
)

const alphaShift = 24

// Opacity returns the colour with the opacity a, from 0 (invisible) to 1 (opaque). The colour can be Auto.
func (c Color) Opacity(a float64) Color {
	return c.name() | Color(255*(1-a)+0.5)<<alphaShift
}

// name returns the colour without its opacity.
func (c Color) name() Color { return c & (1<<alphaShift - 1) }

// or returns c, unless c is Auto; then it returns other with the opacity of c.
func (c Color) or(other Color) Color {
	if c.name() == Auto {
		return c | other
	}
	return c
}

// opacity returns the colour's opacity, in [0, 1].
func (c Color) opacity() float64 { return 1 - float64(c>>alphaShift)/255 }

var palette = [...]color.NRGBA{
	Blue:      {0x00, 0x72, 0xb2, 0xff},
	Vermilion: {0xd5, 0x5e, 0x00, 0xff},
	Green:     {0x00, 0x9e, 0x73, 0xff},
	Purple:    {0xcc, 0x79, 0xa7, 0xff},
	Orange:    {0xe6, 0x9f, 0x00, 0xff},
	Sky:       {0x56, 0xb4, 0xe9, 0xff},
	Grey:      {0x7f, 0x7f, 0x7f, 0xff},
	Black:     {0x22, 0x22, 0x22, 0xff},
}

func (c Color) rgb() color.NRGBA { return c.alpha(1) }

// alpha returns the colour with its own opacity multiplied by a.
func (c Color) alpha(a float64) color.NRGBA {
	p := palette[c.name()]
	p.A = uint8(a*c.opacity()*255 + 0.5)
	return p
}

// hex returns the colour without its opacity.
func (c Color) hex() string { return hex(c.rgb()) }

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Dash is the pattern of a line. In a [Line], the zero value, AutoDash, means Solid if the author of the figure chose
// the line's colour. Otherwise, AutoDash means the dash of the method's [Look] or, if the line is not named after a
// listed method (see [LookOf]), ByColor.
type Dash int

const (
	AutoDash Dash = iota
	Solid
	Dashed
	Dotted
	DashDot
	ByColor // the dash of the colour, or of the [Look] that gave the colour; the first four colours have different dashes
)

// ink is the style of a layer once every Auto is resolved.
type ink struct {
	color Color
	dash  Dash
	width float64 // in points; 0 means the default of the kind
}

// ink fills in what the author left to the figure, for a layer of the given name.
func (p *Pen) ink(name string, c Color, d Dash, width float64) (ink, error) {
	if c < 0 || c.name() > Black || d < AutoDash || d > ByColor {
		return ink{}, fmt.Errorf("colour %d or dash %d does not exist; want constants of package plotting", c, d)
	}
	if !(width >= 0 && width <= 100) {
		return ink{}, fmt.Errorf("a line %g points wide, want a width from 0 to 100 points", width)
	}
	if c.name() == Auto {
		_, look := methodOf(name)
		if look == (Look{}) {
			p.used = true
			look = Look{p.free(), ByColor}
		}
		c |= look.Color
		if d == AutoDash || d == ByColor {
			d = look.Dash
		}
	}
	if d == ByColor {
		d = c.name().dash()
	}
	return ink{c, cmp.Or(d, Solid), width}, nil
}

// free returns the next colour, if possible a colour that no method in the figure has. Among such colours, it prefers a
// colour whose dash no method in the figure has.
func (p *Pen) free() Color {
	var first, then []Color
	for c := Blue; c <= Grey; c++ {
		switch {
		case slices.ContainsFunc(p.taken, func(l Look) bool { return l.Color == c }):
		case slices.ContainsFunc(p.taken, func(l Look) bool { return l.Dash == c.dash() }):
			then = append(then, c)
		default:
			first = append(first, c)
		}
	}
	colors := append(first, then...)
	if colors == nil {
		return Blue + Color(p.auto%int(Grey))
	}
	return colors[p.auto%len(colors)]
}

// dash returns the dash that [ByColor] means for a named colour.
func (c Color) dash() Dash {
	return [...]Dash{Solid, Dashed, DashDot, Dotted, Solid, Dashed, DashDot, Solid}[c-Blue]
}
