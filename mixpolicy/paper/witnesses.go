package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// everyPlace returns the witness of an erratum in several places, from the witness of each place: the printed form must
// fail in every place, and the corrected form must hold in every place.
func everyPlace(places ...check) check {
	return func(ctx context.Context) Finding {
		printed, corrected := math.Inf(1), 0.0 // a form that holds within the tolerance of its place counts as 0
		var numbers []string
		for _, place := range places {
			f := place(ctx)
			if f.PrintedHolds() {
				printed = 0
			}
			if !f.CorrectedHolds() {
				corrected = max(corrected, f.Corrected)
			}
			printed, numbers = min(printed, f.Printed), append(numbers, f.Numbers)
		}
		return holdsCorrected(printed, corrected, "%s", strings.Join(numbers, "; ")).within(0)
	}
}

// checkViolationBelow: if all costs are negative, the term R c_max√(nm)‖Ψ‖/β of (5.36) and (3.33) is below 0. The other
// terms vanish as T grows, so the right side becomes negative, but V is never negative.
func checkViolationBelow(context.Context) Finding {
	p, k := negativeProblem()
	_, top := p.MDP().CostRange()
	full := k.ViolationBound(farSums, 0.05).Value
	printed := full + k.R*(top-k.Cost)*math.Sqrt(float64(k.Pairs))*k.PsiNorm/k.G
	return holdsCorrected(excess(0, printed), excess(0, full), "costs in [−1, 0), T = 10¹⁸: the right side of (5.36) is %.3g "+
		"with c_max = %.2g, below any violation, and %.3g with max|c|", printed, top, full)
}

// also combines two checks of a statement. The printed form fails if it fails in either check; the corrected form holds
// if it holds in both.
func also(first, other check) check {
	return func(ctx context.Context) Finding {
		f, g := first(ctx), other(ctx)
		f.Printed = max(f.Printed, g.Printed)
		if !g.CorrectedHolds() {
			f.Corrected = max(f.Corrected, g.Corrected)
		}
		f.Numbers += "; " + g.Numbers
		return f
	}
}

// checkSureDeviation: one step (T = 1) with the costs 10⁶ and 0. The error along θ₀ − θ* is certain to have the size
// 10⁶/2, but (5.19a) with the C_e of (3.34b) excludes this, even for c₀ = 10⁻³.
func checkSureDeviation(context.Context) Finding {
	const high, c0 = 1e6, 1e-3
	p := banditProblem(mixpolicy.Ball(1), high, 0)
	k, size := must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 1, CostScale: 1})), leastDeviation(p, []float64{0.5, -0.5})
	tail := func(c0, ce float64) float64 { return 2 * math.Exp(-c0*sq(size/(k.R*ce))/8) }
	printed, corrected := tail(c0, k.Ce(mixpolicy.Printed)), tail(1, k.Ce(mixpolicy.Corrected))
	return holdsCorrected(excess(1, printed), excess(1, corrected), "costs 10⁶ and 0, T = 1: a deviation of %.3g is certain; the bound "+
		"on its probability is %.2g with C_e of (3.34b) and c₀ = 10⁻³, and %.3g with C_e of (A.3) and c₀ = 1", size, printed, corrected)
}

// restarting returns the average-cost process with the kernel P̃ = γP + (1−γ)1αᵀ, which restarts with probability 1−γ.
func restarting(x *mixpolicy.MDP) *mixpolicy.MDP {
	return process(x.States(), x.Actions(), mixpolicy.AverageCost, nil, func(s, a int) (float64, []float64) {
		return x.Cost(s, a), floats.AddScaledTo(make([]float64, x.States()), scaled(1-x.Gamma(), x.Initial()),
			x.Gamma(), inflow(x, unit(x.Pairs(), x.Pair(s, a))))
	})
}

// checkRestarting interprets P as the kernel that restarts.
func checkRestarting(ctx context.Context) Finding {
	x, p, q := smallMeasure()
	y := restarting(x)
	_, xi := dualLP(y, mixpolicy.Printed).solve()
	v, _ := optimalValue(ctx, x)
	corrected := max(relativeVectorError(must(y.Occupation(ctx, p)).State, q.State), relativeError(floats.Dot(x.Costs(), xi), v.Cost()),
		must(theory.MixingCurve(ctx, y, p, q.State, 400))[400])
	return holds(corrected, "with P̃ = γP + (1−γ)1αᵀ in place of P, the printed forms hold up to %.1g", corrected).within(valueTolerance)
}

// witnessMixtures runs [checkXi]. As a reading, it compares the best mixture of two deterministic policies with the
// best feasible Ψθ.
func witnessMixtures(ctx context.Context) Finding {
	x, rng := smallMDP(), rand.New(rand.NewPCG(1, 5))
	pure := func() *mixpolicy.Policy {
		return must(mixpolicy.PolicyFunc(x, func(_ int, row []float64) { row[rng.IntN(x.Actions())] = 1 }))
	}
	base := []*mixpolicy.Policy{pure(), pure()}
	best := must(mixtureProblem(x, mixpolicy.Ball(100), base...).Optimum(ctx))
	mixture := floats.Min(mixtureCosts(x, base[1], base[0], 20)) // mixtures between these could only be cheaper
	return checkXi(ctx).read(excess(best.Objective, mixture),
		"two deterministic policies: the best of 21 mixtures costs %.4g, and the best feasible Ψθ %.4g", mixture, best.Objective)
}

// checkRestartingContracts interprets P as the kernel that restarts, and (2.24) as the claim that some τ_mix exists.
func checkRestartingContracts(ctx context.Context) Finding {
	x, p, _ := smallMeasure()
	one := must(theory.ContractionCoefficient(ctx, restarting(x), p, 1)).Coefficient
	return holds(excess(one, x.Gamma()),
		"random MDP, γ = 0.9: one step of P̃ = γP + (1−γ)1αᵀ contracts by %.3g, which is at most γ = e^{−1/τ} for τ = 1/ln(1/γ)", one)
}

// witnessReferences: by the printed equation numbers, a distribution is the number ζ of (4.5), and C_e is the B of
// (3.34a).
func witnessReferences(ctx context.Context) Finding {
	a, r := smallApproximation(ctx), smallTrace(TraceSettings{})
	zeta, total := a.one.Zeta(a.x.Initial(), a.mu, a.optimal, floats.Max(a.spread(1))), floats.Sum(must(a.one.Sampling(a.x, a.mu)))
	b, ce := r.K.B(mixpolicy.Printed), r.K.Ce(mixpolicy.Printed)
	return holdsCorrected(min(relativeError(zeta, 1), relativeError(b, ce)), relativeError(total, 1),
		"cited as a distribution, (4.5) is the number ζ = %.4g, and (4.4) adds up to %.4g; cited as C_e, (3.34a) is B = %.4g, and "+
			"(3.34b) is %.4g", zeta, total, b, ce)
}

// witnessReciprocalSum compares a difference of Lagrangians at the averages with the weighted sum (5.21) of such
// differences along a run. As printed, this sum is divided by 1/Ση; as corrected, by Ση.
func witnessReciprocalSum(context.Context) Finding {
	r := smallTrace(TraceSettings{Iterations: 20, StepSize: mixpolicy.InverseSqrt(1), Beta: 20, Seed: 1})
	best, price := r.target(), r.Steps[10].Lambda
	left, sum := r.lagrangian(r.Theta, price)-r.lagrangian(best, r.Lambda), r.lagrangians(best, price)
	return holdsCorrected(relativeError(sum*r.Sums.Sum, left), relativeError(sum/r.Sums.Sum, left),
		"20 steps: the sum (5.21) is %.4g divided by 1/Ση, and %.4g divided by Ση; (5.22) has %.4g", sum*r.Sums.Sum, sum/r.Sums.Sum, left)
}

// recurrentClasses counts the recurrent classes of a policy. Their number is the dimension of {v : P^π v = v}.
func recurrentClasses(x *mixpolicy.MDP, p *mixpolicy.Policy) int {
	n := x.States()
	var rows [][]float64
	for s := range n {
		rows = append(rows, difference(unit(n, s), nextStates(x, p, unit(n, s))))
	}
	var svd mat.SVD
	svd.Factorize(rowsOf(rows), mat.SVDNone)
	return n - svd.Rank(rounding)
}

// witnessUnichain takes a process that never leaves its state, with α uniform.
func witnessUnichain(context.Context) Finding {
	const n = 5
	stay := process(n, 1, mixpolicy.Discounted(0.9), nil, func(s, _ int) (float64, []float64) { return 0, unit(n, s) })
	only := must(mixpolicy.StateIndependent(stay, 1))
	classes, e := recurrentClasses(stay, only), must(theory.ErgodicityOf(stay, only))
	x, p, _ := smallMeasure()
	ergodic := recurrentClasses(x, p)
	return holdsCorrected(float64(classes-1), float64(ergodic-1),
		"P = I, α uniform, n = 5: κ = %.4g and %d recurrent classes; an ergodic chain has %d", e.Lower, classes, ergodic)
}

// witnessMultipliers also tests a reading: Lemma 3.2 as the upper bound ‖λ*‖₂ ≤ 1/(1−γ), and (3.3) as a statement about
// the min–max value. The printed equality for ‖λ*‖₁ implies the bound on ‖λ*‖₂.
func witnessMultipliers(ctx context.Context) Finding {
	p := rarePairProblem()
	size, limit := floats.Norm(must(theory.Multipliers(p)), 2), 1/(1-p.MDP().Gamma())
	return everyPlace(checkMultiplierNorm, checkLambdaBall)(ctx).
		read(min(excess(size, limit), checkLambdaBall(ctx).Printed), "in the second problem, ‖λ*‖₂ = %.3g exceeds 1/(1−γ) = %.3g, "+
			"and with the radius 1/(1−γ), (3.3) misses the optimum", size, limit)
}

// witnessHats compares the step (3.14) with the step (3.13) for two gradients: ∇_θ𝓛 and the sample (3.5a).
func witnessHats(context.Context) Finding {
	r := smallTrace(TraceSettings{Iterations: 20, StepSize: mixpolicy.InverseSqrt(1), Beta: 20, Seed: 1})
	step := func(s TraceStep, g []float64) []float64 {
		y := r.slope(s.Theta)
		floats.AddScaled(y, -s.Eta, g)
		must(bregman.ProjectDual(r.Phi, y, nil))
		return inverse(r.Phi, y)
	}
	var printed, corrected float64
	for _, s := range r.Steps {
		printed = max(printed, relativeVectorError(step(s, s.Mean), s.Next))
		corrected = max(corrected, relativeVectorError(step(s, s.Sample), s.Next))
	}
	return holdsCorrected(printed, corrected,
		"20 steps: the relative difference of (3.13) and (3.14) is up to %.2g with ∇_θ𝓛, and %.1g with a sample of it", printed, corrected)
}

// checkUnvisited checks (2.14) in a state that π* never visits.
func checkUnvisited(context.Context) Finding {
	x := process(2, 2, mixpolicy.Discounted(0.9), unit(2, 0), func(s, a int) (float64, []float64) {
		return float64(s + a), unit(2, max(s, a))
	})
	_, xi := dualLP(x, mixpolicy.Corrected).solve()
	away := xi[2:]
	printed, row := away[0]/floats.Sum(away), must(mixpolicy.PolicyOf(x, xi)).Row(1)
	return holdsCorrected(printed, math.Abs(floats.Sum(row)-1),
		"but in a state that π* never visits, which (A.2) excludes, (2.14) is 0/0 = %v; the corrected policy there is %v", printed, row)
}

// witnessNoProbability takes the costs −1 and 1, and samples of the first pair only. In these samples, more weight on
// the first pair is cheaper, and no sample shows that the entry of the second pair is below 0. Then θ_t = (½+h, ½−h),
// where the coordinates of ∇φ(θ_t) differ by 2Σ_{k<t}η_k.
func witnessNoProbability(ctx context.Context) Finding {
	const iterations, horizon, radius = 100_000, 20_000_000, 20.0
	p, method := banditProblem(mixpolicy.Ball(radius), -1, 1), mixpolicy.PrimalDual{Beta: 10, CostScale: 1}
	average := func(iterations float64) float64 { // the h of θ̂
		sum, h := 0.0, 0.0
		for t := 1.0; t <= iterations; t++ {
			h, sum = h+sum/math.Sqrt(t)*math.Sqrt((radius*radius-0.5)/(1+2*sum*sum)), sum+1/math.Sqrt(t)
		}
		return h / sum
	}
	h, k := average(horizon), must(theory.NewConstants(p, method))
	bound := func(t int) float64 {
		return k.ViolationBound(theory.InverseSqrtSums(mixpolicy.Corrected, t), 4/float64(t)).Value
	}
	// The formula must agree with a run of 1000 steps.
	r := must(NewTrace(p, TraceSettings{Iterations: 1000, StepSize: mixpolicy.InverseSqrt(1), Beta: 10, Pair: func(int) int { return 0 }}))
	v, likely := p.Violation([]float64{0.5 + h, 0.5 - h}), floats.Max(final(ctx, p, method, 10, iterations, 33, race.Violation))
	return holdsCorrected(excess(v, bound(horizon)), max(excess(likely, bound(iterations)), relativeError(r.Theta[0]-0.5, average(1000))),
		"two pairs, R = 20, β = 10, T = 2·10⁷: if all samples are of one pair, V = %.4g, above the corrected (3.33), %.4g, for ρ = 4/T; "+
			"in 10 runs with random samples and T = 10⁵, V is at most %.3g", v, bound(horizon), likely)
}

// witnessStepSize uses constant steps so small that, up to rounding, θ̂ = θ₀ for any T that a run can reach.
func witnessStepSize(ctx context.Context) Finding {
	p, method := smallProblem(mixpolicy.Ball(2)), mixpolicy.PrimalDual{Beta: 20, CostScale: 1}
	k := must(theory.NewConstants(p, method))
	gap := func(eta mixpolicy.StepSize) float64 {
		method.StepSize = eta
		return must(mixpolicy.Solve(ctx, p, method, mixpolicy.Settings{Iterations: 1000, Seed: 31})).Gap
	}
	bound := func(t int) float64 {
		return k.ObjectiveBound(theory.InverseSqrtSums(mixpolicy.Corrected, t), 4/float64(t)).Value
	}
	still, proved := gap(mixpolicy.Constant(1e-30)), gap(mixpolicy.InverseSqrt(1))
	return holdsCorrected(excess(still, bound(farHorizon)), excess(proved, bound(1000)),
		"with η = 10⁻³⁰, the gap stays %.4g, even at T = 10¹⁸, where the corrected bound is %.2g; with η = 1/√(t+1), "+
			"the gap is %.3g after 1000 steps, and the bound is %.2g", still, bound(farHorizon), proved, bound(1000))
}

// witnessFiltration computes how much θ_1 varies with the first sampled pair: given only (θ_0, λ_0), and given also
// θ_1.
func witnessFiltration(context.Context) Finding {
	steps := func(pair int) []TraceStep { // the first step samples the given pair, the second step pair 0
		return smallTrace(TraceSettings{Iterations: 2, StepSize: mixpolicy.InverseSqrt(1), Beta: 20,
			Pair: func(t int) int { return pair * (1 - t) }}).Steps
	}
	next, printed, corrected := steps(0)[0].Next, 0.0, 0.0
	for pair := range 24 {
		s := steps(pair)
		printed = max(printed, relativeVectorError(s[0].Next, next))
		corrected = max(corrected, relativeVectorError(s[0].Next, s[1].Theta))
	}
	return holdsCorrected(printed, corrected,
		"given (θ_0, λ_0), θ_1 still depends on the sampled pair: two values of θ_1 differ by up to %.2g of their size", printed)
}

// witnessViolationNorm also evaluates the bound (3.36) for V = ‖[Ψθ̂]₋‖₂, without the factor ¼ of the paper's V. With
// 512 states, this bound fails.
func witnessViolationNorm(ctx context.Context) Finding {
	p, theta, tv := sharedMass(512)
	bound := theory.Distance(mixpolicy.Printed, p.MDP().Criterion(), 1, 4*p.Violation(theta), p.NegativeMass(theta))
	f := checkDistance(ctx)
	const violation, tau = 4, 10 // violation is ½‖[Ψθ̂]₋‖₂, so V = 2
	f.Numbers += fmt.Sprintf("; for γ = 0.1, V = 2 and τ = 10, the printed bound is %.3g",
		theory.Distance(mixpolicy.Printed, p.MDP().Criterion(), tau, violation, 2*violation))
	return f.read(excess(tv, bound), "512 states, τ = 1: the distance is %.3g, and the bound with ‖·‖₂ is %.3g", tv, bound)
}

// clippedProblem returns a problem on which keeping ‖λ‖₂ below ‖λ*‖₂ leads to expensive policies: at an infeasible θ,
// negative mass on an expensive pair offsets the cost of more and more mass on another pair, and the policy (2.20)
// keeps only the positive mass. The problem has `copies` copies of each of two states. The next state is uniform,
// whatever the pair, and so is every μ: τ_mix = 1, κ = 1, and ‖Ψ‖²_{*,2} is proportional to 1/`copies`. Costs, γ, d and
// the optimum do not depend on `copies`.
func clippedProblem(copies int) *mixpolicy.Problem {
	n := 2 * copies
	even, cost := uniform(n), []float64{10, 1}
	x := process(n, 2, mixpolicy.Discounted(0.1), nil, func(s, a int) (float64, []float64) { return float64(a) * cost[s%2], even })
	measure := func(dear ...float64) (psi []float64) {
		for s := range n {
			psi = append(psi, (1-dear[s%2])/float64(n), dear[s%2]/float64(n))
		}
		return psi
	}
	return must(mixpolicy.NewProblem(must(mixpolicy.FeaturesFromColumns(x, measure(0.01, 0.5), measure(0.11, 0))), mixpolicy.Ball(2)))
}

// clippedRuns makes 5 runs of n steps with η_t = 1/√(t+1), and returns how much more than the optimum of p their
// policies cost. Under each policy, all states are equally probable.
func clippedRuns(ctx context.Context, p *mixpolicy.Problem, n int, beta float64) []float64 {
	runs := must(race.Trials(ctx, p, mixpolicy.PrimalDual{Beta: beta, CostScale: 1}, race.Settings{Trials: 5, Iterations: n, Seed: 38}))
	cost := func(l *race.Observation) float64 {
		return stat.Mean(must(p.MDP().PolicyCost(must(p.Features().PolicyOf(l.Theta)))), nil)
	}
	return shifted(runs.Final(cost), -must(p.Optimum(ctx)).Objective)
}

// asked is (3.37) with the constant 1, τ = 1 and ε = 0.1, for a [clippedProblem]. The result is proportional to
// 1/`copies`.
func asked(p *mixpolicy.Problem) float64 {
	return math.Pow(theory.SubordinateNorm(p.Features(), linprog.L2)/(0.9*0.1), 4) * float64(p.MDP().Pairs())
}

// fewQueries makes runs of T and of 1000 T queries, for 1000 and for 2000 states. T is (3.37) with the constant 1. The
// step size is η_t = 1/√(t+1). There are three β: 1.2, which exceeds 1/(1−γ); the fourth root of the number of queries;
// and 2‖λ*‖₂, which grows as √`copies`. For each β, fewQueries counts how many of 5 runs end farther than ε = 0.1 from
// the best of the class. It also returns the least excess of a cost over the optimum, among all runs of 1000 T queries.
var fewQueries = sync.OnceValues(func() (least float64, counts string) {
	const epsilon, times = 0.1, 1000
	ctx, one := context.Background(), floats.Norm(must(theory.Multipliers(clippedProblem(1))), 2)
	least = math.Inf(1)
	for _, copies := range []int{500, 1000} {
		p := clippedProblem(copies)
		asks := math.Ceil(asked(p))
		counts += fmt.Sprintf("with %d states, the counts are ", 2*copies)
		for k, t := range []float64{asks, times * asks} {
			far := mapped([]float64{1.2, math.Pow(t, 0.25), 2 * one * math.Sqrt(float64(copies))}, func(beta float64) string {
				excess := clippedRuns(ctx, p, int(t), beta)
				if t > asks {
					least = min(least, floats.Min(excess))
				}
				return fmt.Sprint(floats.Count(func(x float64) bool { return x > epsilon }, excess))
			})
			counts += fmt.Sprintf("%s after %g queries%s", strings.Join(far, ", "), t, []string{" and ", "; "}[k])
		}
	}
	return least, counts
})

// witnessSampleSize also tests a reading: ξ* is Ψθ*, and the Ω of (3.37) hides the factor 1000. With enough states,
// 1000 times (3.37) is one query. After one query, θ̂ = θ₀, whatever η_t and β are.
func witnessSampleSize(ctx context.Context) Finding {
	p := clippedProblem(1)
	start := p.Objective([]float64{0.5, 0.5}) - must(p.Optimum(ctx)).Objective
	return checkSampleSize(ctx).read(excess(start, 0.1), "if ξ* is Ψθ*, and Ω hides the factor 1000, (3.37) asks for one query for "+
		"%.2g states; after one query, for any η_t and β, θ̂ = θ₀ costs %.3g more than the best of the class", 2*1000*asked(p), start)
}

// witnessTransitionLaw also computes the optimum of section 6 under each interpretation of (6.1) that is a law.
func witnessTransitionLaw(ctx context.Context) Finding {
	optima, f := mapped(must(CompareReadings(ctx)), func(r ReadingResult) float64 { return r.Optimum }), checkTransitionLaw(ctx)
	f.Numbers += fmt.Sprintf("; under %d interpretations of (6.1), the optimum of section 6 is from %.4g to %.4g",
		len(optima), floats.Min(optima), floats.Max(optima))
	return f
}

// witnessDimension also tries the norms that Definitions 2.1–2.3 may mean, for X ~ N(0, I_d) with d = 1000. The
// constant is 2/√ln 2 = 1/λ, for the λ = √(ln 2)/2 of the proof.
func witnessDimension(ctx context.Context) Finding {
	const d, k2 = 1000.0, 8.0 / 3 // k2 is ‖X_i‖²_ψ₂
	// Centred, for x = 1/β, with or without absolute values: E e^{x(‖X‖² − d)} = e^{d(−½ln(1−2x) − x)} ≥ e^{dx²}, so β
	// ≥ √(d/ln 2).
	factor, norm, centred, moment := 2/math.Sqrt(math.Ln2), 2/-math.Expm1(-2*math.Ln2/d), math.Sqrt(d/math.Ln2), 0.
	// By moments, (2.6) at q = 1 and (2.4): E‖X‖² = d, E|‖X‖² − d| = 4(d/2e)^{d/2}/Γ(d/2), and
	// E|X_i|^q = 2^{q/2}Γ((q+1)/2)/√π.
	gamma, _ := math.Lgamma(d / 2)
	deviation := 4 * math.Exp(d/2*(math.Log(d/2)-1)-gamma)
	for q := 1.0; q < 30; q += 1e-2 {
		l, _ := math.Lgamma((q + 1) / 2)
		moment = max(moment, sq(math.Sqrt2*math.Exp((l-math.Log(math.Pi)/2)/q))/q)
	}
	nearest := min(excess(norm, factor*k2), excess(centred, factor*k2), excess(deviation, factor*moment))
	return everyPlace(checkExponentialStep, checkSquaredMoment, checkSquaredNorm)(ctx).
		read(nearest, "X ~ N(0, I_1000): the norm of ‖X‖² is %.4g, and centred at least %.3g, but (2/√ln 2)K² = %.3g; "+
			"by moments, centred or not, at least %.3g, but the bound is %.3g", norm, centred, factor*k2, deviation, factor*moment)
}

// witnessReciprocalNorm takes a variable Z with E e^{λ|Z|} = 2.
func witnessReciprocalNorm(context.Context) Finding {
	lambda := math.Sqrt(math.Ln2) / 2
	norm := must(theory.OrliczNorm(1, scaled(1/(lambda*must(theory.OrliczNorm(1, variable, chances))), variable), chances))
	return holdsCorrected(excess(norm, lambda), relativeError(norm, 1/lambda),
		"E e^{λ|Z|} = 2 for λ = %.3g: the norm is %.4g, which is 1/λ", lambda, norm)
}

// witnessArgmin: the printed definition gives the minimum, a number. On a line, this number is also a point, so we can
// compare it with the projection. The projection of x is the only y ∈ 𝒳 such that (x − y)(z − y) ≤ 0 for all z ∈ 𝒳.
func witnessArgmin(context.Context) Finding {
	const x, radius = 3.0, 2.0 // 𝒳 = [−2, 2]
	line := floats.Span(make([]float64, 257), -radius, radius)
	point := line[floats.MinIdx(mapped(line, func(z float64) float64 { return sq(x - z) }))]
	least := sq(x - point)
	product := func(y float64) float64 { return worstOf(line, func(z float64) float64 { return (x - y) * (z - y) }) }
	return holdsCorrected(product(least), product(point), "𝒳 = [−2, 2] and x = 3: the minimum is the number %g, "+
		"and the projection is the point %g; over z ∈ 𝒳, (x − y)(z − y) is at most %g if y is that number, and %g if y is that point",
		least, point, product(least), product(point))
}

func witnessSubordinate(context.Context) Finding {
	p := smallProblem(mixpolicy.Cube(1.5))
	// The proofs use ‖Ψᵀx‖⁎ ≤ ‖x‖₂‖Ψ‖, where ‖Ψ‖ is the norm of Ψᵀ from ‖·‖₂ to ‖·‖⁎.
	x, g := combination(p, []float64{1, 1, 1}), make([]float64, 3)
	p.Features().MulVecT(g, x)
	used := p.Class().Norm.Dual().Of(g) / floats.Norm(x, 2)
	// The norm of Ψ from ℓ₂ to ℓ₁ is another number; 5000 directions bound it from below.
	rng := rand.New(rand.NewPCG(2, 2))
	other := worstIn(5000, func() float64 {
		theta := normals(rng, 3)
		return floats.Norm(combination(p, theta), 1) / floats.Norm(theta, 2)
	})
	norm := theory.SubordinateNorm(p.Features(), p.Class().Norm)
	return holdsCorrected(relativeError(other, norm), relativeError(used, norm),
		"cube: sup ‖Ψᵀx‖₁/‖x‖₂ = %.4g, which bounds ‖cᵀΨ‖₁/‖c‖₂; ‖Ψθ‖₁/‖θ‖₂ reaches %.4g", norm, other)
}

func witnessStrongConvexity(context.Context) Finding {
	// φ of (3.7) with μ = 1/R, at 0 and a point half-way to the sphere.
	phi, y := bregman.Ball{R: 2}, []float64{0.8, 0.6}
	above := phi.Value([]float64{0, 0}) + 0.25*floats.Dot(y, y)
	return holdsCorrected(excess(phi.Value(y), above), excess(above, phi.Value(y)),
		"φ(0) + (μ/2)‖y‖² = %.4f and φ(y) = %.4f, for φ of (3.7), R = 2, ‖y‖ = 1", above, phi.Value(y))
}

func witnessBellman(ctx context.Context) Finding {
	x := smallMDP()
	best, _ := optimalValue(ctx, x)
	// 𝒮(v + 1) = 𝒮v + γ1 for any v.
	growth := func(inside func(v []float64) []float64) float64 {
		v := make([]float64, x.States())
		return bellman(x, inside(shifted(v, 1)))[0] - bellman(x, inside(v))[0]
	}
	printed, corrected := growth(func([]float64) []float64 { return best.Value }), growth(func(v []float64) []float64 { return v })
	return holdsCorrected(relativeError(printed, x.Gamma()), relativeError(corrected, x.Gamma()),
		"𝒮(v + 1) − 𝒮v = %.3g·1 with v inside 𝒮, and %.3g with v* there", corrected, printed)
}

func witnessValueFactor(ctx context.Context) Finding {
	x, value, _ := dualOptimum(mixpolicy.Corrected)
	_, full := optimalValue(ctx, x)
	return holdsCorrected(relativeError(value, full), relativeError(value, (1-x.Gamma())*full),
		"γ = 0.9: min cᵀξ = %.6g, αᵀv* = %.6g", value, full).within(valueTolerance)
}

// witnessEvent: as printed, the sum is over the event A alone.
func witnessEvent(context.Context) Finding {
	d, of := difference([]float64{0.5, 0.3, 0.2}, []float64{0.2, 0.3, 0.5}), func(on []float64) float64 { return math.Abs(floats.Sum(on)) }
	sup := worstOf([][]float64{d[:1], d[1:2], d[2:], d[:2], {d[0], d[2]}, d[1:], d}, of)
	event, all := floats.Norm(d[:1], 1)/2, floats.Norm(d, 1)/2
	return holdsCorrected(relativeError(event, sup), relativeError(all, sup), "μ = (0.5, 0.3, 0.2), ν = (0.2, 0.3, 0.5): "+
		"sup|μ(A) − ν(A)| is %.3g, for A = {1}; ½Σ|μ − ν| is %.3g over A, and %.3g over all states", sup, event, all)
}

func witnessHyperplane(context.Context) Finding {
	p, theta := smallProblem(mixpolicy.Ball(2)), unit(3, 0)
	double := scaled(2, theta)
	// Θ₁ is a cone: 2θ is in it if θ is. The step of the algorithm brings 1ᵀθ back to 1.
	inCone, next := p.NegativeMass(double), make([]float64, 3)
	noError(bregman.Project(bregman.Ball{R: 3}, next, double))
	return holdsCorrected(math.Abs(floats.Sum(double)-1), math.Abs(floats.Sum(next)-1)+inCone,
		"if θ with 1ᵀθ = 1 is in Θ₁, so is 2θ, whose sum is %.3g; its projection has the sum %.3g", floats.Sum(double), floats.Sum(next))
}

func witnessDualFactor(context.Context) Finding {
	r := smallTrace(TraceSettings{Iterations: 50, StepSize: mixpolicy.InverseSqrt(4), Beta: 10})
	lambda, printed, corrected := scaled(5, unit(len(r.Lambda), 0)), 0.0, 0.0
	for _, s := range r.Steps {
		lhs := sq(floats.Distance(s.NextLambda, lambda, 2))
		from := sq(floats.Distance(s.Lambda, lambda, 2)) + sq(s.Eta*floats.Norm(s.Ascent, 2))
		slope := s.Eta * floats.Dot(s.Ascent, difference(s.Lambda, lambda))
		printed = max(printed, relativeError(lhs, from-slope))
		corrected = max(corrected, excess(lhs, from+2*slope))
	}
	return holdsCorrected(printed, corrected,
		"50 steps, after (5.15): the printed equation is off by up to %.2g of its size; the corrected inequality always holds", printed)
}

func witnessAverageBall(context.Context) Finding {
	x := must(models.Queue{}.MDP())
	printed, g := 1/(1-x.Gamma()), (mixpolicy.PrimalDual{Beta: 50}).Radius(x.Criterion())
	return holdsCorrected(printed, relativeError(g, 50), "average cost: 1/(1−γ) = %v; corrected, G = β = %v", printed, g)
}

// witnessTwoMeasures compares Ψθ with the measure of the policy (2.20), inside and outside Ψθ ⪰ 0.
func witnessTwoMeasures(context.Context) Finding {
	p, theta := smallProblem(mixpolicy.Ball(10)), []float64{4, -5, 2}
	inside, outside := apart(p, []float64{0.2, 0.5, 0.3}), apart(p, theta)
	vector, policy := p.Objective(theta), policyMeasure(p, theta).Cost(p.MDP().Costs())
	return holdsCorrected(outside, inside, "θ = (4, −5, 2), infeasible: Ψθ is %.3g from the measure of the policy in total variation, "+
		"cᵀΨθ = %.4g, and the policy costs %.4g; at a feasible θ, the distance is %.1g", outside, vector, policy, inside)
}

// witnessModelFree compares Ψθ of two processes that agree in all that Assumption A.3 treats as known. Costs do not
// enter Ψθ.
func witnessModelFree(context.Context) Finding {
	theta := []float64{0.2, 0.5, 0.3}
	var ascent [2][]float64
	for i := range ascent {
		x := garnet(uint64(i + 1))
		ascent[i] = combination(mixtureProblem(x, mixpolicy.Ball(2), smallPolicies(x)...), theta)
	}
	// The problem knows −Ψθ, computed with the transition law.
	known := make([]float64, len(ascent[0]))
	smallProblem(mixpolicy.Ball(2)).GradLambda(known, theta)
	printed, corrected := relativeVectorError(ascent[0], ascent[1]), relativeVectorError(scaled(-1, known), ascent[0])
	return holdsCorrected(printed, corrected, "two transition laws, the same policies: Ψθ, the gradient (3.4) at the same θ, "+
		"differs by %.2g of its greatest entry, before any query", printed)
}

// witnessModulusDomain compares dom φ, the points where φ < ∞, with two sets: the ball together with all points at
// infinity, and the ball alone.
func witnessModulusDomain(context.Context) Finding {
	phi, printed, corrected := bregman.Ball{R: 2}, 0.0, 0.0
	for _, x := range [][]float64{{0, 0}, {1.9, 0.1}, {2, 1}, {math.MaxFloat64, 0}, {math.Inf(1), 0}, {0, math.Inf(-1)}} {
		finite, ball := phi.Value(x) < math.Inf(1), floats.Norm(x, 2) <= 2
		if finite != (ball || math.IsInf(floats.Norm(x, 2), 1)) {
			printed++
		}
		if finite != ball {
			corrected++
		}
	}
	return holdsCorrected(printed, corrected,
		"φ of (3.7) is finite at the points of the ball and +∞ at all others that we tried, also at %g of 2 points at infinity", printed)
}

// witnessLoop compares the averages (3.27) with the averages over the passes of the printed loop.
func witnessLoop(context.Context) Finding {
	r := smallTrace(TraceSettings{Iterations: 100, StepSize: mixpolicy.InverseSqrt(1), Beta: 20, Seed: 1})
	printed, corrected, weights := make([]float64, 3), make([]float64, 3), 0.0
	for t, s := range r.Steps {
		eta := 1 / math.Sqrt(float64(t+2)) // η_{t+1}
		weights += eta
		floats.AddScaled(printed, eta, s.Next)
		floats.AddScaled(corrected, s.Eta/r.Sums.Sum, s.Theta)
	}
	floats.Scale(1/weights, printed)
	distance := relativeVectorError(printed, r.Theta)
	return holdsCorrected(distance, relativeVectorError(corrected, r.Theta),
		"T = 100: the average over t = 1, …, T differs from (3.27) by %.2g of its greatest entry", distance)
}

// witnessConditioning takes the sum of 100 random signs, given that the first 99 are +1, and without this condition.
func witnessConditioning(context.Context) Finding {
	const n = 100
	bound := 2 * math.Exp(-sq(n-2)/(2*n))
	whole := math.Ldexp(2*(1+n), -n) // at most one +1, or at most one −1
	return holdsCorrected(excess(1, bound), excess(whole, bound), "100 random signs: given that the first 99 are +1, "+
		"the sum is certain to be at least 98; without the condition, its size is at least 98 with probability %.1g ≤ %.1g", whole, bound)
}

func witnessDualNorm(context.Context) Finding {
	p := smallProblem(mixpolicy.Cube(1.5))
	d, printed, corrected := float64(p.Dim()), 0.0, 0.0
	for _, e := range gradientErrors(p, nil) {
		dual, euclid := sq(p.Class().Norm.Dual().Of(e)), sq(floats.Norm(e, 2))
		printed, corrected = max(printed, dual/euclid), max(corrected, excess(dual, d*euclid))
	}
	return holdsCorrected(excess(printed, 1), corrected, "cube, d = 3: ‖e‖⁎² = ‖e‖₁² is up to %.3g ‖e‖₂², and d‖e‖₂² bounds it", printed)
}

func witnessAlphaRate(context.Context) Finding {
	_, k := rawConstants()
	// √T α_T divided by a power of ln T. The paper says that √T α_T is bounded.
	at := func(n int, power float64) float64 {
		t := float64(n)
		return math.Sqrt(t) * k.PrintedObjectiveBound(k.D, n).Value / math.Pow(math.Log(t), power)
	}
	const near, far = 1_000, 1_000_000_000
	growth := at(far, 0) / at(near, 0)
	return holdsCorrected(excess(growth, 1), excess(at(far, 2), at(near, 2)),
		"√T α_T grows by a factor of %.3g from T = 10³ to 10⁹, but √T α_T/ln²T falls", growth)
}
