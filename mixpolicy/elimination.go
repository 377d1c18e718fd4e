package mixpolicy

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// reduced is a chain after the state reduction of Grassmann, Taksar and Heyman
// (1985). State k leaves for 0..k−1 with probability l_k = Σ_{j<k} a[k][j]; once
// that is divided out, the chain watched on 0..k−1 remains. No difference is ever
// formed, so every entry keeps a relative error of a few n·2⁻⁵³, however small.
//
// A discounted chain is made an undiscounted one by a further state ∗, number 0,
// that every state enters with probability 1−γ and that is left for s with
// probability α(s).
type reduced struct {
	states []int32     // states[k] is number first + k
	first  int         // 1 if ∗ is number 0, else 0
	a      [][]float64 // a[k][j], j < k: as watched on 0..k;  a[i][k], i < k: divided by l_k
	leave  []float64   // l_k
}

// reduce eliminates the given states, the last first. Number 0 must be reached
// from all others.
func (x *MDP) reduce(chain *sparse.Matrix, states []int32) *reduced {
	r := &reduced{states: states}
	gamma := x.Gamma()
	if gamma < 1 {
		r.first = 1
	}
	size := r.first + len(states)
	number := make([]int, x.n)
	for k, s := range states {
		number[s] = r.first + k
	}
	entries := make([]float64, size*size)
	r.a = make([][]float64, size)
	for k := range r.a {
		r.a[k] = entries[k*size : (k+1)*size]
	}
	for k, s := range states {
		row := r.a[r.first+k]
		col, val := chain.Row(int(s))
		for e, c := range col {
			row[number[c]] = gamma * val[e]
		}
		if r.first == 1 {
			row[0] = 1 - gamma
			r.a[0][1+k] = x.initial[s]
		}
	}
	r.leave = make([]float64, size)
	for k := size - 1; k > 0; k-- {
		row := r.a[k][:k]
		r.leave[k] = sum.Of(row)
		for i := range k {
			f := r.a[i][k] / r.leave[k]
			r.a[i][k] = f
			if f == 0 {
				continue
			}
			to := r.a[i][:k]
			for j, p := range row {
				to[j] += f * p
			}
		}
	}
	return r
}

// measure returns what is proportional to the stationary distribution, by number:
// v(k) = Σ_{i<k} v(i) a(i,k), each the mass that flows into k, over l_k.
func (r *reduced) measure() []float64 {
	v := make([]float64, len(r.a))
	v[0] = 1
	for k := 1; k < len(v); k++ {
		for i := range k {
			v[k] += v[i] * r.a[i][k]
		}
		if v[k] > 1 { // mass grows away from 0: a power of two keeps the greatest below 1, and every digit
			_, e := math.Frexp(v[k])
			for i := range v[:k+1] {
				v[i] = math.Ldexp(v[i], -e)
			}
		}
	}
	return v
}

// values returns v = c + γPv and 0; without a discount, h = c − g + Ph with h = 0
// in state number 0, and the gain g. Costs and durations are carried along with the
// chain that is watched: C_i and T_i are what it costs and how long it takes from i
// to the next state that is still watched.
func (r *reduced) values(cost []float64) (v []float64, gain float64) {
	size := len(r.a)
	c, t := make([]float64, size), make([]float64, size)
	for k, s := range r.states {
		c[r.first+k], t[r.first+k] = cost[s], 1
	}
	for k := size - 1; k > 0; k-- {
		for i := range k {
			if f := r.a[i][k]; f != 0 {
				c[i] += f * c[k]
				t[i] += f * t[k]
			}
		}
	}
	if r.first == 0 {
		gain = c[0] / t[0] // cost of a cycle over its length
	}
	h := make([]float64, size)
	for k := 1; k < size; k++ {
		for j, p := range r.a[k][:k] {
			h[k] += p * h[j]
		}
		h[k] = (h[k] + c[k] - gain*t[k]) / r.leave[k]
	}
	v = make([]float64, len(cost))
	for k, s := range r.states {
		v[s] = h[r.first+k]
	}
	return v, gain
}

// eliminate returns μ, which lives on the support.
func (x *MDP) eliminate(chain *sparse.Matrix, support []int32) ([]float64, error) {
	r := x.reduce(chain, support)
	v := r.measure()
	total := sum.Of(v[r.first:])
	mu := make([]float64, x.n)
	for k, s := range support {
		mu[s] = v[r.first+k] / total
	}
	if math.IsNaN(total) {
		rare := 1
		for k := range r.leave[1:] {
			if r.leave[1+k] < r.leave[rare] {
				rare = 1 + k
			}
		}
		return nil, fmt.Errorf("mixpolicy: state %s is left with probability %.3g, so rarely that the measure can't be represented",
			x.StateName(int(support[rare-r.first])), r.leave[rare])
	}
	return mu, nil
}
