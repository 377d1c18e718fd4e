package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mixpolicy/lab/notebooks/internal/ipynb"
)

// staticPicture matches the picture that a chart shows until it is live.
var staticPicture = regexp.MustCompile(`<img[^>]*\ssrc="data:image/(svg\+xml|png);base64,([^"]+)"`)

// exportFigures writes every figure in the notebook's outputs into the folder,
// numbered in their order, in each format they are in.
func exportFigures(r *Run, folder string) error {
	old, err := filepath.Glob(filepath.Join(folder, r.Name+"-[0-9]*.*"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	r.Figures = 0
	for _, c := range r.Notebook.Cells {
		for _, o := range c.Outputs {
			for _, pictures := range figuresOf(&o) {
				r.Figures++
				for format, data := range pictures {
					name := fmt.Sprintf("%s-%d.%s", r.Name, r.Figures, format)
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
// the output's own MIME types, or else those of the charts in its HTML.
func figuresOf(o *ipynb.Output) []map[string][]byte {
	own := map[string][]byte{}
	if svg, ok := o.Has("image/svg+xml"); ok {
		own["svg"] = []byte(svg)
	}
	if png, ok := o.Has("image/png"); ok {
		if data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(png)); err == nil {
			own["png"] = data
		}
	}
	if len(own) > 0 {
		return []map[string][]byte{own}
	}
	html, _ := o.Has("text/html")
	var figures []map[string][]byte
	for _, m := range staticPicture.FindAllStringSubmatch(html, -1) {
		if data, err := base64.StdEncoding.DecodeString(m[2]); err == nil {
			format := strings.TrimSuffix(m[1], "+xml")
			figures = append(figures, map[string][]byte{format: data})
		}
	}
	return figures
}
