package mixpolicy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

var (
	_ Method = Penalty{}
	_ Run    = (*penalty)(nil)
)

// Penalty is the method of Banijamali, Abbasi-Yadkori, Ghavamzadeh and Vlassis
// (2018), against which section 6 compares: stochastic subgradient descent on
//
//	f_ω(θ) = cᵀΨθ + ω ‖[Ψθ]₋‖₁,
//
// which is (4.14) for features that are occupation measures, with an exact Euclidean
// projection onto Θ_R ∩ Θ₂ after each step. With (s,a) ~ q the subgradient is
//
//	ĝ = (c_a(s) − ω 1{Ψ_a(s)θ < 0}) Ψ_a(s) / q_a(s).
//
// The answer is the average of the iterates, weighted by η. Section 6 has η = 1/T = 0.001 and
// R = 100, and does not say what ω is; the bound it quotes from the source, with
// (ω + 6/(ω(1−γ)))‖[Ψθ]₋‖₁ + O(1/ω), leaves it to be chosen.
//
// Source: Banijamali, Abbasi-Yadkori, Ghavamzadeh and Vlassis, AISTATS 2019 (arXiv 1802.09646).
//
// Deviations:
//   - The source was not at hand: this is section 4's account of it.
//   - The projection is a closed form ([linprog.Norm.Project]); the paper calls a convex solver
//     for the same point.
//   - Without a setting η is 1/√t and the mean is weighted by it, so that one run answers for
//     every T; section 6 has η = 1/T.
type Penalty struct {
	// Weight is ω, in units of the scaled cost; 0 is 1.
	Weight float64
	// StepSize is η; nil is InverseSqrt(1).
	StepSize StepSize
	// CostScale divides every observed cost; 0 is c_max = max |c|, 1 the method as it is
	// printed. Compare [PrimalDual].
	CostScale float64
	// Theta0 is θ₀; nil is (1/d, …, 1/d).
	Theta0 []float64
}

// Name implements [Method].
func (a Penalty) Name() string { return "penalty" }

// String lists the settings that are not left to their defaults.
func (a Penalty) String() string {
	return describe(a.Name(), "ω = %v", a.Weight, "%v", a.StepSize, "scale of costs %v", a.CostScale)
}

// penalty is a run of [Penalty].
type penalty struct {
	Penalty // with the defaults filled in

	p       *Problem
	oracle  *Oracle
	t       int
	theta   []float64
	row     []float64
	average average // θ̂
}

// Start implements [Method]. Errors: parameters out of range.
func (a Penalty) Start(p *Problem, o *Oracle) (_ Run, err error) {
	if a.Weight == 0 {
		a.Weight = 1
	}
	if !(a.Weight > 0) || math.IsInf(a.Weight, 1) {
		return nil, fmt.Errorf("mixpolicy: penalty weight ω = %v, want a finite number > 0", a.Weight)
	}
	if a.StepSize, err = Steps(a.StepSize); err != nil {
		return nil, err
	}
	if a.CostScale, err = costScale(a.CostScale, p); err != nil {
		return nil, err
	}
	d := p.Dim()
	r := &penalty{Penalty: a, p: p, oracle: o, row: make([]float64, d), average: newAverage(d)}
	r.theta, err = startingPoint(p, a.Theta0)
	return r, err
}

// Step implements [Run].
func (a *penalty) Step() error {
	eta, err := stepAt(a.StepSize, a.t)
	if err != nil {
		return err
	}
	a.average.add(eta, a.theta)

	pair, cost := a.oracle.Sample()
	a.p.f.Row(a.row, pair)
	slope := cost / a.CostScale
	if floats.Dot(a.row, a.theta) < 0 {
		slope -= a.Weight
	}
	floats.AddScaled(a.theta, -eta*slope/a.p.f.sampling[pair], a.row)
	if err := a.p.class.Norm.Project(a.theta, a.theta, a.p.class.R); err != nil {
		return fault.At("mixpolicy", fmt.Sprintf("iteration %d", a.t), err)
	}
	a.t++
	return nil
}

// String describes the settings with the defaults filled in.
func (a *penalty) String() string {
	return fmt.Sprintf("%s, ω = %v, %v, scale of costs %v", a.Name(), a.Weight, a.StepSize, a.CostScale)
}

// View implements [Run].
func (a *penalty) View(s *Snapshot) error {
	s.Iteration, s.Queries, s.Lambda = a.t, a.oracle.Queries(), nil
	s.Last = a.theta
	if s.Average = a.theta; a.t > 0 {
		s.Average = a.average.value()
	}
	return nil
}
