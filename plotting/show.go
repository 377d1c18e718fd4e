package plotting

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	_ "gonum.org/v1/plot/vg/vgimg" // PNG
	_ "gonum.org/v1/plot/vg/vgpdf" // PDF

	"github.com/mixpolicy/lab/internal/atomicfile"
	"github.com/mixpolicy/lab/plotting/echarts"
)

// View is what can be shown in a notebook: a [Figure], [Panels], an [Explorer], a
// [Table] or [Markdown].
type View interface {
	display() (display, error)
}

// display is one output in several forms, of which the reader's program takes
// the richest that it knows.
type display struct {
	html, markdown string // either
	plain          string
}

// Show displays the views below the cell, one output each. Outside of a
// notebook it prints them as text.
//
// A view that can't be shown is a mistake in the cell: Show panics and says
// what is wrong with it.
func Show(views ...View) {
	for _, v := range views {
		output, err := DisplayData(v)
		if err != nil {
			panic(err)
		}
		if !gonbui.IsNotebook {
			fmt.Println(output.Data[protocol.MIMETextPlain])
			continue
		}
		gonbui.SendData(output)
	}
	gonbui.Sync() // or the process may end before its outputs have left it
}

// DisplayData is the view as GoNB is given it: one output in several MIME types.
func DisplayData(v View) (*protocol.DisplayData, error) {
	d, err := v.display()
	if err != nil {
		return nil, fmt.Errorf("plotting: %w", err)
	}
	data := map[protocol.MIMEType]any{protocol.MIMETextPlain: d.plain}
	if d.html != "" {
		data[protocol.MIMETextHTML] = d.html
	}
	if d.markdown != "" {
		data[protocol.MIMETextMarkdown] = d.markdown
	}
	return &protocol.DisplayData{Data: data}, nil
}

// Markdown is text with TeX formulas in dollars, for sentences that hold
// computed numbers.
type Markdown string

func (m Markdown) display() (display, error) {
	return display{markdown: string(m), plain: string(m)}, nil
}

func (f Figure) display() (display, error) { return Row(f).display() }

func (p Panels) display() (display, error) {
	p, err := p.panels()
	if err != nil {
		return display{}, err
	}
	return output([]Panels{p}, p, nil)
}

// output is the display of frames of panels, which the controls choose from, and
// of the still picture that stands for them.
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
		spec, div, err := chart(figures, f)
		if err != nil {
			return display{}, err
		}
		specs = append(specs, spec)
		body.WriteString(div)
		plain.WriteString(f.alt() + "\n")
	}
	return display{html: page(body.String(), specs), plain: strings.TrimSpace(plain.String())}, nil
}

// spec is the description of a chart that live.js is given.
type spec struct {
	Key     string  `json:"key"`
	Columns columns `json:"columns"`
	// Frames are ECharts' options: the first as a whole, of the others what differs
	// from it. The source of a data set is a list of columns.
	Frames []options `json:"frames"`
}

// options are the parts of a chart's description, by ECharts' names for them.
type options map[string]json.RawMessage

// since returns the parts that differ from those of the first frame.
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

// columns are the data of a chart, each column once, however many curves and
// frames it is part of.
type columns struct {
	all   []json.RawMessage
	index map[string]int
}

func (c columns) MarshalJSON() ([]byte, error) { return json.Marshal(c.all) }

// place returns the index of the column, which is new or has been there before.
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

// chart returns the chart of the frames, and its place in the page, which holds
// the still picture.
func chart(frames []Figure, still Figure) (spec, string, error) {
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
		if k == 0 {
			first = all
			s.Frames = append(s.Frames, all)
		} else {
			s.Frames = append(s.Frames, all.since(first))
		}
	}
	picture, err := still.svg()
	if err != nil {
		return s, "", err
	}
	// The key comes from the content: equal figures give equal bytes, and two
	// places with one key are to show the same chart.
	content, err := json.Marshal(s)
	if err != nil {
		return s, "", err
	}
	s.Key = fmt.Sprintf("%x", sha256.Sum256(content))[:12]
	if os.Getenv(FiguresDir) != "" && os.Getenv(Headless) != "" {
		// For those who want pixels. A text that PNG can't set is in the SVG all the same.
		_ = Save(filepath.Join(CellFigures, s.Key+".png"), still)
	}

	w, h := still.size()
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="mixpolicy-chart" data-figure="%s" style="min-width:0;max-width:%.0fpx">`+"\n", s.Key, 115*w) // 115 px an inch: a screen is read from farther than paper
	fmt.Fprintf(&b, `<img class="mixpolicy-static" style="width:100%%" alt="%s" src="data:image/svg+xml;base64,%s">`+"\n",
		html.EscapeString(still.alt()), base64.StdEncoding.EncodeToString(compactSVG(picture)))
	fmt.Fprintf(&b, `<div class="mixpolicy-live" style="width:100%%;aspect-ratio:%g/%g;min-height:280px;overflow:hidden" hidden></div>`+"\n</div>\n", w, h)
	return s, b.String(), nil
}

var (
	svgPath    = regexp.MustCompile(` d="[^"]*"`)
	svgDecimal = regexp.MustCompile(`(\.\d)\d+`)
)

// compactSVG cuts the coordinates of paths to a tenth of a point, which can't
// be seen on a screen: pictures are saved with every notebook.
func compactSVG(b []byte) []byte {
	return svgPath.ReplaceAllFunc(b, func(path []byte) []byte {
		return svgDecimal.ReplaceAll(path, []byte("$1"))
	})
}

// page returns the HTML of one output.
func page(body string, specs []spec) string {
	b, err := json.Marshal(specs) // escapes <, > and &, so that no text can end the script
	if err != nil {
		panic(err) // of strings and JSON that json made
	}
	return `<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(min(360px,100%),1fr));gap:12px">` + "\n" + body + "</div>\n" +
		"<script>\n(window.mixpolicyCharts = window.mixpolicyCharts || []).push(function () {\n(" + script + ")(" + string(b) + ");\n});\n" +
		echarts.Loader + "</script>"
}

// FiguresDir is the environment variable that names the folder of relative
// paths given to [Save]. Without it they are relative to the working directory.
const FiguresDir = "MIXPOLICY_FIGURES"

// Headless is the environment variable that, with any value, says that the notebook
// runs without a page that shows it.
const Headless = "MIXPOLICY_HEADLESS"

// CellFigures is the folder below FiguresDir into which a headless [Show] puts a PNG
// of each picture, named by its key: the data-figure of its place in the page.
const CellFigures = "cells"

// Save writes the drawing to a file: SVG, PNG or PDF by the extension of the
// path. The file is there as a whole or not at all. SVG and PNG are the same
// bytes every time; PDF holds the time at which it was made.
//
// PNG and PDF are set in Liberation Sans. A character that it lacks, such as ∇
// or ∈, is an error there; in SVG the reader's machine finds another font.
func Save(path string, d Drawing) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	b, err := encode(format, d)
	if err != nil {
		return fmt.Errorf("plotting: %s: %w", path, err)
	}
	if dir := os.Getenv(FiguresDir); dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("plotting: %w", err)
		}
	}
	if err := atomicfile.WriteBytes(path, b); err != nil {
		return fmt.Errorf("plotting: %w", err)
	}
	return nil
}

func encode(format string, d Drawing) ([]byte, error) {
	p, err := d.panels()
	if err != nil {
		return nil, err
	}
	w, h := p.size()
	width, height := vg.Length(w)*vg.Inch, vg.Length(h)*vg.Inch
	switch format {
	case "svg":
		return drawSVG(p, width, height)
	case "png", "pdf":
		if err := p.checkGlyphs(); err != nil {
			return nil, err
		}
		canvas, err := draw.NewFormattedCanvas(width, height, format)
		if err != nil {
			return nil, err
		}
		if err := p.draw(draw.NewCanvas(canvas, width, height)); err != nil {
			return nil, err
		}
		var b bytes.Buffer
		_, err = canvas.WriteTo(&b)
		return b.Bytes(), err
	}
	return nil, fmt.Errorf("unknown format %q: want .svg, .png or .pdf", format)
}

// checkGlyphs returns an error if a text of the panels can't be set.
func (p Panels) checkGlyphs() error {
	face := font.DefaultCache.Lookup(labelFont, labelFont.Size).Face
	for _, f := range p.Figures {
		for _, txt := range f.texts() {
			for _, r := range runs(txt, 1) {
				for _, c := range r.text {
					if i, err := face.GlyphIndex(nil, c); (err != nil || i == 0) && !unicode.IsSpace(c) {
						return fmt.Errorf("%q: Liberation Sans has no %q: reword, or save as SVG", txt, c)
					}
				}
			}
		}
	}
	return nil
}

// texts returns all that is written in the figure, numbers aside.
func (f Figure) texts() []string {
	out := []string{f.Title, f.X.Label, f.Y.Label}
	for _, l := range f.Layers {
		_, name := l.describe()
		out = append(out, name)
	}
	return out
}
