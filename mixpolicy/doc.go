// Package mixpolicy finds good mixtures of known policies of a Markov decision
// process. It is an executable edition of
//
//	M. Badiei Khuzani, V. Vasudevan, H. Ren, L. Xing: On Sample Complexity of
//	Projection-Free Primal-Dual Methods for Learning Mixture Policies in Markov
//	Decision Processes, CDC 2019, arXiv 1903.06727.
//
// Comments cite the equations of this paper by number, such as (3.22).
//
// These are the main types, in the order in which the paper introduces the corresponding objects:
//
//	MDP          (S, A, P, c, γ), Definition 2.6
//	Policy       π, Definition 2.7; mixtures Πᵈ (2.16); the policy of a measure (2.20)
//	Measure      μ^π and the occupation measure ξ^π = π ⊙ μ^π, (2.10)–(2.12)
//	Features     Ψ = [ψ¹ … ψᵈ], one column per base policy
//	Problem      min cᵀΨθ over Ψθ ⪰ 0, 1ᵀθ = 1, ‖θ‖ ≤ R, (2.18)
//	Method       Algorithm 1, the penalty method, plug-in; run by [Solve]
//	Result       θ̂, the policy π^θ̂, and a [Certificate] that anyone can check
//
// # Conventions
//
// States s and actions a are numbered from 0. The state–action pair (s, a) has the index i = s·m + a, so a
// vector over pairs lists the m entries of state 0, then the m entries of state 1, and so on. (The paper
// orders the entries of ξ by action, but the rows of P and Q by state.) P_a(s, s′) is the probability that
// action a leads from s to s′. The paper writes this probability as P_a(s,s′) or as P_a(s′,s). Costs are
// minimised.
//
// Where the printed paper has an error, the correct form is the default. If the code can also run
// the printed form, this form has a name of its own, such as [Printed].
package mixpolicy
