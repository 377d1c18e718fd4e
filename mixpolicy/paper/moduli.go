package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/plotting"
)

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
	TuningTrials int       // 4
	Etas         []float64 // the grid of η₀ for η_t = η₀/√(t+1); 2⁻⁴, 2⁻², …, 2⁸
	CostScale    float64   // max |c|
	Seed         uint64
}

// Contender is a modulus with what its runs came to.
type Contender struct {
	Modulus bregman.Modulus
	Name    string
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
		s.TuningTrials = 4
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

// CompareModuli runs the comparison. The error names a modulus whose domain does not meet
// the hyperplane, or whose runs all fail.
func CompareModuli(ctx context.Context, p *mixpolicy.Problem, set ModuliSettings, moduli ...bregman.Modulus) (*Moduli, error) {
	if len(moduli) == 0 {
		return nil, errors.New("paper: no modulus to compare, want at least one")
	}
	m := &Moduli{Problem: p, Settings: set.complete(p)}
	for _, phi := range moduli {
		c := Contender{Modulus: phi, Name: fmt.Sprint(phi)}
		if err := bregman.Validate(phi, p.Dim()); err != nil {
			return m, fmt.Errorf("paper: modulus %s: %w", c.Name, err)
		}
		best := math.Inf(1)
		for _, eta := range m.Settings.Etas {
			score, _, err := m.run(ctx, phi, eta, m.Settings.TuningTrials, m.Settings.Seed+1)
			if err != nil {
				return m, fmt.Errorf("paper: modulus %s, η₀ = %g: %w", c.Name, eta, err)
			}
			c.Scores = append(c.Scores, score)
			if score.Mean < best {
				best, c.Eta = score.Mean, eta
			}
		}
		var err error
		if _, c.Trials, err = m.run(ctx, phi, c.Eta, m.Settings.Trials, m.Settings.Seed); err != nil {
			return m, fmt.Errorf("paper: modulus %s: %w", c.Name, err)
		}
		m.Contenders = append(m.Contenders, c)
	}
	return m, nil
}

// run makes trials, and returns the interval of their relative merit.
func (m *Moduli) run(ctx context.Context, phi bregman.Modulus, eta float64, trials int, seed uint64) (mixpolicy.Interval, *mixpolicy.Trials, error) {
	t, err := mixpolicy.RunTrials(ctx, m.Problem, func() mixpolicy.Method {
		return &mixpolicy.PrimalDual{Modulus: phi, StepSize: mixpolicy.InverseSqrt(eta), CostScale: m.Settings.CostScale}
	}, mixpolicy.TrialSettings{
		Trials: trials, Iterations: m.Settings.Iterations, Seed: seed, Schedule: mixpolicy.LogSpaced(12),
	})
	if err != nil {
		return mixpolicy.Interval{}, nil, err
	}
	merit, err := MeritCurve(m.Problem)
	if err != nil {
		return mixpolicy.Interval{}, nil, err
	}
	return mixpolicy.TInterval(t.Final(merit), confidence), t, nil
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
		iv := mixpolicy.TInterval(c.Trials.Final(merit), confidence)
		name, eta = append(name, c.Name), append(eta, c.Eta)
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

func (m *Moduli) curves(title, label string, c mixpolicy.Curve) plotting.Figure {
	f := plotting.Figure{Title: title, X: plotting.Axis{Label: "queries to the oracle", Log: true}, Y: plotting.Axis{Label: label}}
	for _, k := range m.Contenders {
		f.Layers = append(f.Layers, BandLine(k.Name, k.Trials, c))
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
	return m.curves("Distance to the boundary", "R − ‖θ_t‖", m.room)
}

// Sensitivity draws the merit after all queries against η₀.
func (m *Moduli) Sensitivity() plotting.Figure {
	f := plotting.Figure{
		Title: "Sensitivity to the step size",
		X:     plotting.Axis{Label: "η₀", Log: true},
		Y:     plotting.Axis{Label: "merit, relative to the optimum", Log: true},
	}
	for _, c := range m.Contenders {
		line := plotting.Line{Name: c.Name, X: m.Settings.Etas}
		for _, iv := range c.Scores {
			line.Y = append(line.Y, iv.Mean)
		}
		f.Layers = append(f.Layers, line)
	}
	return f
}

// Paths draws, for three base policies, the running average of the first trial of each
// modulus in the plane of (θ₁, θ₂), with the level sets of its divergence from the optimum
// where that is inside of its domain: one figure for each modulus.
func (m *Moduli) Paths() (plotting.Panels, error) {
	if m.Problem.Dim() != 3 {
		return plotting.Panels{}, fmt.Errorf("paper: paths on the hyperplane for d = %d, want d = 3", m.Problem.Dim())
	}
	best, err := m.Problem.Optimum()
	if err != nil {
		return plotting.Panels{}, err
	}
	var figures []plotting.Figure
	for _, c := range m.Contenders {
		h := c.Trials.Runs[0]
		path := plotting.Path{Name: "θ̂", X: h.Coordinate(0), Y: h.Coordinate(1)}
		lo, hi := reach(path.X, best.Theta[0]), reach(path.Y, best.Theta[1])
		f := plotting.Figure{
			Title: c.Name, Width: 5, Height: 4.6,
			X: plotting.Axis{Label: "θ₁", Min: lo[0], Max: lo[1]}, Y: plotting.Axis{Label: "θ₂", Min: hi[0], Max: hi[1]},
		}
		if c.Modulus.InDomain(best.Theta) {
			d := func(x, y float64) float64 {
				theta := []float64{x, y, 1 - x - y}
				if !c.Modulus.InDomain(theta) {
					return math.Inf(1)
				}
				return bregman.Divergence(c.Modulus, theta, best.Theta)
			}
			f.Layers = append(f.Layers, plotting.Contour{Grid: plotting.Sample(d, lo[0], lo[1], hi[0], hi[1], 61)})
		}
		f.Layers = append(f.Layers, path, plotting.Points{Name: "optimum", X: best.Theta[:1], Y: best.Theta[1:2]})
		figures = append(figures, f)
	}
	return plotting.Row(figures...), nil
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

// Evidence shows a report of [bregman.Check]: a table of its findings, and its two pictures,
// the Taylor remainder and the way to the boundary.
func Evidence(r *bregman.Report) []plotting.View {
	var name, verdict, worst, remark []string
	for _, f := range r.Findings {
		name = append(name, f.Name)
		v, w := "holds", ""
		switch {
		case !f.OK:
			v = "FAILS"
		case f.Limit == 0:
			v = "–"
		}
		if f.Limit != 0 {
			w = fmt.Sprintf("%.1e of %.1e", f.Worst, f.Limit)
		}
		verdict, worst = append(verdict, v), append(worst, w)
		if f.Where != "" {
			f.Note = strings.TrimSpace(f.Note + " " + f.Where)
		}
		remark = append(remark, f.Note)
	}
	views := []plotting.View{plotting.Table{
		Caption: fmt.Sprintf("%s in ℝ^%d", r.Modulus, r.Dim),
		Columns: []plotting.Column{
			{Head: "what must hold", Text: name}, {Head: "", Text: verdict}, {Head: "worst case", Text: worst}, {Head: "remark", Text: remark},
		},
	}}
	var figures []plotting.Figure
	for _, f := range []struct {
		title, x, y string
		points      []bregman.Point
	}{
		{"Taylor remainder of φ: slope 2", "step h", "remainder", r.Taylor},
		{"On the way to the boundary", "what is left of the way", "change of the gradient", r.Boundary},
	} {
		line := plotting.Line{Name: "measured"}
		for _, p := range f.points {
			if p.X > 0 && p.Y > 0 { // the axes are logarithmic
				line.X, line.Y = append(line.X, p.X), append(line.Y, p.Y)
			}
		}
		if len(line.X) > 1 {
			figures = append(figures, plotting.Figure{
				Title: f.title, X: plotting.Axis{Label: f.x, Log: true}, Y: plotting.Axis{Label: f.y, Log: true},
			}.With(line))
		}
	}
	if figures != nil {
		views = append(views, plotting.Row(figures...))
	}
	return views
}
