package multilevel

import (
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// Arrivals returns the chain on the states in support, a set that no move leaves. A counting sort groups the moves by
// the state that they enter. The probabilities of these moves are multiplied by γ. If initial is not nil, it is a
// distribution α, and the chain has one more state ∗, the last. Every other state then leads to ∗ with probability 1−γ,
// and ∗ leads to each state s with probability α(s).
func Arrivals(chain *sparse.Matrix, support []int32, initial []float64, gamma float64) Chain {
	number, n := make([]int32, chain.Rows), len(support)
	for k, s := range support {
		number[s] = int32(k)
	}
	size := n
	if initial != nil {
		size++
	}
	in, leave := &sparse.Matrix{Rows: size, Cols: size, Ptr: make([]int, size+1)}, make([]float64, size)
	moves := func(visit func(from, to int32, p float64)) {
		for k, s := range support {
			col, val := chain.Row(int(s))
			for e, to := range col {
				if to != s {
					visit(int32(k), number[to], gamma*val[e])
				}
			}
			if initial != nil {
				visit(int32(k), int32(n), 1-gamma)
			}
		}
		for k, s := range support {
			if initial != nil && initial[s] > 0 {
				visit(int32(n), int32(k), initial[s])
			}
		}
	}
	moves(func(_, to int32, _ float64) { in.Ptr[to+1]++ })
	for i := range size {
		in.Ptr[i+1] += in.Ptr[i]
	}
	at := slices.Clone(in.Ptr)
	in.Col, in.Val = make([]int32, at[size]), make([]float64, at[size])
	moves(func(from, to int32, p float64) {
		in.Col[at[to]], in.Val[at[to]] = from, p
		at[to]++
		leave[from] += p
	})
	return Chain{In: in, Leave: leave}
}
