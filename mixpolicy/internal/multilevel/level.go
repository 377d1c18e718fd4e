package multilevel

import (
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// level is a chain, and how its states are lumped to those of the next level.
type level struct {
	*solver
	in      *sparse.Matrix // as in Chain, with rows arranged by order
	split   []int          // where in a row the part of split blocks begins
	later   []int          // and where that of states that are visited later
	order   order
	leave   []float64
	inverse []float64 // 1/leave, 0 where that overflows
	mass    []float64 // the measure that the shares are taken from

	grouping
	share []float64 // mass of a state over that of its group
	slot  []int32   // of each entry of in: its place in its row of next, or inside
	next  *level    // nil on the coarsest level

	elimination *elimination // of the coarsest level

	z, b, r []float64 // workspace: a correction, its right-hand side, what is left of it
}

func (s *solver) newLevel(in *sparse.Matrix, leave []float64) *level {
	l := &level{solver: s, in: in, leave: leave, order: newOrder(in)}
	l.split, l.later = l.order.arrange(in)
	for _, v := range []*[]float64{&l.inverse, &l.mass, &l.z, &l.b, &l.r} {
		*v = make([]float64, len(leave))
	}
	return l
}

// flow returns Σ_e z(col_e) val_e, what comes in from some of the states. Two sums run
// beside each other, since an addition has to wait for the one before.
func flow(col []int32, val, z []float64) float64 {
	var s, t float64
	for len(col) >= 4 && len(val) >= 4 {
		s += val[0] * z[col[0]]
		t += val[1] * z[col[1]]
		s += val[2] * z[col[2]]
		t += val[3] * z[col[3]]
		col, val = col[4:], val[4:]
	}
	val = val[:len(col)]
	for e, j := range col {
		s += val[e] * z[j]
	}
	return s + t
}

// entering returns what comes into a state by some of the entries of its row.
func (l *level) entering(z []float64, from, to int) float64 {
	return flow(l.in.Col[from:to], l.in.Val[from:to], z)
}

// leastNormal is the least number whose inverse is finite for sure.
const leastNormal = 0x1p-1022

func (l *level) invert() {
	each(len(l.leave), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			l.inverse[i] = 0
			if l.leave[i] >= leastNormal {
				l.inverse[i] = 1 / l.leave[i]
			}
		}
	})
}

// stop counts a sweep over all states, and tells whether to stop.
func (l *level) stop() bool {
	if l.ctx.Err() != nil {
		return true
	}
	if l == l.top {
		l.Sweeps++
	}
	return false
}

// sweep balances the flow at each state in turn: z(i) leave(i) = Σ_j z(j)P(j,i).
func (l *level) sweep(z []float64, backward bool) {
	if l.stop() {
		return
	}
	l.between(l.r, z)
	l.order.visit(len(z), backward, func(lo, hi int) {
		ptr, split, later, inverse := l.in.Ptr, l.split, l.later, l.inverse
		for k := range hi - lo {
			i := lo + k
			if backward {
				i = hi - 1 - k
			}
			if v := inverse[i]; v > 0 && l.order.split {
				z[i] = v * (l.r[i] + l.entering(z, ptr[i], split[i]) + l.entering(z, later[i], ptr[i+1]))
			} else if v > 0 {
				z[i] = v * l.entering(z, ptr[i], ptr[i+1])
			}
		}
	})
}

// between sets r to what the states bring each other across split blocks before a sweep,
// if there are any.
func (l *level) between(r, z []float64) {
	if !l.order.split {
		return
	}
	each(len(z), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			r[i] = l.entering(z, l.split[i], l.later[i])
		}
	})
}

// imbalance sets dst(i) = Σ_j z(j)P(j,i) − z(i) leave(i).
func (l *level) imbalance(dst, z []float64) {
	each(len(dst), func(_, lo, hi int) {
		ptr, leave := l.in.Ptr, l.leave
		for i := lo; i < hi; i++ {
			dst[i] = l.entering(z, ptr[i], ptr[i+1]) - z[i]*leave[i]
		}
	})
}

// leastMass keeps a state whose measure underflows from having no share at all in
// its group. Masses add up to 1.
const leastMass = 0x1p-1000

// lump makes next the chain of the groups under the measure z.
func (l *level) lump(z []float64) {
	c := l.next
	each(len(c.mass), func(_, lo, hi int) {
		for g := lo; g < hi; g++ {
			members := l.of(g)
			c.mass[g] = 0
			for _, i := range members {
				l.mass[i] = max(z[i], leastMass)
				c.mass[g] += l.mass[i]
			}
			for _, i := range members {
				l.share[i] = l.mass[i] / c.mass[g]
			}
		}
	})
	l.eachOf(func(lo, hi int32, states func(yield func(i int) bool)) {
		clear(c.in.Val[c.in.Ptr[lo]:c.in.Ptr[hi]])
		for i := range states {
			row := c.in.Val[c.in.Ptr[l.group[i]]:]
			from, to := l.in.Ptr[i], l.in.Ptr[i+1]
			col := l.in.Col[from:to]
			val, slot := l.in.Val[from:to][:len(col)], l.slot[from:to][:len(col)]
			for e, j := range col {
				if s := slot[e]; s != inside {
					row[s] += val[e] * l.share[j]
				}
			}
		}
	})
	clear(c.leave)
	for e, from := range c.in.Col {
		c.leave[from] += c.in.Val[e]
	}
	c.invert()
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
// error of the coarser levels piles up, and convergence depends on the size. From the
// finest level a correction makes one: a second makes 63 sweeps of 67, and doubles
// all work below.
const visits = 2

// balance improves the measure z by a cycle of sweeps and lumping.
func (l *level) balance(z []float64) {
	if l.next == nil {
		l.elimination.factor(l.in, z)
		l.elimination.stationary(z)
		return
	}
	l.sweep(z, false)
	c := l.next
	for k := range visits {
		if l.ctx.Err() != nil {
			return
		}
		l.lump(z)
		copy(c.z, c.mass)
		c.balance(c.z)
		clear(z)
		l.spread(z, c.z, 1)
		l.sweep(z, k%2 == 0)
	}
}

// correct sets e to an approximate solution of e(i) leave(i) − Σ_j e(j)P(j,i) = b(i),
// where b adds up to zero, and r to what is left of b. It is linear in b while the shares
// stay.
//
// What is left after a sweep comes from half of the moves. The first sweep, backward
// from e = 0, balances each state given the later ones, and what the others then bring
// is left. The last sweep, forward, leaves by how much those not earlier changed.
func (l *level) correct(e, b, r []float64) {
	if l.next == nil {
		l.elimination.solve(e, b)
		return
	}
	l.first(e, b)
	c := l.next
	l.restrict(c.b, r, e)
	for k := range visits {
		c.correct(c.z, c.b, c.r)
		l.spread(e, c.z, overCorrection)
		if k+1 == visits || c.next == nil || l == l.top {
			break
		}
		for g := range c.b {
			c.b[g] += overCorrection * (c.r[g] - c.b[g])
		}
	}
	l.last(e, b, r)
}

// first sets e by a backward sweep from zero.
func (l *level) first(e, b []float64) {
	if l.stop() {
		return
	}
	l.order.visit(len(e), true, func(lo, hi int) {
		ptr, later, inverse := l.in.Ptr, l.later, l.inverse
		for i := hi - 1; i >= lo; i-- {
			e[i] = inverse[i] * (b[i] + l.entering(e, later[i], ptr[i+1]))
		}
	})
}

// restrict sets r to what [level.first] has left, and adds it up in each group.
func (l *level) restrict(sum, r, e []float64) {
	each(len(e), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			r[i] = l.entering(e, l.in.Ptr[i], l.later[i])
		}
	})
	each(len(sum), func(_, lo, hi int) {
		for g := lo; g < hi; g++ {
			var s float64
			for _, i := range l.of(g) {
				s += r[i]
			}
			sum[g] = s
		}
	})
}

// last improves e by a forward sweep, and sets r to what is left.
func (l *level) last(e, b, r []float64) {
	if l.stop() {
		return
	}
	l.between(r, e)
	ptr, split, later, inverse := l.in.Ptr, l.split, l.later, l.inverse
	l.order.visit(len(e), false, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			before := l.entering(e, later[i], ptr[i+1])
			if l.order.split {
				before += r[i]
			}
			r[i] = before
			e[i] = inverse[i] * (b[i] + before + l.entering(e, ptr[i], split[i]))
		}
	})
	each(len(e), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			r[i] = l.entering(e, split[i], ptr[i+1]) - r[i]
		}
	})
}

// spread adds a correction of the groups, times a factor, to their members, by their
// shares.
func (l *level) spread(e, coarse []float64, factor float64) {
	each(len(e), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			e[i] += factor * l.share[i] * coarse[l.group[i]]
		}
	})
}

// overCorrection is by how much corrections of the groups are lengthened. Equal in all of
// a group, they cost more steps in the flow than smooth ones, and come out too small: by
// a half between pairs on a line (Braess 1995). Sweeps in the network, one visit from the
// finest level: 87 without, 67 with 1.4, 67 with 1.7.
const overCorrection = 1.4
