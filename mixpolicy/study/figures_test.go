package study

import (
	"math"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/plotting"
)

// Every figure of the record can be drawn, with all methods that took part, and every
// method is in the tables.
func TestFigures(t *testing.T) {
	r, err := Recorded()
	if err != nil {
		t.Fatal(err)
	}
	courses, err := Courses()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range courses {
		for _, race := range []Race{ByQueries, BySeconds} {
			methods := r.Methods(c.Name, race)
			for _, what := range []Quantity{Merit, PolicyCost} {
				f := r.Curves(c.Name, race, what, methods...)
				if err := f.Validate(); err != nil {
					t.Errorf("%s, %s, %s: %v", c.Name, race, what, err)
				}
				layers := 0
				for _, m := range methods {
					if len(r.where(c.Name, race, m).of(what)) > 0 {
						layers++
					}
				}
				if what == PolicyCost {
					layers += 2
				}
				if len(f.Layers) != layers {
					t.Errorf("%s, %s, %s: %d layers, want %d", c.Name, race, what, len(f.Layers), layers)
				}
			}
		}
		for _, m := range r.Methods(c.Name, ByQueries) {
			if _, ok := colors[m]; !ok {
				t.Errorf("%s has no colour", m)
			}
			for _, table := range []plotting.Table{r.Finals(c.Name), r.Reaches(c.Name)} {
				if !strings.Contains(table.String(), m) {
					t.Errorf("%s is not in the table %q", m, table.Caption)
				}
			}
		}
		equal := r.FinalsBySeconds(c.Name)
		for _, m := range r.Methods(c.Name, BySeconds) {
			if has := len(r.where(c.Name, BySeconds, m).of(Merit)) > 0; strings.Contains(equal.String(), "\n"+m+" ") != has {
				t.Errorf("%s is in the table %q: %t, want %t", m, equal.Caption, !has, has)
			}
		}
		if err := r.Sensitivity(c.Name, "Algorithm 1", "plug-in").Validate(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func TestFormats(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		row  Row
		want string
	}{
		{Row{Value: 24, Lo: 10, Hi: 56}, "24 [10, 56]"},
		{Row{Value: 24, Lo: 10, Hi: inf}, "24 [10, —]"},
		{Row{Value: inf, Lo: 10, Hi: inf}, "— [10, —]"},
		{Row{Value: inf, Lo: inf, Hi: inf}, "—"},
	} {
		if got := median(c.row); got != c.want {
			t.Errorf("median of %+v is %q, want %q", c.row, got, c.want)
		}
	}
	for _, c := range []struct {
		row  Row
		want string
	}{
		{Row{Value: 1e-9, Lo: 0, Hi: 2e-9}, "0"},
		{Row{Value: 29.38958, Lo: 29.38958, Hi: 29.38958}, "29.39"},
		{Row{Value: 2909.4, Lo: 2893, Hi: 2925}, "2909 ± 16"},
		{Row{Value: 12.34, Lo: 11.34, Hi: 13.34}, "12.3 ± 1.0"},
	} {
		if got := mean(c.row, 1); got != c.want {
			t.Errorf("mean of %+v is %q, want %q", c.row, got, c.want)
		}
	}
}
