package mixpolicy

import (
	"context"
	"fmt"
	"runtime"

	"github.com/mixpolicy/lab/mixpolicy/internal/multilevel"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
)

// multilevel fills q by [multilevel.Stationary], which works on stationary
// distributions of irreducible chains. A discounted chain is made one of those by a
// further state ∗, the last, that every state enters with probability 1−γ and that is
// left for s with probability α(s). It has the mass 1−γ of the other states together;
// without it μ is the discounted measure.
func (x *MDP) multilevel(ctx context.Context, q *Measure, chain *sparse.Matrix, support []int32, set MeasureSettings) error {
	c := x.arrivals(chain, support)
	start := x.start(support, set)
	mu := make([]float64, len(c.Leave))
	for k, s := range support {
		mu[k] = start[s]
	}
	tolerance := set.Tolerance
	if !x.criterion.Average() {
		mu[len(support)] = 1 - x.Gamma()
		// The flow residual of μ without ∗, divided by its mass of 1/(2−γ) ≥ ½, is at
		// most 2 − γ times that of the whole.
		tolerance /= 2 - x.Gamma()
	}
	r, err := multilevel.Stationary(ctx, c, mu, multilevel.Settings{Tolerance: tolerance, MaxSweeps: set.MaxSweeps, Progress: set.Progress})
	q.State, q.Sweeps, q.Error = make([]float64, x.n), r.Sweeps, r.Error
	for k, s := range support {
		q.State[s] = mu[k]
	}
	normalise(q.State)
	if !x.criterion.Average() {
		q.Error *= 2 * (2 - x.Gamma()) // taking ∗ out and dividing by what is left
	}
	if err != nil {
		return fmt.Errorf("mixpolicy: multilevel measure: %w", err)
	}
	return nil
}

// arrivals returns the chain on the support, with ∗ under discounting, as lists of
// where each state is entered from: a counting sort, in which workers take the sources
// part by part.
func (x *MDP) arrivals(chain *sparse.Matrix, support []int32) multilevel.Chain {
	number := make([]int32, x.n)
	for k, s := range support {
		number[s] = int32(k)
	}
	n, gamma := len(support), x.Gamma()
	size := n
	if !x.criterion.Average() {
		size++
	}
	const mostParts = 4 // a part needs a count of each state
	at := make([][]int32, mostParts)
	parts := split(min(mostParts, runtime.GOMAXPROCS(0)), n, chain.NNZ(), func(part, lo, hi int) {
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
		if size > n && x.initial[support[i]] > 0 {
			end++ // from ∗, the last
		}
		in.Ptr[i+1] = end
	}
	if size > n {
		in.Ptr[size] = in.Ptr[n] + n
	}
	in.Col, in.Val = make([]int32, in.Ptr[size]), make([]float64, in.Ptr[size])
	leave := make([]float64, size)
	split(min(mostParts, runtime.GOMAXPROCS(0)), n, chain.NNZ(), func(part, lo, hi int) {
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
			if p := x.initial[s]; p > 0 {
				last := in.Ptr[k+1] - 1
				in.Col[last], in.Val[last] = int32(n), p
				leave[n] += p
			}
		}
	}
	return multilevel.Chain{In: in, Leave: leave}
}

// start returns the measure at which iteration begins: uniform on the support, or
// the given one, of which every state of the support keeps a little, since a sweep
// can't bring back what a group of states has lost.
func (x *MDP) start(support []int32, set MeasureSettings) []float64 {
	mu := make([]float64, x.n)
	for _, s := range support {
		mu[s] = 1 / float64(len(support))
		if set.Start != nil {
			mu[s] = max(set.Start[s], 0x1p-100*mu[s])
		}
	}
	return mu
}
