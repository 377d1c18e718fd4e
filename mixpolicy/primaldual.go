package mixpolicy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

var _ Method = (*PrimalDual)(nil)

// Form chooses between the algorithm that the analysis needs and the one on the page.
type Form int

const (
	// Corrected ascends along ∇_λ 𝓛 = −Ψθ, keeps λ in the non-negative part of its
	// ball, and shifts by the minimiser of J.
	Corrected Form = iota
	// Printed follows Algorithm 1 to the letter: (3.4) has the sign +Ψθ, (3.26)
	// projects onto the ball only, and for the ball modulus z_t is the printed (3.22),
	// which does not bring θ onto the hyperplane.
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
// where the last line uses the θ that the first began with. The iterate is kept as
// y = ∇φ(θ), so nothing is recomputed near the boundary of the class. The answer is
// the average θ̂ of (3.27), weighted by η.
//
// The zero value runs with the modulus of the problem's class, θ₀ = 1/d, and
// η_t = 1/√(t+1).
type PrimalDual struct {
	// Modulus is φ; nil is Ball{R} for ‖·‖₂, Cube{R} for ‖·‖_∞, negative entropy for
	// the simplex, and Euclidean when R is infinite.
	Modulus bregman.Modulus
	// StepSize is η; nil is InverseSqrt(1).
	StepSize StepSize
	// Beta is β: λ stays in the ball of radius G = 1/(1−γ) ∨ β. With average cost the
	// paper's G is infinite; there G is β, and 0 means no ball.
	Beta float64
	// CostScale divides every observed cost, so that η need not depend on the unit of
	// cost; c_max is known by (A.3). 0 is 1.
	CostScale float64
	// Start is θ₀; nil is (1/d, …, 1/d).
	Start []float64
	// Form is Corrected unless said otherwise.
	Form Form

	p            *Problem
	oracle       *Oracle
	phi          bregman.Modulus
	printedShift func(y []float64) (float64, error) // the printed (3.22), or nil
	scratch      []float64
	scale        float64 // of costs
	radius       float64 // G

	t         int
	y         []float64 // ∇φ(θ_t)
	theta     []float64 // θ_t
	lambda    []float64 // λ_t, scaled
	gradient  []float64
	weight    float64   // Σ η
	sumTheta  []float64 // Σ η θ
	sumLambda []float64 // Σ η λ
	average   []float64
	averageL  []float64
}

// Name implements [Method].
func (a *PrimalDual) Name() string {
	if a.Form == Printed {
		return "primal–dual (as printed)"
	}
	return "primal–dual"
}

// DefaultModulus returns the modulus whose domain is the class.
func DefaultModulus(c Class) bregman.Modulus {
	switch {
	case math.IsInf(c.R, 1):
		return bregman.Euclidean{}
	case c.Norm == linprog.LInf:
		return bregman.Cube{R: c.R}
	case c.Norm == linprog.L1:
		return bregman.NegativeEntropy{}
	}
	return bregman.Ball{R: c.R}
}

// Init implements [Method]. Errors: parameters out of range, a modulus whose domain
// does not meet the hyperplane, θ₀ outside of the domain.
func (a *PrimalDual) Init(p *Problem, o *Oracle) error {
	a.p, a.oracle = p, o
	d, pairs := p.Dim(), p.MDP().Pairs()
	a.phi = a.Modulus
	if a.phi == nil {
		if p.class.Norm == linprog.L1 && p.class.R != 1 {
			return fmt.Errorf("mixpolicy: no modulus is known for the class %v, want PrimalDual.Modulus, or R = 1, the simplex", p.class)
		}
		a.phi = DefaultModulus(p.class)
	}
	if err := bregman.Validate(a.phi, d); err != nil {
		return err
	}
	if a.StepSize == nil {
		a.StepSize = InverseSqrt(1)
	}
	if err := a.StepSize.check(); err != nil {
		return err
	}
	var err error
	if a.scale, err = costScale(a.CostScale); err != nil {
		return err
	}
	if !(a.Beta >= 0) {
		return fmt.Errorf("mixpolicy: β = %v, want ≥ 0", a.Beta)
	}
	a.radius = a.Beta
	if c := p.MDP().Criterion(); !c.Average() {
		a.radius = max(a.Beta, 1/(1-c.Gamma()))
	} else if a.Beta == 0 {
		a.radius = math.Inf(1)
	}
	if a.theta, err = startingPoint(p, a.Start); err != nil {
		return err
	}
	if !a.phi.InDomain(a.theta) {
		return fmt.Errorf("mixpolicy: θ₀ = %.6g is not in the interior of the domain of the modulus", a.theta)
	}
	if ball, ok := a.phi.(bregman.Ball); ok && a.Form == Printed {
		a.printedShift = ball.PrintedShift
	}
	a.t, a.weight = 0, 0
	a.y, a.gradient, a.scratch = make([]float64, d), make([]float64, d), make([]float64, d)
	a.sumTheta, a.average = make([]float64, d), make([]float64, d)
	a.lambda, a.sumLambda = make([]float64, pairs), make([]float64, pairs)
	a.phi.Gradient(a.y, a.theta)
	return nil
}

// Step implements [Method].
func (a *PrimalDual) Step() error {
	eta := a.StepSize(a.t)
	a.weight += eta
	floats.AddScaled(a.sumTheta, eta, a.theta)
	floats.AddScaled(a.sumLambda, eta, a.lambda)

	pair, cost := a.oracle.Sample()
	a.p.f.Row(a.gradient, pair)
	factor := (cost/a.scale - a.lambda[pair]) / a.p.f.sampling[pair]
	floats.AddScaled(a.y, -eta*factor, a.gradient)

	a.ascend(eta)

	if err := a.project(); err != nil {
		return fmt.Errorf("mixpolicy: iteration %d: %w", a.t, err)
	}
	a.phi.ConjugateGradient(a.theta, a.y)
	a.t++
	return nil
}

// project performs y ← y + z1 with the z of (3.25b).
func (a *PrimalDual) project() error {
	if a.printedShift == nil {
		_, err := bregman.ProjectDual(a.phi, a.y, a.scratch)
		return err
	}
	z, err := a.printedShift(a.y)
	floats.AddConst(z, a.y)
	return err
}

// ascend performs (3.26) from θ_t.
func (a *PrimalDual) ascend(eta float64) {
	sign := -eta
	if a.Form == Printed {
		sign = eta
	}
	for j, c := range a.p.f.columns {
		floats.AddScaled(a.lambda, sign*a.theta[j], c)
	}
	if a.Form == Corrected {
		for i, v := range a.lambda {
			a.lambda[i] = max(v, 0)
		}
	}
	if math.IsInf(a.radius, 1) {
		return
	}
	if norm := floats.Norm(a.lambda, 2); norm > a.radius {
		floats.Scale(a.radius/norm, a.lambda)
	}
}

// View implements [Method]. Before the first step the average is θ₀.
func (a *PrimalDual) View(s *Snapshot) error {
	s.Iteration, s.Queries = a.t, a.oracle.Queries()
	s.Last = a.theta
	if a.t == 0 {
		s.Average, s.Lambda = a.theta, a.lambda
		return nil
	}
	if a.averageL == nil {
		a.averageL = make([]float64, len(a.lambda))
	}
	floats.ScaleTo(a.average, 1/a.weight, a.sumTheta)
	floats.ScaleTo(a.averageL, a.scale/a.weight, a.sumLambda)
	s.Average, s.Lambda = a.average, a.averageL
	return nil
}
