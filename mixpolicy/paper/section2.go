package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// worstOf returns the greatest deviation over the instances. The result is 0 if no deviation is positive, and NaN if
// one deviation is NaN.
func worstOf[T any](instances []T, deviation func(T) float64) (worst float64) {
	for _, instance := range instances {
		worst = max(worst, deviation(instance))
	}
	return worst
}

// worstIn calls the function deviation the given number of times; each call draws its own instance. It returns the
// greatest deviation. The result is 0 if no deviation is positive, and NaN if one deviation is NaN.
func worstIn(draws int, deviation func() float64) (worst float64) {
	for range draws {
		worst = max(worst, deviation())
	}
	return worst
}

// drawnModulus is a modulus with a generator of points of its domain in ℝ³.
type drawnModulus struct {
	bregman.Modulus
	draw func() []float64
}

// testModuli returns four moduli, with generators of random points.
func testModuli(seed uint64) []drawnModulus {
	rng := rand.New(rand.NewPCG(seed, 0))
	inBox := func(phi bregman.Modulus, lo, hi float64) drawnModulus {
		return drawnModulus{phi, func() []float64 { return draws(3, func() float64 { return lo + (hi-lo)*rng.Float64() }) }}
	}
	return []drawnModulus{inBox(bregman.Ball{R: 2}, -1.1, 1.1), // 1.1√3 < 2
		inBox(bregman.Cube(1.5), -1.4, 1.4), inBox(bregman.Euclidean(), -5, 5), inBox(bregman.NegativeEntropy(), 0.01, 2)}
}

func checkSubdifferential(context.Context) Finding {
	return holds(worstOf(testModuli(21), func(m drawnModulus) float64 {
		return worstIn(500, func() float64 {
			x, x0 := m.draw(), m.draw()
			return excess(floats.Dot(slope(m, x0), difference(x, x0)), m.Value(x)-m.Value(x0))
		})
	}), "the gradients of four moduli are subgradients at 2000 pairs of points")
}

// maximum returns the maximum of a concave f on [lo, hi]. Each step shortens the interval to 0.55 of its length.
func maximum(f func(float64) float64, lo, hi float64) float64 {
	for range 100 {
		if a, b := lo+0.45*(hi-lo), lo+0.55*(hi-lo); f(a) > f(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return max(f(lo), f(hi))
}

// conjugateError compares φ* with its definition. For the ball, the supremum is attained along y; for the cube, each
// coordinate has its own supremum.
func conjugateError(phi bregman.Modulus, r float64) float64 {
	rng := rand.New(rand.NewPCG(22, 0))
	_, ball := phi.(bregman.Ball)
	return worstIn(200, func() float64 {
		y, want := []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64()}, 0.0
		if length := floats.Norm(y, 2); ball {
			want = maximum(func(t float64) float64 { return t*length - phi.Value(scaled(t/length, y)) }, 0, r*(1-0x1p-52))
		} else {
			for _, v := range y {
				want += maximum(func(t float64) float64 { return t*v - phi.Value([]float64{t}) }, -r, r)
			}
		}
		return relativeError(bregman.Conjugate(phi, y), want)
	})
}

func checkConjugate(context.Context) Finding {
	return holds(max(conjugateError(bregman.Ball{R: 2}, 2), conjugateError(bregman.Cube(1.5), 1.5)),
		"φ* of the ball and of the cube equals the supremum found by search, at 200 points each")
}

// variable and chances are the outcomes of a distribution with a long tail and an atom at 0, and their probabilities.
var variable, chances = []float64{-3, -1, 0, 0.5, 2, 6}, []float64{0.05, 0.2, 0.3, 0.3, 0.1, 0.05}

func checkOrlicz(context.Context) Finding {
	beta, twice := must(theory.OrliczNorm(2, variable, chances)), must(theory.OrliczNorm(2, scaled(2, variable), chances))
	// As printed, E ψ(|X| − E|X|/β) is convex in 1/β. At its minimum, |X| − E|X|/β takes both signs, so E|X|/β is at
	// most 6, the greatest |X|. If the least value is above 1, no β is admitted, and the infimum is +∞.
	mean := expected(chances, variable, math.Abs)
	least := -maximum(func(inverse float64) float64 { return -theory.PrintedOrlicz(2, 1/inverse, variable, chances) }, 0, 6/mean)
	printed := beta
	if least > 1 {
		printed = math.Inf(1)
	}
	return holdsCorrected(relativeError(printed, beta), max(orliczError(2, beta, variable, chances), relativeError(twice, 2*beta)),
		"a variable with values from −3 to 6: the printed expectation is at least %.3g for every β, where 1 is the limit; "+
			"the corrected norm is %.6g, and it doubles with the variable", least, beta)
}

// momentNorm compares [theory.MomentNorm], the supremum of q^(−1/ν)(E|X|^q)^(1/q) over q ≥ 1, with the maximum over a
// grid of q with the step 10⁻³. The maximum is at most the supremum; the difference is of second order in the step.
func momentNorm(nu float64) check {
	return func(context.Context) Finding {
		norm, grid := must(theory.MomentNorm(nu, variable, chances)), 0.0
		for q := 1.0; q < 60; q += 1e-3 {
			m := expected(chances, variable, func(v float64) float64 { return math.Pow(math.Abs(v), q) })
			grid = max(grid, math.Pow(q, -1/nu)*math.Pow(m, 1/q))
		}
		return holds(relativeError(norm, grid), "the norm is %.9g, and the supremum over a grid of q is %.9g", norm, grid).within(1e-6)
	}
}

// vectorNorm takes a vector of two independent entries, ±1 and ±2, and tries 2000 directions. Neighbouring directions
// are 1.6·10⁻³ apart, so the best of all directions is at most 0.8·10⁻³ from one of the 2000.
func vectorNorm(nu float64) check {
	return func(context.Context) Finding {
		z, p := mat.NewDense(4, 2, []float64{1, 2, 1, -2, -1, 2, -1, -2}), []float64{.25, .25, .25, .25}
		lower, upper, err := theory.VectorMomentNorm(nu, z, p)
		noError(err)
		var along mat.VecDense
		angle := -math.Pi / 2000
		want := worstIn(2000, func() float64 {
			angle += math.Pi / 2000
			along.MulVec(z, mat.NewVecDense(2, []float64{math.Cos(angle), math.Sin(angle)}))
			return must(theory.MomentNorm(nu, along.RawVector().Data, p))
		})
		return holds(max(excess(lower, upper), excess(want, upper), excess(want, lower), excess(lower*(1-1e-5), want)),
			"the norm is in [%.6g, %.6g]; the supremum over 2000 directions is %.6g", lower, upper, want)
	}
}

// valueTolerance is the tolerance for v* by policy iteration, which stops at an error of 10⁻⁹ of the range of costs.
// The error of v* is at most 1/(1−γ) = 10 times this error.
const valueTolerance = 1e-8

// optimalValue returns v* and π* of a process, and αᵀv*.
func optimalValue(ctx context.Context, x *mixpolicy.MDP) (v *mixpolicy.Valuation, expected float64) {
	v = must(mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{}))
	return v, floats.Dot(x.Initial(), v.Value)
}

func checkBellman(ctx context.Context) Finding {
	x := smallMDP()
	v, want := optimalValue(ctx, x)
	value, _ := primalLP(x, mixpolicy.Corrected).solve()
	return holds(max(relativeVectorError(bellman(x, v.Value), v.Value), relativeError(-value, want)),
		"v* of policy iteration: 𝒮v* = v*, and αᵀv* = %.9g is the optimum of the LP", -value).within(valueTolerance)
}

func bellman(x *mixpolicy.MDP, v []float64) []float64 {
	next := make([]float64, len(v))
	x.Bellman(next, v)
	return next
}

// negativeCosts is smallMDP with 1 subtracted from every cost, so that values are negative.
func negativeCosts() *mixpolicy.MDP {
	x := smallMDP()
	return must(x.WithCosts(shifted(x.Costs(), -1)))
}

func checkPrimalOrthant(ctx context.Context) Finding {
	x := negativeCosts()
	_, want := optimalValue(ctx, x)
	program := primalLP(x, mixpolicy.Corrected)
	free, _ := program.solve()
	for s := range x.States() {
		program.atLeast(unit(x.States(), s), 0)
	}
	orthant, _ := program.solve()
	return holdsCorrected(relativeError(-orthant, want), relativeError(-free, want),
		"costs in [−1, 0): no v ⪰ 0 is feasible; over all v, the optimum is αᵀv* = %.9g", want)
}

func checkPrimalInequality(ctx context.Context) Finding {
	x := smallMDP()
	_, want := optimalValue(ctx, x)
	printed, _ := primalLP(x, mixpolicy.Printed).solve()
	corrected, _ := primalLP(x, mixpolicy.Corrected).solve()
	return holdsCorrected(relativeError(-printed, want), relativeError(-corrected, want),
		"the maximum of αᵀv is %v with ⪰, and %.9g with ⪯; αᵀv* is %.9g", -printed, -corrected, want)
}

func checkSeries(context.Context) Finding {
	x, pi, q := smallMeasure()
	total, power := make([]float64, x.States()), scaled(1-x.Gamma(), x.Initial())
	for range 400 { // 0.9⁴⁰⁰ < 10⁻¹⁸
		floats.Add(total, power)
		power = scaled(x.Gamma(), nextStates(x, pi, power))
	}
	return holds(relativeVectorError(total, q.State),
		"the sum of 400 terms equals the measure that elimination computes; but μ is not stationary, see the errata")
}

// checkResolvent solves μ(I − γP) = (1−γ)α.
func checkResolvent(context.Context) Finding {
	x, p, q := smallMeasure()
	n := x.States()
	a := mat.NewDense(n, n, nil) // (I − γP)ᵀ
	for s := range n {
		a.SetCol(s, floats.AddScaledTo(make([]float64, n), unit(n, s), -x.Gamma(), nextStates(x, p, unit(n, s))))
	}
	var mu mat.VecDense
	noError(mu.SolveVec(a, mat.NewVecDense(n, scaled(1-x.Gamma(), x.Initial()))))
	return holds(relativeVectorError(mu.RawVector().Data, q.State), "dense LU and elimination without subtractions agree")
}

// checkStationary checks the sentence before (2.10), which states μP = μ.
func checkStationary(context.Context) Finding {
	x, p, q := smallMeasure()
	next := nextStates(x, p, q.State)
	balance := floats.AddScaledTo(make([]float64, len(next)), scaled(1-x.Gamma(), x.Initial()), x.Gamma(), next)
	printed, corrected := relativeVectorError(next, q.State), relativeVectorError(balance, q.State)
	return holdsCorrected(printed, corrected,
		"γ = 0.9: μP differs from μ by %.2g of the greatest entry, and (1−γ)α + γμP by %.1g", printed, corrected)
}

func checkOccupationCost(ctx context.Context) Finding {
	x, p, q := smallMeasure()
	v, _ := optimalValue(ctx, x)
	// The best of all 3⁸ deterministic policies, by their measures.
	best, actions := math.Inf(1), make([]int, x.States())
	for code := range 6561 {
		for s, rest := 0, code; s < len(actions); s, rest = s+1, rest/3 {
			actions[s] = rest % 3
		}
		best = min(best, must(x.Occupation(ctx, must(mixpolicy.Deterministic(x, actions)))).Cost(x.Costs()))
	}
	return holds(max(relativeError(q.Cost(x.Costs()), floats.Dot(q.State, must(x.PolicyCost(p)))), relativeError(best, v.Cost())),
		"cᵀξ equals Σμc^π; the least cᵀξ of all 6561 deterministic policies is %.9g, the cost that policy iteration finds", best).
		within(valueTolerance)
}

func checkDualValue(context.Context) Finding {
	x, value, _ := dualOptimum(mixpolicy.Corrected)
	primal, _ := primalLP(x, mixpolicy.Corrected).solve()
	return holds(relativeError(value, -(1-x.Gamma())*primal),
		"strong duality: min cᵀξ = %.9g = (1−γ)αᵀv*; the text after (2.14) omits the factor 1−γ", value)
}

func checkFlow(ctx context.Context) Finding {
	x, value, xi := dualOptimum(mixpolicy.Corrected)
	_, printed, _ := dualOptimum(mixpolicy.Printed)
	v, _ := optimalValue(ctx, x)
	return holdsCorrected(relativeError(printed, v.Cost()), max(relativeError(value, v.Cost()), x.FlowResidual(xi)),
		"γ = 0.9: the optimum is %.6g with ξᵀ(P−Q) = 0, the constraint for average cost, %.6g with ξᵀ(Q−γP) = (1−γ)αᵀ, "+
			"and %.6g by policy iteration", printed, value, v.Cost()).within(valueTolerance)
}

func checkDistributionConstraint(context.Context) Finding {
	_, _, xi := dualOptimum(mixpolicy.Corrected)
	return holds(max(relativeError(floats.Sum(xi), 1), max(0, -floats.Min(xi))),
		"the LP without ξᵀ1 = 1, which the flow implies: the entries of ξ* add up to 1, and the least is %.2g", floats.Min(xi))
}

func checkPolicyFromDual(ctx context.Context) Finding {
	x, value, xi := dualOptimum(mixpolicy.Corrected)
	q := must(x.Occupation(ctx, must(mixpolicy.PolicyOf(x, xi))))
	return holds(max(relativeVectorError(q.Pair, xi), relativeError(q.Cost(x.Costs()), value)),
		"the policy of ξ* has the measure ξ*, and costs %.9g", q.Cost(x.Costs()))
}

func checkReducedObjective(context.Context) Finding {
	p, theta, xi := smallTheta()
	return holds(relativeError(p.Objective(theta), floats.Dot(p.MDP().Costs(), xi)), "cᵀ(Ψθ) and (cᵀΨ)θ are both %.9g", p.Objective(theta))
}

func checkReducedFlow(context.Context) Finding {
	p, _, xi := smallTheta()
	printed, corrected := averageFlow(p.MDP(), xi), p.MDP().FlowResidual(xi)
	return holdsCorrected(printed, corrected,
		"for features computed with γ = 0.9, ‖θᵀΨᵀ(P−Q)‖₁ = %.3g and ‖θᵀΨᵀ(Q−γP) − (1−γ)αᵀ‖₁ = %.1g", printed, corrected)
}

// averageFlow is ‖ξᵀ(P − Q)‖₁.
func averageFlow(x *mixpolicy.MDP, xi []float64) float64 {
	return must(x.WithCriterion(mixpolicy.AverageCost)).FlowResidual(xi)
}

func checkReducedMass(context.Context) Finding {
	p, theta, xi := smallTheta()
	return holds(relativeError(floats.Sum(xi), floats.Sum(theta)),
		"the total mass of Ψθ is 1ᵀθ, also if its negative mass is %.3g", p.NegativeMass(theta))
}

func checkMixture(context.Context) Finding {
	x := smallMDP()
	base := smallPolicies(x)
	m, worst := must(mixpolicy.Mixture([]float64{0.2, 0.5, 0.3}, base...)), 0.0
	for s := range x.States() {
		for a, p := range m.Row(s) {
			worst = max(worst, math.Abs(p-(0.2*base[0].Prob(s, a)+0.5*base[1].Prob(s, a)+0.3*base[2].Prob(s, a))))
		}
	}
	return holds(worst, "every entry of π^ω is the weighted mean of the entries of three policies")
}

// checkXi: (2.17) defines combinations of measures by combinations of policies, but the measure of a mixture of
// policies is not the mixture of their measures.
func checkXi(context.Context) Finding {
	p, omega := smallProblem(mixpolicy.Ball(2)), []float64{0.2, 0.5, 0.3}
	mixture, xi := must(mixpolicy.Mixture(omega, smallPolicies(p.MDP())...)), combination(p, omega)
	printed := theory.TotalVariation(must(p.MDP().Occupation(context.Background(), mixture)).Pair, xi)
	corrected := theory.TotalVariation(policyMeasure(p, omega).Pair, xi)
	return holdsCorrected(printed, corrected,
		"total variation from Ψω: %.2g for the measure of the mixture π^ω, %.1g for that of the policy (2.20)", printed, corrected)
}

// checkReduction: if the features are occupation measures, (2.18) is the corrected (2.15).
func checkReduction(context.Context) Finding {
	p, best := smallOptimum(mixpolicy.Cube(1.5))
	program := &smallLP{c: slices.Clone(p.BaseCosts())}
	for i := range p.MDP().Pairs() {
		row := make([]float64, 3)
		p.Features().Row(row, i)
		program.atLeast(row, 0)
	}
	for j := range 3 {
		program.atLeast(unit(3, j), -1.5)
		program.atMost(unit(3, j), 1.5)
	}
	program.equals([]float64{1, 1, 1}, 1)
	value, _ := program.solve()
	// Every θ on the hyperplane satisfies the flow constraint.
	return holds(max(relativeError(value, best.Objective), p.MDP().FlowResidual(combination(p, []float64{1.3, -0.9, 0.6}))),
		"the optimum is %.9g by the active-set method and by the simplex method; 1ᵀθ = 1 implies the flow constraint", value)
}

func checkFeasibleSet(context.Context) Finding {
	p, best := smallOptimum(mixpolicy.Ball(2))
	violation := max(p.NegativeMass(best.Theta), math.Abs(floats.Sum(best.Theta)-1), max(0, p.Class().Size(best.Theta)-2))
	return holds(violation, "the optimum is in all three sets, with a violation of %.1g", violation)
}

// checkPolicyFallback takes a Ψθ whose entries in the second state are not positive. The paper replaces (2.20) by the
// uniform distribution only if no entry of Ψθ is positive. Here, entries in the first state are positive, so the policy
// in the second state is (2.20), which is 0/0 there.
func checkPolicyFallback(context.Context) Finding {
	xi := []float64{0.6, 0.4, -0.1, -0.2}
	printed, p := max(xi[2], 0)/(max(xi[2], 0)+max(xi[3], 0)), must(mixpolicy.PolicyOf(must(models.Machine{}.MDP()), xi))
	return holdsCorrected(printed, max(relativeError(p.Prob(0, 0), 0.6), relativeError(p.Prob(1, 0), 0.5)),
		"Ψθ ⪯ 0 in one state only: (2.20) is 0/0 there; the corrected policy there is %v", p.Row(1))
}

func checkEfficiency(ctx context.Context) Finding {
	r := must(mixpolicy.Solve(ctx, smallProblem(mixpolicy.Ball(2)), mixpolicy.PlugIn{}, mixpolicy.Settings{Iterations: 1000, Seed: 1}))
	return holds(max(relativeError(r.Gap, r.Objective-r.Optimum), r.NegativeMass, relativeError(r.PolicyCost, r.Objective)),
		"plug-in after 1000 queries: θ̂ is feasible, ε = %.2g, and the cost of the policy is cᵀΨθ̂", r.Gap)
}

// checkExpandedEfficiency: a point that satisfies (2.22) satisfies (2.21), because the minimum over more points is not
// greater, and V = 0 at the feasible points. If the penalty weight 1/ε is at least ‖λ*‖_∞, no infeasible point has a
// penalised cost below the optimum.
func checkExpandedEfficiency(context.Context) Finding {
	p, best := smallOptimum(mixpolicy.Ball(2))
	price, rng, cheap := floats.Max(must(theory.Multipliers(p))), rand.New(rand.NewPCG(222, 0)), math.Inf(1)
	worst := worstIn(4000, func() float64 {
		theta := normals(rng, 3)
		noError(p.Class().Norm.Project(theta, theta, 2))
		cheap = min(cheap, p.Objective(theta)+0.1*price*p.NegativeMass(theta))
		return excess(best.Objective, p.Objective(theta)+price*p.NegativeMass(theta))
	})
	return holds(worst, "with the penalty weight ‖λ*‖_∞ = %.3g, none of 4000 points has a penalised cost below the optimum %.6g; "+
		"with a tenth of this weight, one point reaches %.3g", price, best.Objective, cheap)
}

func checkMixing(ctx context.Context) Finding {
	x, p, q := smallMeasure()
	after := func(from []float64) float64 { return must(theory.MixingCurve(ctx, x, p, from, 400))[400] }
	printed, m := after(q.State), must(theory.MixingTime(ctx, x, p, 0.01))
	return holdsCorrected(printed, after(nil),
		"γ = 0.9: the distance to the discounted μ_α is never below %.3g, so τ_mix(ε) does not exist for smaller ε; "+
			"for this policy and its stationary distribution, %d steps are enough for ε = 0.01", printed, m.Time)
}

func checkContraction(ctx context.Context) Finding {
	x, base := queueModel()
	time := must(theory.MixingTime(ctx, x, base[1], 0.25)).Time
	after := func(steps int) float64 {
		return must(theory.ContractionCoefficient(ctx, x, base[1], steps)).Coefficient
	}
	one, many, claim := after(1), after(time), math.Exp(-1/float64(time))
	return holdsCorrected(excess(one, claim), excess(many, 2*0.25),
		"queue: τ_mix(¼) = %d for π² alone, but a step has the contraction coefficient %.6g, not e^{−1/τ} = %.6g; for τ steps, it is "+
			"%.3g ≤ 2·¼", time, one, claim, many)
}

func checkErgodicity(ctx context.Context) Finding {
	x, base := queueModel()
	e := must(theory.ErgodicityOf(x, base...))
	n, root, tight := float64(x.States()), math.Sqrt(e.Lower), 0.0
	worst := worstOf(base, func(p *mixpolicy.Policy) float64 {
		return worstOf(must(x.Occupation(ctx, p)).State, func(mu float64) float64 {
			tight = max(tight, 1/(n*mu)/root, n*mu/root)
			return max(excess(1/(n*root), mu), excess(mu, root/n))
		})
	})
	return holds(max(worst, relativeError(tight, 1)), "the two policies of section 6 need κ = %.4g", e.Lower)
}

// momentIsOrlicz: the paper calls the moment norm the Orlicz norm. The two norms differ, but are equivalent, with
// constants that do not depend on the variable.
func momentIsOrlicz(nu float64) check {
	return func(context.Context) Finding {
		orlicz, moment := must(theory.OrliczNorm(nu, variable, chances)), must(theory.MomentNorm(nu, variable, chances))
		// E|X|^q ≤ qΓ(q/ν)·2‖X‖^q/ν bounds one ratio of the norms, and a series in the moments bounds the other ratio.
		// For ν = 1 and 2, both ratios are at most 4.
		return holdsCorrected(relativeError(orlicz, moment), excess(max(orlicz/moment, moment/orlicz), 4),
			"‖X‖_ψ = %.4g, but the supremum of moments is %.4g: equivalent, not equal", orlicz, moment)
	}
}

// checkLegendre checks that φ is convex, that ∇φ* is the inverse of ∇φ and, for the ball and the cube, that ‖∇φ‖ grows
// at each of 48 halvings of the distance to the boundary.
func checkLegendre(context.Context) Finding {
	worst := worstOf(testModuli(24), func(m drawnModulus) float64 {
		return worstIn(300, func() float64 {
			x, y := m.draw(), m.draw()
			mid := scaled(0.5, floats.AddTo(make([]float64, 3), x, y))
			return max(relativeVectorError(inverse(m, slope(m, x)), x), excess(m.Value(mid), (m.Value(x)+m.Value(y))/2))
		})
	})
	for _, phi := range []bregman.Modulus{bregman.Ball{R: 2}, bregman.Cube(2)} {
		edge := func(k int) float64 { return slope(phi, []float64{2 * (1 - math.Ldexp(1, -k))})[0] }
		for k := 1; k < 49; k++ {
			if !(edge(k) < edge(k+1)) { // NaN does not count as growth
				worst = math.Inf(1)
			}
		}
	}
	return holds(worst, "∇φ*∘∇φ is the identity, and φ is convex, at 1200 points of four moduli; "+
		"for the ball and the cube, ‖∇φ‖ grows at every halving of the distance to the boundary")
}

// definedDivergence compares d, the D(x; y) of a formula, with Definition 2.5, relative to the size of the terms of the
// definition.
func definedDivergence(phi bregman.Modulus, x, y []float64, d float64) float64 {
	terms := []float64{phi.Value(x), -phi.Value(y), -floats.Dot(difference(x, y), slope(phi, y))}
	return math.Abs(d-floats.Sum(terms)) / sizeOf(terms...)
}

func checkDivergence(context.Context) Finding {
	return holds(worstOf(testModuli(25), func(m drawnModulus) float64 {
		return worstIn(300, func() float64 {
			x, y := m.draw(), m.draw()
			return definedDivergence(m, x, y, bregman.Divergence(m.Modulus, x, y))
		})
	}), "D equals its definition at 1200 pairs of points, for four moduli")
}

// checkPairOrder: the paper orders c and ξ by action, but P and Q by state. A ξ in one order does not satisfy the flow
// constraint in the other order.
func checkPairOrder(context.Context) Finding {
	x, _, q := smallMeasure()
	byAction := make([]float64, x.Pairs())
	for i, mass := range q.Pair {
		s, a := x.StateAction(i)
		byAction[a*x.States()+s] = mass
	}
	printed, corrected := x.FlowResidual(byAction), x.FlowResidual(q.Pair)
	return holdsCorrected(printed, corrected,
		"with ξ ordered by action, but P and Q by state, the flow residual is %.2g; in one order, it is %.1g", printed, corrected)
}

func checkPolicy(context.Context) Finding {
	x, p, q := smallMeasure()
	var worst float64
	for i, mass := range q.Pair {
		s, a := x.StateAction(i)
		worst = max(worst, math.Abs(floats.Sum(p.Row(s))-1), relativeError(mass, p.Prob(s, a)*q.State[s]))
	}
	return holds(worst, "every row is a distribution, and ξ = π ⊙ μ")
}

func checkOracle(context.Context) Finding {
	p := smallProblem(mixpolicy.Ball(2))
	o, q := must(mixpolicy.NewOracle(p, 1, 0)), p.Features().Sampling()
	const draws = 100_000
	count, chi := make([]float64, len(q)), 0.0
	worst := worstIn(draws, func() float64 {
		pair, cost := o.Sample()
		count[pair]++
		return relativeError(cost, p.MDP().Costs()[pair])
	})
	// For 24 pairs, Pearson's statistic has the mean 23 and the standard deviation √46; allow five standard deviations.
	for i, k := range count {
		chi += sq(k-draws*q[i]) / (draws * q[i])
	}
	return holds(max(worst, excess(chi, 23+5*math.Sqrt(46)), relativeError(float64(o.Queries()), draws)),
		"10⁵ draws from (1/d)Σψⁱ: χ² = %.1f for 23 degrees of freedom; the oracle counts each draw", chi)
}
