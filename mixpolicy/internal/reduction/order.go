package reduction

import (
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// plan is an order of elimination and its fill.
type plan struct {
	order  []int32   // all states but 0, in order of elimination
	place  []int32   // place of each state in the order; 0 comes last
	beyond [][]int32 // for each state, the states that it joins at its elimination, without 0
}

// minimumDegree repeatedly eliminates a state of least degree (Tinney and Walker 1967), on the quotient graph of George
// and Liu (1981), with the approximate degrees of Amestoy, Davis and Duff (1996). In the quotient graph, an eliminated
// state p is stored as the set of the states that it joins, which replaces the sets that contained p. States with very
// many neighbours, and all states of a small chain, come last, in decreasing order of their numbers. The result is nil
// if elimination needs more than the given number of entries or products, or if an estimate of the products exceeds
// their given number.
func minimumDegree(out, in *sparse.Matrix, most Work) *plan {
	n := out.Rows
	p := &plan{order: make([]int32, 0, n), place: make([]int32, n), beyond: make([][]int32, n)}
	start, end := make([]int, n), make([]int, n) // list[start[i]:end[i]]: neighbours j of state i, and the sets that contain i, as ^p
	list := make([]int32, 0, 2*out.NNZ())
	var held, tail, near []int32 // held: memory for sets; tail: the states that come last; near: neighbours of a state
	heads := buckets{first: make([]int32, n+1), next: make([]int32, n), prev: make([]int32, n), degree: make([]int32, n)}
	many := max(16, 10*int(math.Sqrt(float64(n))))
	gone, last := make([]bool, n), make([]bool, n) // gone: eliminated; last: to be eliminated last, and in no bucket
	for i := 1; i < n; i++ {
		to, _ := out.Row(i)
		from, _ := in.Row(i)
		near = slices.DeleteFunc(append(append(near[:0], to...), from...), func(j int32) bool { return j == 0 || int(j) == i })
		slices.Sort(near)
		near = slices.Compact(near)
		start[i], list = len(list), append(list, near...)
		end[i] = len(list)
		if last[i] = n <= smallChain || len(near) > many; last[i] {
			tail = append(tail, int32(i))
		} else {
			heads.put(int32(i), int32(len(near)))
		}
	}
	absorbed := make([]bool, n)
	seen, counted, outside := make([]int32, n), make([]int32, n), make([]int32, n)
	var work Work
	for k := heads.least(); k != 0; k = heads.least() {
		if len(held)+n > cap(held) {
			held = make([]int32, 0, 8*n) // existing sets stay in the old memory
		}
		from := len(held)
		seen[k] = k
		join := func(states []int32) {
			for _, j := range states {
				if j >= 0 && !gone[j] && seen[j] != k {
					seen[j] = k
					held = append(held, j)
				}
			}
		}
		join(list[start[k]:end[k]])
		for _, e := range list[start[k]:end[k]] {
			if e < 0 && !absorbed[^e] {
				join(p.beyond[^e])
				absorbed[^e] = true
			}
		}
		set := held[from:len(held):len(held)]
		p.beyond[k], gone[k] = set, true
		p.order = append(p.order, k)
		// The remaining states have at least as many neighbours as k, and mostly more, so rest usually
		// underestimates the sum of their degrees. On a plane grid, rest stays about 8n, and the last √n states make
		// 8n√n products. On a grid in space, rest grows.
		left := float64(n - len(p.order))
		rest := left * float64(len(set))
		if work.add(len(set), most) || min(rest*rest/8/math.Sqrt(float64(n)), left*left*left/3) > most.Products {
			return nil
		}
		for _, i := range set {
			for _, e := range list[start[i]:end[i]] {
				if e < 0 && !last[i] && !absorbed[^e] {
					if counted[^e] != k {
						counted[^e], outside[^e] = k, int32(len(p.beyond[^e]))
					}
					outside[^e]--
				}
			}
		}
		for _, i := range set {
			if last[i] {
				continue
			}
			degree, to := int32(len(set)-1), start[i]
			for _, j := range list[start[i]:end[i]] {
				switch {
				case j >= 0 && (gone[j] || seen[j] == k):
					continue
				case j >= 0:
					degree++
				case absorbed[^j]:
					continue
				default:
					degree += outside[^j]
				}
				list[to] = j
				to++
			}
			list[to] = ^k // in the place of k, or of a set that k absorbed
			end[i] = to + 1
			heads.remove(i)
			heads.put(i, min(degree, heads.degree[i]+int32(len(set)-1), int32(n-1)))
		}
	}
	for k := len(tail) - 1; k >= 0; k-- {
		p.beyond[tail[k]], p.order = tail[:k], append(p.order, tail[k])
		if work.add(k, most) {
			return nil
		}
	}
	for at, i := range p.order {
		p.place[i] = int32(at)
	}
	p.place[0] = int32(n)
	return p
}

// buckets holds states by degree, in lists that end with 0.
type buckets struct {
	first, next, prev, degree []int32
	low                       int
}

func (b *buckets) put(i, degree int32) {
	b.degree[i], b.prev[i], b.next[i] = degree, 0, b.first[degree]
	b.prev[b.next[i]] = i
	b.first[degree] = i
	b.low = min(b.low, int(degree))
}

func (b *buckets) remove(i int32) {
	if b.prev[i] != 0 {
		b.next[b.prev[i]] = b.next[i]
	} else {
		b.first[b.degree[i]] = b.next[i]
	}
	b.prev[b.next[i]] = b.prev[i]
}

// least removes and returns a state of least degree; 0 if there is none.
func (b *buckets) least() int32 {
	for ; b.low < len(b.first); b.low++ {
		if i := b.first[b.low]; i != 0 {
			b.remove(i)
			return i
		}
	}
	return 0
}
