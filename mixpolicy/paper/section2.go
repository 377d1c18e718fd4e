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

// moduli with a point generator each.
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

func checkSubdifferential(context.Context) (Finding, error) {
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
	return right(worst, "the gradients of four moduli are subgradients at 2000 pairs of points")
}

// greatest returns the maximum of a concave f on [lo, hi], by golden sections.
func greatest(f func(float64) float64, lo, hi float64) float64 {
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

// conjugateOff compares φ* with its definition. Ball and cube are symmetric: for the ball
// the supremum is along y, for the cube coordinate by coordinate.
func conjugateOff(phi bregman.Modulus, r float64) float64 {
	rng := rand.New(rand.NewPCG(22, 0))
	var worst float64
	for range 200 {
		y := []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64()}
		var want float64
		if _, ball := phi.(bregman.Ball); ball {
			length := floats.Norm(y, 2)
			want = greatest(func(t float64) float64 {
				return t*length - phi.Value([]float64{t * y[0] / length, t * y[1] / length})
			}, 0, r*(1-0x1p-52))
		} else {
			for _, v := range y {
				want += greatest(func(t float64) float64 { return t*v - phi.Value([]float64{t}) }, -r, r)
			}
		}
		worst = max(worst, off(bregman.Conjugate(phi, y), want))
	}
	return worst
}

func checkConjugate(context.Context) (Finding, error) {
	return right(max(conjugateOff(bregman.Ball{R: 2}, 2), conjugateOff(bregman.Cube(1.5), 1.5)),
		"φ* of the ball and the cube against the supremum found by search, 200 points each")
}

// dice is a distribution with a tail and an atom at 0.
var (
	diceValues  = []float64{-3, -1, 0, 0.5, 2, 6}
	diceChances = []float64{0.05, 0.2, 0.3, 0.3, 0.1, 0.05}
)

func checkOrlicz(context.Context) (Finding, error) {
	beta, err := theory.OrliczNorm(2, diceValues, diceChances)
	if err != nil {
		return Finding{}, err
	}
	var e float64 // E ψ₂(|X|/β), which is 1 at the norm
	for i, x := range diceValues {
		e += diceChances[i] * math.Expm1(sq(x/beta))
	}
	twice, err := theory.OrliczNorm(2, floats.ScaleTo(make([]float64, len(diceValues)), 2, diceValues), diceChances)
	if err != nil {
		return Finding{}, err
	}
	// As printed, E ψ(|X| − E|X|/β) is at most 1 for every small β: the infimum is 0.
	printed := beta
	for theory.PrintedOrlicz(2, printed, diceValues, diceChances) > 1 || printed > 1e-6 {
		printed /= 2
	}
	return mended(off(printed, beta), max(off(e, 1), off(twice, 2*beta)),
		"a variable of values −3 to 6: the printed infimum is below %.1g, the norm %.6g, and twice that for twice the variable", 1e-6, beta)
}

func momentNorm(nu float64) check {
	return func(context.Context) (Finding, error) {
		got, err := theory.MomentNorm(nu, diceValues, diceChances)
		if err != nil {
			return Finding{}, err
		}
		var want float64
		for q := 1.0; q < 60; q += 1e-3 {
			var m float64
			for i, x := range diceValues {
				m += diceChances[i] * math.Pow(math.Abs(x), q)
			}
			want = max(want, math.Pow(q, -1/nu)*math.Pow(m, 1/q))
		}
		f, err := right(off(got, want), "%.9g against %.9g on a grid of q", got, want)
		f.Tolerance = 1e-6 // the grid misses the maximum by a second-order term in its step 10⁻³
		return f, err
	}
}

func vectorNorm(nu float64) check {
	return func(context.Context) (Finding, error) {
		// Two independent signs of sizes 1 and 2.
		z := mat.NewDense(4, 2, []float64{1, 2, 1, -2, -1, 2, -1, -2})
		p := []float64{.25, .25, .25, .25}
		lower, upper, err := theory.VectorMomentNorm(nu, z, p)
		if err != nil {
			return Finding{}, err
		}
		var want float64
		for k := range 2000 {
			a := math.Pi * float64(k) / 2000
			x := make([]float64, 4)
			for i := range x {
				x[i] = math.Cos(a)*z.At(i, 0) + math.Sin(a)*z.At(i, 1)
			}
			v, err := theory.MomentNorm(nu, x, p)
			if err != nil {
				return Finding{}, err
			}
			want = max(want, v)
		}
		f, err := right(max(excess(lower, upper), excess(want, upper), excess(lower*(1-1e-5), want)),
			"in [%.6g, %.6g]; %.6g over 2000 directions", lower, upper, want)
		return f, err
	}
}

func checkBellman(ctx context.Context) (Finding, error) {
	x, err := SmallMDP()
	if err != nil {
		return Finding{}, err
	}
	v, err := mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{})
	if err != nil {
		return Finding{}, err
	}
	next := make([]float64, x.States())
	x.Bellman(next, v.Value)
	value, _, err := primalLP(x, mixpolicy.Corrected).solve()
	if err != nil {
		return Finding{}, err
	}
	f, err := right(max(offAll(next, v.Value), off(-value, floats.Dot(x.Initial(), v.Value))),
		"v* of policy iteration: 𝒮v* = v*, and αᵀv* = %.9g is the optimum of the LP", -value)
	f.Tolerance = 1e-8 // of the bounds at which iteration stops, 1e-9 of the costs, over 1−γ
	return f, err
}

// rewarded is SmallMDP with 1 subtracted from every cost, so that values are negative.
func rewarded() (*mixpolicy.MDP, error) {
	x, err := SmallMDP()
	if err != nil {
		return nil, err
	}
	c := append([]float64(nil), x.Costs()...)
	floats.AddConst(-1, c)
	return x.WithCosts(c)
}

func checkPrimalOrthant(ctx context.Context) (Finding, error) {
	x, err := rewarded()
	if err != nil {
		return Finding{}, err
	}
	v, err := mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{})
	if err != nil {
		return Finding{}, err
	}
	want := floats.Dot(x.Initial(), v.Value)
	free := primalLP(x, mixpolicy.Corrected)
	got, _, err := free.solve()
	if err != nil {
		return Finding{}, err
	}
	for s := range x.States() {
		unit := make([]float64, x.States())
		unit[s] = 1
		free.atLeast(unit, 0)
	}
	orthant, _, err := free.solve()
	if err != nil {
		return Finding{}, err
	}
	printed := off(-orthant, want)
	if math.IsInf(orthant, 1) {
		printed = math.Inf(1)
	}
	return mended(printed, off(-got, want), "costs in [−1, 0): over v ⪰ 0 there is no feasible v; over all v the optimum is αᵀv* = %.9g", want)
}

func checkPrimalInequality(ctx context.Context) (Finding, error) {
	x, err := SmallMDP()
	if err != nil {
		return Finding{}, err
	}
	v, err := mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{})
	if err != nil {
		return Finding{}, err
	}
	want := floats.Dot(x.Initial(), v.Value)
	wrong, _, err := primalLP(x, mixpolicy.Printed).solve()
	if err != nil {
		return Finding{}, err
	}
	good, _, err := primalLP(x, mixpolicy.Corrected).solve()
	if err != nil {
		return Finding{}, err
	}
	printed := off(-wrong, want)
	if math.IsInf(wrong, -1) {
		printed = math.Inf(1)
	}
	return mended(printed, off(-good, want), "with ⪰ the maximum is %v, with ⪯ it is %.9g, and αᵀv* = %.9g", -wrong, -good, want)
}

// smallMeasure returns SmallMDP, its first policy, and the measure.
func smallMeasure() (*mixpolicy.MDP, *mixpolicy.Policy, *mixpolicy.Measure, error) {
	x, err := SmallMDP()
	if err != nil {
		return nil, nil, nil, err
	}
	base, err := SmallPolicies(x)
	if err != nil {
		return nil, nil, nil, err
	}
	q, err := x.Occupation(base[0])
	return x, base[0], q, err
}

// step sets dst = μP^π.
func step(x *mixpolicy.MDP, p *mixpolicy.Policy, mu []float64) []float64 {
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

func checkSeries(context.Context) (Finding, error) {
	x, p, q, err := smallMeasure()
	if err != nil {
		return Finding{}, err
	}
	total := make([]float64, x.States())
	power := append([]float64(nil), x.Initial()...)
	weight := 1 - x.Gamma()
	for range 400 { // 0.9⁴⁰⁰ < 10⁻¹⁸
		floats.AddScaled(total, weight, power)
		power = step(x, p, power)
		weight *= x.Gamma()
	}
	return right(offAll(total, q.State), "the sum of 400 terms is the measure by elimination; but μ is not stationary, see the errata")
}

func checkResolvent(context.Context) (Finding, error) {
	x, p, q, err := smallMeasure()
	if err != nil {
		return Finding{}, err
	}
	n := x.States()
	a := mat.NewDense(n, n, nil) // (I − γP)ᵀ
	for s := range n {
		unit := make([]float64, n)
		unit[s] = 1
		for s2, v := range step(x, p, unit) {
			a.Set(s2, s, -x.Gamma()*v)
		}
		a.Set(s, s, a.At(s, s)+1)
	}
	var mu mat.VecDense
	if err := mu.SolveVec(a, mat.NewVecDense(n, floats.ScaleTo(make([]float64, n), 1-x.Gamma(), x.Initial()))); err != nil {
		return Finding{}, err
	}
	return right(offAll(mu.RawVector().Data, q.State), "dense LU against elimination without subtraction")
}

// checkStationary is about the sentence before (2.10), which has μP = μ.
func checkStationary(context.Context) (Finding, error) {
	x, p, q, err := smallMeasure()
	if err != nil {
		return Finding{}, err
	}
	next := step(x, p, q.State)
	balance := make([]float64, len(next))
	for s := range balance {
		balance[s] = (1-x.Gamma())*x.Initial()[s] + x.Gamma()*next[s]
	}
	return mended(offAll(next, q.State), offAll(balance, q.State), "γ = 0.9: μP differs from μ by %.2g of its greatest entry, (1−γ)α + γμP by %.1g", offAll(next, q.State), offAll(balance, q.State))
}

func checkOccupationCost(ctx context.Context) (Finding, error) {
	x, p, q, err := smallMeasure()
	if err != nil {
		return Finding{}, err
	}
	c, err := x.PolicyCost(p)
	if err != nil {
		return Finding{}, err
	}
	v, err := mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{})
	if err != nil {
		return Finding{}, err
	}
	// The best of all 3⁸ deterministic policies, by their measures.
	best, actions := math.Inf(1), make([]int, x.States())
	for code := range 6561 {
		for s, rest := 0, code; s < len(actions); s, rest = s+1, rest/3 {
			actions[s] = rest % 3
		}
		d, err := mixpolicy.Deterministic(x, actions)
		if err != nil {
			return Finding{}, err
		}
		m, err := x.Occupation(d)
		if err != nil {
			return Finding{}, err
		}
		best = min(best, m.Cost(x.Costs()))
	}
	f, err := right(max(off(q.Cost(x.Costs()), floats.Dot(q.State, c)), off(best, v.Cost())),
		"cᵀξ is Σμc^π; the least cᵀξ of all 6561 deterministic policies is %.9g, and so is that of policy iteration", best)
	f.Tolerance = 1e-8 // as in (2.8)
	return f, err
}

// dualOptimum returns the exact optimum of (2.13) of SmallMDP, and ξ*.
func dualOptimum(form mixpolicy.Form) (*mixpolicy.MDP, float64, []float64, error) {
	x, err := SmallMDP()
	if err != nil {
		return nil, 0, nil, err
	}
	value, xi, err := dualLP(x, form).solve()
	return x, value, xi, err
}

func checkDualValue(ctx context.Context) (Finding, error) {
	x, value, _, err := dualOptimum(mixpolicy.Corrected)
	if err != nil {
		return Finding{}, err
	}
	primal, _, err := primalLP(x, mixpolicy.Corrected).solve()
	if err != nil {
		return Finding{}, err
	}
	return right(off(value, -(1-x.Gamma())*primal), "strong duality: min cᵀξ = %.9g = (1−γ)αᵀv*; the factor is left out in the text after (2.14)", value)
}

func checkFlow(ctx context.Context) (Finding, error) {
	x, value, _, err := dualOptimum(mixpolicy.Corrected)
	if err != nil {
		return Finding{}, err
	}
	_, wrong, _, err := dualOptimum(mixpolicy.Printed)
	if err != nil {
		return Finding{}, err
	}
	v, err := mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{})
	if err != nil {
		return Finding{}, err
	}
	f, err := mended(off(wrong, v.Cost()), off(value, v.Cost()), "γ = 0.9: the optimum is %.6g with ξᵀ(P−Q) = 0, which is the average-cost problem, %.6g with ξᵀ(Q−γP) = (1−γ)αᵀ, and %.6g by policy iteration", wrong, value, v.Cost())
	f.Tolerance = 1e-8 // as in (2.8)
	return f, err
}

func checkDistributionConstraint(context.Context) (Finding, error) {
	_, _, xi, err := dualOptimum(mixpolicy.Corrected)
	if err != nil {
		return Finding{}, err
	}
	return right(max(off(floats.Sum(xi), 1), max(0, -floats.Min(xi))), "ξ* of the LP without ξᵀ1 = 1, which the flow implies: its sum is 1 and its least entry %.2g", floats.Min(xi))
}

func checkPolicyFromDual(ctx context.Context) (Finding, error) {
	x, value, xi, err := dualOptimum(mixpolicy.Corrected)
	if err != nil {
		return Finding{}, err
	}
	p, err := mixpolicy.PolicyOf(x, xi)
	if err != nil {
		return Finding{}, err
	}
	q, err := x.Occupation(p)
	if err != nil {
		return Finding{}, err
	}
	return right(max(offAll(q.Pair, xi), off(q.Cost(x.Costs()), value)), "the policy of ξ* has the measure ξ*, and cost %.9g", q.Cost(x.Costs()))
}

func smallTheta() (*mixpolicy.Problem, []float64, []float64, error) {
	p, err := SmallProblem(mixpolicy.Ball(2))
	if err != nil {
		return nil, nil, nil, err
	}
	theta := []float64{0.5, 0.7, -0.2}
	xi := make([]float64, p.MDP().Pairs())
	p.Features().MulVec(xi, theta)
	return p, theta, xi, nil
}

func checkReducedObjective(context.Context) (Finding, error) {
	p, theta, xi, err := smallTheta()
	if err != nil {
		return Finding{}, err
	}
	return right(off(p.Objective(theta), floats.Dot(p.MDP().Costs(), xi)), "cᵀ(Ψθ) and (cᵀΨ)θ are %.9g", p.Objective(theta))
}

func checkReducedFlow(context.Context) (Finding, error) {
	p, _, xi, err := smallTheta()
	if err != nil {
		return Finding{}, err
	}
	printed, err := averageFlow(p.MDP(), xi)
	if err != nil {
		return Finding{}, err
	}
	corrected := p.MDP().FlowResidual(xi)
	return mended(printed, corrected, "‖θᵀΨᵀ(P−Q)‖₁ = %.3g for features of a γ = 0.9, ‖θᵀΨᵀ(Q−γP) − (1−γ)αᵀ‖₁ = %.1g", printed, corrected)
}

// averageFlow is ‖ξᵀ(P − Q)‖₁.
func averageFlow(x *mixpolicy.MDP, xi []float64) (float64, error) {
	y, err := x.WithCriterion(mixpolicy.AverageCost)
	if err != nil {
		return 0, err
	}
	return y.FlowResidual(xi), nil
}

func checkReducedMass(context.Context) (Finding, error) {
	p, theta, xi, err := smallTheta()
	if err != nil {
		return Finding{}, err
	}
	var negative float64
	for _, v := range xi {
		negative += max(0, -v)
	}
	return right(max(off(floats.Sum(xi), floats.Sum(theta)), off(negative, p.NegativeMass(theta))), "the total mass of Ψθ is 1ᵀθ; its negative mass is %.3g", negative)
}

func checkMixture(context.Context) (Finding, error) {
	x, err := SmallMDP()
	if err != nil {
		return Finding{}, err
	}
	base, err := SmallPolicies(x)
	if err != nil {
		return Finding{}, err
	}
	omega := []float64{0.2, 0.5, 0.3}
	m, err := mixpolicy.Mixture(omega, base...)
	if err != nil {
		return Finding{}, err
	}
	var worst float64
	for s := range x.States() {
		for a := range x.Actions() {
			worst = max(worst, math.Abs(m.Prob(s, a)-(0.2*base[0].Prob(s, a)+0.5*base[1].Prob(s, a)+0.3*base[2].Prob(s, a))))
		}
	}
	return right(worst, "entry by entry")
}

// checkXi: (2.17) defines the combinations of measures by the combinations of policies;
// but a mixture of policies does not have the mixture of their measures.
func checkXi(context.Context) (Finding, error) {
	p, err := SmallProblem(mixpolicy.Ball(2))
	if err != nil {
		return Finding{}, err
	}
	x := p.MDP()
	base, err := SmallPolicies(x)
	if err != nil {
		return Finding{}, err
	}
	omega := []float64{0.2, 0.5, 0.3}
	m, err := mixpolicy.Mixture(omega, base...)
	if err != nil {
		return Finding{}, err
	}
	q, err := x.Occupation(m)
	if err != nil {
		return Finding{}, err
	}
	xi := make([]float64, x.Pairs())
	p.Features().MulVec(xi, omega)
	of, err := p.Features().PolicyOf(omega)
	if err != nil {
		return Finding{}, err
	}
	own, err := x.Occupation(of)
	if err != nil {
		return Finding{}, err
	}
	tv := theory.TotalVariation(q.Pair, xi)
	return mended(tv, theory.TotalVariation(own.Pair, xi), "the measure of the mixture π^ω is %.2g from Ψω in total variation; that of the policy (2.20) of Ψω is %.1g", tv, theory.TotalVariation(own.Pair, xi))
}

// checkReduction: (2.18) is (2.15), corrected, for features that are occupation measures.
func checkReduction(context.Context) (Finding, error) {
	p, best, err := smallOptimum(mixpolicy.Cube(1.5))
	if err != nil {
		return Finding{}, err
	}
	x, f := p.MDP(), p.Features()
	q := &smallLP{c: append([]float64(nil), p.BaseCosts()...)}
	row := make([]float64, p.Dim())
	for i := range x.Pairs() {
		f.Row(row, i)
		q.atLeast(append([]float64(nil), row...), 0)
	}
	for j := range p.Dim() {
		unit := make([]float64, p.Dim())
		unit[j] = 1
		q.atLeast(unit, -1.5)
		q.atMost(unit, 1.5)
	}
	q.equals([]float64{1, 1, 1}, 1)
	value, _, err := q.solve()
	if err != nil {
		return Finding{}, err
	}
	// Every θ on the hyperplane satisfies the flow constraint.
	xi := make([]float64, x.Pairs())
	f.MulVec(xi, []float64{1.3, -0.9, 0.6})
	return right(max(off(value, best.Objective), x.FlowResidual(xi)), "optimum %.9g by the active-set method and by the simplex method; 1ᵀθ = 1 implies the flow constraint", value)
}

func checkFeasibleSet(context.Context) (Finding, error) {
	p, best, err := smallOptimum(mixpolicy.Ball(2))
	if err != nil {
		return Finding{}, err
	}
	out := max(p.NegativeMass(best.Theta), math.Abs(floats.Sum(best.Theta)-1), max(0, p.Class().Size(best.Theta)-2))
	return right(out, "the optimum is in all three sets, to %.1g", out)
}

func checkPolicyFallback(context.Context) (Finding, error) {
	x, err := models.Machine{}.MDP()
	if err != nil {
		return Finding{}, err
	}
	// No positive entry in the second state only: the printed rule, for all pairs at once,
	// does not apply, and (2.20) is 0/0 there.
	xi := []float64{0.6, 0.4, -0.1, -0.2}
	printed := max(xi[2], 0) / (max(xi[2], 0) + max(xi[3], 0))
	p, err := mixpolicy.PolicyOf(x, xi)
	if err != nil {
		return Finding{}, err
	}
	if math.IsNaN(printed) {
		printed = math.Inf(1)
	}
	return mended(printed, max(off(p.Prob(0, 0), 0.6), off(p.Prob(1, 0), 0.5)), "Ψθ ⪯ 0 in one state only: (2.20) is 0/0 there; uniform in that state gives %v", p.Row(1))
}

func checkEfficiency(ctx context.Context) (Finding, error) {
	p, err := SmallProblem(mixpolicy.Ball(2))
	if err != nil {
		return Finding{}, err
	}
	r, err := mixpolicy.Solve(ctx, p, mixpolicy.PlugIn{}, mixpolicy.Settings{Iterations: 1000, Seed: 1})
	if err != nil {
		return Finding{}, err
	}
	return right(max(off(r.Gap, r.Objective-r.Optimum), r.NegativeMass, off(r.PolicyCost, r.Objective)), "plug-in after 1000 queries: feasible, ε = %.2g, and the policy costs what cᵀΨθ̂ says", r.Gap)
}

// checkExpandedEfficiency: a point that satisfies (2.22) satisfies (2.21), as the minimum
// over more points is not greater, with V = 0 at the feasible ones. And with the price
// 1/ε at least ‖λ*‖_∞ no infeasible point is worth it.
func checkExpandedEfficiency(context.Context) (Finding, error) {
	p, best, err := smallOptimum(mixpolicy.Ball(2))
	if err != nil {
		return Finding{}, err
	}
	var price float64
	for _, m := range best.Rows {
		price = max(price, m.Lambda())
	}
	rng := rand.New(rand.NewPCG(222, 0))
	theta, worst, cheap := make([]float64, 3), 0.0, math.Inf(1)
	for range 4000 {
		for j := range theta {
			theta[j] = rng.NormFloat64()
		}
		if err := p.Class().Norm.Project(theta, theta, 2); err != nil {
			return Finding{}, err
		}
		worst = max(worst, excess(best.Objective, p.Objective(theta)+price*p.NegativeMass(theta)))
		cheap = min(cheap, p.Objective(theta)+0.1*price*p.NegativeMass(theta))
	}
	return right(worst, "at the price ‖λ*‖_∞ = %.3g no point of 4000 beats the optimum %.6g; at a tenth of it one reaches %.3g", price, best.Objective, cheap)
}

func checkMixing(ctx context.Context) (Finding, error) {
	x, p, q, err := smallMeasure()
	if err != nil {
		return Finding{}, err
	}
	const steps = 400
	wrong, err := theory.MixingCurve(ctx, x, p, q.State, steps)
	if err != nil {
		return Finding{}, err
	}
	good, err := theory.MixingCurve(ctx, x, p, nil, steps)
	if err != nil {
		return Finding{}, err
	}
	m, err := theory.MixingTime(ctx, x, p, 0.01)
	if err != nil {
		return Finding{}, err
	}
	return mended(wrong[steps], good[steps], "γ = 0.9: from the discounted μ_α the distance stays %.3g for ever, so that τ_mix(ε) does not exist for smaller ε; from the stationary distribution τ_mix(0.01) = %d", wrong[steps], m.Time)
}

func checkContraction(ctx context.Context) (Finding, error) {
	x, base, err := Queue()
	if err != nil {
		return Finding{}, err
	}
	m, err := theory.MixingTime(ctx, x, base[1], 0.25)
	if err != nil {
		return Finding{}, err
	}
	one, err := theory.ContractionCoefficient(ctx, x, base[1], 1)
	if err != nil {
		return Finding{}, err
	}
	many, err := theory.ContractionCoefficient(ctx, x, base[1], m.Time)
	if err != nil {
		return Finding{}, err
	}
	claim := math.Exp(-1 / float64(m.Time))
	return mended(excess(one.Coefficient, claim), excess(many.Coefficient, 2*0.25), "queue, π²: τ_mix(¼) = %d, but one step contracts by %.6g, not by e^{−1/τ} = %.6g; τ steps contract by %.3g ≤ 2·¼", m.Time, one.Coefficient, claim, many.Coefficient)
}

func checkErgodicity(context.Context) (Finding, error) {
	x, base, err := Queue()
	if err != nil {
		return Finding{}, err
	}
	e, err := theory.ErgodicityOf(x, base...)
	if err != nil {
		return Finding{}, err
	}
	n, root := float64(x.States()), math.Sqrt(e.Lower)
	var worst, tight float64
	for _, p := range base {
		q, err := x.Occupation(p)
		if err != nil {
			return Finding{}, err
		}
		for _, mu := range q.State {
			worst = max(worst, excess(1/(n*root), mu), excess(mu, root/n))
			tight = max(tight, 1/(n*mu)/root, n*mu/root)
		}
	}
	return right(max(worst, off(tight, 1)), "the two policies of section 6 need κ = %.4g", e.Lower)
}

// momentIsOrlicz: the moment norm is said to be the Orlicz norm. They are equivalent, with
// constants that do not depend on the variable, and differ.
func momentIsOrlicz(nu float64) check {
	return func(context.Context) (Finding, error) {
		orlicz, err := theory.OrliczNorm(nu, diceValues, diceChances)
		if err != nil {
			return Finding{}, err
		}
		moment, err := theory.MomentNorm(nu, diceValues, diceChances)
		if err != nil {
			return Finding{}, err
		}
		// E|X|^q ≤ qΓ(q/ν)·2‖X‖^q/ν and, the other way, a series in the moments: within
		// a factor of 4 either way for ν = 1, 2.
		return mended(off(orlicz, moment), excess(max(orlicz/moment, moment/orlicz), 4), "‖X‖_ψ = %.4g, but the supremum of moments is %.4g: equivalent, not equal", orlicz, moment)
	}
}

// checkLegendre: strictly convex, with a gradient that is the inverse of ∇φ* and grows
// without bound at the boundary of ball and cube.
func checkLegendre(context.Context) (Finding, error) {
	rng := rand.New(rand.NewPCG(24, 0))
	var worst float64
	for _, m := range testModuli(rng) {
		g, back := make([]float64, 3), make([]float64, 3)
		for range 300 {
			x, y := m.draw(), m.draw()
			m.phi.Gradient(g, x)
			m.phi.ConjugateGradient(back, g)
			mid := []float64{(x[0] + y[0]) / 2, (x[1] + y[1]) / 2, (x[2] + y[2]) / 2}
			worst = max(worst, offAll(back, x), excess(m.phi.Value(mid), (m.phi.Value(x)+m.phi.Value(y))/2))
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
	return right(worst, "∇φ*∘∇φ is the identity and φ convex at 1200 points of four moduli; ‖∇φ‖ grows at every halving of the distance to the boundary")
}

func checkDivergence(context.Context) (Finding, error) {
	rng := rand.New(rand.NewPCG(25, 0))
	var worst float64
	for _, m := range testModuli(rng) {
		g := make([]float64, 3)
		for range 300 {
			x, y := m.draw(), m.draw()
			m.phi.Gradient(g, y)
			want := m.phi.Value(x) - m.phi.Value(y) - floats.Dot(difference(x, y), g)
			size := sizeOf(m.phi.Value(x), m.phi.Value(y), floats.Dot(difference(x, y), g))
			worst = max(worst, math.Abs(bregman.Divergence(m.phi, x, y)-want)/size)
		}
	}
	return right(worst, "against the definition at 1200 pairs of points of four moduli")
}

// checkPairOrder: the paper orders c and ξ by action, P and Q by state; both orders in one
// product give no flow balance.
func checkPairOrder(context.Context) (Finding, error) {
	x, _, q, err := smallMeasure()
	if err != nil {
		return Finding{}, err
	}
	byAction := make([]float64, x.Pairs())
	for s := range x.States() {
		for a := range x.Actions() {
			byAction[a*x.States()+s] = q.Pair[x.Pair(s, a)]
		}
	}
	return mended(x.FlowResidual(byAction), x.FlowResidual(q.Pair), "ξ ordered by action against P and Q ordered by state: flow residual %.2g; in one order %.1g", x.FlowResidual(byAction), x.FlowResidual(q.Pair))
}

func checkPolicy(context.Context) (Finding, error) {
	x, p, q, err := smallMeasure()
	if err != nil {
		return Finding{}, err
	}
	var worst float64
	for s := range x.States() {
		worst = max(worst, math.Abs(floats.Sum(p.Row(s))-1))
		for a, w := range p.Row(s) {
			worst = max(worst, off(q.Pair[x.Pair(s, a)], w*q.State[s]))
		}
	}
	return right(worst, "every row is a distribution, and ξ = π ⊙ μ")
}

func checkOracle(context.Context) (Finding, error) {
	p, err := SmallProblem(mixpolicy.Ball(2))
	if err != nil {
		return Finding{}, err
	}
	o, err := mixpolicy.NewOracle(p, 1, 0)
	if err != nil {
		return Finding{}, err
	}
	const draws = 100_000
	x, q := p.MDP(), p.Features().Sampling()
	count := make([]float64, len(q))
	var worst float64
	for range draws {
		pair, cost := o.Sample()
		count[pair]++
		worst = max(worst, off(cost, x.Costs()[pair]))
	}
	// Pearson's statistic has the mean 23 and the deviation √46 for 24 pairs: 5 deviations.
	var chi float64
	for i, k := range count {
		chi += sq(k-draws*q[i]) / (draws * q[i])
	}
	limit := 23 + 5*math.Sqrt(46)
	return right(max(worst, excess(chi, limit), off(float64(o.Queries()), draws)), "10⁵ draws from (1/d)Σψⁱ: χ² = %.1f for 23 degrees of freedom; each is counted", chi)
}
