package mixpolicy

import (
	"context"
	"fmt"

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
// where each state is entered from.
func (x *MDP) arrivals(chain *sparse.Matrix, support []int32) multilevel.Chain {
	number := make([]int32, x.n)
	for k, s := range support {
		number[s] = int32(k)
	}
	n, gamma := len(support), x.Gamma()
	star, size := -1, n
	if !x.criterion.Average() {
		star, size = n, n+1
	}
	in := &sparse.Matrix{Rows: size, Cols: size, Ptr: make([]int, size+1)}
	// Once to count, and once to fill; support is increasing, so columns are too.
	moves := func(visit func(from, to int32, p float64)) {
		for k, s := range support {
			col, val := chain.Row(int(s))
			for e, to := range col {
				if to != s {
					visit(int32(k), number[to], gamma*val[e])
				}
			}
			if star >= 0 {
				visit(int32(k), int32(star), 1-gamma)
			}
		}
		if star >= 0 {
			for k, s := range support {
				if x.initial[s] > 0 {
					visit(int32(star), int32(k), x.initial[s])
				}
			}
		}
	}
	moves(func(_, to int32, _ float64) { in.Ptr[to+1]++ })
	for i := range size {
		in.Ptr[i+1] += in.Ptr[i]
	}
	in.Col, in.Val = make([]int32, in.Ptr[size]), make([]float64, in.Ptr[size])
	end := make([]int, size)
	copy(end, in.Ptr)
	leave := make([]float64, size)
	moves(func(from, to int32, p float64) {
		in.Col[end[to]], in.Val[end[to]] = from, p
		end[to]++
		leave[from] += p
	})
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
