package plotting

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/mixpolicy/lab/internal/atomicfile"
)

// View is what [Show] displays: a [Figure], [Panels], an [Explorer], a [Table], [Markdown] or a [Fold].
type View interface {
	display() (display, error)
}

// display is one output in several forms. The reader's program takes the richest form that it can show.
type display struct {
	html, markdown string // at most one of the two is not empty
	png            []byte // nil if there is no picture
	plain          string
}

// Show displays the views below the cell, each as one output. Outside a notebook, it prints the
// views as text.
//
// A view that cannot be shown is a mistake in the cell, so Show panics and says what is wrong with the view.
func Show(views ...View) {
	for _, v := range views {
		output, err := DisplayData(v)
		if err != nil {
			panic(err)
		}
		if !inNotebook() {
			fmt.Println(output.Data[protocol.MIMETextPlain])
			continue
		}
		send(output)
	}
	flush()
}

// DisplayData returns the view in the form that GoNB receives: one output in several MIME types.
func DisplayData(v View) (*protocol.DisplayData, error) {
	d, err := v.display()
	if err != nil {
		return nil, fmt.Errorf("plotting: %w", err)
	}
	data := map[protocol.MIMEType]any{protocol.MIMETextPlain: d.plain}
	if d.html != "" {
		data[protocol.MIMETextHTML] = d.html
	}
	if d.png != nil {
		data[protocol.MIMEImagePNG] = d.png
	}
	if d.markdown != "" {
		data[protocol.MIMETextMarkdown] = d.markdown
	}
	return &protocol.DisplayData{Data: data}, nil
}

// Markdown is text in Markdown, with TeX formulas between dollar signs. It is for sentences that contain computed
// numbers.
type Markdown string

func (m Markdown) display() (display, error) {
	return display{markdown: string(m), plain: string(m)}, nil
}

// Fold is a preformatted text that appears when the reader clicks on Head. It is for details that most readers do not
// need.
type Fold struct{ Head, Text string }

func (f Fold) display() (display, error) {
	return display{
		html: fmt.Sprintf("<details><summary>%s</summary>\n<pre>%s</pre>\n</details>",
			html.EscapeString(f.Head), html.EscapeString(f.Text)),
		plain: f.Head + "\n" + f.Text,
	}, nil
}

func (f Figure) display() (display, error) { return Row(f).display() }

func (p Panels) display() (display, error) {
	p, err := p.panels()
	if err != nil {
		return display{}, err
	}
	return output([]Panels{p}, p, nil)
}

// Headless names an environment variable. The command `go run ./notebooks run` sets this variable to a non-empty string
// while it executes notebooks. Nobody is watching then, so progress bars are not shown.
const Headless = "MIXPOLICY_HEADLESS"

// Save writes the drawing to a file. The extension of the path selects a picture (.svg, .png or .pdf) or the numbers
// (.csv). A relative path starts at the working directory or, in a notebook, at the notebook's folder. In a notebook,
// Save prints the path, and refuses a path in a folder that the command `go run ./notebooks clean` removes. Save
// creates a missing folder. Save writes the whole file or none. Saved as SVG, PNG or CSV, a drawing gives the same
// bytes every time. A PDF contains the time at which it was made.
//
// CSV is one table with the columns panel (counted from 1), title, kind, layer (its name or label), x, y, lo, hi and z.
// If a layer has no value for a column, the cell is empty. Lines, points and paths have a row for each point, with the
// point's interval if there is one. Bars have a row for each bar. A contour or a heatmap has a row for each point of
// its grid, with the value at this point as z. A rule has one row, and a span has a row for each of its ends. The value
// of the rule or of the end is in the column y or, if the rule or the span is vertical, in the column x. An arrow has
// one row, for the point to which it points. Save writes the numbers of each layer as they were before thinning, with
// all digits.
//
// For a PNG or a PDF, a character that is in neither Liberation Sans nor DejaVu Sans is an error. In an SVG, the
// reader's machine chooses another font for such a character.
func Save(path string, d Drawing) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	b, err := encode(format, d)
	if err == nil && inNotebook() {
		err = kept(path)
	}
	if err != nil {
		return fmt.Errorf("plotting: %s: %w", path, err)
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
		err = atomicfile.WriteBytes(path, b)
	}
	if err != nil {
		return fmt.Errorf("plotting: %w", err)
	}
	if inNotebook() {
		fmt.Println("saved", filepath.Clean(path))
	}
	return nil
}

// kept returns an error for a path in a folder that go run ./notebooks clean removes, such as .lab and build. A file
// CACHEDIR.TAG marks these folders (bford.info/cachedir).
func kept(path string) error {
	dir, err := filepath.Abs(path)
	for err == nil && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		if tag, _ := os.ReadFile(filepath.Join(dir, "CACHEDIR.TAG")); strings.Contains(string(tag), "go run ./notebooks clean") {
			return fmt.Errorf("`go run ./notebooks clean` removes what is in %s; want a folder that it keeps, such as that of the notebook",
				dir)
		}
	}
	return err
}

// texts returns all texts of the figure, except numbers.
func (f Figure) texts(layers []layer) []string {
	out := append([]string{f.Title, f.below(layers), f.Y.Label}, f.Y.Names...)
	for _, l := range layers {
		out = append(out, l.name)
	}
	return out
}
