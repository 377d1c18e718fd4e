package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// where returns the rows with the given problem, race, method and quantity; an empty argument matches anything.
func (r Record) where(problem, kind, method, quantity string) race.Record {
	return r.Select(race.Row{Problem: problem, Race: kind, Method: method, Quantity: quantity})
}

// Mark returns one of the numbers [BestBase], [Mixture], [Best] and [Norm] of a problem. It panics if the record does
// not contain this number.
func (r Record) Mark(problem, what string) float64 {
	return mixpolicy.Must(r.One(race.Row{Problem: problem, Race: Given, Quantity: what})).Value
}

// Methods returns the names of the methods that took part in a race on a problem, in the order of the record.
func (r Record) Methods(problem, kind string) []string {
	return r.Record.Methods(race.Row{Problem: problem, Race: kind})
}

// width and height are in inches, and leave room for the names of all methods in the legend.
const width, height = 6.4, 4.4

// Penalised gaps are drawn from floor to ceiling, in units of the optimum. The gaps of exact answers are only rounding,
// below the floor, and are drawn at the floor. The gaps of answers far from feasible are above the ceiling; if the axis
// reached these gaps, all other gaps would look the same. A line that exceeds the ceiling leaves the figure, and an
// arrow states the line's greatest value.
const floor, ceiling = 1e-4, 100

const gapLabel = "penalised gap / optimum"

// sized returns a figure without layers, with room for the legend, on logarithmic axes.
func sized(x, y string) plotting.Figure {
	f := axes("", x, y)
	f.X.Log, f.Y.Log, f.Width, f.Height = true, true, width, height
	return f
}

// drawn adds lines of methods to a figure, and draws a line of one point as a point. A line that exceeds the ceiling
// leaves the figure, and a note states the line's greatest value.
func drawn(f plotting.Figure, ceiling float64, lines ...plotting.Line) plotting.Figure {
	var notes []plotting.Arrow
	left, right := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		if len(l.X) == 0 {
			continue
		}
		look, upTo := plotting.LookOf(l.Name), "up to "
		if l.Color, l.Dash = look.Color, look.Dash; len(l.X) > 1 {
			f.Layers = append(f.Layers, l)
		} else {
			f.Layers, upTo = append(f.Layers, plotting.Points{Name: l.Name, X: l.X, Y: l.Y, Color: l.Color, Dash: l.Dash}), ""
		}
		left, right = min(left, slices.Min(l.X)), max(right, slices.Max(l.X))
		if k := floats.MaxIdx(l.Y); l.Y[k] > ceiling {
			e := math.Floor(math.Log10(l.Y[k]))
			label := fmt.Sprintf(`%s: %s$%.0f\cdot10^{%.0f}$`, l.Name, upTo, l.Y[k]/math.Pow(10, e), e)
			notes = append(notes, plotting.Arrow{Label: label, X: l.X[k], Y: ceiling})
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

// Curves draws the medians of the named methods in a race: penalised gaps in units of the optimum of (2.18), or true
// costs of policies. It draws gaps below 10⁻⁴ as 10⁻⁴. A line of gaps that exceeds 100 leaves the figure, and an arrow
// states the line's greatest value. Bands are 95 % intervals, cut off below a tenth of the median. In each method's
// line, Curves omits an observation that is not later than the point before it. In races by seconds, such observations
// occur because an answer can take longer to compute than the next answer.
func (r Record) Curves(problem, kind, what string, methods ...string) plotting.Figure {
	f := sized("queries to the oracle", what)
	if kind == BySeconds {
		f.X.Label = "seconds"
	}
	unit, least, most := 1.0, math.Inf(-1), math.Inf(1)
	if what == PenalisedGap {
		unit, least, most, f.Y.Label = r.Mark(problem, Mixture), floor, ceiling, gapLabel
	}
	shown := func(v float64) float64 { return max(v/unit, least) }
	var lines []plotting.Line
	for _, m := range methods {
		line := plotting.Line{Name: m}
		for _, row := range r.where(problem, kind, m, what) {
			if n := len(line.X); n > 0 && row.At <= line.X[n-1] {
				continue
			}
			y := shown(row.Value)
			line.X, line.Y = append(line.X, row.At), append(line.Y, y)
			line.Lo, line.Hi = append(line.Lo, max(shown(row.Lo), y/10)), append(line.Hi, shown(row.Hi))
			line.Interval = fmt.Sprintf("band: %.0f %% interval of the median, %d runs", 100*confidence, row.Trials)
		}
		lines = append(lines, line)
	}
	f = drawn(f, most, lines...)
	if what == PolicyCost {
		mixture, best := r.Mark(problem, Mixture), r.Mark(problem, Best)
		labels := [2]string{Mixture, Best}
		if mixture < 1.05*best { // otherwise the labels would overlap
			labels = [2]string{labels[0] + "; just below it, the " + labels[1], ""}
		}
		f.Layers = append(f.Layers, plotting.Rule{Label: labels[0], At: mixture}, plotting.Rule{Label: labels[1], At: best})
	}
	return f
}

// Sensitivity shows how the result depends on tuning. For each method, it draws the median penalised gaps of the
// configurations of the first grid, from the best to the worst. It omits configurations without a finite median. The
// gaps are in units of the optimum of (2.18). No line leaves the figure, however great the gaps are. A horizontal line
// shows a method with nothing to tune.
func (r Record) Sensitivity(problem string, methods ...string) plotting.Figure {
	f, mark := sized("configurations, from the best to the worst", gapLabel), r.Mark(problem, Mixture)
	f.X.Log = false
	var lines []plotting.Line
	for _, m := range methods {
		if scores := r.Final(problem, Tuning, m, PenalisedGap).Observed(); len(scores) > 0 {
			line := plotting.Line{Name: m}
			for k, v := range slices.Sorted(slices.Values(scores)) {
				line.X, line.Y = append(line.X, float64(k+1)), append(line.Y, max(floor, v/mark))
			}
			lines = append(lines, line)
		} else if row := r.Final(problem, ByQueries, m, PenalisedGap); row.Method != "" {
			f.Layers = append(f.Layers, plotting.Rule{At: max(floor, row.Value/mark), Label: m, Color: plotting.LookOf(m).Color})
		}
	}
	return drawn(f, math.Inf(1), lines...)
}

// ByDim draws the penalised gaps in the fair races on the families with the given noise, against the number of base
// policies. The gaps are in units of the optimum of (2.18). For each method and each family, ByDim takes the median gap
// of the runs on each instance, and draws the median of these medians over the instances of both drawings.
func (r Record) ByDim(noise Noise) plotting.Figure {
	f := sized("number of base policies d", gapLabel)
	f.Title = noise.String()
	for _, m := range FairMethods {
		l := plotting.Line{Name: m, Interval: fmt.Sprintf("band: 95 %% interval of the median, %d MDPs", len(Drawings)*familyInstances)}
		for _, family := range Families(noise) {
			var gaps []float64
			for _, base := range Drawings {
				values := final(r.Record, race.Row{Problem: family.String(), Base: base, Race: Fair, Method: m}).Values
				for runs := range slices.Chunk(values, max(1, len(values)/familyInstances)) {
					gaps = append(gaps, max(medianOf(runs).Mean, floor))
				}
			}
			v := medianOf(gaps)
			l.X, l.Y, l.Lo, l.Hi = append(l.X, float64(family.Dim)), append(l.Y, v.Mean), append(l.Lo, v.Lo), append(l.Hi, v.Hi)
		}
		f = drawn(f, ceiling, l)
	}
	return f
}

// Final returns the last row of the given problem, kind of race, method and quantity. If there is no such row, Final
// returns the zero Row.
func (r Record) Final(problem, kind, method, what string) race.Row {
	return final(r.Record, race.Row{Problem: problem, Race: kind, Method: method, Quantity: what})
}

func final(r race.Record, like race.Row) (last race.Row) {
	for _, last = range r.Select(like) {
	}
	return last
}

// Finals returns the table of the results of all methods at the end of a race of the given kind, [ByQueries] or
// [BySeconds]. For each method, the penalised gap comes from the setting with the best penalised gap in tuning, and the
// true cost comes from the setting with the best true cost in tuning. The table states both settings, and names the
// parameters whose best value is at an end of the first grid.
func (r Record) Finals(problem, kind string) (t plotting.Table, err error) {
	defer catch(&err)
	heads := []string{"settings", "runs", "penalised gap (% of the optimum)", "tuned by gap", PolicyCost, "tuned by cost"}
	c, units := plotting.Cells{Missing: "–"}, []float64{100 / r.Mark(problem, Mixture), 1}
	for _, e := range must(Build(problem)).Entrants(kind) {
		for k, quantity := range []string{PenalisedGap, PolicyCost} {
			row := r.Final(problem, kind, e.Name, quantity)
			if row.Method == "" {
				continue // no θ
			}
			on, setting, edges := e.Configuration(row.Configuration, row.Configurations)
			text := on.Setting(setting)
			if len(edges) > 0 {
				text += " (edge: " + strings.Join(edges, ", ") + ")"
			}
			c.Set(e.Name, heads[0], fmt.Sprint(row.Configurations))
			c.Set(e.Name, heads[1], fmt.Sprint(row.Trials))
			c.Set(e.Name, heads[2+2*k], interval(row, units[k]))
			c.Set(e.Name, heads[3+2*k], text)
		}
	}
	// All methods that take steps end at the last mark, or just after.
	end := math.Round(1000*r.Final(problem, kind, r.Methods(problem, kind)[0], PolicyCost).At) / 1000
	caption := fmt.Sprintf("%s after %.6g %s: medians over runs, with 95 %% intervals", problem, end, kind)
	return c.Table(caption, "method", heads...), nil
}

// interval formats a median times a factor, with its interval unless the interval is too narrow to show.
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

// Reaches returns a table of the numbers of queries after which each method comes within 1 % of an optimum and stays
// within 1 % until the race ends. The table shows medians with intervals. A dash stands for an infinite number: in the
// race, too few runs reached the goal.
func (r Record) Reaches(problem string) plotting.Table {
	c := plotting.Cells{Missing: "no θ"} // and so no penalised gap
	for _, row := range r.where(problem, Reaching, "", "") {
		c.Set(row.Method, row.Quantity, median(row))
	}
	return c.Table(fmt.Sprintf("%s: queries to reach, medians over the runs, with 95 %% intervals", problem), "method",
		GapGoal, MixtureGoal, PolicyGoal)
}

func median(row race.Row) string {
	if math.IsInf(row.Lo, 1) {
		return "—"
	}
	text := fmt.Sprintf("%.0f [%.0f, %.0f]", row.Value, row.Lo, row.Hi)
	return strings.ReplaceAll(text, "+Inf", "—")
}
