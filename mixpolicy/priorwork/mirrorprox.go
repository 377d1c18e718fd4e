package priorwork

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

var (
	_ mixpolicy.Method = MirrorProx{}
	_ mixpolicy.Run    = (*mirrorProx)(nil)
)

// MirrorProx is Nemirovski's method (2004) for the saddle point of (3.1) when the costs
// are known: a step of mirror descent and ascent is taken as a trial, and repeated from
// the same place with the gradients of where it led,
//
//	θ½ = step from θ along Ψᵀ(c − λ),    λ½ = [λ − ησSΨθ]₊,
//	θ  ← step from θ along Ψᵀ(c − λ½),   λ  ← [λ − ησSΨθ½]₊,
//
// where steps in θ are those of (3.25), with length η/σ. The answer is the average of
// the (θ½, λ½), whose duality gap falls as 1/t: 𝓛 is bilinear, so nothing is lost to
// noise, and nothing but η needs to be chosen, which the modulus does. The
// certificate of a run holds the gap.
//
// An iteration costs 4nmd operations. It asks the oracle nothing.
type MirrorProx struct {
	// Modulus is φ for θ; nil is that of the problem's class.
	Modulus bregman.Modulus
	// Balance is σ, the length of a step in λ relative to one in θ, in units of cost; 0 is
	// c_max − c_min, or 1 if that is 0.
	Balance float64
}

// Name implements [mixpolicy.Method].
func (a MirrorProx) Name() string { return "mirror-prox" }

// mirrorProx is a run of [MirrorProx].
type mirrorProx struct {
	MirrorProx // with the defaults filled in

	s        *saddle
	eta      float64
	t        int
	y, trial []float64 // ∇φ(θ), ∇φ(θ½)
	theta    []float64 // θ½
	last     []float64 // θ
	lambda   []float64
	half     []float64 // λ½
	scratch  []float64

	average, averageLambda []float64
}

// Start implements [mixpolicy.Method].
//
// The step: for φ μ-strongly convex in ℓ₂, 𝓛 has in the norms √μ‖θ‖₂ and ‖λ‖_{S⁻¹} a gradient
// with the Lipschitz constant ‖S^{1/2}Ψ‖₂/√μ ≤ 1/√μ, and η = √μ is what the method allows.
func (a MirrorProx) Start(p *mixpolicy.Problem, _ *mixpolicy.Oracle) (mixpolicy.Run, error) {
	if a.Modulus == nil {
		a.Modulus = mixpolicy.DefaultModulus(p.Class())
	}
	d, pairs := p.Dim(), p.MDP().Pairs()
	if err := bregman.Validate(a.Modulus, d); err != nil {
		return nil, err
	}
	// ‖·‖_p ≥ ‖·‖₂ for p ≤ 2, so that a constant for such a norm is one for ℓ₂.
	mu, norm, ok := bregman.StrongConvexity(a.Modulus)
	if !ok {
		return nil, fmt.Errorf("priorwork: mirror-prox with %v: its strong convexity is not known, want a modulus that is a bregman.StrongConvexer", a.Modulus)
	}
	if norm > 2 {
		return nil, fmt.Errorf("priorwork: mirror-prox with %v: strongly convex in ℓ%v, want ℓ₂ or ℓ₁", a.Modulus, norm)
	}
	var err error
	if a.Balance, err = balance(p, a.Balance); err != nil {
		return nil, err
	}
	r := &mirrorProx{
		MirrorProx: a, s: newSaddle(p), eta: math.Sqrt(mu), last: barycentre(d), average: barycentre(d),
		theta: make([]float64, d), y: make([]float64, d), trial: make([]float64, d), scratch: make([]float64, d),
		lambda: make([]float64, pairs), half: make([]float64, pairs), averageLambda: make([]float64, pairs),
	}
	a.Modulus.Gradient(r.y, r.last)
	return r, nil
}

func balance(p *mixpolicy.Problem, sigma float64) (float64, error) {
	if sigma == 0 {
		if lo, hi := p.MDP().CostRange(); hi > lo {
			return hi - lo, nil
		}
		return 1, nil
	}
	if !(sigma > 0) || math.IsInf(sigma, 1) {
		return 0, fmt.Errorf("priorwork: Balance = %v, want a finite number > 0", sigma)
	}
	return sigma, nil
}

// Step implements [mixpolicy.Run].
func (a *mirrorProx) Step() error {
	if err := a.descend(a.trial, a.theta, a.lambda); err != nil {
		return err
	}
	a.s.ascend(a.half, a.lambda, a.eta*a.Balance, a.last)
	if err := a.descend(a.y, a.last, a.half); err != nil {
		return err
	}
	a.s.ascend(a.lambda, a.lambda, a.eta*a.Balance, a.theta)
	a.t++
	mean(a.average, a.theta, a.t)
	mean(a.averageLambda, a.half, a.t)
	return nil
}

// descend steps from y along the gradient at λ to a point with the dual coordinates dst.
func (a *mirrorProx) descend(dst, theta, lambda []float64) error {
	floats.AddScaledTo(dst, a.y, -a.eta/a.Balance, a.s.gradient(lambda))
	if _, err := bregman.ProjectDual(a.Modulus, dst, a.scratch); err != nil {
		return fmt.Errorf("priorwork: mirror-prox, iteration %d: %w", a.t, err)
	}
	a.Modulus.ConjugateGradient(theta, dst)
	return nil
}

// mean adds the t-th vector to an average.
func mean(average, x []float64, t int) {
	w := 1 / float64(t)
	for i, v := range x {
		average[i] += w * (v - average[i])
	}
}

// View implements [mixpolicy.Run].
func (a *mirrorProx) View(s *mixpolicy.Snapshot) error {
	s.Iteration, s.Queries, s.Last, s.Average, s.Lambda = a.t, 0, a.last, a.average, a.averageLambda
	return nil
}
