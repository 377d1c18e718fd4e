package mixpolicy

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// Mirror is the part that mirror-descent methods share: the sample of (3.5a), the mirror step (3.25),
// the average (3.27a) and the default settings. A method adds only its gradient and, if it has
// multipliers, these multipliers and a View of its own. The zero value, once started, runs with the
// modulus of the problem's class, η_t = 1/√(t+1), costs divided by c_max, and θ₀ = (1/d, …, 1/d).
type Mirror struct {
	// Phi is φ; nil means [DefaultModulus] of the problem's class.
	Phi bregman.Modulus
	// Eta is η; nil means InverseSqrt(1).
	Eta StepSize
	// Scale divides every observed cost, so that η need not depend on the unit of cost; 0 means
	// c_max = max |c|, which the learner knows by assumption (A.3)(i).
	Scale float64
	// Recency is p, from 0 to 30: θ_t has the weight w_t = η_t(t+1)ᵖ in θ̂ = Σ wθ / Σ w. For p = 0, θ̂ is (3.27a). For
	// p > 0, early iterates have a smaller share of the total weight than for p = 0. For constant η, the last half of
	// the iterates has about the share 1 − 2^{−p−1}. The polynomial weights of Shamir and Zhang (ICML 2013) have the
	// same effect.
	Recency float64
	// Project changes y = ∇φ(θ̃) so that θ = ∇φ*(y) meets the method's constraints; nil means (3.25b), y ← y + z1.
	Project func(y []float64) error

	T             int       // iterations done
	Theta, Before []float64 // θ_T and θ_{T−1}; before the start, Theta is θ₀, and nil means (1/d, …, 1/d)
	Dual          []float64 // y = ∇φ(θ_T), kept because, near the boundary of the domain, θ_T does not determine y accurately
	Row           []float64 // Ψ_a(s) of the last sample
	WeightBefore  float64   // w_{T−1}, the weight of Before
	SumEta        float64   // Σ w, which is Σ η for p = 0
	SumTheta      []float64 // Σ wθ

	oracle  *Oracle
	average []float64
}

// maxRecency is the greatest p. With this p and η_t ≤ 1, the sum of the weights stays finite for 9·10⁹ iterations.
const maxRecency = 30.0

// For returns the settings with the defaults filled in. It returns an error if a setting is out of
// range, if Phi is nil and no modulus is known for the class, or if the domain of the modulus does
// not meet the hyperplane. It also returns an error if θ₀ is off the hyperplane, outside the class,
// or not in the interior of the domain.
func (m Mirror) For(p *Problem) (Mirror, error) {
	c := p.class
	if m.Phi == nil {
		if c.Norm == linprog.L1 && c.R != 1 && !math.IsInf(c.R, 1) {
			return m, fmt.Errorf("mixpolicy: no modulus is known for the class %v, want one of your own, or R = 1, the simplex", c)
		}
		m.Phi = DefaultModulus(c)
	}
	err := bregman.Validate(m.Phi, p.Dim())
	if err != nil {
		return m, err
	}
	if m.Eta, err = Steps(m.Eta); err != nil {
		return m, err
	}
	if m.Scale, err = p.CostScale(m.Scale); err != nil {
		return m, err
	}
	if !(m.Recency >= 0 && m.Recency <= maxRecency) {
		return m, fmt.Errorf("mixpolicy: recency p = %v, want a number from 0 to %v", m.Recency, maxRecency)
	}
	if m.Theta, err = startingPoint(p, m.Theta); err != nil {
		return m, err
	}
	if err := bregman.CheckDomain(m.Phi, m.Theta); err != nil {
		return m, fault.At("mixpolicy", "θ₀ is not in the interior of the domain of the modulus", err)
	}
	return m, nil
}

// Start fills in the defaults and starts a run. It returns the errors of [Mirror.For].
func (m Mirror) Start(p *Problem, o *Oracle) (*Mirror, error) {
	m, err := m.For(p)
	if err != nil {
		return nil, err
	}
	return m.Begin(o), nil
}

// Begin starts a run from θ₀ = Theta, and makes every allocation that the run needs. The settings must
// have their defaults filled in (see [Mirror.For]). The oracle may be nil if the method draws no pairs.
func (m Mirror) Begin(o *Oracle) *Mirror {
	d := len(m.Theta)
	m.T, m.SumEta, m.oracle, m.Theta = 0, 0, o, slices.Clone(m.Theta)
	m.Before, m.Dual, m.SumTheta, m.average = make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	if o != nil {
		m.Row = make([]float64, o.f.Dim())
	}
	if m.Project == nil {
		phi, scratch := m.Phi, make([]float64, d)
		m.Project = func(y []float64) error {
			_, err := bregman.ProjectDual(phi, y, scratch)
			return err
		}
	}
	m.Phi.Gradient(m.Dual, m.Theta)
	return &m
}

// Sample draws (s,a) ~ q. It returns the pair, the revealed cost divided by Scale, and q_a(s). It stores Ψ_a(s)
// in Row.
func (m *Mirror) Sample() (pair int, cost, q float64) {
	pair, cost = m.oracle.Sample()
	m.oracle.f.Row(m.Row, pair)
	return pair, cost / m.Scale, m.oracle.f.sampling[pair]
}

// Step performs (3.25) with the gradient ĝ = (slope/q)·row, such as (3.5a); for any other gradient g,
// call Step(1, 1, g). Before θ moves, Step adds wθ to SumTheta. After the step, the field Before
// holds the previous θ. Step returns η.
func (m *Mirror) Step(slope, q float64, row []float64) (eta float64, err error) {
	if eta, err = stepAt(m.Eta, m.T); err != nil {
		return 0, err
	}
	factor := eta * slope / q
	for j, v := range row {
		m.Dual[j] -= factor * v
	}
	if err := m.Project(m.Dual); err != nil {
		return eta, fault.At("mixpolicy", fmt.Sprintf("iteration %d", m.T), err)
	}
	if m.WeightBefore = eta; m.Recency > 0 {
		m.WeightBefore *= math.Pow(float64(m.T+1), m.Recency)
	}
	m.SumEta += m.WeightBefore
	floats.AddScaled(m.SumTheta, m.WeightBefore, m.Theta)
	m.Theta, m.Before = m.Before, m.Theta
	m.Phi.ConjugateGradient(m.Theta, m.Dual)
	m.T++
	return eta, nil
}

// Average returns θ̂ = Σ wθ / Σ w, or θ₀ before the first step. The slice is valid until the next step.
func (m *Mirror) Average() []float64 {
	if m.SumEta == 0 {
		return m.Theta
	}
	return floats.ScaleTo(m.average, 1/m.SumEta, m.SumTheta)
}

// View sets *s to the present state, for a method without multipliers.
func (m *Mirror) View(s *Snapshot) error {
	*s = Snapshot{Last: m.Theta, Average: m.Average()}
	return nil
}

// DefaultModulus returns the modulus whose domain agrees with the class on the hyperplane 1ᵀθ = 1.
// For ‖θ‖₁ ≤ R with finite R ≠ 1, no such modulus is known, and DefaultModulus returns negative
// entropy, the modulus of the simplex.
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

// CostScale returns the number by which a method divides observed costs. Here, k is the method's field
// CostScale. The result is k or, for k = 0, c_max = max |c| (1 if all costs are 0). The [Printed]
// form of [PrimalDual] replaces k = 0 by 1 before it calls CostScale.
func (p *Problem) CostScale(k float64) (float64, error) {
	if k == 0 {
		lo, hi := p.MDP().CostRange()
		return cmp.Or(max(-lo, hi), 1), nil
	}
	if !(k > 0) || math.IsInf(k, 1) {
		return 0, fmt.Errorf("mixpolicy: CostScale = %v, want a finite number > 0, or 0 for the default", k)
	}
	return k, nil
}

// startingPoint returns θ₀: (1/d, …, 1/d) for nil, and otherwise the given point. A point
// outside the class or off the hyperplane is an error.
func startingPoint(p *Problem, start []float64) ([]float64, error) {
	d := p.Dim()
	if start == nil {
		return constant(d, 1/float64(d)), nil
	}
	if len(start) != d {
		return nil, fmt.Errorf("mixpolicy: θ₀ has %d entries, want d = %d", len(start), d)
	}
	var total, size float64
	for j, v := range start {
		if !finite(v) {
			return nil, fmt.Errorf("mixpolicy: θ₀ entry %d is %v, want a finite number", j, v)
		}
		total += v
		size += math.Abs(v)
	}
	// Each entry may be rounded, and the sum is rounded once per entry.
	if math.Abs(total-1) > float64(2*d)*0x1p-53*size {
		return nil, fmt.Errorf("mixpolicy: θ₀ adds up to %v, want 1", total)
	}
	if size := p.class.Size(start); size > p.class.R {
		return nil, fmt.Errorf("mixpolicy: θ₀ has norm %v, outside the class %v", size, p.class)
	}
	return start, nil
}
