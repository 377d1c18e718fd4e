package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
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
	if s.Iterations == 0 {
		s.Iterations = 10_000
	}
	if s.Trials == 0 {
		s.Trials = 20
	}
	if s.TuningTrials == 0 {
		s.TuningTrials = 8
	}
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
	m := &Moduli{Problem: p, Settings: set.complete(p)}
	var err error
	m.Contenders, err = m.Settings.compete(ctx, p, families...)
	return m, err
}

// compete chooses the step size for each modulus, and runs the trials with it.
func (s ModuliSettings) compete(ctx context.Context, p *mixpolicy.Problem, families ...Family) ([]Contender, error) {
	merit, err := MeritCurve(p)
	if err != nil {
		return nil, err
	}
	var entrants []race.Entrant
	for _, f := range families {
		entrants = append(entrants, race.Entrant{Name: f.Name, Methods: race.Grid(s.Etas, func(eta float64) mixpolicy.Method { return s.method(f.At(p.Class().R), eta) })})
	}
	set := s.race()
	set.TuningTrials, set.Score, set.Progress = s.TuningTrials, merit, s.Progress
	outcomes, err := race.Run(ctx, p, entrants, set)
	var all []Contender
	for k, o := range outcomes {
		c := Contender{Family: families[k], Modulus: families[k].At(p.Class().R), Eta: math.NaN(), Trials: o.Runs, Err: o.Err}
		if err != nil && (o.Runs == nil || len(o.Runs.Trials) == 0) {
			break // ctx ended it
		}
		for _, t := range o.Tuning {
			nan := math.NaN()
			score := race.Interval{Mean: nan, Lo: nan, Hi: nan}
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
	return race.Settings{Trials: s.Trials, Iterations: s.Iterations, Seed: s.Seed, Schedule: mixpolicy.LogSpaced(12)}
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
func (m *Moduli) Table() (plotting.Table, error) {
	merit, err := MeritCurve(m.Problem)
	if err != nil {
		return plotting.Table{}, err
	}
	t := plotting.Table{Caption: fmt.Sprintf("Moduli on %v after %d queries, %d trials", m.Problem.Class(), m.Settings.Iterations, m.Settings.Trials)}
	var name, score []string
	var eta, cost, violation, boundary []float64
	for _, c := range m.Contenders {
		name, eta = append(name, c.Family.Name), append(eta, c.Eta)
		if c.Err != nil {
			nan := math.NaN()
			score, cost, violation, boundary = append(score, "failed: "+c.Err.Error()), append(cost, nan), append(violation, nan), append(boundary, nan)
			continue
		}
		iv := interval(c.Trials.Final(merit))
		text := fmt.Sprintf("%.4f [%.4f, %.4f]", iv.Mean, iv.Lo, iv.Hi)
		if failed := len(c.Trials.Failed()); failed > 0 {
			text += fmt.Sprintf(", %d trials failed", failed)
		}
		score = append(score, text)
		cost = append(cost, stat.Mean(c.Trials.Final(race.Cost), nil))
		violation = append(violation, stat.Mean(c.Trials.Final(race.Violation), nil))
		boundary = append(boundary, floats.Min(c.Trials.Final(m.room)))
	}
	t.Columns = []plotting.Column{
		{Head: "modulus", Text: name}, {Head: "η₀", Numbers: eta},
		{Head: "merit, relative", Text: score},
		{Head: "cost", Numbers: cost}, {Head: "violation", Numbers: violation, Format: "%.2e"},
		{Head: "R − ‖θ‖, least", Numbers: boundary, Format: "%.3g"},
	}
	return t, nil
}

// room is the curve of R − ‖θ_t‖, how far the iterate is from the boundary of the class.
func (m *Moduli) room(l *race.Look) float64 {
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
		f.Layers = append(f.Layers, bandLine(k.Family.Name, k.Trials.BandOf(race.Iterations, c, interval)))
	}
	return f
}

// Cost draws cᵀΨθ̂ against the queries, with the exact optimum.
func (m *Moduli) Cost() (plotting.Figure, error) {
	best, err := m.Problem.Optimum()
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
	f := plotting.Figure{
		Title: "Sensitivity to the step size",
		X:     plotting.Axis{Label: "η₀", Log: true},
		Y:     plotting.Axis{Label: "merit, relative to the optimum", Log: true},
	}
	for _, c := range m.finished() {
		line := plotting.Line{Name: c.Family.Name}
		for k, iv := range c.Scores {
			if !math.IsNaN(iv.Mean) {
				extend(&line, m.Settings.Etas[k], iv)
			}
		}
		f.Layers = append(f.Layers, line)
	}
	return f
}

// RadiusSensitivity draws the merit after all queries against the radius R of the class:
// solid with the step size chosen anew for each R, dashed with that of the problem's own R.
// The merit is relative to the optimum of the same R.
func (m *Moduli) RadiusSensitivity(ctx context.Context, radii ...float64) (plotting.Figure, error) {
	f := plotting.Figure{
		Title: "Sensitivity to the radius",
		X:     plotting.Axis{Label: "R", Log: true},
		Y:     plotting.Axis{Label: "merit, relative to the optimum", Log: true},
	}
	for i, c := range m.finished() {
		color := plotting.Blue + plotting.Color(i%6)
		tuned := plotting.Line{Name: c.Family.Name, Color: color, Dash: plotting.Solid}
		kept := plotting.Line{Color: color, Dash: plotting.Dashed}
		for _, r := range radii {
			p, err := withRadius(m.Problem, r)
			if err != nil {
				return f, err
			}
			merit, err := MeritCurve(p)
			if err != nil {
				return f, err
			}
			k := []Contender{c}
			if r != m.Problem.Class().R {
				if k, err = m.Settings.compete(ctx, p, c.Family); err != nil {
					return f, fmt.Errorf("paper: R = %g: %w", r, err)
				}
			}
			if k[0].Err == nil {
				extend(&tuned, r, interval(k[0].Trials.Final(merit)))
			}
			t, err := race.Trials(ctx, p, m.Settings.method(k[0].Modulus, c.Eta), m.Settings.race())
			if ctx.Err() != nil {
				return f, err
			}
			if err == nil { // or the line has a gap
				kept.X, kept.Y = append(kept.X, r), append(kept.Y, interval(t.Final(merit)).Mean)
			}
		}
		f.Layers = append(f.Layers, tuned, kept)
	}
	return f, nil
}

// extend appends a point with its interval.
func extend(l *plotting.Line, x float64, iv race.Interval) {
	l.X, l.Y = append(l.X, x), append(l.Y, iv.Mean)
	l.Lo, l.Hi = append(l.Lo, iv.Lo), append(l.Hi, iv.Hi)
}
