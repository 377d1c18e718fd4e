package plotting

import (
	"fmt"
	"image/color"
)

// Color is one of the eight colours of Okabe and Ito ("Color universal
// design", 2008), less black and yellow, which vanish on dark and on white
// paper, plus a grey. They are told apart with any common form of colour
// blindness; the first four keep a contrast of at least 3:1 on white and on
// black. The zero value lets the figure choose.
type Color int

const (
	Auto Color = iota
	Blue
	Vermilion
	Green
	Purple
	Orange
	Sky
	Grey
)

var palette = [...]color.NRGBA{
	Blue:      {0x00, 0x72, 0xb2, 0xff},
	Vermilion: {0xd5, 0x5e, 0x00, 0xff},
	Green:     {0x00, 0x9e, 0x73, 0xff},
	Purple:    {0xcc, 0x79, 0xa7, 0xff},
	Orange:    {0xe6, 0x9f, 0x00, 0xff},
	Sky:       {0x56, 0xb4, 0xe9, 0xff},
	Grey:      {0x7f, 0x7f, 0x7f, 0xff},
}

func (c Color) rgb() color.NRGBA { return palette[c] }

func (c Color) hex() string { return hex(palette[c]) }

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// alpha is the colour at the given opacity in [0, 1].
func (c Color) alpha(a float64) color.NRGBA {
	p := palette[c]
	p.A = uint8(a*255 + 0.5)
	return p
}

// Dash is the pattern of a line. The zero value follows the colour, so that
// curves differ in print and without colour too.
type Dash int

const (
	AutoDash Dash = iota
	Solid
	Dashed
	Dotted
	DashDot
)

// Marker is the shape of a point. The zero value follows the colour.
type Marker int

const (
	AutoMarker Marker = iota
	Circle
	Square
	Triangle
	Diamond
)

// ink is what a layer is drawn with once every Auto is resolved.
type ink struct {
	color  Color
	dash   Dash
	marker Marker
}

// resolve fills in what the author left to the figure; k counts the layers
// that did so before.
func (in ink) resolve(k int) ink {
	if in.color == Auto {
		in.color = Color(1 + k%(len(palette)-1))
	}
	cycle := (int(in.color) - 1) % 4
	if in.dash == AutoDash {
		in.dash = [...]Dash{Solid, Dashed, DashDot, Dotted}[cycle]
	}
	if in.marker == AutoMarker {
		in.marker = [...]Marker{Circle, Square, Triangle, Diamond}[cycle]
	}
	return in
}
