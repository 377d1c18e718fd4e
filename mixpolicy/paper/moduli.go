package paper

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
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
}

// Contender is a modulus with what its runs came to.
type Contender struct {
	Family  Family
	Modulus bregman.Modulus      // that of the problem's R
	Eta     float64              // the η₀ chosen
	Scores  []mixpolicy.Interval // merit relative to |f*| for each η₀ of the grid; tuning trials
	Trials  *mixpolicy.Trials    // with η₀
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
// The error names a modulus whose domain does not meet the hyperplane, or whose runs fail.
func CompareModuli(ctx context.Context, p *mixpolicy.Problem, set ModuliSettings, families ...Family) (*Moduli, error) {
	if len(families) == 0 {
		return nil, errors.New("paper: no modulus to compare, want at least one")
	}
	m := &Moduli{Problem: p, Settings: set.complete(p)}
	for _, f := range families {
		c, err := m.Settings.compete(ctx, p, f)
		if err != nil {
			return m, err
		}
		m.Contenders = append(m.Contenders, c)
	}
	return m, nil
}

// compete chooses the step size for a modulus, and runs the trials with it.
func (s ModuliSettings) compete(ctx context.Context, p *mixpolicy.Problem, f Family) (Contender, error) {
	c := Contender{Family: f, Modulus: f.At(p.Class().R)}
	merit, err := MeritCurve(p)
	if err != nil {
		return c, err
	}
	if err := bregman.Validate(c.Modulus, p.Dim()); err != nil {
		return c, fmt.Errorf("paper: modulus %s: %w", f.Name, err)
	}
	best := math.Inf(1)
	for _, eta := range s.Etas {
		t, err := s.run(ctx, p, c.Modulus, eta, s.TuningTrials, s.Seed+1)
		if err != nil {
			return c, fmt.Errorf("paper: modulus %s, η₀ = %g: %w", f.Name, eta, err)
		}
		score := interval(t.Final(merit))
		c.Scores = append(c.Scores, score)
		if score.Mean < best {
			best, c.Eta = score.Mean, eta
		}
	}
	c.Trials, err = s.run(ctx, p, c.Modulus, c.Eta, s.Trials, s.Seed)
	if err != nil {
		return c, fmt.Errorf("paper: modulus %s: %w", f.Name, err)
	}
	return c, nil
}

func (s ModuliSettings) run(ctx context.Context, p *mixpolicy.Problem, phi bregman.Modulus, eta float64, trials int, seed uint64) (*mixpolicy.Trials, error) {
	return mixpolicy.RunTrials(ctx, p, mixpolicy.PrimalDual{Modulus: phi, StepSize: mixpolicy.InverseSqrt(eta), CostScale: s.CostScale}, mixpolicy.TrialSettings{
		Trials: trials, Iterations: s.Iterations, Seed: seed, Schedule: mixpolicy.LogSpaced(12),
	})
}

// interval is a bootstrap interval: merits are skewed and not negative, and Student's
// interval of a few may reach below 0.
func interval(x []float64) mixpolicy.Interval { return mixpolicy.BootstrapInterval(x, confidence, 1) }

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
		iv := interval(c.Trials.Final(merit))
		name, eta = append(name, c.Family.Name), append(eta, c.Eta)
		score = append(score, fmt.Sprintf("%.4f [%.4f, %.4f]", iv.Mean, iv.Lo, iv.Hi))
		cost = append(cost, stat.Mean(c.Trials.Final(mixpolicy.CostCurve), nil))
		violation = append(violation, stat.Mean(c.Trials.Final(mixpolicy.ViolationCurve), nil))
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
func (m *Moduli) room(h *mixpolicy.History) []float64 {
	class := m.Problem.Class()
	y := make([]float64, len(h.Last))
	for k, theta := range h.Last {
		y[k] = class.R - class.Size(theta)
	}
	return y
}

// curves draws the mean over trials with its interval against the queries.
func (m *Moduli) curves(title, label string, c mixpolicy.Curve) plotting.Figure {
	f := plotting.Figure{Title: title, X: plotting.Axis{Label: "queries to the oracle", Log: true}, Y: plotting.Axis{Label: label}}
	for _, k := range m.Contenders {
		line := plotting.Line{Name: k.Family.Name}
		curves := make([][]float64, len(k.Trials.Runs))
		for i, h := range k.Trials.Runs {
			curves[i] = c(h)
		}
		for t, at := range k.Trials.Iteration {
			if at == 0 { // no place on a logarithmic axis
				continue
			}
			now := make([]float64, len(curves))
			for i := range curves {
				now[i] = curves[i][t]
			}
			extend(&line, float64(at), interval(now))
		}
		f.Layers = append(f.Layers, line)
	}
	return f
}

// Cost draws cᵀΨθ̂ against the queries, with the exact optimum.
func (m *Moduli) Cost() (plotting.Figure, error) {
	best, err := m.Problem.Optimum()
	if err != nil {
		return plotting.Figure{}, err
	}
	return m.curves("Cost", "cᵀΨθ̂", mixpolicy.CostCurve).With(plotting.Rule{Label: "optimum", At: best.Objective}), nil
}

// Violation draws ½‖[Ψθ̂]₋‖₂ against the queries.
func (m *Moduli) Violation() plotting.Figure {
	return m.curves("Constraint violation", "½‖[Ψθ̂]₋‖₂", mixpolicy.ViolationCurve)
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
	for _, c := range m.Contenders {
		line := plotting.Line{Name: c.Family.Name}
		for k, iv := range c.Scores {
			extend(&line, m.Settings.Etas[k], iv)
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
	for i, c := range m.Contenders {
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
			k := c
			if r != m.Problem.Class().R {
				if k, err = m.Settings.compete(ctx, p, c.Family); err != nil {
					return f, fmt.Errorf("paper: R = %g: %w", r, err)
				}
			}
			extend(&tuned, r, interval(k.Trials.Final(merit)))
			t, err := m.Settings.run(ctx, p, k.Modulus, c.Eta, m.Settings.Trials, m.Settings.Seed)
			if err != nil {
				return f, fmt.Errorf("paper: modulus %s, R = %g: %w", c.Family.Name, r, err)
			}
			kept.X, kept.Y = append(kept.X, r), append(kept.Y, interval(t.Final(merit)).Mean)
		}
		f.Layers = append(f.Layers, tuned, kept)
	}
	return f, nil
}

// extend appends a point with its interval.
func extend(l *plotting.Line, x float64, iv mixpolicy.Interval) {
	l.X, l.Y = append(l.X, x), append(l.Y, iv.Mean)
	l.Lo, l.Hi = append(l.Lo, iv.Lo), append(l.Hi, iv.Hi)
}
