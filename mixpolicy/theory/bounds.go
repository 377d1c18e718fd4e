package theory

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy"
)

// StepSums holds the sums of η, η² and η⁴ over the step sizes η_0, …, η_{T−1}. The bounds depend on the step sizes only
// through these sums.
type StepSums struct {
	T       int
	Sum     float64 // Ση
	Squares float64 // Ση²
	Fourth  float64 // Ση⁴
}

// SumSteps returns the sums over the step sizes η_0, …, η_{T−1}, where T = iterations.
func SumSteps(eta mixpolicy.StepSize, iterations int) StepSums {
	s := StepSums{T: iterations}
	for t := range iterations {
		v := eta.At(t)
		s.Sum, s.Squares, s.Fourth = s.Sum+v, s.Squares+v*v, s.Fourth+v*v*v*v
	}
	return s
}

// InverseSqrtSums returns the bounds (5.31) on the sums for η_t = 1/√(t+1) and T = iterations. The corrected bounds
// hold for every T ≥ 1:
//
//	Ση ≥ 2(√(T+1) − 1),   Ση² ≤ 1 + ln T,   Ση⁴ ≤ 2 − 1/T .
//
// The printed bounds are Ση ≥ 2(√T − 1), Ση² ≤ 4 ln T (which is 0 at T = 1) and Ση⁴ ≤ 2. But the printed (3.31) and
// (3.32) divide by 2√T − 1, the upper bound on Ση in (5.31a). So, for the printed form, Sum is 2√T − 1.
func InverseSqrtSums(form mixpolicy.Form, iterations int) StepSums {
	t := float64(iterations)
	if form == mixpolicy.Printed {
		return StepSums{iterations, 2*math.Sqrt(t) - 1, 4 * math.Log(t), 2}
	}
	return StepSums{iterations, 2 * (t / (math.Sqrt(t+1) + 1)), 1 + math.Log(t), 2 - 1/t}
}

// Term is a summand of a [Bound].
type Term struct {
	Name  string
	Value float64
}

// Bound holds an upper bound, Value, and the terms that add up to Value.
type Bound struct {
	Value float64
	Terms []Term
}

// Largest returns the greatest term.
func (b Bound) Largest() Term {
	return slices.MaxFunc(b.Terms, func(x, y Term) int { return cmp.Compare(x.Value, y.Value) })
}

func boundOf(divisor float64, terms ...Term) (b Bound) {
	for _, t := range terms {
		t.Value /= divisor
		b.Value, b.Terms = b.Value+t.Value, append(b.Terms, t)
	}
	return b
}

const (
	termStart     = "D, from the start"
	termDual      = "σ_max, from the dual steps"
	termGradient  = "‖∇𝓛‖⁎, from the primal steps"
	termError     = "C_e², from the estimation errors"
	termDeviation = "C_e√ln, from their deviation"
	termSquares   = "C_e ln², from their squares"
	termBall      = "β, from the ball of λ"
	termCost      = "R c_max‖Ψ‖/β, from the possible gain by infeasibility"
	termPrintedB  = "B ln T"
)

// ObjectiveBound bounds the gap cᵀΨθ̂ − cᵀΨθ* after steps with the given sums, with probability at least 1 − δ. It is
// the corrected (3.31), for any step sizes:
//
//	( D + B Ση² + 2R C_e √(2 ln(1/δ) Ση²) ) / Ση .
//
// Proof. Let Δ_t = ⟨e_t, θ*−θ_t⟩ with e_t = ĝ_t − ∇_θ𝓛(θ_t,λ_t). Because θ_{t+1} is optimal in (3.13),
// every θ ∈ Θ₂ ∩ Θ_R satisfies
//
//	η⟨ĝ_t, θ_{t+1}−θ⟩ ≤ D(θ;θ_t) − D(θ;θ_{t+1}) − D(θ_{t+1};θ_t) ,
//
// and η⟨ĝ_t, θ_t−θ_{t+1}⟩ − D(θ_{t+1};θ_t) ≤ η²‖ĝ_t‖⁎²/2μ by strong convexity. The proof uses strong convexity only
// on Θ₂. The projection onto the ball and the orthant in (3.26) does not increase the distance to any λ ∈ Λ, so
// 2η⟨∇_λ𝓛, λ−λ_t⟩ ≤ ‖λ_t−λ‖² − ‖λ_{t+1}−λ‖² + η²‖Ψθ_t‖₂². Because λ_0 = 0 and 𝓛 is affine in each argument, the sum
// of these inequalities over t gives
//
//	Ση(𝓛(θ_t,λ) − 𝓛(θ,λ_t)) ≤ D(θ;θ₀) + ½‖λ‖² + Ση²(‖ĝ_t‖⁎²/2μ + ½‖Ψθ_t‖₂²) + Ση⟨e_t, θ−θ_t⟩ .  (∗)
//
// Divide by Ση, take θ = θ*, λ = 0, and drop λ̂ᵀΨθ* ≥ 0. Here ½‖ĝ‖⁎² ≤ ‖∇_θ𝓛‖⁎² + ‖e‖⁎² and ‖e‖⁎ ≤ C_e always, so the
// squares of the errors need no concentration inequality, and the c₁ and C(n) of the printed (3.31) drop out. The last
// sum is a martingale with |η_tΔ_t| ≤ 2R C_e η_t; by Hoeffding's lemma and Azuma's inequality, this sum is at most
// 2RC_e√(2 ln(1/δ) Ση²) with probability at least 1 − δ. So the universal constant c₀ of the printed (3.31) becomes
// explicit. ∎
func (k *Constants) ObjectiveBound(s StepSums, delta float64) Bound {
	deviation := 2 * k.R * k.Ce(mixpolicy.Corrected) * math.Sqrt(2*math.Log(1/delta)*s.Squares)
	return boundOf(1, append(k.ExpectedObjectiveBound(s).Terms, Term{termDeviation, deviation / s.Sum})...)
}

// ExpectedObjectiveBound bounds E cᵀΨθ̂ − cᵀΨθ*. It is the corrected (3.32), (D + B Ση²)/Ση, and follows from the
// expectation of (∗) in the proof of [Constants.ObjectiveBound], because E⟨e_t, θ*−θ_t⟩ = 0.
func (k *Constants) ExpectedObjectiveBound(s StepSums) Bound {
	dual, gradient, ce := k.SigmaMax*k.Reach, k.GradientBound(), k.Ce(mixpolicy.Corrected)
	return boundOf(s.Sum,
		Term{termStart, k.D},
		Term{termDual, dual * dual / 2 * s.Squares},
		Term{termGradient, gradient * gradient / k.Mu * s.Squares},
		Term{termError, ce * ce / k.Mu * s.Squares})
}

// ViolationBound bounds V(θ̂) = ½‖[Ψθ̂]₋‖₂ with probability at least 1 − δ. It is the corrected (3.33),
//
//	V ≤ R c_max√(nm)‖Ψ‖_{⁎,2}/G + ( E/Ση )/(2G) + G/(4Ση) ,   where E/Ση is the ObjectiveBound.
//
// Proof. In (∗) of [Constants.ObjectiveBound], take θ = θ* and, if V > 0, λ = G[Ψθ̂]₋/‖[Ψθ̂]₋‖₂ ∈ Λ. Divided by Ση, the
// left side is cᵀΨ(θ̂−θ*) + 2G V + λ̂ᵀΨθ*. The term ½‖λ‖² of the right side is ½G². Finally, λ̂ᵀΨθ* ≥ 0 and
// cᵀΨ(θ̂−θ*) ≥ −2R c_max√(nm)‖Ψ‖_{⁎,2}. ∎
//
// The first term of the bound goes to 0 only as G grows, but the B of ObjectiveBound contains G².
// [Constants.RefinedViolationBound] does not need a growing G.
func (k *Constants) ViolationBound(s StepSums, delta float64) Bound {
	return k.violation(k.ObjectiveBound(s, delta), k.G/(4*s.Sum))
}

// violation returns R c_max√(nm)‖Ψ‖_{⁎,2}/G + objective/(2G) + ball, term by term, or +∞ if G = +∞.
func (k *Constants) violation(objective Bound, ball float64) Bound {
	if math.IsInf(k.G, 1) {
		return unbounded()
	}
	terms := []Term{{termCost, k.R * k.Cost * math.Sqrt(float64(k.Pairs)) * k.PsiNorm / k.G}}
	for _, t := range objective.Terms {
		terms = append(terms, Term{t.Name, t.Value / (2 * k.G)})
	}
	return boundOf(1, append(terms, Term{termBall, ball})...)
}

func unbounded() Bound { return boundOf(1, Term{termBall, math.Inf(1)}) }

// RefinedObjectiveBound sharpens [Constants.ObjectiveBound]. The proof changes in three places: instead of ∇_θ𝓛 and e,
// it bounds only the part of ĝ along the hyperplane 1ᵀθ = 1; it replaces D by D(θ*;θ₀); and it uses the range of
// ⟨ĝ_t, θ*−θ_t⟩ in Hoeffding's lemma.
func (k *Constants) RefinedObjectiveBound(s StepSums, delta float64) Bound {
	g := k.Tangent * (k.Cost + k.G)
	dual := k.SigmaMax * k.Reach
	return boundOf(s.Sum,
		Term{termStart, k.DStar},
		Term{termDual, dual * dual / 2 * s.Squares},
		Term{termGradient, g * g / (2 * k.Mu) * s.Squares},
		Term{termDeviation, 2 * k.R * g * math.Sqrt(2*math.Log(1/delta)*s.Squares)})
}

// RefinedViolationBound bounds V(θ̂) by means of the optimal multipliers λ*, with probability at least 1 − δ,
//
//	V ≤ ( RefinedObjectiveBound + G²/(2Ση) ) / (2(G − ‖λ*‖₂)) ,   G > ‖λ*‖₂ ,
//
// because cᵀΨ(θ̂−θ*) ≥ −‖λ*‖₂‖[Ψθ̂]₋‖₂ for any θ̂ ∈ Θ₂ ∩ Θ_R. If η_t = 1/√(t+1), and if G = 2‖λ*‖₂ > 0 for every T,
// both the gap and the violation are O(ln T/√T). So β need not grow, and a growing β does not improve this rate. The
// bound is +∞ if G ≤ ‖λ*‖₂ or G = +∞.
func (k *Constants) RefinedViolationBound(s StepSums, delta float64) Bound {
	if !(k.G > k.LambdaStar) || math.IsInf(k.G, 1) {
		return unbounded()
	}
	e := k.RefinedObjectiveBound(s, delta)
	return boundOf(2*(k.G-k.LambdaStar), append(e.Terms, Term{termBall, k.G * k.G / (2 * s.Sum)})...)
}

// PrintedObjectiveBound is (3.31) for η_t = 1/√(t+1), as printed: with probability at least 1 − 4/T, the gap is at most
//
//	α_T = ( D + 4B ln T + 4√2 R C_e ln T/c₀ + C_e C(n) max{√(2/c₁) ln T, (4/c₁) ln² T} ) / (2√T − 1) .
//
// The paper does not state the values of the universal constants c₀ and c₁; we set both to 1. We use d
// instead of D, because (3.29) as printed is +∞ (see [Constants.Divergence]).
func (k *Constants) PrintedObjectiveBound(d float64, iterations int) Bound {
	s := InverseSqrtSums(mixpolicy.Printed, iterations)
	log, ce := math.Log(float64(iterations)), k.Ce(mixpolicy.Printed)
	return boundOf(s.Sum,
		Term{termStart, d},
		Term{termPrintedB, k.B(mixpolicy.Printed) * s.Squares},
		Term{termDeviation, 4 * math.Sqrt2 * k.R * ce * log},
		Term{termSquares, ce * k.Comparison * max(math.Sqrt2*log, 4*log*log)})
}

// PrintedExpectedObjectiveBound is (3.32) as printed, (D + B(1 + ln T))/(2√T − 1), but with d instead of D.
func (k *Constants) PrintedExpectedObjectiveBound(d float64, iterations int) Bound {
	s := InverseSqrtSums(mixpolicy.Printed, iterations)
	return boundOf(s.Sum,
		Term{termStart, d},
		Term{termPrintedB, k.B(mixpolicy.Printed) * (1 + math.Log(float64(iterations)))})
}

// PrintedViolationBound is (3.33) as printed, R c_max√(nm)‖Ψ‖/β + α_T/(2β) + β/(2(√T−1)), but with G instead of β.
// α_T is [Constants.PrintedObjectiveBound], again with d instead of D.
func (k *Constants) PrintedViolationBound(d float64, iterations int) Bound {
	return k.violation(k.PrintedObjectiveBound(d, iterations), k.G/(2*(math.Sqrt(float64(iterations))-1)))
}

// Distance returns the bound (3.36) on the total variation distance between Ψθ̂ and the occupation measure of the
// policy that (2.20) derives from Ψθ̂. The printed bound is
//
//	(2τ V ln(1/V) + 3V)/(1−γ),   V = ¼‖[Ψθ̂]₋‖₂ .
//
// The corrected bound uses the negative mass ε = ‖[Ψθ̂]₋‖₁ instead of V:
//
//	ε + min{ 1, ε·min{γ, 1/(1+ε)}/(1 − γe^{−1/τ}) } ,
//
// with γ = 1 for average cost. Here e^{−1/τ} is a factor by which one step of P^π contracts differences of
// distributions, as in (2.24). This factor must be at least the δ of [ContractionCoefficient] for one step; if δ = 1,
// then τ = +∞. The mixing time τ_mix does not give such a factor. For average cost, however, the bound also holds with
// 2τ_mix(¼) instead of 1/(1 − e^{−1/τ}). To prove this, take t = τ_mix(¼) steps of P^π together: the factor 1/(1−γδ) in
// the proof below, with γ = 1, becomes t/(1 − δ(Pᵗ)), and δ(Pᵗ) ≤ ½ (see [Contraction]).
//
// Proof. Let u = Ψθ̂ and δ = e^{−1/τ}. Then [u]₊ = w ⊗ π, where w is the state marginal of [u]₊, and π is the policy
// that (2.20) derives from u. The occupation measure of π is μ ⊗ π. Let x be the state marginal of [u]₋, and let
// y = Pᵀ[u]₋, the mass that one transition carries from [u]₋ into each state. Because u and μ ⊗ π satisfy (2.13b),
// w − x − γ(wP^π − y) = (1−γ)α and μ − γμP^π = (1−γ)α.
//
// The bound with γ follows from w − μ = (x − γy)(I−γP^π)⁻¹ = x + γ(xP^π − y)(I−γP^π)⁻¹. The entries of xP^π − y add up
// to 0, and the ℓ₁ norm of xP^π − y is at most 2ε, so u − μ⊗π = (x⊗π − [u]₋) + γ((xP^π − y)(I−γP^π)⁻¹)⊗π has an ℓ₁ norm
// of at most 2ε + 2γε/(1−γδ).
//
// For the bound with 1/(1+ε), note that h = [u]₊/(1+ε) is a distribution, and that ν = w/(1+ε) is its state marginal.
// The residual r = ν − γνP^π − (1−γ)α = (x − γy − ε(1−γ)α)/(1+ε) has ‖r‖₁ ≤ 2ε/(1+ε). Because ν − μ = γ(ν−μ)P^π + r,
// where the entries of ν−μ add up to 0, ‖ν−μ‖₁ ≤ ‖r‖₁/(1−γδ). The bound is the sum of ½‖u−h‖₁ = ε and a bound on
// ½‖ν−μ‖₁ = ½‖h − μ⊗π‖₁; this distance of two distributions is at most 1. ∎
//
// For every γ, ε and δ, an example with two states attains the bound, or approaches the bound where the bound is
// 1 + ε. From state 0, action a goes to state 1 with probability d, and action b goes to state 1 with probability 1.
// From state 1, both actions go to state 0 with probability p. Take u(0,b) = −ε and u(1,b) = 0; under discounted cost, also
// take α = (0, 1). If ε ≤ (1−γ)/γ, the inner minimum in the bound is γ: take d = 0 and p = 1 − δ (if δ = 1, also take
// α = (α₀, 1−α₀) with a small α₀ > 0, so that state 0 is visited). Otherwise, take u(1,a) = 0,
// d = (ε − (1−γ)/γ)/(1+ε) and p = 1 − d − δ. If this p is not positive, the bound is 1 + ε; take a small p > 0
// instead, and let p → 0. (If p = 0, no Ψθ equals u.)
//
// In the code, tau is τ, negativeMass is ε, and violation is ½‖[Ψθ̂]₋‖₂, twice the V of the printed bound. Distance
// panics unless all three are ≥ 0; +∞ is allowed.
func Distance(form mixpolicy.Form, c mixpolicy.Criterion, tau, violation, negativeMass float64) float64 {
	if !(tau >= 0 && violation >= 0 && negativeMass >= 0) {
		panic(fmt.Sprintf("theory: distance for τ = %v, ½‖[Ψθ]₋‖₂ = %v and ‖[Ψθ]₋‖₁ = %v, want numbers ≥ 0", tau, violation, negativeMass))
	}
	if form == mixpolicy.Printed {
		v := violation / 2 // violation is ½‖[Ψθ̂]₋‖₂
		if v == 0 {
			return 0
		}
		return (2*tau*v*math.Log(1/v) + 3*v) / (1 - c.Gamma())
	}
	eps := negativeMass
	if eps == 0 || math.IsInf(eps, 1) {
		return eps
	}
	left := (1 - c.Gamma()) - c.Gamma()*math.Expm1(-1/tau) // 1 − γe^{−1/τ}, without cancellation
	return eps + min(1, min(c.Gamma()*eps, 1/(1+1/eps))/left)
}

// PrintedSampleComplexity is (3.37), τ⁴ nm ‖Ψ‖⁴_{⁎,2}/((1−γ)⁴ε⁴), with 1 as the constant that Ω hides. This number does
// not depend on the probability ρ of failure, and is +∞ for γ = 1.
func (k *Constants) PrintedSampleComplexity(tau, epsilon float64) float64 {
	return math.Pow(tau*k.PsiNorm/((1-k.criterion.Gamma())*epsilon), 4) * float64(k.Pairs)
}

// PolicyBound bounds cᵀξ^θ̂ − cᵀΨθ*, the amount by which the cost of the policy of θ̂ exceeds the optimum of (2.18).
// The bound holds with probability at least 1 − δ:
//
//	RefinedObjectiveBound + (max c − min c)·Distance ,
//
// where [Distance] is the corrected bound for tau and the negative mass 2√(nm)·[Constants.RefinedViolationBound].
// RefinedObjectiveBound and RefinedViolationBound both hold outside one event of probability at most δ, because both
// follow from one bound on the same martingale.
func (k *Constants) PolicyBound(s StepSums, tau, delta float64) float64 {
	mass := 2 * math.Sqrt(float64(k.Pairs)) * k.RefinedViolationBound(s, delta).Value
	return k.RefinedObjectiveBound(s, delta).Value + k.Spread*Distance(mixpolicy.Corrected, k.criterion, tau, 0, mass)
}

// SampleComplexity is Theorem 3.4, corrected, for the discounted criterion. It returns a number T, which need not be an
// integer: after ⌈T⌉ iterations of Algorithm 1 with η_t = 1/√(t+1), cᵀξ^θ̂ ≤ cᵀΨθ* + ε holds with probability at least
// 1 − ρ. T is the least of the powers 1, 2^{1/8}, 2^{2/8}, … for which [Constants.PolicyBound] is at most ε. We take
// this bound at τ = +∞, because it then holds for every mixing time. If T would exceed the range of float64, the result
// is +∞. The bound needs a finite G > ‖λ*‖₂, and T depends on ρ through ln(1/ρ).
//
// Suppose that G = 2‖λ*‖₂ ≥ c_max and ‖λ*‖₂ ≥ 1. Let A' be [Constants].Tangent, and let L = 1 + ln T. Along the
// hyperplane 1ᵀθ = 1, ‖ĝ‖⁎ is at most A'(c_max + G) ≤ 4A'‖λ*‖₂. So both RefinedObjectiveBound and
// 2‖λ*‖₂·RefinedViolationBound are O(‖λ*‖₂²L/√T), and PolicyBound is at most ε for
//
//	T = O( L²(1 + ‖λ*‖₂² + √(nm)‖λ*‖₂(max c − min c)/(1−γ))²/ε² ) ,
//
// where O hides D(θ*;θ₀), R, max‖θ‖₂, A', μ, σ_max and ln(1/ρ). If every state is split into N equal states, ‖λ*‖₂
// grows like √N, and T grows like N². Runs also need on the order of N² steps: in a step, an entry of λ grows by at
// most η max|Ψθ|, and max|Ψθ| is of the order 1/N.
//
// The corrected theorem compares the policy of θ̂ with Ψθ*, the optimum of (2.18). The printed theorem compares this
// policy with ξ*, the optimum of (2.13) over all policies, although no Ψθ of the class need be near ξ*.
func (k *Constants) SampleComplexity(epsilon, rho float64) (float64, error) {
	switch {
	case k.criterion.Average():
		return 0, errors.New("theory: Theorem 3.4 is for a discounted criterion, but this problem has average cost")
	case !(k.G > k.LambdaStar) || math.IsInf(k.G, 1):
		return 0, fmt.Errorf("theory: the bound G on ‖λ‖₂ is %.4g, want a finite G > ‖λ*‖₂ = %.4g", k.G, k.LambdaStar)
	case !(epsilon > 0 && rho > 0 && rho < 1):
		return 0, fmt.Errorf("theory: ε = %v and ρ = %v, want ε > 0 and 0 < ρ < 1", epsilon, rho)
	}
	for e := 0.0; ; e++ {
		t := math.Exp2(e / 8)
		s := StepSums{Sum: 2 * (t / (math.Sqrt(t+1) + 1)), Squares: 1 + math.Log(t)}
		if math.IsInf(t, 1) || k.PolicyBound(s, math.Inf(1), rho) <= epsilon {
			return t, nil
		}
	}
}
