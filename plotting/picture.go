//go:build !js || drawer

package plotting

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mixpolicy/lab/plotting/echarts"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// output returns the display of frames of panels; the controls choose the frame to show. Readers without scripts see the
// still picture.
func output(frames []Panels, still Panels, controls []Control) (display, error) {
	var specs []spec
	var body, plain strings.Builder
	if controls != nil {
		body.WriteString(`<div class="mixpolicy-controls" style="grid-column:1/-1" hidden>` + "\n")
		for _, c := range controls {
			body.WriteString(c.html())
			plain.WriteString(c.plain() + "\n")
		}
		body.WriteString("</div>\n")
	}
	for i, f := range still.Figures {
		figures := make([]Figure, len(frames))
		for k, p := range frames {
			figures[k] = p.Figures[i]
		}
		picture, err := Row(f).svg()
		if err != nil {
			return display{}, err
		}
		spec, div, err := chart(figures, f, picture)
		if err != nil {
			return display{}, err
		}
		specs = append(specs, spec)
		body.WriteString(div)
		plain.WriteString(f.alt() + "\n")
	}
	picture, err := still.small()
	if err != nil && still.checkGlyphs() == nil { // a text that PNG cannot set is not an error, because the SVG shows the text
		return display{}, err
	}
	return display{html: page(body.String(), specs), png: picture, plain: strings.TrimSpace(plain.String())}, nil
}

// spec is the description of a chart for live.js.
type spec struct {
	Key     string  `json:"key"`
	Columns columns `json:"columns"`
	// Frames holds ECharts' options for each frame. The first frame is stored as a whole; for every other frame, only
	// the differences from the first frame are stored. In the options, the source of a data set lists columns by their
	// indices.
	Frames []options `json:"frames"`
}

// options are the parts of a chart's description, by ECharts' names for them.
type options map[string]json.RawMessage

// The method since returns the parts that differ from the parts of the first frame. For a part that only the first
// frame has, it returns null.
func (o options) since(first options) options {
	out := options{}
	for name, part := range o {
		if !bytes.Equal(part, first[name]) {
			out[name] = part
		}
	}
	for name := range first {
		if _, ok := o[name]; !ok {
			out[name] = json.RawMessage("null")
		}
	}
	return out
}

// columns are the data of a chart. Each column is stored once, however many curves and frames use it.
type columns struct {
	all   []json.RawMessage
	index map[string]int
}

func (c columns) MarshalJSON() ([]byte, error) { return json.Marshal(c.all) }

// place returns the index of the column, and stores the column if it is new.
func (c *columns) place(column json.RawMessage) int {
	k, ok := c.index[string(column)]
	if !ok {
		k = len(c.all)
		if c.index == nil {
			c.index = map[string]int{}
		}
		c.index[string(column)] = k
		c.all = append(c.all, column)
	}
	return k
}

// chart returns the chart of the frames, and its element in the page. The element contains the given picture, an SVG of
// the still figure.
func chart(frames []Figure, still Figure, picture []byte) (spec, string, error) {
	var s spec
	digits := stillDigits
	if len(frames) > 1 {
		digits = frameDigits
	}
	var first options
	for k, f := range frames {
		all, err := f.option(&s.Columns, digits)
		if err != nil {
			return s, "", err
		}
		s.Frames = append(s.Frames, all.since(first))
		if k == 0 {
			first = all
		}
	}
	// The key comes from the content: equal figures give equal bytes, and two elements with one key show the same
	// chart.
	s.Key = fmt.Sprintf("%x", sha256.Sum256(marshal(s)))[:12]
	w, h := still.size()
	var b strings.Builder
	// 115 px per inch, because readers are farther from a screen than from paper.
	fmt.Fprintf(&b, `<div class="mixpolicy-chart" data-figure="%s" style="min-width:0;max-width:%.0fpx">`+"\n", s.Key, 115*w)
	fmt.Fprintf(&b, `<img class="mixpolicy-static" style="width:100%%" alt="%s" src="data:image/svg+xml;base64,%s">`+"\n",
		html.EscapeString(still.alt()), base64.StdEncoding.EncodeToString(compactSVG(picture)))
	fmt.Fprintf(&b, `<div class="mixpolicy-live" style="width:100%%;aspect-ratio:%g/%g;`+
		`min-height:280px;overflow:hidden" hidden></div>`+"\n</div>\n", w, h)
	return s, b.String(), nil
}

var (
	svgPath    = regexp.MustCompile(` d="[^"]*"`)
	svgDecimal = regexp.MustCompile(`(\.\d)\d+`)
)

// compactSVG truncates the coordinates of paths to tenths of a point, because pictures are saved with every notebook.
// The difference is invisible on a screen.
func compactSVG(b []byte) []byte {
	return svgPath.ReplaceAllFunc(b, func(path []byte) []byte {
		return svgDecimal.ReplaceAll(path, []byte("$1"))
	})
}

// page returns the HTML of one output.
func page(body string, specs []spec) string {
	return `<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(min(360px,100%),1fr));gap:12px">` + "\n" + body +
		"</div>\n<script>\n(window.mixpolicyCharts = window.mixpolicyCharts || []).push(function () {\n(" + script +
		")(" + string(marshal(specs)) + ");\n});\n" + echarts.Loader + "</script>"
}

// marshal returns v as JSON, and panics if v has no JSON form. It escapes <, > and &, so no text can end a script.
func marshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// html returns the control as HTML; live.js reads the values from the attribute data-values.
func (c Control) html() string {
	var b strings.Builder
	label := html.EscapeString(c.Label)
	b.WriteString(`<label style="display:inline-block;min-width:min(340px,100%);margin:0 16px 4px 0">` + label)
	// JupyterLab uses the arrow keys itself, unless the element forbids it.
	attributes := fmt.Sprintf(`data-lm-suppress-shortcuts="true" data-values="%s"`, html.EscapeString(string(marshal(c.Values))))
	if c.Menu {
		fmt.Fprintf(&b, ` <select %s>`, attributes)
		for i, v := range c.Values {
			selected := ""
			if i == c.Start {
				selected = " selected"
			}
			fmt.Fprintf(&b, `<option value="%d"%s>%s</option>`, i, selected, html.EscapeString(v))
		}
		b.WriteString("</select>")
	} else {
		widest := 0
		for _, v := range c.Values {
			widest = max(widest, utf8.RuneCountInString(v))
		}
		// A screen reader says the value, not its index. The value is in a span. If it were in an output element, the
		// label would belong to this element instead of the slider.
		value := html.EscapeString(c.Values[c.Start])
		fmt.Fprintf(&b, ` = <span style="display:inline-block;min-width:%dch">%s</span> <input type="range" max="%d" value="%d" `+
			`aria-label="%s" aria-valuetext="%s" %s style="vertical-align:middle;width:min(200px,50vw)">`,
			widest, value, len(c.Values)-1, c.Start, label, value, attributes)
	}
	b.WriteString("</label>\n")
	return b.String()
}

// draw carries out the order.
func (o order) draw() (d drawn) {
	out, err := display{}, error(nil)
	if o.Format == "" {
		out, err = output(o.Frames, o.Still, o.Controls)
	} else {
		out.png, err = encode(o.Format, o.Still)
	}
	if err != nil {
		return drawn{Error: err.Error()}
	}
	return drawn{HTML: out.html, Plain: out.plain, Picture: out.png}
}

// encode returns the drawing as a file of the format.
func encode(format string, d Drawing) ([]byte, error) {
	p, err := d.panels()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	switch format {
	case "csv":
		return p.csv()
	case "svg":
		return p.svg()
	case "png":
		img, err := p.raster()
		if err != nil {
			return nil, err
		}
		err = png.Encode(&b, img)
		return b.Bytes(), err
	case "pdf":
		if err := p.checkGlyphs(); err != nil {
			return nil, err
		}
		canvas := vgpdf.New(p.room())
		if err := p.draw(outlined{canvas}); err != nil {
			return nil, err
		}
		_, err = canvas.WriteTo(&b)
		return b.Bytes(), err
	}
	return nil, fmt.Errorf("unknown format %q: want .svg, .png, .pdf or .csv", format)
}

const screenDPI = 96 // CSS pixels per inch

// raster draws the panels as pixels.
func (p Panels) raster() (*image.RGBA, error) {
	if err := p.checkGlyphs(); err != nil {
		return nil, err
	}
	canvas := vgimg.NewWith(vgimg.UseWH(p.room()), vgimg.UseDPI(screenDPI))
	if err := p.draw(kerned{canvas}); err != nil {
		return nil, err
	}
	return canvas.Image().(*image.RGBA), nil
}

// small returns the picture as a PNG of at most 256 colours, which is a quarter of the size of a PNG with all colours.
// It is saved with every notebook, for readers whose program shows neither HTML nor SVG.
func (p Panels) small() ([]byte, error) {
	if p.Columns == 0 { // at most two figures in a row, because a wider row would be small in print
		p.Columns = min(2, len(p.Figures))
	}
	img, err := p.raster()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, fewer(img))
	return b.Bytes(), err
}

// The function fewer returns the image in its 256 most frequent colours, after merging colours whose channels round to
// the same multiples of 16.
func fewer(img *image.RGBA) *image.Paletted {
	const step, levels = 16, 17
	level := func(v byte) int { return (int(v) + step/2) / step }
	class := func(p []byte) int { return (level(p[0])*levels+level(p[1]))*levels + level(p[2]) }
	var total [levels * levels * levels]int
	var members [len(total)]map[[3]byte]int
	for p := img.Pix; len(p) >= 4; p = p[4:] {
		k := class(p)
		if members[k] == nil {
			members[k] = map[[3]byte]int{}
		}
		total[k]++
		members[k][[3]byte(p)]++
	}
	var classes []int
	for k, n := range total {
		if n > 0 {
			classes = append(classes, k)
		}
	}
	slices.SortStableFunc(classes, func(a, b int) int { return cmp.Compare(total[b], total[a]) })
	var colors color.Palette
	for _, k := range classes[:min(256, len(classes))] {
		commonest := slices.MaxFunc(slices.Collect(maps.Keys(members[k])), func(a, b [3]byte) int {
			return cmp.Or(cmp.Compare(members[k][a], members[k][b]), bytes.Compare(a[:], b[:]))
		})
		colors = append(colors, color.RGBA{commonest[0], commonest[1], commonest[2], 0xff})
	}
	middle := func(l int) uint8 { return uint8(min(0xff, l*step)) }
	var index [len(total)]uint8
	for i, k := range classes {
		index[k] = uint8(i)
		if i >= len(colors) {
			index[k] = uint8(colors.Index(color.RGBA{middle(k / levels / levels), middle(k / levels % levels), middle(k % levels), 0xff}))
		}
	}
	out := image.NewPaletted(img.Bounds(), colors)
	for i := range out.Pix {
		out.Pix[i] = index[class(img.Pix[4*i:])]
	}
	return out
}

// checkGlyphs returns an error if a text of the panels has a character that is in neither of our two fonts.
func (p Panels) checkGlyphs() error {
	for _, f := range p.Figures {
		layers, _ := f.lower() // no error, because the panels have been checked
		for _, txt := range f.texts(layers) {
			if c := missing(txt); c != 0 {
				return fmt.Errorf("the text %q: neither Liberation Sans nor DejaVu Sans has %q; reword the text, or save as SVG", txt, c)
			}
		}
	}
	return nil
}
