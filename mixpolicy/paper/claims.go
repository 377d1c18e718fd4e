package paper

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// experiments decide the claims, in groups that share work.
var experiments = []func(context.Context) []Claim{
	policyClaims, methodClaims, rateClaims, theoryClaims, queueClaims, textClaims,
}

// Claims runs every experiment, and returns the claims in the order of the paper's sections.
func Claims(ctx context.Context) (all []Claim, err error) {
	defer catch(&err)
	for _, group := range experiments {
		all = append(all, group(ctx)...)
	}
	// Sort by the section at the start of the ID; 0 is the abstract.
	slices.SortStableFunc(all, func(a, b Claim) int { return cmp.Compare(a.ID[:1], b.ID[:1]) })
	return all, nil
}

// mixtureCosts returns the true costs of steps + 1 mixtures (2.16) of two policies. In these mixtures, the second
// policy has the probabilities 0, 1/steps, …, 1.
func mixtureCosts(x *mixpolicy.MDP, first, second *mixpolicy.Policy, steps int) []float64 {
	return mapped(floats.Span(make([]float64, steps+1), 0, 1), func(omega float64) float64 {
		return must(x.Occupation(context.Background(), must(mixpolicy.Mixture([]float64{1 - omega, omega}, first, second)))).Cost(x.Costs())
	})
}

// bestMixture returns the least of the costs from [mixtureCosts], and the probability of the second policy in the
// mixture that attains it.
func bestMixture(costs []float64) (least, omega float64) {
	k := floats.MinIdx(costs)
	return costs[k], float64(k) / float64(len(costs)-1)
}

// workingPrimalDual is Algorithm 1 on the queue with costs divided by c_max and η_t = η₀/√(t+1). workingPenalty is the
// penalty method with the same settings.
func workingPrimalDual(eta, beta float64) mixpolicy.Method {
	return mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(eta), Beta: beta}
}

func workingPenalty(eta, omega float64) mixpolicy.Method {
	return mixpolicy.Penalty{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(eta), Weight: omega}
}

// ended runs trials of a method, and observes no run between its start and its end. final returns the values of a curve
// at the ends of these runs. With the same seed, all methods use the same random streams, for any number of iterations.
func ended(ctx context.Context, p *mixpolicy.Problem, m mixpolicy.Method, trials, iterations int, seed uint64) *race.Runs {
	return must(race.Trials(ctx, p, m, race.Settings{
		Trials: trials, Iterations: iterations, Seed: seed, Schedule: mixpolicy.Every(iterations), Valued: race.ValuedEnd}))
}

func final(ctx context.Context, p *mixpolicy.Problem, m mixpolicy.Method, trials, iterations int, seed uint64, c race.Curve) []float64 {
	return ended(ctx, p, m, trials, iterations, seed).Final(c)
}

// policyClaims decides the claims of the abstract and the introduction about mixtures.
func policyClaims(ctx context.Context) []Claim {
	p := must(QueueProblem(mixpolicy.Ball(2)))
	return append(mixtureClaims(ctx, p, 100_000), valleyClaim(func(length int, _ float64) float64 {
		return map[bool]float64{true: 1, false: 100}[length > 3 && length < 8]
	}), combinationClaim(models.Network{Buffers: [4]int{4, 1, 4, 3}}), expressiveClaim(ctx, p))
}

// A policy counts as nearly as good as the best mixture if its cost is less than 1.05 times the mixture's.
const nearly = 1.05

// mixtureClaims decides claims about the class (2.17), in which the method searches. The optimum ξ* over all policies
// is far from the class, and θ* is outside the simplex. A feature with negative entries, such as 2ψ¹ − ψ², is not a
// distribution, so Algorithm 1 could not draw pairs from this feature.
func mixtureClaims(ctx context.Context, p *mixpolicy.Problem, iterations int) []Claim {
	best, costs := must(p.Optimum(ctx)).Objective, final(ctx, p, workingPrimalDual(64, 0), 20, iterations, 11, race.PolicyCost)
	near := less(race.TInterval(scaled(1/best, costs), confidence), nearly)
	v := must(mixpolicy.PolicyIteration(ctx, p.MDP(), mixpolicy.ValuationSettings{}))
	xi, least := must(p.MDP().Occupation(ctx, v.Policy)).Pair, floats.Min(combination(p, []float64{2, -1}))
	distance := leastDistance(ctx, p.Features().Dense(), xi, slices.Repeat([]float64{1}, len(xi)))
	results := []Result{mean("true cost", "Algorithm 1", costs), exactly("true cost", "the exact optimum of (2.18)", best),
		exactly("true cost", "the best policy of all", v.Cost())}
	return []Claim{claim("0-best-mixture", near, results, iterations), claim("1-realizability", readings(
		`whether realizability means that $\xi^*$ is a combination of the features, or that features are non-negative: Algorithm 1 draws `+
			`pairs from them`, near, atMost(-least, 0)), append(results, exactly(`least $\max|\Psi\theta - \xi^*|$`, "", distance),
		exactly(`$\max\xi^*$`, "", floats.Max(xi)), exactly(`least entry of the feature $2\psi^1 - \psi^2$`, "", least)), iterations)}
}

// valleyClaim: the abstract compares the result with the convex hull of policies (2.16), but the method chooses among
// linear combinations of measures (2.17). One policy keeps the queue long, and the other keeps it short. If only the
// lengths in between are cheap, the best mixture of the two policies costs much less than the best policy of (2.17).
func valleyClaim(cost func(length int, rate float64) float64) Claim {
	x := must(models.Queue{Buffer: 10, Cost: cost}.MDP())
	slow := must(mixpolicy.Deterministic(x, slices.Repeat([]int{0}, x.States())))
	fast := must(mixpolicy.Deterministic(x, slices.Repeat([]int{3}, x.States())))
	p := mixtureProblem(x, mixpolicy.Ball(10), slow, fast)
	best := must(p.Optimum(context.Background()))
	ofClass := func(theta float64) float64 { return policyMeasure(p, []float64{theta, 1 - theta}).Cost(x.Costs()) }
	class := floats.Min(mapped(floats.Span(make([]float64, 1401), -6.5, 7.5), ofClass))
	mixture, at := bestMixture(mixtureCosts(x, slow, fast, 100))
	// The optimum is feasible, so its objective is the cost of its policy.
	iv := race.Interval{Lo: min(best.Bound, class) / mixture, Hi: best.Objective / mixture}
	return claim("0-best-mixture-valley", less(iv, nearly), []Result{
		exactly("true cost", "the exact optimum of (2.18)", best.Objective),
		exactly("true cost", `the least of 1401 policies $\pi^\theta$ of the class`, class),
		exactly("true cost", `the best of 101 mixtures $\pi^\omega$`, mixture), exactly(`weight $\omega_2$ of that mixture`, "", at)})
}

// combinationClaim counts the pairs, among six rules, that have a mixture cheaper than both rules of the pair. The
// claim holds if there is such a pair.
func combinationClaim(w models.Network) Claim {
	x, rules := must(w.MDP()), models.Rules()
	base := must(w.Policies(x, rules...))
	var most []Result // about the pair that gains most
	gain, helped := 0.0, 0
	for i, first := range base {
		for j, second := range base[:i] {
			costs := mixtureCosts(x, second, first, 20)
			best, at := bestMixture(costs)
			better := min(costs[0], costs[20])
			if !(best < better*(1-1e-9)) { // the measures are exact to about 1e-12
				continue
			}
			helped++
			if g := 1 - best/better; g > gain {
				gain, most = g, []Result{exactly("cost in the pair that gains most", fmt.Sprint(rules[i]), costs[20]),
					exactly("cost in the pair that gains most", fmt.Sprint(rules[j]), costs[0]),
					exactly("cost in the pair that gains most", fmt.Sprintf("%v with probability %.2f", rules[i], at), best)}
			}
		}
	}
	return claim("1-combination", found(helped), append([]Result{exactly("pairs of 15 that gain", "", float64(helped))}, most...),
		w.Buffers[0], w.Buffers[1], w.Buffers[2], w.Buffers[3], w.Dynamics)
}

func expressiveClaim(ctx context.Context, p *mixpolicy.Problem) Claim {
	best, inside := must(p.Optimum(ctx)), floats.Min(p.BaseCosts())
	return claim("1-expressive", less(race.Interval{Lo: best.Bound, Hi: best.Objective}, inside*(1-rounding)), append([]Result{
		exactly("cost", "(2.18) with $R = 2$", best.Objective), exactly("cost", "the simplex", inside),
	}, mapped(best.Theta, func(x float64) Result { return exactly(`$\theta_1$ and $\theta_2$ of (2.18)`, "", x) })...))
}

// methodClaims decides the claims of the introduction about the method and its rival.
func methodClaims(ctx context.Context) []Claim {
	const trials, more, iterations, seed = 20, 100, 20_000, 11 // more: trials for each β
	p := must(QueueProblem(mixpolicy.Ball(2)))
	gap := must(race.PenalisedGap(p))
	end := func(m mixpolicy.Method, seed uint64, c race.Curve) []float64 {
		return final(ctx, p, m, trials, iterations, seed, c)
	}

	// Every iterate is on the hyperplane and inside the ball, without a projection onto the ball.
	r := must(NewTrace(p, TraceSettings{Iterations: 2000, StepSize: mixpolicy.InverseSqrt(64), Beta: 50, CostScale: cMax}))
	var norm, plane float64
	for _, s := range r.Steps {
		norm, plane = max(norm, floats.Norm(s.Next, 2)), max(plane, math.Abs(floats.Sum(s.Next)-1))
	}
	_, lambda := r.optimum()

	// β is a second parameter unless β = T^¼ works as well as no ball of multipliers.
	recipe := math.Pow(iterations, 0.25)
	var byBeta [][]float64
	var betas []Result
	for k, of := range []string{fmt.Sprintf(`$\beta = T^{1/4} = %.1f$`, recipe), `$\beta = 25$`, `$\beta = 50$`, "no ball"} {
		beta := []float64{recipe, 25, 50, 0}[k]
		byBeta = append(byBeta, final(ctx, p, workingPrimalDual(64, beta), more, iterations, seed, gap))
		betas = append(betas, mean("penalised gap", of, byBeta[k]))
	}
	ofBeta := paired(byBeta[0], byBeta[3])
	// The paper's G = 1/(1−γ) ∨ β is infinite on the queue, and at least 10 on the discounted problem.
	discounted := smallProblem(mixpolicy.Ball(2))
	discountedGap, moved := must(race.PenalisedGap(discounted)), 0.0
	gapWith := func(beta float64) []float64 {
		return final(ctx, discounted, mixpolicy.PrimalDual{CostScale: 1, Beta: beta}, trials, iterations, seed, discountedGap)
	}
	for _, beta := range []float64{recipe, 50, 1000} {
		moved = max(moved, floats.Distance(gapWith(0), gapWith(beta), math.Inf(1)))
	}

	// Compare values of ω, each with the η₀ that is best in trials with another seed.
	weights, etas := []float64{1, 2, 8, 32, 128}, powers(0x1p-6, 4, 4)
	var byWeight [][]float64
	var score []float64
	for _, omega := range weights {
		scores := mapped(etas, func(eta float64) float64 { return stat.Mean(end(workingPenalty(eta, omega), 12, gap), nil) })
		score = append(score, floats.Min(scores))
		byWeight = append(byWeight, end(workingPenalty(etas[floats.MinIdx(scores)], omega), seed, gap))
	}
	best := floats.MinIdx(score)
	var sensitive []*comparison
	var gaps, worse []Result
	for k, omega := range weights {
		of := fmt.Sprintf(`$\omega = %g$`, omega)
		gaps = append(gaps, mean("penalised gap", of, byWeight[k]))
		if k != best {
			sensitive = append(sensitive, paired(byWeight[best], byWeight[k]))
			worse = append(worse, sensitive[len(sensitive)-1].result("penalised gap",
				fmt.Sprintf(`$\omega = %g$ and %s`, weights[best], of), "difference"))
		}
	}
	holm(sensitive...)

	var violating []*comparison
	rivals, masses := mapped(weights[:4], func(w float64) []float64 { return end(workingPenalty(0.25, w), seed, race.Mass) }), []Result{}
	for _, eta := range []float64{64, 1} {
		own := end(workingPrimalDual(eta, 0), seed, race.Mass)
		masses = append(masses, mean("negative mass", fmt.Sprintf(`Algorithm 1 with $\eta_0 = %g$`, eta), own))
		violating = append(violating, mapped(rivals, func(rival []float64) *comparison { return paired(own, rival) })...)
	}
	for k, rival := range rivals {
		masses = append(masses, mean("negative mass", fmt.Sprintf(`the penalty method with $\omega = %g$`, weights[k]), rival))
	}
	holm(violating...)
	return []Claim{claim("1-projection-free", every(atMost(norm, math.Nextafter(2, 0)), atMost(plane, rounding)), []Result{
		exactly(`largest $\|\theta_t\|_2$`, "", norm), exactly(`largest $|\mathbf 1^{\mathsf T}\theta_t - 1|$`, "", plane)}),
		claim("1-one-parameter", readings(`whether $G_\beta$ may be too small: on the queue, $T^{1/4}$ is; as printed, $G_\beta$ is `+
			`infinite for average cost, and $1/(1-\gamma)$ is enough in the discounted example`, same(ofBeta.Interval), atMost(moved, 0)),
			append(betas, ofBeta.result("penalised gap", `$\beta = T^{1/4}$ and no ball`, "difference"), exactly(`$\|\lambda^*\|_2$`, "",
				floats.Norm(lambda, 2)),
				exactly("largest difference of the penalised gap", `a random MDP with $\gamma = 0.9$, for $\beta$ from 0 to 1000`, moved)),
			more), claim("1-penalty-sensitive", every(decisions(sensitive)...), append(gaps, worse...), trials, weights[best]),
		claim("1-penalty-violation", readings(`how large $\omega$ and the $\eta_0$ of Algorithm 1 are; with `+
			`$\omega = 32 > \|\lambda^*\|_\infty$, the penalty method has no violation`, decisions(violating)...), masses, trials)}
}

// decisions returns the decisions of comparisons that [holm] has decided.
func decisions(all []*comparison) []Decision {
	return mapped(all, func(c *comparison) Decision { return c.Decision })
}

// sumsAt returns a lower bound on Ση_t and an upper bound on Ση_t², for η_t = 1/√(t+1) and any T, even above the range
// of int.
func sumsAt(t float64) theory.StepSums {
	return theory.StepSums{Sum: 2 * (t / (math.Sqrt(t+1) + 1)), Squares: 1 + math.Log(t)}
}

// exponent returns the power of T with which f grows, from T = 10⁵⁰ to 10⁶⁰.
func exponent(f func(t float64) float64) float64 {
	return (math.Log(f(1e60)) - math.Log(f(1e50))) / math.Log(1e10)
}

// boundExponents returns, for β ~ T^power, the powers of T in the corrected (3.31), divided by ln T, and in the
// corrected (3.33). Each bound holds with probability at least 1 − 4/T.
func boundExponents(k *theory.Constants, power float64) (gap, violation float64) {
	gap = exponent(func(t float64) float64 {
		return k.With(math.Pow(t, power)).ObjectiveBound(sumsAt(t), 4/t).Value / math.Log(t)
	})
	violation = exponent(func(t float64) float64 { return k.With(math.Pow(t, power)).ViolationBound(sumsAt(t), 4/t).Value })
	return gap, violation
}

// rateClaims decides the claims of the introduction and of section 3.2 about rates.
func rateClaims(ctx context.Context) []Claim {
	p := must(QueueProblem(mixpolicy.Ball(2)))
	k := must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 1, CostScale: cMax}))
	fixed, _ := boundExponents(k, 0)
	sharp := exponent(func(t float64) float64 {
		return k.With(2*k.LambdaStar).RefinedViolationBound(sumsAt(t), 4/t).Value / math.Log(t)
	})
	quarter, vanishing := boundExponents(k, 0.25)
	eighth, slower := boundExponents(k, 0.125)

	// Compare Proposition 3.1 with the worst of three runs. On the hyperplane (x, 1−x), the ball is an interval, and
	// the objective is linear, so the greatest gap is at an end.
	best, half := must(p.Optimum(ctx)).Objective, math.Sqrt((4-0.5)/2)
	trivial := (max(p.Objective([]float64{0.5 - half, 0.5 + half}), p.Objective([]float64{0.5 + half, 0.5 - half})) - best) / cMax
	lo, hi, terms, bounds, vacuous, exceeding := math.Inf(1), math.Inf(-1), map[string]int{}, 0, 0, 0
	for _, power := range []float64{1. / 8, 1. / 4, 3. / 8, 1. / 2} {
		for t := 10; t <= 10_000_000; t *= 10 {
			k, s := k.With(math.Pow(float64(t), power)), theory.InverseSqrtSums(mixpolicy.Corrected, t)
			bound := k.ObjectiveBound(s, 0.05)
			terms[bound.Largest().Name]++
			if bounds++; bound.Value > trivial {
				vacuous++
			}
			if t > 100_000 {
				continue
			}
			r := ended(ctx, p, mixpolicy.PrimalDual{Beta: k.G, CostScale: cMax}, 3, t, 7)
			gap := (floats.Max(r.Final(race.Cost)) - best) / cMax
			orders := math.Log10(bound.Value / math.Abs(gap))
			lo, hi = min(lo, orders), max(hi, orders)
			if !(gap <= bound.Value && floats.Max(r.Final(race.Violation)) <= k.ViolationBound(s, 0.05).Value) {
				exceeding++
			}
		}
	}
	largest := slices.MaxFunc(slices.Collect(maps.Keys(terms)), func(a, b string) int { return cmp.Compare(terms[a], terms[b]) })
	// Compare the claimed rate with runs: β = T^¼ exceeds ‖λ*‖₂ = 15.05 from T = 5.14·10⁴ on.
	const rateTrials = 8
	rate := func(t int) (gaps, shares []float64) {
		root := math.Pow(float64(t), 0.25)
		gaps = scaled(1/cMax, shifted(final(ctx, p, workingPrimalDual(64, root), rateTrials, t, 7, race.Cost), -best))
		return gaps, scaled(root/math.Log(float64(t)), gaps)
	}
	_, early := rate(100_000)
	gaps, late := rate(1_000_000)
	growth := paired(late, early)

	violations := []Result{exactly("exponent of $T$ in the bound", "", sharp)}
	for _, n := range []int{1000, 10_000, 100_000} {
		for _, eta := range []float64{4, 64} {
			violations = append(violations, mean(`violation $\|[\Psi\hat\theta]_-\|_2/2$`, fmt.Sprintf(`$\eta_0 = %g$, $T = %d$`, eta, n),
				final(ctx, p, workingPrimalDual(eta, 0), 10, n, 11, race.Violation)))
		}
	}
	const ofBound, quarters, eighths = "exponent of $T$ in the bound", `$\beta \sim T^{1/4}$`, `$\beta \sim T^{1/8}$`
	const orders, share = "orders of magnitude from the size of a gap to the bound", `gap in $c_{\max}$, divided by $\ln T/T^{1/4}$`
	// If a fixed ball contains no λ*, a violation may lower the objective by more than its penalty, so the saddle value
	// f* + limit may be below the optimum f*.
	limit := minimumOnLine(p, func(theta []float64) float64 { return p.Objective(theta)/cMax + 2*p.Violation(theta) }) - best/cMax
	// At the saddle point, cᵀΨθ + 2V(θ) = f* + limit. Since f* − cᵀΨθ ≤ 2‖λ*‖₂V(θ) in units of c_max, it follows that V
	// ≥ −limit/(2(‖λ*‖₂−1)).
	left := -limit / (2 * (k.LambdaStar - 1))
	positive := exactly("violation at the saddle point, at least", `$\beta = 1$`, left)
	bound := claim("3-bounds", readings(`whether the ball contains a $\lambda^*$: for a fixed $G_\beta$ below all $\|\lambda^*\|_2$, `+
		`the objective tends to less than the optimum`, every(argued(fixed, -0.5, false), atMost(float64(exceeding), 0)),
		atMost(-limit, 0)), []Result{exactly(ofBound, "", fixed), exactly("saddle value minus the optimum, in $c_{\\max}$", "", limit),
		exactly("triples of runs that exceed a bound", "", float64(exceeding)), exactly(orders, "least", lo), exactly(orders, "most", hi),
		exactly(fmt.Sprintf(`bounds of %d above the greatest gap of any $\theta$`, bounds), "", float64(vacuous))})
	bound.Note = fmt.Sprintf(bound.Note, strings.Replace(largest, "C_e²", "$C_e^2$", 1))
	return []Claim{claim("1-violation-vanishes", readings(`whether $\beta$ stays below $\|\lambda^*\|_2$`,
		argued(sharp, -0.5, false), atMost(left, 0)), append(violations, positive)), bound,
		claim("3-violation-rate", readings(`whether $\beta$ stays below $\|\lambda^*\|_2$`, argued(vanishing, -0.125, false),
			atMost(left, 0)), []Result{exactly(ofBound, quarters, vanishing), exactly(ofBound, eighths, slower), positive}),
		claim("3-rate", argued(quarter, -0.25, growth.Lo > 0), []Result{
			exactly(ofBound, quarters, quarter), exactly(ofBound, eighths, eighth),
			mean("gap of the runs", `in $c_{\max}$, $T = 10^6$`, gaps), mean(share, "$T = 10^5$", early), mean(share, "$T = 10^6$", late),
		}, rateTrials)}
}

// theoryClaims decides the claims of sections 1, 3, 4 and 7 about bounds.
func theoryClaims(ctx context.Context) []Claim {
	small := smallProblem(mixpolicy.Ball(2))
	k := must(theory.NewConstants(small, mixpolicy.PrimalDual{CostScale: 1}))
	k = k.With(2 * k.LambdaStar)
	return []Claim{sampleClaim(ctx, small, k), geometryClaim(ctx), termsClaim(k), tighterClaim(ctx, 0.5, 1e-4), polynomialClaim(),
		factorClaim()}
}

// sampleEpsilon and sampleRho are the ε and ρ with which the claims evaluate Theorem 3.4.
const sampleEpsilon, sampleRho = 0.01, 0.1

// sampleClaim interprets the ξ* of (3.38) as the best measure of the class, and assumes that the Ω of (3.37) hides the
// factor 1 or 1000.
func sampleClaim(ctx context.Context, small *mixpolicy.Problem, k *theory.Constants) Claim {
	const epsilon, rho = sampleEpsilon, sampleRho
	// With β ~ T^power, both bounds must fall to ε. The best power is 1/6.
	queue := must(theory.NewConstants(must(QueueProblem(mixpolicy.Ball(2))), mixpolicy.PrimalDual{Beta: 1, CostScale: cMax}))
	own, at := math.Inf(1), 0.0
	for n := range 31 {
		power := float64(n) / 60
		if gap, violation := boundExponents(queue, power); max(gap, violation) < own {
			own, at = max(gap, violation), power
		}
	}
	need, coarse := must(k.SampleComplexity(epsilon, rho)), must(k.SampleComplexity(10*epsilon, rho))
	printed, best := k.PrintedSampleComplexity(1, epsilon), must(small.Optimum(ctx))
	actual := math.Inf(1) // the least T of the list that is enough in 20 of 20 trials
	for _, n := range []int{1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000} {
		if floats.Max(final(ctx, small, mixpolicy.PrimalDual{Beta: k.G, CostScale: 1}, 20, n, 3, race.PolicyCost)) <=
			best.Objective+epsilon {
			actual = float64(n)
			break
		}
	}
	var split []Result // T if each state is split into 1, 2 or 4 states
	for copies := 1; copies <= 4; copies *= 2 {
		p, n := clippedProblem(copies), 1<<14
		k := must(theory.NewConstants(p, mixpolicy.PrimalDual{CostScale: 1}))
		k = k.With(2 * k.LambdaStar)
		for floats.Max(clippedRuns(ctx, p, n, k.G)) > 10*epsilon {
			n *= 2
		}
		what, proved := fmt.Sprintf("$T$ for %d states and $\\varepsilon = 0.1$", 2*copies), must(k.SampleComplexity(10*epsilon, rho))
		split = append(split, exactly(what, "enough in 5 runs", float64(n)), exactly(what, "proved", proved))
	}
	_, all, _ := dualOptimum(mixpolicy.Corrected)
	least, _ := fewQueries()
	return claim("3-sample-complexity", argued(own, -0.25, least > 10*epsilon), append([]Result{
		exactly("excess of the best of 30 runs over the best of the class", "1000 and 2000 states, 1000 times the $T$ of (3.37)", least),
		exactly("best $p$", "", at), exactly("exponent of $T$ in the error with that $p$", "", own),
		exactly(`exponent of $\varepsilon$ in $T$, where $-4$ is claimed`, "", 1/own),
		exactly("$T$", "enough in the trials", actual), exactly("$T$", `(3.37) with the constant 1 and $\tau = 1$`, printed),
		exactly("$T$", `proved with the larger of $2\|\lambda^*\|_2$ and $1/(1-\gamma)$ for $G_\beta$`, need),
		exactly(`exponent of $\varepsilon$ in the proved $T$, between 0.1 and 0.01`, "", -math.Log10(need/coarse)),
		exactly("cost", `the $\xi^*$ of (3.38), as (2.13) defines it`, all), exactly("cost", "the best of the class", best.Objective),
	}, split...))
}

// geometryClaim compares one Ψ in two classes, and one class described in two ways.
func geometryClaim(ctx context.Context) Claim {
	needs := func(class mixpolicy.Class) (norm, t float64) {
		k := must(theory.NewConstants(smallProblem(class), mixpolicy.PrimalDual{CostScale: 1}))
		return k.PsiNorm, k.PrintedSampleComplexity(1, sampleEpsilon)
	}
	ball, tBall := needs(mixpolicy.Ball(2))
	cube, tCube := needs(mixpolicy.Cube(2))
	const times, radius, size, value = 8, 2, `$\|\Psi\|_{*,2}$`, `$c^{\mathsf T}\Psi\hat\theta$`
	var norm, cost [2]float64
	for i, n := range []int{1, times} {
		p := copies(n, mixpolicy.Cube(radius/float64(n)))
		r := must(mixpolicy.Solve(ctx, p, workingPrimalDual(16, 0), mixpolicy.Settings{Iterations: 10_000, Seed: 1, Uncertified: true}))
		norm[i], cost[i] = theory.SubordinateNorm(p.Features(), p.Class().Norm), r.Objective
	}
	// Rounding alone makes equal numbers differ by about 10⁻¹⁵.
	often := fmt.Sprintf("%d times", times)
	return claim("3-geometry", readings("whether the number of queries in (3.37) or the number that is needed is meant",
		atMost(rounding, relativeError(tCube, tBall)), atMost(rounding, relativeError(cost[1], cost[0]))), []Result{
		exactly("ratio of $T$, cube to ball", "", tCube/tBall), exactly(value, "once", cost[0]), exactly(value, often, cost[1]),
		exactly(size, "the ball", ball), exactly(size, "the cube", cube),
		exactly(size+" on the queue", "once", norm[0]), exactly(size+" on the queue", often, norm[1])}, times)
}

// termsClaim: (3.31) bounds cᵀΨθ̂, but (4.15) and (4.16) bound the cost of the policy. From (3.31), a bound on this
// cost follows only with (3.36).
func termsClaim(k *theory.Constants) Claim {
	sums := sumsAt(must(k.SampleComplexity(sampleEpsilon, sampleRho)))
	evaluate := func(k *theory.Constants) (gap, violation, added float64) {
		violation = k.RefinedViolationBound(sums, sampleRho).Value
		return k.RefinedObjectiveBound(sums, sampleRho).Value, violation, addedByViolation(k, violation)
	}
	gap, violation, added := evaluate(k)
	other := *k // the bound on the violation grows with ‖λ*‖₂
	other.LambdaStar *= 1.5
	same, larger, more := evaluate(&other)
	const once, more15 = `$\|\lambda^*\|_2$`, `$1.5\|\lambda^*\|_2$`
	return claim("4-error-terms", atMost(same-gap, 0), []Result{
		exactly("gap by $E_T$ of (3.37)", once, gap), exactly("gap by $E_T$ of (3.37)", more15, same),
		exactly("violation by $V_T$ of (3.37)", once, violation), exactly("violation by $V_T$ of (3.37)", more15, larger),
		exactly("amount that (3.36) adds for the cost of the policy", once, added),
		exactly("amount that (3.36) adds for the cost of the policy", more15, more)})
}

// addedByViolation returns the term that, added to a bound on the gap, gives a bound on the policy's cost. The term
// comes from (3.36), for γ = 0.9, any mixing time and the given violation ½‖[Ψθ̂]₋‖₂.
func addedByViolation(k *theory.Constants, violation float64) float64 {
	mass := 2 * math.Sqrt(float64(k.Pairs)) * violation
	return k.Spread * theory.Distance(mixpolicy.Corrected, mixpolicy.Discounted(0.9), math.Inf(1), 0, mass)
}

// tighterClaim compares the bounds (4.3) and (4.13) on two processes of two states. From each state, the next state is
// the second one with probability p in one process, and with probability `rare` in the other. If the second state is
// rare, a u that is large in this state makes (4.13) small. But (4.3) requires a u in the span of the feature, which
// contains no such u.
func tighterClaim(ctx context.Context, p, rare float64) Claim {
	least, found, alp := smoothedBounds(ctx, p)
	_, foundRare, alpRare := smoothedBounds(ctx, rare)
	often, seldom := fmt.Sprintf("probability %g", p), fmt.Sprintf("probability %g", rare)
	return claim("4-tighter", less(race.Interval{Lo: least * (1 - rounding), Hi: found}, alp), []Result{
		exactly("lower bound of (4.13) for all $u$", often, least),
		exactly("(4.13), the least on a grid of $u$", often, found), exactly("(4.3)", often, alp),
		exactly("(4.13), the least on a grid of $u$", seldom, foundRare), exactly("(4.3)", seldom, alpRare)})
}

// smoothedBounds evaluates (4.3) and (4.13) for two states, γ = 0.9 and one feature, 1 = (1, 1). The first state costs
// 0, and the second state costs 1. The initial state and every next state are the second state with probability p. With
// w = (1, −1), which is orthogonal to the feature, min_ν ‖v* − ν‖_{∞,1/u} = |wᵀv*|/|w|ᵀu, and β_u ≥ γ for any u. So
// (4.13) is at least |wᵀv*| min_s (α + 2μ(1+γ)/(1−γ))(s) for every u. The result least is this bound, and found is the
// least (4.13) on a grid of u that contains 1. (4.3) admits only multiples of 1 as u.
func smoothedBounds(ctx context.Context, p float64) (least, found, alp float64) {
	const gamma = 0.9
	law := []float64{1 - p, p} // of the next state; also α and μ
	x := process(2, 1, mixpolicy.Discounted(gamma), law, func(s, _ int) (float64, []float64) { return float64(s), law })
	v, _ := optimalValue(ctx, x)
	distance := func(u []float64) float64 { return leastDistance(ctx, mat.NewDense(2, 1, []float64{1, 1}), v.Value, u) }
	one := must(priorwork.NewLyapunov(x, []float64{1, 1}))
	found = floats.Min(mapped(floats.Span(make([]float64, 201), -10, 10), func(log float64) float64 {
		u := []float64{1, math.Exp(log)}
		return (&priorwork.Lyapunov{U: u, Beta: must(priorwork.LyapunovFactor(x, u))}).SALPBound(x.Initial(), law, gamma, distance(u))
	}))
	least = math.Abs(v.Value[0]-v.Value[1]) * min(p, 1-p) * (1 + 2*(1+gamma)/(1-gamma))
	return least, found, one.ALPBound(x.Initial(), distance(one.U))
}

// factorClaim looks for the ω that minimises the right side of (4.16), with K/ω for O(1/ω) and K = 1. For a fixed θ,
// this ω is √(6/(1−γ) + K/V₁(θ)) if θ is infeasible, and infinite if θ is feasible. Reversing the costs changes nothing
// that Assumption A.3 treats as known.
func factorClaim() Claim {
	x, weights := smallMDP(), powers(1, 2, 18)
	lo, hi := x.CostRange()
	var ways []Decision
	var results []Result
	for _, unit := range []float64{1, 100} {
		best := mapped([]float64{1, -1}, func(sign float64) float64 {
			costs := mapped(x.Costs(), func(c float64) float64 { return unit * (lo + hi + sign*(2*c-lo-hi)) / 2 })
			p := mixtureProblem(must(x.WithCosts(costs)), mixpolicy.Ball(2), smallPolicies(x)[:2]...)
			return weights[floats.MinIdx(mapped(weights, func(omega float64) float64 {
				return 1/omega + minimumOnLine(p, func(theta []float64) float64 {
					return p.Objective(theta) + (omega+6/(omega*(1-x.Gamma())))*p.NegativeMass(theta)
				})
			}))]
		})
		of := fmt.Sprintf("costs up to %g", unit)
		results = append(results, exactly(`best $\omega$`, of, best[0]), exactly(`best $\omega$`, of+", reversed", best[1]))
		ways = append(ways, either(best[0] != best[1], Fails))
	}
	return claim("1-rivals-factor", readings(`how large $\|\lambda^*\|_\infty$ is: if it is at most $2\sqrt{6/(1-\gamma)}$, `+
		`a feasible $\theta$ minimises the right side, so the bound falls as $\omega$ grows`, ways...), results)
}

// polynomialClaim evaluates the T that is enough for the greatest constants possible with d policies:
// ‖Ψ_a(s)/q_a(s)‖₂ ≤ d, because the entries of this quotient are non-negative and add up to d; σ_max(Ψ) ≤ √d, because
// the columns of Ψ have norms up to 1; and D ≤ R for the ball. We take β = T^{1/6}, because ‖λ*‖₂ has no bound in d.
func polynomialClaim() Claim {
	x, rng := smallMDP(), rand.New(rand.NewPCG(70, 0))
	var base []*mixpolicy.Policy
	var k *theory.Constants
	var need []float64 // the corrected T of Theorem 3.4 for random policies, with β above ‖λ*‖₂
	worst, most := 0.0, 32
	for d := 2; d <= most; d *= 2 {
		base = append(base, draws(d-len(base), func() *mixpolicy.Policy { return randomPolicy(x, rng) })...)
		k = must(theory.NewConstants(mixtureProblem(x, mixpolicy.Ball(1), base...), mixpolicy.PrimalDual{CostScale: 1}))
		need = append(need, must(k.With(max(20, 2*k.LambdaStar)).SampleComplexity(0.1, 0.1)))
		worst = max(worst, k.A/float64(d), max(k.SigmaMax, k.PsiNorm)/math.Sqrt(float64(d)), k.D/k.R)
	}
	policyBound := func(k *theory.Constants, t float64) float64 {
		s := sumsAt(t)
		return k.ObjectiveBound(s, 0.1).Value + addedByViolation(k, k.ViolationBound(s, 0.1).Value)
	}
	enough := func(d float64) float64 { // the logarithm of the T that is enough
		c := *k
		c.A, c.SigmaMax, c.PsiNorm, c.D = d, math.Sqrt(d), math.Sqrt(d), c.R
		const unit = 700. / (1 << 40) // T up to 10³⁰⁴
		return unit * float64(sort.Search(1<<40, func(n int) bool {
			t := math.Exp(unit * float64(n))
			return policyBound(c.With(math.Pow(t, 1./6)), t) <= 0.1
		}))
	}
	degree := func(from, to float64) float64 { return (enough(to) - enough(from)) / math.Log(to/from) }
	first, last := degree(0x1p20, 0x1p40), degree(0x1p40, 0x1p60)
	return claim("7-polynomial", every(polynomial(first, last), atMost(worst, 1+rounding)), []Result{
		exactly("exponent of $d$ in $T$", "from $2^{20}$ to $2^{40}$ policies", first),
		exactly("exponent of $d$ in $T$", "from $2^{40}$ to $2^{60}$", last),
		exactly("exponent of $d$ in $T$", "random policies", math.Log(need[len(need)-1]/need[0])/math.Log(float64(most)/2)),
		exactly("largest ratio of a constant of random policies to its greatest possible value", "", worst),
		exactly("$T$ of random policies", "2 policies", need[0]), exactly("$T$ of random policies", "32 policies", need[len(need)-1])})
}

// own and rival name the two methods in the results on section 6, and policyCost names the cost of their policies.
const own, rival, policyCost = "Algorithm 1", "the penalty method", "true cost of the policies"

// queueClaims decides the comparisons with the penalty method at the end of section 6. The comparisons of cost,
// efficiency and variance are decided together, so the probability of one or more wrong verdicts by a test is at most
// 1/20. The paper does not state ω. With the paper's settings, we run five ω, up to 4.7 times ‖λ*‖₁, in enough trials
// to estimate a standard deviation despite large fourth moments.
func queueClaims(ctx context.Context) []Claim {
	repaired, sound := must(AsPrinted(mixpolicy.Corrected).Contest(ctx, nil)), must(Working().Contest(ctx, nil))
	score := func(c Protocol, m mixpolicy.Method, trials int) Score {
		p := must(QueueProblem(mixpolicy.Ball(c.Radius)))
		return scoreOf(ended(ctx, p, m, trials, c.Iterations, c.Seed), must(race.PenalisedGap(p)), 0, c.Weight)
	}
	each := func(c Protocol, trials int, weights ...float64) []Score {
		return mapped(weights, func(omega float64) Score { c.Weight = omega; return score(c, c.Penalty(), trials) })
	}
	optimum := must(must(QueueProblem(mixpolicy.Ball(2))).Optimum(ctx)).Objective
	// The least ε of (2.22) is 0 if the excess above the optimum is 0, and else grows with this excess.
	above := func(cost float64) float64 { return max(cost-optimum, 0) }
	c, printed, w := AsPrinted(mixpolicy.Corrected), AsPrinted(mixpolicy.Printed), Working()
	weights := each(c, 4000, 1, 7000, 1e4, 2e5, 1e6) // with ω = 7000, trials end on both sides of θ̂₁ = 45.66, where the policy cost jumps
	const objective, trueCost = `$c^{\mathsf T}\Psi\hat\theta$`, "the policies' true cost"
	const stated = `$T = 1000$, $\eta = 0.001$, $R = 100$, raw costs`
	const working6 = `$T = 10^5$, $\eta = \eta_0/\sqrt{t+1}$, $R = 2$, costs divided by $c_{\max}$`
	tuned := func(k *Contest, by string) string {
		return fmt.Sprintf("; each method with the best of %d configurations by %s in %d other trials; "+
			"at least %d of %d resamples of these trials lead to the same choice, which the intervals take as given",
			k.Configurations, by, k.TuningTrials, k.Again, Resamples)
	}
	var claims []Claim
	var family []*comparison
	var decide []func()
	add := func(id, experiment string, a Score, rivals []Score) {
		const cost, efficiency, variance = 0, 1, 2
		var ways [3][]*comparison
		var results [3][]Result
		tails := func(of string, s Score) []Result {
			return []Result{exactly("kurtosis of "+objective, of, 3+stat.ExKurtosis(s.Objective, nil)),
				exactly("kurtosis of "+trueCost, of, 3+stat.ExKurtosis(s.PolicyCost, nil))}
		}
		for _, b := range rivals {
			other := rival
			if len(rivals) > 1 {
				other += fmt.Sprintf(` with $\omega = %g$`, b.Weight)
			}
			versus := func(of int, quantity string, x, y []float64) {
				if b.Weight == rivals[0].Weight {
					results[of] = append(results[of], mean(quantity, own, x))
				}
				c := paired(x, y)
				ways[of] = append(ways[of], c)
				results[of] = append(results[of], mean(quantity, other, y), c.result(quantity, own+" and "+other, "difference"))
			}
			versus(cost, policyCost, a.PolicyCost, b.PolicyCost)
			versus(cost, objective, a.Objective, b.Objective)
			versus(efficiency, "penalised gap", a.PenalisedGap, b.PenalisedGap)
			versus(efficiency, "true cost above the optimum", mapped(a.PolicyCost, above), mapped(b.PolicyCost, above))
			c, d := spread(a.Objective, b.Objective, 1), spread(a.PolicyCost, b.PolicyCost, 1)
			ways[variance] = append(ways[variance], c, d)
			results[variance] = slices.Concat(results[variance], []Result{c.result("standard deviation of "+objective,
				own+" and "+other, "ratio"), d.result("standard deviation of "+trueCost, own+" and "+other, "ratio")}, tails(other, b))
		}
		results[variance] = slices.Insert(results[variance], 2, tails(own, a)...) // after the ratios for the first ω
		family = slices.Concat(family, ways[cost], ways[efficiency], ways[variance])
		decide = append(decide, func() {
			const measure = `which $\xi^{\hat\theta}$ is meant, $\Psi\hat\theta$ or the measure of the policy`
			const priced = `whether an answer is charged for its infeasibility, which (2.22) does not do`
			for k, on := range []string{measure, priced, measure} {
				all := decisions(ways[k]) // the two interpretations, for each ω in turn
				var interpretation, weight bool
				for i, d := range all {
					interpretation = interpretation || d.Verdict != all[i^1].Verdict
					weight = weight || d.Verdict != all[i%2].Verdict
				}
				if !interpretation {
					on = `how large $\omega$ is`
				} else if weight {
					on += `, or how large $\omega$ is`
				}
				c := claim([]string{"6-cost", "6-efficiency", "6-variance"}[k], readings(on, all...), results[k], experiment,
					len(a.Objective))
				c.ID += "-" + id
				claims = append(claims, c)
			}
		})
	}
	add("literal", stated+", Algorithm 1 as printed", score(printed, printed.PrimalDual(), 4000), weights)
	add("corrected", stated+", Algorithm 1 corrected", score(c, c.PrimalDual(), 4000), weights)
	add("working", working6+`, $\eta_0 = 1$`, score(w, w.PrimalDual(), 100), each(w, 100, 1, 8))
	one := func(id, experiment string, p Pair) { add(id, experiment, p.PrimalDual, []Score{p.Penalty}) }
	freed := strings.Replace(stated, `$\eta = 0.001$`, `constant $\eta$`, 1) + ", Algorithm 1 corrected"
	one("corrected-tuned", freed+tuned(repaired, "penalised gap"), repaired.Tuned)
	one("working-tuned", working6+tuned(sound, "penalised gap"), sound.Tuned)
	one("working-by-cost", working6+tuned(sound, trueCost), sound.TunedByCost)
	holm(family...)
	for _, f := range decide {
		f()
	}
	t := must(MeasureStepCost())
	return append(claims, claim("6-step", readings("how one projects: by a general solver, as in the paper, or in closed form",
		atMost(t.PrimalDual, t.PenaltyByBarrier), atMost(t.PrimalDual, t.Penalty)), []Result{
		nanoseconds("Algorithm 1", t.PrimalDual), nanoseconds("the penalty method in closed form", t.Penalty),
		nanoseconds("the penalty method by a general solver", t.PenaltyByBarrier)}))
}

// textClaims decides the claims about the contents of the paper, the cost of a step and the projection.
func textClaims(context.Context) []Claim {
	// For dense and for lazy multipliers, took contains the times of a step in nanoseconds, and grows contains the
	// power of n with which the time grows.
	took, grows := map[mixpolicy.Multipliers][]float64{}, map[mixpolicy.Multipliers]float64{}
	var times []Result
	for k, states := range []string{"100 states", "10,000 states"} {
		buffer := []int{100, 10_000}[k]
		x := must(models.Queue{Buffer: buffer}.MDP())
		// Service keeps up with arrivals under the first policy, and nearly under the second, so no measure underflows.
		first := must(mixpolicy.StateIndependent(x, .25, .25, .25, .25))
		p := mixtureProblem(x, mixpolicy.Ball(2), first, must(mixpolicy.StateIndependent(x, .2501, .2501, .2499, .2499)))
		for _, kind := range []mixpolicy.Multipliers{mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers} {
			method := mixpolicy.PrimalDual{CostScale: float64(buffer * buffer), Multipliers: kind}
			run := must(method.Start(p, must(mixpolicy.NewOracle(p, 1, 0))))
			took[kind] = append(took[kind], leastTime(1000, func() { noError(run.Step()) }))
			grows[kind] = math.Log(took[kind][k]/took[kind][0]) / math.Log(100)
			how := map[mixpolicy.Multipliers]string{mixpolicy.DenseMultipliers: "a vector, ", mixpolicy.LazyMultipliers: "lazily, "}[kind]
			times = append(times, nanoseconds(how+states, took[kind][k]))
		}
	}

	entries := func(of func(Entry) bool) []string {
		return mapped(slices.DeleteFunc(Index(), func(e Entry) bool { return !of(e) }), func(e Entry) string { return e.Number })
	}
	// Section 6 and both figures are about the single queue.
	queue := len(entries(func(e Entry) bool { return strings.Contains(e.Number, "6.") || strings.Contains(e.Number, "Figure") }))
	network := len(entries(func(e Entry) bool { return strings.Contains(e.What, "network") }))
	numbers := entries(func(e Entry) bool { return strings.Contains(e.What, "smoothed ALP") })
	own := len(slices.DeleteFunc(slices.Clone(numbers), func(n string) bool { return strings.HasPrefix(n, "4.") }))
	smoothed := claim("0-smoothed", inText(own), []Result{exactly("entries about the smoothed ALP", "", float64(len(numbers))),
		exactly("entries about the smoothed ALP", "outside section 4, which is on prior work", float64(own))}, len(Index()))
	smoothed.Note = fmt.Sprintf(smoothed.Note, "("+strings.Join(numbers, "), (")+")")
	return []Claim{
		// The true power of n is 0 or 1; a measured power of at most 0.5 counts as 0.
		claim("2-size-of-state-space", readings(`how $\lambda$ is stored`, atMost(grows[mixpolicy.DenseMultipliers], 0.5),
			atMost(grows[mixpolicy.LazyMultipliers], 0.5)), times), projectionClaim(mixpolicy.Corrected), smoothed,
		claim("7-network", every(inText(queue), inText(network)), []Result{exactly("entries", "about the single queue", float64(queue)),
			exactly("entries", "about a network", float64(network))}, len(Index()))}
}

// projectionClaim evaluates J′ at the z of (3.22), in the given form, for 1000 random V and R.
func projectionClaim(form mixpolicy.Form) Claim {
	rng, worst := rand.New(rand.NewPCG(7, 0)), 0.0
	const most = 50
	for range 1000 {
		d := 2 + rng.IntN(most-1)
		phi, y := bregman.Ball{R: (1 + 10*rng.Float64()) / math.Sqrt(float64(d))}, normals(rng, d)
		z, err := phi.Shift(y)
		if form == mixpolicy.Printed {
			z, err = phi.PrintedShift(y)
		}
		if err != nil {
			z = math.NaN()
		}
		worst = max(worst, math.Abs(sumAt(phi, y, z)-1))
	}
	return claim("7-simple-projection", atMost(worst, rounding), []Result{exactly("largest $|J'(z)|$", "", worst)}, most)
}
