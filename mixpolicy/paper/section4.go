package paper

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// approximation holds the shared data of the checks of section 4: a small MDP, a basis of value functions, and the
// solution of the approximate LP with the constraints of all pairs.
type approximation struct {
	x           *mixpolicy.MDP
	basis       *mat.Dense               // Φ: 1 and random columns
	optimal, mu []float64                // v*, and μ of π*
	one         *priorwork.Lyapunov      // u = 1
	best        float64                  // min_ν max_s |v*(s) − (Φν)(s)|
	full        *priorwork.Approximation // the solution with all constraints
}

func smallApproximation(ctx context.Context) *approximation {
	x := smallMDP()
	v, _ := optimalValue(ctx, x)
	a := &approximation{x: x, basis: mat.NewDense(x.States(), 3, nil), optimal: v.Value, mu: must(x.Occupation(ctx, v.Policy)).State}
	rng := rand.New(rand.NewPCG(4, 0))
	for s := range x.States() {
		a.basis.SetRow(s, []float64{1, rng.Float64(), rng.Float64()})
	}
	a.one = must(priorwork.NewLyapunov(x, mat.Col(nil, 0, a.basis)))
	a.best, a.full = leastDistance(ctx, a.basis, a.optimal, a.one.U), must(priorwork.ALP{Basis: a.basis}.Solve(ctx, x))
	return a
}

func leastDistance(ctx context.Context, basis *mat.Dense, v, u []float64) float64 {
	distance, _, err := priorwork.BestFit(ctx, basis, v, u)
	noError(err)
	return distance
}

// expected is αᵀv.
func (a *approximation) expected(v []float64) float64 { return floats.Dot(a.x.Initial(), v) }

// valueError is E_{s∼α}|v*(s) − v(s)|.
func (a *approximation) valueError(v []float64) float64 {
	return priorwork.WeightedError(a.x.Initial(), a.optimal, v)
}

// smoothed solves the smoothed ALP with the penalty 2/(1−γ); withBudget solves it with a budget for the slack.
func (a *approximation) smoothed(ctx context.Context) *priorwork.Approximation {
	return must(priorwork.SALP{Basis: a.basis, Slack: a.mu, Penalty: priorwork.PublishedPenalty(a.x.Gamma())}.Solve(ctx, a.x))
}

func (a *approximation) withBudget(ctx context.Context, budget float64) *priorwork.Approximation {
	return must(priorwork.SALP{Basis: a.basis, Slack: a.mu, Budget: budget}.Solve(ctx, a.x))
}

// row is the row of (Q − γP)Φ at a pair.
func (a *approximation) row(pair int) []float64 {
	row := make([]float64, 3)
	for s, w := range bellmanRow(a.x, pair, a.x.Gamma()) {
		floats.AddScaled(row, w, a.basis.RawRowView(s))
	}
	return row
}

// program is the approximate LP as a minimum of −αᵀΦν, for the simplex method.
func (a *approximation) program() *smallLP {
	p := &smallLP{c: make([]float64, 3)}
	for s, w := range a.x.Initial() {
		floats.AddScaled(p.c, -w, a.basis.RawRowView(s))
	}
	for i, c := range a.x.Costs() {
		p.atMost(a.row(i), c)
	}
	return p
}

// bothDirections returns the optimum of a program, and its optimum for the negated objective.
func bothDirections(p *smallLP) (value, least float64) {
	value, _ = p.solve()
	floats.Scale(-1, p.c)
	least, _ = p.solve()
	return value, least
}

func checkALPDirection(ctx context.Context) Finding {
	x := smallMDP()
	value, least := bothDirections(primalLP(x, mixpolicy.Corrected))
	_, want := optimalValue(ctx, x)
	return holdsCorrected(-least, relativeError(-value, want),
		"min αᵀv over 𝒮v ⪰ v is %v, max αᵀv is %.6g = αᵀv*", least, -value).within(valueTolerance)
}

func checkALPConstraint(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	v, worst := a.full.Value, 0.0
	for s, next := range bellman(a.x, v) {
		worst = max(worst, (v[s]-next)/v[s], (v[s]-a.optimal[s])/v[s])
	}
	return holds(worst, "the solution v of the approximate LP satisfies 𝒮v ⪰ v, and so v ⪯ v*; αᵀv = %.6g, and αᵀv* = %.6g",
		a.expected(v), a.expected(a.optimal)).within(valueTolerance)
}

// checkALPFeasible checks the text after (4.1), which calls v feasible if 𝒮v ⪰ c. c has nm entries, but 𝒮v has n; the
// reading most favourable to the text takes the least cost of each state.
func checkALPFeasible(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	next, triple := bellman(a.x, a.optimal), scaled(3, a.optimal)
	nextOfTriple, printed, corrected := bellman(a.x, triple), 0.0, 0.0
	for s := range next {
		least := floats.Min(a.x.Costs()[s*a.x.Actions() : (s+1)*a.x.Actions()])
		if nextOfTriple[s] >= least { // 3v* is feasible in this sense, and above v*
			printed = max(printed, excess(triple[s], a.optimal[s]))
		}
		corrected = max(corrected, math.Abs(next[s]-a.optimal[s])/a.optimal[s])
	}
	return holdsCorrected(printed, corrected,
		"3v* satisfies 𝒮v ⪰ min_a c_a, but is not a lower bound of v*; a v with 𝒮v ⪰ v is a lower bound").within(valueTolerance)
}

// checkPolicyLoss: the printed inequality has v^π on both sides, and follows from μ^π ⪰ (1−γ)α. In the cited theorem,
// the right side contains v, and π is the greedy policy of v.
func checkPolicyLoss(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	pi := a.x.Greedy(a.full.Value)
	mu, own := must(a.x.Occupation(ctx, pi)).State, must(mixpolicy.Evaluate(ctx, a.x, pi, mixpolicy.ValuationSettings{})).Value
	lhs, printed := a.valueError(own), priorwork.WeightedError(mu, own, a.optimal)/(1-a.x.Gamma())
	cited := priorwork.WeightedError(mu, a.full.Value, a.optimal) / (1 - a.x.Gamma())
	return holds(max(excess(lhs, printed), excess(lhs, cited)), "the greedy policy of the approximate LP loses %.4g; the printed bound, "+
		"which follows from μ ⪰ (1−γ)α, is %.4g, and the cited bound, with v for v^π on the right, is %.4g", lhs, printed, cited)
}

func checkLyapunovBound(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	lhs, bound := a.valueError(a.full.Value), a.one.ALPBound(a.x.Initial(), a.best)
	// With the printed sum over s, β_u = γ max Σ_s P_a(s,s′), which is not below 1 here.
	var printed float64
	for b := range a.x.Actions() {
		always := must(mixpolicy.StateIndependent(a.x, unit(a.x.Actions(), b)...))
		printed = max(printed, a.x.Gamma()*floats.Max(nextStates(a.x, always, a.one.U)))
	}
	return holdsCorrected(excess(printed, 1), excess(lhs, bound), "u = 1: the error is %.4g, and the bound with β_u = γ is %.4g; "+
		"the printed β_u sums over s and is %.3g > 1, and Ψu has no meaning for u ∈ ℝⁿ", lhs, bound, printed)
}

func checkSamplingDistribution(ctx context.Context) Finding {
	a, u := smallApproximation(ctx), []float64{1, 1.1, 1.02, 1, 1.07, 1.04, 1.1, 1}
	eta := must(must(priorwork.NewLyapunov(a.x, u)).Sampling(a.x, a.mu))
	worst := relativeError(floats.Sum(eta), 1)
	for i := range eta {
		s := i / a.x.Actions()
		worst = max(worst, relativeError(eta[i]/eta[0], a.mu[s]*u[s]/(a.mu[0]*u[0])))
	}
	return holds(worst, "the distribution adds up to 1, and is proportional to μ(s)u(s)")
}

func checkSamplingConstant(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	// Γ = {‖ν‖_∞ ≤ 1}. The supremum is at a corner.
	zeta := func(spread float64) float64 { return a.one.Zeta(a.x.Initial(), a.mu, a.optimal, spread) }
	least, most := zeta(floats.Min(a.spread(1))), zeta(floats.Max(a.spread(1)))
	// β_u = γ and μᵀu = 1 for u = 1.
	want := (1 + a.x.Gamma()) / 2 * floats.Max(a.spread(1)) / a.expected(a.optimal)
	return holdsCorrected(relativeError(least, most), relativeError(most, want),
		"as printed, ζ depends on a free s: for u = 1 and ‖ν‖_∞ ≤ 1, ζ is from %.4g to %.4g; with the maximum over s, ζ = %.4g",
		least, most, most)
}

// spread is max |v*(s) − (Φν)(s)| over ‖ν‖_∞ ≤ bound, for each s.
func (a *approximation) spread(bound float64) (spread []float64) {
	for s, v := range a.optimal {
		spread = append(spread, v+bound*floats.Norm(a.basis.RawRowView(s), 1))
	}
	return spread
}

// checkConstraintCount: N samples all miss a set of constraints of measure m with probability (1−m)ᴺ. With the N of
// (4.6) as printed, where ln(2/δ) is outside the product, this probability exceeds δ if δ is small enough.
func checkConstraintCount(context.Context) Finding {
	const gamma, zeta, epsilon, delta = 0.9, 1.0, 0.1, 1e-300
	measure := (1 - gamma) * epsilon / (4 * zeta) // the measure of the constraints that may be violated
	printed := (4/measure*math.Log(12/measure) + math.Log(2/delta)) * math.Log1p(-measure)
	corrected := priorwork.CostSampleSize(1, 1, zeta, gamma, epsilon, delta) * math.Log1p(-measure)
	return holdsCorrected(max(0, printed-math.Log(delta)), max(0, corrected-math.Log(delta)),
		"m = d = ζ = 1, γ = 0.9, ε = 0.1, δ = 10⁻³⁰⁰: a constraint of measure %.2g is missed with probability 10^%.0f as printed, "+
			"and 10^%.0f with ln(2/δ) inside the bracket", measure, printed/math.Ln10, corrected/math.Ln10).within(0)
}

func checkReducedDirection(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	value, least := bothDirections(a.program())
	full := a.full.Objective
	return holdsCorrected(-least, max(relativeError(-value, full), excess(full, a.expected(a.optimal))),
		"min αᵀΨν under the constraints is %v; max αᵀΨν is %.4g < αᵀv* = %.4g", least, full, a.expected(a.optimal)).within(valueTolerance)
}

// checkReducedConstraints: c_a(s) − (Ψν)(s) + γP_a(s)Ψν equals the value of the action a, for v = Ψν, minus v(s).
func checkReducedConstraints(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	q, v, worst := make([]float64, a.x.Pairs()), a.full.Value, 0.0
	a.x.ActionValues(q, v)
	for i := range q {
		worst = max(worst, math.Abs(a.x.Costs()[i]-floats.Dot(a.row(i), a.full.Nu)-(q[i]-v[i/a.x.Actions()]))/v[0])
	}
	return holds(worst, "each row is a Bellman inequality of Ψν")
}

func checkSampledError(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	// Γ = {‖ν‖_∞ ≤ bound} contains the solution; the error is greatest at a corner of Γ.
	bound := 10 * floats.Norm(a.full.Nu, math.Inf(1))
	const epsilon, delta, trials, conceivable = 0.05, 0.1, 20, 200
	zeta := a.one.Zeta(a.x.Initial(), a.mu, a.optimal, floats.Max(a.spread(bound)))
	count, more := int(priorwork.CostSampleSize(3, a.x.Actions(), zeta, a.x.Gamma(), epsilon, delta)), epsilon*a.expected(a.optimal)
	rhs, table := a.valueError(a.full.Value)+more, must(alias.New(must(a.one.Sampling(a.x, a.mu))))
	rng, random := rand.NewPCG(49, 0), rand.New(rand.NewPCG(49, 1))
	failures := func(draws int) (n int) {
		for range trials {
			seen := map[int]bool{}
			for range min(draws, 200_000) { // 200,000 draws include all pairs
				seen[table.Draw(rng)] = true
			}
			sampled := priorwork.ALP{Basis: a.basis, Pairs: slices.Sorted(maps.Keys(seen)), Bound: bound}
			if !(a.valueError(must(sampled.Solve(ctx, a.x)).Value) <= rhs) {
				n++
			}
		}
		return n
	}
	enough, few := failures(count), failures(10)
	// Count the ν̂ in Γ that contradict the printed form, which has ν̂ on both sides, and the ν̂ that contradict the
	// corrected form.
	var printed, corrected int
	for range conceivable {
		var v mat.VecDense
		v.MulVec(a.basis, mat.NewVecDense(3, draws(3, func() float64 { return bound * (2*random.Float64() - 1) })))
		if e := a.valueError(v.RawVector().Data); e > e+more {
			printed++
		} else if e > rhs {
			corrected++
		}
	}
	return holdsCorrected(saysNothing(printed), max(saysNothing(corrected), excess(float64(enough)/trials, delta)),
		"among %d conceivable ν̂, %d contradict the printed form, which has ν̂ on both sides, and %d the corrected form, with the full "+
			"ALP's ν* on the right; the corrected form failed in %d of %d trials with %d draws, which contain all pairs, and in %d "+
			"with 10 draws", conceivable, printed, corrected, enough, trials, count, few).within(0)
}

func checkSmoothedDirection(ctx context.Context) Finding {
	a, f := smallApproximation(ctx), checkReducedDirection(ctx)
	most := a.withBudget(ctx, 0.02).Objective
	return holdsCorrected(f.Printed, max(f.Corrected, excess(a.full.Objective, most)), "the slack only adds feasible points, so "+
		"min αᵀΨν is -Inf here as well; max αᵀΨν is %.4g for the budget 0.02", most).within(f.Tolerance)
}

// checkSmoothed: the solution with the penalty also solves the program whose budget is the slack of this solution. With
// the budget 0, the program has the optimum of the ALP.
func checkSmoothed(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	penalised := a.smoothed(ctx)
	slack := func(v []float64) (total float64) { // μᵀs for the least s with s + 𝒮v ⪰ v
		for s, next := range bellman(a.x, v) {
			total += a.mu[s] * max(0, v[s]-next)
		}
		return total
	}
	budget := slack(penalised.Value)
	same := func(budget, objective float64) float64 {
		budgeted := a.withBudget(ctx, budget)
		return max(relativeError(budgeted.Objective, objective), (slack(budgeted.Value)-budget)/a.optimal[0])
	}
	return holds(max(same(budget, penalised.Objective), same(0, a.full.Objective)),
		"the slack for the penalty 2/(1−γ) is μᵀs = %.3g; this budget gives the same optimum, and budget 0 gives that of the ALP", budget).
		within(valueTolerance)
}

func checkSmoothedBound(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	lhs, bound := a.valueError(a.smoothed(ctx).Value), a.one.SALPBound(a.x.Initial(), a.mu, a.x.Gamma(), a.best)
	// As printed, s is free: at a fixed s, a ν with (Ψν)(s) = v*(s) makes the right side 0, whatever u is.
	f := a.basis.RawRowView(0)
	free := math.Abs(a.optimal[0] - floats.Dot(f, scaled(a.optimal[0]/floats.Dot(f, f), f)))
	return holdsCorrected(excess(lhs, free), excess(lhs, bound), "with u = 1 and the maximum over s, the error is %.4g ≤ %.4g; as "+
		"printed, s is free, and a ν that fits v* at one s makes the right side %.1g; in U, u ⪯ 1 should be u ⪰ 1", lhs, bound, free)
}

// against compares the errors of two value functions with a bound. The condition of the cited theorem is violated for
// the first value function, off, and satisfied for the second, on.
func (a *approximation) against(off []float64, on []float64, bound float64, what string) Finding {
	without, with := a.valueError(off), a.valueError(on)
	return holdsCorrected(excess(without, bound), excess(with, bound),
		"%s: the error is %.4g, and the bound %.4g; with the condition, the error is %.4g", what, without, bound, with)
}

// checkWeights checks (4.3) for weights p of (4.1) other than α. The process never leaves its state; the first of the
// three states costs 1, and the other two cost 0. With p = (0.98, 0.01, 0.01), v = ν₁ + ν₂(1, 0, −20) is high at the
// first state, and therefore low at the third state, which is the initial state.
func checkWeights(ctx context.Context) Finding {
	x := process(3, 1, mixpolicy.Discounted(0.9), unit(3, 2), func(s, _ int) (float64, []float64) { return unit(3, 0)[s], unit(3, s) })
	a := &approximation{x: x, basis: mat.NewDense(3, 2, []float64{1, 1, 1, 0, 1, -20}), optimal: []float64{10, 0, 0}}
	one := must(priorwork.NewLyapunov(x, []float64{1, 1, 1}))
	solution := func(p ...float64) []float64 {
		return must(priorwork.ALP{Basis: a.basis, Weights: p}.Solve(ctx, x)).Value
	}
	bound := one.ALPBound(x.Initial(), leastDistance(ctx, a.basis, a.optimal, one.U))
	return a.against(solution(0.98, 0.01, 0.01), solution(x.Initial()...), bound, "(4.3) without p = α, three states")
}

// checkBox checks (4.9) with all constraints, for a Γ without ν*.
func checkBox(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	solution := func(bound float64) []float64 {
		return must(priorwork.ALP{Basis: a.basis, Bound: bound}.Solve(ctx, a.x)).Value
	}
	return a.against(solution(0.1), solution(2*floats.Norm(a.full.Nu, math.Inf(1))), a.valueError(a.full.Value)+0.05*a.expected(a.optimal),
		"(4.9) without ν* ∈ Γ, all constraints, Γ = [−0.1, 0.1]³, ε = 0.05")
}

// checkBudget checks (4.13) for a budget that is not the slack of the solution with the penalty weight 2/(1−γ).
func checkBudget(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	return a.against(a.withBudget(ctx, 2).Value, a.smoothed(ctx).Value, a.one.SALPBound(a.x.Initial(), a.mu, a.x.Gamma(), a.best),
		"(4.13) without a condition on t, for t = 2")
}

// checkDualALP: (4.14) comes from a paper on average cost, where ‖θᵀΨᵀ(P−Q)‖₁ is the right measure of how far Ψθ
// violates the flow constraint. The features of this check are discounted measures, for which this norm is not 0.
func checkDualALP(context.Context) Finding {
	p, theta, xi := smallTheta()
	x := must(p.MDP().WithCriterion(mixpolicy.AverageCost))
	columns := [][]float64{p.Features().Column(0), p.Features().Column(1), p.Features().Column(2)}
	average := must(mixpolicy.NewProblem(must(mixpolicy.FeaturesFromColumns(x, columns...)), p.Class()))
	const omega = 3
	f, flow := must(priorwork.DualALP{Weight: omega, CostScale: 1}.Objective(average, theta)), averageFlow(x, xi)
	want := p.Objective(theta) + omega*p.NegativeMass(theta) + omega*flow
	return holds(relativeError(f, want),
		"ω = 3, average cost: cᵀΨθ + ω‖[Ψθ]₋‖₁ + ω‖θᵀΨᵀ(P−Q)‖₁ = %.6g, including %.3g for the flow", want, omega*flow)
}

// checkPenaltyBound: the left side of (4.15) is the cost of a policy, and no policy costs less than v.Cost(). The right
// side, without O(ε), is the minimum of f_ω of (4.14) for ω = 1. We take this minimum over the hyperplane only. The
// search stops at neighbouring floating-point numbers, where slopes are 10⁵. Hence the tolerance 10⁻⁶.
func checkPenaltyBound(ctx context.Context) Finding {
	p := must(QueueProblem(mixpolicy.Ball(100)))
	best := must(p.Optimum(ctx))
	v, _ := optimalValue(ctx, p.MDP())
	price := floats.Max(must(theory.Multipliers(p)))
	least := func(omega float64) float64 {
		return minimumOnLine(p, func(theta []float64) float64 { return p.Objective(theta) + omega*p.NegativeMass(theta) })
	}
	free, exact := least(1), least(price)
	return holdsCorrected((v.Cost()-free)/math.Abs(free), relativeError(exact, best.Objective),
		"queue, R = 100: with the weight 1 on V₁, the right side is %.4g, but no policy costs less than %.4g; "+
			"with the weight ‖λ*‖_∞ = %.3g, the right side is the optimum %.5g", free, v.Cost(), price, exact).within(1e-6)
}

// witnessPenaltyMass: θ = 0 is in Θ_R. At this θ, the cost and both violations in (4.15) are 0.
func witnessPenaltyMass(ctx context.Context) Finding {
	p, zero := must(QueueProblem(mixpolicy.Ball(100))), make([]float64, 2)
	v, _ := optimalValue(ctx, p.MDP())
	right, f := p.Objective(zero)+1e9*(p.NegativeMass(zero)+averageFlow(p.MDP(), combination(p, zero))), checkPenaltyBound(ctx)
	return holdsCorrected(excess(v.Cost(), right), f.Corrected,
		"queue: at θ = 0, the right side is %g for any weight, but no policy costs less than %.4g; on the hyperplane: %s",
		right, v.Cost(), f.Numbers).within(f.Tolerance)
}

// checkMixtureBound: with C = c_max, the right side of (4.16) exceeds the cost of any policy, so nothing could
// contradict the bound.
func checkMixtureBound(context.Context) Finding {
	p := smallProblem(mixpolicy.Ball(2))
	x := p.MDP()
	_, top := x.CostRange()
	constant := 6 * math.Sqrt(float64(x.Actions())) * top * p.Class().R / (1 - x.Gamma())
	// cᵀΨθ ≥ −c_max‖θ‖₁ ≥ −c_max√d R for any θ of the class.
	least := -top * math.Sqrt(float64(p.Dim())) * p.Class().R
	return holds(excess(top, constant+least), "C is not defined: with C = c_max, the right side is at least %.4g − %.3g, "+
		"and no policy costs more than %.3g", constant, -least, top)
}
