package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mixpolicy/lab/notebooks/internal/ipynb"
	"github.com/mixpolicy/lab/plotting"
)

// staticPicture matches the picture that a chart shows until it is live.
// The key of its place, if it has one, is the name of its PNG.
var staticPicture = regexp.MustCompile(`(?:data-figure="([0-9a-f]+)"[^>]*>\s*)?<img[^>]*\ssrc="data:image/(svg\+xml|png);base64,([^"]+)"`)

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
			for _, pictures := range figuresOf(&o, folder) {
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
// the output's own MIME types, or else those of the charts in its HTML, whose PNG
// the cell left in the folder.
func figuresOf(o *ipynb.Output, folder string) []map[string][]byte {
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
