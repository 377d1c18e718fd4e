package adversary

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// distribution returns weights divided by their sum, or the uniform distribution for weights 0.
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

// process has three states and two actions. Rows of P have the probability leak at least for state 0, which all
// policies then reach.
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

// policyOf takes the first action with the given probabilities.
func policyOf(y *mixpolicy.MDP, first []float64) *mixpolicy.Policy {
	return mixpolicy.Must(mixpolicy.PolicyFunc(y, func(s int, row []float64) { row[0], row[1] = first[s], 1-first[s] }))
}

func measureOf(y *mixpolicy.MDP, p *mixpolicy.Policy) *mixpolicy.Measure {
	return mixpolicy.Must(y.Occupation(context.Background(), p))
}

// chains is the space of Lemma 3.3: a process, and a combination Ψθ of the measures of two policies.
func chains(x []float64) (laws []Law) {
	ctx, by, alpha, name := context.Background(), mixpolicy.AverageCost, []float64(nil), "average cost"
	if len(x) > 26 {
		name, by, alpha = "discounted", mixpolicy.Discounted(1-x[29]), distribution(x[26:29]...)
	}
	y := process(by, alpha, x[:18], x[25])
	u := scaled(1+x[24], measureOf(y, policyOf(y, x[18:21])).Pair)
	floats.AddScaled(u, -x[24], measureOf(y, policyOf(y, x[21:24])).Pair)
	p, mass := mixpolicy.Must(mixpolicy.PolicyOf(y, u)), 0.0
	for _, v := range u {
		mass += max(0, -v)
	}
	left := theory.TotalVariation(u, measureOf(y, p).Pair) - mass
	add := func(statement, what string, right float64) { // 1 bounds every distance
		side := Side{left, right, 1 + x[24]} // u has that size; the measures have 13 digits at least
		laws = append(laws, Law{statement, what + ", " + name, "", side})
		if right >= 1-rounding {
			side.Right = math.Inf(1)
		}
		laws = append(laws, Law{statement, what + ", " + name + ", where the right side is less than 1", "", side})
	}
	contraction := mixpolicy.Must(theory.ContractionCoefficient(ctx, y, p, 1)).Coefficient
	add("3.36", "total variation − ε ≤ Distance − ε", theory.Distance(mixpolicy.Corrected, by, -1/math.Log(contraction), 0, mass)-mass)
	if by.Average() {
		time := mixpolicy.Must(theory.MixingTime(ctx, y, p, 0.25)).Time
		add("Lemma 3.3", "total variation − ε ≤ min{1, 2τ_mix(¼)ε/(1+ε)}", min(1, 2*float64(time)*mass/(1+mass)))
	}
	return laws
}

// mixing is the space of what package theory says of mixing: an average-cost process, with a policy.
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

// ergodicity is the space of (2.25): the masses of a policy's stationary distribution.
func ergodicity(x []float64) []Law {
	y := process(mixpolicy.AverageCost, nil, x[:18], x[23])
	worst := 0.0
	for _, m := range measureOf(y, policyOf(y, x[18:21])).State {
		worst = max(worst, 3*m, 1/(3*m))
	}
	root := math.Sqrt(mixpolicy.Must(theory.UniformErgodicity(context.Background(), y)).Upper)
	return []Law{{"2.25", "max{nμ(s), 1/(nμ(s))} ≤ √κ, κ of UniformErgodicity", "", Side{worst, root, 0}}}
}
