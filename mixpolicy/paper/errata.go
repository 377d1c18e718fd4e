package paper

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// Erratum is a place where the paper says what is false, or what has no meaning.
type Erratum struct {
	ID         string
	Where      []string // equation and statement numbers, or sections
	Printed    string
	Corrected  string
	Why        string
	Downstream string // what it changes in the paper and in this project
	Choice     string // where the correction needs one: which, and why
	witness    check
}

// Witness computes how far the printed and the corrected form are from being true, see
// [Finding]: the printed form does not hold, and the corrected one does.
func (e Erratum) Witness(ctx context.Context) (Finding, error) {
	f, err := e.witness.run(ctx)
	if err != nil {
		err = fault.At("paper", "erratum "+strconv.Quote(e.ID), err)
	}
	return f, err
}

// Errata returns all errata in the order of the paper.
func Errata() []Erratum { return errata }

var errata = []Erratum{
	{
		ID: "argmin", Where: []string{"§2, notation"},
		Printed: "P_𝒳(x) = min_{y∈𝒳} ‖x−y‖₂²", Corrected: "P_𝒳(x) = argmin_{y∈𝒳} ‖x−y‖₂",
		Why:        "The minimum is a distance; (5.15) and the penalty method use the point.",
		Downstream: "Nothing but notation.",
		witness:    witnessArgmin,
	},
	{
		ID: "subordinate-norm", Where: []string{"§2, notation"},
		Printed: "‖X‖_{⁎,p} = sup ‖Φx‖⁎/‖x‖_p", Corrected: "‖Ψ‖_{⁎,2} = sup ‖Ψᵀx‖⁎/‖x‖₂ over x ∈ ℝⁿᵐ",
		Why:        "Φ stands for X; and it is used for ‖cᵀΨ‖⁎ ≤ ‖c‖₂‖Ψ‖_{⁎,2}, which takes the norm of Ψᵀ from ℓ₂.",
		Downstream: "The constants of (3.34) and (3.37): for the cube ‖Ψ1‖₂, for ℓ₁ max‖ψʲ‖₂.",
		witness:    witnessSubordinate,
	},
	{
		ID: "strong-convexity-sign", Where: []string{"§2, notation"},
		Printed: "f(x) + ⟨g, y−x⟩ + (μ/2)‖x−y‖² ≥ f(y)", Corrected: "f(x) + ⟨g, y−x⟩ + (μ/2)‖x−y‖² ≤ f(y)",
		Why:        "The printed inequality bounds f from above: it defines smoothness.",
		Downstream: "(5.10) uses the right one.",
		witness:    witnessStrongConvexity,
	},
	{
		ID: "orlicz-centring", Where: []string{"2.3", "Definition 2.1"},
		Printed: "inf{β : E ψ(|X| − E|X|/β) ≤ 1}", Corrected: "inf{β : E ψ(|X|/β) ≤ 1}",
		Why:        "The printed expectation falls to 0 with β, so the infimum is 0 for every X.",
		Downstream: "(A.4)–(A.8) use the corrected norm.",
		Choice:     "Not centred: ψ((|X| − E|X|)/β) would be 0 for constants, and (A.5) has no centring.",
		witness:    checkOrlicz,
	},
	{
		ID: "moment-norms", Where: []string{"Definition 2.2", "Definition 2.3"},
		Printed: "‖Z‖_ψν and sup q^{−1/ν}(E|Z|^q)^{1/q} are one norm", Corrected: "they are equivalent: each at most 4 times the other",
		Why:        "For N(0,1) they are √(8/3) and √(2/π).",
		Downstream: "Explicit constants, such as √(log 2)/2 in Lemma A.3, depend on which is meant; this project takes (2.3).",
		witness:    momentIsOrlicz(2),
	},
	{
		ID: "pair-order", Where: []string{"Definition 2.6", "§2.1"},
		Printed: "c = (c_1, …, c_m) and ξ by action, P and Q by state; P_a(s′,s) and P_a(s,s′)", Corrected: "one order: pair i = s·m + a, and P_a(s,s′) from s to s′",
		Why:        "A product of one kind with the other is no flow.",
		Downstream: "Every product with P or Q.",
		Choice:     "By state, as M^π and Q have it: a policy's row is then contiguous.",
		witness:    checkPairOrder,
	},
	{
		ID: "bellman-argument", Where: []string{"§2.1, before (2.8)"},
		Printed: "(𝒮v)(s) = min_a {γ Σ P_a(s,s′)v*(s′) + c_a(s)}, attained by a maximisation", Corrected: "(𝒮v)(s) = min_a {γ Σ P_a(s,s′)v(s′) + c_a(s)}, attained by a minimisation",
		Why:        "With v* inside 𝒮 is constant, and (2.8) says nothing about v.",
		Downstream: "Section 4 has v inside, but sums over s for s′: see lyapunov-indices.",
		witness:    witnessBellman,
	},
	{
		ID: "primal-sign-of-v", Where: []string{"2.9a"},
		Printed: "max over v ∈ ℝ₊ⁿ", Corrected: "max over v ∈ ℝⁿ",
		Why:        "Costs lie in [c_min, c_max], which may be negative; then so is v*.",
		Downstream: "With v free the dual has equalities, as (2.13) does.",
		witness:    checkPrimalOrthant,
	},
	{
		ID: "primal-inequality", Where: []string{"2.9b"},
		Printed: "(I − γP_a)v − c_a ⪰ 0 under max", Corrected: "(I − γP_a)v − c_a ⪯ 0",
		Why:        "With ⪰, v + k1 is feasible for every k > 0, and the maximum is +∞.",
		Downstream: "The dual (2.13) belongs to ⪯.",
		witness:    checkPrimalInequality,
	},
	{
		ID: "stationary", Where: []string{"§2.1, before (2.10)"},
		Printed: "μP^π = μ for the discounted measure", Corrected: "μ = (1−γ)α + γμP^π",
		Why:        "(2.10) and (2.11) give the second; the first is the limit γ → 1.",
		Downstream: "(2.13b), (2.15b), (2.23), (4.14).",
		witness:    checkStationary,
	},
	{
		ID: "flow-constraint", Where: []string{"2.13b", "2.15b", "4.14"},
		Printed: "ξᵀ(P − Q) = 0", Corrected: "ξᵀ(Q − γP) = (1−γ)αᵀ",
		Why:        "The printed constraint is that of average cost; the dual of (2.9) has the other.",
		Downstream: "Ψᵀ(P−Q) = 0 before (2.18) becomes Ψᵀ(Q−γP) = (1−γ)1αᵀ, which 1ᵀθ = 1 still implies: (2.18) stands.",
		witness:    checkFlow,
	},
	{
		ID: "value-factor", Where: []string{"§2.1, after (2.14)"},
		Printed: "the optimum of (2.13) is the discounted cost under π*", Corrected: "it is (1−γ) times it",
		Why:        "ξ has mass 1, and Σγᵗ is 1/(1−γ).",
		Downstream: "Costs here are per step: cᵀξ for either criterion.",
		witness:    witnessValueFactor,
	},
	{
		ID: "mixture-of-measures", Where: []string{"2.17"},
		Printed: "Ξᵈ = {ξ^θ : π^ω = Σωᵢπⁱ, Σωᵢ = 1}, dual to Πᵈ", Corrected: "Ξᵈ = {Ψθ : 1ᵀθ = 1}",
		Why:        "The measure of a mixture of policies is not the mixture of their measures; Ψθ belongs to a policy that mixes state by state.",
		Downstream: "What is learnt is θ, not ω, and π^θ of (2.20) is not in the convex hull (2.16) in general.",
		witness:    checkXi,
	},
	{
		ID: "hyperplane", Where: []string{"§2.2, after (2.19)"},
		Printed: "the only projection is onto the hyperplane section Θ₁", Corrected: "onto Θ₂ = {1ᵀθ = 1}",
		Why:        "Θ₁ is {Ψθ ⪰ 0}, which is no hyperplane, and which the method leaves to λ.",
		Downstream: "Nothing but notation.",
		witness:    witnessHyperplane,
	},
	{
		ID: "two-measures", Where: []string{"§2.2, before (2.15) and after (2.20)"},
		Printed: "ξ^θ = Ψθ, and ξ^θ is the measure of the policy π^θ", Corrected: "two names: Ψθ, and ξ^{π^θ}",
		Why:        "They are one vector only where Ψθ ⪰ 0, and the answers of the algorithm need not be there.",
		Downstream: "(2.22), (3.38), (4.15), and Fig. 2, whose cost cᵀξ^θ̂ can be either: of an infeasible θ̂ they differ.",
		Choice:     "Ψθ on the right of (2.22) and (4.15), the measure of the policy on the left and in (3.38), as the proofs have it; Fig. 2 is shown both ways.",
		witness:    witnessTwoMeasures,
	},
	{
		ID: "policy-fallback", Where: []string{"2.20", "3.28"},
		Printed: "uniform if (Ψθ)_a(s) ≤ 0 for all pairs (a, s)", Corrected: "uniform in each state s where (Ψθ)_a(s) ≤ 0 for all a",
		Why:        "1ᵀΨθ = 1 excludes the printed case, and (2.20) is 0/0 in such a state.",
		Downstream: "The output of the algorithm, whenever Ψθ̂ is negative throughout a state.",
		witness:    checkPolicyFallback,
	},
	{
		ID: "mixing-target", Where: []string{"2.23", "Assumption A.1"},
		Printed: "τ_mix by the distance of (P^π)ᵗ(s,·) from μ_α^π", Corrected: "from the stationary distribution of P^π",
		Why:        "Powers of P^π go to the stationary distribution; μ_α^π of (2.10) is another for γ < 1.",
		Downstream: "As printed (A.1) fails for small ε; and the discounted form of Lemma 3.3 needs no mixing time.",
		witness:    checkMixing,
	},
	{
		ID: "one-step-contraction", Where: []string{"2.24"},
		Printed: "‖νP − ν̂P‖_TV ≤ e^{−1/τ}‖ν − ν̂‖_TV", Corrected: "‖νP^τ − ν̂P^τ‖_TV ≤ 2ε‖ν − ν̂‖_TV for τ = τ_mix(ε)",
		Why:        "Two states with no next state in common are as far apart after one step as before.",
		Downstream: "Lemma 3.3 for average cost needs a one-step factor, which is an assumption of its own.",
		witness:    checkContraction,
	},
	{
		ID: "model-free", Where: []string{"§2.4, (A.3)"},
		Printed: "model-free: known are 𝒮, 𝒜, γ and the range of costs, and P only by samples", Corrected: "P is known too; what is not known is c",
		Why:        "(3.4) and (3.5a) use the entries of Ψ, which is made from P.",
		Downstream: "Section 7 has it. The sample complexity counts queries for costs, none for transitions.",
		witness:    witnessModelFree,
	},
	{
		ID: "multiplier-norm", Where: []string{"Lemma 3.2"},
		Printed: "‖λ*‖₁ = 1/(1−γ) for the multipliers of (3.2), and Σ_aλ_a(s) = p(s)", Corrected: "‖ξ*/(1−γ)‖₁ = 1/(1−γ) for those of (2.9b), and Σ_a ξ*_a/(1−γ) = α + γ·inflow",
		Why:        "λ* belongs to Ψθ ⪰ 0; what has norm 1/(1−γ) are the multipliers of the full primal LP.",
		Downstream: "G = 1/(1−γ) need not hold λ*: see lambda-ball. (p is not defined; in (4.1) it is the weights of the objective. The text gives the lemma to Chen and Wang, its reference to others.)",
		witness:    checkMultiplierNorm,
	},
	{
		ID: "lambda-ball", Where: []string{"3.3"},
		Printed: "with ‖λ‖₂ ≤ 1/(1−γ) ∨ β the problem is equivalent", Corrected: "it is if β > ‖λ*‖₂",
		Why:        "min max = min cᵀΨθ + G‖[Ψθ]₋‖₂, an exact penalty only for G > ‖λ*‖₂; at G = ‖λ*‖₂ the value is right, but infeasible θ may reach it too.",
		Downstream: "β is a parameter to be tuned after all; with average cost the printed G is +∞ and the project takes β.",
		witness:    checkLambdaBall,
	},
	{
		ID: "lambda-gradient", Where: []string{"3.4"},
		Printed: "∇_λ𝓛 = Ψθ", Corrected: "∇_λ𝓛 = −Ψθ",
		Why:        "𝓛 = cᵀΨθ − λᵀΨθ.",
		Downstream: "(3.26): as printed λ grows where Ψθ is positive, and rewards what it should punish.",
		witness:    checkGradLambda,
	},
	{
		ID: "index-set", Where: []string{"§3.1"},
		Printed: "i ~ Uniform{0, 1, …, d}", Corrected: "i ~ Uniform{1, …, d}",
		Why:        "There is no policy 0, and (3.5a) divides by (1/d)Σψⁱ.",
		Downstream: "Unbiasedness (3.6). Algorithm 1 has it right.",
		witness:    checkIndexSet,
	},
	{
		ID: "modulus-domain", Where: []string{"§3.1, before (3.7)"},
		Printed: "dom(φ) = Θ_R ∪ {+∞}", Corrected: "dom(φ) = Θ_R, and φ = +∞ outside of it",
		Why:        "+∞ is a value of φ, and no point of ℝᵈ.",
		Downstream: "Nothing but notation.",
		witness:    witnessModulusDomain,
	},
	{
		ID: "closed-form-z", Where: []string{"3.22"},
		Printed: "R²(1ᵀV − ‖V‖² − 1) under the root", Corrected: "R²(1ᵀV)² − ‖V‖² − 1",
		Why:        "J′ = 0 squared is ((Rd)²−d)z² + 2(R²d−1)(1ᵀV)z + R²(1ᵀV)² − ‖V‖² − 1 = 0.",
		Downstream: "With the printed z the iterates leave the hyperplane: section 6 cannot have used it as it is.",
		witness:    checkClosedForm,
	},
	{
		ID: "unit-ball", Where: []string{"§3.1, after (3.22)"},
		Printed: "for R = 1/√d: J > 0 and J(z) → 0", Corrected: "J > 1ᵀV/d and J(z) → 1ᵀV/d",
		Why:        "R√(1+‖V+z1‖²) − z = 1ᵀV/d + O(1/z) for R√d = 1.",
		Downstream: "Only that no minimum exists, which stands.",
		witness:    checkUnitBall,
	},
	{
		ID: "lambda-step", Where: []string{"3.26", "§5.1, after (5.15)", "Algorithm 1"},
		Printed: "λ ← G(λ+ηΨθ)/(G ∨ ‖λ+ηΨθ‖₂)", Corrected: "x = [λ−ηΨθ]₊, λ ← Gx/(G ∨ ‖x‖₂)",
		Why:        "Λ is the ball within the orthant, and the gradient is −Ψθ; the printed map projects onto the whole ball. (5.15) holds for either.",
		Downstream: "λ ⪰ 0, which λ̂ᵀΨθ* ≥ 0 after (5.26) needs.",
		witness:    checkLambdaStep,
	},
	{
		ID: "loop-index", Where: []string{"§3.1, Algorithm 1"},
		Printed: "θ_0 is given, and the loop is over t = 1, …, T", Corrected: "t = 0, …, T−1, as in (3.27) and the proof",
		Why:        "The first pass of the printed loop takes θ_1, which nothing has set.",
		Downstream: "(3.27) weighs θ_0 by η_0 = 1, the largest weight of all; the proof starts from D(θ;θ_0).",
		witness:    witnessLoop,
	},
	{
		ID: "infinite-diameter", Where: []string{"3.29"},
		Printed: "D = max over θ₁, θ₂ ∈ Θ_R of D(θ₁;θ₂)", Corrected: "D = max over θ ∈ Θ_R ∩ Θ₂ of D(θ;θ₀)",
		Why:        "A Legendre function on Θ_R has D(θ₁;θ₂) → ∞ as θ₂ comes to the boundary; the proof starts from θ₀.",
		Downstream: "As printed (3.31)–(3.33) bound nothing. From the centre of the ball D = √(R² − 1/d).",
		witness:    checkDiameter,
	},
	{
		ID: "bound-constants", Where: []string{"3.31", "3.32", "3.33", "Proposition 3.1"},
		Printed: "(D + 4B ln T + 4√2RC_e ln T/c₀ + C_eC(n)max{…})/(2√T − 1)", Corrected: "(D + BΣη² + 2RC_e√(2 ln(1/δ)Ση²))/Ση for any steps, with D, B, C_e corrected",
		Why:        "Signs, 1/μ and squares as in the errata below; ‖e_t‖⁎ ≤ C_e surely, so that Σ‖e_t‖² needs no concentration; Azuma's constant is explicit.",
		Downstream: "Theorem 3.4. The corrected bounds are never violated; on the queue they are 1 to 5 orders of magnitude above what runs measure.",
		witness:    checkObjectiveBound,
	},
	{
		ID: "root-of-c0", Where: []string{"3.31", "5.24"},
		Printed: "4√2 RC_e ln T/c₀, and 2√2 RC_e/c₀ (…)^½", Corrected: "√c₀ for c₀, as in (5.21)",
		Why:        "δ solves 2exp(−c₀δ²/8R²C_e²Ση²) = ρ/2.",
		Downstream: "Nothing for c₀ = 1, with which (5.19) holds.",
		witness:    witnessRoot,
	},
	{
		ID: "divisor", Where: []string{"3.31", "3.32"},
		Printed: "divided by 2√T − 1", Corrected: "divided by 2(√(T+1) − 1)",
		Why:        "It is Ση in a denominator, which is to be bounded from below; 2√T − 1 bounds it from above (5.31a).",
		Downstream: "A few per cent for T ≥ 100.",
		Choice:     "2(√T − 1), which (5.31a) has, would do as well; 2(√(T+1) − 1) is larger, and not 0 at T = 1.",
		witness:    checkDivisor,
	},
	{
		ID: "unsquared-norms", Where: []string{"3.34a"},
		Printed: "B = 2Rσ_max + (√(nm)+G)‖Ψ‖ + C_e²", Corrected: "B = ½(σ_max max‖θ‖₂)² + (((c_max√(nm)+G)‖Ψ‖)² + C_e²)/μ",
		Why:        "(5.24) adds squares of the gradients' norms; ½ is what (5.16) has; 1/μ is strong convexity.",
		Downstream: "(3.31)–(3.33), (3.35).",
		witness:    checkB,
	},
	{
		ID: "missing-cmax", Where: []string{"3.34b", "5.19a", "5.21", "5.23", "5.24", "5.26", "5.28", "5.34"},
		Printed: "C_e = (1+G)A + (√(nm)+G)‖Ψ‖", Corrected: "C_e = (c_max+G)A + (c_max√(nm)+G)‖Ψ‖, as in (A.3)",
		Why:        "It bounds the error of a gradient that is proportional to the costs.",
		Downstream: "(5.21)–(5.34), which have C_e in them. The same for costs in [−1, 1]; in section 6 c_max is 10⁴.",
		witness:    checkCe,
	},
	{
		ID: "rate-of-beta", Where: []string{"3.35"},
		Printed: "β = O(T^¼) gives O(ln T/T^¼)", Corrected: "β = O(T^⅛) does; β = O(T^¼) gives O(ln T); a constant β > ‖λ*‖₂ gives O(ln T/√T) for gap and violation",
		Why:        "B contains C_e² ~ G² = β², so the bound is β² ln T/√T.",
		Downstream: "Theorem 3.4: T ~ ε⁻⁴ comes from β ~ T^¼. (The sentence before (3.35), on the violation, has lost its formula.)",
		Choice:     "T^⅛ keeps the claimed rate of the gap, with a violation T^{−⅛}; T^⅙ would balance (3.31) and (3.33); a constant is best, but needs to know ‖λ*‖₂.",
		witness:    checkRate,
	},
	{
		ID: "violation-norm", Where: []string{"3.36", "Lemma 3.3"},
		Printed: "V = ¼‖[Ψθ̂]₋‖₂ (Proposition 3.1 has ½)", Corrected: "the mass ε = ‖[Ψθ̂]₋‖₁: ε + min{1, ε/((1+ε)(1−γe^{−1/τ}))}, γ = 1 for average cost, with e^{−1/τ} a contraction of P^π in one step (τ = ∞ if none is known)",
		Why:        "Mass shared by N pairs has an ℓ₂ norm √N times smaller than what it does to the measure.",
		Downstream: "Theorem 3.4 gains a factor √(nm); the discounted bound has no mixing time.",
		witness:    checkDistance,
	},
	{
		ID: "rho-in-theorem", Where: []string{"3.37", "3.38", "Theorem 3.4"},
		Printed: "T = Ω(τ⁴nm‖Ψ‖⁴/((1−γ)⁴ε⁴)) with probability 1−ρ", Corrected: "T that solves ObjectiveBound(T, ρ) + 2c_max·Distance(T, ρ) ≤ ε, which grows with ln(1/ρ)",
		Why:        "A T free of ρ would do surely, and no finite number of samples does. C_e, R and c_max are missing too.",
		Downstream: "The comparison of sample complexities.",
		Choice:     "Read kindly, Ω hides a constant that depends on ρ, R and c_max. What is left is the rate ε⁻⁴, and the corrected T goes nearly like ε⁻².",
		witness:    checkSampleSize,
	},
	{
		ID: "alp-direction", Where: []string{"4.1a", "4.7", "4.10"},
		Printed: "min αᵀΨν under 𝒮Ψν ⪰ Ψν (and v ∈ ℝᵈ in the exact program)", Corrected: "max αᵀΨν (and v ∈ ℝⁿ)",
		Why:        "Every feasible Ψν is below v*, and Ψν − k1 is feasible too: the minimum is −∞.",
		Downstream: "The three linear programs of section 4.",
		witness:    checkALPDirection,
	},
	{
		ID: "alp-feasible", Where: []string{"§4, after (4.1)"},
		Printed: "for any v with 𝒮v ⪰ c", Corrected: "for any v with 𝒮v ⪰ v",
		Why:        "c has nm entries; and with 𝒮v ⪰ c, v is no lower bound of v*.",
		Downstream: "(4.2), which also has v^π on the right where the cited theorem has v.",
		witness:    checkALPFeasible,
	},
	{
		ID: "lyapunov-indices", Where: []string{"4.3", "4.5", "4.13", "§4, before (4.1)"},
		Printed: "𝒮v and β_u with Σ_s for Σ_{s′}, as in γ max Σ_s P_a(s,s′)u(s)/u(s); |v*(s) − (Ψν)(s)|/u(s) with s free; u ⪯ 1 in (4.13)", Corrected: "β_u = γ max Σ_{s′} P_a(s,s′)u(s′)/u(s); max over s; u ⪰ 1",
		Why:        "P_a(s,·) is a distribution in s′; the theorems have the norm ‖·‖_{∞,1/u}.",
		Downstream: "The comparison of (4.13) with (4.3).",
		witness:    checkLyapunovBound,
	},
	{
		ID: "constraint-count", Where: []string{"4.6"},
		Printed: "k(d log(48…)) + log(2/δ)", Corrected: "k(d log(48…) + log(2/δ)), k = 16mζ/((1−γ)ε)",
		Why:        "To see a constraint of measure 1/k with probability 1−δ takes k ln(1/δ) samples.",
		Downstream: "Constraint sampling for small δ.",
		witness:    checkConstraintCount,
	},
	{
		ID: "same-vector", Where: []string{"4.9"},
		Printed: "E|v* − Ψν̂*| ≤ E|v* − Ψν̂*| + εE v*", Corrected: "E|v* − Ψν̂*| ≤ E|v* − Ψν*| + εE v*",
		Why:        "As printed both sides have the sampled problem's solution, and it says only that costs are not negative.",
		Downstream: "The guarantee of constraint sampling.",
		witness:    checkSampledError,
	},
	{
		ID: "penalty-price", Where: []string{"4.15"},
		Printed: "min (cᵀξ^θ + V₁(θ) + V₂(θ) + O(ε))", Corrected: "min (cᵀξ^θ + (V₁(θ) + V₂(θ))/ε) + O(ε)",
		Why:        "At price 1 an infeasible θ makes the right side less than any policy costs; (2.22) has 1/ε.",
		Downstream: "The comparison after (4.16).",
		witness:    checkPenaltyBound,
	},
	{
		ID: "law-of-cosines", Where: []string{"Lemma 5.1", "5.3", "5.5", "5.7", "5.12", "5.13", "5.14", "5.18", "§A.1"},
		Printed: "⟨∇φ(θ_t)−∇φ(θ̃_t), θ−θ_t⟩ = D(θ;θ_t) − D(θ;θ̃_t) + D(θ_t;θ̃_t)", Corrected: "= D(θ;θ̃_t) − D(θ;θ_t) − D(θ_t;θ̃_t)",
		Why:        "The last line of §A.1 turns the sign of a product; all that follows bounds ⟨ĝ, θ−θ_t⟩ where ⟨ĝ, θ_t−θ⟩ is meant, and has +⟨e_t, θ_t−θ⟩ for −.",
		Downstream: "The proof up to (5.18); with the signs turned, and 1/μ, it goes through. From (5.21) on the sign of the errors is immaterial, as (5.19) bounds them on both sides.",
		witness:    checkAlongRuns("5.3"),
	},
	{
		ID: "strong-convexity", Where: []string{"5.10", "5.11", "5.14", "5.32"},
		Printed: "D(θ_t;θ̃_t) ≥ ½‖θ_t−θ̃_t‖², φ being 1-strongly convex on Θ₂", Corrected: "D(θ̃_t;θ_t) ≥ (μ/2)‖θ_t−θ̃_t‖², μ = 1/R for (3.7), 2/R for (3.10), on Θ_R",
		Why:        "∇²φ = 2R/(R²−θ²) at least for (3.10), I/R for (3.7). It is D(θ̃;θ_t) that is to be bounded, and θ̃_t is not in Θ₂.",
		Downstream: "1/μ = R before ‖ĝ‖² in (5.11)–(5.32) and in B.",
		witness:    checkAlongRuns("5.10"),
	},
	{
		ID: "dual-factor", Where: []string{"§5.1, after (5.15)"},
		Printed: "‖λ_{t+1}−λ‖² = ‖λ_t−λ‖² + η²‖∇‖² − η⟨∇, λ_t−λ⟩", Corrected: "≤ ‖λ_t−λ‖² + η²‖∇‖² + 2η⟨∇, λ_t−λ⟩",
		Why:        "The square of λ_t + η∇ − λ; the projection makes it an inequality.",
		Downstream: "The factor before ‖∇_λ𝓛‖² in (5.16) is ½.",
		witness:    witnessDualFactor,
	},
	{
		ID: "dual-sum", Where: []string{"5.16"},
		Printed: "Ση⟨∇_λ𝓛, λ_t−λ⟩ ≤ ½‖λ‖² + Ση²‖∇_λ𝓛‖²", Corrected: "Ση⟨∇_λ𝓛, λ−λ_t⟩ ≤ ½‖λ‖² + ½Ση²‖∇_λ𝓛‖²",
		Why:        "Ascent makes 𝓛(θ_t, λ_t) nearly as large as 𝓛(θ_t, λ), so λ − λ_t is what is bounded.",
		Downstream: "(5.18).",
		witness:    checkAlongRuns("5.16"),
	},
	{
		ID: "convexity-signs", Where: []string{"5.17a", "5.17b"},
		Printed: "⟨∇_θ𝓛, θ−θ_t⟩ ≤ 𝓛(θ_t,λ_t) − 𝓛(θ,λ_t), and its twin in λ", Corrected: "⟨∇_θ𝓛, θ_t−θ⟩ = 𝓛(θ_t,λ_t) − 𝓛(θ,λ_t), ⟨∇_λ𝓛, λ−λ_t⟩ = 𝓛(θ_t,λ) − 𝓛(θ_t,λ_t)",
		Why:        "𝓛 is linear in each argument.",
		Downstream: "Turns (5.13) and (5.16) into (5.18) only with the corrected signs.",
		witness:    checkAlongRuns("5.17a"),
	},
	{
		ID: "conditioning", Where: []string{"§5.1, Lemma 5.2"},
		Printed: "P[|Σ_{t<T} η_t⟨e_t, θ_t−θ⟩| ≥ δ | F_t]", Corrected: "P[|Σ_{t<T} η_t⟨e_t, θ_t−θ⟩| ≥ δ]",
		Why:        "t is the index of the sum; and given the past a sum is nearly known, however improbable it was.",
		Downstream: "(5.19), (5.20), and the expectations given F_t in (5.32). The proof uses them without.",
		witness:    witnessConditioning,
	},
	{
		ID: "orlicz-of-errors", Where: []string{"Lemma 5.2", "§A.2"},
		Printed: "‖⟨e_t, θ_t−θ⟩‖_ψ₂ ≤ 8R²C_e²; ‖‖e_t‖²‖_ψ₁ ≤ √(log 2/2) C(n)²C_e²", Corrected: "2√2 RC_e; C_e²/ln 2",
		Why:        "The norm is the root of what divides X² in (A.4); a constant C_e has E exp(C_e²/β) = 2 at β = C_e²/ln 2.",
		Downstream: "(5.19) is right all the same; (5.20) is not.",
		witness:    checkErrorNorms,
	},
	{
		ID: "square-scale", Where: []string{"5.20a"},
		Printed: "min{δ²/(C_e²C(n)²Ση⁴), δ/(C_eC(n)Ση²)}", Corrected: "2δ²/(C_e⁴Ση⁴), by Azuma's inequality",
		Why:        "δ is a sum of squares of errors: C_e is to be squared. And the errors are not independent, as Bernstein's inequality (A.9) has it.",
		Downstream: "The last term of (3.31), which is not needed.",
		witness:    checkSquareTail,
	},
	{
		ID: "dual-norm", Where: []string{"5.20a", "§A.2"},
		Printed: "‖e_t‖₂², and C(n) with ‖v‖ ≤ C(n)‖v‖₂ on ℝⁿ", Corrected: "‖e_t‖⁎² ≤ C(d)²‖e_t‖₂², with the constant of the dual norm on ℝᵈ",
		Why:        "(5.18) has ‖e_t‖⁎, which can be larger than ‖e_t‖₂; and e_t has d entries, not n.",
		Downstream: "Bounded errors do without: ‖e_t‖⁎ ≤ C_e. No constant of (3.31) grows with n for this reason.",
		witness:    witnessDualNorm,
	},
	{
		ID: "maximiser", Where: []string{"5.25"},
		Printed: "λ = −G·½S[Ψθ̂]₋/(G ∨ ‖½S[Ψθ̂]₋‖) maximises the bracket, S = Ση", Corrected: "λ with S for ½S",
		Why:        "−λᵀΨθ̂ − ‖λ‖²/2S has its gradient zero at λ = −S[Ψθ̂]₋.",
		Downstream: "None: (5.26) holds for the printed λ, and is the weaker for it.",
		witness:    checkAlongRuns("5.25"),
	},
	{
		ID: "reach", Where: []string{"5.29"},
		Printed: "‖θ_t‖₂ ≤ 2R for any norm of the class", Corrected: "‖θ_t‖₂ ≤ max{‖θ‖₂ : ‖θ‖ ≤ R}: R for ℓ₂ and ℓ₁, R√d for the cube",
		Why:        "For d > 4 the corner of the cube is further than 2R.",
		Downstream: "B for the modulus (3.10).",
		witness:    checkReach,
	},
	{
		ID: "gradient-sign", Where: []string{"5.30", "A.3"},
		Printed: "‖∇_θ𝓛‖⁎ = ‖cᵀΨ + λᵀΨ‖⁎", Corrected: "‖∇_θ𝓛‖⁎ = ‖cᵀΨ − λᵀΨ‖⁎ ≤ ‖cᵀΨ‖⁎ + ‖λᵀΨ‖⁎",
		Why:        "𝓛 = cᵀΨθ − λᵀΨθ; (A.3) has = where |c−λ| becomes |c|+|λ|.",
		Downstream: "None: the bounds at the end stand.",
		witness:    checkAlongRuns("5.30"),
	},
	{
		ID: "harmonic-sum", Where: []string{"5.31b"},
		Printed: "Σ1/(t+1) ≤ 4 log T", Corrected: "≤ 1 + ln T",
		Why:        "At T = 1 it says 1 ≤ 0.",
		Downstream: "Nothing: Proposition 3.1 asks for T ≥ 5, where it holds and is less than 4 times as large.",
		witness:    checkSquareSums,
	},
	{
		ID: "alpha-rate", Where: []string{"§5.1, after (5.34)"},
		Printed: "α_T = O(1/√T)", Corrected: "α_T = O(ln²T/√T) as (3.31) is printed, O(ln T/√T) corrected, for constant β",
		Why:        "(3.31) has ln T and ln²T in it, and B and C_e have β.",
		Downstream: "(3.33).",
		witness:    witnessAlphaRate,
	},
	{
		ID: "absolute-costs", Where: []string{"5.35"},
		Printed: "‖c‖₂ ≤ c_max√(nm), as c lies in [c_min, c_max]", Corrected: "‖c‖₂ ≤ max|c|·√(nm)",
		Why:        "c_min may be negative, and larger in size.",
		Downstream: "(3.33), (5.30), (5.36), (A.3): c_max is the greatest size of a cost, here and in the library.",
		witness:    checkGapBelow,
	},
	{
		ID: "transition-law", Where: []string{"6.1"},
		Printed: "up with probability 0.5, down with probability a ∈ {0.2, 0.4, 0.6, 0.8}", Corrected: "up 0.5/1.3, down a/1.3, else stay",
		Why:        "0.5 + 0.8 = 1.3 is no probability.",
		Downstream: "Every number of section 6.",
		Choice:     "Uniformised: it alone keeps the ratios of up to down, and with them the measures of both base policies.",
		witness:    checkTransitionLaw,
	},
	{
		ID: "average-cost-ball", Where: []string{"§6"},
		Printed: "γ = 1 with G = 1/(1−γ) ∨ β", Corrected: "G = β for average cost",
		Why:        "1/(1−γ) is +∞: λ has no ball, and (3.31)–(3.33) and (3.37) are +∞.",
		Downstream: "The runs of section 6 have no guarantee as printed.",
		Choice:     "β, since 1/(1−γ) ∨ β is for a λ* that Lemma 3.2 does not bound.",
		witness:    witnessAverageBall,
	},
	{
		ID: "protocol", Where: []string{"Figure 2", "§6.2"},
		Printed: "η = 1/T = 0.001, R = 100, costs up to 10⁴: cᵀξ^θ̂ is the cost", Corrected: "costs over c_max, R = 2, η = η₀/√(t+1), T = 10⁵",
		Why:        "A step moves φ's gradient by 10, so that θ is at the sphere at once: (71, −70), where cᵀΨθ̂ ≈ −3·10⁵.",
		Downstream: "Fig. 2 (right) does not show a cost of a policy under the stated protocol.",
		Choice:     "η₀ by tuning, see the claims; R just large enough for the optimum at (1.116, −0.116).",
		witness:    checkProtocol,
	},
	{
		ID: "azuma-scale", Where: []string{"A.6", "Lemma A.2"},
		Printed: "P[|ΣX_t ≥ ε|] ≤ 2exp(−cε²/Σσ_t)", Corrected: "P[|ΣX_t| ≥ ε] ≤ 2exp(−ε²/(4Σσ_t²))",
		Why:        "Both sides must not change when X and ε are scaled. c = ¼: E e^{sX} ≤ e^{s²σ²} if E e^{X²/σ²} ≤ 2 and E X = 0.",
		Downstream: "(5.19) has it right.",
		witness:    checkAzuma,
	},
	{
		ID: "gaussian-displays", Where: []string{"A.11", "§A.3, before (A.10)"},
		Printed: "E e^{√(2λ)⟨X,W⟩} ≤ E e^{‖√(2λ)X‖₂/2} = E e^{λ‖W‖²}; E[λ‖W‖²] = ΠE[λW_i²]", Corrected: "≤ E e^{‖√(2λ)W‖₂²/2} = E e^{λ‖W‖²}; E e^{λ‖W‖²} = ΠE e^{λW_i²}",
		Why:        "Given W, it is W that is left, and its square; and two exponentials are missing.",
		Downstream: "Nothing: the first and the last term of the chain are right.",
		witness:    checkGaussianBound,
	},
	{
		ID: "exponential-step", Where: []string{"§A.3, before (A.12)"},
		Printed: "E e^{λ|‖X‖²−E‖X‖²|} = E e^{λ(‖X‖²−E‖X‖²)} ≤ (1−2λ)^{−d/2} ≤ e^{4λ²}", Corrected: "E e^{λ(‖X‖²−E‖X‖²)} ≤ e^{2dλ²} for Gaussian X and |λ| ≤ ¼",
		Why:        "(1−2λ)^{−d/2} ≥ 1 + dλ, which exceeds 1 + 4λ² + … for small λ; the centring gives the square, and d stays.",
		Downstream: "(A.12), Lemma A.3.",
		witness:    checkExponentialStep,
	},
	{
		ID: "dimension", Where: []string{"A.12", "Lemma A.3"},
		Printed: "‖‖X‖²‖_ψ₁ ≤ (√(log 2)/2)K², free of d", Corrected: "‖‖X‖²‖_ψ₁ ≤ dK²",
		Why:        "‖X‖² = ΣX_i² and ‖X_i²‖_ψ₁ = ‖X_i‖²_ψ₂; for N(0, I_d) the norm grows like d/ln 2, and K does not.",
		Downstream: "(5.20), which bounded errors do not need.",
		witness:    checkSquaredNorm,
	},
}

// WriteErrata writes the errata with their witnesses as CSV with a header.
func WriteErrata(ctx context.Context, w io.Writer) error {
	table := [][]string{{"id", "where", "printed", "corrected", "why", "witness", "downstream", "choice"}}
	for _, e := range errata {
		f, err := e.Witness(ctx)
		if err != nil {
			return err
		}
		table = append(table, []string{e.ID, strings.Join(e.Where, "; "), e.Printed, e.Corrected, e.Why, f.Numbers, e.Downstream, e.Choice})
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
	table, err := recorded("errata.csv")
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

// witnessArgmin: on a line the printed number is a point too, and can be compared with what
// characterises the projection y of x, (x − y)(z − y) ≤ 0 for all z ∈ 𝒳.
func witnessArgmin(context.Context) Finding {
	const x, radius = 3.0, 2.0 // 𝒳 = [−2, 2]
	var line []float64
	for z := -radius; z <= radius; z += 1. / 64 {
		line = append(line, z)
	}
	distances := make([]float64, len(line))
	for i, z := range line {
		distances[i] = sq(x - z)
	}
	at := floats.MinIdx(distances)
	least, point := distances[at], line[at]
	product := func(y float64) (worst float64) {
		for _, z := range line {
			worst = max(worst, (x-y)*(z-y))
		}
		return worst
	}
	return holdsCorrected(product(least), product(point), "𝒳 = [−2, 2] and x = 3: the minimum is the number %g, the projection the point %g; (x − y)(z − y) is up to %g for the one, %g for the other, z ∈ 𝒳", least, point, product(least), product(point))
}

func witnessSubordinate(context.Context) Finding {
	p := must(smallProblem(mixpolicy.Cube(1.5)))
	// The proofs use ‖Ψᵀx‖⁎ ≤ ‖x‖₂‖Ψ‖, the norm of Ψᵀ from ℓ₂.
	x, g := combination(p, []float64{1, 1, 1}), make([]float64, 3)
	p.Features().MulVecT(g, x)
	used := p.Class().Norm.Dual().Of(g) / floats.Norm(x, 2)
	// The norm of Ψ from ℓ₂ to ℓ₁ is another number, here from 5000 directions.
	rng := rand.New(rand.NewPCG(2, 2))
	var other float64
	for range 5000 {
		theta := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		other = max(other, floats.Norm(combination(p, theta), 1)/floats.Norm(theta, 2))
	}
	norm := theory.SubordinateNorm(p.Features(), p.Class().Norm)
	return holdsCorrected(relativeError(other, norm), relativeError(used, norm), "cube: sup ‖Ψᵀx‖₁/‖x‖₂ = %.4g, which bounds ‖cᵀΨ‖₁; sup ‖Ψθ‖₁/‖θ‖₂ is %.4g", norm, other)
}

func witnessStrongConvexity(context.Context) Finding {
	// φ of (3.7) with μ = 1/R, at 0 and a point half-way to the sphere.
	phi := bregman.Ball{R: 2}
	y := []float64{0.8, 0.6}
	above := phi.Value([]float64{0, 0}) + 0.25*floats.Dot(y, y)
	return holdsCorrected(excess(phi.Value(y), above), excess(above, phi.Value(y)), "φ(0) + (μ/2)‖y‖² = %.4f and φ(y) = %.4f, for φ of (3.7), R = 2, ‖y‖ = 1", above, phi.Value(y))
}

func witnessBellman(context.Context) Finding {
	x := must(smallMDP())
	// 𝒮(v + 1) = 𝒮v + γ1. With v* inside, 𝒮 does not depend on v, and the difference is 0.
	v, a, b := make([]float64, x.States()), make([]float64, x.States()), make([]float64, x.States())
	x.Bellman(a, v)
	x.Bellman(b, shifted(v, 1))
	ratio := b[0] - a[0]
	return holdsCorrected(relativeError(0, x.Gamma()), relativeError(ratio, x.Gamma()), "𝒮(v + 1) − 𝒮v = %.3g·1 with v inside, and 0 with v*", ratio)
}

func witnessValueFactor(ctx context.Context) Finding {
	x, value, _ := dualOptimum(mixpolicy.Corrected)
	_, full := optimalValue(ctx, x)
	return holdsCorrected(relativeError(value, full), relativeError(value, (1-x.Gamma())*full), "γ = 0.9: min cᵀξ = %.6g, αᵀv* = %.6g", value, full).within(valueTolerance)
}

func witnessHyperplane(context.Context) Finding {
	p, theta, _ := smallTheta()
	double := scaled(2, theta)
	// Θ₁ is a cone: 2θ is in it if θ is. The step of the algorithm brings 1ᵀθ back to 1.
	inCone := p.NegativeMass(double)
	next := make([]float64, 3)
	noError(bregman.Project(bregman.Ball{R: 2}, next, theta))
	return holdsCorrected(math.Abs(floats.Sum(double)-1), math.Abs(floats.Sum(next)-1)+inCone, "2θ is in Θ₁ with θ, and has 1ᵀ2θ = %.3g; the projection has 1ᵀθ = %.3g", floats.Sum(double), floats.Sum(next))
}

func witnessDualFactor(context.Context) Finding {
	p := must(smallProblem(mixpolicy.Ball(2)))
	r := must(NewTrace(p, TraceSettings{Iterations: 50, StepSize: mixpolicy.InverseSqrt(4), Beta: 10}))
	lambda := scaled(5, unit(len(r.Lambda), 0))
	var printed, corrected float64
	for _, s := range r.Steps {
		lhs := sq(floats.Distance(s.NextLambda, lambda, 2))
		from := sq(floats.Distance(s.Lambda, lambda, 2)) + sq(s.Eta*floats.Norm(s.Ascent, 2))
		slope := s.Eta * floats.Dot(s.Ascent, difference(s.Lambda, lambda))
		printed = max(printed, relativeError(lhs, from-slope))
		corrected = max(corrected, excess(lhs, from+2*slope))
	}
	return holdsCorrected(printed, corrected, "50 steps: the printed equation is off by up to %.2g, the corrected inequality holds in each", printed)
}

func witnessAverageBall(context.Context) Finding {
	x := must(models.Queue{}.MDP())
	printed := 1 / (1 - x.Gamma())
	g := (mixpolicy.PrimalDual{Beta: 50}).Radius(x.Criterion())
	return holdsCorrected(printed, relativeError(g, 50), "1/(1−γ) = %v; G = β = %v", printed, g)
}

// witnessTwoMeasures compares Ψθ with the measure of the policy (2.20), inside and outside of Ψθ ⪰ 0.
func witnessTwoMeasures(context.Context) Finding {
	p := must(smallProblem(mixpolicy.Ball(10)))
	distance := func(theta []float64) float64 {
		return theory.TotalVariation(combination(p, theta), policyMeasure(p, theta).Pair)
	}
	theta := []float64{4, -5, 2}
	inside, outside := distance([]float64{0.2, 0.5, 0.3}), distance(theta)
	vector, policy := p.Objective(theta), policyMeasure(p, theta).Cost(p.MDP().Costs())
	return holdsCorrected(outside, inside, "θ = (4, −5, 2), infeasible: %.3g apart in total variation, cᵀΨθ = %.4g, and the policy costs %.4g; at a feasible θ %.1g apart", outside, vector, policy, inside)
}

// witnessModelFree: two processes that agree in all that (A.3) takes as known, and in their costs.
func witnessModelFree(context.Context) Finding {
	theta := []float64{0.2, 0.5, 0.3}
	var ascent [2][]float64
	for i := range ascent {
		x := must(garnet(uint64(i + 1)))
		ascent[i] = combination(must(mixtureProblem(x, mixpolicy.Ball(2), smallPolicies(x)...)), theta)
	}
	p := must(smallProblem(mixpolicy.Ball(2)))
	known := make([]float64, p.MDP().Pairs()) // −Ψθ, computed with the transition law
	p.GradLambda(known, theta)
	printed, corrected := relativeVectorError(ascent[0], ascent[1]), relativeVectorError(scaled(-1, known), ascent[0])
	return holdsCorrected(printed, corrected, "two transition laws, the same policies: Ψθ, the gradient (3.4) at the same θ, differs by %.2g of its greatest entry, before any query", printed)
}

// witnessModulusDomain compares dom φ, the points where φ < ∞, with two sets: the ball with a
// point at infinity in every direction, and the ball.
func witnessModulusDomain(context.Context) Finding {
	phi := bregman.Ball{R: 2}
	var printed, corrected float64
	for _, x := range [][]float64{{0, 0}, {1.9, 0.1}, {2, 1}, {math.MaxFloat64, 0}, {math.Inf(1), 0}, {0, math.Inf(-1)}} {
		finite, ball := phi.Value(x) < math.Inf(1), floats.Norm(x, 2) <= 2
		if finite != (ball || math.IsInf(floats.Norm(x, 2), 1)) {
			printed++
		}
		if finite != ball {
			corrected++
		}
	}
	return holdsCorrected(printed, corrected, "φ of (3.7) is finite at the points of the ball and +∞ at others, however far: also at infinity, at %g of 2 such points", printed)
}

// witnessLoop compares the averages (3.27) with those over the passes of the printed loop.
func witnessLoop(context.Context) Finding {
	p := must(smallProblem(mixpolicy.Ball(2)))
	r := must(NewTrace(p, TraceSettings{Iterations: 100, StepSize: mixpolicy.InverseSqrt(1), Beta: 20, Seed: 1}))
	printed, corrected := make([]float64, p.Dim()), make([]float64, p.Dim())
	var weights float64
	for t, s := range r.Steps {
		eta := 1 / math.Sqrt(float64(t+2)) // η_{t+1}
		weights += eta
		floats.AddScaled(printed, eta, s.Next)
		floats.AddScaled(corrected, s.Eta/r.Sums.Sum, s.Theta)
	}
	floats.Scale(1/weights, printed)
	distance := relativeVectorError(printed, r.Theta)
	return holdsCorrected(distance, relativeVectorError(corrected, r.Theta), "T = 100: the average over t = 1, …, T differs from (3.27) by %.2g of its greatest entry", distance)
}

func witnessRoot(context.Context) Finding {
	// The bound (5.19) of the probability of a deviation, for c₀ = 4 and ρ = 0.05.
	const c0, rho = 4.0, 0.05
	bound := func(divisor float64) float64 { // δ² = 8R²C_e²Ση² ln(4/ρ)/divisor²
		return 2 * math.Exp(-c0*math.Log(4/rho)/sq(divisor))
	}
	printed, corrected := bound(c0), bound(math.Sqrt(c0))
	return holdsCorrected(excess(printed, rho/2), excess(corrected, rho/2*(1+rounding)), "c₀ = 4, ρ = 0.05: (5.19) leaves %.2g to a deviation of the printed size, %.3g = ρ/2 to one with √c₀", printed, corrected)
}

// witnessConditioning: sums of 100 signs, of which the first 99 were heads.
func witnessConditioning(context.Context) Finding {
	const n = 100
	bound := 2 * math.Exp(-sq(n-2)/(2*n))
	whole := math.Ldexp(2*(1+n), -n) // at most one head, or one tail
	return holdsCorrected(excess(1, bound), excess(whole, bound), "100 coins: given that the first 99 are heads the sum is at least 98 surely; without the condition its size is so with probability %.1g ≤ %.1g", whole, bound)
}

func witnessDualNorm(context.Context) Finding {
	p := must(smallProblem(mixpolicy.Cube(1.5)))
	d := float64(p.Dim())
	var printed, corrected float64
	for _, e := range gradientErrors(p, nil) {
		dual, euclid := sq(p.Class().Norm.Dual().Of(e)), sq(floats.Norm(e, 2))
		printed, corrected = max(printed, dual/euclid), max(corrected, excess(dual, d*euclid))
	}
	return holdsCorrected(excess(printed, 1), corrected, "cube, d = 3: ‖e‖⁎² = ‖e‖₁² is up to %.3g ‖e‖₂², and at most 3 of it", printed)
}

func witnessAlphaRate(context.Context) Finding {
	_, k := rawConstants()
	// √T α_T over a power of ln T; as printed √T α_T is bounded.
	at := func(n int, power float64) float64 {
		t := float64(n)
		return math.Sqrt(t) * k.PrintedObjectiveBound(k.D, n).Value / math.Pow(math.Log(t), power)
	}
	const near, far = 1_000, 1_000_000_000
	growth := at(far, 0) / at(near, 0)
	return holdsCorrected(excess(growth, 1), excess(at(far, 2), at(near, 2)), "√T α_T grows by %.3g from T = 10³ to 10⁹, and √T α_T/ln²T falls", growth)
}
