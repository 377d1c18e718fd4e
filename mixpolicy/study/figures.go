package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// where returns the rows of a quantity of a method in a race on a problem; what is empty may
// be anything.
func (r Record) where(problem, kind, method, quantity string) race.Record {
	return r.Select(race.Row{Problem: problem, Race: kind, Method: method, Quantity: quantity})
}

// Mark returns a number of the problem: [BestBase], [Mixture] or [Best]. It panics if there
// is none.
func (r Record) Mark(problem, what string) float64 {
	return mixpolicy.Must(r.One(race.Row{Problem: problem, Race: Given, Quantity: what})).Value
}

// Methods returns the names of those who took part in a race on a problem, in order.
func (r Record) Methods(problem, kind string) []string {
	return r.Record.Methods(race.Row{Problem: problem, Race: kind})
}

// width and height leave room for the names of all methods in the legend, in inches.
const width, height = 6.4, 4.4

// Penalised gaps are drawn from floor to ceiling, in units of the optimum. Below are exact
// answers, whose gap is rounding, drawn at the floor. Above are answers so far outside of the
// class that beside them all others would look the same: a line leaves the figure there, and
// an arrow says how far it goes.
const floor, ceiling = 1e-4, 100

const gapLabel = "penalised gap / optimum"

// sized is a figure without layers, with room for the legend, on logarithmic axes.
func sized(x, y string) plotting.Figure {
	f := axes("", x, y)
	f.X.Log, f.Y.Log, f.Width, f.Height = true, true, width, height
	return f
}

// add draws a method's line in the figure, or its point if there is one only.
func add(f *plotting.Figure, method string, l plotting.Line) {
	look := plotting.LookOf(method)
	l.Name, l.Color, l.Dash = method, look.Color, look.Dash
	switch len(l.X) {
	case 0:
	case 1:
		f.Layers = append(f.Layers, plotting.Points{Name: method, X: l.X, Y: l.Y, Color: l.Color, Dash: l.Dash})
	default:
		f.Layers = append(f.Layers, l)
	}
}

// cut cuts the figure off at the ceiling if a line or a point is above, and adds a note for each.
func cut(f plotting.Figure) plotting.Figure {
	var notes []plotting.Arrow
	left, right := math.Inf(1), math.Inf(-1)
	for _, l := range f.Layers {
		var name string
		var x, y []float64
		upTo := "up to "
		switch l := l.(type) {
		case plotting.Line:
			name, x, y = l.Name, l.X, l.Y
		case plotting.Points:
			name, x, y, upTo = l.Name, l.X, l.Y, ""
		}
		left, right = min(left, slices.Min(x)), max(right, slices.Max(x))
		if k := floats.MaxIdx(y); y[k] > ceiling {
			e := math.Floor(math.Log10(y[k]))
			notes = append(notes, plotting.Arrow{
				Label: fmt.Sprintf(`%s: %s$%.0f\cdot10^{%.0f}$`, name, upTo, y[k]/math.Pow(10, e), e), X: x[k], Y: ceiling,
			})
		}
	}
	scale, back := func(x float64) float64 { return x }, func(x float64) float64 { return x }
	if f.X.Log {
		scale, back = math.Log, math.Exp
	}
	from, to := scale(left), scale(right)
	for k, n := range notes { // each at its own height, on the side with more room
		at := scale(n.X)
		n.FromX = back(at + math.Copysign(0.1*float64(k+1)*(to-from), (from+to)/2-at))
		n.FromY = ceiling / math.Pow(4, float64(k+1))
		f.Y.Min, f.Y.Max = floor/2, ceiling
		f.Layers = append(f.Layers, n)
	}
	return f
}

// Curves draws what the named methods came to in a race, as medians: penalised gaps relative to the optimum of
// (2.18), those below 10⁻⁴ as 10⁻⁴, or costs of policies. Bands are 95 % intervals, cut off
// below at a tenth of the median. Answers that took no longer than at the look
// before, because the answer takes longer than the steps do, are left out.
func (r Record) Curves(problem, kind, what string, methods ...string) plotting.Figure {
	f := sized("queries to the oracle", what)
	if kind == BySeconds {
		f.X.Label = "seconds"
	}
	unit, least := 1.0, math.Inf(-1)
	if what == PenalisedGap {
		unit, least, f.Y.Label = r.Mark(problem, Mixture), floor, gapLabel
	}
	drawn := func(v float64) float64 { return max(v/unit, least) }
	for _, m := range methods {
		var line plotting.Line
		for _, row := range r.where(problem, kind, m, what) {
			if n := len(line.X); n > 0 && row.At <= line.X[n-1] {
				continue
			}
			y := drawn(row.Value)
			line.X, line.Y = append(line.X, row.At), append(line.Y, y)
			line.Lo, line.Hi = append(line.Lo, max(drawn(row.Lo), y/10)), append(line.Hi, drawn(row.Hi))
			line.Interval = fmt.Sprintf("band: %.0f %% interval of the median, %d runs", 100*confidence, row.Trials)
		}
		add(&f, m, line)
	}
	if what == PenalisedGap {
		return cut(f)
	}
	if what == PolicyCost {
		mixture, best := r.Mark(problem, Mixture), r.Mark(problem, Best)
		labels := [2]string{Mixture, Best}
		if mixture < 1.05*best { // the labels would lie on each other
			labels = [2]string{labels[0] + ", and just below the " + labels[1], ""}
		}
		f.Layers = append(f.Layers, plotting.Rule{Label: labels[0], At: mixture}, plotting.Rule{Label: labels[1], At: best})
	}
	return f
}

// Sensitivity draws how the result depends on tuning: the median penalised gap of the best configuration of
// each method, of the second best, and so on. What has nothing to tune is drawn as long as those before it.
func (r Record) Sensitivity(problem string, methods ...string) plotting.Figure {
	f := sized("configurations, from the best to the worst", gapLabel)
	f.X.Log = false
	most := 2
	mark := r.Mark(problem, Mixture)
	for _, m := range methods {
		final := r.Final(problem, ByQueries, m, PenalisedGap)
		if final.Method == "" {
			continue // it did not take part
		}
		var line plotting.Line
		if row, err := r.One(race.Row{Problem: problem, Race: Tuning, Method: m, Quantity: PenalisedGap}); err == nil {
			for _, v := range row.Observed() {
				line.Y = append(line.Y, max(floor, v/mark))
			}
			most = max(most, len(line.Y))
		} else { // nothing to tune: the same for all
			line.Y = slices.Repeat([]float64{max(floor, final.Value/mark)}, most)
		}
		slices.Sort(line.Y)
		for k := range line.Y {
			line.X = append(line.X, float64(k+1))
		}
		add(&f, m, line)
	}
	return cut(f)
}

// ByDim draws the penalised gaps of the fair races on the families with the given noise, of both drawings together: medians
// over their instances of the medians over runs.
func (r Record) ByDim(noise Noise) plotting.Figure {
	f := sized("number of base policies d", gapLabel)
	f.Title = noise.String()
	for _, m := range FairMethods {
		var l plotting.Line
		for _, family := range Families(noise) {
			var gaps []float64
			for _, base := range Drawings {
				values := r.end(family.String(), base, Fair, m, PenalisedGap)
				for runs := range slices.Chunk(values, max(1, len(values)/familyInstances)) {
					gaps = append(gaps, max(medianOf(runs).Mean, floor))
				}
			}
			v := medianOf(gaps)
			l.X, l.Y, l.Lo, l.Hi = append(l.X, float64(family.Dim)), append(l.Y, v.Mean), append(l.Lo, v.Lo), append(l.Hi, v.Hi)
		}
		add(&f, m, l)
	}
	return f
}

// Final is the last row of a quantity in a race; the zero Row if there is none.
func (r Record) Final(problem, kind, method, what string) race.Row {
	return last(r.where(problem, kind, method, what))
}

func last(rows race.Record) race.Row {
	if len(rows) == 0 {
		return race.Row{}
	}
	return rows[len(rows)-1]
}

// end is what the runs of a method came to in a race, or in a drawing of a fair one.
func (r Record) end(problem, base, kind, method, what string) []float64 {
	return last(r.Select(race.Row{Problem: problem, Base: base, Race: kind, Method: method, Quantity: what})).Values
}

// columns are those of a table of text; behind a tab a head has the format of a column of numbers.
func columns(heads ...string) (all []plotting.Column) {
	for _, head := range heads {
		head, format, _ := strings.Cut(head, "\t")
		all = append(all, plotting.Column{Head: head, Format: format})
	}
	return all
}

// cells are those of a table, by row and column. Rows are in the order in which they come.
type cells struct {
	rows []string
	of   map[[2]string]string
}

func (c *cells) set(row, column, cell string) {
	if !slices.Contains(c.rows, row) {
		c.rows = append(c.rows, row)
	}
	if c.of == nil {
		c.of = map[[2]string]string{}
	}
	c.of[[2]string{row, column}] = cell
}

// table has the given columns after the one of the rows' names.
func (c *cells) table(caption, rows string, heads ...string) plotting.Table {
	t := plotting.Table{Caption: caption, Columns: columns(append([]string{rows}, heads...)...)}
	for _, row := range c.rows {
		line := []any{row}
		for _, head := range heads {
			line = append(line, c.of[[2]string{row, head}])
		}
		t.Row(line...)
	}
	return t
}

// Finals is the table of what everyone had at the end of the race by queries. Penalised gap and true cost
// of a method are those of the setting with which each is best in tuning.
func (r Record) Finals(problem string) plotting.Table {
	last := slices.MaxFunc(r.where(problem, ByQueries, "", ""), func(a, b race.Row) int { return cmp.Compare(a.At, b.At) })
	t := plotting.Table{
		Caption: fmt.Sprintf("%s after %.0f queries: medians over runs, with 95 %% intervals", problem, last.At),
		Columns: columns("method", "source", "configurations tried", "runs", "penalised gap (% of the optimum)", PolicyCost),
	}
	for _, m := range r.Methods(problem, ByQueries) {
		cost, gap := r.Final(problem, ByQueries, m, PolicyCost), r.Final(problem, ByQueries, m, PenalisedGap)
		first, second := interval(gap, 100/r.Mark(problem, Mixture)), interval(cost, 1)
		if gap.Method == "" {
			first = "no θ"
		}
		t.Row(m, cost.Source, fmt.Sprint(cost.Configurations), fmt.Sprint(cost.Trials), first, second)
	}
	return t
}

// FinalsBySeconds is the table of the penalised gaps at the end of the races by seconds, a column a
// problem, for methods that have a θ̂ on all.
func (r Record) FinalsBySeconds(problems ...string) plotting.Table {
	const caption = "Penalised gap of the answer at equal time, in % of the optimum: medians, with 95 % intervals"
	t := plotting.Table{Caption: caption, Columns: columns("method")}
	for _, c := range problems {
		// All but those that take no steps end at the same time, or just after.
		end := r.Final(c, BySeconds, r.Methods(c, BySeconds)[0], PenalisedGap).At
		t.Columns = append(t.Columns, plotting.Column{Head: fmt.Sprintf("%s, %.0f ms", c, 1000*end)})
	}
	for _, m := range r.Methods(problems[0], BySeconds) {
		row := []any{m}
		for _, c := range problems {
			if gap := r.Final(c, BySeconds, m, PenalisedGap); gap.Method != "" {
				row = append(row, interval(gap, 100/r.Mark(c, Mixture)))
			}
		}
		if len(row) == len(t.Columns) {
			t.Row(row...)
		}
	}
	return t
}

// interval formats a median times a factor, with its interval if that has any width.
func interval(row race.Row, factor float64) string {
	v, lo, hi := row.Value*factor, row.Lo*factor, row.Hi*factor
	switch {
	case math.Abs(v) < 1e-6 && hi-lo < 1e-6:
		return "0"
	case hi-lo < 1e-4*math.Abs(v):
		return fmt.Sprintf("%.4g", v)
	case hi >= 1e5 || hi >= 1e4 && hi > 100*v:
		return fmt.Sprintf("%.3g [%.3g, %.3g]", v, lo, hi)
	}
	digits := min(4, max(0, 1-int(math.Floor(math.Log10(hi-lo)))))
	return fmt.Sprintf("%.*f [%.*f, %.*f]", digits, v, digits, lo, digits, hi)
}

// Reaches is the table of queries needed to come within a per cent of an optimum and stay
// there: medians, with intervals for them; — stands for more than the race had.
func (r Record) Reaches(problem string) plotting.Table {
	var c cells
	goals := []string{GapGoal, MixtureGoal, PolicyGoal}
	for _, m := range r.Methods(problem, Reaching) {
		for _, goal := range goals {
			c.set(m, goal, "no θ")
			if row := r.Final(problem, Reaching, m, goal); row.Method != "" { // without θ̂ there is no penalised gap
				c.set(m, goal, median(row))
			}
		}
	}
	return c.table(fmt.Sprintf("%s: queries to reach, medians over the runs, with 95 %% intervals", problem), "method", goals...)
}

// Chosen is the table of the settings that tuning chose for a quantity, a column a problem, with those of
// their numbers that are the least or the greatest of the grid.
func (r Record) Chosen(quantity string) (t plotting.Table, err error) {
	defer catch(&err)
	var c cells
	for _, problem := range Names {
		for _, e := range must(Build(problem)).Entrants(ByQueries) {
			row := r.Final(problem, ByQueries, e.Name, quantity)
			if row.Method != "" && len(e.Axes) > 0 {
				on, k, edges := e.Configuration(row.Configuration, row.Configurations)
				text := on.Setting(k)
				if len(edges) > 0 {
					text += " (edge: " + strings.Join(edges, ", ") + ")"
				}
				c.set(e.Name, problem, text)
			}
		}
	}
	return c.table("Settings chosen by "+quantity, "method", Names...), nil
}

func median(row race.Row) string {
	if math.IsInf(row.Lo, 1) {
		return "—"
	}
	text := fmt.Sprintf("%.0f [%.0f, %.0f]", row.Value, row.Lo, row.Hi)
	return strings.ReplaceAll(text, "+Inf", "—")
}
