//go:build !js || drawer

package plotting

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The style of the static rendering: sizes in points, dark grey on white.
var (
	textColor = color.Gray{0x22}
	axisColor = color.Gray{0x66}
	gridColor = color.Gray{0xe4}

	titleFont = font.From(sans, 11)
	labelFont = font.From(sans, 10)
	smallFont = font.From(sans, 9)
)

const (
	margin      = 7.0
	lineWidth   = 1.6
	pixel       = 4.0 / 3 // CSS pixels per point
	thinWidth   = 0.9
	glyphRadius = 2.8
	bandAlpha   = 0.18
	boxAlpha    = 0.6
	boxGap      = 0.12 // between bars of adjacent bins, as a fraction of the width of a bin
	spanAlpha   = 0.15
	headSize    = 3.2 // half the length of an arrowhead
)

// textStyle returns a style in the given font, with [raised] as its text handler.
func textStyle(f font.Font, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{Color: textColor, Font: f, XAlign: x, YAlign: y, Handler: raised{text.Plain{Fonts: fonts()}}}
}

// svg renders the panels as an SVG document.
func (p Panels) svg() ([]byte, error) {
	canvas := &svgCanvas{Canvas: vgsvg.New(p.room())}
	if err := p.draw(canvas); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	return canvas.tidy(b.Bytes()), nil
}

// svgCanvas records the intended width of each text.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length
}

func (c *svgCanvas) FillString(f font.Face, pt vg.Point, txt string) {
	c.widths = append(c.widths, f.Width(txt))
	c.Canvas.FillString(f, pt, txt)
}

const svgRegular = ";font-variant:normal;font-weight:normal;font-style:normal"

var (
	svgText    = regexp.MustCompile(`<text `)
	svgComment = regexp.MustCompile(`<!--[^>]*-->\n`)
	svgDetails = strings.NewReplacer(
		// Liberation Sans has the metrics of Arial and Helvetica.
		"font-family:Liberation Sans"+svgRegular, "font-family:Liberation Sans,Arial,Helvetica,sans-serif",
		"font-family:DejaVu Sans"+svgRegular, "font-family:DejaVu Sans,Arial,Helvetica,sans-serif",
		"<image ", `<image preserveAspectRatio="none" `,
		"<svg ", `<svg stroke-linejoin="round" `,
	)
)

// tidy completes the output of vgsvg: it adds fonts for machines without Liberation Sans, states the width of each text
// (so the text fits in any font), stretches images to their places, and rounds the joins of lines, which would otherwise
// have spikes.
func (c *svgCanvas) tidy(b []byte) []byte {
	b = svgComment.ReplaceAll(b, nil)
	k := -1
	b = svgText.ReplaceAllFunc(b, func([]byte) []byte {
		k++
		return fmt.Appendf(nil, `<text textLength="%.4g" lengthAdjust="spacingAndGlyphs" `, c.widths[k].Points())
	})
	return []byte(svgDetails.Replace(string(b)))
}

// room returns the size of all panels together.
func (p Panels) room() (width, height vg.Length) {
	w, h := p.size()
	return vg.Length(w) * vg.Inch, vg.Length(h) * vg.Inch
}

// draw draws the panels in a grid, with their data areas aligned.
func (p Panels) draw(canvas vg.CanvasSizer) error {
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)

	rows, cols := p.shape()
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: 2 * margin, PadY: 2 * margin}
	// The heads of all panels, with titles and legends, get the same height.
	plots, heads := make([]*plot.Plot, rows*cols), make([]head, len(p.Figures))
	width := tiles.At(c, 0, 0).Size().X
	var tallest vg.Length
	for k, f := range p.Figures {
		layers, x, y, err := f.prepare()
		if err != nil {
			return err
		}
		plots[k], heads[k] = newPlot(f, layers, x, y), newHead(f.Title, layers, width)
		tallest = max(tallest, heads[k].height)
	}
	// plot.Align does not know of heads, so these tiles leave space for a head above each plot.
	bodies := draw.Tiles{Rows: rows, Cols: cols, PadX: tiles.PadX, PadY: tiles.PadY + tallest, PadTop: tallest}
	aligned := plot.Align(slices.Collect(slices.Chunk(plots, cols)), bodies, c)
	for k, h := range heads {
		plots[k].Draw(aligned[k/cols][k%cols])
		tile := bodies.At(c, k%cols, k/cols)
		h.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: tile.Min.X, Y: tile.Max.Y},
			Max: vg.Point{X: tile.Max.X, Y: tile.Max.Y + tallest},
		}})
	}
	return nil
}

// prepare validates the figure, lowers its layers to marks, and thins the curves.
func (f Figure) prepare() (layers []layer, x, y scale, err error) {
	if layers, err = f.lower(); err != nil {
		return nil, x, y, err
	}
	x, y = f.scales(layers)
	return thin(layers, x, y), x, y, nil
}

func newPlot(f Figure, layers []layer, x, y scale) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	w, h := f.size()
	levels := f.Y.named()
	if levels == nil {
		levels = y.apart(6, h*72-72, smallStyle().Height)
	}
	for _, a := range []struct {
		axis  *plot.Axis
		label string
		scale scale
		ticks []tick
		style text.Style
	}{
		{&p.X, f.below(layers), x, x.apart(7, w*72-65, smallStyle().Width), textStyle(smallFont, draw.XCenter, draw.YTop)},
		{&p.Y, f.Y.Label, y, levels, textStyle(smallFont, draw.XRight, draw.YCenter)},
	} {
		a.axis.Min, a.axis.Max = a.scale.position(a.scale.lo), a.scale.position(a.scale.hi)
		a.axis.Label.Text = a.label
		a.axis.Label.TextStyle = textStyle(labelFont, draw.XCenter, draw.YBottom)
		a.axis.Label.Padding = 3
		a.axis.Padding = 0
		a.axis.LineStyle = draw.LineStyle{Color: axisColor, Width: 0.7}
		a.axis.Tick.LineStyle = draw.LineStyle{Color: axisColor, Width: 0.7}
		a.axis.Tick.Length = 4
		a.axis.Tick.Label = a.style
		var marks plot.ConstantTicks
		for _, t := range a.ticks {
			marks = append(marks, plot.Tick{Value: a.scale.position(t.at), Label: t.label})
		}
		a.axis.Tick.Marker = marks
	}
	lines := draw.LineStyle{Color: gridColor, Width: 0.5} // at each labelled tick
	p.Add(&plotter.Grid{Vertical: lines, Horizontal: lines})
	var labels []plot.Plotter // drawn over all other marks
	for _, l := range layers {
		for _, m := range l.marks {
			p.Add(placed{m, l.ink, x, y})
			if m, ok := m.(rule); ok {
				labels = append(labels, placed{ruleLabel{m, m.place(layers, x, y, w, h)}, l.ink, x, y})
			}
		}
	}
	p.Add(labels...)
	return p
}

var smallStyle = sync.OnceValue(func() text.Style { return textStyle(smallFont, draw.XCenter, draw.YTop) })

// apart returns the ticks of an axis of the given length, in points. At most about n ticks have labels, and the labels
// do not touch. The function room returns the length of a label along the axis.
func (s scale) apart(n int, length float64, room func(label string) vg.Length) []tick {
	const gap = 5 // points
	for ; ; n-- {
		ticks, touching := s.ticks(n), false
		end := math.Inf(-1) // where the previous label ends
		for i, t := range ticks {
			if t.label == "" {
				continue
			}
			at, half := s.unit(t.at)*length, float64(room(t.label))/2
			if at-half < end+gap {
				touching = true
				ticks[i].label = ""
				continue
			}
			end = at + half
		}
		if !touching || n <= 2 {
			return ticks
		}
	}
}

// position returns the place of a value on gonum/plot's axis. We draw a logarithmic axis as a linear axis of log₁₀,
// because gonum/plot's own logarithmic axis places its label at the arithmetic mean of the ends, far up, and shortens
// the plot by the part of the label that would stick out.
func (s scale) position(v float64) float64 {
	if s.log {
		return math.Log10(v)
	}
	return v
}

// placed is a plot.Plotter that draws a mark.
type placed struct {
	mark
	ink  ink
	x, y scale
}

func (m placed) Plot(c draw.Canvas, p *plot.Plot) {
	px, py := p.Transforms(&c)
	x := func(v float64) vg.Length { return px(m.x.position(v)) }
	y := func(v float64) vg.Length { return py(m.y.position(v)) }
	switch mark := m.mark.(type) {
	case plane:
		c.DrawImage(c.Rectangle, mark.image(m.x, m.y))
	case boxes:
		mark.plot(c, m.ink, m.y, x, y)
	case interface {
		plot(c draw.Canvas, in ink, x, y transform)
	}:
		mark.plot(c, m.ink, x, y)
	}
}

type transform = func(float64) vg.Length

func points(x, y transform, xs, ys []float64) []vg.Point {
	pts := make([]vg.Point, len(xs))
	for i := range xs {
		pts[i] = vg.Point{X: x(xs[i]), Y: y(ys[i])}
	}
	return pts
}

// reduce drops the points that are invisible on paper.
func reduce(pts []vg.Point, c draw.Canvas) []vg.Point {
	x := mapped(pts, func(p vg.Point) float64 { return float64(p.X / c.Size().X) })
	y := mapped(pts, func(p vg.Point) float64 { return float64(p.Y / c.Size().Y) })
	var out []vg.Point
	for _, k := range simplify(invisible, x, y) {
		out = append(out, pts[k])
	}
	return out
}

func (m curve) plot(c draw.Canvas, in ink, x, y transform) {
	if m.lo != nil {
		upper := reduce(points(x, y, m.x, m.hi), c)
		lower := reduce(points(x, y, m.x, m.lo), c)
		slices.Reverse(lower)
		c.FillPolygon(in.color.alpha(bandAlpha), c.ClipPolygonXY(append(upper, lower...)))
	}
	for lo, hi := range pieces(m.x, m.y) {
		pts := reduce(points(x, y, m.x[lo:hi], m.y[lo:hi]), c)
		c.StrokeLines(in.line(m.width(in)), c.ClipLinesXY(pts)...)
		if m.arrows {
			for _, head := range arrowheads(pts) {
				c.FillPolygon(in.color.rgb(), c.ClipPolygonXY(head))
			}
		}
	}
}

// width returns the width of the line, in points.
func (m curve) width(in ink) float64 {
	if m.thin {
		return thinWidth
	}
	return cmp.Or(in.width, lineWidth)
}

// line returns the style of a line of the given width.
func (in ink) line(width float64) draw.LineStyle {
	dashes := [...][]vg.Length{Dashed: {5, 3}, Dotted: {1.2, 2.4}, DashDot: {6, 2.5, 1.2, 2.5}}[in.dash]
	return draw.LineStyle{Color: in.color.rgb(), Width: vg.Length(width), Dashes: dashes}
}

func length(v vg.Point) vg.Length { return vg.Length(math.Hypot(float64(v.X), float64(v.Y))) }

// arrowheads returns triangles at a quarter, half and three quarters of the length of the path, or none if the path is
// too short to show a direction.
func arrowheads(pts []vg.Point) [][]vg.Point {
	const size = headSize
	whole := vg.Length(0)
	for i := 1; i < len(pts); i++ {
		whole += length(pts[i].Sub(pts[i-1]))
	}
	if whole < 12*size {
		return nil
	}
	var out [][]vg.Point
	walked, next := vg.Length(0), whole/4
	for i := 1; i < len(pts) && len(out) < 3; i++ {
		a, b := pts[i-1], pts[i]
		d := length(b.Sub(a))
		for d > 0 && walked+d >= next && len(out) < 3 {
			u := vg.Point{X: (b.X - a.X) / d, Y: (b.Y - a.Y) / d}
			at := a.Add(u.Scale(next - walked))
			side := vg.Point{X: -u.Y, Y: u.X}
			tail := at.Sub(u.Scale(size))
			out = append(out, []vg.Point{at.Add(u.Scale(size)), tail.Add(side.Scale(size)), tail.Sub(side.Scale(size))})
			next += whole / 4
		}
		walked += d
	}
	return out
}

// plot draws up to a hundred bars as one path, because separate bars would make up most of the file.
func (m boxes) plot(c draw.Canvas, in ink, s scale, x, y transform) {
	var path vg.Path
	base := y(max(0, s.lo))
	half := m.width / 2
	for i := range m.x {
		x0, x1 := x(m.x[i]-half), x(m.x[i]+half)
		gap := (x1 - x0) * boxGap / 2
		addPolygon(&path, vg.Point{}, c.ClipPolygonXY([]vg.Point{{X: x0 + gap, Y: base}, {X: x1 - gap, Y: base},
			{X: x1 - gap, Y: y(m.height[i])}, {X: x0 + gap, Y: y(m.height[i])}})...)
		if i%100 == 99 || i == len(m.x)-1 { // the rasteriser's time grows with the square of the number of bars
			c.SetColor(in.color.alpha(boxAlpha))
			c.Fill(path)
			path = nil
		}
	}
}

// addPolygon adds a polygon to the path; its corners are relative to the point from.
func addPolygon(path *vg.Path, from vg.Point, corners ...vg.Point) {
	for k, p := range corners {
		if k == 0 {
			path.Move(from.Add(p))
		} else {
			path.Line(from.Add(p))
		}
	}
	if len(corners) > 0 {
		path.Close()
	}
}

func (m glyphs) plot(c draw.Canvas, in ink, x, y transform) {
	whisker := draw.LineStyle{Color: in.color.rgb(), Width: 1}
	const cap = 2.5
	for i := range m.lo {
		// The error bar from lo to hi, vertical at x = at or, if m.level, horizontal at y = at.
		at, lo, hi := x(m.x[i]), y(m.lo[i]), y(m.hi[i])
		if m.level {
			at, lo, hi = y(m.y[i]), x(m.lo[i]), x(m.hi[i])
		}
		for _, l := range [][]vg.Point{
			{{X: at, Y: lo}, {X: at, Y: hi}},
			{{X: at - cap, Y: lo}, {X: at + cap, Y: lo}},
			{{X: at - cap, Y: hi}, {X: at + cap, Y: hi}},
		} {
			if m.level {
				for k, p := range l {
					l[k] = vg.Point{X: p.Y, Y: p.X}
				}
			}
			c.StrokeLines(whisker, c.ClipLinesXY(l)...)
		}
	}
	var within []vg.Point
	for _, pt := range points(x, y, m.x, m.y) {
		if c.Contains(pt) {
			within = append(within, pt)
		}
	}
	for some := range slices.Chunk(within, 20) { // several markers per path make a shorter file; many would slow the rasteriser
		var path vg.Path
		for _, pt := range some {
			in.addMarker(&path, pt)
		}
		in.drawMarkers(c, path, m.hollow)
	}
}

// addMarker adds the layer's marker around pt to the path.
func (in ink) addMarker(path *vg.Path, pt vg.Point) {
	const r = glyphRadius
	const s, t = 0.9 * r, 1.3 * r
	switch in.dash {
	case Dashed:
		addPolygon(path, pt, vg.Point{X: -s, Y: -s}, vg.Point{X: s, Y: -s}, vg.Point{X: s, Y: s}, vg.Point{X: -s, Y: s})
	case DashDot:
		addPolygon(path, pt, vg.Point{X: -1.1 * r, Y: -0.8 * r}, vg.Point{X: 1.1 * r, Y: -0.8 * r}, vg.Point{X: 0, Y: 1.2 * r})
	case Dotted:
		addPolygon(path, pt, vg.Point{X: -t}, vg.Point{Y: -t}, vg.Point{X: t}, vg.Point{Y: t})
	default:
		path.Move(vg.Point{X: pt.X + r, Y: pt.Y})
		path.Arc(pt, r, 0, 2*math.Pi)
		path.Close()
	}
}

func (in ink) drawMarkers(c draw.Canvas, path vg.Path, hollow bool) {
	c.SetColor(in.color.rgb())
	if hollow {
		c.SetColor(color.White)
	}
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: in.color.rgb(), Width: 1})
	c.Stroke(path)
}

func (m rule) plot(c draw.Canvas, in ink, x, y transform) {
	if v := x(m.at); m.vertical && c.ContainsX(v) {
		c.StrokeLine2(in.line(1), v, c.Min.Y, v, c.Max.Y)
	}
	if v := y(m.at); !m.vertical && c.ContainsY(v) {
		c.StrokeLine2(in.line(1), c.Min.X, v, c.Max.X, v)
	}
}

// ruleLabel is the label of a rule, on a slightly transparent patch of paper.
type ruleLabel struct {
	rule
	at corner
}

func (m ruleLabel) plot(c draw.Canvas, _ ink, x, y transform) {
	label := textStyle(smallFont, draw.XRight, draw.YBottom)
	label.Color = axisColor
	pt := vg.Point{X: c.Max.X - 3, Y: y(m.rule.at) + 5}
	switch v := x(m.rule.at); {
	case m.label == "" || m.vertical && !c.ContainsX(v) || !m.vertical && !c.ContainsY(pt.Y-5):
		return
	case m.vertical:
		pt = vg.Point{X: v - 4, Y: c.Max.Y - 2}
		label.YAlign = draw.YTop
		if m.at.start {
			label.YAlign, pt.Y = draw.YBottom, c.Min.Y+4
		}
		if !m.at.below {
			label.XAlign, pt.X = draw.XLeft, v+4
		}
	default:
		if m.at.start {
			label.XAlign, pt.X = draw.XLeft, c.Min.X+3
		}
		if m.at.below {
			label.YAlign, pt.Y = draw.YTop, pt.Y-8
		}
	}
	patch := label.Rectangle(m.label).Add(pt)
	c.SetColor(color.NRGBA{0xff, 0xff, 0xff, 0xcc})
	c.Fill(patch.Path())
	c.FillText(label, pt, m.label)
}

// plot sets the texts on small patches of paper.
func (m texts) plot(c draw.Canvas, _ ink, x, y transform) {
	style := textStyle(font.From(sans, 7.5), draw.XCenter, draw.YCenter)
	style.Color = axisColor
	for i, pt := range points(x, y, m.x, m.y) {
		w, h := style.Width(m.text[i])/2+1.5, vg.Length(4)
		r := vg.Rectangle{Min: vg.Point{X: pt.X - w, Y: pt.Y - h}, Max: vg.Point{X: pt.X + w, Y: pt.Y + h}}
		if c.Contains(r.Min) && c.Contains(r.Max) {
			c.SetColor(color.White)
			c.Fill(r.Path())
			c.FillText(style, vg.Point{X: pt.X, Y: pt.Y + style.FontExtents().Descent/2}, m.text[i])
		}
	}
}

func (m span) plot(c draw.Canvas, in ink, x, y transform) {
	r := c.Rectangle
	label := textStyle(smallFont, draw.XLeft, draw.YTop)
	label.Color = axisColor
	if m.vertical {
		r.Min.X, r.Max.X = max(r.Min.X, x(m.from)), min(r.Max.X, x(m.to))
	} else {
		r.Min.Y, r.Max.Y = max(r.Min.Y, y(m.from)), min(r.Max.Y, y(m.to))
	}
	if r.Min.X > r.Max.X || r.Min.Y > r.Max.Y {
		return
	}
	c.SetColor(in.color.alpha(spanAlpha))
	c.Fill(r.Path())
	at := vg.Point{X: r.Min.X + 3, Y: r.Max.Y - 2}
	switch { // a label that does not fit in the strip stands next to the strip
	case m.vertical && label.Width(m.label)+6 > r.Size().X:
		if at.X = r.Max.X + 3; at.X+label.Width(m.label) > c.Max.X {
			at.X, label.XAlign = r.Min.X-3, draw.XRight
		}
	case !m.vertical && label.Height(m.label)+4 > r.Size().Y:
		if at.Y, label.YAlign = r.Max.Y+4, draw.YBottom; at.Y+label.Height(m.label) > c.Max.Y {
			at.Y, label.YAlign = r.Min.Y-2, draw.YTop
		}
	}
	c.FillText(label, at, m.label)
}

// plot draws a shaft with a head, and the label behind the start of the shaft.
func (m arrow) plot(c draw.Canvas, in ink, x, y transform) {
	from, to := vg.Point{X: x(m.fromX), Y: y(m.fromY)}, vg.Point{X: x(m.x), Y: y(m.y)}
	label := textStyle(smallFont, draw.XCenter, draw.YCenter)
	way := to.Sub(from)
	at := vg.Point{X: from.X, Y: from.Y + label.FontExtents().Descent/2}
	if long := length(way); long > 0 {
		u := way.Scale(1 / long)
		side := vg.Point{X: -u.Y, Y: u.X}
		size := min(2*headSize, long)
		tail := to.Sub(u.Scale(size))
		c.StrokeLine2(in.line(1), from.X, from.Y, tail.X, tail.Y)
		c.FillPolygon(in.color.rgb(), []vg.Point{to, tail.Add(side.Scale(size / 2)), tail.Sub(side.Scale(size / 2))})
		switch {
		case math.Abs(float64(u.X)) < 0.5:
			at.Y -= u.Y / vg.Length(math.Abs(float64(u.Y))) * label.FontExtents().Height / 2
		case u.X > 0:
			at.X, label.XAlign = at.X-3, draw.XRight
		default:
			at.X, label.XAlign = at.X+3, draw.XLeft
		}
	}
	c.FillText(label, at, m.label)
}

// head is the part above the axes, where the title and the legend cover no data.
type head struct {
	title  string
	rows   [][]layer
	height vg.Length
}

const (
	sampleWidth = 22.0 // of the sample in front of a name
	sampleGap   = 4.0
	entryGap    = 14.0
	rowHeight   = 14.0
)

func newHead(title string, layers []layer, width vg.Length) head {
	h := head{title: wrapped(title, width)}
	style := textStyle(smallFont, draw.XLeft, draw.YCenter)
	var used vg.Length
	for _, l := range layers {
		if !l.inLegend() {
			continue
		}
		need := sampleWidth + sampleGap + style.Width(l.name) + entryGap
		if len(h.rows) == 0 || used+need-entryGap > width {
			h.rows, used = append(h.rows, nil), 0
		}
		h.rows[len(h.rows)-1] = append(h.rows[len(h.rows)-1], l)
		used += need
	}
	if title != "" {
		h.height += textStyle(titleFont, draw.XLeft, draw.YTop).Height(h.title) + 4
	}
	h.height += rowHeight * vg.Length(len(h.rows))
	if h.height > 0 {
		h.height += 4
	}
	return h
}

// wrapped breaks a title at spaces, into lines of at most this width. A wider word gets a line of its own.
func wrapped(title string, width vg.Length) string {
	style := textStyle(titleFont, draw.XLeft, draw.YTop)
	var lines []string
	for _, word := range strings.Split(typeset(title), " ") {
		if last := len(lines) - 1; last >= 0 && style.Width(lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return strings.Join(lines, "\n")
}

func (h head) draw(c draw.Canvas) {
	at := c.Max.Y
	if h.title != "" {
		style := textStyle(titleFont, draw.XLeft, draw.YTop)
		c.FillText(style, vg.Point{X: c.Min.X, Y: at}, h.title)
		at -= style.Height(h.title) + 4
	}
	style := textStyle(smallFont, draw.XLeft, draw.YCenter)
	for _, row := range h.rows {
		x, y := c.Min.X, at-rowHeight/2
		for _, l := range row {
			l.sample(c, vg.Rectangle{Min: vg.Point{X: x, Y: y - 4}, Max: vg.Point{X: x + sampleWidth, Y: y + 4}})
			c.FillText(style, vg.Point{X: x + (sampleWidth + sampleGap), Y: y + style.FontExtents().Descent/2}, l.name)
			x += sampleWidth + sampleGap + style.Width(l.name) + entryGap
		}
		at -= rowHeight
	}
}

// sample draws a sample of the layer's style in the rectangle r.
func (l layer) sample(c draw.Canvas, r vg.Rectangle) {
	middle := (r.Min.Y + r.Max.Y) / 2
	fill := func(alpha float64) {
		c.SetColor(l.ink.color.alpha(alpha))
		c.Fill(r.Path())
	}
	for _, m := range l.marks {
		switch m := m.(type) {
		case curve:
			if m.lo != nil {
				fill(bandAlpha)
			}
			c.StrokeLine2(l.ink.line(m.width(l.ink)), r.Min.X, middle, r.Max.X, middle)
		case boxes:
			fill(boxAlpha)
		case plane:
			c.DrawImage(r, scaleBar())
		case glyphs:
			if !m.hollow {
				var path vg.Path
				l.ink.addMarker(&path, vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: middle})
				l.ink.drawMarkers(c, path, false)
			}
		}
	}
}
