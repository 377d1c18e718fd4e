package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Family is a modulus for each radius R of the policy class, such as
//
//	Family{"cube", func(R float64) bregman.Modulus { return bregman.Cube(R) }}
//
// Tables and legends show the Name.
type Family struct {
	Name string
	At   func(R float64) bregman.Modulus
}

// Moduli is a comparison of Bregman moduli in Algorithm 1 on one problem. All moduli get equally many samples and the
// same seeds. The step sizes are chosen from the same grid for all moduli, by sequential halving
// ([race.Settings].Halving) with equally many tuning trials and a separate seed. While the step size chosen for a
// modulus is at an end of the grid, the grid grows at this end for all moduli, up to 64 step sizes.
//
// At the lower end, this rule has two exceptions. If the least step size is chosen for a modulus, but the runs with
// this step size hardly move from θ₀, the grid does not grow for this modulus. The other exception: the grid grows at
// the lower end if no step size can be chosen for a modulus, and if, with at least one step size, this modulus made a
// step in the first tuning trial.
//
// The comparison tests the remark after Theorem 3.4 that the geometry of the policy class matters through ‖Ψ‖_{*,2}.
type Moduli struct {
	Problem    *mixpolicy.Problem
	Settings   ModuliSettings // Etas are all η₀ tried, in increasing order
	Contenders []Contender

	best *linprog.Solution // the exact optimum
}

// ModuliSettings set the size of a comparison. A field that is 0 or nil stands for the default.
type ModuliSettings struct {
	Iterations   int       // T; default 10,000
	Trials       int       // default 20
	TuningTrials int       // number of tuning trials for each of the two η₀ that reach the last round; default 8
	Etas         []float64 // first grid of η₀, for η_t = η₀/√(t+1); a grid of one entry does not grow; default 2⁻⁴, 2⁻³, …, 2⁸
	Seed         uint64
	Progress     func(name string, done, total int) // see [race.Settings]
}

// Contender is a modulus with the results of its runs.
type Contender struct {
	Family
	Modulus      bregman.Modulus // for the problem's R
	race.Outcome                 // method k has η₀ = Etas[k]; Err also reports diverging trials

	gap  race.Curve
	near [2][]float64 // gap at the ends of the trials with η₀/2 and with 2η₀: +∞ if a trial diverges, NaN if it fails
}

// with returns Algorithm 1 with the family's modulus for the class of p, and with η₀ = eta.
func (f Family) with(p *mixpolicy.Problem, eta float64) mixpolicy.Method {
	return mixpolicy.PrimalDual{Modulus: f.At(p.Class().R), StepSize: mixpolicy.InverseSqrt(eta)}
}

// gaps returns the penalised gaps with method k, divided by the optimum: of the trials if the method was chosen, else
// of the tuning trials. It returns nil if a run diverges, if a tuning trial fails, or if all trials fail.
func (c Contender) gaps(k int) (x []float64) {
	switch {
	case k != c.Chosen:
		x = c.Tuning[k].Scores
	case c.Err == nil:
		x = c.Runs.Final(c.gap)
	}
	if slices.Contains(x, math.Inf(1)) {
		return nil
	}
	return x
}

// gapOrInf is [RelativeGap], but +∞ for a run that diverges. A run diverges if its θ̂ is outside the class and has a
// greater penalised gap than θ₀. A size ‖θ̂‖ up to R(1 + 2⁻²⁰) does not count as outside, because an average of T
// points has a relative rounding error of up to T·2⁻⁵³. No θ̂ is outside an unbounded class.
func gapOrInf(p *mixpolicy.Problem) race.Curve {
	gap, class, most := must(RelativeGap(p)), p.Class(), startGap(p)
	return func(l *race.Observation) float64 {
		if v := gap(l); v <= most || class.Size(l.Theta) <= class.R*(1+0x1p-20) {
			return v
		}
		return math.Inf(1)
	}
}

func (s ModuliSettings) complete() ModuliSettings {
	s.Iterations, s.Trials, s.TuningTrials = cmp.Or(s.Iterations, 10_000), cmp.Or(s.Trials, 20), cmp.Or(s.TuningTrials, 8)
	if s.Etas == nil {
		s.Etas = powers(0x1p-4, 2, 13)
	}
	s.Etas = slices.Sorted(slices.Values(s.Etas))
	return s
}

// CompareModuli compares the families on a problem, as [Moduli] describes. It uses each family's modulus for the radius
// of the problem's class. If no step size can be chosen for a modulus, if all its trials fail, or if a trial diverges,
// the Err of its [Contender] says so, and the other moduli still run. CompareModuli returns an error if the settings
// are invalid, if the exact optimum cannot be computed, or if ctx ends. When ctx ends, CompareModuli also returns the
// moduli that have finished.
func CompareModuli(ctx context.Context, p *mixpolicy.Problem, set ModuliSettings, families ...Family) (m *Moduli, err error) {
	m = &Moduli{Problem: p, Settings: set.complete()}
	if m.best, err = p.Optimum(ctx); err == nil {
		m.Contenders, err = m.Settings.compete(ctx, p, families...)
	}
	for i, c := range m.Contenders {
		for k, factor := range []float64{0.5, 2} {
			if c.Err == nil && err == nil {
				runs, _ := race.Trials(ctx, p, c.with(p, factor*m.Settings.Etas[c.Chosen]), m.Settings.race())
				m.Contenders[i].near[k], err = runs.Ends(c.gap), ctx.Err()
			}
		}
	}
	return m, err
}

// compete chooses the step size of each modulus on a grid that grows as needed, and runs the trials with the chosen
// step size.
func (s *ModuliSettings) compete(ctx context.Context, p *mixpolicy.Problem, families ...Family) (all []Contender, err error) {
	defer catch(&err)
	set := s.race()
	set.TuningTrials, set.Halving, set.Score = s.TuningTrials, true, gapOrInf(p)
	for grows := true; grows; grows = err == nil && s.grow(all, startGap(p)) {
		var outcomes []race.Outcome
		outcomes, err = race.Run(ctx, p, mapped(families, func(f Family) race.Entrant {
			return race.Entrant{Name: f.Name, Methods: race.Grid(s.Etas, func(eta float64) mixpolicy.Method { return f.with(p, eta) })}
		}), set)
		all = nil
		for k, o := range outcomes {
			if err != nil && (o.Runs == nil || len(o.Runs.Trials) == 0) {
				break // ctx ended the race
			}
			c := Contender{Family: families[k], Modulus: families[k].At(p.Class().R), Outcome: o, gap: set.Score}
			if c.Err == nil {
				final := o.Runs.Final(set.Score)
				if n := floats.Count(func(v float64) bool { return math.IsInf(v, 1) }, final); n > 0 {
					c.Err = fault.At("paper", c.Name, fmt.Errorf("%d of %d trials diverge", n, len(final)))
				}
			}
			all = append(all, c)
		}
	}
	return all, err
}

// grow adds step sizes beyond an end of the grid that was chosen for a modulus, but not below the grid if the modulus
// hardly moves there. It also adds step sizes below the grid if no step size could be chosen for a modulus, and if,
// with at least one step size, this modulus made a step in the first tuning trial. At an end, it adds at most half as
// many step sizes as the grid has. It reports whether it added any.
func (s *ModuliSettings) grow(all []Contender, start float64) bool {
	n := len(s.Etas)
	more, below, above := min(max(1, n/2), (64-n)/2), 0, 0 // race.Run takes at most 64
	for _, c := range all {
		ran := slices.ContainsFunc(c.Tuning, func(t race.Tuning) bool { return t.Trials[0].Steps > 0 })
		if c.Chosen == n-1 {
			above = more
		} else if c.Chosen == 0 && !c.still(start) || c.Chosen < 0 && ran {
			below = more
		}
	}
	if n == 1 || below+above == 0 {
		return false
	}
	low, high := s.Etas[1]/s.Etas[0], s.Etas[n-1]/s.Etas[n-2]
	s.Etas = slices.Concat(powers(s.Etas[0]*math.Pow(low, -float64(below)), low, below), s.Etas, powers(s.Etas[n-1]*high, high, above))
	return true
}

// still reports whether the mean penalised gap with the chosen η₀ differs by at most 1 % from start, the gap of θ₀.
func (c Contender) still(start float64) bool {
	return math.Abs(stat.Mean(c.gaps(c.Chosen), nil)-start) <= start/100
}

// startGap is the penalised gap of θ₀, divided by the optimum.
func startGap(p *mixpolicy.Problem) float64 {
	return must(RelativeGap(p))(&race.Observation{Theta: uniform(p.Dim())})
}

func (s ModuliSettings) race() race.Settings {
	return race.Settings{Trials: s.Trials, Iterations: s.Iterations, Seed: s.Seed, Schedule: mixpolicy.LogSpaced(12), Progress: s.Progress}
}

// interval returns a bootstrap interval, because Student's interval may reach below 0, but penalised gaps are not
// negative.
func interval(x []float64) race.Interval { return race.BootstrapInterval(x, confidence, 1) }

// Table returns a table with a row for each modulus: the chosen η₀, the results of the trials, and the penalised gaps
// with half and with twice this η₀. The last row is about θ₀, the start of all runs.
func (m *Moduli) Table() plotting.Table {
	t := plotting.Table{
		Caption: fmt.Sprintf("Moduli on %v after %d queries, %d trials", m.Problem.Class(), m.Settings.Iterations, m.Settings.Trials),
		Columns: []plotting.Column{
			{Head: "modulus"}, {Head: "η₀"}, {Head: "penalised gap / optimum"}, {Head: "with η₀/2"}, {Head: "with 2η₀"}, {Head: "cost"},
			{Head: "violation", Format: "%.2e"}, {Head: "R − ‖θ‖, least", Format: "%.3g"}, {Head: "remarks"},
		}}
	near := func(x []float64) string {
		if mean := stat.Mean(x, nil); mean < math.Inf(1) {
			return fmt.Sprintf("%.4f", mean)
		}
		return "diverges or fails"
	}
	for _, c := range m.Contenders {
		var eta any // nil if no step size was chosen
		if c.Chosen >= 0 {
			eta = m.Settings.Etas[c.Chosen]
		}
		if c.Err != nil {
			t.Row(c.Name, eta, "failed: "+c.Err.Error(), "", "", nil, nil, nil, m.remarks(c))
			continue
		}
		iv := interval(c.gaps(c.Chosen))
		t.Row(c.Name, eta, fmt.Sprintf("%.4f [%.4f, %.4f]", iv.Mean, iv.Lo, iv.Hi), near(c.near[0]), near(c.near[1]),
			stat.Mean(c.Runs.Final(race.Cost), nil), stat.Mean(c.Runs.Final(race.Violation), nil),
			floats.Min(c.Runs.Final(m.room)), m.remarks(c))
	}
	start := uniform(m.Problem.Dim())
	t.Row("none: θ₀", nil, fmt.Sprintf("%.4f", startGap(m.Problem)), "", "", m.Problem.Objective(start), m.Problem.Violation(start),
		m.room(&race.Observation{Last: start}), "")
	return t
}

// remarks returns what a reader of the table must know in addition to the numbers.
func (m *Moduli) remarks(c Contender) string {
	var all []string
	add := func(is bool, words string) {
		if is {
			all = append(all, words)
		}
	}
	lost := m.lost(c)
	add(lost != "", lost)
	if c.Runs != nil && c.Runs.Err() == nil {
		failed, still := len(c.Runs.Failed()), c.still(startGap(m.Problem))
		add(failed > 0, fmt.Sprintf("%d trials failed", failed))
		add(still, "hardly moves from θ₀")
		add(!still && (c.Chosen == 0 || c.Chosen == len(m.Settings.Etas)-1), "η₀ is at an end of what was tried")
		for k, words := range []string{"η₀/2 is better", "2η₀ is better"} {
			d := race.Differences(c.near[k], c.Runs.Ends(c.gap))
			add(len(d) > 0 && interval(d).Hi < 0, words)
		}
		beyond, missing := m.Problem.Class().Mismatch(c.Modulus, uniform(m.Problem.Dim()))
		add(beyond != nil, "its domain is not within the class")
		add(missing != nil, "the class is not within its domain")
	}
	return strings.Join(all, "; ")
}

// lost names the step sizes, if any, with which a run diverges, a tuning trial fails, or all trials fail.
func (m *Moduli) lost(c Contender) string {
	var etas []string
	for k, eta := range m.Settings.Etas {
		if c.gaps(k) == nil {
			etas = append(etas, fmt.Sprintf("%.3g", eta))
		}
	}
	if etas == nil {
		return ""
	}
	return "diverges or fails at η₀ = " + strings.Join(etas, ", ")
}

// room is the curve of R − ‖θ_t‖, the distance of the iterate from the boundary of the class.
func (m *Moduli) room(l *race.Observation) float64 {
	class := m.Problem.Class()
	return class.R - class.Size(l.Last)
}

// finished returns the moduli without an error.
func (m *Moduli) finished() []Contender {
	return slices.DeleteFunc(slices.Clone(m.Contenders), func(c Contender) bool { return c.Err != nil })
}

// orNone returns the figures, or a figure that says why there is nothing to draw.
func orNone(what string, figures ...plotting.Figure) []plotting.Figure {
	if slices.ContainsFunc(figures, func(f plotting.Figure) bool { return f.Layers != nil }) {
		return figures
	}
	return []plotting.Figure{plotting.Figure{Title: what + ": no modulus ran to the end; the table says why"}.With(plotting.Rule{})}
}

var queries = plotting.Axis{Label: "queries to the oracle", Log: true}

// Cost draws the mean of cᵀΨθ̂ over the trials, with an interval, against the number of queries. A line marks the exact
// optimum.
func (m *Moduli) Cost() plotting.Figure {
	f := plotting.Figure{Title: "Cost", X: queries, Y: plotting.Axis{Label: "cᵀΨθ̂"}}
	for _, k := range m.finished() {
		f.Layers = append(f.Layers, bandLine(k.Name, k.Runs.BandOf(race.Iterations, race.Cost, interval), 0))
	}
	return f.With(plotting.Rule{Label: "optimum", At: m.best.Objective})
}

// Differences draws, from the given number of queries on, the penalised gap of each modulus minus the penalised gap of
// the first modulus without an error. Each difference is between two runs on the same stream. The figure shows the
// means of the differences, divided by the optimum, with intervals.
func (m *Moduli) Differences(from float64) plotting.Figure {
	all, f := m.finished(), plotting.Figure{X: queries}
	for i, k := range all {
		if i == 0 {
			f.Y.Label = "(penalised gap − " + k.Name + "'s) / optimum"
			f.Layers = append(f.Layers, plotting.Rule{Label: k.Name, At: 0})
			continue
		}
		first := map[*race.Observation]*race.Observation{} // from k's to the first modulus's, at the same times on the same streams
		var both race.Runs
		for _, t := range k.Runs.Finished() {
			for _, other := range all[0].Runs.Finished() {
				if t.Stream == other.Stream {
					both.Trials = append(both.Trials, t)
					for n := range t.Observations {
						first[&t.Observations[n]] = &other.Observations[n]
					}
				}
			}
		}
		band := both.BandOf(race.Queries, func(l *race.Observation) float64 { return k.gap(l) - k.gap(first[l]) }, interval)
		l := line(k.Name, slices.DeleteFunc(band.Rows(race.Row{}), func(row race.Row) bool {
			return row.At < from || math.IsNaN(row.Hi-row.Lo) || math.IsInf(row.Hi-row.Lo, 0) // one of the runs is diverging
		}))
		l.Color, l.Dash = plotting.Blue+plotting.Color(i%6), plotting.ByColor // the same as in figures with a line for the first modulus
		if len(l.X) > 0 {
			f.Layers = append(f.Layers, l)
		}
	}
	return orNone("Differences", f)[0]
}

// Boundary draws a panel for each modulus: R − ‖θ_t‖, the distance of the recorded iterates from the boundary of the
// class. The points are means over trials, with intervals.
func (m *Moduli) Boundary() plotting.Panels {
	var figures []plotting.Figure
	top := 0.0
	for _, k := range m.finished() {
		l := bandLine("", k.Runs.BandOf(race.Iterations, m.room, interval), 0)
		top = max(top, floats.Max(l.Hi))
		figures = append(figures, plotting.Figure{
			Title: k.Name, X: queries, Y: plotting.Axis{Label: "R − ‖θₜ‖"},
		}.With(plotting.Points{X: l.X, Y: l.Y, Lo: l.Lo, Hi: l.Hi, Interval: strings.Replace(l.Interval, "band", "bars", 1)}))
	}
	for i := range figures {
		figures[i].Y.Max = 1.05 * top
	}
	return plotting.Row(orNone("Boundary", figures...)...)
}

// Sensitivity draws a line for each modulus: the penalised gap at the end of the runs, divided by the optimum, as a
// function of η₀. The point at the chosen η₀ is the mean over the trials. The point at another η₀ is the mean over the
// tuning trials with this η₀. If one of these tuning trials fails or diverges, there is no point, and the legend names
// this η₀.
func (m *Moduli) Sensitivity() plotting.Figure {
	f := sensitivity("Sensitivity to the step size", "η₀")
	for _, c := range m.finished() {
		var rows race.Record
		for k, eta := range m.Settings.Etas {
			if x := c.gaps(k); x != nil {
				rows = append(rows, race.Row{At: eta, Value: stat.Mean(x, nil)})
			}
		}
		f.Layers = append(f.Layers, line(strings.TrimSuffix(c.Name+", "+m.lost(c), ", "), rows))
	}
	return orNone(f.Title, f)[0]
}

func sensitivity(title, label string) plotting.Figure {
	return plotting.Figure{Title: title, X: plotting.Axis{Label: label, Log: true},
		Y: plotting.Axis{Label: "penalised gap / optimum", Log: true}}
}

// RadiusSensitivity draws two lines for each modulus, against the radius R of the class. Both lines show the penalised
// gap at the end of the runs, divided by the optimum for the same R. The solid line uses the step size chosen for each
// R. The dashed line uses, for every R, the step size chosen for the problem's own R. If another step size was chosen
// for an R, the dashed line's point at this R is a mean over tuning trials. A line has no point at an R if, with the
// line's step size, a run diverges, a tuning trial fails, or all trials fail. The solid line also has no point at an R
// for which no step size can be chosen.
func (m *Moduli) RadiusSensitivity(ctx context.Context, radii ...float64) (f plotting.Figure, err error) {
	defer catch(&err)
	f = sensitivity("Sensitivity to the radius", "R")
	for i, own := range m.finished() {
		var tuned, kept race.Record
		for _, r := range radii {
			c, set := own, m.Settings
			if class := m.Problem.Class(); r != class.R {
				class.R = r
				all, err := set.compete(ctx, must(mixpolicy.NewProblem(m.Problem.Features(), class)), own.Family)
				if err != nil {
					return f, fault.At("paper", fmt.Sprintf("R = %g", r), err)
				}
				c = all[0]
			}
			if x := c.gaps(c.Chosen); x != nil {
				tuned = append(tuned, interval(x).Row(race.Row{At: r}))
			}
			if x := c.gaps(slices.Index(set.Etas, m.Settings.Etas[own.Chosen])); x != nil {
				kept = append(kept, race.Row{At: r, Value: stat.Mean(x, nil)})
			}
		}
		solid, dashed := line(own.Name, tuned), line("", kept)
		solid.Color, solid.Dash = plotting.Blue+plotting.Color(i%6), plotting.Solid
		dashed.Color, dashed.Dash = solid.Color, plotting.Dashed
		dashed.Interval = fmt.Sprintf("dashed: η₀ as chosen for R = %g", m.Problem.Class().R)
		f.Layers = append(f.Layers, solid, dashed)
	}
	return orNone(f.Title, f)[0], nil
}

// oneRun draws number(θₜ) and number(θ̂ₜ) for the first trial that finished. The points of θₜ are not joined, because
// the run does not record the iterates between them.
func oneRun(t *race.Runs, at race.Curve, from float64, number func(theta []float64) float64) (plotting.Points, plotting.Line) {
	one := &race.Runs{Trials: t.Finished()[:1]}
	last := bandLine("", one.Band(at, func(l *race.Observation) float64 { return number(l.Last) }, confidence), from)
	average := bandLine("θ̂ₜ", one.Band(at, func(l *race.Observation) float64 { return number(l.Theta) }, confidence), from)
	return plotting.Points{Name: "θₜ", X: last.X, Y: last.Y, Color: plotting.Grey, Dash: plotting.Solid}, average
}

// Look runs Algorithm 1 with the given modulus, η₀ and β, for the sliders of a notebook. The left figure shows θ₁/R,
// the position of one run in the class. The right figure shows the penalised gap of the averages θ̂_t, divided by the
// optimum: the mean over the trials, in a band that contains all trials. Look uses only Iterations, Trials, Seed and
// Progress of the settings.
func (s ModuliSettings) Look(ctx context.Context, p *mixpolicy.Problem, phi bregman.Modulus, eta, beta float64,
) (_ plotting.Panels, err error) {
	defer catch(&err)
	set := s.complete().race()
	set.Schedule = mixpolicy.LogSpaced(6)
	best, gap, r := must(p.Optimum(ctx)), must(RelativeGap(p)), p.Class().R
	t := must(race.Trials(ctx, p, mixpolicy.PrimalDual{Modulus: phi, StepSize: mixpolicy.InverseSqrt(eta), Beta: beta}, set))
	const from = 10 // iterations
	last, average := oneRun(t, race.Iterations, from, func(theta []float64) float64 { return theta[0] / r })
	all := bandLine("θ̂ₜ", t.BandOf(race.Iterations, gap, func(x []float64) race.Interval {
		return race.Interval{Mean: stat.Mean(x, nil), Lo: floats.Min(x), Hi: floats.Max(x), N: len(x)}
	}), from)
	all.Interval = fmt.Sprintf("band: all %d runs; dashed: a gap as large as the optimum", len(t.Finished()))
	return plotting.Row(plotting.Figure{Title: "Where a run is in its class", X: queries,
		Y: plotting.Axis{Label: "θ₁/R", Min: -1.05, Max: 1.05}}.With(last, average, plotting.Rule{Label: "θ₁*/R", At: best.Theta[0] / r}),
		plotting.Figure{Title: "How far the averages are from the optimum", X: queries,
			Y: plotting.Axis{Label: "penalised gap / optimum", Log: true},
		}.With(all, plotting.Rule{At: 1, Color: plotting.Grey})), nil
}

// Paths draws a figure for each modulus: the path of its first finished trial on the hyperplane 1ᵀθ = 1. Each figure
// also shows level sets of D(θ*; ·), at the levels 4, 1, ¼, … times D(θ*; θ₀), because the proofs bound how D(θ*; θ_t)
// changes. For d = 2, the hyperplane is a line, and the figure draws the first coordinates of θ_t and θ̂_t against the
// queries. For d = 3, the hyperplane is a plane, and the figure draws the path of the average θ̂_t in the coordinates
// (θ₁, θ₂).
//
// There are no level sets if φ(θ*) is infinite, for example if φ is a barrier and the optimum is on the boundary of the
// domain.
func (m *Moduli) Paths() (plotting.Panels, error) {
	draw := map[int]func(Contender, []float64) plotting.Figure{2: onLine, 3: onPlane}[m.Problem.Dim()]
	if draw == nil {
		return plotting.Panels{}, fmt.Errorf("paper: paths of θ ∈ ℝᵈ for d = %d, want d = 2 or 3", m.Problem.Dim())
	}
	figures := mapped(m.finished(), func(c Contender) plotting.Figure { return draw(c, m.best.Theta) })
	return plotting.Row(orNone("Paths", figures...)...), nil
}

// distance returns D(θ*; θ) for θ on the hyperplane, as a function of all coordinates but the last. D(θ*; θ) is +∞
// outside the domain. The second result holds the levels to draw, or is nil if D(θ*; θ₀) is infinite.
func (c Contender) distance(best []float64) (d func(leading ...float64) float64, levels []float64) {
	d = func(leading ...float64) float64 {
		theta := append(slices.Clone(leading), 1-floats.Sum(leading))
		if v := bregman.Divergence(c.Modulus, best, theta); c.Modulus.InDomain(theta) && !math.IsNaN(v) {
			return v
		}
		return math.Inf(1)
	}
	if v := d(uniform(len(best))[1:]...); !math.IsInf(v, 1) {
		levels = []float64{4 * v, v, v / 4, v / 16, v / 64}
	}
	return d, levels
}

// onLine draws θₜ and θ̂ₜ over strips D(θ*; ·) ≤ ℓ, one for each level ℓ. Each strip is one interval, because ∂/∂s
// D(θ*; θ* + sv) = s vᵀ∇²φ(θ* + sv)v ≥ 0 for s ≥ 0. The ends of a strip are found to a thousandth of the axis.
func onLine(c Contender, best []float64) plotting.Figure {
	f := plotting.Figure{Title: c.Name, X: queries, Y: plotting.Axis{Label: "θ₁"}}
	last, average := oneRun(c.Runs, race.Queries, 0, func(theta []float64) float64 { return theta[0] })
	f.Y.Min, f.Y.Max = reach(append(last.Y, average.Y...), best[0])
	d, levels := c.distance(best)
	for _, level := range levels {
		strip := plotting.Span{From: best[0], To: best[0]}
		for _, x := range floats.Span(make([]float64, 1001), f.Y.Min, f.Y.Max) {
			if d(x) <= level {
				strip.From, strip.To = min(strip.From, x), max(strip.To, x)
			}
		}
		f.Layers = append(f.Layers, strip)
		last.Interval = "strips: D(θ*; ·) is at most 4, 1, ¼, … times D(θ*; θ₀)"
	}
	return f.With(last, average, plotting.Rule{Label: "θ₁*", At: best[0]})
}

func onPlane(c Contender, best []float64) plotting.Figure {
	path := plotting.Path{Name: "θ̂"}
	for _, l := range c.Runs.Finished()[0].Observations {
		path.X, path.Y = append(path.X, l.Theta[0]), append(path.Y, l.Theta[1])
	}
	f := plotting.Figure{Title: c.Name, Width: 5, Height: 4.6, X: plotting.Axis{Label: "θ₁"}, Y: plotting.Axis{Label: "θ₂"}}
	f.X.Min, f.X.Max = reach(path.X, best[0])
	f.Y.Min, f.Y.Max = reach(path.Y, best[1])
	if d, levels := c.distance(best); levels != nil {
		plane := plotting.Sample(func(x, y float64) float64 { return d(x, y) }, f.X.Min, f.X.Max, f.Y.Min, f.Y.Max, 61)
		// The label of a fifth contour would cover the contour.
		f.Layers = append(f.Layers, plotting.Contour{Name: "D(θ*; ·)", Grid: plane, Levels: levels[:4]})
	}
	return f.With(path, plotting.Points{Name: "θ*", X: best[:1], Y: best[1:2], Interval: "hollow: θ̂ at the start; full: θ̂ at the end"})
}

// reach returns the least range that contains all x[i] and `more`, widened at each end by a tenth of its length, or by
// 0.1 if the length is 0.
func reach(x []float64, more float64) (lo, hi float64) {
	lo, hi = min(floats.Min(x), more), max(floats.Max(x), more)
	margin := cmp.Or((hi-lo)/10, 0.1)
	return lo - margin, hi + margin
}

// Evidence shows a report of [bregman.Check]: a table of what was examined, and figures. If the report has no findings,
// the figures show the Taylor remainder, and the gradient on the way to the boundary. Otherwise, a table of the
// findings comes first, and the figures show the measured and the claimed values.
func Evidence(r *bregman.Report) (views []plotting.View) {
	in := fmt.Sprintf("%s in ℝ^%d", r.Modulus, r.Dim)
	var figures []plotting.Figure
	if len(r.Findings) > 0 {
		t := plotting.Table{Caption: "Findings on " + in, Columns: []plotting.Column{
			{Head: "verdict"}, {Head: "method"}, {Head: "finding"}, {Head: "at"}, {Head: "measured"}, {Head: "claimed"},
		}}
		for _, f := range r.Findings {
			measured, claimed := "", ""
			if !math.IsNaN(f.Measured) && !math.IsNaN(f.Claimed) {
				measured, claimed = fmt.Sprintf("%.4g", f.Measured), fmt.Sprintf("%.4g", f.Claimed)
			}
			t.Row(f.Kind, f.Method, f.Words, f.Where, measured, claimed)
			if len(f.MeasuredCurve) > 1 {
				figures = append(figures, plotting.Figure{
					Title: f.Method + ": the claimed values are not the measured ones", X: plotting.Axis{Label: f.Axis},
				}.With(curve("measured: "+f.MeasuredName, f.MeasuredCurve, false), curve("claimed: "+f.ClaimedName, f.ClaimedCurve, false)))
			}
		}
		views = append(views, t)
	}
	t := plotting.Table{Caption: in,
		Columns: []plotting.Column{{Head: "what must hold"}, {Head: "verdict"}, {Head: "error / allowed"}, {Head: "remark"}}}
	for _, e := range r.Examinations {
		t.Row(e.Name, e.Verdict(), e.Share(), strings.TrimSpace(e.Note+" "+e.Where))
	}
	views = append(views, t)
	add := func(title, x, y string, points []bregman.Point) {
		if line := curve("measured", points, true); len(line.X) > 1 && len(r.Findings) == 0 {
			figures = append(figures, plotting.Figure{
				Title: title, X: plotting.Axis{Label: x, Log: true}, Y: plotting.Axis{Label: y, Log: true}}.With(line))
		}
	}
	add("φ and its gradient agree: the Taylor remainder falls as h²", "step h", "remainder", r.Taylor)
	add("Towards the boundary, the gradient grows", "remaining part of the way", "change of the gradient", r.Boundary)
	if figures != nil {
		views = append(views, plotting.Row(figures...))
	}
	return views
}

// curve returns a line through the points; if the axes are logarithmic, it omits each point with a coordinate that is
// not positive.
func curve(name string, points []bregman.Point, log bool) plotting.Line {
	line := plotting.Line{Name: name}
	for _, p := range points {
		if !log || p.X > 0 && p.Y > 0 {
			line.X, line.Y = append(line.X, p.X), append(line.Y, p.Y)
		}
	}
	return line
}
