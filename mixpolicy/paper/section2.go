package paper

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// section2 is the equations and statements of section 2.
var section2 = []Entry{
	{Number: "2.1", What: "subdifferential of a convex function at a point", Symbol: "mixpolicy/bregman.Modulus.Gradient", Defines: true, check: checkSubdifferential},
	{Number: "2.2", What: "Fenchel conjugate", Symbol: "mixpolicy/bregman.Conjugate", Defines: true, check: checkConjugate},
	{Number: "2.3", What: "Orlicz norm of a random variable", Symbol: "mixpolicy/theory.OrliczNorm", Errata: "orlicz-centring", check: checkOrlicz},
	{Number: "2.4", What: "sub-Gaussian norm by moments", Symbol: "mixpolicy/theory.MomentNorm", Defines: true, check: momentNorm(2)},
	{Number: "2.5", What: "sub-Gaussian norm of a vector: the greatest over directions", Symbol: "mixpolicy/theory.VectorMomentNorm", Defines: true, check: vectorNorm(2)},
	{Number: "2.6", What: "sub-exponential norm by moments", Symbol: "mixpolicy/theory.MomentNorm", Defines: true, check: momentNorm(1)},
	{Number: "2.7", What: "sub-exponential norm of a vector", Symbol: "mixpolicy/theory.VectorMomentNorm", Defines: true, check: vectorNorm(1)},
	{Number: "2.8", What: "Bellman's equation: the value function is the fixed point of the Bellman operator", Symbol: "mixpolicy.MDP.Bellman", check: checkBellman},
	{Number: "2.9a", What: "primal LP: maximise the value from the initial distribution, over v ⪰ 0", Symbol: "mixpolicy.ValueIteration", Errata: "primal-sign-of-v", check: checkPrimalOrthant},
	{Number: "2.9b", What: "primal LP: the Bellman inequalities", Symbol: "mixpolicy.MDP.ActionValues", Errata: "primal-inequality", check: checkPrimalInequality},
	{Number: "2.10", What: "state measure of a policy as a discounted series", Symbol: "mixpolicy.Occupation", Defines: true, check: checkSeries},
	{Number: "2.11", What: "the same as the solution of a linear system", Symbol: "mixpolicy.Measure", check: checkResolvent},
	{Number: "2.12", What: "least cost over policies is least cost over occupation measures", Symbol: "mixpolicy.Measure.Cost", check: checkOccupationCost},
	{Number: "2.13a", What: "dual LP: objective", Symbol: "mixpolicy.Measure.Cost", check: checkDualValue},
	{Number: "2.13b", What: "dual LP: flow balance of the measure", Symbol: "mixpolicy.MDP.FlowResidual", Errata: "flow-constraint", check: checkFlow},
	{Number: "2.13c", What: "dual LP: the measure is a distribution", Symbol: "mixpolicy.Measure", check: checkDistributionConstraint},
	{Number: "2.14", What: "optimal policy from the optimal measure", Symbol: "mixpolicy.PolicyOf", check: checkPolicyFromDual},
	{Number: "2.15a", What: "dual LP over linear combinations of features: objective", Symbol: "mixpolicy.Problem.Objective", check: checkReducedObjective},
	{Number: "2.15b", What: "dual LP over features: flow balance", Symbol: "mixpolicy.Features.FlowResidual", Errata: "flow-constraint", check: checkReducedFlow},
	{Number: "2.15c", What: "dual LP over features: non-negativity, and total mass 1", Symbol: "mixpolicy.Problem.NegativeMass", check: checkReducedMass},
	{Number: "2.16", What: "mixtures of base policies", Symbol: "mixpolicy.Mixture", Defines: true, check: checkMixture},
	{Number: "2.17", What: "measures that are combinations of the base measures", Symbol: "mixpolicy.Features.MulVec", Errata: "mixture-of-measures", check: checkXi},
	{Number: "2.18a", What: "the reduced problem: objective", Symbol: "mixpolicy.Problem", check: checkReduction},
	{Number: "2.18b", What: "the reduced problem: constraints", Symbol: "mixpolicy.NewProblem", check: checkReduction},
	{Number: "2.19", What: "feasible set as an intersection of three", Symbol: "mixpolicy.Class", Defines: true, check: checkFeasibleSet},
	{Number: "2.20", What: "policy of a vector over pairs with negative entries", Symbol: "mixpolicy.PolicyOf", Errata: "policy-fallback", check: checkPolicyFallback},
	{Number: "2.21", What: "efficient answer: within ε of the best feasible cost", Symbol: "mixpolicy.Certificate", Defines: true, check: checkEfficiency},
	{Number: "2.22", What: "expanded efficiency: infeasible points compete at a price of 1/ε", Symbol: "mixpolicy.Problem.Merit", Defines: true, check: checkExpandedEfficiency},
	{Number: "2.23", What: "mixing time", Symbol: "mixpolicy/theory.MixingTime", Errata: "mixing-target", check: checkMixing},
	{Number: "2.24", What: "a mixing chain contracts total variation in every step", Symbol: "mixpolicy/theory.ContractionCoefficient", Errata: "one-step-contraction", check: checkContraction},
	{Number: "2.25", What: "stationary distributions within factors √κ of uniform", Symbol: "mixpolicy/theory.ErgodicityOf", Defines: true, check: checkErgodicity},

	{Number: "Definition 2.1", What: "Young–Orlicz modulus and Orlicz norm", Symbol: "mixpolicy/theory.OrliczNorm", Errata: "orlicz-centring", check: checkOrlicz},
	{Number: "Definition 2.2", What: "sub-Gaussian norm; said to be the Orlicz norm of ψ₂ in other words", Symbol: "mixpolicy/theory.MomentNorm", Errata: "moment-norms", check: momentIsOrlicz(2)},
	{Number: "Definition 2.3", What: "sub-exponential norm; said to be the Orlicz norm of ψ₁ in other words", Symbol: "mixpolicy/theory.MomentNorm", Errata: "moment-norms", check: momentIsOrlicz(1)},
	{Number: "Definition 2.4", What: "Legendre function", Symbol: "mixpolicy/bregman.Modulus", Defines: true, check: checkLegendre},
	{Number: "Definition 2.5", What: "Bregman divergence", Symbol: "mixpolicy/bregman.Divergence", Defines: true, check: checkDivergence},
	{Number: "Definition 2.6", What: "Markov decision process, and its matrices", Symbol: "mixpolicy.MDP", Errata: "pair-order", check: checkPairOrder},
	{Number: "Definition 2.7", What: "randomised policy", Symbol: "mixpolicy.Policy", Defines: true, check: checkPolicy},
	{Number: "Definition 2.8", What: "efficient large-scale dual ALP", Symbol: "mixpolicy.Certificate", Defines: true, check: checkEfficiency},
	{Number: "Definition 2.9", What: "expanded efficient large-scale dual ALP, which implies Definition 2.8", Symbol: "mixpolicy.Problem.Merit", Defines: true, check: checkExpandedEfficiency},
	{Number: "Assumption A.1", What: "fast mixing", Symbol: "mixpolicy/theory.UniformMixingTime", Errata: "mixing-target", check: checkMixing},
	{Number: "Assumption A.2", What: "uniformly bounded ergodicity", Symbol: "mixpolicy/theory.UniformErgodicity", Defines: true, check: checkErgodicity},
	{Number: "Assumption A.3", What: "model of computation: a sampling oracle reveals costs", Symbol: "mixpolicy.Oracle", Defines: true, check: checkOracle},
}

// testModuli are four moduli, each with a generator of points of its domain in ℝ³.
func testModuli(rng *rand.Rand) []struct {
	phi  bregman.Modulus
	draw func() []float64
} {
	inBox := func(lo, hi float64) func() []float64 {
		return func() []float64 {
			x := make([]float64, 3)
			for j := range x {
				x[j] = lo + (hi-lo)*rng.Float64()
			}
			return x
		}
	}
	return []struct {
		phi  bregman.Modulus
		draw func() []float64
	}{
		{bregman.Ball{R: 2}, inBox(-1.1, 1.1)}, // 1.1√3 < 2
		{bregman.Cube(1.5), inBox(-1.4, 1.4)},
		{bregman.Euclidean(), inBox(-5, 5)},
		{bregman.NegativeEntropy(), inBox(0.01, 2)},
	}
}

func checkSubdifferential(context.Context) Finding {
	rng := rand.New(rand.NewPCG(21, 0))
	var worst float64
	for _, m := range testModuli(rng) {
		g := make([]float64, 3)
		for range 500 {
			x, x0 := m.draw(), m.draw()
			m.phi.Gradient(g, x0)
			worst = max(worst, excess(floats.Dot(g, difference(x, x0)), m.phi.Value(x)-m.phi.Value(x0)))
		}
	}
	return holds(worst, "the gradients of four moduli are subgradients at 2000 pairs of points")
}

// maximum returns the maximum of a concave f on [lo, hi], by golden-section search.
func maximum(f func(float64) float64, lo, hi float64) float64 {
	const ratio = 0.6180339887498949
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := f(a), f(b)
	for range 200 {
		if fa > fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = f(b)
		}
	}
	return max(fa, fb)
}

// conjugateError compares φ* with its definition, for the ball, where the supremum is attained
// along y, and for the cube, where each coordinate has its own.
func conjugateError(phi bregman.Modulus, r float64) float64 {
	rng := rand.New(rand.NewPCG(22, 0))
	var worst float64
	for range 200 {
		y := []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64()}
		var want float64
		if _, ball := phi.(bregman.Ball); ball {
			length := floats.Norm(y, 2)
			want = maximum(func(t float64) float64 {
				return t*length - phi.Value([]float64{t * y[0] / length, t * y[1] / length})
			}, 0, r*(1-0x1p-52))
		} else {
			for _, v := range y {
				want += maximum(func(t float64) float64 { return t*v - phi.Value([]float64{t}) }, -r, r)
			}
		}
		worst = max(worst, relativeError(bregman.Conjugate(phi, y), want))
	}
	return worst
}

func checkConjugate(context.Context) Finding {
	return holds(max(conjugateError(bregman.Ball{R: 2}, 2), conjugateError(bregman.Cube(1.5), 1.5)),
		"φ* of the ball and the cube against the supremum found by search, 200 points each")
}

// A distribution with a long tail and an atom at 0.
var (
	variable = []float64{-3, -1, 0, 0.5, 2, 6}
	chances  = []float64{0.05, 0.2, 0.3, 0.3, 0.1, 0.05}
)

func checkOrlicz(context.Context) Finding {
	beta := must(theory.OrliczNorm(2, variable, chances))
	var e float64 // E ψ₂(|X|/β), which is 1 at the norm
	for i, x := range variable {
		e += chances[i] * math.Expm1(sq(x/beta))
	}
	twice := must(theory.OrliczNorm(2, scaled(2, variable), chances))
	// As printed, E ψ(|X| − E|X|/β) is at most 1 for every small β: the infimum is 0.
	printed := beta
	for theory.PrintedOrlicz(2, printed, variable, chances) > 1 || printed > 1e-6 {
		printed /= 2
	}
	return holdsCorrected(relativeError(printed, beta), max(relativeError(e, 1), relativeError(twice, 2*beta)),
		"a variable of values −3 to 6: the printed infimum is below %.1g, the norm %.6g, and twice that for twice the variable", 1e-6, beta)
}

func momentNorm(nu float64) check {
	return func(context.Context) Finding {
		got := must(theory.MomentNorm(nu, variable, chances))
		var want float64
		for q := 1.0; q < 60; q += 1e-3 {
			var m float64
			for i, x := range variable {
				m += chances[i] * math.Pow(math.Abs(x), q)
			}
			want = max(want, math.Pow(q, -1/nu)*math.Pow(m, 1/q))
		}
		// The grid misses the maximum by a second-order term in its step 10⁻³.
		return holds(relativeError(got, want), "%.9g against %.9g on a grid of q", got, want).within(1e-6)
	}
}

func vectorNorm(nu float64) check {
	return func(context.Context) Finding {
		// Two independent signs of sizes 1 and 2.
		z := mat.NewDense(4, 2, []float64{1, 2, 1, -2, -1, 2, -1, -2})
		p := []float64{.25, .25, .25, .25}
		lower, upper, err := theory.VectorMomentNorm(nu, z, p)
		noError(err)
		var want float64
		for k := range 2000 {
			a := math.Pi * float64(k) / 2000
			x := make([]float64, 4)
			for i := range x {
				x[i] = math.Cos(a)*z.At(i, 0) + math.Sin(a)*z.At(i, 1)
			}
			want = max(want, must(theory.MomentNorm(nu, x, p)))
		}
		return holds(max(excess(lower, upper), excess(want, upper), excess(lower*(1-1e-5), want)),
			"in [%.6g, %.6g]; %.6g over 2000 directions", lower, upper, want)
	}
}

// valueTolerance is that of v* by policy iteration: it stops at 10⁻⁹ of the costs, which is
// divided by 1−γ = 0.1.
const valueTolerance = 1e-8

// optimalValue returns v* and π* of a process, and αᵀv*.
func optimalValue(ctx context.Context, x *mixpolicy.MDP) (v *mixpolicy.Valuation, expected float64) {
	v = must(mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{}))
	return v, floats.Dot(x.Initial(), v.Value)
}

func checkBellman(ctx context.Context) Finding {
	x := must(smallMDP())
	v, want := optimalValue(ctx, x)
	next := make([]float64, x.States())
	x.Bellman(next, v.Value)
	value, _ := primalLP(x, mixpolicy.Corrected).solve()
	return holds(max(relativeVectorError(next, v.Value), relativeError(-value, want)),
		"v* of policy iteration: 𝒮v* = v*, and αᵀv* = %.9g is the optimum of the LP", -value).within(valueTolerance)
}

// negativeCosts is smallMDP with 1 subtracted from every cost, so that values are negative.
func negativeCosts() *mixpolicy.MDP {
	x := must(smallMDP())
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
	return holdsCorrected(relativeError(-orthant, want), relativeError(-free, want), "costs in [−1, 0): over v ⪰ 0 there is no feasible v; over all v the optimum is αᵀv* = %.9g", want)
}

func checkPrimalInequality(ctx context.Context) Finding {
	x := must(smallMDP())
	_, want := optimalValue(ctx, x)
	printed, _ := primalLP(x, mixpolicy.Printed).solve()
	corrected, _ := primalLP(x, mixpolicy.Corrected).solve()
	return holdsCorrected(relativeError(-printed, want), relativeError(-corrected, want),
		"with ⪰ the maximum is %v, with ⪯ it is %.9g, and αᵀv* = %.9g", -printed, -corrected, want)
}

// nextStates returns μP^π.
func nextStates(x *mixpolicy.MDP, p *mixpolicy.Policy, mu []float64) []float64 {
	next := make([]float64, len(mu))
	for s, m := range mu {
		for a, w := range p.Row(s) {
			to, prob := x.Next(s, a)
			for k, s2 := range to {
				next[s2] += m * w * prob[k]
			}
		}
	}
	return next
}

func checkSeries(context.Context) Finding {
	x, p, q := smallMeasure()
	total := make([]float64, x.States())
	power := append([]float64(nil), x.Initial()...)
	weight := 1 - x.Gamma()
	for range 400 { // 0.9⁴⁰⁰ < 10⁻¹⁸
		floats.AddScaled(total, weight, power)
		power = nextStates(x, p, power)
		weight *= x.Gamma()
	}
	return holds(relativeVectorError(total, q.State), "the sum of 400 terms is the measure by elimination; but μ is not stationary, see the errata")
}

func checkResolvent(context.Context) Finding {
	x, p, q := smallMeasure()
	n := x.States()
	a := mat.NewDense(n, n, nil) // (I − γP)ᵀ
	for s := range n {
		for s2, v := range nextStates(x, p, unit(n, s)) {
			a.Set(s2, s, -x.Gamma()*v)
		}
		a.Set(s, s, a.At(s, s)+1)
	}
	var mu mat.VecDense
	noError(mu.SolveVec(a, mat.NewVecDense(n, scaled(1-x.Gamma(), x.Initial()))))
	return holds(relativeVectorError(mu.RawVector().Data, q.State), "dense LU against elimination without subtraction")
}

// checkStationary is about the sentence before (2.10), which has μP = μ.
func checkStationary(context.Context) Finding {
	x, p, q := smallMeasure()
	next := nextStates(x, p, q.State)
	balance := floats.AddScaledTo(make([]float64, len(next)), scaled(1-x.Gamma(), x.Initial()), x.Gamma(), next)
	printed, corrected := relativeVectorError(next, q.State), relativeVectorError(balance, q.State)
	return holdsCorrected(printed, corrected, "γ = 0.9: μP differs from μ by %.2g of its greatest entry, (1−γ)α + γμP by %.1g", printed, corrected)
}

func checkOccupationCost(ctx context.Context) Finding {
	x, p, q := smallMeasure()
	c := must(x.PolicyCost(p))
	v, _ := optimalValue(ctx, x)
	// The best of all 3⁸ deterministic policies, by their measures.
	best, actions := math.Inf(1), make([]int, x.States())
	for code := range 6561 {
		for s, rest := 0, code; s < len(actions); s, rest = s+1, rest/3 {
			actions[s] = rest % 3
		}
		m := must(x.Occupation(ctx, must(mixpolicy.Deterministic(x, actions))))
		best = min(best, m.Cost(x.Costs()))
	}
	return holds(max(relativeError(q.Cost(x.Costs()), floats.Dot(q.State, c)), relativeError(best, v.Cost())),
		"cᵀξ is Σμc^π; the least cᵀξ of all 6561 deterministic policies is %.9g, and so is that of policy iteration", best).within(valueTolerance)
}

func checkDualValue(ctx context.Context) Finding {
	x, value, _ := dualOptimum(mixpolicy.Corrected)
	primal, _ := primalLP(x, mixpolicy.Corrected).solve()
	return holds(relativeError(value, -(1-x.Gamma())*primal), "strong duality: min cᵀξ = %.9g = (1−γ)αᵀv*; the factor is left out in the text after (2.14)", value)
}

func checkFlow(ctx context.Context) Finding {
	x, value, _ := dualOptimum(mixpolicy.Corrected)
	_, printed, _ := dualOptimum(mixpolicy.Printed)
	v, _ := optimalValue(ctx, x)
	return holdsCorrected(relativeError(printed, v.Cost()), relativeError(value, v.Cost()), "γ = 0.9: the optimum is %.6g with ξᵀ(P−Q) = 0, which is the average-cost problem, %.6g with ξᵀ(Q−γP) = (1−γ)αᵀ, and %.6g by policy iteration", printed, value, v.Cost()).within(valueTolerance)
}

func checkDistributionConstraint(context.Context) Finding {
	_, _, xi := dualOptimum(mixpolicy.Corrected)
	return holds(max(relativeError(floats.Sum(xi), 1), max(0, -floats.Min(xi))), "ξ* of the LP without ξᵀ1 = 1, which the flow implies: its sum is 1 and its least entry %.2g", floats.Min(xi))
}

func checkPolicyFromDual(ctx context.Context) Finding {
	x, value, xi := dualOptimum(mixpolicy.Corrected)
	q := must(x.Occupation(ctx, must(mixpolicy.PolicyOf(x, xi))))
	return holds(max(relativeVectorError(q.Pair, xi), relativeError(q.Cost(x.Costs()), value)), "the policy of ξ* has the measure ξ*, and cost %.9g", q.Cost(x.Costs()))
}

func checkReducedObjective(context.Context) Finding {
	p, theta, xi := smallTheta()
	return holds(relativeError(p.Objective(theta), floats.Dot(p.MDP().Costs(), xi)), "cᵀ(Ψθ) and (cᵀΨ)θ are %.9g", p.Objective(theta))
}

func checkReducedFlow(context.Context) Finding {
	p, _, xi := smallTheta()
	printed, corrected := averageFlow(p.MDP(), xi), p.MDP().FlowResidual(xi)
	return holdsCorrected(printed, corrected, "‖θᵀΨᵀ(P−Q)‖₁ = %.3g for features of a γ = 0.9, ‖θᵀΨᵀ(Q−γP) − (1−γ)αᵀ‖₁ = %.1g", printed, corrected)
}

// averageFlow is ‖ξᵀ(P − Q)‖₁.
func averageFlow(x *mixpolicy.MDP, xi []float64) float64 {
	return must(x.WithCriterion(mixpolicy.AverageCost)).FlowResidual(xi)
}

func checkReducedMass(context.Context) Finding {
	p, theta, xi := smallTheta()
	var negative float64
	for _, v := range xi {
		negative += max(0, -v)
	}
	return holds(max(relativeError(floats.Sum(xi), floats.Sum(theta)), relativeError(negative, p.NegativeMass(theta))), "the total mass of Ψθ is 1ᵀθ; its negative mass is %.3g", negative)
}

func checkMixture(context.Context) Finding {
	x := must(smallMDP())
	base := smallPolicies(x)
	m := must(mixpolicy.Mixture([]float64{0.2, 0.5, 0.3}, base...))
	var worst float64
	for s := range x.States() {
		for a := range x.Actions() {
			worst = max(worst, math.Abs(m.Prob(s, a)-(0.2*base[0].Prob(s, a)+0.5*base[1].Prob(s, a)+0.3*base[2].Prob(s, a))))
		}
	}
	return holds(worst, "entry by entry")
}

// checkXi: (2.17) defines the combinations of measures by the combinations of policies;
// but a mixture of policies does not have the mixture of their measures.
func checkXi(context.Context) Finding {
	p := must(smallProblem(mixpolicy.Ball(2)))
	x := p.MDP()
	omega := []float64{0.2, 0.5, 0.3}
	mixture := must(mixpolicy.Mixture(omega, smallPolicies(x)...))
	xi := combination(p, omega)
	printed := theory.TotalVariation(must(x.Occupation(context.Background(), mixture)).Pair, xi)
	corrected := theory.TotalVariation(policyMeasure(p, omega).Pair, xi)
	return holdsCorrected(printed, corrected, "the measure of the mixture π^ω is %.2g from Ψω in total variation; that of the policy (2.20) of Ψω is %.1g", printed, corrected)
}

// checkReduction: (2.18) is (2.15), corrected, for features that are occupation measures.
func checkReduction(context.Context) Finding {
	p, best := smallOptimum(mixpolicy.Cube(1.5))
	d := p.Dim()
	program := &smallLP{c: append([]float64(nil), p.BaseCosts()...)}
	for i := range p.MDP().Pairs() {
		row := make([]float64, d)
		p.Features().Row(row, i)
		program.atLeast(row, 0)
	}
	for j := range d {
		program.atLeast(unit(d, j), -1.5)
		program.atMost(unit(d, j), 1.5)
	}
	program.equals([]float64{1, 1, 1}, 1)
	value, _ := program.solve()
	// Every θ on the hyperplane satisfies the flow constraint.
	flow := p.MDP().FlowResidual(combination(p, []float64{1.3, -0.9, 0.6}))
	return holds(max(relativeError(value, best.Objective), flow), "optimum %.9g by the active-set method and by the simplex method; 1ᵀθ = 1 implies the flow constraint", value)
}

func checkFeasibleSet(context.Context) Finding {
	p, best := smallOptimum(mixpolicy.Ball(2))
	violation := max(p.NegativeMass(best.Theta), math.Abs(floats.Sum(best.Theta)-1), max(0, p.Class().Size(best.Theta)-2))
	return holds(violation, "the optimum is in all three sets, to %.1g", violation)
}

func checkPolicyFallback(context.Context) Finding {
	x := must(models.Machine{}.MDP())
	// No positive entry in the second state only: the printed rule, for all pairs at once,
	// does not apply, and (2.20) is 0/0 there.
	xi := []float64{0.6, 0.4, -0.1, -0.2}
	printed := max(xi[2], 0) / (max(xi[2], 0) + max(xi[3], 0))
	p := must(mixpolicy.PolicyOf(x, xi))
	return holdsCorrected(printed, max(relativeError(p.Prob(0, 0), 0.6), relativeError(p.Prob(1, 0), 0.5)), "Ψθ ⪯ 0 in one state only: (2.20) is 0/0 there; uniform in that state gives %v", p.Row(1))
}

func checkEfficiency(ctx context.Context) Finding {
	p := must(smallProblem(mixpolicy.Ball(2)))
	r := must(mixpolicy.Solve(ctx, p, mixpolicy.PlugIn{}, mixpolicy.Settings{Iterations: 1000, Seed: 1}))
	return holds(max(relativeError(r.Gap, r.Objective-r.Optimum), r.NegativeMass, relativeError(r.PolicyCost, r.Objective)), "plug-in after 1000 queries: feasible, ε = %.2g, and the policy costs what cᵀΨθ̂ says", r.Gap)
}

// checkExpandedEfficiency: a point that satisfies (2.22) satisfies (2.21), as the minimum
// over more points is not greater, with V = 0 at the feasible ones. And with the price
// 1/ε at least ‖λ*‖_∞ no infeasible point costs less than the optimum.
func checkExpandedEfficiency(context.Context) Finding {
	p, best := smallOptimum(mixpolicy.Ball(2))
	price := floats.Max(multipliersOf(p, best))
	rng := rand.New(rand.NewPCG(222, 0))
	theta, worst, cheap := make([]float64, 3), 0.0, math.Inf(1)
	for range 4000 {
		for j := range theta {
			theta[j] = rng.NormFloat64()
		}
		noError(p.Class().Norm.Project(theta, theta, 2))
		worst = max(worst, excess(best.Objective, p.Objective(theta)+price*p.NegativeMass(theta)))
		cheap = min(cheap, p.Objective(theta)+0.1*price*p.NegativeMass(theta))
	}
	return holds(worst, "at the price ‖λ*‖_∞ = %.3g no point of 4000 beats the optimum %.6g; at a tenth of it one reaches %.3g", price, best.Objective, cheap)
}

func checkMixing(ctx context.Context) Finding {
	x, p, q := smallMeasure()
	const steps = 400
	printed := must(theory.MixingCurve(ctx, x, p, q.State, steps))
	corrected := must(theory.MixingCurve(ctx, x, p, nil, steps))
	m := must(theory.MixingTime(ctx, x, p, 0.01))
	return holdsCorrected(printed[steps], corrected[steps], "γ = 0.9: from the discounted μ_α the distance stays %.3g for ever, so that τ_mix(ε) does not exist for smaller ε; from the stationary distribution τ_mix(0.01) = %d", printed[steps], m.Time)
}

func checkContraction(ctx context.Context) Finding {
	x, base := queueModel()
	m := must(theory.MixingTime(ctx, x, base[1], 0.25))
	one := must(theory.ContractionCoefficient(ctx, x, base[1], 1))
	many := must(theory.ContractionCoefficient(ctx, x, base[1], m.Time))
	claim := math.Exp(-1 / float64(m.Time))
	return holdsCorrected(excess(one.Coefficient, claim), excess(many.Coefficient, 2*0.25), "queue, π²: τ_mix(¼) = %d, but one step contracts by %.6g, not by e^{−1/τ} = %.6g; τ steps contract by %.3g ≤ 2·¼", m.Time, one.Coefficient, claim, many.Coefficient)
}

func checkErgodicity(context.Context) Finding {
	x, base := queueModel()
	e := must(theory.ErgodicityOf(x, base...))
	n, root := float64(x.States()), math.Sqrt(e.Lower)
	var worst, tight float64
	for _, p := range base {
		for _, mu := range must(x.Occupation(context.Background(), p)).State {
			worst = max(worst, excess(1/(n*root), mu), excess(mu, root/n))
			tight = max(tight, 1/(n*mu)/root, n*mu/root)
		}
	}
	return holds(max(worst, relativeError(tight, 1)), "the two policies of section 6 need κ = %.4g", e.Lower)
}

// momentIsOrlicz: the moment norm is said to be the Orlicz norm. They are equivalent, with
// constants that do not depend on the variable, and differ.
func momentIsOrlicz(nu float64) check {
	return func(context.Context) Finding {
		orlicz := must(theory.OrliczNorm(nu, variable, chances))
		moment := must(theory.MomentNorm(nu, variable, chances))
		// E|X|^q ≤ qΓ(q/ν)·2‖X‖^q/ν and, the other way, a series in the moments: within
		// a factor of 4 either way for ν = 1, 2.
		return holdsCorrected(relativeError(orlicz, moment), excess(max(orlicz/moment, moment/orlicz), 4), "‖X‖_ψ = %.4g, but the supremum of moments is %.4g: equivalent, not equal", orlicz, moment)
	}
}

// checkLegendre checks convexity, that ∇φ* is the inverse of ∇φ, and that ∇φ grows without
// bound towards the boundary of ball and cube.
func checkLegendre(context.Context) Finding {
	rng := rand.New(rand.NewPCG(24, 0))
	var worst float64
	for _, m := range testModuli(rng) {
		g, back := make([]float64, 3), make([]float64, 3)
		for range 300 {
			x, y := m.draw(), m.draw()
			m.phi.Gradient(g, x)
			m.phi.ConjugateGradient(back, g)
			mid := scaled(0.5, floats.AddTo(make([]float64, 3), x, y))
			worst = max(worst, relativeVectorError(back, x), excess(m.phi.Value(mid), (m.phi.Value(x)+m.phi.Value(y))/2))
		}
	}
	edge := make([]float64, 1)
	for _, phi := range []bregman.Modulus{bregman.Ball{R: 2}, bregman.Cube(2)} {
		last := 0.0
		for k := 1; k < 50; k++ {
			phi.Gradient(edge, []float64{2 * (1 - math.Ldexp(1, -k))})
			if !(edge[0] > last) { // NaN is no growth
				worst = math.Inf(1)
			}
			last = edge[0]
		}
	}
	return holds(worst, "∇φ*∘∇φ is the identity and φ convex at 1200 points of four moduli; ‖∇φ‖ grows at every halving of the distance to the boundary")
}

func checkDivergence(context.Context) Finding {
	rng := rand.New(rand.NewPCG(25, 0))
	var worst float64
	for _, m := range testModuli(rng) {
		g := make([]float64, 3)
		for range 300 {
			x, y := m.draw(), m.draw()
			m.phi.Gradient(g, y)
			terms := []float64{m.phi.Value(x), -m.phi.Value(y), -floats.Dot(difference(x, y), g)}
			worst = max(worst, math.Abs(bregman.Divergence(m.phi, x, y)-floats.Sum(terms))/sizeOf(terms...))
		}
	}
	return holds(worst, "against the definition at 1200 pairs of points of four moduli")
}

// checkPairOrder: the paper orders c and ξ by action, P and Q by state; both orders in one
// product give no flow balance.
func checkPairOrder(context.Context) Finding {
	x, _, q := smallMeasure()
	byAction := make([]float64, x.Pairs())
	for s := range x.States() {
		for a := range x.Actions() {
			byAction[a*x.States()+s] = q.Pair[x.Pair(s, a)]
		}
	}
	printed, corrected := x.FlowResidual(byAction), x.FlowResidual(q.Pair)
	return holdsCorrected(printed, corrected, "ξ ordered by action against P and Q ordered by state: flow residual %.2g; in one order %.1g", printed, corrected)
}

func checkPolicy(context.Context) Finding {
	x, p, q := smallMeasure()
	var worst float64
	for s := range x.States() {
		worst = max(worst, math.Abs(floats.Sum(p.Row(s))-1))
		for a, w := range p.Row(s) {
			worst = max(worst, relativeError(q.Pair[x.Pair(s, a)], w*q.State[s]))
		}
	}
	return holds(worst, "every row is a distribution, and ξ = π ⊙ μ")
}

func checkOracle(context.Context) Finding {
	p := must(smallProblem(mixpolicy.Ball(2)))
	o := must(mixpolicy.NewOracle(p, 1, 0))
	const draws = 100_000
	x, q := p.MDP(), p.Features().Sampling()
	count := make([]float64, len(q))
	var worst float64
	for range draws {
		pair, cost := o.Sample()
		count[pair]++
		worst = max(worst, relativeError(cost, x.Costs()[pair]))
	}
	// Pearson's statistic has the mean 23 and the deviation √46 for 24 pairs: 5 deviations.
	var chi float64
	for i, k := range count {
		chi += sq(k-draws*q[i]) / (draws * q[i])
	}
	limit := 23 + 5*math.Sqrt(46)
	return holds(max(worst, excess(chi, limit), relativeError(float64(o.Queries()), draws)), "10⁵ draws from (1/d)Σψⁱ: χ² = %.1f for 23 degrees of freedom; each is counted", chi)
}
