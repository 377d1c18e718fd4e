package plotting

import (
	"math"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// raised sets text as text.Plain does, with two differences. Superscripts and
// subscripts of Unicode become small letters and digits above or below the
// line, as Liberation Sans has glyphs for some of them only. Combining accents,
// as in θ̂, become accents centred over the letter, which shaping would do if the
// back ends shaped text.
type raised struct{ text.Plain }

var _ text.Handler = raised{}

const (
	superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀⁿⁱᵈᵗ"
	superLetters = "0123456789+−Tnidt"
	subscripts   = "₀₁₂₃₄₅₆₇₈₉₊₋ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
	subLetters   = "0123456789+−aehijklmnoprstuvx"

	combining = "\u0302\u0303\u0304\u0305\u0307" // hat, tilde, bar, overline, dot
	accents   = "ˆ˜¯¯˙"

	smallSize  = 0.7   // of the font
	superRise  = 0.36  // of the font size, above the baseline
	subRise    = -0.14 // below it
	accentRise = 0.12  // above where it sits on a lower-case letter
)

// run is a piece of a line that is set at one size and height; an accent is
// set over the letter before it and takes no room.
type run struct {
	text   string
	size   font.Length
	rise   vg.Length
	accent bool
}

func runs(line string, size font.Length) []run {
	var out []run
	for _, r := range line {
		next := run{text: string(r), size: size}
		switch {
		case strings.ContainsRune(superscripts, r):
			next = run{text: counterpart(superscripts, superLetters, r), size: size * smallSize, rise: size * superRise}
		case strings.ContainsRune(subscripts, r):
			next = run{text: counterpart(subscripts, subLetters, r), size: size * smallSize, rise: size * subRise}
		case strings.ContainsRune(combining, r):
			next = run{text: counterpart(combining, accents, r), size: size, rise: size * accentRise, accent: true}
		}
		if n := len(out); n > 0 && !next.accent && !out[n-1].accent && out[n-1].size == next.size && out[n-1].rise == next.rise {
			out[n-1].text += next.text
			continue
		}
		out = append(out, next)
	}
	return out
}

// counterpart returns what stands in the place in to that r has in from.
func counterpart(from, to string, r rune) string {
	return string([]rune(to)[utf8.RuneCountInString(from[:strings.IndexRune(from, r)])])
}

func (h raised) width(line string, f font.Font) (width vg.Length) {
	for _, r := range runs(line, f.Size) {
		if !r.accent {
			face := h.Fonts.Lookup(f, r.size)
			width += face.Width(r.text)
		}
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
		letter := "" // before an accent
		for _, r := range runs(line, sty.Font.Size) {
			face := h.Fonts.Lookup(sty.Font, r.size)
			if r.accent {
				c.FillString(face, vg.Point{X: x - (face.Width(letter)+face.Width(r.text))/2, Y: y + r.rise}, r.text)
				continue
			}
			_, n := utf8.DecodeLastRuneInString(r.text)
			letter = r.text[len(r.text)-n:]
			// Spaces at the ends are room, not text: SVG would drop them.
			words := strings.TrimLeft(r.text, " ")
			indent := face.Width(r.text[:len(r.text)-len(words)])
			if words = strings.TrimRight(words, " "); words != "" {
				c.FillString(face, vg.Point{X: x + indent, Y: y + r.rise}, words)
			}
			x += face.Width(r.text)
		}
	}
}
