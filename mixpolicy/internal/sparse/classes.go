package sparse

import "slices"

// ClosedClasses returns the recurrent classes of the chain whose transition matrix
// has the pattern of m (square): the strongly connected components that no entry
// leaves. States in a class are in increasing order, classes by their first state. It
// takes O(rows + entries); the common case of one class is looked for first, at a fifth
// of the cost.
func (m *Matrix) ClosedClasses() [][]int32 {
	if class, ok := m.onlyClosedClass(); ok {
		return [][]int32{class}
	}
	return m.tarjan()
}

// onlyClosedClass returns the only closed class, if there is one and it is easily found:
// if all states lead to state c, then it is what c leads to. For c a walk from the first
// state is followed until it should have come to stay.
func (m *Matrix) onlyClosedClass() (class []int32, ok bool) {
	const walk, passes = 1 << 12, 16
	c := 0
	for k, r := 0, uint32(1); k < walk && m.Rows > 0; k++ {
		col, _ := m.Row(c)
		if len(col) == 0 {
			return nil, false
		}
		r = r*1664525 + 1013904223 // Knuth's generator; any choice of moves is fine
		c = int(col[uint64(r)*uint64(len(col))>>32])
	}
	if !m.allReach(c, passes) {
		return nil, false
	}
	return m.reachedFrom(c), true
}

// allReach reports whether all states lead to c. It visits the states for which that is
// not known yet, forward and backward in turn, and gives up after some passes.
func (m *Matrix) allReach(c, passes int) bool {
	leads := make([]bool, m.Rows)
	leads[c] = true
	missing := make([]int32, 0, m.Rows)
	for i := range leads {
		if i != c {
			missing = append(missing, int32(i))
		}
	}
	for ; passes > 0 && len(missing) > 0; passes-- {
		slices.Reverse(missing)
		still := missing[:0]
		for _, i := range missing {
			for _, j := range m.Col[m.Ptr[i]:m.Ptr[i+1]] {
				if leads[j] {
					leads[i] = true
					break
				}
			}
			if !leads[i] {
				still = append(still, i)
			}
		}
		missing = still
	}
	return len(missing) == 0
}

// reachedFrom returns the states that c leads to, c among them, in increasing order. It
// passes over all rows, forward and backward in turn, which reads memory in order; and
// follows moves one by one where that would take many passes.
func (m *Matrix) reachedFrom(c int) []int32 {
	const passes = 8
	const reached, followed = 1, 2
	mark := make([]uint8, m.Rows)
	mark[c] = reached
	count, open := 1, 1 // states marked, and those of them that are not followed
	follow := func(i int, found func(j int32)) {
		mark[i] = followed
		open--
		for _, j := range m.Col[m.Ptr[i]:m.Ptr[i+1]] {
			if mark[j] == 0 {
				mark[j] = reached
				count++
				open++
				found(j)
			}
		}
	}
	for pass := 0; pass < passes && open > 0; pass++ {
		for i := range mark {
			if pass%2 == 1 {
				i = len(mark) - 1 - i
			}
			if mark[i] == reached {
				follow(i, func(int32) {})
			}
		}
	}
	var todo []int32
	for i, k := range mark {
		if k == reached {
			todo = append(todo, int32(i))
		}
	}
	for len(todo) > 0 {
		i := int(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		follow(i, func(j int32) { todo = append(todo, j) })
	}
	states := make([]int32, 0, count)
	for i, k := range mark {
		if k != 0 {
			states = append(states, int32(i))
		}
	}
	return states
}

// tarjan is [Matrix.ClosedClasses] for any chain (Tarjan 1972, without recursion).
func (m *Matrix) tarjan() [][]int32 {
	n := m.Rows
	const unseen = 0
	order, low := make([]int32, n), make([]int32, n) // order counts from 1
	onStack := make([]bool, n)
	component := make([]int32, n) // 1-based once assigned
	var stack []int32
	type frame struct {
		v    int32
		edge int
	}
	var calls []frame
	var clock, components int32
	visit := func(v int32) {
		clock++
		order[v], low[v] = clock, clock
		stack, onStack[v] = append(stack, v), true
		calls = append(calls, frame{v, m.Ptr[v]})
	}
	for root := range n {
		if order[root] != unseen {
			continue
		}
		visit(int32(root))
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			if f.edge < m.Ptr[f.v+1] {
				w := m.Col[f.edge]
				f.edge++
				if order[w] == unseen {
					visit(w)
				} else if onStack[w] {
					low[f.v] = min(low[f.v], order[w])
				}
				continue
			}
			v := f.v
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				p := calls[len(calls)-1].v
				low[p] = min(low[p], low[v])
			}
			if low[v] == order[v] {
				components++
				for {
					w := stack[len(stack)-1]
					stack, onStack[w] = stack[:len(stack)-1], false
					component[w] = components
					if w == v {
						break
					}
				}
			}
		}
	}
	open := make([]bool, components+1)
	for i := range n {
		col, _ := m.Row(i)
		for _, c := range col {
			if component[c] != component[i] {
				open[component[i]] = true
			}
		}
	}
	members := map[int32][]int32{}
	for i := range n {
		if c := component[i]; !open[c] {
			members[c] = append(members[c], int32(i))
		}
	}
	classes := make([][]int32, 0, len(members))
	for _, c := range members {
		classes = append(classes, c)
	}
	slices.SortFunc(classes, func(a, b []int32) int { return int(a[0]) - int(b[0]) })
	return classes
}

// Period returns the period of the chain's only recurrent class: the greatest
// common divisor of the lengths of its cycles. It panics if there are several
// classes.
func (m *Matrix) Period() int {
	classes := m.ClosedClasses()
	if len(classes) != 1 {
		panic("sparse: the period of several recurrent classes")
	}
	// With depth(s) the distance from some root, the period is the common divisor of
	// depth(s) + 1 − depth(s′) over all steps s → s′.
	depth := make([]int, m.Rows)
	for i := range depth {
		depth[i] = -1
	}
	root := classes[0][0]
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
