package multilevel

import (
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// level is a chain, and how its states are lumped to those of the next level.
type level struct {
	*solver
	in    *sparse.Matrix // as in Chain
	leave []float64
	mass  []float64 // the measure that the shares are taken from

	group   []int32   // of each state: the state of next that it is lumped to
	members []int32   // the states, group after group
	first   []int32   // group I has members[first[I]:first[I+1]]
	share   []float64 // mass of a state over that of its group
	next    *level    // nil on the coarsest level

	elimination *elimination // of the coarsest level

	// Workspace.
	acc     []float64 // zero between uses
	z, b, r []float64 // a measure or correction, its right-hand side, a residual
}

// sweep balances the flow at each state in turn: z(i) leave(i) = Σ_j z(j)P(j,i) + b(i).
// A nil b is zero.
func (l *level) sweep(z, b []float64, backward bool) {
	if l.ctx.Err() != nil {
		return
	}
	if l == l.top {
		l.Sweeps++
	}
	n := len(l.leave)
	for k := range n {
		i := k
		if backward {
			i = n - 1 - k
		}
		lo, hi := l.in.Ptr[i], l.in.Ptr[i+1]
		col := l.in.Col[lo:hi]
		val := l.in.Val[lo:hi:hi][:len(col)]
		var in float64
		for e, j := range col {
			in += val[e] * z[j]
		}
		if b != nil {
			in += b[i]
		}
		if l.leave[i] > 0 { // 0: the shares of those that leave a group underflow
			z[i] = in / l.leave[i]
		}
	}
}

// imbalance sets dst(i) = b(i) + Σ_j z(j)P(j,i) − z(i) leave(i).
func (l *level) imbalance(dst, z, b []float64) {
	for i := range dst {
		lo, hi := l.in.Ptr[i], l.in.Ptr[i+1]
		col := l.in.Col[lo:hi]
		val := l.in.Val[lo:hi:hi][:len(col)]
		var in float64
		for e, j := range col {
			in += val[e] * z[j]
		}
		if b != nil {
			in += b[i]
		}
		dst[i] = in - z[i]*l.leave[i]
	}
}

// leastMass keeps a state whose measure underflows from having no share at all in
// its group. Masses add up to 1.
const leastMass = 0x1p-1000

// lump makes next the chain of the groups under the measure z.
func (l *level) lump(z []float64) {
	c := l.next
	clear(c.mass)
	for i, v := range z {
		l.mass[i] = max(v, leastMass)
		c.mass[l.group[i]] += l.mass[i]
	}
	for i, g := range l.group {
		l.share[i] = l.mass[i] / c.mass[g]
	}
	clear(c.leave)
	for g := range c.leave {
		for _, i := range l.members[l.first[g]:l.first[g+1]] {
			lo, hi := l.in.Ptr[i], l.in.Ptr[i+1]
			col := l.in.Col[lo:hi]
			val := l.in.Val[lo:hi:hi][:len(col)]
			for e, j := range col {
				l.acc[l.group[j]] += val[e] * l.share[j]
			}
		}
		l.acc[g] = 0 // moves inside a group
		for e := c.in.Ptr[g]; e < c.in.Ptr[g+1]; e++ {
			from := c.in.Col[e]
			p := l.acc[from]
			l.acc[from] = 0
			c.in.Val[e] = p
			c.leave[from] += p
		}
	}
}

// lumpAll lumps this and all coarser levels under z.
func (l *level) lumpAll(z []float64) {
	for ; l.next != nil; l = l.next {
		l.lump(z)
		z = l.next.mass
	}
	l.elimination.factor(l.in, z)
}

// visits is how often a cycle visits the next level: a W-cycle. With one visit the
// error of the coarser levels piles up, and convergence depends on the size.
const visits = 2

// balance improves the measure z by a cycle of sweeps and lumping.
func (l *level) balance(z []float64) {
	if l.next == nil {
		l.elimination.factor(l.in, z)
		l.elimination.stationary(z)
		return
	}
	l.sweep(z, nil, false)
	c := l.next
	for k := range visits {
		if l.ctx.Err() != nil {
			return
		}
		l.lump(z)
		copy(c.z, c.mass)
		c.balance(c.z)
		for i, g := range l.group {
			z[i] = l.share[i] * c.z[g]
		}
		l.sweep(z, nil, k%2 == 0)
	}
}

// correct sets e to an approximate solution of e(i) leave(i) − Σ_j e(j)P(j,i) = b(i),
// where b adds up to zero. It is linear in b while the shares stay.
func (l *level) correct(e, b []float64) {
	if l.next == nil {
		l.elimination.solve(e, b)
		return
	}
	clear(e)
	l.sweep(e, b, false)
	l.imbalance(l.r, e, b)
	c := l.next
	clear(c.b)
	for i, g := range l.group {
		c.b[g] += l.r[i]
	}
	for range visits {
		c.correct(c.z, c.b)
		l.spread(e, c.z)
		if c.next == nil {
			break // nothing is left to correct
		}
		c.imbalance(c.b, c.z, c.b)
	}
	l.sweep(e, b, true)
}

// spread adds a correction of the groups to their members, by their shares.
func (l *level) spread(e, coarse []float64) {
	for i, g := range l.group {
		e[i] += l.share[i] * coarse[g]
	}
}
