package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// section2 is the equations and statements of section 2.
var section2 = []Entry{
	{Number: "2.1", What: "subdifferential of a convex function at a point", Symbol: "mixpolicy/bregman.Ball.Gradient", Defines: true, check: checkSubdifferential},
	{Number: "2.2", What: "Fenchel conjugate", Symbol: "mixpolicy/bregman.Conjugate", Defines: true, check: checkConjugate},
	{Number: "2.3", What: "Orlicz norm of a random variable", Symbol: "mixpolicy/theory.OrliczNorm", Errata: "orlicz-centring", check: checkOrlicz},
	{Number: "2.4", What: "sub-Gaussian norm by moments", Symbol: "mixpolicy/theory.MomentNorm", Defines: true, check: momentNorm(2)},
	{Number: "2.5", What: "sub-Gaussian norm of a vector: the greatest over directions", Symbol: "mixpolicy/theory.VectorMomentNorm", Defines: true, check: vectorNorm(2)},
	{Number: "2.6", What: "sub-exponential norm by moments", Symbol: "mixpolicy/theory.MomentNorm", Defines: true, check: momentNorm(1)},
	{Number: "2.7", What: "sub-exponential norm of a vector", Symbol: "mixpolicy/theory.VectorMomentNorm", Defines: true, check: vectorNorm(1)},
	{Number: "2.8", What: "Bellman's equation: the value function is the fixed point of the Bellman operator", Symbol: "mixpolicy.MDP.Bellman", check: checkBellman},
	{Number: "2.9a", What: "primal LP: maximise the value from the initial distribution, over v ⪰ 0", Symbol: "mixpolicy/priorwork.objective", Errata: "sign-of-costs", check: checkPrimalOrthant},
	{Number: "2.9b", What: "primal LP: the Bellman inequalities", Symbol: "mixpolicy/priorwork.bellmanRow", Errata: "cost-or-reward", check: checkPrimalInequality},
	{Number: "2.10", What: "state measure of a policy as a discounted series", Symbol: "mixpolicy.MDP.pushForward", Defines: true, check: checkSeries},
	{Number: "2.11", What: "the same as the solution of a linear system", Symbol: "mixpolicy.MDP.reduce", check: checkResolvent},
	{Number: "2.12", What: "least cost over policies is least cost over occupation measures", Symbol: "mixpolicy.Measure.Cost", check: checkOccupationCost},
	{Number: "2.13a", What: "dual LP: objective", Symbol: "mixpolicy.Measure.Cost", check: checkDualValue},
	{Number: "2.13b", What: "dual LP: flow balance of the measure", Symbol: "mixpolicy.MDP.FlowResidual", Errata: "stationary", check: checkFlow},
	{Number: "2.13c", What: "dual LP: the measure is a distribution", Symbol: "mixpolicy.FeaturesFromColumns", check: checkDistributionConstraint},
	{Number: "2.14", What: "optimal policy from the optimal measure", Symbol: "mixpolicy.PolicyOf", Errata: "policy-fallback", check: checkPolicyOfOptimum},
	{Number: "2.15a", What: "dual LP over linear combinations of features: objective", Symbol: "mixpolicy.Problem.Objective", check: checkReducedObjective},
	{Number: "2.15b", What: "dual LP over features: flow balance", Symbol: "mixpolicy.Features.FlowResidual", Errata: "stationary", check: checkReducedFlow},
	{Number: "2.15c", What: "dual LP over features: non-negativity, and total mass 1", Symbol: "mixpolicy.Problem.negativePart", check: checkReducedMass},
	{Number: "2.16", What: "mixtures of base policies", Symbol: "mixpolicy.Mixture", Defines: true, check: checkMixture},
	{Number: "2.17", What: "measures that are combinations of the base measures", Symbol: "mixpolicy.Features.MulVec", Errata: "mixture-of-measures", check: checkXi},
	{Number: "2.18a", What: "the reduced problem: objective", Symbol: "mixpolicy.Problem.Objective", check: checkReduction},
	{Number: "2.18b", What: "the reduced problem: constraints", Symbol: "mixpolicy.Problem.hyperplaneError", check: checkReduction},
	{Number: "2.19", What: "feasible set as an intersection of three", Symbol: "mixpolicy.Class.Size", Defines: true, check: checkFeasibleSet},
	{Number: "2.20", What: "policy of a vector over pairs with negative entries", Symbol: "mixpolicy.PolicyOf", Errata: "policy-fallback", check: checkPolicyFallback},
	{Number: "2.21", What: "efficient answer: within ε of the best feasible cost", Symbol: "mixpolicy.Certificate.compare", Defines: true, check: checkEfficiency},
	{Number: "2.22", What: "expanded efficiency: infeasible points compete at a price of 1/ε", Symbol: "mixpolicy.penalties.gap", Defines: true, check: checkExpandedEfficiency},
	{Number: "2.23", What: "mixing time", Symbol: "mixpolicy/theory.MixingTime", Errata: "stationary", check: checkMixing},
	{Number: "2.24", What: "a mixing chain contracts total variation in every step", Symbol: "mixpolicy/theory.ContractionCoefficient", Errata: "one-step-contraction", check: checkContraction},
	{Number: "2.25", What: "stationary distributions within factors √κ of uniform", Symbol: "mixpolicy/theory.kappa", Defines: true, check: checkErgodicity},

	{Number: "Definition 2.1", What: "Young–Orlicz modulus and Orlicz norm", Symbol: "mixpolicy/theory.OrliczNorm", Errata: "orlicz-centring", check: checkOrlicz},
	{Number: "Definition 2.2", What: "sub-Gaussian norm; said to be the Orlicz norm of ψ₂ in other words", Symbol: "mixpolicy/theory.MomentNorm", Errata: "moment-norms", check: momentIsOrlicz(2)},
	{Number: "Definition 2.3", What: "sub-exponential norm; said to be the Orlicz norm of ψ₁ in other words", Symbol: "mixpolicy/theory.MomentNorm", Errata: "moment-norms", check: momentIsOrlicz(1)},
	{Number: "Definition 2.4", What: "Legendre function", Symbol: "mixpolicy/bregman.Check", Defines: true, check: checkLegendre},
	{Number: "Definition 2.5", What: "Bregman divergence", Symbol: "mixpolicy/bregman.Divergence", Defines: true, check: checkDivergence},
	{Number: "Definition 2.6", What: "Markov decision process, and its matrices", Symbol: "mixpolicy.MDP.StateAction", Errata: "pair-order", check: checkPairOrder},
	{Number: "Definition 2.7", What: "randomised policy", Symbol: "mixpolicy.Policy.Row", Defines: true, check: checkPolicy},
	{Number: "Definition 2.8", What: "efficient large-scale dual ALP", Symbol: "mixpolicy.Certificate.compare", Defines: true, check: checkEfficiency},
	{Number: "Definition 2.9", What: "expanded efficient large-scale dual ALP, which implies the inequality of Definition 2.8", Symbol: "mixpolicy.penalties.gap", Defines: true, check: checkExpandedEfficiency},
	{Number: "Assumption A.1", What: "fast mixing", Symbol: "mixpolicy/theory.UniformMixingTime", Errata: "stationary", check: checkMixing},
	{Number: "Assumption A.2", What: "uniformly bounded ergodicity", Symbol: "mixpolicy/theory.UniformErgodicity", Defines: true, check: checkErgodicity},
	{Number: "Assumption A.3", What: "model of computation: a sampling oracle reveals costs", Symbol: "mixpolicy.Oracle.Query", Defines: true, check: checkOracle},
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
	worst = max(worst, refusal(func() { bregman.Ball{R: 2}.Gradient(make([]float64, 3), []float64{0, 0}) }))
	return holds(worst, "the gradients of four moduli are subgradients at 2000 pairs of points")
}

// maximum returns the maximum of a concave f on [lo, hi].
func maximum(f func(float64) float64, lo, hi float64) float64 {
	_, value := maximiser(f, lo, hi)
	return value
}

// maximiser returns the maximiser of a concave f on [lo, hi] and its value, by golden-section search.
func maximiser(f func(float64) float64, lo, hi float64) (x, value float64) {
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
	if fa > fb {
		return a, fa
	}
	return b, fb
}

// plain hides what a modulus knows besides φ, ∇φ and ∇φ*, so that definitions are evaluated.
type plain struct{ bregman.Modulus }

// conjugateError compares φ* with its definition, for the ball, where the supremum is attained
// along y, and for the cube, where each coordinate has its own.
func conjugateError(phi bregman.Modulus, r float64, ball bool) float64 {
	rng := rand.New(rand.NewPCG(22, 0))
	var worst float64
	for range 200 {
		y := []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64()}
		var want float64
		if ball {
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
	ball, cube := bregman.Ball{R: 2}, bregman.Cube(1.5)
	return holds(max(conjugateError(ball, 2, true), conjugateError(cube, 1.5, false), conjugateError(plain{ball}, 2, true), conjugateError(plain{cube}, 1.5, false)),
		"φ* of the ball and the cube against the supremum found by search, 200 points each")
}

// A distribution with a long tail and an atom at 0.
var (
	variable = []float64{-3, -1, 0, 0.5, 2, 6}
	chances  = []float64{0.05, 0.2, 0.3, 0.3, 0.1, 0.05}
)

// normError is how far [theory.OrliczNorm] is from its definition, also where one outcome is large and rare.
func normError() (worst float64) {
	seldom, chance := []float64{1, 1e-3}, []float64{1e-12, 1 - 1e-12}
	for _, nu := range []float64{1, 2} {
		worst = max(worst, orliczError(nu, must(theory.OrliczNorm(nu, variable, chances)), variable, chances),
			orliczError(nu, must(theory.OrliczNorm(nu, seldom, chance)), seldom, chance))
	}
	return worst
}

func checkOrlicz(context.Context) Finding {
	beta := must(theory.OrliczNorm(2, variable, chances))
	twice := must(theory.OrliczNorm(2, scaled(2, variable), chances))
	// As printed E ψ(|X| − E|X|/β) is convex in 1/β, and least where |X| − E|X|/β changes its sign,
	// for E|X|/β ≤ 6. If it is above 1 there, no β is admitted, and the infimum is +∞.
	var mean float64
	for i, x := range variable {
		mean += chances[i] * math.Abs(x)
	}
	least := -maximum(func(inverse float64) float64 { return -theory.PrintedOrlicz(2, 1/inverse, variable, chances) }, 0, 6/mean)
	printed := beta
	if least > 1 {
		printed = math.Inf(1)
	}
	return holdsCorrected(relativeError(printed, beta), max(normError(), relativeError(twice, 2*beta)),
		"a variable of values −3 to 6: the printed expectation is %.3g or more for every β, the norm is %.6g, and twice that for twice the variable", least, beta)
}

// rare is a variable whose sub-exponential norm is attained at q = 4.6, not at q = 1.
var rare, rareChances = []float64{-0.1, 100}, []float64{0.99, 0.01}

// greatestMoment is sup q^(−1/ν)(E|X|^q)^(1/q) on a grid of q.
func greatestMoment(nu float64, x, p []float64) (sup float64) {
	for q := 1.0; q < 60; q += 1e-3 {
		var m float64
		for i, v := range x {
			m += p[i] * math.Pow(math.Abs(v), q)
		}
		sup = max(sup, math.Pow(q, -1/nu)*math.Pow(m, 1/q))
	}
	return sup
}

// gridTolerance: a grid of q of step 10⁻³ misses a maximum by a second-order term in the step.
const gridTolerance = 1e-6

// momentError compares norms by moments with a grid of q.
func momentError(nu float64) float64 {
	return max(relativeError(must(theory.MomentNorm(nu, variable, chances)), greatestMoment(nu, variable, chances)),
		relativeError(must(theory.MomentNorm(nu, rare, rareChances)), greatestMoment(nu, rare, rareChances)))
}

func momentNorm(nu float64) check {
	return func(context.Context) Finding {
		return holds(momentError(nu), "%.9g against %.9g on a grid of q", must(theory.MomentNorm(nu, variable, chances)), greatestMoment(nu, variable, chances)).within(gridTolerance)
	}
}

// greatestDirection is the greatest norm by moments of ⟨x, Z⟩ over 2000 directions x of the plane.
func greatestDirection(nu float64, z mat.Matrix, p []float64) (sup float64) {
	for k := range 2000 {
		a := math.Pi * float64(k) / 2000
		x := make([]float64, len(p))
		for i := range x {
			x[i] = math.Cos(a)*z.At(i, 0) + math.Sin(a)*z.At(i, 1)
		}
		sup = max(sup, must(theory.MomentNorm(nu, x, p)))
	}
	return sup
}

func vectorNorm(nu float64) check {
	return func(context.Context) Finding {
		// Two independent signs of sizes 1 and 2.
		z := mat.NewDense(4, 2, []float64{1, 2, 1, -2, -1, 2, -1, -2})
		p := []float64{.25, .25, .25, .25}
		lower, upper, err := theory.VectorMomentNorm(nu, z, p)
		noError(err)
		want := greatestDirection(nu, z, p)
		// Neighbouring directions are an angle of 1.6·10⁻³ apart, and the best is half of that away.
		worst := max(excess(lower, upper), excess(want, upper), excess(want, lower), excess(lower*(1-1e-5), want))
		worst = max(worst, refusal(func() { theory.VectorMomentNorm(nu, z, p[1:]) }))
		// Variables for which the best direction is found from an outcome, from the mean, and from an
		// eigenvector of E ZZᵀ only.
		for _, e := range []struct{ z, p []float64 }{
			{[]float64{1, -3, 4, -2, -2, 6, -6, -6, -3, -1}, []float64{0.05, 0.44, 0.15, 0.27, 0.09}},
			{[]float64{3, -2, 2, 3}, []float64{0.4375, 0.5625}},
			{[]float64{-5, 6, -1, -1, 5, -2, 2, 4, -5, 6}, []float64{0.2164, 0.2044, 0.4115, 0.1274, 0.0403}},
		} {
			z := mat.NewDense(len(e.p), 2, e.z)
			lower, _, err := theory.VectorMomentNorm(nu, z, e.p)
			noError(err)
			best := greatestDirection(nu, z, e.p)
			worst = max(worst, excess(best, lower), excess(lower*(1-1e-5), best))
		}
		// The norm along the mean, here along (−1, 8), is no greater; along what the others lead to it is less for ν = 1.
		rare, chance := []float64{-1, 1, 4, 3, 4, 4, 3, -4}, []float64{0.8125, 0.0625, 0.0625, 0.0625}
		reached, _, err := theory.VectorMomentNorm(nu, mat.NewDense(4, 2, rare), chance)
		noError(err)
		along := make([]float64, 4)
		for i := range along {
			along[i] = (8*rare[2*i+1] - rare[2*i]) / math.Sqrt(65)
		}
		worst = max(worst, excess(must(theory.MomentNorm(nu, along, chance)), reached))
		return holds(worst, "in [%.6g, %.6g]; %.6g over 2000 directions", lower, upper, want)
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

// bellmanError compares 𝒮v with plain loops.
func bellmanError(x *mixpolicy.MDP) float64 {
	rng, next := rand.New(rand.NewPCG(28, 0)), make([]float64, x.States())
	worst := refusal(func() { x.Bellman(next[1:], next) })
	for range 50 {
		v := normals(rng, x.States())
		x.Bellman(next, v)
		worst = max(worst, relativeVectorError(next, bellmanUpdate(x, v)))
	}
	return worst
}

func checkBellman(ctx context.Context) Finding {
	x := must(smallMDP())
	v, want := optimalValue(ctx, x)
	next := make([]float64, x.States())
	x.Bellman(next, v.Value)
	value, _ := primalLP(x, mixpolicy.Corrected).solve()
	return holds(max(relativeVectorError(next, v.Value), relativeError(-value, want), bellmanError(x)),
		"v* of policy iteration: 𝒮v* = v*, and αᵀv* = %.9g is the optimum of the LP", -value).within(valueTolerance)
}

// negativeCosts is smallMDP with 1 subtracted from every cost, so that values are negative.
func negativeCosts() *mixpolicy.MDP {
	x := must(smallMDP())
	return must(x.WithCosts(shifted(x.Costs(), -1)))
}

// fullBasis is Φ = I, for which the approximate LP (4.1) is the exact one.
func fullBasis(x *mixpolicy.MDP) priorwork.ALP {
	phi := mat.NewDense(x.States(), x.States(), nil)
	for s := range x.States() {
		phi.Set(s, s, 1)
	}
	return priorwork.ALP{Basis: phi}
}

func checkPrimalOrthant(ctx context.Context) Finding {
	x := negativeCosts()
	_, want := optimalValue(ctx, x)
	library := relativeError(must(fullBasis(x).Solve(ctx, x)).Objective, want)
	// Other weights have the same solution, and α of an average-cost problem plays no part.
	weighted, average := fullBasis(x), must(x.WithCriterion(mixpolicy.AverageCost))
	weighted.Weights = skewedMDP(0).Initial()
	library = max(library, relativeError(must(weighted.Solve(ctx, x)).Objective, floats.Dot(weighted.Weights, must(fullBasis(x).Solve(ctx, x)).Value)))
	gain := must(mixpolicy.PolicyIteration(ctx, average, mixpolicy.ValuationSettings{}))
	one := priorwork.ALP{Basis: mat.DenseCopyOf(fullBasis(x).Basis.Slice(0, x.States(), 1, x.States()))} // h is unique but for a constant
	library = max(library, relativeError(must(one.Solve(ctx, average)).Objective, gain.Cost()))
	program := primalLP(x, mixpolicy.Corrected)
	free, _ := program.solve()
	for s := range x.States() {
		program.atLeast(unit(x.States(), s), 0)
	}
	orthant, _ := program.solve()
	return holdsCorrected(relativeError(-orthant, want), max(relativeError(-free, want), library), "costs in [−1, 0): over v ⪰ 0 there is no feasible v; over all v the optimum is αᵀv* = %.9g", want)
}

func checkPrimalInequality(ctx context.Context) Finding {
	x := must(smallMDP())
	v, want := optimalValue(ctx, x)
	library := relativeVectorError(must(fullBasis(x).Solve(ctx, x)).Value, v.Value)
	printed, _ := primalLP(x, mixpolicy.Printed).solve()
	corrected, _ := primalLP(x, mixpolicy.Corrected).solve()
	return holdsCorrected(relativeError(-printed, want), max(relativeError(-corrected, want), library),
		"with ⪰ the maximum is %v, with ⪯ it is %.9g, and αᵀv* = %.9g", -printed, -corrected, want)
}

func checkSeries(ctx context.Context) Finding {
	x, pi := skewedMDP(0), smallPolicies(must(smallMDP()))[0]
	var worst float64
	for _, y := range []*mixpolicy.MDP{must(smallMDP()), x} {
		total := make([]float64, y.States())
		power := append([]float64(nil), y.Initial()...)
		weight := 1 - y.Gamma()
		for range 400 { // 0.9⁴⁰⁰ < 10⁻¹⁸
			floats.AddScaled(total, weight, power)
			power = nextStates(y, pi, power)
			weight *= y.Gamma()
		}
		eliminated := must(y.Occupation(ctx, pi))
		// Repeating μ ← (1−γ)α + γμP adds up the series; the residual at which it stops is 1−γ of the error.
		summed := must(mixpolicy.Occupation(ctx, y, pi, mixpolicy.MeasureSettings{Method: mixpolicy.PowerIteration, Tolerance: rounding / 100}))
		worst = max(worst, relativeVectorError(total, eliminated.State), relativeVectorError(total, summed.State), eliminated.Residual)
	}
	return holds(worst, "the sum of 400 terms is the measure by elimination; but μ is not stationary, see the errata")
}

// measureByLU is (2.11), or the solution of μ(I − P) = 0 and Σμ = 1, by dense LU.
func measureByLU(x *mixpolicy.MDP, p *mixpolicy.Policy) []float64 {
	n := x.States()
	a, b := mat.NewDense(n, n, nil), scaled(1-x.Gamma(), x.Initial()) // (I − γP)ᵀ
	for s := range n {
		for s2, v := range nextStates(x, p, unit(n, s)) {
			a.Set(s2, s, -x.Gamma()*v)
		}
		a.Set(s, s, a.At(s, s)+1)
	}
	if x.Criterion().Average() { // the equations add up to 0 = 0: one of them gives way to the sum
		for s := range n {
			a.Set(0, s, 1)
		}
		b[0] = 1
	}
	var mu mat.VecDense
	noError(mu.SolveVec(a, mat.NewVecDense(n, b)))
	return mu.RawVector().Data
}

func checkResolvent(ctx context.Context) Finding {
	x, p, q := smallMeasure()
	worst := relativeVectorError(measureByLU(x, p), q.State)
	for _, y := range []*mixpolicy.MDP{skewedMDP(0), must(x.WithCriterion(mixpolicy.AverageCost))} {
		worst = max(worst, relativeVectorError(measureByLU(y, p), must(y.Occupation(ctx, p)).State))
	}
	return holds(worst, "dense LU against elimination without subtraction")
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
	return holds(max(relativeError(q.Cost(x.Costs()), floats.Dot(q.State, c)), relativeError(best, v.Cost()), refusal(func() { q.Cost(c) })),
		"cᵀξ is Σμc^π; the least cᵀξ of all 6561 deterministic policies is %.9g, and so is that of policy iteration", best).within(valueTolerance)
}

func checkDualValue(ctx context.Context) Finding {
	x, value, xi := dualOptimum(mixpolicy.Corrected)
	primal, _ := primalLP(x, mixpolicy.Corrected).solve()
	best := mixpolicy.Measure{Pair: xi}
	return holds(max(relativeError(value, -(1-x.Gamma())*primal), relativeError(best.Cost(x.Costs()), value), refusal(func() { best.Cost(xi[1:]) })), "strong duality: min cᵀξ = %.9g = (1−γ)αᵀv*; the factor is left out in the text after (2.14)", value)
}

// flowError compares FlowResidual with plain loops at vectors that are no measures.
func flowError() (worst float64) {
	rng := rand.New(rand.NewPCG(213, 0))
	x := skewedMDP(0)
	for _, y := range []*mixpolicy.MDP{x, must(x.WithCriterion(mixpolicy.AverageCost))} {
		for range 50 {
			xi := normals(rng, y.Pairs())
			worst = max(worst, relativeError(y.FlowResidual(xi), flowResidual(y, xi)))
		}
	}
	return worst
}

func checkFlow(ctx context.Context) Finding {
	x, value, xi := dualOptimum(mixpolicy.Corrected)
	_, printed, _ := dualOptimum(mixpolicy.Printed)
	v, _ := optimalValue(ctx, x)
	return holdsCorrected(relativeError(printed, v.Cost()), max(relativeError(value, v.Cost()), x.FlowResidual(xi), flowError()), "γ = 0.9: the optimum is %.6g with ξᵀ(P−Q) = 0, which is the average-cost problem, %.6g with ξᵀ(Q−γP) = (1−γ)αᵀ, and %.6g by policy iteration", printed, value, v.Cost()).within(valueTolerance)
}

func checkDistributionConstraint(context.Context) Finding {
	x, _, xi := dualOptimum(mixpolicy.Corrected)
	// As a feature it must be a distribution.
	q := must(x.Occupation(context.Background(), must(mixpolicy.PolicyOf(x, xi)))).Pair
	negative := append([]float64{q[0] + q[1] + 0.1, -0.1}, q[2:]...)
	refused := 0.0
	for _, column := range [][]float64{scaled(0.9, q), scaled(1.1, q), scaled(-1, q), negative, q[1:]} {
		if f, err := mixpolicy.FeaturesFromColumns(x, column); f != nil || err == nil {
			refused = math.Inf(1)
		}
	}
	f := must(mixpolicy.FeaturesFromColumns(x, q, q))
	accepted := max(relativeVectorError(f.Column(1), q), relativeVectorError(q, f.Sampling()))
	return holds(max(relativeError(floats.Sum(xi), 1), max(0, -floats.Min(xi)), refused, accepted), "ξ* of the LP without ξᵀ1 = 1, which the flow implies: its sum is 1 and its least entry %.2g", floats.Min(xi))
}

func checkPolicyFromDual(ctx context.Context) Finding {
	x, value, xi := dualOptimum(mixpolicy.Corrected)
	q := must(x.Occupation(ctx, must(mixpolicy.PolicyOf(x, xi))))
	return holds(max(relativeVectorError(q.Pair, xi), relativeError(q.Cost(x.Costs()), value), policyOfError()), "the policy of ξ* has the measure ξ*, and cost %.9g", q.Cost(x.Costs()))
}

// objectiveError compares cᵀΨθ with plain loops over the measures of the base policies.
func objectiveError(p *mixpolicy.Problem) float64 {
	rng := rand.New(rand.NewPCG(2151, 0))
	worst := refusal(func() { p.Objective([]float64{1}) })
	for range 50 {
		theta := normals(rng, p.Dim())
		var want, size float64
		for j, pi := range smallPolicies(p.MDP()) {
			for i, mass := range must(p.MDP().Occupation(context.Background(), pi)).Pair {
				want += p.MDP().Costs()[i] * mass * theta[j]
				size += math.Abs(p.MDP().Costs()[i] * mass * theta[j])
			}
		}
		worst = max(worst, math.Abs(p.Objective(theta)-want)/size)
	}
	return worst
}

func checkReducedObjective(context.Context) Finding {
	p, theta, xi := smallTheta()
	return holds(max(objectiveError(p), relativeError(p.Objective(theta), floats.Dot(p.MDP().Costs(), xi))), "cᵀ(Ψθ) and (cᵀΨ)θ are %.9g", p.Objective(theta))
}

func checkReducedFlow(context.Context) Finding {
	p, _, xi := smallTheta()
	printed, corrected := averageFlow(p.MDP(), xi), p.MDP().FlowResidual(xi)
	worst := flowResidual(p.MDP(), xi)
	for j := range p.Dim() {
		worst = max(worst, p.Features().FlowResidual(j))
	}
	// Of columns that are no occupation measures, it is what plain loops give.
	rng, x := rand.New(rand.NewPCG(2152, 0)), skewedMDP(0)
	for range 20 {
		columns := [][]float64{exponentials(rng, x.Pairs()), exponentials(rng, x.Pairs())}
		for _, c := range columns {
			floats.Scale(1/floats.Sum(c), c)
		}
		f := must(mixpolicy.FeaturesFromColumns(x, columns...))
		for j, c := range columns {
			worst = max(worst, relativeError(f.FlowResidual(j), flowResidual(x, c)))
		}
	}
	return holdsCorrected(printed, max(corrected, worst), "‖θᵀΨᵀ(P−Q)‖₁ = %.3g for features of a γ = 0.9, ‖θᵀΨᵀ(Q−γP) − (1−γ)αᵀ‖₁ = %.1g", printed, corrected)
}

// averageFlow is ‖ξᵀ(P − Q)‖₁.
func averageFlow(x *mixpolicy.MDP, xi []float64) float64 {
	return must(x.WithCriterion(mixpolicy.AverageCost)).FlowResidual(xi)
}

func checkReducedMass(context.Context) Finding {
	p, theta, xi := smallTheta()
	mass, of := p.NegativeMass(theta), negativeParts(xi)
	worst := max(relativeError(floats.Sum(xi), floats.Sum(theta)), relativeError(of[0], mass))
	rng := rand.New(rand.NewPCG(2153, 0))
	for range 50 {
		theta := normals(rng, p.Dim())
		of := negativeParts(combination(p, theta))
		worst = max(worst, relativeError(of[0], p.NegativeMass(theta)), relativeError(of[1]/2, p.Violation(theta)))
	}
	// A vector of more entries than are computed at once.
	many := bandit(make([]float64, 140_000)...)
	columns := [][]float64{make([]float64, many.Pairs()), make([]float64, many.Pairs())}
	for i := range many.Pairs() {
		columns[0][i], columns[1][i] = rng.Float64(), rng.Float64()
	}
	for _, c := range columns {
		floats.Scale(1/floats.Sum(c), c)
	}
	large := must(mixpolicy.NewProblem(must(mixpolicy.FeaturesFromColumns(many, columns...)), mixpolicy.Ball(2)))
	worst = max(worst, relativeError(negativeParts(combination(large, []float64{1.5, -0.5}))[0], large.NegativeMass([]float64{1.5, -0.5})))
	return holds(worst, "the total mass of Ψθ is 1ᵀθ; its negative mass is %.3g", of[0])
}

// negativeParts returns ‖[ξ]₋‖₁ and ‖[ξ]₋‖₂ in plain loops.
func negativeParts(xi []float64) [2]float64 {
	var one, two float64
	for _, v := range xi {
		one += max(0, -v)
		two += sq(max(0, -v))
	}
	return [2]float64{one, math.Sqrt(two)}
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
	corrected := max(theory.TotalVariation(policyMeasure(p, omega).Pair, xi), refusal(func() { combination(p, omega[1:]) }))
	return holdsCorrected(printed, corrected, "the measure of the mixture π^ω is %.2g from Ψω in total variation; that of the policy (2.20) of Ψω is %.1g", printed, corrected)
}

// checkReduction: (2.18) is (2.15), corrected, for features that are occupation measures.
func checkReduction(ctx context.Context) Finding {
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
	worst := max(relativeError(value, best.Objective), flow, objectiveError(p), relativeError(p.Objective(best.Theta), value))
	// What a certificate says of 1ᵀθ = 1: the printed algorithm leaves the hyperplane.
	for _, form := range []mixpolicy.Form{mixpolicy.Corrected, mixpolicy.Printed} {
		r := must(mixpolicy.Solve(ctx, must(smallProblem(mixpolicy.Ball(2))), mixpolicy.PrimalDual{Form: form, CostScale: 1}, mixpolicy.Settings{Iterations: 20, Seed: 1}))
		worst = max(worst, math.Abs(r.HyperplaneError-(floats.Sum(r.Theta)-1)))
	}
	return holds(worst, "optimum %.9g by the active-set method and by the simplex method; 1ᵀθ = 1 implies the flow constraint", value)
}

func checkFeasibleSet(context.Context) Finding {
	p, best := smallOptimum(mixpolicy.Ball(2))
	violation := max(p.NegativeMass(best.Theta), math.Abs(floats.Sum(best.Theta)-1), max(0, p.Class().Size(best.Theta)-2))
	rng, size := rand.New(rand.NewPCG(219, 0)), 0.0
	for range 50 {
		theta := normals(rng, 3)
		a, b, c := math.Abs(theta[0]), math.Abs(theta[1]), math.Abs(theta[2])
		size = max(size, relativeError(mixpolicy.Ball(2).Size(theta), math.Sqrt(a*a+b*b+c*c)),
			relativeError(mixpolicy.Cube(2).Size(theta), max(a, b, c)), relativeError(mixpolicy.Simplex().Size(theta), a+b+c))
	}
	return holds(max(violation, size), "the optimum is in all three sets, to %.1g", violation)
}

// policyOfError compares (2.20) with plain loops, at vectors that have states without a positive
// entry, and states where all are tiny, or so large that their sum overflows; and by hand where the
// last of three actions is not allowed in a state, so that what ξ has there counts as the first's.
func policyOfError() (worst float64) {
	x, rng := must(smallMDP()), rand.New(rand.NewPCG(220, 0))
	scale := []float64{1, 0x1p900, 1, 0x1p500, 1, 0x1p-1022, 1, 1}
	for range 50 {
		xi := normals(rng, x.Pairs())
		for i := range xi {
			s := i / x.Actions()
			switch s {
			case 2:
				xi[i] = -math.Abs(xi[i])
			case 5:
				xi[i] = 1.5 + rng.Float64()
			}
			xi[i] /= scale[s]
		}
		worst = max(worst, relativeVectorError(rowsOfPolicy(x, must(mixpolicy.PolicyOf(x, xi))), positivePart(xi, scale, x.Actions())))
	}
	few := must(mixpolicy.New(mixpolicy.Spec{States: 2, Actions: 3, Criterion: mixpolicy.AverageCost, Allowed: func(s, a int) bool { return s == 1 || a < 2 },
		Dynamics: func(_, a int) (float64, []mixpolicy.Transition) { return 0, []mixpolicy.Transition{{To: 0, P: 1}} }}))
	return max(worst, relativeVectorError(rowsOfPolicy(few, must(mixpolicy.PolicyOf(few, []float64{-1, 1, 4, 1, 2, 5}))), []float64{0.75, 0.25, 0, 0.125, 0.25, 0.625}))
}

// featuresPolicyError does so for the policy of Ψθ.
func featuresPolicyError() (worst float64) {
	p, rng := must(smallProblem(mixpolicy.Ball(2))), rand.New(rand.NewPCG(328, 0))
	x := p.MDP()
	ones := shifted(make([]float64, x.States()), 1)
	for range 50 {
		theta := scaled(3, normals(rng, p.Dim()))
		xi := make([]float64, x.Pairs())
		for i := range xi {
			for j, t := range theta {
				xi[i] += t * p.Features().Column(j)[i]
			}
		}
		worst = max(worst, relativeVectorError(rowsOfPolicy(x, must(p.Features().PolicyOf(theta))), positivePart(xi, ones, x.Actions())))
	}
	return worst
}

func checkPolicyFallback(context.Context) Finding {
	x := must(models.Machine{}.MDP())
	// No positive entry in the second state only: the printed rule, for all pairs at once,
	// does not apply, and (2.20) is 0/0 there.
	xi := []float64{0.6, 0.4, -0.1, -0.2}
	printed := max(xi[2], 0) / (max(xi[2], 0) + max(xi[3], 0))
	p := must(mixpolicy.PolicyOf(x, xi))
	return holdsCorrected(printed, max(relativeError(p.Prob(0, 0), 0.6), relativeError(p.Prob(1, 0), 0.5), policyOfError(), featuresPolicyError()), "Ψθ ⪯ 0 in one state only: (2.20) is 0/0 there; uniform in that state gives %v", p.Row(1))
}

// certificateError compares what a certificate says of answers that are not feasible with plain
// loops and the multipliers of the optimum.
func certificateError(ctx context.Context) (worst float64) {
	for _, class := range []mixpolicy.Class{mixpolicy.Ball(2), mixpolicy.Cube(1.5)} {
		p, best := smallOptimum(class)
		for stream := range uint64(3) {
			r := must(mixpolicy.Solve(ctx, p, mixpolicy.PrimalDual{Form: mixpolicy.Printed, StepSize: mixpolicy.InverseSqrt(4)}, mixpolicy.Settings{Iterations: 30, Seed: 221, Stream: stream}))
			gap := floats.Dot(p.MDP().Costs(), combination(p, r.Theta)) - best.Objective
			worst = max(worst, relativeError(r.Optimum, best.Objective), math.Abs(r.Gap-gap)/sizeOf(r.Gap, best.Objective), relativeError(r.PenalisedGap, gapByHand(p, best, r.Theta)))
		}
	}
	return worst
}

// gapByHand is the penalised gap of θ, each penalty at twice its multiplier, or at c_max − c_min if that is more.
func gapByHand(p *mixpolicy.Problem, best *linprog.Solution, theta []float64) float64 {
	x := p.MDP()
	spread := floats.Max(x.Costs()) - floats.Min(x.Costs())
	price := func(multiplier float64) float64 { return max(2*math.Abs(multiplier), spread) }
	xi := combination(p, theta)
	outside := max(0, p.Class().Norm.Of(theta)-p.Class().R)
	return floats.Dot(x.Costs(), xi) - best.Objective + price(floats.Max(multipliersOf(p, best)))*negativeParts(xi)[0] +
		price(best.Hyperplane)*math.Abs(floats.Sum(theta)-1) + price(best.Ball)*outside
}

func checkEfficiency(ctx context.Context) Finding {
	p := must(smallProblem(mixpolicy.Ball(2)))
	r := must(mixpolicy.Solve(ctx, p, mixpolicy.PlugIn{}, mixpolicy.Settings{Iterations: 1000, Seed: 1}))
	return holds(max(relativeError(r.Gap, r.Objective-r.Optimum), r.NegativeMass, relativeError(r.PolicyCost, r.Objective), certificateError(ctx)), "plug-in after 1000 queries: feasible, ε = %.2g, and the policy costs what cᵀΨθ̂ says", r.Gap)
}

// checkExpandedEfficiency: a point that satisfies (2.22) satisfies (2.21), as the minimum
// over more points is not greater, with V = 0 at the feasible ones. And with the price
// 1/ε at least ‖λ*‖_∞ no infeasible point costs less than the optimum.
func checkExpandedEfficiency(context.Context) Finding {
	p, best := smallOptimum(mixpolicy.Ball(2))
	price := floats.Max(multipliersOf(p, best))
	rng := rand.New(rand.NewPCG(222, 0))
	worst, cheap := 0.0, math.Inf(1)
	for range 4000 {
		theta := normals(rng, 3)
		noError(p.Class().Norm.Project(theta, theta, 2))
		worst = max(worst, excess(best.Objective, p.Objective(theta)+price*p.NegativeMass(theta)))
		cheap = min(cheap, p.Objective(theta)+0.1*price*p.NegativeMass(theta))
	}
	// The penalised gap has the same prices doubled, and one for each other constraint.
	for _, class := range []mixpolicy.Class{mixpolicy.Ball(2), mixpolicy.Cube(0.6)} {
		p, best := smallOptimum(class)
		for range 200 {
			theta := normals(rng, 3)
			worst = max(worst, relativeError(must(p.PenalisedGap(theta)), gapByHand(p, best, theta)))
		}
	}
	return holds(worst, "at the price ‖λ*‖_∞ = %.3g no point of 4000 beats the optimum %.6g; at a tenth of it one reaches %.3g", price, best.Objective, cheap)
}

// mixingCurve is max_s ‖Pᵗ(s,·) − μ‖_TV for t = 0, …, steps, in plain loops.
func mixingCurve(x *mixpolicy.MDP, p *mixpolicy.Policy, mu []float64, steps int) (curve []float64) {
	var rows [][]float64
	for s := range x.States() {
		rows = append(rows, unit(x.States(), s))
	}
	for range steps + 1 {
		d := 0.0
		for s, row := range rows {
			d = max(d, floats.Distance(row, mu, 1)/2)
			rows[s] = nextStates(x, p, row)
		}
		curve = append(curve, d)
	}
	return curve
}

// mixingError compares mixing times of a chain that mixes slowly with powers of its matrix.
func mixingError(ctx context.Context) (worst float64) {
	x := must(models.Queue{Buffer: 12}.MDP())
	for _, p := range must(models.Queue{}.Policies(x)) {
		mu := must(x.Occupation(ctx, p)).State
		curve := mixingCurve(x, p, mu, 400)
		for _, epsilon := range []float64{0.9, 0.5, 0.25, 0.1, 0.02, 1e-3} {
			m := must(theory.MixingTime(ctx, x, p, epsilon))
			want := 1
			for curve[want] > epsilon {
				want++
			}
			worst = max(worst, relativeError(float64(m.Time), float64(want)), relativeError(m.Distance, curve[want]))
		}
	}
	return worst
}

func checkMixing(ctx context.Context) Finding {
	x, p, q := smallMeasure()
	const steps = 400
	printed := must(theory.MixingCurve(ctx, x, p, q.State, steps))
	corrected := must(theory.MixingCurve(ctx, x, p, nil, steps))
	m := must(theory.MixingTime(ctx, x, p, 0.01))
	return holdsCorrected(printed[steps], max(corrected[steps], mixingError(ctx), uniformMixingError(ctx)), "γ = 0.9: from the discounted μ_α the distance stays %.3g for ever, so that τ_mix(ε) does not exist for smaller ε; from the stationary distribution τ_mix(0.01) = %d", printed[steps], m.Time)
}

// uniformMixingError compares the bound of the mixing time of all policies with the distances of
// all rows, and with the mixing times of deterministic policies.
func uniformMixingError(ctx context.Context) (worst float64) {
	x := skewedMDP(0.3)
	var delta float64
	for i := range x.Pairs() {
		for j := range x.Pairs() {
			if i/x.Actions() == j/x.Actions() {
				continue
			}
			delta = max(delta, floats.Distance(inflow(x, unit(x.Pairs(), i)), inflow(x, unit(x.Pairs(), j)), 1)/2)
		}
	}
	for _, epsilon := range []float64{0.9, 0.25, 1e-3} {
		got := must(theory.UniformMixingTime(ctx, x, epsilon))
		want := 1
		for math.Pow(delta, float64(want)) > epsilon {
			want++
		}
		worst = max(worst, relativeError(float64(got), float64(want)))
		for a := range x.Actions() {
			p := must(mixpolicy.Deterministic(x, slices.Repeat([]int{a}, x.States())))
			worst = max(worst, excess(float64(must(theory.MixingTime(ctx, x, p, epsilon)).Time), float64(got)))
		}
	}
	return worst
}

func checkContraction(ctx context.Context) Finding {
	x, base := queueModel()
	m := must(theory.MixingTime(ctx, x, base[1], 0.25))
	one := must(theory.ContractionCoefficient(ctx, x, base[1], 1))
	many := must(theory.ContractionCoefficient(ctx, x, base[1], m.Time))
	claim := math.Exp(-1 / float64(m.Time))
	return holdsCorrected(excess(one.Coefficient, claim), max(excess(many.Coefficient, 2*0.25), contractionError(ctx)), "queue, π²: τ_mix(¼) = %d, but one step contracts by %.6g, not by e^{−1/τ} = %.6g; τ steps contract by %.3g ≤ 2·¼", m.Time, one.Coefficient, claim, many.Coefficient)
}

// contractionError compares coefficients of contraction with the distances of the rows of powers.
func contractionError(ctx context.Context) (worst float64) {
	x := must(models.Queue{Buffer: 12}.MDP())
	p := must(models.Queue{}.Policies(x))[1]
	var rows [][]float64
	for s := range x.States() {
		rows = append(rows, unit(x.States(), s))
	}
	for t := 1; t <= 22; t++ {
		var delta float64
		for s := range rows {
			rows[s] = nextStates(x, p, rows[s])
		}
		for s := range rows {
			for s2 := range s {
				delta = max(delta, floats.Distance(rows[s], rows[s2], 1)/2)
			}
		}
		c := must(theory.ContractionCoefficient(ctx, x, p, t))
		worst = max(worst, relativeError(c.Coefficient, delta), relativeError(floats.Distance(rows[c.First], rows[c.Second], 1)/2, delta))
	}
	return worst
}

func checkErgodicity(ctx context.Context) Finding {
	x, base := queueModel()
	e := must(theory.ErgodicityOf(x, base...))
	n, root := float64(x.States()), math.Sqrt(e.Lower)
	var worst, tight float64
	for _, p := range base {
		for _, mu := range must(x.Occupation(ctx, p)).State {
			worst = max(worst, excess(1/(n*root), mu), excess(mu, root/n))
			tight = max(tight, 1/(n*mu)/root, n*mu/root)
		}
	}
	return holds(max(worst, relativeError(tight, 1), ergodicityError(ctx)), "the two policies of section 6 need κ = %.4g", e.Lower)
}

// ergodicityError compares κ of all policies of small processes with the measures of all
// deterministic ones, at which a mass is least or greatest.
func ergodicityError(ctx context.Context) (worst float64) {
	// The next state has one of two distributions, whatever was before; in (2.25) a rare state
	// decides, or a frequent one, or a state that one policy never enters.
	rows := func(first, second []float64, allowed func(s, a int) bool) *mixpolicy.MDP {
		return must(mixpolicy.New(mixpolicy.Spec{States: len(first), Actions: 2, Criterion: mixpolicy.AverageCost, Allowed: allowed,
			Dynamics: func(_, a int) (float64, []mixpolicy.Transition) {
				var next []mixpolicy.Transition
				for s, p := range [][]float64{first, second}[a] {
					next = append(next, mixpolicy.Transition{To: s, P: p})
				}
				return 0, next
			}}))
	}
	processes := []*mixpolicy.MDP{
		rows([]float64{.4, .3, .25, .05}, []float64{.3, .4, .2, .1}, nil), rows([]float64{.55, .15, .15, .15}, []float64{.15, .55, .15, .15}, nil),
		rows([]float64{.25, .25, .25, .25}, []float64{.5, .25, .25, 0}, nil),
		rows([]float64{.4, .3, .2, .1}, []float64{.1, .2, .3, .4}, func(s, a int) bool { return s != 0 || a == 0 }),
	}
	for seed := range uint64(2) {
		processes = append(processes, must(models.Garnet{States: 4, Actions: 2, Branches: 2, Seed: seed, Ring: true, Criterion: mixpolicy.Discounted(0.9)}.MDP()))
	}
	for _, x := range processes {
		least, greatest := math.Inf(1), 0.0
		for code := range 16 {
			if !x.Allowed(0, code&1) {
				continue
			}
			p := must(mixpolicy.Deterministic(x, []int{code & 1, code >> 1 & 1, code >> 2 & 1, code >> 3}))
			for _, mu := range must(x.Occupation(ctx, p)).State {
				least, greatest = min(least, 4*mu), max(greatest, 4*mu)
			}
		}
		kappa := max(1/sq(least), sq(greatest))
		e := must(theory.UniformErgodicity(ctx, x))
		worst = max(worst, relativeError(e.Lower, kappa), relativeError(e.LeastMass, least), relativeError(e.GreatestMass, greatest))
		// Upper is rounded upwards, so it is more, by rounding divided by 1−γ.
		if !(e.Upper > kappa || math.IsInf(kappa, 1)) {
			worst = math.Inf(1)
		}
		worst = max(worst, relativeError(e.Upper, kappa))
	}
	return worst
}

// momentIsOrlicz: the moment norm is said to be the Orlicz norm. They are equivalent, with
// constants that do not depend on the variable, and differ.
func momentIsOrlicz(nu float64) check {
	return func(context.Context) Finding {
		orlicz := must(theory.OrliczNorm(nu, variable, chances))
		moment := must(theory.MomentNorm(nu, variable, chances))
		// E|X|^q ≤ qΓ(q/ν)·2‖X‖^q/ν and, the other way, a series in the moments: within
		// a factor of 4 either way for ν = 1, 2.
		return holdsCorrected(relativeError(orlicz, moment), max(excess(max(orlicz/moment, moment/orlicz), 4), excess(momentError(nu), gridTolerance)), "‖X‖_ψ = %.4g, but the supremum of moments is %.4g: equivalent, not equal", orlicz, moment)
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
	// The examination accepts a modulus that is Legendre, and refuses what isn't or says of itself
	// what is wrong.
	for _, phi := range []bregman.Modulus{bregman.Ball{R: 2}, bregman.Cube(1.5), bregman.NegativeEntropy()} {
		if bregman.Check(phi, 3, 24).Err() != nil {
			worst = math.Inf(1)
		}
	}
	for _, c := range []struct {
		phi  bregman.Modulus
		kind bregman.Kind
		line string // the first finding
	}{
		{bregman.Ball{R: -1}, bregman.Invalid, "wrong parameters: ball of radius R = -1: want 0 < R < ∞"},
		{concave{bregman.Ball{R: 2}}, bregman.Disagrees, "methods disagree: The gradient of Value is −1 times Gradient"},
		{bounded{bregman.Ball{R: 2}}, bregman.NotLegendre, "no Legendre function: ‖∇φ‖ stays finite at the boundary"},
		{broken{bregman.Ball{R: 2}}, bregman.Panics, "a panic: Gradient panics: no gradient"},
		{bregman.Separable{Kernel: flat{bregman.Cube(1.5).Kernel}}, bregman.Disagrees, "methods disagree: Deriv is not the derivative of Value"},
	} {
		r := bregman.Check(c.phi, 3, 24)
		if r.Err() == nil || r.Findings[0].Kind != c.kind || !strings.HasPrefix(r.Findings[0].String(), c.line) {
			worst = math.Inf(1)
		}
		endless := func(e bregman.Examination) bool { return !e.OK && math.IsInf(e.Worst, 1) }
		if c.kind == bregman.Panics && !slices.ContainsFunc(r.Examinations, endless) {
			worst = math.Inf(1)
		}
	}
	return holds(worst, "∇φ*∘∇φ is the identity and φ convex at 1200 points of four moduli; ‖∇φ‖ grows at every halving of the distance to the boundary")
}

// concave has −φ for φ, bounded a boundary at which ∇φ stays finite and a ∇φ that allocates, broken no
// ∇φ, and flat a φ′ that is constant near 0: they are no Legendre functions.
type (
	flat    struct{ bregman.Kernel }
	concave struct{ bregman.Modulus }
	bounded struct{ bregman.Modulus }
	broken  struct{ bregman.Modulus }
)

func (m concave) Value(x []float64) float64 { return -m.Modulus.Value(x) }
func (m bounded) InDomain(x []float64) bool { return floats.Norm(x, 2) < 1 }
func (m bounded) Value(x []float64) float64 {
	if floats.Norm(x, 2) > 1 {
		return math.Inf(1)
	}
	return m.Modulus.Value(x)
}
func (m bounded) Gradient(dst, x []float64) { m.Modulus.Gradient(dst, slices.Concat(x, x)[:len(x)]) }
func (k flat) Deriv(x float64) float64 {
	return k.Kernel.Deriv(math.Copysign(max(0, math.Abs(x)-0.3), x))
}
func (m broken) Gradient(dst, x []float64) { panic("no gradient") }

func checkDivergence(context.Context) Finding {
	rng := rand.New(rand.NewPCG(25, 0))
	var worst float64
	for _, m := range testModuli(rng) {
		g := make([]float64, 3)
		for range 300 {
			x, y := m.draw(), m.draw()
			m.phi.Gradient(g, y)
			terms := []float64{m.phi.Value(x), -m.phi.Value(y), -floats.Dot(difference(x, y), g)}
			for _, phi := range []bregman.Modulus{m.phi, plain{m.phi}} {
				worst = max(worst, math.Abs(bregman.Divergence(phi, x, y)-floats.Sum(terms))/sizeOf(terms...))
			}
		}
	}
	inside, edge, outside := []float64{0.5, 0.5}, []float64{2, 0}, []float64{2, 1}
	ball := plain{bregman.Ball{R: 2}}
	if !math.IsInf(bregman.Divergence(ball, outside, inside), 1) || !math.IsInf(bregman.Divergence(ball, inside, edge), 1) ||
		!math.IsInf(bregman.Divergence(ball, inside, outside), 1) || bregman.Divergence(ball, inside, inside) != 0 {
		worst = math.Inf(1)
	}
	worst = max(worst, refusal(func() { bregman.Divergence(ball, inside, []float64{0.5}) }))
	return holds(worst, "against the definition at 1200 pairs of points of four moduli")
}

// checkPairOrder: the paper orders c and ξ by action, P and Q by state; both orders in one
// product give no flow balance.
func checkPairOrder(context.Context) Finding {
	x, _, q := smallMeasure()
	byAction := make([]float64, x.Pairs())
	order := 0.0
	for s := range x.States() {
		for a := range x.Actions() {
			i := s*x.Actions() + a
			byAction[a*x.States()+s] = q.Pair[i]
			if s2, a2 := x.StateAction(i); s2 != s || a2 != a || x.Pair(s, a) != i || x.Cost(s, a) != x.Costs()[i] {
				order = math.Inf(1)
			}
		}
	}
	printed, corrected := x.FlowResidual(byAction), x.FlowResidual(q.Pair)
	return holdsCorrected(printed, max(corrected, order), "ξ ordered by action against P and Q ordered by state: flow residual %.2g; in one order %.1g", printed, corrected)
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
	// A policy keeps the probabilities that it was given, however it stores them: the same in every
	// state, one action in each state, few different rows or many.
	rng := rand.New(rand.NewPCG(27, 0))
	large := must(models.Garnet{States: 1500, Actions: 2, Branches: 2, Seed: 1, Ring: true, Criterion: mixpolicy.AverageCost}.MDP())
	n := large.States()
	actions, few, many := make([]int, n), make([]float64, 2*n), make([]float64, 2*n)
	pure, same := make([]float64, 2*n), make([]float64, 2*n)
	for s := range n {
		u := rng.Float64()
		actions[s] = rng.IntN(2)
		pure[2*s+actions[s]] = 1
		few[2*s+actions[s]], few[2*s+1-actions[s]] = 0.25, 0.75
		many[2*s], many[2*s+1] = u, 1-u
		same[2*s], same[2*s+1] = 0.125, 0.875
	}
	for _, e := range []struct {
		p    *mixpolicy.Policy
		want []float64
	}{
		{must(mixpolicy.Deterministic(large, actions)), pure}, {must(mixpolicy.NewPolicy(large, few)), few}, {must(mixpolicy.NewPolicy(large, many)), many},
		{must(mixpolicy.StateIndependent(large, 0.125, 0.875)), same},
	} {
		worst = max(worst, relativeVectorError(rowsOfPolicy(large, e.p), e.want))
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
	// An input (s, a) gives its cost and a next state with probability P_a(s, ·).
	var next, freedom float64
	for pair := range q {
		s, a := pair/x.Actions(), pair%x.Actions()
		visits := make([]float64, x.States())
		const draws = 2000
		for range draws {
			cost, s2 := o.Query(s, a)
			visits[s2]++
			worst = max(worst, relativeError(cost, x.Costs()[pair]))
		}
		to, p := x.Next(s, a)
		for k, s2 := range to {
			next += sq(visits[s2]-draws*p[k]) / (draws * p[k])
			visits[s2] = 0
		}
		worst = max(worst, floats.Sum(visits)) // states that can't be next
		freedom += float64(len(to) - 1)
	}
	worst = max(worst, excess(next, freedom+5*math.Sqrt(2*freedom)))
	// Pearson's statistic has the mean 23 and the deviation √46 for 24 pairs: 5 deviations.
	var chi float64
	for i, k := range count {
		chi += sq(k-draws*q[i]) / (draws * q[i])
	}
	limit := 23 + 5*math.Sqrt(46)
	return holds(max(worst, excess(chi, limit), relativeError(float64(o.Queries()), draws+2000*float64(len(q)))), "10⁵ draws from (1/d)Σψⁱ: χ² = %.1f for 23 degrees of freedom; each is counted", chi)
}
