package mixpolicy

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// Form chooses between the algorithm that the analysis needs and the printed algorithm.
type Form int

const (
	// Corrected ascends along ∇_λ 𝓛 = −Ψθ, keeps λ in the non-negative part of its ball, and takes
	// as z the minimiser of J in (3.25b).
	Corrected Form = iota
	// Printed is Algorithm 1 exactly as printed: by (3.4), λ ascends along +Ψθ, and by (3.26), λ is
	// projected onto its ball, but not onto λ ⪰ 0. For the modulus [bregman.Ball], z_t is the printed
	// (3.22), which in general does not bring θ onto the hyperplane.
	Printed
)

// String returns "corrected" or "printed".
func (f Form) String() string {
	if f == Printed {
		return "printed"
	}
	return "corrected"
}

// PrimalDual is Algorithm 1, the projection-free stochastic primal–dual method.
// With (s,a) ~ q from the oracle, an iteration is
//
//	ĝ = (c_a(s) − λ_a(s)) Ψ_a(s) / q_a(s)                (3.5a)
//	∇φ(θ̃) = ∇φ(θ) − η ĝ                                  (3.25a)
//	z = argmin J,  J(z) = φ*(z1 + ∇φ(θ̃)) − z            (3.25b)
//	θ ← ∇φ*(z1 + ∇φ(θ̃))                                 (3.25c)
//	λ ← Π_{‖·‖₂ ≤ G}([λ − η Ψθ]₊)                         (3.26), corrected
//
// where the last line uses θ from before the update. The run keeps y = ∇φ(θ), because, near the
// boundary of the class, θ does not determine y accurately. The answer is the average θ̂ of (3.27),
// weighted by η, or with more weight on recent iterates ([PrimalDual.Recency]).
//
// The zero value runs with the modulus of the problem's class, θ₀ = (1/d, …, 1/d),
// η_t = 1/√(t+1), and costs divided by c_max.
type PrimalDual struct {
	// Modulus is φ; nil means Ball{R} for ‖·‖₂, Cube(R) for ‖·‖_∞, negative entropy for the simplex,
	// and the Euclidean modulus if R is infinite.
	Modulus bregman.Modulus
	// StepSize is η; nil means InverseSqrt(1).
	StepSize StepSize
	// Beta is β: λ stays in the ball of radius G = 1/(1−γ) ∨ β. Both β and G are for costs divided by CostScale. Under
	// average cost, the paper's G is infinite. The code then uses G = β, and β = 0 means that λ is not confined to a
	// ball.
	Beta float64
	// CostScale divides every observed cost, so that η and β need not depend on the unit of cost; 0
	// means 1 for the [Printed] form, and otherwise c_max = max |c| (1 if all costs are 0), which the learner
	// knows by assumption (A.3)(i). The paper does not divide the costs, which corresponds to CostScale = 1.
	// With CostScale = 1, the paper's G = 1/(1−γ) ∨ β need not bound ‖λ*‖₂ if costs exceed 1.
	CostScale float64
	// Recency is p: θ_t and λ_t have the weight η_t(t+1)ᵖ in the averages θ̂ and λ̂; p = 0 gives (3.27).
	Recency float64
	// Theta0 is θ₀; nil means (1/d, …, 1/d).
	Theta0 []float64
	// Form is Corrected by default.
	Form Form
	// RowScaling, which is not in the paper, changes the step of λ: for λ_i, η is divided by the sum
	// r_i = Σ_j ψʲ_i of row i of Ψ,
	//
	//	λ_i ← [λ_i − η(Ψθ)_i/r_i]₊.
	//
	// This is the step of (3.26) in the norm √(Σ r_iλ_i²), and the ball of λ is then a ball in this
	// norm. Each column of Ψ adds up to 1 over all pairs. So if there are many pairs, most rows are
	// small, and their multipliers λ*_i can be large. Without the division, λ_i reaches λ*_i only
	// when Ση ≈ λ*_i/|(Ψθ)_i|, and until then, θ can be far from feasible.
	RowScaling bool
	// Multipliers chooses how λ is stored; up to rounding, the iterates do not depend on this choice.
	Multipliers Multipliers
}

// Name implements [Method].
func (a PrimalDual) Name() string {
	if a.Form == Printed {
		return "primal–dual (as printed)"
	}
	if a.RowScaling {
		return "primal–dual, rows scaled"
	}
	return "primal–dual"
}

// String returns the name and the nonzero settings, except Theta0 and Multipliers.
func (a PrimalDual) String() string {
	return describe(a.Name(), "φ: %v", a.Modulus, "%v", a.StepSize, "β = %v", a.Beta, "scale of costs %v", a.CostScale, "p = %v", a.Recency)
}

// describe returns the name, followed by each nonzero value in its format. The slice pairs holds a format,
// its value, the next format, and so on.
func describe(name string, pairs ...any) string {
	for k := 0; k < len(pairs); k += 2 {
		if v := pairs[k+1]; v != nil && v != 0. && v != 0 {
			name += ", " + fmt.Sprintf(pairs[k].(string), v)
		}
	}
	return name
}

// primalDual is a run of [PrimalDual].
type primalDual struct {
	PrimalDual // with the defaults filled in

	p             *Problem
	m             *Mirror
	radius        float64     // G
	lambda        multipliers // λ_t, in units of the scaled cost
	averageLambda []float64
}

// For returns the settings of a run on p, with the defaults filled in. It returns an error if the
// form is unknown, if the settings combine row scaling with the printed form, or if β is not ≥ 0.
// It also returns the errors of [Mirror.For].
func (a PrimalDual) For(p *Problem) (PrimalDual, error) {
	if a.Form != Corrected && a.Form != Printed {
		return a, fmt.Errorf("mixpolicy: unknown Form %d, want Corrected or Printed", int(a.Form))
	}
	if a.Form == Printed && a.RowScaling {
		return a, errors.New("mixpolicy: row scaling is for the corrected form, want RowScaling = false with the printed form")
	}
	if !(a.Beta >= 0) {
		return a, fmt.Errorf("mixpolicy: β = %v, want a number ≥ 0", a.Beta)
	}
	if a.Form == Printed {
		a.CostScale = cmp.Or(a.CostScale, 1)
	}
	m, err := a.mirror().For(p)
	if err != nil {
		return a, err
	}
	a.Modulus, a.StepSize, a.CostScale, a.Theta0 = m.Phi, m.Eta, m.Scale, m.Theta
	return a, nil
}

// mirror returns the settings of the steps in θ. With the printed form and the ball modulus, z is the printed (3.22).
func (a PrimalDual) mirror() Mirror {
	m := Mirror{Phi: a.Modulus, Eta: a.StepSize, Scale: a.CostScale, Recency: a.Recency, Theta: a.Theta0}
	if ball, ok := a.Modulus.(bregman.Ball); ok && a.Form == Printed {
		m.Project = func(y []float64) error {
			z, err := ball.PrintedShift(y)
			floats.AddConst(z, y)
			return err
		}
	}
	return m
}

// Start implements [Method]. It returns the errors of [PrimalDual.For]. It also returns an error if the value of
// Multipliers is unknown, or if a run of the printed form with LazyMultipliers would confine λ to a ball.
func (a PrimalDual) Start(p *Problem, o *Oracle) (Run, error) {
	a, err := a.For(p)
	if err != nil {
		return nil, err
	}
	r := &primalDual{PrimalDual: a, p: p, m: a.mirror().Begin(o), radius: a.Radius(p.MDP().Criterion())}
	r.lambda, err = r.multipliers()
	return r, err
}

// Radius returns G, the radius of the ball of λ. Under discounting, G = 1/(1−γ) ∨ β. Under average
// cost, G = β, or +∞ if β = 0.
func (a PrimalDual) Radius(c Criterion) float64 {
	switch {
	case !c.Average():
		return max(a.Beta, 1/(1-c.Gamma()))
	case a.Beta == 0:
		return math.Inf(1)
	}
	return a.Beta
}

// lazyPays reports whether lazy multipliers make an iteration faster. We measured that a step with the
// hull of package walk (d = 2) takes as long as a dense step over 16 pairs. A step with the tree of
// that package takes as long as a dense step over 300 pairs, for every d.
func lazyPays(pairs, d int) bool { return d == 2 && pairs >= 16 || pairs >= 300 }

func (a *primalDual) multipliers() (multipliers, error) {
	f, g := a.p.f, a.radius
	switch a.Multipliers {
	case AutoMultipliers:
		if a.Form == Corrected && lazyPays(f.x.Pairs(), f.Dim()) {
			return newLazyMultipliers(f, g, a.RowScaling), nil
		}
	case LazyMultipliers:
		if a.Form == Printed {
			if !math.IsInf(g, 1) {
				return nil, fmt.Errorf("mixpolicy: lazy multipliers of the printed form allow no ball, but λ has a ball of radius %v; "+
					"want DenseMultipliers or AutoMultipliers", g)
			}
			return newLinearMultipliers(f), nil
		}
		return newLazyMultipliers(f, g, a.RowScaling), nil
	case DenseMultipliers:
	default:
		return nil, fmt.Errorf("mixpolicy: unknown %v, want AutoMultipliers, DenseMultipliers or LazyMultipliers", a.Multipliers)
	}
	return newDenseMultipliers(f, a.Form, g, a.RowScaling), nil
}

// Step implements [Run].
func (a *primalDual) Step() error {
	pair, cost, q := a.m.Sample()
	lambda := a.lambda.at(pair, a.m.Row)
	eta, err := a.m.Step(cost-lambda, q, a.m.Row)
	if err != nil {
		return err
	}
	a.lambda.accumulate(a.m.WeightBefore, pair, lambda)
	a.lambda.ascend(eta, a.m.Before)
	return nil
}

// View implements [Run]. Before the first step, the averages θ̂ and λ̂ are θ₀ and 0.
func (a *primalDual) View(s *Snapshot) error {
	if a.averageLambda == nil {
		a.averageLambda = make([]float64, a.p.MDP().Pairs())
	}
	if a.m.SumEta > 0 {
		floats.ScaleTo(a.averageLambda, a.CostScale/a.m.SumEta, a.lambda.sum())
	}
	err := a.m.View(s)
	s.Lambda = a.averageLambda
	return err
}

// String returns the name, φ, the first step sizes, G and CostScale, with the defaults filled in.
func (a *primalDual) String() string {
	return fmt.Sprintf("%s, φ: %v, %v, G = %v, scale of costs %v", a.Name(), a.Modulus, a.StepSize, a.radius, a.CostScale)
}
