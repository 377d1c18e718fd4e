package paper

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// Witnesses of errata that belong to no numbered equation.

// witnessTwoMeasures: Ψθ against the measure of the policy (2.20), inside and outside of Ψθ ⪰ 0.
func witnessTwoMeasures(context.Context) (Finding, error) {
	p, err := SmallProblem(mixpolicy.Ball(10))
	if err != nil {
		return Finding{}, err
	}
	x := p.MDP()
	apart := func(theta []float64) (tv, vector, policy float64, err error) {
		pi, err := p.Features().PolicyOf(theta)
		if err != nil {
			return 0, 0, 0, err
		}
		q, err := x.Occupation(pi)
		if err != nil {
			return 0, 0, 0, err
		}
		u := make([]float64, x.Pairs())
		p.Features().MulVec(u, theta)
		return theory.TotalVariation(u, q.Pair), p.Objective(theta), q.Cost(x.Costs()), nil
	}
	inside, _, _, err := apart([]float64{0.2, 0.5, 0.3})
	if err != nil {
		return Finding{}, err
	}
	outside, vector, policy, err := apart([]float64{4, -5, 2})
	if err != nil {
		return Finding{}, err
	}
	return mended(outside, inside, "θ = (4, −5, 2), infeasible: %.3g apart in total variation, cᵀΨθ = %.4g, and the policy costs %.4g; at a feasible θ %.1g apart", outside, vector, policy, inside)
}

// witnessModelFree: two processes that agree in all that (A.3) has as known, and in their costs.
func witnessModelFree(context.Context) (Finding, error) {
	var ascent [2][]float64
	for i, seed := range []uint64{1, 2} {
		g := models.Garnet{States: 8, Actions: 3, Branches: 4, Seed: seed, Ring: true, Criterion: mixpolicy.Discounted(0.9)}
		x, err := g.MDP()
		if err != nil {
			return Finding{}, err
		}
		base, err := SmallPolicies(x)
		if err != nil {
			return Finding{}, err
		}
		psi, err := mixpolicy.NewFeatures(x, base...)
		if err != nil {
			return Finding{}, err
		}
		ascent[i] = make([]float64, x.Pairs())
		psi.MulVec(ascent[i], []float64{0.2, 0.5, 0.3})
	}
	p, err := SmallProblem(mixpolicy.Ball(2))
	if err != nil {
		return Finding{}, err
	}
	known := make([]float64, p.MDP().Pairs())
	p.GradLambda(known, []float64{0.2, 0.5, 0.3})
	floats.Scale(-1, known)
	apart := offAll(ascent[0], ascent[1])
	return mended(apart, offAll(known, ascent[0]), "two transition laws, the same policies: Ψθ, the gradient (3.4) at the same θ, differs by %.2g of its greatest entry, before any query", apart)
}

// witnessModulusDomain: dom φ are the points where φ < ∞. They are set against two sets: the
// ball with a point at infinity in every direction, and the ball.
func witnessModulusDomain(context.Context) (Finding, error) {
	phi := bregman.Ball{R: 2}
	var printed, corrected float64
	for _, x := range [][]float64{{0, 0}, {1.9, 0.1}, {2, 1}, {math.MaxFloat64, 0}, {math.Inf(1), 0}, {0, math.Inf(-1)}} {
		finite, ball := phi.Value(x) < math.Inf(1), floats.Norm(x, 2) <= 2
		if finite != (ball || math.IsInf(floats.Norm(x, 2), 1)) {
			printed++
		}
		if finite != ball {
			corrected++
		}
	}
	return mended(printed, corrected, "φ of (3.7) is finite at the points of the ball and +∞ at others, however far: also at infinity, at %g of 2 such points", printed)
}

// witnessLoop: the averages (3.27) against those over the passes of the printed loop.
func witnessLoop(context.Context) (Finding, error) {
	p, err := SmallProblem(mixpolicy.Ball(2))
	if err != nil {
		return Finding{}, err
	}
	r, err := NewTrace(p, TraceSettings{Iterations: 100, StepSize: mixpolicy.InverseSqrt(1), Beta: 20, Seed: 1})
	if err != nil {
		return Finding{}, err
	}
	printed, corrected := make([]float64, p.Dim()), make([]float64, p.Dim())
	var weights float64
	for t, s := range r.Steps {
		eta := 1 / math.Sqrt(float64(t+2)) // η_{t+1}
		weights += eta
		floats.AddScaled(printed, eta, s.Next)
		floats.AddScaled(corrected, s.Eta/r.Sums.Sum, s.Theta)
	}
	floats.Scale(1/weights, printed)
	return mended(offAll(printed, r.Theta), offAll(corrected, r.Theta), "T = 100: the average over t = 1, …, T differs from (3.27) by %.2g of its greatest entry", offAll(printed, r.Theta))
}

func witnessRoot(context.Context) (Finding, error) {
	// The probability that (5.19) leaves to a deviation, for c₀ = 4 and ρ = 0.05.
	const c0, rho = 4.0, 0.05
	left := func(divisor float64) float64 { // δ² = 8R²C_e²Ση² ln(4/ρ)/divisor²
		return 2 * math.Exp(-c0*math.Log(4/rho)/sq(divisor))
	}
	printed, corrected := left(c0), left(math.Sqrt(c0))
	return mended(excess(printed, rho/2), excess(corrected, rho/2*(1+rounding)), "c₀ = 4, ρ = 0.05: (5.19) leaves %.2g to a deviation of the printed size, %.3g = ρ/2 to one with √c₀", printed, corrected)
}

// witnessConditioning: sums of 100 signs, of which the first 99 were heads.
func witnessConditioning(context.Context) (Finding, error) {
	const n = 100
	bound := 2 * math.Exp(-sq(n-2)/(2*n))
	whole := math.Ldexp(2*(1+n), -n) // at most one head, or one tail
	return mended(excess(1, bound), excess(whole, bound), "100 coins: given that the first 99 are heads the sum is at least 98 surely; without the condition its size is so with probability %.1g ≤ %.1g", whole, bound)
}

func witnessDualNorm(context.Context) (Finding, error) {
	p, err := SmallProblem(mixpolicy.Cube(1.5))
	if err != nil {
		return Finding{}, err
	}
	d := float64(p.Dim())
	lambda, mean := make([]float64, p.MDP().Pairs()), make([]float64, p.Dim())
	p.GradTheta(mean, lambda)
	var printed, corrected float64
	for i := range lambda {
		e := stochasticGradient(p, lambda, i)
		floats.Sub(e, mean)
		dual, euclid := sq(p.Class().Norm.Dual().Of(e)), sq(floats.Norm(e, 2))
		printed, corrected = max(printed, dual/euclid), max(corrected, excess(dual, d*euclid))
	}
	return mended(excess(printed, 1), corrected, "cube, d = 3: ‖e‖⁎² = ‖e‖₁² is up to %.3g ‖e‖₂², and at most 3 of it", printed)
}

func witnessAlphaRate(context.Context) (Finding, error) {
	_, k, err := rawConstants()
	if err != nil {
		return Finding{}, err
	}
	// √T α_T, which would be bounded.
	at := func(n int, power float64) float64 {
		t := float64(n)
		return math.Sqrt(t) * k.PrintedObjectiveBound(k.D, n).Value / math.Pow(math.Log(t), power)
	}
	const near, far = 1_000, 1_000_000_000
	growth := at(far, 0) / at(near, 0)
	return mended(excess(growth, 1), excess(at(far, 2), at(near, 2)), "√T α_T grows by %.3g from T = 10³ to 10⁹, and √T α_T/ln²T falls", growth)
}
