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

var (
	// An embedded picture, such as the still picture of a chart.
	staticPicture = regexp.MustCompile(`(<img[^>]*)\ssrc="data:image/(svg\+xml|png);base64,([^"]+)"([^>]*>)`)
	viewBox       = regexp.MustCompile(`<svg[^>]* viewBox="0 0 ([\d.]+) ([\d.]+)"`)
	// The number at the start of a notebook's name, without a leading 0, and the dash after the number.
	numbered = regexp.MustCompile(`^(?:0?(\d+-)|)`)
	// The element that nbconvert makes of spaces in code.
	spaces = regexp.MustCompile(`<span class="w">(\s*)</span>`)
	// The script that makes the charts of an output live.
	liveScript = regexp.MustCompile(`(?s)<script>(\s*\(window\.mixpolicyCharts.*?)</script>`)
)

// exportFigures writes every figure in the notebook's outputs into the folder, in each of its formats, and numbers the
// figures in their order.
func exportFigures(r *run, folder string) error {
	for _, file := range named(folder, "^"+regexp.QuoteMeta(r.name)+`-[0-9]+\.[a-z]+$`) {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	r.figures, r.pictures = 0, map[string]string{}
	for _, c := range r.notebook.Cells {
		for _, o := range c.Outputs {
			for _, pictures := range figuresOf(&o) {
				r.figures++
				for format, data := range pictures {
					name := fmt.Sprintf("%s-%d.%s", r.name, r.figures, format)
					r.pictures[string(data)] = name
					if err := writeFile(filepath.Join(folder, name), data); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// lighten removes pictures, the scripts of charts and the elements of spaces in code from a page's HTML. It replaces a
// picture by a reference to the file that [exportFigures] wrote, and adds the figure's number as a link to the figure.
// It writes each script to a file in the folder of the figures; page.js loads this file when a chart is nearly in view.
func lighten(r *run, body, folder string) (string, error) {
	base, section := filepath.Base(folder), numbered.FindStringSubmatch(r.name)[1]
	body = staticPicture.ReplaceAllStringFunc(body, func(tag string) string {
		m := staticPicture.FindStringSubmatch(tag)
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(m[3]), ""))
		name, known := r.pictures[string(data)]
		if err != nil || !known {
			return tag
		}
		size := "" // reserves a place until the picture is loaded
		if v := viewBox.FindStringSubmatch(string(data)); v != nil {
			size = fmt.Sprintf(` width="%s" height="%s"`, v[1], v[2])
		}
		k := strings.TrimSuffix(name[len(r.name)+1:], filepath.Ext(name))
		number := fmt.Sprintf(`<a class="number" id="figure-%s" href="#figure-%s">Figure %s%s</a>`, k, k, section, k)
		return fmt.Sprintf(`%s%s loading="lazy" src="%s/%s"%s%s`, m[1], size, base, name, m[4], number)
	})
	scripts := 0
	var failed error
	body = liveScript.ReplaceAllStringFunc(body, func(tag string) string {
		scripts++
		name := fmt.Sprintf("%s-%d.js", r.name, scripts)
		if err := writeFile(filepath.Join(folder, name), []byte(liveScript.FindStringSubmatch(tag)[1])); err != nil {
			failed = err
		}
		return fmt.Sprintf(`<div data-later="%s/%s"></div>`, base, name)
	})
	return spaces.ReplaceAllString(body, "$1"), failed
}

// figuresOf returns the figures in an output, each as a map from formats to data: the charts in the HTML or, if the
// HTML contains no chart, the figure that the output contains as SVG, as PNG or as both. Several charts share one PNG,
// which counts as a format of the first chart.
func figuresOf(o *output) []map[string][]byte {
	var figures []map[string][]byte
	for _, m := range staticPicture.FindAllStringSubmatch(o.in("text/html"), -1) {
		if data, err := base64.StdEncoding.DecodeString(m[3]); err == nil {
			figures = append(figures, map[string][]byte{strings.TrimSuffix(m[2], "+xml"): data})
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
	if figures != nil {
		maps.Copy(figures[0], own)
	} else if len(own) > 0 {
		figures = append(figures, own)
	}
	return figures
}
