package multilevel

import "github.com/mixpolicy/lab/mixpolicy/internal/sparse"

// level is a chain, with the grouping of its states into the states of the next level.
type level struct {
	*solver
	in      *sparse.Matrix // as in Chain, but with each row arranged by order.arrange
	split   []int          // in row i: where the entries of the states visited at the same time as i begin
	later   []int          // in row i: where the entries of the states visited after i begin
	order   order
	leave   []float64
	inverse []float64 // 1/leave, or 0 where leave is below the normal range
	mass    []float64 // the measure that determines the shares

	grouping
	share []float64 // mass of a state divided by the mass of its group
	sums  []float64 // the values of next.in, then the sums of moves inside groups
	slot  []int32   // for each entry of in: its place in sums
	next  *level    // nil on the coarsest level

	elimination *elimination // nil except on the coarsest level

	parts [3]sparse.Matrix // parts of the present cycle, see takeParts

	z, r []float64 // workspace: a measure, and the flow between split blocks
}

func (s *solver) newLevel(in *sparse.Matrix, leave []float64) *level {
	l := &level{solver: s, in: in, leave: leave, order: newOrder(in)}
	l.split, l.later = l.order.arrange(in)
	for _, v := range []*[]float64{&l.inverse, &l.mass, &l.z, &l.r} {
		*v = make([]float64, len(leave))
	}
	return l
}

// flow returns Σ_e z(col_e) val_e over from ≤ e < to, the inflow from the states of these
// entries. Two sums run in parallel, because an addition waits for the previous one.
func flow(in *sparse.Matrix, z []float64, from, to int) float64 {
	col := in.Col[from:to]
	val := in.Val[from:to][:len(col)]
	var s, t float64
	e := 0
	for ; e < len(col)-3; e += 4 {
		s += val[e] * z[col[e]]
		t += val[e+1] * z[col[e+1]]
		s += val[e+2] * z[col[e+2]]
		t += val[e+3] * z[col[e+3]]
	}
	for ; e < len(col); e++ {
		s += val[e] * z[col[e]]
	}
	return s + t
}

// inflow returns the flow into state i from the entries of its row.
func inflow(in *sparse.Matrix, z []float64, i int) float64 {
	return flow(in, z, in.Ptr[i], in.Ptr[i+1])
}

func (l *level) invert() {
	each(len(l.leave), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			if l.inverse[i] = 1 / l.leave[i]; l.leave[i] < 0x1p-1022 { // then the inverse may be infinite
				l.inverse[i] = 0
			}
		}
	})
}

// stop counts a sweep if it is on the finest level (then all is true), and reports whether ctx has ended.
func (s *solver) stop(all bool) bool {
	if all {
		s.Sweeps++
	}
	return s.ctx.Err() != nil
}

// sweep balances the flow at each state in turn: z(i) leave(i) = Σ_j z(j)P(j,i).
func (l *level) sweep(z []float64, backward bool) {
	if l.stop(l == l.top) {
		return
	}
	if l.order.split { // the flow across blocks
		each(len(z), func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				l.r[i] = flow(l.in, z, l.split[i], l.later[i])
			}
		})
	}
	l.order.visit(backward, func(lo, hi int) {
		ptr, split, later, inverse := l.in.Ptr, l.split, l.later, l.inverse
		for k := range hi - lo {
			i := lo + k
			if backward {
				i = hi - 1 - k
			}
			if v := inverse[i]; v > 0 && l.order.split {
				z[i] = v * (l.r[i] + flow(l.in, z, ptr[i], split[i]) + flow(l.in, z, later[i], ptr[i+1]))
			} else if v > 0 {
				z[i] = v * inflow(l.in, z, i)
			}
		}
	})
}

// imbalance sets dst(i) = Σ_j z(j)P(j,i) − z(i) leave(i).
func (l *level) imbalance(dst, z []float64) {
	each(len(dst), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			dst[i] = inflow(l.in, z, i) - z[i]*l.leave[i]
		}
	})
}

// leastMass is the least mass of a state. Because of it, even a state whose measure underflows
// has a positive share in its group. Except in [level.build], masses add up to about 1.
const leastMass = 0x1p-1000

// lump sets l.next to the chain of the groups under the measure z.
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
	// In the order of groups, memory would be read in jumps, which takes longer (see the package comment).
	parallel(l.portions(), func(k int) {
		lo, hi, first, last := l.portion(k)
		clear(l.sums[c.in.Ptr[lo]:c.in.Ptr[hi]])
		sums, share := l.sums, l.share
		for i := first; i <= last; i++ {
			if g := int(l.group[i]); g < lo || g >= hi {
				continue
			}
			from, to := l.in.Ptr[i], l.in.Ptr[i+1]
			col := l.in.Col[from:to]
			val, slot := l.in.Val[from:to][:len(col)], l.slot[from:to][:len(col)]
			for e, j := range col {
				sums[slot[e]] += val[e] * share[j]
			}
		}
	})
	clear(c.leave)
	for e, from := range c.in.Col {
		c.leave[from] += c.in.Val[e]
	}
	c.invert()
}

// balance improves the measure z by a cycle of sweeps and lumping.
func (l *level) balance(z []float64) {
	if l.next == nil {
		l.elimination.factor(l.in, z)
		l.elimination.stationary(z)
		return
	}
	l.cycle = nil // the shares of the cycle are about to change
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
		l.spread(z, c.z, l.share, 1)
		l.sweep(z, k%2 == 0)
	}
}

// spread adds factor·coarse to z, divided among the members of each group by their shares; coarse holds the masses of
// the groups or a correction of these masses.
func (x *grouping) spread(z, coarse, share []float64, factor float64) {
	each(len(z), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			z[i] += factor * share[i] * coarse[x.group[i]]
		}
	})
}
