package plotting

import (
	"math"
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

func TestTableIsEscapedAndAligned(t *testing.T) {
	d, err := Table{
		Caption: "<b>",
		Columns: []Column{{Head: "bound", Text: []string{"<script>"}}, {Head: "value", Numbers: []float64{math.Inf(1)}}},
	}.display()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(d.html, "<b>") || strings.Contains(d.html, "<script>") {
		t.Errorf("unescaped: %s", d.html)
	}
	if !strings.Contains(d.html, `text-align:right;font-variant-numeric:tabular-nums">∞<`) {
		t.Errorf("no infinity on the right: %s", d.html)
	}
}
