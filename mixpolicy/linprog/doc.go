// Package linprog solves the linear programs of the paper to within rounding, and proves its
// answers. These programs have few variables and very many rows.
//
// [Mixture] is problem (2.18),
//
//	min bᵀθ   subject to   Ψθ ⪰ 0,  1ᵀθ = 1,  ‖θ‖ ≤ R,        b = Ψᵀc ∈ ℝᵈ,
//
// for costs c ∈ ℝᴺ and a matrix Ψ ∈ ℝᴺˣᵈ, with d up to a few hundred and N up to millions. [Norm.Project] projects onto
// the set {θ : 1ᵀθ = 1, ‖θ‖ ≤ R}.
//
// # The method
//
// The minimiser of a linear objective is the limit of projections. For t ≥ 0, let
//
//	x(t) = argmin ½‖x + t b‖₂²   over   P = {x : Ψx ⪰ 0, 1ᵀx = 1},
//
// the Euclidean projection of −t b onto P. The path x(t) is continuous and piecewise linear. As t
// grows, bᵀx(t) does not increase, and ‖x(t)‖₂ does not decrease. The method rests on two facts.
//
//   - If (2.18) without the bound on ‖θ‖ has a solution, x(t) is the least-norm solution of this problem for all t
//     beyond some finite t̄ (Mangasarian and Meyer 1979).
//   - If ‖θ‖₂ ≤ R is active at the solution, the solution is x(t) for any t at which ‖x(t)‖₂ = R.
//     With multipliers u ⪰ 0 and κ, the optimality condition of x(t) is x + t b = Ψᵀu + κ1. Divided by t > 0, this
//     condition is the optimality condition of (2.18), with λ = u/t, μ = κ/t and the multiplier R/t for the ball.
//
// The balls of ℓ∞ and ℓ₁ are polyhedra, so their facets are further inequalities, or rows, of P. |θⱼ| ≤ R gives 2d
// rows. On the hyperplane 1ᵀθ = 1, ‖θ‖₁ ≤ R means Σ_{j∈S} θⱼ ≥ −(R−1)/2 for all 2ᵈ sets S of coordinates. A step needs
// only the most violated of these rows.
//
// Each x(t) is found by the dual active-set method of Goldfarb and Idnani (1983). The method starts at the solution
// of the problem without rows. Each step needs only one row that the current point violates, so rows can be found on
// demand. The method solves the problem over a small pool of rows. A parallel scan of Ψ then finds rows that the
// solution violates, and these rows join the pool. The next solution starts from the active rows of the previous
// solution. The work ends when a scan finds no violated row and x(t) solves the problem over the pool. While the pool
// is small, x(t) for a large t is far from the feasible set, and the rows that this x(t) violates rarely matter. So,
// unless [Settings].Warm lists rows, t has a low upper limit at first. The limit is raised whenever a scan finds few
// new rows.
//
// # What is certain
//
// Answers are computed in floating point. Each answer except a [StalledError] has a proof,
// which is checked before the answer is returned.
//
// A solution θ is feasible to within rounding: if the rows are scaled to length 1, θ violates no row by more than
// 16(d+4)2⁻⁵³‖θ‖₂. The solution is optimal because, for any λ ⪰ 0 and any μ,
//
//	bᵀθ ≥ μ − R‖b − Ψᵀλ − μ1‖⁎        for every feasible θ.
//
// Here, ‖·‖⁎ is the dual norm. [Solution.Bound] is the right side of this inequality for the multipliers λ and μ of the
// solution and R = [Solution.Radius], evaluated in doubled precision and rounded downwards. Solve accepts a
// solution only if bᵀθ exceeds Bound by no more than the rounding of the terms can explain. For a finite R, an
// [InfeasibleError] carries λ ⪰ 0 and κ with κ > R‖Ψᵀλ + κ1‖⁎. A feasible θ would give the opposite inequality,
// κ = κ1ᵀθ ≤ (Ψᵀλ + κ1)ᵀθ ≤ R‖Ψᵀλ + κ1‖⁎. An [UnboundedError] carries a feasible point and the direction of a ray
// along which bᵀθ falls. The direction is tested in arithmetic of 1,024 bits.
//
// If rows are linearly dependent to within rounding, the method may find no proof, or may cycle. The answer is then a
// [StalledError], and Solve also returns the best known point and bound. No program of the paper stalls. TestSearch
// draws degenerate programs of up to 12 variables, and checks the answers independently in exact arithmetic. The
// difficulties of these programs include integer data with many ties; a Ψ of low rank; duplicate, opposite or nearly
// parallel rows; entries from 10⁻³⁰⁰ to 10²⁰⁰; entries that fall geometrically; balls that just touch the feasible set;
// and the rows of assignment problems. About one in five hundred programs from TestSearch stalls, mostly because some
// rows are nearly parallel: their entries differ from the entries of parallel rows by about 2⁻⁵³ to 2⁻²⁰ in relative
// terms.
//
// # What it takes
//
// Scans of a large Ψ use all cores, and steps use one core. The table shows seconds of processor time for ‖θ‖₂ ≤ 10 on
// an AMD EPYC (go test -bench=. -cpu=1 repeats the measurement):
//
//	variables   rows        seconds   scans    steps   Ψ
//	   8        4,112,784    0.6       20        160   of product form
//	  50          100,000    0.1       16      1,400   dense
//	 400           10,000    0.9       10      4,200   dense
//
// The ball of ℓ₁ has many facets. Programs in which this ball is active take the longest: the program of 400 variables
// in the table takes twenty times as many steps with ‖θ‖₁ ≤ 1.5 as with ‖θ‖₂ ≤ 10.
package linprog
