package plotting

import (
	_ "embed"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
)

//go:embed live.js
var liveJS string

// script is live.js without comments and indentation: it is part of every
// output, and outputs are saved.
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

// number is a coordinate in JSON, rounded to the digits that its axis shows.
type number struct {
	value  float64
	digits int
}

func (n number) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, n.value, 'g', n.digits, 64), nil
}

// digits is how many significant digits a coordinate needs on the axis: six
// for the length of the axis, which is finer than any screen, and more if the
// axis is far from 0.
func (s scale) digits() int {
	const shown = 6
	if s.log {
		return shown
	}
	far := math.Log10(max(math.Abs(s.lo), math.Abs(s.hi)) / (s.hi - s.lo))
	return min(17, shown+int(max(0, math.Ceil(far))))
}

// option returns the figure as ECharts' option, in JSON that is safe within a
// script element.
func (f Figure) option() ([]byte, error) {
	layers, x, y, err := f.prepare()
	if err != nil {
		return nil, err
	}
	c := live{Line: charts.NewLine(), dx: x.digits(), dy: y.digits()}
	c.frame(f, layers, x, y)
	for _, l := range layers {
		for _, m := range l.marks {
			c.add(l.name, m)
		}
	}
	c.Validate() // before JSON, or go-echarts loses the x axis
	return json.Marshal(c.JSON())
}

// live is a chart that is being composed, and the digits of its coordinates.
type live struct {
	*charts.Line
	dx, dy int
}

// frame sets all that isn't data.
func (c live) frame(f Figure, layers []layer, x, y scale) {
	var names []string
	trigger := "axis"
	for _, l := range layers {
		if l.name != "" {
			names = append(names, l.name)
		}
		for _, m := range l.marks {
			if m, ok := m.(curve); ok && (m.arrows || m.thin) {
				trigger = "item" // a plane: neither axis is the cause of the other
			}
		}
	}
	top := 10
	title := opts.Title{Title: f.Title, Left: "0", Top: "0", TitleStyle: &opts.TextStyle{FontSize: 15, FontWeight: "normal"}}
	if f.Title != "" || len(names) > 0 {
		top += 26
	}
	legend := opts.Legend{Show: opts.Bool(false)}
	if len(names) > 0 {
		legend = opts.Legend{Type: "scroll", Left: "0", Top: "26", Data: names}
		top += 26
	}
	// ECharts leaves room for tick labels, but not for the name beside them.
	widest := 0
	for _, t := range y.ticks(5) {
		widest = max(widest, utf8.RuneCountInString(t.label))
	}
	const digit = 7 // pixels
	left := "8"
	if f.Y.Label != "" {
		left = "26"
	}
	bottom := "8"
	if f.X.Label != "" {
		bottom = "28"
	}
	c.SetGlobalOptions(
		charts.WithTitleOpts(title),
		charts.WithLegendOpts(legend),
		charts.WithTooltipOpts(opts.Tooltip{Trigger: trigger}),
		charts.WithGridOpts(opts.Grid{Left: left, Right: "18", Top: strconv.Itoa(top), Bottom: bottom, ContainLabel: opts.Bool(true)}),
		charts.WithXAxisOpts(opts.XAxis{
			Type: x.kind(), Name: f.X.Label, NameLocation: "middle", NameGap: 28,
			Min: number{x.lo, 12}, Max: number{x.hi, 12}, AxisLabel: x.labels(6),
		}),
		charts.WithYAxisOpts(opts.YAxis{
			Type: y.kind(), Name: f.Y.Label, NameLocation: "middle", NameGap: 14 + digit*widest,
			Min: number{y.lo, 12}, Max: number{y.hi, 12}, AxisLabel: y.labels(5),
		}),
		charts.WithAnimation(false),
	)
}

func (s scale) kind() string {
	if s.log {
		return "log"
	}
	return "value"
}

// labels hides the labels at the ends of the axis unless they are ticks.
func (s scale) labels(n int) *opts.AxisLabel {
	ticks := s.ticks(n)
	is := func(v float64) types.Bool {
		for _, t := range ticks {
			if math.Abs(t.at-v) <= 1e-9*(s.hi-s.lo) {
				return opts.Bool(true)
			}
		}
		return opts.Bool(false)
	}
	return &opts.AxisLabel{ShowMinLabel: is(s.lo), ShowMaxLabel: is(s.hi)}
}

// series appends a series that draws the given columns, the first of them x.
func (c live) series(s charts.SingleSeries, columns ...[]float64) {
	rows := make([][]number, len(columns[0]))
	for i := range rows {
		row := []number{{columns[0][i], c.dx}}
		for _, column := range columns[1:] {
			row = append(row, number{column[i], c.dy})
		}
		rows[i] = row
	}
	s.DatasetIndex = len(c.DatasetList)
	c.AddDataset(opts.Dataset{Source: rows})
	c.MultiSeries = append(c.MultiSeries, s)
}

// again appends a series that draws the columns of the last one.
func (c live) again(s charts.SingleSeries) {
	s.DatasetIndex = len(c.DatasetList) - 1
	c.MultiSeries = append(c.MultiSeries, s)
}

// silent marks a series that tooltips leave out: go-echarts has no field for
// it, and live.js turns it into one.
var silent = &opts.SeriesTooltip{}

// custom is a series drawn by a shape of live.js.
func custom(name, shape string, color Color, opacity float64, y any) charts.SingleSeries {
	return charts.SingleSeries{
		Name: name, Type: types.ChartCustom, RenderItem: types.FuncStr(shape),
		ItemStyle: &opts.ItemStyle{Color: color.hex(), Opacity: opts.Float(float32(opacity))},
		Encode:    &opts.Encode{X: 0, Y: y},
	}
}

func (c live) add(name string, m mark) {
	switch m := m.(type) {
	case curve:
		c.addCurve(name, m)
	case boxes:
		s := custom(name, "boxes", m.ink.color, boxAlpha, 1)
		s.BarWidth = strconv.FormatFloat(m.width, 'g', c.dx, 64)
		c.series(s, m.x, m.height)
	case glyphs:
		c.addGlyphs(name, m)
	case polygon:
		s := custom(name, "region", m.ink.color, regionAlpha, 1)
		s.SeriesTooltip = silent
		c.series(s, m.x, m.y)
	case rule:
		c.addRule(m)
	case span:
		c.addSpan(m)
	}
}

func (c live) addCurve(name string, m curve) {
	if m.y == nil {
		c.series(custom(name, "band", m.ink.color, bandAlpha, []int{1, 2}), m.x, m.lo, m.hi)
		return
	}
	width := lineWidth
	if m.thin {
		width = thinWidth
	}
	line := charts.SingleSeries{
		Name: name, Type: types.ChartLine, ShowSymbol: opts.Bool(false),
		LineStyle: &opts.LineStyle{Color: m.ink.color.hex(), Width: float32(px * width), Type: m.ink.dash.css()},
		ItemStyle: &opts.ItemStyle{Color: m.ink.color.hex()},
		Encode:    &opts.Encode{X: 0, Y: 1},
	}
	if m.lo == nil {
		c.series(line, m.x, m.y)
	} else {
		c.series(line, m.x, m.y, m.lo, m.hi)
		s := custom(name, "band", m.ink.color, bandAlpha, []int{2, 3})
		s.SeriesTooltip = silent
		c.again(s)
	}
	if m.arrows {
		s := custom(name, "arrows", m.ink.color, 1, 1)
		s.SeriesTooltip = silent
		c.again(s)
	}
}

func (c live) addGlyphs(name string, m glyphs) {
	s := charts.SingleSeries{
		Name: name, Type: types.ChartScatter, Symbol: m.ink.marker.symbol(), SymbolSize: 8,
		ItemStyle: &opts.ItemStyle{Color: m.ink.color.hex(), BorderColor: m.ink.color.hex(), BorderWidth: 1.5},
		Encode:    &opts.Encode{X: 0, Y: 1},
	}
	if m.hollow {
		s.ItemStyle.Color = "#ffffff"
	}
	if m.lo == nil {
		c.series(s, m.x, m.y)
		return
	}
	c.series(s, m.x, m.y, m.lo, m.hi)
	w := custom(name, "whiskers", m.ink.color, 1, []int{2, 3})
	w.SeriesTooltip = silent
	c.again(w)
}

// anchor carries a rule or a span: ECharts attaches both to a series.
func (c live) anchor(s charts.SingleSeries) {
	s.Type, s.Data, s.SeriesTooltip = types.ChartLine, []number{}, silent
	c.MultiSeries = append(c.MultiSeries, s)
}

func (c live) addRule(m rule) {
	label := &opts.Label{Formatter: "{b}", Position: "insideEndTop", Color: Grey.hex()}
	at := opts.MarkLineNameYAxisItem{Name: m.label, YAxis: number{m.at, c.dy}}
	marks := &opts.MarkLines{Data: []any{at}}
	if m.vertical {
		marks.Data = []any{opts.MarkLineNameXAxisItem{Name: m.label, XAxis: number{m.at, c.dx}}}
	}
	marks.MarkLineStyle = opts.MarkLineStyle{
		Symbol: []string{"none", "none"}, Label: label,
		LineStyle: &opts.LineStyle{Color: m.ink.color.hex(), Width: px, Type: m.ink.dash.css()},
	}
	c.anchor(charts.SingleSeries{MarkLines: marks})
}

// spanEnd is a corner of a markArea; go-echarts spells the key yAxis YAxis.
type spanEnd struct {
	Name string  `json:"name,omitempty"`
	X    *number `json:"xAxis,omitempty"`
	Y    *number `json:"yAxis,omitempty"`
}

func (c live) addSpan(m span) {
	from, to := spanEnd{Name: m.label, Y: &number{m.from, c.dy}}, spanEnd{Y: &number{m.to, c.dy}}
	if m.vertical {
		from, to = spanEnd{Name: m.label, X: &number{m.from, c.dx}}, spanEnd{X: &number{m.to, c.dx}}
	}
	c.anchor(charts.SingleSeries{MarkAreas: &opts.MarkAreas{
		Data: []any{[]spanEnd{from, to}},
		MarkAreaStyle: opts.MarkAreaStyle{
			Label:     &opts.Label{Position: "insideTopLeft", Color: Grey.hex()},
			ItemStyle: &opts.ItemStyle{Color: m.ink.color.hex(), Opacity: opts.Float(regionAlpha)},
		},
	}})
}

// px is the CSS pixels in a point.
const px = 4.0 / 3

func (d Dash) css() string {
	switch d {
	case Dashed:
		return "dashed"
	case Dotted:
		return "dotted"
	case DashDot:
		return "dashed" // ECharts takes patterns as arrays, which go-echarts has no field for
	}
	return "solid"
}

func (m Marker) symbol() string {
	return [...]string{Circle: "circle", Square: "rect", Triangle: "triangle", Diamond: "diamond"}[m]
}
