package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// The quantities in the record of the network.
const (
	SimulatedCost = "simulated cost" // with a 95 % interval; At is the number of steps of a stream
	TotalLength   = "total length"   // P(‖x‖₁ = At)
	ServesFirst   = "serves queue 1" // probability that server 1 works on queue 1 in the state with number At
	Weight        = "weight"         // θ*ⱼ
	LeastWeight   = "least weight"   // min θⱼ over Ψθ ⪰ 0, 1ᵀθ = 1, ‖θ‖ ≤ R
	MixedPolicies = "mixed policies" // cost of (1−w)π¹ + wπ² (2.16) with w = At
	MixedMeasures = "mixed measures" // cost of the policy of (1−w)ψ¹ + wψ² (2.17) with w = At

	// Quantities of the answers after At queries, with one value for each run.
	LearntObjective = "cᵀΨθ"
	LearntMass      = "negative mass" // ‖[Ψθ]₋‖₁
	LearntSum       = "1ᵀθ"
	LearntGap       = "gap at c_max" // cᵀΨθ + c_max‖[Ψθ]₋‖₁ + c_max|1ᵀθ − 1|, minus the optimum of (2.18)
	// MassPrice is 2 max λ*/c_max. If this number is at least 1, then, in the penalised gap, a unit of negative mass
	// costs this number times c_max.
	MassPrice = "price of negative mass"
	// Overflow is the number of iterations after which a run in tuning left the range of floating point. At is η₀. In
	// rows of [Tuning], At is also η₀, and Values are the gaps of the runs with one setting. In the rows of [Tuning]
	// about the dual ALP, however, At is the factor that multiplies the published rate, and Value is the true cost.
	Overflow = "overflow"
	// LearntCost is the true cost of the policy learnt in a run, for each of the first [Learning].Valued runs or, for
	// the dual ALP, for each run. The cost of each distinct answer is also in a row of [PolicyCost], whose Method comes
	// from [TrialName].
	LearntCost = "mean cost"

	// Quantities of the dual ALP after At iterations: the three parts of f_ω (4.14), and the true cost.
	DualObjective = "dual ALP: cᵀΨθ"
	DualNegative  = "dual ALP: negative mass"
	DualFlow      = "dual ALP: flow"
	DualCost      = "dual ALP: cost" // true cost of the policy that the average of the iterates so far defines
)

// TrialName names the policy that a trial of a method returned. The first trial has k = 0, and is called trial 1.
func TrialName(method string, k int) string { return fmt.Sprintf("%s, trial %d", method, k+1) }

// NetworkRecord holds the rows of data/network.csv. In a row, Problem names the dynamics and the buffers, Base names
// the set of base policies, and Method names a rule, policy or method.
type NetworkRecord struct{ race.Record }

// RecordedNetwork returns the rows of data/network.csv. Computing all [NetworkParts] takes less than an hour. In rows
// with Values, the intervals are Student's t intervals.
func RecordedNetwork() (NetworkRecord, error) {
	rows, err := Runs("network")
	return NetworkRecord{rows.Derive(tInterval).Round(12)}, err
}

// Dynamics returns the dynamics of a row's problem, such as "phantom jobs".
func Dynamics(row race.Row) string {
	name, _, _ := strings.Cut(row.Problem, ",")
	return name
}

// ranked sorts rows by Value, and numbers them from 1 in At.
func ranked(rows race.Record) race.Record {
	slices.SortStableFunc(rows, func(a, b race.Row) int { return cmp.Compare(a.Value, b.Value) })
	for k := range rows {
		rows[k].At = float64(k + 1)
	}
	return rows
}

// of returns the rows of a part about a quantity, for the given method or, if method is "", for all methods.
func (r NetworkRecord) of(part, quantity, method string) race.Record {
	return r.Select(race.Row{Part: part, Quantity: quantity, Method: method})
}

// RuleCosts shows the exact and the simulated costs of the six rules.
func (r NetworkRecord) RuleCosts() (plotting.Table, plotting.Figure) {
	rows := ranked(slices.DeleteFunc(r.of("rules", PolicyCost, ""), func(row race.Row) bool { return row.Method == Mixture }))
	table := plotting.Table{Caption: "Average cost of a step, independent events", Columns: plotting.Columns(
		"\t%.0f", "policy", "exact\t%.6f", "error at most\t%.0e", "simulated\t%.3f", "from\t%.3f", "to\t%.3f")}
	var simulated race.Record
	for _, row := range rows {
		for _, s := range r.of("rules", SimulatedCost, row.Method) {
			table.Row(row.At, row.Method, row.Value, (row.Hi-row.Lo)/2, s.Value, s.Lo, s.Hi)
			s.At = row.At
			simulated = append(simulated, s)
		}
	}
	return table, dots(rows, func(row race.Row) string { return row.Method }, group{"simulated, 95 %", simulated}, group{"exact", rows})
}

type group struct {
	name string
	rows race.Record
}

// dots returns a figure with a named line for each of the rows, the first at the top. Every row of a group becomes a
// dot; At is the number of the line on which the dot lies, counted from the top.
func dots(rows race.Record, name func(race.Row) string, groups ...group) plotting.Figure {
	f := axes("", "average cost of a step (jobs)", "")
	f.Height = 1.3 + 0.2*float64(len(rows))
	longest := 0
	for _, row := range slices.Backward(rows) {
		f.Y.Names = append(f.Y.Names, name(row))
		longest = max(longest, len(name(row)))
	}
	f.Width = 5.5 + 0.06*float64(longest) // the dots have the same room, however long the names are
	for _, g := range groups {
		p := plotting.Points{Name: g.name}
		for _, row := range g.rows {
			p.X, p.Y = append(p.X, row.Value), append(p.Y, float64(len(rows)+1)-row.At)
			p.Lo, p.Hi = append(p.Lo, row.Lo), append(p.Hi, row.Hi)
		}
		f.Layers = append(f.Layers, p)
	}
	return f
}

// DynamicsTable shows the exact costs of the six rules under each of the three dynamics.
func (r NetworkRecord) DynamicsTable() plotting.Table {
	t := plotting.Table{Caption: "Average cost of a step, exact", Columns: []plotting.Column{{Head: "rule", Text: AllRules().Members}}}
	for _, part := range []string{"rules", "rules, phantom jobs", "rules, one event a step"} {
		c := plotting.Column{Format: "%.5f"}
		for _, rule := range AllRules().Members {
			for _, row := range r.of(part, PolicyCost, rule) {
				c.Head, c.Numbers = Dynamics(row), append(c.Numbers, row.Value)
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// TotalLengths draws the distributions of the number of jobs, ‖x‖₁, under the given rules, on a linear and a
// logarithmic scale. Each line ends before the first probability that is no greater than its error bound.
func (r NetworkRecord) TotalLengths(rules ...models.Rule) plotting.Panels {
	f := axes("Jobs in the network", "jobs", "probability")
	for _, rule := range rules {
		rows := r.of("rules", TotalLength, rule.String())
		if unknown := slices.IndexFunc(rows, func(row race.Row) bool { return row.Lo <= 0 }); unknown >= 0 {
			rows = rows[:unknown]
		}
		f.Layers = append(f.Layers, line(rule.String(), rows))
	}
	g := f
	g.Title, g.Y.Log = "The same, logarithmic", true
	return plotting.Row(f, g)
}

// ActionMaps draws, for four policies, the probability that server 1 works on queue 1, against the lengths of queues 1
// and 4; queues 2 and 3 contain two jobs each.
func (r NetworkRecord) ActionMaps() (plotting.Panels, error) {
	lengths := floats.Span(make([]float64, sliceReach+1), 0, sliceReach)
	all := plotting.Panels{Columns: 2}
	for _, name := range slicedPolicies {
		_, z, _, _ := r.of("mixing", ServesFirst, name).Columns()
		if n := len(lengths); len(z) != n*n {
			return all, fmt.Errorf("study: network record: %d states in the slice of %s, want %d", len(z), name, n*n)
		}
		f := axes(name, "jobs in queue 1", "jobs in queue 4")
		f.Y.Min, f.Y.Max, f.Width = -0.5, sliceReach+0.5, 4.4
		grid := plotting.Grid{X: lengths, Y: lengths, Z: slices.Collect(slices.Chunk(z, len(lengths)))}
		all.Figures = append(all.Figures, f.With(plotting.Heatmap{Name: "probability of queue 1", Grid: grid}))
	}
	return all, nil
}

// TwoMixtures draws the true costs of mixtures of LONGER and LBFS, against the weight of LBFS. One line is for mixtures
// of policies, and the other line is for mixtures of measures.
func (r NetworkRecord) TwoMixtures() plotting.Figure {
	return axes("From LONGER to LBFS", "weight of LBFS", "true average cost").With(
		line("mixture of policies (2.16)", r.of("mixing", MixedPolicies, "")),
		line("mixture of measures (2.17)", r.of("mixing", MixedMeasures, "")))
}

// axes returns a figure without layers.
func axes(title, x, y string) plotting.Figure {
	return plotting.Figure{Title: title, X: plotting.Axis{Label: x}, Y: plotting.Axis{Label: y}}
}

// line returns the line of Value against At, with intervals if the first row comes from at least two trials.
func line(name string, rows race.Record) (l plotting.Line) {
	l.Name = name
	if l.X, l.Y, l.Lo, l.Hi = rows.Columns(); l.Lo != nil {
		l.Interval = fmt.Sprintf("band: %.0f %% interval, %d runs", 100*confidence, rows[0].Trials)
	}
	return l
}

// Room draws how far below zero each weight θⱼ can be, −min θⱼ, against the number of places in every queue. It omits
// points whose upper bound is at most leastRoom, and lines of a single point.
func (r NetworkRecord) Room(b BaseSet) plotting.Figure {
	f := axes("Room below zero: "+b.Name, "places in every queue", `largest $-\theta_j$`)
	f.Y.Log = true
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

// leastRoom bounds how far below zero rounding may put a weight that cannot be negative: a few roundings of numbers up
// to R = 2.
const leastRoom = 0x1p-48

// FullRoom shows, for the network at full size, the least value that each weight θⱼ can have.
func (r NetworkRecord) FullRoom(part string) plotting.Table {
	t := plotting.Table{Caption: "Least weights at full size", Columns: plotting.Columns("policy", "least θⱼ\t%.1e")}
	for _, row := range r.of(part, LeastWeight, "") {
		t.Row(row.Method, row.Value)
	}
	return t
}

// TuningCurves draws the mean gaps of the configurations tried, against η₀. For the penalty method, it draws one gap
// for each η₀: the least mean gap over all ω.
func (r NetworkRecord) TuningCurves(part string) plotting.Figure {
	f := axes("How much depends on the step: "+part, "η₀", "gap at $c_{max}$ (jobs)")
	f.X.Log, f.Y.Log = true, true
	for _, method := range stepped {
		l := plotting.Line{Name: method}
		for _, row := range r.of(part, Tuning, method) {
			if last := len(l.X) - 1; last >= 0 && l.X[last] == row.At { // the same η₀ with another ω
				l.Y[last] = min(l.Y[last], row.Value)
			} else {
				l.X, l.Y = append(l.X, row.At), append(l.Y, row.Value)
			}
		}
		if len(l.X) > 0 {
			f.Layers = append(f.Layers, l)
		}
	}
	return f
}

// stepped are the learners that have a step size and whose runs reach the end.
var stepped = []string{"Algorithm 1, printed signs", "Algorithm 1", "Algorithm 1, rows scaled", "penalty"}

// LearningCurves draws, against the number of queries, two means over the runs: the mean of the objective cᵀΨθ, and the
// mean of the negative mass of Ψθ.
func (r NetworkRecord) LearningCurves(part string) plotting.Panels {
	objective, mass := axes("Objective: "+part, "queries", "cᵀΨθ"), axes("Violation: "+part, "queries", "negative mass of Ψθ")
	objective.X.Log, mass.X.Log = true, true
	for _, method := range comparedMethods {
		objective = objective.With(line(method, r.of(part, LearntObjective, method)))
		mass = mass.With(line(method, r.of(part, LearntMass, method)))
	}
	for _, row := range r.of(part, Mixture, "") {
		objective = objective.With(plotting.Rule{At: row.Value, Label: "optimum"})
	}
	return plotting.Row(objective, mass)
}

// TunedTo describes the setting of a learner, such as "η₀ = 2, ω = 0.5" or "nothing to tune".
func TunedTo(row race.Row) string {
	return cmp.Or(named("%g", row.Setting, "η₀", "ω"), "nothing to tune")
}

// named writes numbers with their names.
func named(format string, numbers []float64, names ...string) string {
	var all []string
	for k, v := range numbers {
		all = append(all, fmt.Sprintf("%s = "+format, names[k], v))
	}
	return strings.Join(all, ", ")
}

// LearntTable shows, for each method, its setting, and the mean gap and the mean true cost after the last query.
func (r NetworkRecord) LearntTable(part string) plotting.Table {
	t := plotting.Table{Columns: plotting.Columns("method", "tuned", LearntGap+"\t%.4f", "from\t%.4f", "to\t%.4f",
		"true cost\t%.4f", "from\t%.4f", "to\t%.4f")}
	for _, c := range r.of(part, LearntCost, "") {
		t.Caption = fmt.Sprintf("After %.0f queries: %s", c.At, part)
		g := final(r.Record, race.Row{Part: part, Quantity: LearntGap, Method: c.Method})
		t.Row(c.Method, TunedTo(c), g.Value, g.Lo, g.Hi, c.Value, c.Lo, c.Hi)
	}
	return t
}

// DualTuning draws the true costs of the dual ALP's configurations, against ω, with a line for each rate.
func (r NetworkRecord) DualTuning(part string) plotting.Figure {
	f := axes("", "ω", "true cost (jobs)")
	f.X.Log = true
	for _, rate := range dualRates {
		l := plotting.Line{Name: fmt.Sprintf("rate × %g", rate), X: dualWeights}
		for _, row := range r.of(part, Tuning, dualName) {
			if row.At == rate {
				f.Title, l.Y = "Tuning: "+Dynamics(row), append(l.Y, row.Value)
			}
		}
		f.Layers = append(f.Layers, l)
	}
	return f
}

// DualCurves draws, for one run of the dual ALP, the violations of the constraints, and the true costs of the policies
// that its averages define. Horizontal lines show the costs of LONGER and LBFS.
func (r NetworkRecord) DualCurves(part, rules string) plotting.Panels {
	const steps = "steps of 1000 gradients"
	truth := axes("True cost", steps, "jobs").With(line(dualName, r.of(part, DualCost, "")))
	for _, rule := range TwoRules().Members {
		for _, row := range r.of(rules, PolicyCost, rule) {
			truth = truth.With(plotting.Rule{At: row.Value, Label: rule, Color: plotting.Grey})
		}
	}
	return plotting.Row(axes("Violations", steps, "size of the violation").With(
		line("negative mass", r.of(part, DualNegative, "")), line("flow", r.of(part, DualFlow, ""))), truth)
}

// Ranking ranks base policies and learning methods by true cost under independent events. The row of a learning method
// shows the mean cost of the policies from its trials, and the interval of this mean.
func (r NetworkRecord) Ranking() (plotting.Table, plotting.Figure) {
	var rows race.Record
	for _, part := range []string{"rules", "two rules", "state-dependent", "dual ALP"} {
		rows = append(rows, r.of(part, LearntCost, "")...)
		if part == "two rules" {
			continue // its members are among the six
		}
		for _, name := range slices.Concat(AllRules().Members, StateDependent().Members) {
			rows = append(rows, r.of(part, PolicyCost, name)...)
		}
	}
	table := plotting.Table{Caption: "True average cost of a step",
		Columns: plotting.Columns("\t%.0f", "policy", "cost\t%.5f", "from\t%.5f", "to\t%.5f", "learnt over")}
	var exact, learnt race.Record
	for _, row := range ranked(rows) {
		from := row.Base
		if row.Quantity == PolicyCost {
			from, exact = "a base policy", append(exact, row)
		} else {
			learnt = append(learnt, row)
		}
		if row.Method == dualName {
			from = "366 features"
		}
		table.Row(row.At, row.Method, row.Value, row.Lo, row.Hi, from)
	}
	return table, dots(rows, func(row race.Row) string {
		if row.Quantity == PolicyCost || row.Method == dualName {
			return row.Method
		}
		return row.Method + " (" + row.Base + ")"
	}, group{"base policies", exact}, group{"learnt, 95 %", learnt})
}

// comparedMethods are the methods that solve (2.18).
var comparedMethods = []string{"Algorithm 1", "Algorithm 1, rows scaled", "penalty", "plug-in"}

// GapDuels compares the methods for (2.18) in pairs, run by run on the same streams. The quantity is [LearntGap] or
// [PenalisedGap]. The table shows in how many runs each method of a pair has the smaller gap.
func (r NetworkRecord) GapDuels(part, quantity string) plotting.Table {
	var duels []race.Duel
	for _, pair := range pairs(comparedMethods) {
		d := met(r.Record, race.Row{Part: part, Quantity: quantity}, pair, 0, false)
		d.Problem = part
		duels = append(duels, d)
	}
	return margins(quantity, duels)
}
