package priorwork

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// HalpernPDHG is reflected restarted Halpern PDHG for (2.18) with known costs. With T a step of [PDHG] from z = (θ, λ),
// k steps after a restart at z₀,
//
//	z ← (k+1)/(k+2)·(2T(z) − z) + z₀/(k+2),
//
// whose residual ‖z − T(z)‖ falls as 1/k, in the norm √(σ‖θ‖² + ‖λ‖²_{S⁻¹}/σ), and so that of the last point, without
// averages. It restarts at T(z) when the residual is a fifth of that at the last restart, or four fifths of it and growing, or
// after 0.36 of all steps. σ then moves half of the way, in its logarithm, to the ratio of the distances that λ and θ have
// moved; a safeguard keeps each change within a factor of 2, so that no one epoch can spoil it.
//
// A step costs 2nmd operations, and every 16th a few times as much. It makes no query.
//
// Source: Lu and Yang, arXiv 2407.16144, 2024; for large programs, Lu, Peng and Yang, cuPDLPx, arXiv 2507.14051, 2025.
//
// Deviations: see [Publications].
type HalpernPDHG struct{}

// Name implements [mixpolicy.Method].
func (a HalpernPDHG) Name() string { return "reflected Halpern PDHG" }

// halpern is a run of [HalpernPDHG]. The iterate z, the steps since the restart, and what a certificate
// tests are those of a pdhg.
type halpern struct {
	pdhg
	image               point   // T(z)
	firstMove, lastMove float64 // ‖z − T(z)‖ at the restart, and in the last step
}

// Start implements [mixpolicy.Method].
func (a HalpernPDHG) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	r, err := PDHG{}.Start(p, o)
	if err != nil {
		return nil, err
	}
	return &halpern{pdhg: *r.(*pdhg), image: newPoint(p.Dim(), p.MDP().Pairs())}, nil
}

// Step implements [mixpolicy.Run].
func (a *halpern) Step() error {
	c := a.s.p.Class()
	floats.AddScaledTo(a.image.theta, a.theta, -1/a.sigma, a.s.gradient(a.lambda))
	if err := c.Norm.Project(a.image.theta, a.image.theta, c.R); err != nil {
		return fault.At("priorwork", fmt.Sprintf("Halpern PDHG, iteration %d", a.t), err)
	}
	floats.ScaleTo(a.ahead, 2, a.image.theta)
	floats.Sub(a.ahead, a.theta)
	a.s.ascend(a.image.lambda, a.lambda, a.sigma, a.ahead)
	a.t++
	if a.t%16 == 0 {
		if e := a.error(a.image); e < a.bestError {
			a.best.set(a.image)
			a.bestError = e
		}
	}
	far, farLambda := a.moved(point{a.theta, a.lambda}, a.image)
	move := math.Hypot(math.Sqrt(a.sigma)*far, farLambda/math.Sqrt(a.sigma))
	if a.since == 0 {
		a.firstMove = move
	} else if move <= .2*a.firstMove || move <= .8*a.firstMove && move > a.lastMove || float64(a.since) >= .36*float64(a.t) {
		a.restart(a.image)
		return nil
	}
	a.lastMove = move
	k := float64(a.since)
	a.since++
	for _, x := range [][3][]float64{{a.theta, a.image.theta, a.start.theta}, {a.lambda, a.image.lambda, a.start.lambda}} {
		for i, z := range x[0] {
			x[0][i] = (k+1)/(k+2)*(2*x[1][i]-z) + x[2][i]/(k+2)
		}
	}
	return nil
}

// moved returns how far x is from y, ‖·‖₂ of θ and ‖·‖_{S⁻¹} of λ.
func (a *halpern) moved(x, y point) (theta, lambda float64) {
	for i, v := range x.lambda {
		lambda += a.s.weights[i] * (v - y.lambda[i]) * (v - y.lambda[i])
	}
	return floats.Distance(x.theta, y.theta, 2), math.Sqrt(lambda)
}

// restart begins an epoch at x.
func (a *halpern) restart(x point) {
	if far, farLambda := a.moved(x, a.start); far > 0 && farLambda > 0 {
		a.sigma *= min(2, max(.5, math.Sqrt(farLambda/far/a.sigma)))
	}
	a.start.set(x)
	copy(a.theta, x.theta)
	copy(a.lambda, x.lambda)
	a.since = 0
}
