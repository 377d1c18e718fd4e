package sparse

import (
	"math/rand/v2"
	"slices"
)

// ClosedClasses returns the recurrent classes of a chain whose transition matrix has the pattern of the square matrix
// m: the strongly connected components that no entry leaves. The states of a class are in increasing order, and the
// classes are in the order of their first states. The common case of one class is tried first, in O(rows + entries): if
// all states lead to state c, the only class is the set of states that c leads to. The state c is the end of a walk
// from the first state. The walk takes so many steps that it has probably entered a recurrent class.
func (m *Matrix) ClosedClasses() (classes [][]int32) {
	const steps, passes = 1 << 12, 16
	c := int32(0)
	for k, r := 0, uint32(1); k < steps && m.Rows > 0; k++ {
		col, _ := m.Row(int(c))
		if len(col) == 0 {
			break
		}
		r = r*1664525 + 1013904223 // Knuth's generator; any choice of moves is fine
		c = col[uint64(r)*uint64(len(col))>>32]
	}
	mark := make([]uint8, m.Rows)
	if m.Rows > 0 && m.allReach(int(c), passes) {
		class := m.spread(c, mark, open, decided)
		slices.Sort(class)
		return [][]int32{class}
	}
	// Otherwise, every undecided state c is tried: c is in a closed class if every state that c
	// leads to also leads back to c. If c is not, a random one of the states that do not lead
	// back is tried next. On average, at most half as many states then do not lead back.
	into, rng := m.Transpose(), rand.New(rand.NewPCG(1, 2))
	for s := range m.Rows {
		for c := int32(s); mark[s] == open; {
			from := m.spread(c, mark, open, reached)
			into.spread(c, mark, reached, returns)
			rest := slices.DeleteFunc(slices.Clone(from), func(j int32) bool { return mark[j] == returns })
			for _, j := range from {
				mark[j] = open
			}
			if len(rest) > 0 {
				c = rest[rng.IntN(len(rest))]
				continue
			}
			into.spread(c, mark, open, decided)
			slices.Sort(from)
			classes = append(classes, from)
		}
	}
	slices.SortFunc(classes, func(a, b []int32) int { return int(a[0] - b[0]) })
	return classes
}

// Marks of a state j while state c is tried. Open: nothing is known of j. Reached: c leads to j. Returns: j also leads
// back to c. Decided: j leads to a class that was found.
const open, reached, returns, decided = 0, 1, 2, 3

// spread returns c and all states that c reaches by entries to states with the mark from. It gives
// all of them the mark to.
func (m *Matrix) spread(c int32, mark []uint8, from, to uint8) []int32 {
	list := []int32{c}
	mark[c] = to
	for k := 0; k < len(list); k++ {
		for _, j := range m.Col[m.Ptr[list[k]]:m.Ptr[list[k]+1]] {
			if mark[j] == from {
				mark[j] = to
				list = append(list, j)
			}
		}
	}
	return list
}

// allReach returns true if it finds that all states lead to c. It visits the states that are not yet known to lead to
// c, in decreasing and increasing order in turn. If such states remain after the given number of passes, it returns
// false.
func (m *Matrix) allReach(c, passes int) bool {
	leads, missing := make([]bool, m.Rows), make([]int32, m.Rows)
	leads[c] = true
	for i := range missing {
		missing[i] = int32(i)
	}
	for ; passes > 0 && len(missing) > 0; passes-- {
		slices.Reverse(missing)
		missing = slices.DeleteFunc(missing, func(i int32) bool {
			leads[i] = leads[i] || slices.ContainsFunc(m.Col[m.Ptr[i]:m.Ptr[i+1]], func(j int32) bool { return leads[j] })
			return leads[i]
		})
	}
	return len(missing) == 0
}

// Period returns the period of the class of a recurrent state: the greatest common divisor of the
// lengths of all cycles in the class.
func (m *Matrix) Period(root int32) int {
	// Let depth(s) be the distance from the root to s. The period is the greatest common
	// divisor of depth(s) + 1 − depth(s′) over all steps s → s′.
	depth := slices.Repeat([]int{-1}, m.Rows)
	depth[root] = 0
	period := 0
	for queue := []int32{root}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		col, _ := m.Row(int(s))
		for _, c := range col {
			if depth[c] < 0 {
				depth[c] = depth[s] + 1
				queue = append(queue, c)
			}
			a, b := period, depth[s]+1-depth[c]
			for b != 0 {
				a, b = b, a%b
			}
			period = max(a, -a)
		}
	}
	return period
}
