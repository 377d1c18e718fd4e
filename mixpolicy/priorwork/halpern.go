package priorwork

import (
	"math"

	"github.com/mixpolicy/lab/mixpolicy"
)

// HalpernPDHG is reflected restarted Halpern PDHG for (2.18) with known costs. Let T(z) be the result of a step of
// [PDHG] from z = (θ, λ). After k steps from a restart at z₀, the next step is
//
//	z ← (k+1)/(k+2)·(2T(z) − z) + z₀/(k+2).
//
// The residual ‖z − T(z)‖, in the norm √(σ‖θ‖² + ‖λ‖²_{S⁻¹}/σ) with the σ and S of [PDHG], falls as 1/k. So the last
// point converges without averaging. The method restarts at T(z) in three cases: the residual is at most a fifth of the
// residual at the last restart; the residual is at most four fifths of the residual at the last restart, and has grown
// in the last step; or at least 0.36 of all steps came after the last restart. At a restart, σ becomes √(σ d_λ/d_θ),
// where d_λ and d_θ are the distances that λ and θ have moved since the last restart. But σ stays the same if one of
// these distances is 0, and otherwise changes by a factor between ½ and 2, so a single restart cannot spoil σ.
//
// A step costs 2nmd operations. Every 16th step also tests whether T(z) is the best tested point so far, and costs a
// few times as many operations. The method makes no queries.
//
// Source: Lu and Yang, arXiv 2407.16144, 2024; for large programs, Lu, Peng and Yang, cuPDLPx, arXiv 2507.14051, 2025.
//
// Deviations: see [Publications].
type HalpernPDHG struct{}

// Name implements [mixpolicy.Method].
func (a HalpernPDHG) Name() string { return "reflected Halpern PDHG" }

// halpern is a run of [HalpernPDHG]. Its pdhg holds the iterate z, the number of steps since the last restart, and the
// answer: the point with the least error among the starting point and the tested points.
type halpern struct {
	pdhg
	to                  point   // T(z)
	firstMove, lastMove float64 // ‖z − T(z)‖ at the last restart, and in the last step
}

// Start implements [mixpolicy.Method].
func (a HalpernPDHG) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	r, err := PDHG{}.Start(p, o)
	if err != nil {
		return nil, err
	}
	return &halpern{pdhg: *r.(*pdhg), to: newPoint(p.Dim(), p.MDP().Pairs())}, nil
}

// Step implements [mixpolicy.Run].
func (a *halpern) Step() error {
	if err := a.image(a.to.theta, a.to.lambda); err != nil {
		return err
	}
	if a.t%16 == 0 {
		if e := a.error(a.to); e < a.bestError {
			a.best.set(a.to)
			a.bestError = e
		}
	}
	far, farLambda := a.moved(a.at, a.to)
	move := math.Hypot(math.Sqrt(a.sigma)*far, farLambda/math.Sqrt(a.sigma))
	if a.since == 0 {
		a.firstMove = move
	} else if move <= .2*a.firstMove || move <= .8*a.firstMove && move > a.lastMove || float64(a.since) >= .36*float64(a.t) {
		a.begin(a.to, 2)
		return nil
	}
	a.lastMove = move
	k := float64(a.since)
	a.since++
	for _, x := range [][3][]float64{{a.at.theta, a.to.theta, a.start.theta}, {a.at.lambda, a.to.lambda, a.start.lambda}} {
		for i, z := range x[0] {
			x[0][i] = (k+1)/(k+2)*(2*x[1][i]-z) + x[2][i]/(k+2)
		}
	}
	return nil
}
