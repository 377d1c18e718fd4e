// Package multilevel computes the stationary distribution μ of a large irreducible Markov chain, usually in a time that
// depends little on how slowly the chain mixes.
//
// # The idea
//
// Gauss–Seidel sweeps balance the flow at each state in turn. After a few sweeps, the error varies little between
// neighbouring states, and mass moves slowly over long distances. So states are lumped into groups. The masses of the
// groups form the stationary distribution of a smaller chain,
//
//	P(I, J) = Σ_{i∈I} μ(i)/μ(I) Σ_{j∈J} P(i, j).
//
// To compute P(I, J), it is enough to know μ up to one factor per group (aggregation–disaggregation: Takahashi 1975;
// Koury, McAllister and Stewart 1984). The smaller chain is treated in the same way, down to a chain that elimination
// solves (Horton and Leutenegger 1994). A balance ([level.balance]) is one cycle, from the finest level down and up
// again. The cycle never subtracts, so no mass becomes negative.
//
// Once μ is roughly right, the share of each state in the mass of its group is frozen. The same cycle is then linear.
// We call this linear cycle a correction ([cycle.correct]). It solves (I − Pᵀ)e = b approximately, for a b that adds up
// to 0, and preconditions a Krylov iteration, the generalised conjugate residual method. A correction takes a fifth of
// the time of a balance. Corrections omit states whose masses and residuals are tiny ([solver.heavy]). Between
// balances, only sweeps change the masses of these states. The scaled matrix (I − Pᵀ) diag μ has zero row and column
// sums, so piecewise constant interpolation is appropriate (Notay 2012; De Sterck, Treister and others 2010–11). The
// shares are computed again when the residual has fallen by a factor of a thousand since their last computation, or
// when the iteration becomes slow.
//
// The blocks of states do not depend on the number of processors ([each]), and Gauss–Seidel visits all blocks of one
// colour at once ([order]), so the results are the same, bit for bit, for any number of processors.
//
// # What was measured
//
// The table shows sweeps, and user times on an EPYC. The chain is the four-queue network of 1,028,196 states under the
// rule LONGER, with 14.4 million moves. The start is the uniform measure, and the goal is ‖μ − μP‖₁ ≤ 1e-10. In each
// Gauss–Seidel sweep, the slowest mode of the error decays by a fraction of 0.0021.
//
//	Gauss–Seidel, forward and backward                  9656 sweeps to 1e-12, 200 s
//	conjugate residuals preconditioned by Gauss–Seidel   578 sweeps, 13 s
//	balances alone                                       103 sweeps, 12 s
//	this package                                          54 sweeps, 2.5 s
//
// Under the rule LBFS, the network's recurrent class has 65,910 states, and this package takes 70 sweeps and 0.2 s.
// Under LONGER, corrections take two fifths of the 2.5 s, the two balances a fifth, and the construction of groups a
// seventh. The reasons for the speed:
//
//   - Corrections omit states whose masses and residuals add up to at most a 256th of the target residual. Of the
//     818,184 recurrent states, 379,963 remain in the first corrections, and 577,458 in later ones. On two processors,
//     a correction then takes 24 ms at first and 33 ms later, instead of 41 ms.
//   - The residual after a correction needs only half of the moves (see cycle.correct), so a correction takes 2½ passes
//     over the chain instead of 4. The halves are stored separately, because memory is read in cache lines: a pass over
//     one half takes 3 ms, instead of 5 ms with joint storage, and a pass over both halves takes 4 ms.
//   - After Krylov steps, a state takes its new mass if this mass balances at least half of its flow (see
//     solver.iterate). If instead every mass is kept between a tenth of its old value and ten times its old value, the
//     residual rises back from 3e-11 to 1e-3, so the method needs almost twice as many sweeps (104).
//   - What a level receives from the next level is multiplied by 1.4 (see overCorrection), so from the finest level,
//     one visit to the next level is almost as good as two.
//   - If Krylov steps gain little, more steps are allowed (see krylov.patience). So random graphs and grids whose edge
//     weights differ by factors of 10⁴ take hundreds of sweeps instead of ten thousand.
//   - Rows are visited in the order of the states. If they are visited in the order of the groups, memory is read in
//     jumps: lumping takes 60 ms instead of 32, and restriction 57 ms instead of 14.
//
// The next table counts the bytes that the loops read and write if nothing stays in a
// cache. The unit is one read of the matrix of all 1,028,196 states, at 12 bytes per move:
//
//	recurrent class, lists of arrivals                            3
//	levels and groups                                             7
//	14 sweeps, 9 residuals                                       20
//	two balances                                                 19
//	chains of the heavy states, twice                             9
//	17 corrections: finest level, groups, directions     26 + 17 + 8
//	estimate of the error, which takes 5 more corrections        20
//	                                                            129
//
// At the speed of a STREAM triad, 129 reads take less than two fifths of the time that this package takes in
// data/peers.csv. In corrections, values of 32 bits would save about 13 reads, and column indices of 16 bits would save
// half as many. Only fewer sweeps could halve the total.
//
// Tried and rejected:
//
//   - Equal rows stored once (most states of a network share rows): only 5 to 15 % less time.
//   - Corrections without a first sweep: a correction takes 10 to 25 % less time, but a
//     quarter to a half more corrections are needed.
//   - Directions kept from one set of shares to the next: no fewer steps.
//   - One visit, not two, to levels with less than a 64th of the states: 7 % less time, but 136 sweeps instead of 50 on
//     a grid of 700².
//   - In a balance, one visit, not two, from the finest level to the next: 66 sweeps or more, instead of 54.
//   - Groups chosen by the flow of a first μ, or groups that a state joins only if a large part of its flow goes to the
//     group: no fewer sweeps on random graphs.
//
// Compared with Gauss–Seidel, this package saves even more sweeps on chains that mix more slowly than the network. For
// example, a queue with 20,000 states mixes in 10⁷ steps, but this package needs only 68 sweeps to reach a residual of
// 1e-14. With shares from a poor μ, the preconditioned iteration stalls at a residual of 1e-4, so the balances come
// first. On random graphs whose weights differ by factors of 10⁵ or more, the method stalls permanently.
package multilevel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// Chain is an irreducible Markov chain. Its moves are grouped by the state that they enter.
type Chain struct {
	In    *sparse.Matrix // row i holds P(j, i) for the states j ≠ i that lead to i
	Leave []float64      // Leave[i] = Σ_{j≠i} P(i, j), the probability of leaving i
}

// Settings controls [Stationary].
type Settings struct {
	Tolerance float64 // greatest allowed ‖μ − μP‖₁
	MaxSweeps int
	Progress  func(sweeps int, residual float64) // may be nil
}

// Result says how accurate μ is, and how many sweeps were needed.
type Result struct {
	Residual float64 // ‖μ − μP‖₁
	Error    float64 // an estimate of the ℓ₁ distance of μ from the stationary distribution; 2 if there is no estimate
	Sweeps   int     // Gauss–Seidel sweeps over states, not over groups
}

// Stationary replaces mu, a guess with a positive sum, by the stationary distribution. If ctx ends, or if MaxSweeps
// sweeps are not enough, mu holds the last computed measure, and the error states its residual.
func Stationary(ctx context.Context, c Chain, mu []float64, set Settings) (Result, error) {
	if c.In.NNZ() > most {
		return Result{}, fmt.Errorf("%d moves between states, want at most %d", c.In.NNZ(), most)
	}
	s := &solver{ctx: ctx, set: set, mu: mu, residual: make([]float64, len(mu)), krylov: krylov{patience: leastPatience}}
	s.top = s.newLevel(c.In, c.Leave)
	s.top.invert()
	normalise(mu)
	err := s.run()
	return s.Result, err
}

// most is the greatest number of moves. A count of up to most moves fits in 32 bits; twice as
// many moves would take 26 GB.
const most = 1 << 30

type solver struct {
	ctx      context.Context
	set      Settings
	top      *level
	mu       []float64
	residual []float64 // μP − μ
	cycle    *cycle    // the cycle with the present shares of all levels, or nil
	krylov   krylov
	Result
}

// batch is the number of sweeps between computations of the residual, each of which costs
// about a sweep.
const batch = 10

// balances is the least number of balances before the Krylov iteration. After one balance only, the
// first Krylov steps gain little: the network then takes 67 sweeps. After two balances, it takes 56.
const balances = 2

// run makes sweeps as long as they reduce the residual quickly, and then alternates between
// balances and a Krylov iteration until the residual is small.
func (s *solver) run() error {
	var built sync.WaitGroup
	built.Go(s.top.build) // half of this work is sequential, so sweeps run at the same time
	before := s.measure()
	for !s.done() {
		for k := range batch {
			s.top.sweep(s.mu, k%2 == 1)
		}
		normalise(s.mu)
		now := s.measure()
		if now > before/10 {
			break
		}
		before = now
	}
	// At least one balance is needed, because sweeps alone may reach a small residual while
	// clusters that rarely communicate have wrong masses.
	built.Wait()
	for k := 1; s.ctx.Err() == nil && (k == 1 || !s.done()); k++ {
		before := s.Residual
		s.top.balance(s.mu)
		normalise(s.mu)
		// A balance that gains a lot may gain a lot again, and the Krylov iteration needs
		// settled shares.
		if s.measure() <= before/10 || k < balances {
			continue
		}
		for !s.done() && s.iterate() {
		}
	}
	if err := s.ctx.Err(); err != nil {
		return fmt.Errorf("stopped after %d sweeps at residual %.3g: %w", s.Sweeps, s.Residual, err)
	}
	if !(s.Residual <= s.set.Tolerance) {
		return fmt.Errorf("not converged after %d sweeps: residual %.3g, want %.3g", s.Sweeps, s.Residual, s.set.Tolerance)
	}
	s.estimate()
	return nil
}

// done reports whether to stop: converged, overflowed, cancelled, or out of sweeps.
func (s *solver) done() bool {
	return !(s.Residual > s.set.Tolerance) || s.Sweeps >= s.set.MaxSweeps || s.ctx.Err() != nil
}

// measure sets the residual of μ, and returns its norm.
func (s *solver) measure() float64 {
	s.top.imbalance(s.residual, s.mu)
	s.Residual = norm1(s.residual)
	if s.set.Progress != nil {
		s.set.Progress(s.Sweeps, s.Residual)
	}
	return s.Residual
}

// stage is the factor by which the residual falls before the shares are computed again from
// the better μ.
const stage = 1e-3

// iterate improves μ by solving (I − Pᵀ) e = residual for a correction e, and keeps the
// new μ if the residual falls. It reports whether the residual fell to less than a tenth.
//
// The absolute error of the correction may be many times the mass of a rarely visited state.
// Balances compute such masses with a small relative error. The shares need this accuracy:
// if noise replaces small masses, the shares may define chains with traps. So a state takes
// its new mass v if v balances at least half of its flow, that is, if d = |residual|/leave is
// at most v/2. Otherwise, the state takes the mass in [v − d, v + d] that is nearest to its
// old mass, but at least a tenth of the old mass.
func (s *solver) iterate() bool {
	const least = 0.1 // a state that does not take its new mass keeps at least this part of its old mass
	was, old := s.Residual, slices.Clone(s.mu)
	s.cycle = nil // then solve computes the shares again
	// The sweeps below raise the residual a little, so aim lower.
	e := s.solve(max(s.set.Tolerance/2, stage*was))
	for k, i := range s.cycle.states {
		s.mu[i] += e[k]
	}
	s.top.imbalance(s.residual, s.mu)
	each(len(s.mu), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			v, off := s.mu[i], math.Abs(s.residual[i])/s.top.leave[i]
			if !(off <= v/2) {
				s.mu[i] = max(min(max(old[i], v-off), v+off), least*old[i])
			}
		}
	})
	s.top.sweep(s.mu, false)
	s.top.sweep(s.mu, true)
	normalise(s.mu)
	if !(s.measure() < was) {
		copy(s.mu, old)
		s.measure()
	}
	return s.Residual < was/10
}

// solve returns a correction e for the states of the cycle. If possible, e reduces the residual
// to the target.
func (s *solver) solve(target float64) (e []float64) {
	var r []float64
	if s.cycle != nil {
		r = gather(s.residual, s.cycle.states)
	}
	if r == nil || s.Residual-norm1(r) > target/4 {
		s.cycle = s.top.freeze(s.mu, s.heavy(negligible*target))
		r = gather(s.residual, s.cycle.states)
	}
	e = make([]float64, len(r))
	s.krylov.solve(s.cycle, e, r, target)
	return e
}

// negligible bounds the sum of the masses and residuals of the states that a correction
// omits, relative to the target residual.
const negligible = 1. / 256

// heavy returns the states for corrections: all but light states, whose masses and
// residuals add up to at most the given number. Light states are almost never visited.
// If more than three quarters of the states remain, heavy returns all states.
func (s *solver) heavy(light float64) []int32 {
	least := s.least(light)
	states := slices.DeleteFunc(every(len(s.mu)), func(i int32) bool { return s.weight(int(i)) < least })
	if 4*len(states) > 3*len(s.mu) {
		return every(len(s.mu))
	}
	return states
}

// weight returns the mass of state i plus the size of its residual.
func (s *solver) weight(i int) float64 { return s.mu[i] + math.Abs(s.residual[i]) }

// least returns a power of two such that the weights below it add up to at most the given
// weight, or 0 if even the sum of all weights is at most the given weight.
func (s *solver) least(weight float64) float64 {
	const smallest, sizes = 1074, 1074 + 2 // Ilogb is from −1074, for the least number, to 1, because a weight is below 4
	below := totals(len(s.mu), sizes, func(lo, hi int, sums []float64) {
		for i := lo; i < hi; i++ {
			if w := s.weight(i); w > 0 {
				sums[smallest+math.Ilogb(w)] += w
			}
		}
	})
	var sum float64
	for e, v := range below {
		if sum += v; sum > weight {
			return math.Ldexp(1, e-smallest)
		}
	}
	return 0
}

// estimate sets Error to the size of the corrections that remove the residual. The Krylov iteration leaves a part of
// the residual that decays more slowly than the rest. This part may need corrections ten times as large as the first
// correction. So the residual is halved repeatedly, until a correction is at most half of the sum of the previous ones,
// and at least eight times if the iteration has needed patience. We assume that all further corrections together are as
// large as the last one. The rounding errors of the residual have size δ(i), which grows as the root of the number of
// terms, because roundings are independent. We add δ to the residual with the worst signs, the signs of the first
// correction, but scaled by ‖δ‖₂/‖δ‖₁, because independent errors add up to ‖δ‖₂. There is no estimate if the residual
// is 0, if four tries do not halve the residual, if twenty halvings do not suffice, or if all this takes more than
// 1,000 sweeps plus four times the sweeps of μ.
func (s *solver) estimate() {
	if s.Error, s.set.MaxSweeps = 2, 5*s.Sweeps+1000; s.Residual == 0 {
		return
	}
	found, e, left := s.Result, make([]float64, len(s.mu)), make([]float64, len(s.mu))
	defer func() { s.Residual, s.Sweeps = found.Residual, found.Sweeps }()
	start, sum, size, halvings := s.Residual, 0., 0., 0
	for tries := 0; tries < 4 && halvings < 20; tries++ {
		// The exact residual adds up to 0; no correction can remove a sum that is due to rounding.
		off := total(len(e), func(lo, hi int) float64 { return floats.Sum(s.residual[lo:hi]) })
		floats.AddScaled(s.residual, -off, s.mu)
		s.Residual = norm1(s.residual)
		clear(e)
		for at, v := range s.solve(start / 4) {
			e[s.cycle.states[at]] = v
		}
		s.top.imbalance(left, e)
		floats.Add(left, s.residual)
		// A correction may contain any multiple of μ: μ + e is 1 + Σe times the solution.
		more := total(len(e), func(lo, hi int) float64 { return floats.Sum(e[lo:hi]) })
		floats.AddScaled(e, -more, s.mu)
		size += norm1(e) / math.Abs(1+more)
		s.residual, left = left, s.residual
		switch halved := norm1(s.residual) <= start/2 && s.ctx.Err() == nil; {
		case halved && halvings > 0 && size <= sum/2 && (halvings > 6 || s.krylov.patience == leastPatience):
			s.Error = sum + 2*size + 0x1p-51 // 2⁻⁵¹ for the rounding of μ
			return
		case halved:
			if sum == 0 {
				for i := range left {
					left[i] = math.Sqrt(float64(s.top.in.Ptr[i+1]-s.top.in.Ptr[i]+3)) * 0x1p-52 * s.mu[i] * s.top.leave[i]
				}
				chance := floats.Norm(left, 2) / norm1(left)
				for i, v := range e {
					s.residual[i] += math.Copysign(chance*left[i], v)
				}
			}
			start, sum, size, halvings, tries = norm1(s.residual), sum+size, 0, halvings+1, -1
		}
	}
}
