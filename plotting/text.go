//go:build !js || drawer

package plotting

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// The typefaces of all texts: characters that Liberation Sans lacks, such as ∇ and ∈, are set in DejaVu Sans.
var (
	sans  = font.Font{Typeface: "Liberation", Variant: "Sans"}
	other = font.Font{Typeface: "DejaVu", Variant: "Sans"}

	fonts = sync.OnceValue(func() *font.Cache {
		face, err := opentype.Parse(dejavusans.TTF)
		if err != nil {
			panic(err) // the font is compiled in
		}
		cache := font.NewCache(liberation.Collection())
		cache.Add(font.Collection{{Font: other, Face: face}})
		return cache
	})
)

// has reports whether a font has a glyph for r.
func has(f font.Font, r rune) bool {
	if f.Typeface == sans.Typeface && ' ' <= r && r <= '~' {
		return true
	}
	i, err := fonts().Lookup(f, 10).Face.GlyphIndex(new(sfnt.Buffer), r)
	return err == nil && i != 0
}

// raised sets text as text.Plain does, with three differences. Superscripts and subscripts, of Unicode and of TeX,
// become small letters and digits above or below the line, one over the other where they meet. Combining accents, as in
// θ̂, become accents centred over the letter, because the back ends do not place combining accents. Characters that
// Liberation Sans lacks come from another font. (text.Latex of gonum/plot does not set scripts.)
type raised struct{ text.Plain }

const (
	smallSize  = 0.7   // all as a fraction of the font size
	superRise  = 0.36  // above the baseline
	subRise    = -0.14 // below the baseline
	accentRise = 0.12  // above the place of an accent on a lower-case letter
)

// run is a piece of a line that is set in one font, at one size and height. An accent is set over the letter before it
// and takes no width.
type run struct {
	text   string
	font   font.Font
	rise   vg.Length
	accent bool
}

// runs cuts a line, with its formulas, into pieces.
func runs(line string, f font.Font) []run {
	var out []run
	script := rune(0) // superScript or subScript within a script of TeX, or 0
	for _, r := range typeset(line) {
		if strings.ContainsRune(scripts, r) {
			if script = r; r == endScript {
				script = 0
			}
			continue
		}
		if unicode.IsControl(r) || r&0xfffe == 0xfffe { // XML, and so SVG, cannot contain such characters
			continue
		}
		level := script
		switch {
		case strings.ContainsRune(superscripts, r):
			r = counterpart(superscripts, superLetters, r)
			level = cmp.Or(script, superScript)
		case strings.ContainsRune(subscripts, r):
			r = counterpart(subscripts, subLetters, r)
			level = cmp.Or(script, subScript)
		}
		next := run{font: f}
		if strings.ContainsRune(combining, r) {
			next.accent, next.rise = true, f.Size*accentRise
			r = counterpart(combining, accents, r)
			if n := len(out); n > 0 && out[n-1].rise != 0 && !out[n-1].accent { // over a script
				next.font, next.rise = out[n-1].font, out[n-1].rise+out[n-1].font.Size*accentRise
			}
		} else if level == superScript {
			next.font.Size, next.rise = f.Size*smallSize, f.Size*superRise
		} else if level == subScript {
			next.font.Size, next.rise = f.Size*smallSize, f.Size*subRise
		}
		if !has(sans, r) && has(other, r) {
			next.font.Typeface, next.font.Variant = other.Typeface, other.Variant
		}
		next.text = string(r)
		if n := len(out); n > 0 && !next.accent && !out[n-1].accent && out[n-1].font == next.font && out[n-1].rise == next.rise {
			out[n-1].text += next.text
			continue
		}
		out = append(out, next)
	}
	return out
}

// piece is a text at its place on the line.
type piece struct {
	face font.Face
	text string
	at   vg.Point
}

// layout places the runs of a line, and returns its width.
func (h raised) layout(line string, f font.Font) (out []piece, width vg.Length) {
	var x, begin, end vg.Length // the current place; where the current scripts begin, and where the longest ends
	var rise vg.Length          // the rise of the previous run
	letter := vg.Length(0)      // the width of the letter before an accent
	for _, r := range runs(line, f) {
		face := h.Fonts.Lookup(r.font, r.font.Size)
		if r.accent {
			out = append(out, piece{face, r.text, vg.Point{X: x - (letter+face.Width(r.text))/2, Y: r.rise}})
			continue
		}
		switch {
		case r.rise == rise:
		case rise == 0:
			begin, end = x, x
		case r.rise == 0:
			x = max(x, end)
		default: // the other script begins where the first began
			end, x = max(x, end), begin
		}
		rise = r.rise
		_, n := utf8.DecodeLastRuneInString(r.text)
		letter = face.Width(r.text[len(r.text)-n:])
		// Spaces at the ends add width, but are not written, because SVG would drop them.
		words := strings.TrimLeft(r.text, " ")
		indent := face.Width(r.text[:len(r.text)-len(words)])
		if words = strings.TrimRight(words, " "); words != "" {
			out = append(out, piece{face, words, vg.Point{X: x + indent, Y: r.rise}})
		}
		x += face.Width(r.text)
	}
	if rise != 0 {
		x = max(x, end)
	}
	return out, x
}

// Box returns the size of the line.
func (h raised) Box(line string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = h.Plain.Box(line, f)
	_, width = h.layout(line, f)
	return width, height, depth
}

// Draw sets the text at pt, aligned as text.Plain aligns it.
func (h raised) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	c.SetColor(sty.Color)
	if sty.Rotation != 0 {
		c.Push()
		defer c.Pop()
		c.Rotate(sty.Rotation)
		sin, cos := math.Sincos(-sty.Rotation) // the coordinates of pt in the rotated system
		pt.X, pt.Y = pt.X*vg.Length(cos)-pt.Y*vg.Length(sin), pt.X*vg.Length(sin)+pt.Y*vg.Length(cos)
	}
	lines := h.Lines(txt)
	top := pt.Y + sty.Height(txt)*vg.Length(sty.YAlign) - h.Extents(sty.Font).Ascent
	for i, line := range lines {
		pieces, width := h.layout(line, sty.Font)
		from := vg.Point{X: pt.X + vg.Length(sty.XAlign)*width, Y: top + vg.Length(len(lines)-i)*sty.Font.Size}
		for _, p := range pieces {
			c.FillString(p.face, from.Add(p.at), p.text)
		}
	}
}

// missing returns the first character of the text that neither font has, or 0.
func missing(txt string) rune {
	for _, r := range runs(txt, sans) {
		for _, c := range r.text {
			if !unicode.IsSpace(c) && !has(r.font, c) {
				return c
			}
		}
	}
	return 0
}

// kerned places each letter itself. x/image moves the second letter of a pair (kerning) by units of the font, 2048 to an
// em, and ignores the size of the letters, so small letters would overlap.
type kerned struct{ vg.CanvasSizer }

func (c kerned) FillString(f font.Face, pt vg.Point, txt string) {
	for i, r := range txt {
		letter := string(r)
		at := pt.X + f.Width(txt[:i+len(letter)]) - f.Width(letter)
		c.CanvasSizer.FillString(f, vg.Point{X: at, Y: pt.Y}, letter)
	}
}

// outlined fixes three faults of gonum/plot's PDF. It draws letters by their outlines, because the PDF lacks letters
// beyond Windows-1252, such as Greek. It draws lines without spikes at sharp turns. It keeps transparent colours from
// being darkened.
type outlined struct{ vg.CanvasSizer }

func (o outlined) SetColor(c color.Color) {
	o.CanvasSizer.SetColor(straight(color.NRGBAModel.Convert(c).(color.NRGBA)))
}

// straight is a colour whose components are not multiplied by its opacity, as gonum/plot's PDF expects of every colour.
type straight color.NRGBA

func (c straight) RGBA() (r, g, b, a uint32) {
	return 0x101 * uint32(c.R), 0x101 * uint32(c.G), 0x101 * uint32(c.B), 0x101 * uint32(c.A)
}

// Stroke draws a turn of more than 90° within a line as two turns of half the angle, a twentieth of a point apart. In
// PDF, the corner of a sharp turn can stick out by up to four and a half widths of the line. The corner of a turn of
// 90° sticks out by only a fifth of the width. Closed paths stay unchanged, because they are markers, whose corners are
// all alike.
func (o outlined) Stroke(p vg.Path) {
	if slices.ContainsFunc(p, func(c vg.PathComp) bool { return c.Type == vg.CloseComp }) {
		o.CanvasSizer.Stroke(p)
		return
	}
	var line vg.Path // without lines of length 0
	for _, c := range p {
		if n := len(line); n == 0 || c.Type != vg.LineComp || line[n-1].Type > vg.LineComp || c.Pos != line[n-1].Pos {
			line = append(line, c)
		}
	}
	direction := func(from, to vg.Point) vg.Point {
		d := to.Sub(from)
		return d.Scale(1 / length(d))
	}
	var blunt vg.Path
	for i, c := range line {
		if i > 0 && i+1 < len(line) && line[i-1].Type <= vg.LineComp && c.Type == vg.LineComp && line[i+1].Type == vg.LineComp {
			in, out := direction(line[i-1].Pos, c.Pos), direction(c.Pos, line[i+1].Pos)
			if in.Dot(out) < 0 {
				along := direction(vg.Point{X: -1e-9 * in.Y, Y: 1e-9 * in.X}, in.Add(out)) // across the turn, even for a turn of 180°
				blunt.Line(c.Pos.Sub(along.Scale(0.025)))
				c.Pos = c.Pos.Add(along.Scale(0.025))
			}
		}
		blunt = append(blunt, c)
	}
	o.CanvasSizer.Stroke(blunt)
}

func (o outlined) FillString(f font.Face, pt vg.Point, txt string) {
	const em = 2048 // in the units of the fonts
	scale := f.Font.Size / em / 64
	var buf sfnt.Buffer
	var path vg.Path
	for _, r := range txt {
		i, _ := f.Face.GlyphIndex(&buf, r) // the glyph exists: checkGlyphs has checked this
		segments, _ := f.Face.LoadGlyph(&buf, i, fixed.I(em), nil)
		at := func(p fixed.Point26_6) vg.Point {
			return vg.Point{X: pt.X + vg.Length(p.X)*scale, Y: pt.Y - vg.Length(p.Y)*scale}
		}
		for k, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				if k > 0 {
					path.Close()
				}
				path.Move(at(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(at(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(at(s.Args[0]), at(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
			}
		}
		if len(segments) > 0 {
			path.Close()
		}
		pt.X += f.Width(string(r))
	}
	if len(path) > 0 {
		o.Fill(path)
	}
}
