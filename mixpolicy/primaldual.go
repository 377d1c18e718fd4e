package mixpolicy

import (
	"errors"
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
	// Beta is β: λ stays in the ball of radius G = 1/(1−γ) ∨ β, in units of the scaled
	// cost. With average cost the paper's G is infinite; there G is β, and 0 means no
	// ball.
	Beta float64
	// CostScale divides every observed cost, so that η need not depend on the unit of
	// cost; c_max is known by (A.3). 0 is 1.
	CostScale float64
	// Start is θ₀; nil is (1/d, …, 1/d).
	Start []float64
	// Form is Corrected unless said otherwise.
	Form Form
	// RowScaling is not in the paper. It takes the step in λ where the rows of Ψθ ⪰ 0 are
	// divided by their sums r_i = Σ_j ψʲ_i,
	//
	//	λ_i ← [λ_i − η(Ψθ)_i/r_i]₊,
	//
	// which is the same step in the norm √(Σ r_iλ_i²), and the ball is that of this norm.
	// The rows add up to 1 over all pairs, so that most are small and the λ that holds
	// them is large: without the division its entries take Ση ≈ λ*/|Ψθ| to get there, and
	// until then θ is far from feasible.
	RowScaling bool
	// Multipliers chooses how λ is kept; the iterates do not depend on it.
	Multipliers Multipliers

	p            *Problem
	oracle       *Oracle
	phi          bregman.Modulus
	printedShift func(y []float64) (float64, error) // the printed (3.22), or nil
	scale        float64                            // of costs
	radius       float64                            // G

	t       int
	y       []float64   // ∇φ(θ_t)
	theta   []float64   // θ_t
	lambda  multipliers // λ_t, in units of the scaled cost
	row     []float64   // Ψ_a(s)
	scratch []float64

	weight        float64   // Σ η
	sum           []float64 // Σ η θ
	average       []float64
	averageLambda []float64
}

// Name implements [Method].
func (a *PrimalDual) Name() string {
	if a.Form == Printed {
		return "primal–dual (as printed)"
	}
	if a.RowScaling {
		return "primal–dual, rows scaled"
	}
	return "primal–dual"
}

// DefaultModulus returns the modulus whose domain is the class.
func DefaultModulus(c Class) bregman.Modulus {
	switch {
	case math.IsInf(c.R, 1):
		return bregman.Euclidean()
	case c.Norm == linprog.LInf:
		return bregman.Cube(c.R)
	case c.Norm == linprog.L1:
		return bregman.NegativeEntropy()
	}
	return bregman.Ball{R: c.R}
}

// Init implements [Method]. Errors: parameters out of range, a modulus whose domain
// does not meet the hyperplane, θ₀ outside of the domain.
func (a *PrimalDual) Init(p *Problem, o *Oracle) (err error) {
	a.p, a.oracle = p, o
	if a.phi, err = a.modulus(); err != nil {
		return err
	}
	if a.Form != Corrected && a.Form != Printed {
		return fmt.Errorf("mixpolicy: unknown Form %d", int(a.Form))
	}
	if a.StepSize == nil {
		a.StepSize = InverseSqrt(1)
	}
	if a.Form == Printed && a.RowScaling {
		return errors.New("mixpolicy: row scaling is for the corrected form, want RowScaling false with the printed one")
	}
	if err := a.StepSize.check(); err != nil {
		return err
	}
	if a.scale, err = costScale(a.CostScale); err != nil {
		return err
	}
	if !(a.Beta >= 0) {
		return fmt.Errorf("mixpolicy: β = %v, want a number ≥ 0", a.Beta)
	}
	a.radius = a.Radius(p.MDP().Criterion())
	if a.theta, err = startingPoint(p, a.Start); err != nil {
		return err
	}
	if err := bregman.CheckDomain(a.phi, a.theta); err != nil {
		return fmt.Errorf("mixpolicy: θ₀ is not in the interior of the domain of the modulus: %w", err)
	}
	if a.lambda, err = a.multipliers(); err != nil {
		return err
	}
	a.printedShift = nil
	if ball, ok := a.phi.(bregman.Ball); ok && a.Form == Printed {
		a.printedShift = ball.PrintedShift
	}
	d := p.Dim()
	a.t, a.weight = 0, 0
	a.y, a.row, a.scratch = make([]float64, d), make([]float64, d), make([]float64, d)
	a.sum, a.average, a.averageLambda = make([]float64, d), make([]float64, d), nil
	a.phi.Gradient(a.y, a.theta)
	return nil
}

// modulus returns the chosen modulus, or that of the class.
func (a *PrimalDual) modulus() (bregman.Modulus, error) {
	c, phi := a.p.class, a.Modulus
	if phi == nil {
		if c.Norm == linprog.L1 && c.R != 1 && !math.IsInf(c.R, 1) {
			return nil, fmt.Errorf("mixpolicy: no modulus is known for the class %v, want PrimalDual.Modulus, or R = 1, the simplex", c)
		}
		phi = DefaultModulus(c)
	}
	return phi, bregman.Validate(phi, a.p.Dim())
}

// Radius returns G, the radius of the ball that λ is kept in: 1/(1−γ) ∨ β, or, with
// average cost, β, where β = 0 means +∞.
func (a *PrimalDual) Radius(c Criterion) float64 {
	switch {
	case !c.Average():
		return max(a.Beta, 1/(1-c.Gamma()))
	case a.Beta == 0:
		return math.Inf(1)
	}
	return a.Beta
}

// lazyPays tells whether an iteration is faster with lazy multipliers, by measurement:
// the hull of d = 2 takes as long as a dense step over 16 pairs, the tree as one over
// 300 pairs, whatever the d.
func lazyPays(pairs, d int) bool { return d == 2 && pairs >= 16 || pairs >= 300 }

func (a *PrimalDual) multipliers() (multipliers, error) {
	f, g := a.p.f, a.radius
	switch a.Multipliers {
	case AutoMultipliers:
		if a.Form == Corrected && lazyPays(f.x.Pairs(), f.Dim()) {
			return newLazyMultipliers(f, g, a.RowScaling), nil
		}
	case LazyMultipliers:
		if a.Form == Printed {
			if !math.IsInf(g, 1) {
				return nil, fmt.Errorf("mixpolicy: lazy multipliers of the printed form have no ball, here of radius %v; want DenseMultipliers or AutoMultipliers", g)
			}
			return newLinearMultipliers(f), nil
		}
		return newLazyMultipliers(f, g, a.RowScaling), nil
	case DenseMultipliers:
	default:
		return nil, fmt.Errorf("mixpolicy: unknown %v", a.Multipliers)
	}
	return newDenseMultipliers(f, a.Form, g, a.RowScaling), nil
}

// Step implements [Method].
func (a *PrimalDual) Step() error {
	eta, err := a.StepSize.at(a.t)
	if err != nil {
		return err
	}
	pair, cost := a.oracle.Sample()
	a.p.f.Row(a.row, pair)
	lambda := a.lambda.at(pair, a.row)
	factor := eta * (cost/a.scale - lambda) / a.p.f.sampling[pair]
	for j, v := range a.row {
		a.y[j] -= factor * v
	}
	if err := a.project(); err != nil {
		return fmt.Errorf("mixpolicy: iteration %d: %w", a.t, err)
	}

	a.weight += eta
	for j, v := range a.theta {
		a.sum[j] += eta * v
	}
	a.lambda.accumulate(eta, pair, lambda)
	a.lambda.ascend(eta, a.theta)

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

// View implements [Method]. Before the first step the averages are θ₀ and 0.
func (a *PrimalDual) View(s *Snapshot) error {
	if a.averageLambda == nil {
		a.averageLambda = make([]float64, a.p.MDP().Pairs())
	}
	s.Iteration, s.Queries = a.t, a.oracle.Queries()
	s.Last, s.Average, s.Lambda = a.theta, a.theta, a.averageLambda
	if a.weight > 0 {
		s.Average = a.average
		floats.ScaleTo(a.average, 1/a.weight, a.sum)
		floats.ScaleTo(a.averageLambda, a.scale/a.weight, a.lambda.sum())
	}
	return nil
}

// String describes the settings of a method that was initialised.
func (a *PrimalDual) String() string {
	return fmt.Sprintf("%s, φ: %v, %v, G = %v, scale of costs %v", a.Name(), a.phi, a.StepSize, a.radius, a.scale)
}

// MarshalBinary implements [Resumable].
func (a *PrimalDual) MarshalBinary() ([]byte, error) {
	b := appendFloats(appendInts(nil, a.t), []float64{a.weight})
	for _, v := range [][]float64{a.y, a.theta, a.sum} {
		b = appendFloats(b, v)
	}
	return a.lambda.appendState(b), nil
}

// UnmarshalBinary implements [Resumable].
func (a *PrimalDual) UnmarshalBinary(b []byte) error {
	r := &reader{b: b}
	var weight [1]float64
	a.t = r.within("iteration", 0, math.MaxInt)
	r.into(weight[:], "Σ η")
	r.into(a.y, "∇φ(θ)")
	r.into(a.theta, "θ")
	r.into(a.sum, "Σ ηθ")
	a.lambda.restore(r)
	a.weight = weight[0]
	return r.close()
}
