package multilevel

import (
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// coarsest is the size at which a chain is eliminated: n³/3 operations for 250
// states, 5 million, are less than a sweep over a million states.
const coarsest = 250

// pairings is how often states are paired to make a level: groups have half as many
// states as a state has neighbours, 2 on a line and 4 else. Larger groups make
// cheaper cycles that may converge very slowly: a line of 10⁵ states takes 183 sweeps
// with groups of 2 and 1500 with groups of 4; a grid that moves fast in one dimension
// and slowly in the other, 266 sweeps with groups of 4 and over 3000 with 8.
func pairings(in *sparse.Matrix) int {
	if in.NNZ() < 3*in.Rows {
		return 1
	}
	return 2
}

// build makes the coarser levels: groups and the patterns of their chains. Groups
// depend on the chain only, not on μ, so they serve all cycles.
func (l *level) build() {
	n := len(l.leave)
	l.z, l.b, l.r = make([]float64, n), make([]float64, n), make([]float64, n)
	if n <= coarsest {
		l.elimination = newElimination(n)
		return
	}
	for i := range l.mass {
		l.mass[i] = 1 // while groups are made, states have equal shares
	}
	all := make([]int32, n) // the groups of the states of l
	for i := range all {
		all[i] = int32(i)
	}
	// Where neighbours of neighbours are new states, as in a random graph, pairing
	// hardly lessens the moves; it goes on until half of them are gone.
	least, between := pairings(l.in), l
	for k := 0; k < least || 2*between.in.NNZ() > l.in.NNZ() && len(between.leave) > coarsest; k++ {
		if l.ctx.Err() != nil {
			return
		}
		between.assign(pair(between.in))
		between.next = between.lumped()
		between.lump(between.mass)
		for i, g := range all {
			all[i] = between.group[g]
		}
		between = between.next
	}
	l.assign(all, len(between.leave))
	l.next = between
	l.next.build()
}

// pair groups the states of a chain by twos and threes, or more around a hub. Every
// state in turn that has no group yet looks at where it is entered from most: it
// makes a group with the first of those that have none, or else joins the first.
// Groups are numbered in order of their first states, so neighbours stay close.
func pair(in *sparse.Matrix) (group []int32, groups int) {
	const none = -1
	group = make([]int32, in.Rows)
	for i := range group {
		group[i] = none
	}
	for i := range group {
		if group[i] != none {
			continue
		}
		var free, any int32 = none, none
		var most, mostAny float64
		col, val := in.Row(i)
		for e, j := range col {
			if val[e] > mostAny {
				any, mostAny = j, val[e]
			}
			if group[j] == none && val[e] > most {
				free, most = j, val[e]
			}
		}
		if free == none && any != none {
			group[i] = group[any]
			continue
		}
		group[i] = int32(groups)
		if free != none {
			group[free] = int32(groups)
		}
		groups++
	}
	return group, groups
}

// assign sets the group of every state.
func (l *level) assign(group []int32, groups int) {
	l.group = group
	l.share = make([]float64, len(group))
	l.acc = make([]float64, groups)
	l.first = make([]int32, groups+1)
	for _, g := range group {
		l.first[g+1]++
	}
	for g := range groups {
		l.first[g+1] += l.first[g]
	}
	l.members = make([]int32, len(group))
	end := slices.Clone(l.first)
	for i, g := range group {
		l.members[end[g]] = int32(i)
		end[g]++
	}
}

// lumped returns the chain of the groups, with all values zero.
func (l *level) lumped() *level {
	groups := len(l.first) - 1
	seen := make([]int32, groups) // the last group, counted from 1, that is entered from there
	b := sparse.NewBuilder(groups, groups, l.in.NNZ()/2)
	for g := range groups {
		for _, i := range l.members[l.first[g]:l.first[g+1]] {
			col, _ := l.in.Row(int(i))
			for _, j := range col {
				from := l.group[j]
				if int(from) != g && int(seen[from]) != g+1 {
					seen[from] = int32(g + 1)
					b.Set(int(from), 0)
				}
			}
		}
		b.EndRow()
	}
	return &level{
		solver: l.solver, in: b.Matrix(),
		leave: make([]float64, groups), mass: make([]float64, groups),
	}
}
