package priorwork

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

var (
	_ mixpolicy.Method = MirrorProx{}
	_ mixpolicy.Run    = (*mirrorProx)(nil)
	_ mixpolicy.Method = PDHG{}
	_ mixpolicy.Run    = (*pdhg)(nil)
)

// saddle is (3.1) in coordinates in which it is well scaled.
//
// A column of Ψ adds up to 1; let r_i be the sum of row i, and S = diag(1/r_i). By the lemma
// of Pock and Chambolle (2011) ‖S^{1/2}Ψ‖₂ ≤ 1, whatever the problem: with Cauchy and Schwarz,
//
//	‖S^{1/2}Ψθ‖² = Σ_i (Σ_j ψ_ijθ_j)²/r_i ≤ Σ_i Σ_j ψ_ijθ_j² = ‖θ‖².
//
// So a method that measures λ by ‖λ‖²_{S⁻¹} = Σ r_iλ_i² needs no estimate of ‖Ψ‖.
type saddle struct {
	p       *mixpolicy.Problem
	weights []float64 // r_i
	theta   []float64 // gradients, scratch
	lambda  []float64
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

// MirrorProx is Nemirovski's method (2004) for the saddle point of (3.1) when the costs
// are known: a step of mirror descent and ascent is taken as a trial, and repeated from
// the same place with the gradients of where it led,
//
//	θ½ = step from θ along Ψᵀ(c − λ),    λ½ = [λ − ησSΨθ]₊,
//	θ  ← step from θ along Ψᵀ(c − λ½),   λ  ← [λ − ησSΨθ½]₊,
//
// where steps in θ are those of (3.25), with length η/σ, and σ = c_max − c_min, or 1 if that is 0,
// is the length of a step in λ relative to one in θ. The answer is the average of
// the (θ½, λ½), whose duality gap falls as 1/t: 𝓛 is bilinear, so nothing is lost to
// noise, and nothing but η needs to be chosen, which the modulus does. The
// certificate of a run holds the gap.
//
// An iteration costs 4nmd operations. It makes no query.
//
// Source: Nemirovski, SIAM Journal on Optimization 15(1), 2004.
//
// Deviations:
//   - λ ⪰ 0 has no bound, where the source has compact sets: its bound holds for each (θ, λ),
//     not for all at once, and the gap of the certificate is computed and not assumed.
//   - Steps are constant, the longest that the analysis allows, so that the weighted mean of the
//     source is the plain one.
type MirrorProx struct {
	// Modulus is φ for θ; nil is that of the problem's class.
	Modulus bregman.Modulus
}

// Name implements [mixpolicy.Method].
func (a MirrorProx) Name() string { return "mirror-prox" }

// mirrorProx is a run of [MirrorProx].
type mirrorProx struct {
	MirrorProx // with the defaults filled in

	s        *saddle
	eta      float64
	sigma    float64
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
	r := &mirrorProx{
		MirrorProx: a, s: newSaddle(p), eta: math.Sqrt(mu), sigma: balance(p), last: barycentre(d), average: barycentre(d),
		theta: make([]float64, d), y: make([]float64, d), trial: make([]float64, d), scratch: make([]float64, d),
		lambda: make([]float64, pairs), half: make([]float64, pairs), averageLambda: make([]float64, pairs),
	}
	a.Modulus.Gradient(r.y, r.last)
	return r, nil
}

// balance returns c_max − c_min, or 1 if that is 0: a scale of λ, which is a cost.
func balance(p *mixpolicy.Problem) float64 {
	if lo, hi := p.MDP().CostRange(); hi > lo {
		return hi - lo
	}
	return 1
}

// Step implements [mixpolicy.Run].
func (a *mirrorProx) Step() error {
	if err := a.descend(a.trial, a.theta, a.lambda); err != nil {
		return err
	}
	a.s.ascend(a.half, a.lambda, a.eta*a.sigma, a.last)
	if err := a.descend(a.y, a.last, a.half); err != nil {
		return err
	}
	a.s.ascend(a.lambda, a.lambda, a.eta*a.sigma, a.theta)
	a.t++
	mean(a.average, a.theta, a.t)
	mean(a.averageLambda, a.half, a.t)
	return nil
}

// descend steps from y along the gradient at λ to a point with the dual coordinates dst.
func (a *mirrorProx) descend(dst, theta, lambda []float64) error {
	floats.AddScaledTo(dst, a.y, -a.eta/a.sigma, a.s.gradient(lambda))
	if _, err := bregman.ProjectDual(a.Modulus, dst, a.scratch); err != nil {
		return fault.At("priorwork", fmt.Sprintf("mirror-prox, iteration %d", a.t), err)
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

// PDHG is the primal–dual hybrid gradient method of Chambolle and Pock (2011) for (2.18)
// with known costs,
//
//	θ⁺ = Π(θ − (1/σ)Ψᵀ(c − λ)),   λ⁺ = [λ − σSΨ(2θ⁺ − θ)]₊,   Π onto Θ_R ∩ Θ₂,
//
// restarted from its average as Applegate, Hinder, Lu and Lubin (2023) do for linear
// programs: when the error of the average is a fifth of that at the last restart, or four
// fifths of it and no longer falling. Averages alone converge as 1/t; between restarts the
// error falls by a constant factor, so the whole converges linearly (for polyhedral classes,
// and in practice for the ball). σ starts at c_max − c_min, and at a restart moves half of the
// way, in its logarithm, to the ratio of the distances that λ and θ have moved.
//
// The error is that of the certificate, the duality gap plus the violation in units of cost.
// An iteration costs 2nmd operations, and the test for a restart, every 16 iterations, a few
// times as much. It makes no query.
//
// Source: Chambolle and Pock, Journal of Mathematical Imaging and Vision 40(1), 2011; its restarts,
// Applegate, Hinder, Lu and Lubin, Mathematical Programming 201, 2023; when to restart and the
// weight σ, Applegate et al., NeurIPS 2021; the constants, Lu and Yang's cuPDLP.jl, 2023.
//
// Deviations:
//   - The error is the gap and the violation of the certificate, since that is what is reported;
//     the sources have a normalised duality gap (2021, 2023) and the residual of the optimality
//     conditions (cuPDLP.jl).
//   - Rows are scaled by their sums, with steps of the length that this allows (Pock and
//     Chambolle 2011), where the later sources scale the matrix again and again and search for a
//     step: for a Ψ whose columns add up to 1 no norm needs to be estimated.
//   - A restart is considered every 16 iterations; cuPDLP.jl has 40. After a restart an error
//     counts as growing from that of the restart on; cuPDLP.jl compares with the last one before
//     it.
//   - Θ_R may be a ball, for which no theorem promises linear convergence.
//   - The answer is the best point tested, where the sources have the last one.
type PDHG struct{}

type point struct{ theta, lambda []float64 }

func newPoint(d, pairs int) point { return point{make([]float64, d), make([]float64, pairs)} }

func (p point) set(q point) { copy(p.theta, q.theta); copy(p.lambda, q.lambda) }

// Name implements [mixpolicy.Method].
func (a PDHG) Name() string { return "restarted PDHG" }

// pdhg is a run of [PDHG].
type pdhg struct {
	s             *saddle
	sigma         float64
	t, since      int       // iterations in all, since the restart
	theta, lambda []float64 // the iterate
	next, ahead   []float64 // θ⁺, 2θ⁺ − θ
	mean          point     // since the restart
	start         point
	startError    float64
	candidate     float64 // error of the last candidate
	best          point   // the answer
	bestError     float64
}

// Start implements [mixpolicy.Method].
func (a PDHG) Start(p *mixpolicy.Problem, _ *mixpolicy.Oracle) (mixpolicy.Run, error) {
	d, pairs := p.Dim(), p.MDP().Pairs()
	r := &pdhg{
		s: newSaddle(p), sigma: balance(p), theta: barycentre(d), lambda: make([]float64, pairs), next: make([]float64, d), ahead: make([]float64, d),
		mean: newPoint(d, pairs), start: newPoint(d, pairs), best: newPoint(d, pairs),
	}
	r.start.set(point{r.theta, r.lambda})
	r.best.set(r.start)
	r.startError = r.error(r.start)
	r.bestError, r.candidate = r.startError, r.startError
	return r, nil
}

// error is the duality gap in units of cost, plus the negative mass at the price σ. It
// is +∞ where the class is unbounded and λ does not balance the gradient.
func (a *pdhg) error(x point) float64 {
	p := a.s.p
	return math.Abs(p.Objective(x.theta)-p.DualBound(x.lambda)) + a.sigma*p.NegativeMass(x.theta)
}

// Step implements [mixpolicy.Run].
func (a *pdhg) Step() error {
	c := a.s.p.Class()
	floats.AddScaledTo(a.next, a.theta, -1/a.sigma, a.s.gradient(a.lambda))
	if err := c.Norm.Project(a.next, a.next, c.R); err != nil {
		return fault.At("priorwork", fmt.Sprintf("PDHG, iteration %d", a.t), err)
	}
	for j, v := range a.next {
		a.ahead[j] = 2*v - a.theta[j]
	}
	a.s.ascend(a.lambda, a.lambda, a.sigma, a.ahead)
	copy(a.theta, a.next)
	a.t++
	a.since++
	mean(a.mean.theta, a.theta, a.since)
	mean(a.mean.lambda, a.lambda, a.since)
	const period = 16 // the test takes as long as a few iterations
	if a.since%period == 0 {
		a.consider()
	}
	return nil
}

// consider restarts if a criterion says so, with the constants of cuPDLP.jl: 0.2 for sufficient
// decrease, 0.8 for some decrease that has ended, and 0.36 of all iterations as the longest time
// without a restart.
func (a *pdhg) consider() {
	current := point{a.theta, a.lambda}
	x, e := a.mean, a.error(a.mean)
	if f := a.error(current); f < e {
		x, e = current, f
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
	var moved, movedLambda float64
	for j, v := range x.theta {
		moved += (v - a.start.theta[j]) * (v - a.start.theta[j])
	}
	for i, v := range x.lambda {
		movedLambda += a.s.weights[i] * (v - a.start.lambda[i]) * (v - a.start.lambda[i])
	}
	a.start.set(x)
	copy(a.theta, x.theta)
	copy(a.lambda, x.lambda)
	if moved > 0 && movedLambda > 0 {
		// Half of the change in the logarithm, as the ratio of one epoch is a rough guess.
		a.sigma = math.Sqrt(a.sigma * math.Sqrt(movedLambda/moved))
	}
	a.since = 0
	clear(a.mean.theta)
	clear(a.mean.lambda)
	a.startError = a.error(a.start)
	a.candidate = a.startError
}

// View implements [mixpolicy.Run]. The answer is the best point tested.
func (a *pdhg) View(s *mixpolicy.Snapshot) error {
	s.Iteration, s.Queries, s.Last, s.Average, s.Lambda = a.t, 0, a.theta, a.best.theta, a.best.lambda
	return nil
}
