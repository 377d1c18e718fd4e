package paper

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// Kind says how grave an [Erratum] is.
type Kind string

const (
	// Error means that the statement is false, or that the algorithm goes wrong, in the reading
	// most in the authors' favour too, see [Erratum.Reading].
	Error Kind = "error"
	// Gap means that the argument does not carry the statement, of which the rest may be true.
	Gap Kind = "gap"
	// Slip means a sign, an index or a constant that changes a formula, but no conclusion.
	Slip Kind = "slip"
	// Ambiguity means that there are two readings, of which one holds.
	Ambiguity Kind = "ambiguity"
	// Misprint means that no reader is misled.
	Misprint Kind = "misprint"
)

// Kinds returns all kinds, the gravest first.
func Kinds() []Kind { return []Kind{Error, Gap, Slip, Ambiguity, Misprint} }

// Erratum is a place where the paper says what is false, or what has no meaning. One confusion
// is one erratum, wherever it shows.
type Erratum struct {
	ID         string
	Kind       Kind
	Where      []string // equation and statement numbers, sections, or the abstract
	Printed    string
	Corrected  string
	Why        string
	Downstream string // what it changes in the paper and in this project
	Reading    string // of an Error: the reading most in the authors' favour, which fails too
	Choice     string // where the correction needs one: which, and why
	witness    check
}

// Witness computes how far the printed and the corrected form are from being true, see
// [Finding]: the printed form does not hold, and the corrected one does. Of an [Error] it also
// computes how far the Reading is.
func (e Erratum) Witness(ctx context.Context) (Finding, error) {
	f, err := e.witness.run(ctx)
	if err != nil {
		err = fault.At("paper", "erratum "+strconv.Quote(e.ID), err)
	}
	return f, err
}

// Errata returns all errata in the order of the paper.
func Errata() []Erratum { return errata }

// kindOf returns the kind of the erratum with the given ID, "" if there is none.
func kindOf(id string) Kind {
	if i := slices.IndexFunc(errata, func(e Erratum) bool { return e.ID == id }); i >= 0 {
		return errata[i].Kind
	}
	return ""
}

var errata = []Erratum{
	{
		ID: "argmin", Kind: Misprint, Where: []string{"§2, notation"},
		Printed: "P_𝒳(x) = min_{y∈𝒳} ‖x−y‖₂²", Corrected: "P_𝒳(x) = argmin_{y∈𝒳} ‖x−y‖₂",
		Why:        "The minimum is a distance; (5.15) and the penalty method use the point.",
		Downstream: "Nothing but notation.",
		witness:    witnessArgmin,
	},
	{
		ID: "subordinate-norm", Kind: Slip, Where: []string{"§2, notation"},
		Printed: "‖X‖_{⁎,p} = sup ‖Φx‖⁎/‖x‖_p", Corrected: "‖Ψ‖_{⁎,2} = sup ‖Ψᵀx‖⁎/‖x‖₂ over x ∈ ℝⁿᵐ",
		Why:        "Φ stands for X; and it is used for ‖cᵀΨ‖⁎ ≤ ‖c‖₂‖Ψ‖_{⁎,2}, which takes the norm of Ψᵀ from ℓ₂.",
		Downstream: "The constants of (3.34) and (3.37): for the cube ‖Ψ1‖₂, for ℓ₁ max‖ψʲ‖₂.",
		witness:    witnessSubordinate,
	},
	{
		ID: "strong-convexity-sign", Kind: Slip, Where: []string{"§2, notation"},
		Printed: "f(x) + ⟨g, y−x⟩ + (μ/2)‖x−y‖² ≥ f(y)", Corrected: "f(x) + ⟨g, y−x⟩ + (μ/2)‖x−y‖² ≤ f(y)",
		Why:        "The printed inequality bounds f from above: it defines smoothness.",
		Downstream: "Nothing: (5.10) uses the right one.",
		witness:    witnessStrongConvexity,
	},
	{
		ID: "orlicz-centring", Kind: Ambiguity, Where: []string{"2.3", "Definition 2.1"},
		Printed: "inf{β : E ψ(|X| − E|X|/β) ≤ 1}", Corrected: "inf{β : E ψ(|X|/β) ≤ 1}",
		Why:        "ψ is for arguments in ℝ₊, which the printed one need not be. With exp(x²) − 1 there may be no such β.",
		Downstream: "(A.4)–(A.8) use the corrected norm.",
		Choice:     "Not centred: ψ((|X| − E|X|)/β) would be 0 for constants, and (A.5) has no centring.",
		witness:    checkOrlicz,
	},
	{
		ID: "moment-norms", Kind: Ambiguity, Where: []string{"Definition 2.2", "Definition 2.3"},
		Printed: "‖Z‖_ψν has the alternative definition sup q^{−1/ν}(E|Z|^q)^{1/q}", Corrected: "it is equivalent to it, not equal: each is at most 4 times the other",
		Why:        "For N(0,1) they are √(8/3) and √(2/π).",
		Downstream: "Explicit constants depend on which is meant; this project takes (2.3).",
		witness:    momentIsOrlicz(2),
	},
	{
		ID: "pair-order", Kind: Ambiguity, Where: []string{"Definition 2.6", "§2.1"},
		Printed: "c = (c_1, …, c_m) and ξ by action, P and Q by state; P_a(s′,s) and P_a(s,s′)", Corrected: "one order: pair i = s·m + a, and P_a(s,s′) from s to s′",
		Why:        "A product of one kind with the other is no flow.",
		Downstream: "Every product with P or Q.",
		Choice:     "By state, as M^π and Q have it: a policy's row is then contiguous.",
		witness:    checkPairOrder,
	},
	{
		ID: "bellman-argument", Kind: Misprint, Where: []string{"§2.1, before (2.8)"},
		Printed: "(𝒮v)(s) = min_a {γ Σ P_a(s,s′)v*(s′) + c_a(s)}", Corrected: "(𝒮v)(s) = min_a {γ Σ P_a(s,s′)v(s′) + c_a(s)}",
		Why:        "With v* inside 𝒮 is constant. (2.8), which is about v*, is right either way, and section 4 has v.",
		Downstream: "Nothing.",
		witness:    witnessBellman,
	},
	{
		ID: "sign-of-costs", Kind: Slip, Where: []string{"2.9a", "3.33", "5.35", "5.36"},
		Printed: "v ∈ ℝ₊ⁿ, and ‖c‖₂ ≤ c_max√(nm), for costs in [c_min, c_max]", Corrected: "v ∈ ℝⁿ, and ‖c‖₂ ≤ max|c|·√(nm)",
		Why:        "c_min may be negative, and so may c_max: then so is v*, and the right sides of (5.35), (5.36) and (3.33) have the wrong sign.",
		Downstream: "Nothing where 0 ≤ c_min. Here and in the library c_max is the greatest size of a cost; with v free the dual has equalities, as (2.13) does.",
		witness:    everyPlace(checkPrimalOrthant, checkGapBelow, checkViolationBelow),
	},
	{
		ID: "cost-or-reward", Kind: Slip, Where: []string{"2.9b", "4.1a", "4.7", "4.10", "§2.1, after (2.8)"},
		Printed: "max αᵀv under (I − γP_a)v ⪰ c_a; min αᵀv and min αᵀΨν under 𝒮v ⪰ v; π* attains a maximum (and v ∈ ℝᵈ in the exact program)", Corrected: "max αᵀv under (I − γP_a)v ⪯ c_a, which is 𝒮v ⪰ v; π* attains a minimum (and v ∈ ℝⁿ)",
		Why:        "One half of each program is that of costs, the other that of rewards: v ± k1 is feasible for every k > 0, and the optimum infinite.",
		Downstream: "Nothing: the dual (2.13) and the bounds of section 4 belong to the corrected programs.",
		witness:    everyPlace(checkPrimalInequality, checkALPDirection, checkReducedDirection),
	},
	{
		ID: "stationary", Kind: Error, Where: []string{"§2.1, before (2.10)", "2.13b", "2.15b", "2.23", "Assumption A.1"},
		Printed: "the discounted measure is stationary: μP^π = μ, ξᵀ(P − Q) = 0; (P^π)ᵗ goes to it", Corrected: "μ = (1−γ)α + γμP^π, ξᵀ(Q − γP) = (1−γ)αᵀ; (P^π)ᵗ goes to the stationary distribution",
		Why:        "(2.10) and the dual of (2.9) have γ and α; the printed forms are those of average cost, the limit γ → 1.",
		Downstream: "(2.13) has another optimum than (2.9), and as printed (A.1) fails for small ε. (2.18) stands: 1ᵀθ = 1 implies the corrected constraint too. The discounted form of Lemma 3.3 needs no mixing time.",
		Reading:    "(2.13) as the problem of average cost, with the same optimal policies.",
		witness:    witnessStationary,
	},
	{
		ID: "value-factor", Kind: Ambiguity, Where: []string{"§2.1, after (2.14)"},
		Printed: "the optimum of (2.13) corresponds to the discounted cost under π*", Corrected: "it is (1−γ) times it",
		Why:        "Not equal to it: ξ has mass 1, and Σγᵗ is 1/(1−γ).",
		Downstream: "Costs here are per step: cᵀξ for either criterion.",
		witness:    witnessValueFactor,
	},
	{
		ID: "mixture-of-measures", Kind: Error, Where: []string{"2.17", "abstract"},
		Printed: "Ξᵈ = {ξ^θ : π^ω = Σωᵢπⁱ, Σωᵢ = 1}, dual to the mixtures Πᵈ, of which the best is looked for", Corrected: "Ξᵈ = {Ψθ : 1ᵀθ = 1}, of which the best is looked for",
		Why:        "The measure of a mixture of policies is not the mixture of their measures; Ψθ belongs to a policy that mixes state by state.",
		Downstream: "What is learnt is θ, not ω. π^θ of (2.20) is not in the convex hull (2.16) in general, and its best policy may be cheaper, or dearer.",
		Reading:    "Ξᵈ as the words say, the combinations Ψθ, of which the best is as good as the best mixture of policies.",
		witness:    witnessMixtures,
	},
	{
		ID: "hyperplane", Kind: Misprint, Where: []string{"§2.2, after (2.19)"},
		Printed: "the only projection is onto the hyperplane section Θ₁", Corrected: "onto Θ₂ = {1ᵀθ = 1}",
		Why:        "Θ₁ is {Ψθ ⪰ 0}, which is no hyperplane, and which the method leaves to λ.",
		Downstream: "Nothing but notation.",
		witness:    witnessHyperplane,
	},
	{
		ID: "two-measures", Kind: Ambiguity, Where: []string{"§2.2, before (2.15) and after (2.20)"},
		Printed: "ξ^θ = Ψθ, and ξ^θ is the measure of the policy π^θ", Corrected: "two names: Ψθ, and ξ^{π^θ}",
		Why:        "They are one vector only where Ψθ ⪰ 0, and the answers of the algorithm need not be there.",
		Downstream: "(2.22), (3.38), (4.15), and Fig. 2, whose cost cᵀξ^θ̂ can be either: of an infeasible θ̂ they differ.",
		Choice:     "Ψθ on the right of (2.22) and (4.15), the measure of the policy on the left and in (3.38), as the proofs have it; Fig. 2 is shown both ways.",
		witness:    witnessTwoMeasures,
	},
	{
		ID: "policy-fallback", Kind: Slip, Where: []string{"2.14", "2.20", "3.28"},
		Printed: "uniform if (Ψθ)_a(s) ≤ 0 for all pairs (a, s)", Corrected: "uniform in each state s where (Ψθ)_a(s) ≤ 0 for all a",
		Why:        "1ᵀΨθ = 1 excludes the printed case, and (2.20) is 0/0 in such a state. So is (2.14) in a state that π* never visits, which (A.2) excludes.",
		Downstream: "The output of the algorithm, whenever Ψθ̂ is negative throughout a state.",
		witness:    checkPolicyFallback,
	},
	{
		ID: "one-step-contraction", Kind: Error, Where: []string{"2.24"},
		Printed: "‖νP − ν̂P‖_TV ≤ e^{−1/τ}‖ν − ν̂‖_TV follows from (2.23), for ν, ν̂ over pairs", Corrected: "‖νP^τ − ν̂P^τ‖_TV ≤ 2ε‖ν − ν̂‖_TV for τ = τ_mix(ε), for ν, ν̂ over states",
		Why:        "Two states with no next state in common are as far apart after one step as before. (P^π is n × n.)",
		Downstream: "Lemma 3.3 for average cost needs a one-step factor, which is an assumption of its own in its source.",
		Reading:    "“There exists a constant”: any finite τ in place of τ_mix(ε).",
		witness:    witnessContraction,
	},
	{
		ID: "unichain", Kind: Gap, Where: []string{"§2.4, after (2.25)"},
		Printed: "(2.25) implies that there is a single recurrent class", Corrected: "(A.2) asks for ergodicity beside (2.25), and that implies it",
		Why:        "For P = I every state is a class, and with α uniform μ_α is uniform: κ = 1.",
		Downstream: "Nothing, as (A.2) has both.",
		witness:    witnessUnichain,
	},
	{
		ID: "model-free", Kind: Ambiguity, Where: []string{"§2.4, (A.3)", "§7"},
		Printed: "(A.3): model-free, P only by samples; §7: P is known, c is not", Corrected: "Ψ is known, which contains P of the base policies; what is not known is c",
		Why:        "(3.4) and (3.5a) use the entries of Ψ, an input, which is made from P.",
		Downstream: "The sample complexity counts queries for costs, none for transitions.",
		witness:    witnessModelFree,
	},
	{
		ID: "multiplier-norm", Kind: Error, Where: []string{"Lemma 3.2", "3.3"},
		Printed: "‖λ*‖₁ = 1/(1−γ) for the multipliers of (3.2), and Σ_aλ_a(s) = p(s); so with ‖λ‖₂ ≤ 1/(1−γ) ∨ β the problem is equivalent", Corrected: "‖ξ*/(1−γ)‖₁ = 1/(1−γ) for those of (2.9b), and Σ_a ξ*_a/(1−γ) = α + γ·inflow; it is equivalent if G_β > ‖λ*‖₂",
		Why:        "λ* belongs to Ψθ ⪰ 0, not to the full LP. min max over the ball is min cᵀΨθ + G‖[Ψθ]₋‖₂, an exact penalty only for G > ‖λ*‖₂; at G = ‖λ*‖₂ infeasible θ may reach the value too.",
		Downstream: "β is a parameter to be tuned after all. (p is not defined; in (4.1) it is the weights of the objective. The text gives the lemma to Chen and Wang, its reference to others.)",
		Reading:    "An upper bound, ‖λ*‖₂ ≤ 1/(1−γ), as the title of the lemma says, and the value only.",
		witness:    witnessMultipliers,
	},
	{
		ID: "lambda-step", Kind: Error, Where: []string{"3.4", "3.26", "Algorithm 1", "§5.1, after (5.15)"},
		Printed: "∇_λ𝓛 = Ψθ, and λ ← G(λ+ηΨθ)/(G ∨ ‖λ+ηΨθ‖₂)", Corrected: "∇_λ𝓛 = −Ψθ, and x = [λ−ηΨθ]₊, λ ← Gx/(G ∨ ‖x‖₂)",
		Why:        "𝓛 = cᵀΨθ − λᵀΨθ, and Λ is the ball within the orthant: as printed λ grows where Ψθ is positive, and the map projects onto the whole ball. (5.15) holds for either.",
		Downstream: "λ ⪰ 0, which λ̂ᵀΨθ* ≥ 0 after (5.26) needs.",
		Reading:    "The sign of (3.4) is a misprint, and (3.26) is as printed: λ in the whole ball, which solves min cᵀΨθ + G‖Ψθ‖₂.",
		witness:    witnessLambda,
	},
	{
		ID: "index-set", Kind: Misprint, Where: []string{"§3.1"},
		Printed: "i ~ Uniform{0, 1, …, d}", Corrected: "i ~ Uniform{1, …, d}",
		Why:        "There is no policy 0, and (3.5a) divides by (1/d)Σψⁱ.",
		Downstream: "Nothing: Algorithm 1 has it right.",
		witness:    checkIndexSet,
	},
	{
		ID: "modulus-domain", Kind: Misprint, Where: []string{"§3.1, before (3.7)"},
		Printed: "dom(φ) = Θ_R ∪ {+∞}", Corrected: "dom(φ) = Θ_R, and φ = +∞ outside of it",
		Why:        "+∞ is a value of φ, and no point of ℝᵈ.",
		Downstream: "Nothing but notation.",
		witness:    witnessModulusDomain,
	},
	{
		ID: "hats", Kind: Misprint, Where: []string{"3.13", "3.26"},
		Printed: "∇_θ𝓛 in (3.13); Ĝ_β beside G_β, and ∇_λ𝓛̂, in (3.26)", Corrected: "∇_θ𝓛̂, as in (3.14a); G_β and ∇_λ𝓛",
		Why:        "The step uses the sample (3.5a); of G and ∇_λ𝓛 there is no estimate.",
		Downstream: "Nothing but notation.",
		witness:    witnessHats,
	},
	{
		ID: "closed-form-z", Kind: Slip, Where: []string{"3.22"},
		Printed: "R²(1ᵀV − ‖V‖² − 1) under the root", Corrected: "R²(1ᵀV)² − ‖V‖² − 1",
		Why:        "J′ = 0 squared is ((Rd)²−d)z² + 2(R²d−1)(1ᵀV)z + R²(1ᵀV)² − ‖V‖² − 1 = 0.",
		Downstream: "That z has a closed form stands; with the printed one the iterates leave the hyperplane, so section 6 cannot have used it as it is.",
		witness:    checkClosedForm,
	},
	{
		ID: "unit-ball", Kind: Slip, Where: []string{"§3.1, after (3.22)"},
		Printed: "for R = 1/√d: J > 0 and J(z) → 0", Corrected: "J > 1ᵀV/d and J(z) → 1ᵀV/d",
		Why:        "R√(1+‖V+z1‖²) − z = 1ᵀV/d + O(1/z) for R√d = 1.",
		Downstream: "Nothing: that no minimum exists stands.",
		witness:    checkUnitBall,
	},
	{
		ID: "loop-index", Kind: Misprint, Where: []string{"§3.1, Algorithm 1"},
		Printed: "θ_0 is given, and the loop is over t = 1, …, T", Corrected: "t = 0, …, T−1, as in (3.27) and the proof",
		Why:        "The first pass of the printed loop takes θ_1, which nothing has set.",
		Downstream: "Nothing: (3.27) and the proof start from θ_0.",
		witness:    witnessLoop,
	},
	{
		ID: "infinite-diameter", Kind: Slip, Where: []string{"3.29"},
		Printed: "D = max over θ₁, θ₂ ∈ Θ_R of D(θ₁;θ₂)", Corrected: "D = max over θ ∈ Θ_R ∩ Θ₂ of D(θ;θ₀)",
		Why:        "A Legendre function on Θ_R has D(θ₁;θ₂) → ∞ as θ₂ comes to the boundary; the proof needs θ₂ = θ₀ only.",
		Downstream: "As printed (3.31)–(3.33) are true and bound nothing. From the centre of the ball D = √(R² − 1/d).",
		witness:    checkDiameter,
	},
	{
		ID: "divisor", Kind: Slip, Where: []string{"3.31", "3.32"},
		Printed: "divided by 2√T − 1", Corrected: "divided by 2(√(T+1) − 1)",
		Why:        "It is Ση in a denominator, which is to be bounded from below; 2√T − 1 bounds it from above (5.31a).",
		Downstream: "A few per cent for T ≥ 100.",
		Choice:     "2(√T − 1), which (5.31a) has, would do as well; 2(√(T+1) − 1) is larger, and not 0 at T = 1.",
		witness:    checkDivisor,
	},
	{
		ID: "no-probability", Kind: Ambiguity, Where: []string{"3.33", "Proposition 3.1"},
		Printed: "V ≤ … + α_T/(2β) + …, with no probability", Corrected: "the same with the probability of (3.31)",
		Why:        "α_T bounds what is likely. Samples of one pair again and again, of positive probability for every T, break it.",
		Downstream: "Theorem 3.4, which has a probability.",
		witness:    witnessNoProbability,
	},
	{
		ID: "step-size", Kind: Ambiguity, Where: []string{"Proposition 3.1"},
		Printed: "T rounds of Algorithm 1, with any non-increasing η_t", Corrected: "with η_t = 1/√(t+1), as the proof has it",
		Why:        "Steps that are small enough leave θ at θ₀, whatever T is, while (3.31) goes to 0.",
		Downstream: "Section 6 takes η = 1/T, for which nothing is proved.",
		witness:    witnessStepSize,
	},
	{
		ID: "unsquared-norms", Kind: Slip, Where: []string{"3.31", "3.32", "3.33", "3.34a", "Proposition 3.1"},
		Printed: "B = 2Rσ_max + (√(nm)+G)‖Ψ‖ + C_e²", Corrected: "B = ½(σ_max max‖θ‖₂)² + (((c_max√(nm)+G)‖Ψ‖)² + C_e²)/μ",
		Why:        "(5.24) adds squares of the gradients' norms; ½ is that of (5.16) corrected; 1/μ is strong convexity.",
		Downstream: "(3.31)–(3.33), (3.35): constants, not rates.",
		witness:    checkB,
	},
	{
		ID: "missing-cmax", Kind: Slip, Where: []string{"3.31", "3.32", "3.33", "3.34b", "Proposition 3.1", "5.19a", "5.21", "5.23", "5.24", "5.26", "5.28", "5.34"},
		Printed: "C_e = (1+G)A + (√(nm)+G)‖Ψ‖", Corrected: "C_e = (c_max+G)A + (c_max√(nm)+G)‖Ψ‖, as in (A.3)",
		Why:        "It bounds the error of a gradient that is proportional to the costs. The text before (5.20a) says that C_e is that of (3.34b).",
		Downstream: "All bounds that have C_e in them. The same for costs in [−1, 1]; in section 6 c_max is 10⁴.",
		witness:    checkCe,
	},
	{
		ID: "rate-of-beta", Kind: Gap, Where: []string{"3.35"},
		Printed: "β = O(T^¼) gives O(ln T/T^¼)", Corrected: "by (3.31) β = O(T^⅛) does; β = O(T^¼) gives O(ln T); a constant β > ‖λ*‖₂ gives O(ln T/√T) for gap and violation",
		Why:        "B contains C_e² ~ G² = β², so the bound is β² ln T/√T. That the bound does not vanish refutes the proof, not the rate.",
		Downstream: "Theorem 3.4: T ~ ε⁻⁴ comes from β ~ T^¼. (The sentence before (3.35), on the violation, has lost its formula.)",
		Choice:     "T^⅛ keeps the claimed rate of the gap, with a violation T^{−⅛}; T^⅙ would balance (3.31) and (3.33); a constant is best, but needs to know ‖λ*‖₂.",
		witness:    checkRate,
	},
	{
		ID: "violation-norm", Kind: Error, Where: []string{"3.36", "Lemma 3.3"},
		Printed: "V = ¼‖[Ψθ̂]₋‖₂ (Proposition 3.1 has ½)", Corrected: "the mass ε = ‖[Ψθ̂]₋‖₁: ε + min{1, ε/((1+ε)(1−γe^{−1/τ}))}, γ = 1 for average cost, with e^{−1/τ} a contraction of P^π in one step (τ = ∞ if none is known)",
		Why:        "Mass shared by N pairs has an ℓ₂ norm √N times smaller than what it does to the measure. And for V > 1 the right side may be negative.",
		Downstream: "Theorem 3.4 gains a factor √(nm); the discounted bound has no mixing time.",
		Reading:    "V = ‖[Ψθ̂]₋‖₂, four times the printed one.",
		Choice:     "The sharp bound. With V = ‖[Ψθ̂]₋‖₁ < 1 and γ < 1 the printed one is true too: it is at least 3V/(1−γ).",
		witness:    witnessViolationNorm,
	},
	{
		ID: "rho-in-theorem", Kind: Gap, Where: []string{"3.37", "Theorem 3.4"},
		Printed: "T = Ω(τ⁴nm‖Ψ‖⁴/((1−γ)⁴ε⁴)) with probability 1−ρ", Corrected: "the T of theory.Constants.SampleComplexity, for G_β > ‖λ*‖₂, which grows with ln(1/ρ)",
		Why:        "A T free of ρ would do surely, and no finite number of samples does. (3.33) and (3.36) give (nm)² for nm, and R, c_max and a logarithm.",
		Downstream: "The comparison of sample complexities.",
		Choice:     "If Ω hides what depends on ρ, R and c_max, the rate ε⁻⁴ is left; the corrected T goes nearly like ε⁻².",
		witness:    witnessSampleSize,
	},
	{
		ID: "best-of-class", Kind: Gap, Where: []string{"3.38", "Theorem 3.4"},
		Printed: "cᵀξ^θ̂ ≤ cᵀξ* + ε, where ξ* is the optimum of (2.13)", Corrected: "cᵀξ^θ̂ ≤ cᵀΨθ* + ε, for G_β > ‖λ*‖₂",
		Why:        "ξ* is defined once, after (2.13): the best of all policies, which need not be near the class. The proof is about θ*, and needs G_β > ‖λ*‖₂.",
		Downstream: "What the method promises: the best of the class, as the abstract says and Definition 2.8 has it.",
		Choice:     "Ψθ* for ξ*, as Definition 2.8 has it. Then β > 1/(1−γ) is not enough, as λ may be kept below ‖λ*‖₂; with β = T^¼, as before (3.35), no counterexample is known, and no proof, see rate-of-beta.",
		witness:    witnessBestOfClass,
	},
	{
		ID: "alp-feasible", Kind: Misprint, Where: []string{"§4, after (4.1)"},
		Printed: "for any v with 𝒮v ⪰ c", Corrected: "for any v with 𝒮v ⪰ v",
		Why:        "c has nm entries; and with 𝒮v ⪰ c, v is no lower bound of v*. (4.1) has the right one.",
		Downstream: "Nothing. (4.2) has v^π on the right where the cited theorem has v, and holds all the same.",
		witness:    checkALPFeasible,
	},
	{
		ID: "lyapunov-indices", Kind: Slip, Where: []string{"4.3", "4.5", "4.13", "§4, before (4.1)"},
		Printed: "𝒮v and β_u with Σ_s for Σ_{s′}, as in γ max Σ_s P_a(s,s′)u(s)/u(s); |v*(s) − (Ψν)(s)|/u(s) with s free; u ⪯ 1 in (4.13)", Corrected: "β_u = γ max Σ_{s′} P_a(s,s′)u(s′)/u(s); max over s; u ⪰ 1",
		Why:        "P_a(s,·) is a distribution in s′; the theorems have the norm ‖·‖_{∞,1/u}.",
		Downstream: "The comparison of (4.13) with (4.3).",
		witness:    everyPlace(checkLyapunovBound, checkSamplingConstant, checkSmoothedBound),
	},
	{
		ID: "constraint-count", Kind: Slip, Where: []string{"4.6"},
		Printed: "k(d log(48…)) + log(2/δ)", Corrected: "k(d log(48…) + log(2/δ)), k = 16mζ/((1−γ)ε)",
		Why:        "To see a constraint of measure 1/k with probability 1−δ takes k ln(1/δ) samples.",
		Downstream: "Constraint sampling for small δ.",
		witness:    checkConstraintCount,
	},
	{
		ID: "same-vector", Kind: Misprint, Where: []string{"4.9"},
		Printed: "E|v* − Ψν̂*| ≤ E|v* − Ψν̂*| + εE v*", Corrected: "E|v* − Ψν̂*| ≤ E|v* − Ψν*| + εE v*",
		Why:        "A hat too many: as printed both sides have the sampled problem's solution, and it says only that E v* ≥ 0.",
		Downstream: "Nothing: the text says what is meant.",
		witness:    checkSampledError,
	},
	{
		ID: "penalty-price", Kind: Slip, Where: []string{"4.15"},
		Printed: "min (cᵀξ^θ + V₁(θ) + V₂(θ) + O(ε))", Corrected: "min (cᵀξ^θ + (V₁(θ) + V₂(θ))/ε) + O(ε)",
		Why:        "At price 1 an infeasible θ makes the right side less than any policy costs; (2.22), of the same source, has 1/ε.",
		Downstream: "The comparison after (4.16).",
		witness:    checkPenaltyBound,
	},
	{
		ID: "law-of-cosines", Kind: Slip, Where: []string{"Lemma 5.1", "5.3", "5.5", "5.7", "5.12", "5.13", "5.14", "5.16", "5.17a", "5.17b", "5.18", "§5.1, after (5.15)", "§A.1"},
		Printed: "⟨∇φ(θ_t)−∇φ(θ̃_t), θ−θ_t⟩ = D(θ;θ_t) − D(θ;θ̃_t) + D(θ_t;θ̃_t); in λ −η⟨∇, λ_t−λ⟩", Corrected: "= D(θ;θ̃_t) − D(θ;θ_t) − D(θ_t;θ̃_t); in λ +2η⟨∇, λ_t−λ⟩",
		Why:        "The last line of §A.1 has a sign error; all that follows bounds ⟨ĝ, θ−θ_t⟩ where ⟨ĝ, θ_t−θ⟩ is meant, and the products in λ and (5.17) are turned with it. A 2 is lost after (5.15).",
		Downstream: "The proof up to (5.18); with the signs turned, and 1/μ, it goes through. From (5.21) on the sign of the errors is immaterial, as (5.19) bounds them on both sides. The factor before ‖∇_λ𝓛‖² in (5.16) is ½.",
		witness:    everyPlace(checkAlongRuns("5.3"), checkAlongRuns("5.16"), checkAlongRuns("5.17a"), checkAlongRuns("5.17b"), witnessDualFactor),
	},
	{
		ID: "strong-convexity", Kind: Slip, Where: []string{"5.10", "5.11", "5.14", "5.32"},
		Printed: "D(θ_t;θ̃_t) ≥ ½‖θ_t−θ̃_t‖², φ being 1-strongly convex on Θ₂", Corrected: "D(θ_t;θ̃_t), and D(θ̃_t;θ_t), are at least (μ/2)‖θ_t−θ̃_t‖², μ = 1/R for (3.7), 2/R for (3.10), on Θ_R",
		Why:        "∇²φ = 2R/(R²−θ²) at least for (3.10), I/R for (3.7). (5.11) needs the bound of D(θ̃;θ_t), and θ̃_t is not in Θ₂.",
		Downstream: "1/μ = R before ‖ĝ‖² in (5.11)–(5.32) and in B, as if φ were divided by μ.",
		witness:    checkAlongRuns("5.10"),
	},
	{
		ID: "filtration", Kind: Misprint, Where: []string{"§5.1, before (5.13)"},
		Printed: "F_t is generated by (θ_k, λ_k), k ≤ t−1", Corrected: "by those with k ≤ t",
		Why:        "(A.1) takes θ_t out of the expectation given F_t, and §A.2 says that F_t determines it; θ_{t−1} and λ_{t−1} do not.",
		Downstream: "Nothing: §A.2 has all the randomness up to t.",
		witness:    witnessFiltration,
	},
	{
		ID: "conditioning", Kind: Misprint, Where: []string{"§5.1, Lemma 5.2"},
		Printed: "P[|Σ_{t<T} η_t⟨e_t, θ_t−θ⟩| ≥ δ | F_t]", Corrected: "P[|Σ_{t<T} η_t⟨e_t, θ_t−θ⟩| ≥ δ]",
		Why:        "t is the index of the sum; and given the past a sum is nearly known, however improbable it was.",
		Downstream: "(5.19), (5.20), and the expectations given F_t in (5.32). The proof uses them without.",
		witness:    witnessConditioning,
	},
	{
		ID: "orlicz-of-errors", Kind: Slip, Where: []string{"Lemma 5.2", "§A.2"},
		Printed: "‖⟨e_t, θ_t−θ⟩‖_ψ₂ ≤ 8R²C_e²; ‖‖e_t‖²‖_ψ₁ ≤ √(log 2/2) C(n)²C_e²", Corrected: "2√2 RC_e; C_e²/ln 2",
		Why:        "The norm is the root of what divides X² in (A.4). (With K² = 2C²C_e² Lemma A.3 would give √(ln 2).) A constant C_e has E exp(C_e²/β) = 2 at β = C_e²/ln 2.",
		Downstream: "(5.19) is right all the same; (5.20) is not.",
		witness:    checkErrorNorms,
	},
	{
		ID: "square-scale", Kind: Slip, Where: []string{"5.20a"},
		Printed: "min{δ²/(C_e²C(n)²Ση⁴), δ/(C_eC(n)Ση²)}", Corrected: "2δ²/(C_e⁴Ση⁴), by Azuma's inequality",
		Why:        "δ is a sum of squares of errors: C_e is to be squared. And the errors are not independent, as Bernstein's inequality (A.9) has it.",
		Downstream: "The last term of (3.31), which is not needed.",
		witness:    checkSquareTail,
	},
	{
		ID: "dual-norm", Kind: Slip, Where: []string{"5.20a", "§A.2"},
		Printed: "‖e_t‖₂², and C(n) with ‖v‖ ≤ C(n)‖v‖₂ on ℝⁿ", Corrected: "‖e_t‖⁎² ≤ C(d)²‖e_t‖₂², with the constant of the dual norm on ℝᵈ",
		Why:        "(5.18) has ‖e_t‖⁎, which can be larger than ‖e_t‖₂; and e_t has d entries, not n.",
		Downstream: "Bounded errors do without: ‖e_t‖⁎ ≤ C_e. No constant of (3.31) grows with n for this reason.",
		witness:    witnessDualNorm,
	},
	{
		ID: "maximiser", Kind: Slip, Where: []string{"5.25"},
		Printed: "λ = −G·½S[Ψθ̂]₋/(G ∨ ‖½S[Ψθ̂]₋‖) maximises the bracket, S = Ση", Corrected: "λ with S for ½S",
		Why:        "−λᵀΨθ̂ − ‖λ‖²/2S has its gradient zero at λ = −S[Ψθ̂]₋.",
		Downstream: "Nothing: (5.26) holds for the printed λ, also with ‖λ‖²/S where ‖λ‖²/2S is meant, and is the weaker for it.",
		witness:    checkAlongRuns("5.25"),
	},
	{
		ID: "reach", Kind: Slip, Where: []string{"5.29"},
		Printed: "‖θ_t‖₂ ≤ 2R for any norm of the class", Corrected: "‖θ_t‖₂ ≤ max{‖θ‖₂ : ‖θ‖ ≤ R}: R for ℓ₂ and ℓ₁, R√d for the cube",
		Why:        "For d > 4 the corner of the cube is further than 2R.",
		Downstream: "B for the modulus (3.10).",
		witness:    checkReach,
	},
	{
		ID: "gradient-sign", Kind: Slip, Where: []string{"5.30", "A.3"},
		Printed: "‖∇_θ𝓛‖⁎ = ‖cᵀΨ + λᵀΨ‖⁎", Corrected: "‖∇_θ𝓛‖⁎ = ‖cᵀΨ − λᵀΨ‖⁎ ≤ ‖cᵀΨ‖⁎ + ‖λᵀΨ‖⁎",
		Why:        "𝓛 = cᵀΨθ − λᵀΨθ; (A.3) has = where |c−λ| becomes |c|+|λ|.",
		Downstream: "Nothing: the bounds at the end stand.",
		witness:    checkAlongRuns("5.30"),
	},
	{
		ID: "alpha-rate", Kind: Slip, Where: []string{"§5.1, after (5.34)"},
		Printed: "α_T = O(1/√T)", Corrected: "α_T = O(ln²T/√T) as (3.31) is printed, O(ln T/√T) corrected, for constant β",
		Why:        "(3.31) has ln T and ln²T in it, and B and C_e have β.",
		Downstream: "(3.33).",
		witness:    witnessAlphaRate,
	},
	{
		ID: "transition-law", Kind: Ambiguity, Where: []string{"6.1"},
		Printed: "up with probability 0.5, down with probability a ∈ {0.2, 0.4, 0.6, 0.8}", Corrected: "up 0.5/1.3, down a/1.3, else stay",
		Why:        "0.5 + 0.8 = 1.3 is no probability, and there is more than one way to make one. At 1 and L the law leads out of 𝒮.",
		Downstream: "Every number of section 6.",
		Choice:     "Uniformised: it alone keeps the ratios of up to down, and with them the measures of both base policies.",
		witness:    witnessTransitionLaw,
	},
	{
		ID: "average-cost-ball", Kind: Gap, Where: []string{"§6"},
		Printed: "γ = 1 with G = 1/(1−γ) ∨ β", Corrected: "G = β for average cost",
		Why:        "1/(1−γ) is +∞: λ has no ball, and (3.31)–(3.33) and (3.37) are +∞.",
		Downstream: "The runs of section 6 have no guarantee as printed.",
		Choice:     "β, since 1/(1−γ) ∨ β is for a λ* that Lemma 3.2 does not bound.",
		witness:    witnessAverageBall,
	},
	{
		ID: "protocol", Kind: Ambiguity, Where: []string{"Figure 2", "§6.2"},
		Printed: "η = 1/T = 0.001, R = 100, costs up to 10⁴, and cᵀξ^θ̂ is the cost", Corrected: "costs over c_max, R = 2, η = η₀/√(t+1), T = 10⁵: cᵀΨθ̂ is the cost of the policy too",
		Why:        "A step moves φ's gradient by 10, so that θ is at the sphere at once: (71, −70), where cᵀΨθ̂ ≈ −3·10⁵ is the cost of no policy. If ξ^θ̂ is the measure of the policy (2.20), it is a cost.",
		Downstream: "Fig. 2 (right) shows costs of policies in one of the readings of ξ^θ̂, see two-measures. The policy of (71, −70) is cheaper than the best Ψθ, but θ̂ is not near θ*.",
		Choice:     "η₀ by tuning, see the claims; R just large enough for the optimum at (1.116, −0.116).",
		witness:    checkProtocol,
	},
	{
		ID: "azuma-scale", Kind: Slip, Where: []string{"A.6", "Lemma A.2"},
		Printed: "P[|ΣX_t ≥ ε|] ≤ 2exp(−cε²/Σσ_t)", Corrected: "P[|ΣX_t| ≥ ε] ≤ 2exp(−ε²/(4Σσ_t²))",
		Why:        "Both sides must not change when X and ε are scaled. c = ¼: E e^{sX} ≤ e^{s²σ²} if E e^{X²/σ²} ≤ 2 and E X = 0.",
		Downstream: "Nothing: (5.19) has it right.",
		witness:    checkAzuma,
	},
	{
		ID: "gaussian-displays", Kind: Misprint, Where: []string{"A.11", "§A.3, before (A.10)"},
		Printed: "E e^{√(2λ)⟨X,W⟩} ≤ E e^{‖√(2λ)X‖₂/2} = E e^{λ‖W‖²}; E[λ‖W‖²] = ΠE[λW_i²]", Corrected: "≤ E e^{‖√(2λ)W‖₂²/2} = E e^{λ‖W‖²}; E e^{λ‖W‖²} = ΠE e^{λW_i²}",
		Why:        "Given W, it is W that is left, and its square; and two exponentials are missing.",
		Downstream: "Nothing: the first and the last term of the chain are right.",
		witness:    checkGaussianBound,
	},
	{
		ID: "dimension", Kind: Error, Where: []string{"A.12", "Lemma A.3", "§A.3"},
		Printed: "E e^{λ(‖X‖²−E‖X‖²)} ≤ (1−2λ)^{−d/2} ≤ e^{4λ²}, so ‖‖X‖²‖_ψ₁ ≤ (√(log 2)/2)K², free of d", Corrected: "E e^{λ(‖X‖²−E‖X‖²)} ≤ e^{2dλ²} for Gaussian X and |λ| ≤ ¼; ‖‖X‖²‖_ψ₁ ≤ dK²",
		Why:        "(1−2λ)^{−d/2} ≥ 1 + dλ exceeds 1 + 4λ² + … for small λ. For N(0, I_d) the norm grows like d/ln 2, and K does not.",
		Downstream: "(5.20), which bounded errors do not need.",
		Reading:    "The constant 2/√(ln 2), see reciprocal-norm, and of the norms that Definitions 2.1–2.3 may mean, centred or not, by moments or not, the one that comes nearest.",
		witness:    witnessDimension,
	},
	{
		ID: "reciprocal-norm", Kind: Slip, Where: []string{"§A.3, after (A.12)"},
		Printed: "E e^{λZ} ≤ 2 gives ‖Z‖_ψ₁ ≤ λ, λ = √(log 2)/2", Corrected: "‖Z‖_ψ₁ ≤ 1/λ",
		Why:        "The norm is what Z is divided by. With λ for 1/λ Lemma A.3 fails at d = 1 already.",
		Downstream: "The constants of Lemma A.3 and of (5.20).",
		witness:    witnessReciprocalNorm,
	},
}

// parts of the paper, and how the names of the places in them begin.
var parts = []struct {
	name   string
	places []string
}{
	{"Section 2", []string{"2.", "§2", "Definition 2", "Assumption"}},
	{"Section 3", []string{"3.", "§3", "Lemma 3", "Proposition 3", "Theorem 3", "Algorithm"}},
	{"Section 4", []string{"4.", "§4"}},
	{"Section 5", []string{"5.", "§5", "Lemma 5", "Proposition 5"}},
	{"Appendix", []string{"A.", "Lemma A", "§A"}},
	{"Section 6, abstract and conclusion", []string{"6.", "§6", "§7", "abstract", "Figure"}},
}

// Part is the part of the paper that the erratum is about: the one of its first place.
func (e Erratum) Part() string {
	for _, p := range parts {
		if slices.ContainsFunc(p.places, func(place string) bool { return strings.HasPrefix(e.Where[0], place) }) {
			return p.name
		}
	}
	return ""
}

// Markdown tells of the erratum, with the numbers of its witness.
func (e Erratum) Markdown(numbers string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** &nbsp; *%s* &nbsp; %s\n\n- printed: `%s`\n- corrected: `%s`\n- %s\n- witness: %s\n",
		strings.Join(e.Where, ", "), e.ID, e.Kind, e.Printed, e.Corrected, e.Why, numbers)
	for _, line := range []struct{ name, text string }{
		{"changes", e.Downstream}, {"in the authors' favour", e.Reading}, {"choice", e.Choice},
	} {
		if line.text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", line.name, line.text)
		}
	}
	return b.String()
}

// WriteErrata writes the errata with their witnesses as CSV with a header.
func WriteErrata(ctx context.Context, w io.Writer) error {
	table := [][]string{{"id", "where", "printed", "corrected", "why", "witness", "downstream", "choice", "kind", "reading"}}
	for _, e := range errata {
		f, err := e.Witness(ctx)
		if err != nil {
			return err
		}
		table = append(table, []string{e.ID, strings.Join(e.Where, "; "), e.Printed, e.Corrected, e.Why, f.Numbers, e.Downstream, e.Choice, string(e.Kind), e.Reading})
	}
	return writeTable(w, "errata", table)
}

// RecordedErratum is an erratum with the numbers of its witness.
type RecordedErratum struct {
	Erratum
	Numbers string
}

// RecordedErrata returns the errata with the numbers that data/errata.csv has, which
// [WriteErrata] computed.
func RecordedErrata() ([]RecordedErratum, error) {
	table, err := recorded("errata.csv", 10)
	if err != nil {
		return nil, err
	}
	numbers := map[string]string{}
	for _, r := range table {
		numbers[r[0]] = r[5]
	}
	all := make([]RecordedErratum, len(errata))
	for i, e := range errata {
		n, ok := numbers[e.ID]
		if !ok {
			return nil, fmt.Errorf("paper: data/errata.csv has no row for %q; go run ./mixpolicy/study/record table errata makes it anew", e.ID)
		}
		all[i] = RecordedErratum{e, n}
	}
	return all, nil
}
