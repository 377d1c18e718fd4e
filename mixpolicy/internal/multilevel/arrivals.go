package multilevel

import (
	"runtime"

	"github.com/mixpolicy/lab/mixpolicy/internal/divide"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// Arrivals returns a chain on its support as lists of where each state is entered from: a counting sort,
// in which workers take the sources part by part. With an initial distribution α there is a further
// state ∗, the last, that every state enters with probability 1−γ and that is left for s with probability
// α(s); the other probabilities are multiplied by γ.
func Arrivals(chain *sparse.Matrix, support []int32, initial []float64, gamma float64) Chain {
	number := make([]int32, chain.Rows)
	for k, s := range support {
		number[s] = int32(k)
	}
	n := len(support)
	size := n
	if initial != nil {
		size++
	}
	const mostParts = 4 // a part needs a count of each state
	at := make([][]int32, mostParts)
	parts := divide.Work(min(mostParts, runtime.GOMAXPROCS(0)), n, chain.NNZ(), func(part, lo, hi int) {
		count := make([]int32, n)
		for _, s := range support[lo:hi] {
			for _, to := range chain.Col[chain.Ptr[s]:chain.Ptr[s+1]] {
				if to != s {
					count[number[to]]++
				}
			}
		}
		at[part] = count
	})
	in := &sparse.Matrix{Rows: size, Cols: size, Ptr: make([]int, size+1)}
	for i := range n {
		end := in.Ptr[i]
		for _, count := range at[:parts] {
			end, count[i] = end+int(count[i]), int32(end-in.Ptr[i]) // where in row i the part begins
		}
		if size > n && initial[support[i]] > 0 {
			end++ // from ∗, the last
		}
		in.Ptr[i+1] = end
	}
	if size > n {
		in.Ptr[size] = in.Ptr[n] + n
	}
	in.Col, in.Val = make([]int32, in.Ptr[size]), make([]float64, in.Ptr[size])
	leave := make([]float64, size)
	divide.Work(min(mostParts, runtime.GOMAXPROCS(0)), n, chain.NNZ(), func(part, lo, hi int) {
		at := at[part]
		for k := lo; k < hi; k++ {
			s := support[k]
			col, val := chain.Row(int(s))
			for e, to := range col {
				if to == s {
					continue
				}
				i := number[to]
				p := gamma * val[e]
				in.Col[in.Ptr[i]+int(at[i])], in.Val[in.Ptr[i]+int(at[i])] = int32(k), p
				at[i]++
				leave[k] += p
			}
		}
	})
	if size > n {
		for k, s := range support {
			in.Col[in.Ptr[n]+k], in.Val[in.Ptr[n]+k] = int32(k), 1-gamma
			leave[k] += 1 - gamma
			if p := initial[s]; p > 0 {
				last := in.Ptr[k+1] - 1
				in.Col[last], in.Val[last] = int32(n), p
				leave[n] += p
			}
		}
	}
	return Chain{In: in, Leave: leave}
}
