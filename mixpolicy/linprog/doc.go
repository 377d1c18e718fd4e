// Package linprog solves, exactly, the linear programs of the paper: few variables
// and very many rows.
//
// [Mixture] is problem (2.18),
//
//	min bᵀθ   subject to   Ψθ ⪰ 0,  1ᵀθ = 1,  ‖θ‖ ≤ R,        b = Ψᵀc ∈ ℝᵈ,
//
// for Ψ ∈ ℝᴺˣᵈ with d up to a few hundred and N of millions. [Norm.Project] is the
// projection onto its last two constraints, in closed form.
//
// # The method
//
// A linear objective is the limit of a projection. For t ≥ 0 let
//
//	x(t) = argmin ½‖x + t b‖₂²   over   P = {x : Ψx ⪰ 0, 1ᵀx = 1},
//
// the Euclidean projection of −t b onto P. The path x(t) is continuous and piecewise
// linear, bᵀx(t) does not increase and ‖x(t)‖₂ does not decrease. Two facts follow.
//
//   - Without a bound, x(t) is for all t beyond some finite t̄ the solution of the LP,
//     and among its solutions the one of least norm (Mangasarian and Meyer 1979).
//   - With ‖θ‖₂ ≤ R active, the solution is x(t) for the t at which ‖x(t)‖₂ = R: the
//     conditions of optimality of x(t), x + t b = Ψᵀu + κ1, are those of (2.18) with
//     λ = u/t, μ = κ/t and the multiplier R/t for the ball.
//
// The bounds ℓ∞ and ℓ₁ are polyhedral, so they join the rows of P: |θⱼ| ≤ R is 2d of
// them; ‖θ‖₁ ≤ R is, on the hyperplane, Σ_{j∈S} θⱼ ≥ −(R−1)/2 for all 2ᵈ sets S, of
// which only the most violated one is ever needed.
//
// Each x(t) is found by the dual active-set method of Goldfarb and Idnani (1983),
// which starts at the solution for no rows at all and asks only for a row that the
// present point violates. That makes rows a thing to be found when needed: the
// problem is solved over a small pool of rows, one parallel scan of Ψ then finds rows
// which that solution violates, these join the pool, and the next solution starts
// from the last one's active rows. A scan that finds nothing ends the work. The limit of t
// is raised in steps, with x(t) found over all rows for each of them, since the rows that
// are violated far from the path are not those that matter.
//
// # What is certain
//
// The answer is computed in floating point, but it is not taken on trust: each has a
// proof, and the proof is checked before it is returned.
//
// A solution is feasible to within rounding, 16(d+4)2⁻⁵³‖θ‖₂ in terms of unit normals; and
// it is optimal because, for any λ ⪰ 0 and any μ,
//
//	bᵀθ ≥ μ − R‖b − Ψᵀλ − μ1‖⁎        for every feasible θ.
//
// [Solution.Bound] is this number, evaluated in doubled precision and rounded downwards,
// and its gap to bᵀθ must be no more than the rounding of the terms. An [InfeasibleError]
// carries λ ⪰ 0 and κ with κ > R‖Ψᵀλ + κ1‖⁎, which no feasible θ can meet, since
// κ = κ1ᵀθ ≤ (Ψᵀλ + κ1)ᵀθ ≤ R‖Ψᵀλ + κ1‖⁎. An [UnboundedError] carries a feasible point
// and a direction in which to leave it, which is tested in 1,024 bits.
//
// Rows that depend on each other to within rounding may keep the method from a proof, or
// from ending. The answer is then a [StalledError] with the best point and bound: for one in
// five hundred degenerate programs of up to 13 variables, mostly with rows that are parallel
// to within 2⁻²⁰ to 2⁻⁵³, and for no program of the paper. TestSearch checks the answers in
// exact arithmetic of its own: of programs with integer data full of ties, of low rank, with
// duplicate, opposite and nearly parallel rows, with entries from 10⁻³⁰⁰ to 10²⁰⁰, with
// geometrically falling entries, with balls that just touch, and of flows.
//
// # What it takes
//
// In seconds of processor time, of which scans are shared by all cores and steps are not
// (go test -bench .); AMD EPYC, ‖θ‖₂ ≤ 10:
//
//	variables   rows        seconds   scans    steps
//	   8        4,112,784    0.6       20        160   of product form
//	  50          100,000    0.1       16      1,400   dense
//	 400           10,000    0.9       10      4,200   dense
//
// The ball of ℓ₁ has many facets and takes the longest where it is
// active: at d = 400 twenty times as many steps.
package linprog
