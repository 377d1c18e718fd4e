package plotting

import (
	"cmp"
	"slices"
	"strings"
)

// Columns returns an empty column for each head. A head may be followed by a tab and the format of the column's
// numbers.
func Columns(heads ...string) (all []Column) {
	for _, head := range heads {
		head, format, _ := strings.Cut(head, "\t")
		all = append(all, Column{Head: head, Format: format})
	}
	return all
}

// Cells is a table of texts, filled cell by cell. Its rows are in the order in which [Cells.Set] first names them.
type Cells struct {
	Missing string // the text that is shown in a cell without a text
	rows    []string
	of      map[[2]string]string
}

// Set sets the text of the cell in the given row and column.
func (c *Cells) Set(row, column, cell string) {
	if !slices.Contains(c.rows, row) {
		c.rows = append(c.rows, row)
	}
	if c.of == nil {
		c.of = map[[2]string]string{}
	}
	c.of[[2]string{row, column}] = cell
}

// Table returns a table with the columns of the given heads, in this order. The names of the rows are in an additional
// first column, and rows is the head of this column.
func (c *Cells) Table(caption, rows string, heads ...string) Table {
	t := Table{Caption: caption, Columns: Columns(append([]string{rows}, heads...)...)}
	for _, row := range c.rows {
		line := []any{row}
		for _, head := range heads {
			line = append(line, cmp.Or(c.of[[2]string{row, head}], c.Missing))
		}
		t.Row(line...)
	}
	return t
}
