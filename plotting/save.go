package plotting

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	_ "gonum.org/v1/plot/vg/vgimg" // PNG
	_ "gonum.org/v1/plot/vg/vgpdf" // PDF

	"github.com/mixpolicy/lab/internal/atomicfile"
)

// FiguresDir is the environment variable that names the folder of relative
// paths given to [Save]. Without it they are relative to the working directory.
const FiguresDir = "MIXPOLICY_FIGURES"

// Headless is the environment variable that says, with any value, that nobody looks
// at the notebook while it runs.
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
