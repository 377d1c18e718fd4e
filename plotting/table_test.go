package plotting

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestTableSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		table Table
		want  string
	}{
		{Table{Caption: "T"}, `table "T": no columns`},
		{Table{Columns: []Column{{Text: []string{"a"}}, {Head: "b", Text: []string{"b", "c"}}}}, `column 1, "b", has 2 rows, but the first has 1`},
		{Table{Columns: []Column{{Text: []string{"a"}, Numbers: []float64{1}}}}, "both Text and Numbers"},
		{Table{Columns: []Column{{Head: "cost", Numbers: []float64{1, math.NaN()}}}}, `"cost", is NaN in row 1`},
	} {
		if _, err := c.table.display(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("display() = %v, want an error with %q", err, c.want)
		}
	}
}

// A table that is filled by rows is the one that is filled by columns.
func TestTableByRows(t *testing.T) {
	rows := Table{Caption: "T", Columns: []Column{{Head: "a"}, {Head: "n", Format: "%.0f"}, {Head: "x"}}}
	rows.Row("one", 1, 0.5)
	rows.Row(Markdown("two"), 2, math.Inf(1))
	columns := Table{Caption: "T", Columns: []Column{
		{Head: "a", Text: []string{"one", "two"}}, {Head: "n", Numbers: []float64{1, 2}, Format: "%.0f"}, {Head: "x", Numbers: []float64{0.5, math.Inf(1)}},
	}}
	if !reflect.DeepEqual(rows, columns) {
		t.Errorf("%+v, want %+v", rows, columns)
	}
	rows.Row("three", "3", 0)
	if _, err := rows.display(); err == nil || !strings.Contains(err.Error(), `"n", has both Text and Numbers`) {
		t.Errorf("a text among numbers: %v", err)
	}
	defer func() {
		if s, _ := recover().(string); s != `plotting: table "T": a row of 2 cells for 3 columns` {
			t.Errorf("panic %q", s)
		}
	}()
	rows.Row("four", 4)
}

// What fails stands out, and accents take no cell in a text.
func TestTableMarksAndAccents(t *testing.T) {
	table := Table{Columns: []Column{{Head: "θ̂", Text: []string{"FAILS", "ok"}}, {Head: "n", Numbers: []float64{1, 2}}}}
	if html := must(table.display()).html; strings.Count(html, "font-weight:bold;color:#d55e00") != 1 {
		t.Errorf("what fails looks like the rest: %s", html)
	}
	if want := "θ̂      n\nFAILS  1\nok     2"; table.String() != want {
		t.Errorf("%s\nwant\n%s", table.String(), want)
	}
}

func TestTableIsEscapedAndAligned(t *testing.T) {
	d := must(Table{
		Caption: "<b>",
		Columns: []Column{{Head: "bound", Text: []string{"<script>"}}, {Head: "value", Numbers: []float64{math.Inf(1)}}},
	}.display())
	if strings.Contains(d.html, "<b>") || strings.Contains(d.html, "<script>") {
		t.Errorf("unescaped: %s", d.html)
	}
	if !strings.Contains(d.html, `text-align:right;font-variant-numeric:tabular-nums">∞<`) {
		t.Errorf("no infinity on the right: %s", d.html)
	}
}

func TestFoldIsEscaped(t *testing.T) {
	html := must(Fold{Head: "a < b", Text: "<i>\n&"}.display()).html
	if want := "<details><summary>a &lt; b</summary>\n<pre>&lt;i&gt;\n&amp;</pre>\n</details>"; html != want {
		t.Errorf("%s\nwant\n%s", html, want)
	}
}
