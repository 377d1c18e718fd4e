// Package multilevel computes the stationary distribution of a large irreducible
// Markov chain, in a time that depends little on how slowly the chain mixes.
//
// # The idea
//
// Gauss–Seidel sweeps balance the flow at each state in turn. After a few sweeps the
// error varies little from a state to its neighbours, and mass moves only slowly over
// long distances. So states are lumped in groups, and the masses of the groups are the
// stationary distribution of a smaller chain,
//
//	P(I, J) = Σ_{i∈I} μ(i)/μ(I) Σ_{j∈J} P(i, j),
//
// if μ is known up to a factor in each group (aggregation–disaggregation: Takahashi
// 1975; Koury, McAllister and Stewart 1984). The smaller chain is treated in the same
// way, down to one that is solved by elimination (Horton and Leutenegger 1994). A
// [level.balance] is such a cycle, from the finest level down and up again; it forms
// no differences, and every mass stays positive.
//
// Once μ is roughly right, the groups' shares are frozen and the same cycle, now
// linear ([cycle.correct]), approximates the inverse of I − Pᵀ. It preconditions a
// Krylov iteration, the generalised conjugate residual method, at a fifth of the cost
// of a balance. It leaves out the states with almost no mass ([solver.heavy]), which are
// left to sweeps. The scaled matrix (I − Pᵀ) diag μ has zero row and column sums, for which
// piecewise constant interpolation is the right one (Notay 2012; De Sterck, Treister and
// others 2010–11). When the residual is a thousandth of what it was, the shares are computed
// anew.
//
// All processors work at the same blocks of states whatever their number ([each]), and
// Gauss–Seidel visits blocks of one colour at once ([order]), so results are the same to
// the bit.
//
// # What was measured
//
// User time on an EPYC for ‖μ − μP‖₁ ≤ 1e-10 in the four-queue network of 1,028,196
// states under LONGER, with 14.4 million moves, from the uniform measure; the slowest
// mode of Gauss–Seidel loses .0021 of itself in a sweep.
//
//	Gauss–Seidel, forward and backward           9656 sweeps to 1e-12, 200 s
//	conjugate residuals preconditioned by it      578 sweeps, 13 s
//	balances alone                                103 sweeps, 12 s
//	this package                                   54 sweeps, 2.5 s
//
// In the recurrent class of LBFS, 65,910 states, it is 70 sweeps and 0.2 s. Of the 2.5 s,
// two fifths go to corrections, a fifth to the two balances, a seventh to groups. What
// makes it fast:
//
//   - Corrections leave out the states that have together a 256th of the residual aimed at.
//     Of 818,184 there are 379,963 left, and then 577,458: 24 and 33 ms a correction, on two
//     processors, in place of 41.
//   - What is left after a correction is known from half of the moves (see cycle.correct):
//     2½ passes over the chain in place of 4. The halves are stored apart, since memory comes
//     in lines: a pass over one half takes 3 ms in place of 5, the whole 4.
//   - A state's new mass is kept where it balances the flow (see solver.iterate). To keep all
//     masses between a tenth and ten times what they were raises the residual from 3e-11 to
//     1e-3 at the end, and takes 104 sweeps.
//   - Corrections of the groups are taken 1.4 times (see overCorrection), which makes one
//     visit from the finest level as good as two.
//   - Steps that gain little are given more time each time (see krylov.patience): random graphs and
//     grids whose weights differ by 10⁴ take hundreds of sweeps in place of ten thousand.
//   - Rows are visited in the order of the states. In that of the groups memory is read
//     in jumps, and lumping takes 60 ms in place of 32, restricting 57 in place of 14.
//
// In reads of the matrix of all 1,028,196 states, at 12 bytes a move, the loops read and write, if nothing
// stays in a cache:
//
//	recurrent class, lists of arrivals                            3
//	levels and groups                                             7
//	14 sweeps, 9 residuals                                       20
//	two balances                                                 19
//	chains of the heavy states, twice                             9
//	17 corrections: finest level, groups, directions     26 + 17 + 8
//	estimate of the error, by some 6 corrections more            20
//	                                                            129
//
// At the speed of a STREAM triad that is a third of the time which data/peers.csv has. Corrections with values of
// 32 bits would save some 13 reads, and columns of 16 bits as many; 60 reads take fewer sweeps.
//
// Tried, and left out:
//
//   - Like rows stored once, as most states of a network allow: 5 to 15 % less.
//   - Corrections without a first sweep: a correction takes 10 to 25 % less, and a quarter to
//     a half more of them are needed.
//   - Directions kept from one set of shares to the next: as many steps.
//   - One visit of levels with less than a 64th of the states: 7 % less, and 136 sweeps in
//     place of 50 on a grid of 700².
//   - One visit from the finest level in a balance: 66 sweeps and more.
//   - Groups by the flow of a first μ, or such that a state joins only where a large part of its flow goes:
//     as many sweeps on random graphs.
//
// On slower chains the other methods fall behind: a queue of 20,000 lengths, which mixes
// in 10⁷ steps, takes this package 68 sweeps to 1e-14. Shares from a poor μ make a
// preconditioner that stalls at a residual of 1e-4, which is why the balances come first.
// On random graphs whose weights differ by 10⁵ and more it stalls for good.
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

// Chain is an irreducible Markov chain, seen from where moves arrive.
type Chain struct {
	In    *sparse.Matrix // row i: the states j ≠ i from which i is entered, with P(j, i)
	Leave []float64      // Σ_{j≠i} P(i, j), the probability of leaving i
}

// Settings control [Stationary].
type Settings struct {
	Tolerance float64 // of ‖μ − μP‖₁
	MaxSweeps int
	Progress  func(sweeps int, residual float64) // may be nil
}

// Result says how accurate μ is.
type Result struct {
	Residual float64 // ‖μ − μP‖₁
	Error    float64 // an estimate of the ℓ₁ distance of μ from the stationary distribution; 2 if none was made
	Sweeps   int     // Gauss–Seidel sweeps over states, not groups of them
}

// Stationary turns mu, a guess with positive sum, into the stationary distribution.
// On cancellation and after MaxSweeps mu is the best so far, and the error says so.
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

// most leaves 32 bits to count moves; twice as many would take 26 GB.
const most = 1 << 30

type solver struct {
	ctx      context.Context
	set      Settings
	top      *level
	mu       []float64
	residual []float64 // μP − μ
	cycle    *cycle    // with the present shares of all levels, or nil
	krylov   krylov
	Result
}

// batch is the number of sweeps between computations of the residual, each of which costs
// about a sweep.
const batch = 10

// balances is how many come before the Krylov iteration. One leaves shares with which its
// first steps gain little: 67 sweeps where 56 do with two, in the network.
const balances = 2

// run sweeps as long as that makes good progress, and then alternates between
// balances and a Krylov iteration until the residual is small.
func (s *solver) run() error {
	var built sync.WaitGroup
	built.Go(s.top.build) // a half of it is done one state after the other
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
	// At least one balance is made: sweeps alone may have a small residual where clusters
	// that rarely communicate have wrong masses.
	built.Wait()
	for k := 1; s.ctx.Err() == nil && (k == 1 || !s.done()); k++ {
		before := s.Residual
		s.top.balance(s.mu)
		normalise(s.mu)
		// A balance that gains a lot may gain a lot again; the Krylov iteration needs
		// shares that are settled.
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

// stage is how much the residual is lessened with the same shares: by then better ones
// are known.
const stage = 1e-3

// iterate improves μ by solving (I − Pᵀ) e = residual for a correction e, and takes
// it if it is an improvement. It returns whether it was a great one.
//
// The correction has an absolute error, which may be many times the mass of a state
// that is rarely visited. Balances give such masses to a relative accuracy, and
// need them: noise in their place makes shares of chains with traps. So a state takes
// its new mass if that balances half of its flow or more. Else the mass it had is moved
// into the range of those that its neighbours leave open.
func (s *solver) iterate() bool {
	const least = 0.1 // of the mass it had, where the range holds no positive one
	was, old := s.Residual, slices.Clone(s.mu)
	s.cycle = nil // shares are taken anew
	// The sweeps that follow cost a little: aim lower.
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

// solve returns a correction e, of the states of the cycle, with which the residual
// comes down to the target, if that can be reached.
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

// negligible is the part of the residual aimed at that states may have, in mass and
// residual together, that corrections leave out.
const negligible = 1. / 256

// heavy returns the states that corrections are for, all but light ones that have the given
// mass and residual together: such states are almost never visited. If the rest are
// more than three quarters of all, it returns all.
func (s *solver) heavy(light float64) []int32 {
	least := s.least(light)
	states := slices.DeleteFunc(every(len(s.mu)), func(i int32) bool { return s.weight(int(i)) < least })
	if 4*len(states) > 3*len(s.mu) {
		return every(len(s.mu))
	}
	return states
}

// weight is what state i counts for.
func (s *solver) weight(i int) float64 { return s.mu[i] + math.Abs(s.residual[i]) }

// least returns a power of two such that the states of less weight have together no more
// than the given one.
func (s *solver) least(weight float64) float64 {
	const smallest, sizes = 1074, 1074 + 2 // Ilogb is from −1074, the least number's, to 1: a weight is below 4
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

// estimate sets Error: the size of the corrections that remove the residual. The Krylov iteration leaves a part of it that
// decays more slowly than the rest, and may hide corrections ten times as large as the first. So that is halved again and
// again, eight times where the iteration has needed patience, and until a correction is small beside those before; what remains
// is taken to be as large in all. The residual has rounding errors of the size δ(i), which grows as the root of the number of
// terms, since roundings are independent. They are added to the residual with the signs of the first correction, the worst
// ones, but scaled by ‖δ‖₂/‖δ‖₁, since independent errors add up to ‖δ‖₂. If the residual is not halved in four tries, or all this
// takes more than four times the sweeps of μ and 1,000 more, nothing is claimed.
func (s *solver) estimate() {
	if s.Error, s.set.MaxSweeps = 2, 5*s.Sweeps+1000; s.Residual == 0 {
		return
	}
	found, e, left := s.Result, make([]float64, len(s.mu)), make([]float64, len(s.mu))
	defer func() { s.Residual, s.Sweeps = found.Residual, found.Sweeps }()
	start, sum, size, halvings := s.Residual, 0., 0., 0
	for tries := 0; tries < 4 && halvings < 20; tries++ {
		// The residual adds up to 0, and there is no correction for what rounding makes of that.
		off := total(len(e), func(lo, hi int) float64 { return floats.Sum(s.residual[lo:hi]) })
		floats.AddScaled(s.residual, -off, s.mu)
		s.Residual = norm1(s.residual)
		clear(e)
		for at, v := range s.solve(start / 4) {
			e[s.cycle.states[at]] = v
		}
		s.top.imbalance(left, e)
		floats.Add(left, s.residual)
		// A correction may hold any multiple of μ: μ + e is 1 + Σe times the solution.
		more := total(len(e), func(lo, hi int) float64 { return floats.Sum(e[lo:hi]) })
		floats.AddScaled(e, -more, s.mu)
		size += norm1(e) / math.Abs(1+more)
		s.residual, left = left, s.residual
		switch halved := norm1(s.residual) <= start/2 && s.ctx.Err() == nil; {
		case halved && halvings > 0 && size <= sum/2 && (halvings > 6 || s.krylov.patience == leastPatience):
			s.Error = sum + 2*size + 0x1p-51 // for μ, which is rounded
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
