package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Family is a modulus for each radius R of the policy class, such as
//
//	Family{"cube", func(R float64) bregman.Modulus { return bregman.Cube(R) }}
//
// Its name is for tables and legends.
type Family struct {
	Name string
	At   func(R float64) bregman.Modulus
}

// Moduli compares Bregman moduli in Algorithm 1 on one problem: equal samples, the same
// seeds, and the step size of each chosen from one grid by trials that are not used again.
// It is how the remark after Theorem 3.4, that the geometry of the policy class matters
// through ‖Ψ‖_{*,2}, can be put to the test for any modulus.
type Moduli struct {
	Problem    *mixpolicy.Problem
	Settings   ModuliSettings
	Contenders []Contender
}

// ModuliSettings say how much work a comparison is; zeros give what is said.
type ModuliSettings struct {
	Iterations   int       // T; 10,000
	Trials       int       // 20
	TuningTrials int       // 8
	Etas         []float64 // the grid of η₀ for η_t = η₀/√(t+1); 2⁻⁴, 2⁻², …, 2⁸
	CostScale    float64   // max |c|
	Seed         uint64
	Progress     func(name string, done, total int) // that of [race.Settings]
}

// Contender is a modulus with what its runs came to.
type Contender struct {
	Family  Family
	Modulus bregman.Modulus // that of the problem's R
	Eta     float64         // the η₀ chosen; NaN if runs fail with every one
	Scores  []race.Interval // merit relative to |f*| for each η₀ of the grid; tuning trials. NaN where some fail
	Trials  *race.Runs      // with η₀; nil if there is none
	Err     error           // why there are no trials, such as a domain that does not meet the hyperplane
}

func (s ModuliSettings) complete(p *mixpolicy.Problem) ModuliSettings {
	s.Iterations, s.Trials, s.TuningTrials = cmp.Or(s.Iterations, 10_000), cmp.Or(s.Trials, 20), cmp.Or(s.TuningTrials, 8)
	if s.Etas == nil {
		s.Etas = powers(0x1p-4, 4, 7)
	}
	if s.CostScale == 0 {
		lo, hi := p.MDP().CostRange()
		s.CostScale = max(math.Abs(lo), math.Abs(hi))
	}
	return s
}

// CompareModuli runs the comparison, with the moduli of the radius of the problem's class.
// A modulus whose runs fail says so, and the others run; the error is for bad settings, and
// for the end of ctx, when the moduli that have finished are returned with it.
func CompareModuli(ctx context.Context, p *mixpolicy.Problem, set ModuliSettings, families ...Family) (*Moduli, error) {
	set = set.complete(p)
	all, err := set.compete(ctx, p, families...)
	return &Moduli{Problem: p, Settings: set, Contenders: all}, err
}

// compete chooses the step size for each modulus, and runs the trials with it.
func (s ModuliSettings) compete(ctx context.Context, p *mixpolicy.Problem, families ...Family) (all []Contender, err error) {
	defer catch(&err)
	merit := must(MeritCurve(p))
	var entrants []race.Entrant
	for _, f := range families {
		entrants = append(entrants, race.Entrant{Name: f.Name, Methods: race.Grid(s.Etas, func(eta float64) mixpolicy.Method { return s.method(f.At(p.Class().R), eta) })})
	}
	set := s.race()
	set.TuningTrials, set.Score = s.TuningTrials, merit
	outcomes, err := race.Run(ctx, p, entrants, set)
	for k, o := range outcomes {
		c := Contender{Family: families[k], Modulus: families[k].At(p.Class().R), Eta: math.NaN(), Trials: o.Runs, Err: o.Err}
		if err != nil && (o.Runs == nil || len(o.Runs.Trials) == 0) {
			break // ctx ended it
		}
		for _, t := range o.Tuning {
			score := race.Interval{Mean: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
			if t.Scores != nil {
				score = interval(t.Scores)
			}
			c.Scores = append(c.Scores, score)
		}
		if c.Err == nil {
			c.Eta = s.Etas[o.Chosen]
		}
		all = append(all, c)
	}
	return all, err
}

func (s ModuliSettings) method(phi bregman.Modulus, eta float64) mixpolicy.Method {
	return mixpolicy.PrimalDual{Modulus: phi, StepSize: mixpolicy.InverseSqrt(eta), CostScale: s.CostScale}
}

// race has the settings of the trials.
func (s ModuliSettings) race() race.Settings {
	return race.Settings{Trials: s.Trials, Iterations: s.Iterations, Seed: s.Seed, Schedule: mixpolicy.LogSpaced(12), Progress: s.Progress}
}

// interval is a bootstrap interval: merits are skewed and not negative, and Student's
// interval of a few may reach below 0.
func interval(x []float64) race.Interval { return race.BootstrapInterval(x, confidence, 1) }

// withRadius is the problem in a class of the same norm and another radius.
func withRadius(p *mixpolicy.Problem, r float64) (*mixpolicy.Problem, error) {
	class := p.Class()
	class.R = r
	return mixpolicy.NewProblem(p.Features(), class)
}

// Table lists, for each modulus, the η₀ chosen and what the trials came to.
func (m *Moduli) Table() (t plotting.Table, err error) {
	defer catch(&err)
	merit := must(MeritCurve(m.Problem))
	t.Caption = fmt.Sprintf("Moduli on %v after %d queries, %d trials", m.Problem.Class(), m.Settings.Iterations, m.Settings.Trials)
	t.Columns = []plotting.Column{
		{Head: "modulus"}, {Head: "η₀"}, {Head: "merit, relative"}, {Head: "cost"}, {Head: "violation", Format: "%.2e"}, {Head: "R − ‖θ‖, least", Format: "%.3g"},
	}
	for _, c := range m.Contenders {
		if c.Err != nil {
			t.Row(c.Family.Name, c.Eta, "failed: "+c.Err.Error(), math.NaN(), math.NaN(), math.NaN())
			continue
		}
		iv := interval(c.Trials.Final(merit))
		text := fmt.Sprintf("%.4f [%.4f, %.4f]", iv.Mean, iv.Lo, iv.Hi)
		if failed := len(c.Trials.Failed()); failed > 0 {
			text += fmt.Sprintf(", %d trials failed", failed)
		}
		t.Row(c.Family.Name, c.Eta, text, stat.Mean(c.Trials.Final(race.Cost), nil),
			stat.Mean(c.Trials.Final(race.Violation), nil), floats.Min(c.Trials.Final(m.room)))
	}
	return t, nil
}

// room is the curve of R − ‖θ_t‖, how far the iterate is from the boundary of the class.
func (m *Moduli) room(l *race.Observation) float64 {
	class := m.Problem.Class()
	return class.R - class.Size(l.Last)
}

// finished are the moduli that have trials.
func (m *Moduli) finished() []Contender {
	return slices.DeleteFunc(slices.Clone(m.Contenders), func(c Contender) bool { return c.Err != nil })
}

// curves draws the mean over trials with its interval against the queries.
func (m *Moduli) curves(title, label string, c race.Curve) plotting.Figure {
	f := plotting.Figure{Title: title, X: plotting.Axis{Label: "queries to the oracle", Log: true}, Y: plotting.Axis{Label: label}}
	for _, k := range m.finished() {
		f.Layers = append(f.Layers, bandLine(k.Family.Name, k.Trials.BandOf(race.Iterations, c, interval), 0))
	}
	return f
}

// Cost draws cᵀΨθ̂ against the queries, with the exact optimum.
func (m *Moduli) Cost() (plotting.Figure, error) {
	best, err := m.Problem.Optimum(context.Background())
	if err != nil {
		return plotting.Figure{}, err
	}
	return m.curves("Cost", "cᵀΨθ̂", race.Cost).With(plotting.Rule{Label: "optimum", At: best.Objective}), nil
}

// Violation draws ½‖[Ψθ̂]₋‖₂ against the queries.
func (m *Moduli) Violation() plotting.Figure {
	return m.curves("Constraint violation", "½‖[Ψθ̂]₋‖₂", race.Violation)
}

// Boundary draws how far the iterates θ_t keep from the boundary of the class.
func (m *Moduli) Boundary() plotting.Figure {
	return m.curves("Distance to the boundary", "R − ‖θₜ‖", m.room)
}

// Sensitivity draws the merit after all queries against η₀.
func (m *Moduli) Sensitivity() plotting.Figure {
	f := sensitivity("Sensitivity to the step size", "η₀")
	for _, c := range m.finished() {
		var scores race.Record
		for k, iv := range c.Scores {
			if !math.IsNaN(iv.Mean) {
				scores = append(scores, iv.Row(race.Row{At: m.Settings.Etas[k]}))
			}
		}
		f.Layers = append(f.Layers, line(c.Family.Name, scores))
	}
	return f
}

func sensitivity(title, label string) plotting.Figure {
	return plotting.Figure{Title: title, X: plotting.Axis{Label: label, Log: true}, Y: plotting.Axis{Label: "merit, relative to the optimum", Log: true}}
}

// RadiusSensitivity draws the merit after all queries against the radius R of the class:
// solid with the step size chosen anew for each R, dashed with that of the problem's own R.
// The merit is relative to the optimum of the same R.
func (m *Moduli) RadiusSensitivity(ctx context.Context, radii ...float64) (f plotting.Figure, err error) {
	defer catch(&err)
	f = sensitivity("Sensitivity to the radius", "R")
	for i, c := range m.finished() {
		var tuned, kept race.Record
		for _, r := range radii {
			p := must(withRadius(m.Problem, r))
			merit := must(MeritCurve(p))
			k := []Contender{c}
			if r != m.Problem.Class().R {
				if k, err = m.Settings.compete(ctx, p, c.Family); err != nil {
					return f, fault.At("paper", fmt.Sprintf("R = %g", r), err)
				}
			}
			if k[0].Err == nil {
				tuned = append(tuned, interval(k[0].Trials.Final(merit)).Row(race.Row{At: r}))
			}
			t, err := race.Trials(ctx, p, m.Settings.method(k[0].Modulus, c.Eta), m.Settings.race())
			if ctx.Err() != nil {
				return f, err
			}
			if err == nil { // or the line has a gap
				kept = append(kept, race.Row{At: r, Value: stat.Mean(t.Final(merit), nil)})
			}
		}
		solid, dashed := line(c.Family.Name, tuned), line("", kept)
		solid.Color, solid.Dash = plotting.Blue+plotting.Color(i%6), plotting.Solid
		dashed.Color, dashed.Dash = solid.Color, plotting.Dashed
		f.Layers = append(f.Layers, solid, dashed)
	}
	return f, nil
}

// oneRun draws θₜ and θ̂ₜ of the first trial, each as a number of a θ.
func oneRun(t *race.Runs, at race.Curve, from float64, number func(theta []float64) float64) (last, average plotting.Line) {
	one := &race.Runs{Trials: t.Finished()[:1]}
	last = bandLine("θₜ", one.Band(at, func(l *race.Observation) float64 { return number(l.Last) }, confidence), from)
	average = bandLine("θ̂ₜ", one.Band(at, func(l *race.Observation) float64 { return number(l.Theta) }, confidence), from)
	last.Color, last.Dash = plotting.Grey, plotting.Solid
	return last, average
}

// Exploration is a grid of runs of Algorithm 1, for a reader to wander about. Zeros give what
// is said.
type Exploration struct {
	Radii      []float64 // R of the class; 1, 2, 8
	Etas       []float64 // η₀ of η_t = η₀/√(t+1); 1, 4, 16, 64, 256
	Betas      []float64 // β, the radius of the ball of λ; T^{1/8}, T^{1/4}, T^{3/8}, T^{1/2}
	Iterations int       // T; 10,000
	Trials     int       // 6
	CostScale  float64   // max |c|
	Seed       uint64
	Progress   func(name string, done, total int) // is told which combination runs
}

func (e Exploration) complete(p *mixpolicy.Problem) Exploration {
	s := ModuliSettings{Iterations: e.Iterations, CostScale: e.CostScale}.complete(p)
	e.Iterations, e.CostScale, e.Trials = s.Iterations, s.CostScale, cmp.Or(e.Trials, 6)
	if e.Radii == nil {
		e.Radii = []float64{1, 2, 8}
	}
	if e.Etas == nil {
		e.Etas = powers(1, 4, 5)
	}
	if e.Betas == nil {
		e.Betas = powers(math.Pow(float64(e.Iterations), 1./8), math.Pow(float64(e.Iterations), 1./8), 4)
	}
	return e
}

// Explore runs Algorithm 1 for each combination of R, η₀, β and modulus, and returns the
// sliders over them. The left figure tells where one run is in its class, θ₁/R; the right one
// how good the averages are, by the mean over trials, with all of them within the band.
func Explore(ctx context.Context, p *mixpolicy.Problem, e Exploration, families ...Family) (x plotting.Explorer, err error) {
	defer catch(&err)
	e = e.complete(p)
	var frames []plotting.Panels
	for _, r := range e.Radii {
		q := must(withRadius(p, r))
		for _, eta := range e.Etas {
			for _, beta := range e.Betas {
				for _, f := range families {
					frame, err := e.frame(ctx, q, eta, beta, f)
					if err != nil {
						return x, fault.At("paper", fmt.Sprintf("modulus %s, R = %g, η₀ = %g, β = %.3g", f.Name, r, eta, beta), err)
					}
					if frames = append(frames, frame); e.Progress != nil {
						e.Progress(f.Name, len(frames), len(e.Radii)*len(e.Etas)*len(e.Betas)*len(families))
					}
				}
			}
		}
	}
	moduli := plotting.Control{Label: "modulus", Menu: true}
	for _, f := range families {
		moduli.Values = append(moduli.Values, f.Name)
	}
	controls := []plotting.Control{slider("R", e.Radii), slider("η₀", e.Etas), slider("β", e.Betas), moduli}
	return plotting.Explorer{
		Controls: controls,
		Frame: func(at []int) plotting.Panels {
			k := 0
			for i, c := range controls {
				k = k*len(c.Values) + at[i]
			}
			return frames[k]
		},
	}, nil
}

// slider starts in the middle.
func slider(label string, values []float64) plotting.Control {
	c := plotting.Control{Label: label, Start: len(values) / 2}
	for _, v := range values {
		c.Values = append(c.Values, strconv.FormatFloat(v, 'g', 3, 64))
	}
	return c
}

func (e Exploration) frame(ctx context.Context, p *mixpolicy.Problem, eta, beta float64, f Family) (frame plotting.Panels, err error) {
	defer catch(&err)
	best, merit, r := must(p.Optimum(ctx)), must(MeritCurve(p)), p.Class().R
	method := mixpolicy.PrimalDual{Modulus: f.At(r), StepSize: mixpolicy.InverseSqrt(eta), Beta: beta, CostScale: e.CostScale}
	t := must(race.Trials(ctx, p, method, race.Settings{Trials: e.Trials, Iterations: e.Iterations, Seed: e.Seed, Schedule: mixpolicy.LogSpaced(6)}))
	const from = 10 // iterations
	last, average := oneRun(t, race.Iterations, from, func(theta []float64) float64 { return theta[0] / r })
	all := bandLine("θ̂ₜ", t.BandOf(race.Iterations, merit, func(x []float64) race.Interval {
		return race.Interval{Mean: stat.Mean(x, nil), Lo: floats.Min(x), Hi: floats.Max(x), N: len(x)}
	}), from)
	queries := plotting.Axis{Label: "queries to the oracle", Log: true}
	return plotting.Row(
		plotting.Figure{
			Title: "Where a run is in its class", X: queries,
			Y: plotting.Axis{Label: "θ₁/R", Min: -1.05, Max: 1.05},
		}.With(last, average, plotting.Rule{Label: "θ₁*/R", At: best.Theta[0] / r}),
		plotting.Figure{
			Title: "How far it is from the optimum", X: queries,
			Y: plotting.Axis{Label: "merit, relative to the optimum", Log: true},
		}.With(all, plotting.Rule{Label: "as much as the optimum", At: 1}),
	), nil
}

// Paths draws the first trial of each modulus on the hyperplane 1ᵀθ = 1, with the level sets
// of D(θ*; ·), the distance to the optimum that the proofs follow, at that of θ₀ times 4, 1,
// ¼, …: one figure for each modulus. For d = 2 the hyperplane is a line, and θ₁ is drawn against the queries; for d = 3
// it is a plane, in the coordinates (θ₁, θ₂), and the path is that of the average θ̂.
//
// There are no level sets where φ(θ*) is infinite: where the optimum is on the boundary of
// the domain, and φ a barrier.
func (m *Moduli) Paths() (plotting.Panels, error) {
	draw := map[int]func(Contender, []float64) plotting.Figure{2: onLine, 3: onPlane}[m.Problem.Dim()]
	if draw == nil {
		return plotting.Panels{}, fmt.Errorf("paper: paths on the hyperplane for d = %d, want d = 2 or 3", m.Problem.Dim())
	}
	best, err := m.Problem.Optimum(context.Background())
	if err != nil {
		return plotting.Panels{}, err
	}
	var figures []plotting.Figure
	for _, c := range m.finished() {
		figures = append(figures, draw(c, best.Theta))
	}
	return plotting.Row(figures...), nil
}

// distance is D(θ*; ·) for the leading coordinates of a θ on the hyperplane, +∞ outside of
// the domain.
func (c Contender) distance(best []float64) func(leading ...float64) float64 {
	return func(leading ...float64) float64 {
		theta := append(append([]float64(nil), leading...), 1-floats.Sum(leading))
		if !c.Modulus.InDomain(theta) {
			return math.Inf(1)
		}
		d := bregman.Divergence(c.Modulus, best, theta)
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		return d
	}
}

// levels are the levels drawn, the distance of θ₀ among them.
func levels(start float64) []float64 {
	return []float64{4 * start, start, start / 4, start / 16, start / 64}
}

// onLine draws θₜ and θ̂ₜ over strips D(θ*; ·) ≤ ℓ, a strip for each level.
func onLine(c Contender, best []float64) plotting.Figure {
	f := plotting.Figure{
		Title: c.Family.Name,
		X:     plotting.Axis{Label: "queries to the oracle", Log: true}, Y: plotting.Axis{Label: "θ₁"},
	}
	last, average := oneRun(c.Trials, race.Queries, 0, func(theta []float64) float64 { return theta[0] })
	y := reach(append(last.Y, average.Y...), best[0])
	f.Y.Min, f.Y.Max = y[0], y[1]
	d := c.distance(best)
	if start := d(c.Trials.Finished()[0].Observations[0].Theta[0]); !math.IsInf(start, 1) {
		for _, level := range levels(start) {
			f.Layers = append(f.Layers, plotting.Span{From: edge(d, best[0], y[0], level), To: edge(d, best[0], y[1], level)})
		}
	}
	return f.With(last, average, plotting.Rule{Label: "θ₁*", At: best[0]})
}

// edge returns the point between the optimum and the end up to which d ≤ level. It is one
// point, for φ is convex:
//
//	∂/∂s D(θ*; θ* + sv) = s vᵀ∇²φ(θ* + sv)v ≥ 0.
func edge(d func(...float64) float64, best, end, level float64) float64 {
	if d(end) <= level {
		return end
	}
	in, out := best, end
	for range 30 { // to 10⁻⁹ of the way, far less than a pixel
		if mid := (in + out) / 2; d(mid) <= level {
			in = mid
		} else {
			out = mid
		}
	}
	return in
}

func onPlane(c Contender, best []float64) plotting.Figure {
	path := plotting.Path{Name: "θ̂"}
	for _, l := range c.Trials.Finished()[0].Observations {
		path.X, path.Y = append(path.X, l.Theta[0]), append(path.Y, l.Theta[1])
	}
	x, y := reach(path.X, best[0]), reach(path.Y, best[1])
	f := plotting.Figure{
		Title: c.Family.Name, Width: 5, Height: 4.6,
		X: plotting.Axis{Label: "θ₁", Min: x[0], Max: x[1]}, Y: plotting.Axis{Label: "θ₂", Min: y[0], Max: y[1]},
	}
	d := c.distance(best)
	if start := d(path.X[0], path.Y[0]); !math.IsInf(start, 1) {
		plane := plotting.Sample(func(x, y float64) float64 { return d(x, y) }, x[0], x[1], y[0], y[1], 61)
		f.Layers = append(f.Layers, plotting.Contour{Name: "D(θ*; ·)", Grid: plane, Levels: levels(start)})
	}
	return f.With(path, plotting.Points{Name: "θ*", X: best[:1], Y: best[1:2]})
}

// reach is the range of values and one more, widened by a tenth.
func reach(x []float64, more float64) [2]float64 {
	lo, hi := min(floats.Min(x), more), max(floats.Max(x), more)
	margin := (hi - lo) / 10
	if margin == 0 {
		margin = 0.1
	}
	return [2]float64{lo - margin, hi + margin}
}
