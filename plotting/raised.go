package plotting

import (
	"math"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// raised sets text as text.Plain does, except that Unicode superscripts and
// subscripts of digits and signs are set as small digits above or below the
// line: Liberation Sans has glyphs for some of them only.
type raised struct{ text.Plain }

var _ text.Handler = raised{}

const (
	superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
	subscripts   = "₀₁₂₃₄₅₆₇₈₉₊₋"
	onTheLine    = "0123456789+−"

	smallSize = 0.7   // of the font
	superRise = 0.36  // of the font size, above the baseline
	subRise   = -0.14 // below it
)

// run is a piece of a line that is set at one size and height.
type run struct {
	text string
	size font.Length
	rise vg.Length
}

func runs(line string, size font.Length) []run {
	var out []run
	for _, r := range line {
		next := run{string(r), size, 0}
		if i := strings.IndexRune(superscripts, r); i >= 0 {
			next = run{counterpart(superscripts, r), size * smallSize, size * superRise}
		} else if i := strings.IndexRune(subscripts, r); i >= 0 {
			next = run{counterpart(subscripts, r), size * smallSize, size * subRise}
		}
		if n := len(out); n > 0 && out[n-1].size == next.size && out[n-1].rise == next.rise {
			out[n-1].text += next.text
			continue
		}
		out = append(out, next)
	}
	return out
}

// counterpart returns what stands on the line for r in from.
func counterpart(from string, r rune) string {
	index := len([]rune(from[:strings.IndexRune(from, r)]))
	return string([]rune(onTheLine)[index])
}

func (h raised) width(line string, f font.Font) (width vg.Length) {
	for _, r := range runs(line, f.Size) {
		face := h.Fonts.Lookup(f, r.size)
		width += face.Width(r.text)
	}
	return width
}

// Box returns the size of the line.
func (h raised) Box(line string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = h.Plain.Box(line, f)
	return h.width(line, f), height, depth
}

// Draw sets the text at pt, aligned as text.Plain aligns it.
func (h raised) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	c.SetColor(sty.Color)
	if sty.Rotation != 0 {
		c.Push()
		defer c.Pop()
		c.Rotate(sty.Rotation)
		sin, cos := math.Sincos(-sty.Rotation) // pt in the rotated system
		pt.X, pt.Y = pt.X*vg.Length(cos)-pt.Y*vg.Length(sin), pt.X*vg.Length(sin)+pt.Y*vg.Length(cos)
	}
	lines := h.Lines(txt)
	top := pt.Y + sty.Height(txt)*vg.Length(sty.YAlign) - h.Extents(sty.Font).Ascent
	for i, line := range lines {
		x := pt.X + vg.Length(sty.XAlign)*h.width(line, sty.Font)
		y := top + vg.Length(len(lines)-i)*sty.Font.Size
		for _, r := range runs(line, sty.Font.Size) {
			face := h.Fonts.Lookup(sty.Font, r.size)
			c.FillString(face, vg.Point{X: x, Y: y + r.rise}, r.text)
			x += face.Width(r.text)
		}
	}
}
