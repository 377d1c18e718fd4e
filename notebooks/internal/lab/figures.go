package lab

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mixpolicy/lab/plotting"
)

// staticPicture matches the picture that a chart shows until it is live.
// The key of its place, if it has one, is the name of its PNG.
var staticPicture = regexp.MustCompile(`(?:data-figure="([0-9a-f]+)"[^>]*>\s*)?<img[^>]*\ssrc="data:image/(svg\+xml|png);base64,([^"]+)"`)

// figures is the file or folder with this name among the figures that cells write in this run.
func (l *Lab) figures(elem ...string) string {
	return filepath.Join(append([]string{l.temp, "figures"}, elem...)...)
}

// placeFigures puts what cells saved by themselves into build.
func (l *Lab) placeFigures() error {
	return filepath.WalkDir(l.figures(), func(file string, d fs.DirEntry, err error) error {
		switch {
		case file == l.figures() && errors.Is(err, fs.ErrNotExist):
			return nil // none did
		case err != nil:
			return err
		case file == l.figures(plotting.CellFigures):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		name, err := filepath.Rel(l.figures(), file)
		if err != nil {
			return err
		}
		return copyFile(l.build("figures", name), file)
	})
}

// exportFigures writes every figure in the notebook's outputs into the folder,
// numbered in their order, in each format they are in. The cells have left the PNG of charts in pixels.
func exportFigures(r *run, folder, pixels string) error {
	old, err := named(folder, regexp.MustCompile("^"+regexp.QuoteMeta(r.name)+`-[0-9]+\.[a-z]+$`))
	if err != nil {
		return err
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	r.figures = 0
	for _, c := range r.notebook.Cells {
		for _, o := range c.Outputs {
			for _, pictures := range figuresOf(&o, pixels) {
				r.figures++
				for format, data := range pictures {
					name := fmt.Sprintf("%s-%d.%s", r.name, r.figures, format)
					if err := writeFile(filepath.Join(folder, name), data); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// figuresOf finds the figures in an output, each as its formats: one figure in
// the output's own MIME types, or else those of the charts in its HTML, whose PNG
// the cell left in the folder pixels.
func figuresOf(o *output, pixels string) []map[string][]byte {
	own := map[string][]byte{}
	if svg := o.in("image/svg+xml"); svg != "" {
		own["svg"] = []byte(svg)
	}
	if png := o.in("image/png"); png != "" {
		if data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(png)); err == nil {
			own["png"] = data
		}
	}
	if len(own) > 0 {
		return []map[string][]byte{own}
	}
	var figures []map[string][]byte
	for _, m := range staticPicture.FindAllStringSubmatch(o.in("text/html"), -1) {
		if data, err := base64.StdEncoding.DecodeString(m[3]); err == nil {
			formats := map[string][]byte{strings.TrimSuffix(m[2], "+xml"): data}
			if png, err := os.ReadFile(filepath.Join(pixels, m[1]+".png")); err == nil {
				formats["png"] = png
			}
			figures = append(figures, formats)
		}
	}
	return figures
}
