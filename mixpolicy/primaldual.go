package mixpolicy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

var (
	_ Method = PrimalDual{}
	_ Run    = (*primalDual)(nil)
)

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
// The zero value runs with the modulus of the problem's class, θ₀ = 1/d, η_t = 1/√(t+1), and
// costs divided by c_max.
type PrimalDual struct {
	// Modulus is φ; nil is Ball{R} for ‖·‖₂, Cube(R) for ‖·‖_∞, negative entropy for
	// the simplex, and Euclidean when R is infinite.
	Modulus bregman.Modulus
	// StepSize is η; nil is InverseSqrt(1).
	StepSize StepSize
	// Beta is β: λ stays in the ball of radius G = 1/(1−γ) ∨ β, in units of the scaled
	// cost. With average cost the paper's G is infinite; there G is β, and 0 means no
	// ball.
	Beta float64
	// CostScale divides every observed cost, so that η and β need not depend on the unit of
	// cost. 0 is c_max = max |c|, which is known by (A.3), or 1 for the [Printed] form.
	// The paper divides by nothing, which is CostScale = 1: its G = 1/(1−γ) ∨ β is then no
	// bound of λ* for costs above 1.
	CostScale float64
	// Theta0 is θ₀; nil is (1/d, …, 1/d).
	Theta0 []float64
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

// String lists the settings that are not left to their defaults.
func (a PrimalDual) String() string {
	return describe(a.Name(), "φ: %v", a.Modulus, "%v", a.StepSize, "β = %v", a.Beta, "scale of costs %v", a.CostScale)
}

// describe lists a name, and of pairs of a format and a value those whose value is not zero.
func describe(name string, pairs ...any) string {
	for k := 0; k < len(pairs); k += 2 {
		if v := pairs[k+1]; v != nil && v != 0. && v != 0 {
			name += ", " + fmt.Sprintf(pairs[k].(string), v)
		}
	}
	return name
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

// primalDual is a run of [PrimalDual].
type primalDual struct {
	PrimalDual // with the defaults filled in

	p            *Problem
	oracle       *Oracle
	printedShift func(y []float64) (float64, error) // the printed (3.22), or nil
	radius       float64                            // G

	t       int
	y       []float64   // ∇φ(θ_t)
	theta   []float64   // θ_t
	lambda  multipliers // λ_t, in units of the scaled cost
	row     []float64   // Ψ_a(s)
	scratch []float64

	average       average // θ̂
	averageLambda []float64
}

// average is a running average (3.27a), Σ ηx / Σ η.
type average struct {
	weight    float64   // Σ η
	sum, mean []float64 // Σ ηx, and x̂ when it was asked for
}

func newAverage(d int) average { return average{sum: make([]float64, d), mean: make([]float64, d)} }

// add includes x with the weight η.
func (m *average) add(eta float64, x []float64) {
	m.weight += eta
	for j, v := range x {
		m.sum[j] += eta * v
	}
}

// value returns Σ ηx / Σ η, borrowed.
func (m *average) value() []float64 { return floats.ScaleTo(m.mean, 1/m.weight, m.sum) }

// For returns the settings of a run on p, with the defaults filled in. Errors: parameters
// out of range, a modulus whose domain does not meet the hyperplane, θ₀ outside the domain.
func (a PrimalDual) For(p *Problem) (PrimalDual, error) {
	if a.Form != Corrected && a.Form != Printed {
		return a, fmt.Errorf("mixpolicy: unknown Form %d", int(a.Form))
	}
	if a.Form == Printed && a.RowScaling {
		return a, errors.New("mixpolicy: row scaling is for the corrected form, want RowScaling false with the printed one")
	}
	if !(a.Beta >= 0) {
		return a, fmt.Errorf("mixpolicy: β = %v, want a number ≥ 0", a.Beta)
	}
	var err error
	if a.Modulus, err = a.modulus(p); err != nil {
		return a, err
	}
	if a.StepSize, err = Steps(a.StepSize); err != nil {
		return a, err
	}
	if a.Form == Printed {
		a.CostScale = cmp.Or(a.CostScale, 1)
	}
	if a.CostScale, err = costScale(a.CostScale, p); err != nil {
		return a, err
	}
	if a.Theta0, err = startingPoint(p, a.Theta0); err != nil {
		return a, err
	}
	if err := bregman.CheckDomain(a.Modulus, a.Theta0); err != nil {
		return a, fault.At("mixpolicy", "θ₀ is not in the interior of the domain of the modulus", err)
	}
	return a, nil
}

// Start implements [Method]. Errors are those of [PrimalDual.For].
func (a PrimalDual) Start(p *Problem, o *Oracle) (Run, error) {
	a, err := a.For(p)
	if err != nil {
		return nil, err
	}
	d := p.Dim()
	r := &primalDual{
		PrimalDual: a, p: p, oracle: o, radius: a.Radius(p.MDP().Criterion()), theta: slices.Clone(a.Theta0),
		y: make([]float64, d), row: make([]float64, d), scratch: make([]float64, d), average: newAverage(d),
	}
	if r.lambda, err = r.multipliers(); err != nil {
		return nil, err
	}
	if ball, ok := a.Modulus.(bregman.Ball); ok && a.Form == Printed {
		r.printedShift = ball.PrintedShift
	}
	a.Modulus.Gradient(r.y, r.theta)
	return r, nil
}

// modulus returns the chosen modulus, or that of the class.
func (a PrimalDual) modulus(p *Problem) (bregman.Modulus, error) {
	c, phi := p.class, a.Modulus
	if phi == nil {
		if c.Norm == linprog.L1 && c.R != 1 && !math.IsInf(c.R, 1) {
			return nil, fmt.Errorf("mixpolicy: no modulus is known for the class %v, want PrimalDual.Modulus, or R = 1, the simplex", c)
		}
		phi = DefaultModulus(c)
	}
	return phi, bregman.Validate(phi, p.Dim())
}

// Radius returns G, the radius of the ball that λ is kept in: 1/(1−γ) ∨ β, or, with
// average cost, β, where β = 0 means +∞.
func (a PrimalDual) Radius(c Criterion) float64 {
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

// Step implements [Run].
func (a *primalDual) Step() error {
	eta, err := stepAt(a.StepSize, a.t)
	if err != nil {
		return err
	}
	pair, cost := a.oracle.Sample()
	a.p.f.Row(a.row, pair)
	lambda := a.lambda.at(pair, a.row)
	a.descend(eta, pair, cost, lambda)
	if err := a.project(); err != nil {
		return fault.At("mixpolicy", fmt.Sprintf("iteration %d", a.t), err)
	}

	a.average.add(eta, a.theta)
	a.lambda.accumulate(eta, pair, lambda)
	a.lambda.ascend(eta, a.theta)

	a.Modulus.ConjugateGradient(a.theta, a.y)
	a.t++
	return nil
}

// descend performs (3.25a), y ← y − ηĝ, with the ĝ of (3.5a) for a sampled pair, whose row of Ψ
// is in a.row.
func (a *primalDual) descend(eta float64, pair int, cost, lambda float64) {
	factor := eta * (cost/a.CostScale - lambda) / a.p.f.sampling[pair]
	for j, v := range a.row {
		a.y[j] -= factor * v
	}
}

// project performs y ← y + z1 with the z of (3.25b).
func (a *primalDual) project() error {
	if a.printedShift == nil {
		_, err := bregman.ProjectDual(a.Modulus, a.y, a.scratch)
		return err
	}
	z, err := a.printedShift(a.y)
	floats.AddConst(z, a.y)
	return err
}

// View implements [Run]. Before the first step the averages are θ₀ and 0.
func (a *primalDual) View(s *Snapshot) error {
	if a.averageLambda == nil {
		a.averageLambda = make([]float64, a.p.MDP().Pairs())
	}
	s.Iteration, s.Queries = a.t, a.oracle.Queries()
	s.Last, s.Average, s.Lambda = a.theta, a.theta, a.averageLambda
	if a.average.weight > 0 {
		s.Average = a.average.value()
		floats.ScaleTo(a.averageLambda, a.CostScale/a.average.weight, a.lambda.sum())
	}
	return nil
}

// String describes the settings with the defaults filled in.
func (a *primalDual) String() string {
	return fmt.Sprintf("%s, φ: %v, %v, G = %v, scale of costs %v", a.Name(), a.Modulus, a.StepSize, a.radius, a.CostScale)
}
