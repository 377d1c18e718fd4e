package lab

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mixpolicy/lab/plotting"
)

// staticPicture matches the picture that a chart shows until it is live.
// The key of its place, if it has one, is the name of its PNG.
var staticPicture = regexp.MustCompile(`(?:data-figure="([0-9a-f]+)"[^>]*>\s*)?<img[^>]*\ssrc="data:image/(svg\+xml|png);base64,([^"]+)"`)

// exportFigures writes every figure in the notebook's outputs into the folder,
// numbered in their order, in each format they are in.
func exportFigures(r *run, folder string) error {
	old, err := filepath.Glob(filepath.Join(folder, r.name+"-[0-9]*.*"))
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
			for _, pictures := range figuresOf(&o, folder) {
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
// the cell left in the folder.
func figuresOf(o *output, folder string) []map[string][]byte {
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
			if pixels, err := os.ReadFile(filepath.Join(folder, plotting.CellFigures, m[1]+".png")); err == nil {
				formats["png"] = pixels
			}
			figures = append(figures, formats)
		}
	}
	return figures
}
