package lab

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// staticPicture matches the picture that a chart shows until it is live.
var staticPicture = regexp.MustCompile(`<img[^>]*\ssrc="data:image/(svg\+xml|png);base64,([^"]+)"`)

// exportFigures writes every figure in the notebook's outputs into the folder,
// numbered in their order, in each format they are in.
func exportFigures(r *run, folder string) error {
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
			for _, pictures := range figuresOf(&o) {
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

// figuresOf finds the figures in an output, each as its formats: those of the charts in its
// HTML, or else one in the output's own MIME types. Several charts have one PNG together,
// which is a format of the first.
func figuresOf(o *output) []map[string][]byte {
	var figures []map[string][]byte
	for _, m := range staticPicture.FindAllStringSubmatch(o.in("text/html"), -1) {
		if data, err := base64.StdEncoding.DecodeString(m[2]); err == nil {
			figures = append(figures, map[string][]byte{strings.TrimSuffix(m[1], "+xml"): data})
		}
	}
	own := map[string][]byte{}
	if svg := o.in("image/svg+xml"); svg != "" && figures == nil {
		own["svg"] = []byte(svg)
	}
	if png := o.in("image/png"); png != "" {
		if data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(png)); err == nil {
			own["png"] = data
		}
	}
	switch {
	case len(own) == 0:
		return figures
	case figures == nil:
		return []map[string][]byte{own}
	}
	maps.Copy(figures[0], own)
	return figures
}
