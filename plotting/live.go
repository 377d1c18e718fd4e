//go:build !js || drawer

package plotting

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
)

//go:embed live.js
var liveJS string

// script is live.js without indentation, blank lines and comment lines, because every saved output contains the script.
var script = func() string {
	var b strings.Builder
	for line := range strings.Lines(liveJS) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "//") {
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}()

// appendNumber appends a coordinate in JSON, rounded to the given number of significant digits.
func appendNumber(b []byte, v float64, digits int) []byte {
	if !finite(v) { // null separates pieces of a curve
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', digits, 64)
}

// digits returns the number of significant digits with which a coordinate is stored. On a linear axis that contains 0,
// and on a logarithmic axis with hi > 2·lo, this number equals length. On any other axis, it is greater, but
// at most 17.
func (s scale) digits(length int) int {
	if s.log && s.hi/s.lo > 2 {
		return length
	}
	far := math.Log10(max(math.Abs(s.lo), math.Abs(s.hi)) / (s.hi - s.lo))
	return min(17, length+int(max(0, math.Ceil(far))))
}

// end returns v, an end of the axis, in JSON.
func (s scale) end(v float64) json.RawMessage {
	return appendNumber(nil, v, max(12, s.digits(stillDigits)))
}

// A chart stores coordinates to five digits of the length of an axis. These digits resolve more than any screen does.
// With several frames, a chart stores coordinates to four digits, about a tenth of a pixel.
const stillDigits, frameDigits = 5, 4

// option returns the figure as ECharts' option, in JSON that is safe within a script element. It adds the figure's data
// to the given columns, rounded to the given number of digits of the length of an axis.
func (f Figure) option(data *columns, digits int) (options, error) {
	layers, x, y, err := f.prepare()
	if err != nil {
		return nil, err
	}
	f.Title, f.Y.Label = charted(f.Title), charted(f.Y.Label)
	for i := range layers {
		layers[i].name = charted(layers[i].name)
	}
	f.Y.Names = slices.Clone(f.Y.Names)
	for i, name := range f.Y.Names {
		f.Y.Names[i] = charted(name)
	}
	c := live{Line: charts.NewLine(), data: data, x: x, y: y, dx: x.digits(digits), dy: y.digits(digits)}
	f.X.Label = charted(f.below(layers))
	c.frame(f, layers)
	width, height := f.size()
	for _, l := range layers {
		for _, m := range l.marks {
			if r, ok := m.(rule); ok {
				c.addRule(r, l.ink, r.place(layers, x, y, width, height))
			} else {
				c.add(l.name, l.ink, m)
			}
		}
	}
	c.Validate() // without Validate before JSON, go-echarts loses the x axis
	out := options{}
	for name, part := range c.JSON() {
		out[name] = marshal(part)
	}
	return out, nil
}

// live is a chart under construction.
type live struct {
	*charts.Line
	data   *columns
	x, y   scale
	dx, dy int // significant digits of coordinates along x and along y
}

// frame sets all options of the chart except its series and their data.
func (c live) frame(f Figure, layers []layer) {
	x, y := c.x, c.y
	var names []legendEntry
	trigger, named := "axis", any(nil)
	if f.Y.Names != nil {
		trigger, named = "item", f.Y.Names // points at the same x are unrelated
	}
	for _, l := range layers {
		if l.inLegend() {
			names = append(names, newLegendEntry(l))
		}
		for _, m := range l.marks {
			_, contour := m.(extent)
			_, heatmap := m.(plane)
			if c, _ := m.(curve); contour || heatmap || c.arrows {
				trigger = "item" // in a plane, neither coordinate depends on the other
			}
		}
	}
	top := 10
	title := opts.Title{Title: f.Title, Left: "0", Top: "0", TitleStyle: &opts.TextStyle{FontSize: 15, FontWeight: "normal"}}
	if f.Title != "" || len(names) > 0 {
		top += 26
	}
	legend := opts.Legend{Show: opts.Bool(false), Data: names}
	if len(names) > 0 {
		legend = opts.Legend{Left: "0", Top: "26", Data: names}
		top += 26
	}
	// ECharts leaves room for tick labels, but not for the name of the axis next to them.
	widest := 0
	ticks := f.Y.named()
	if ticks == nil {
		ticks = y.ticks(5)
	}
	for _, t := range ticks {
		widest = max(widest, utf8.RuneCountInString(t.label))
	}
	const digit = 7 // pixels
	left, bottom := 8, 8
	if f.Y.Label != "" {
		left = 32
	}
	if f.X.Label != "" {
		bottom = 28 + 16*strings.Count(f.X.Label, "\n")
	}
	kind := map[bool]string{false: "value", true: "log"}
	c.SetGlobalOptions(
		charts.WithTitleOpts(title),
		charts.WithLegendOpts(legend),
		charts.WithTooltipOpts(opts.Tooltip{Trigger: trigger}),
		charts.WithGridOpts(opts.Grid{Left: strconv.Itoa(left), Right: "20",
			Top: strconv.Itoa(top), Bottom: strconv.Itoa(bottom), ContainLabel: opts.Bool(true)}),
		charts.WithXAxisOpts(opts.XAxis{
			Type: kind[x.log], Name: f.X.Label, NameLocation: "middle", NameGap: 28,
			Min: x.end(x.lo), Max: x.end(x.hi),
		}),
		charts.WithYAxisOpts(opts.YAxis{
			Type: kind[y.log], Name: f.Y.Label, NameLocation: "middle", NameGap: 20 + digit*widest,
			Min: y.end(y.lo), Max: y.end(y.hi), Data: named,
		}),
		charts.WithAnimation(false),
	)
}

// legendEntry is an item of the legend. Without an Icon, ECharts shows the icon of the series.
type legendEntry struct {
	Name  string          `json:"name"`
	Icon  string          `json:"icon,omitempty"`
	Style json.RawMessage `json:"itemStyle,omitempty"`
}

func newLegendEntry(l layer) legendEntry {
	e := legendEntry{Name: l.name}
	switch l.marks[0].(type) {
	case curve, extent: // an extent is the first mark of a contour
		e.Style = json.RawMessage(`{"opacity":0}`) // hides the dot that ECharts puts on the line
	case glyphs: // an icon that is given as a path keeps its proportions
		e.Icon = [...]string{
			Solid:   "path://M0,5A5,5,0,1,1,10,5A5,5,0,1,1,0,5Z",
			Dashed:  "path://M0,0H10V10H0Z",
			DashDot: "path://M0,9L5,0L10,9Z",
			Dotted:  "path://M0,5L5,0L10,5L5,10Z",
		}[l.ink.dash]
	case plane:
		var stops []string // of a gradient from left to right
		for i, c := range viridis {
			stops = append(stops, fmt.Sprintf(`{"offset":%v,"color":%q}`, float64(i)/float64(len(viridis)-1), hex(c)))
		}
		e.Style = fmt.Appendf(nil, `{"color":{"type":"linear","x2":1,"colorStops":[%s]}}`, strings.Join(stops, ","))
	}
	return e
}

// series appends a series that draws the given columns, x first, except columns that are nil.
func (c live) series(s charts.SingleSeries, x []float64, others ...[]float64) {
	source := []int{c.numbers(x, c.dx)}
	for _, column := range others {
		if column != nil {
			source = append(source, c.numbers(column, c.dy))
		}
	}
	c.draw(s, source)
}

// draw appends the series s, with a data set of its own: the columns whose indices are in source.
func (c live) draw(s charts.SingleSeries, source []int) {
	s.DatasetIndex = len(c.DatasetList)
	c.AddDataset(opts.Dataset{Source: source})
	c.MultiSeries = append(c.MultiSeries, s)
}

// numbers adds a column of coordinates, and returns its index.
func (c live) numbers(column []float64, digits int) int {
	b := []byte{'['}
	for i, v := range column {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v, digits)
	}
	return c.data.place(append(b, ']'))
}

// again appends a silent series that draws the same columns as the previous series.
func (c live) again(s charts.SingleSeries) {
	s.DatasetIndex, s.SeriesTooltip = len(c.DatasetList)-1, silent
	c.MultiSeries = append(c.MultiSeries, s)
}

// silent marks a series that tooltips omit. go-echarts has no field for this, so live.js makes the marked series silent.
var silent = &opts.SeriesTooltip{}

// custom returns a series drawn by a shape of live.js.
func custom(name, shape string, color Color, opacity float64, y any) charts.SingleSeries {
	return charts.SingleSeries{
		Name: name, Type: types.ChartCustom, RenderItem: types.FuncStr(shape),
		ItemStyle: &opts.ItemStyle{Color: color.hex(), Opacity: opts.Float(float32(opacity * color.opacity()))},
		Encode:    &opts.Encode{X: 0, Y: y},
	}
}

func (c live) add(name string, in ink, m mark) {
	switch m := m.(type) {
	case curve:
		c.addCurve(name, in, m)
	case boxes:
		s := custom(name, "boxes", in.color, boxAlpha, 1)
		s.BarWidth = strconv.FormatFloat(m.width*(1-boxGap), 'g', c.dx, 64)
		c.series(s, m.x, m.height)
	case glyphs:
		c.addGlyphs(name, in, m)
	case span:
		s := custom("", "span", in.color, spanAlpha, 0)
		s.Label = &opts.Label{Formatter: charted(m.label)}
		c.reference(s, m.vertical, []float64{m.from, m.to})
	case texts:
		s := custom(name, "texts", Grey, 1, 1)
		s.SeriesTooltip = silent
		c.draw(s, []int{c.numbers(m.x, c.dx), c.numbers(m.y, c.dy), c.data.place(marshal(m.text))})
	case arrow:
		s := custom("", "arrow", in.color, 1, 1)
		s.Label, s.SeriesTooltip = &opts.Label{Formatter: charted(m.label)}, silent
		c.series(s, []float64{m.x, m.fromX}, []float64{m.y, m.fromY})
	case plane:
		var picture bytes.Buffer
		if err := png.Encode(&picture, m.image(c.x, c.y)); err != nil {
			panic(err) // cannot happen: the picture is written to memory
		}
		s := custom(name, "picture", Grey, 1, 1)
		s.SeriesTooltip = silent
		s.Symbol = "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture.Bytes())
		c.series(s, []float64{c.x.lo, c.x.hi}, []float64{c.y.lo, c.y.hi})
	}
}

func (c live) addCurve(name string, in ink, m curve) {
	line := charts.SingleSeries{
		Name: name, Type: types.ChartLine, Symbol: "none",
		LineStyle: &opts.LineStyle{Color: in.color.hex(), Width: float32(pixel * m.width(in)), Type: css[in.dash]},
		ItemStyle: &opts.ItemStyle{Color: in.color.hex()},
		Encode:    &opts.Encode{X: 0, Y: 1},
	}
	if a := in.color.opacity(); a < 1 {
		line.LineStyle.Opacity = opts.Float(float32(a))
	}
	c.series(line, m.x, m.y, m.lo, m.hi)
	if m.lo != nil {
		c.again(custom(name, "band", in.color, bandAlpha, []int{2, 3}))
	}
	if m.arrows {
		c.again(custom(name, "arrows", in.color, 1, 1))
	}
}

func (c live) addGlyphs(name string, in ink, m glyphs) {
	s := charts.SingleSeries{
		Name: name, Type: types.ChartScatter, Symbol: symbol[in.dash], SymbolSize: 8,
		ItemStyle: &opts.ItemStyle{Color: in.color.hex(), BorderColor: in.color.hex(),
			BorderWidth: 1.5, Opacity: opts.Float(float32(in.color.opacity()))},
		Encode: &opts.Encode{X: 0, Y: 1},
	}
	if m.hollow {
		s.ItemStyle.Color = "#ffffff" // on dark pages, live.js replaces this white
	}
	c.series(s, m.x, m.y, m.lo, m.hi)
	if m.lo != nil {
		c.again(custom(name, map[bool]string{false: "whiskers", true: "level"}[m.level], in.color, 1, []int{2, 3}))
	}
}

// addRule adds a rule. It gives live.js the corner of the rule's label, by ECharts' name for this position.
func (c live) addRule(m rule, in ink, at corner) {
	s := custom("", "rule", in.color, 1, 0)
	s.Label = &opts.Label{Formatter: charted(m.label)}
	s.LineStyle = &opts.LineStyle{Type: css[in.dash]}
	// The corner is data, because it may differ between frames.
	place := map[bool]string{false: "insideEnd", true: "insideStart"}[at.start] + map[bool]string{false: "Top", true: "Bottom"}[at.below]
	c.reference(s, m.vertical, []float64{m.at}, c.data.place(marshal([]string{place})))
}

// reference appends a silent series with a column for each value, on the y axis or, if vertical, on the x axis. The
// columns with the indices others follow.
func (c live) reference(s charts.SingleSeries, vertical bool, values []float64, others ...int) {
	s.Encode, s.SeriesTooltip = &opts.Encode{Y: 0}, silent
	digits := c.dy
	if vertical {
		s.Encode, digits = &opts.Encode{X: 0}, c.dx
	}
	var source []int
	for _, v := range values {
		source = append(source, c.numbers([]float64{v}, digits))
	}
	c.draw(s, append(source, others...))
}

// ECharts' names for dashes, and for the markers that belong to the dashes. ECharts has no "dashdot", so live.js makes
// this pattern.
var (
	css    = [...]string{AutoDash: "solid", Solid: "solid", Dashed: "dashed", Dotted: "dotted", DashDot: "dashdot"}
	symbol = [...]string{Solid: "circle", Dashed: "rect", Dotted: "diamond", DashDot: "triangle"}
)
