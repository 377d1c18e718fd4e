//go:build !js || drawer

package plotting

import (
	"image"
	"image/color"
	"slices"
)

// viridis is the colour map viridis by van der Walt and Smith, given by six of its colours. Its lightness increases
// evenly, and the colour-blind can distinguish its colours.
var viridis = []color.NRGBA{
	{0x44, 0x01, 0x54, 0xff}, {0x41, 0x44, 0x87, 0xff}, {0x2a, 0x78, 0x8e, 0xff},
	{0x22, 0xa8, 0x84, 0xff}, {0x7a, 0xd1, 0x51, 0xff}, {0xfd, 0xe7, 0x25, 0xff},
}

// shades is the colour map in invisibly small steps, followed by a transparent colour.
var shades = func() color.Palette {
	const n = 64
	p := make(color.Palette, n, n+1)
	for k := range p {
		u := float64(k) / (n - 1) * float64(len(viridis)-1)
		i := min(int(u), len(viridis)-2)
		mix := func(a, b uint8) uint8 { return uint8(float64(a) + (u-float64(i))*(float64(b)-float64(a)) + 0.5) }
		a, b := viridis[i], viridis[i+1]
		p[k] = color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
	}
	return append(p, color.NRGBA{})
}()

// image draws the plane between the ends of the axes; the axes may be logarithmic.
func (p plane) image(x, y scale) *image.Paletted {
	const side = 128
	r := p.grid.values()
	columns, rows := cells(p.grid.X), cells(p.grid.Y)
	img := image.NewPaletted(image.Rect(0, 0, side, side), shades)
	for px := range side {
		for py := range side {
			i, j := locate(columns, x.value((float64(px)+0.5)/side)), locate(rows, y.value(1-(float64(py)+0.5)/side))
			k := len(shades) - 1
			if i >= 0 && j >= 0 && finite(p.grid.Z[i][j]) {
				k = 0
				if r.hi > r.lo {
					k = int((p.grid.Z[i][j]-r.lo)/(r.hi-r.lo)*float64(len(shades)-2) + 0.5)
				}
			}
			img.SetColorIndex(px, py, uint8(k))
		}
	}
	return img
}

// locate returns an i with sorted[i] ≤ v ≤ sorted[i+1], or −1 if there is none.
func locate(sorted []float64, v float64) int {
	last := len(sorted) - 1
	if v < sorted[0] || v > sorted[last] {
		return -1
	}
	i, _ := slices.BinarySearch(sorted, v)
	return max(0, min(i-1, last-1))
}

// scaleBar is the colour map as a strip, for the legend.
func scaleBar() *image.Paletted {
	n := len(shades) - 1
	img := image.NewPaletted(image.Rect(0, 0, n, 1), shades)
	for k := range n {
		img.SetColorIndex(k, 0, uint8(k))
	}
	return img
}
