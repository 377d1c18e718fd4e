package plotting

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Table is a small table with numbers aligned on the right. A program fills it row by row with [Table.Row], or column
// by column. A NaN is an error, and infinities are shown as ∞ and −∞. A nil in [Table.Row] stands for a missing number,
// which is shown as –.
type Table struct {
	Caption string
	Columns []Column
}

// Column holds either Text or Numbers. The text "FAILS" is highlighted.
type Column struct {
	Head    string
	Text    []string
	Numbers []float64
	Format  string // the format of the numbers, as in fmt; default: %.6g

	none []int // rows without a number; Numbers has a 0 there
}

// Row appends a row with one cell for each column. A float64, an int or nil goes to Numbers. Any other value goes to
// Text, as fmt.Sprint writes it. Row panics if there are more or fewer cells than columns.
func (t *Table) Row(cells ...any) {
	if len(cells) != len(t.Columns) {
		panic(fmt.Sprintf("plotting: table %q: a row of %d cells for %d columns", t.Caption, len(cells), len(t.Columns)))
	}
	for j, cell := range cells {
		c := &t.Columns[j]
		switch v := cell.(type) {
		case float64:
			c.Numbers = append(c.Numbers, v)
		case int:
			c.Numbers = append(c.Numbers, float64(v))
		case nil:
			c.none = append(c.none, len(c.Numbers))
			c.Numbers = append(c.Numbers, 0)
		default:
			c.Text = append(c.Text, fmt.Sprint(v))
		}
	}
}

func (c Column) cells() []string {
	if c.Numbers == nil {
		return c.Text
	}
	format := cmp.Or(c.Format, "%.6g")
	out := make([]string, len(c.Numbers))
	for i, v := range c.Numbers {
		switch {
		case slices.Contains(c.none, i):
			out[i] = "–"
		case math.IsInf(v, 1):
			out[i] = "∞"
		case math.IsInf(v, -1):
			out[i] = "−∞"
		default:
			out[i] = minus(fmt.Sprintf(format, v))
		}
	}
	return out
}

func (t Table) display() (display, error) {
	if len(t.Columns) == 0 {
		return display{}, fmt.Errorf("table %q: no columns", t.Caption)
	}
	for i, c := range t.Columns {
		if c.Text != nil && c.Numbers != nil {
			return display{}, fmt.Errorf("table %q: column %d, %q, has both Text and Numbers", t.Caption, i, c.Head)
		}
		if k := slices.IndexFunc(c.Numbers, math.IsNaN); k >= 0 {
			return display{}, fmt.Errorf("table %q: column %d, %q, is NaN in row %d", t.Caption, i, c.Head, k)
		}
		if n, want := len(c.cells()), len(t.Columns[0].cells()); n != want {
			return display{}, fmt.Errorf("table %q: column %d, %q, has %d rows, but the first column has %d", t.Caption, i, c.Head, n, want)
		}
	}
	return display{html: t.html(), plain: t.String()}, nil
}

func (t Table) html() string {
	var b strings.Builder
	b.WriteString("<table style=\"font-variant-numeric:tabular-nums\">\n")
	if t.Caption != "" {
		fmt.Fprintf(&b, "<caption>%s</caption>\n", printed(t.Caption))
	}
	row := func(tag string, cell func(Column) string) {
		b.WriteString("<tr>")
		for _, c := range t.Columns {
			align := "left"
			if c.Numbers != nil {
				align = "right"
			}
			look := "text-align:" + align
			if cell(c) == "FAILS" {
				look += ";font-weight:bold;color:" + Vermilion.hex()
			}
			fmt.Fprintf(&b, `<%s style="%s">%s</%s>`, tag, look, printed(cell(c)), tag)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("<thead>")
	row("th", func(c Column) string { return c.Head })
	b.WriteString("</thead>\n<tbody>\n")
	for i := range t.Columns[0].cells() {
		row("td", func(c Column) string { return c.cells()[i] })
	}
	b.WriteString("</tbody>\n</table>")
	return b.String()
}

var (
	exponents  = regexp.MustCompile(`\b\d+(\.\d+)?e[+-]?\d{1,3}\b`)
	hyphens    = regexp.MustCompile(`(^|[\s(\[=<>≤≥±])-([\d.∞])`)
	underlines = regexp.MustCompile(`((?:^|[^\pL\pN_])\pL\pM*|[‖)])_(?:\{([^{}]+)\}|((?:max|min|[a-z]|\d+)\b|[∞*⁎]))`)
	carets     = regexp.MustCompile(`\^(\d+)`)
)

// printed returns the text as HTML, with numbers and scripts as in print: −1.5·10⁻⁹ for -1.5e-09, c with a subscript
// for c_max, and ℝ with a superscript for ℝ^2. The text that [Table.String] returns keeps exponents such as e-09, and
// marks such as _ and ^.
func printed(text string) string {
	text = exponents.ReplaceAllStringFunc(text, func(number string) string {
		mantissa, exponent, _ := strings.Cut(number, "e")
		if k, _ := strconv.Atoi(exponent); k != 0 {
			mantissa += "·10" + superscript(k)
		}
		return mantissa
	})
	text = html.EscapeString(hyphens.ReplaceAllString(text, "$1−$2"))
	return carets.ReplaceAllString(underlines.ReplaceAllString(text, "$1<sub>$2$3</sub>"), "<sup>$1</sup>")
}

// cellsWide returns the number of terminal cells that the text takes; combining accents take none.
func cellsWide(s string) int {
	return len(slices.DeleteFunc([]rune(s), func(r rune) bool { return unicode.Is(unicode.Mn, r) }))
}

// String returns the table as aligned text.
func (t Table) String() string {
	widths := make([]int, len(t.Columns))
	for j, c := range t.Columns {
		widths[j] = cellsWide(c.Head)
		for _, cell := range c.cells() {
			widths[j] = max(widths[j], cellsWide(cell))
		}
	}
	var b strings.Builder
	if t.Caption != "" {
		b.WriteString(t.Caption + "\n")
	}
	row := func(cell func(Column) string) {
		var line strings.Builder
		for j, c := range t.Columns {
			if j > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[j]-cellsWide(cell(c)))
			if c.Numbers != nil {
				line.WriteString(pad + cell(c))
			} else {
				line.WriteString(cell(c) + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	row(func(c Column) string { return c.Head })
	for i := range t.Columns[0].cells() {
		row(func(c Column) string { return c.cells()[i] })
	}
	return strings.TrimSuffix(b.String(), "\n")
}
