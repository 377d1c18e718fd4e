package mixpolicy

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// Penalty is the method of Banijamali, Abbasi-Yadkori, Ghavamzadeh and Vlassis (2018). Section 6
// compares Algorithm 1 with this method, which is stochastic subgradient descent on
//
//	f_ω(θ) = cᵀΨθ + ω ‖[Ψθ]₋‖₁,
//
// with an exact Euclidean projection onto Θ_R ∩ {1ᵀθ = 1} after each step. The printed objective (4.14) also
// contains ω times the flow residual of Ψθ. With the corrected flow constraint (2.13b), this residual is 0 if
// the features are occupation measures and 1ᵀθ = 1. With (s,a) ~ q, the stochastic subgradient is
//
//	ĝ = (c_a(s) − ω 1{Ψ_a(s)θ < 0}) Ψ_a(s) / q_a(s).
//
// The answer is the average of the iterates. By default, their weights are η_t. Section 6 uses
// η = 1/T = 0.001 and R = 100, and does not state ω. The bound of Banijamali et al. that the paper quotes contains
// (ω + 6/(ω(1−γ)))‖[Ψθ]₋‖₁ + O(1/ω), and does not fix ω either.
//
// Source: Banijamali, Abbasi-Yadkori, Ghavamzadeh and Vlassis, AISTATS 2019 (arXiv 1802.09646).
//
// Deviations: see priorwork.Publications.
type Penalty struct {
	// Weight is ω, for costs divided by CostScale; 0 means 1.
	Weight float64
	// StepSize is η; nil means InverseSqrt(1).
	StepSize StepSize
	// CostScale divides every observed cost; 0 means c_max = max |c| (1 if all costs are 0), and 1 gives
	// the printed method.
	// See also [PrimalDual.CostScale].
	CostScale float64
	// Recency is p in the weights η_t(t+1)ᵖ of the average; 0 gives the printed method.
	Recency float64
	// Theta0 is θ₀; nil means (1/d, …, 1/d).
	Theta0 []float64
}

// Name implements [Method].
func (a Penalty) Name() string { return "penalty" }

// String returns the name and the nonzero settings, except Theta0.
func (a Penalty) String() string {
	return describe(a.Name(), "ω = %v", a.Weight, "%v", a.StepSize, "scale of costs %v", a.CostScale, "p = %v", a.Recency)
}

// penalty is a run of [Penalty].
type penalty struct {
	Penalty // with the defaults filled in
	*Mirror
}

// Start implements [Method]. It returns an error if Weight is negative, infinite or NaN. It also
// returns the errors of [Mirror.For].
func (a Penalty) Start(p *Problem, o *Oracle) (Run, error) {
	a.Weight = cmp.Or(a.Weight, 1)
	if !(a.Weight > 0) || math.IsInf(a.Weight, 1) {
		return nil, fmt.Errorf("mixpolicy: penalty weight ω = %v, want a finite number > 0", a.Weight)
	}
	m, err := Mirror{
		Phi: bregman.Euclidean(), Eta: a.StepSize, Scale: a.CostScale, Recency: a.Recency, Theta: a.Theta0, Project: p.class.Project,
	}.Start(p, o)
	if err != nil {
		return nil, err
	}
	a.StepSize, a.CostScale = m.Eta, m.Scale
	return &penalty{a, m}, nil
}

// Step implements [Run].
func (a *penalty) Step() error {
	_, slope, q := a.Sample()
	if floats.Dot(a.Row, a.Theta) < 0 {
		slope -= a.Weight
	}
	_, err := a.Mirror.Step(slope, q, a.Row)
	return err
}

// String returns the name, ω, the first step sizes and CostScale, with the defaults filled in.
func (a *penalty) String() string {
	return fmt.Sprintf("%s, ω = %v, %v, scale of costs %v", a.Name(), a.Weight, a.StepSize, a.CostScale)
}
