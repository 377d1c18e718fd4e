package paper

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// line draws the rows of a quantity against At, with their intervals if those are of
// trials.
func (r NetworkRecord) line(name string, like race.Row) plotting.Line {
	rows := r.Select(like)
	at, value, lo, hi := rows.Columns()
	l := plotting.Line{Name: name, X: at, Y: value}
	if len(rows) > 0 && rows[0].Trials > 1 {
		l.Lo, l.Hi = lo, hi
	}
	return l
}

// costs returns a table of rows with their intervals, and a figure of the same.
func costs(caption string, rows race.Record) (plotting.Table, plotting.Points) {
	points := plotting.Points{}
	var names []string
	for k, row := range rows {
		names = append(names, row.Method)
		points.X, points.Y = append(points.X, float64(k+1)), append(points.Y, row.Value)
		points.Lo, points.Hi = append(points.Lo, row.Lo), append(points.Hi, row.Hi)
	}
	return plotting.Table{Caption: caption, Columns: []plotting.Column{
		{Head: "", Numbers: points.X, Format: "%.0f"}, {Head: "policy", Text: names}, {Head: "cost", Numbers: points.Y, Format: "%.5f"},
	}}, points
}

// RuleCosts are the exact costs of the six rules and those of a simulation.
func (r NetworkRecord) RuleCosts() (plotting.Table, plotting.Figure) {
	like := race.Row{Part: "rules", Quantity: PolicyCost}
	rows := slices.DeleteFunc(r.Select(like), func(row race.Row) bool { return row.Method == optimumPolicy })
	slices.SortStableFunc(rows, byValue)
	table, exact := costs("Average cost of a step, independent events", rows)
	sim := plotting.Points{Name: "simulated, 95 %"}
	var errors []float64
	for k, row := range rows {
		like = race.Row{Part: "rules", Quantity: SimulatedCost, Method: row.Method}
		for _, s := range r.Select(like) {
			sim.X, sim.Y = append(sim.X, float64(k+1)+0.15), append(sim.Y, s.Value)
			sim.Lo, sim.Hi = append(sim.Lo, s.Lo), append(sim.Hi, s.Hi)
		}
		errors = append(errors, (row.Hi-row.Lo)/2)
	}
	table.Columns[2].Head, table.Columns[2].Format = "exact", "%.6f"
	table.Columns = append(table.Columns, plotting.Column{Head: "error at most", Numbers: errors, Format: "%.0e"},
		plotting.Column{Head: "simulated", Numbers: sim.Y, Format: "%.3f"},
		plotting.Column{Head: "from", Numbers: sim.Lo, Format: "%.3f"}, plotting.Column{Head: "to", Numbers: sim.Hi, Format: "%.3f"})
	exact.Name, exact.Lo, exact.Hi = "exact", nil, nil
	return table, plotting.Figure{Title: "Average cost of the rules", X: plotting.Axis{Label: "number in the table"},
		Y: plotting.Axis{Label: "jobs"}, Layers: []plotting.Layer{exact, sim}}
}

func byValue(a, b race.Row) int { return cmp.Compare(a.Value, b.Value) }

// DynamicsTable are the exact costs of the rules with each of the dynamics.
func (r NetworkRecord) DynamicsTable() plotting.Table {
	t := plotting.Table{Caption: "Average cost of a step, exact", Columns: []plotting.Column{{Head: "rule", Text: AllRules().Members}}}
	for _, part := range []string{"rules", "rules, phantom jobs", "rules, one event a step"} {
		c := plotting.Column{Format: "%.5f"}
		for _, rule := range AllRules().Members {
			for _, row := range r.Select(race.Row{Part: part, Quantity: PolicyCost, Method: rule}) {
				c.Head, c.Numbers = Dynamics(row), append(c.Numbers, row.Value)
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// TotalLengths are the distributions of ‖x‖₁ under rules, on both scales, as far as they
// are above the error of the measure.
func (r NetworkRecord) TotalLengths(rules ...models.Rule) plotting.Panels {
	var layers []plotting.Layer
	for _, rule := range rules {
		rows := r.Select(race.Row{Part: "rules", Quantity: TotalLength, Method: rule.String()})
		known := slices.IndexFunc(rows, func(row race.Row) bool { return row.Lo <= 0 })
		if known < 0 {
			known = len(rows)
		}
		at, p, _, _ := rows[:known].Columns()
		layers = append(layers, plotting.Line{Name: rule.String(), X: at, Y: p})
	}
	f := plotting.Figure{Title: "Jobs in the network", X: plotting.Axis{Label: "jobs"}, Y: plotting.Axis{Label: "probability"}, Layers: layers}
	g := f
	g.Title, g.Y.Log = "The same, logarithmic", true
	return plotting.Row(f, g)
}

// ActionMaps show where server 1 works, by the lengths of its queues.
func (r NetworkRecord) ActionMaps() (plotting.Panels, error) {
	var figures []plotting.Figure
	for _, name := range slicedPolicies {
		f := plotting.Figure{Title: name, X: plotting.Axis{Label: "jobs in queue 1"}, Y: plotting.Axis{Label: "jobs in queue 4"}, Width: 4.4}
		var g plotting.Grid
		for _, row := range r.Select(race.Row{Part: "mixing", Quantity: ServesFirst, Method: name}) {
			x, err := models.Network{}.Lengths(int(row.At))
			if err != nil {
				return plotting.Panels{}, err
			}
			if x[3] == 0 {
				g.X, g.Z = append(g.X, float64(x[0])), append(g.Z, nil)
			}
			if x[0] == 0 {
				g.Y = append(g.Y, float64(x[3]))
			}
			g.Z[len(g.Z)-1] = append(g.Z[len(g.Z)-1], row.Value)
		}
		f.Layers = []plotting.Layer{plotting.Heatmap{Name: "probability of queue 1", Grid: g}}
		figures = append(figures, f)
	}
	return plotting.Panels{Figures: figures, Columns: 2}, nil
}

// TwoMixtures are the costs of mixtures of LONGER and LBFS as policies and as measures.
func (r NetworkRecord) TwoMixtures() plotting.Figure {
	return plotting.Figure{Title: "From LONGER to LBFS", X: plotting.Axis{Label: "weight of LBFS"}, Y: plotting.Axis{Label: "true average cost"},
		Layers: []plotting.Layer{
			r.line("mixture of policies (2.16)", race.Row{Part: "mixing", Quantity: MixedPolicies}),
			r.line("mixture of measures (2.17)", race.Row{Part: "mixing", Quantity: MixedMeasures}),
		}}
}

// Room is how far below zero each weight may be, by the size of buffers.
func (r NetworkRecord) Room(b BaseSet) plotting.Figure {
	f := plotting.Figure{Title: "Room below zero: " + b.Name, X: plotting.Axis{Label: "places in every queue"}, Y: plotting.Axis{Label: "largest −θⱼ", Log: true}}
	for _, name := range b.Members {
		l := plotting.Line{Name: name}
		for _, row := range r.Select(race.Row{Part: "room", Quantity: LeastWeight, Base: b.Name, Method: name}) {
			if -row.Lo > leastRoom {
				l.X, l.Y = append(l.X, row.At), append(l.Y, -row.Value)
			}
		}
		if len(l.X) > 1 {
			f.Layers = append(f.Layers, l)
		}
	}
	return f
}

// leastRoom is what a weight that can't be negative may seem to be: some roundings of
// numbers up to R = 2.
const leastRoom = 0x1p-48

// FullRoom is the room below zero at full size.
func (r NetworkRecord) FullRoom(part string) plotting.Table {
	var names []string
	var least []float64
	for _, row := range r.Select(race.Row{Part: part, Quantity: LeastWeight}) {
		names, least = append(names, row.Method), append(least, row.Value)
	}
	return plotting.Table{Caption: "Least weights at full size", Columns: []plotting.Column{
		{Head: "policy", Text: names}, {Head: "least θⱼ", Numbers: least, Format: "%.1e"}}}
}

// TuningCurves are the penalised gaps of the configurations tried, by η₀; of the penalty
// method with the best ω for each.
func (r NetworkRecord) TuningCurves(part string) plotting.Figure {
	f := plotting.Figure{Title: "How much depends on the step: " + part, X: plotting.Axis{Label: "η₀", Log: true}, Y: plotting.Axis{Label: "penalised gap (jobs)", Log: true}}
	for _, method := range tuned {
		best := map[float64]float64{}
		for _, row := range r.Select(race.Row{Part: part, Quantity: Tuning, Method: method}) {
			if v, ok := best[row.At]; !ok || row.Value < v {
				best[row.At] = row.Value
			}
		}
		l := plotting.Line{Name: method, X: slices.Sorted(maps.Keys(best))}
		for _, eta := range l.X {
			l.Y = append(l.Y, best[eta])
		}
		if len(l.X) > 0 {
			f.Layers = append(f.Layers, l)
		}
	}
	return f
}

// tuned are the learners that run at all and have a step size.
var tuned = []string{"Algorithm 1, printed signs", "Algorithm 1", "Algorithm 1, rows scaled", "penalty"}

// LearningCurves are the objective and the violation by the number of queries.
func (r NetworkRecord) LearningCurves(part string) plotting.Panels {
	objective := plotting.Figure{Title: "Objective: " + part, X: plotting.Axis{Label: "queries", Log: true}, Y: plotting.Axis{Label: "cᵀΨθ"}}
	mass := plotting.Figure{Title: "Violation: " + part, X: objective.X, Y: plotting.Axis{Label: "negative mass of Ψθ"}}
	for _, method := range append(tuned[1:len(tuned):len(tuned)], "plug-in") {
		objective.Layers = append(objective.Layers, r.line(method, race.Row{Part: part, Quantity: LearntObjective, Method: method}))
		mass.Layers = append(mass.Layers, r.line(method, race.Row{Part: part, Quantity: LearntMass, Method: method}))
	}
	for _, row := range r.Select(race.Row{Part: part, Quantity: Optimum}) {
		objective.Layers = append(objective.Layers, plotting.Rule{At: row.Value, Label: "optimum"})
	}
	return plotting.Row(objective, mass)
}

// LearntTable are the penalised gaps and the true costs after the last query.
func (r NetworkRecord) LearntTable(part string) plotting.Table {
	t := plotting.Table{Columns: []plotting.Column{{Head: "method"}, {Head: "tuned"},
		{Head: "gap", Format: "%.4f"}, {Head: "from", Format: "%.4f"}, {Head: "to", Format: "%.4f"},
		{Head: "true cost", Format: "%.4f"}, {Head: "from", Format: "%.4f"}, {Head: "to", Format: "%.4f"}}}
	for _, c := range r.Select(race.Row{Part: part, Quantity: LearntCost}) {
		t.Caption = fmt.Sprintf("After %.0f queries: %s", c.At, part)
		gaps := r.Select(race.Row{Part: part, Quantity: LearntGap, Method: c.Method})
		g := gaps[len(gaps)-1]
		t.Columns[0].Text, t.Columns[1].Text = append(t.Columns[0].Text, c.Method), append(t.Columns[1].Text, c.Settings)
		for k, v := range []float64{g.Value, g.Lo, g.Hi, c.Value, c.Lo, c.Hi} {
			t.Columns[2+k].Numbers = append(t.Columns[2+k].Numbers, v)
		}
	}
	return t
}

// DualTuning are the true costs of the configurations of the dual ALP, by ω.
func (r NetworkRecord) DualTuning(part string) plotting.Figure {
	f := plotting.Figure{X: plotting.Axis{Label: "ω", Log: true}, Y: plotting.Axis{Label: "true cost (jobs)"}}
	for _, rate := range dualRates {
		l := plotting.Line{Name: fmt.Sprintf("rate × %g", rate), X: dualWeights}
		for _, row := range r.Select(race.Row{Part: part, Quantity: Tuning, Method: dualName}) {
			if row.At == rate {
				f.Title, l.Y = "Tuning: "+Dynamics(row), append(l.Y, row.Value)
			}
		}
		f.Layers = append(f.Layers, l)
	}
	return f
}

// DualCurves are the violations of a run of the dual ALP and the true cost of its policies.
func (r NetworkRecord) DualCurves(part, rules string) plotting.Panels {
	steps := plotting.Axis{Label: "steps of 1000 gradients"}
	truth := plotting.Figure{Title: "True cost", X: steps, Y: plotting.Axis{Label: "jobs"}, Layers: []plotting.Layer{
		r.line("policy of the dual ALP", race.Row{Part: part, Quantity: DualCost})}}
	for _, rule := range TwoRules().Members {
		for _, row := range r.Select(race.Row{Part: rules, Quantity: PolicyCost, Method: rule}) {
			truth.Layers = append(truth.Layers, plotting.Rule{At: row.Value, Label: rule})
		}
	}
	return plotting.Row(plotting.Figure{Title: "Violations", X: steps, Y: plotting.Axis{Label: "norm"}, Layers: []plotting.Layer{
		r.line("negative mass", race.Row{Part: part, Quantity: DualNegative}), r.line("flow", race.Row{Part: part, Quantity: DualFlow})}}, truth)
}

// Ranking is every policy that was valued with independent events, by true cost, those
// that were learnt with the interval between trials.
func (r NetworkRecord) Ranking() (plotting.Table, plotting.Figure) {
	var rows race.Record
	for _, part := range []string{"rules", "two rules", "state-dependent", "dual ALP"} {
		rows = append(rows, r.Select(race.Row{Part: part, Quantity: LearntCost})...)
		if part == "two rules" {
			continue // its members are among the six
		}
		for _, name := range slices.Concat(AllRules().Members, StateDependent().Members) {
			rows = append(rows, r.Select(race.Row{Part: part, Quantity: PolicyCost, Method: name})...)
		}
	}
	slices.SortStableFunc(rows, byValue)
	table, all := costs("True average cost of a step", rows)
	var from []string
	base, learnt := plotting.Points{Name: "base policies"}, plotting.Points{Name: "learnt, 95 %"}
	for k, row := range rows {
		to, source := &base, "a base policy"
		if row.Quantity == LearntCost {
			to, source = &learnt, row.Base
			if row.Method == dualName {
				source = "366 features"
			}
		}
		from = append(from, source)
		to.X, to.Y = append(to.X, all.X[k]), append(to.Y, all.Y[k])
		to.Lo, to.Hi = append(to.Lo, all.Lo[k]), append(to.Hi, all.Hi[k])
	}
	base.Lo, base.Hi = nil, nil
	table.Columns = append(table.Columns, plotting.Column{Head: "from", Numbers: all.Lo, Format: "%.5f"},
		plotting.Column{Head: "to", Numbers: all.Hi, Format: "%.5f"}, plotting.Column{Head: "learnt over", Text: from})
	return table, plotting.Figure{Title: "True average cost", X: plotting.Axis{Label: "number in the table"}, Y: plotting.Axis{Label: "jobs"},
		Layers: []plotting.Layer{base, learnt}}
}
