package multilevel

import (
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// cycle is a level with frozen shares, restricted to some of its states: a linear map that
// approximates the inverse of I − Pᵀ. All indices count only these states, and moves from
// other states are omitted.
type cycle struct {
	*solver
	states []int32 // numbers of the states in the level, increasing
	order  order

	// The entries of the rows, in the three parts of order.arrange. They are separate because most
	// loops do not need all parts, and would otherwise read the other parts from memory as well.
	early, beside, late *sparse.Matrix
	inverse             []float64 // as in level

	grouping
	share []float64
	next  *cycle

	elimination *elimination // nil except on the coarsest level

	z, b, r []float64 // workspace
}

// freeze lumps all levels under the measure z and returns the cycle over the given states of
// this level. The coarser cycles contain the groups of these states; the coarsest cycle
// contains all groups.
func (l *level) freeze(z []float64, states []int32) *cycle {
	if l.next == nil {
		states = every(len(z))
	}
	c := &cycle{solver: l.solver, states: states}
	for _, v := range []*[]float64{&c.z, &c.b, &c.r} {
		*v = make([]float64, len(states))
	}
	if l.next == nil {
		l.elimination.factor(l.in, z)
		c.elimination = l.elimination
		return c
	}
	l.lump(z)
	c.order = l.order.among(states)
	l.takeParts(states)
	if c.early, c.late = &l.parts[0], &l.parts[2]; l.order.split {
		c.beside = &l.parts[1]
	}
	c.inverse, c.share = gather(l.inverse, states), gather(l.share, states)
	groups := gather(l.group, states)
	has := numbers(l.groups(), groups)
	c.next = l.next.freeze(l.next.mass, slices.DeleteFunc(every(l.groups()), func(g int32) bool { return has[g] == none }))
	c.grouping = newGrouping(gather(numbers(l.groups(), c.next.states), groups), len(c.next.states))
	return c
}

// none is the number of a state that is not in a cycle.
const none = -1

// every returns 0, …, n−1.
func every(n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(i)
	}
	return x
}

// numbers returns, for each of 0, …, n−1, its place in the given list, or none if the list does not contain it.
func numbers(n int, given []int32) []int32 {
	x := slices.Repeat([]int32{none}, n)
	for k, i := range given {
		x[i] = int32(k)
	}
	return x
}

func gather[T any](x []T, states []int32) []T {
	out := make([]T, len(states))
	each(len(states), func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			out[k] = x[states[k]]
		}
	})
	return out
}

// takeParts sets l.parts to the rows of the given states, without the entries in the columns
// of other states: part k contains the entries from cuts[k][i] to cuts[k+1][i]−1 of each row
// i. It overwrites the parts of the previous cycle.
func (l *level) takeParts(states []int32) {
	in, n, number, all := l.in, len(states), numbers(len(l.leave), states), &l.parts
	cuts := [][]int{in.Ptr, l.split, l.later, in.Ptr[1:]}
	for m := range all {
		all[m].Rows, all[m].Cols, all[m].Ptr = n, n, sized(all[m].Ptr, n+1)
		all[m].Ptr[0] = 0
	}
	each(n, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			i := states[k]
			for m := range all {
				from, to := cuts[m][i], cuts[m+1][i]
				count := to - from
				for _, j := range in.Col[from:to] {
					if number[j] == none {
						count--
					}
				}
				all[m].Ptr[k+1] = count
			}
		}
	})
	for m := range all {
		x := &all[m]
		for k := range n {
			x.Ptr[k+1] += x.Ptr[k]
		}
		x.Col, x.Val = sized(x.Col, x.Ptr[n]), sized(x.Val, x.Ptr[n])
	}
	each(n, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			i := states[k]
			for m := range all {
				x, at := &all[m], all[m].Ptr[k]
				for e := cuts[m][i]; e < cuts[m+1][i]; e++ {
					if j := number[in.Col[e]]; j != none {
						x.Col[at], x.Val[at] = j, in.Val[e]
						at++
					}
				}
			}
		}
	})
}

// visits is the number of times that a cycle visits the next level; with 2, it is a W-cycle.
// With one visit, the errors of the coarser levels add up, and chains of more states need more
// cycles. From the finest level, a correction makes only one visit, because a second visit reduces
// the number of sweeps for the network only from 67 to 63, and doubles all work on coarser levels.
const visits = 2

// correct sets e to an approximate solution of e(i) leave(i) − Σ_j e(j)P(j,i) = b(i),
// where b adds up to zero. If wanted is true, it sets r to the rest of b, the residual of this
// equation. Both e and r are linear in b.
//
// The rest after a sweep comes from half of the moves. The first sweep, backward from
// e = 0, balances each state given e at the later states, so the rest is the inflow
// from all other states. After the last sweep, forward, the rest is the change of the
// inflow from states that are not earlier.
func (c *cycle) correct(e, b, r []float64, wanted bool) {
	if c.elimination != nil {
		c.elimination.solve(e, b)
		return
	}
	top := c == c.solver.cycle
	if !c.stop(top) { // a backward sweep from zero
		c.order.visit(true, func(lo, hi int) {
			late, inverse := c.late, c.inverse
			for i := hi - 1; i >= lo; i-- {
				e[i] = inverse[i] * (b[i] + inflow(late, e, i))
			}
		})
	}
	d := c.next
	c.restrict(d.b, r, e)
	for k := range visits {
		last := k+1 == visits || d.elimination != nil || top
		d.correct(d.z, d.b, d.r, !last)
		c.spread(e, d.z, c.share, overCorrection)
		if last {
			break
		}
		for g := range d.b {
			d.b[g] += overCorrection * (d.r[g] - d.b[g])
		}
	}
	c.last(e, b, r, wanted)
}

// restrict sets r to the rest after the first sweep of [cycle.correct], and sum[g] to the sum of r over
// group g.
func (c *cycle) restrict(sum, r, e []float64) {
	each(len(e), func(_, lo, hi int) {
		early, beside := c.early, c.beside
		for i := lo; i < hi; i++ {
			r[i] = inflow(early, e, i)
			if beside != nil {
				r[i] += inflow(beside, e, i)
			}
		}
	})
	each(len(sum), func(_, lo, hi int) {
		for g := lo; g < hi; g++ {
			var s float64
			for _, i := range c.of(g) {
				s += r[i]
			}
			sum[g] = s
		}
	})
}

// overCorrection is the factor that lengthens corrections of the groups. Relative to the shares,
// such a correction is constant on each group. So the flow jumps between groups, and the correction
// is too small: by a half between pairs of states on a line (Braess 1995). With one visit from the
// finest level, the network takes 87 sweeps without the factor, 67 with 1.4, and 67 with 1.7.
const overCorrection = 1.4

// last improves e by a forward sweep. If wanted is true, it sets r to the rest of b.
func (c *cycle) last(e, b, r []float64, wanted bool) {
	if c.stop(c == c.solver.cycle) {
		return
	}
	early, beside, late, inverse := c.early, c.beside, c.late, c.inverse
	if beside != nil {
		each(len(e), func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				r[i] = inflow(beside, e, i)
			}
		})
	}
	c.order.visit(false, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			before := inflow(late, e, i)
			if beside != nil {
				before += r[i]
			}
			r[i] = before
			e[i] = inverse[i] * (b[i] + before + inflow(early, e, i))
		}
	})
	if !wanted {
		return
	}
	each(len(e), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			after := inflow(late, e, i)
			if beside != nil {
				after += inflow(beside, e, i)
			}
			r[i] = after - r[i]
		}
	})
}
