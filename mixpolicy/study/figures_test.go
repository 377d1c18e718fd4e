package study

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Every figure of the record can be drawn with all methods that took part, and the tables
// contain every method.
func TestFigures(t *testing.T) {
	r := recorded()
	for _, name := range Names {
		for _, kind := range []string{ByQueries, BySeconds} {
			methods := r.Methods(name, kind)
			for _, what := range []string{PenalisedGap, PolicyCost} {
				f := r.Curves(name, kind, what, methods...)
				layers := map[string]int{PolicyCost: 2}[what] // two reference lines
				for _, m := range methods {
					layers += min(1, len(r.where(name, kind, m, what)))
				}
				if got, err := len(f.Layers)-arrows(f.Layers), f.Validate(); got != layers || err != nil {
					t.Errorf("%s, %s, %s: %d layers, want %d; %v", name, kind, what, got, layers, err)
				}
			}
		}
		for table, kind := range map[string]string{
			mixpolicy.Must(r.Finals(name, ByQueries)).String(): ByQueries, r.Reaches(name).String(): ByQueries,
			mixpolicy.Must(r.Finals(name, BySeconds)).String(): BySeconds,
		} {
			for _, m := range r.Methods(name, kind) {
				if !strings.Contains(table, "\n"+m+" ") {
					t.Errorf("%s is not in the table\n%s", m, table)
				}
			}
		}
		if err := r.Sensitivity(name, "Algorithm 1", "plug-in").Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// arrows counts the notes on lines that leave the figure.
func arrows(layers []plotting.Layer) (n int) {
	for _, l := range layers {
		if _, ok := l.(plotting.Arrow); ok {
			n++
		}
	}
	return n
}

// A method whose gap exceeds the ceiling does not set the scale: its line leaves the figure, with a note. A method has
// the same look in all figures.
func TestNoMethodSetsTheScale(t *testing.T) {
	r := recorded()
	f := r.Curves("network", ByQueries, PenalisedGap, r.Methods("network", ByQueries)...)
	beyond := 0
	for _, l := range f.Layers {
		if l, ok := l.(plotting.Line); ok {
			if slices.Max(l.Y) > ceiling {
				beyond++
			}
			if look := plotting.LookOf(l.Name); l.Color != look.Color || l.Dash != look.Dash {
				t.Errorf("%s looks like %v, %v", l.Name, l.Color, l.Dash)
			}
		}
	}
	if f.Y.Max != ceiling || f.Y.Min != floor/2 || beyond == 0 || arrows(f.Layers) != beyond {
		t.Errorf("axis %v, %d lines leave the figure, %d notes", f.Y, beyond, arrows(f.Layers))
	}
	if f := r.Curves("queue", ByQueries, PenalisedGap, r.Methods("queue", ByQueries)...); f.Y.Max != 0 || arrows(f.Layers) != 0 {
		t.Errorf("the axis of the queue is cut: %v", f.Y)
	}
}

// Every family is drawn, with all methods.
func TestFamilyFigures(t *testing.T) {
	r := recorded()
	for _, n := range []Noise{Exact, Gaussian, Heavy, Outliers} {
		f := r.ByDim(n)
		if err := f.Validate(); err != nil {
			t.Errorf("%v: %v", n, err)
		}
		if want := len(FairMethods); len(f.Layers) != want {
			t.Errorf("%v: %d layers, want %d", n, len(f.Layers), want)
		}
	}
	table, told := mixpolicy.Must(r.ByTelling("queue", "grid world")), mixpolicy.Must(ToldTable("queue", "grid world"))
	for _, m := range r.Methods("grid world", BySeconds) {
		if !strings.Contains(told.String(), m) {
			t.Errorf("%s is not in the table of the methods' information", m)
		}
	}
	if text := table.String(); !strings.Contains(text, "certainty equivalence: 29.39") {
		t.Error(text)
	}
}

func TestFormats(t *testing.T) {
	inf := math.Inf(1)
	plain := func(row race.Row) string { return interval(row, 1) }
	for _, c := range []struct {
		format        func(race.Row) string
		value, lo, hi float64
		want          string
	}{
		{median, 24, 10, 56, "24 [10, 56]"}, {median, 24, 10, inf, "24 [10, —]"}, {median, inf, 10, inf, "— [10, —]"}, {median, inf, inf, inf, "—"},
		{plain, 1e-9, 0, 2e-9, "0"}, {plain, 29.38958, 29.38958, 29.38958, "29.39"}, {plain, 2909.4, 2893, 2925, "2909 [2893, 2925]"},
		{plain, 12.34, 11.34, 13.341, "12.3 [11.3, 13.3]"}, {plain, 0.5, 0, 3e6, "0.5 [0, 3e+06]"},
		{plain, 10.42, 9.634, 29175, "10.4 [9.63, 2.92e+04]"}, {plain, 24000, 15000, 31000, "24000 [15000, 31000]"},
	} {
		if got := c.format(race.Row{Value: c.value, Lo: c.lo, Hi: c.hi}); got != c.want {
			t.Errorf("%v [%v, %v] is %q, want %q", c.value, c.lo, c.hi, got, c.want)
		}
	}
}
