package mixpolicy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/internal/reduction"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// These are limits on the work of elimination. The first limit allows about two seconds. The second limit is for a
// second attempt, and allows about five seconds. The second and the third limit each allow about one gigabyte.
var (
	quickly   = reduction.Work{Entries: 4e7, Products: 1.2e9}
	patiently = reduction.Work{Entries: 1.2e8, Products: 5e9}
	atMost    = reduction.Work{Entries: 1.2e8, Products: 2e10}
)

// reduced is a chain after elimination. A further state ∗, number 0, makes a discounted chain undiscounted: every
// state enters ∗ with probability 1−γ, and ∗ leads to s with probability α(s).
type reduced struct {
	*reduction.Chain
	states []int32 // states[k] is the state with the number first + k
	first  int     // 1 if ∗ is number 0, else 0
}

// reduce applies elimination to the linear system of (2.11) on the given states. State
// number 0, which is ∗ or states[0], must be reachable from every other state.
func (x *MDP) reduce(ctx context.Context, chain *sparse.Matrix, states []int32, most reduction.Work) (*reduced, error) {
	r := &reduced{states: states}
	if x.Gamma() < 1 {
		r.first = 1
	}
	size := r.first + len(states)
	number := make([]int, x.n)
	for k, s := range states {
		number[s] = r.first + k
	}
	b := sparse.NewBuilder(size, size, chain.NNZ()+2*r.first*size)
	if r.first == 1 {
		for k, s := range states {
			b.Set(1+k, x.initial[s])
		}
		b.EndRow()
	}
	for _, s := range states {
		if r.first == 1 {
			b.Set(0, 1-x.Gamma())
		}
		col, val := chain.Row(int(s))
		for e, c := range col {
			b.Set(number[c], x.Gamma()*val[e])
		}
		b.EndRow()
	}
	var err error
	if r.Chain, err = reduction.Reduce(ctx, b.Matrix(), most); err != nil {
		return nil, err
	}
	// Under discounting, lost digits do not matter, because the l_k of package reduction are at least 1−γ: errors of
	// 2⁻¹⁰²² in n³ entries move μ by at most n³2⁻¹⁰²¹/(1−γ).
	r.Lost = r.Lost && r.first == 0
	return r, nil
}

// measure returns μ, of n entries, which is 0 outside r.states.
func (r *reduced) measure(n int) []float64 {
	v := r.Measure()
	total := sum.Of(v[r.first:])
	mu := make([]float64, n)
	for k, s := range r.states {
		mu[s] = v[r.first+k] / total
	}
	return mu
}

// values returns v = c + γPv under discounting. Under average cost, it returns an h that is 0 in state number 0: for
// t = 1, the relative values, h = c − g + Ph, where g is the average cost; for t = 0, the mean total cost until state
// number 0 is reached.
func (r *reduced) values(cost []float64, t float64) []float64 {
	c := make([]float64, r.first+len(r.states))
	for k, s := range r.states {
		c[r.first+k] = cost[s]
	}
	h, _ := r.Values(c, constant(len(c), t*float64(1-r.first)))
	v := make([]float64, len(cost))
	for k, s := range r.states {
		v[s] = h[r.first+k]
	}
	return v
}

// eliminate fills q by elimination. If products lost digits, the mean times to the first state give a bound on the
// error. If these times are too long, eliminate tries again with the heaviest state as the first.
func (x *MDP) eliminate(ctx context.Context, q *Measure, chain *sparse.Matrix, support []int32, most reduction.Work) error {
	for heaviest := 0; ; heaviest = 0 {
		r, err := x.reduce(ctx, chain, support, most)
		switch {
		case errors.Is(err, reduction.ErrFill):
			return fmt.Errorf("mixpolicy: %w: for %d states, elimination would store more than %.2g entries or "+
				"compute more than %.2g products; want GaussSeidel or Multilevel", err, len(support), most.Entries, most.Products)
		case err != nil:
			return fault.At("mixpolicy", "measure stopped", err)
		}
		mu := r.measure(x.n)
		q.Method, q.State, q.Error, q.Sweeps = Elimination, mu, r.Error(), 0
		if !r.Lost {
			return nil
		}
		// Let n be the number of states of r, and let T be the sum of the mean times to state number 0, so T is at least
		// the greatest of these times. Then 2⁵n²(1+T)²2⁻¹⁰⁷⁴ bounds the loss (see package reduction).
		root := float64(r.first+len(support)) * (1 + sum.Of(r.values(constant(x.n, 1), 0))) * 0x1p-534
		if lost := root * root / 2; lost <= 0x1p-53 {
			q.Error += lost
			return nil
		}
		for k, s := range support {
			if mu[s] > mu[support[heaviest]] {
				heaviest = k
			}
		}
		if heaviest == 0 {
			q.State = nil
			return fmt.Errorf("mixpolicy: products of probabilities of this chain fall below %.0e, where elimination loses digits; "+
				"want GaussSeidel or Multilevel", 0x1p-1022)
		}
		support = slices.Clone(support)
		support[0], support[heaviest] = support[heaviest], support[0]
	}
}
