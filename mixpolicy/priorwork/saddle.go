package priorwork

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// saddle is (3.1) in well-scaled coordinates.
//
// Each column of Ψ adds up to 1; let r_i be the sum of row i, and S = diag(1/r_i). By the lemma of Pock and Chambolle
// (2011), ‖S^{1/2}Ψ‖₂ ≤ 1 for every problem, because by the Cauchy–Schwarz inequality,
//
//	‖S^{1/2}Ψθ‖² = Σ_i (Σ_j ψ_ijθ_j)²/r_i ≤ Σ_i Σ_j ψ_ijθ_j² = ‖θ‖².
//
// So a method that measures λ by ‖λ‖²_{S⁻¹} = Σ r_iλ_i² needs no estimate of ‖Ψ‖.
type saddle struct {
	p       *mixpolicy.Problem
	weights []float64 // r_i
	theta   []float64 // scratch: the gradient for θ
	lambda  []float64 // scratch: Ψθ
}

func newSaddle(p *mixpolicy.Problem) *saddle {
	f := p.Features()
	pairs := p.MDP().Pairs()
	s := &saddle{p: p, weights: make([]float64, pairs), theta: make([]float64, p.Dim()), lambda: make([]float64, pairs)}
	for j := range f.Dim() {
		for i, v := range f.Column(j) {
			s.weights[i] += v
		}
	}
	return s
}

// gradient returns ∇_θ 𝓛 = Ψᵀ(c − λ), borrowed.
func (s *saddle) gradient(lambda []float64) []float64 {
	s.p.GradTheta(s.theta, lambda)
	return s.theta
}

// ascend stores [λ − step·SΨθ]₊ in dst.
func (s *saddle) ascend(dst, lambda []float64, step float64, theta []float64) {
	s.p.Features().MulVec(s.lambda, theta)
	for i, v := range s.lambda {
		dst[i] = lambda[i]
		if w := s.weights[i]; w > 0 { // else the row is 0 and λ_i stays
			dst[i] = max(0, lambda[i]-step*v/w)
		}
	}
}

// MirrorProx is Nemirovski's method (2004) for the saddle point of (3.1) with known costs. It takes a trial step from
// (θ, λ) by mirror descent and ascent, and then a second step from the same (θ, λ), with the gradients at the trial
// point:
//
//	θ½ = step from θ along Ψᵀ(c − λ),    λ½ = [λ − ησSΨθ]₊,
//	θ  ← step from θ along Ψᵀ(c − λ½),   λ  ← [λ − ησSΨθ½]₊.
//
// Steps in θ are those of (3.25) with the length η/σ. The matrix S is diagonal, with S_ii = 1/Σ_j ψ_ij. The weight σ
// balances the steps in θ and λ: it is max c − min c, or 1 if all costs are equal. The answer (θ̂, λ̂) is the average
// of the points (θ½, λ½). For fixed (θ, λ), 𝓛(θ̂, λ) − 𝓛(θ, λ̂) is O(1/t) after t iterations, because the gradients of
// 𝓛 are Lipschitz continuous and have no noise. The user chooses only the modulus, which determines η. The certificate
// of a run contains the duality gap.
//
// An iteration costs 4nmd operations. The method makes no queries.
//
// Source: Nemirovski, SIAM Journal on Optimization 15(1), 2004.
//
// Deviations: see [Publications].
type MirrorProx struct {
	// Modulus is φ for θ; nil means the modulus of the problem's class.
	Modulus bregman.Modulus
}

// Name implements [mixpolicy.Method].
func (a MirrorProx) Name() string { return "mirror-prox" }

// mirrorProx is a run of [MirrorProx].
type mirrorProx struct {
	MirrorProx // with the defaults filled in

	s      *saddle
	m      *mixpolicy.Mirror
	eta    float64
	sigma  float64
	t      int
	before []float64 // ∇φ(θ)
	lambda []float64
	half   []float64 // λ½

	average, averageLambda []float64
}

// Start implements [mixpolicy.Method].
//
// If φ is μ-strongly convex in ℓ₂, the step size is η = √μ. The gradient of 𝓛 then has the Lipschitz constant
// ‖S^{1/2}Ψ‖₂/√μ ≤ 1/√μ in the norms √μ‖θ‖₂ and ‖λ‖_{S⁻¹}. The analysis allows step sizes up to the inverse of this
// Lipschitz constant.
func (a MirrorProx) Start(p *mixpolicy.Problem, _ *mixpolicy.Oracle) (mixpolicy.Run, error) {
	set, err := mixpolicy.Mirror{Phi: a.Modulus}.For(p)
	if err != nil {
		return nil, err
	}
	a.Modulus = set.Phi
	// ‖·‖_p ≥ ‖·‖₂ for p ≤ 2, so a constant for such a norm also holds for ℓ₂.
	mu, norm, ok := bregman.StrongConvexity(a.Modulus)
	if !ok || norm > 2 {
		return nil, fmt.Errorf("priorwork: mirror-prox with %v: no constant of strong convexity in ℓ_p with p ≤ 2 is known, "+
			"want a bregman.StrongConvexer that returns μ > 0 and p ≤ 2", a.Modulus)
	}
	set.Eta = mixpolicy.Constant(math.Sqrt(mu))
	d, pairs := p.Dim(), p.MDP().Pairs()
	return &mirrorProx{
		MirrorProx: a, s: newSaddle(p), m: set.Begin(nil), eta: math.Sqrt(mu), sigma: balance(p), before: make([]float64, d),
		lambda: make([]float64, pairs), half: make([]float64, pairs), average: barycentre(d), averageLambda: make([]float64, pairs),
	}, nil
}

// balance returns max c − min c, or 1 if all costs are equal. This number scales λ, which has the unit of costs.
func balance(p *mixpolicy.Problem) float64 {
	lo, hi := p.MDP().CostRange()
	return cmp.Or(hi-lo, 1)
}

// Step implements [mixpolicy.Run].
func (a *mirrorProx) Step() error {
	copy(a.before, a.m.Dual)
	if err := a.descend(a.half, a.lambda); err != nil { // the trial step, to θ½ and λ½
		return err
	}
	copy(a.m.Dual, a.before)
	if err := a.descend(a.lambda, a.half); err != nil { // again from θ and λ, along the gradients at θ½ and λ½
		return err
	}
	a.t++
	mean(a.average, a.m.Before, 1/float64(a.t))
	mean(a.averageLambda, a.half, 1/float64(a.t))
	return nil
}

// descend takes a step in θ along the gradient at λ = at. In dst, it stores the result of a step from a.lambda along
// the gradient at the old a.m.Theta, which is θ in the trial step and θ½ in the second step.
func (a *mirrorProx) descend(dst, at []float64) error {
	if _, err := a.m.Step(1, a.sigma, a.s.gradient(at)); err != nil {
		return fault.At("priorwork", "mirror-prox", err)
	}
	a.s.ascend(dst, a.lambda, a.eta*a.sigma, a.m.Before)
	return nil
}

// mean moves an average towards x, which has the weight w in the new average.
func mean(average, x []float64, w float64) {
	for i, v := range x {
		average[i] += w * (v - average[i])
	}
}

// View implements [mixpolicy.Run].
func (a *mirrorProx) View(s *mixpolicy.Snapshot) error {
	*s = mixpolicy.Snapshot{Last: a.m.Theta, Average: a.average, Lambda: a.averageLambda}
	return nil
}

// PDHG is the primal–dual hybrid gradient method of Chambolle and Pock (2011) for (2.18) with known costs,
//
//	θ⁺ = Π(θ − (1/σ)Ψᵀ(c − λ)),   λ⁺ = [λ − σSΨ(2θ⁺ − θ)]₊,   Π: projection onto Θ_R ∩ Θ₂,   S as in [MirrorProx],
//
// with the restarts of Applegate, Hinder, Lu and Lubin (2023) for linear programs. PDHG restarts from the last iterate
// or from the average of the iterates since the last restart, whichever has the smaller error (defined below). PDHG
// restarts in three cases: this error is at most a fifth of the error at the last restart; this error is at most four
// fifths of the error at the last restart, and exceeds the error at the preceding test; or at least 0.36 of all
// iterations came after the last restart. Without restarts, the average (θ̂, λ̂) after t iterations has 𝓛(θ̂, λ) − 𝓛(θ,
// λ̂) = O(1/t) for every fixed (θ, λ). The restarts of Applegate et al. (2023), which use another error, make the
// method converge linearly if Θ_R is a polyhedron. For the ball, we observe linear convergence, but know of no theorem
// that promises it. The weight σ starts at max c − min c, or at 1 if all costs are equal. At a restart, σ becomes
// √(σ d_λ/d_θ), where d_λ and d_θ are the distances, in λ and in θ, between the new starting point and the preceding
// one. If one of these distances is 0, σ does not change.
//
// The error is the sum of two numbers: the absolute value of the duality gap, and σ times the negative mass ‖[Ψθ]₋‖₁.
// An iteration costs 2nmd operations. Every 16 iterations, PDHG tests whether to restart; this test costs as much as a
// few iterations. The method makes no queries.
//
// Source: Chambolle and Pock, Journal of Mathematical Imaging and Vision 40(1), 2011. The restarts are from Applegate,
// Hinder, Lu and Lubin, Mathematical Programming 201, 2023. The rules for the times of the restarts and for σ are from
// Applegate et al., NeurIPS 2021. The constants are from Lu and Yang's cuPDLP.jl, 2023.
//
// Deviations: see [Publications].
type PDHG struct{}

type point struct{ theta, lambda []float64 }

func newPoint(d, pairs int) point { return point{make([]float64, d), make([]float64, pairs)} }

func (p point) set(q point) { copy(p.theta, q.theta); copy(p.lambda, q.lambda) }

// Name implements [mixpolicy.Method].
func (a PDHG) Name() string { return "restarted PDHG" }

// pdhg is a run of [PDHG].
type pdhg struct {
	s           *saddle
	sigma       float64
	t, since    int       // iterations in all, and since the last restart
	at          point     // the iterate
	next, ahead []float64 // θ⁺, 2θ⁺ − θ
	mean        point     // the mean of the iterates since the last restart
	start       point     // the point of the last restart
	startError  float64
	candidate   float64 // the error at the last test since the restart, or startError if there was none
	best        point   // the answer
	bestError   float64
}

// Start implements [mixpolicy.Method].
func (a PDHG) Start(p *mixpolicy.Problem, _ *mixpolicy.Oracle) (mixpolicy.Run, error) {
	d, pairs := p.Dim(), p.MDP().Pairs()
	r := &pdhg{
		s: newSaddle(p), sigma: balance(p), at: point{barycentre(d), make([]float64, pairs)},
		next: make([]float64, d), ahead: make([]float64, d),
		mean: newPoint(d, pairs), start: newPoint(d, pairs), best: newPoint(d, pairs),
	}
	r.start.set(r.at)
	r.best.set(r.start)
	r.startError = r.error(r.start)
	r.bestError, r.candidate = r.startError, r.startError
	return r, nil
}

// error returns the absolute value of the duality gap plus σ times the negative mass, in units of cost. It returns +∞
// if the class is unbounded and Ψᵀ(c − λ) is not a multiple of the vector 1.
func (a *pdhg) error(x point) float64 {
	p := a.s.p
	return math.Abs(p.Objective(x.theta)-p.DualBound(x.lambda)) + a.sigma*p.NegativeMass(x.theta)
}

// Step implements [mixpolicy.Run].
func (a *pdhg) Step() error {
	if err := a.image(a.next, a.at.lambda); err != nil {
		return err
	}
	copy(a.at.theta, a.next)
	a.since++
	mean(a.mean.theta, a.at.theta, 1/float64(a.since))
	mean(a.mean.lambda, a.at.lambda, 1/float64(a.since))
	const period = 16 // the test takes as long as a few iterations
	if a.since%period == 0 {
		a.consider()
	}
	return nil
}

// image stores θ⁺ and λ⁺, and counts an iteration.
func (a *pdhg) image(theta, lambda []float64) error {
	c := a.s.p.Class()
	floats.AddScaledTo(theta, a.at.theta, -1/a.sigma, a.s.gradient(a.at.lambda))
	if err := c.Norm.Project(theta, theta, c.R); err != nil {
		return fault.At("priorwork", fmt.Sprintf("PDHG, iteration %d", a.t), err)
	}
	floats.AddScaledTo(a.ahead, theta, 1, theta)
	floats.Sub(a.ahead, a.at.theta)
	a.s.ascend(lambda, a.at.lambda, a.sigma, a.ahead)
	a.t++
	return nil
}

// consider keeps the best point, and restarts if one of the three criteria of [PDHG] holds.
func (a *pdhg) consider() {
	x, e := a.mean, a.error(a.mean)
	if f := a.error(a.at); f < e {
		x, e = a.at, f
	}
	if e < a.bestError {
		a.best.set(x)
		a.bestError = e
	}
	if e <= .2*a.startError || e <= .8*a.startError && e > a.candidate || float64(a.since) >= .36*float64(a.t) {
		a.restart(x)
		return
	}
	a.candidate = e
}

func (a *pdhg) restart(x point) {
	a.begin(x, math.Inf(1))
	clear(a.mean.theta)
	clear(a.mean.lambda)
	a.startError = a.error(a.start)
	a.candidate = a.startError
}

// begin restarts at x, after a change of σ by a factor between 1/most and most. Within these limits, the new σ is the
// geometric mean of the old σ and the ratio d_λ/d_θ of [PDHG], because the ratio at a single restart is a rough guess.
func (a *pdhg) begin(x point, most float64) {
	if far, farLambda := a.moved(x, a.start); far > 0 && farLambda > 0 {
		a.sigma *= min(most, max(1/most, math.Sqrt(farLambda/far/a.sigma)))
	}
	a.start.set(x)
	a.at.set(x)
	a.since = 0
}

// moved returns the distances between x and y: in ‖·‖₂ for θ, and in ‖·‖_{S⁻¹} for λ.
func (a *pdhg) moved(x, y point) (theta, lambda float64) {
	for i, v := range x.lambda {
		lambda += a.s.weights[i] * (v - y.lambda[i]) * (v - y.lambda[i])
	}
	return floats.Distance(x.theta, y.theta, 2), math.Sqrt(lambda)
}

// View implements [mixpolicy.Run]. The answer is the point with the least error among the starting point and the tested
// points.
func (a *pdhg) View(s *mixpolicy.Snapshot) error {
	*s = mixpolicy.Snapshot{Last: a.at.theta, Average: a.best.theta, Lambda: a.best.lambda}
	return nil
}
