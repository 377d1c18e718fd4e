package multilevel

import (
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// coarsest is the greatest number of states for elimination, because for 250 states, the n³/3
// operations, 5 million, are fewer than the operations of a sweep over a million states.
const coarsest = 250

// grouping is a partition of the states into groups.
type grouping struct {
	group   []int32 // the group of each state
	members []int32 // the states, group after group
	start   []int32 // the states of group g are members[start[g]:start[g+1]]
}

func (x *grouping) of(g int) []int32 { return x.members[x.start[g]:x.start[g+1]] }
func (x *grouping) groups() int      { return len(x.start) - 1 }

// newGrouping returns the grouping in which state i is in group[i]; groups is the number of groups.
func newGrouping(group []int32, groups int) grouping {
	x := grouping{group: group, members: make([]int32, len(group)), start: make([]int32, groups+1)}
	for _, g := range group {
		x.start[g+1]++
	}
	for g := range groups {
		x.start[g+1] += x.start[g]
	}
	end := slices.Clone(x.start)
	for i, g := range group {
		x.members[end[g]] = int32(i)
		end[g]++
	}
	return x
}

// build makes the coarser levels: groups and the patterns of their chains. Groups depend
// only on the chain, not on μ, so all cycles use the same groups.
func (l *level) build() {
	n := len(l.leave)
	if n <= coarsest {
		l.elimination = newElimination(n)
		return
	}
	l.share = make([]float64, n)
	l.grouping = newGrouping(every(n), n)
	// Most groups have 2 states on a line, and 4 or more otherwise. Larger groups make cheaper cycles that may converge
	// very slowly: a line of 10⁵ states takes 183 sweeps with groups of 2 and 1500 with groups of 4; a grid with fast
	// moves in one dimension and slow moves in the other takes 266 sweeps with groups of 4 and over 3000 with groups of
	// 8. If neighbours of neighbours are new states, as in a random graph, a pairing hardly reduces the number of
	// moves, so pairing continues until half of the moves are gone.
	least := 2 // least number of pairings
	if l.in.NNZ() < 3*l.in.Rows {
		least = 1
	}
	for k := 1; k <= least || 2*l.next.in.NNZ() > l.in.NNZ() && l.groups() > coarsest; k++ {
		if l.ctx.Err() != nil {
			return
		}
		l.grouping = pair(l.in, l.grouping)
		if k >= least {
			l.next = l.lumped()
		}
	}
	l.place()
	l.lump(slices.Repeat([]float64{1}, n)) // states have equal shares during the construction of groups
	l.next.build()
}

// pair joins groups of a chain in twos and threes, or more around a hub. Each group g without a
// partner joins the group from which the most flow enters g, where groups with a partner are
// considered only if all groups from which flow enters g have one. States have equal shares in
// their groups. Groups are numbered in order of their first states, so neighbours stay close.
func pair(in *sparse.Matrix, x grouping) grouping {
	n := x.groups()
	type partner struct {
		joined int32
		weight float64 // share of each state of the group
		enter  float64 // flow from this group into the current group; reset to 0 afterwards
	}
	all := make([]partner, n)
	for g := range all {
		all[g] = partner{joined: none, weight: 1 / float64(len(x.of(g)))}
	}
	var from []int32 // groups that enter the current group
	count := int32(0)
	for g := range all {
		if all[g].joined != none {
			continue
		}
		from = from[:0]
		for _, i := range x.of(g) {
			col, val := in.Row(int(i))
			for e, j := range col {
				h := x.group[j]
				p := &all[h]
				if p.enter == 0 {
					from = append(from, h)
				}
				p.enter += val[e] * p.weight
			}
		}
		all[g].enter = 0
		var free, any int32 = none, none
		var most, mostAny float64
		for _, h := range from {
			p := &all[h]
			v := p.enter
			p.enter = 0
			if v > mostAny || v == mostAny && h < any {
				any, mostAny = h, v
			}
			if p.joined == none && (v > most || v == most && h < free) {
				free, most = h, v
			}
		}
		if free == none && any != none {
			all[g].joined = all[any].joined
			continue
		}
		all[g].joined = count
		if free != none {
			all[free].joined = count
		}
		count++
	}
	group := make([]int32, len(x.group))
	each(len(group), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			group[i] = all[x.group[i]].joined
		}
	})
	return newGrouping(group, int(count))
}

// lumped returns the chain of the groups, with all values zero.
func (l *level) lumped() *level {
	groups := l.groups()
	parts := make([][]int32, l.portions())
	ptr := make([]int, groups+1)
	parallel(len(parts), func(k int) {
		last := make([]int32, groups) // last place of a group in col, counted from 1
		lo, hi, _, _ := l.portion(k)
		col := make([]int32, 0, l.in.NNZ()/len(parts)/2) // enough for most chains
		for g := lo; g < hi; g++ {
			row := len(col)
			for _, i := range l.of(g) {
				for _, j := range l.in.Col[l.in.Ptr[i]:l.in.Ptr[i+1]] {
					if from := l.group[j]; int(from) != g && int(last[from]) <= row {
						col = append(col, from)
						last[from] = int32(len(col))
					}
				}
			}
			ptr[g+1] = len(col) - row
		}
		parts[k] = col
	})
	for g := range groups {
		ptr[g+1] += ptr[g]
	}
	l.sums = make([]float64, ptr[groups]+inside*len(parts))
	in := &sparse.Matrix{Rows: groups, Cols: groups, Ptr: ptr, Col: slices.Concat(parts...), Val: l.sums[:ptr[groups]]}
	return l.newLevel(in, make([]float64, groups))
}

// inside is the number of places in sums that a portion of the groups uses for moves inside a group.
// These sums are not used, but skipping such moves takes longer. A portion uses its places in turn,
// because an addition waits for the previous addition to the same place. The places of two portions
// share at most one cache line.
const inside = 8

func (l *level) place() {
	l.slot = make([]int32, l.in.NNZ())
	parallel(l.portions(), func(k int) {
		at := make([]int32, l.groups()) // places in next.in
		lo, hi, _, _ := l.portion(k)
		for g := lo; g < hi; g++ {
			for e := l.next.in.Ptr[g]; e < l.next.in.Ptr[g+1]; e++ {
				at[l.next.in.Col[e]] = int32(e)
			}
			for _, i := range l.of(g) {
				for e := l.in.Ptr[i]; e < l.in.Ptr[i+1]; e++ {
					if from := l.group[l.in.Col[e]]; int(from) != g {
						l.slot[e] = at[from]
					} else {
						l.slot[e] = int32(l.next.in.NNZ() + k*inside + e%inside)
					}
				}
			}
		}
	})
}

// portions returns the number of parts into which the groups are cut for parallel work. There
// are few parts, because each needs memory for all groups.
func (x *grouping) portions() int { return min(blocks(len(x.group)), 8) }

// portion returns the groups of a portion, from lo to hi−1, and its first and last states.
func (x *grouping) portion(k int) (lo, hi, first, last int) {
	n := x.groups()
	lo, hi = k*n/x.portions(), (k+1)*n/x.portions()
	first = int(x.members[x.start[lo]]) // groups are numbered in order of their first states
	for g := lo; g < hi; g++ {
		last = max(last, int(x.members[x.start[g+1]-1]))
	}
	return lo, hi, first, last
}
