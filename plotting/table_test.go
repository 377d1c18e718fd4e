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
		{Table{Columns: []Column{{Text: []string{"a"}}, {Head: "b", Text: []string{"b", "c"}}}}, `column 1, "b", has 2 rows, but the first column has 1`},
		{Table{Columns: []Column{{Text: []string{"a"}, Numbers: []float64{1}}}}, "both Text and Numbers"},
		{Table{Columns: []Column{{Head: "cost", Numbers: []float64{1, math.NaN()}}}}, `"cost", is NaN in row 1`},
	} {
		if _, err := c.table.display(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("display() = %v, want an error that contains %q", err, c.want)
		}
	}
}

// A table filled by rows equals the same table filled by columns.
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

// Failures stand out, numbers are aligned to the right and set as in print, accents take no width in a text, and no text becomes HTML.
func TestTables(t *testing.T) {
	table := Table{Caption: "<b>", Columns: []Column{{Head: "θ̂", Text: []string{"FAILS", "<i> -1e-09"}}, {Head: "c_max", Numbers: []float64{1, math.Inf(1)}}}}
	html, fold := must(table.display()).html, must(Fold{Head: "a < b", Text: "<i>\n&"}.display()).html
	if strings.Contains(html, "<b>") || strings.Contains(html, "<i>") || strings.Count(html, "font-weight:bold;color:#d55e00") != 1 ||
		!strings.Contains(html, `text-align:right">∞<`) || !strings.Contains(html, "; −1·10⁻⁹<") || !strings.Contains(html, ">c<sub>max</sub><") {
		t.Errorf("unescaped, or not marked and aligned: %s", html)
	}
	for got, want := range map[string]string{
		table.String(): "<b>\nθ̂           c_max\nFAILS           1\n<i> -1e-09      ∞",
		fold:           "<details><summary>a &lt; b</summary>\n<pre>&lt;i&gt;\n&amp;</pre>\n</details>",
	} {
		if got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}
