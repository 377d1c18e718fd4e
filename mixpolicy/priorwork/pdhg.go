package priorwork

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

var (
	_ mixpolicy.Method = PDHG{}
	_ mixpolicy.Run    = (*pdhg)(nil)
)

// PDHG is the primal–dual hybrid gradient method of Chambolle and Pock (2011) for (2.18)
// with known costs,
//
//	θ⁺ = Π(θ − (1/σ)Ψᵀ(c − λ)),   λ⁺ = [λ − σSΨ(2θ⁺ − θ)]₊,   Π onto Θ_R ∩ Θ₂,
//
// restarted from its average as Applegate, Hinder, Lu and Lubin (2023) do for linear
// programs: whenever the average is five times as good as the last start, or is as good
// as it will get before a new start helps more. Averages alone converge as 1/t;
// between restarts the error falls by a constant factor, so that the whole
// converges linearly (for polyhedral classes, and in practice for the ball). At a
// restart σ is set to the ratio of the ways that λ and θ have gone.
//
// Good is the certificate's own measure, the duality gap and the violation in units of
// cost. An iteration costs 2nmd operations, and a look at the restart every 16th as much
// again a few times. It asks the oracle nothing.
type PDHG struct {
	// Balance is the σ to begin with, in units of cost; 0 is c_max − c_min, or 1.
	Balance float64
}

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
	sigma, err := balance(p, a.Balance)
	if err != nil {
		return nil, err
	}
	d, pairs := p.Dim(), p.MDP().Pairs()
	r := &pdhg{
		s: newSaddle(p), sigma: sigma, theta: barycentre(d), lambda: make([]float64, pairs), next: make([]float64, d), ahead: make([]float64, d),
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
		return fmt.Errorf("priorwork: PDHG, iteration %d: %w", a.t, err)
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
	const look = 16 // a look takes as long as a few iterations
	if a.since%look == 0 {
		a.consider()
	}
	return nil
}

// consider restarts, if it is time: the criteria and their constants are those of
// Applegate et al., 0.2 for sufficient decrease, 0.8 for some decrease that has ended,
// and 0.36 of all iterations as the longest time without one.
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
	var way, wayLambda float64
	for j, v := range x.theta {
		way += (v - a.start.theta[j]) * (v - a.start.theta[j])
	}
	for i, v := range x.lambda {
		wayLambda += a.s.weights[i] * (v - a.start.lambda[i]) * (v - a.start.lambda[i])
	}
	a.start.set(x)
	copy(a.theta, x.theta)
	copy(a.lambda, x.lambda)
	if way > 0 && wayLambda > 0 {
		// Half of the change in the logarithm, as the ratio of one epoch is a rough guess.
		a.sigma = math.Sqrt(a.sigma * math.Sqrt(wayLambda/way))
	}
	a.since = 0
	clear(a.mean.theta)
	clear(a.mean.lambda)
	a.startError = a.error(a.start)
	a.candidate = a.startError
}

// View implements [mixpolicy.Run]. The answer is the best point that a look has seen.
func (a *pdhg) View(s *mixpolicy.Snapshot) error {
	s.Iteration, s.Queries, s.Last, s.Average, s.Lambda = a.t, 0, a.theta, a.best.theta, a.best.lambda
	return nil
}
