package adversary

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// distribution returns weights divided by their sum, or the uniform distribution if all weights are 0.
func distribution(weights ...float64) []float64 {
	p := slices.Clone(weights)
	if total := floats.Sum(p); total > 0 {
		floats.Scale(1/total, p)
	} else {
		floats.AddConst(1/float64(len(p)), p)
	}
	return p
}

func scaled(c float64, x []float64) []float64 { return floats.ScaleTo(make([]float64, len(x)), c, x) }

// process returns an MDP of three states and two actions. Every row of P leads to state 0 with probability at
// least leak, so all policies reach state 0.
func process(c mixpolicy.Criterion, initial, p []float64, leak float64) *mixpolicy.MDP {
	return mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 3, Actions: 2, Criterion: c, Initial: initial,
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			next := make([]mixpolicy.Transition, 3)
			for i, v := range distribution(p[9*a+3*s : 9*a+3*s+3]...) {
				next[i] = mixpolicy.Transition{To: i, P: (1 - leak) * v}
			}
			next[0].P += leak
			return 0, next
		}}))
}

// policyOf returns the policy that takes the first action with the given probabilities.
func policyOf(y *mixpolicy.MDP, first []float64) *mixpolicy.Policy {
	return mixpolicy.Must(mixpolicy.PolicyFunc(y, func(s int, row []float64) { row[0], row[1] = first[s], 1-first[s] }))
}

func measureOf(y *mixpolicy.MDP, p *mixpolicy.Policy) *mixpolicy.Measure {
	return mixpolicy.Must(y.Occupation(context.Background(), p))
}

// chains returns the laws of Lemma 3.3 at a given γ and ε and, under average cost, (4.15). An instance is a process
// and a combination u = Ψθ of the measures of two policies; u has the negative mass ε, or 0 if the policies are nearly
// equal. (4.15) is checked at θ̂ = θ, without its O(ε) term. Both u and ξ^θ have mass 1, so their costs differ by at
// most (max c − min c) times their total variation distance. By the corrected Lemma 3.3, this distance is at most
// ε(1 + 1/(1−δ)), where δ is the contraction coefficient of the policy of u. So if V₁ has the weight
// (max c − min c)(1 + 1/(1−δ)), f_ω of (4.14) is at least the cost of the policy, and the O(ε) term is the amount by
// which f_ω(θ̂) exceeds the minimum of f_ω. V₂ is 0, because u combines measures of policies.
func chains(x []float64, by mixpolicy.Criterion) (laws []Law) {
	ctx, name, eps := context.Background(), map[bool]string{true: "average cost", false: "discounted"}[by.Average()], x[1]
	y := process(by, distribution(x[26:29]...), x[2:20], x[29])
	u, minus, theta := measureOf(y, policyOf(y, x[20:23])).Pair, measureOf(y, policyOf(y, x[23:26])).Pair, math.Inf(1)
	for range u { // Newton's steps: the negative mass is convex in θ, and linear between zeros of entries
		var slope, offset float64
		for i, v := range u {
			if d := minus[i] - v; theta*d > v {
				slope, offset = slope+d, offset+v
			}
		}
		theta = (eps + offset) / slope
	}
	if !(theta < 1e3) { // the policies are nearly equal
		theta = 0
	}
	floats.AddScaledTo(u, scaled(1+theta, u), -theta, minus)
	p := mixpolicy.Must(mixpolicy.PolicyOf(y, u))
	eps = max(0, floats.Norm(u, 1)-floats.Sum(u)) / 2
	m := measureOf(y, p)
	left, one := theory.TotalVariation(u, m.Pair)-eps, mixpolicy.Must(theory.ContractionCoefficient(ctx, y, p, 1)).Coefficient
	add := func(statement, what string, right float64) {
		if right >= 1-rounding {
			right = math.Inf(1) // 1 bounds every distance
		}
		laws = append(laws, Law{statement, what + ", " + name, "", Side{left, right, 1 + theta}}) // the size of u
	}
	add("3.36", "total variation − ε ≤ Distance − ε", theory.Distance(mixpolicy.Corrected, by, 1/math.Abs(math.Log(one)), 0, eps)-eps)
	if by.Average() {
		time := mixpolicy.Must(theory.MixingTime(ctx, y, p, 0.25)).Time
		add("Lemma 3.3", "total variation − ε ≤ min{1, 2τ_mix(¼)ε/(1+ε)}", min(1, 2*float64(time)*eps/(1+eps)))
		c := x[30:36]
		laws = append(laws, Law{"4.15", "cᵀξ^θ ≤ cᵀΨθ + V₁/ε, 1/ε = (max c − min c)(1 + 1/(1−δ)), δ of P^π", "",
			Side{floats.Dot(c, m.Pair) - floats.Dot(c, u), (floats.Max(c) - floats.Min(c)) * (1 + 1/(1-one)) * eps, 1 + theta}})
	}
	return laws
}

// mixing returns the laws (2.23) and (2.24), for an average-cost process and a policy.
func mixing(x []float64) []Law {
	ctx, y, t, eps := context.Background(), process(mixpolicy.AverageCost, nil, x[:18], x[23]), int(x[21]), x[22]
	p := policyOf(y, x[18:21])
	curve := mixpolicy.Must(theory.MixingCurve(ctx, y, p, nil, t))
	one := mixpolicy.Must(theory.ContractionCoefficient(ctx, y, p, 1)).Coefficient
	after := mixpolicy.Must(theory.ContractionCoefficient(ctx, y, p, t)).Coefficient
	time, uniform := mixpolicy.Must(theory.MixingTime(ctx, y, p, eps)).Time, mixpolicy.Must(theory.UniformMixingTime(ctx, y, eps))
	return []Law{
		{"2.24", "δ(Pᵗ) ≤ 2d(t)", "", Side{after, 2 * curve[t], 1}},
		{"2.24", "d(t) ≤ δ(P)ᵗ", "", Side{curve[t], math.Pow(one, float64(t)), 1}},
		{"2.23", "τ_mix(ε) of a policy ≤ UniformMixingTime", "", Side{float64(time), float64(uniform), 0}},
	}
}

// ergodicity returns the law (2.25), for the masses of a policy's stationary distribution.
func ergodicity(x []float64) []Law {
	y := process(mixpolicy.AverageCost, nil, x[:18], x[23])
	m := measureOf(y, policyOf(y, x[18:21])).State
	worst := max(3*floats.Max(m), 1/(3*floats.Min(m)))
	root := math.Sqrt(mixpolicy.Must(theory.UniformErgodicity(context.Background(), y)).Upper)
	return []Law{{"2.25", "max{nμ(s), 1/(nμ(s))} ≤ √κ, κ of UniformErgodicity", "", Side{worst, root, 0}}}
}

// programs returns the laws (4.9), (4.2), (4.3) and (4.13), for a discounted process and a basis of two functions, one
// of them the Lyapunov function u. The values v* are exact, because the costs follow from v*: action 0 costs
// v* − γP_0v*, and action 1 costs v* − γP_1v* plus a gap. (4.2) is checked for the policy that always takes action 1.
// (4.9) is checked for any sample such that the constraints that ν̂ violates have a total probability of at most
// (1−γ)ε/4mζ under the sampling distribution η. After the n₀ draws of the corrected (4.6), the sample has this property
// with probability at least 1−δ. Γ is a cube. If β_u ≥ 1, or if rounding leaves the full program undecided, the four
// bounds say nothing. (4.13) also says nothing if rounding leaves the smoothed program undecided.
func programs(x []float64) []Law {
	ctx, gamma, eps, optimal, alpha, u := context.Background(), x[0], x[1], x[2:5], distribution(1, x[5], x[6]), x[32:35]
	y := process(mixpolicy.Discounted(gamma), alpha, x[7:25], 1-x[25])
	cost := make([]float64, 6)
	y.ActionValues(cost, optimal) // γPv*
	for i, next := range cost {
		cost[i] = optimal[i/2] + float64(i%2)*x[26+i/2] - next
	}
	y = mixpolicy.Must(y.WithCosts(cost))
	first, second := policyOf(y, []float64{1, 1, 1}), policyOf(y, []float64{0, 0, 0})
	mu, basis := measureOf(y, first).State, mat.NewDense(3, 2, []float64{u[0], x[29], u[1], x[30], u[2], x[31]})
	off := func(v []float64) float64 { return priorwork.WeightedError(alpha, optimal, v) }
	laws := []Law{
		{"4.9", "E|v*−Φν̂| − E|v*−Φν*| ≤ εEv*, η(violated) ≤ (1−γ)ε/4mζ", "ζ assumes the worst ν of Γ in all states at once", none},
		{"4.2", "E(v^π−v*) ≤ Σμ^π|v^π−v*|/(1−γ)", "", none},
		{"4.3", "E|v*−Φν*| ≤ 2αᵀu/(1−β)·min max|v*−Φν|/u", "", none},
		{"4.13", "E|v*−Φν*| ≤ (αᵀu + 2μᵀu(1+β)/(1−γ))·min max|v*−Φν|/u, penalty 2/(1−γ)", "another search found a ratio of 0.51", none},
	}
	l := &priorwork.Lyapunov{U: u, Beta: mixpolicy.Must(priorwork.LyapunovFactor(y, u))}
	full, err := priorwork.ALP{Basis: basis}.Solve(ctx, y)
	smoothed, bad := priorwork.SALP{Basis: basis, Slack: mu, Penalty: priorwork.PublishedPenalty(gamma)}.Solve(ctx, y)
	best, _, worse := priorwork.BestFit(ctx, basis, optimal, u)
	if l.Beta >= 1 || err != nil {
		return laws
	}
	part := priorwork.ALP{Basis: basis, Bound: x[36] * floats.Norm(full.Nu, math.Inf(1)),
		Pairs: slices.DeleteFunc([]int{0, 1, 2, 3, 4, 5}, func(i int) bool { return int(x[35])>>i&1 == 0 })}
	v, q, far, violated := mixpolicy.Must(part.Solve(ctx, y)).Value, make([]float64, 6), 0.0, 0.0
	for s := range v {
		far = max(far, (optimal[s]+part.Bound*floats.Norm(basis.RawRowView(s), 1))/u[s])
	}
	y.ActionValues(q, v)
	for i, p := range mixpolicy.Must(l.Sampling(y, mu)) {
		violated += map[bool]float64{true: p}[v[i/2]-q[i] > rounding*far]
	}
	own, size := mixpolicy.Must(mixpolicy.Evaluate(ctx, y, second, mixpolicy.ValuationSettings{})).Value, far*floats.Dot(alpha, u)
	seen := violated <= (1-gamma)*eps/(8*l.Zeta(alpha, mu, optimal, far))
	laws[0].Side = map[bool]Side{true: {off(v) - off(full.Value), eps * floats.Dot(alpha, optimal), size}, false: none}[seen]
	laws[1].Side = Side{off(own), priorwork.WeightedError(measureOf(y, second).State, own, optimal) / (1 - gamma), floats.Norm(own, 1)}
	laws[2].Side = Side{off(full.Value), l.ALPBound(alpha, mixpolicy.Must(best, worse)), size}
	if bad == nil {
		laws[3].Side = Side{off(smoothed.Value), l.SALPBound(alpha, mu, gamma, best), size}
	}
	return laws
}
